/* run_digest.c: the digest of everything that a run depends on beside its request.
 *
 * It is of contents, not of paths or dates: a folder that is moved, or a log that is copied, keeps its runs. Names of
 * logs do not count, but their order does, because a request has the number of its log. */
#define _GNU_SOURCE
#include "learn/digest.h"
#include "tune/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const ct_tuning *tuning;
    uint64_t         h;
    ct_status        status;
    ct_err          *err;
} digest;

static void add(digest *d, const void *bytes, size_t size) { d->h = ct__digest(d->h, bytes, size); }

static void add_text(digest *d, const char *text)
{
    const char none = 1;
    if (text) add(d, text, strlen(text) + 1);
    else add(d, &none, 1);
}

/* A word that may be the path of a copy: as rank 0 has it. */
static void add_word(digest *d, const char *word)
{
    const char  *root = d->tuning->root, *at = root ? strstr(word, root) : NULL;
    const size_t before = at ? (size_t)(at - word) : 0;
    if (at) add(d, word, before);
    add_text(d, at ? at + strlen(root) : word);
}

static void add_number(digest *d, double number) { add(d, &number, sizeof number); }

/* A pipe would wait for a writer, and a device may have no end. */
static void add_file(digest *d, const char *path)
{
    char        buf[65536];
    ssize_t     n = -1;
    struct stat entry;
    uint64_t    size = 0;
    if (stat(path, &entry) == 0 && !S_ISREG(entry.st_mode)) {
        d->status = ct_fail(d->err, CT_E_ARGUMENT, "%s: is a device, pipe or socket, and must be a file", path);
        return;
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && ((n = read(fd, buf, sizeof buf)) > 0 || (n < 0 && errno == EINTR))) {
        if (n > 0) add(d, buf, (size_t)n);
        if (n > 0) size += (uint64_t)n;
    }
    add(d, &size, sizeof size);
    if (n < 0) d->status = ct_fail(d->err, ct__io_status(), "%s: cannot be read: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* A file, or a folder (a bag of ROS 2) with the files in it. */
static void add_content(digest *d, const char *path)
{
    struct stat     entry;
    struct dirent **list = NULL;
    if (d->status != CT_OK || !path) return;
    if (stat(path, &entry) || !S_ISDIR(entry.st_mode)) {
        add_file(d, path);
        return;
    }
    const int count = scandir(path, &list, is_shown, by_name);
    if (count < 0) d->status = ct_fail(d->err, ct__io_status(), "%s: cannot be read: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *inside = ct__join_path(path, list[i]->d_name);
        if (!inside) d->status = ct__no_memory(d->err, "file names", 1);
        add_text(d, list[i]->d_name);
        if (d->status == CT_OK && stat(inside, &entry) == 0 && S_ISREG(entry.st_mode)) add_file(d, inside);
        free(inside);
        free(list[i]);
    }
    free(list);
}

/* Does a file hold a program? One that is named by its absolute path may as well be written by the program. */
static int is_code(const char *path)
{
    static const char *const ENDINGS[] = {".py", ".sh",  ".jl", ".m",  ".R",   ".r",
                                          ".pl", ".lua", ".rb", ".js", ".jar", ".so"};
    const char *const        dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        if (!strcmp(dot, ENDINGS[i])) return 1;
    return access(path, X_OK) == 0;
}

/* A command: its words, the program, and files that are words of it. */
static void add_command(digest *d, const ct__tune_words *command)
{
    char *path = NULL;
    add_number(d, command->count);
    if (!command->count) return;
    for (int32_t i = 0; i < command->count; i++) add_word(d, command->word[i]);
    if (d->status == CT_OK) d->status = ct__tuning_program(d->tuning, command, &path, d->err);
    if (d->status == CT_OK) add_content(d, path);
    free(path);
    const int shell = d->tuning->shell && command == &d->tuning->command;
    for (int32_t i = 1; !shell && d->status == CT_OK && i < command->count; i++) {
        d->status = ct__tuning_script(d->tuning, command->word[i], &path, d->err);
        if (d->status == CT_OK && path && (command->word[i][0] != '/' || is_code(path))) add_content(d, path);
        free(path);
    }
}

static void add_source(digest *d, const ct_source_options *s)
{
    add_number(d, s->format);
    add_text(d, s->separator);
    add_number(d, s->header);
    for (int32_t i = 0; i < s->columns; i++) add_text(d, s->column[i]);
    add_text(d, s->comment);
    for (int32_t i = 0; i < s->missings; i++) add_text(d, s->missing[i]);
    add_number(d, (double)s->skip);
    add_text(d, s->topic);
    add_text(d, s->each);
    add_text(d, s->time);
    add_text(d, s->where);
    for (int32_t i = 0; i < 2 * s->constants; i++) add_text(d, s->constant[i]);
}

static void add_trajectory(digest *d, const ct_trajectory_options *o)
{
    add_source(d, &o->source);
    for (int i = 0; i < 3; i++) add_text(d, o->position[i]);
    for (int i = 0; i < 4; i++) add_text(d, o->quaternion[i]);
    add_text(d, o->yaw);
    for (int i = 0; i < 12; i++) add_text(d, o->matrix[i]);
    for (int32_t i = 0; i < o->covariances; i++) add_text(d, o->covariance[i]);
    add_number(d, o->covariances);
    add_number(d, o->covariance_frame);
    add_number(d, o->camera);
    add_number(d, o->geodetic);
    for (int32_t i = 0; i < o->mounts; i++) add_number(d, o->mount[i]);
    add_number(d, o->mounts);
    add_text(d, o->body);
    add_number(d, o->estimate);
}

static void add_track(digest *d, const ct_track_options *o)
{
    const double number[] = {o->type, o->delta, o->delta_unit, o->translation, o->rotation, o->robust.kind,
                             o->robust.width, o->robust.ratio, o->lost, o->nees, o->align, o->gap_s, o->offset_s,
                             o->skip_s, o->whole};
    add(d, number, sizeof number);
}

/* Where each parameter goes in a file: its text with numbers that no file has. Numbers of places do not tell that, for
 * they are in the order in which keys were asked for. */
static void add_places(digest *d, int32_t file)
{
    const int32_t n = d->tuning->problem.parameters;
    double       *mark = ct__zalloc(n, sizeof *mark);
    char         *text = NULL;
    size_t        size = 0;
    for (int32_t i = 0; mark && i < n; i++) mark[i] = i + 0.3183098861837907;
    if (d->status == CT_OK)
        d->status = mark ? ct__file_text(d->tuning, file, mark, &text, &size, d->err)
                         : ct__no_memory(d->err, "parameters", n);
    if (d->status == CT_OK) add(d, text, size);
    free(text);
    free(mark);
}

/* The user's files as they are, and where each parameter goes. */
static void add_files(digest *d)
{
    const ct_tuning *t = d->tuning;
    for (int32_t i = 0; i < t->files; i++) {
        add_text(d, t->file[i].name);
        add_content(d, t->file[i].path);
        if (t->file[i].config) add_places(d, i);
    }
    for (int32_t i = 0; i < t->places; i++) {
        const ct__tune_place *p = &t->place[i];
        const int32_t         numbers[] = {(int32_t)p->kind, p->parameter, p->file};
        add(d, numbers, sizeof numbers);
        add_text(d, p->name);
    }
    for (int32_t i = 0; i < t->problem.parameters; i++) add_text(d, t->parameter[i].name);
}

static void add_logs(digest *d)
{
    const ct_tuning *t = d->tuning;
    for (int32_t i = 0; i < t->problem.logs; i++) {
        const ct__tune_log *log = &t->log[i];
        for (int32_t k = 0; k < log->files; k++) {
            add_text(d, log->file_name[k]);
            add_content(d, log->file_path[k]);
        }
        if (log->truth && log->truth[0]) add_content(d, log->truth);
    }
}

/* Where the program is started, relative to the tuning's folder. */
static void add_working_folder(digest *d)
{
    const char  *path = d->tuning->working_folder, *folder = d->tuning->folder;
    const size_t size = strlen(folder);
    if (path && !strncmp(path, folder, size) && path[size] == '/') path += size + 1;
    if (path) add_word(d, path);
    else add_text(d, NULL);
}

ct_status ct__tuning_take_digest(ct_tuning *t, ct_err *err)
{
    digest d = {.tuning = t, .h = CT__DIGEST_SEED, .err = err};
    add_text(&d, "covtune tuning 2");
    add_number(&d, t->shell);
    add_command(&d, &t->command);
    add_command(&d, &t->server);
    add_command(&d, &t->score);
    for (int32_t i = 0; i < t->environment.count; i++) add_word(&d, t->environment.word[i]);
    add_text(&d, t->estimate);
    add_working_folder(&d);
    add_number(&d, t->time_limit_s);
    add_number(&d, (double)t->memory_limit);
    add_files(&d);
    add_logs(&d);
    add_trajectory(&d, &t->estimate_options);
    add_trajectory(&d, &t->truth_options);
    add_track(&d, &t->track);
    add_number(&d, t->relative_time);
    if (d.status == CT_OK) t->digest = d.h;
    return d.status;
}

uint64_t ct_tuning_digest(const ct_tuning *tuning) { return tuning->digest; }

ct_status ct_tuning_unchanged(const ct_tuning *tuning, ct_err *err)
{
    ct_tuning now = *tuning; /* its digest alone is written */
    CT_TRY(ct__tuning_take_digest(&now, err));
    if (now.digest == tuning->digest) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: a program, script, file, log or truth that it names has changed since it was read",
                   tuning->path);
}
