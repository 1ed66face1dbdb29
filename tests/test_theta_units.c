/* test_theta_units.c: units of rows: theta of a table in units u is theta in units of 1 of the table U^-1 Sigma
 * U^-1. */
#include "theta_test.h"

static double entry(const ct_noise *noise, int32_t model, int i, int j)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    return m->kind == CT_NOISE_FULL ? m->covariance[i * m->dim + j] : i == j ? m->covariance[i] : 0;
}

/* The table with every Sigma multiplied by units. */
static ct_noise *scaled(const ct_noise *noise, double unit[MODELS][6])
{
    ct_noise *out = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_noise_new(&out, &err), err);
    for (int32_t m = 0; m < MODELS; m++) {
        const ct_noise_model *from = ct_noise_get(noise, m);
        const int             n = from->dim;
        double                S[36];
        for (int i = 0; i < n * n; i++) S[i] = entry(noise, m, i / n, i % n) * (unit[m][i / n] * unit[m][i % n]);
        if (from->kind == CT_NOISE_FULL) CHECK_OK(ct_noise_add_full(out, from->name, n, S, NULL, &err), err);
        else {
            for (int i = 0; i < n; i++) S[i] = S[i * n + i];
            CHECK_OK(ct_noise_add_diagonal(out, from->name, n, S, NULL, &err), err);
        }
    }
    return out;
}

/* Powers of two, by which numbers are multiplied without rounding; or any. The diagonal models have the same, as
 * they may be tied; so have the rows of cam and one. */
static void random_units(ct_rng *rng, int exact, double unit[MODELS][6])
{
    for (int32_t m = 0; m < MODELS; m++)
        for (int c = 0; c < 6; c++) {
            unit[m][c] = exact ? ldexp(1, below(rng, 30) - 15) : pow(10, uniform(rng, -5, 5));
            if (m == CAM && c) unit[m][c] = unit[m][0];
            if (m == ONE) unit[m][c] = unit[CAM][0];
            if ((m == ODOM || m == ODO2) && m + c) unit[m][c] = unit[ODOM][0];
        }
}

/* The same said twice: theta of a table in units, one of the table that was divided by them. */
typedef struct {
    double    unit[MODELS][6];
    ct_noise *plain, *noise;
    ct_theta *one, *theta;
} twins;

static twins make(ct_rng *rng, int trial, int exact)
{
    twins t;
    random_units(rng, exact, t.unit);
    t.plain = new_table();
    t.noise = scaled(t.plain, t.unit);
    ct_rng again = *rng;
    t.one = random_theta(rng, t.plain, trial);
    t.theta = random_theta_in(&again, t.noise, trial, t.unit);
    CHECK(ct_theta_count(t.one) == ct_theta_count(t.theta) && t.one->blocks == t.theta->blocks);
    return t;
}

static void free_twins(twins *t)
{
    ct_theta_free(t->theta);
    ct_theta_free(t->one);
    ct_noise_free(t->noise);
    ct_noise_free(t->plain);
}

/* Largest variance of a model, in units. */
static double largest(const ct_noise *noise, int32_t m, const double unit[6])
{
    double most = 0;
    for (int i = 0; i < ct_noise_get(noise, m)->dim; i++)
        most = fmax(most, entry(noise, m, i, i) / (unit[i] * unit[i]));
    return most;
}

/* Sigma in units is that of the other table, to so many roundings of its largest. */
static void check_scaled(const twins *t, double roundings)
{
    for (int32_t m = 0; m < MODELS; m++) {
        const int n = ct_noise_get(t->noise, m)->dim;
        for (int i = 0; i < n * n; i++)
            CHECK_NEAR(entry(t->noise, m, i / n, i % n) / (t->unit[m][i / n] * t->unit[m][i % n]),
                       entry(t->plain, m, i / n, i % n), roundings * DBL_EPSILON * largest(t->noise, m, t->unit[m]));
    }
}

/* Points, tables and the set: what theta does, in units and without. Powers of two: to the bit. */
static void test_units_are_a_change_of_variables(void)
{
    ct_rng rng = ct_rng_seed(31);
    ct_err err = {0};
    for (int trial = 0; trial < 300; trial++) {
        const int    exact = trial / 2 % 2;
        const double off = exact ? 0 : 1;
        twins        t = make(&rng, trial, exact);
        const int    n = ct_theta_count(t.one);
        double       p[MANY], q[MANY];
        ct_theta_get(t.one, t.plain, p);
        ct_theta_get(t.theta, t.noise, q);
        for (int i = 0; i < n; i++) CHECK_NEAR(q[i], p[i], off * 1e-13);
        if (exact) CHECK(ct_theta_is_feasible(t.theta, t.noise) == ct_theta_is_feasible(t.one, t.plain));

        for (int i = 0; i < n; i++) p[i] = 2 * ct_rng_normal(&rng); /* mostly outside */
        CHECK(ct_theta_spread(t.theta, p) == ct_theta_spread(t.one, p));
        CHECK_OK(ct_theta_apply_unprojected(t.one, p, t.plain, &err), err);
        CHECK_OK(ct_theta_apply_unprojected(t.theta, p, t.noise, &err), err);
        check_scaled(&t, off * 4);
        for (int k = 0; k < 2; k++) { /* the set is the same numbers */
            memcpy(q, p, sizeof q);
            CHECK(ct_theta_project(t.theta, (ct_space)k, q) == ct_theta_project(t.one, (ct_space)k, p));
            CHECK(!memcmp(p, q, (size_t)n * sizeof *p));
            ct_theta_minimise_linear(t.theta, (ct_space)k, q, q);
            ct_theta_minimise_linear(t.one, (ct_space)k, p, p);
            CHECK(!memcmp(p, q, (size_t)n * sizeof *p));
            random_point(&rng, t.one, p);
        }
        CHECK_OK(ct_theta_apply(t.one, p, t.plain, &err), err);
        CHECK_OK(ct_theta_apply(t.theta, p, t.noise, &err), err);
        check_scaled(&t, 400); /* full matrices are kept further inside, twice the 48 roundings of dimension 6 */
        CHECK(ct_theta_is_feasible(t.theta, t.noise));
        free_twins(&t);
    }
}

/* By eigenvalues in long double of the table divided by its units. */
static void test_put_never_leaves_the_set_in_units(void)
{
    if (!ct_test_long_double()) SKIP("long double is no more than double here");
    ct_rng rng = ct_rng_seed(32);
    ct_err err = {0};
    for (int trial = 0; trial < 400; trial++) {
        twins       t = make(&rng, trial, 0);
        long double least = INFINITY, most = 0;
        double      p[MANY];
        for (int i = 0; i < ct_theta_count(t.theta); i++) p[i] = 4 * ct_rng_normal(&rng);
        CHECK_OK(ct_theta_apply(t.theta, p, t.noise, &err), err);
        CHECK(ct_theta_is_feasible(t.theta, t.noise));
        for (int32_t b = 0; b < t.theta->blocks; b++) {
            const ct__theta_block *block = &t.theta->block[b];
            const int        d = block->dim, at = block->coordinate < 0 ? 0 : block->coordinate;
            const double    *unit = t.unit[block->model] + at;
            long double      lambda[6];
            double           S[36];
            for (int i = 0; i < d * d; i++)
                S[i] = entry(t.noise, block->model, at + i / d, at + i % d) / (unit[i / d] * unit[i % d]);
            eigen_long(d, S, lambda);
            for (int k = 0; k < d; k++) {
                CHECK(lambda[k] >= block->lower * (1 - 1e-15L) && lambda[k] <= block->upper * (1 + 1e-15L));
                least = fminl(least, lambda[k]);
                most = fmaxl(most, lambda[k]);
            }
        }
        CHECK(most <= ct_theta_spread_limit(t.theta) * least * (1 + 2e-15L));
        free_twins(&t);
    }
}

static void test_slopes_in_units_are_differences_of_covariances(void)
{
    ct_rng       rng = ct_rng_seed(33);
    ct_err       err = {0};
    const double h = 1e-5;
    for (int trial = 0; trial < 60; trial++) {
        twins            t = make(&rng, trial, 0);
        ct_theta_jacobian *slopes = NULL;
        ct_noise        *minus = scaled(t.plain, t.unit);
        double           p[MANY];
        for (int i = 0; i < ct_theta_count(t.theta); i++) p[i] = ct_rng_normal(&rng);
        CHECK_OK(ct_theta_jacobian_new(t.theta, &slopes, &err), err);
        ct_theta_jacobian_at(t.theta, p, slopes);
        for (int32_t k = 0; k < ct_theta_count(t.theta); k++) {
            const double here = p[k];
            p[k] = here + h;
            CHECK_OK(ct_theta_apply_unprojected(t.theta, p, t.noise, &err), err);
            p[k] = here - h;
            CHECK_OK(ct_theta_apply_unprojected(t.theta, p, minus, &err), err);
            p[k] = here;
            for (int m = 0; m < MODELS; m++) {
                const int n = ct_noise_get(t.plain, m)->dim;
                for (int i = 0; i < n * n; i++) {
                    const double square = t.unit[m][i / n] * t.unit[m][i % n],
                                 a = entry(t.noise, m, i / n, i % n) / square,
                                 b = entry(minus, m, i / n, i % n) / square;
                    double       D = 0;
                    for (int32_t s = slopes->first[m]; s < slopes->first[m + 1]; s++)
                        D += slopes->parameter[s] == k ? slopes->dSigma[s][i] / square : 0;
                    CHECK_NEAR(D, (a - b) / (2 * h), 2e-7 * (1 + largest(t.noise, m, t.unit[m])));
                }
            }
        }
        free(slopes);
        ct_noise_free(minus);
        free_twins(&t);
    }
}

/* Sigma = v U^2: in the table it is diagonal where rows differ, and isotropic where they do not. */
static void test_an_isotropic_model_keeps_the_ratios_of_its_units(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise);
    double    p[1];
    CHECK_OK(ct_theta_set_unit(theta, ODOM, -1, 0.5, &err), err);
    CHECK_OK(ct_theta_set_unit(theta, ODOM, 2, 0.1, &err), err);
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_ISOTROPIC, 0.01, 16, &err), err);
    ct_theta_get(theta, noise, p);
    CHECK_NEAR(p[0], (log(0.5 / 0.25) + log(1 / 0.25) + log(2 / 0.01)) / 3, 1e-15);
    CHECK(!ct_theta_is_feasible(theta, noise));
    p[0] = log(100); /* at its bound */
    CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
    const ct_noise_model *odom = ct_noise_get(noise, ODOM);
    CHECK(odom->kind == CT_NOISE_DIAGONAL && odom->covariance[0] == 4 && odom->covariance[1] == 4 &&
          odom->covariance[2] == 16 * (0.1 * 0.1));
    CHECK(ct_theta_is_feasible(theta, noise));
    CHECK(ct_theta_unit_squared(theta, 0) == 0.25 && ct_theta_unit(theta, ODOM, 2) == 0.1);
    CHECK_OK(ct_noise_set_variance(noise, ODOM, (const double[]){4, 4, 0.16 * (1 + 1e-14)}, &err), err);
    CHECK(!ct_theta_is_feasible(theta, noise)); /* another ratio */

    CHECK_OK(ct_theta_set_unit(theta, ODOM, -1, 3, &err), err);
    CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
    CHECK(odom->kind == CT_NOISE_ISOTROPIC && odom->covariance[2] == 16 * 9.0);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

static void test_units_are_known_and_stay(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise), *copy = NULL;
    CHECK_OK(ct_theta_set_unit(theta, ODOM, 1, 0.01, &err), err); /* before anything is learned */
    CHECK(!ct_theta_has_units(theta) && ct_theta_unit(theta, ODOM, 1) == 0.01 && ct_theta_unit(theta, ODOM, 0) == 1);
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 0.1, 10, &err), err);
    CHECK(ct_theta_has_units(theta) && ct_theta_unit_squared(theta, 0) == 1 &&
          ct_theta_unit_squared(theta, 1) == 0.01 * 0.01);
    CHECK_OK(ct_theta_freeze(theta, ODOM, 1, &err), err);
    CHECK(!ct_theta_has_units(theta)); /* what is frozen has no say */
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_FULL, 0.1, 10, &err), err); /* said anew, units stay */
    CHECK_OK(ct_theta_set_unit(theta, ODOM, 2, 5, &err), err);
    const double square[6] = {1, 0.01, 5, 0.01 * 0.01, 0.01 * 5, 25};
    CHECK(ct_theta_has_units(theta));
    CHECK_OK(ct_theta_copy(theta, &copy, &err), err);
    for (int i = 0; i < 6; i++) CHECK(ct_theta_unit_squared(copy, i) == square[i]);
    double lower, upper;
    ct_theta_bounds(copy, 0, &lower, &upper);
    CHECK(lower == 0.1 && upper == 10);
    ct_theta_free(copy);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

static void test_what_is_tied_has_one_unit(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise);
    double    p[MANY];
    for (int m = 0; m < MODELS; m++)
        CHECK_OK(ct_theta_learn(theta, m,
                                m == CAM || m == ONE ? CT_NOISE_ISOTROPIC
                                : m == FAR           ? CT_NOISE_FULL
                                                     : CT_NOISE_DIAGONAL,
                                1e-3, 1e3, &err),
                 err);
    CHECK_OK(ct_theta_set_unit(theta, ODOM, 0, 0.1, &err), err);
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, 0, ODO2, 0, &err), err,
                  "odom.0 and odo2.0 cannot be tied: their units differ");
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, -1, ODO2, -1, &err), err,
                  "odom.0 and odo2.0 cannot be tied: their units differ");
    CHECK_OK(ct_theta_tie(theta, ODOM, 1, ODO2, 1, &err), err);
    CHECK_OK(ct_theta_set_unit(theta, ODO2, 0, 0.1, &err), err);
    CHECK_OK(ct_theta_tie(theta, ODOM, -1, ODO2, -1, &err), err);
    CHECK_REFUSED(ct_theta_set_unit(theta, ODO2, 0, 0.2, &err), err,
                  "odo2.0 and odom.0 are tied and cannot have different units; units come before ties");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, -1, 7, &err), err, "odom.0 and odo2.0 are tied");
    CHECK(ct_theta_unit(theta, ODO2, 0) == 0.1 && ct_theta_unit(theta, ODOM, 0) == 0.1 &&
          ct_theta_unit(theta, ODOM, 1) == 1);
    CHECK_OK(ct_theta_tie(theta, IMU, 0, IMU, 5, &err), err); /* of one model: both at a time */
    CHECK_REFUSED(ct_theta_set_unit(theta, IMU, 5, 2, &err), err, "imu.0 and imu.5 are tied");
    CHECK_OK(ct_theta_set_unit(theta, IMU, -1, 2, &err), err);

    CHECK_OK(ct_theta_set_unit(theta, CAM, -1, 0.3, &err), err);
    CHECK_REFUSED(ct_theta_tie(theta, CAM, -1, ONE, -1, &err), err, "cam and one cannot be tied: their units differ");
    CHECK_OK(ct_theta_set_unit(theta, ONE, -1, 0.3, &err), err);
    CHECK_OK(ct_theta_set_unit(theta, CAM, 1, 0.4, &err), err);
    /* there is one number for both only where all rows are alike */
    CHECK_REFUSED(ct_theta_tie(theta, CAM, -1, ONE, -1, &err), err, "their units differ");
    CHECK_OK(ct_theta_set_unit(theta, CAM, 1, 0.3, &err), err);
    CHECK_OK(ct_theta_tie(theta, CAM, -1, ONE, -1, &err), err);

    ct_theta_get(theta, noise, p);
    CHECK_NEAR(p[ct_theta_find(theta, ODOM, 0)], 0.5 * (log(0.5 / 0.01) + log(0.25 / 0.01)), 1e-14);
    CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
    CHECK(ct_theta_is_feasible(theta, noise) &&
          ct_noise_get(noise, ODOM)->covariance[0] == ct_noise_get(noise, ODO2)->covariance[0]);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

static void test_units_that_cannot_be_are_refused(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise);
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 1e-100, 1e100, &err), err);
    CHECK_REFUSED(ct_theta_set_unit(theta, 9, 0, 1, &err), err, "there is no noise model number 9");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, 3, 1, &err), err, "odom: there is no coordinate 3: it has 3");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, -2, 1, &err), err, "odom: there is no coordinate -2");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, 0, 0, &err), err,
                  "odom.0: its unit is 0; it must lie between 1e-50 and 1e+50");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, -1, NAN, &err), err, "odom: its unit is nan");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, 0, -1, &err), err, "odom.0: its unit is -1");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, 0, INFINITY, &err), err, "odom.0: its unit is inf");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, 0, 1e-51, &err), err, "its unit is 1e-51");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, 1, 1e-30, &err), err,
                  "odom.1: bounds 1e-100 and 1e+100 of variances in units of 1e-30 are 1e-160 and 1e+40; they must lie "
                  "between 1e-150 and 1e+150");
    CHECK_REFUSED(ct_theta_set_unit(theta, ODOM, -1, 1e30, &err), err,
                  "odom.0: bounds 1e-100 and 1e+100 of variances in units of 1e+30 are 1e-40 and 1e+160");
    CHECK(ct_theta_unit(theta, ODOM, 0) == 1 && ct_theta_unit(theta, ODOM, 1) == 1 &&
          ct_theta_unit(theta, ODOM, 2) == 1);
    CHECK_OK(ct_theta_bound(theta, ODOM, 1, 1e-80, 1e80, &err), err);
    CHECK_OK(ct_theta_set_unit(theta, ODOM, 1, 1e-30, &err), err); /* now it fits */
    CHECK_REFUSED(ct_theta_bound(theta, ODOM, 1, 1e-100, 1, &err), err, "odom.1: bounds 1e-100 and 1");
    CHECK_REFUSED(ct_theta_learn(theta, ODOM, CT_NOISE_FULL, 1e-100, 1, &err), err, "odom.1: bounds 1e-100 and 1");
    ct_theta_free(theta);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_units_are_a_change_of_variables);
    RUN(test_put_never_leaves_the_set_in_units);
    RUN(test_slopes_in_units_are_differences_of_covariances);
    RUN(test_an_isotropic_model_keeps_the_ratios_of_its_units);
    RUN(test_units_are_known_and_stay);
    RUN(test_what_is_tied_has_one_unit);
    RUN(test_units_that_cannot_be_are_refused);
    return ct_test_end();
}
