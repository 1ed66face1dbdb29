/* read_push_csv.c: recorded pushes as a table: a line of column names, then one row per time.
 *
 *     t,object_x,object_y,object_theta,pusher_x,pusher_y          s, m, m, rad, m, m
 *     0.163,0.2008,0.00394,0.0368,0.1510,0.00281
 *
 * The pusher is a round finger of radius r, given by its centre; the object is a rectangle. With object o_k and
 * finger e_k at step k:
 *
 *     prior       prior_se2 on e_k       position from the arm; yaw, which has no meaning for a round finger, is 0
 *     geo         contact_se2            d(q) - r = 0, d the distance from the rectangle
 *     dyn         push_se2               from step k - 1, with c^2
 *     first_pose  prior_se2 on o_0       at its truth
 *
 * The estimator assumes contact and has no information on an object without it. So rows are cut to the interval from
 * the first to the last in which finger and object touch (by their truth, within TOUCH) and the object moves (it has
 * left its first place and has not reached its last). Lost contact and other disturbances within the interval stay:
 * they are model errors, and part of the learned noise.
 *
 * Steps are counted in rows, not in time, as nothing depends on speed: late or missing rows make a longer step. */
#include "data/data.h"
#include "data/leo.h"

#include <math.h>

/* m: motion capture and encoders agree to 1 mm, in some recordings of half a metre to 2 or 3 mm */
#define TOUCH  3e-3
/* m that the finger may be inside the object at the start; more means another frame or unit */
#define INSIDE 5e-3
/* m, rad: beyond that a millimetre is lost to rounding */
#define FAR    1e6
/* m that a resting object appears to move: ten times the jitter of motion capture */
#define REST   2e-4

/* Noise that the files do not give. Arm and motion capture are accurate to a tenth of a millimetre; the other two
 * are guesses. */
#define SENSOR_VARIANCE 1e-8
#define UNIT_VARIANCE   1.0

enum { T, X, Y, THETA, FINGER_X, FINGER_Y, COLUMNS };
static const char *const COLUMN[COLUMNS] = {"t", "object_x", "object_y", CT__PUSH_COLUMN, "pusher_x", "pusher_y"};

typedef struct {
    double  value[COLUMNS];
    int64_t line;
} row;

typedef struct {
    ct__build                 *b;
    const ct_push_csv_options *o;
    ct_shape                  *shape;  /* the sequence's */
    int                        column[COLUMNS], columns; /* index of each, and number of columns in a line */
    row                       *row;
    int64_t                    rows, capacity;
    int64_t                    first, last; /* the interval that is used */
    int32_t                    prior, geo, dyn, held;
} table;

ct_push_csv_options ct_push_csv_defaults(void)
{
    return (ct_push_csv_options){.half_x = 0.045, .half_y = 0.045, .radius = 0.0047, .c = 0.05, .every = 3};
}

/* ---- The table ------------------------------------------------------------------------------- */

static ct_status read_names(table *t)
{
    ct__lines *in = &t->b->in;
    int        more, others = 0;
    char       quote[CT__QUOTE_MAX];
    CT_TRY(ct__lines_next(in, &more));
    if (!more) return ct__lines_bad(in, "empty; a recorded push begins with the names of its columns");
    for (int k = 0; k < COLUMNS; k++) t->column[k] = -1;
    for (int w = 0; w < in->words; w++) {
        int k = 0;
        while (k < COLUMNS && strcmp(in->word[w], COLUMN[k])) k++;
        others += k == COLUMNS;
        if (k == COLUMNS) continue;
        if (t->column[k] >= 0) return ct__lines_bad(in, "column %s is there twice", COLUMN[k]);
        t->column[k] = w;
    }
    if (in->words - others <= (t->column[0] >= 0))
        return ct__lines_bad(in, "no column of a recorded push (object_x, object_y, object_theta, pusher_x, pusher_y); "
                                 "a recipe imports other tables: covtune import --init FILES writes a first one");
    for (int k = 0; k < COLUMNS; k++)
        if (t->column[k] < 0)
            return ct__lines_bad(in,
                                 "no column %s; a recorded push has t, object_x, object_y, object_theta, pusher_x and "
                                 "pusher_y, its first line begins with %s",
                                 COLUMN[k], ct__quote(in->word[0], quote));
    t->columns = in->words;
    return others ? ct__build_note(t->b, "%d other column%s not looked at", others, others == 1 ? " was" : "s were")
                  : CT_OK;
}

static ct_status read_rows(table *t)
{
    ct__lines *in = &t->b->in;
    int        more;
    for (;;) {
        CT_TRY(ct__lines_next(in, &more));
        if (!more) return CT_OK;
        if (in->words != t->columns)
            return ct__lines_bad(in, "expected %d numbers, as many as there are names in the first line, found %d",
                                 t->columns, in->words);
        CT_TRY(ct__grow(&t->row, &t->capacity, t->rows + 1, sizeof *t->row, "rows", in->err));
        row *now = &t->row[t->rows];
        now->line = in->line;
        for (int k = 0; k < COLUMNS; k++) CT_TRY(ct__word_number(in, t->column[k], COLUMN[k], &now->value[k]));
        for (int k = X; k < COLUMNS; k++)
            if (fabs(now->value[k]) > FAR)
                return ct__lines_bad(in, "%s is %g; metres and radians of a table are at most %g", COLUMN[k],
                                     now->value[k], FAR);
        if (t->rows && !(now->value[T] > now[-1].value[T]))
            return ct__lines_bad(in, "t is %g, and %g in the row before: times must grow", now->value[T],
                                 now[-1].value[T]);
        t->rows++;
    }
}

/* ---- Where it begins and ends ---------------------------------------------------------------- */

/* Distance between the edges of finger and object; negative inside. */
static double gap(const table *t, int64_t i)
{
    const double *v = t->row[i].value, c = cos(v[THETA]), s = sin(v[THETA]), x = v[FINGER_X] - v[X],
                 y = v[FINGER_Y] - v[Y];
    const double  q[2] = {c * x + s * y, c * y - s * x};
    return ct_shape_distance(t->shape, q, NULL, NULL) - t->o->radius;
}

/* 1 if no point of the object moved further than this between rows i and j. */
static int rests(const table *t, int64_t i, int64_t j)
{
    const double *a = t->row[i].value, *b = t->row[j].value;
    const double  turn = remainder(a[THETA] - b[THETA], 2 * acos(-1.0));
    return hypot(a[X] - b[X], a[Y] - b[Y]) + hypot(t->o->half_x, t->o->half_y) * fabs(turn) <= REST;
}

static ct_status cut(table *t)
{
    double nearest = INFINITY;
    for (int64_t i = 0; i < t->rows; i++) nearest = fmin(nearest, gap(t, i));
    t->b->in.line = 0;
    if (!(nearest <= TOUCH))
        return ct__lines_bad(&t->b->in,
                             "finger and object never touch: they come no nearer than %.3g mm; are lengths in metres, "
                             "and is this the object's size?",
                             1e3 * nearest);
    int64_t first = 0, last = t->rows - 1, lies = 0, lay = t->rows - 1;
    while (!(gap(t, first) <= TOUCH)) first++;
    while (!(gap(t, last) <= TOUCH)) last--;
    while (lies + 1 < t->rows && rests(t, lies + 1, 0)) lies++;
    while (lay > 0 && rests(t, lay - 1, t->rows - 1)) lay--;
    t->first = CT_MAX(first, lies);
    t->last = CT_MIN(last, lay);
    if (lies == t->rows - 1)
        return ct__lines_bad(&t->b->in, "the object lies still: it moves by less than %g mm", 1e3 * REST);
    if (t->last - t->first < t->o->every)
        return ct__lines_bad(&t->b->in,
                             "no step of %d row%s in which finger and object touch and the object moves: of %lld rows "
                             "it is touched from %lld to %lld, and moves from %lld to %lld",
                             t->o->every, t->o->every == 1 ? "" : "s", (long long)t->rows, (long long)first + 1,
                             (long long)last + 1, (long long)lies + 1, (long long)lay + 1);
    t->b->in.line = t->row[t->first].line;
    if (gap(t, t->first) < -INSIDE)
        return ct__lines_bad(&t->b->in,
                             "finger inside the object: e0 is %.3g mm inside, more than %g mm; is this the object's "
                             "size, and are both in one frame?",
                             -1e3 * gap(t, t->first), 1e3 * INSIDE);
    return CT_OK;
}

/* ---- The graph ------------------------------------------------------------------------------- */

static ct_status add_models(table *t)
{
    const double sensor[3] = {SENSOR_VARIANCE, SENSOR_VARIANCE, SENSOR_VARIANCE},
                 unit[3] = {UNIT_VARIANCE, UNIT_VARIANCE, UNIT_VARIANCE};
    CT_TRY(ct__build_model(t->b, "prior", CT_NOISE_DIAGONAL, 3, sensor, (ct_robust){0}, &t->prior));
    CT_TRY(ct__build_model(t->b, "dyn", CT_NOISE_DIAGONAL, 3, unit, (ct_robust){0}, &t->dyn));
    CT_TRY(ct__build_model(t->b, "geo", CT_NOISE_DIAGONAL, 1, unit, (ct_robust){0}, &t->geo));
    return ct__build_model(t->b, LEO_FIRST_POSE, CT_NOISE_ISOTROPIC, 3, sensor, (ct_robust){0}, &t->held);
}

static ct_status add_pose(table *t, char letter, int32_t k, double time_s, const double value[4], const double truth[4],
                          unsigned known)
{
    char    name[16];
    int32_t v;
    snprintf(name, sizeof name, "%c%d", letter, (int)k);
    CT_TRY(ct__build_variable(t->b, name, CT_SE2, value, &v));
    CT_TRY(ct__build_truth(t->b, v, truth, known));
    return ct__build_stamp(t->b, v, time_s);
}

/* The object's initial values use only its first truth: it moves along with the finger. */
static ct_status add_step(table *t, int32_t k, int64_t at)
{
    const double *v = t->row[at].value, *v0 = t->row[t->first].value;
    const double  object[4] = {v[X], v[Y], cos(v[THETA]), sin(v[THETA])}, finger[4] = {v[FINGER_X], v[FINGER_Y], 1, 0};
    const double along[4] = {v0[X] + (v[FINGER_X] - v0[FINGER_X]), v0[Y] + (v[FINGER_Y] - v0[FINGER_Y]), cos(v0[THETA]),
                             sin(v0[THETA])};
    const double  c2 = t->o->c * t->o->c;
    const int32_t o = 2 * k, e = o + 1, pair[2] = {o, e}, step[4] = {o - 2, e - 2, o, e};
    ct__build    *b = t->b;
    b->in.line = t->row[at].line;
    CT_TRY(add_pose(t, 'o', k, v[T], along, object, 7));
    CT_TRY(add_pose(t, 'e', k, v[T], finger, finger, 3));
    if (k == 0) CT_TRY(ct__build_factor(b, &ct_prior_se2, &o, object, t->held));
    CT_TRY(ct__build_factor(b, &ct_prior_se2, &e, finger, t->prior));
    CT_TRY(ct__lines_place(
        &b->in, ct_graph_add_factor(b->seq->graph, &ct_contact_se2, pair, &t->o->radius, t->shape, t->geo, b->in.err)));
    return k ? ct__build_factor(b, &ct_push_se2, step, &c2, t->dyn) : CT_OK;
}

static ct_status add_steps(table *t)
{
    const int64_t steps = (t->last - t->first) / t->o->every + 1;
    int64_t       apart = 0;
    if (steps > INT32_MAX / 2)
        return ct_fail(t->b->in.err, CT_E_LIMIT, "%s: %lld steps are more than a graph can hold", t->b->in.path,
                       (long long)steps);
    CT_TRY(add_models(t));
    for (int64_t k = 0; k < steps; k++) {
        const int64_t at = t->first + k * t->o->every;
        CT_TRY(add_step(t, (int32_t)k, at));
        apart += !(fabs(gap(t, at)) <= TOUCH);
    }
    CT_TRY(ct__build_note(t->b,
                          "of %lld rows those from %lld to %lld are used, in which finger and object touch and the "
                          "object moves; a step is %d row%s",
                          (long long)t->rows, (long long)t->first + 1, (long long)t->last + 1, t->o->every,
                          t->o->every == 1 ? "" : "s"));
    if (apart)
        CT_TRY(ct__build_note(
            t->b, "in %lld of %lld steps they are more than %g mm apart, or inside each other, by their truth",
            (long long)apart, (long long)steps, 1e3 * TOUCH));
    return ct__build_note(t->b,
                          "the finger's heading is not recorded, and zero; o0 is held at its truth (" LEO_FIRST_POSE
                          "); variances are 1e-8 (prior, " LEO_FIRST_POSE ") and 1 (dyn, geo)");
}

static ct_status check(const ct_push_csv_options *o, ct_err *err)
{
    if (!(o->radius >= 0) || isinf(o->radius))
        return ct_fail(err, CT_E_ARGUMENT, "radius is %g m; it must be finite, and not negative", o->radius);
    if (!(o->c > 0) || isinf(o->c))
        return ct_fail(err, CT_E_ARGUMENT, "c is %g m; it must be positive and finite", o->c);
    if (o->every < 1) return ct_fail(err, CT_E_ARGUMENT, "a step is at least 1 row, not %d", o->every);
    return CT_OK;
}

ct_status ct__push_csv_read(ct__build *b)
{
    const ct_push_csv_options defaults = ct_push_csv_defaults();
    table                     t = {.b = b, .o = b->push ? b->push : &defaults};
    CT_TRY(check(t.o, b->in.err));
    CT_TRY(ct_shape_rectangle(t.o->half_x, t.o->half_y, &t.shape, b->in.err));
    CT_TRY(ct_sequence_add_shape(b->seq, "object", t.shape, b->in.err));
    b->in.commas = 1;
    ct_status status = read_names(&t);
    if (status == CT_OK) status = read_rows(&t);
    if (status == CT_OK && t.rows < 2)
        status =
            ct__lines_bad(&b->in, "%lld row%s; a push has at least two", (long long)t.rows, t.rows == 1 ? "" : "s");
    if (status == CT_OK) status = cut(&t);
    if (status == CT_OK) status = add_steps(&t);
    free(t.row);
    return status;
}

ct_status ct_push_csv_read(const char *path, const ct_push_csv_options *options, ct_noise *noise, ct_sequence **out,
                           ct_err *err)
{
    return ct_sequence_read_with(path, CT_FORMAT_PUSH, &(const ct_read_options){.push = options}, noise, out, err);
}
