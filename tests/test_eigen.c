/* test_eigen.c: eigenvalues and eigenvectors of symmetric matrices. */
#include "theta_test.h"

#include "base/eigen.h"

#define LARGE 30

/* Largest entry of V'V - I. */
static double not_orthogonal(int n, const double *V)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++) s += V[k * n + i] * V[k * n + j];
            worst = fmax(worst, fabs(s - (i == j)));
        }
    return worst;
}

/* Largest entry of A - V diag(lambda) V', over sqrt(a_ii a_jj) where `graded`, else over the largest entry. */
static double not_reconstructed(int n, const double *A, const double *lambda, const double *V, int graded)
{
    double worst = 0, norm = 0;
    for (int i = 0; i < n * n; i++) norm = fmax(norm, fabs(A[i]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++) s += V[i * n + k] * lambda[k] * V[j * n + k];
            worst = fmax(worst, fabs(s - A[i * n + j]) / (graded ? sqrt(A[i * n + i]) * sqrt(A[j * n + j]) : norm));
        }
    return norm > 0 ? worst : 0;
}

static void check(int n, const double *A, double tolerance)
{
    double B[LARGE * LARGE], lambda[LARGE], V[LARGE * LARGE];
    memcpy(B, A, (size_t)(n * n) * sizeof *A);
    ct__eigen_symmetric(n, B, lambda, V);
    CHECK_NEAR(not_orthogonal(n, V), 0, tolerance);
    CHECK_NEAR(not_reconstructed(n, A, lambda, V, 0), 0, tolerance);
    for (int k = 1; k < n; k++) CHECK(lambda[k - 1] <= lambda[k]);
}

static void test_vectors_are_orthonormal_and_rebuild_the_matrix(void)
{
    ct_rng rng = ct_rng_seed(1);
    for (int trial = 0; trial < 400; trial++) {
        const int    n = trial < 380 ? 1 + trial % 8 : LARGE;
        const double scale = pow(10, uniform(&rng, -140, 140));
        double       A[LARGE * LARGE];
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++) A[i * n + j] = A[j * n + i] = below(&rng, 4) ? scale * ct_rng_normal(&rng) : 0;
        check(n, A, 1e-15 * (5 + n));
    }
}

static void test_eigenvalues_agree_with_long_double(void)
{
    if (!ct_test_long_double()) SKIP("long double is no more than double here");
    ct_rng rng = ct_rng_seed(2);
    for (int trial = 0; trial < 200; trial++) {
        const int   n = 1 + trial % 6;
        double      A[36], lambda[6], V[36];
        long double other[6];
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++) A[i * n + j] = A[j * n + i] = ct_rng_normal(&rng);
        eigen_long(n, A, other);
        ct__eigen_symmetric(n, A, lambda, V);
        for (int k = 0; k < n; k++) {
            long double nearest = INFINITY;
            for (int j = 0; j < n; j++) nearest = fminl(nearest, fabsl(other[j] - lambda[k]));
            CHECK_NEAR((double)nearest, 0, 4e-15);
        }
    }
}

static void test_repeated_eigenvalues_have_orthonormal_vectors(void)
{
    ct_rng rng = ct_rng_seed(3);
    for (int trial = 0; trial < 100; trial++) {
        double       V[36], A[36];
        const double l[6] = {2, 2, 2, trial % 2 ? 2 : 5, 5, trial % 3 ? 0 : 2};
        random_rotation(&rng, 6, V);
        ct__sym_recompose(6, l, V, A);
        check(6, A, 1e-14);
    }
    const double ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, zero[9] = {0}, swap[4] = {0, 1, 1, 0};
    check(3, ones, 1e-15);
    check(3, zero, 0);
    check(2, swap, 1e-15);
}

static void test_a_diagonal_matrix_is_decomposed_to_the_bit(void)
{
    double       A[16] = {0}, lambda[4], V[16];
    const double entry[4] = {1e150, 0.1, 1e-150, -3}, sorted[4] = {-3, 1e-150, 0.1, 1e150};
    for (int i = 0; i < 4; i++) A[5 * i] = entry[i];
    ct__eigen_symmetric(4, A, lambda, V);
    for (int k = 0; k < 4; k++) CHECK(lambda[k] == sorted[k]);
    for (int i = 0; i < 16; i++) CHECK(V[i] == 0 || V[i] == 1);
}

/* D C D, C a correlation matrix and D from 1e-75 to 1e75: its entries span 300 decades. Its determinant, the product
 * of the eigenvalues, is det(D)^2 det C, and each eigenvalue has to be right for that to come out. */
static void test_small_eigenvalues_of_graded_matrices_are_accurate(void)
{
    if (!ct_test_long_double()) SKIP("long double is no more than double here");
    ct_rng rng = ct_rng_seed(4);
    for (int trial = 0; trial < 200; trial++) {
        const int   n = 2 + trial % 5;
        double      C[36], A[36], B[36], D[6], lambda[6], V[36];
        long double own[6], expected = 0, found = 0;
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++) C[i * n + j] = C[j * n + i] = i == j ? 1 : uniform(&rng, -0.18, 0.18);
        eigen_long(n, C, own);
        for (int i = 0; i < n; i++) {
            D[i] = ldexp(1, (int)uniform(&rng, -249, 249));
            expected += 2 * logl(D[i]) + logl(own[i]);
        }
        for (int i = 0; i < n * n; i++) A[i] = B[i] = D[i / n] * C[i] * D[i % n];
        ct__eigen_symmetric(n, B, lambda, V);
        for (int k = 0; k < n; k++) {
            CHECK(lambda[k] > 0);
            found += logl(lambda[k]);
        }
        CHECK_NEAR((double)(found - expected), 0, 1e-13);
        CHECK_NEAR(not_orthogonal(n, V), 0, 1e-14);
        CHECK_NEAR(not_reconstructed(n, A, lambda, V, 1), 0, 1e-13);
    }
}

static void test_not_a_number_comes_to_an_end(void)
{
    double A[9] = {1, NAN, 0, NAN, 2, INFINITY, 0, INFINITY, 3}, lambda[3], V[9];
    ct__eigen_symmetric(3, A, lambda, V);
    CHECK(isnan(lambda[0] + lambda[1] + lambda[2]));
}

int main(void)
{
    RUN(test_vectors_are_orthonormal_and_rebuild_the_matrix);
    RUN(test_eigenvalues_agree_with_long_double);
    RUN(test_repeated_eigenvalues_have_orthonormal_vectors);
    RUN(test_a_diagonal_matrix_is_decomposed_to_the_bit);
    RUN(test_small_eigenvalues_of_graded_matrices_are_accurate);
    RUN(test_not_a_number_comes_to_an_end);
    return ct_test_end();
}
