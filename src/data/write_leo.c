/* write_leo.c: writing LEO's logs (read_leo.c describes the format).
 *
 * A log holds SE2 poses with their truth, odometry (between_se2 with the noise group "odom") and positions
 * (prior_se2 with "gps"), sigmas, and integer regimes. The prior at the truth of the first pose is omitted, because
 * the reader adds it. Everything else is lost: other variables and factors, names, correlations, robust kernels,
 * times, and initial values, for which the reader takes the truth. */
#include "data/data.h"
#include "data/leo.h"

#include <math.h>

typedef struct {
    ct__out *out;
    int32_t *pose; /* per variable: its index in poses_gt, or -1 */
    uint8_t *kept; /* per factor: 1 if written                   */
    int32_t  poses;
} leo_out;

/* ---- What is written ------------------------------------------------------------------------- */

static ct_status choose_pose(leo_out *log, int32_t v)
{
    ct__out           *out = log->out;
    const ct_sequence *seq = out->seq;
    const ct_graph    *g = seq->graph;
    const int64_t      at = ct_graph_offset(g, v);
    char               name[64], place[32];
    ct_graph_name(g, v, name, sizeof name);
    log->pose[v] = -1;
    if (ct_graph_kind(g, v) != CT_SE2)
        return ct__out_drop(out, "variable %s: a LEO log has no place for %s", name, ct_kind_name(ct_graph_kind(g, v)));
    if (!seq->truth || seq->known[v] != 7)
        return ct_fail(out->err, CT_E_UNSUPPORTED,
                       "variable %s: a LEO log is made of true poses, this one is not known", name);
    log->pose[v] = log->poses++;
    snprintf(place, sizeof place, LEO_SYMBOL "%d", log->pose[v]);
    if (strcmp(name, place))
        CT_TRY(ct__out_drop(out, "variable %s: a LEO log numbers its poses, this one would be %s", name, place));
    if (ct_graph_fixed(g, v)) CT_TRY(ct__out_drop(out, "variable %s: a LEO log cannot mark it as fixed", name));
    if (seq->stamp && !isnan(seq->stamp[v]))
        CT_TRY(ct__out_drop(out, "variable %s: a LEO log has no place for its time", name));
    if (memcmp(out->x + at, seq->truth + at, 4 * sizeof(double)))
        CT_TRY(ct__out_drop(out, "variable %s: a LEO log has no place for a value other than the truth", name));
    return CT_OK;
}

/* Splits "odom@3" into group and regime. 1 if the regime is an integer, 0 if there is none, -1 otherwise. */
static int regime_of(const char *model, size_t *group_length, int *regime)
{
    char  text[16];
    char *end;
    *group_length = strcspn(model, "@");
    if (!model[*group_length]) return 0;
    const char *label = model + *group_length + 1;
    const long  number = strtol(label, &end, 10);
    *regime = (int)number;
    snprintf(text, sizeof text, "%d", *regime);
    return !*end && labs(number) <= 1000000000 && !strcmp(text, label) ? 1 : -1;
}

/* 1 for the prior that the reader adds. */
static int is_first_prior(const leo_out *log, const ct_factor *f)
{
    const ct_noise_model *m = ct_noise_get(log->out->noise, f->noise);
    if (f->ops != ct_factor_prior(CT_SE2) || log->pose[f->var[0]] != 0 || f->multiplier != 1) return 0;
    if (strcmp(m->name, LEO_FIRST_POSE) || m->kind == CT_NOISE_FULL || m->robust.kind != CT_ROBUST_NONE) return 0;
    for (int i = 0; i < 3; i++)
        if (m->covariance[i] != LEO_FIRST_VARIANCE) return 0;
    return !memcmp(f->z, log->out->seq->truth + ct_graph_offset(log->out->seq->graph, f->var[0]), 4 * sizeof(double));
}

static ct_status choose_factor(leo_out *log, int32_t f)
{
    ct__out              *out = log->out;
    const ct_factor       factor = ct_graph_factor(out->seq->graph, f);
    const ct_noise_model *m = ct_noise_get(out->noise, factor.noise);
    const char *group = factor.ops == ct_factor_between(CT_SE2) ? "odom"
                        : factor.ops == ct_factor_prior(CT_SE2) ? "gps"
                                                                : NULL;
    size_t                length;
    int                   regime;
    if (is_first_prior(log, &factor)) return CT_OK;
    if (!group) return ct__out_drop(out, "factor %d: a LEO log has no place for %s", f, factor.ops->name);
    if (regime_of(m->name, &length, &regime) < 0 || length != strlen(group) || strncmp(m->name, group, length))
        return ct__out_drop(out, "factor %d (%s): its noise model is \"%s\"; a LEO log knows \"%s\" and \"%s@NUMBER\"",
                            f, factor.ops->name, m->name, group, group);
    log->kept[f] = 1;
    if (factor.multiplier != 1)
        CT_TRY(ct__out_drop(out, "factor %d: a LEO log has no place for the multiplier %g of noise model \"%s\"", f,
                            factor.multiplier, m->name));
    if (m->kind == CT_NOISE_FULL)
        CT_TRY(ct__out_drop(out, "factor %d: a LEO log has no place for the correlations of noise model \"%s\"", f,
                            m->name));
    if (m->robust.kind != CT_ROBUST_NONE)
        CT_TRY(ct__out_drop(out, "factor %d: a LEO log has no place for the robust kernel of noise model \"%s\"", f,
                            m->name));
    return CT_OK;
}

static ct_status choose(leo_out *log)
{
    const ct_graph *g = log->out->seq->graph;
    for (int32_t v = 0; v < ct_graph_variables(g); v++) CT_TRY(choose_pose(log, v));
    for (int32_t f = 0; f < ct_graph_factors(g); f++) CT_TRY(choose_factor(log, f));
    if (log->poses == 0)
        return ct_fail(log->out->err, CT_E_UNSUPPORTED, "a LEO log is made of SE2 poses, there is none");
    return CT_OK;
}

/* ---- The lists ------------------------------------------------------------------------------- */

static void put_numbers(FILE *file, int n, const double *value)
{
    char buf[32];
    for (int i = 0; i < n; i++) fprintf(file, "%s%s", i ? ", " : "[", ct__format_double(value[i], buf));
    fputc(']', file);
}

/* x, y, theta, and further numbers. */
static void put_pose(FILE *file, const double value[4], int more, double fourth)
{
    double field[4] = {value[0], value[1], 0, fourth};
    ct__angle(value[2], value[3], &field[2]);
    put_numbers(file, 3 + more, field);
}

static void put_name(const leo_out *log, const ct_factor *f)
{
    fputs(f->ops->arity == 2 ? "\"odom\"" : "\"gps\"", log->out->file);
}

static void put_syms(const leo_out *log, const ct_factor *f)
{
    fputs(f->ops->arity == 2 ? "[\"" LEO_SYMBOL "\", \"" LEO_SYMBOL "\"]" : "[\"" LEO_SYMBOL "\"]", log->out->file);
}

static void put_ids(const leo_out *log, const ct_factor *f)
{
    fprintf(log->out->file, "[%d", log->pose[f->var[0]]);
    if (f->ops->arity == 2) fprintf(log->out->file, ", %d", log->pose[f->var[1]]);
    fputc(']', log->out->file);
}

static void put_sigmas(const leo_out *log, const ct_factor *f)
{
    const ct_noise_model *m = ct_noise_get(log->out->noise, f->noise);
    double                sigma[3];
    for (int i = 0; i < 3; i++) sigma[i] = ct_noise_sigma(m, i);
    put_numbers(log->out->file, 3, sigma);
}

static void put_meas(const leo_out *log, const ct_factor *f)
{
    size_t    length;
    int       regime = 0;
    const int labelled = regime_of(ct_noise_get(log->out->noise, f->noise)->name, &length, &regime);
    put_pose(log->out->file, f->z, labelled, regime);
}

/* One of the five lists with an entry per factor. */
static void put_list(const leo_out *log, const char *key, void (*put)(const leo_out *log, const ct_factor *f))
{
    const char *between = "";
    fprintf(log->out->file, ",\n\"%s\": [", key);
    for (int32_t f = 0; f < ct_graph_factors(log->out->seq->graph); f++) {
        if (!log->kept[f]) continue;
        const ct_factor factor = ct_graph_factor(log->out->seq->graph, f);
        fputs(between, log->out->file);
        put(log, &factor);
        between = ", ";
    }
    fputc(']', log->out->file);
}

static void put_log(const leo_out *log)
{
    const ct_sequence *seq = log->out->seq;
    fputs("{\"poses_gt\": [", log->out->file);
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        if (log->pose[v] < 0) continue;
        if (log->pose[v] > 0) fputs(", ", log->out->file);
        put_pose(log->out->file, seq->truth + ct_graph_offset(seq->graph, v), 0, 0);
    }
    fputc(']', log->out->file);
    put_list(log, "factor_names", put_name);
    put_list(log, "factor_keysyms", put_syms);
    put_list(log, "factor_keyids", put_ids);
    put_list(log, "factor_covs", put_sigmas);
    put_list(log, "factor_meas", put_meas);
    fputs("}\n", log->out->file);
}

ct_status ct__leo_write(ct__out *out)
{
    const ct_graph *g = out->seq->graph;
    leo_out         log = {.out = out};
    log.pose = ct__zalloc(ct_graph_variables(g), sizeof *log.pose);
    log.kept = ct__zalloc(ct_graph_factors(g), sizeof *log.kept);
    ct_status status = log.pose && log.kept ? CT_OK : ct__no_memory(out->err, "factors", ct_graph_factors(g));
    if (status == CT_OK) status = choose(&log);
    if (status == CT_OK) put_log(&log);
    free(log.pose);
    free(log.kept);
    return status;
}
