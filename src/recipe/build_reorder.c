/* build_reorder.c: records of measurements in order of their stamps.
 *
 * Logs of several transmitters, or of a clock that was set, have records out of order. A stream of measurements holds
 * the next HELD_MAX records in a heap (fewer where that is far ahead of other streams in the same table) and gives
 * the first of them. What comes later than that is dropped by the stream.
 * Records of odometry and truth are not reordered: where their clock was set back, two times would be mixed. */
#include "recipe/build.h"

#define HELD_MAX 4096

typedef struct {
    ct_ns stamp;
    int64_t order; /* in the file: equal stamps keep it */
    int32_t slot;
} entry;

struct ct__held {
    int32_t count, channels;
    int64_t order;
    entry heap[HELD_MAX];
    int32_t free[HELD_MAX];
    ct__sample *sample; /* channels a slot */
    uint8_t *took;
};

ct_status ct__held_new(int32_t channels, ct__held **out, ct_err *err)
{
    ct__held *h = ct__zalloc(1, sizeof *h);
    *out = h;
    if (!h) return ct__no_memory(err, "records", HELD_MAX);
    h->channels = channels;
    h->sample = ct__zalloc((int64_t)channels * HELD_MAX, sizeof *h->sample);
    h->took = ct__zalloc((int64_t)channels * HELD_MAX, 1);
    for (int32_t i = 0; i < HELD_MAX; i++) h->free[i] = i;
    return h->sample && h->took ? CT_OK : ct__no_memory(err, "records", HELD_MAX);
}

void ct__held_free(ct__held *h)
{
    if (!h) return;
    free(h->sample);
    free(h->took);
    free(h);
}

int ct__held_is_full(const ct__held *h) { return h->count == HELD_MAX; }
int ct__held_is_empty(const ct__held *h) { return h->count == 0; }

void ct__held_slot(ct__held *h, ct__sample **sample, uint8_t **took)
{
    const int64_t at = (int64_t)h->free[h->count] * h->channels;
    *sample = h->sample + at;
    *took = h->took + at;
}

static int is_before(const entry *a, const entry *b)
{
    return a->stamp < b->stamp || (a->stamp == b->stamp && a->order < b->order);
}

void ct__held_push(ct__held *h, ct_ns stamp)
{
    const entry e = {stamp, h->order++, h->free[h->count]};
    int32_t i = h->count++;
    for (; i > 0 && is_before(&e, &h->heap[(i - 1) / 2]); i = (i - 1) / 2) h->heap[i] = h->heap[(i - 1) / 2];
    h->heap[i] = e;
}

ct_ns ct__held_pop(ct__held *h, ct__sample **sample, uint8_t **took)
{
    const entry top = h->heap[0], last = h->heap[--h->count];
    int32_t i = 0;
    for (int32_t child = 1; child < h->count; child = 2 * i + 1) {
        if (child + 1 < h->count && is_before(&h->heap[child + 1], &h->heap[child])) child++;
        if (!is_before(&h->heap[child], &last)) break;
        h->heap[i] = h->heap[child];
        i = child;
    }
    h->heap[i] = last;
    h->free[h->count] = top.slot;
    *sample = h->sample + (int64_t)top.slot * h->channels;
    *took = h->took + (int64_t)top.slot * h->channels;
    return top.stamp;
}
