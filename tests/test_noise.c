/* test_noise.c: noise models and robust kernels. */
#include "ct_test.h"

#include <covtune/noise.h>

/* ---- Helpers --------------------------------------------------------------------------------- */

static ct_noise *new_table(void)
{
    ct_noise *noise = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    return noise;
}

/* A random symmetric positive definite matrix, coordinates scaled from 1e-3 to 1e3. */
static void random_spd(ct_rng *rng, int n, double *S)
{
    double B[36], scale[6];
    for (int i = 0; i < n * n; i++) B[i] = ct_rng_normal(rng);
    for (int i = 0; i < n; i++) scale[i] = pow(10, 6 * ct_rng_uniform(rng) - 3);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            S[i * n + j] = i == j ? 0.1 * scale[i] * scale[i] : 0;
            for (int k = 0; k < n; k++) S[i * n + j] += scale[i] * scale[j] * B[i * n + k] * B[j * n + k];
        }
}

/* Largest entry of R Sigma R' - I: the whitened covariance against the identity. */
static double whitening_residual(const ct_noise_model *m)
{
    const int     n = m->dim;
    const double *R = m->sqrt_info, *S = m->covariance;
    double        worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++) s += R[i * n + k] * S[k * n + l] * R[j * n + l];
            worst = fmax(worst, fabs(s - (i == j)));
        }
    return worst;
}

/* ---- Models ---------------------------------------------------------------------------------- */

static void test_square_root_information_whitens_its_covariance(void)
{
    ct_rng    rng = ct_rng_seed(1);
    ct_err    err = {0};
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 300; trial++) {
        const int n = 1 + trial % 6;
        double    S[36];
        char      name[32];
        int32_t   i = -1;
        random_spd(&rng, n, S);
        snprintf(name, sizeof name, "m%d", trial);
        CHECK_OK(ct_noise_add_full(noise, name, n, S, &i, &err), err);
        const ct_noise_model *m = ct_noise_get(noise, i);
        CHECK(m->kind == CT_NOISE_FULL && m->dim == n && !strcmp(m->name, name));
        CHECK_NEAR(whitening_residual(m), 0, 1e-11);
        for (int r = 0; r < n; r++) {
            CHECK(m->sqrt_info[r * n + r] > 0);
            for (int c = 0; c < r; c++) CHECK(m->sqrt_info[r * n + c] == 0);
        }
    }
    ct_noise_free(noise);
}

static void test_information_and_covariance_agree(void)
{
    ct_rng    rng = ct_rng_seed(2);
    ct_err    err = {0};
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 60; trial++) {
        const int n = 2 + trial % 5;
        double    A[36];
        char      name[32];
        int32_t   i, j;
        random_spd(&rng, n, A);
        snprintf(name, sizeof name, "i%d", trial);
        CHECK_OK(ct_noise_add_information(noise, name, n, A, &i, &err), err);
        const ct_noise_model *m = ct_noise_get(noise, i);
        CHECK_NEAR(whitening_residual(m), 0, 1e-11);
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++) { /* R'R = A */
                double s = 0;
                for (int k = 0; k < n; k++) s += m->sqrt_info[k * n + r] * m->sqrt_info[k * n + c];
                CHECK_NEAR(s, A[r * n + c], 1e-14 * sqrt(A[r * n + r] * A[c * n + c]));
            }
        snprintf(name, sizeof name, "c%d", trial);
        CHECK_OK(ct_noise_add_full(noise, name, n, m->covariance, &j, &err), err);
        const double *R = ct_noise_get(noise, i)->sqrt_info, *T = ct_noise_get(noise, j)->sqrt_info;
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++) CHECK_NEAR(R[r * n + c], T[r * n + c], 1e-11 * sqrt(A[c * n + c]));
    }
    ct_noise_free(noise);
}

static void test_diagonal_information_is_a_diagonal_model(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    int32_t      i;
    const double A[9] = {4, 0, 0, 0, 25, 0, 0, 0, 100};
    CHECK_OK(ct_noise_add_information(noise, "d", 3, A, &i, &err), err);
    const ct_noise_model *m = ct_noise_get(noise, i);
    CHECK(m->kind == CT_NOISE_DIAGONAL);
    for (int k = 0; k < 3; k++) CHECK(m->covariance[k] == 1 / A[4 * k] && m->sqrt_info[k] == sqrt(A[4 * k]));
    ct_noise_free(noise);
}

static void test_unusable_variances_are_refused_by_name_and_coordinate(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    const double bad[] = {0, -0.1, NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 5; k++) {
        const double v[3] = {1, 1, bad[k]};
        CHECK_REFUSED(ct_noise_add_diagonal(noise, "odom", 3, v, NULL, &err), err,
                      "noise model \"odom\": variance of coordinate 2 is ");
        CHECK(err.status == CT_E_NOISE && strstr(err.text, "it must be positive and finite"));
        CHECK_REFUSED(ct_noise_add_isotropic(noise, "odom", 3, bad[k], NULL, &err), err, "variance of coordinate 0");
        const double S[4] = {1, 0, 0, bad[k]};
        CHECK_REFUSED(ct_noise_add_full(noise, "odom", 2, S, NULL, &err), err, "variance of coordinate 1");
        CHECK_REFUSED(ct_noise_add_information(noise, "odom", 2, S, NULL, &err), err, "information of coordinate 1");
    }
    CHECK_REFUSED(ct_noise_add_isotropic(noise, "odom", 3, -0.1, NULL, &err), err,
                  "is -0.1; it must be positive and finite");
    const double extreme[] = {4.9e-324, 1e-200, 1e300};
    for (int k = 0; k < 3; k++)
        CHECK_REFUSED(ct_noise_add_isotropic(noise, "odom", 1, extreme[k], NULL, &err), err,
                      "between 1e-150 and 1e+150");
    CHECK_REFUSED(ct_noise_add_isotropic(noise, "odom", 0, 1, NULL, &err), err, "dimension is 0; it must be 1 to 6");
    CHECK_REFUSED(ct_noise_add_isotropic(noise, "odom", 7, 1, NULL, &err), err, "dimension is 7");
    CHECK(ct_noise_count(noise) == 0);
    ct_noise_free(noise);
}

static void test_the_widest_variances_are_accepted(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    const double v[3] = {1e-150, 1e12, 1e150}, S[4] = {1e-12, 0.5, 0.5, 1e12};
    int32_t      i;
    CHECK_OK(ct_noise_add_diagonal(noise, "d", 3, v, &i, &err), err);
    for (int k = 0; k < 3; k++) {
        const double r = ct_noise_get(noise, i)->sqrt_info[k];
        CHECK(isnormal(r * r) && isnormal(r * r * r * r));
    }
    CHECK_OK(ct_noise_add_full(noise, "f", 2, S, &i, &err), err);
    CHECK_NEAR(whitening_residual(ct_noise_get(noise, i)), 0, 1e-14);
    ct_noise_free(noise);
}

static void test_unusable_matrices_are_refused_with_the_reason(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    const double indefinite[9] = {1, 0, 0, 0, 1, 2, 0, 2, 1};
    const double singular[4] = {0.01, 0.01, 0.01, 0.01};
    const double skew[4] = {1, 0.5, 0.4, 1};
    const double hole[4] = {1, NAN, NAN, 1}, endless[4] = {1, INFINITY, INFINITY, 1}, huge[4] = {1, 1e308, 1e308, 1};
    CHECK_REFUSED(ct_noise_add_full(noise, "gps", 3, indefinite, NULL, &err), err,
                  "noise model \"gps\": covariance is not positive definite: it fails at coordinate 2, whose variance "
                  "given those before it is -3");
    CHECK_REFUSED(ct_noise_add_information(noise, "gps", 3, indefinite, NULL, &err), err,
                  "information is not positive definite: it fails at coordinate 2");
    CHECK_REFUSED(ct_noise_add_full(noise, "gps", 2, singular, NULL, &err), err,
                  "not positive definite: it fails at coordinate 1");
    CHECK_REFUSED(ct_noise_add_full(noise, "gps", 2, skew, NULL, &err), err,
                  "not symmetric: entry (0, 1) is 0.5, entry (1, 0) is 0.4");
    CHECK_REFUSED(ct_noise_add_full(noise, "gps", 2, hole, NULL, &err), err,
                  "covariance entry (0, 1) is nan; it must be finite");
    CHECK_REFUSED(ct_noise_add_full(noise, "gps", 2, endless, NULL, &err), err, "entry (0, 1) is inf");
    CHECK_REFUSED(ct_noise_add_full(noise, "gps", 2, huge, NULL, &err), err, "not positive definite");
    CHECK(ct_noise_count(noise) == 0);

    int32_t      i;
    const double nearly[4] = {1, 0.5, 0.5 + 1e-8, 1};
    CHECK_OK(ct_noise_add_full(noise, "gps", 2, nearly, &i, &err), err);
    const double *S = ct_noise_get(noise, i)->covariance;
    CHECK(S[1] == S[2]);
    CHECK_NEAR(S[1], 0.5 + 0.5e-8, 1e-16);
    ct_noise_free(noise);
}

static void test_setting_changes_a_model_or_leaves_it_untouched(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    int32_t      iso, dia;
    const double v[2] = {4, 9}, S[4] = {2, 0.5, 0.5, 3}, bad[2] = {1, -1}, bad_S[4] = {1, 2, 2, 1};
    CHECK_OK(ct_noise_add_isotropic(noise, "iso", 3, 0.25, &iso, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "dia", 2, v, &dia, &err), err);
    const ct_noise_model *m = ct_noise_get(noise, dia);

    CHECK_REFUSED(ct_noise_set_variance(noise, dia, bad, &err), err,
                  "noise model \"dia\": variance of coordinate 1 is -1");
    CHECK_REFUSED(ct_noise_set_covariance(noise, dia, bad_S, &err), err, "coordinate 1");
    CHECK(m->kind == CT_NOISE_DIAGONAL && m->covariance[0] == 4 && m->covariance[1] == 9 && m->sqrt_info[1] == 1.0 / 3);
    CHECK_OK(ct_noise_set_covariance(noise, dia, S, &err), err);
    CHECK(m->kind == CT_NOISE_FULL && m->covariance[1] == 0.5);
    CHECK_NEAR(whitening_residual(m), 0, 1e-15);
    CHECK_OK(ct_noise_set_variance(noise, dia, v, &err), err);
    CHECK(m->kind == CT_NOISE_DIAGONAL && m->sqrt_info[0] == 0.5);

    CHECK_OK(ct_noise_set_variance(noise, iso, v, &err), err); /* isotropic: reads one */
    m = ct_noise_get(noise, iso);
    CHECK(m->kind == CT_NOISE_ISOTROPIC && m->covariance[2] == 4 && m->sqrt_info[2] == 0.5);

    CHECK_REFUSED(ct_noise_set_robust(noise, iso, (ct_robust){CT_ROBUST_HUBER, 0, 0}, &err), err,
                  "width of the huber kernel is 0; it must be positive");
    CHECK_REFUSED(ct_noise_set_robust(noise, iso, (ct_robust){CT_ROBUST_TUKEY, NAN, 0}, &err), err, "is nan");
    CHECK_REFUSED(ct_noise_set_robust(noise, iso, (ct_robust){CT_ROBUST_COUNT, 1, 0}, &err), err, "kernel number");
    CHECK(m->robust.kind == CT_ROBUST_NONE);
    CHECK_OK(ct_noise_set_robust(noise, iso, (ct_robust){CT_ROBUST_CAUCHY, 2, 0}, &err), err);
    CHECK(m->robust.kind == CT_ROBUST_CAUCHY && m->robust.width == 2);
    ct_noise_free(noise);
}

static void test_names_are_new_and_without_spaces(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 1, 1, NULL, &err), err);
    CHECK_REFUSED(ct_noise_add_isotropic(noise, "odom", 1, 1, NULL, &err), err,
                  "noise model \"odom\": there is one of this name");
    CHECK_REFUSED(ct_noise_add_isotropic(noise, "", 1, 1, NULL, &err), err, "name is empty");
    CHECK_REFUSED(ct_noise_add_isotropic(noise, "a b", 1, 1, NULL, &err), err, "\"a b\": a name must not hold spaces");
    CHECK_REFUSED(ct_noise_add_isotropic(noise, "a\t", 1, 1, NULL, &err), err, "must not hold spaces");
    CHECK(ct_noise_count(noise) == 1);
    ct_noise_free(noise);
}

static void test_many_models_are_found_by_name_and_survive_copying(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table(), *copy = NULL;
    char      name[32];
    const int n = 20000;
    for (int i = 0; i < n; i++) {
        int32_t at = -1;
        snprintf(name, sizeof name, "edge%d", i);
        CHECK_OK(ct_noise_add_isotropic(noise, name, 1 + i % 6, 1 + i, &at, &err), err);
        CHECK(at == i);
    }
    CHECK_OK(ct_noise_set_robust(noise, 7, (ct_robust){CT_ROBUST_HUBER, 3, 0}, &err), err);
    CHECK_OK(ct_noise_copy(noise, &copy, &err), err);
    ct_noise_free(noise);
    CHECK(ct_noise_count(copy) == n && ct_noise_get(copy, 7)->robust.width == 3);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "edge%d", i);
        CHECK(ct_noise_find(copy, name) == i);
        CHECK(ct_noise_get(copy, i)->covariance[0] == 1 + i && ct_noise_get(copy, i)->dim == 1 + i % 6);
    }
    CHECK(ct_noise_find(copy, "edge") == -1);
    ct_noise_free(copy);
    ct_noise_free(NULL);
}

static void test_entries_and_sigmas_do_not_depend_on_the_kind(void)
{
    const double full[4] = {4, 0.5, 0.5, 9}, diagonal[2] = {4, 9};
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    CHECK_OK(ct_noise_add_full(noise, "f", 2, full, NULL, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "d", 2, diagonal, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "i", 2, 4, NULL, &err), err);
    for (int32_t k = 0; k < 3; k++) {
        const ct_noise_model *m = ct_noise_get(noise, k);
        CHECK(ct_noise_covariance(m, 0, 0) == 4 && ct_noise_covariance(m, 1, 1) == (k < 2 ? 9 : 4));
        CHECK(ct_noise_covariance(m, 0, 1) == (k ? 0 : 0.5) && ct_noise_covariance(m, 1, 0) == (k ? 0 : 0.5));
        CHECK(ct_noise_sigma(m, 0) == 2 && ct_noise_sigma(m, 1) == (k < 2 ? 3 : 2));
        CHECK(isnan(ct_noise_covariance(m, -1, 0)) && isnan(ct_noise_covariance(m, 0, 2)));
        CHECK(isnan(ct_noise_sigma(m, 2)));
    }
    ct_noise_free(noise);
}

static void test_a_regime_selects_its_model_else_the_group(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK(ct_noise_select(noise, "odom", "1") == -1 && ct_noise_find(noise, "odom") == -1);
    CHECK_OK(ct_noise_add_isotropic(noise, "odom@indoor", 3, 1, NULL, &err), err);
    CHECK(ct_noise_select(noise, "odom", "indoor") == 0);
    CHECK(ct_noise_select(noise, "odom", "outdoor") == -1);
    CHECK(ct_noise_select(noise, "odom", NULL) == -1);
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 3, 1, NULL, &err), err);
    CHECK(ct_noise_select(noise, "odom", "indoor") == 0);
    CHECK(ct_noise_select(noise, "odom", "outdoor") == 1);
    CHECK(ct_noise_select(noise, "odom", "") == 1 && ct_noise_select(noise, "odom", NULL) == 1);
    CHECK(ct_noise_select(noise, "od", "om") == -1);
    ct_noise_free(noise);
}

/* ---- Robust kernels -------------------------------------------------------------------------- */

static void test_robust_weight_is_the_slope_of_the_error(void)
{
    for (int kind = 0; kind < CT_ROBUST_COUNT; kind++) {
        const double    k = kind ? ct_robust_default_width((ct_robust_kind)kind) : 1;
        const ct_robust robust = {(ct_robust_kind)kind, k, 0};
        for (double d = 0.05; d < 12; d += 0.0837) {
            const double h = 1e-5;
            double       w;
            ct_robust_error(robust, d * d, &w);
            const double slope =
                (ct_robust_error(robust, (d + h) * (d + h), NULL) - ct_robust_error(robust, (d - h) * (d - h), NULL)) /
                (2 * h);
            if (fabs(d - k) > 2 * h) CHECK_NEAR(w, slope / d, 1e-8);
            CHECK(w >= 0 && w <= 1);
        }
    }
}

static void test_robust_slope_is_that_of_the_weight(void)
{
    for (int kind = 0; kind < CT_ROBUST_COUNT; kind++) {
        const double    k = kind ? ct_robust_default_width((ct_robust_kind)kind) : 1, h = 1e-4;
        const ct_robust robust = {(ct_robust_kind)kind, k, 0};
        for (double d2 = 2 * h; d2 < 9 * k * k; d2 += 0.0301 * k * k) {
            double ahead, behind;
            if (fabs(d2 - k * k) <= 2 * h) continue;
            ct_robust_error(robust, d2 + h, &ahead);
            ct_robust_error(robust, d2 - h, &behind);
            CHECK_NEAR(ct_robust_slope(robust, d2), (ahead - behind) / (2 * h), 1e-7);
        }
        double at_kink, beyond;
        ct_robust_error(robust, k * k, &at_kink);
        ct_robust_error(robust, k * k * (1 + 1e-6), &beyond);
        if (kind != CT_ROBUST_MAX_MIXTURE) /* whose weight jumps there */
            CHECK_NEAR(ct_robust_slope(robust, k * k), (beyond - at_kink) / (1e-6 * k * k), 1e-5);
        CHECK(ct_robust_slope(robust, INFINITY) == 0);
        CHECK(kind == CT_ROBUST_NONE || isnan(ct_robust_slope(robust, NAN)));
    }
}

static void test_robust_kernels_are_continuous_and_have_their_limits(void)
{
    for (int kind = 0; kind < CT_ROBUST_COUNT; kind++) {
        const double    k = kind ? 2.5 : 1;
        const ct_robust robust = {(ct_robust_kind)kind, k, 0};
        double          w, w_low, w_high;
        const double low = ct_robust_error(robust, k * k * (1 - 1e-12), &w_low),
                     high = ct_robust_error(robust, k * k * (1 + 1e-12), &w_high);
        CHECK_NEAR(low, high, 1e-10);
        if (kind != CT_ROBUST_MAX_MIXTURE) CHECK_NEAR(w_low, w_high, 1e-10);
        CHECK(ct_robust_error(robust, 0, &w) == 0 && w == 1);
        CHECK_NEAR(ct_robust_error(robust, 1e-30, NULL) / 0.5e-30, 1, 1e-12); /* all are d^2 / 2 near zero */
        CHECK(isnan(ct_robust_error(robust, NAN, NULL)));
        ct_robust_error(robust, INFINITY, &w);
        CHECK(w == (kind == CT_ROBUST_NONE ? 1 : kind == CT_ROBUST_MAX_MIXTURE ? 0.01 : 0));
    }
    CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_GEMAN_MCCLURE, 3, 0}, INFINITY, NULL), 4.5, 1e-15);
    CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_GEMAN_MCCLURE, 3, 0}, 16, NULL), 9 * 16 / (2 * 25.0), 1e-15);
    CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_TUKEY, 3, 0}, INFINITY, NULL), 1.5, 1e-15);
    CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_HUBER, 1, 0}, 100, NULL), 9.5, 1e-15);
    CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_CAUCHY, 1, 0}, 1, NULL), 0.5 * log(2), 1e-15);
}

static void test_robust_names_are_found_again(void)
{
    for (int kind = 0; kind < CT_ROBUST_COUNT; kind++)
        CHECK(ct_robust_find(ct_robust_name((ct_robust_kind)kind)) == kind);
    CHECK(ct_robust_find("hubert") == -1);
}

int main(void)
{
    RUN(test_square_root_information_whitens_its_covariance);
    RUN(test_information_and_covariance_agree);
    RUN(test_diagonal_information_is_a_diagonal_model);
    RUN(test_unusable_variances_are_refused_by_name_and_coordinate);
    RUN(test_the_widest_variances_are_accepted);
    RUN(test_unusable_matrices_are_refused_with_the_reason);
    RUN(test_setting_changes_a_model_or_leaves_it_untouched);
    RUN(test_names_are_new_and_without_spaces);
    RUN(test_many_models_are_found_by_name_and_survive_copying);
    RUN(test_entries_and_sigmas_do_not_depend_on_the_kind);
    RUN(test_a_regime_selects_its_model_else_the_group);
    RUN(test_robust_weight_is_the_slope_of_the_error);
    RUN(test_robust_slope_is_that_of_the_weight);
    RUN(test_robust_kernels_are_continuous_and_have_their_limits);
    RUN(test_robust_names_are_found_again);
    return ct_test_end();
}
