/* score.c: covtune score: an estimated trajectory against the true one. */
#define _POSIX_C_SOURCE 200809L
#include "cli/score/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a file is read, as on the command line. */
typedef struct {
    int         format, camera, geodetic;
    const char *time, *columns, *topic, *each, *where;
    const char *position, *quaternion, *yaw, *body, *mount;
} file_request;

typedef struct {
    file_request     file[2]; /* estimate, truth */
    const char      *covariance, *delta;
    int              frame, align; /* ct_covariance_frame, ct_alignment */
    ct_score_options options;
} score_request;

/* ---- words ---- */

#define X(constant, name, description) "|" name
static const char ALIGNMENTS[] = CT_ALIGNMENT_LIST(X), ASSOCIATIONS[] = CT_ASSOCIATE_LIST(X),
                  FORMATS[] = CT_SOURCE_FORMAT_LIST(X);
#undef X

static int find_axes(const char *name) { return cli_find_name(name, (const char *const[]){"robot", "camera"}, 2); }

static int find_frame(const char *name)
{
    static const char *const names[] = {
#define X(constant, name, description) name,
        CT_COVARIANCE_FRAME_LIST(X)
#undef X
    };
    return cli_find_name(name, names, CT_COVARIANCE_FRAME_COUNT);
}

/* Splits at commas outside of brackets and quotes, in place; blanks around a part are left out. Returns the number of
 * parts; -1: more than `most`, or one is empty. */
static int split(char *text, int most, const char *part[])
{
    int  count = 0, depth = 0;
    char quote = 0;
    for (char *at = text, *begin = text;; at++) {
        if (quote && *at) {
            if (*at == quote) quote = 0;
            continue;
        }
        if (*at == '\'' || *at == '`') quote = *at;
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (*at && (*at != ',' || depth > 0)) continue;
        const int last = *at == 0;
        char     *end = at;
        *at = 0;
        while (*begin == ' ') begin++;
        while (end > begin && end[-1] == ' ') *--end = 0;
        if (!*begin || count == most) return -1;
        part[count++] = begin;
        begin = at + 1;
        if (last) return count;
    }
}

/* ---- files ---- */

#define COLUMNS 256

#define LISTS   5

/* Lists of a file's options, split; the parts point into `held`. */
typedef struct {
    char       *held[LISTS];
    const char *column[COLUMNS];
} lists;

static void free_lists(lists *l)
{
    for (int i = 0; i < LISTS; i++) free(l->held[i]);
}

/* The parts of a list into `out`; *count <- 0 if the option is not given. */
static cli_exit take_list(const cli_io *io, const char *option, const char *text, const char *what, int least, int most,
                          char **held, const char *out[], int *count)
{
    *count = 0;
    if (!text) return CLI_GO;
    *held = cli_check_alloc(strdup(text));
    *count = split(*held, most, out);
    if (*count >= least) return CLI_GO;
    return cli_misuse(io, "--%s takes %s, separated by commas; \"%s\" is not that", option, what, text);
}

/* Numbers of a mount; the text of one that is none. */
static const char *take_mount(int n, const char *const part[], ct_trajectory_options *o)
{
    for (int i = 0; i < n; i++) {
        char *end;
        o->mount[i] = strtod(part[i], &end);
        if (end == part[i] || *end || !isfinite(o->mount[i])) return part[i];
    }
    o->mounts = n;
    return NULL;
}

static cli_exit set_up_file(const cli_io *io, const score_request *request, int truth, ct_trajectory_options *o,
                            lists *l)
{
    const file_request *f = &request->file[truth];
    const char         *number[7];
    int                 n, columns;
    cli_exit            code;
    *o = ct_trajectory_defaults();
    o->source.format = (ct_source_format)f->format;
    o->source.time = f->time;
    o->source.topic = f->topic;
    o->source.each = f->each;
    o->source.where = f->where;
    o->yaw = f->yaw;
    o->body = f->body;
    o->camera = f->camera;
    o->geodetic = f->geodetic;
    o->estimate = !truth;
    o->covariance_frame = (ct_covariance_frame)request->frame;
    code = take_list(io, truth ? "truth-position" : "position", f->position, "two or three expressions", 2, 3,
                     &l->held[0], o->position, &n);
    if (code == CLI_GO)
        code = take_list(io, truth ? "truth-quaternion" : "quaternion", f->quaternion,
                         "four expressions (x, y, z, w)", 4, 4, &l->held[1], o->quaternion, &n);
    if (code == CLI_GO)
        code = take_list(io, truth ? "truth-columns" : "columns", f->columns, "names of columns", 1, COLUMNS,
                         &l->held[2], l->column, &columns);
    if (code != CLI_GO) return code;
    o->source.column = l->column;
    o->source.columns = columns;
    code = take_list(io, "covariance", truth ? NULL : request->covariance, "2, 3, 4, 6, 9 or 36 expressions", 2, 36,
                     &l->held[3], o->covariance, &n);
    o->covariances = n;
    if (code == CLI_GO)
        code = take_list(io, truth ? "truth-mount" : "mount", f->mount, "2, 3 or 7 numbers", 2, 7, &l->held[4], number,
                         &n);
    const char *bad = code == CLI_GO ? take_mount(n, number, o) : NULL;
    return bad ? cli_misuse(io, "--%smount takes numbers; \"%s\" is none", truth ? "truth-" : "", bad) : code;
}

static cli_exit read_file(const cli_io *io, const score_request *request, const char *path, int truth,
                          ct_trajectory **out)
{
    ct_trajectory_options options;
    lists                 l = {0};
    ct_err                err = {0};
    cli_exit              code = set_up_file(io, request, truth, &options, &l);
    if (code == CLI_GO) {
        cli_status_show(io, "reading %s", path);
        if (ct_trajectory_read(path, &options, out, &err) != CT_OK) code = cli_fail(io, "%s", err.text);
        cli_status_clear();
    }
    free_lists(&l);
    return code;
}

/* ---- errors ---- */

static cli_exit read_deltas(const cli_io *io, const char *text, score_result *result, score_delta delta[])
{
    const char *part[SCORE_DELTAS];
    char       *held = cli_check_alloc(strdup(text));
    int         count = split(held, SCORE_DELTAS, part);
    for (int i = 0; i < count; i++)
        if (!ct_delta_find(part[i], &delta[i].delta, &delta[i].unit)) count = -1;
    free(held);
    if (count < 1)
        return cli_misuse(io,
                          "--delta takes at most %d distances as in 1f, 0.5s, 10m, separated by commas; \"%s\" is "
                          "not that",
                          SCORE_DELTAS, text);
    result->deltas = count;
    result->delta = delta;
    return CLI_GO;
}

static cli_exit compare(const cli_io *io, const score_request *request, score_result *result, score_delta delta[])
{
    ct_score_options o = request->options;
    ct_err           err = {0};
    for (int i = 0; i < result->deltas; i++) {
        o.delta = delta[i].delta;
        o.delta_unit = delta[i].unit;
        if (ct_score_trajectory(result->track[0], result->track[1], &o, &delta[i].score, &err) != CT_OK)
            return cli_fail(io, "%s and %s: %s", result->path[0], result->path[1], err.text);
    }
    result->options = &request->options;
    ct_status status = CT_OK;
    if (io->json) score_print_json(result);
    else if (!io->quiet) status = score_print_rows(result, &err);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

/* ---- the command ---- */

#define AT(member)       offsetof(score_request, member)
#define ROWS(prefix, k, of)                                                                                            \
    CLI_ROW_CHOICE(prefix "format", FORMATS + 1, ct_source_format_find, AT(file[k].format), "of " of                  \
                   " (by its content); graphs and sequence files are known by their ending"),                          \
    CLI_ROW_TEXT(prefix "time", "EXPRESSION", AT(file[k].time),                                                        \
                 "of the stamp: 't in ms', '#1' (column t, time, ...)"),                                               \
    CLI_ROW_TEXT(prefix "position", "X,Y[,Z]", AT(file[k].position),                                                   \
                 "expressions of the position: x,y,z or '#2 in mm,#3 in mm' (by the format, or columns x, y, z)"),     \
    CLI_ROW_TEXT(prefix "quaternion", "X,Y,Z,W", AT(file[k].quaternion), "expressions of the rotation"),               \
    CLI_ROW_TEXT(prefix "yaw", "EXPRESSION", AT(file[k].yaw), "of the rotation of planar poses: 'heading in deg'"),    \
    CLI_ROW_FLAG(prefix "geodetic", AT(file[k].geodetic),                                                              \
                 "the position is latitude and longitude in degrees, and height in m"),                                \
    CLI_ROW_CHOICE(prefix "axes", "robot|camera", find_axes, AT(file[k].camera),                                       \
                   "camera: x right, y down, z ahead (robot: x ahead, y left, z up)"),                                 \
    CLI_ROW_TEXT(prefix "columns", "NAME,..", AT(file[k].columns), "names of a table's columns"),                      \
    CLI_ROW_TEXT(prefix "topic", "NAME", AT(file[k].topic), "of a bag"),                                               \
    CLI_ROW_TEXT(prefix "each", "FIELD", AT(file[k].each), "array of a bag's messages whose elements are the poses"),  \
    CLI_ROW_TEXT(prefix "where", "CONDITION", AT(file[k].where),                                                       \
                 "records that are used: \"child_frame_id == 'base'\""),                                               \
    CLI_ROW_TEXT(prefix "body", "NAME", AT(file[k].body), "of a graph with several bodies: x of x0, x1, ..."),         \
    CLI_ROW_TEXT(prefix "mount", "X,Y[,..]", AT(file[k].mount),                                                        \
                 "pose on the body of what is tracked, an antenna or a marker: x,y; x,y,z (x,y,yaw of poses in the "  \
                 "plane); x,y,z,qx,qy,qz,qw (the body's origin)")

static const cli_option OPTIONS[] = {
    CLI_ROW_HEADING("Which poses are compared"),
    CLI_ROW_CHOICE("associate", ASSOCIATIONS + 1, ct_associate_find, AT(options.associate),
                   "nearest: poses with the nearest stamps; interpolate: the truth at the estimate's stamps; index: by "
                   "number (nearest; index without times)"),
    CLI_ROW_NUMBER("tolerance", "S", 0, 1e9, AT(options.tolerance_s), "of nearest (0.01)"),
    CLI_ROW_NUMBER("gap", "S", 0, 1e9, AT(options.gap_s), "of interpolate: the largest gap of the truth (0.5)"),
    CLI_ROW_NUMBER("offset", "S", -1e11, 1e11, AT(options.offset_s), "added to the stamps of the estimate (0)"),
    CLI_ROW_HEADING("Errors"),
    CLI_ROW_CHOICE("align", ALIGNMENTS + 1, ct_alignment_find, AT(align),
                   "how the estimate is moved onto the truth; se2, se3 and yaw by least squares of positions, sim3 "
                   "with a scale (none)"),
    CLI_ROW_TEXT("delta", "D[,D]..", AT(delta), "of RPE, in frames, seconds or metres: 1f, 0.5s, 10m (1f)"),
    CLI_ROW_FLAG("all-pairs", AT(options.all_pairs), "RPE from every pose, not from the end of the pair before"),
    CLI_ROW_HEADING("The file of the estimate"),
    ROWS("", 0, "ESTIMATE"),
    CLI_ROW_TEXT("covariance", "V,..", AT(covariance),
                 "expressions of variances (of x, y[, z], or of x, y, yaw, or of x, y, z, roll, pitch, yaw) or of all "
                 "entries of the matrix (that of a message): NEES is printed"),
    CLI_ROW_CHOICE("covariance-frame", "local|world", find_frame, AT(frame),
                   "axes of the covariance (local: the body's)"),
    CLI_ROW_HEADING("The file of the truth"),
    ROWS("truth-", 1, "TRUTH"),
    CLI_ROW_END,
};
#undef AT
#undef ROWS

/* Options that another makes useless. */
static cli_exit check(const cli_io *io, int argc, char **argv, const score_request *request)
{
    const int associate = request->options.associate;
    if (cli_option_given(argc, argv, "tolerance") && associate > CT_ASSOCIATE_NEAREST)
        return cli_misuse(io, "--tolerance is for --associate nearest");
    if (cli_option_given(argc, argv, "gap") && associate != CT_ASSOCIATE_INTERPOLATE)
        return cli_misuse(io, "--gap is for --associate interpolate");
    if (cli_option_given(argc, argv, "offset") && associate == CT_ASSOCIATE_INDEX)
        return cli_misuse(io, "--offset is not for --associate index");
    if (cli_option_given(argc, argv, "covariance-frame") && !request->covariance)
        return cli_misuse(io, "--covariance-frame needs --covariance");
    return CLI_GO;
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    score_request request = {
        .file = {{.format = CT_SOURCE_AUTO}, {.format = CT_SOURCE_AUTO}},
        .delta = "1f",
        .options = ct_score_defaults(),
    };
    cli_io         io;
    const char    *path[2];
    ct_trajectory *track[2] = {NULL, NULL};
    score_delta    delta[SCORE_DELTAS] = {0};
    score_result   result = {0};
    cli_exit       code = cli_parse(command, &request, argc, argv, &io, path);
    if (code == CLI_GO) code = check(&io, argc, argv, &request);
    if (code == CLI_GO) code = read_deltas(&io, request.delta, &result, delta);
    if (code != CLI_GO) return code;
    request.options.align = (ct_alignment)request.align;
    for (int i = 0; i < 2 && code == CLI_GO; i++) {
        code = read_file(&io, &request, path[i], i, &track[i]);
        result.path[i] = path[i];
        result.track[i] = track[i];
    }
    if (code == CLI_GO) code = compare(&io, &request, &result, delta);
    for (int i = 0; i < 2; i++) ct_trajectory_free(track[i]);
    return cli_finish(&io, code);
}

const cli_command cli_score = {
    .name = "score",
    .brief = "compare an estimated trajectory with the true one: APE, RPE",
    .operands = "ESTIMATE TRUTH",
    .least = 2,
    .most = 2,
    .text = "Absolute and relative pose errors, with the figures of evo. Files are TUM, KITTI or EuRoC trajectories, "
            "tables with columns (CSV, RTKLIB), bags, covtune's sequence files and other graphs; text may be "
            "compressed by gzip. APE is the difference of poses at the same time, RPE that of motions over a "
            "distance. It is the scoring of covtune tune.\n",
    .example = "  printf '0 0 0 0 0 0 0 1\\n1 1 0 0 0 0 0 1\\n2 2 1 0 0 0 0 1\\n' >truth.txt\n"
               "  printf '0 0 0 0 0 0 0 1\\n1 1.1 0 0 0 0 0 1\\n2 2 1.2 0 0 0 0 1\\n' >estimate.txt\n"
               "  covtune score estimate.txt truth.txt --delta 1f,1m\n",
    .options = OPTIONS,
    .run = run,
};
