/* alloc_sweep.c: one command, over and over, each time without the memory of another of its calls.
 *
 *   alloc_sweep [options] SHIM BEFORE -- PROGRAM ARGUMENT...
 *
 * BEFORE is a folder, of a copy of which the command is run (BEFORE.work). First with all the memory it wants: that
 * gives the calls for memory it makes, each with the stack it comes from, and what is right: what it prints, and the
 * folder that it leaves. Then with call K refused, once alone and once with all after it. Each time
 *
 *   exit code 0: it printed the same bytes, and left the same folder;
 *   exit code 1: a sentence says that there is no memory; every file is as before, as it is at the end, or as it was
 *   put in place on the way (of a file whose
 *                lines are added one by one: whole lines; of a checkpoint: first
 *                records); there is none but those.
 *
 * Anything else is a finding: a signal, a run that does not end, a file that is left beside. Options:
 *
 *   --sample N    that many of the calls, drawn by --seed (1)
 *   --stacks      of all calls that come from the same stack the first and every --every'th (256)
 *   --lines NAME  a file that grows line by line                 --loses: files of before may be gone
 *   --only K      that call alone, with its stack
 *
 * Exit code: 0 none, 1 findings. The last line is "calls, stacks, runs, findings: ...". */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS  60 /* that a run may take: a thousand times what it does */
#define SHOWN    12 /* findings that are printed                          */
#define PATH     1024

typedef struct {
    char  *name; /* inside the folder; a folder's own ends in / */
    char  *bytes;
    size_t size;
} item;

typedef struct {
    item *at;
    int   count;
} tree;

typedef struct {
    const char *shim, *before_path, *lines;
    char      **command;
    char        work[PATH], keep[PATH], log[PATH], out[PATH], err[PATH];
    tree        before, after, kept;
    item        stdout_right, stderr_right;
    long        calls, stacks, runs, findings, only;
    int         sample, every, by_stack, loses;
    uint64_t    seed;
} sweep;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void *need(void *p)
{
    if (!p) die("memory");
    return p;
}

/* ---- folders ---- */

/* Names that are random, .covtune-0123456789abcdef, are the same in all. */
static void settle_names(item *it)
{
    static const char OURS[] = ".covtune-";
    for (char *at = it->bytes; (at = memmem(at, it->size - (size_t)(at - it->bytes), OURS, strlen(OURS)));) {
        at += strlen(OURS);
        if (strspn(at, "0123456789abcdef") >= 16) memset(at, '0', 16);
    }
}

static item read_item(const char *path, const char *name)
{
    item      it = {.name = need(strdup(name))};
    struct stat entry;
    const int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &entry)) die(path);
    it.size = (size_t)entry.st_size;
    it.bytes = need(calloc(it.size + 1, 1));
    if (read(file, it.bytes, it.size) != (ssize_t)it.size) die(path);
    close(file);
    settle_names(&it);
    return it;
}

static void add(tree *t, item it)
{
    t->at = need(realloc(t->at, (size_t)(t->count + 1) * sizeof *t->at));
    t->at[t->count++] = it;
}

/* Everything below root/inside, folders before what is in them. Folders are few and flat. */
static void read_tree(const char *root, const char *inside, tree *t)
{
    char path[PATH], name[PATH];
    snprintf(path, sizeof path, "%s/%s", root, inside);
    DIR *folder = opendir(path);
    if (!folder) die(path);
    for (const struct dirent *e; (e = readdir(folder));) {
        struct stat entry;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        if (snprintf(path, sizeof path, "%s/%s%s", root, inside, e->d_name) >= PATH || lstat(path, &entry)) die(path);
        if (snprintf(name, sizeof name, "%s%s%s", inside, e->d_name, S_ISDIR(entry.st_mode) ? "/" : "") >= PATH)
            die(name);
        add(t, S_ISDIR(entry.st_mode) ? (item){.name = need(strdup(name))} : read_item(path, name));
        if (S_ISDIR(entry.st_mode)) read_tree(root, name, t);
    }
    closedir(folder);
}

static void free_item(item *it)
{
    free(it->name);
    free(it->bytes);
}

static void free_tree(tree *t)
{
    for (int i = 0; i < t->count; i++) free_item(&t->at[i]);
    free(t->at);
    *t = (tree){0};
}

static const item *find(const tree *t, const char *name)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->at[i].name, name)) return &t->at[i];
    return NULL;
}

static int same(const item *a, const item *b)
{
    return a && b && a->size == b->size && (!a->size || !memcmp(a->bytes, b->bytes, a->size));
}

static void put_item(const char *root, const item *it)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", root, it->name);
    if (path[strlen(path) - 1] == '/') {
        if (mkdir(path, 0777)) die(path);
        return;
    }
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || write(file, it->bytes, it->size) != (ssize_t)it->size || close(file)) die(path);
}

/* The folder is `found`; it becomes t. */
static void restore(const char *root, tree *found, const tree *t)
{
    char path[PATH];
    for (int i = found->count - 1; i >= 0; i--) {
        const item *wanted = find(t, found->at[i].name);
        snprintf(path, sizeof path, "%s/%s", root, found->at[i].name);
        if (!wanted && remove(path)) die(path);
    }
    for (int i = 0; i < t->count; i++) {
        const item *there = find(found, t->at[i].name);
        if (!there || !same(there, &t->at[i])) put_item(root, &t->at[i]);
    }
    free_tree(found);
}

/* ---- one run ---- */

static void redirect(const char *path, int to)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, to) < 0) die(path);
    close(file);
}

static void put_number(const char *name, long value)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    setenv(name, text, 1);
}

/* The wait status of the command with call k refused; -1: none, and it is written down. */
static int run(const sweep *s, long k, int onwards)
{
    const pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        if (chdir(s->work)) die(s->work);
        redirect(s->out, 1);
        redirect(s->err, 2);
        close(0);
        (void)!open("/dev/null", O_RDONLY);
        if (k < 0) setenv("ALLOC_LOG", s->log, 1);
        if (k < 0) setenv("ALLOC_KEEP", s->keep, 1);
        if (k >= 0) put_number("ALLOC_FAIL", k);
        if (onwards) setenv("ALLOC_ONWARDS", "1", 1);
        if (s->only >= 0) setenv("ALLOC_SHOW", "1", 1);
        setenv("LD_PRELOAD", s->shim, 1);
        alarm(SECONDS);
        execvp(s->command[0], s->command);
        die(s->command[0]);
    }
    int status;
    if (waitpid(child, &status, 0) != child) die("waitpid");
    return status;
}

/* ---- what it left ---- */

/* A file that grows: lines of the right one, none of them broken. */
static int is_beginning(const sweep *s, const item *it, const item *whole)
{
    const char *base = strrchr(it->name, '/') ? strrchr(it->name, '/') + 1 : it->name;
    if (!s->lines || strcmp(base, s->lines) || !whole || it->size > whole->size) return 0;
    return !it->size || (it->bytes[it->size - 1] == '\n' && !memcmp(it->bytes, whole->bytes, it->size));
}

/* A checkpoint (src/learn/checkpoint.c) of the beginning of the run: learning is stopped where a line of its history,
 * or the best so far, cannot be written, and keeps what it has evaluated. When it writes depends on the clock. */
static int is_earlier_checkpoint(const sweep *s, const item *it, const item *whole)
{
    const char    *base = strrchr(it->name, '/') ? strrchr(it->name, '/') + 1 : it->name;
    const uint64_t header = 5 * sizeof(uint64_t);
    uint64_t       a[5], b[5]; /* magic, key, words of records, start values, 0 */
    if (!s->lines || strcmp(base, "checkpoint") || !whole) return 0;
    if ((uint64_t)it->size < header || (uint64_t)whole->size < header) return 0;
    memcpy(a, it->bytes, sizeof a);
    memcpy(b, whole->bytes, sizeof b);
    if (a[0] != b[0] || a[1] != b[1] || a[2] > b[2] || (a[3] != b[3] && a[3] != 0)) return 0;
    if ((uint64_t)it->size != header + (a[2] + a[3] + 1) * sizeof(uint64_t)) return 0;
    return !memcmp(it->bytes + header, whole->bytes + header, a[2] * sizeof(uint64_t));
}

/* NULL, or what is wrong with the folder after a failure. */
static const char *judge_files(const sweep *s, const tree *now, const char **which)
{
    for (int i = 0; i < now->count; i++) {
        const item *it = &now->at[i], *old = find(&s->before, it->name), *new = find(&s->after, it->name);
        int         fine = same(it, old) || same(it, new) || is_beginning(s, it, new);
        fine = fine || is_earlier_checkpoint(s, it, new);
        *which = it->name;
        if (!old && !new) return "is left beside";
        for (int k = 0; !fine && k < s->kept.count; k++) fine = same(it, &s->kept.at[k]);
        if (!fine) return "is neither as before nor whole";
    }
    for (int i = 0; i < s->before.count && !s->loses; i++) {
        *which = s->before.at[i].name;
        if (!find(now, *which) && find(&s->after, *which)) return "is gone";
    }
    return NULL;
}

/* NULL, or what is wrong with the folder and what was printed where nothing failed. */
static const char *judge_result(const sweep *s, const tree *now, const item *out, const item *err, const char **which)
{
    *which = "stdout";
    if (!same(out, &s->stdout_right)) return "is not what it should be, exit code 0";
    *which = "stderr";
    if (!same(err, &s->stderr_right) && s->only < 0) return "is not what it should be, exit code 0";
    for (int i = 0; i < now->count; i++) {
        *which = now->at[i].name;
        if (!same(&now->at[i], find(&s->after, *which))) return "is not what it should be, exit code 0";
    }
    for (int i = 0; i < s->after.count; i++) {
        *which = s->after.at[i].name;
        if (!find(now, *which)) return "is missing, exit code 0";
    }
    return NULL;
}

static void complain(sweep *s, long k, int onwards, const char *which, const char *what, const item *err)
{
    if (s->findings++ >= SHOWN && s->only < 0) return;
    printf("  call %ld refused%s: %s %s\n", k, onwards ? " and all after it" : "", which, what);
    if (err->size)
        printf("    stderr: %.*s%s", (int)(err->size > 400 && s->only < 0 ? 400 : err->size), err->bytes,
               err->bytes[err->size - 1] == '\n' ? "" : "\n");
}

static void try_call(sweep *s, long k, int onwards)
{
    const int   status = run(s, k, onwards), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    tree        now = {0};
    item        out = read_item(s->out, "stdout"), err = read_item(s->err, "stderr");
    char        text[64];
    const char *which = "it", *what = NULL;
    read_tree(s->work, "", &now);
    if (code < 0) snprintf(text, sizeof text, "ends by signal %d", WTERMSIG(status)), what = text;
    else if (code > 1) snprintf(text, sizeof text, "has exit code %d", code), what = text;
    else if (code == 0) what = judge_result(s, &now, &out, &err, &which);
    else if (!strstr(err.bytes, "covtune")) what = "fails without a sentence";
    else if (!strcasestr(strstr(err.bytes, "covtune"), "memory")) what = "fails, and does not say that memory ran out";
    else what = judge_files(s, &now, &which);
    if (what) complain(s, k, onwards, which, what, &err);
    else if (s->only >= 0) printf("exit code %d\n%s\n", code, err.bytes);
    s->runs++;
    restore(s->work, &now, &s->before);
    free_item(&out);
    free_item(&err);
}

/* ---- which calls ---- */

/* xorshift64*: of no consequence but that it is the same each time. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

typedef struct {
    uint64_t stack;
    long     call;
} site;

static int by_stack(const void *a, const void *b)
{
    const site *x = a, *y = b;
    if (x->stack != y->stack) return x->stack < y->stack ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

/* chosen[k]: call k is one to be refused. */
static char *choose(sweep *s, const uint64_t *stack)
{
    char *chosen = need(calloc((size_t)s->calls + 1, 1));
    site *sites = need(calloc((size_t)s->calls + 1, sizeof *sites));
    long *first = need(calloc((size_t)s->calls + 1, sizeof *first));
    for (long k = 0; k < s->calls; k++) sites[k] = (site){stack[k], k};
    qsort(sites, (size_t)s->calls, sizeof *sites, by_stack);
    long nth = 0;
    for (long i = 0; i < s->calls; i++) {
        const int begins = i == 0 || sites[i].stack != sites[i - 1].stack;
        nth = begins ? 0 : nth + 1;
        if (begins) first[s->stacks++] = sites[i].call;
        chosen[sites[i].call] = (char)(!s->sample && (!s->by_stack || nth % s->every == 0));
    }
    /* each stack as likely as another */
    for (int i = 0; i < s->sample && s->stacks; i++) chosen[first[draw(&s->seed) % (uint64_t)s->stacks]] = 1;
    free(sites);
    free(first);
    return chosen;
}

/* ---- all of it ---- */

/* With all memory; what is right. */
static void learn_right(sweep *s)
{
    if (run(s, -1, 0) != 0) {
        printf("  fails with all the memory it wants; see %s\n", s->err);
        exit(2);
    }
    read_tree(s->work, "", &s->after);
    read_tree(s->keep, "", &s->kept);
    s->stdout_right = read_item(s->out, "stdout");
    s->stderr_right = read_item(s->err, "stderr");
    tree now = {0};
    read_tree(s->work, "", &now);
    restore(s->work, &now, &s->before);
}

static void sweep_calls(sweep *s)
{
    item  log = read_item(s->log, "log");
    s->calls = (long)(log.size / sizeof(uint64_t));
    uint64_t *stack = need(calloc((size_t)s->calls + 1, sizeof *stack));
    memcpy(stack, log.bytes, log.size);
    char *chosen = choose(s, stack);
    for (long k = 0; k < s->calls; k++)
        for (int onwards = 0; onwards < 2; onwards++)
            if (s->only >= 0 ? k == s->only : chosen[k]) try_call(s, k, onwards);
    free(chosen);
    free(stack);
    free_item(&log);
}

static void make_places(sweep *s)
{
    char command[8 * PATH];
    snprintf(s->work, sizeof s->work, "%s.work", s->before_path);
    snprintf(s->keep, sizeof s->keep, "%s.keep", s->before_path);
    snprintf(s->log, sizeof s->log, "%s.log", s->before_path);
    snprintf(s->out, sizeof s->out, "%s.stdout", s->before_path);
    snprintf(s->err, sizeof s->err, "%s.stderr", s->before_path);
    snprintf(command, sizeof command, "rm -rf '%s' '%s' && cp -R '%s' '%s' && mkdir '%s'", s->work, s->keep,
             s->before_path, s->work, s->keep);
    if (system(command)) die(command);
    read_tree(s->before_path, "", &s->before);
}

int main(int argc, char **argv)
{
    sweep s = {.only = -1, .every = 256, .seed = 1};
    int   i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--stacks")) s.by_stack = 1;
        else if (!strcmp(argv[i], "--loses")) s.loses = 1;
        else if (!strcmp(argv[i], "--sample")) s.sample = atoi(value), i++;
        else if (!strcmp(argv[i], "--every")) s.every = atoi(value), i++;
        else if (!strcmp(argv[i], "--seed")) s.seed = strtoull(value, NULL, 10) * 2 + 1, i++;
        else if (!strcmp(argv[i], "--only")) s.only = atol(value), i++;
        else if (!strcmp(argv[i], "--lines")) s.lines = value, i++;
        else break;
    }
    if (i + 3 >= argc || strcmp(argv[i + 2], "--") || s.every < 1) {
        fprintf(stderr, "usage: alloc_sweep [options] SHIM BEFORE -- PROGRAM ARGUMENT...\n");
        return 2;
    }
    s.shim = argv[i];
    s.before_path = argv[i + 1];
    s.command = argv + i + 3;
    make_places(&s);
    learn_right(&s);
    sweep_calls(&s);
    printf("calls, stacks, runs, findings: %ld %ld %ld %ld\n", s.calls, s.stacks, s.runs, s.findings);
    free_tree(&s.before);
    free_tree(&s.after);
    free_tree(&s.kept);
    free_item(&s.stdout_right);
    free_item(&s.stderr_right);
    return s.findings != 0;
}
