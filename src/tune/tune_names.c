/* tune_names.c: names of the choices of tune.h, each from its one list; defaults; what queues and runs own. */
#include "base/base.h"

#include <covtune/tune.h>
#include <math.h>

#define X(constant, ...) CT_FIRST(__VA_ARGS__, 0),
#define CT_FIRST(first, ...) first
static const char *const QUANTITY[] = {CT_QUANTITY_LIST(X)};
static const char *const END[] = {CT_TUNE_END_LIST(X)};
static const char *const METHOD[] = {CT_TUNE_METHOD_LIST(X)};
static const char *const STOP[] = {CT_TUNE_STOP_LIST(X)};
#undef X
#define X(constant, name, what) what,
static const char *const STOP_MEANING[] = {CT_TUNE_STOP_LIST(X)};
#undef X

const char *ct_quantity_name(ct_quantity quantity) { return ct__name_at(QUANTITY, CT_QUANTITY_COUNT, (int)quantity); }
int         ct_quantity_find(const char *name) { return ct__find_name(name, QUANTITY, CT_QUANTITY_COUNT); }
const char *ct_tune_end_name(ct_tune_end end) { return ct__name_at(END, CT_TUNE_END_COUNT, (int)end); }
int         ct_tune_end_find(const char *name) { return ct__find_name(name, END, CT_TUNE_END_COUNT); }
const char *ct_tune_method_name(ct_tune_method m) { return ct__name_at(METHOD, CT_TUNE_METHOD_COUNT, (int)m); }
int         ct_tune_method_find(const char *name) { return ct__find_name(name, METHOD, CT_TUNE_METHOD_COUNT); }
const char *ct_tune_stop_name(ct_tune_stop stop) { return ct__name_at(STOP, CT_TUNE_STOP_COUNT, (int)stop); }
const char *ct_tune_stop_meaning(ct_tune_stop s) { return ct__name_at(STOP_MEANING, CT_TUNE_STOP_COUNT, (int)s); }

ct_tune_options ct_tune_defaults(void)
{
    return (ct_tune_options){
        .method = CT_TUNE_DFGN,
        .folds = 5,
        .prior = NAN,
        .global = -1,
        .seed = 1,
        .relative = 1e-3,
        .step = 0.02,
    };
}

void ct_tune_outcome_free(ct_tune_outcome *outcome)
{
    if (!outcome) return;
    free(outcome->residual);
    free(outcome->message);
    outcome->residual = NULL;
    outcome->message = NULL;
}

void ct_tune_queue_free(ct_tune_queue *queue)
{
    if (!queue) return;
    if (queue->abandon) queue->abandon(queue->user);
    if (queue->free) queue->free(queue->user);
    free(queue);
}
