/* check_options.c: the options of learn: texts that the parser does not check, combinations, and defaults that depend
 * on the method. */
#define _POSIX_C_SOURCE 200809L
#include "cli/learn/learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int learn_parse_weights(const char *text, double *translation, double *rotation)
{
    char *end;
    *translation = strtod(text, &end);
    if (end == text || *end != ':') return 0;
    const char *second = end + 1;
    *rotation = strtod(second, &end);
    return end != second && !*end;
}

const ct_learn_method_info *learn_method_info(const learn_request *r)
{
    return ct_learn_method_get_info((ct_learn_method)r->method);
}

static int has(const learn_request *r, ct_learn_trait trait)
{
    return ct_learn_method_has((ct_learn_method)r->method, trait);
}

/* "fw and fw-log": the methods with a trait. Returns buf. */
static const char *methods_with(ct_learn_trait trait, char buf[128])
{
    buf[0] = 0;
    for (int i = 0; i < CT_LEARN_COUNT; i++) {
        const size_t used = strlen(buf);
        if (ct_learn_method_has((ct_learn_method)i, trait))
            snprintf(buf + used, 128 - used, "%s%s", used ? " and " : "", ct_learn_method_name((ct_learn_method)i));
    }
    return buf;
}

/* Options of methods that draw random numbers. */
static cli_exit check_draws(const cli_io *io, const learn_request *r, const learn_request *given)
{
    const int leo = r->method == CT_LEARN_LEO;
    if (!leo && given->samples >= 0) return cli_misuse(io, "--samples is for --method leo");
    if (!leo && !isnan(given->rate)) return cli_misuse(io, "--rate is for --method leo");
    if (!leo && !isnan(given->decay)) return cli_misuse(io, "--decay is for --method leo");
    char who[128];
    if (!has(r, CT_LEARN_RANDOM) && given->seed >= 0)
        return cli_misuse(io, "--seed is for --method %s; others draw no random numbers",
                          methods_with(CT_LEARN_RANDOM, who));
    return CLI_GO;
}

static void resolve_draws(learn_request *r)
{
    const ct_learn_options usual = ct_learn_defaults();
    const int              leo = r->method == CT_LEARN_LEO;
    if (r->samples < 0) r->samples = usual.leo.samples;
    if (isnan(r->rate)) r->rate = usual.leo.rate;
    if (isnan(r->decay)) r->decay = usual.leo.decay;
    if (r->seed < 0) r->seed = (int)usual.seed;
    if (!leo) r->samples = -1;
    if (!leo) r->rate = r->decay = NAN;
    if (!has(r, CT_LEARN_RANDOM)) r->seed = -1;
}

cli_exit learn_check_values(const cli_io *io, const learn_request *r)
{
    double a, b;
    char  *end;
    if (r->weights &&
        (!learn_parse_weights(r->weights, &a, &b) || !(a >= 0 && b >= 0 && a <= 1e12 && b <= 1e12 && a + b > 0)))
        return cli_misuse(io, "--weights is T:R, two numbers from 0 to 1e12, found \"%s\"", r->weights);
    if (r->prior && strcmp(r->prior, "auto") && strcmp(r->prior, "none")) {
        const double w = strtod(r->prior, &end);
        if (end == r->prior || *end || !(w >= 0 && w <= 1e12))
            return cli_misuse(io, "--prior is auto, none or a number from 0 to 1e12, found \"%s\"", r->prior);
    }
    if (cli_check_truth_sigma(io, r->truth_sigma) != CLI_GO || cli_check_robust(io, r->robust) != CLI_GO)
        return CLI_MISUSED;
    ct_err err = {0};
    if (ct_bias_list_check(r->bias, "--", &err) != CT_OK) return cli_misuse(io, "%s", err.text);
    return ct_theta_options_check(&r->theta, &err) == CT_OK ? CLI_GO : cli_misuse(io, "%s", err.text);
}

/* Checks the options of the run folder. */
static cli_exit check_place(const cli_io *io, const learn_request *r, const learn_request *given)
{
    if (r->check_gradient) {
        if (given->out || r->resume || r->force)
            return cli_misuse(io, "--check-gradient writes no run; remove --%s",
                              given->out  ? "out"
                              : r->resume ? "resume"
                                          : "force");
    } else if (!r->out) {
        struct stat entry;
        const int   gone = r->path && stat(r->path, &entry);
        return cli_misuse(io, "--out RUN is missing: the run folder to write%s%s%s%s",
                          gone ? "; and " : "", gone ? r->path : "", gone ? ": " : "", gone ? strerror(errno) : "");
    }
    if (r->resume && r->force) return cli_misuse(io, "--resume continues a run and --force replaces it; give one of "
                                                     "them");
    return CLI_GO;
}

cli_exit learn_check_options(const cli_io *io, const learn_request *r, const learn_request *given)
{
    const int   prior = has(r, CT_LEARN_PRIOR);
    const char *method = learn_method_info(r)->name;
    char        who[128];
    int64_t     bytes;
    if (cli_check_memory(io, r->memory, &bytes) != CLI_GO) return CLI_MISUSED;
    if (!prior && given->prior)
        return cli_misuse(io, "--prior is for --method %s; %s has none", methods_with(CT_LEARN_PRIOR, who), method);
    if (!prior && given->folds >= 0)
        return cli_misuse(io, "--folds is for --method %s; %s needs none", methods_with(CT_LEARN_PRIOR, who), method);
    if (!learn_method_info(r)->iterations && given->from >= 0)
        return cli_misuse(io, "--from is for iterative methods; %s is not one", method);
    if (!has(r, CT_LEARN_EITHER_SPACE) && given->space >= 0)
        return cli_misuse(io, "--space is for --method %s", methods_with(CT_LEARN_EITHER_SPACE, who));
    if (!has(r, CT_LEARN_OPEN_LOOP) && !isnan(given->M))
        return cli_misuse(io, "--M is for --method %s", methods_with(CT_LEARN_OPEN_LOOP, who));
    cli_exit code = check_draws(io, r, given);
    if (code == CLI_GO) code = learn_check_values(io, r);
    return code == CLI_GO ? check_place(io, r, given) : code;
}

void learn_resolve(learn_request *r)
{
    if (r->no_truth == 1 && r->method == (int)ct_learn_defaults().method) r->method = CT_LEARN_LIKELIHOOD;
    const ct_learn_method_info *info = learn_method_info(r);
    const ct_learn_options      usual = ct_learn_defaults();
    /* the number of parameters is not known before the dataset is read; the digests of runs have 100 for closed-form */
    if (!r->iterations) r->iterations = info->per_parameter ? -1 : info->iterations ? info->iterations : 100;
    if (!r->weights) r->weights = "1:1";
    if (isnan(r->M)) r->M = usual.M;
    if (!r->prior) r->prior = "auto";
    if (r->folds < 0) r->folds = usual.folds;
    if (r->from < 0) r->from = info->start == CT_LEARN_FROM_TABLE;
    if (r->space < 0) r->space = (int)usual.space;
    if (!has(r, CT_LEARN_EITHER_SPACE)) r->space = -1;
    if (!info->iterations) r->from = -1;
    if (!has(r, CT_LEARN_OPEN_LOOP)) r->M = NAN;
    resolve_draws(r);
    if (has(r, CT_LEARN_PRIOR)) return;
    r->prior = NULL;
    r->folds = -1;
}
