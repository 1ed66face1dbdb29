/* dataset_bias.c: the bias of a group in dataset.yaml:
 *
 *     - name: gps
 *       bias: {process: gauss-markov, rows: [x, y], tau: 25, sigma: [2]}
 */
#include "data/data.h"

#include <math.h>

static ct_status bad(const char *path, const ct__yaml_group *g, ct_err *err, const char *what)
{
    return ct_fail(err, CT_E_PARSE, "%s: group %.200s: bias: %s", path, g->name, what);
}

static int is_time(const double *t) { return !t || (*t >= CT_BIAS_TAU_MIN && *t <= CT_BIAS_TAU_MAX); }

ct_status ct__yaml_take_bias(const ct__yaml_group *from, const char *path, ct_dataset_group *to, ct_err *err)
{
    const ct__yaml_bias *b = from->bias;
    const int swings = b->process - 1 == CT_BIAS_OSCILLATION, markov = b->process - 1 == CT_BIAS_GAUSS_MARKOV;
    if (!is_time(b->tau) || !is_time(b->every) || !is_time(b->period))
        return bad(path, from, err, "tau, period and every are from 1e-9 to 1e12");
    if (b->tau && !markov && !swings)
        return bad(path, from, err, "a time constant, tau, is that of gauss-markov or oscillation");
    if (b->period && !swings) return bad(path, from, err, "a period is that of oscillation");
    if (b->sigmas > 1 && b->sigmas != b->rows)
        return bad(path, from, err, "sigma has one number, or one for each of rows");
    for (unsigned i = 0; i < b->sigmas; i++)
        if (!(b->sigma[i] > 0 && b->sigma[i] <= 1e75)) return bad(path, from, err, "sigma is positive and finite");
    to->bias = ct__zalloc(1, sizeof *to->bias);
    if (!to->bias) return ct__no_memory(err, "biases", 1);
    *to->bias = (ct_bias){.process = (ct_bias_process)(b->process - 1),
                          .effect = (ct_bias_effect)(b->effect - 1),
                          .rows = (int)b->rows,
                          .per_target = b->per == 2,
                          .every = b->every ? *b->every : 0,
                          .tau = b->tau ? *b->tau : 0,
                          .period = b->period ? *b->period : 0,
                          .tau_error = NAN,
                          .period_error = NAN};
    snprintf(to->bias->sensor, sizeof to->bias->sensor, "%s", from->name);
    for (unsigned i = 0; i < b->rows; i++) {
        if (strlen(b->row[i]) >= sizeof to->bias->row[i]) return bad(path, from, err, "a row has at most 15 bytes");
        snprintf(to->bias->row[i], sizeof to->bias->row[i], "%s", b->row[i]);
    }
    for (unsigned i = 0; i < CT_BIAS_ROWS_MAX && b->sigmas; i++) to->bias_sigma[i] = b->sigma[i % b->sigmas];
    return CT_OK;
}

void ct__yaml_put_bias(FILE *out, const ct_dataset_group *g)
{
    const ct_bias *b = g->bias;
    char buf[32];
    fprintf(out, "    bias: {process: %s", ct_bias_process_name(b->process));
    if ((int)b->effect >= 0) fprintf(out, ", as: %s", ct_bias_effect_name(b->effect));
    for (int i = 0; i < b->rows; i++) fprintf(out, "%s%s", i ? ", " : ", rows: [", b->row[i]);
    if (b->rows) putc(']', out);
    if (b->per_target) fputs(", per: target", out);
    if (b->every > 0) fprintf(out, ", every: %s", ct__format_double(b->every, buf));
    if (b->tau > 0) fprintf(out, ", tau: %s", ct__format_double(b->tau, buf));
    if (b->period > 0) fprintf(out, ", period: %s", ct__format_double(b->period, buf));
    const int given = g->bias_sigma[0] > 0, n = b->rows ? b->rows : 1;
    for (int i = 0; given && i < n; i++)
        fprintf(out, "%s%s", i ? ", " : ", sigma: [", ct__format_double(g->bias_sigma[i], buf));
    fputs(given ? "]}\n" : "}\n", out);
}
