/* truth_and_noise.c: ground truth and noise models, for files, datasets and run folders. */
#include "cli/info/info.h"

#include <math.h>

/* ---- truth ---- */

void info_add_truth(info_truth *t, const ct_sequence *seq)
{
    for (int32_t v = 0; seq->known && v < ct_graph_variables(seq->graph); v++) {
        const ct_kind  kind = ct_graph_kind(seq->graph, v);
        const unsigned all = (1u << ct_kind_dim(kind)) - 1, known = seq->known[v] & all;
        t->known += known != 0;
        t->part += known && known != all;
        if (!known) continue;
        if (t->mask[kind] && t->mask[kind] != known) t->mixed = 1;
        t->mask[kind] = known;
    }
}

const char *info_part(const info_truth *t, char *buf, size_t size)
{
    int used = 0;
    buf[0] = 0;
    if (!t->part) return buf;
    if (t->mixed || t->part != t->known) {
        snprintf(buf, size, "; of %lld in part", (long long)t->part);
        return buf;
    }
    for (int k = CT_KIND_COUNT - 1; k >= 0; k--) /* poses first */
        for (int i = 0; i < ct_kind_dim((ct_kind)k) && used < (int)size; i++)
            if (t->mask[k] >> i & 1)
                used += snprintf(buf + used, size - (size_t)used, "%s%s", used ? ", " : "; ",
                                 ct_kind_coordinate((ct_kind)k, i));
    if (used < (int)size) snprintf(buf + used, size - (size_t)used, " only");
    return buf;
}

/* ---- noise models ---- */

const char *info_sigmas(const ct_noise_model *m, char buf[INFO_SIGMAS])
{
    int n = snprintf(buf, INFO_SIGMAS, "sigma");
    for (int i = 0; i < m->dim; i++) {
        const char *comma = i ? "," : "";
        if (m->row)
            n += snprintf(buf + n, (size_t)(INFO_SIGMAS - n), "%s %s %.4g %s", comma, m->row[i].name,
                          ct_noise_sigma(m, i), m->row[i].unit);
        else n += snprintf(buf + n, (size_t)(INFO_SIGMAS - n), "%s %.4g", comma, ct_noise_sigma(m, i));
    }
    if (m->kind == CT_NOISE_FULL) n += snprintf(buf + n, (size_t)(INFO_SIGMAS - n), ", correlated");
    if (m->robust.kind != CT_ROBUST_NONE)
        n += snprintf(buf + n, (size_t)(INFO_SIGMAS - n), ", %s %g", ct_robust_name(m->robust.kind), m->robust.width);
    if (m->robust.ratio > 0) snprintf(buf + n, (size_t)(INFO_SIGMAS - n), " %g", m->robust.ratio);
    return buf;
}

void info_put_sigmas(json_t *object, const ct_noise_model *m)
{
    double  sigma[CT_NOISE_DIM_MAX];
    json_t *names = cli_array(), *units = cli_array();
    for (int i = 0; i < m->dim; i++) {
        sigma[i] = ct_noise_sigma(m, i);
        if (!m->row) continue;
        cli_append(names, cli_text(m->row[i].name));
        cli_append(units, cli_text(m->row[i].unit));
    }
    cli_put(object, "sigma", cli_numbers(m->dim, sigma));
    cli_put(object, "coordinates", names);
    cli_put(object, "units", units);
}
