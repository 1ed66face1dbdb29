/* test_jackknife.c: closed forms without blocks of sequences, from sums of the sequences before and behind. */
#include "learn/learn.h"
#include "learn_test.h"

/* The closed form of the other sequences is what is wanted: computed here from their part alone. */
static void check(ct_noise_kind kind, ct_robust robust, int64_t blocks)
{
    lesson        l = lesson_of("D3", CT_SE2, 7, 40, 11);
    const int64_t m = (learn_all(&l, kind, 1e-9, 1e9), ct_theta_count(l.theta));
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++)
        if (ct_theta_learns(l.theta, g)) CHECK_OK(ct_noise_set_robust(l.noise, g, robust, &l.err), l.err);
    open_outer(&l, NULL);
    double  *p = calloc((size_t)((blocks + 1) * m), sizeof *p), *wanted = p + blocks * m;
    int64_t *samples = calloc((size_t)((blocks + 1) * m), sizeof *samples), *count = samples + blocks * m;
    CHECK_OK(ct__closed_forms_left_out(l.outer, blocks, p, samples, &l.err), l.err);
    for (int64_t k = 0; k < blocks; k++) {
        uint8_t part[RUNS_MAX];
        for (int i = 0; i < l.runs; i++) part[i] = i * blocks / l.runs != k;
        CHECK_OK(ct_outer_closed_form(l.outer, part, wanted, count, &l.err), l.err);
        for (int64_t i = 0; i < m; i++) {
            CHECK_NEAR(p[k * m + i], wanted[i], 1e-13 * fmax(1, fabs(wanted[i])));
            CHECK(samples[k * m + i] == count[i]);
        }
    }
    free(p);
    free(samples);
    lesson_free(&l);
}

static void test_without_a_block_there_is_the_closed_form_of_the_others(void)
{
    check(CT_NOISE_DIAGONAL, (ct_robust){0}, 7);
    check(CT_NOISE_FULL, (ct_robust){0}, 3);
    check(CT_NOISE_DIAGONAL, (ct_robust){CT_ROBUST_TUKEY, 4.6851, 0}, 7);
}

int main(void)
{
    RUN(test_without_a_block_there_is_the_closed_form_of_the_others);
    return ct_test_end();
}
