/* simulate.c: covtune simulate: pose graphs with known truth. Datasets: nav.c, ../push/simulate.c. */
#include <covtune/simulate.h>
#include "cli/simulate/simulate.h"

#include <string.h>

typedef struct {
    const char      *out;
    int              format, poses; /* poses 0, sigmas 0, loops -1: the world's default */
    double           sigma_t, sigma_r, loops;
    uint64_t         seed;
    ct_pose_graph_options world;
} simulate_request;

static void print(const simulate_request *request, const ct_sequence *seq)
{
    const ct_pose_graph_options *w = &request->world;
    const ct_accuracy       rmse = ct_accuracy_of(seq, ct_graph_initial_const(seq->graph));
    const int32_t           factors = ct_graph_factors(seq->graph);
    char                    kinds[128];
    cli_row("made", "%s: %s; %d factor%s, %d of them loops", request->out,
            cli_describe_kinds(seq->graph, kinds, sizeof kinds), factors, CLI_S(factors), factors - (w->poses - 1));
    cli_row("noise", "sigma %g m, %g rad; seed %llu", w->sigma_t, w->sigma_r, (unsigned long long)w->seed);
    cli_row("initial", "values are composed odometry: rmse %.4g m, %.4g rad (per coordinate, against the truth)",
            rmse.translation, rmse.rotation);
}

static void print_json(const simulate_request *request, const ct_sequence *seq, const cli_written *written)
{
    const ct_pose_graph_options *w = &request->world;
    json_t                 *o = cli_object();
    cli_put(o, "out", cli_text(request->out));
    cli_put(o, "format", cli_text(ct_format_name(written->format)));
    cli_put(o, "world", cli_text(w->kind == CT_SE2 ? "grid" : "sphere"));
    cli_put(o, "variables", cli_integer(ct_graph_variables(seq->graph)));
    cli_put(o, "factors", cli_integer(ct_graph_factors(seq->graph)));
    cli_put(o, "loops", cli_integer(ct_graph_factors(seq->graph) - (w->poses - 1)));
    cli_put(o, "sigma_t", cli_number(w->sigma_t));
    cli_put(o, "sigma_r", cli_number(w->sigma_r));
    cli_put(o, "seed", cli_integer((int64_t)w->seed));
    cli_put(o, "rmse", cli_rmse_json(ct_accuracy_of(seq, ct_graph_initial_const(seq->graph))));
    cli_put(o, "dropped", cli_integer(written->dropped));
    cli_print_json(o);
}

/* Only covtune's format holds the truth; elsewhere it is dropped, with a remark. */
static cli_exit carry_out(const cli_io *io, const simulate_request *request)
{
    ct_err       err = {0};
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    cli_written  written;
    ct_status    status = ct_noise_new(&noise, &err);
    cli_status_show(io, "making %d poses", request->world.poses);
    if (status == CT_OK) status = ct_simulate_pose_graph(&request->world, noise, &seq, &err);
    if (status == CT_OK)
        status = cli_write_sequence(seq, noise, NULL, request->format, 1, request->out, &written, &err);
    cli_status_clear();
    if (status == CT_OK) {
        cli_remark_dropped(io, request->out, &written);
        if (io->json) print_json(request, seq, &written);
        else if (!io->quiet && !cli_is_stdout(request->out)) print(request, seq);
    }
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

/* Worlds that are datasets. */
static const struct {
    const char        *name, *topic;
    const cli_command *command;
} DATASETS[] = {{"nav2d", "simulate nav2d", &cli_simulate_nav},
                {"nav3d", "simulate nav3d", &cli_simulate_nav},
                {"push2d", "simulate push2d", &cli_simulate_push}};

static int find_dataset(const char *word)
{
    for (int i = 0; i < (int)(sizeof DATASETS / sizeof *DATASETS); i++)
        if (!strcmp(word, DATASETS[i].name)) return i;
    return -1;
}

/* Datasets have their own options, so the world is the first word that is not a flag: its number, or -1. */
static int asks_for_dataset(int argc, char **argv)
{
    int i = 1;
    while (i < argc && (!strcmp(argv[i], "--json") || !strcmp(argv[i], "--quiet") || !strcmp(argv[i], "--help") ||
                        !strcmp(argv[i], "-h")))
        i++;
    return i < argc ? find_dataset(argv[i]) : -1;
}

/* The kind of the world that the operand names. */
static cli_exit find_world(const cli_io *io, const char *name, ct_kind *kind)
{
    if (find_dataset(name) >= 0)
        return cli_misuse(io, "%s comes before its options: covtune simulate %s --out DIR", name, name);
    *kind = CT_SE2;
    if (!strcmp(name, "grid")) return CLI_GO;
    *kind = CT_SE3;
    if (!strcmp(name, "sphere")) return CLI_GO;
    const char *near = cli_nearest(name, (const char *const[]){"grid", "sphere", "nav2d", "nav3d", "push2d", NULL});
    if (near) return cli_misuse(io, "there is no world \"%s\"; did you mean %s?", name, near);
    return cli_misuse(io, "there is no world \"%s\": it is grid, sphere, nav2d, nav3d or push2d", name);
}

#define AT(member) offsetof(simulate_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT("out", "FILE", AT(out), "output file; only .ctseq holds the truth"),
    CLI_ROW_CHOICE("format", CLI_FORMATS, ct_format_find, AT(format), "format of the file (by its ending)"),
    CLI_ROW_INTEGER("poses", "N", 2, 10000000, AT(poses), "number of poses (grid: 3500, sphere: 2500)"),
    CLI_ROW_NUMBER("sigma-t", "S", 1e-6, 1e3, AT(sigma_t), "sigma of relative translations, in m (0.05)"),
    CLI_ROW_NUMBER("sigma-r", "S", 1e-6, 1, AT(sigma_r), "sigma of relative rotations, in rad (0.01)"),
    CLI_ROW_NUMBER("loops", "P", 0, 1, AT(loops),
                   "probability of a loop closure where one is possible (grid: 0.5, sphere: 1)"),
    CLI_ROW_SEED("seed", "K", AT(seed), "seed of the random numbers (1)"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    const int dataset = asks_for_dataset(argc, argv);
    if (dataset >= 0) {
        cli_command its = *DATASETS[dataset].command;
        its.topic = DATASETS[dataset].topic;
        return its.run(&its, argc, argv);
    }
    simulate_request request = {.format = CT_FORMAT_AUTO, .loops = -1, .seed = 1};
    cli_io      io;
    const char *name;
    ct_kind     kind = CT_SE2;
    cli_exit    code = cli_parse(command, &request, argc, argv, &io, &name);
    if (code == CLI_GO) code = find_world(&io, name, &kind);
    if (code == CLI_GO && !request.out) code = cli_misuse(&io, "--out FILE is missing");
    if (code != CLI_GO) return code;
    request.world = ct_pose_graph_defaults(kind);
    if (request.poses) request.world.poses = request.poses;
    if (request.sigma_t > 0) request.world.sigma_t = request.sigma_t;
    if (request.sigma_r > 0) request.world.sigma_r = request.sigma_r;
    if (request.loops >= 0) request.world.loop_chance = request.loops;
    request.world.seed = request.seed;
    return cli_finish(&io, carry_out(&io, &request));
}

static const cli_command *const VARIANTS[] = {&cli_simulate_nav, &cli_simulate_push, NULL};

const cli_command cli_simulate = {
    .name = "simulate",
    .brief = "simulate a pose graph or a dataset with known truth",
    .operands = "grid|sphere|nav2d|nav3d|push2d",
    .needs = "--out FILE",
    .least = 1,
    .most = 1,
    .text = "Makes a pose graph with loop closures and ground truth: on a street grid (SE2), or on the rings of a "
            "sphere (SE3). Initial values are composed odometry.\n"
            "nav2d, nav3d and push2d make datasets to learn noise models from. They have their own options: covtune "
            "simulate nav2d --help.\n",
    .example = "  covtune simulate grid --poses 3500 --seed 7 --out city.ctseq\n"
               "  covtune solve city.ctseq\n"
               "  covtune simulate nav2d --dataset D3 --train 5 --test 20 --out d3\n",
    .options = OPTIONS,
    .variants = VARIANTS,
    .run = run,
};
