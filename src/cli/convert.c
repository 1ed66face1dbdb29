/* convert.c: covtune convert. One file's graph in another format. */
#include "cli.h"

typedef struct {
    const char *path[2]; /* in, out */
    int         from, to, lossy;
} convert_request;

static void print(const convert_request *request, ct_format from, const ct_sequence *seq, const ct_noise *noise, const cli_written *written)
{
    char kinds[128];
    cli_row("from", "%s (%s)", request->path[0], ct_format_name(from));
    cli_row("to", "%s (%s)", request->path[1], ct_format_name(written->format));
    cli_row("variables", "%s", cli_kinds(seq->graph, kinds, sizeof kinds));
    cli_row("factors", "%d", ct_graph_factors(seq->graph));
    cli_row("noise models", "%d", ct_noise_count(noise));
    if (written->dropped) cli_row("left out", "%lld", (long long)written->dropped);
}

static void print_json(const convert_request *request, ct_format from, const ct_sequence *seq, const ct_noise *noise,
                       const cli_written *written)
{
    json_t *o = cli_object();
    cli_put(o, "in", cli_text(request->path[0]));
    cli_put(o, "from", cli_text(ct_format_name(from)));
    cli_put(o, "out", cli_text(request->path[1]));
    cli_put(o, "to", cli_text(ct_format_name(written->format)));
    cli_put(o, "variables", cli_integer(ct_graph_variables(seq->graph)));
    cli_put(o, "factors", cli_integer(ct_graph_factors(seq->graph)));
    cli_put(o, "noise_models", cli_integer(ct_noise_count(noise)));
    cli_put(o, "dropped", cli_integer(written->dropped));
    cli_put(o, "dropped_first", cli_text(written->dropped ? written->what : NULL));
    cli_put(o, "note", cli_text(seq->note));
    cli_print_json(o);
}

static cli_exit carry_out(const cli_io *io, const convert_request *request)
{
    ct_err       err = {0};
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    ct_format    from = (ct_format)request->from;
    cli_written  written;
    cli_show(io, "reading %s", request->path[0]);
    ct_status status = ct_noise_new(&noise, &err);
    if (status == CT_OK) status = cli_read(io, request->path[0], &from, noise, &seq, &err);
    cli_show(io, "writing %s", request->path[1]);
    if (status == CT_OK) status = cli_write(seq, noise, NULL, request->to, request->lossy, request->path[1], &written, &err);
    cli_hide();
    if (status == CT_OK) {
        cli_say_dropped(io, request->path[1], &written);
        if (io->json) print_json(request, from, seq, noise, &written);
        else if (!io->quiet && !cli_is_stdout(request->path[1])) print(request, from, seq, noise, &written);
    }
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    convert_request  request = {.from = CT_FORMAT_AUTO, .to = CT_FORMAT_AUTO};
    const cli_option options[] = {
        CLI_ROW_CHOICE("from", cli_formats, ct_format_find, &request.from, "format of IN (told from its ending, or its first line)"),
        CLI_ROW_CHOICE("to", cli_formats, ct_format_find, &request.to, "format of OUT (told from its ending)"),
        CLI_ROW_FLAG("lossy", &request.lossy, "leave out what the format cannot hold, and say what"),
        CLI_ROW_END,
    };
    cli_io         io;
    const cli_exit code = cli_parse(command, options, argc, argv, &io, request.path);
    return code == CLI_GO ? cli_finish(&io, carry_out(&io, &request)) : code;
}

const cli_command cli_convert = {
    .name = "convert",
    .brief = "write a graph in another format",
    .operands = "IN OUT",
    .least = 2,
    .most = 2,
    .text = "Reads a graph and writes it in another format. What that format has no place for (truth in g2o, factors in a trajectory) "
            "is refused, unless --lossy allows to leave it out. Endings: .ctseq (covtune), .g2o, .json (leo), .tum, .kitti, .pyfg, .isam.\n",
    .example = "  covtune simulate sphere --poses 100 --out ball.ctseq\n"
               "  covtune convert ball.ctseq ball.g2o --lossy\n"
               "  covtune convert ball.g2o ball.txt --to tum --lossy\n",
    .run = run,
};
