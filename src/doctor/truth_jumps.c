/* truth_jumps.c: jumps of the truth that odometry does not see.
 *
 * At a step of odometry z from a to b the truth is off by d = t(x_b) - t(x_a z). A jump is a single step, or two with
 * a state in between, whose |d| is FAR times the median of steps that move as much, where the motion of the truth
 * differs from that before and after, and the motion that odometry measures does not: a wheel that slips is the other
 * way round. Errors grow with motion. At rest there may be none: the median of all steps would be that of the rest, and
 * every step that moves a jump. Sensors that are
 * tied to the world must see it too. With g the change of a residual r that shifting the state by d makes, r.g / g.g
 * rises by 1 at a jump of the truth, and by 0 at an error of odometry.
 *
 * What follows is examined at values without the jumps. The stretch between jumps that stays in its place is the one
 * with which sensors that are tied to the world agree best, else the longest. */
#include "doctor/doctor.h"
#include "graph/biased.h"

#include <math.h>

#define FAR        8.0  /* medians of |d|                                              */
#define AT_REST    0.05 /* of the motion that 19 of 20 steps are below                 */
#define GROUPS     5    /* by motion                                                   */
#define GROUP      20   /* steps of a group, at least                                  */
#define OFTEN      0.01 /* of the steps: that is noise                                 */
#define LONGER     1.5  /* median durations of a step: a longer one has larger errors  */
#define SMOOTHER   3.0  /* times: what odometry measures changes less than the truth   */
#define SHOWN      400  /* steps before and after the first jump in the picture         */
#define WINDOW     80   /* states before and after a jump in which sensors see it      */
#define SEEN       0.5  /* of the jump                                                 */
#define SEEN_ERROR 0.2  /* standard error above which sensors do not tell              */
#define SEEN_LEAST 8    /* measurements on either side                                 */
#define STRETCHES  12   /* of a sequence that are compared                             */

typedef struct {
    int32_t place;               /* of the later state in the order of the sequence         */
    int     far, jump;
    double  d[3], size;          /* in the world                                            */
    double  truth[3], odometry[3]; /* displacements in the body's frame                     */
    double  duration, motion, usual; /* usual: median of |d| of steps that move as much     */
} step;

typedef struct {
    ct__exam *e;
    int64_t   count, capacity, jumps;
    step     *step; /* of one sequence and body */
    double   *room;
    int64_t   room_capacity;
    double    duration, size, seconds;
    int32_t   sequence; /* of the first jump, -1: none */
    ct__picture picture; /* of its steps: time, size; the line is what a jump exceeds */
} search;

static int axes_of(ct_kind kind) { return kind == CT_SE2 ? 2 : 3; }

/* ---- Steps ------------------------------------------------------------------------------------ */

static int has_position(const ct_sequence *seq, int32_t v)
{
    const ct_kind  kind = (ct_kind)seq->graph->kind[v];
    const unsigned place = ct__all_of(kind) & ~(unsigned)ct__turns[kind];
    return (ct__known(seq, v) & place) == place;
}

static void position_of(ct_kind kind, const double *a, const double *b, double *out)
{
    double v[CT_DIM_MAX];
    ct_kind_local(kind, a, b, v);
    for (int i = 0; i < axes_of(kind); i++) out[i] = v[kind == CT_SE2 ? i : 3 + i];
}

static int measure_step(const ct__exam_sequence *s, int32_t factor, step *out)
{
    const ct_graph *g = s->seq->graph;
    const ct_factor f = ct__without_bias(ct_graph_factor(g, factor));
    const int32_t   a = f.var[0], b = f.var[1];
    const ct_kind   kind = (ct_kind)g->kind[a];
    double          identity[CT_SIZE_MAX], v[CT_DIM_MAX], y[CT_SIZE_MAX];
    if (s->place[b] != s->place[a] + 1 || !s->whole[a] || !s->whole[b]) return 0;
    if (!has_position(s->seq, a) || !has_position(s->seq, b)) return 0;
    *out = (step){.place = s->place[b], .duration = s->t[b] - s->t[a]};
    ct_kind_identity(kind, identity);
    ct_kind_local(kind, identity, f.z, v);
    ct_kind_retract(kind, s->x + g->offset[a], v, y);
    position_of(kind, identity, f.z, out->odometry);
    position_of(kind, s->x + g->offset[a], s->x + g->offset[b], out->truth);
    double sum = 0;
    for (int i = 0; i < axes_of(kind); i++) {
        out->d[i] = s->x[g->offset[b] + i] - y[i];
        sum += out->d[i] * out->d[i];
        out->motion += fabs(out->truth[i]) + fabs(out->odometry[i]);
    }
    out->size = sqrt(sum);
    return isfinite(out->size);
}

static int compare_steps(const void *a, const void *b)
{
    const step *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Steps of a sequence and a body, in order. */
static ct_status take_steps(search *t, int32_t i, int32_t body, ct_err *err)
{
    const ct__exam_sequence *s = &t->e->sequence[i];
    const ct_graph          *g = s->seq->graph;
    t->count = 0;
    for (int32_t f = 0; s->seq->truth && f < g->factors; f++) {
        const ct_factor_ops *ops = ct_factor_unbiased(g->factor[f].ops);
        step                 one;
        if (ops->arity != 2 || ops->fields != 1 || !ct__is_pose(ops->kind[0])) continue;
        if (ops->field[0] != ops->kind[0]) continue;
        if (s->bodies.body[g->var_pool[g->factor[f].var]] != body || !ct__is_odometry(g, &s->bodies, f)) continue;
        if (!measure_step(s, f, &one)) continue;
        CT_TRY(ct__grow(&t->step, &t->capacity, t->count + 1, sizeof *t->step, "steps", err));
        t->step[t->count++] = one;
    }
    if (t->count) qsort(t->step, (size_t)t->count, sizeof *t->step, compare_steps);
    return ct__grow(&t->room, &t->room_capacity, CT_MAX(1, t->count), sizeof *t->room, "steps", err);
}

/* ---- Jumps ------------------------------------------------------------------------------------ */

/* Does the truth leave its motion at step k, and odometry does not? a, b: steps before and after, or -1. */
static int leaves_course(const search *t, int n, int64_t k, int64_t a, int64_t b)
{
    double truth = 0, odometry = 0;
    if (a < 0 && b < 0) return 0;
    const step *x = &t->step[a < 0 ? b : a], *y = &t->step[b < 0 ? a : b];
    for (int i = 0; i < n; i++) {
        const double u = t->step[k].truth[i] - (x->truth[i] + y->truth[i]) / 2,
                     v = t->step[k].odometry[i] - (x->odometry[i] + y->odometry[i]) / 2;
        truth += u * u, odometry += v * v;
    }
    return sqrt(truth) > SMOOTHER * sqrt(odometry) && sqrt(truth) > 0.5 * t->step[k].size;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Groups by motion; steps at rest are of the first, but do not count in it. */
static void find_usual(search *t)
{
    double edge[GROUPS + 1];
    for (int64_t k = 0; k < t->count; k++) t->room[k] = t->step[k].motion;
    qsort(t->room, (size_t)t->count, sizeof *t->room, compare_doubles);
    const double rest = AT_REST * t->room[(t->count - 1) * 19 / 20];
    int64_t      still = 0;
    while (still < t->count && t->room[still] < rest) still++;
    if (t->count - still < GROUP) still = 0;
    const int groups = (int)CT_MAX(1, CT_MIN(GROUPS, (t->count - still) / GROUP));
    for (int g = 0; g < groups; g++) edge[g] = t->room[still + g * (t->count - still) / groups];
    edge[groups] = INFINITY;
    for (int g = 0; g < groups; g++) {
        int64_t n = 0;
        for (int64_t k = 0; k < t->count; k++)
            if (t->step[k].motion >= edge[g] && t->step[k].motion < edge[g + 1]) t->room[n++] = t->step[k].size;
        const double usual = n ? ct_median(n, t->room) : 0;
        for (int64_t k = 0; k < t->count; k++)
            if ((!g || t->step[k].motion >= edge[g]) && t->step[k].motion < edge[g + 1]) t->step[k].usual = usual;
    }
}

static void mark_far(search *t)
{
    find_usual(t);
    for (int64_t k = 0; k < t->count; k++) t->room[k] = t->step[k].duration;
    t->duration = ct_median(t->count, t->room);
    for (int64_t k = 0; k < t->count; k++) {
        step *p = &t->step[k];
        p->far = p->size > FAR * p->usual && p->duration < LONGER * t->duration;
    }
}

/* Runs of one or two far steps that leave the course. */
static void mark_jumps(search *t, int n)
{
    for (int64_t k = 0, end; k < t->count; k = end) {
        end = k + 1;
        if (!t->step[k].far) continue;
        while (end < t->count && t->step[end].far && t->step[end].place == t->step[end - 1].place + 1) end++;
        const int64_t a = k > 0 && t->step[k - 1].place == t->step[k].place - 1 ? k - 1 : -1;
        const int64_t b = end < t->count && t->step[end].place == t->step[end - 1].place + 1 ? end : -1;
        int           all = end - k <= 2;
        for (int64_t i = k; i < end; i++) all = all && leaves_course(t, n, i, a, b);
        for (int64_t i = k; i < end; i++) t->step[i].jump = all;
    }
}

/* ---- What other sensors see ------------------------------------------------------------------- */

/* r <- residual of a sample with the states of the body shifted by -shift. 0: there is none. */
static int residual_shifted(const ct__exam *e, const ct__sample *q, int32_t body, const double *shift, double *r)
{
    const ct__exam_sequence *s = &e->sequence[q->sequence];
    const ct_graph          *g = s->seq->graph;
    const ct_factor          f = ct__without_bias(ct_graph_factor(g, q->factor));
    double                   x[CT_ARITY_MAX][CT_SIZE_MAX];
    const double            *arg[CT_ARITY_MAX];
    for (int i = 0; i < f.ops->arity; i++) {
        const int32_t v = f.var[i];
        const ct_kind kind = (ct_kind)g->kind[v];
        if (!s->whole[v]) return 0;
        memcpy(x[i], s->x + g->offset[v], (size_t)ct_kind_size(kind) * sizeof(double));
        for (int k = 0; s->moving[v] && s->bodies.body[v] == body && k < axes_of(kind); k++) x[i][k] -= shift[k];
        arg[i] = x[i];
    }
    ct_factor_eval(f.ops, f.z, f.context, arg, r, NULL);
    for (int i = 0; i < f.ops->rows; i++)
        if (!isfinite(r[i])) return 0;
    return 1;
}

/* The place of the state of the body that a sample is of, -1: none. */
static int32_t place_of(const ct__exam *e, const ct__sample *q, int32_t body)
{
    const ct__exam_sequence *s = &e->sequence[q->sequence];
    const ct_factor          f = ct__without_bias(ct_graph_factor(s->seq->graph, q->factor));
    for (int i = 0; i < f.ops->arity; i++)
        if (s->moving[f.var[i]] && s->bodies.body[f.var[i]] == body) return s->place[f.var[i]];
    return -1;
}

/* Median over samples from place `from` to before `to` of the share of the shift that they see, and its error. */
static int see_shift(const search *t, const ct__sensor *s, int32_t i, int32_t body, const int32_t from, int32_t to,
                     const double *shift, double *share, double *error)
{
    static const double none[3] = {0};
    double              u[4 * WINDOW];
    int64_t             n = 0;
    for (int32_t k = 0; k < s->samples && n < 4 * WINDOW; k++) {
        double        r[CT_ROWS_MAX], other[CT_ROWS_MAX], rg = 0, gg = 0;
        const int32_t at = s->sample[k].sequence == i ? place_of(t->e, &s->sample[k], body) : -1;
        if (at < from || at >= to) continue;
        if (!residual_shifted(t->e, &s->sample[k], body, none, r)) continue;
        if (!residual_shifted(t->e, &s->sample[k], body, shift, other)) continue;
        for (int c = 0; c < s->rows; c++) rg += r[c] * (r[c] - other[c]), gg += (r[c] - other[c]) * (r[c] - other[c]);
        double length = 0;
        for (int c = 0; c < 3; c++) length += shift[c] * shift[c];
        if (gg > 0.25 * length) u[n++] = rg / gg;
    }
    if (n < SEEN_LEAST) return 0;
    *share = ct_median(n, u);
    for (int64_t k = 0; k < n; k++) u[k] -= *share;
    *error = fmax(1e-9, 1.2533 * ct__robust_sigma(n, u) / sqrt((double)n));
    return 1;
}

/* 0: sensors that are tied to the world contradict a jump at a place. */
static int is_seen(const search *t, int32_t i, int32_t body, int64_t k)
{
    const int32_t at = t->step[k].place;
    int32_t       from = at - WINDOW, to = at + WINDOW;
    double        sum = 0, weight = 0;
    for (int64_t m = 0; m < t->count; m++) {
        if (!t->step[m].jump || m == k) continue;
        if (t->step[m].place < at) from = CT_MAX(from, t->step[m].place);
        else to = CT_MIN(to, t->step[m].place);
    }
    for (int32_t j = 0; j < t->e->sensors; j++) {
        const ct__sensor *s = &t->e->sensor[j];
        double            a, b, ea, eb;
        if (!s->tied || !see_shift(t, s, i, body, from, at, t->step[k].d, &a, &ea)) continue;
        if (!see_shift(t, s, i, body, at, to, t->step[k].d, &b, &eb)) continue;
        const double w = 1 / (ea * ea + eb * eb);
        sum += w * (b - a), weight += w;
    }
    return !(weight > 1 / (SEEN_ERROR * SEEN_ERROR)) || sum / weight > SEEN;
}

static void ask_sensors(search *t, int32_t i, int32_t body)
{
    for (int64_t k = 0; k < t->count; k++)
        if (t->step[k].jump && !is_seen(t, i, body, k)) t->step[k].jump = 2; /* later: others are still bounds */
    int64_t n = 0; /* from here on steps are jumps */
    for (int64_t k = 0; k < t->count; k++)
        if (t->step[k].jump == 1) t->step[n++] = t->step[k];
    t->count = n;
}

/* ---- Values without jumps --------------------------------------------------------------------- */

/* shift <- the sum of jumps up to a place. */
static void stretch_of(const search *t, int32_t place, double *shift)
{
    shift[0] = shift[1] = shift[2] = 0;
    for (int64_t k = 0; k < t->count && t->step[k].place <= place; k++)
        for (int i = 0; i < 3; i++) shift[i] += t->step[k].d[i];
}

/* How badly sensors that are tied to the world agree with the truth if all is moved to a stretch: N log of the mean
 * residual, summed over sensors. */
static double disagreement(const search *t, int32_t i, int32_t body, const double *stays)
{
    double total = 0;
    for (int32_t j = 0; j < t->e->sensors; j++) {
        const ct__sensor *s = &t->e->sensor[j];
        double            sum = 0, r[CT_ROWS_MAX], shift[3];
        int64_t           n = 0;
        for (int32_t k = 0; s->tied && k < s->samples; k++) {
            const int32_t at = s->sample[k].sequence == i ? place_of(t->e, &s->sample[k], body) : -1;
            if (at < 0) continue;
            stretch_of(t, at, shift);
            for (int c = 0; c < 3; c++) shift[c] -= stays[c];
            if (!residual_shifted(t->e, &s->sample[k], body, shift, r)) continue;
            for (int c = 0; c < s->rows; c++) sum += fabs(r[c]);
            n++;
        }
        if (n >= SEEN_LEAST && sum > 0) total += (double)n * log(sum / (double)n);
    }
    return total;
}

/* stays <- the shift of the stretch that stays in its place. */
static void choose_stretch(const search *t, int32_t i, int32_t body, double *stays)
{
    const ct__exam_sequence *s = &t->e->sequence[i];
    double                   best = INFINITY, shift[3];
    int32_t                  begin = s->first[body], longest = 0;
    int                      told = 0;
    stays[0] = stays[1] = stays[2] = 0;
    for (int64_t k = 0; k <= t->count; k++) {
        const int32_t end = k < t->count ? t->step[k].place : s->first[body + 1];
        stretch_of(t, begin, shift);
        const double d = t->count < STRETCHES ? disagreement(t, i, body, shift) : 0;
        told |= d < 0 || d > 0;
        if (told ? d < best : end - begin > longest) memcpy(stays, shift, sizeof shift), best = d;
        longest = CT_MAX(longest, end - begin);
        begin = end;
    }
}

static void mend(const search *t, int32_t i, int32_t body)
{
    const ct__exam_sequence *s = &t->e->sequence[i];
    const ct_graph          *g = s->seq->graph;
    double                   stays[3], shift[3];
    choose_stretch(t, i, body, stays);
    for (int32_t k = s->first[body]; k < s->first[body + 1]; k++) {
        const int32_t v = s->order[k];
        if (g->fixed[v]) continue;
        stretch_of(t, k, shift);
        for (int c = 0; c < axes_of((ct_kind)g->kind[v]); c++) s->x[g->offset[v] + c] -= shift[c] - stays[c];
    }
}

/* ---- All ---------------------------------------------------------------------------------------- */

static ct_status draw_steps(search *t, const ct__exam_sequence *s, ct_err *err)
{
    t->picture.count = 0;
    for (int64_t k = 0; k < t->count; k++)
        CT_TRY(ct__picture_add(&t->picture, ct__time_of(s, s->order[t->step[k].place]), t->step[k].size, err));
    return CT_OK;
}

/* The picture has what is near a time: thinned, it would lose the jump. */
static void keep_near(search *t, double time, double usual)
{
    ct__picture *p = &t->picture;
    int64_t      at = 0;
    while (at + 1 < p->count && p->x[at] < time) at++;
    const int64_t from = CT_MAX(0, at - SHOWN), to = CT_MIN(p->count, at + SHOWN);
    memmove(p->x, p->x + from, (size_t)(to - from) * sizeof *p->x);
    memmove(p->y, p->y + from, (size_t)(to - from) * sizeof *p->y);
    p->count = to - from;
    ct__picture_level(p, FAR * usual);
}

static ct_status report(const search *t, ct_err *err)
{
    const ct__exam_sequence *s = &t->e->sequence[t->sequence];
    ct_findings             *list = &t->e->out->findings;
    const double             value[] = {(double)t->jumps, t->size, t->seconds};
    CT_TRY(ct__report(t->e, NULL, -1, CT_FINDING_TRUTH_JUMPS, 3, value, err));
    CT_TRY(ct_findings_add_subject(list, CT_SUBJECT_SEQUENCE, s->index, 0, ct_sequence_label(s->seq), err));
    return ct__picture_report(t->e, &t->picture, ct__time_label(s), "truth less odometry, over a step (m)", err);
}

static ct_status search_body(search *t, int32_t i, int32_t body, ct_err *err)
{
    const ct__exam_sequence *s = &t->e->sequence[i];
    const int32_t            v = s->order[s->first[body]];
    int64_t                  jumps = 0;
    CT_TRY(take_steps(t, i, body, err));
    if (t->count < CT__SAMPLES_LEAST) return CT_OK;
    mark_far(t);
    mark_jumps(t, axes_of((ct_kind)s->seq->graph->kind[v]));
    for (int64_t k = 0; k < t->count; k++) jumps += t->step[k].jump;
    if (!jumps || (double)jumps > fmax(2, OFTEN * (double)t->count)) return CT_OK;
    if (t->sequence < 0) CT_TRY(draw_steps(t, s, err));
    ask_sensors(t, i, body);
    if (t->sequence < 0 && t->count) keep_near(t, ct__time_of(s, s->order[t->step[0].place]), t->step[0].usual);
    for (int64_t k = 0; k < t->count; k++) {
        const step *p = &t->step[k];
        if (t->sequence < 0) t->sequence = i, t->seconds = s->timed ? s->t[s->order[p->place]] - s->t[v] : NAN;
        t->size = fmax(t->size, p->size);
    }
    t->jumps += t->count;
    if (t->count) mend(t, i, body);
    return CT_OK;
}

ct_status ct__mend_truth_jumps(ct__exam *e, ct_err *err)
{
    search    t = {.e = e, .sequence = -1};
    ct_status status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < e->sequences; i++)
        for (int32_t b = 0; status == CT_OK && b < e->sequence[i].bodies.count; b++)
            if (e->sequence[i].moving[e->sequence[i].order[e->sequence[i].first[b]]])
                status = search_body(&t, i, b, err);
    free(t.step);
    free(t.room);
    if (status == CT_OK && t.jumps) status = report(&t, err);
    ct__picture_free(&t.picture);
    return status;
}
