/* data_test.h: what the tests of the file formats share: files that are strings, sequences compared
 * to the bit, and sequences made at random with every kind and every measurement model. */
#ifndef DATA_TEST_H
#define DATA_TEST_H

#include "ct_test.h"
#include "data/data.h"
#include "noise/noise.h"

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq;
    ct_err       err;
} run;

static inline ct_status read_bytes(run *r, ct_format format, const char *bytes, size_t size)
{
    *r = (run){0};
    ct_noise_new(&r->noise, &r->err);
    FILE           *file = fmemopen((void *)(uintptr_t)bytes, size, "rb"); /* fmemopen only reads here */
    const ct_status status = ct__sequence_read_stream(file, "t.txt", format, NULL, r->noise, &r->seq, &r->err);
    fclose(file);
    return status;
}

static inline ct_status read_text(run *r, ct_format format, const char *text)
{
    return read_bytes(r, format, text, strlen(text));
}

static inline void run_free(run *r)
{
    ct_sequence_free(r->seq);
    ct_noise_free(r->noise);
}

/* Reads, or ends the test. */
#define MUST_READ(r, format, file)                                                                 \
    do {                                                                                           \
        CHECK_OK(read_text(r, format, file), (r)->err);                                            \
        if (!(r)->seq) {                                                                           \
            run_free(r);                                                                           \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* The file as a string, which the caller frees; NULL on failure, with r->err. */
static inline char *write_text(run *r, ct_format format, const double *x, int lossy, int64_t *dropped)
{
    char           *text = NULL;
    size_t          size;
    FILE           *file = open_memstream(&text, &size);
    const ct_status status = ct__sequence_write_stream(file, r->seq, r->noise, x, format, lossy, dropped, &r->err);
    fclose(file);
    if (status == CT_OK) return text;
    free(text);
    return NULL;
}

/* write(read(text)) is text. */
static inline void check_same_text(ct_format format, const char *text, int line)
{
    run   r;
    char *again = NULL;
    CHECK_OK(read_text(&r, format, text), r.err);
    if (r.seq) again = write_text(&r, format, NULL, 0, NULL);
    if (!again || strcmp(again, text)) {
        ct_test_failed_checks++;
        fprintf(stderr, "line %d: written again it is\n%s\n", line, again ? again : r.err.text);
    }
    free(again);
    run_free(&r);
}
#define CHECK_SAME_TEXT(format, file) check_same_text(format, file, __LINE__)

/* Reading text must fail, and say exactly `words`. */
static inline void check_message(ct_format format, const char *text, const char *words, int line)
{
    run             r;
    const ct_status status = read_text(&r, format, text);
    if (status == CT_OK || r.seq || strcmp(r.err.text, words)) {
        ct_test_failed_checks++;
        fprintf(stderr, "line %d: wanted \"%s\", got \"%s\"\n", line, words, r.err.text);
    }
    run_free(&r);
}
#define CHECK_MESSAGE(format, file, words) check_message(format, file, words, __LINE__)

static inline int same_bits(const double *a, const double *b, int64_t n)
{
    if (!a || !b || n == 0) return a == b || n == 0;
    return !memcmp(a, b, (size_t)n * sizeof *a);
}

static inline int same_noise(const ct_noise_model *a, const ct_noise_model *b)
{
    const int n = a->kind == CT_NOISE_FULL ? a->dim * a->dim : a->dim;
    return a->kind == b->kind && a->dim == b->dim && a->robust.kind == b->robust.kind &&
           a->robust.width == b->robust.width && same_bits(a->covariance, b->covariance, n) &&
           same_bits(a->sqrt_info, b->sqrt_info, n);
}

static inline int same_shape(const ct_shape *a, const ct_shape *b)
{
    const int64_t n = ct_shape_numbers(a, 0, NULL);
    double       *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    const int same = ct_shape_kind_of(a) == ct_shape_kind_of(b) &&
                     ct_shape_numbers(a, n, x) == ct_shape_numbers(b, n, y) && same_bits(x, y, n);
    free(x);
    free(y);
    return same;
}

/* Every number to the bit. `names`: models and variables are called the same. */
static inline void check_same_run(const run *a, const run *b, int names)
{
    const ct_graph *g = a->seq->graph, *h = b->seq->graph;
    const int32_t   variables = ct_graph_variables(g), factors = ct_graph_factors(g);
    CHECK(variables == ct_graph_variables(h) && factors == ct_graph_factors(h));
    if (variables != ct_graph_variables(h) || factors != ct_graph_factors(h)) return;
    for (int32_t v = 0; v < variables; v++) {
        char name[64], other[64];
        CHECK(ct_graph_kind(g, v) == ct_graph_kind(h, v) && ct_graph_fixed(g, v) == ct_graph_fixed(h, v));
        CHECK(!names || !strcmp(ct_graph_name(g, v, name, sizeof name), ct_graph_name(h, v, other, sizeof other)));
    }
    CHECK(same_bits(ct_graph_initial_const(g), ct_graph_initial_const(h), ct_graph_size(g)));
    CHECK(same_bits(a->seq->truth, b->seq->truth, ct_graph_size(g)));
    CHECK(!a->seq->known == !b->seq->known &&
          (!a->seq->known || !memcmp(a->seq->known, b->seq->known, (size_t)variables)));
    CHECK(!a->seq->stamp == !b->seq->stamp);
    CHECK(same_bits(a->seq->truth_sigma, b->seq->truth_sigma, 2) && !a->seq->recording == !b->seq->recording &&
          (!a->seq->recording || !strcmp(a->seq->recording, b->seq->recording)));
    for (int32_t v = 0; a->seq->stamp && b->seq->stamp && v < variables; v++)
        CHECK(a->seq->stamp[v] == b->seq->stamp[v] || (isnan(a->seq->stamp[v]) && isnan(b->seq->stamp[v])));
    for (int32_t i = 0; i < factors; i++) {
        const ct_factor       p = ct_graph_factor(g, i), q = ct_graph_factor(h, i);
        const ct_noise_model *m = ct_noise_get(a->noise, p.noise), *n = ct_noise_get(b->noise, q.noise);
        CHECK(p.ops == q.ops && !memcmp(p.var, q.var, (size_t)p.ops->arity * sizeof *p.var));
        CHECK(same_bits(p.z, q.z, ct_factor_z_size(p.ops)) && p.multiplier == q.multiplier);
        if (p.ops->shaped && p.ops == q.ops) CHECK(same_shape(p.context, q.context));
        CHECK(same_noise(m, n) && (!names || !strcmp(m->name, n->name)));
    }
}

/* ---- made at random ---- */

static inline void random_element(ct_rng *rng, ct_kind kind, double *x)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = ct_rng_normal(rng);
    ct_kind_identity(kind, x);
    ct_kind_retract(kind, x, d, x);
    if (kind == CT_R1) x[0] = 0.1 + fabs(x[0]); /* ranges and time steps are positive */
}

/* A covariance whose inverse A A' + I has few digits (A in sixteenths), as matrices in files have. */
static inline void random_covariance(ct_rng *rng, int n, double *S)
{
    double            A[36], info[36];
    ct__noise_numbers numbers;
    for (int i = 0; i < n * n; i++) A[i] = round(16 * (2 * ct_rng_uniform(rng) - 1)) / 16;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            info[i * n + j] = i == j;
            for (int k = 0; k < n; k++) info[i * n + j] += A[i * n + k] * A[j * n + k];
        }
    }
    CHECK(ct__noise_information("random", n, info, &numbers, NULL) == CT_OK);
    for (int i = 0; i < n * n; i++)
        S[i] = numbers.kind == CT_NOISE_FULL ? numbers.covariance[i] : i / n == i % n ? numbers.covariance[i % n] : 0;
}

static inline int32_t random_noise(ct_rng *rng, ct_noise *noise, int dim, int with_kernels)
{
    char    name[32];
    double  S[36], v[6];
    int32_t index = -1;
    snprintf(name, sizeof name, "model@%d", ct_noise_count(noise));
    random_covariance(rng, dim, S);
    for (int i = 0; i < dim; i++) v[i] = 16 / (1 + floor(100 * ct_rng_uniform(rng)));
    switch (ct_rng_bits(rng) % 3) {
    case 0: ct_noise_add_isotropic(noise, name, dim, v[0], &index, NULL); break;
    case 1: ct_noise_add_diagonal(noise, name, dim, v, &index, NULL); break;
    default: ct_noise_add_full(noise, name, dim, S, &index, NULL);
    }
    const ct_robust_kind kernel = ct_rng_bits(rng) % CT_ROBUST_COUNT;
    if (with_kernels && kernel != CT_ROBUST_NONE)
        ct_noise_set_robust(noise, index, (ct_robust){kernel, 0.5 + ct_rng_uniform(rng), 0}, NULL);
    return index;
}

/* Four variables of every kind in the mask, and two factors of every model that they allow and
 * `wanted` (NULL: every one) accepts, sensor poses included. */
static inline void random_run(run *r, uint64_t seed, unsigned kinds, int (*wanted)(const ct_factor_ops *ops),
                              int with_kernels)
{
    ct_rng rng = ct_rng_seed(seed);
    *r = (run){0};
    ct_noise_new(&r->noise, &r->err);
    ct_sequence_new(NULL, &r->seq, &r->err);
    ct_graph *g = r->seq->graph;
    int32_t   of_kind[CT_KIND_COUNT][4];
    ct_shape *shape = NULL;
    CHECK_OK(ct_shape_ellipse(0.5 + ct_rng_uniform(&rng), 0.5 + ct_rng_uniform(&rng), &shape, &r->err), r->err);
    CHECK_OK(ct_sequence_add_shape(r->seq, "egg", shape, &r->err), r->err);
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        for (int i = 0; i < 4 && kinds >> k & 1; i++) {
            double x[CT_SIZE_MAX];
            random_element(&rng, (ct_kind)k, x);
            CHECK_OK(ct_graph_add_variable(g, NULL, (ct_kind)k, x, &of_kind[k][i], &r->err), r->err);
        }
    }
    const ct_factor_ops *ops;
    for (int i = 0; (ops = ct_factor_at(i)); i++) {
        int possible = !wanted || wanted(ops);
        for (int k = 0; k < ops->arity; k++) possible = possible && (kinds >> ops->kind[k] & 1);
        for (int copy = 0; copy < 2 && possible; copy++) {
            int32_t var[CT_ARITY_MAX];
            double  z[CT_FIELDS_MAX * CT_SIZE_MAX];
            for (int k = 0; k < ops->arity; k++) var[k] = of_kind[ops->kind[k]][(copy + k) % 4];
            do {
                double *at = z;
                for (int k = 0; k < ops->fields; at += ct_kind_size(ops->field[k++])) {
                    if (k >= ops->required && copy) ct_kind_identity(ops->field[k], at);
                    else random_element(&rng, ops->field[k], at);
                }
            } while (ops->refuse && ops->refuse(z));
            CHECK_OK(ct_graph_add_factor(g, ops, var, z, ops->shaped ? shape : NULL,
                                         random_noise(&rng, r->noise, ops->rows, with_kernels), &r->err),
                     r->err);
        }
    }
}


#endif
