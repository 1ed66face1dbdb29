/* share.c: input files that rank 0 sees and another rank does not, as on machines without a common file system. Rank 0
 * sends them; a rank that lacks them keeps a copy in a folder of its own while it runs. */
#define _XOPEN_SOURCE 700
#include "mpi/transport.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH 4096

/* ---- files under a path ---- */

typedef struct {
    char   **file; /* relative to the path; "" is the path itself */
    int64_t *bytes;
    int64_t  count, capacity, total;
    int      is_folder;
} listing;

static void listing_free(listing *l)
{
    for (int64_t i = 0; i < l->count; i++) free(l->file[i]);
    free(l->file);
    free(l->bytes);
    *l = (listing){0};
}

static int add_file(listing *l, const char *name, int64_t bytes)
{
    if (l->count == l->capacity) {
        const int64_t more = l->capacity ? 2 * l->capacity : 64;
        char        **file = realloc(l->file, (size_t)more * sizeof *file);
        if (file) l->file = file;
        int64_t *sizes = realloc(l->bytes, (size_t)more * sizeof *sizes);
        if (sizes) l->bytes = sizes;
        if (!file || !sizes) return 0;
        l->capacity = more;
    }
    l->file[l->count] = strdup(name);
    l->bytes[l->count] = bytes;
    if (!l->file[l->count]) return 0;
    l->total += bytes;
    l->count++;
    return 1;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Regular files below path/inside, in the order of their names; folders within up to eight deep. */
static int add_folder(listing *l, const char *path, const char *inside, int depth)
{
    char            here[PATH];
    struct dirent **entry = NULL;
    int             ok = 1;
    snprintf(here, sizeof here, "%s/%s", path, inside);
    const int n = scandir(here, &entry, NULL, by_name);
    for (int i = 0; i < n; i++) {
        char        full[2 * PATH], name[PATH];
        struct stat info;
        const int   length = snprintf(name, sizeof name, "%s%s%s", inside, *inside ? "/" : "", entry[i]->d_name);
        const int   whole = snprintf(full, sizeof full, "%s/%s", path, name);
        if (length < PATH && whole < 2 * PATH && ok && entry[i]->d_name[0] != '.' && !stat(full, &info)) {
            if (S_ISREG(info.st_mode)) ok = add_file(l, name, info.st_size);
            else if (S_ISDIR(info.st_mode) && depth < 8) ok = add_folder(l, path, name, depth + 1);
        }
        free(entry[i]);
    }
    free(entry);
    return ok;
}

/* 0: there is nothing at the path, or no memory. */
static int list(const char *path, listing *l)
{
    struct stat info;
    *l = (listing){0};
    if (stat(path, &info)) return 0;
    l->is_folder = S_ISDIR(info.st_mode);
    if (l->is_folder) return add_folder(l, path, "", 0);
    return S_ISREG(info.st_mode) && add_file(l, "", info.st_size);
}

/* Names and sizes. Two folders of one file system have the same. */
static uint64_t digest(const listing *l)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < l->count; i++) {
        for (const char *c = l->file[i]; *c; c++) h = (h ^ (unsigned char)*c) * 0x100000001b3u;
        h = (h ^ (uint64_t)l->bytes[i]) * 0x100000001b3u;
    }
    return h ^ (uint64_t)l->count << 32 ^ (uint64_t)l->is_folder;
}

/* ---- sending ---- */

static int make_parents(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        const int failed = mkdir(path, 0700) && errno != EEXIST;
        *at = '/';
        if (failed) return 0;
    }
    return 1;
}

/* One file from rank 0, in pieces; this rank keeps it if `to` is not NULL. 0: it could not be read or kept. */
static int send_file(const transport *t, const char *from, int64_t bytes, char *to)
{
    enum { PIECE = 1 << 22 };
    char *piece = malloc(PIECE);
    int   ok = piece && (!to || make_parents(to));
    FILE *in = t->rank == 0 ? fopen(from, "rb") : NULL, *out = to && ok ? fopen(to, "wb") : NULL;
    if (t->rank == 0) ok = ok && in;
    else if (to) ok = ok && out;
    for (int64_t at = 0; piece && at < bytes; at += PIECE) {
        const int64_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (t->rank == 0) {
            memset(piece, 0, (size_t)n);
            ok = ok && fread(piece, 1, (size_t)n, in) == (size_t)n;
        }
        transport_broadcast(t, piece, n);
        if (out) ok = ok && fwrite(piece, 1, (size_t)n, out) == (size_t)n;
    }
    if (in) fclose(in);
    if (out) ok = !fclose(out) && ok;
    free(piece);
    return ok;
}

/* All files of rank 0's listing; `to`: where this rank keeps them, NULL: nowhere. */
static int send_listing(const transport *t, const char *path, const listing *l, const char *to)
{
    int64_t count = l->count;
    int     ok = 1;
    transport_broadcast(t, &count, sizeof count);
    if (to && mkdir(to, 0700) && errno != EEXIST) ok = 0;
    for (int64_t i = 0; i < count; i++) {
        char    name[PATH] = "", from[2 * PATH], keep[2 * PATH];
        int64_t bytes = 0;
        if (t->rank == 0) {
            snprintf(name, sizeof name, "%s", l->file[i]);
            bytes = l->bytes[i];
        }
        transport_broadcast(t, name, sizeof name);
        transport_broadcast(t, &bytes, sizeof bytes);
        const char *slash = strrchr(path, '/');
        snprintf(from, sizeof from, "%s%s%s", path, *name ? "/" : "", name);
        if (to) snprintf(keep, sizeof keep, "%s/%s", to, *name ? name : slash ? slash + 1 : path);
        ok = send_file(t, from, bytes, to ? keep : NULL) && ok;
    }
    return ok;
}

/* ---- arguments ---- */

/* Argument i of rank 0, if it names something there. */
static int share_argument(const transport *t, char **argument, int own, int copy, const char *folder, int i,
                          ct_err *err)
{
    listing  here = {0};
    int      there = list(*argument, &here), lack = 0, any = 0;
    uint64_t mine[2] = {(uint64_t)there, there ? digest(&here) : 0}, first[2] = {mine[0], mine[1]};
    int      is_folder = here.is_folder, ok = 1;
    char     to[PATH], kept[3 * PATH];
    transport_broadcast(t, first, sizeof first);
    transport_broadcast(t, &is_folder, sizeof is_folder);
    lack = t->rank > 0 && (own ? copy && first[0] : first[0] && memcmp(first, mine, sizeof mine));
    MPI_Allreduce(&lack, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    snprintf(to, sizeof to, "%s/%d", folder, i);
    if (any) ok = send_listing(t, *argument, &here, lack ? to : NULL);
    listing_free(&here);
    if (!ok) {
        ct_fail(err, CT_E_IO, "%s: it could not be sent to ranks that do not see it: %s", *argument, strerror(errno));
        return 0;
    }
    if (!(t->rank > 0 && own) && !lack) return 1;
    const char *slash = strrchr(*argument, '/');
    if (lack && !is_folder) snprintf(kept, sizeof kept, "%s/%s", to, slash ? slash + 1 : *argument);
    else snprintf(kept, sizeof kept, "%s", to);
    *argument = strdup(kept);
    return *argument != NULL;
}

int share_arguments(const transport *t, int argc, char **argv, int first, int out, int resume, const char *folder,
                    ct_err *err)
{
    int ok = 1;
    for (int i = first; i < argc; i++)
        if (argv[i][0] != '-') ok = share_argument(t, &argv[i], i == out, resume, folder, i, err) && ok;
    return ok;
}
