/* deduplicate_noise.c: noise models for formats that write a matrix on every edge, without names.
 *
 * Equal matrices of a group become one model, found by a hash of group and covariance. So a file of 100,000 edges
 * with one matrix gives one model, and one with 100,000 matrices takes linear time. Models that were in the table
 * before (from another sequence) are found too. Covariances are compared to the bit, not the information matrices
 * they come from. */
#include "data/data.h"
#include "noise/noise.h"

static int is_diagonal(int n, const double *A)
{
    for (int i = 0; i < n * n; i++)
        if (A[i] != 0 && i / n != i % n) return 0;
    return 1;
}

typedef struct {
    const char   *group;
    size_t        group_length;
    ct_noise_kind kind;
    int           dim;
    const double *value; /* dim variances, or dim x dim */
} model_key;

static size_t key_bytes(const model_key *key)
{
    return (size_t)(key->kind == CT_NOISE_FULL ? key->dim * key->dim : key->dim) * sizeof *key->value;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u; /* FNV-1a */
    return h;
}

static uint64_t hash_key(const model_key *key)
{
    const uint64_t h = hash_bytes(0xcbf29ce484222325u, key->group, key->group_length);
    const uint64_t k = hash_bytes(h ^ (uint64_t)key->kind, key->value, key_bytes(key));
    return k ^ (k >> 32);
}

/* Group "odom" of the models "odom" and "odom#3". */
static model_key key_of(const ct_noise_model *m)
{
    return (model_key){m->name, strcspn(m->name, "#"), m->kind, m->dim, m->covariance};
}

static int same_key(const model_key *a, const model_key *b)
{
    return a->kind == b->kind && a->dim == b->dim && a->group_length == b->group_length &&
           !memcmp(a->group, b->group, a->group_length) && !memcmp(a->value, b->value, key_bytes(a));
}

/* The slot of the model, or the empty one where it would go. */
static int64_t probe(const ct__build *b, const model_key *key)
{
    const int64_t mask = b->intern.slots - 1;
    int64_t       i = (int64_t)(hash_key(key) & (uint64_t)mask);
    for (; b->intern.slot[i]; i = (i + 1) & mask) {
        const model_key other = key_of(ct_noise_get(b->noise, b->intern.slot[i] - 1));
        if (same_key(key, &other)) break;
    }
    return i;
}

static void enter(ct__build *b, int32_t model)
{
    const ct_noise_model *m = ct_noise_get(b->noise, model);
    if (m->robust.kind != CT_ROBUST_NONE) return; /* formats without model names have no kernels */
    const model_key key = key_of(m);
    const int64_t   place = probe(b, &key);
    /* the first of equal models is used */
    if (!b->intern.slot[place]) b->intern.slot[place] = model + 1;
}

/* Index the models that were added to the table since the last call, with room for one more. */
static ct_status catch_up(ct__build *b)
{
    ct__intern   *t = &b->intern;
    const int32_t count = ct_noise_count(b->noise);
    if (2 * ((int64_t)count + 1) > t->slots) {
        int64_t slots = CT_MAX(t->slots, 64);
        while (2 * ((int64_t)count + 1) > slots) slots *= 2;
        int32_t *slot = ct__zalloc(slots, sizeof *slot);
        if (!slot) return ct__no_memory(b->in.err, "noise models", slots);
        free(t->slot);
        t->slot = slot;
        t->slots = slots;
        t->seen = 0;
    }
    for (; t->seen < count; t->seen++) enter(b, t->seen);
    return CT_OK;
}

void ct__intern_free(ct__intern *t)
{
    free(t->slot);
    free(t->next);
    ct__names_free(&t->group);
    *t = (ct__intern){0};
}

/* A free name of the group: group, group#1, group#2, ... */
static ct_status fresh_name(ct__build *b, const char *group, char *name, size_t size)
{
    ct__intern *t = &b->intern;
    int32_t     g = ct__names_find(&t->group, group);
    if (g < 0) {
        g = (int32_t)t->group.count;
        CT_TRY(ct__grow(&t->next, &t->next_capacity, g + 1, sizeof *t->next, "noise groups", b->in.err));
        CT_TRY(ct__names_add(&t->group, group, b->in.err));
        t->next[g] = 0;
    }
    do {
        if (t->next[g] == 0) snprintf(name, size, "%s", group);
        else snprintf(name, size, "%s#%d", group, t->next[g]);
        t->next[g]++;
    } while (ct_noise_find(b->noise, name) >= 0);
    return CT_OK;
}

/* The model with this key, or a new one of its group. */
static ct_status find_or_number(ct__build *b, const model_key *key, const char *group, ct_robust robust, int32_t *index)
{
    CT_TRY(catch_up(b));
    const int64_t place = robust.kind == CT_ROBUST_NONE ? probe(b, key) : -1;
    if (place >= 0 && b->intern.slot[place]) {
        *index = b->intern.slot[place] - 1;
        return CT_OK;
    }
    char name[300]; /* a name of 255 bytes, and a number */
    CT_TRY(fresh_name(b, group, name, sizeof name));
    return ct__build_add_model(b, name, key->kind, key->dim, key->value, robust, index);
}

ct_status ct__build_renumber(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                             ct_robust robust, int32_t *index)
{
    double          all[CT__NOISE_NUMBERS_MAX];
    char            group[256];
    const model_key key = {name, strcspn(name, "#"), kind, dim, all};
    for (int i = 0; i < ct__noise_length(kind, dim); i++) all[i] = value[kind == CT_NOISE_ISOTROPIC ? 0 : i] + 0.0;
    snprintf(group, sizeof group, "%.*s", (int)key.group_length, name);
    return find_or_number(b, &key, group, robust, index);
}

/* For a covariance that is positive definite as far as is known. */
static ct_status intern_covariance(ct__build *b, const char *group, int dim, const double covariance[], int32_t *index)
{
    double    value[CT__NOISE_NUMBERS_MAX];
    const int diagonal = is_diagonal(dim, covariance);
    /* -0 becomes 0 */
    for (int i = 0; i < (diagonal ? dim : dim * dim); i++) value[i] = covariance[diagonal ? i * (dim + 1) : i] + 0.0;
    const model_key key = {group, strlen(group), diagonal ? CT_NOISE_DIAGONAL : CT_NOISE_FULL, dim, value};
    return find_or_number(b, &key, group, (ct_robust){.kind = CT_ROBUST_NONE}, index);
}

ct_status ct__build_covariance(ct__build *b, const char *group, int dim, const double covariance[], int32_t *index)
{
    double A[CT__NOISE_NUMBERS_MAX];
    memcpy(A, covariance, (size_t)(dim * dim) * sizeof *A);
    /* checked before the search: a refused model would use up a name */
    CT_TRY(ct__build_repair(b, group, CT__COVARIANCE, dim, A));
    return intern_covariance(b, group, dim, A, index);
}

ct_status ct__build_information(ct__build *b, const char *group, int dim, const double information[], int32_t *index)
{
    ct__noise_numbers numbers;
    double            covariance[CT__NOISE_NUMBERS_MAX] = {0}, A[CT__NOISE_NUMBERS_MAX];
    memcpy(A, information, (size_t)(dim * dim) * sizeof *A);
    if (b->repair || ct__noise_information(group, dim, A, &numbers, b->in.err) != CT_OK) {
        CT_TRY(ct__build_repair(b, group, CT__INFORMATION, dim, A));
        CT_TRY(ct__lines_place(&b->in, ct__noise_information(group, dim, A, &numbers, b->in.err)));
    }
    const int full = numbers.kind == CT_NOISE_FULL;
    for (int i = 0; i < (full ? dim * dim : dim); i++) covariance[full ? i : i * (dim + 1)] = numbers.covariance[i];
    return intern_covariance(b, group, dim, covariance, index);
}

ct_status ct__covariance_numbers(const char *name, int dim, const double covariance[], ct__noise_numbers *out,
                                 ct_err *err)
{
    double variance[CT_NOISE_DIM_MAX];
    if (!is_diagonal(dim, covariance)) return ct__noise_full(name, dim, covariance, out, err);
    for (int i = 0; i < dim; i++) variance[i] = covariance[i * dim + i];
    return ct__noise_diagonal(name, dim, variance, out, err);
}

ct_status ct__share_model(ct_noise *noise, const char *name, const ct__noise_numbers *numbers, int32_t *index,
                          ct_err *err)
{
    *index = ct_noise_find(noise, name);
    const ct_noise_model *m = *index >= 0 ? ct_noise_get(noise, *index) : NULL;
    if (m && m->kind == numbers->kind && m->dim == numbers->dim && m->robust.kind == CT_ROBUST_NONE &&
        !memcmp(m->covariance, numbers->covariance, (size_t)ct__noise_length(m->kind, m->dim) * sizeof *m->covariance))
        return CT_OK;
    return ct__noise_add(noise, name, numbers, index, err);
}
