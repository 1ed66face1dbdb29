/* push_test.h: small problems of pushing, for tests of estimating and learning: any outline, both ways of feeling. */
#ifndef PUSH_TEST_H
#define PUSH_TEST_H

#include <covtune/push.h>
#include "learn_test.h"

#include <math.h>

/* What is pushed, as the estimator knows it: the ellipse and the rectangle of the study; the rectangle by its
 * corners, and by samples every 3 mm. */
typedef enum { PUSH_ELLIPSE, PUSH_RECTANGLE, PUSH_POLYGON, PUSH_GRID, PUSH_OUTLINES } push_outline;
static const char *const PUSH_NAME[PUSH_OUTLINES] = {"ellipse", "rectangle", "polygon", "grid"};

#define PUSH_HX 0.11815
#define PUSH_HY 0.07895

static inline ct_shape *push_shape(push_outline outline, ct_err *err)
{
    enum { COLUMNS = 99, ROWS = 73 };
    const double corner[8] = {PUSH_HX, PUSH_HY, -PUSH_HX, PUSH_HY, -PUSH_HX, -PUSH_HY, PUSH_HX, -PUSH_HY}, step = 3e-3,
                 x0 = -step * (COLUMNS - 1) / 2, y0 = -step * (ROWS - 1) / 2;
    static double value[ROWS * COLUMNS];
    ct_shape     *shape = NULL;
    if (outline == PUSH_POLYGON) CHECK_OK(ct_shape_polygon(4, corner, &shape, err), *err);
    if (outline != PUSH_GRID) return shape;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) {
            const double wx = fabs(x0 + c * step) - PUSH_HX, wy = fabs(y0 + r * step) - PUSH_HY;
            value[r * COLUMNS + c] = wx > 0 && wy > 0 ? hypot(wx, wy) : fmax(wx, wy);
        }
    CHECK_OK(ct_shape_grid(ROWS, COLUMNS, x0, y0, step, value, &shape, err), *err);
    return shape;
}

/* The same graph with contacts of another shape, which the sequence owns from now on. */
static inline void push_reshape(ct_sequence *seq, ct_shape *shape, ct_err *err)
{
    ct_graph *graph = NULL;
    char      name[32];
    CHECK_OK(ct_sequence_add_shape(seq, "other", shape, err), *err);
    CHECK_OK(ct_graph_new(&graph, err), *err);
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++)
        CHECK_OK(ct_graph_add_variable(graph, ct_graph_name(seq->graph, v, name, sizeof name), CT_SE2,
                                       ct_graph_initial_const(seq->graph) + ct_graph_offset(seq->graph, v), NULL, err),
                 *err);
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
        const ct_factor k = ct_graph_factor(seq->graph, f);
        CHECK_OK(ct_graph_add_factor(graph, k.ops, k.var, k.z, k.context ? shape : NULL, k.noise, err), *err);
    }
    ct_graph_free(seq->graph);
    seq->graph = graph;
}

/* A poor sensor, as a small network is: half the turn that the patch's way over the pad says, and a bias. */
static inline double push_feel(void *user, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS],
                               double *multiplier)
{
    double place[2] = {0}, sum[2] = {1e-9, 1e-9};
    (void)user;
    (void)multiplier;
    for (int k = 0; k < CT_PUSH_PIXELS; k++)
        for (int i = 0; i < 2; i++) {
            const double value = fmax((i ? after : before)[k] - 0.2, 0);
            place[i] += value * (k % CT_PUSH_IMAGE_COLUMNS - 5.5), sum[i] += value;
        }
    return 0.01 + 0.1 * (place[0] / sum[0] - place[1] / sum[1]);
}

/* Runs of a seed's world, pool 0 (training) or 1, with the study's far start values; nothing is learned yet. */
static inline lesson push_lesson(push_outline outline, int poor, int pool, int runs, int episodes, int steps,
                                 uint64_t seed)
{
    lesson          l = {.runs = runs};
    ct_push_options options = ct_push_defaults(outline == PUSH_ELLIPSE ? CT_SHAPE_ELLIPSE : CT_SHAPE_RECTANGLE);
    options.episodes = episodes;
    options.steps = steps;
    options.seed = seed;
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    for (int i = 0; i < runs; i++) {
        CHECK_OK(
            ct_simulate_push(&options, pool, (uint64_t)i, poor ? push_feel : NULL, NULL, l.noise, &l.seq[i], &l.err),
            l.err);
        ct_shape *shape = push_shape(outline, &l.err);
        if (shape) push_reshape(l.seq[i], shape, &l.err);
    }
    return l;
}

/* Learn what the study learns, in its units. */
static inline void push_learn(lesson *l, double lower, double upper)
{
    CHECK_OK(ct_theta_new(l->noise, &l->theta, &l->err), l->err);
    for (int32_t g = 0; g < ct_noise_count(l->noise); g++) {
        const ct_noise_model *m = ct_noise_get(l->noise, g);
        double                unit[3];
        if (!ct_push_units(m->name, unit)) continue;
        CHECK_OK(ct_theta_learn(l->theta, g, CT_NOISE_DIAGONAL, lower, upper, &l->err), l->err);
        for (int c = 0; c < m->dim; c++) CHECK_OK(ct_theta_set_unit(l->theta, g, c, unit[c], &l->err), l->err);
    }
    open_outer(l, NULL);
}

#endif
