/* try_runs.c: --try: one run of every log at the start values. Runs are in a temporary folder, which is removed. */
#define _XOPEN_SOURCE 700
#include "cli/common/findings.h"
#include "cli/tune/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COVERED 0.9  /* of the truth's time: less than that is told */
#define LOST    0.01 /* of poses: more than that is told            */
#define FEW     10   /* poses: fewer than that are told             */

static ct_status run_all(const cli_io *io, tune_job *job, ct_tune_outcome outcome[], ct_err *err)
{
    const ct_tune_problem *p = job->problem;
    ct_tune_queue *q = job->queue;
    cli_progress bar = cli_progress_new(io, p->logs);
    double *start = cli_alloc(p->parameters, sizeof *start);
    int32_t sent = 0, ended = 0;
    ct_status status = CT_OK;
    for (int32_t i = 0; i < p->parameters; i++) start[i] = p->parameter[i].start;
    while (status == CT_OK && ended < p->logs && !cli_interrupted()) {
        int64_t ticket = -1;
        ct_tune_outcome one;
        for (; status == CT_OK && sent < p->logs && sent - ended < q->slots; sent++) {
            const ct_tune_request request = {.ticket = sent, .log = sent, .value = start};
            status = q->submit(q->user, &request, err);
        }
        if (status == CT_OK) status = q->collect(q->user, 0.2, &ticket, &one, err);
        if (status == CT_OK && ticket >= 0) outcome[ticket] = one, ended++;
        cli_progress_show(&bar, ended, "%d of %d logs, %d running", ended, p->logs, sent - ended);
    }
    cli_status_clear();
    free(start);
    return status;
}

static const char *number(double value, const char *format, char buf[24])
{
    snprintf(buf, 24, isfinite(value) ? format : "-", value);
    return buf;
}

static void print_table(const tune_job *job, const ct_tune_outcome outcome[])
{
    const ct_tune_problem *p = job->problem;
    const double degrees = 180 / acos(-1);
    int width = 3, nees = 0, loss = 0, errors = 0;
    for (int32_t i = 0; i < p->logs; i++) {
        nees = nees || isfinite(outcome[i].nees);
        loss = loss || isfinite(tune_loss(&outcome[i]));
        errors = errors || isfinite(outcome[i].translation);
    }
    loss = loss && !errors; /* a scoring command has no other figure */
    for (int32_t i = 0; i < p->logs; i++)
        width = (int)strlen(p->log[i].name) > width ? (int)strlen(p->log[i].name) : width;
    printf("%-*s %-5s %-12s %8s %6s %9s %9s %9s %9s%s %8s\n", width, "log", "part", "end", "poses", "lost", "APE m",
           "APE deg", "RPE m", "RPE deg", loss ? "      loss" : nees ? "      NEES" : "", "s");
    for (int32_t i = 0; i < p->logs; i++) {
        const ct_tune_outcome *o = &outcome[i];
        char cell[5][24], column[32] = "";
        if (nees || loss)
            snprintf(column, sizeof column, " %9s", number(loss ? tune_loss(o) : o->nees, "%.4g", cell[4]));
        printf("%-*s %-5s %-12s %8lld %6lld %9s %9s %9s %9s%s %8.3g\n", width, p->log[i].name,
               p->log[i].test ? "test" : "train", ct_tune_end_name(o->end), (long long)o->poses, (long long)o->lost,
               number(o->translation, "%.4g", cell[0]), number(o->rotation * degrees, "%.4g", cell[1]),
               number(o->rpe_translation, "%.4g", cell[2]), number(o->rpe_rotation * degrees, "%.4g", cell[3]),
               column, o->seconds);
    }
}

/* What the program wrote where it failed: once for each kind. */
static void print_messages(const tune_job *job, const ct_tune_outcome outcome[])
{
    for (int k = 0; k < CT_TUNE_END_COUNT; k++) {
        int32_t first = 0, count = 0;
        for (int32_t i = job->problem->logs - 1; i >= 0; i--)
            if ((int)outcome[i].end == k) first = i, count++;
        if (k == CT_TUNE_DONE || !count) continue;
        printf("\n%s: %d of %d logs. Log %s:\n", ct_tune_end_name((ct_tune_end)k), count, job->problem->logs,
               job->problem->log[first].name);
        for (const char *line = outcome[first].message ? outcome[first].message : ""; *line;) {
            const size_t length = strcspn(line, "\n");
            printf("  | %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
}

static double lost_share(const ct_tune_outcome *o) { return (double)o->lost / fmax(1, (double)(o->poses + o->lost)); }

/* What is odd about estimates that can be compared: once for each kind, of the log that has most. */
static void print_remarks(const tune_job *job, const ct_tune_outcome outcome[])
{
    static const ct_tune_outcome none = {.end = CT_TUNE_END_COUNT, .covered = NAN};
    const ct_tune_outcome *broken = &none, *unordered = &none, *least = &none, *lost = &none, *few = &none;
    for (int32_t i = 0; i < job->problem->logs; i++) {
        const ct_tune_outcome *o = &outcome[i];
        if (o->end != CT_TUNE_DONE) continue;
        if (o->broken > broken->broken) broken = o;
        if (o->unordered > unordered->unordered) unordered = o;
        if (o->covered < COVERED && !(o->covered >= least->covered)) least = o;
        if (lost_share(o) > fmax(LOST, lost_share(lost))) lost = o;
        if (o->poses < FEW && o->translation >= 0 && (few == &none || o->poses < few->poses)) few = o;
    }
    if (broken != &none)
        printf("\n%s: %lld record%s of the estimate %s no pose: not finite, or a quaternion of zeros. Such a record "
               "counts as lost\n",
               job->problem->log[broken - outcome].name, (long long)broken->broken, CLI_S(broken->broken),
               broken->broken == 1 ? "is" : "are");
    if (unordered != &none)
        printf("\n%s: the stamps of %lld record%s repeat or go back. Records are sorted; of equal stamps the last "
               "counts\n",
               job->problem->log[unordered - outcome].name, (long long)unordered->unordered,
               CLI_S(unordered->unordered));
    if (least != &none)
        printf("\n%s: the estimate covers %.2g %% of the truth's time. What is outside is not compared, unless "
               "\"whole: true\" stands under \"estimate\"\n", job->problem->log[least - outcome].name,
               100 * least->covered);
    if (lost != &none)
        printf("\n%s: %.2g %% of poses have no estimate. A lost pose counts as many others. If the estimate has gaps "
               "of its own, a larger \"gap\" under \"estimate\" bridges them, and a smaller \"lost\" under \"loss\" "
               "counts them less\n", job->problem->log[lost - outcome].name, 100 * lost_share(lost));
    if (few != &none)
        printf("\n%s: %lld pose%s compared. Where stamps of the truth are farther apart than \"gap\" under "
               "\"estimate\", estimates are compared at these stamps alone; a larger gap interpolates the truth\n",
               job->problem->log[few - outcome].name, (long long)few->poses, few->poses == 1 ? " is" : "s are");
}

/* What the library says of frames, clocks and units. For the caller to free. */
static ct_findings find_conventions(const tune_job *job, const ct_tune_outcome outcome[])
{
    const int32_t logs = job->problem->logs;
    ct_conventions *of = cli_alloc(logs, sizeof *of);
    ct_findings list = {0};
    ct_err err = {0};
    for (int32_t i = 0; i < logs; i++)
        if (outcome[i].end == CT_TUNE_DONE) of[i] = outcome[i].conventions;
    if (ct_tune_note_conventions(job->problem, of, &list, &err) != CT_OK) ct_findings_free(&list);
    free(of);
    return list;
}

static void print_conventions(const tune_job *job, const ct_tune_outcome outcome[])
{
    ct_findings list = find_conventions(job, outcome);
    if (list.count) printf("\n");
    if (list.count) cli_findings_print("warning", &list, CT_TOPIC_COUNT, 1, -1);
    ct_findings_free(&list);
}

static void print_json(const tune_job *job, const ct_tune_outcome outcome[])
{
    json_t *o = cli_object(), *logs = cli_array();
    for (int32_t i = 0; i < job->problem->logs; i++) {
        json_t *log = cli_object();
        cli_put(log, "name", cli_text(job->problem->log[i].name));
        cli_put(log, "test", cli_check_alloc(json_boolean(job->problem->log[i].test)));
        cli_put(log, "end", cli_text(ct_tune_end_name(outcome[i].end)));
        cli_put(log, "poses", cli_integer(outcome[i].poses));
        cli_put(log, "lost", cli_integer(outcome[i].lost));
        cli_put(log, "broken", cli_integer(outcome[i].broken));
        cli_put(log, "unordered", cli_integer(outcome[i].unordered));
        cli_put(log, "covered", cli_number(outcome[i].covered));
        cli_put(log, "loss", cli_number(tune_loss(&outcome[i])));
        cli_put(log, "translation", cli_number(outcome[i].translation));
        cli_put(log, "rotation", cli_number(outcome[i].rotation));
        cli_put(log, "rpe_translation", cli_number(outcome[i].rpe_translation));
        cli_put(log, "rpe_rotation", cli_number(outcome[i].rpe_rotation));
        cli_put(log, "nees", cli_number(outcome[i].nees));
        cli_put(log, "seconds", cli_number(outcome[i].seconds));
        cli_put(log, "code", cli_integer(outcome[i].code));
        cli_put(log, "message", cli_text(outcome[i].message));
        cli_append(logs, log);
    }
    ct_findings list = find_conventions(job, outcome);
    cli_put(o, "logs", logs);
    cli_put(o, "findings", cli_findings_json(&list));
    ct_findings_free(&list);
    cli_print_json(o);
}

cli_exit tune_try(const cli_io *io, const tune_request *request, tune_job *job)
{
    const char *base = getenv("TMPDIR");
    char *folder = cli_path_join(base && *base ? base : P_tmpdir, "covtune-try-XXXXXX");
    ct_err err = {0};
    ct_tune_outcome *outcome = cli_alloc(job->problem->logs, sizeof *outcome);
    int failed = 0;
    if (!mkdtemp(folder)) {
        const cli_exit code =
            cli_fail(io, "%s: cannot be made: %s; TMPDIR names another folder", folder, strerror(errno));
        free(folder);
        free(outcome);
        return code;
    }
    const ct_tuning_local local = {.jobs = request->jobs > 0 ? request->jobs : 0, .folder = folder};
    cli_interrupt_begin(io, "stopping");
    ct_status status = ct_tuning_queue(job->tuning, &local, &job->queue, &err);
    if (status == CT_OK) status = run_all(io, job, outcome, &err);
    ct_tune_queue_free(job->queue);
    job->queue = NULL;
    const int stopped = cli_interrupted();
    cli_interrupt_end();
    (void)ct_folder_remove(folder, NULL);
    for (int32_t i = 0; i < job->problem->logs; i++) failed += outcome[i].end != CT_TUNE_DONE;
    cli_exit code = stopped ? CLI_INTERRUPTED : failed ? CLI_FAILED : CLI_DONE;
    if (status != CT_OK)
        code = cli_fail(io, "%s", err.text);
    else if (!stopped && io->json)
        print_json(job, outcome);
    else if (!stopped) {
        print_table(job, outcome);
        print_messages(job, outcome);
        print_remarks(job, outcome);
        print_conventions(job, outcome);
    }
    if (status == CT_OK && !stopped && failed)
        cli_fail(io, "%d of %d logs have no estimate at the start values", failed, job->problem->logs);
    for (int32_t i = 0; i < job->problem->logs; i++) ct_tune_outcome_free(&outcome[i]);
    free(outcome);
    free(folder);
    return code;
}
