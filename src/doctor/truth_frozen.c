/* truth_frozen.c: a truth that repeats its last pose, as a tracker does that lost its target.
 *
 * Poses of a body follow each other with truths that are equal to the last bit. A body at rest has such truths as well,
 * where they have few digits. Then odometry measures no motion. So with l_k the lengths of the steps of odometry,
 * and m the median of those at which the truth moves, a stretch of STEPS steps or more is frozen if the median of its
 * l_k is above MOVES m. The stretch begins with a pose that was measured; the later ones are none. Where most poses are
 * none, the truth is slower than the states: that is said, and nothing is left out. */
#include "doctor/doctor.h"

#include <math.h>

#define STEPS 4
#define MOVES 0.3

typedef struct {
    const ct__sensor *s;
    double           *length;  /* per sample: of the measured step; NaN: none       */
    double           *room;
    int32_t          *step_of; /* per variable of a sequence: sample that ends there, or -1 */
    uint8_t         **frozen;  /* per sequence, per variable: its truth is none     */
    double            usual;   /* median length where the truth moves               */
    int64_t           count, poses, all;
    int32_t           longest, sequence;
    double            seconds;
} search;

static double length_of(const ct__exam *e, const ct__sensor *s, const ct__sample *q)
{
    double w[CT_ROWS_MAX] = {0}, sum = 0;
    ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, w);
    for (int i = 0; i < s->rows; i++) sum += ct__row_turns(s, i) ? 0 : w[i] * w[i];
    return sqrt(sum);
}

static int is_same(const ct__exam_sequence *s, int32_t a, int32_t b)
{
    const ct_graph *g = s->seq->graph;
    const double   *x = s->seq->truth + g->offset[a], *y = s->seq->truth + g->offset[b];
    if (!ct__known(s->seq, a) || ct__known(s->seq, a) != ct__known(s->seq, b) || g->kind[a] != g->kind[b]) return 0;
    return !memcmp(x, y, (size_t)ct_kind_size((ct_kind)g->kind[a]) * sizeof *x);
}

/* The two poses of a step, in the order of time. */
static void ends_of(const ct__exam *e, const ct__sample *q, int32_t *from, int32_t *to)
{
    const ct__exam_sequence *s = &e->sequence[q->sequence];
    const ct_factor          f = ct_graph_factor(s->seq->graph, q->factor);
    const int                back = s->place[f.var[0]] > s->place[f.var[1]];
    *from = f.var[back], *to = f.var[!back];
}

static void find_usual(const ct__exam *e, search *t)
{
    int64_t n = 0;
    for (int32_t k = 0; k < t->s->samples; k++) {
        int32_t a, b;
        t->length[k] = length_of(e, t->s, &t->s->sample[k]);
        ends_of(e, &t->s->sample[k], &a, &b);
        const ct__exam_sequence *s = &e->sequence[t->s->sample[k].sequence];
        if (s->seq->truth && !is_same(s, a, b)) t->room[n++] = t->length[k];
    }
    t->usual = n >= CT__SAMPLES_LEAST ? ct_median(n, t->room) : 0;
}

/* Poses at places from..to of the order are one truth. */
static void take_stretch(const ct__exam_sequence *s, int32_t i, int32_t from, int32_t to, search *t)
{
    int64_t n = 0;
    for (int32_t k = from + 1; k <= to; k++)
        if (t->step_of[s->order[k]] >= 0) t->room[n++] = t->length[t->step_of[s->order[k]]];
    if (n < STEPS || !(ct_median(n, t->room) > MOVES * t->usual)) return;
    for (int32_t k = from + 1; k <= to; k++) t->frozen[i][s->order[k]] = 1;
    if (!t->count++) t->sequence = i;
    t->poses += to - from;
    if (to - from <= t->longest) return;
    t->longest = to - from;
    t->seconds = s->timed ? s->t[s->order[to]] - s->t[s->order[from]] : NAN;
}

static void search_sequence(const ct__exam *e, int32_t i, search *t)
{
    const ct__exam_sequence *s = &e->sequence[i];
    for (int32_t v = 0; v < s->seq->graph->variables; v++) t->step_of[v] = -1;
    for (int32_t k = 0; k < t->s->samples; k++) {
        int32_t a, b;
        if (t->s->sample[k].sequence != i) continue;
        ends_of(e, &t->s->sample[k], &a, &b);
        t->step_of[b] = k;
    }
    for (int32_t body = 0; s->seq->truth && body < s->bodies.count; body++) {
        int32_t from = s->first[body];
        t->all += s->first[body + 1] - from;
        for (int32_t k = from + 1; k <= s->first[body + 1]; k++) {
            if (k < s->first[body + 1] && is_same(s, s->order[k - 1], s->order[k])) continue;
            if (k - 1 - from >= STEPS) take_stretch(s, i, from, k - 1, t);
            from = k;
        }
    }
}

static void drop_samples(const ct__exam *e, ct__sensor *s, const search *t)
{
    int32_t n = 0;
    for (int32_t k = 0; k < s->samples; k++) {
        const ct__sample *q = &s->sample[k];
        const ct_factor   f = ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor);
        int               frozen = 0;
        for (int v = 0; v < f.ops->arity; v++) frozen |= t->frozen[q->sequence][f.var[v]];
        if (!frozen) s->sample[n++] = *q;
    }
    s->samples = n;
}

/* Lengths of steps over time, and what would be none. */
static ct_status show(ct__exam *e, const search *t, ct_err *err)
{
    const ct__exam_sequence *s = &e->sequence[t->sequence];
    ct__picture              p = {0};
    ct_status                status = CT_OK;
    for (int32_t k = 0; status == CT_OK && k < t->s->samples; k++) {
        int32_t a, b;
        ends_of(e, &t->s->sample[k], &a, &b);
        if (t->s->sample[k].sequence == t->sequence && t->frozen[t->sequence][b])
            status = ct__picture_add(&p, ct__time_of(s, b), t->length[k], err);
    }
    ct__picture_level(&p, MOVES * t->usual);
    if (status == CT_OK)
        status = ct__picture_report(e, &p, ct__time_label(s), "measured step where the truth stays", err);
    ct__picture_free(&p);
    return status;
}

static ct_status report(ct__exam *e, const search *t, ct_err *err)
{
    const ct_sequence *seq = e->sequence[t->sequence].seq;
    const double value[] = {(double)t->count, t->longest, t->seconds, 100 * (double)t->poses / (double)t->all};
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_TRUTH_FROZEN, 4, value, err));
    CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_SEQUENCE, e->sequence[t->sequence].index, 0,
                                   ct_sequence_label(seq), err));
    CT_TRY(show(e, t, err));
    for (int32_t i = 0; 2 * t->poses < t->all && i < e->sensors; i++) drop_samples(e, &e->sensor[i], t);
    return CT_OK;
}

static ct_status start(const ct__exam *e, search *t, ct_err *err)
{
    int64_t most = 1, all = CT_MAX(1, t->s->samples);
    t->frozen = ct__zalloc(e->sequences, sizeof *t->frozen);
    if (!t->frozen) return ct__no_memory(err, "sequences", e->sequences);
    for (int32_t i = 0; i < e->sequences; i++) {
        const int64_t n = e->sequence[i].seq->graph->variables;
        most = CT_MAX(most, n);
        t->frozen[i] = ct__zalloc(CT_MAX(1, n), 1);
        if (!t->frozen[i]) return ct__no_memory(err, "variables", n);
    }
    t->length = ct__zalloc(all, sizeof *t->length);
    t->room = ct__zalloc(all + most, sizeof *t->room);
    t->step_of = ct__zalloc(most, sizeof *t->step_of);
    return t->length && t->room && t->step_of ? CT_OK : ct__no_memory(err, "samples", all);
}

ct_status ct__drop_frozen_truth(ct__exam *e, ct_err *err)
{
    search t = {.s = NULL};
    for (int32_t i = e->sensors - 1; i >= 0; i--)
        if (e->sensor[i].odometry && e->sensor[i].measured && ct__is_pose(e->sensor[i].ops->field[0]) &&
            e->sensor[i].samples >= CT__SAMPLES_LEAST)
            t.s = &e->sensor[i];
    if (!t.s) return CT_OK;
    ct_status status = start(e, &t, err);
    if (status == CT_OK) {
        find_usual(e, &t);
        for (int32_t i = 0; i < e->sequences && t.usual > 0; i++) search_sequence(e, i, &t);
        if (t.count) status = report(e, &t, err);
    }
    for (int32_t i = 0; t.frozen && i < e->sequences; i++) free(t.frozen[i]);
    free(t.frozen);
    free(t.length);
    free(t.room);
    free(t.step_of);
    return status;
}
