/* covtune/base.h: status and messages, random numbers, clock.
 *
 * Three kinds of trouble have three mechanisms. A bug in the caller is an assert. Bad input or no
 * memory is a ct_status, with a sentence in the caller's ct_err. A numerical outcome (not
 * converged, rank deficient) is a field of a result. The library never prints, exits or keeps
 * global state; every function may be called from several threads on different objects.
 *
 * Ownership is one of three words: a function *copies* its argument, *borrows* it (until when is
 * said), or *owns* it. `*_free(NULL)` does nothing. Outputs are valid or NULL, never half-built.
 */
#ifndef COVTUNE_BASE_H
#define COVTUNE_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CT_PRINTF(fmt, args)
#endif

/* The one list of codes and what they mean. */
#define CT_STATUS_LIST(X)                                                                          \
    X(CT_OK, "ok")                                                                                 \
    X(CT_E_MEMORY, "out of memory")                                                                \
    X(CT_E_ARGUMENT, "argument outside its domain")                                                \
    X(CT_E_IO, "file could not be read or written")                                                \
    X(CT_E_PARSE, "file does not follow its format")                                               \
    X(CT_E_NOISE, "noise model is not usable")                                                     \
    X(CT_E_LIMIT, "larger than this build can hold")                                               \
    X(CT_E_SINGULAR, "linear system is singular")                                                  \
    X(CT_E_UNSUPPORTED, "not expressible in this format")

typedef enum {
#define X(code, text) code,
    CT_STATUS_LIST(X)
#undef X
} ct_status;

/* What went wrong, for a person: names the thing, the rule and the value found. Zero it, pass its
 * address, print `text`. Every `ct_err *err` argument may be NULL. */
typedef struct {
    ct_status status;
    char      text[512];
} ct_err;

/* The general meaning of a code, as in the list. Never NULL. */
const char *ct_status_text(ct_status status);

/* Writes status and the formatted sentence into err (if not NULL), returns status.
 * A text that does not fit ends in "...". */
ct_status ct_fail(ct_err *err, ct_status status, const char *fmt, ...) CT_PRINTF(3, 4);

/* xoshiro256++ seeded through splitmix64: the same numbers on every machine. */
typedef struct {
    uint64_t s[4];
    double   spare; /* second normal of the last polar pair */
    int      has_spare;
} ct_rng;

ct_rng   ct_rng_seed(uint64_t seed);
uint64_t ct_rng_bits(ct_rng *rng);
double   ct_rng_uniform(ct_rng *rng); /* in [0, 1), 53 bits */
double   ct_rng_normal(ct_rng *rng);  /* mean 0, variance 1; polar method */

/* The word nearest to `word` among at(list, 0), at(list, 1), ... up to NULL: what somebody may have meant; NULL if none is like it. */
const char *ct_nearest(const char *word, const char *(*at)(const void *list, int i), const void *list);

/* Monotonic clock in seconds. */
double ct_now_s(void);

/* The library's version, "major.minor.patch". */
const char *ct_version(void);

#ifdef __cplusplus
}
#endif
#endif
