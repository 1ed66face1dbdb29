/* reproduce.c: covtune reproduce. The table of the paper's studies, and what they share. */
#define _POSIX_C_SOURCE 200809L
#include "studies/reproduce/reproduce.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the grid ---- */

static int cancelled(void *user)
{
    (void)user;
    return cli_interrupted();
}

static void show(void *user, double done, const char *label)
{
    reproduce_job *job = user;
    cli_progress_show(&job->bar, done, "%s", label);
}

/* Test sequences are estimated incrementally, as in the paper. */
static grid_runner make_runner(reproduce_job *job)
{
    grid_runner r = {.options = ct_trial_defaults(),
                     .quick = job->request->quick,
                     .cancelled = cancelled,
                     .show = show,
                     .user = job};
    r.options.outer.jobs = r.options.test.jobs = job->request->jobs;
    r.options.test.inference.incremental = 1;
    r.options.test.nees = r.options.test.conditioning = 1;
    return r;
}

ct_status reproduce_grid(reproduce_job *job, const grid *g, ct_err *err)
{
    job->bar = cli_progress_new(job->io, grid_cost(g));
    return grid_run(g, &job->runner, err);
}

void reproduce_show(reproduce_job *job, ct_table *table)
{
    if (job->tables < (int)(sizeof job->shown / sizeof *job->shown)) job->shown[job->tables++] = table;
    else ct_table_free(table);
}

const char *reproduce_rows(const char *list, int count, const char *const name[], int row[][PAPER_BOUNDS])
{
    for (int k = 0; k < count; k++)
        for (int b = 0; b < PAPER_BOUNDS; b++) row[k][b] = !list;
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        int          found = 0;
        for (int k = 0; k < count; k++)
            for (int b = 0; b < PAPER_BOUNDS; b++) {
                char whole[48];
                snprintf(whole, sizeof whole, "%s/%s", name[k], paper_bounds[b]);
                if (strlen(whole) == length && !strncmp(whole, list, length)) found = row[k][b] = 1;
            }
        if (!found) return list;
        list += length + (list[length] == ',');
    }
    return NULL;
}

int reproduce_wants(const reproduce_job *job, const char *key)
{
    for (int i = 0; i < job->methods; i++)
        if (!strcmp(job->method[i]->key, key)) return 1;
    return !job->methods;
}

/* ---- the place ---- */

/* Is that a file of a study: "nav2d.csv", "nav2d-loose.svg"? Which one; -1: of none. */
static int study_of(const char *file)
{
    static const char *const ENDING[] = {".csv", ".md", ".html", ".svg"};
    const char              *dot = strrchr(file, '.');
    int                      ours = 0;
    for (size_t i = 0; dot && i < sizeof ENDING / sizeof *ENDING; i++) ours |= !strcmp(dot, ENDING[i]);
    for (int i = 0; ours && study_table[i]; i++) {
        const size_t n = strlen(study_table[i]->name);
        if (!strncmp(file, study_table[i]->name, n) && (file[n] == '.' || file[n] == '-')) return i;
    }
    return -1;
}

/* A folder for the results: one to be made, or one without anything but results of other studies. */
static cli_exit check_place(const cli_io *io, const reproduce_request *r, const reproduce_study *study)
{
    struct stat entry;
    if (stat(r->out, &entry) != 0 && errno == ENOENT) return CLI_GO;
    DIR *folder = cli_open_folder(r->out);
    if (!folder) return cli_fail(io, "%s: cannot be the folder of results: %s", r->out, strerror(errno));
    int done = 0, others = 0;
    for (const struct dirent *e; (e = readdir(folder));) {
        const int of = study_of(e->d_name);
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        done |= of >= 0 && study_table[of] == study;
        others |= of < 0;
    }
    closedir(folder);
    if (r->force) return CLI_GO;
    if (done)
        return cli_fail(io, "%s: there are results of %s in it: --force replaces them, another --out leaves them",
                        r->out, study->name);
    if (others)
        return cli_fail(io,
                        "%s: is a folder with other things in it; choose another one for --out, or --force puts the "
                        "results beside them",
                        r->out);
    return CLI_GO;
}

/* ---- the end ---- */

static void print(const reproduce_job *job)
{
    const document *b = &job->document;
    ct_err      err;
    for (int i = 0; i < job->tables; i++) {
        const int       width = cli_result_width() == INT_MAX ? 0 : cli_result_width();
        const ct_status status = ct_table_print(job->shown[i], CT_TABLE_TEXT, width, stdout, &err);
        if (status == CT_E_MEMORY) cli_check_alloc(NULL); /* what else can be wrong, cli_finish sees */
        putchar('\n');
    }
    for (int i = 0; i < b->statements; i++) {
        const document_statement *s = &b->statement[i];
        cli_row(s->holds ? "holds" : "DOES NOT", "%s: %s", s->what, s->where);
    }
    if (job->request->quick && b->statements)
        cli_row("note", "quick: the claims are about the full study, with longer and more sequences");
    char *page = cli_path_join(b->out, b->study);
    cli_row("written", "%s.html, %s.md, %s.csv and pictures", page, page, page);
    free(page);
}

static void print_json(const reproduce_job *job, int interrupted, double seconds)
{
    const document *b = &job->document;
    json_t     *o = cli_object(), *list = cli_array();
    for (int i = 0; i < b->statements; i++) {
        json_t *s = cli_object();
        cli_put(s, "claim", cli_text(b->statement[i].what));
        cli_put(s, "demanded", cli_text(b->statement[i].what)); /* the key before 0.2 */
        cli_put(s, "holds", cli_check_alloc(json_boolean(b->statement[i].holds)));
        cli_put(s, "where", cli_text(b->statement[i].where));
        cli_append(list, s);
    }
    cli_put(o, "study", cli_text(job->request->study));
    cli_put(o, "out", cli_text(job->request->out));
    cli_put(o, "quick", cli_check_alloc(json_boolean(job->request->quick)));
    cli_put(o, "interrupted", cli_check_alloc(json_boolean(interrupted)));
    cli_put(o, "seconds", cli_number(seconds));
    cli_put(o, "statements", list);
    cli_put(o, "files", cli_check_alloc(json_incref(b->files)));
    cli_print_json(o);
}

static cli_exit carry_out(const cli_io *io, const reproduce_request *request, const reproduce_study *study,
                          reproduce_job *job)
{
    ct_err         err = {0};
    const cli_exit code = check_place(io, request, study);
    if (code != CLI_GO) return code;
    if (cli_make_folders(request->out))
        return cli_fail(io, "%s: the folder cannot be made: %s", request->out, strerror(errno));
    const double begin = ct_now_s();
    cli_interrupt_begin(io, "stopping; what is done is written");
    ct_status status = study->run(job, &err);
    const int interrupted = cli_interrupted();
    cli_interrupt_end();
    cli_status_clear();
    if (status == CT_OK && job->document.status != CT_OK) {
        err = job->document.err;
        status = job->document.status;
    }
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    if (io->json) print_json(job, interrupted, ct_now_s() - begin);
    else if (!io->quiet) print(job);
    if (!interrupted) return CLI_DONE;
    cli_fail(io, "interrupted; what was done until then is in %s", request->out);
    return CLI_INTERRUPTED;
}

/* ---- what is asked for ---- */

static cli_exit find_study(const cli_io *io, const char *name, const reproduce_study **out)
{
    const char *names[STUDIES_MAX + 1] = {NULL};
    for (int i = 0; study_table[i]; i++) {
        names[i] = study_table[i]->name;
        *out = study_table[i];
        if (!strcmp(name, names[i])) return CLI_GO;
    }
    const char *near = cli_nearest(name, names);
    if (near) return cli_misuse(io, "there is no study \"%s\"; did you mean %s?", name, near);
    return cli_misuse(io, "there is no study \"%s\": it is nav2d, runtime, init, samples or push2d", name);
}

/* Those of --methods must be among the study's. */
static cli_exit take_methods(const cli_io *io, const reproduce_study *study, reproduce_job *job)
{
    const method_preset *all[24];
    char              bad[64];
    const int n = preset_list(study->methods, all, 24, bad), most = (int)(sizeof job->method / sizeof *job->method);
    if (!job->request->methods) return CLI_GO;
    job->methods = preset_list(job->request->methods, job->method, most, bad);
    for (int i = 0; i < job->methods; i++) {
        int found = 0;
        for (int k = 0; k < n; k++) found |= job->method[i] == all[k];
        if (found) continue;
        snprintf(bad, sizeof bad, "%s", job->method[i]->key);
        job->methods = -1;
    }
    return job->methods >= 0
               ? CLI_GO
               : cli_misuse(io, "--methods is some of %s for %s, found \"%s\"", study->methods, study->name, bad);
}

static cli_exit check(const cli_io *io, const reproduce_request *r, const reproduce_study *study, reproduce_job *job)
{
    if (!r->out) return cli_misuse(io, "--out DIR is missing: the folder that results are written to");
    if (r->rows && !study->rows) return cli_misuse(io, "--rows is for nav2d and push2d; %s has none", study->name);
    if (r->seeds && !study->seeds)
        return cli_misuse(io, "--seeds is for nav2d, samples and push2d; %s has one dataset", study->name);
    const cli_exit code = r->rows ? study->rows(io, r->rows) : CLI_GO;
    return code == CLI_GO ? take_methods(io, study, job) : code;
}

#define AT(member) offsetof(reproduce_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT("out", "DIR", AT(out), "folder for the results; it is made"),
    CLI_ROW_FLAG("quick", AT(quick),
                 "fewer and shorter sequences: less than a minute; numbers scatter more"),
    CLI_ROW_INTEGER("seeds", "N", 1, 5, AT(seeds),
                    "datasets of each kind: nav2d, samples, push2d (5, quick: 1, 2, 1)"),
    CLI_ROW_TEXT(
        "rows", "D1/loose,..", AT(rows),
        "nav2d, push2d: only these rows of the table; those of push2d are ellipse/oracle/loose and so on"),
    CLI_ROW_TEXT("methods", "NAME,..", AT(methods), "only these of the study's methods"),
    CLI_ROW_FLAG("force", AT(force), "replace earlier results; other files in the folder stay"),
    CLI_ROW_INTEGER("jobs", "N", 1, CLI_JOBS_MAX, AT(jobs),
                    "sequences at a time (as many as there are processors); only times depend on it"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    reproduce_request request = {.jobs = cli_processors()};
    const reproduce_study *study = NULL;
    cli_io                 io;
    reproduce_job         *job = cli_alloc(1, sizeof *job);
    cli_exit               code = cli_parse(command, &request, argc, argv, &io, &request.study);
    *job = (reproduce_job){.io = &io, .request = &request};
    job->runner = make_runner(job);
    if (code == CLI_GO) code = find_study(&io, request.study, &study);
    if (code == CLI_GO) code = check(&io, &request, study, job);
    if (code == CLI_GO) code = cli_finish(&io, carry_out(&io, &request, study, job));
    for (int i = 0; i < job->tables; i++) ct_table_free(job->shown[i]);
    document_free(&job->document);
    free(job);
    return code;
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .brief = "repeat a study of the paper",
    .operands = "nav2d|runtime|init|samples|push2d",
    .needs = "--out DIR",
    .least = 1,
    .most = 1,
    .text = "Repeats a study of the paper on simulated data. Writes numbers (CSV), tables (Markdown), pictures (SVG) "
            "and one page with all of them (HTML). Claims about the numbers are listed with whether they hold.\n"
            "nav2d: Table I, errors on test sequences of D1 to D4 under loose and tight bounds, all methods\n"
            "runtime: training error over time on D3, all methods\n"
            "init: training error from different start values on D3\n"
            "samples: errors on test sequences after learning from 1 to 20 sequences of D1 and D3\n"
            "push2d: Tables II and III, errors and spreads of pushing, two objects, touch by an oracle or a network, "
            "under loose and tight bounds, all methods\n"
            "Ctrl-C writes what is done by then, with exit code 130.\n",
    .example = "  covtune reproduce nav2d --quick --out tables\n"
               "  covtune reproduce nav2d --rows D1/tight --seeds 1 --out row\n"
               "  covtune reproduce push2d --rows ellipse/network/tight --methods fw,lm --seeds 1 --out pushes\n",
    .options = OPTIONS,
    .run = run,
};
