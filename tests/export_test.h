/* export_test.h: tables of noise models, their exports as text, and the numbers in it. */
#ifndef EXPORT_TEST_H
#define EXPORT_TEST_H

#include "data_test.h"

#include <covtune/export.h>

typedef struct {
    const char *name, *id;
    const char *row[6], *unit[6]; /* row[0] NULL: not said */
    int         order[6];         /* GTSAM's */
    ct_robust   robust;
    ct_noise_kind kind;
    int         dim;
} example;

static inline int32_t add(ct_noise *noise, ct_rng *rng, const example *x)
{
    double  S[36], v[6];
    int32_t index = -1;
    ct_err  err = {0};
    random_covariance(rng, x->dim, S);
    for (int i = 0; i < x->dim; i++) v[i] = pow(10, 12 * ct_rng_uniform(rng) - 9);
    if (x->kind == CT_NOISE_ISOTROPIC)
        CHECK_OK(ct_noise_add_isotropic(noise, x->name, x->dim, v[0], &index, &err), err);
    if (x->kind == CT_NOISE_DIAGONAL) CHECK_OK(ct_noise_add_diagonal(noise, x->name, x->dim, v, &index, &err), err);
    if (x->kind == CT_NOISE_FULL) CHECK_OK(ct_noise_add_full(noise, x->name, x->dim, S, &index, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, index, x->robust, &err), err);
    if (x->row[0]) ct_noise_set_rows(noise, index, x->row, x->unit);
    return index;
}

/* A table with one model, whose row names are words with blanks between, or NULL. */
static inline ct_noise *one_model(const char *name, const char *rows, int dim, ct_noise_kind kind, uint64_t seed)
{
    ct_noise *noise = NULL;
    ct_rng    rng = ct_rng_seed(seed);
    char      words[128] = "";
    example   x = {.name = name, .kind = kind, .dim = dim};
    snprintf(words, sizeof words, "%s", rows ? rows : "");
    char *word = strtok(words, " ");
    for (int i = 0; i < dim && word; i++, word = strtok(NULL, " ")) x.row[i] = word;
    ct_noise_new(&noise, NULL);
    add(noise, &rng, &x);
    return noise;
}

static inline double entry(const ct_noise_model *m, int i, int j)
{
    if (m->kind == CT_NOISE_FULL) return m->covariance[i * m->dim + j];
    return i == j ? m->covariance[i] : 0;
}

/* The caller frees it; NULL if refused. */
static inline char *export_with(const ct_noise *noise, const ct_export_options *options, ct_export_format format,
                                ct_err *err)
{
    char           *text = NULL;
    size_t          size;
    FILE           *stream = open_memstream(&text, &size);
    const ct_status status = ct_export(noise, format, options, stream, err);
    char           *string;
    CHECK(ct_export_string(noise, format, options, &string, NULL) == status);
    fclose(stream);
    CHECK(status == CT_OK ? string && !strcmp(string, text) : !string);
    free(string);
    if (status == CT_OK) return text;
    CHECK(size == 0); /* nothing was written */
    free(text);
    return NULL;
}

static inline char *export_text(const ct_noise *noise, const char *group, ct_export_format format, ct_err *err)
{
    ct_export_options options = ct_export_defaults();
    options.group = group;
    return export_with(noise, &options, format, err);
}

/* All numbers of the text between `from` and `to`, those inside of words left out. Returns how many. */
static inline int numbers_between(const char *text, const char *from, const char *to, int most, double *value)
{
    const char *p = strstr(text, from), *end;
    int         n = 0;
    if (!p) return -1;
    p += strlen(from);
    end = strstr(p, to);
    if (!end) end = p + strlen(p);
    while (p < end) {
        if ((*p >= '0' && *p <= '9') || *p == '-') {
            char *after;
            const double v = strtod(p, &after);
            if (n < most) value[n] = v;
            n++;
            p = after;
        } else if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')) {
            p += strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        } else {
            p++;
        }
    }
    return n;
}

#endif
