/* test_max_mixture.c: two-component noise as a kernel: its density, derivatives through it, share and width learned by
 * likelihood against EM and a dense search, files, lists and refusals. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <covtune/likelihood.h>
#include <math.h>
#include <string.h>

static ct_robust mixture(double width, double ratio) { return (ct_robust){CT_ROBUST_MAX_MIXTURE, width, ratio}; }

/* ---- The kernel -------------------------------------------------------------------------------- */

static double log_gaussian(double d2, int rows, double sigma)
{
    return -0.5 * d2 / (sigma * sigma) - rows * log(sigma);
}

static void test_it_is_the_larger_of_two_gaussians(void)
{
    for (int rows = 1; rows <= 6; rows++)
        for (double q = 1.3; q < 40; q *= 2.1) {
            const ct_robust r = mixture(2.4, q);
            const double    s = ct_robust_share(r, rows);
            CHECK(s > 0 && s < 1);
            CHECK_NEAR(ct_robust_of_share(s, q, rows).width, 2.4, 1e-9);
            for (double d = 0.01; d < 30; d *= 1.3) {
                double       w;
                const double narrow = log(1 - s) + log_gaussian(d * d, rows, 1),
                             wide = log(s) + log_gaussian(d * d, rows, q);
                CHECK_NEAR(ct_robust_error(r, d * d, &w), log(1 - s) - fmax(narrow, wide), 1e-11 * (1 + d * d));
                CHECK_NEAR(w, narrow > wide ? 1 : 1 / (q * q), 1e-14);
            }
        }
    CHECK(isnan(ct_robust_of_share(0.9, 2, 1).width)); /* the wide one is the larger everywhere */
    CHECK(ct_robust_share((ct_robust){CT_ROBUST_HUBER, 2, 0}, 3) == 0);
    CHECK(ct_robust_default_ratio(CT_ROBUST_MAX_MIXTURE) == 10 && ct_robust_default_ratio(CT_ROBUST_HUBER) == 0);
    CHECK(ct_robust_error(mixture(3, 0), 100, NULL) == ct_robust_error(mixture(3, 10), 100, NULL)); /* the default */
}

/* The integral of d^(n-1) exp(-rho), Simpson's rule on both sides of the kink, over that of a Gaussian. */
static double integral(ct_robust r, int n, double from, double to)
{
    const int    steps = 20000;
    const double h = (to - from) / steps;
    double       sum = 0;
    for (int i = 0; i <= steps; i++) {
        const double d = from + i * h;
        const int    end = i == 0 || i == steps;
        /* at the kink rho itself is continuous */
        sum += (end ? 1 : i % 2 ? 4 : 2) * pow(d, n - 1) * exp(-ct_robust_error(r, d * d, NULL));
    }
    return sum * h / 3;
}

static void test_its_density_is_normalised(void)
{
    static const double WIDTH[] = {0.3, 1.7, 3, 8}, RATIO[] = {1.2, 3, 10, 200};
    double              worst = 0;
    for (int n = 1; n <= 6; n++)
        for (int i = 0; i < 16; i++) {
            const ct_robust r = mixture(WIDTH[i / 4], RATIO[i % 4]);
            const double    q = r.ratio, k = r.width;
            const double    sum = integral(r, n, 0, k) + integral(r, n, k, k + 12 * q) +
                               integral(r, n, k + 12 * q, k + 40 * q);
            const double gauss = exp(lgamma(0.5 * n) + (0.5 * n - 1) * log(2));
            worst = fmax(worst, fabs(ct_robust_log_normaliser(r, n) - log(sum / gauss)));
        }
    printf("  log normaliser less Simpson's: %.1e\n", worst);
    CHECK(worst < 1e-9);
    CHECK(fabs(ct_robust_log_normaliser(mixture(1e6, 3), 3)) < 1e-12); /* Gaussian */
}

/* ---- Learned ----------------------------------------------------------------------------------- */

#define MANY 3000

typedef struct {
    int    rows, count;
    double z[2 * MANY];
} sample;

static sample draw(int rows, double sigma, double ratio, double share, uint64_t seed)
{
    sample s = {.rows = rows, .count = MANY};
    ct_rng rng = ct_rng_seed(seed);
    for (int k = 0; k < MANY; k++) {
        const double size = sigma * (ct_rng_uniform(&rng) < share ? ratio : 1);
        for (int i = 0; i < rows; i++) s.z[k * rows + i] = size * ct_rng_normal(&rng);
    }
    return s;
}

static double square(const sample *s, int k)
{
    double sum = 0;
    for (int i = 0; i < s->rows; i++) sum += s->z[k * s->rows + i] * s->z[k * s->rows + i];
    return sum;
}

/* log sigma, log ratio, width: minus the log density of the sample under the normalised max-mixture, the integral by
 * Simpson's rule. */
static double dense(const sample *s, const double at[3])
{
    const double    v = exp(2 * at[0]);
    const ct_robust r = mixture(at[2], exp(at[1]));
    const double    q = r.ratio, Z = integral(r, s->rows, 0, r.width) + integral(r, s->rows, r.width, r.width + 9 * q);
    double          sum = s->count * (s->rows * at[0] + log(Z));
    if (!(r.width > 0.05) || !(q > 1.01)) return INFINITY;
    for (int k = 0; k < s->count; k++) sum += ct_robust_error(r, square(s, k) / v, NULL);
    return sum;
}

/* Its minimum by steps along the axes, halved. */
static double search(const sample *s, double at[3])
{
    double best = dense(s, at);
    for (double step = 0.3; step > 2e-3;) {
        int moved = 0;
        for (int i = 0; i < 6; i++) {
            double trial[3] = {at[0], at[1], at[2]};
            trial[i / 2] += i % 2 ? -step : step;
            const double value = dense(s, trial);
            if (!(value < best)) continue;
            best = value;
            memcpy(at, trial, sizeof trial);
            moved = 1;
        }
        if (!moved) step *= 0.5;
    }
    return best;
}

/* EM for the sum of the two Gaussians: sigma, ratio, share. */
static void expect(const sample *s, double out[3])
{
    double v = 1, V = 25, share = 0.3;
    for (int round = 0; round < 300; round++) {
        double n = 0, narrow = 0, wide = 0;
        for (int k = 0; k < s->count; k++) {
            const double d2 = square(s, k), a = log(1 - share) + log_gaussian(d2, s->rows, sqrt(v)),
                         b = log(share) + log_gaussian(d2, s->rows, sqrt(V)), p = 1 / (1 + exp(a - b));
            n += p;
            narrow += (1 - p) * d2;
            wide += p * d2;
        }
        v = narrow / ((s->count - n) * s->rows);
        V = wide / (n * s->rows);
        share = n / s->count;
    }
    out[0] = sqrt(v);
    out[1] = sqrt(V / v);
    out[2] = share;
}

/* One variable, which a frozen prior pins to zero, and a measurement for each of the sample. */
static void learn(const sample *s, ct_robust start, double *sigma, ct_robust *robust)
{
    static const double ZERO[2] = {0, 0};
    ct_err         err;
    ct_noise      *noise;
    ct_graph      *graph;
    ct_sequence   *seq;
    ct_theta      *theta;
    ct_likelihood *l;
    int32_t        x, pin, z;
    double         p[1];
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "pin", s->rows, 1e-8, &pin, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "z", s->rows, 1, &z, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, z, start, &err), err);
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_graph_add_variable(graph, NULL, s->rows == 1 ? CT_R1 : CT_R2, NULL, &x, &err), err);
    CHECK_OK(ct_graph_add_prior(graph, x, ZERO, pin, &err), err);
    for (int k = 0; k < s->count; k++) CHECK_OK(ct_graph_add_prior(graph, x, s->z + k * s->rows, z, &err), err);
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    CHECK_OK(ct_theta_learn(theta, z, CT_NOISE_ISOTROPIC, 1e-6, 1e6, &err), err);
    const ct_sequence *const list[] = {seq};
    CHECK_OK(ct_likelihood_new(1, list, noise, theta, NULL, &l, &err), err);
    ct_theta_get(theta, noise, p);
    CHECK_OK(ct_likelihood_learn_kernels(l, NULL, NULL, p, &err), err);
    *robust = ct_likelihood_robust(l, z);
    *sigma = exp(0.5 * p[0]);
    ct_likelihood_free(l);
    ct_theta_free(theta);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_share_and_width_are_learned(void)
{
    static const struct {
        int    rows;
        double sigma, ratio, share;
    } CASE[] = {{1, 0.5, 8, 0.1}, {2, 2, 5, 0.2}, {2, 1, 20, 0.05}};
    for (int c = 0; c < 3; c++) {
        const sample s = draw(CASE[c].rows, CASE[c].sigma, CASE[c].ratio, CASE[c].share, 5 + (uint64_t)c);
        double       sigma, em[3], at[3];
        ct_robust    r;
        expect(&s, em);
        learn(&s, mixture(3, 10), &sigma, &r);
        const double learned[3] = {log(sigma), log(r.ratio), r.width}, share = ct_robust_share(r, s.rows);
        memcpy(at, learned, sizeof at);
        const double here = dense(&s, at), least = search(&s, at);
        printf("  true %.2f %.1f %.3f; EM %.3f %.2f %.4f; learned %.3f %.2f %.4f, %.2f nats above the dense minimum "
               "(%.3f %.2f %.4f)\n",
               CASE[c].sigma, CASE[c].ratio, CASE[c].share, em[0], em[1], em[2], sigma, r.ratio, share, here - least,
               exp(at[0]), exp(at[1]), ct_robust_share(mixture(at[2], exp(at[1])), s.rows));
        CHECK(here - least < 1.5); /* of 3,000 measurements: widths are known to 10 % */
        CHECK(fabs(log(sigma / em[0])) < 0.05 && fabs(log(r.ratio / em[1])) < 0.15 && fabs(log(share / em[2])) < 0.25);
    }
}

/* ---- Files, lists, refusals -------------------------------------------------------------------- */

static void test_files_and_lists_keep_both_numbers(void)
{
    static const char *const NAME[] = {"a.ctseq", "a.ctbin"};
    static const ct_format   FORMAT[] = {CT_FORMAT_COVTUNE, CT_FORMAT_BINARY};
    const ct_robust          robust = mixture(2.0 / 3, 7.1);
    ct_err                   err;
    ct_noise                *noise;
    ct_graph                *graph;
    ct_sequence             *seq;
    int32_t                  x, z;
    char                     path[512], text[CT_ROBUST_TEXT_MAX], list[128];
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "z", 1, 1, &z, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, z, robust, &err), err);
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_graph_add_variable(graph, "x", CT_R1, NULL, &x, &err), err);
    CHECK_OK(ct_graph_add_prior(graph, x, (const double[]){1}, z, &err), err);
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    for (int i = 0; i < 2; i++) {
        ct_noise    *other;
        ct_sequence *again;
        snprintf(path, sizeof path, "%s/%s", ct_test_folder(), NAME[i]);
        CHECK_OK(ct_sequence_write(seq, noise, NULL, FORMAT[i], 0, path, NULL, &err), err);
        CHECK_OK(ct_noise_new(&other, &err), err);
        CHECK_OK(ct_sequence_read(path, FORMAT[i], other, &again, &err), err);
        const ct_robust found = ct_noise_get(other, ct_noise_find(other, "z"))->robust;
        CHECK(found.kind == robust.kind && found.width == robust.width && found.ratio == robust.ratio);
        ct_sequence_free(again);
        ct_noise_free(other);
    }
    CHECK(!strncmp(ct_robust_text(robust, text), "max_mixture:0.6666666666666666:7.1", 60));
    snprintf(list, sizeof list, "all=%s", text);
    CHECK_OK(ct_noise_set_robust(noise, z, (ct_robust){CT_ROBUST_HUBER, 1, 9}, &err), err);
    CHECK(ct_noise_get(noise, z)->robust.ratio == 0); /* huber has none */
    CHECK(!strcmp(ct_robust_text(ct_noise_get(noise, z)->robust, text), "huber:1"));
    CHECK(!strcmp(ct_robust_text((ct_robust){0}, text), "none"));
    CHECK_OK(ct_robust_list_apply(list, "--", noise, &err), err);
    CHECK(!memcmp(&ct_noise_get(noise, z)->robust.width, &robust.width, 2 * sizeof(double)));
    CHECK_OK(ct_robust_list_apply("max-mixture:4", "--", noise, &err), err);
    CHECK(ct_noise_get(noise, z)->robust.width == 4 && ct_noise_get(noise, z)->robust.ratio == 10);
    CHECK_REFUSED(ct_robust_list_check("z=max_mixture:4:1", "--", &err), err,
                  "--robust max_mixture takes a ratio above 1, at most 1e+06, found \"1\"");
    CHECK_REFUSED(ct_robust_list_check("z=max_mixture:4:", "--", &err), err, "takes a ratio above 1");
    CHECK_REFUSED(ct_robust_list_check("z=huber:4:2", "--", &err), err, "takes a width of 1e-06 to 1e+06 sigmas");
    CHECK_REFUSED(ct_noise_set_robust(noise, z, mixture(3, 0.5), &err), err,
                  "\"z\": the wide component of its max_mixture kernel is 0.5 times as wide; it must be more than 1");
    CHECK_REFUSED(ct_noise_set_robust(noise, z, mixture(3, NAN), &err), err, "is nan times as wide");
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_exports_without_such_a_kernel_refuse_it(void)
{
    static const ct_export_format FORMAT[] = {CT_EXPORT_GTSAM_CPP, CT_EXPORT_GTSAM_PYTHON};
    static const char *const      ROW[] = {"x", "y", "yaw"}, *const UNIT[] = {"m", "m", "rad"};
    ct_noise                     *noise;
    ct_err                        err;
    char                         *text;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "gps", 3, (const double[]){1, 1, 0.1}, NULL, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, 0, mixture(3, 8), &err), err);
    ct_noise_set_rows(noise, 0, ROW, UNIT);
    for (int i = 0; i < 2; i++)
        CHECK_REFUSED(ct_export_string(noise, FORMAT[i], NULL, &text, &err), err,
                      "noise model \"gps\": GTSAM has no place for its max_mixture kernel");
    CHECK_OK(ct_export_string(noise, CT_EXPORT_C, NULL, &text, &err), err);
    CHECK(text && strstr(text, "gps_kernel[] = \"max_mixture\"") && strstr(text, "gps_ratio = 8;"));
    free(text);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_it_is_the_larger_of_two_gaussians);
    RUN(test_its_density_is_normalised);
    RUN(test_share_and_width_are_learned);
    RUN(test_files_and_lists_keep_both_numbers);
    RUN(test_exports_without_such_a_kernel_refuse_it);
    return ct_test_end();
}
