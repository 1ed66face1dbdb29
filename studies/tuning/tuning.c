/* tuning.c: covtune-tune-study. Methods of `tune` on covtune's own batch estimates, run as a black box from
 * measurements, against the oracle, on the paper's four kinds of datasets: five training logs, twenty unseen ones.
 *
 *   starts   variances ten times off, up or down at random: runs of each log until the unseen error is first within 5 %
 *            of the oracle's, and the share of starts within 3 % and 5 % at the end
 *   methods  the same starts: runs of each log until first within 5 %, all methods in one table; searches end there
 *   far      the paper's start, six decades off
 *   faults   noise, crashes, rounded output
 *
 * The error is the root of the mean loss over unseen logs. "First" is the first time that the best point so far, by the
 * training loss, is within 5 %. Prints tables as Markdown, and what is claimed but missed; exit code 1 then. Seeds of
 * the data are first, first + 1, ...; --methods is dfgn unless given, but in the part of this name all of them.
 *
 * --other-starts N: of methods but dfgn; as many as of dfgn unless given. --slow-starts N: of the methods that need
 * hundreds of runs, fw, global and random; as many as of others unless given.
 * --each: one line for each search on stderr.
 *
 *     covtune-tune-study [--quick] [--starts N] [--other-starts N] [--slow-starts N] [--seeds N] [--first-seed N]
 *                        [--data D1,D2] [--methods dfgn,lm] [--parts starts,methods,far,faults]
 *                        [--faults noise1,noise5,crashes,digits,all] [--each] */
#include "studies/tuning/black_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STARTS_MAX 400
#define BUDGET     100  /* points, times m + 1                                   */
#define LEAST      1.02 /* times the least training loss that is known: a minimum */

static ct_err err;
static int    missed;

static void must(ct_status status)
{
    if (status == CT_OK) return;
    fprintf(stderr, "covtune-tune-study: %s\n", err.text);
    exit(1);
}

static void claim(int holds, const char *what, const char *of, double found, double limit)
{
    if (holds) return;
    missed++;
    printf("MISSED: %s, %s: %.4g, wanted %.4g\n", of, what, found, limit);
}

typedef struct {
    int         starts, seeds, first_seed, quick;
    const char *data, *methods, *parts, *faults;
    int         other_starts, slow_starts, each;
} request;

/* Is the word in a list with commas? NULL: everything is. */
static int listed(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, word, n) && (at[n] == 0 || at[n] == ',')) return 1;
    return !list;
}

/* ---- One search ------------------------------------------------------------------------------- */

typedef struct {
    black_box *box;
    double     oracle;    /* mean loss of the oracle on unseen logs       */
    double     last;      /* training loss of the last point that was judged */
    double     first[2];  /* runs of each log until within 5 %, 3 %; INFINITY: never */
    int        only_first; /* the search ends there                          */
    double     end;       /* error over the oracle's, of the answer       */
    double     searched;  /* the same of the search's, before held-out logs chose */
    double     trained;   /* training loss of the search's                   */
    double     noise;     /* relative deviation of the loss, as measured  */
    ct_tune_stop stop;
} trial;

/* INFINITY: above the limit. */
static double error_of(const trial *t, const double *value, double limit)
{
    double loss;
    must(box_loss(t->box, value, 1, limit * limit * t->oracle, &loss, &err));
    return sqrt(loss / t->oracle);
}

static void judge(trial *t, const double *value, double loss, double runs)
{
    if (!value || !(loss < t->last) || (isfinite(t->first[0]) && isfinite(t->first[1]))) return;
    t->last = loss;
    const double error = error_of(t, value, 1.05);
    if (error <= 1.05 && !isfinite(t->first[0])) t->first[0] = runs;
    if (error <= 1.03 && !isfinite(t->first[1])) t->first[1] = runs;
}

/* The point that became the best did so before the run that just ended. */
static int progress(void *user, const ct_tune_progress *p)
{
    trial *t = user;
    judge(t, p->value, p->loss, (double)(p->runs - 1) / t->box->data->trains);
    return t->only_first && isfinite(t->first[0]);
}

/* whole: as `covtune tune` does it. Else up to the budget, without held-out logs. */
static trial search(black_box *box, double oracle, ct_tune_method method, uint64_t seed, int whole, int only_first)
{
    trial t = {.box = box, .oracle = oracle, .last = INFINITY, .first = {INFINITY, INFINITY}, .only_first = only_first};
    ct_tune_options o = ct_tune_defaults();
    ct_tune_result  r;
    o.method = method;
    o.seed = seed;
    o.points = whole ? 0 : BUDGET * (box->m + 1);
    o.folds = whole ? o.folds : 0;
    o.progress = progress;
    o.user = &t;
    box_forget(box, method == CT_TUNE_RANDOM);
    must(ct_tune(&box->problem, &o, &box->queue, &r, &err));
    judge(&t, r.best, r.loss, (double)r.runs / box->data->trains);
    t.end = only_first ? NAN : error_of(&t, r.value, INFINITY);
    t.searched = only_first || !memcmp(r.best, r.value, (size_t)box->m * sizeof *r.best) ? t.end
                                                                           : error_of(&t, r.best, INFINITY);
    t.trained = NAN;
    if (!only_first) must(box_loss(box, r.best, 0, INFINITY, &t.trained, &err));
    t.stop = r.stop;
    t.noise = r.noise;
    ct_tune_result_free(&r);
    return t;
}

/* ---- Starts ------------------------------------------------------------------------------------ */

typedef struct {
    nav_data  data;
    black_box box;
    double   *latent;
    double    oracle;
} world;

static void world_new(const char *preset, uint64_t seed, const box_faults *faults, const request *q, world *w)
{
    const nav_size size = {5, q->quick ? 8 : 20, q->quick ? 100 : 300, q->quick ? 150 : 500};
    must(nav_data_make(preset, seed, &size, &w->data, &err));
    must(box_new(&w->data, faults, &w->box, &err));
    w->latent = malloc((size_t)w->box.m * sizeof *w->latent);
    if (!w->latent) exit(1);
    for (int32_t i = 0; i < w->box.m; i++) w->latent[i] = w->box.parameter[i].start;
    must(box_loss(&w->box, w->latent, 1, INFINITY, &w->oracle, &err));
}

static void world_free(world *w)
{
    free(w->latent);
    box_free(&w->box);
    nav_data_free(&w->data);
}

static void start_off(world *w, uint64_t seed)
{
    ct_rng rng = ct_rng_seed(1000 + seed);
    for (int32_t i = 0; i < w->box.m; i++) {
        const double off = w->latent[i] * (ct_rng_uniform(&rng) < 0.5 ? 10 : 0.1);
        w->box.parameter[i].start = fmin(fmax(off, CT_BOUND_LOOSE_LOWER), CT_BOUND_LOOSE_UPPER);
    }
}

static void start_far(world *w)
{
    for (int32_t i = 0; i < w->box.m; i++)
        w->box.parameter[i].start = ct_noise_get(w->data.start, w->box.model[i])->covariance[w->box.row[i]];
}

/* Is the training loss as low as that of a search that begins at the oracle's values? What is missing to the oracle is
 * then a limit of the logs. */
static int is_least(world *w, const trial *t, uint64_t seed)
{
    for (int32_t i = 0; i < w->box.m; i++) w->box.parameter[i].start = w->latent[i];
    return t->trained <= LEAST * search(&w->box, w->oracle, CT_TUNE_DFGN, seed, 1, 0).trained;
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static const char *const DATA[] = {"D1", "D2", "D3", "D4"};
#define DATASETS 4

typedef struct {
    double first; /* median */
    int    starts, reached, within3, within5;
    int    least; /* beyond 3 %, and no less training loss is found from the oracle's values */
    double worst, noise;
} row;

/* Starts of a method: few of those that need hundreds of runs. */
static int starts_of(const request *q, ct_tune_method method)
{
    const int slow = method == CT_TUNE_FW || method == CT_TUNE_GLOBAL || method == CT_TUNE_RANDOM;
    if (method == CT_TUNE_DFGN) return q->starts;
    if (slow && q->slow_starts) return q->slow_starts;
    return q->other_starts ? q->other_starts : q->starts;
}

static void print_each(const request *q, const char *data, ct_tune_method method, int seed, int start, const trial *t)
{
    if (q->each)
        fprintf(stderr, "%s %s seed %d start %d: %.1f runs until 5 %%, %.1f until 3 %%, end %.4f, of the search %.4f, "
                        "stop %s\n",
                data, ct_tune_method_name(method), seed, start, t->first[0], t->first[1], t->end, t->searched,
                ct_tune_stop_name(t->stop));
}

/* All starts of a method, over seeds of the data. */
static row run_starts(const request *q, const char *data, ct_tune_method method, const box_faults *faults,
                      int only_first, int *m)
{
    double first[STARTS_MAX];
    row    r = {0};
    for (int k = 0; k < q->seeds; k++) {
        world w;
        world_new(data, (uint64_t)(q->first_seed + k), faults, q, &w);
        *m = w.box.m;
        for (int s = k; s < starts_of(q, method) && r.starts < STARTS_MAX; s += q->seeds) {
            start_off(&w, (uint64_t)s);
            const int   whole = method == CT_TUNE_DFGN && !only_first;
            const trial t = search(&w.box, w.oracle, method, (uint64_t)s + 1, whole, only_first);
            print_each(q, data, method, q->first_seed + k, s, &t);
            first[r.starts++] = isfinite(t.first[0]) ? t.first[0] : 1e9;
            r.reached += isfinite(t.first[0]);
            r.within3 += t.end <= 1.03;
            r.least += whole && !faults && t.end > 1.03 && is_least(&w, &t, (uint64_t)s + 1);
            r.within5 += t.end <= 1.05;
            r.worst = fmax(r.worst, t.end);
            r.noise += t.noise;
        }
        world_free(&w);
    }
    r.first = ct_median(r.starts, first);
    r.noise /= r.starts;
    return r;
}

static int asked(const request *q, int method)
{
    return listed(q->methods ? q->methods : "dfgn", ct_tune_method_name((ct_tune_method)method));
}

static void print_starts(const request *q)
{
    printf("\nStarts ten times off: runs of each log until first within 5 %% of the oracle on unseen logs (median; in "
           "m + 1), and shares of starts at the end.\n\n| data | method | runs | / (m + 1) | within 3 %% | beyond, no "
           "less from the oracle | within 5 %% | worst |\n|---|---|---:|---:|---:|---:|---:|---:|\n");
    for (int d = 0; d < DATASETS; d++)
        for (int k = 0; k < CT_TUNE_METHOD_COUNT && listed(q->data, DATA[d]); k++) {
            const char *name = ct_tune_method_name((ct_tune_method)k);
            char        what[64];
            int         m = 0;
            if (!asked(q, k)) continue;
            const row r = run_starts(q, DATA[d], (ct_tune_method)k, NULL, 0, &m);
            printf("| %s | %s | ", DATA[d], name);
            printf(r.first < 1e9 ? "%.1f | %.2f" : "not | not", r.first, r.first / (m + 1));
            printf(" | %d of %d | %d | ", r.within3, r.starts, r.least);
            printf("%d of %d | %.4f |\n", r.within5, r.starts, r.worst);
            fflush(stdout);
            snprintf(what, sizeof what, "%s, %s", DATA[d], name);
            if (k != CT_TUNE_DFGN) continue;
            claim(r.first <= 4 * (m + 1), "runs until within 5 %", what, r.first, 4 * (m + 1));
            if (!q->quick)
                claim(r.within3 >= 0.95 * r.starts, "share within 3 %", what, (double)r.within3 / r.starts, 0.95);
            claim(r.within5 >= 0.95 * r.starts, "share within 5 %", what, (double)r.within5 / r.starts, 0.95);
        }
}

/* mine: of dfgn; NaN: it was not asked for. */
static void claim_faster(const request *q, ct_tune_method method, const char *data, double mine, double runs)
{
    char what[64];
    snprintf(what, sizeof what, "%s, %s", data, ct_tune_method_name(method));
    if (isnan(mine)) return;
    if (method == CT_TUNE_BOBYQA) claim(mine < runs, "more runs than dfgn", what, runs, mine);
    if (method == CT_TUNE_NELDER_MEAD || method == CT_TUNE_POWELL || method == CT_TUNE_RANDOM)
        claim(q->quick || 5 * mine <= runs, "five times the runs of dfgn", what, runs, 5 * mine);
}

static void print_methods(const request *q)
{
    double mine[DATASETS] = {NAN, NAN, NAN, NAN}, runs[CT_TUNE_METHOD_COUNT][DATASETS];
    printf("\nStarts ten times off, %d of dfgn, %d of fw, global and random, %d of others: runs of each log until "
           "first within 5 %% of the oracle on unseen logs, median; at most %d (m + 1) points. In brackets: starts "
           "that came so far, "
           "where not all did.\n\n| method |",
           q->starts, starts_of(q, CT_TUNE_RANDOM), starts_of(q, CT_TUNE_LM), BUDGET);
    for (int d = 0; d < DATASETS; d++) printf(" %s |", DATA[d]);
    printf("\n|---|---:|---:|---:|---:|\n");
    for (int k = 0; k < CT_TUNE_METHOD_COUNT; k++) {
        if (!listed(q->methods, ct_tune_method_name((ct_tune_method)k))) continue;
        printf("| %s |", ct_tune_method_name((ct_tune_method)k));
        for (int d = 0; d < DATASETS; d++) {
            int m;
            runs[k][d] = NAN;
            if (listed(q->data, DATA[d])) {
                const row r = run_starts(q, DATA[d], (ct_tune_method)k, NULL, 1, &m);
                runs[k][d] = r.first;
                if (k == CT_TUNE_DFGN) mine[d] = r.first;
                printf(r.first < 1e9 ? " %.1f" : " not", r.first);
                if (r.reached < r.starts) printf(" (%d of %d)", r.reached, r.starts);
            }
            printf(" |");
            fflush(stdout);
        }
        printf("\n");
    }
    for (int k = 0; k < CT_TUNE_METHOD_COUNT; k++)
        for (int d = 0; d < DATASETS && listed(q->methods, ct_tune_method_name((ct_tune_method)k)); d++)
            if (!isnan(runs[k][d])) claim_faster(q, (ct_tune_method)k, DATA[d], mine[d], runs[k][d]);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least value that at least this share of them does not exceed. */
static double quantile_of(int count, double *value, double share)
{
    qsort(value, (size_t)count, sizeof *value, ascending);
    return value[(int)fmax(0, ceil(share * count) - 1)];
}

/* One method from the paper's start, over seeds of the data. */
static void print_far_method(const request *q, int d, ct_tune_method method)
{
    double first[2][STARTS_MAX], worst = 0;
    int    m = 0, count = 0, within = 0, least = 0, stuck = 0;
    char   what[64];
    for (; count < q->seeds && count < STARTS_MAX; count++) {
        const int seed = q->first_seed + count;
        world     w;
        world_new(DATA[d], (uint64_t)seed, NULL, q, &w);
        start_far(&w);
        m = w.box.m;
        const trial t = search(&w.box, w.oracle, method, (uint64_t)seed, method == CT_TUNE_DFGN, 0);
        print_each(q, DATA[d], method, seed, 0, &t);
        for (int k = 0; k < 2; k++) first[k][count] = isfinite(t.first[k]) ? t.first[k] : 1e9;
        within += t.end <= 1.03;
        const int is_stuck = t.end > 1.05 && t.stop == CT_TUNE_STOP_STUCK;
        const int limited = t.end > 1.05 && !is_stuck && is_least(&w, &t, (uint64_t)seed);
        stuck += is_stuck;
        least += limited;
        worst = fmax(worst, t.end);
        snprintf(what, sizeof what, "%s, seed %d", DATA[d], seed);
        if (method == CT_TUNE_DFGN && d < 2)
            claim(t.first[1] <= 8 * (m + 1), "far start, runs until 3 %", what, t.first[1], 8 * (m + 1));
        if (method == CT_TUNE_DFGN)
            claim(t.end <= 1.05 || is_stuck || limited, "far start, found or stuck", what, t.end, 1.05);
        world_free(&w);
    }
    printf("| %s | %s |", DATA[d], ct_tune_method_name(method));
    const double quantile[4] = {ct_median(count, first[0]), ct_median(count, first[1]),
                                quantile_of(count, first[1], 0.9), quantile_of(count, first[1], 1)};
    for (int k = 0; k < 4; k++) printf(quantile[k] < 1e8 ? " %.1f |" : " not |", quantile[k]);
    printf(" %d of %d | %d | %d | %.4f |\n", within, count, least, stuck, worst);
    fflush(stdout);
}

static void print_far(const request *q)
{
    printf("\nThe paper's start, six decades off: runs of each log over seeds of the data.\n\n| data | method | 5 %%, "
           "median | 3 %%, median | 3 %%, 90 %% of seeds | 3 %%, all | within 3 %% at the end | beyond 5 %%, no less "
           "from the oracle | beyond, stuck | worst |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int d = 0; d < DATASETS; d++)
        for (int k = 0; k < CT_TUNE_METHOD_COUNT && listed(q->data, DATA[d]); k++)
            if (asked(q, k)) print_far_method(q, d, (ct_tune_method)k);
}

static void print_faults(const request *q)
{
    static const struct {
        const char *word, *name;
        box_faults  faults;
    } FAULT[] = {{"noise1", "noise of 1 %", {0.01, 0, 0, 1}},
                 {"noise5", "noise of 5 %", {0.05, 0, 0, 2}},
                 {"crashes", "10 % of runs crash", {0, 0.1, 0, 3}},
                 {"digits", "six digits", {0, 0, 6, 4}},
                 {"all", "all of them", {0.05, 0.1, 6, 5}}};
    printf("\nNoise, crashes, rounded output; starts ten times off: dfgn. Noise: of the loss of all logs at the "
           "start.\n\n| data | estimator | noise | runs | within 3 %% | within 5 %% | worst |\n"
           "|---|---|---:|---:|---:|---:|---:|\n");
    for (int d = 0; d < DATASETS; d++)
        for (size_t k = 0; k < sizeof FAULT / sizeof *FAULT && listed(q->data, DATA[d]); k++) {
            int m;
            if (!listed(q->faults, FAULT[k].word)) continue;
            const row r = run_starts(q, DATA[d], CT_TUNE_DFGN, &FAULT[k].faults, 0, &m);
            printf("| %s | %s | %.1f %% | %.1f | %d of %d | ", DATA[d], FAULT[k].name, 100 * r.noise, r.first,
                   r.within3, r.starts);
            printf("%d of %d | %.4f |\n", r.within5, r.starts, r.worst);
            fflush(stdout);
            claim(r.within5 >= (q->quick ? 0.5 : 0.9) * r.starts, "within 5 %", FAULT[k].name,
                  (double)r.within5 / r.starts, q->quick ? 0.5 : 0.9);
        }
}

int main(int count, char **word)
{
    request q = {.starts = 40, .seeds = 1, .first_seed = 1};
    for (int i = 1; i < count; i++) {
        const int last = i + 1 >= count;
        if (!strcmp(word[i], "--quick")) q = (request){4, 1, 1, 1, "D1", "dfgn,bobyqa", NULL, NULL, 0, 0, 0};
        else if (!strcmp(word[i], "--starts") && !last) q.starts = atoi(word[++i]);
        else if (!strcmp(word[i], "--other-starts") && !last) q.other_starts = atoi(word[++i]);
        else if (!strcmp(word[i], "--slow-starts") && !last) q.slow_starts = atoi(word[++i]);
        else if (!strcmp(word[i], "--each")) q.each = 1;
        else if (!strcmp(word[i], "--seeds") && !last) q.seeds = atoi(word[++i]);
        else if (!strcmp(word[i], "--first-seed") && !last) q.first_seed = atoi(word[++i]);
        else if (!strcmp(word[i], "--data") && !last) q.data = word[++i];
        else if (!strcmp(word[i], "--methods") && !last) q.methods = word[++i];
        else if (!strcmp(word[i], "--faults") && !last) q.faults = word[++i];
        else if (!strcmp(word[i], "--parts") && !last) q.parts = word[++i];
        else {
            fprintf(stderr, "covtune-tune-study: --quick, --starts N, --other-starts N, --slow-starts N, --seeds N, "
                            "--first-seed N, --data D1,.., --methods dfgn,.., --parts starts,methods,far,faults, "
                            "--faults noise1,.. or --each, found \"%s\"\n", word[i]);
            return 2;
        }
    }
    if (listed(q.parts, "starts")) print_starts(&q);
    if (listed(q.parts, "methods")) print_methods(&q);
    if (listed(q.parts, "far") && !q.quick) print_far(&q);
    if (listed(q.parts, "faults")) print_faults(&q);
    printf("\n%s\n", missed ? "Some claims are missed." : "All claims hold.");
    return missed > 0;
}
