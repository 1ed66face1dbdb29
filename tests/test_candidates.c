/* test_candidates.c: how the answer is chosen among candidates: paired comparison, failures, few recordings. */
#include "learn_test.h"
#include "learn/learn.h"

/* The table of candidates has the result's own means; one is chosen, and the others are compared with it. */
static void test_candidates_are_what_cross_validation_compared(void)
{
    lesson          l = biased_lesson(6, 0, 0.05);
    ct_learn_result r = learn(&l, NULL);
    int             chosen = 0;
    CHECK(r.candidates >= 3 && r.candidates <= CT_LEARN_CANDIDATES_MAX);
    for (int k = 0; k < r.candidates; k++) {
        const ct_learn_candidate *c = &r.candidate[k];
        chosen += c->chosen;
        CHECK(c->heldout > 0 && c->heldout_error > 0);
        if (isinf(c->prior)) CHECK_NEAR(c->heldout, r.loss_heldout_closed_form, 1e-12 * c->heldout);
        if (isnan(c->prior)) CHECK_NEAR(c->heldout, r.loss_heldout_start, 1e-12 * c->heldout);
        if (!c->chosen) continue;
        CHECK(c->prior == r.prior && c->log_ratio == 0 && c->log_ratio_error == 0);
        CHECK_NEAR(c->heldout, r.loss_heldout, 1e-12 * c->heldout);
    }
    CHECK(chosen == 1);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* Scores with losses alone; NAN: no estimate. */
static ct__scores scores_of(int32_t n, int candidates, const double *loss, const int32_t *group, int32_t groups)
{
    ct__scores s = {.n = n, .candidates = candidates, .groups = groups};
    s.score = calloc((size_t)(candidates * n), sizeof *s.score);
    s.group = calloc((size_t)n, sizeof *s.group);
    s.work = calloc((size_t)(2 * n), sizeof *s.work);
    for (int i = 0; i < candidates * n; i++) s.score[i] = (ct__score){loss[i], sqrt(loss[i]), NAN, isnan(loss[i])};
    for (int32_t i = 0; i < n; i++) s.group[i] = group ? group[i] : i;
    return s;
}

/* Losses 1, 2, 4 against e, 2e, 4e^2: log ratios -1, -1, -2 have mean -4/3 and standard error 1/3. A sequence without
 * an estimate counts as a ratio of ten. */
static void test_candidates_are_compared_by_paired_differences(void)
{
    const double    e = exp(1), prior[] = {INFINITY, 0.1, NAN};
    const double loss[] = {1, 2, 4, e, 2 * e, 4 * e * e, e, NAN, 4 * e * e};
    const ct_choice why[3] = {CT_CHOICE_WORSE, CT_CHOICE_CHOSEN, CT_CHOICE_FAILS};
    ct_learn_result r = {0};
    ct__scores s = scores_of(3, 3, loss, NULL, 3);
    ct__record_candidates(&r, &s, prior, why, 1);
    CHECK_NEAR(r.candidate[0].heldout, 7.0 / 3, 1e-14);
    CHECK_NEAR(r.candidate[0].heldout_error, sqrt((16 + 1 + 25) / 9.0 / 6), 1e-14);
    CHECK_NEAR(r.candidate[0].log_ratio, -4.0 / 3, 1e-14);
    CHECK_NEAR(r.candidate[0].log_ratio_error, 1.0 / 3, 1e-14);
    CHECK_NEAR(r.candidate[0].translation_ratio, exp(-2.0 / 3), 1e-14);
    CHECK_NEAR(r.candidate[2].log_ratio, log(10) / 3, 1e-14);
    CHECK(isnan(r.candidate[0].rotation_ratio) && r.candidate[2].failed == 1 && r.candidate[0].failed == 0);
    CHECK(!r.candidate[0].chosen && r.candidate[1].chosen && r.candidate[2].verdict == CT_CHOICE_FAILS);
    ct__choose_recorded(&r, NAN);
    CHECK(!r.candidate[1].chosen && r.candidate[1].verdict == CT_CHOICE_TRAINING && r.candidate[2].chosen);
    ct__scores_free(&s);
    for (int k = 0; k < CT_CHOICE_COUNT; k++)
        CHECK(ct_choice_find(ct_choice_name((ct_choice)k)) == k && *ct_choice_meaning((ct_choice)k));
    for (int k = 0; k < CT_REFERENCE_COUNT; k++)
        CHECK(ct_reference_find(ct_reference_name((ct_reference)k)) == k && *ct_reference_meaning((ct_reference)k));
    CHECK(ct_reference_find("truth") == -1);
}

/* One run of ten that is a thousand times worse moves the mean by less than one that is ten times worse does a plain
 * mean, and the nine others decide. */
static void test_one_bad_run_does_not_rule(void)
{
    double loss[20];
    for (int i = 0; i < 20; i++) loss[i] = i < 10 ? 0.7 + 0.01 * i : 1;
    loss[4] = 1000;
    ct__scores s = scores_of(10, 2, loss, NULL, 10);
    const ct__paired d = ct__compare(&s, 0, 1, CT_METRIC_LOSS);
    ct_choice why[2];
    printf("  mean %.3f, standard error %.3f\n", d.mean, d.error);
    CHECK(d.mean < -0.2 && d.error > 0.01 && d.error < 0.1);
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 0 && why[0] == CT_CHOICE_CHOSEN);
    ct__scores_free(&s);
}

/* Huber's psi. */
static double psi(double z) { return z > 1.345 ? 1.345 : z < -1.345 ? -1.345 : z; }

/* The root of sum psi((d - m) / s) by bisection, and its standard error. */
static void check_huber(int n, const double *d, double s)
{
    double loss[20], low = -5, high = 5, square = 0, inside = 0;
    for (int i = 0; i < n; i++) loss[i] = exp(d[i]), loss[n + i] = 1;
    for (int step = 0; step < 200; step++) {
        const double middle = (low + high) / 2;
        double       sum = 0;
        for (int i = 0; i < n; i++) sum += psi((d[i] - middle) / s);
        if (sum > 0) low = middle;
        else high = middle;
    }
    for (int i = 0; i < n; i++) {
        square += psi((d[i] - low) / s) * psi((d[i] - low) / s);
        inside += fabs(d[i] - low) < 1.345 * s;
    }
    ct__scores       scores = scores_of(n, 2, loss, NULL, n);
    const ct__paired found = ct__compare(&scores, 0, 1, CT_METRIC_LOSS);
    printf("  mean %.6f, standard error %.6f\n", found.mean, found.error);
    CHECK_NEAR(found.mean, low, 1e-6);
    CHECK_NEAR(found.error, s * sqrt(square) / inside * sqrt(n / (n - 1.0)), 1e-6);
    ct__scores_free(&scores);
}

/* The scale is 1.4826 median |d - median|; where more than half of the units agree, the standard deviation. */
static void test_the_mean_over_units_is_hubers(void)
{
    const double some[] = {-0.3, -0.1, 0.05, 0.2, 1.5, -0.15, 0.1}, equal[] = {0.2, 0.2, 0.2, 0.2, -0.8};
    check_huber(7, some, 1.4826 * 0.15);
    check_huber(5, equal, sqrt((4 * 0.2 * 0.2 + 0.8 * 0.8) / 4));
}

/* A sequence without an estimate under both says that they are equal there. It is not left out. */
static void test_two_failures_are_a_draw(void)
{
    const double loss[] = {1, 1, NAN, exp(1), exp(1), NAN};
    ct__scores   s = scores_of(3, 2, loss, NULL, 3);
    const ct__paired d = ct__compare(&s, 0, 1, CT_METRIC_LOSS);
    CHECK(d.units == 3);
    CHECK_NEAR(d.mean, -2.0 / 3, 1e-14);
    ct__scores_free(&s);
}

/* Twelve segments of two recordings that disagree are two units, not twelve: the values given stay. */
static void test_segments_of_a_recording_are_not_independent(void)
{
    double loss[24];
    int32_t group[12];
    for (int i = 0; i < 12; i++) {
        group[i] = i / 8;
        loss[i] = i / 8 ? 1.1 : 0.8;
        loss[12 + i] = 1 + 0.001 * i;
    }
    ct_choice why[2];
    ct__scores s = scores_of(12, 2, loss, group, 2), apart = scores_of(12, 2, loss, NULL, 12);
    CHECK(ct__compare(&s, 0, 1, CT_METRIC_LOSS).units == 2);
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 1 && why[0] == CT_CHOICE_NOT_BETTER);
    CHECK(ct__choose_candidate(&s, 0, 1, 0, why) == 0); /* nobody gave the values: the reference */
    CHECK(ct__choose_candidate(&apart, 0, 1, 1, why) == 0);
    ct__scores_free(&s);
    ct__scores_free(&apart);
}

/* The loss is the sum of two errors, and one may be invisible in it. */
static void test_a_candidate_that_loses_in_rotation_is_not_chosen(void)
{
    const double loss[] = {0.8, 0.82, 0.79, 0.81, 1, 1, 1, 1};
    ct_choice why[2];
    ct__scores s = scores_of(4, 2, loss, NULL, 4);
    for (int i = 0; i < 8; i++) s.score[i].rotation = i < 4 ? 0.02 + 1e-4 * i : 0.01;
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 1 && why[0] == CT_CHOICE_ROTATION);
    ct__scores_free(&s);
}

/* Where the loss is the user's, it may trade: a fifth of the loss for a twentieth of rotations, not for twice of them,
 * unless rotations have no weight. */
static void test_errors_are_traded_as_the_loss_gains(void)
{
    const double loss[] = {0.8, 0.82, 0.79, 0.81, 1, 1, 1, 1};
    ct_choice why[2];
    ct__scores s = scores_of(4, 2, loss, NULL, 4);
    s.traded = 1;
    for (int i = 0; i < 8; i++) s.score[i].rotation = i < 4 ? 0.0105 + 1e-5 * i : 0.01;
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 0);
    for (int i = 0; i < 4; i++) s.score[i].rotation *= 2;
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 1 && why[0] == CT_CHOICE_ROTATION);
    s.unweighted = 1 << CT_METRIC_ROTATION;
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 0);
    ct__scores_free(&s);
}

/* A minimum of the loss gains a third on every recording. Two of them do not prove it, three do; segments of two
 * recordings are two. The reference, which is not fitted to the loss, needs no third. */
static void test_two_recordings_do_not_prove_a_minimum_of_the_loss(void)
{
    const int32_t group[] = {0, 0, 1, 1};
    double loss[12];
    for (int n = 2; n <= 4; n++) {
        ct_choice why[3];
        for (int i = 0; i < 3 * n; i++) loss[i] = i / n == 1 ? 0.66 + 0.001 * i : 1;
        ct__scores s = scores_of(n, 3, loss, n == 4 ? group : NULL, n == 4 ? 2 : n);
        const int chosen = ct__choose_candidate(&s, 0, 2, 1, why);
        CHECK(n == 3 ? chosen == 1 && why[1] == CT_CHOICE_CHOSEN : chosen == 2 && why[1] == CT_CHOICE_FEW);
        CHECK(n == 3 || ct__choose_candidate(&s, 1, 2, 1, why) == 1);
        ct__scores_free(&s);
    }
}

/* A gain of one percent on every recording is chance for what is fitted to the loss, unless an error shows it. The
 * reference is not fitted to it. */
static void test_a_minimum_of_the_loss_has_to_gain_two_percent_or_visibly(void)
{
    double loss[15];
    ct_choice why[3];
    for (int i = 0; i < 15; i++) loss[i] = i / 5 == 1 ? 0.99 + 1e-5 * i : 1;
    ct__scores s = scores_of(5, 3, loss, NULL, 5);
    CHECK(ct__choose_candidate(&s, 0, 2, 1, why) == 2 && why[1] == CT_CHOICE_SMALL);
    CHECK(ct__choose_candidate(&s, 1, 2, 1, why) == 1);
    for (int i = 0; i < 15; i++) s.score[i].rotation = i / 5 == 1 ? 0.95 : 1;
    CHECK(ct__choose_candidate(&s, 0, 2, 1, why) == 1);
    for (int i = 0; i < 15; i++) s.score[i].rotation = NAN;
    for (int i = 5; i < 10; i++) s.score[i].loss = 0.97 + 1e-5 * i;
    CHECK(ct__choose_candidate(&s, 0, 2, 1, why) == 1);
    ct__scores_free(&s);
}

/* The heading in units of 1e-85 rad, from that of z, and the last number of z. */
static void eval_fine(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    r[0] = 1e85 * atan2(x[0][3] * z[2] - x[0][2] * z[3], x[0][2] * z[2] + x[0][3] * z[3]) + z[4];
    if (J && J[0]) memcpy(J[0], (const double[]){0, 0, 1e85}, 3 * sizeof *J[0]);
}

static const ct_factor_ops FINE = {
    .name = "fine",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 2,
    .required = 2,
    .field = {CT_SE2, CT_R1},
    .absolute = 1,
    .jacobian = CT_JACOBIAN_ANALYTIC,
    .eval = eval_fine,
    .depends = {4},
    .coordinate = {"yaw"},
    .unit = {"rad"},
};

/* A sensor has no error at all, and the bounds allow a variance whose information overflows: the closed form has no
 * estimates. The start values and a minimum of the loss from them remain; held-out losses decide between the two. */
/* Of odometry alone estimates do not depend on the noise: the reference has the residuals on its side. A difference in
 * one sequence is one. */
static void test_equal_estimates_leave_the_choice_to_the_reference(void)
{
    double loss[8] = {1, 2, 3, 4, 1, 2, 3, 4 + 1e-6};
    ct_choice why[2];
    ct__scores s = scores_of(4, 2, loss, NULL, 4);
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 0 && why[0] == CT_CHOICE_CHOSEN);
    s.score[7].loss = 4.001;
    CHECK(ct__choose_candidate(&s, 0, 1, 1, why) == 1);
    ct__scores_free(&s);
}

static void test_a_reference_without_estimates_is_no_candidate(void)
{
    for (int runs = 1; runs <= 4; runs += 3) {
        lesson  l = lesson_of("D1", CT_SE2, runs, 40, 3);
        int32_t fine;
        CHECK_OK(ct_noise_add_isotropic(l.noise, "fine", 1, 1e149, &fine, &l.err), l.err);
        for (int i = 0; i < runs; i++)
            for (int32_t v = 0; v < ct_graph_variables(l.seq[i]->graph); v++) {
                double z[5] = {0, 0, 0, 0, 1e-74};
                memcpy(z, l.seq[i]->truth + ct_graph_offset(l.seq[i]->graph, v), 4 * sizeof *z);
                CHECK_OK(ct_graph_add_factor(l.seq[i]->graph, &FINE, &v, z, NULL, fine, &l.err), l.err);
            }
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
        CHECK_OK(ct_theta_learn(l.theta, fine, CT_NOISE_ISOTROPIC, 1e-150, 1e150, &l.err), l.err);
        open_outer(&l, NULL);
        ct_learn_result r = learn(&l, NULL);
        printf("  %d runs: %d candidates, prior %g, held out %.4g, start %.4g, %s\n", runs, r.candidates, r.prior,
               r.loss_heldout, r.loss_heldout_start, ct_learn_stop_name(r.stop));
        CHECK(ct_findings_find(&r.findings, CT_FINDING_CLOSED_FORM_FAILED) >= 0);
        CHECK(isinf(r.loss_closed_form) && isfinite(r.loss_train));
        if (runs == 1) CHECK(r.stop == CT_LEARN_STOP_START && isnan(r.prior));
        if (runs > 1) CHECK(r.candidates == 3 && isinf(r.candidate[0].prior) && r.candidate[0].failed == runs);
        if (runs > 1) CHECK(!r.candidate[0].chosen && r.loss_heldout <= r.loss_heldout_start);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* Values that somebody tuned in deployment are not given up for something that does worse there. */
static void test_start_values_that_are_better_stay(void)
{
    lesson l = biased_lesson(6, 0, 0.05);
    double tuned[6];
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, tuned, NULL, &l.err), l.err);
    tuned[ct_theta_find(l.theta, ct_noise_find(l.noise, "odom"), 2)] += 3; /* "turns are not to be trusted" */
    CHECK_OK(ct_theta_apply(l.theta, tuned, l.noise, &l.err), l.err);
    open_outer(&l, NULL);
    ct_learn_result r = learn(&l, NULL);
    printf("  held-out loss %.4g; start %.4g, closed form %.4g: %s\n", r.loss_heldout, r.loss_heldout_start,
           r.loss_heldout_closed_form, ct_learn_stop_name(r.stop));
    CHECK(r.stop == CT_LEARN_STOP_START && r.loss_heldout == r.loss_heldout_start && isnan(r.standard_error[0]) &&
          isnan(r.prior));
    /* but for the scale */
    for (int i = 0; i < r.parameters; i++) CHECK_NEAR(r.p[i] - r.p[0], tuned[i] - tuned[0], 1e-9);
    const int32_t f = ct_findings_find(&r.findings, CT_FINDING_HELDOUT_LOSS);
    CHECK(f >= 0 && r.findings.item[f].value[0] > 1.5 && r.findings.item[f].value[1] >= 1);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* What tracks well from the truth may track badly in deployment, where estimates start elsewhere and end in other
 * minima: it is the field that counts. */
static void test_candidates_are_judged_as_the_field_would(void)
{
    lesson           many = biased_lesson(20, 100, 0.15), few = biased_lesson(4, 0, 0.15);
    ct_learn_options options = ct_learn_defaults();
    ct_outer_value   closed = {0}, tuned = {0};
    double           p[6];
    options.prior = 0;
    ct_learn_result from_truth = learn(&many, &options);
    CHECK_OK(ct_outer_closed_form(few.outer, NULL, p, NULL, &few.err), few.err);
    CHECK_OK(ct_outer_evaluate(few.outer, p, NULL, &closed, &few.err), few.err);
    CHECK_OK(ct_outer_evaluate(few.outer, from_truth.p, NULL, &tuned, &few.err), few.err);
    CHECK_OK(ct_theta_apply(few.theta, from_truth.p, few.noise, &few.err), few.err);
    ct_learn_result r = learn(&few, NULL);
    printf("  from the truth %.4g, closed form %.4g; in deployment %.4g and %.4g: %s\n", tuned.loss, closed.loss,
           r.loss_heldout_start, r.loss_heldout_closed_form, ct_learn_stop_name(r.stop));
    CHECK(tuned.loss < closed.loss && r.loss_heldout_start > 1.2 * r.loss_heldout_closed_form &&
          r.stop != CT_LEARN_STOP_START);
    ct_learn_result_free(&r);
    ct_learn_result_free(&from_truth);
    lesson_free(&many);
    lesson_free(&few);
}

/* Where errors are traded, the best may be vetoed beside a strong prior that a third candidate beats in both. */
static void test_the_strongest_prior_that_no_candidate_beats(void)
{
    static const double LOSS[] = {1, 0.62, 0.41, 0.386, 0.393}, METRES[] = {1, 0.79, 0.633, 0.626, 0.623},
                        RADIANS[] = {1, 1.10, 1.138, 1.515, 1.835};
    ct_choice  why[5];
    double     loss[25];
    for (int i = 0; i < 25; i++) loss[i] = LOSS[i / 5] * (1 + 0.02 * ((i / 5 + 2 * i) % 5));
    ct__scores s = scores_of(5, 5, loss, NULL, 5);
    for (int i = 0; i < 25; i++) {
        s.score[i].translation = METRES[i / 5];
        s.score[i].rotation = RADIANS[i / 5];
    }
    s.traded = 1;
    CHECK(ct__choose_candidate(&s, 0, 0, 1, why) == 2);
    CHECK(why[1] == CT_CHOICE_NOT_BETTER || why[1] == CT_CHOICE_WORSE);
    ct__scores_free(&s);
}

int main(void)
{
    RUN(test_candidates_are_what_cross_validation_compared);
    RUN(test_candidates_are_compared_by_paired_differences);
    RUN(test_one_bad_run_does_not_rule);
    RUN(test_the_mean_over_units_is_hubers);
    RUN(test_two_failures_are_a_draw);
    RUN(test_segments_of_a_recording_are_not_independent);
    RUN(test_a_candidate_that_loses_in_rotation_is_not_chosen);
    RUN(test_errors_are_traded_as_the_loss_gains);
    RUN(test_two_recordings_do_not_prove_a_minimum_of_the_loss);
    RUN(test_a_minimum_of_the_loss_has_to_gain_two_percent_or_visibly);
    RUN(test_equal_estimates_leave_the_choice_to_the_reference);
    RUN(test_a_reference_without_estimates_is_no_candidate);
    RUN(test_start_values_that_are_better_stay);
    RUN(test_candidates_are_judged_as_the_field_would);
    RUN(test_the_strongest_prior_that_no_candidate_beats);
    return ct_test_end();
}
