/* depends.c: does the size of a sensor's errors depend on what is measured, on motion, on time or on a feature?
 *
 *     d_k^(2/3) = a + sum_j b_j c_kj + e,     d_k the length of the whitened error, c covariates in standard units
 *
 * d^(2/3) of normal errors is nearly normal (Wilson and Hilferty), and sigma is y^(3/2). Covariates are chosen as
 * faults are, one after the other. A feature of factors that is positive and varies over a factor of four is taken as
 * the power c^(2/3), log c or c^(-2/3) that fits best: sigma in proportion to it, to its inverse, or in between.
 * What was found is taken out of the errors before they are tested for tails: noise of two sizes has heavy tails. */
#include "doctor/doctor.h"
#include "graph/biased.h"

#include <math.h>

#define FACTOR     1.3  /* of sigma between deciles: a smaller one does not matter   */
#define VARIES     0.02 /* of a covariate's mean: less is no variation               */
#define LEAST      0.1  /* of the mean of y: what is fitted below is this                 */
#define DECILE_LOW 0.1
#define DECILE_HIGH 0.9

#define WIDE       4.0  /* of a feature's deciles: it is taken as a power             */
#define COLUMNS    16

enum { RANGE, SPEED, TURN, TIME, DURATION, COVARIATES }; /* columns of all sensors; then features */
static const char *const NAME[COVARIATES] = {"range", "speed", "turn_rate", "time", "duration"};

typedef struct {
    int32_t     n;
    int         columns, count, which[COLUMNS]; /* columns; those that vary    */
    const char *name[COLUMNS];
    uint8_t     wide[COLUMNS];                  /* taken as a power            */
    double      power[COLUMNS];                 /* 2/3, -2/3; 0: its logarithm */
    double      mean[COLUMNS], deviation[COLUMNS], low[COLUMNS], high[COLUMNS];
    double     *c;                              /* n x columns                 */
    double     *r, *D, *room;
    int32_t    *run;
} table;

static double scaled(const table *t, int j, double c)
{
    if (!t->wide[j]) return c;
    return t->power[j] != 0 ? pow(c, t->power[j]) : log(c);
}

static double standard(const table *t, int j, double c)
{
    return (scaled(t, j, c) - t->mean[j]) / t->deviation[j];
}

static void free_table(table *t)
{
    free(t->c);
    free(t->r);
    free(t->D);
    free(t->room);
    free(t->run);
}

/* Row of the measured value that is a distance; -1: all rows are a point; -2: none. */
static int distance_row(const ct__sensor *s)
{
    for (int i = 0; i < s->rows; i++)
        if (s->ops->coordinate[i] && !strcmp(s->ops->coordinate[i], "range")) return i;
    return !strncmp(s->ops->name, "point_", 6) ? -1 : -2;
}

static int measure(const ct__exam *e, const ct__sensor *s, const ct__sample *q, double *c)
{
    const ct__exam_sequence *n = &e->sequence[q->sequence];
    const ct_factor          f = ct__without_bias(ct_graph_factor(n->seq->graph, q->factor));
    const int                row = distance_row(s);
    double                   r[CT_ROWS_MAX], w[CT_ROWS_MAX], x[CT_SIZE_MAX], twist[CT_DIM_MAX] = {0};
    if (!ct__sample_row(e, s, q, &s->fault, r, NULL, w)) return 0;
    for (int i = 0; i < f.ops->arity; i++)
        if (n->moving[f.var[i]] && !ct__pose_at(n, f.var[i], n->t[f.var[i]], x, twist)) return 0;
    const unsigned turns = ct__is_pose(s->pose) ? ct__turns[s->pose] : 0;
    double         speed = 0, turn = 0, square = 0;
    for (int i = 0; i < CT_DIM_MAX; i++) *(turns >> i & 1 ? &turn : &speed) += twist[i] * twist[i];
    for (int i = 0; row == -1 && i < s->rows; i++) square += w[i] * w[i];
    c[RANGE] = row >= 0 ? w[row] : row == -1 ? sqrt(square) : 0;
    c[SPEED] = sqrt(speed);
    c[TURN] = sqrt(turn);
    c[TIME] = q->t - n->t0;
    c[DURATION] = ct__sample_duration(e, s, q);
    return 1;
}

/* Features that most factors of a sensor have. Those with the name of a covariate are that. */
static void find_features(const ct__exam *e, const ct__sensor *s, table *t)
{
    for (int j = 0; j < COVARIATES; j++) t->name[j] = NAME[j];
    t->columns = COVARIATES;
    for (int32_t i = 0; i < s->samples; i += CT_MAX(1, s->samples / 16)) {
        const ct_graph *g = e->sequence[s->sample[i].sequence].seq->graph;
        for (int k = 0; k < ct_graph_features(g) && t->columns < COLUMNS; k++) {
            const char *name = ct_graph_feature_name(g, k);
            int         known = 0;
            for (int j = 0; j < t->columns; j++) known |= !strcmp(t->name[j], name);
            if (!known && isfinite(ct_graph_feature(g, s->sample[i].factor, k))) t->name[t->columns++] = name;
        }
    }
}

/* Features of sample k; what it lacks is as in the one before. */
static void take_features(const ct__exam *e, const ct__sensor *s, int32_t k, table *t)
{
    const ct_graph *g = e->sequence[s->sample[k].sequence].seq->graph;
    double         *c = t->c + (int64_t)k * t->columns;
    for (int j = COVARIATES; j < t->columns; j++) {
        const int column = ct_graph_find_feature(g, t->name[j]);
        c[j] = column < 0 ? NAN : ct_graph_feature(g, s->sample[k].factor, column);
        if (!isfinite(c[j])) c[j] = k ? c[j - t->columns] : 0;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Mean and deviation of column j as it is taken; how well it goes with the sizes of errors, r^2. */
static double take_column(table *t, int j)
{
    double c = 0, cc = 0, y = 0, yy = 0, cy = 0;
    for (int32_t k = 0; k < t->n; k++) c += scaled(t, j, t->c[(int64_t)k * t->columns + j]), y += t->r[k];
    c /= t->n, y /= t->n;
    for (int32_t k = 0; k < t->n; k++) {
        const double u = scaled(t, j, t->c[(int64_t)k * t->columns + j]) - c, v = t->r[k] - y;
        cc += u * u, yy += v * v, cy += u * v;
    }
    t->mean[j] = c;
    t->deviation[j] = sqrt(cc / t->n);
    return cc > 0 && yy > 0 ? cy * cy / (cc * yy) : 0;
}

/* Means, deviations and deciles; covariates that vary. */
static void standardise(table *t)
{
    static const double POWER[] = {0, 2.0 / 3, -2.0 / 3};
    for (int j = 0; j < t->columns; j++) {
        for (int32_t k = 0; k < t->n; k++) t->room[k] = t->c[(int64_t)k * t->columns + j];
        qsort(t->room, (size_t)t->n, sizeof *t->room, compare);
        t->low[j] = t->room[(int32_t)(DECILE_LOW * t->n)];
        t->high[j] = t->room[(int32_t)(DECILE_HIGH * t->n)];
        t->wide[j] = j >= COVARIATES && t->room[0] > 0 && t->high[j] > WIDE * t->low[j];
        double best = 0, most = -1;
        for (int i = 0; t->wide[j] && i < 3; i++) {
            t->power[j] = POWER[i];
            const double r2 = take_column(t, j);
            if (r2 > most) best = POWER[i], most = r2;
        }
        t->power[j] = best;
        take_column(t, j);
        const double least = t->wide[j] ? 0 : VARIES * fabs(t->mean[j]);
        if (t->deviation[j] > least && t->high[j] > t->low[j]) t->which[t->count++] = j;
    }
}

static ct_status fill(const ct__exam *e, const ct__sensor *s, table *t, ct_err *err)
{
    find_features(e, s, t);
    const int64_t most = s->samples, p = t->columns + 1;
    t->c = ct__zalloc(most * t->columns, sizeof *t->c);
    t->r = ct__zalloc(most, sizeof *t->r);
    t->D = ct__zalloc(most * p, sizeof *t->D);
    t->room = ct__zalloc(most, sizeof *t->room);
    t->run = ct__zalloc(most, sizeof *t->run);
    if (!t->c || !t->r || !t->D || !t->room || !t->run) return ct__no_memory(err, "samples", most);
    for (int32_t k = 0; k < s->samples; k++) {
        double d2 = 0;
        for (int i = 0; i < s->rows; i++)
            if (!s->mute[i]) d2 += pow(s->fit->e[(int64_t)k * s->rows + i] / s->fit->white[s->sample[k].model][i], 2);
        double *c = t->c + (int64_t)k * t->columns;
        if (!measure(e, s, &s->sample[k], c) && k) memcpy(c, c - t->columns, COVARIATES * sizeof *c); /* as before */
        take_features(e, s, k, t);
        t->r[k] = -cbrt(d2);
        t->run[k] = s->sample[k].sequence;
    }
    t->n = s->samples;
    standardise(t);
    for (int32_t k = 0; k < t->n; k++) {
        t->D[(int64_t)k * (t->count + 1)] = 1;
        for (int j = 0; j < t->count; j++) {
            const int w = t->which[j];
            t->D[(int64_t)k * (t->count + 1) + 1 + j] = standard(t, w, t->c[(int64_t)k * t->columns + w]);
        }
    }
    return CT_OK;
}

/* sigma at value c of covariate j, others at their mean, over that of all at their mean. */
static double sigma_at(const table *t, const ct__fit *fit, int j, double c)
{
    const int w = t->which[j];
    return pow(fmax(LEAST, 1 + fit->phi[j + 1] / fit->phi[0] * standard(t, w, c)), 1.5);
}

static double factor_of(const table *t, const ct__fit *fit, int j)
{
    return sigma_at(t, fit, j, t->high[t->which[j]]) / sigma_at(t, fit, j, t->low[t->which[j]]);
}

static ct_status report(ct__exam *e, const ct__sensor *s, const table *t, const ct__fit *fit, int j, ct_err *err)
{
    const int w = t->which[j];
    double    mean = 0, square = 0, line_x[2] = {t->low[w], t->high[w]}, line_y[2];
    for (int32_t k = 0; k < t->n; k++) mean += -t->r[k] / t->n;
    for (int32_t k = 0; k < t->n; k++) square += pow(-t->r[k] - mean, 2) / t->n;
    const double value[] = {factor_of(t, fit, j), 100 * fit->phi[j + 1] * fit->phi[j + 1] / square, t->low[w],
                            t->high[w]};
    CT_TRY(ct__report(e, s, -1, CT_FINDING_NOISE_DEPENDS, 4, value, err));
    CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_COVARIATE, -1, 0, t->name[w], err));
    double   *x = ct__zalloc(t->n, sizeof *x), *y = ct__zalloc(t->n, sizeof *y);
    ct_status status = x && y ? CT_OK : ct__no_memory(err, "samples", t->n);
    for (int32_t k = 0; status == CT_OK && k < t->n; k++) {
        x[k] = t->c[(int64_t)k * t->columns + w];
        y[k] = pow(-t->r[k], 1.5);
    }
    for (int i = 0; i < 2; i++) line_y[i] = pow(fit->phi[0], 1.5) * sigma_at(t, fit, j, line_x[i]);
    if (status == CT_OK)
        status = ct__report_evidence(e, t->name[w], "error, sigmas", t->n, x, y, 2, line_x, line_y, err);
    free(x);
    free(y);
    return status;
}

/* Errors without the dependence. */
static void relieve(ct__sensor *s, const table *t, const ct__fit *fit)
{
    for (int32_t k = 0; k < t->n; k++) {
        double y = fit->phi[0];
        for (int j = 1; j <= t->count; j++)
            if (fit->use[j]) y += fit->phi[j] * t->D[(int64_t)k * (t->count + 1) + j];
        const double sigma = pow(fmax(LEAST, y / fit->phi[0]), 1.5);
        for (int i = 0; i < s->rows; i++) s->fit->e[(int64_t)k * s->rows + i] /= sigma;
    }
}

ct_status ct__test_dependence(ct__exam *e, ct__sensor *s, ct_err *err)
{
    table     t = {0};
    ct__fit   fit = {0};
    if (!ct__noise_row_count(s)) return CT_OK;
    ct_status status = fill(e, s, &t, err);
    const ct__regression g = {
        .samples = t.n, .rows = 1, .params = t.count + 1, .r = t.r, .D = t.D, .run = t.run};
    fit.use[0] = 1;
    for (int step = 0; status == CT_OK && step < t.count; step++) {
        int best = -1;
        status = ct__screen(&g, &fit, err);
        for (int j = 1; status == CT_OK && j <= t.count; j++) {
            if (fit.use[j] || ct__student_tail(fit.wald[j], fit.degrees) > e->alpha) continue;
            if (best < 0 || fabs(fit.wald[j]) > fabs(fit.wald[best])) best = j;
        }
        if (best < 0) break;
        fit.use[best] = 1;
        status = ct__regress(&g, &fit, err);
        if (status == CT_OK && fabs(log(factor_of(&t, &fit, best - 1))) < log(FACTOR)) {
            fit.use[best] = 0;
            break;
        }
    }
    if (status == CT_OK) status = ct__regress(&g, &fit, err);
    for (int j = 0; status == CT_OK && j < t.count; j++) /* what one chosen later explains better */
        if (fit.use[j + 1] && fabs(log(factor_of(&t, &fit, j))) < log(FACTOR)) {
            fit.use[j + 1] = 0;
            status = ct__regress(&g, &fit, err);
        }
    for (int j = 0; status == CT_OK && j < t.count; j++)
        if (fit.use[j + 1]) status = report(e, s, &t, &fit, j, err);
    if (status == CT_OK) relieve(s, &t, &fit);
    ct__fit_free(&fit);
    free_table(&t);
    return status;
}
