/* test_theta.c: what is learned, its names and numbers; from tables to parameters and back; derivatives. */
#include "theta_test.h"

/* ---- What is learned ------------------------------------------------------------------------- */

static void check_names(const ct_theta *theta, int n, const char *const name[])
{
    char buf[200];
    CHECK(ct_theta_count(theta) == n);
    for (int i = 0; i < n && i < ct_theta_count(theta); i++) {
        CHECK(ct_theta_name(theta, i, buf, sizeof buf) == buf && !strcmp(buf, name[i]));
        if (strcmp(buf, name[i])) fprintf(stderr, "  parameter %d is \"%s\", not \"%s\"\n", i, buf, name[i]);
    }
}

static void test_parameters_are_numbered_in_the_order_of_the_table(void)
{
    ct_err      err = {0};
    ct_noise   *noise = new_table();
    ct_theta   *theta = new_theta(noise);
    const char *const before[] = {"odom.0", "odom.2", "gps[0,0]", "gps[0,1]", "gps[1,1]", "cam"};
    const char *const after[] = {"odom.0=odo2.1", "odom.2",  "gps[0,0]", "gps[0,1]",
                                 "gps[1,1]",      "cam=one", "odo2.0",   "odo2.2"};
    CHECK_OK(ct_theta_learn(theta, CAM, CT_NOISE_ISOTROPIC, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_learn(theta, GPS, CT_NOISE_FULL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_freeze(theta, ODOM, 1, &err), err);
    check_names(theta, 6, before);
    CHECK(ct_theta_find(theta, ODOM, 0) == 0 && ct_theta_find(theta, ODOM, 1) == -1 &&
          ct_theta_find(theta, ODOM, 2) == 1);
    CHECK(ct_theta_find(theta, GPS, 0) == -1 && ct_theta_find(theta, CAM, 1) == 5 &&
          ct_theta_find(theta, IMU, 0) == -1 && ct_theta_find(theta, CAM, 2) == -1);

    CHECK_OK(ct_theta_learn(theta, ONE, CT_NOISE_ISOTROPIC, 1, 100, &err), err);
    CHECK_OK(ct_theta_learn(theta, ODO2, CT_NOISE_DIAGONAL, 0.1, 5, &err), err);
    CHECK_OK(ct_theta_tie(theta, ONE, -1, CAM, -1, &err), err);
    CHECK_OK(ct_theta_tie(theta, ODO2, 1, ODOM, 0, &err), err);
    check_names(theta, 8, after);
    const int scale[] = {1, 1, 1, 0, 1, 1, 1, 1};
    for (int i = 0; i < 8; i++) CHECK(ct_theta_is_scale(theta, i) == scale[i]);
    for (int i = 0; i < MODELS; i++) CHECK(ct_theta_learns(theta, i) == (i != IMU && i != FAR));

    double lower, upper; /* of tied ones what they have in common */
    ct_theta_bounds(theta, 0, &lower, &upper);
    CHECK(lower == 0.1 && upper == 5);
    ct_theta_bounds(theta, 5, &lower, &upper);
    CHECK(lower == 1 && upper == 10);
    ct_theta_bounds(theta, 3, &lower, &upper);
    CHECK(lower == 0.1 && upper == 10);

    CHECK_OK(ct_theta_freeze(theta, CAM, -1, &err), err); /* what it was tied to stays */
    CHECK(!ct_theta_learns(theta, CAM) && ct_theta_learns(theta, ONE) && ct_theta_count(theta) == 8);
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_ISOTROPIC, 2, 3, &err), err); /* said again, it is tied no longer */
    CHECK(ct_theta_count(theta) == 1 + 3 + 3 + 1 && ct_theta_find(theta, ODO2, 1) == 5);
    ct_theta_free(theta);
    ct_theta_free(NULL);
    ct_noise_free(noise);
}

static void test_names_use_the_rows_of_the_table_and_are_cut_visibly(void)
{
    ct_err             err = {0};
    ct_noise          *noise = new_table();
    const ct_noise_row xyt[3] = {{"x", "m"}, {"y", "m"}, {"a_name_of_15ch_", "rad"}};
    ct_noise_model *odom = (ct_noise_model *)ct_noise_get(noise, ODOM),
                   *far = (ct_noise_model *)ct_noise_get(noise, FAR);
    odom->row = far->row = xyt;
    ct_theta *theta = new_theta(noise), *copy = NULL;
    odom->row = far->row = NULL;
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_learn(theta, FAR, CT_NOISE_FULL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_copy(theta, &copy, &err), err);
    ct_theta_free(theta);
    const char *const name[] = {"odom.x",
                                "odom.y",
                                "odom.a_name_of_15ch_",
                                "far[x,x]",
                                "far[x,y]",
                                "far[x,a_name_of_15ch_]",
                                "far[y,y]",
                                "far[y,a_name_of_15ch_]",
                                "far[a_name_of_15ch_,a_name_of_15ch_]"};
    check_names(copy, 9, name);
    char buf[9] = "????????";
    CHECK(!strcmp(ct_theta_name(copy, 5, buf, 9), "far[x..."));
    CHECK(!strcmp(ct_theta_name(copy, 0, buf, 7), "odom.x") && !strcmp(ct_theta_name(copy, 0, buf, 6), "od...") &&
          !strcmp(ct_theta_name(copy, 0, buf, 1), ""));
    CHECK_REFUSED(ct_theta_bound(copy, ODOM, 0, 10, 0.1, &err), err, "odom.x: lower bound 10 is above upper bound 0.1");
    ct_theta_free(copy);
    ct_noise_free(noise);
}

/* Refusals leave names, numbers and bounds as they were. */
static void check_unchanged(const ct_theta *theta, const ct_theta *before)
{
    CHECK(ct_theta_count(theta) == ct_theta_count(before) &&
          ct_theta_spread_limit(theta) == ct_theta_spread_limit(before));
    for (int32_t i = 0; i < ct_theta_count(theta) && i < ct_theta_count(before); i++) {
        double a[2], b[2];
        char   one[100], other[100];
        ct_theta_bounds(theta, i, &a[0], &a[1]);
        ct_theta_bounds(before, i, &b[0], &b[1]);
        CHECK(a[0] == b[0] && a[1] == b[1]);
        CHECK(!strcmp(ct_theta_name(theta, i, one, sizeof one), ct_theta_name(before, i, other, sizeof other)));
    }
}

static void test_what_cannot_be_is_refused_with_a_sentence(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise), *before = NULL;
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_learn(theta, ODO2, CT_NOISE_DIAGONAL, 20, 30, &err), err);
    CHECK_OK(ct_theta_learn(theta, GPS, CT_NOISE_FULL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_learn(theta, FAR, CT_NOISE_FULL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_learn(theta, CAM, CT_NOISE_ISOTROPIC, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_freeze(theta, ODOM, 1, &err), err);
    CHECK_OK(ct_theta_copy(theta, &before, &err), err);

    CHECK_REFUSED(ct_theta_learn(theta, 9, CT_NOISE_FULL, 1, 2, &err), err,
                  "there is no noise model number 9: the table has 7");
    CHECK_REFUSED(ct_theta_learn(theta, ODOM, CT_NOISE_FULL, 10, 0.1, &err), err,
                  "odom: lower bound 10 is above upper bound 0.1");
    CHECK_REFUSED(ct_theta_learn(theta, ODOM, CT_NOISE_FULL, NAN, 0.1, &err), err, "odom: lower bound is nan");
    CHECK_REFUSED(ct_theta_learn(theta, ODOM, CT_NOISE_FULL, 0, 0.1, &err), err,
                  "odom: lower bound is 0; it must lie between 1e-150 and 1e+150");
    CHECK_REFUSED(ct_theta_bound(theta, ODOM, 0, 0.1, INFINITY, &err), err, "odom.0: upper bound is inf");
    CHECK_REFUSED(ct_theta_bound(theta, ODOM, 3, 0.1, 1, &err), err, "odom: there is no coordinate 3: it has 3");
    CHECK_REFUSED(ct_theta_bound(theta, ODOM, -1, 0.1, 1, &err), err, "odom: there is no coordinate -1");
    CHECK_REFUSED(ct_theta_bound(theta, ODOM, 1, 0.1, 1, &err), err, "odom.1: it is frozen");
    CHECK_REFUSED(ct_theta_bound(theta, IMU, 1, 0.1, 1, &err), err, "imu: it is not learned");
    CHECK_REFUSED(ct_theta_bound(theta, CAM, 1, 0.1, 1, &err), err, "cam: it is learned as isotropic");
    CHECK_REFUSED(ct_theta_freeze(theta, GPS, 1, &err), err, "gps: it is learned as full");
    CHECK_REFUSED(ct_theta_freeze(theta, -1, -1, &err), err, "no noise model number -1");
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, 0, ODO2, 2, &err), err,
                  "odom.0 and odo2.2 cannot be tied: nothing lies both in 0.1 .. 10 and in 20 .. 30");
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, 1, ODO2, 2, &err), err, "odom.1: it is frozen");
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, -1, ODO2, -1, &err), err, "odom and odo2 cannot be tied: odom.1 is frozen");
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, -1, GPS, -1, &err), err, "one is learned as diagonal, the other as full");
    CHECK_REFUSED(ct_theta_tie(theta, FAR, -1, GPS, -1, &err), err, "their dimensions are 3 and 2");
    CHECK_REFUSED(ct_theta_tie(theta, FAR, -1, IMU, -1, &err), err, "far and imu cannot be tied: imu is not learned");
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, -1, ODO2, 0, &err), err, "odom: there is no coordinate -1");
    CHECK_REFUSED(ct_theta_set_spread(theta, 0.5, &err), err, "spread is 0.5; it must be at least 1");
    CHECK_REFUSED(ct_theta_set_spread(theta, NAN, &err), err, "spread is nan");
    CHECK_REFUSED(ct_theta_set_spread(theta, 1.5, &err), err,
                  "odo2.0 is at least 20 and odom.0 at most 10: that is further apart than the spread, 1.5");
    check_unchanged(theta, before);

    CHECK_OK(ct_theta_set_spread(theta, 2, &err), err); /* just: 20 <= 2 * 10 */
    CHECK_OK(ct_theta_set_spread(before, 2, &err), err);
    CHECK_REFUSED(ct_theta_learn(theta, ONE, CT_NOISE_FULL, 21, 30, &err), err,
                  "one is at least 21 and odom.0 at most 10");
    CHECK_REFUSED(ct_theta_bound(theta, ODOM, 2, 1, 9, &err), err, "odo2.0 is at least 20 and odom.2 at most 9");
    check_unchanged(theta, before);
    /* the old bounds of what is replaced do not count */
    CHECK_OK(ct_theta_learn(theta, ODO2, CT_NOISE_DIAGONAL, 1, 2, &err), err);
    ct_theta_free(before);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* One pair of a whole tie may fit and the next not; and a pair may be tied to the next already. */
static void test_a_refused_tie_of_models_ties_nothing(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise), *before = NULL;
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 1, 100, &err), err);
    CHECK_OK(ct_theta_learn(theta, ODO2, CT_NOISE_DIAGONAL, 1, 100, &err), err);
    CHECK_OK(ct_theta_tie(theta, ODOM, 1, ODO2, 0, &err), err);
    CHECK_OK(ct_theta_bound(theta, ODOM, 0, 1, 5, &err), err);
    CHECK_OK(ct_theta_bound(theta, ODO2, 1, 10, 100, &err), err);
    CHECK_OK(ct_theta_copy(theta, &before, &err), err);
    CHECK_REFUSED(ct_theta_tie(theta, ODOM, -1, ODO2, -1, &err), err,
                  "odom.1 and odo2.1 cannot be tied: nothing lies both in 1 .. 5 and in 10 .. 100");
    check_unchanged(theta, before);
    CHECK_OK(ct_theta_bound(theta, ODO2, 1, 2, 100, &err), err);
    CHECK_OK(ct_theta_tie(theta, ODOM, -1, ODO2, -1, &err), err);
    const char *const name[] = {"odom.0=odom.1=odo2.0=odo2.1", "odom.2=odo2.2"};
    double            lower, upper;
    check_names(theta, 2, name);
    ct_theta_bounds(theta, 0, &lower, &upper);
    CHECK(lower == 2 && upper == 5);
    CHECK_OK(ct_theta_tie(theta, ODOM, 0, ODOM, 0, &err), err); /* to itself */
    CHECK(ct_theta_count(theta) == 2);
    ct_theta_free(before);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void test_get_after_put_is_the_identity_inside_the_set(void)
{
    ct_rng    rng = ct_rng_seed(11);
    ct_err    err = {0};
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 400; trial++) {
        ct_theta *theta = random_theta(&rng, noise, trial);
        double    p[MANY], q[MANY];
        random_point(&rng, theta, p);
        CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
        ct_theta_get(theta, noise, q);
        /* the logarithm of a small eigenvalue is known to the rounding of the largest over it */
        for (int32_t b = 0; b < theta->blocks; b++) {
            const ct__theta_block *block = &theta->block[b];
            long double      l[6], most = -INFINITY, least = INFINITY;
            for (int k = lambdas(theta, b, p, l) - 1; k >= 0; k--) most = fmaxl(most, l[k]), least = fminl(least, l[k]);
            const double tolerance =
                1e-14 + (block->dim > 1 ? 4 * ct__block_rounding(block->dim, exp((double)(most - least))) : 0);
            for (int k = 0; k < ct__packed(block->dim); k++)
                CHECK_NEAR(q[block->first + k], p[block->first + k], tolerance * (1 + (double)fabsl(most)));
        }
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

/* Eigenvalues of what the table has, found in long double: inside without any tolerance. */
static void check_table_inside(const ct_theta *theta, const ct_noise *noise)
{
    long double least = INFINITY, most = 0;
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block      *block = &theta->block[b];
        const ct_noise_model *m = ct_noise_get(noise, block->model);
        long double           l[6];
        if (theta->model[block->model].kind == CT_NOISE_FULL) {
            for (int i = 0; i < m->dim; i++)
                for (int j = 0; j < m->dim; j++) CHECK(m->covariance[i * m->dim + j] == m->covariance[j * m->dim + i]);
            eigen_long(m->dim, m->covariance, l);
        } else l[0] = m->covariance[block->coordinate < 0 ? 0 : block->coordinate];
        for (int k = 0; k < block->dim; k++) {
            CHECK(l[k] >= block->lower && l[k] <= block->upper);
            least = fminl(least, l[k]);
            most = fmaxl(most, l[k]);
        }
    }
    CHECK((double)most <= ct_theta_spread_limit(theta) * (double)least);
    CHECK(ct_theta_is_feasible(theta, noise));
}

static void test_put_never_leaves_the_set(void)
{
    if (!ct_test_long_double()) SKIP("long double is no more than double here");
    ct_rng    rng = ct_rng_seed(12);
    ct_err    err = {0};
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 2000; trial++) {
        ct_theta    *theta = random_theta(&rng, noise, trial);
        const double scale = pow(10, uniform(&rng, -2, 3));
        double       p[MANY];
        for (int i = 0; i < ct_theta_count(theta); i++) p[i] = uniform(&rng, -scale, scale);
        CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
        check_table_inside(theta, noise);
        for (int i = 0; i < MODELS; i++)
            if (ct_theta_learns(theta, i)) CHECK(ct_noise_get(noise, i)->kind == theta->model[i].kind);
        ct_theta_get(theta, noise, p); /* and back: it is at a bound very often */
        CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
        check_table_inside(theta, noise);
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

/* The widest bounds there are, and equal ones. */
static void test_put_copes_with_extreme_bounds(void)
{
    if (!ct_test_long_double()) SKIP("long double is no more than double here");
    ct_rng       rng = ct_rng_seed(13);
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    const double bound[][2] = {{1e-150, 1e150}, {1e-150, 1e-150},           {0.1, 0.1},
                               {1e150, 1e150},  {0.1, 0.10000000000000002}, {3, 3.0000001}};
    for (int k = 0; k < 6; k++)
        for (int trial = 0; trial < 100; trial++) {
            ct_theta *theta = new_theta(noise);
            double    p[MANY];
            for (int i = 0; i < MODELS; i++)
                CHECK_OK(
                    ct_theta_learn(theta, i, i % 2 ? CT_NOISE_FULL : CT_NOISE_DIAGONAL, bound[k][0], bound[k][1], &err),
                    err);
            if (trial % 2) CHECK_OK(ct_theta_set_spread(theta, trial % 4 == 1 ? 1 : 1e9, &err), err);
            for (int i = 0; i < ct_theta_count(theta); i++) p[i] = uniform(&rng, -1000, 1000);
            CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
            check_table_inside(theta, noise);
            ct_theta_free(theta);
        }
    ct_noise_free(noise);
}

static void test_put_keeps_what_is_frozen_and_refuses_what_is_not_finite(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table(), *before = NULL;
    ct_theta    *theta = new_theta(noise);
    const double p[4] = {log(3), log(4), log(5), log(6)};
    CHECK_OK(ct_noise_copy(noise, &before, &err), err);
    CHECK_OK(ct_theta_learn(theta, FAR, CT_NOISE_DIAGONAL, 0.1, 10, &err), err); /* a full one */
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_freeze(theta, FAR, 1, &err), err);
    CHECK_OK(ct_theta_freeze(theta, ODOM, 0, &err), err);
    const double nan[4] = {0, 0, NAN, 0};
    CHECK_REFUSED(ct_theta_apply(theta, nan, noise, &err), err, "far.0: parameter 2 is nan; it must be finite");
    CHECK(ct_noise_get(noise, ODOM)->covariance[1] == 1);
    CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
    const double *odom = ct_noise_get(noise, ODOM)->covariance, *far = ct_noise_get(noise, FAR)->covariance;
    CHECK(odom[0] == 0.5 && odom[1] == exp(log(3)) && odom[2] == exp(log(4)));
    CHECK(ct_noise_get(noise, FAR)->kind == CT_NOISE_DIAGONAL && far[0] == exp(log(5)) && far[1] == 3 &&
          far[2] == exp(log(6)));
    CHECK(!memcmp(ct_noise_get(noise, IMU)->covariance, ct_noise_get(before, IMU)->covariance, 36 * sizeof(double)));
    ct_theta_free(theta);
    ct_noise_free(before);
    ct_noise_free(noise);
}

static void test_get_reads_any_kind_and_means_of_tied_ones(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise);
    double    p[MANY];
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_FULL, 1e-3, 1e3, &err), err);
    CHECK_OK(ct_theta_learn(theta, FAR, CT_NOISE_ISOTROPIC, 1e-3, 1e3, &err), err);
    CHECK_OK(ct_theta_learn(theta, CAM, CT_NOISE_DIAGONAL, 1e-3, 1e3, &err), err);
    ct_theta_get(theta, noise, p);
    const double odom[6] = {log(0.5), 0, 0, log(1), 0, log(2)};
    for (int i = 0; i < 6; i++) CHECK(p[i] == odom[i]);
    CHECK(p[6] == log(1.5) && p[7] == log(1.5));
    CHECK_NEAR(p[8], (log(4) + log(3) + log(2)) / 3, 1e-15);
    CHECK(!ct_theta_is_feasible(theta, noise)); /* far has correlations, which an isotropic model has not */

    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 1e-3, 1e3, &err), err);
    CHECK_OK(ct_theta_learn(theta, ODO2, CT_NOISE_DIAGONAL, 1e-3, 1e3, &err), err);
    CHECK_OK(ct_theta_freeze(theta, FAR, -1, &err), err);
    CHECK(ct_theta_is_feasible(theta, noise));
    CHECK_OK(ct_theta_tie(theta, ODOM, 0, ODO2, 2, &err), err);
    ct_theta_get(theta, noise, p);
    CHECK_NEAR(p[0], 0.5 * (log(0.5) + log(7)), 1e-15);
    CHECK(!ct_theta_is_feasible(theta, noise)); /* tied and not equal */
    CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
    CHECK(ct_theta_is_feasible(theta, noise));
    CHECK_OK(ct_theta_bound(theta, ODOM, 1, 2, 3, &err), err);
    CHECK(!ct_theta_is_feasible(theta, noise)); /* odom.1 is 1 */
    CHECK_OK(ct_theta_bound(theta, ODOM, 1, 1, 3, &err), err);
    CHECK(ct_theta_is_feasible(theta, noise));
    CHECK_OK(ct_theta_set_spread(theta, 2, &err), err);
    CHECK(!ct_theta_is_feasible(theta, noise));
    ct_theta_free(theta);
    ct_noise_free(noise);
}

static void test_convert_there_and_back_is_the_identity(void)
{
    ct_rng    rng = ct_rng_seed(14);
    ct_err    err = {0};
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 100; trial++) {
        ct_theta *theta = random_theta(&rng, noise, trial);
        double    p[MANY], v[MANY];
        for (int i = 0; i < ct_theta_count(theta); i++) p[i] = 0.8 * ct_rng_normal(&rng);
        ct_theta_convert(theta, CT_SPACE_LOG, p, v);
        for (int32_t b = 0; b < theta->blocks; b++)
            if (theta->block[b].dim == 1) CHECK(v[theta->block[b].first] == exp(p[theta->block[b].first]));
        ct_theta_convert(theta, CT_SPACE_VARIANCE, v, v);
        for (int i = 0; i < ct_theta_count(theta); i++) CHECK_NEAR(v[i], p[i], 1e-11);
        ct_theta_free(theta);
    }
    ct_theta    *theta = new_theta(noise); /* exp of a full one is Sigma, in scaled coordinates */
    double       p[3], v[3];
    const double gps[3] = {2, 0.5 * sqrt(2), 1};
    CHECK_OK(ct_theta_learn(theta, GPS, CT_NOISE_FULL, 1e-3, 1e3, &err), err);
    noise = (ct_noise_free(noise), new_table());
    ct_theta_get(theta, noise, p);
    ct_theta_convert(theta, CT_SPACE_LOG, p, v);
    for (int i = 0; i < 3; i++) CHECK_NEAR(v[i], gps[i], 1e-14);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

/* Entry (i, j) of a model's covariance in a table. */
static double entry(const ct_noise *noise, int32_t model, int i, int j)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    return m->kind == CT_NOISE_FULL ? m->covariance[i * m->dim + j] : i == j ? m->covariance[i] : 0;
}

/* Sum of the terms of parameter k in a model's covariance. */
static void slope_of(const ct_theta_jacobian *slopes, int32_t model, int32_t k, int dim, double *D)
{
    memset(D, 0, 36 * sizeof *D);
    for (int32_t t = slopes->first[model]; t < slopes->first[model + 1]; t++)
        for (int i = 0; slopes->parameter[t] == k && i < dim * dim; i++) {
            const int c = slopes->coordinate[t];
            D[i] += slopes->dSigma[t][i];
            CHECK(slopes->dSigma[t][i] == slopes->dSigma[t][i % dim * dim + i / dim]);
            if (c >= 0) CHECK(i == c * dim + c ? slopes->dSigma[t][i] > 0 : slopes->dSigma[t][i] == 0);
            if (c == -2) CHECK(slopes->dSigma[t][i] == (i % (dim + 1) ? 0 : slopes->dSigma[t][0]));
        }
}

static void test_slopes_are_differences_of_covariances(void)
{
    ct_rng       rng = ct_rng_seed(15);
    ct_err       err = {0};
    ct_noise    *noise = new_table(), *plus = new_table(), *minus = new_table();
    const double h = 1e-5;
    for (int trial = 0; trial < 60; trial++) {
        ct_theta        *theta = new_theta(noise);
        ct_theta_jacobian *slopes = NULL;
        double           p[MANY], D[36];
        for (int i = 0; i < MODELS; i++) /* bounds so wide that put changes nothing */
            if (below(&rng, 3))
                CHECK_OK(ct_theta_learn(theta, i, (ct_noise_kind)below(&rng, 3), 1e-30, 1e30, &err), err);
        (void)ct_theta_freeze(theta, ODOM, 1, NULL);
        (void)ct_theta_tie(theta, ODO2, 0, ODO2, 2, NULL);
        (void)ct_theta_tie(theta, ODOM, -1, FAR, -1, NULL);
        /* 0: equal eigenvalues */
        for (int i = 0; i < ct_theta_count(theta); i++) p[i] = trial % 5 ? ct_rng_normal(&rng) : 0;
        CHECK_OK(ct_theta_jacobian_new(theta, &slopes, &err), err);
        ct_theta_jacobian_at(theta, p, slopes);
        CHECK(slopes->models == MODELS && slopes->first[MODELS] == slopes->terms);
        for (int32_t k = 0; k < ct_theta_count(theta); k++) {
            const double here = p[k];
            p[k] = here + h;
            CHECK_OK(ct_theta_apply(theta, p, plus, &err), err);
            p[k] = here - h;
            CHECK_OK(ct_theta_apply(theta, p, minus, &err), err);
            p[k] = here;
            for (int m = 0; m < MODELS; m++) {
                const int dim = ct_noise_get(noise, m)->dim;
                slope_of(slopes, m, k, dim, D);
                for (int i = 0; ct_theta_learns(theta, m) && i < dim * dim; i++) {
                    const double a = entry(plus, m, i / dim, i % dim), b = entry(minus, m, i / dim, i % dim);
                    CHECK_NEAR(D[i], (a - b) / (2 * h), 1e-8 * (1 + fabs(a)) * 20);
                }
            }
        }
        free(slopes);
        ct_theta_free(theta);
    }
    ct_noise_free(minus);
    ct_noise_free(plus);
    ct_noise_free(noise);
}

/* Eigenvalues 1e-15 apart, equal, or e^600 apart: D exp is the limit of its formula, not its cancellation. */
static void test_derivative_of_exp_has_no_cancellation(void)
{
    const double gap[] = {0, 1e-15, 1e-8, 1e-3, 1, 300, 600};
    const double V[4] = {1, 0, 0, 1};
    for (int i = 0; i < 7; i++) {
        const double      lambda[2] = {-300, -300 + gap[i]};
        const long double d = (long double)lambda[1] - lambda[0];
        const long double expected = d == 0 ? expl(-300) : expl(-300) * expm1l(d) / d;
        double            x[3] = {0, 1, 0};
        ct__sym_dexp(2, lambda, V, 0, x);
        CHECK_NEAR(x[1] / (double)expected, 1, 2e-15);
        CHECK(x[0] == 0 && x[2] == 0);
        ct__sym_dexp(2, lambda, V, 1, x);
        CHECK_NEAR(x[1], 1, 4e-16);
    }
}

/* f(v) = sum c_i v_i^2 / 2 + sum v_i, by both spaces' coordinates. */
static double f_of_variances(int n, const double *v, double *gradient)
{
    double f = 0;
    for (int i = 0; i < n; i++) {
        f += (0.5 * (1 + i % 3) * v[i] + 1) * v[i];
        if (gradient) gradient[i] = (1 + i % 3) * v[i] + 1;
    }
    return f;
}

static void test_chain_agrees_with_differences_both_ways(void)
{
    ct_rng       rng = ct_rng_seed(16);
    ct_noise    *noise = new_table();
    const double h = 1e-5;
    for (int trial = 0; trial < 60; trial++) {
        ct_theta *theta = random_theta(&rng, noise, trial);
        const int n = ct_theta_count(theta);
        double    p[MANY], v[MANY], by_v[MANY], by_p[MANY], back[MANY], w[MANY];
        for (int i = 0; i < n; i++) p[i] = 0.4 * ct_rng_normal(&rng);
        ct_theta_convert(theta, CT_SPACE_LOG, p, v);
        f_of_variances(n, v, by_v);
        ct_theta_convert_gradient(theta, p, CT_SPACE_LOG, by_v, by_p);
        for (int k = 0; k < n; k++) {
            double f[2];
            for (int side = 0; side < 2; side++) {
                memcpy(w, p, sizeof w);
                w[k] += side ? h : -h;
                ct_theta_convert(theta, CT_SPACE_LOG, w, w);
                f[side] = f_of_variances(n, w, NULL);
            }
            CHECK_NEAR(by_p[k], (f[1] - f[0]) / (2 * h), 1e-8 * fabs(f[0]) + 1e-7);
        }
        memcpy(back, by_p, sizeof back);
        ct_theta_convert_gradient(theta, p, CT_SPACE_VARIANCE, back, back);
        for (int k = 0; k < n; k++) CHECK_NEAR(back[k], by_v[k], 1e-11 * (1 + fabs(by_v[k])));
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

/* Derivatives are wanted at the edge of the set, where a step leaves it. */
static void test_values_may_be_placed_without_the_set(void)
{
    ct_err    err = {0};
    ct_noise *noise = NULL;
    ct_theta *theta = NULL;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "a", 2, (const double[]){1, 1}, NULL, &err), err);
    CHECK_OK(ct_noise_add_full(noise, "b", 2, (const double[]){2, 1, 1, 2}, NULL, &err), err);
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    CHECK_OK(ct_theta_learn(theta, 0, CT_NOISE_DIAGONAL, 0.5, 2, &err), err);
    CHECK_OK(ct_theta_learn(theta, 1, CT_NOISE_FULL, 0.5, 2, &err), err);
    const double p[5] = {3, -4, 2, 0.5, -1};
    double       q[5];
    CHECK_OK(ct_theta_apply_unprojected(theta, p, noise, &err), err);
    ct_theta_get(theta, noise, q);
    for (int i = 0; i < 5; i++) CHECK_NEAR(p[i], q[i], 1e-13);
    CHECK(!ct_theta_is_feasible(theta, noise));
    CHECK_REFUSED(ct_theta_apply_unprojected(theta, (const double[]){400, 0, 0, 0, 0}, noise, &err), err, "\"a\"");
    CHECK_REFUSED(ct_theta_apply_unprojected(theta, (const double[]){0, NAN, 0, 0, 0}, noise, &err), err,
                  "must be finite");
    ct_theta_free(theta);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_parameters_are_numbered_in_the_order_of_the_table);
    RUN(test_names_use_the_rows_of_the_table_and_are_cut_visibly);
    RUN(test_what_cannot_be_is_refused_with_a_sentence);
    RUN(test_a_refused_tie_of_models_ties_nothing);
    RUN(test_get_after_put_is_the_identity_inside_the_set);
    RUN(test_put_never_leaves_the_set);
    RUN(test_put_copes_with_extreme_bounds);
    RUN(test_put_keeps_what_is_frozen_and_refuses_what_is_not_finite);
    RUN(test_get_reads_any_kind_and_means_of_tied_ones);
    RUN(test_convert_there_and_back_is_the_identity);
    RUN(test_slopes_are_differences_of_covariances);
    RUN(test_derivative_of_exp_has_no_cancellation);
    RUN(test_chain_agrees_with_differences_both_ways);
    RUN(test_values_may_be_placed_without_the_set);
    return ct_test_end();
}
