/* writer.c: what writers share: losses, numbers, matrices. */
#include "data/data.h"
#include "noise/noise.h"

#include <math.h>
#include <stdarg.h>

#define NAME_LIMIT (CT__LINE_MAX / 8) /* four variables and a noise model fit in a line */

ct_status ct__out_drop(ct__out *out, const char *fmt, ...)
{
    out->dropped++;
    if (out->lossy) return CT_OK;
    char    text[sizeof out->err->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return ct_fail(out->err, CT_E_UNSUPPORTED, "%s", text);
}

ct_status ct__out_drop_extras(ct__out *out, const char *format)
{
    const ct_sequence *seq = out->seq;
    char               name[128];
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        ct_graph_name(seq->graph, v, name, sizeof name);
        if (seq->truth && seq->known[v])
            CT_TRY(ct__out_drop(out, "variable %s: %s has no place for its true value", name, format));
        if (seq->stamp && !isnan(seq->stamp[v]))
            CT_TRY(ct__out_drop(out, "variable %s: %s has no place for its time", name, format));
    }
    return CT_OK;
}

int ct__is_name(const char *name)
{
    return *name && *name != '#' && !name[strcspn(name, " \t\r\n")] && strlen(name) < NAME_LIMIT;
}

ct_status ct__out_check_name(const ct__out *out, const char *what, const char *name)
{
    if (ct__is_name(name)) return CT_OK;
    return ct_fail(out->err, CT_E_UNSUPPORTED,
                   "%s \"%s\": a name in a file is one word of at most %d bytes that does not begin with #", what, name,
                   NAME_LIMIT - 1);
}

/* The id in a name, 17 of "x17" with this prefix and no leading zeros, or -1. */
static int64_t id_of(const char *name, char prefix)
{
    char          again[CT__ID_NAME_MAX];
    const int64_t id = name[0] == prefix ? strtoll(name + 1, NULL, 10) : -1;
    if (id < 0 || id > CT__ID_MAX) return -1;
    snprintf(again, sizeof again, "%c%lld", prefix, (long long)id);
    return strcmp(name, again) ? -1 : id;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ids for variables without one (-1), if counting on from the largest would exceed the readers' limit: the smallest
 * free ids. `apart` gives the set of ids of each variable. */
static ct_status fill_gaps(int32_t n, const uint8_t *apart, int set, int64_t *id, ct_err *err)
{
    int64_t *taken = ct__zalloc(n, sizeof *taken), next = 0;
    int32_t  count = 0, at = 0;
    if (!taken) return ct__no_memory(err, "ids", n);
    for (int32_t v = 0; v < n; v++)
        if (apart[v] == set && id[v] >= 0) taken[count++] = id[v];
    qsort(taken, (size_t)count, sizeof *taken, ascending);
    for (int32_t v = 0; v < n; v++) {
        if (apart[v] != set || id[v] >= 0) continue;
        for (; at < count && taken[at] <= next; at++) next += taken[at] == next;
        id[v] = next++;
    }
    free(taken);
    return CT_OK;
}

ct_status ct__out_ids(const ct__out *out, int points_apart, int64_t **ids)
{
    const ct_graph *g = out->seq->graph;
    const int32_t   variables = ct_graph_variables(g);
    int64_t        *id = ct__zalloc(variables, sizeof *id), next[2] = {0}, more[2] = {0};
    uint8_t        *point = ct__zalloc(variables, sizeof *point);
    ct_status       status = id && point ? CT_OK : ct__no_memory(out->err, "ids", variables);
    *ids = id;
    for (int32_t v = 0; status == CT_OK && v < variables; v++) {
        char name[CT__ID_NAME_MAX];
        point[v] = points_apart && ct_graph_kind(g, v) <= CT_R3;
        id[v] = id_of(ct_graph_name(g, v, name, sizeof name), point[v] ? 'l' : 'x');
        next[point[v]] = CT_MAX(next[point[v]], id[v] + 1);
        more[point[v]] += id[v] < 0;
    }
    for (int set = 0; status == CT_OK && set < 2; set++)
        if (more[set] && next[set] + more[set] - 1 > CT__ID_MAX)
            status = fill_gaps(variables, point, set, id, out->err);
    for (int32_t v = 0; status == CT_OK && v < variables; v++)
        if (id[v] < 0) id[v] = next[point[v]]++;
    free(point);
    return status;
}

void ct__out_numbers(const ct__out *out, int n, const double value[])
{
    char buf[32];
    for (int i = 0; i < n; i++) {
        putc(' ', out->file);
        fputs(ct__format_double(value[i], buf), out->file);
    }
}

void ct__out_element(const ct__out *out, ct_kind kind, const double *value)
{
    double field[CT_SIZE_MAX];
    ct_kind_to_fields(kind, value, field);
    if (kind == CT_SE2) ct__angle(value[2], value[3], &field[2]);
    if (kind == CT_SO2) ct__angle(value[0], value[1], &field[0]);
    ct__out_numbers(out, ct_kind_fields(kind), field);
}

void ct__out_triangle(const ct__out *out, int n, const double A[36])
{
    double B[36];
    ct__turn(n, A, B);
    for (int i = 0; i < n; i++) ct__out_numbers(out, n - i, &B[i * n + i]);
}

const ct_noise_model *ct__out_model(const ct__out *out, const ct_factor *f, ct__own_model *own)
{
    const ct_noise_model *m = ct_noise_get(out->noise, f->noise);
    if (f->multiplier == 1) return m;
    const double scale = 1 / sqrt(f->multiplier);
    for (int i = 0; i < ct__noise_length(m->kind, m->dim); i++) {
        own->covariance[i] = f->multiplier * m->covariance[i];
        own->sqrt_info[i] = scale * m->sqrt_info[i];
    }
    own->model = *m;
    own->model.covariance = own->covariance;
    own->model.sqrt_info = own->sqrt_info;
    return &own->model;
}

void ct__out_covariance(const ct_noise_model *m, double covariance[36])
{
    for (int i = 0; i < m->dim * m->dim; i++) {
        if (m->kind == CT_NOISE_FULL) covariance[i] = m->covariance[i];
        else covariance[i] = i / m->dim == i % m->dim ? m->covariance[i % m->dim] : 0;
    }
}

double *ct__out_memo(ct__out *out, const ct_factor *f, int *known)
{
    const int slot = f->noise % (int)(sizeof out->memo / sizeof *out->memo);
    *known = out->memo[slot].noise == f->noise + 1 && out->memo[slot].multiplier == f->multiplier;
    out->memo[slot].noise = f->noise + 1;
    out->memo[slot].multiplier = f->multiplier;
    return out->memo[slot].number;
}

int ct__same_model(const double *information, const void *model)
{
    const ct_noise_model *m = model;
    ct__noise_numbers     numbers;
    if (ct__noise_information(m->name, m->dim, information, &numbers, NULL) != CT_OK) return 0;
    if ((numbers.kind == CT_NOISE_FULL) != (m->kind == CT_NOISE_FULL)) return 0;
    return !memcmp(numbers.covariance, m->covariance,
                   (size_t)ct__noise_length(m->kind, m->dim) * sizeof *m->covariance);
}

/* Sigma^-1 = R'R. Entries that are zero up to rounding are set to zero, as they have no significant digits. */
void ct__out_information(const ct_noise_model *m, double information[36])
{
    const int n = m->dim, full = m->kind == CT_NOISE_FULL;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; full && k < n; k++) sum += m->sqrt_info[k * n + i] * m->sqrt_info[k * n + j];
            information[i * n + j] = full ? sum : i == j ? 1 / m->covariance[i] : 0;
        }
    }
    double clean[36];
    for (int i = 0; i < n * n; i++) {
        const double size = sqrt(information[i / n * (n + 1)] * information[i % n * (n + 1)]);
        clean[i] = fabs(information[i]) > 1e-13 * size ? information[i] : 0;
    }
    if (ct__shortest(n * n, clean, 6, ct__same_model, m)) memcpy(information, clean, sizeof clean[0] * (size_t)(n * n));
}
