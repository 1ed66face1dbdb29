/* binary.c: checksums of binary sequence files (binary.h). */
#include "data/binary.h"

#include <string.h>

#define LANE  0x9e3779b97f4a7c15u /* odd: multiplication by it is a bijection */
#define FINAL 0xbf58476d1ce4e5b9u

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * LANE;
    return h ^ (h >> 29);
}

uint64_t ct__checksum(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t             lane[4] = {seed + 1, seed + 2, seed + 3, seed + 4}, word[4], sum = size * FINAL;
    size_t               left = size;
    for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < 4; i++) lane[i] = mix(lane[i], word[i]);
    }
    memset(word, 0, sizeof word);
    if (left) memcpy(word, at, left);
    for (int i = 0; i < 4; i++) lane[i] = mix(lane[i], word[i]);
    for (int i = 0; i < 4; i++) sum = mix(sum, lane[i]);
    return (sum ^ (sum >> 31)) * FINAL;
}

int ct__binary_is_inside(const ct__binary_section *s, size_t size)
{
    if (s->size != 1 && s->size != 4 && s->size != 8) return 0;
    return s->at % CT__BINARY_ALIGN == 0 && s->at <= size && s->count <= (size - s->at) / s->size;
}

void ct__binary_seal(void *image, size_t size)
{
    ct__binary_head head;
    if (size < sizeof head) return;
    memcpy(&head, image, sizeof head);
    if (head.sections > CT__BINARY_SECTIONS || sizeof head + head.sections * sizeof(ct__binary_section) > size) return;
    char *const table = (char *)image + sizeof head;
    for (uint32_t i = 0; i < head.sections; i++) {
        ct__binary_section s;
        memcpy(&s, table + i * sizeof s, sizeof s);
        if (ct__binary_is_inside(&s, size)) s.checksum = ct__checksum((char *)image + s.at, s.count * s.size, 0);
        memcpy(table + i * sizeof s, &s, sizeof s);
    }
    head.checksum = 0;
    const uint64_t of_table = ct__checksum(table, head.sections * sizeof(ct__binary_section), 0);
    head.checksum = ct__checksum(&head, sizeof head, of_table);
    memcpy(image, &head, sizeof head);
}
