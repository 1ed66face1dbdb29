/* message_merge.c: messages of many segments in the order of their time.
 *
 * Segments are taken by the time of their first message. The messages that are wanted are copied out of a segment, and
 * given out when no segment that is not loaded can have an earlier one. Recorders write chunks that overlap by little:
 * two or three are held. */
#include "source/bag.h"

ct_status ct__run_add(ct__run *run, ct_ns stamp, int32_t connection, int64_t size, uint8_t **bytes, ct_err *err)
{
    if (size > run->limit - run->used)
        return ct_fail(err, CT_E_LIMIT,
                       "to bring the messages of the topic into the order of their time, more than "
                       "%lld MB would be held: a chunk is too large, or too many chunks overlap in time",
                       (long long)(CT__HELD_MAX >> 20));
    CT_TRY(ct__grow(&run->entry, &run->capacity, run->entries + 1, sizeof *run->entry, "messages", err));
    CT_TRY(ct__grow(&run->bytes, &run->room, run->used + size, 1, "bytes of messages", err));
    run->entry[run->entries++] = (ct__entry){stamp, connection, run->used, size};
    *bytes = run->bytes + run->used;
    run->used += size;
    return CT_OK;
}

static int by_stamp(const void *a, const void *b)
{
    const ct__entry *x = a, *y = b;
    if (x->stamp != y->stamp) return x->stamp < y->stamp ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at ? 1 : (x->size > y->size) - (x->size < y->size);
}

static void sort_run(ct__run *run)
{
    int sorted = 1;
    for (int64_t i = 1; i < run->entries && sorted; i++) sorted = run->entry[i - 1].stamp <= run->entry[i].stamp;
    if (!sorted) qsort(run->entry, (size_t)run->entries, sizeof *run->entry, by_stamp);
}

static void free_run(ct__run *run)
{
    if (!run) return;
    free(run->entry);
    free(run->bytes);
    free(run);
}

void ct__merge_free(ct__merge *merge)
{
    for (int64_t i = 0; i < merge->runs; i++) free_run(merge->run[i]);
    free_run(merge->spare);
    free(merge->run);
    free(merge->segment);
    *merge = (ct__merge){0};
}

ct_status ct__merge_add(ct__merge *merge, ct__segment segment, ct_err *err)
{
    CT_TRY(ct__grow(&merge->segment, &merge->capacity, merge->segments + 1, sizeof segment, "chunks", err));
    merge->segment[merge->segments++] = segment;
    return CT_OK;
}

static int by_start(const void *a, const void *b)
{
    const ct__segment *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

void ct__merge_begin(ct__merge *merge)
{
    if (merge->segments) qsort(merge->segment, (size_t)merge->segments, sizeof *merge->segment, by_start);
    merge->next = 0;
}

/* ---- The heap of runs ---- */

static int is_before(const ct__run *a, const ct__run *b)
{
    const ct_ns x = a->entry[a->next].stamp, y = b->entry[b->next].stamp;
    return x != y ? x < y : a->order < b->order;
}

static void swap_runs(ct__merge *m, int64_t i, int64_t j)
{
    ct__run *const run = m->run[i];
    m->run[i] = m->run[j];
    m->run[j] = run;
}

static void sift_up(ct__merge *m, int64_t i)
{
    for (; i && is_before(m->run[i], m->run[(i - 1) / 2]); i = (i - 1) / 2) swap_runs(m, i, (i - 1) / 2);
}

static void sift_down(ct__merge *m, int64_t i)
{
    for (;;) {
        int64_t least = i;
        for (int64_t k = 2 * i + 1; k <= 2 * i + 2 && k < m->runs; k++)
            if (is_before(m->run[k], m->run[least])) least = k;
        if (least == i) return;
        swap_runs(m, i, least);
        i = least;
    }
}

/* The first run has given its last message. One is kept for the next segment, with its memory. */
static void drop_first(ct__merge *m)
{
    ct__run *const run = m->run[0];
    m->held -= run->used;
    m->run[0] = m->run[--m->runs];
    if (m->runs) sift_down(m, 0);
    free_run(m->spare);
    m->spare = run;
}

static ct_status load_next(ct__merge *m, const char *path, ct__load *load, void *container, ct_err *err)
{
    const ct__segment *segment = &m->segment[m->next++];
    CT_TRY(ct__grow(&m->run, &m->run_capacity, m->runs + 1, sizeof *m->run, "chunks", err));
    ct__run *run = m->spare ? m->spare : ct__zalloc(1, sizeof *run);
    if (!run) return ct__no_memory(err, "chunks", 1);
    m->spare = NULL;
    run->entries = run->next = run->used = 0;
    run->order = segment->at;
    run->limit = CT__HELD_MAX - m->held;
    ct_err why = {0};
    ct_status status = load(container, segment, run, &why);
    if (status == CT_E_LIMIT)
        ct_fail(err, status, "%s: %s", path, why.text);
    else if (status != CT_OK)
        ct_fail(err, status, "%s", why.text);
    if (status != CT_OK || !run->entries) {
        m->spare = run;
        return status;
    }
    sort_run(run);
    m->held += run->used;
    m->run[m->runs++] = run;
    sift_up(m, m->runs - 1);
    return CT_OK;
}

ct_status ct__merge_next(ct__merge *merge, const char *path, ct__load *load, void *container, ct__message *message,
                         int *more, ct_err *err)
{
    /* The message given last is valid until now: its run is dropped here. */
    if (merge->runs && merge->run[0]->next > 0 && merge->run[0]->next == merge->run[0]->entries)
        drop_first(merge);
    else if (merge->runs)
        sift_down(merge, 0);
    while (merge->next < merge->segments &&
           (!merge->runs || merge->segment[merge->next].start <= merge->run[0]->entry[merge->run[0]->next].stamp))
        CT_TRY(load_next(merge, path, load, container, err));
    *more = merge->runs > 0;
    if (!*more) return CT_OK;
    ct__run *run = merge->run[0];
    const ct__entry *e = &run->entry[run->next++];
    *message = (ct__message){e->stamp, e->connection, e->size, run->bytes + e->at};
    return CT_OK;
}

double ct__merge_progress(const ct__merge *merge)
{
    return merge->segments ? (double)merge->next / (double)merge->segments : 1;
}
