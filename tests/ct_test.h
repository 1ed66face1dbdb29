/* ct_test.h: the whole test framework. A test is a function; CHECKs count, failures print where. */
#ifndef CT_TEST_H
#define CT_TEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ct_test_failed_checks, ct_test_passed, ct_test_failed, ct_test_skipped, ct_test_skip_this;

/* A law broken a million times is said twenty times. */
#define CT_TEST_SAY(...) (++ct_test_failed_checks <= 20 ? (void)fprintf(stderr, __VA_ARGS__) : (void)0)

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            CT_TEST_SAY("%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                     \
        }                                                                                          \
    } while (0)

/* |a - b| <= tol, with both values in the message; NaN fails. */
#define CHECK_NEAR(a, b, tol)                                                                      \
    do {                                                                                           \
        const double check_a = (a), check_b = (b), check_tol = (tol);                              \
        if (!(fabs(check_a - check_b) <= check_tol)) {                                             \
            CT_TEST_SAY("%s:%d: %s = %.17g, %s = %.17g, differ by %.3g > %.3g\n", __FILE__,    \
                    __LINE__, #a, check_a, #b, check_b, fabs(check_a - check_b), check_tol);       \
        }                                                                                          \
    } while (0)

/* A status that must be CT_OK; prints the sentence if it is not. */
#define CHECK_OK(call, err)                                                                        \
    do {                                                                                           \
        if ((call) != CT_OK) {                                                                     \
            CT_TEST_SAY("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, (err).text);             \
        }                                                                                          \
    } while (0)

/* A call that must fail with a sentence that contains `part`. */
#define CHECK_REFUSED(call, err, part)                                                             \
    do {                                                                                           \
        (err).text[0] = 0;                                                                         \
        if ((call) == CT_OK || !strstr((err).text, part)) {                                        \
            CT_TEST_SAY("%s:%d: %s: wanted \"%s\", got \"%s\"\n", __FILE__, __LINE__, #call,   \
                    part, (err).text);                                                             \
        }                                                                                          \
    } while (0)

#define SKIP(why)                                                                                  \
    do {                                                                                           \
        printf("  skipped: %s\n", why);                                                            \
        ct_test_skip_this = 1;                                                                     \
        return;                                                                                    \
    } while (0)

/* Where a test may write: the folder that ctest gives each program; of one run by hand, the build's scratch folder
 * or, where there is none, the working folder. */
static inline const char *ct_test_folder(void)
{
    const char *folder = getenv("COVTUNE_SCRATCH");
    if (folder) return folder;
    return access("build/scratch", W_OK) == 0 ? "build/scratch" : ".";
}

/* Whether every instruction is being watched (sanitizers, valgrind): large tests make themselves smaller. */
static inline int ct_test_slow(void) { return getenv("COVTUNE_SLOW") != NULL; }

/* Whether long double is more than double, as an oracle needs it: under valgrind it is not. */
static inline int ct_test_long_double(void)
{
    volatile long double one = 1, more = 0x1p-60L;
    return one + more != one;
}

/* Where a file of the reference data is, which is no part of the project and lies beside it; NULL if it
 * does not. Valid until the next call. */
static inline const char *ct_test_shared(const char *name)
{
    static char path[512];
    for (int up = 0; up < 2; up++) {
        snprintf(path, sizeof path, "%s../shared/%s", up ? "../" : "", name);
        FILE *file = fopen(path, "rb");
        if (!file) continue;
        fclose(file);
        return path;
    }
    return NULL;
}

static inline void ct_test_run(const char *name, void (*test)(void))
{
    ct_test_failed_checks = ct_test_skip_this = 0;
    test();
    if (ct_test_failed_checks) ct_test_failed++;
    else if (ct_test_skip_this) ct_test_skipped++;
    else ct_test_passed++;
    printf("%s %s\n", ct_test_failed_checks ? "FAILED" : ct_test_skip_this ? "skip  " : "ok    ", name);
}
#define RUN(test) ct_test_run(#test, test)

static inline int ct_test_end(void)
{
    printf("%d passed, %d failed, %d skipped\n", ct_test_passed, ct_test_failed, ct_test_skipped);
    return ct_test_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
