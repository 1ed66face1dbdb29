/* name_table.c: open addressing with linear probing over FNV-1a; deletion only of the newest, which
 * never lies in the probe path of an older one. */
#include "base/name_table.h"

#include <assert.h>

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h ^ (h >> 32);
}

/* The slot that holds text, or the empty one where it would go. */
static int64_t probe(const ct__names *names, const char *text)
{
    const int64_t mask = names->slots - 1;
    int64_t       i = (int64_t)(hash(text) & (uint64_t)mask);
    while (names->slot[i] && strcmp(names->text + names->at[names->slot[i] - 1], text)) i = (i + 1) & mask;
    return i;
}

int32_t ct__names_find(const ct__names *names, const char *text)
{
    return names->slots ? names->slot[probe(names, text)] - 1 : -1;
}

const char *ct__names_get(const ct__names *names, int32_t index)
{
    assert(index >= 0 && index < names->count);
    return names->text + names->at[index];
}

static ct_status rehash(ct__names *names, int64_t slots, ct_err *err)
{
    int32_t      *slot = ct__zalloc(slots, sizeof *slot);
    if (!slot) return ct__no_memory(err, "name slots", slots);
    free(names->slot);
    names->slot = slot;
    names->slots = slots;
    for (int64_t i = 0; i < names->count; i++) slot[probe(names, names->text + names->at[i])] = (int32_t)(i + 1);
    return CT_OK;
}

ct_status ct__names_reserve(ct__names *names, int64_t more, ct_err *err)
{
    int64_t slots = CT_MAX(names->slots, 64);
    while (slots < 2 * (names->count + more)) slots *= 2;
    if (slots > names->slots) CT_TRY(rehash(names, slots, err));
    return ct__grow(&names->at, &names->at_capacity, names->count + more, sizeof *names->at, "names", err);
}

ct_status ct__names_add(ct__names *names, const char *text, ct_err *err)
{
    const int64_t length = (int64_t)strlen(text) + 1;
    if (names->count >= INT32_MAX - 1) return ct_fail(err, CT_E_LIMIT, "more than %d names", INT32_MAX - 1);
    if (2 * (names->count + 1) > names->slots) CT_TRY(rehash(names, names->slots ? 2 * names->slots : 64, err));
    CT_TRY(ct__grow(&names->at, &names->at_capacity, names->count + 1, sizeof *names->at, "names", err));
    CT_TRY(ct__grow(&names->text, &names->text_capacity, names->text_used + length, 1, "bytes of names", err));
    const int64_t place = probe(names, text);
    assert(!names->slot[place]);
    memcpy(names->text + names->text_used, text, (size_t)length);
    names->at[names->count++] = names->text_used;
    names->text_used += length;
    names->slot[place] = (int32_t)names->count;
    return CT_OK;
}

void ct__names_drop_last(ct__names *names)
{
    assert(names->count > 0);
    names->slot[probe(names, names->text + names->at[names->count - 1])] = 0;
    names->text_used = names->at[--names->count];
}

void ct__names_free(ct__names *names)
{
    free(names->text);
    free(names->at);
    free(names->slot);
    *names = (ct__names){0};
}
