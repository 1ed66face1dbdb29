/* theta_options.c: syntax of ct_theta_options. What the names refer to is not known here: select_models.c. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "data/data.h"
#include "data/locale.h"
#include "data/theta_options.h"

#include <math.h>

ct_theta_options ct_theta_defaults(void) { return (ct_theta_options){.bounds = "dataset", .spread = INFINITY}; }

int ct__list_next(const char **list, char item[CT__ITEM_MAX])
{
    if (!*list || !**list) return 0;
    const size_t n = strcspn(*list, ",");
    snprintf(item, CT__ITEM_MAX, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ',');
    return 1;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static int parse_range(const char *text, double *lower, double *upper)
{
    char *end;
    *lower = strtod(text, &end);
    if (end == text || *end != ':') return 0;
    const char *second = end + 1;
    *upper = strtod(second, &end);
    return end != second && !*end && *lower > 0 && *lower <= *upper && isfinite(*upper);
}

int ct__range_parse(const char *text, double *lower, double *upper)
{
    const locale_t before = ct__locale_begin(NULL);
    const int      valid = parse_range(text, lower, upper);
    if (before) ct__locale_end(before);
    return valid;
}

int ct_bounds_parse(const char *text, double *lower, double *upper)
{
    static const struct {
        const char *name;
        double      lower, upper;
    } NAMED[] = {
        {"wide", CT_BOUND_WIDE_LOWER, CT_BOUND_WIDE_UPPER},
        {"loose", CT_BOUND_LOOSE_LOWER, CT_BOUND_LOOSE_UPPER},
        {"tight", CT_BOUND_TIGHT_LOWER, CT_BOUND_TIGHT_UPPER},
    };
    double a, b;
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++)
        if (!strcmp(text, NAMED[i].name)) return *lower = NAMED[i].lower, *upper = NAMED[i].upper, 1;
    if (!ct__range_parse(text, &a, &b)) return 0;
    *lower = a;
    *upper = b;
    return 1;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

typedef struct {
    const char *option, *list;
} named_list;

#define LISTS 7
#define NAME_LISTS 5 /* the first of them hold names alone */

static void all_lists(const ct_theta_options *o, named_list list[LISTS])
{
    const named_list all[LISTS] = {
        {"learn", o->learn},
        {"freeze", o->freeze},
        {"full", o->full},
        {"diagonal", o->diagonal},
        {"isotropic", o->isotropic},
        {"bound", o->bound},
        {"tie", o->tie},
    };
    memcpy(list, all, sizeof all);
}

static ct_status check_lengths(const named_list *l, const char *prefix, ct_err *err)
{
    for (const char *list = l->list; list && *list; list += strspn(list, ",")) {
        const size_t n = strcspn(list, ",");
        if (n >= CT__ITEM_MAX)
            return ct_fail(
                err, CT_E_ARGUMENT,
                "%s%s: an item of the list has at most %d bytes, found %zu; name things one by one: \"%.40s...\"",
                prefix, l->option, CT__ITEM_MAX - 1, n, list);
        list += n;
    }
    return CT_OK;
}

static ct_status check_names(const named_list *l, const char *prefix, ct_err *err)
{
    char        item[CT__ITEM_MAX];
    const char *list = l->list;
    while (ct__list_next(&list, item))
        if (!*item || strchr(item, '='))
            return ct_fail(err, CT_E_ARGUMENT, "%s%s is a list of names, found \"%s\"", prefix, l->option, item);
    return CT_OK;
}

static ct_status check_bound(const char *list, const char *prefix, ct_err *err)
{
    char   item[CT__ITEM_MAX];
    double lower, upper;
    while (ct__list_next(&list, item)) {
        const char *equals = strrchr(item, '=');
        if (!equals || equals == item || !ct__range_parse(equals + 1, &lower, &upper))
            return ct_fail(err, CT_E_ARGUMENT, "%sbound is a list of NAME=LO:HI with 0 < LO <= HI, found \"%s\"",
                           prefix, item);
    }
    return CT_OK;
}

static ct_status check_tie(const char *list, const char *prefix, ct_err *err)
{
    char item[CT__ITEM_MAX];
    while (ct__list_next(&list, item))
        if (!strchr(item, '=') || item[0] == '=' || item[strlen(item) - 1] == '=')
            return ct_fail(err, CT_E_ARGUMENT, "%stie is a list of NAME=NAME, found \"%s\"", prefix, item);
    return CT_OK;
}

ct_status ct_theta_options_check(const ct_theta_options *options, ct_err *err)
{
    if (!options) return CT_OK;
    const char *prefix = options->option_prefix ? options->option_prefix : "";
    named_list  list[LISTS];
    double      lower, upper;
    all_lists(options, list);
    for (int i = 0; i < LISTS; i++) CT_TRY(check_lengths(&list[i], prefix, err));
    CT_TRY(check_bound(options->bound, prefix, err));
    CT_TRY(check_tie(options->tie, prefix, err));
    for (int i = 0; i < NAME_LISTS; i++) CT_TRY(check_names(&list[i], prefix, err));
    if (options->bounds && strcmp(options->bounds, "dataset") && !ct_bounds_parse(options->bounds, &lower, &upper))
        return ct_fail(err, CT_E_ARGUMENT,
                       "%sbounds is dataset, wide, loose, tight or LO:HI with 0 < LO <= HI, found \"%s\"", prefix,
                       options->bounds);
    if (!(options->spread >= 1 || options->spread == 0))
        return ct_fail(err, CT_E_ARGUMENT, "%sspread is %g; it must be at least 1, infinite for none", prefix,
                       options->spread);
    return CT_OK;
}
