/* test_matrix_learning.c: an error ellipse that turns with features is learned as a matrix function: by regression and
 * tracking, by a network, and without truth. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>
#include <string.h>

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq[24];
    int          count;
    ct_err       err;
} data;

static data make(ct_situation situation, ct_kind kind, int runs, int poses)
{
    data           d = {.count = runs};
    ct_nav_options o;
    CHECK(ct_nav_preset("D1", kind, &o));
    o.least = o.most = poses;
    o.situation = situation;
    CHECK_OK(ct_noise_new(&d.noise, &d.err), d.err);
    for (int i = 0; i < runs; i++) CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d.noise, &d.seq[i], &d.err), d.err);
    return d;
}

static void release(data *d)
{
    for (int i = 0; i < d->count; i++) ct_sequence_free(d->seq[i]);
    ct_noise_free(d->noise);
}

static const ct_sequence *const *list(const data *d) { return (const ct_sequence *const *)d->seq; }

static ct_theta *theta_of(const ct_noise *noise, ct_noise_kind kind)
{
    ct_theta *theta;
    ct_err    err;
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (strncmp(ct_noise_get(noise, g)->name, "first", 5))
            CHECK_OK(ct_theta_learn(theta, g, kind, 1e-8, 1e6, &err), err);
    return theta;
}

/* ---- Learning ------------------------------------------------------------------------------------ */

/* Mean loss of held-out sequences `from` .. under a table. */
static double loss_of(const data *d, const ct_noise *noise, int from)
{
    ct_theta              *theta = theta_of(noise, CT_NOISE_DIAGONAL);
    const ct_outer_options how = ct_outer_defaults();
    ct_err                 err;
    double                 loss, *g = calloc(200, sizeof *g);
    CHECK_OK(ct_conditional_gradient(d->count - from, list(d) + from, theta, &how, noise, &loss, g, g + 100, &err),
             err);
    ct_theta_free(theta);
    free(g);
    return loss;
}

static double learned_loss(const data *d, const char *form, int truth, ct_conditional_result *result)
{
    ct_noise        *noise;
    ct_outer_options outer = ct_outer_defaults();
    ct_err           err;
    const int        train = 10;
    CHECK_OK(ct_noise_copy(d->noise, &noise, &err), err);
    const int32_t gps = ct_noise_find(noise, "gps"), odom = ct_noise_find(noise, "odom");
    CHECK_OK(ct_noise_set_function(noise, odom, NULL, &err), err);
    CHECK_OK(ct_noise_set_function(noise, gps, NULL, &err), err);
    ct_theta       *theta = theta_of(noise, CT_NOISE_DIAGONAL);
    ct_outer       *constant; /* the constant answer is the start */
    ct_learn_result learned;
    CHECK_OK(ct_outer_new(train, list(d), noise, theta, &outer, &constant, &err), err);
    CHECK_OK(ct_learn(constant, NULL, noise, &learned, &err), err);
    ct_learn_result_free(&learned);
    ct_outer_free(constant);
    CHECK_OK(ct_conditional_form(train, list(d), noise, gps, form, NULL, NULL, &err), err);
    outer.no_truth = !truth;
    CHECK_OK(ct_conditional_learn(train, list(d), theta, &outer, NULL, noise, result, &err), err);
    const double loss = loss_of(d, noise, train);
    ct_theta_free(theta);
    ct_noise_free(noise);
    return loss;
}

static void test_an_ellipse_that_turns_is_learned(void)
{
    data                  d = make(CT_SITUATION_STREET, CT_SE2, 20, 100);
    ct_conditional_result rows, matrix, network, blind;
    ct_noise             *oracle;
    CHECK_OK(ct_noise_copy(d.noise, &oracle, &d.err), d.err);
    CHECK_OK(ct_noise_set_function(oracle, ct_noise_find(oracle, "odom"), NULL, &d.err), d.err);
    const double best = loss_of(&d, oracle, 10);
    const double by_rows = learned_loss(&d, "linear:cos2a,sin2a", 1, &rows);
    const double by_matrix = learned_loss(&d, "linear:cos2a,sin2a/matrix", 1, &matrix);
    const double by_network = learned_loss(&d, "network:cos2a,sin2a/8/matrix", 1, &network);
    const double without_truth = learned_loss(&d, "linear:cos2a,sin2a/matrix", 0, &blind);
    if (!(by_matrix < 1.03 * best && by_matrix < 0.6 * by_rows && by_network < 1.1 * best &&
          without_truth < 1.05 * best))
        fprintf(stderr, "oracle %g, rows %g, matrix %g, network %g, without truth %g\n", best, by_rows, by_matrix,
                by_network, without_truth);
    CHECK(matrix.chosen != CT_CONDITIONAL_CONSTANT && by_matrix < 1.03 * best && by_matrix < 0.6 * by_rows);
    CHECK(by_network < 1.1 * best);
    CHECK(blind.chosen == CT_CONDITIONAL_REGRESSION && without_truth < 1.05 * best);
    CHECK(matrix.terms == 18);
    for (int i = 0; i < matrix.terms; i++) { /* within four standard errors of what made the data */
        const ct_conditional_term *t = &matrix.term[i];
        const double               L = log(20), deviation = 1 / sqrt(2);
        double                     truth = 0;
        if (!strcmp(t->term, "constant")) continue;
        if (t->row == 0 && t->column == 0 && !strcmp(t->term, "cos2a")) truth = L * deviation;
        if (t->row == 1 && t->column == 1 && !strcmp(t->term, "cos2a")) truth = -L * deviation;
        if (t->row == 0 && t->column == 1 && !strcmp(t->term, "sin2a")) truth = sqrt(2) * L * deviation;
        CHECK(t->error > 0 && t->error < 0.2);
        CHECK_NEAR(t->weight, truth, 4 * t->error + 0.05); /* the deviation of the features is that of the data */
    }
    ct_conditional_result_free(&rows);
    ct_conditional_result_free(&matrix);
    ct_conditional_result_free(&network);
    ct_conditional_result_free(&blind);
    ct_noise_free(oracle);
    release(&d);
}

int main(void)
{
    RUN(test_an_ellipse_that_turns_is_learned);
    return ct_test_end();
}
