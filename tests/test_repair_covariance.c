/* test_repair_covariance.c: matrices that are not positive definite: refused with the way out, or repaired as
 * ct_read_options says, in every format that has matrices. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#include <math.h>

#define RATIO 1e-6

static ct_status read_repaired(run *r, ct_format format, const char *text)
{
    *r = (run){0};
    ct_noise_new(&r->noise, &r->err);
    FILE           *file = fmemopen((void *)(uintptr_t)text, strlen(text), "rb");
    const ct_status status =
        ct__sequence_read_stream(file, "t.txt", format, &(ct_read_options){.repair = 1}, r->noise, &r->seq, &r->err);
    fclose(file);
    return status;
}

/* ---- matrices of known eigenvalues ---- */

/* V orthogonal, n x n: a product of Householder reflections. */
static void random_orthogonal(ct_rng *rng, int n, double *V)
{
    for (int i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0;
    for (int k = 0; k < n; k++) {
        double u[6], uu = 0;
        for (int i = 0; i < n; i++) u[i] = ct_rng_normal(rng), uu += u[i] * u[i];
        for (int i = 0; i < n; i++) {
            double s = 0;
            for (int j = 0; j < n; j++) s += V[i * n + j] * u[j];
            for (int j = 0; j < n; j++) V[i * n + j] -= 2 * s * u[j] / uu;
        }
    }
}

/* A = V diag(f(lambda)) V', f the identity, or what a repaired matrix has: raised to the floor; power -1: the
 * inverse. */
static void compose(int n, const double *V, const double *lambda, double floor, int power, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                A[i * n + j] += V[i * n + k] * pow(fmax(lambda[k], floor), power) * V[j * n + k];
        }
}

/* The upper triangle, row by row, or all rows. */
static size_t put_matrix(char *text, size_t used, size_t size, int n, const double *A, int all)
{
    for (int i = 0; i < n; i++)
        for (int j = all ? 0 : i; j < n; j++)
            used += (size_t)snprintf(text + used, size - used, " %.17g", A[i * n + j]);
    return used;
}

static const struct {
    ct_format   format;
    const char *before; /* the matrix */
    const char *after;
    int         n, information, rows_of_all, turned;
} LINE[] = {
    {CT_FORMAT_G2O, "EDGE_SE2 0 1 1 0 0", "\n", 3, 1, 0, 0},
    {CT_FORMAT_G2O, "EDGE_SE3:QUAT 0 1 1 0 0 0 0 0 1", "\n", 6, 1, 0, 1},
    {CT_FORMAT_G2O, "EDGE_SE2_XY 0 1 1 0", "\n", 2, 1, 0, 0},
    {CT_FORMAT_G2O, "PARAMS_SE3OFFSET 0 0 0 0 0 0 0 1\nEDGE_SE3_TRACKXYZ 0 1 0 1 2 3", "\n", 3, 1, 0, 0},
    {CT_FORMAT_G2O, "EDGE_PRIOR_SE2 0 1 0 0", "\n", 3, 1, 0, 0},
    {CT_FORMAT_PYFG, "VERTEX_SE2 0 A0 0 0 0\nVERTEX_SE2 1 A1 1 0 0\nEDGE_SE2 1 A0 A1 1 0 0", "\n", 3, 0, 0, 0},
    {CT_FORMAT_PYFG,
     "VERTEX_SE3:QUAT 0 A0 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 1 A1 1 0 0 0 0 0 1\nEDGE_SE3:QUAT 1 A0 A1 1 0 0 0 0 0 1",
     "\n", 6, 0, 0, 1},
    {CT_FORMAT_COVTUNE, "covtune-sequence 1\nnoise odom full", "\nvar x0 SE2 0 0 0\nfactor prior_se2 odom x0 0 0 0\n",
     3, 0, 1, 0},
};
#define LINES ((int)(sizeof LINE / sizeof *LINE))

/* Sigma is what the repaired matrix makes it, to rounding in its own size: max |R (Sigma - want) R'|, R'R =
 * Sigma^-1. */
static void check_model(const ct_noise_model *m, int n, const double *want)
{
    CHECK(m->kind == CT_NOISE_FULL && m->dim == n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    s += m->sqrt_info[i * n + k] * (m->covariance[k * n + l] - want[k * n + l]) *
                         m->sqrt_info[j * n + l];
            CHECK_NEAR(s, 0, 1e-9); /* condition 1e6, of 1e-16 */
        }
}

static void check_line(int k, ct_rng *rng, double least)
{
    const int n = LINE[k].n;
    double    V[36], lambda[6], A[36], want[36] = {0}, turned[36];
    char      text[4096];
    run       r;
    random_orthogonal(rng, n, V);
    for (int i = 0; i < n; i++) lambda[i] = i ? pow(10, 3 * ct_rng_uniform(rng)) : least;
    lambda[n - 1] = 1000;
    compose(n, V, lambda, -INFINITY, 1, A);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) A[i * n + j] = A[j * n + i];
    compose(n, V, lambda, RATIO * 1000, LINE[k].information ? -1 : 1, want);
    ct__turn(n, want, turned);
    size_t used = (size_t)snprintf(text, sizeof text, "%s", LINE[k].before);
    used = put_matrix(text, used, sizeof text, n, A, LINE[k].rows_of_all);
    snprintf(text + used, sizeof text - used, "%s", LINE[k].after);
    CHECK(read_text(&r, LINE[k].format, text) == CT_E_NOISE && !r.seq &&
          strstr(r.err.text, "and --repair raises those below 0.001 to that") && strstr(r.err.text, "t.txt:"));
    run_free(&r);
    CHECK_OK(read_repaired(&r, LINE[k].format, text), r.err);
    if (r.seq) {
        CHECK(r.seq->repaired == 1 && r.seq->note &&
              strstr(r.seq->note, " was not positive definite, and is repaired: eigenvalues below 1e-06 of the largest "
                                  "are raised to that; the worst, on line "));
        check_model(ct_noise_get(r.noise, 0), n, LINE[k].turned ? turned : want);
    }
    run_free(&r);
}

static void test_indefinite_matrices_are_refused_or_raised_in_every_format(void)
{
    const double least[] = {-1e-9, -1e-3, -1, -500};
    for (int k = 0; k < LINES; k++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            ct_rng rng = ct_rng_seed(100 * seed + (uint64_t)k);
            check_line(k, &rng, least[seed % 4]);
        }
}

static void test_isam_square_roots_with_a_zero_are_raised(void)
{
    run r;
    CHECK_MESSAGE(CT_FORMAT_ISAM, "EDGE2 0 1 1 0 0 10 0 0 5 0 0\n",
                  "t.txt:1: noise model \"between_se2\": information of coordinate 2 is 0; it must be positive and "
                  "finite; its eigenvalues go from 0 to 100, and --repair raises those below 0.0001 to that");
    CHECK_OK(read_repaired(&r, CT_FORMAT_ISAM, "EDGE2 0 1 1 0 0 10 0 0 5 0 0\nEDGE2 1 2 1 0 0 10 0 0 5 0 1\n"), r.err);
    if (r.seq) {
        const ct_noise_model *m = ct_noise_get(r.noise, 0);
        CHECK(r.seq->repaired == 1 && m->kind == CT_NOISE_DIAGONAL && m->covariance[0] == 0.01 &&
              m->covariance[1] == 0.04);
        CHECK_NEAR(m->covariance[2], 1e4, 1e-8);
        CHECK(ct_noise_get(r.noise, 1)->covariance[2] == 1);
    }
    run_free(&r);
}

static const char LEO[] = "{\"poses_gt\": [[0,0,0],[1,0,0]], \"factor_names\": [\"odom\"], \"factor_keysyms\": "
                          "[[\"x\",\"x\"]], \"factor_keyids\": [[0,1]], \"factor_meas\": [[1,0,0]],"
                          " \"factor_covs\": [[0.5,0.1,0]]}";

static void test_zero_sigmas_of_leo_and_of_diagonals_are_raised(void)
{
    run r;
    CHECK_MESSAGE(
        CT_FORMAT_LEO, LEO,
        "t.txt: factor_covs[0]: expected a positive sigma, found 0; --repair raises it to a thousandth of the largest");
    CHECK_OK(read_repaired(&r, CT_FORMAT_LEO, LEO), r.err);
    if (r.seq) {
        const ct_noise_model *m = ct_noise_get(r.noise, ct_noise_find(r.noise, "odom"));
        CHECK(r.seq->repaired == 1 && m->covariance[0] == 0.25 && m->covariance[1] == 0.1 * 0.1);
        CHECK_NEAR(m->covariance[2], 0.25e-6, 1e-20);
    }
    run_free(&r);
    CHECK_OK(read_repaired(
                 &r, CT_FORMAT_COVTUNE,
                 "covtune-sequence 1\nnoise odom diagonal 4 -1 1\nvar x0 SE2 0 0 0\nfactor prior_se2 odom x0 0 0 0\n"),
             r.err);
    if (r.seq)
        CHECK(r.seq->repaired == 1 && ct_noise_get(r.noise, 0)->covariance[0] == 4 &&
              ct_noise_get(r.noise, 0)->covariance[2] == 1);
    if (r.seq) CHECK_NEAR(ct_noise_get(r.noise, 0)->covariance[1], 4 * RATIO, 1e-15);
    run_free(&r);
}

/* Nothing to raise to; what is no symmetric matrix; what is too large. */
static void test_what_cannot_be_repaired_stays_refused(void)
{
    static const char *const BAD[][2] = {
        {"EDGE_SE2 0 1 1 0 0 0 0 0 0 0 0\n",
         "no eigenvalue of it is positive, so there is none that --repair could raise the others to"},
        {"EDGE_SE2 0 1 1 0 0 -1 0 0 -2 0 -3\n", "no eigenvalue of it is positive"},
        {"EDGE_SE2 0 1 1 0 0 1e200 0 0 1e200 0 1e200\n", "it must lie between"},
    };
    run r;
    for (int i = 0; i < 3; i++) {
        CHECK(read_text(&r, CT_FORMAT_G2O, BAD[i][0]) == CT_E_NOISE && strstr(r.err.text, BAD[i][1]));
        run_free(&r);
        CHECK(read_repaired(&r, CT_FORMAT_G2O, BAD[i][0]) == CT_E_NOISE && !r.seq && strstr(r.err.text, BAD[i][1]));
        run_free(&r);
    }
    CHECK(read_repaired(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nnoise odom full 1 2 -2 1\n") == CT_E_NOISE &&
          strstr(r.err.text, "is not symmetric"));
    run_free(&r);
    CHECK(read_repaired(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nnoise odom isotropic 2 0\n") == CT_E_NOISE);
    run_free(&r);
}

/* Matrices that are good, graded or not, are read to the same bits; one that is good by its last digits alone is
 * raised with the others. */
static void test_good_matrices_are_left_alone(void)
{
    static const char FILE_OF_THREE[] = "EDGE_SE2 0 1 1 0 0 1e-4 0 0 1e-4 0 1e8\nEDGE_SE2 1 2 1 0 0 4 1 0.5 3 0.25 "
                                        "2\nEDGE_SE2 2 3 1 0 0 1 0.999 0 1 0 1\n";
    run a, b;
    MUST_READ(&a, CT_FORMAT_G2O, FILE_OF_THREE);
    CHECK_OK(read_repaired(&b, CT_FORMAT_G2O, FILE_OF_THREE), b.err);
    if (b.seq) check_same_run(&a, &b, 1);
    CHECK(b.seq && !b.seq->repaired);
    run_free(&a), run_free(&b);
    MUST_READ(&a, CT_FORMAT_G2O, "EDGE_SE2_XY 0 1 1 0 1 0.9999999999 1\n");
    CHECK_OK(read_repaired(&b, CT_FORMAT_G2O, "EDGE_SE2_XY 0 1 1 0 1 0.9999999999 1\n"), b.err);
    CHECK(b.seq && b.seq->repaired == 1 &&
          ct_noise_get(b.noise, 0)->covariance[0] < 1e-3 * ct_noise_get(a.noise, 0)->covariance[0]);
    run_free(&a), run_free(&b);
}

/* Of several, all are counted and the worst is told; equal ones are one model. */
static void test_the_note_counts_edges_and_tells_the_worst(void)
{
    run r;
    CHECK_OK(read_repaired(&r, CT_FORMAT_G2O,
                           "EDGE_SE2_XY 0 1 1 0 1 0 -0.01\nEDGE_SE2_XY 0 2 1 0 10 0 -1\nEDGE_SE2_XY 0 3 1 0 1 0 "
                           "-0.01\nEDGE_SE2_XY 0 4 1 0 1 0 1\n"),
             r.err);
    CHECK(r.seq && r.seq->repaired == 3 && ct_noise_count(r.noise) == 3);
    CHECK(r.seq &&
          strstr(r.seq->note, "the information of 3 edges was not positive definite, and is repaired: eigenvalues "
                              "below 1e-06 of the largest are raised to that; the worst, on line 2, was -1 beside 10"));
    run_free(&r);
}

static void test_files_and_datasets_are_read_as_told(void)
{
    const ct_read_options repair = {.repair = 1}, plain = ct_read_defaults();
    ct_err                err = {0};
    char                  path[512];
    ct_noise             *noise = NULL;
    ct_sequence          *seq = NULL;
    ct_dataset           *d = NULL;
    snprintf(path, sizeof path, "%s/repair.g2o", ct_test_folder());
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (file) fputs("EDGE_SE2_XY 0 1 1 0 1 0 -0.01\n", file), fclose(file);
    ct_noise_new(&noise, &err);
    CHECK(ct_sequence_read(path, CT_FORMAT_AUTO, noise, &seq, &err) == CT_E_NOISE && !seq);
    CHECK(ct_sequence_read_with(path, CT_FORMAT_AUTO, &plain, noise, &seq, &err) == CT_E_NOISE && !seq);
    CHECK_OK(ct_sequence_read_with(path, CT_FORMAT_AUTO, &repair, noise, &seq, &err), err);
    CHECK(seq && seq->repaired == 1);
    CHECK(ct_dataset_read(path, CT_DATASET_ALL, &d, &err) == CT_E_NOISE && !d);
    CHECK_OK(ct_dataset_read_with(path, CT_DATASET_ALL, &repair, &d, &err), err);
    CHECK(d && d->note && strstr(d->note, "is repaired"));
    ct_dataset_free(d);
    ct_sequence_free(seq);
    ct_noise_free(noise);
    remove(path);
}

int main(void)
{
    RUN(test_indefinite_matrices_are_refused_or_raised_in_every_format);
    RUN(test_isam_square_roots_with_a_zero_are_raised);
    RUN(test_zero_sigmas_of_leo_and_of_diagonals_are_raised);
    RUN(test_what_cannot_be_repaired_stays_refused);
    RUN(test_good_matrices_are_left_alone);
    RUN(test_the_note_counts_edges_and_tells_the_worst);
    RUN(test_files_and_datasets_are_read_as_told);
    return ct_test_end();
}
