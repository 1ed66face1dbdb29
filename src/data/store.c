/* store.c: see store.h. The lock guards the states, pins and lists; images are made, read and written without it, by
 * the thread that set the state to COMING or LEAVING. */
#define _POSIX_C_SOURCE 200809L
#include "data/store.h"
#include "base/base.h"
#include "base/resident.h"
#include "data/binary.h"
#include "data/data.h"
#include "graph/graph.h"

#include <pthread.h>
#include <time.h>

typedef enum { PRESENT, LEAVING, ABSENT, COMING } state;

/* In place of arrays that are absent: not NULL, which says that there are none, and no memory. */
#define NOWHERE ((void *)(uintptr_t)64)

typedef struct entry entry;
struct entry {
    ct__store   *store;
    ct_sequence *seq;
    int64_t      bytes;            /* in memory, when present                           */
    int64_t      at, room, length; /* of the image in the file; room 0: it has none yet */
    uint64_t     checksum;
    int          pins;
    state        is;
    int          ahead;            /* one of the pins is that of the prefetching thread */
    int64_t      order;            /* place in the list of that thread, -1: none        */
    entry       *newer, *older;    /* of those that are present and not pinned          */
};

struct ct__store {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    int64_t         limit, used, reserved, largest;
    int64_t         excess; /* of the process over its limit, beyond what is counted      */
    int64_t         moved;  /* bytes that came since the process was measured              */
    int64_t         before; /* that the process had above CT__STORE_PROGRAM at the beginning */
    entry          *newest;
    ct__spill      *spill;
    int64_t         taken;  /* the prefetching thread's list: entries up to here were acquired */
    ct_cache_info   info;
};

struct ct__prefetch {
    ct__store                *store;
    const ct_sequence *const *seq;
    int64_t                   count, ahead;
    int                       over;
    pthread_t                 thread;
};

/* ---- Images ---------------------------------------------------------------------------------- */

static int64_t padded(int64_t bytes) { return (bytes + 7) / 8 * 8; }

typedef struct {
    void  **at;
    int64_t bytes;
} array;

static void list_arrays(ct_sequence *seq, array out[3])
{
    const ct_graph *g = seq->graph;
    out[0] = (array){(void **)&seq->truth, seq->truth ? g->size * (int64_t)sizeof *seq->truth : 0};
    out[1] = (array){(void **)&seq->known, seq->known ? g->variables : 0};
    out[2] = (array){(void **)&seq->stamp, seq->stamp ? g->variables * (int64_t)sizeof *seq->stamp : 0};
}

static int64_t memory_of(const ct_sequence *seq)
{
    array   list[3];
    int64_t bytes = ct__graph_bytes(seq->graph);
    list_arrays((ct_sequence *)(uintptr_t)seq, list);
    for (int i = 0; i < 3; i++) bytes += list[i].bytes;
    return bytes + bytes / 8 + 1024; /* what the allocator adds */
}

static ct_status make_image(const ct_sequence *seq, char **out, int64_t *length, ct_err *err)
{
    array         list[3];
    const int64_t graph = ct__graph_image_bytes(seq->graph);
    list_arrays((ct_sequence *)(uintptr_t)seq, list);
    *length = graph;
    for (int i = 0; i < 3; i++) *length += padded(list[i].bytes);
    char *to = *out = malloc((size_t)*length);
    if (!to) return ct__no_memory(err, "bytes", *length);
    ct__graph_pack(seq->graph, to);
    to += graph;
    for (int i = 0; i < 3; i++) {
        if (list[i].bytes) memcpy(to, *list[i].at, (size_t)list[i].bytes);
        memset(to + list[i].bytes, 0, (size_t)(padded(list[i].bytes) - list[i].bytes));
        to += padded(list[i].bytes);
    }
    return CT_OK;
}

static void drop(ct_sequence *seq)
{
    array list[3];
    list_arrays(seq, list);
    for (int i = 0; i < 3; i++) {
        if (!*list[i].at) continue;
        if (*list[i].at != NOWHERE) free(*list[i].at);
        *list[i].at = NOWHERE;
    }
    ct__graph_drop(seq->graph);
}

static ct_status bring(entry *e, ct_err *err)
{
    ct_sequence *seq = e->seq;
    array        list[3];
    char        *image = malloc((size_t)e->length);
    if (!image) return ct__no_memory(err, "bytes", e->length);
    ct_status status = ct__spill_read(e->store->spill, e->at, image, e->length, err);
    if (status == CT_OK && ct__checksum(image, (size_t)e->length, 0) != e->checksum)
        status = ct_fail(err, CT_E_IO, "%s: the image of sequence %s is damaged: the checksum is another",
                         e->store->spill->folder, ct_sequence_label(seq));
    if (status == CT_OK) status = ct__graph_unpack(seq->graph, image, err);
    list_arrays(seq, list);
    const char *from = image + e->length;
    for (int i = 0; i < 3; i++) from -= padded(list[i].bytes);
    for (int i = 0; status == CT_OK && i < 3; i++) {
        if (!*list[i].at) continue;
        *list[i].at = malloc((size_t)CT_MAX(1, list[i].bytes));
        if (!*list[i].at) {
            *list[i].at = NOWHERE;
            status = ct__no_memory(err, "values", list[i].bytes);
            break;
        }
        memcpy(*list[i].at, from, (size_t)list[i].bytes);
        from += padded(list[i].bytes);
    }
    if (status != CT_OK) drop(seq);
    free(image);
    return status;
}

/* ---- Who leaves ------------------------------------------------------------------------------ */

static void unlink_entry(entry *e)
{
    if (e->newer) e->newer->older = e->older;
    else e->store->newest = e->older;
    if (e->older) e->older->newer = e->newer;
    e->newer = e->older = NULL;
}

static void link_newest(entry *e)
{
    e->older = e->store->newest;
    e->newer = NULL;
    if (e->older) e->older->newer = e;
    e->store->newest = e;
}

static double thread_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ct_status keep_image(entry *e, ct_err *err)
{
    ct__store *s = e->store;
    char      *image;
    int64_t    length;
    CT_TRY(make_image(e->seq, &image, &length, err));
    const uint64_t checksum = ct__checksum(image, (size_t)length, 0);
    ct_status      status = CT_OK;
    if (!e->room || length != e->length || checksum != e->checksum) {
        if (length > e->room) {
            e->at = ct__spill_take(s->spill, length);
            e->room = length;
        }
        status = ct__spill_write(s->spill, e->at, image, length, err);
        e->length = length;
        e->checksum = checksum;
    }
    free(image);
    return status;
}

/* The newest of those that are not pinned leaves. With the lock, which is released meanwhile. */
static ct_status evict(ct__store *s, ct_err *err)
{
    entry *e = s->newest;
    unlink_entry(e);
    e->is = LEAVING;
    ct_status status = s->spill ? CT_OK : ct__spill_open(&s->spill, err);
    pthread_mutex_unlock(&s->lock);
    const double begin = thread_s();
    if (status == CT_OK) status = keep_image(e, err);
    if (status == CT_OK) drop(e->seq);
    const double took = thread_s() - begin;
    pthread_mutex_lock(&s->lock);
    s->info.leave_s += took;
    e->is = status == CT_OK ? ABSENT : PRESENT;
    if (status == CT_OK) s->used -= e->bytes, s->info.left++;
    else link_newest(e);
    pthread_cond_broadcast(&s->changed);
    return status;
}

static int64_t budget(const ct__store *s) { return s->limit - s->reserved - s->excess; }

/* Until so many bytes more fit, or all that is present is pinned. */
static ct_status make_room(ct__store *s, int64_t bytes, ct_err *err)
{
    while (s->used + bytes > budget(s) && s->newest) CT_TRY(evict(s, err));
    return CT_OK;
}

/* The process stays below its limit whatever is counted: after so many bytes that came it is measured. What it has
 * above is first given back by the allocator; sequences leave for the rest. With the lock, which is released
 * meanwhile. */
#define MEASURED 64 /* one part in so many of the limit comes between two measurements, and stays free */

static void measure(ct__store *s, int64_t bytes)
{
    const int64_t margin = s->info.limit / MEASURED, most = s->info.limit - margin + s->before;
    s->moved += bytes;
    if (s->moved < margin) return;
    s->moved = 0;
    pthread_mutex_unlock(&s->lock);
    int64_t resident = ct__memory_resident();
    if (resident > most) {
        ct__memory_trim();
        resident = ct__memory_resident();
    }
    pthread_mutex_lock(&s->lock);
    if (resident) s->excess = CT_MAX(0, CT_MIN(s->excess + (resident - most), s->limit - s->reserved));
}

/* ---- The door -------------------------------------------------------------------------------- */

/* With the lock: the entry is present and has one pin more. */
static ct_status pin(entry *e, ct_err *err)
{
    ct__store *s = e->store;
    while (e->is == LEAVING || e->is == COMING) pthread_cond_wait(&s->changed, &s->lock);
    if (e->is == PRESENT) {
        if (e->pins++ == 0) unlink_entry(e);
        return CT_OK;
    }
    e->is = COMING;
    s->used += e->bytes; /* before others use the room */
    measure(s, e->bytes);
    ct_status status = make_room(s, 0, err);
    pthread_mutex_unlock(&s->lock);
    const double begin = thread_s();
    if (status == CT_OK) status = bring(e, err);
    const double took = thread_s() - begin;
    pthread_mutex_lock(&s->lock);
    s->info.came++;
    s->info.come_s += took;
    if (status == CT_OK) e->pins++;
    else s->used -= e->bytes;
    e->is = status == CT_OK ? PRESENT : ABSENT;
    s->info.most = CT_MAX(s->info.most, s->used + s->reserved);
    pthread_cond_broadcast(&s->changed);
    return status;
}

static void unpin(entry *e)
{
    ct__store *s = e->store;
    if (--e->pins > 0) return;
    const int64_t bytes = memory_of(e->seq); /* it may have been changed */
    s->used += bytes - e->bytes;
    e->bytes = bytes;
    s->largest = CT_MAX(s->largest, bytes);
    link_newest(e);
}

ct_status ct_sequence_acquire(const ct_sequence *seq, ct_err *err)
{
    entry *e = seq->entry;
    if (!e) return CT_OK;
    pthread_mutex_lock(&e->store->lock);
    const ct_status status = pin(e, err);
    if (status == CT_OK) e->store->info.used++;
    if (status == CT_OK && e->ahead) e->ahead = 0, e->pins--; /* that of the prefetching thread becomes this one */
    if (e->order >= e->store->taken) {
        e->store->taken = e->order + 1;
        pthread_cond_broadcast(&e->store->changed);
    }
    pthread_mutex_unlock(&e->store->lock);
    return status;
}

void ct_sequence_release(const ct_sequence *seq)
{
    entry *e = seq->entry;
    if (!e) return;
    pthread_mutex_lock(&e->store->lock);
    unpin(e);
    ct_err ignored;
    (void)make_room(e->store, 0, &ignored); /* who needs the room meets the error */
    pthread_mutex_unlock(&e->store->lock);
}

/* ---- Handles --------------------------------------------------------------------------------- */

ct_status ct__store_new(int64_t limit, ct__store **out, ct_err *err)
{
    *out = NULL;
    if (limit <= CT__STORE_PROGRAM)
        return ct_fail(err, CT_E_ARGUMENT,
                       "a limit of %.3g MB of memory is too little: the program alone takes %lld MB; give ten times "
                       "that, or more",
                       (double)limit / 1048576, (long long)(CT__STORE_PROGRAM >> 20));
    ct__store *s = ct__zalloc(1, sizeof *s);
    if (!s) return ct__no_memory(err, "stores", 1);
    s->limit = CT__STORE_COUNTED(limit);
    s->info.limit = limit;
    s->reserved = CT__STORE_PROGRAM;
    s->before = CT_MAX(0, ct__memory_resident() - CT__STORE_PROGRAM);
    if (pthread_mutex_init(&s->lock, NULL) || pthread_cond_init(&s->changed, NULL)) {
        free(s);
        return ct__no_memory(err, "locks", 1);
    }
    *out = s;
    return CT_OK;
}

void ct__store_free(ct__store *s)
{
    if (!s) return;
    ct__spill_close(s->spill);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

ct_status ct__store_add(ct__store *s, ct_sequence *seq, const char *path, ct_err *err)
{
    const int64_t bytes = memory_of(seq);
    const int64_t handle = (int64_t)(sizeof(entry) + sizeof *seq + sizeof *seq->graph) + 256; /* names and uses */
    entry        *e = ct__zalloc(1, sizeof *e);
    if (!e) return ct__no_memory(err, "sequences", 1);
    *e = (entry){.store = s, .seq = seq, .bytes = bytes, .order = -1};
    pthread_mutex_lock(&s->lock);
    s->reserved += handle + seq->graph->noise_count * (int64_t)sizeof *seq->graph->noise_use;
    if (bytes > budget(s)) {
        const double limit = (double)s->info.limit / 1048576;
        const double needed = (double)CT__STORE_PROCESS(bytes + s->reserved) / 1048576 + 0.05;
        pthread_mutex_unlock(&s->lock);
        free(e);
        return ct_fail(err, CT_E_LIMIT,
                       "%s: a limit of %.4g MB of memory is too little: with this sequence (%.3g MB) and the sequences "
                       "known so far %.4g MB are needed at least",
                       path, limit, (double)bytes / 1048576, needed);
    }
    seq->entry = e;
    s->used += bytes;
    s->largest = CT_MAX(s->largest, bytes);
    link_newest(e);
    measure(s, bytes);
    const ct_status status = make_room(s, 0, err);
    s->info.most = CT_MAX(s->info.most, s->used + s->reserved);
    pthread_mutex_unlock(&s->lock);
    return status;
}

void ct__store_forget(ct_sequence *seq)
{
    entry *e = seq->entry;
    if (!e) return;
    if (e->is == ABSENT) {
        drop(seq);
        seq->truth = NULL;
        seq->known = NULL;
        seq->stamp = NULL;
    } else if (!e->pins) unlink_entry(e);
    free(e);
    seq->entry = NULL;
}

ct__store *ct__store_of(const ct_sequence *seq) { return seq->entry ? ((entry *)seq->entry)->store : NULL; }

ct_status ct__store_reserve(ct__store *s, int64_t bytes, int jobs, const char *what, ct_err *err)
{
    ct_status status = CT_OK;
    pthread_mutex_lock(&s->lock);
    const int64_t least = s->reserved + bytes + jobs * s->largest;
    if (bytes > 0 && least > s->limit)
        status = ct_fail(err, CT_E_LIMIT,
                         "a limit of %.4g MB of memory is too little: %s take %.4g MB, and with %d thread%s %.4g MB "
                         "are needed at least; raise --memory%s",
                         (double)s->info.limit / 1048576, what, (double)bytes / 1048576, jobs, jobs == 1 ? "" : "s",
                         (double)CT__STORE_PROCESS(least) / 1048576 + 0.05, jobs > 1 ? ", or use fewer --jobs" : "");
    else s->reserved += bytes;
    if (status == CT_OK) status = make_room(s, 0, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

int64_t ct__store_room(ct__store *s)
{
    pthread_mutex_lock(&s->lock);
    const int64_t room = s->limit - s->reserved - s->largest;
    pthread_mutex_unlock(&s->lock);
    return CT_MAX(0, room);
}

int64_t ct__store_largest(ct__store *s)
{
    pthread_mutex_lock(&s->lock);
    const int64_t largest = s->largest;
    pthread_mutex_unlock(&s->lock);
    return largest;
}

ct_status ct__store_spill(ct__store *s, ct__spill **out, ct_err *err)
{
    pthread_mutex_lock(&s->lock);
    const ct_status status = s->spill ? CT_OK : ct__spill_open(&s->spill, err);
    *out = s->spill;
    pthread_mutex_unlock(&s->lock);
    return status;
}

int ct_dataset_cache_info(const ct_dataset *d, ct_cache_info *out)
{
    ct__store *s = d->store;
    *out = (ct_cache_info){0};
    if (!s) return 0;
    pthread_mutex_lock(&s->lock);
    *out = s->info;
    pthread_mutex_unlock(&s->lock);
    return 1;
}

/* ---- Prefetching ----------------------------------------------------------------------------- */

/* With the lock: whether the entry fits beside what is pinned. */
static int fits(const ct__store *s, const entry *e)
{
    int64_t free_bytes = budget(s) - s->used;
    for (const entry *k = s->newest; k && free_bytes < e->bytes; k = k->older) free_bytes += k->bytes;
    return free_bytes >= e->bytes;
}

static void *fetch_ahead(void *user)
{
    ct__prefetch *p = user;
    ct__store    *s = p->store;
    ct_err        err;
    pthread_mutex_lock(&s->lock);
    for (int64_t i = 0; i < p->count && !p->over; i++) {
        entry *e = p->seq[i]->entry;
        while (!p->over && i >= s->taken + p->ahead) pthread_cond_wait(&s->changed, &s->lock);
        if (p->over || i < s->taken || !e || e->ahead || e->is != ABSENT || !fits(s, e)) continue;
        if (pin(e, &err) != CT_OK) continue; /* who acquires it meets the error */
        if (i < s->taken || e->ahead) unpin(e);
        else e->ahead = 1;
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void ct__prefetch_begin(int64_t count, const ct_sequence *const seq[], int jobs, ct__prefetch **out)
{
    ct__store *s = NULL;
    *out = NULL;
    for (int64_t i = 0; i < count && !s; i++) s = ct__store_of(seq[i]);
    ct__prefetch *p = s ? ct__zalloc(1, sizeof *p) : NULL;
    if (!p) return;
    *p = (ct__prefetch){.store = s, .seq = seq, .count = count, .ahead = 2 * (int64_t)jobs + 2};
    pthread_mutex_lock(&s->lock);
    s->taken = 0;
    for (int64_t i = 0; i < count; i++)
        if (seq[i]->entry) ((entry *)seq[i]->entry)->order = i;
    pthread_mutex_unlock(&s->lock);
    if (pthread_create(&p->thread, NULL, fetch_ahead, p)) free(p);
    else *out = p;
}

void ct__prefetch_end(ct__prefetch *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->store->lock);
    p->over = 1;
    pthread_cond_broadcast(&p->store->changed);
    pthread_mutex_unlock(&p->store->lock);
    pthread_join(p->thread, NULL);
    pthread_mutex_lock(&p->store->lock);
    for (int64_t i = 0; i < p->count; i++) {
        entry *e = p->seq[i]->entry;
        if (!e) continue;
        e->order = -1;
        if (e->ahead) e->ahead = 0, unpin(e);
    }
    pthread_mutex_unlock(&p->store->lock);
    free(p);
}
