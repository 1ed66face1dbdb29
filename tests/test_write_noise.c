/* Tests of what is said of a learned model: its rows, and the noise file. */
#include "learn_test.h"

#include <covtune/covtune.h>

static const char *place(const char *name, char buf[512])
{
    snprintf(buf, 512, "%s/%s", ct_test_folder(), name);
    return buf;
}

static char *slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file);
    char *text = calloc(1, 1 << 16);
    if (file && text) CHECK(fread(text, 1, (1 << 16) - 1, file) > 0);
    if (file) fclose(file);
    return text;
}

static ct_learn_result learned(lesson *l, ct_learn_method method)
{
    ct_learn_options options = ct_learn_defaults();
    ct_learn_result  result;
    options.method = method;
    options.max_iterations = 20;
    open_outer(l, NULL);
    CHECK_OK(ct_learn(l->outer, &options, l->noise, &result, &l->err), l->err);
    return result;
}

static void test_rows_of_diagonal_models_are_their_parameters(void)
{
    lesson l = lesson_of("D1", CT_SE2, 3, 40, 1);
    learn_all(&l, CT_NOISE_DIAGONAL, 0.5, 100);
    const int32_t odom = ct_noise_find(l.noise, "odom");
    CHECK_OK(ct_theta_freeze(l.theta, odom, 1, &l.err), l.err);
    ct_learn_result r = learned(&l, CT_LEARN_LBFGS);
    double          standard_error[CT_NOISE_DIM_MAX];
    int8_t          at_bound[CT_NOISE_DIM_MAX];
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++) {
        ct_learn_rows(l.theta, &r, g, standard_error, at_bound);
        for (int i = 0; i < 3; i++) {
            const int32_t j = ct_theta_learns(l.theta, g) ? ct_theta_find(l.theta, g, i) : -1;
            if (j < 0) CHECK(isnan(standard_error[i]) && at_bound[i] == 0);
            else
                CHECK((isnan(standard_error[i]) ? isnan(r.standard_error[j])
                                                : standard_error[i] == r.standard_error[j]) &&
                      at_bound[i] == r.at_bound[j]);
        }
    }
    ct_learn_rows(l.theta, &r, odom, standard_error, at_bound);
    CHECK(at_bound[0] == -1 && isnan(standard_error[1])); /* 0.01 is its variance */
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* Sigma_ii by each parameter, by differences of what ct_theta_apply_unprojected makes of it. */
static void test_rows_of_full_models_follow_from_their_parameters(void)
{
    lesson l = lesson_of("D1", CT_SE2, 3, 40, 2);
    learn_all(&l, CT_NOISE_FULL, 1e-4, 100);
    const double  skew[9] = {0.01, 0.004, 0.001, 0.004, 0.02, -0.002, 0.001, -0.002, 0.01};
    const int32_t odom = ct_noise_find(l.noise, "odom");
    CHECK_OK(ct_noise_set_covariance(l.noise, odom, skew, &l.err), l.err);
    ct_learn_result r = learned(&l, CT_LEARN_CLOSED_FORM);
    const int32_t   m = ct_theta_count(l.theta);
    double          square[3] = {0}, standard_error[CT_NOISE_DIM_MAX], *p = calloc((size_t)m, sizeof *p), h = 1e-5;
    int8_t          at_bound[CT_NOISE_DIM_MAX];
    ct_noise       *up, *down;
    CHECK_OK(ct_noise_copy(l.noise, &up, &l.err), l.err);
    CHECK_OK(ct_noise_copy(l.noise, &down, &l.err), l.err);
    for (int32_t j = 0; j < m; j++) {
        r.standard_error[j] = 0.1 + 0.01 * j;
        memcpy(p, r.p, (size_t)m * sizeof *p);
        p[j] = r.p[j] + h;
        CHECK_OK(ct_theta_apply_unprojected(l.theta, p, up, &l.err), l.err);
        p[j] = r.p[j] - h;
        CHECK_OK(ct_theta_apply_unprojected(l.theta, p, down, &l.err), l.err);
        for (int i = 0; i < 3; i++) {
            const double slope =
                log(ct_noise_get(up, odom)->covariance[i * 4] / ct_noise_get(down, odom)->covariance[i * 4]) / (2 * h);
            square[i] += slope * slope * r.standard_error[j] * r.standard_error[j];
        }
    }
    ct_learn_rows(l.theta, &r, odom, standard_error, at_bound);
    for (int i = 0; i < 3; i++) CHECK_NEAR(standard_error[i], sqrt(square[i]), 1e-6);
    free(p);
    ct_noise_free(up);
    ct_noise_free(down);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

static void test_a_noise_file_is_read_back_to_the_bit_and_says_more(void)
{
    lesson    l = lesson_of("D1", CT_SE2, 3, 40, 3);
    ct_noise *start, *back;
    char      path[512], second[512];
    ct_graph_name_rows(l.seq[0]->graph, l.noise);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    CHECK_OK(ct_theta_learn(l.theta, ct_noise_find(l.noise, "gps"), CT_NOISE_ISOTROPIC, 1e-3, 2, &l.err), l.err);
    start_far(&l);
    CHECK_OK(ct_noise_copy(l.noise, &start, &l.err), l.err);
    ct_learn_result       r = learned(&l, CT_LEARN_LM);
    const ct_learn_origin origin = {.command = "covtune learn \"x\"", .dataset = "x", .digest = 0xabc, .finished = 1};
    CHECK_OK(ct_learn_write_noise(l.theta, l.noise, start, &r, &origin, place("a.json", path), &l.err), l.err);
    CHECK_OK(ct_learn_write_noise(l.theta, l.noise, start, &r, &origin, place("b.json", second), &l.err), l.err);
    char *text = slurp(path), *again = slurp(second);
    CHECK(!strcmp(text, again));
    CHECK(strstr(text, "\"digest\": \"0000000000000abc\"") &&
          strstr(text, "\"command\": \"covtune learn \\\"x\\\"\"") && strstr(text, "\"finished\": true"));
    CHECK(strstr(text, "\"bounds\": [0.001, 2]") && strstr(text, "\"start\": [100, 100, 0.001]") &&
          strstr(text, "\"sigma_error_percent\": "));
    CHECK_OK(ct_noise_copy(start, &back, &l.err), l.err);
    CHECK_OK(ct_noise_read(back, path, &l.err), l.err);
    CHECK(ct_noise_count(back) == ct_noise_count(l.noise));
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++) {
        CHECK(!memcmp(ct_noise_get(back, g)->covariance, ct_noise_get(l.noise, g)->covariance, 3 * sizeof(double)));
        CHECK(ct_noise_get(back, g)->learned == ct_theta_learns(l.theta, g));
    }
    CHECK(!strcmp(ct_noise_get(back, ct_noise_find(back, "odom"))->measurement, "between_se2"));
    free(text);
    free(again);
    ct_noise_free(start);
    ct_noise_free(back);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

static void test_a_noise_file_under_way_has_no_errors_and_no_pooled_models(void)
{
    lesson l = lesson_of("D1", CT_SE2, 2, 30, 4);
    char   path[512];
    CHECK_OK(ct_noise_add_isotropic(l.noise, "odom#1", 3, 1, NULL, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "other#1", 3, 1, NULL, &l.err), l.err);
    CHECK_OK(ct_theta_new(l.noise, &l.theta, &l.err), l.err);
    CHECK_OK(ct_theta_learn(l.theta, ct_noise_find(l.noise, "odom"), CT_NOISE_DIAGONAL, 1e-3, 1e3, &l.err), l.err);
    CHECK_OK(
        ct_learn_write_noise(l.theta, l.noise, l.noise, NULL, &(ct_learn_origin){0}, place("c.json", path), &l.err),
        l.err);
    char *text = slurp(path);
    CHECK(strstr(text, "\"learned\": true") && strstr(text, "\"learned\": false")); /* odom, and the others */
    CHECK(!strstr(text, "odom#1") && strstr(text, "other#1") && !strstr(text, "standard_error") &&
          strstr(text, "\"finished\": false") && !strstr(text, "command"));
    free(text);
    CHECK_REFUSED(
        ct_learn_write_noise(l.theta, l.noise, l.noise, NULL, &(ct_learn_origin){.dataset = "\xff"}, path, &l.err),
        l.err, "not UTF-8");
    CHECK_REFUSED(ct_learn_write_noise(l.theta, l.noise, l.noise, NULL, &(ct_learn_origin){0}, "/dev/null/x", &l.err),
                  l.err, "/dev/null/x");
    lesson_free(&l);
}

int main(void)
{
    RUN(test_rows_of_diagonal_models_are_their_parameters);
    RUN(test_rows_of_full_models_follow_from_their_parameters);
    RUN(test_a_noise_file_is_read_back_to_the_bit_and_says_more);
    RUN(test_a_noise_file_under_way_has_no_errors_and_no_pooled_models);
    return ct_test_end();
}
