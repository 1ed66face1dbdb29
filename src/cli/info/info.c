/* info.c: covtune info of a file. Datasets: dataset.c, run folders: run.c, bags: bag.c. */
#define _POSIX_C_SOURCE 200809L
#include "cli/info/info.h"
#include "cli/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODELS_SHOWN 8  /* noise models in rows; g2o files may have one per edge */

/* Measurement models in order of appearance, with counts. */
typedef struct {
    const ct_factor_ops *ops;
    int32_t              factors;
} tally;

typedef struct {
    const char        *path;
    ct_format          format;
    const ct_sequence *seq;
    const ct_noise    *noise;
    int32_t           *used;  /* per noise model: factors      */
    tally             *tally;
    int                kinds; /* entries of tally              */
    int32_t            fixed, stamped, held; /* held: absolute factors */
    int32_t            multiplied;           /* factors with a multiplier other than 1, and its range */
    double             least, most;
    info_truth         truth;
} summary;

static void count_factors(summary *s)
{
    const ct_graph *g = s->seq->graph;
    int             room = 0;
    s->used = cli_alloc(ct_noise_count(s->noise), sizeof *s->used);
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const ct_factor factor = ct_graph_factor(g, f);
        int             k = 0;
        while (k < s->kinds && s->tally[k].ops != factor.ops) k++;
        if (k == s->kinds) {
            if (s->kinds == room)
                s->tally = cli_check_alloc(realloc(s->tally, (size_t)(room = 2 * room + 8) * sizeof *s->tally));
            s->tally[s->kinds++] = (tally){factor.ops, 0};
        }
        s->tally[k].factors++;
        s->held += factor.ops->absolute != 0;
        s->multiplied += factor.multiplier != 1;
        s->least = f ? fmin(s->least, factor.multiplier) : factor.multiplier;
        s->most = f ? fmax(s->most, factor.multiplier) : factor.multiplier;
        s->used[factor.noise]++;
    }
}

static void count_variables(summary *s)
{
    for (int32_t v = 0; v < ct_graph_variables(s->seq->graph); v++) {
        s->fixed += ct_graph_fixed(s->seq->graph, v) != 0;
        s->stamped += s->seq->stamp && !isnan(s->seq->stamp[v]);
    }
    info_add_truth(&s->truth, s->seq);
}

/* ---- JSON ---- */

static json_t *model_json(const summary *s, int32_t index)
{
    const ct_noise_model *m = ct_noise_get(s->noise, index);
    json_t               *o = cli_object();
    cli_put(o, "factors", cli_integer(s->used[index]));
    info_put_sigmas(o, m);
    cli_put(o, "full", cli_check_alloc(json_boolean(m->kind == CT_NOISE_FULL)));
    cli_put(o, "robust", cli_text(ct_robust_name(m->robust.kind)));
    if (m->robust.kind != CT_ROBUST_NONE) cli_put(o, "width", cli_number(m->robust.width));
    if (m->robust.ratio > 0) cli_put(o, "ratio", cli_number(m->robust.ratio));
    return o;
}

static void print_json(const summary *s)
{
    int32_t count[CT_KIND_COUNT] = {0};
    char    recording[256];
    json_t *o = cli_object(), *kinds = cli_object(), *models = cli_object(), *noise = cli_object();
    for (int32_t v = 0; v < ct_graph_variables(s->seq->graph); v++) count[ct_graph_kind(s->seq->graph, v)]++;
    for (int k = 0; k < CT_KIND_COUNT; k++)
        if (count[k]) cli_put(kinds, ct_kind_name((ct_kind)k), cli_integer(count[k]));
    for (int k = 0; k < s->kinds; k++) cli_put(models, s->tally[k].ops->name, cli_integer(s->tally[k].factors));
    for (int32_t i = 0; i < ct_noise_count(s->noise); i++)
        cli_put(noise, ct_noise_get(s->noise, i)->name, model_json(s, i));
    cli_put(o, "file", cli_text(s->path));
    cli_put(o, "format", cli_text(ct_format_name(s->format)));
    cli_put(o, "variables", cli_integer(ct_graph_variables(s->seq->graph)));
    cli_put(o, "kinds", kinds);
    cli_put(o, "fixed", cli_integer(s->fixed));
    cli_put(o, "truth", cli_integer(s->truth.known));
    cli_put(o, "truth_in_part", cli_integer(s->truth.part));
    cli_put(o, "truth_sigma", cli_numbers(2, s->seq->truth_sigma));
    cli_put(o, "recording", cli_text(ct_sequence_recording(s->seq, recording, sizeof recording)));
    cli_put(o, "stamped", cli_integer(s->stamped));
    cli_put(o, "factors", cli_integer(ct_graph_factors(s->seq->graph)));
    cli_put(o, "multiplied", cli_integer(s->multiplied));
    cli_put(o, "models", models);
    cli_put(o, "absolute", cli_integer(s->held));
    cli_put(o, "initial_error",
            cli_number(ct_graph_error(s->seq->graph, s->noise, ct_graph_initial_const(s->seq->graph))));
    cli_put(o, "noise", noise);
    cli_put(o, "repaired", cli_integer(s->seq->repaired));
    cli_put(o, "note", cli_text(s->seq->note));
    cli_print_json(o);
}

/* ---- for people ---- */

static void print_model(const summary *s, int32_t index)
{
    const ct_noise_model *m = ct_noise_get(s->noise, index);
    char                  sigmas[INFO_SIGMAS];
    cli_row("", "%s (%d factor%s): %s", m->name, s->used[index], CLI_S(s->used[index]), info_sigmas(m, sigmas));
}

static void print_all(const summary *s)
{
    const ct_graph *g = s->seq->graph;
    const int32_t   variables = ct_graph_variables(g), models = ct_noise_count(s->noise);
    char            kinds[128], part[128], recording[256], sigma[64];
    info_sigma      own = {0};
    info_add_sigma(&own, s->seq);
    cli_row("file", "%s (%s)", s->path, ct_format_name(s->format));
    ct_sequence_recording(s->seq, recording, sizeof recording);
    if (s->seq->recording || strcmp(recording, ct_sequence_label(s->seq))) cli_row("recording", "%s", recording);
    cli_row("variables", "%s; %d fixed", cli_describe_kinds(g, kinds, sizeof kinds), s->fixed);
    if (!s->truth.known) cli_row("truth", "none");
    else
        cli_row("truth", "of %lld variables of %d%s", (long long)s->truth.known, variables,
                info_part(&s->truth, part, sizeof part));
    if (*info_sigma_text(&own, sigma, sizeof sigma)) cli_row("", "with a sigma of %s", sigma);
    if (s->stamped) cli_row("times", "of %d variables of %d", s->stamped, variables);
    cli_row("factors", "%d; %d are absolute", ct_graph_factors(g), s->held);
    for (int k = 0; k < s->kinds; k++) cli_row("", "%s: %d", s->tally[k].ops->name, s->tally[k].factors);
    if (s->multiplied)
        cli_row("", "%d with a multiple of the model's covariance, %.4g to %.4g", s->multiplied, s->least, s->most);
    cli_row("error", "%.10g at the initial values", ct_graph_error(g, s->noise, ct_graph_initial_const(g)));
    cli_row("noise", "%d model%s", models, CLI_S(models));
    for (int32_t i = 0; i < models && i < MODELS_SHOWN; i++) print_model(s, i);
    if (models > MODELS_SHOWN) cli_row("", "and %d more, which --json lists", models - MODELS_SHOWN);
}

/* ---- the command ---- */

/* A folder, or a dataset.yaml. */
static int is_dataset(const char *path)
{
    struct stat  entry;
    const char  *dot = strrchr(path, '.');
    return (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"))) ||
           (stat(path, &entry) == 0 && S_ISDIR(entry.st_mode));
}

/* A folder with a dataset.yaml is a dataset, whatever else is in it. */
static int has_dataset(const char *path)
{
    char       *file = cli_path_join(path, "dataset.yaml");
    struct stat entry;
    const int   found = stat(file, &entry) == 0;
    free(file);
    return found;
}

static cli_exit carry_out(const cli_io *io, const char *path, int format, int map)
{
    ct_err       err = {0};
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    summary      s = {.path = path, .format = (ct_format)format};
    cli_status_show(io, "reading %s", path);
    ct_status status = ct_noise_new(&noise, &err);
    if (status == CT_OK) status = cli_read_sequence(io, path, &s.format, noise, &seq, &err);
    cli_status_clear();
    if (status == CT_OK) {
        s.seq = seq;
        s.noise = noise;
        ct_graph_name_rows(seq->graph, noise);
        count_factors(&s);
        count_variables(&s);
        if (io->json) print_json(&s);
        else if (!io->quiet) print_all(&s);
        if (map)
            cli_draw_map(seq->graph, 1, (const double *const[]){ct_graph_initial_const(seq->graph)},
                    (const char *const[]){""});
    }
    free(s.used);
    free(s.tally);
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

typedef struct {
    int         format, map;
    const char *topic, *each;
} info_request;

#define AT(member) offsetof(info_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_CHOICE("format", CLI_FORMATS, ct_format_find, AT(format),
                   "format of FILE (from its ending, or its first line)"),
    CLI_ROW_REPAIR,
    CLI_ROW_PLUGIN,
    CLI_ROW_FLAG("map", AT(map), "draw the initial values"),
    CLI_ROW_HEADING("Of a bag:"),
    CLI_ROW_TEXT("topic", "NAME", AT(topic), "the fields of its messages, with the values of the first"),
    CLI_ROW_TEXT("each", "FIELD", AT(each), "an array of the topic's messages: the fields of its elements"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    info_request   request = {.format = CT_FORMAT_AUTO};
    cli_io         io;
    const char    *path;
    const cli_exit code = cli_parse(command, &request, argc, argv, &io, &path);
    const int      format = request.format, map = request.map;
    if (code != CLI_GO) return code;
    if (map && (io.json || io.quiet)) return cli_misuse(&io, "--map is not for --%s", io.json ? "json" : "quiet");
    if (learn_is_run(path)) {
        if (map || format != CT_FORMAT_AUTO || io.repair || io.plugin)
            return cli_misuse(&io, "--%s is not for a run folder, and %s is one",
                              map         ? "map"
                              : io.repair ? "repair"
                              : io.plugin ? "plugin"
                                          : "format",
                              path);
        return cli_finish(&io, info_run(&io, path));
    }
    const int bag = has_dataset(path) ? 0 : ct_bag_is(path);
    if (bag < 0) cli_check_alloc(NULL);
    if (bag) {
        if (map || format != CT_FORMAT_AUTO || io.repair)
            return cli_misuse(&io, "--%s is not for a bag, and %s is one",
                              map         ? "map"
                              : io.repair ? "repair"
                                          : "format",
                              path);
        if (request.each && !request.topic) return cli_misuse(&io, "--each needs --topic");
        return cli_finish(&io, info_bag(&io, path, request.topic, request.each));
    }
    if (request.topic || request.each)
        return cli_misuse(&io, "--%s is for a bag, and %s is none", request.topic ? "topic" : "each", path);
    if (is_dataset(path)) {
        if (map || format != CT_FORMAT_AUTO)
            return cli_misuse(&io, "--%s is not for a dataset, and %s is one", map ? "map" : "format", path);
        return cli_finish(&io, cli_info_dataset(&io, path));
    }
    return cli_finish(&io, carry_out(&io, path, format, map));
}

const cli_command cli_info = {
    .name = "info",
    .brief = "describe a graph file, a dataset, a run folder of learn, or a bag",
    .operands = "FILE|DATASET|RUN|BAG",
    .least = 1,
    .most = 1,
    .text = "Of a file: variables by kind, factors by measurement model, noise models with sigmas and units, how much "
            "ground truth it has, its recording, and the error at its initial values. Of a dataset (a folder, or its "
            "dataset.yaml): sequences, recordings, poses, noise models with start variances, and what is learned. Of "
            "a run folder of covtune learn: noise models before and after, loss, method, data and version, and how to "
            "continue an unfinished run. Of a ROS 1 bag, a ROS 2 bag (SQLite or MCAP; file or folder) or an MCAP file: "
            "topics with type, number of messages, first and last time of recording, and encoding.\n",
    .example = "  covtune simulate grid --poses 200 --out small.ctseq\n"
               "  covtune info small.ctseq --map\n",
    .options = OPTIONS,
    .run = run,
};
