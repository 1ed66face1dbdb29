/* share_tuning.c: a tuning on every rank, where hosts may have no common file system.
 *
 * Ranks see the same files if their tunings have the same digest, which is of contents. A rank that does not gets
 * copies, below a root of its own as at their absolute paths on rank 0:
 *
 *     rank 0    /ekf/tune.yaml          /data/run1.csv
 *     rank 1    ROOT/ekf/tune.yaml      ROOT/data/run1.csv
 *
 * so that relative paths of the file mean the same, and absolute ones are looked for below ROOT first. */
#define _GNU_SOURCE
#include "tune/run.h"
#include "tune/tuning.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH     16                  /* of folders                                             */
#define PIECE     (INT64_C(1) << 22)  /* bytes of a file that are sent at once                  */
#define SEND_MOST (INT64_C(16) << 30) /* bytes: more is copied by better means, once            */

/* ---- What rank 0 sends ------------------------------------------------------------------------ */

typedef struct {
    char    *path; /* absolute */
    int64_t  size;
    uint32_t mode;
} item;

typedef struct {
    const ct_tuning *tuning;
    char            *here;
    item            *item;
    int64_t          count, capacity, bytes;
    ct_err          *err;
    ct_status        status;
} list;

static void free_list(list *l)
{
    for (int64_t i = 0; i < l->count; i++) free(l->item[i].path);
    free(l->item);
    free(l->here);
}

static void add_item(list *l, const char *path, const struct stat *entry)
{
    l->status = ct__grow(&l->item, &l->capacity, l->count + 1, sizeof *l->item, "files", l->err);
    char *copy = l->status == CT_OK ? ct__strdup(path) : NULL;
    if (l->status == CT_OK && !copy) l->status = ct__no_memory(l->err, "file names", 1);
    if (l->status != CT_OK) return;
    l->item[l->count++] = (item){copy, entry->st_size, entry->st_mode & 0777};
}

static int by_path(const void *a, const void *b) { return strcmp(((const item *)a)->path, ((const item *)b)->path); }

/* Each file once, in the order of paths; the sum of their bytes. */
static void sort_items(list *l)
{
    int64_t kept = 0;
    if (l->count) qsort(l->item, (size_t)l->count, sizeof *l->item, by_path);
    for (int64_t i = 0; i < l->count; i++) {
        if (kept && !strcmp(l->item[kept - 1].path, l->item[i].path)) {
            free(l->item[i].path);
            continue;
        }
        l->item[kept++] = l->item[i];
        l->bytes += l->item[i].size;
    }
    l->count = kept;
}

/* A link to a folder above it: what it leads to has no end. */
static int is_loop(const char *path)
{
    struct stat entry;
    char        to[PATH_MAX], from[PATH_MAX];
    if (lstat(path, &entry) || !S_ISLNK(entry.st_mode) || !realpath(path, to)) return 0;
    snprintf(from, sizeof from, "%s", path);
    *strrchr(from, '/') = 0;
    char        *folder = realpath(from[0] ? from : "/", NULL);
    const size_t size = strlen(to);
    const int    above = folder && !strncmp(folder, to, size) && (!folder[size] || folder[size] == '/' || size == 1);
    free(folder);
    return above;
}

/* Hidden files, what Python keeps, and folders of runs are nothing that a run reads. */
static int is_left_out(const char *path, const char *name)
{
    char inside[PATH_MAX];
    snprintf(inside, sizeof inside, "%s/runs.journal", path);
    return name[0] == '.' || !strcmp(name, "__pycache__") || access(inside, F_OK) == 0 || is_loop(path);
}

static void add_tree(list *l, const char *path, int depth)
{
    struct stat entry;
    if (l->status != CT_OK || stat(path, &entry)) return;
    if (S_ISREG(entry.st_mode)) add_item(l, path, &entry);
    DIR *entries = S_ISDIR(entry.st_mode) && depth < DEPTH ? opendir(path) : NULL;
    for (const struct dirent *e; entries && l->status == CT_OK && (e = readdir(entries));) {
        char *inside = ct__join_path(path, e->d_name);
        if (!inside) l->status = ct__no_memory(l->err, "file names", 1);
        else if (!is_left_out(inside, e->d_name)) add_tree(l, inside, depth + 1);
        free(inside);
    }
    if (entries) closedir(entries);
}

/* A path as the tuning has it. */
static void add_path(list *l, const char *path)
{
    ct__text text = {0};
    char    *absolute = NULL;
    if (l->status != CT_OK || !path || !path[0]) return;
    ct__put_path(l->here, path, &text);
    l->status = ct__text_take(&text, &absolute, l->err);
    if (l->status == CT_OK) add_tree(l, absolute, 0);
    free(absolute);
}

/* Programs by a path relative to the tuning's folder, and words that are files. */
static void add_command(list *l, const ct__tune_words *command)
{
    for (int32_t i = 0; i < command->count && l->status == CT_OK; i++) {
        char *path = NULL;
        if (i == 0 && command->word[0][0] == '/') continue; /* installed there, with all that it needs, or not */
        l->status = ct__tuning_script(l->tuning, command->word[i], &path, l->err);
        add_path(l, path);
        free(path);
    }
}

static ct_status make_list(list *l)
{
    const ct_tuning *t = l->tuning;
    l->here = getcwd(NULL, 0);
    if (!l->here) return ct_fail(l->err, ct__io_status(), "the present folder cannot be read: %s", strerror(errno));
    add_path(l, t->path);
    add_path(l, t->folder);
    add_command(l, &t->command);
    add_command(l, &t->server);
    add_command(l, &t->score);
    for (int32_t i = 0; i < t->files; i++) add_path(l, t->file[i].path);
    for (int32_t i = 0; i < t->problem.logs; i++) {
        for (int32_t k = 0; k < t->log[i].files; k++) add_path(l, t->log[i].file_path[k]);
        add_path(l, t->log[i].truth);
    }
    sort_items(l);
    if (l->status == CT_OK && l->bytes > SEND_MOST)
        l->status = ct_fail(l->err, CT_E_LIMIT,
                            "%s: its folder and logs have %.1f GB, too much to be sent to ranks that do not see them; "
                            "give all hosts a common file system, or put the file into a folder of its own",
                            t->path, 1e-9 * (double)l->bytes);
    return l->status;
}

/* ---- Sending ---------------------------------------------------------------------------------- */

/* One file in pieces. to: where this rank keeps it; NULL: nowhere. *own: what this rank could not do. */
static ct_status send_file(const ct_comm *comm, const char *from, int64_t size, const char *to, ct_status *own,
                           ct_err *own_err, ct_err *err)
{
    char     *piece = ct__zalloc(CT_MIN(size, PIECE) + 1, 1);
    FILE     *in = comm->rank ? NULL : fopen(from, "rbe"), *out = to ? fopen(to, "wbe") : NULL;
    ct_status status = piece ? CT_OK : ct__no_memory(err, "bytes of a file", PIECE);
    if (!comm->rank && !in) *own = ct_fail(own_err, CT_E_IO, "%s: cannot be read: %s", from, strerror(errno));
    if (to && !out && *own == CT_OK) *own = ct_fail(own_err, CT_E_IO, "%s: cannot be made: %s", to, strerror(errno));
    for (int64_t at = 0; status == CT_OK && at < size; at += PIECE) {
        const size_t n = (size_t)CT_MIN(size - at, PIECE);
        if (in && fread(piece, 1, n, in) != n && *own == CT_OK)
            *own = ct_fail(own_err, CT_E_IO, "%s: cannot be read, or has become shorter", from);
        status = ct_comm_give(comm, piece, (int64_t)n, err);
        if (status == CT_OK && out && fwrite(piece, 1, n, out) != n && *own == CT_OK)
            *own = ct_fail(own_err, CT_E_IO, "%s: cannot be written: %s", to, strerror(errno));
    }
    if (in) fclose(in);
    if (out && fclose(out) && *own == CT_OK)
        *own = ct_fail(own_err, CT_E_IO, "%s: cannot be written: %s", to, strerror(errno));
    free(piece);
    return status;
}

/* The path below root, its folders made. */
static ct_status place(const char *root, const char *path, char to[2 * PATH_MAX], ct_err *err)
{
    snprintf(to, 2 * PATH_MAX, "%s%s", root, path);
    char *slash = strrchr(to, '/');
    *slash = 0;
    const ct_status status = ct__make_folders(to, err);
    *slash = '/';
    return status;
}

/* All files of rank 0's list to those that lack them. A status is of the exchange; *own of this rank alone. */
static ct_status send_list(const ct_comm *comm, const list *l, const char *root, int lack, ct_status *own,
                           ct_err *own_err, ct_err *err)
{
    int64_t count = l->status == CT_OK ? l->count : 0;
    CT_TRY(ct_comm_give(comm, &count, sizeof count, err));
    for (int64_t i = 0; i < count; i++) {
        struct {
            char     path[PATH_MAX];
            int64_t  size;
            uint32_t mode, pad;
        } head = {.size = 0};
        char to[2 * PATH_MAX];
        if (!comm->rank) {
            snprintf(head.path, sizeof head.path, "%s", l->item[i].path);
            head.size = l->item[i].size;
            head.mode = l->item[i].mode;
        }
        CT_TRY(ct_comm_give(comm, &head, sizeof head, err));
        int kept = lack && *own == CT_OK;
        if (kept && (*own = place(root, head.path, to, own_err)) != CT_OK) kept = 0;
        CT_TRY(send_file(comm, head.path, head.size, kept ? to : NULL, own, own_err, err));
        if (kept) (void)chmod(to, head.mode | 0600);
    }
    return CT_OK;
}

/* ---- Reading ---------------------------------------------------------------------------------- */

/* What rank 0 has read. */
typedef struct {
    int64_t  ok;
    uint64_t digest;
    char     path[PATH_MAX]; /* absolute */
} announcement;

/* All ranks fail if one does, with the first one's sentence and its number. */
static ct_status agree(const ct_comm *comm, ct_status own, const ct_err *own_err, ct_err *err)
{
    typedef struct {
        int32_t status, pad;
        char    text[sizeof own_err->text];
    } verdict;
    verdict   mine = {.status = (int32_t)own}, *all = ct__zalloc(comm->size, sizeof *all);
    int64_t  *bytes = ct__zalloc(comm->size, sizeof *bytes);
    ct_status status = all && bytes ? CT_OK : ct__no_memory(err, "ranks", comm->size);
    if (own != CT_OK) snprintf(mine.text, sizeof mine.text, "%s", own_err->text);
    for (int r = 0; bytes && r < comm->size; r++) bytes[r] = sizeof mine;
    if (status == CT_OK) status = comm->exchange(comm->user, &mine, bytes, all, err);
    for (int r = 0; status == CT_OK && r < comm->size; r++) {
        if (all[r].status == CT_OK) continue;
        const char *host = comm->host ? comm->host(comm->user, r) : "?";
        status = r ? ct_fail(err, (ct_status)all[r].status, "rank %d on %s: %s", r, host, all[r].text)
                   : ct_fail(err, (ct_status)all[r].status, "%s", all[r].text);
    }
    free(all);
    free(bytes);
    return status;
}

/* The copies as a tuning: the same one as rank 0's. */
static ct_status read_copy(const announcement *first, const char *root, ct_tuning **out, ct_err *err)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, first->path);
    CT_TRY(ct__tuning_read_below(path, root, out, err));
    if ((*out)->digest == first->digest) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: the program, or a file that it names by an absolute path, is another one here than on rank 0; "
                   "install the same, or put it into the file's folder", first->path);
}

static ct_status share(const char *path, const ct_comm *comm, const char *root, const announcement *first,
                       ct_tuning **out, ct_err *err)
{
    list      l = {.tuning = *out, .status = CT_OK};
    ct_err    own_err = {0}, none;
    int       lack = 0, any = 0;
    ct_status own = CT_OK;
    l.err = &own_err;
    if (comm->rank) lack = ct_tuning_read(path, out, &none) != CT_OK || (*out)->digest != first->digest;
    CT_TRY(ct_comm_any(comm, lack, &any, err));
    if (!any) return CT_OK;
    if (!comm->rank) own = make_list(&l);
    if (lack) {
        ct_tuning_free(*out);
        *out = NULL;
        own = ct__make_folders(root, &own_err);
    }
    char           *absolute = lack && own == CT_OK ? realpath(root, NULL) : NULL;
    const ct_status status = send_list(comm, &l, absolute, lack && absolute, &own, &own_err, err);
    free_list(&l);
    if (status == CT_OK && lack && own == CT_OK) own = read_copy(first, absolute, out, &own_err);
    free(absolute);
    return status == CT_OK ? agree(comm, own, &own_err, err) : status;
}

ct_status ct_tuning_read_shared(const char *path, const ct_comm *comm, const char *folder, ct_tuning **out,
                                ct_err *err)
{
    announcement first = {0};
    ct_err       own = {0};
    ct_status    status = CT_OK;
    *out = NULL;
    if (!comm || comm->size < 2) return ct_tuning_read(path, out, err);
    if (!comm->rank) {
        status = ct_tuning_read(path, out, &own);
        char *here = getcwd(NULL, 0);
        snprintf(first.path, sizeof first.path, "%s%s%s", path[0] == '/' || !here ? "" : here,
                 path[0] == '/' ? "" : "/", path);
        free(here);
        first.ok = status == CT_OK;
        if (first.ok) first.digest = (*out)->digest;
    }
    const ct_status given = ct_comm_give(comm, &first, sizeof first, err);
    if (given == CT_OK && first.ok) status = share(path, comm, folder, &first, out, err);
    else if (given == CT_OK && comm->rank) status = ct_fail(err, CT_E_PARSE, "%s: rank 0 cannot read it", path);
    else if (given == CT_OK && err) *err = own;
    if (given != CT_OK) status = given;
    if (status == CT_OK) return CT_OK;
    ct_tuning_free(*out);
    *out = NULL;
    return status;
}
