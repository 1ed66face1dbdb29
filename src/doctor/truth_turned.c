/* truth_turned.c: a truth whose yaw is not that of the body, though only its positions count.
 *
 * Where the truth's rotation is not compared, residuals do not show what is wrong with it. It still fixes the first
 * pose of a sequence, and a wrong yaw there turns the whole path. Odometry from that pose gives displacements p_k, the
 * truth q_k. Both are one path in the plane, turned by
 *
 *     a = atan2(sum p_k x q_k, sum p_k . q_k),    c = |(sum p_k . q_k, sum p_k x q_k)| / (|p| |q|)
 *
 * The body's frame is then turned by m = -a in that of the truth. c is 1 where the paths have the same shape. The
 * shortest beginning that is long against a step is used, as odometry drifts. The turn of a dataset is the mean over
 * its sequences without those that differ. It is a fault if it is large and most sequences have it; the recipe's
 * `mount` of the truth mends it. */
#include "doctor/doctor.h"

#include <math.h>

#define SHAPE     0.995
#define BEGINNING 32    /* states; then twice as many               */
#define STEPS     20.0  /* the path is so many times a step long    */
#define LARGE     0.15  /* rad: odometry may drift by less          */
#define ERRORS    5.0   /* and than so many standard errors         */
#define ALONE     0.05  /* rad: standard error of one sequence      */
#define SAME      0.3   /* rad: turns of sequences that are the same */
#define MOST      0.6   /* of the sequences have it                 */
#define EXACT     0.1   /* rad from a half or a quarter turn        */
#define SHOWN     300   /* states in the picture                    */

/* Positions among the coordinates of a pose, and all of its rotation. */
static unsigned positions_of(ct_kind kind) { return kind == CT_SE2 ? 3u : 56u; }

/* 1: positions of v are known and its rotation is not. */
static int is_half_known(const ct__exam_sequence *s, int32_t v)
{
    const ct_kind kind = (ct_kind)s->seq->graph->kind[v];
    if (kind != CT_SE2 && kind != CT_SE3) return 0;
    const unsigned known = ct__known(s->seq, v), positions = positions_of(kind);
    return (known & positions) == positions && !(known & ~positions);
}

/* The first state of a body from `from` on that a prior on its whole pose fixes; -1: none. */
static int32_t find_anchor(const ct__exam_sequence *s, const uint8_t *fixed, int32_t body)
{
    for (int32_t k = s->first[body]; k < s->first[body + 1]; k++)
        if (fixed[s->order[k]] && is_half_known(s, s->order[k])) return k;
    return -1;
}

typedef struct {
    double cross, dot, pp, qq;
} sums;

static void add(sums *t, const double p[2], const double q[2])
{
    t->cross += p[0] * q[1] - p[1] * q[0];
    t->dot += p[0] * q[0] + p[1] * q[1];
    t->pp += p[0] * p[0] + p[1] * p[1];
    t->qq += q[0] * q[0] + q[1] * q[1];
}

/* *turn <- m from the states that follow place `at`; x: the path by odometry. 0: paths differ, or the body rests. */
static int turn_of(const ct__exam_sequence *s, int32_t body, int32_t at, const double *x, double *turn)
{
    const ct_graph *g = s->seq->graph;
    const double   *x0 = x + g->offset[s->order[at]], *t0 = s->seq->truth + g->offset[s->order[at]];
    sums            t = {0};
    double          path = 0, before[2] = {0, 0};
    int32_t         n = 0, mark = BEGINNING;
    for (int32_t k = at + 1; k < s->first[body + 1]; k++) {
        const int32_t v = s->order[k];
        if (!is_half_known(s, v)) continue;
        const double *xk = x + g->offset[v], *tk = s->seq->truth + g->offset[v];
        const double  p[2] = {xk[0] - x0[0], xk[1] - x0[1]}, q[2] = {tk[0] - t0[0], tk[1] - t0[1]};
        add(&t, p, q);
        path += hypot(q[0] - before[0], q[1] - before[1]);
        memcpy(before, q, sizeof before);
        n++;
        if (n < mark && k + 1 < s->first[body + 1]) continue;
        mark *= 2;
        const double shape = hypot(t.cross, t.dot) / sqrt(t.pp * t.qq);
        if (!(n >= BEGINNING && sqrt(t.qq / n) > STEPS * path / n)) continue; /* it rests */
        if (!(shape > SHAPE)) return 0;
        *turn = -atan2(t.cross, t.dot);
        return 1;
    }
    return 0;
}

/* Turns of the sequence's bodies, appended to turn; *kind: of their poses. path (may be NULL): the path by odometry of
 * *body from its place *at on, for the caller to free. */
static ct_status turns_of(const ct__exam_sequence *s, ct_kind *kind, double *turn, int32_t *count, double **path,
                          int32_t *body, int32_t *at, ct_err *err)
{
    const ct_graph *g = s->seq->graph;
    const int64_t   size = ct_graph_size(g);
    uint8_t        *fixed = ct__zalloc(CT_MAX(1, g->variables), 1);
    double         *x = ct__zalloc(CT_MAX(1, size), sizeof *x);
    ct_status       status = fixed && x ? CT_OK : ct__no_memory(err, "values", size);
    if (status == CT_OK) status = ct_sequence_initialise(s->seq, 0, x, err);
    for (int32_t f = 0; status == CT_OK && f < ct_graph_factors(g); f++) {
        const ct_factor k = ct_graph_factor(g, f);
        if (k.ops == &ct_prior_se2 || k.ops == &ct_prior_se3) fixed[k.var[0]] = 1;
    }
    for (int32_t b = 0; status == CT_OK && b < s->bodies.count; b++) {
        const int32_t first = find_anchor(s, fixed, b);
        if (first < 0) continue;
        *count += turn_of(s, b, first, x, &turn[*count]);
        *kind = (ct_kind)g->kind[s->order[first]];
        if (path) *body = b, *at = first;
        break; /* one body a sequence: others have the same truth */
    }
    free(fixed);
    if (path) *path = x;
    else free(x);
    return status;
}

typedef struct {
    double  mean, error;
    int32_t same;
} common_turn;

static double angle(double a) { return remainder(a, 6.283185307179586); }

/* The mean of the turns that are SAME as their median, the turn to which the sum of distances is least. */
static common_turn common_of(int32_t n, const double *turn)
{
    common_turn t = {.error = ALONE};
    double      median = 0, least = INFINITY, sum = 0, squares = 0;
    for (int32_t i = 0; i < n; i++) {
        double distance = 0;
        for (int32_t k = 0; k < n; k++) distance += fabs(angle(turn[k] - turn[i]));
        if (distance < least) least = distance, median = turn[i];
    }
    for (int32_t i = 0; i < n; i++) {
        const double off = angle(turn[i] - median);
        if (fabs(off) < SAME) sum += off, squares += off * off, t.same++;
    }
    if (!t.same) return t;
    const double mean = sum / t.same, quarter = 1.5707963267948966 * rint((median + mean) / 1.5707963267948966);
    if (t.same > 1) t.error = sqrt(fmax(0, squares / t.same - mean * mean) / (t.same - 1));
    t.mean = fabs(median + mean - quarter) < EXACT ? quarter : median + mean;
    return t;
}

/* The picture: the beginning of the first sequence that has the turn, by the truth (points) and by odometry from the
 * pose that the truth gives (line). */
static ct_status draw_paths(const ct__exam_sequence *s, int32_t body, int32_t at, const double *x, ct__picture *truth,
                            ct__picture *odometry, ct_err *err)
{
    const ct_graph *g = s->seq->graph;
    for (int32_t k = at; k < s->first[body + 1] && k < at + SHOWN; k++) {
        const int64_t v = g->offset[s->order[k]];
        if (!is_half_known(s, s->order[k])) continue;
        CT_TRY(ct__picture_add(truth, s->seq->truth[v], s->seq->truth[v + 1], err));
        CT_TRY(ct__picture_add(odometry, x[v], x[v + 1], err));
    }
    return CT_OK;
}

static ct_status show_turn(ct__exam *e, double m, ct_err *err)
{
    ct__picture truth = {0}, odometry = {0};
    ct_status   status = CT_OK;
    for (int32_t i = 0; status == CT_OK && !truth.count && i < e->sequences; i++) {
        const ct__exam_sequence *s = &e->sequence[i];
        ct_kind                  kind;
        double                   turn[1];
        int32_t                  n = 0, body = 0, at = -1;
        double                  *x = NULL;
        if (!s->seq->truth) continue;
        status = turns_of(s, &kind, turn, &n, &x, &body, &at, err);
        if (status == CT_OK && n && fabs(angle(turn[0] - m)) < SAME)
            status = draw_paths(s, body, at, x, &truth, &odometry, err);
        free(x);
    }
    if (status == CT_OK && truth.count)
        status = ct__report_evidence(e, "x (m)", "y (m)", truth.count, truth.x, truth.y, (int)odometry.count,
                                     odometry.x, odometry.y, err);
    ct__picture_free(&truth);
    ct__picture_free(&odometry);
    return status;
}

ct_status ct__find_truth_turned(ct__exam *e, int *turned, ct_err *err)
{
    double   *turn = ct__zalloc(CT_MAX(1, e->sequences), sizeof *turn);
    ct_kind   kind = CT_SE2;
    int32_t   n = 0;
    ct_status status = turn ? CT_OK : ct__no_memory(err, "sequences", e->sequences);
    *turned = 0;
    for (int32_t i = 0; status == CT_OK && i < e->sequences; i++)
        if (e->sequence[i].seq->truth) status = turns_of(&e->sequence[i], &kind, turn, &n, NULL, NULL, NULL, err);
    const common_turn t = status == CT_OK ? common_of(n, turn) : (common_turn){0};
    const double      m = angle(t.mean);
    free(turn);
    if (status != CT_OK || !(fabs(m) > fmax(LARGE, ERRORS * t.error)) || !(t.same >= MOST * n)) return status;
    *turned = 1;
    const double value[] = {m, t.error, t.same, n};
    const double planar[] = {0, 0, m}, spatial[] = {0, 0, 0, 0, 0, sin(0.5 * m), cos(0.5 * m)};
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_TRUTH_TURNED, 4, value, err));
    CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_MODEL, -1, 0, "truth", err));
    CT_TRY(show_turn(e, m, err));
    return ct__report_correction(e, NULL, -1, CT_CORRECT_MOUNT, kind == CT_SE2 ? 3 : 7,
                                 kind == CT_SE2 ? planar : spatial, t.error, err);
}
