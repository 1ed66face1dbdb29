/* define_theta.c: which numbers are learned, as what, and within which bounds.
 *
 * What the dataset says (ct_dataset_of_model), and the options on top of it. A name in a list is a model, or a
 * group: "odom" is "odom@0" and "odom@1" as well, and the pooled "odom#7"; after a point comes a row, by its name or
 * its number. */
#include "cli/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX 256
#define ITEM_MAX 2048 /* of a list: names, and what is said of them; seven of the longest names tied together */

/* What is to become of a model. */
typedef struct {
    int     used;   /* by a factor of a training run */
    int     learn;
    int     kind;   /* ct_noise_kind                 */
    double  lower[CT_NOISE_DIM_MAX], upper[CT_NOISE_DIM_MAX]; /* in units */
    double  unit[CT_NOISE_DIM_MAX];
    uint8_t frozen[CT_NOISE_DIM_MAX];
} plan;

typedef struct {
    const cli_io        *io;
    const learn_request *request;
    ct_dataset          *dataset;
    int32_t              models;
    plan                *plan;     /* per model of the table */
    int32_t             *chosen;   /* what a name stands for */
    int32_t             *others;   /* what the other side of a tie stands for */
    ct_err              *err;
} planner;

/* ---- lists ---- */

/* The next item of "a,b,c" into buf; 0 at the end. None is longer, see learn_check_lists. */
static int next_item(const char **list, char buf[ITEM_MAX])
{
    if (!*list || !**list) return 0;
    const size_t n = strcspn(*list, ",");
    snprintf(buf, ITEM_MAX, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ',');
    return 1;
}

int learn_pair(const char *text, double *a, double *b)
{
    char *end;
    *a = strtod(text, &end);
    if (end == text || *end != ':') return 0;
    const char *second = end + 1;
    *b = strtod(second, &end);
    return end != second && !*end;
}

int learn_bounds(const char *text, double *lower, double *upper)
{
    static const struct {
        const char *name;
        double      lower, upper;
    } BOUNDS[] = {{"wide", CT_BOUND_WIDE_LOWER, CT_BOUND_WIDE_UPPER},
                  {"loose", CT_BOUND_LOOSE_LOWER, CT_BOUND_LOOSE_UPPER},
                  {"tight", CT_BOUND_TIGHT_LOWER, CT_BOUND_TIGHT_UPPER}};
    for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++)
        if (!strcmp(text, BOUNDS[i].name)) return *lower = BOUNDS[i].lower, *upper = BOUNDS[i].upper, 1;
    return learn_pair(text, lower, upper) && *lower > 0 && *lower <= *upper && isfinite(*upper);
}

/* Bounds that may be: variances, in their order. */
static int is_range(const char *text)
{
    double a, b;
    return learn_pair(text, &a, &b) && a > 0 && a <= b && isfinite(b);
}

/* Items that a list may have: nothing of one is cut off. */
static cli_exit check_items(const cli_io *io, const learn_request *r)
{
    const char *const all[] = {r->bound, r->tie, r->learn, r->freeze, r->full, r->diagonal, r->isotropic};
    const char *const option[] = {"bound", "tie", "learn", "freeze", "full", "diagonal", "isotropic"};
    for (int i = 0; i < 7; i++)
        for (const char *list = all[i]; list && *list; list += strspn(list, ",")) {
            const size_t n = strcspn(list, ",");
            if (n >= ITEM_MAX)
                return cli_misuse(
                    io,
                    "--%s: an item of the list has at most %d bytes, found %zu; name things one by one: \"%.40s...\"",
                    option[i], ITEM_MAX - 1, n, list);
            list += n;
        }
    return CLI_GO;
}

cli_exit learn_check_lists(const cli_io *io, const learn_request *request)
{
    char        item[ITEM_MAX];
    double      a, b;
    const char *list = request->bound;
    if (check_items(io, request) != CLI_GO) return CLI_MISUSED;
    while (next_item(&list, item)) {
        const char *equals = strrchr(item, '=');
        if (!equals || equals == item || !is_range(equals + 1))
            return cli_misuse(io, "--bound is a list of NAME=LO:HI with 0 < LO <= HI, found \"%s\"", item);
    }
    list = request->tie;
    while (next_item(&list, item))
        if (!strchr(item, '=') || item[0] == '=' || item[strlen(item) - 1] == '=')
            return cli_misuse(io, "--tie is a list of NAME=NAME, found \"%s\"", item);
    const char *const names[] = {request->learn, request->freeze, request->full, request->diagonal, request->isotropic};
    const char *const option[] = {"learn", "freeze", "full", "diagonal", "isotropic"};
    for (int i = 0; i < 5; i++) {
        list = names[i];
        while (next_item(&list, item))
            if (!*item || strchr(item, '='))
                return cli_misuse(io, "--%s is a list of names, found \"%s\"", option[i], item);
    }
    if (strcmp(request->bounds, "dataset") && !learn_bounds(request->bounds, &a, &b))
        return cli_misuse(io, "--bounds is dataset, wide, loose, tight or LO:HI with 0 < LO <= HI, found \"%s\"",
                          request->bounds);
    return CLI_GO;
}

/* ---- names ---- */

/* Is the model that one, or part of that group? */
static int is_part(const char *model, const char *name)
{
    const size_t n = strlen(name);
    return !strncmp(model, name, n) && (!model[n] || model[n] == '@' || model[n] == '#');
}

static int list_has(const char *list, const char *model)
{
    char item[ITEM_MAX];
    while (next_item(&list, item))
        if (is_part(model, item)) return 1;
    return 0;
}

static int is_wanted(const planner *p, int32_t model)
{
    const char *name = ct_noise_get(p->dataset->noise, model)->name;
    if (list_has(p->request->freeze, name)) return 0;
    if (p->request->learn) return list_has(p->request->learn, name);
    return ct_dataset_of_model(p->dataset, model).learn;
}

static const char *row_name(const ct_noise_model *m, int row, char buf[24])
{
    if (m->row && m->row[row].name[0]) return m->row[row].name;
    snprintf(buf, 24, "%d", row);
    return buf;
}

/* The row of that name or number, or -1. */
static int find_row(const ct_noise_model *m, const char *text)
{
    const int named = ct_noise_find_row(m, text);
    char     *end;
    if (named >= 0) return named;
    const long number = strtol(text, &end, 10);
    return end != text && !*end && number >= 0 && number < m->dim ? (int)number : -1;
}

/* Used models that the name stands for, into list; their number. */
static int32_t gather(const planner *p, const char *name, int32_t *list)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->models; i++)
        if (p->plan[i].used && is_part(ct_noise_get(p->dataset->noise, i)->name, name)) list[n++] = i;
    return n;
}

/* "odom, gps@0 and 3 more": the groups of the models that factors use. Returns buf. */
static const char *list_groups(const planner *p, char *buf, size_t size)
{
    size_t  used = 0;
    int32_t more = 0;
    buf[0] = 0;
    for (int32_t i = 0; i < p->models; i++) {
        char group[NAME_MAX], before[NAME_MAX];
        int  seen = !p->plan[i].used;
        snprintf(group, sizeof group, "%.*s", (int)strcspn(ct_noise_get(p->dataset->noise, i)->name, "#"),
                 ct_noise_get(p->dataset->noise, i)->name);
        for (int32_t k = 0; k < i && !seen; k++) {
            const char *other = ct_noise_get(p->dataset->noise, k)->name;
            snprintf(before, sizeof before, "%.*s", (int)strcspn(other, "#"), other);
            seen = p->plan[k].used && !strcmp(before, group);
        }
        if (seen) continue;
        if (used + strlen(group) + 24 > size) more++;
        else used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", group);
    }
    if (more) snprintf(buf + used, size - used, " and %d more", more);
    return buf;
}

/* Groups that models are part of, beside the models themselves, are what could have been meant. */
static ct_status unknown(const planner *p, const char *option, const char *name)
{
    const char **names = cli_alloc(2 * (int64_t)p->models + 1, sizeof *names);
    char(*group)[NAME_MAX] = cli_alloc(p->models, sizeof *group);
    char    there[256];
    int32_t n = 0;
    int     idle = 0;
    for (int32_t i = 0; i < p->models; i++) {
        const char *model = ct_noise_get(p->dataset->noise, i)->name;
        idle = idle || (!p->plan[i].used && is_part(model, name));
        if (!p->plan[i].used) continue;
        snprintf(group[i], sizeof group[i], "%.*s", (int)strcspn(model, "@#"), model);
        names[n++] = group[i];
        if (strcmp(group[i], model)) names[n++] = model;
    }
    const char *near = cli_nearest(name, names);
    list_groups(p, there, sizeof there);
    if (idle)
        ct_fail(p->err, CT_E_ARGUMENT, "--%s %s: no factor of the training runs uses that noise model; there are %s",
                option, name, there);
    else if (near)
        ct_fail(p->err, CT_E_ARGUMENT, "--%s %s: there is no such noise model; did you mean %s? There are %s", option,
                name, near, there);
    else ct_fail(p->err, CT_E_ARGUMENT, "--%s %s: there is no such noise model; there are %s", option, name, there);
    free(names);
    free(group);
    return CT_E_ARGUMENT;
}

static ct_status no_row(const planner *p, const char *option, const char *text, int32_t model, const char *row)
{
    const ct_noise_model *m = ct_noise_get(p->dataset->noise, model);
    char                  rows[160] = "", buf[24];
    size_t                used = 0;
    for (int i = 0; i < m->dim && used < sizeof rows; i++)
        used += (size_t)snprintf(rows + used, sizeof rows - used, "%s%s", i ? ", " : "", row_name(m, i, buf));
    return ct_fail(p->err, CT_E_ARGUMENT, "--%s %s: %s has no row %s; its rows are %s", option, text, m->name, row,
                   rows);
}

/* What "odom", "odom@0.x" or "odom.2" stands for: models into list, and a row of them (-1: whole models). */
static ct_status choose(const planner *p, const char *option, const char *text, int32_t *list, int32_t *count, int *row)
{
    char name[ITEM_MAX];
    *row = -1;
    *count = gather(p, text, list);
    if (*count) return CT_OK;
    snprintf(name, sizeof name, "%s", text);
    char *point = strrchr(name, '.');
    if (!point) return unknown(p, option, text);
    *point = 0;
    *count = gather(p, name, list);
    if (!*count) return unknown(p, option, name);
    for (int32_t i = 0; i < *count; i++) {
        const int found = find_row(ct_noise_get(p->dataset->noise, list[i]), point + 1);
        if (found < 0) return no_row(p, option, text, list[i], point + 1);
        if (i && found != *row)
            return ct_fail(p->err, CT_E_ARGUMENT, "--%s %s: row %s is not the same in all of %s; name them one by one",
                           option, text, point + 1, name);
        *row = found;
    }
    const ct_noise_model *m = ct_noise_get(p->dataset->noise, list[0]);
    if (ct_noise_find_row(m, point + 1) == *row && strcmp(point + 1, m->row[*row].name))
        cli_remark(p->io, "--%s %s: row \"%s\" is now called \"%s\"; write %s.%s", option, text, point + 1,
                   m->row[*row].name, name, m->row[*row].name);
    return CT_OK;
}

/* ---- the table ---- */

static void find_used(planner *p)
{
    p->models = ct_noise_count(p->dataset->noise);
    free(p->plan);
    p->plan = cli_alloc(p->models, sizeof *p->plan);
    for (int32_t i = 0; i < p->dataset->trains; i++) {
        const ct_graph *graph = p->dataset->train[i]->graph;
        for (int32_t f = 0; f < ct_graph_factors(graph); f++) p->plan[ct_graph_factor(graph, f).noise].used = 1;
    }
}

/* One model for "odom#1", "odom#2", ... where odom is learned. */
static ct_status pool(planner *p)
{
    for (int32_t i = 0; i < p->models; i++) {
        char  group[NAME_MAX];
        snprintf(group, sizeof group, "%s", ct_noise_get(p->dataset->noise, i)->name);
        char *number = strrchr(group, '#');
        if (!p->plan[i].used || !number || !is_wanted(p, i)) continue;
        *number = 0;
        const ct_status status = ct_dataset_pool(p->dataset, group, p->err);
        if (status != CT_OK) return status;
        cli_remark(p->io,
                   "%s: the files give factors of \"%s\" covariances of their own; one is learned for all, their mean "
                   "the start",
                   p->dataset->path, group);
        find_used(p);
    }
    return CT_OK;
}

/* ---- the plan ---- */

static void plan_models(planner *p)
{
    double lower = 0, upper = 0;
    const int over = learn_bounds(p->request->bounds, &lower, &upper);
    for (int32_t i = 0; i < p->models; i++) {
        const ct_dataset_group said = ct_dataset_of_model(p->dataset, i);
        plan                  *to = &p->plan[i];
        to->learn = to->used && is_wanted(p, i);
        to->kind = said.kind;
        memcpy(to->unit, said.unit, sizeof to->unit);
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++)
            to->lower[k] = over ? lower : said.lower[k], to->upper[k] = over ? upper : said.upper[k];
    }
}

/* The models of a list are learned as that kind. */
static ct_status plan_kind(planner *p, const char *option, const char *list, ct_noise_kind kind)
{
    char item[ITEM_MAX];
    while (next_item(&list, item)) {
        int32_t   n = p->models;
        int       row = -1;
        const int all = !strcmp(item, "all");
        for (int32_t i = 0; all && i < n; i++) p->chosen[i] = i;
        const ct_status status = all ? CT_OK : choose(p, option, item, p->chosen, &n, &row);
        if (status != CT_OK) return status;
        if (row >= 0)
            return ct_fail(p->err, CT_E_ARGUMENT, "--%s %s: that is of whole noise models, not of a row", option, item);
        for (int32_t i = 0; i < n; i++) p->plan[p->chosen[i]].kind = (int)kind;
    }
    return CT_OK;
}

static ct_status plan_bound_items(planner *p)
{
    char        item[ITEM_MAX];
    const char *list = p->request->bound;
    while (next_item(&list, item)) {
        int32_t n;
        int     row;
        double  lower = 0, upper = 0;
        char   *equals = strrchr(item, '=');
        learn_pair(equals + 1, &lower, &upper);
        *equals = 0;
        const ct_status status = choose(p, "bound", item, p->chosen, &n, &row);
        if (status != CT_OK) return status;
        for (int32_t i = 0; i < n; i++) {
            plan *to = &p->plan[p->chosen[i]];
            if (row >= 0 && to->kind != CT_NOISE_DIAGONAL)
                return ct_fail(p->err, CT_E_ARGUMENT,
                               "--bound %s: the rows of %s have one bound for all, as it is learned as %s", item,
                               ct_noise_get(p->dataset->noise, p->chosen[i])->name,
                               to->kind == CT_NOISE_FULL ? "a full covariance" : "one variance");
            for (int k = row < 0 ? 0 : row; k <= (row < 0 ? CT_NOISE_DIM_MAX - 1 : row); k++)
                to->lower[k] = lower, to->upper[k] = upper;
        }
    }
    return CT_OK;
}

/* Names that must be there, and rows that are frozen. */
static ct_status plan_names(planner *p)
{
    char        item[ITEM_MAX];
    const char *list = p->request->learn;
    int32_t     n;
    int         row;
    ct_status   status = CT_OK;
    while (status == CT_OK && next_item(&list, item)) {
        status = choose(p, "learn", item, p->chosen, &n, &row);
        if (status == CT_OK && row >= 0)
            status = ct_fail(p->err, CT_E_ARGUMENT,
                             "--learn %s: that is of whole noise models; --freeze leaves out rows", item);
    }
    list = p->request->freeze;
    while (status == CT_OK && next_item(&list, item)) {
        status = choose(p, "freeze", item, p->chosen, &n, &row);
        for (int32_t i = 0; status == CT_OK && row >= 0 && i < n; i++) p->plan[p->chosen[i]].frozen[row] = 1;
    }
    return status;
}

/* ---- theta ---- */

static ct_status say_model(const planner *p, int32_t i, ct_theta *theta)
{
    const plan *from = &p->plan[i];
    const int   dim = ct_noise_get(p->dataset->noise, i)->dim;
    int         frozen = 0;
    double      lower = from->lower[0], upper = from->upper[0];
    for (int k = 0; k < dim; k++) frozen += from->frozen[k];
    if (!from->learn || frozen == dim) return CT_OK;
    /* one pair of bounds for all: the widest */
    for (int k = 1; k < dim; k++) lower = fmin(lower, from->lower[k]), upper = fmax(upper, from->upper[k]);
    ct_status status = CT_OK;
    for (int k = 0; status == CT_OK && k < dim; k++) status = ct_theta_set_unit(theta, i, k, from->unit[k], p->err);
    if (status == CT_OK) status = ct_theta_learn(theta, i, (ct_noise_kind)from->kind, lower, upper, p->err);
    for (int k = 0; status == CT_OK && from->kind == CT_NOISE_DIAGONAL && k < dim; k++)
        status = ct_theta_bound(theta, i, k, from->lower[k], from->upper[k], p->err);
    for (int k = 0; status == CT_OK && k < dim; k++)
        if (from->frozen[k]) status = ct_theta_freeze(theta, i, k, p->err);
    return status;
}

/* a = b: model by model if there are as many of both, else all of one with the one of the other. */
static ct_status tie_two(const planner *p, const char *a, const char *b, ct_theta *theta)
{
    int32_t   n, k;
    int       row_a, row_b;
    ct_status status = choose(p, "tie", a, p->chosen, &n, &row_a);
    if (status == CT_OK) status = choose(p, "tie", b, p->others, &k, &row_b);
    if (status != CT_OK) return status;
    if ((row_a < 0) != (row_b < 0))
        return ct_fail(p->err, CT_E_ARGUMENT,
                       "--tie %s=%s: two rows can be tied, or two noise models, not one to the other", a, b);
    if (n != k && n != 1 && k != 1)
        return ct_fail(p->err, CT_E_ARGUMENT, "--tie %s=%s: %s is %d noise models, %s %d; name them one by one", a, b,
                       a, n, b, k);
    for (int32_t i = 0; status == CT_OK && i < (n > k ? n : k); i++) {
        const int32_t one = p->chosen[n == 1 ? 0 : i], other = p->others[k == 1 ? 0 : i];
        if (one == other && row_a == row_b) continue;
        status = ct_theta_tie(theta, one, row_a, other, row_b, p->err);
    }
    return status;
}

static ct_status say_ties(const planner *p, ct_theta *theta)
{
    char        item[ITEM_MAX];
    const char *list = p->request->tie;
    ct_status   status = CT_OK;
    while (status == CT_OK && next_item(&list, item)) /* a=b=c ties b to a, then c to b */
        for (char *a = item, *equals = strchr(a, '='); status == CT_OK && equals;
             a = equals + 1, equals = strchr(a, '=')) {
            char  b[ITEM_MAX], first[ITEM_MAX];
            snprintf(first, sizeof first, "%.*s", (int)(equals - a), a);
            snprintf(b, sizeof b, "%.*s", (int)strcspn(equals + 1, "="), equals + 1);
            status = tie_two(p, first, b, theta);
        }
    return status;
}

static ct_status make(planner *p, learn_job *job)
{
    const learn_request *r = p->request;
    p->chosen = cli_alloc(2 * (int64_t)p->models, sizeof *p->chosen);
    p->others = p->chosen + p->models;
    plan_models(p);
    ct_status status = plan_names(p);
    if (status == CT_OK) status = plan_kind(p, "full", r->full, CT_NOISE_FULL);
    if (status == CT_OK) status = plan_kind(p, "diagonal", r->diagonal, CT_NOISE_DIAGONAL);
    if (status == CT_OK) status = plan_kind(p, "isotropic", r->isotropic, CT_NOISE_ISOTROPIC);
    if (status == CT_OK) status = plan_bound_items(p);
    if (status == CT_OK) status = ct_theta_new(p->dataset->noise, &job->theta, p->err);
    for (int32_t i = 0; status == CT_OK && i < p->models; i++) status = say_model(p, i, job->theta);
    if (status == CT_OK) status = say_ties(p, job->theta);
    if (status == CT_OK && isfinite(r->spread)) status = ct_theta_set_spread(job->theta, r->spread, p->err);
    return status;
}

ct_status learn_theta(const cli_io *io, const learn_request *request, learn_job *job, ct_err *err)
{
    planner p = {.io = io, .request = request, .dataset = job->dataset, .err = err};
    find_used(&p);
    ct_status status = pool(&p);
    if (status == CT_OK && request->noise)
        status = cli_read_noise(io, request->noise, request->path, p.dataset->noise, err);
    if (status == CT_OK) {
        find_used(&p);
        status = make(&p, job);
    }
    free(p.plan);
    free(p.chosen);
    return status;
}
