/* open_run_folder.c: checks, opens and locks the run folder. */
#define _POSIX_C_SOURCE 200809L
#include "cli/learn/learn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The open run folder. Staged files are removed also if the program ends in cli_check_alloc. */
static ct_run_folder *held;

static void let_go(void)
{
    ct_run_folder_free(held);
    held = NULL;
}

static void hold(ct_run_folder *run)
{
    static int registered;
    if (!registered) registered = !atexit(let_go);
    held = run;
}

void learn_close_folder(learn_folder *f)
{
    if (f->run == held) held = NULL;
    ct_run_folder_free(f->run); /* unlocks */
    f->run = NULL;
}

int learn_exists(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0;
}

static int begins_with(const char *path, const char *text)
{
    char         head[256] = "";
    const size_t n = strlen(text);
    FILE        *file = cli_open(path, "rb");
    if (!file) return 0;
    const size_t got = fread(head, 1, n < sizeof head ? n : sizeof head, file);
    fclose(file);
    return got == n && !memcmp(head, text, n);
}

int learn_is_old_run(const char *folder)
{
    char     *config = cli_path_join(folder, "config.yaml"), *checkpoint = cli_path_join(folder, "checkpoint");
    const int is = begins_with(config, LEARN_CONFIG_BEGINS) && ct_checkpoint_is(checkpoint);
    free(config);
    free(checkpoint);
    return is;
}

int learn_is_report(const char *path) { return learn_exists(path) && cli_is_page(path); }

static void name_files(const char *out, learn_folder *f)
{
    f->noise = cli_path_join(out, "noise.json");
    f->start = cli_path_join(out, "start.json");
    f->history = cli_path_join(out, "history.jsonl");
    f->config = cli_path_join(out, "config.yaml");
    f->checkpoint = cli_path_join(out, "checkpoint");
    f->summary = cli_path_join(out, "summary.json");
    f->report = cli_path_join(out, "report.html");
}

/* Refuses links: another file would be written through them. */
static cli_exit refuse_links(const cli_io *io, const learn_folder *f)
{
    const char *const paths[] = {f->noise, f->start, f->history, f->config, f->checkpoint, f->summary};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct stat entry;
        if (lstat(paths[i], &entry) == 0 && !S_ISREG(entry.st_mode))
            return cli_fail(io,
                            "%s: is a link or a folder, not a file; remove it, or choose another --out",
                            paths[i]);
    }
    return CLI_GO;
}

/* Decides between a new and a resumed run, once the folder is locked. */
static cli_exit check_state(const cli_io *io, const learn_request *request, learn_folder *f)
{
    const int is_run = ct_run_folder_get(f->run)->state != CT_RUN_FOLDER_NONE;
    f->adopted = ct_run_folder_get(f->run)->state == CT_RUN_FOLDER_OTHER;
    f->resumed = is_run && request->resume;
    if (is_run && !request->resume && !request->force)
        return cli_fail(
            io, "%s: it has a run; --resume continues it, --force replaces it, another --out keeps it",
            request->out);
    if (request->resume && !is_run) cli_remark(io, "%s: there is no run to resume; a new one is started", request->out);
    return f->resumed ? refuse_links(io, f) : CLI_GO;
}

cli_exit learn_open_folder(const cli_io *io, const learn_request *request, learn_job *job)
{
    learn_folder *f = &job->folder;
    const char   *out = request->out;
    ct_err        err = {0};
    ct_run_folder_info   found;
    f->lines.file = -1;
    name_files(out, f);
    if (ct_run_folder_inspect(out, &found, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    const int old = found.state == CT_RUN_FOLDER_OTHER && learn_is_old_run(out);
    if (found.state == CT_RUN_FOLDER_OTHER && !old)
        return cli_fail(
            io, "%s: this folder has other files and no run of covtune learn; choose a new folder for --out",
            out);
    if (cli_make_folders(out)) return cli_fail(io, "%s: the folder cannot be created: %s", out, strerror(errno));
    if (ct_run_folder_open(out, "learn", old, &f->run, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    hold(f->run);
    return check_state(io, request, f);
}
