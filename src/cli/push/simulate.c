/* simulate.c: covtune simulate push2d: a pushing dataset: dataset.yaml with distant start values, the sequences with
 * their truth, and, with a network, its weights in tactile.json. */
#define _POSIX_C_SOURCE 200809L
#include <covtune/push.h>
#include "cli/push/dataset.h"
#include "cli/push/picture.h"
#include "cli/simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 10000

enum { ORACLE, NETWORK };
static const char *const TACTILE[] = {"oracle", "network"};
static int find_tactile(const char *name)
{
    return !strcmp(name, TACTILE[ORACLE]) ? ORACLE : !strcmp(name, TACTILE[NETWORK]) ? NETWORK : -1;
}

/* Shapes that are available as objects. */
static int find_object(const char *name)
{
    const int kind = ct_shape_kind_find(name);
    return kind == CT_SHAPE_ELLIPSE || kind == CT_SHAPE_RECTANGLE ? kind : -1;
}

static int find_surface(const char *name) { return !strcmp(name, "leo") ? 0 : !strcmp(name, "even") ? 1 : -1; }
static int find_start(const char *name) { return !strcmp(name, "far") ? 0 : !strcmp(name, "unit") ? 1 : -1; }

static int find_training(const char *name)
{
    return !strcmp(name, "weights") ? PUSH_WEIGHTS : !strcmp(name, "covariance") ? PUSH_COVARIANCE : -1;
}

typedef struct {
    const char     *world, *out, *weights, *picture, *images;
    int             object, tactile, surface, start, train, test, network_episodes, episodes, steps;
    int             end_to_end, epochs, jobs, unconditional;
    uint64_t        seed;
    ct_push_options push;
    ct_net         *net;
    ct_net_result   trained; /* epochs 0: not trained here */
    ct_observation_result through; /* the estimator, likewise */
} push_request;

/* ---- doing it ---- */

static ct_status load_network(const cli_io *io, push_request *q, ct_err *err)
{
    ct_status status;
    if (q->tactile == ORACLE) return CT_OK;
    if (q->weights) {
        status = ct_net_read(q->weights, &q->net, err);
        if (status == CT_OK) status = push_check_net(q->net, q->weights, err);
    } else {
        cli_status_show(io, "training a tactile network on %d episodes", q->network_episodes);
        status = push_train(&q->push, q->network_episodes, &q->net, &q->trained, err);
    }
    if (status != CT_OK || q->end_to_end == PUSH_SURROGATE) return status;
    push_end_to_end how = push_end_to_end_defaults((push_training)q->end_to_end);
    how.pushes = q->network_episodes;
    how.heldout = q->train;
    how.jobs = q->jobs;
    if (q->epochs) how.how.epochs = q->epochs;
    how.how.keep = !q->unconditional;
    return push_train_end_to_end(io, &q->push, &how, &q->net, &q->through, err);
}

static ct_status start_at_one(const push_request *q, ct_dataset *d, ct_err *err)
{
    ct_status status = CT_OK;
    for (int32_t i = 0; q->start && status == CT_OK && i < d->groups; i++) {
        double variance[CT_NOISE_DIM_MAX];
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++) variance[k] = d->group[i].unit[k] * d->group[i].unit[k];
        if (d->group[i].learn) status = ct_noise_set_variance(d->noise, i, variance, err);
    }
    return status;
}

static ct_status write_all(const cli_io *io, const push_request *q, const ct_dataset *d, ct_err *err)
{
    cli_status_show(io, "writing %s", q->out);
    ct_status status = ct_dataset_write(d, q->out, err);
    char     *path = cli_path_join(q->out, "tactile.json");
    if (status == CT_OK && q->net) status = ct_net_write(q->net, path, err);
    free(path);
    if (status != CT_OK) return status;
    simulate_remove_stale(q->out, "train", q->train, 0);
    simulate_remove_stale(q->out, "test", q->test, 0);
    return CT_OK;
}

/* Of the test sequences, if there are any. */
static ct_status draw(const push_request *q, const ct_dataset *d, ct_err *err)
{
    ct_status status = q->picture ? push_draw_sequence(d->tests ? d->test[0] : d->train[0], q->picture, err) : CT_OK;
    if (status == CT_OK && q->images) status = push_draw_images(&q->push, d->tests > 0, q->images, err);
    return status;
}

/* ---- results ---- */

/* Root mean square of a model's residuals at the truth over all sequences, per row; NaN without factors, as for tac
 * in short pushes. */
static void at_truth(const ct_dataset *d, int32_t model, int dim, double rms[CT_NOISE_DIM_MAX])
{
    int64_t count = 0;
    for (int k = 0; k < dim; k++) rms[k] = 0;
    for (int32_t i = 0; i < d->trains + d->tests; i++) {
        const ct_sequence *seq = i < d->trains ? d->train[i] : d->test[i - d->trains];
        const int64_t      n = ct_truth_residuals(seq, model, NULL, 0, NULL);
        double            *r = cli_alloc(n * dim, sizeof *r);
        ct_truth_residuals(seq, model, NULL, n, r);
        for (int64_t k = 0; k < n * dim; k++) rms[k % dim] += r[k] * r[k];
        count += n;
        free(r);
    }
    for (int k = 0; k < dim; k++) rms[k] = count ? sqrt(rms[k] / (double)count) : NAN;
}

static void print_end_to_end(const push_request *q)
{
    const ct_observation_result *r = &q->through;
    cli_row("end to end",
            "%s trained through the estimator for %d epochs (best: %d, %d steps left out); loss of training sequences "
            "%.4g -> %.4g",
            q->end_to_end == PUSH_COVARIANCE ? "weights and covariance" : "weights", r->epochs, r->best, r->failed,
            r->train_start, r->train_best);
    cli_row("",
            "on the dataset's training sequences, held out: loss %.4g -> %.4g, ratio %.3f +- %.3f, position x %.3f, "
            "rotation x %.3f",
            r->heldout_start, r->heldout_best, exp(r->log_ratio), exp(r->log_ratio) * r->log_ratio_error,
            r->translation_ratio, r->rotation_ratio);
    if (!r->chosen) cli_row("", "the network as it was stays: %s", ct_choice_meaning(r->verdict));
}

static json_t *json_end_to_end(const push_request *q)
{
    const ct_observation_result *r = &q->through;
    json_t                      *o = cli_object();
    cli_put(o, "trained", cli_text(q->end_to_end == PUSH_COVARIANCE ? "covariance" : "weights"));
    cli_put(o, "chosen", json_boolean(r->chosen));
    cli_put(o, "verdict", cli_text(ct_choice_name(r->verdict)));
    cli_put(o, "epochs", cli_integer(r->epochs));
    cli_put(o, "best", cli_integer(r->best));
    cli_put(o, "steps", cli_integer(r->steps));
    cli_put(o, "failed", cli_integer(r->failed));
    cli_put(o, "loss_start", cli_number(r->train_start));
    cli_put(o, "loss", cli_number(r->train_best));
    cli_put(o, "loss_heldout_start", cli_number(r->heldout_start));
    cli_put(o, "loss_heldout", cli_number(r->heldout_best));
    cli_put(o, "log_ratio", cli_number(r->log_ratio));
    cli_put(o, "log_ratio_error", cli_number(r->log_ratio_error));
    cli_put(o, "translation_ratio", cli_number(r->translation_ratio));
    cli_put(o, "rotation_ratio", cli_number(r->rotation_ratio));
    return o;
}

static void print(const push_request *q, const ct_dataset *d)
{
    cli_row("made",
            "%s: %d training sequence%s, %d test sequence%s of %d pushes, %d steps each: %s, tactile %s; seed %llu",
            q->out, q->train, CLI_S(q->train), q->test, CLI_S(q->test), q->push.episodes, q->push.steps,
            ct_shape_kind_name(q->push.object), TACTILE[q->tactile], (unsigned long long)q->push.seed);
    if (q->trained.epochs)
        cli_row("network",
                "trained on %d other pushes: rms error %.3g rad, %.3g rad held out, after %d epochs",
                q->network_episodes, sqrt(2 * q->trained.train), sqrt(2 * q->trained.heldout), q->trained.best);
    if (q->through.epochs) print_end_to_end(q);
    cli_row("at the truth", "rms residuals of each noise model:");
    for (int32_t i = 0; i < d->groups; i++) {
        const ct_noise_model *m = ct_noise_get(d->noise, i);
        double                rms[CT_NOISE_DIM_MAX];
        char                  text[256];
        size_t                used = 0;
        if (!d->group[i].learn) continue;
        at_truth(d, i, m->dim, rms);
        if (isnan(rms[0])) snprintf(text, sizeof text, "no factors");
        for (int k = 0; k < m->dim && !isnan(rms[0]) && used < sizeof text; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.3g %s", k ? ", " : "", m->row[k].name,
                                     rms[k], m->row[k].unit);
        cli_row("", "%s: %s", m->name, text);
    }
    cli_row("start", "%s",
            q->start ? "variances of 1 in the units of dataset.yaml"
                     : "distant variances, a spread of 1e6 in the units of dataset.yaml");
}

static void print_json(const push_request *q, const ct_dataset *d)
{
    json_t *o = cli_object(), *rms = cli_object();
    for (int32_t i = 0; i < d->groups; i++) {
        const ct_noise_model *m = ct_noise_get(d->noise, i);
        double                of[CT_NOISE_DIM_MAX];
        if (!d->group[i].learn) continue;
        at_truth(d, i, m->dim, of);
        cli_put(rms, m->name, cli_numbers(m->dim, of));
    }
    cli_put(o, "out", cli_text(q->out));
    cli_put(o, "world", cli_text(q->world));
    cli_put(o, "object", cli_text(ct_shape_kind_name(q->push.object)));
    cli_put(o, "tactile", cli_text(TACTILE[q->tactile]));
    cli_put(o, "train", cli_integer(q->train));
    cli_put(o, "test", cli_integer(q->test));
    cli_put(o, "steps", cli_integer((int64_t)q->push.episodes * q->push.steps));
    cli_put(o, "seed", cli_integer((int64_t)q->push.seed));
    cli_put(o, "rms_at_truth", rms);
    if (q->through.epochs) cli_put(o, "end_to_end", json_end_to_end(q));
    cli_print_json(o);
}

/* ---- the command ---- */

static cli_exit carry_out(const cli_io *io, push_request *q)
{
    ct_err      err = {0};
    ct_dataset *d = NULL;
    ct_status   status = simulate_check_place(q->out, &err);
    if (status == CT_OK && q->picture) status = cli_check_output(q->picture, &err);
    if (status == CT_OK && q->images) status = cli_check_output(q->images, &err);
    if (status == CT_OK) status = load_network(io, q, &err);
    if (status == CT_OK) status = push_dataset(io, &q->push, q->net, q->train, q->test, &d, &err);
    if (status == CT_OK) status = start_at_one(q, d, &err);
    if (status == CT_OK) status = write_all(io, q, d, &err);
    if (status == CT_OK) status = draw(q, d, &err);
    cli_status_clear();
    if (status == CT_OK && io->json) print_json(q, d);
    else if (status == CT_OK && !io->quiet) print(q, d);
    ct_dataset_free(d);
    ct_net_free(q->net);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

static cli_exit resolve(const cli_io *io, push_request *q)
{
    if (!q->out) return cli_misuse(io, "--out DIR is missing");
    if (q->train + q->test < 1) return cli_misuse(io, "--train 0 and --test 0 leave nothing to make");
    if (q->weights && q->tactile == ORACLE)
        return cli_misuse(io, "--weights is for --tactile network; an oracle has none");
    if (q->network_episodes && (q->tactile == ORACLE || (q->weights && !q->end_to_end)))
        return cli_misuse(io, "--network-episodes is for --tactile network without --weights, or with --end-to-end");
    if (q->end_to_end && q->tactile == ORACLE)
        return cli_misuse(io, "--end-to-end is for --tactile network; an oracle has no weights");
    if (q->end_to_end && q->train < 2)
        return cli_misuse(io, "--end-to-end holds out the training sequences: --train 2 or more, found %d", q->train);
    if (q->end_to_end && q->network_episodes == 1)
        return cli_misuse(io, "--end-to-end trains on some pushes and stops by others: --network-episodes 2 or more");
    if (!q->end_to_end && (q->epochs || q->unconditional))
        return cli_misuse(io, "%s is for --end-to-end", q->epochs ? "--epochs" : "--unconditional");
    if (!q->network_episodes) q->network_episodes = PUSH_TRAINING_EPISODES;
    q->push = ct_push_defaults((ct_shape_kind)q->object);
    q->push.seed = q->seed;
    if (q->episodes) q->push.episodes = q->episodes;
    if (q->steps) q->push.steps = q->steps;
    if (q->push.pool < q->push.episodes) q->push.pool = q->push.episodes;
    if (q->surface) q->push.c2 = NAN;
    return CLI_GO;
}

#define AT(member) offsetof(push_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_HEADING("What is made"),
    CLI_ROW_TEXT("out", "DIR", AT(out), "output folder; a dataset in it that covtune wrote is replaced"),
    CLI_ROW_CHOICE("object", "ellipse|rectangle", find_object, AT(object), "the pushed object (ellipse)"),
    CLI_ROW_CHOICE("tactile", "oracle|network", find_tactile, AT(tactile),
                   "source of the relative yaw of finger and object: the truth with 5 mrad of noise, or a network on "
                   "tactile images (oracle)"),
    CLI_ROW_INTEGER("train", "N", 0, RUNS_MAX, AT(train), "number of training sequences (5)"),
    CLI_ROW_INTEGER("test", "N", 0, RUNS_MAX, AT(test), "number of test sequences, of other pushes (10)"),
    CLI_ROW_INTEGER("episodes", "N", 1, 1000, AT(episodes), "pushes per sequence (3)"),
    CLI_ROW_INTEGER("steps", "N", 2, 1000, AT(steps), "steps of 2.5 mm per push (100)"),
    CLI_ROW_CHOICE(
        "start", "far|unit", find_start, AT(start),
        "start values of the variances: wrong by orders of magnitude, or 1 in the dataset's units (far)"),
    CLI_ROW_SEED("seed", "K", AT(seed),
                 "seed of friction and pushes (1)"),
    CLI_ROW_HEADING("Estimator"),
    CLI_ROW_CHOICE("surface", "leo|even", find_surface, AT(surface),
                   "limit-surface constant of the estimator: LEO's, too large by an order of magnitude, or that of "
                   "even pressure (leo)"),
    CLI_ROW_TEXT(
        "weights", "FILE", AT(weights),
        "read the tactile network from a JSON file, such as tactile.json of another dataset"),
    CLI_ROW_INTEGER("network-episodes", "N", 1, 1000, AT(network_episodes),
                    "pushes that the network is trained on (4)"),
    CLI_ROW_ALIAS("lessons", "network-episodes"),
    CLI_ROW_CHOICE("end-to-end", "weights|covariance", find_training, AT(end_to_end),
                   "train the network further through the estimator, by the error of its estimates on these pushes: "
                   "its weights, or also an output for the covariance of each measurement. The dataset's training "
                   "sequences are held out; the network stays as it is where they show no gain"),
    CLI_ROW_INTEGER("epochs", "N", 1, 100000, AT(epochs), "of --end-to-end, at most (60)"),
    CLI_ROW_FLAG("unconditional", AT(unconditional),
                 "keep the network that --end-to-end has trained also where held-out sequences show no gain"),
    CLI_ROW_INTEGER("jobs", "N", 1, 1024, AT(jobs), "threads of --end-to-end; the result does not depend on it (1)"),
    CLI_ROW_HEADING("Output"),
    CLI_ROW_TEXT("picture", "FILE.svg", AT(picture),
                 "draw the first test sequence (without one, the first training sequence)"),
    CLI_ROW_TEXT("images", "FILE.svg", AT(images), "draw tactile images of six steps of a push"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    push_request q = {.object = CT_SHAPE_ELLIPSE, .train = 5, .test = 10, .seed = 1, .jobs = 1};
    cli_io       io;
    cli_exit     code = cli_parse(command, &q, argc, argv, &io, &q.world);
    if (code == CLI_GO) code = resolve(&io, &q);
    return code != CLI_GO ? code : cli_finish(&io, carry_out(&io, &q));
}

const cli_command cli_simulate_push = {
    .name = "simulate",
    .brief = "simulate a pushing dataset",
    .operands = "push2d",
    .needs = "--out DIR",
    .least = 1,
    .most = 1,
    .text = "Makes a dataset to learn noise models from: a finger pushes an object over a table. The poses of both are "
            "estimated from four kinds of factors: the arm's kinematics (noise model prior), the relative yaw from "
            "touch (tac), the mechanics of pushing (dyn) and the contact (geo). The simulation uses a limit surface "
            "with varying friction, so that the estimator's model is approximate. The truth is that of motion "
            "capture. The folder has dataset.yaml, sequences with their truth in train and test, and, with a network, "
            "tactile.json.\n",
    .example = "  covtune simulate push2d --object ellipse --tactile network --out pushes\n"
               "  covtune learn pushes --out pushed\n",
    .options = OPTIONS,
    .run = run,
};
