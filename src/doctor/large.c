/* large.c: units and axes of a sensor, which are looked for before small faults.
 *
 * Rows of lengths and rows of angles are two blocks. Of a block every choice of axes, signs and a unit f is compared:
 *
 *     log likelihood = -N sum_i log sigma_i,   sigma_i the robust sigma of w_i - f (P true)_i - c_i
 *
 * in the measured unit, so that a factor cannot make the noise of a row without motion smaller. c is an offset of
 * absolute values. Angles are compared modulo a turn: degrees that were read as radians have been wrapped. A choice
 * must be better than none by GAIN nats a sample, with all samples by FIRM, and measured values regressed on true ones
 * must confirm it. Among choices that are equally good the one with the fewest changes is taken.
 *
 * A world that is turned by any angle is no choice of axes: the frame of absolute sensors starts from the rotation that
 * fits best, because small faults are found from small turns only. */
#include "doctor/doctor.h"

#include <math.h>

#define GAIN      0.05  /* nats a sample                                                    */
#define FIRM      25.0  /* nats                                                             */
#define SAME      0.02  /* nats a sample: two choices are equally good                      */
#define UNIT_NEAR 0.15  /* of a regressed factor from the unit, as a share                  */
#define SAMPLES   1500
#define NEAR_AXES 0.2   /* of entries of the regressed matrix from those of signed axes: 11 degrees */

static const double LENGTHS[] = {1, 1000, 0.001, 100, 0.01, 3.6, 1 / 3.6, 0.3048, 1 / 0.3048};
static const double ANGLES[] = {1, 57.29577951308232, 0.017453292519943295};

typedef struct {
    int32_t n;
    int     rows[3], count, turns, offset; /* rows of the block; angles; offsets are free */
    double *w, *h, *room;                  /* n x count measured and predicted; scratch   */
} block;

typedef struct {
    int    axis[3], changes; /* of the block: 0 .. count - 1 */
    int    sign[3];
    double unit, score;
} choice;

static double wrap(double a) { return remainder(a, 6.283185307179586); }

/* The robust sigma of row i under a choice. */
static double spread_of(const block *b, const choice *c, int i)
{
    double offset = 0, x = 0, y = 0;
    for (int32_t k = 0; k < b->n; k++) {
        const double d =
            b->w[k * b->count + i] - c->unit * c->sign[i] * b->h[k * b->count + c->axis[i]];
        b->room[k] = b->turns ? wrap(d) : d;
        x += cos(d), y += sin(d);
    }
    if (b->offset && b->turns) offset = atan2(y, x);
    else if (b->offset) {
        double *copy = b->room + b->n;
        memcpy(copy, b->room, (size_t)b->n * sizeof *copy);
        offset = ct__median(b->n, copy);
    }
    for (int32_t k = 0; k < b->n; k++) b->room[k] = b->turns ? wrap(b->room[k] - offset) : b->room[k] - offset;
    return ct__robust_sigma(b->n, b->room);
}

static void score(const block *b, const double *least, choice *c)
{
    c->score = 0;
    c->changes = c->unit < 1 || c->unit > 1;
    for (int i = 0; i < b->count; i++) {
        c->score -= log(fmax(least[i], spread_of(b, c, i)));
        c->changes += (c->axis[i] != i) + (c->sign[i] < 0);
    }
}

static int is_better(const choice *a, const choice *b)
{
    if (fabs(a->score - b->score) > SAME) return a->score > b->score;
    return a->changes != b->changes ? a->changes < b->changes : a->score > b->score;
}

/* Permutation number p of `count` axes; 0: not one. */
static int permute(int count, int p, int axis[3])
{
    static const int LIST[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 3; i++) {
        axis[i] = LIST[p][i];
        if (axis[i] >= count && i < count) return 0;
    }
    return p == 0 || count == 3 || (count == 2 && p == 1);
}

static choice find_best(const block *b, int signs, const double *least)
{
    const double *unit = b->turns ? ANGLES : LENGTHS;
    const int     units = b->turns ? (int)(sizeof ANGLES / sizeof *ANGLES) : (int)(sizeof LENGTHS / sizeof *LENGTHS);
    choice        best = {.score = -INFINITY};
    for (int u = 0; u < units; u++)
        for (int p = 0; p < 6; p++)
            for (int s = 0; s < (signs ? 1 << b->count : 1); s++) {
                choice c = {.unit = unit[u]};
                if (!permute(b->count, p, c.axis)) continue;
                for (int i = 0; i < 3; i++) c.sign[i] = s >> i & 1 ? -1 : 1;
                score(b, least, &c);
                if (is_better(&c, &best)) best = c;
            }
    return best;
}

/* M (count x count) <- measured rows regressed on predicted ones; error: of its entries. */
static ct_status regress_rows(const block *b, double *M, double *error, ct_err *err)
{
    const int p = b->count + b->offset;
    double   *r = ct__zalloc(b->n, sizeof *r), *D = ct__zalloc((int64_t)b->n * p, sizeof *D);
    int32_t  *run = ct__zalloc(b->n, sizeof *run);
    ct_status status = r && D && run ? CT_OK : ct__no_memory(err, "samples", b->n);
    for (int i = 0; status == CT_OK && i < b->count; i++) {
        ct__fit fit = {0};
        for (int32_t k = 0; k < b->n; k++) {
            r[k] = -b->w[k * b->count + i];
            for (int j = 0; j < b->count; j++) D[(int64_t)k * p + j] = b->h[k * b->count + j];
            if (b->offset) D[(int64_t)k * p + b->count] = 1;
        }
        memset(fit.use, 1, (size_t)p);
        status = ct__regress(&(ct__regression){.samples = b->n, .rows = 1, .params = p, .r = r, .D = D, .run = run},
                             &fit, err);
        for (int j = 0; j < b->count; j++) M[i * b->count + j] = fit.phi[j], error[i * b->count + j] = fit.error[j];
        ct__fit_free(&fit);
    }
    free(r);
    free(D);
    free(run);
    return status;
}

/* ---- A block of a sensor ----------------------------------------------------------------------- */

static int is_absolute_value(const ct__sensor *s, int turns)
{
    const ct_factor_ops *ops = s->ops;
    const int            pose = ops->arity == 1 && s->tied && s->measured == 1;
    const int            direction = turns && s->measured && ops->field[s->measured - 1] == CT_SO2;
    return (pose && (ct__is_pose(ops->field[0]) || !strncmp(ops->name, "position_", 9))) || direction;
}

static ct_status fill(const ct__exam *e, const ct__sensor *s, int turns, block *b, ct_err *err)
{
    const int32_t every = CT_MAX(1, s->samples / SAMPLES);
    ct__sensor    raw = *s;
    ct__fault     none;
    raw.tied = 1; /* poses as position and rotation */
    ct__fault_none(&raw, &none);
    *b = (block){.turns = turns, .offset = is_absolute_value(s, turns)};
    for (int i = 0; i < s->rows && b->count < 3; i++)
        if (ct__row_turns(s, i) == turns) b->rows[b->count++] = i;
    if (!b->count) return CT_OK;
    b->w = ct__zalloc((int64_t)s->samples * b->count, sizeof *b->w);
    b->h = ct__zalloc((int64_t)s->samples * b->count, sizeof *b->h);
    b->room = ct__zalloc(2 * (int64_t)s->samples, sizeof *b->room);
    if (!b->w || !b->h || !b->room) return ct__no_memory(err, "samples", s->samples);
    for (int32_t k = 0; k < s->samples; k += every) {
        const ct__sample *q = &s->sample[k];
        const ct_factor   f = ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor);
        double            r[CT_ROWS_MAX], h[CT_ROWS_MAX], w[CT_ROWS_MAX];
        if (q->rest || !ct__sample_row(e, s, q, &none, r, NULL, h)) continue;
        double z[CT_FIELDS_MAX * CT_SIZE_MAX];
        memcpy(z, f.z, (size_t)ct_factor_z_size(f.ops) * sizeof *z);
        ct__value_set(s, h, z);
        ct__value_of(&raw, z, h);
        ct__value_of(&raw, f.z, w);
        for (int i = 0; i < b->count; i++) {
            b->w[b->n * b->count + i] = w[b->rows[i]];
            b->h[b->n * b->count + i] = h[b->rows[i]];
        }
        b->n++;
    }
    return CT_OK;
}

static void free_block(block *b)
{
    free(b->w);
    free(b->h);
    free(b->room);
}

/* Do measured values regressed on true ones confirm the axes and the unit? Entries of rows and columns that move must
 * be near those of the choice; of angles that may be wrapped nothing is asked. factor and its error: of the first row
 * that moves. */
static int confirm(const block *b, const choice *c, const double *M, const double *error, double *factor, double *se)
{
    int seen = 0;
    *factor = c->unit;
    *se = 0;
    if (b->turns && c->unit > 1) return 1;
    for (int i = 0; i < b->count; i++)
        for (int j = 0; j < b->count; j++) {
            const int    at = i * b->count + j, own = j == c->axis[i];
            const double want = own ? c->sign[i] : 0, found = M[at] / c->unit;
            if (!(error[at] < 0.05 * c->unit)) continue; /* a column without motion */
            if (fabs(found - want) > (own ? UNIT_NEAR : NEAR_AXES)) return 0;
            if (own && !seen++) *factor = fabs(M[at]), *se = error[at];
        }
    return seen;
}

/* Row i of the block over the axis that it is, with the unit. */
static ct_status show(ct__exam *e, const ct__sensor *s, const block *b, const choice *c, int i, ct_err *err)
{
    const ct__values v = {.n = b->n,
                          .stride = b->count,
                          .a = i,
                          .b = c->axis[i],
                          .row = b->rows[i],
                          .column = b->rows[c->axis[i]],
                          .measured = b->w,
                          .predicted = b->h};
    return ct__show_values(e, s, &v, c->unit * c->sign[i], err);
}

static ct_status report_choice(ct__exam *e, ct__sensor *s, const block *b, const choice *c, double factor, double se,
                               ct_err *err)
{
    const int whole = b->count == s->rows;
    int       axes = 0, other = 0;
    for (int i = 0; i < b->count; i++) {
        s->fault.axis[b->rows[i]] = c->sign[i] * (b->rows[c->axis[i]] + 1);
        s->fault.unit[b->rows[i]] = c->unit;
        if (!axes && (c->axis[i] != i || c->sign[i] < 0)) axes = 1, other = i;
    }
    if (c->unit < 1 || c->unit > 1) {
        const double value[] = {factor, se, c->unit};
        CT_TRY(ct__report(e, s, whole ? -1 : b->rows[0], CT_FINDING_SENSOR_UNITS, 3, value, err));
        CT_TRY(show(e, s, b, c, 0, err));
        s->spoiled |= s->odometry && b->turns;
    }
    if (!axes) return CT_OK;
    double value[3] = {0};
    for (int i = 0; i < b->count; i++) value[i] = c->sign[i] * (c->axis[i] + 1);
    CT_TRY(ct__report(e, s, whole || b->count > 1 ? -1 : b->rows[0], CT_FINDING_SENSOR_AXES, 3, value, err));
    return show(e, s, b, c, other, err);
}

/* The frame of an absolute sensor starts from the rotation that is nearest to M. */
static void start_frame(const block *b, ct__sensor *s, const double *M)
{
    if (b->turns || b->count != 2 || s->pose != CT_SE2 || !s->tied || !b->offset) return;
    const double angle = atan2(M[2] - M[1], M[0] + M[3]), size = hypot(M[0] + M[3], M[2] - M[1]) / 2;
    if (!(fabs(angle) > 0.1 && size > 0.7 && size < 1.4)) return;
    const ct_se2 turn = ct_se2_make(0, 0, angle);
    double       tx[2];
    for (int i = 0; i < 2; i++) {
        for (int32_t k = 0; k < b->n; k++) {
            const double p[2] = {b->h[k * 2] - s->centre[0], b->h[k * 2 + 1] - s->centre[1]};
            double       q[2];
            ct_se2_act(turn, p, q, NULL, NULL);
            b->room[k] = b->w[k * 2 + i] - q[i];
        }
        tx[i] = ct__median(b->n, b->room) - s->centre[i];
    }
    /* z = C E^-1 C^-1 x: E^-1 turns by angle and moves by tx */
    const ct_se2 inverse = ct_se2_make(tx[0], tx[1], angle), E = ct_se2_inverse(inverse, NULL);
    memcpy(s->fault.frame, &E, sizeof E);
}

static ct_status examine_block(ct__exam *e, ct__sensor *s, int turns, ct_err *err)
{
    block     b;
    ct_status status = fill(e, s, turns, &b, err);
    if (status == CT_OK && b.count && b.n >= CT__SAMPLES_LEAST) {
        double least[3], M[9] = {0}, error[9] = {0}, factor, se;
        choice none = {.axis = {0, 1, 2}, .sign = {1, 1, 1}, .unit = 1};
        for (int i = 0; i < b.count; i++) least[i] = 1e-9 + 1e-6 * spread_of(&b, &none, i);
        score(&b, least, &none);
        const int    range = b.count == 1 && !b.turns;
        const choice best = find_best(&b, !range, least);
        const double gain = best.score - none.score;
        status = regress_rows(&b, M, error, err);
        const int real = status == CT_OK && best.changes && gain > GAIN && gain * b.n > FIRM &&
                         confirm(&b, &best, M, error, &factor, &se);
        if (real) status = report_choice(e, s, &b, &best, factor, se, err);
        else if (status == CT_OK) start_frame(&b, s, M);
    }
    free_block(&b);
    return status;
}

ct_status ct__find_large_faults(ct__exam *e, ct__sensor *s, ct_err *err)
{
    if (!s->measured) return CT_OK;
    CT_TRY(examine_block(e, s, 0, err));
    return examine_block(e, s, 1, err);
}
