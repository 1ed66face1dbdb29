/* method_table.c: the table of learning methods, and names of the other choices, each from its one list. */
#include "base/base.h"

#include <covtune/learn.h>
#include <limits.h>

#define X(constant, ...) CT_FIRST(__VA_ARGS__, 0),
#define CT_FIRST(first, ...) first
static const char *const GRADIENT[] = {CT_GRADIENT_LIST(X)};
static const char *const HESSIAN[] = {CT_HESSIAN_LIST(X)};
static const char *const STOP[] = {CT_LEARN_STOP_LIST(X)};
static const char *const PHASE[] = {CT_LEARN_PHASE_LIST(X)};
static const char *const REFERENCE[] = {CT_REFERENCE_LIST(X)};
static const char *const VERDICT[] = {CT_CHOICE_LIST(X)};
static const char *const SCALE[] = {CT_SCALE_LIST(X)};
static const char *const SCALE_FROM[] = {CT_SCALE_FROM_LIST(X)};
#undef X
#define X(constant, name, what) what,
static const char *const STOP_MEANING[] = {CT_LEARN_STOP_LIST(X)};
static const char *const VERDICT_MEANING[] = {CT_CHOICE_LIST(X)};
static const char *const REFERENCE_MEANING[] = {CT_REFERENCE_LIST(X)};
#undef X

#define TOTAL         0
#define PER_PARAMETER 1
#define X(constant, name, start, iterations, limit, space, traits, text) \
    {name, CT_LEARN_FROM_##start, iterations, limit, CT_SPACE_##space, traits, text},
static const ct_learn_method_info METHOD[] = {CT_LEARN_LIST(X)};
#undef X

const char *ct_gradient_name(ct_gradient gradient) { return ct__name_at(GRADIENT, CT_GRADIENT_COUNT, (int)gradient); }
const char *ct_hessian_name(ct_hessian hessian) { return ct__name_at(HESSIAN, CT_HESSIAN_COUNT, (int)hessian); }
const char *ct_learn_stop_name(ct_learn_stop stop) { return ct__name_at(STOP, CT_LEARN_STOP_COUNT, (int)stop); }
const char *ct_learn_stop_meaning(ct_learn_stop stop)
{
    return ct__name_at(STOP_MEANING, CT_LEARN_STOP_COUNT, (int)stop);
}
const char *ct_learn_phase_name(ct_learn_phase phase) { return ct__name_at(PHASE, CT_LEARN_PHASE_COUNT, (int)phase); }
const char *ct_choice_name(ct_choice verdict) { return ct__name_at(VERDICT, CT_CHOICE_COUNT, (int)verdict); }
const char *ct_choice_meaning(ct_choice v) { return ct__name_at(VERDICT_MEANING, CT_CHOICE_COUNT, (int)v); }
int ct_choice_find(const char *name) { return ct__find_name(name, VERDICT, CT_CHOICE_COUNT); }
const char *ct_scale_from_name(ct_scale_from from) { return ct__name_at(SCALE_FROM, CT_SCALE_FROM_COUNT, (int)from); }
const char *ct_reference_name(ct_reference reference)
{
    return ct__name_at(REFERENCE, CT_REFERENCE_COUNT, (int)reference);
}
const char *ct_reference_meaning(ct_reference reference)
{
    return ct__name_at(REFERENCE_MEANING, CT_REFERENCE_COUNT, (int)reference);
}
int ct_reference_find(const char *name) { return ct__find_name(name, REFERENCE, CT_REFERENCE_COUNT); }
const char *ct_scale_name(ct_scale scale) { return ct__name_at(SCALE, CT_SCALE_COUNT, (int)scale); }

int ct_gradient_find(const char *name) { return ct__find_name(name, GRADIENT, CT_GRADIENT_COUNT); }
int ct_hessian_find(const char *name) { return ct__find_name(name, HESSIAN, CT_HESSIAN_COUNT); }
int ct_learn_stop_find(const char *name) { return ct__find_name(name, STOP, CT_LEARN_STOP_COUNT); }
int ct_learn_phase_find(const char *name) { return ct__find_name(name, PHASE, CT_LEARN_PHASE_COUNT); }
int ct_scale_find(const char *name) { return ct__find_name(name, SCALE, CT_SCALE_COUNT); }
int ct_scale_from_find(const char *name) { return ct__find_name(name, SCALE_FROM, CT_SCALE_FROM_COUNT); }

const ct_learn_method_info *ct_learn_method_get_info(ct_learn_method method)
{
    return (unsigned)method < CT_LEARN_COUNT ? &METHOD[method] : NULL;
}

const char *ct_learn_method_name(ct_learn_method method)
{
    return (unsigned)method < CT_LEARN_COUNT ? METHOD[method].name : "?";
}

int ct_learn_method_find(const char *name)
{
    for (int i = 0; name && i < CT_LEARN_COUNT; i++)
        if (!strcmp(name, METHOD[i].name)) return i;
    return -1;
}

int ct_learn_method_has(ct_learn_method method, ct_learn_trait trait)
{
    return (unsigned)method < CT_LEARN_COUNT && (METHOD[method].traits & (unsigned)trait) != 0;
}

int ct_learn_method_iterations(ct_learn_method method, int32_t m)
{
    if ((unsigned)method >= CT_LEARN_COUNT) return 0;
    const int64_t limit = (int64_t)METHOD[method].iterations * (METHOD[method].per_parameter ? m : 1);
    return limit < INT_MAX ? (int)limit : INT_MAX;
}
