/* convert.c: covtune convert: writes a graph in another format, and adds ground truth and times from other files. */
#include "cli/common/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUES "values" /* --truth values: the graph's initial values are the truth */
#define FIRST  "first"

typedef struct {
    const char         *path[2]; /* in, out */
    const char         *out;     /* --out, in place of the second; NULL: not given */
    int                 from, to, lossy;
    int                 values;  /* which values are written: one of VALUE; -1: not given */
    const char         *truth, *align, *hold, *times; /* NULL: not given */
    ct_attach_options   how;
    int                 by, axes, times_by;
    double              tolerance_s; /* NaN: not given */
    const char         *recording, *truth_sigma; /* NULL: as in IN */
    const char         *half_size;   /* NULL: not given */
    double              radius, c; /* NaN: not given */
    int                 every;     /* 0: not given   */
    int                 split_loops;
    ct_push_csv_options push;
} convert_request;

static const char *const BY[] = {
    [CT_ATTACH_AUTO] = "auto", [CT_ATTACH_TIME] = "time", [CT_ATTACH_INDEX] = "index", [CT_ATTACH_NAME] = "name"};
static const char *const AXES[] = {"body", "camera"};
enum { INITIAL, TRUE_ONES };
static const char *const VALUE[] = {[INITIAL] = "initial", [TRUE_ONES] = "truth"};

static int find_by(const char *name) { return cli_find_name(name, BY, 4); }
static int find_axes(const char *name) { return cli_find_name(name, AXES, 2); }
static int find_value(const char *name) { return cli_find_name(name, VALUE, 2); }

/* ---- truth ---- */

static ct_status read_other(const cli_io *io, const char *path, ct_sequence **out, ct_err *err)
{
    cli_io    hushed = *io;
    ct_format format = CT_FORMAT_AUTO;
    ct_noise *noise = NULL;
    ct_status status = ct_noise_new(&noise, err);
    hushed.quiet = 1;
    if (status == CT_OK) status = cli_read_sequence(&hushed, path, &format, noise, out, err);
    /* The note of a trajectory (its poses are values and truth) is of no interest here. */
    if (status == CT_OK && (*out)->note && format != CT_FORMAT_TUM && format != CT_FORMAT_KITTI)
        cli_remark(io, "%s: %s", path, (*out)->note);
    ct_noise_free(noise);
    return status;
}

static ct_status attach_times(const cli_io *io, const convert_request *request, ct_sequence *seq, ct_err *err)
{
    ct_sequence *from = NULL;
    ct_err       inner = {0};
    ct_status    status = read_other(io, request->times, &from, err);
    if (status != CT_OK) return status;
    status = ct_sequence_attach_times(seq, from, (ct_attach_by)request->times_by, NULL, &inner);
    if (status != CT_OK) ct_fail(err, status, "--times %s: %s", request->times, inner.text);
    ct_sequence_free(from);
    return status;
}

static ct_status attach(const cli_io *io, const convert_request *request, ct_sequence *seq, ct_attach_result *found,
                        ct_err *err)
{
    ct_sequence *truth = NULL;
    ct_err       inner = {0};
    ct_status    status = strcmp(request->truth, VALUES) ? read_other(io, request->truth, &truth, err) : CT_OK;
    if (status != CT_OK) return status;
    status = ct_sequence_attach_truth(seq, truth, &request->how, found, &inner);
    if (status != CT_OK) ct_fail(err, status, "--truth %s: %s", request->truth, inner.text);
    else if (found->unturned && truth)
        cli_remark(io,
                   "%s: every rotation is the identity; if only positions are known, use --truth-known x,y (x,y,z in "
                   "space)",
                   request->truth);
    ct_sequence_free(truth);
    return status;
}

/* Fixes the pose of --hold: at its truth if that is complete, otherwise at its initial value. */
static ct_status hold(const convert_request *request, ct_sequence *seq, const ct_attach_result *found, ct_err *err)
{
    ct_graph *g = seq->graph;
    int32_t   v = ct_graph_find(g, request->hold);
    if (v < 0 && !strcmp(request->hold, FIRST)) {
        v = request->truth ? found->first : -1;
        for (int32_t i = 0; v < 0 && i < ct_graph_variables(g); i++)
            if (cli_is_pose(ct_graph_kind(g, i))) v = i;
        if (v < 0) return ct_fail(err, CT_E_ARGUMENT, "--hold first: there is no pose");
    }
    if (v < 0) return ct_fail(err, CT_E_ARGUMENT, "--hold %s: there is no such variable", request->hold);
    const ct_kind  kind = ct_graph_kind(g, v);
    const unsigned all = (1u << ct_kind_dim(kind)) - 1;
    if (seq->truth && (seq->known[v] & all) == all)
        memcpy(ct_graph_initial(g) + ct_graph_offset(g, v), seq->truth + ct_graph_offset(g, v),
               (size_t)ct_kind_size(kind) * sizeof(double));
    ct_graph_fix(g, v, 1);
    return CT_OK;
}

/* ---- which values ---- */

/* The format of OUT, or CT_FORMAT_AUTO if the write will refuse it. */
static ct_format format_out(const convert_request *r)
{
    ct_format to = (ct_format)r->to;
    if (to == CT_FORMAT_AUTO && ct_format_guess(r->path[1], 0, &to, NULL) != CT_OK) return CT_FORMAT_AUTO;
    return to;
}

static int is_known(const ct_sequence *seq, int32_t v)
{
    const unsigned all = (1u << ct_kind_dim(ct_graph_kind(seq->graph, v))) - 1;
    return seq->truth && (seq->known[v] & all) == all;
}

/* Poses whose (complete or partial) truth differs from their initial value. */
static int32_t count_different(const ct_sequence *seq)
{
    const ct_graph *g = seq->graph;
    int32_t         n = 0;
    for (int32_t v = 0; seq->truth && v < ct_graph_variables(g); v++) {
        const int64_t at = ct_graph_offset(g, v);
        n += cli_is_pose(ct_graph_kind(g, v)) && seq->known[v] &&
             memcmp(ct_graph_initial_const(g) + at, seq->truth + at,
                    (size_t)ct_kind_size(ct_graph_kind(g, v)) * sizeof(double));
    }
    return n;
}

/* *x <- the values to write; NULL: the initial values. A trajectory has one value per pose, so --values must select one
 * if they differ. */
static ct_status choose_values(const convert_request *r, const ct_sequence *seq, const double **x, ct_err *err)
{
    const ct_format to = format_out(r);
    char            name[128];
    *x = NULL;
    if (to == CT_FORMAT_AUTO) return CT_OK;
    const int     trajectory = cli_is_trajectory(to);
    const int32_t different = count_different(seq);
    if (trajectory && r->values < 0 && different)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: %d pose%s have a truth that differs from the initial value, and a trajectory has one value "
                       "per pose; select it by --values truth or --values initial",
                       r->path[1], different, CLI_S(different));
    if (r->values != TRUE_ONES) return CT_OK;
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++)
        if (!is_known(seq, v) && (!trajectory || cli_is_pose(ct_graph_kind(seq->graph, v))))
            return ct_fail(
                err, CT_E_ARGUMENT,
                "%s: --values truth: the truth of %s is not known%s; --values initial writes the initial values",
                r->path[1], ct_graph_name(seq->graph, v, name, sizeof name),
                seq->truth && seq->known[v] ? " in full" : "");
    *x = seq->truth;
    return CT_OK;
}

/* ---- recording and the truth's own sigma ---- */

/* A sequence named as a part of a recording says so in the file, as OUT may have another name. */
static ct_status set_header(const convert_request *r, ct_sequence *seq, ct_err *err)
{
    char            recording[256];
    const ct_format to = format_out(r);
    const char     *option = r->recording ? "recording" : r->truth_sigma ? "truth-sigma" : NULL;
    if (option && to != CT_FORMAT_COVTUNE && to != CT_FORMAT_AUTO)
        return ct_fail(err, CT_E_ARGUMENT, "--%s is for .ctseq files, and %s is not one (%s)", option, r->path[1],
                       ct_format_name(to));
    const char *name = r->recording;
    ct_sequence_recording(seq, recording, sizeof recording);
    if (!name && !seq->recording && seq->name && strcmp(recording, seq->name)) name = recording;
    if (name) {
        free(seq->recording);
        seq->recording = strcpy(cli_alloc((int64_t)strlen(name) + 1, 1), name);
    }
    return cli_set_truth_sigma(r->truth_sigma, &(ct_dataset){.trains = 1, .train = &seq}, err);
}

/* ---- odometry and loops ---- */

static ct_status split_loops(const convert_request *r, ct_sequence *seq, ct_noise *noise, ct_split_result *split,
                             ct_err *err)
{
    const ct_format to = format_out(r);
    ct_err          inner = {0};
    if (to != CT_FORMAT_COVTUNE && to != CT_FORMAT_AUTO)
        return ct_fail(err, CT_E_ARGUMENT,
                       "--split-loops is for .ctseq files, and %s is not one (%s): it has no names of noise models",
                       r->path[1], ct_format_name(to));
    const ct_status status = ct_sequence_split_loops(seq, noise, split, &inner);
    if (status != CT_OK) ct_fail(err, status, "--split-loops: %s: %s", r->path[0], inner.text);
    return status;
}

static void print_split(const ct_split_result *s)
{
    char step[64] = "", between[64] = "";
    if (s->step > 1) snprintf(step, sizeof step, " (their numbers are usually %.0f apart)", s->step);
    if (s->between) snprintf(between, sizeof between, ", %d of them between bodies", s->between);
    cli_row("odometry", "%d edge%s between poses that follow each other%s", s->odometry, CLI_S(s->odometry), step);
    if (s->loops)
        cli_row("loops", "%d edge%s%s; noise model%s loop%s", s->loops, CLI_S(s->loops), between, CLI_S(s->models),
                s->models > 1 ? ", loop#1, ..." : "");
    else cli_row("loops", "none");
}

static json_t *split_json(const ct_split_result *s)
{
    json_t *o = cli_object();
    cli_put(o, "odometry", cli_integer(s->odometry));
    cli_put(o, "loops", cli_integer(s->loops));
    cli_put(o, "between", cli_integer(s->between));
    cli_put(o, "models", cli_integer(s->models));
    cli_put(o, "step", cli_number(s->step));
    return o;
}

/* ---- recorded pushes ---- */

/* The first option for recorded pushes that is given; NULL: none. */
static const char *push_option(const convert_request *r)
{
    return r->half_size ? "half-size" : !isnan(r->radius) ? "radius" : !isnan(r->c) ? "c" : r->every ? "every" : NULL;
}

static cli_exit take_push(const cli_io *io, convert_request *r)
{
    char *end;
    r->push = ct_push_csv_defaults();
    if (!isnan(r->radius)) r->push.radius = r->radius;
    if (!isnan(r->c)) r->push.c = r->c;
    if (r->every) r->push.every = r->every;
    if (!r->half_size) return CLI_GO;
    r->push.half_x = strtod(r->half_size, &end);
    const int pair = end != r->half_size && *end == ',';
    r->push.half_y = pair ? strtod(end + 1, &end) : NAN;
    if (!pair || *end ||
        !(r->push.half_x >= 1e-6 && r->push.half_x <= 1e6 && r->push.half_y >= 1e-6 && r->push.half_y <= 1e6))
        return cli_misuse(io,
                          "--half-size is two lengths from 1e-06 to 1e+06 m with a comma (0.045,0.045), found \"%s\"",
                          r->half_size);
    return CLI_GO;
}

/* ---- the result ---- */

static void print_truth(const convert_request *request, const ct_attach_result *found)
{
    char points[64] = "", gap[64] = "";
    if (found->points)
        snprintf(points, sizeof points, ", %lld other variable%s", (long long)found->points, CLI_S(found->points));
    if (found->by == CT_ATTACH_TIME) snprintf(gap, sizeof gap, "; times differ by %.3g s at most", found->gap_s);
    if (!strcmp(request->truth, VALUES))
        cli_row("truth", "the initial values: %lld poses%s", (long long)found->matched, points);
    else
        cli_row("truth", "%s, by %s: %lld of %lld poses%s%s", request->truth, BY[found->by], (long long)found->matched,
                (long long)found->poses, points, gap);
}

static json_t *truth_json(const convert_request *request, const ct_attach_result *found)
{
    json_t *o = cli_object();
    cli_put(o, "from", cli_text(request->truth));
    cli_put(o, "by", cli_text(strcmp(request->truth, VALUES) ? BY[found->by] : NULL));
    cli_put(o, "matched", cli_integer(found->matched));
    cli_put(o, "poses", cli_integer(found->poses));
    cli_put(o, "points", cli_integer(found->points));
    cli_put(o, "gap_s", cli_number(found->by == CT_ATTACH_TIME ? found->gap_s : NAN));
    return o;
}

/* Noise models that factors have. */
static int32_t used_models(const ct_sequence *seq, const ct_noise *noise)
{
    uint8_t *used = cli_alloc(ct_noise_count(noise), 1);
    int32_t  n = 0;
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) used[ct_graph_factor(seq->graph, f).noise] = 1;
    for (int32_t m = 0; m < ct_noise_count(noise); m++) n += used[m];
    free(used);
    return n;
}

/* What was done. */
typedef struct {
    cli_written      written;
    ct_attach_result found;
    ct_split_result  split;
} outcome;

static void print(const convert_request *request, ct_format from, const ct_sequence *seq, const ct_noise *noise,
                  const outcome *done)
{
    char kinds[128];
    cli_row("from", "%s (%s)", request->path[0], ct_format_name(from));
    cli_row("to", "%s (%s)", request->path[1], ct_format_name(done->written.format));
    cli_row("variables", "%s", cli_describe_kinds(seq->graph, kinds, sizeof kinds));
    cli_row("factors", "%d", ct_graph_factors(seq->graph));
    cli_row("noise models", "%d", used_models(seq, noise));
    if (request->split_loops) print_split(&done->split);
    if (request->truth) print_truth(request, &done->found);
    if (seq->repaired) cli_row("repaired", "%lld matri%s", (long long)seq->repaired, seq->repaired == 1 ? "x" : "ces");
    if (done->written.dropped) cli_row("left out", "%lld", (long long)done->written.dropped);
}

static void print_json(const convert_request *request, ct_format from, const ct_sequence *seq, const ct_noise *noise,
                       const outcome *done)
{
    json_t *o = cli_object();
    cli_put(o, "in", cli_text(request->path[0]));
    cli_put(o, "from", cli_text(ct_format_name(from)));
    cli_put(o, "out", cli_text(request->path[1]));
    cli_put(o, "to", cli_text(ct_format_name(done->written.format)));
    cli_put(o, "variables", cli_integer(ct_graph_variables(seq->graph)));
    cli_put(o, "factors", cli_integer(ct_graph_factors(seq->graph)));
    cli_put(o, "noise_models", cli_integer(used_models(seq, noise)));
    cli_put(o, "truth", request->truth ? truth_json(request, &done->found) : cli_check_alloc(json_null()));
    cli_put(o, "split", request->split_loops ? split_json(&done->split) : cli_check_alloc(json_null()));
    cli_put(o, "dropped", cli_integer(done->written.dropped));
    cli_put(o, "dropped_first", cli_text(done->written.dropped ? done->written.what : NULL));
    cli_put(o, "repaired", cli_integer(seq->repaired));
    cli_put(o, "note", cli_text(seq->note));
    cli_print_json(o);
}

static cli_exit carry_out(const cli_io *io, const convert_request *request)
{
    ct_err       err = {0};
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    ct_format    from = (ct_format)request->from;
    outcome      done = {0};
    cli_status_show(io, "reading %s", request->path[0]);
    ct_status status = ct_noise_new(&noise, &err);
    if (status == CT_OK) status = cli_read_push(io, request->path[0], &from, &request->push, noise, &seq, &err);
    if (status == CT_OK && push_option(request) && from != CT_FORMAT_PUSH)
        status = ct_fail(&err, CT_E_ARGUMENT, "--%s is for recorded pushes, and %s is not one (%s)",
                         push_option(request), request->path[0], ct_format_name(from));
    if (status == CT_OK && request->times) status = attach_times(io, request, seq, &err);
    if (status == CT_OK && request->truth) status = attach(io, request, seq, &done.found, &err);
    if (status == CT_OK) status = set_header(request, seq, &err);
    if (status == CT_OK && request->hold) status = hold(request, seq, &done.found, &err);
    if (status == CT_OK && request->split_loops) status = split_loops(request, seq, noise, &done.split, &err);
    const double *x = NULL;
    if (status == CT_OK) status = choose_values(request, seq, &x, &err);
    cli_status_show(io, "writing %s", request->path[1]);
    if (status == CT_OK)
        status = cli_write_sequence(seq, noise, x, request->to, request->lossy, request->path[1], &done.written, &err);
    cli_status_clear();
    if (status == CT_OK) {
        cli_remark_dropped(io, request->path[1], &done.written);
        if (io->json) print_json(request, from, seq, noise, &done);
        else if (!io->quiet && !cli_is_stdout(request->path[1])) print(request, from, seq, noise, &done);
    }
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

static void remark_former_names(const cli_io *io, const char *known)
{
    for (const char *at = known; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (!strncmp(at, "theta", 5) && strchr(",", at[5]))
            cli_remark(io, "--truth-known %s: \"theta\" is now called \"yaw\"", known);
}

/* Checks combinations of options. */
static cli_exit check(const cli_io *io, convert_request *r)
{
    const char *lone = r->by != CT_ATTACH_AUTO  ? "by"
                       : !isnan(r->tolerance_s) ? "tolerance"
                       : r->how.known           ? "known"
                       : r->axes                ? "axes"
                       : r->align               ? "align"
                                                : NULL;
    const int   values = r->truth && !strcmp(r->truth, VALUES);
    if (!r->truth && lone) return cli_misuse(io, "--truth-%s needs --truth FILE", lone);
    if (values && lone && strcmp(lone, "known"))
        return cli_misuse(io, "--truth-%s is for truth from another file, not for --truth values", lone);
    if (r->align && strcmp(r->align, FIRST)) return cli_misuse(io, "--truth-align is first, found \"%s\"", r->align);
    if (!isnan(r->tolerance_s) && r->by != CT_ATTACH_TIME && r->by != CT_ATTACH_AUTO)
        return cli_misuse(io, "--truth-tolerance is for --truth-by time");
    if (r->times_by == CT_ATTACH_TIME) return cli_misuse(io, "--times-by is one of auto, index, name, found \"time\"");
    if (r->times_by != CT_ATTACH_AUTO && !r->times)
        return cli_misuse(io, "--times-by needs --times FILE");
    if (cli_check_truth_sigma(io, r->truth_sigma) != CLI_GO) return CLI_MISUSED;
    if (r->recording && (!*r->recording || *r->recording == '#' || r->recording[strcspn(r->recording, " \t\r\n")]))
        return cli_misuse(io, "--recording is one word that does not begin with #, found \"%s\"", r->recording);
    remark_former_names(io, r->how.known);
    r->how.by = (ct_attach_by)r->by;
    r->how.camera = r->axes;
    r->how.align = r->align != NULL;
    if (!isnan(r->tolerance_s)) r->how.tolerance_s = r->tolerance_s;
    return take_push(io, r);
}

/* The output is OUT or --out. */
static cli_exit resolve_out(const cli_io *io, convert_request *r)
{
    if (r->out && r->path[1]) return cli_misuse(io, "OUT is %s and --out is %s; give one of them", r->path[1], r->out);
    if (!r->out && !r->path[1]) return cli_misuse(io, "OUT is missing");
    if (r->out) r->path[1] = r->out;
    return CLI_GO;
}

#define AT(member) offsetof(convert_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_CHOICE("from", CLI_FORMATS, ct_format_find, AT(from),
                   "format of IN (from its ending, or its first line)"),
    CLI_ROW_CHOICE("to", CLI_FORMATS, ct_format_find, AT(to), "format of OUT (from its ending)"),
    CLI_ROW_REPAIR,
    CLI_ROW_PLUGIN,
    CLI_ROW_FLAG("lossy", AT(lossy), "leave out what the format cannot hold, with a remark"),
    CLI_ROW_CHOICE("values", "truth|initial", find_value, AT(values),
                   "values to write; required for a trajectory if the truth of IN differs from its initial values "
                   "(initial)"),
    CLI_ROW_TEXT("out", "FILE", AT(out), "in place of OUT"),
    CLI_ROW_TEXT(
        "truth", "FILE|values", AT(truth),
        "ground truth: a trajectory (.tum, .kitti) or a graph; values: the values of IN are the truth"),
    CLI_ROW_CHOICE("truth-by", "auto|time|index|name", find_by, AT(by),
                   "how truth is matched to poses: nearest in time, by index, or by name, where line i of a trajectory "
                   "is xi (time if both have times, otherwise name)"),
    CLI_ROW_NUMBER("truth-tolerance", "S", 0, 1e6, AT(tolerance_s), "largest time difference of a match, in s (0.02)"),
    CLI_ROW_TEXT("truth-known", "x,y|x,y,z|all", AT(how.known),
                 "coordinates of the truth that are known (all); x,y without headings"),
    CLI_ROW_CHOICE("truth-axes", "body|camera", find_axes, AT(axes),
                   "axes of the truth: camera, x right, y down, z ahead, as in KITTI; or body, x ahead, y left, z up "
                   "(body)"),
    CLI_ROW_TEXT("truth-align", "first", AT(align),
                 "move the truth so that its first pose is that of the graph (not moved)"),
    CLI_ROW_TEXT("truth-sigma", "M[,RAD]", AT(truth_sigma),
                 "sigma of the truth itself, of positions in m and of rotations in rad, written to OUT (as in the "
                 "files)"),
    CLI_ROW_TEXT("recording", "NAME", AT(recording),
                 "recording that the sequence is a part of, written to OUT (as in IN: its line recording, or its name "
                 "without a part number)"),
    CLI_ROW_TEXT("times", "FILE", AT(times),
                 "times of the poses, from a trajectory (.tum) that the estimator wrote"),
    CLI_ROW_CHOICE("times-by", "auto|index|name", find_by, AT(times_by), "how times are matched to poses, as above "
                                                                         "(name)"),
    CLI_ROW_FLAG("split-loops", AT(split_loops),
                 "give edges between poses that do not follow each other a noise model of their own, loop; for pose "
                 "graphs of other programs, which have one sort of edge (OUT is .ctseq)"),
    CLI_ROW_TEXT("hold", "NAME|first", AT(hold),
                 "fix a pose, at its truth if known: for graphs with relative measurements only"),
    CLI_ROW_HEADING("Recorded pushes (push, .csv)"),
    CLI_ROW_TEXT("half-size", "HX,HY", AT(half_size),
                 "half lengths of the pushed rectangle, in m (0.045,0.045)"),
    CLI_ROW_NUMBER("radius", "R", 0, 1e6, AT(radius), "radius of the finger, in m (0.0047)"),
    CLI_ROW_NUMBER("c", "C", 1e-6, 1e6, AT(c),
                   "constant of the limit surface: moment over force of friction, in m (0.05)"),
    CLI_ROW_INTEGER("every", "N", 1, 1000000, AT(every), "rows of the table per step (3)"),
    CLI_ROW_HEADING("Output"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    convert_request request = {.from = CT_FORMAT_AUTO,
                               .to = CT_FORMAT_AUTO,
                               .how = ct_attach_defaults(),
                               .values = -1,
                               .by = CT_ATTACH_AUTO,
                               .times_by = CT_ATTACH_AUTO,
                               .tolerance_s = NAN,
                               .radius = NAN,
                               .c = NAN};
    cli_io   io;
    cli_exit code = cli_parse(command, &request, argc, argv, &io, request.path);
    if (code == CLI_GO) code = resolve_out(&io, &request);
    if (code == CLI_GO) code = check(&io, &request);
    return code == CLI_GO ? cli_finish(&io, carry_out(&io, &request)) : code;
}

const cli_command cli_convert = {
    .name = "convert",
    .brief = "write a graph in another format",
    .operands = "IN OUT",
    .least = 1,
    .most = 2,
    .text = "Reads a graph and writes it in another format. What that format cannot hold (truth in g2o, kernels) is an "
            "error, unless --lossy allows to leave it out. A trajectory holds poses only; --values selects truth or "
            "initial values. Endings: .ctseq (covtune), .g2o, .json (leo), .tum, .kitti, .pyfg, .isam, .csv (push, "
            "read only).\n\n"
            "--truth adds ground truth from another file, for covtune learn and eval. Graph and truth must have the "
            "same frame.\n",
    .example = "  covtune simulate sphere --poses 100 --out ball.ctseq\n"
               "  covtune convert ball.ctseq ball.g2o --lossy\n"
               "  covtune convert ball.g2o true.ctseq --truth ball.ctseq\n",
    .options = OPTIONS,
    .run = run,
};
