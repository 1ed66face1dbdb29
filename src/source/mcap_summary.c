/* mcap_summary.c: the summary of an MCAP file: channels and chunks without reading the data.
 *
 * The summary is streamed, not held: it is read once to open the file, and once to choose the chunks of a topic. A file
 * whose summary lists no channels, or whose messages are not all in chunks that it lists, is scanned instead. */
#include "source/mcap.h"

/* A record ChunkIndex. */
typedef struct {
    ct_ns start, end;
    int64_t at, size;      /* the chunk's record in the file     */
    int64_t index_size;    /* of the message indexes behind it   */
    const uint8_t *offset; /* pairs of channel and the place of its message index, 10 bytes each */
    int64_t offsets;
    int codec;
    const char *codec_name;
    int64_t codec_length;
} chunk_index;

typedef struct {
    int seen;
    int64_t messages, chunks, channels;
} statistics;

typedef ct_status visit(ct__container *c, const chunk_index *index, ct_err *err);

static ct_status damaged(const ct__container *c, const char *why, ct_err *err)
{
    return ct_fail(err, CT_E_PARSE, "%s: the summary at its end is damaged: %s", c->in.path, why);
}

static ct_status parse_chunk_index(ct__container *c, int64_t size, chunk_index *x, ct_err *err)
{
    const ct__mcap *m = c->own;
    ct__mcap_fields f = {m->buffer, size, 0};
    x->start = ct__mcap_stamp(ct__mcap_number(&f, 8));
    x->end = ct__mcap_stamp(ct__mcap_number(&f, 8));
    const uint64_t at = ct__mcap_number(&f, 8), length = ct__mcap_number(&f, 8);
    const int64_t map = (int64_t)ct__mcap_number(&f, 4);
    x->offset = (const uint8_t *)ct__mcap_bytes(&f, map);
    x->offsets = map / 10;
    const uint64_t index_size = ct__mcap_number(&f, 8);
    x->codec_length = (int64_t)ct__mcap_number(&f, 4);
    x->codec_name = ct__mcap_bytes(&f, x->codec_length);
    if (f.bad) return damaged(c, "an index of a chunk ends early", err);
    if (at > (uint64_t)m->data_end || length > (uint64_t)m->data_end - at ||
        index_size > (uint64_t)m->data_end - at - length)
        return damaged(c, "it names a chunk beyond the data", err);
    x->at = (int64_t)at;
    x->size = (int64_t)length;
    x->index_size = (int64_t)index_size;
    x->codec = ct__codec_find(x->codec_name, (size_t)x->codec_length);
    return x->codec < 0 ? ct__mcap_refuse_codec(c, x->at, x->codec_name, x->codec_length, err) : CT_OK;
}

static ct_status read_statistics(ct__container *c, int64_t size, statistics *s, ct_err *err)
{
    const ct__mcap *m = c->own;
    ct__mcap_fields f = {m->buffer, size, 0};
    s->messages = (int64_t)ct__mcap_number(&f, 8);
    ct__mcap_number(&f, 2);
    s->channels = (int64_t)ct__mcap_number(&f, 4);
    ct__mcap_number(&f, 8); /* attachments, metadata */
    s->chunks = (int64_t)ct__mcap_number(&f, 4);
    ct__mcap_number(&f, 8);
    ct__mcap_number(&f, 8);
    int64_t left = (int64_t)ct__mcap_number(&f, 4);
    for (; left >= 10 && !f.bad; left -= 10) {
        ct__connection *connection = ct__container_find(c, (uint32_t)ct__mcap_number(&f, 2));
        const uint64_t count = ct__mcap_number(&f, 8);
        if (connection && count <= INT64_MAX) connection->count = (int64_t)count;
    }
    s->seen = 1;
    return f.bad ? damaged(c, "the statistics end early", err) : CT_OK;
}

/* Records of the summary: channels and schemas if asked for; every ChunkIndex to `each`. Statistics name channels, so
 * they are read by a pass of their own. */
static ct_status pass(ct__container *c, int channels, visit *each, statistics *s, ct_err *err)
{
    ct__mcap *m = c->own;
    CT_TRY(ct__stream_begin(m->outer, &c->in, m->summary, m->summary_end - m->summary, CT__STORED, err));
    while (ct__stream_at(m->outer) < m->summary_end - m->summary) {
        uint8_t head[CT__MCAP_HEAD];
        chunk_index x;
        int whole;
        CT_TRY(ct__stream_read(m->outer, head, CT__MCAP_HEAD, &whole, err));
        const uint64_t size = whole ? ct__le64(head + 1) : 0;
        if (!whole || size > (uint64_t)(m->summary_end - m->summary - ct__stream_at(m->outer)))
            return damaged(c, "it ends within a record", err);
        const int64_t n = (int64_t)size;
        if (head[0] == CT__MCAP_SCHEMA && channels) {
            CT_TRY(ct__mcap_schema_read(c, m->outer, n, err));
        } else if (head[0] == CT__MCAP_CHANNEL && channels) {
            CT_TRY(ct__mcap_channel_read(c, m->outer, n, err));
        } else if (head[0] == CT__MCAP_CHUNK_INDEX && each) {
            CT_TRY(ct__mcap_content(c, m->outer, n, "chunk index", err));
            CT_TRY(parse_chunk_index(c, n, &x, err));
            CT_TRY(each(c, &x, err));
        } else if (head[0] == CT__MCAP_STATISTICS && s) {
            CT_TRY(ct__mcap_content(c, m->outer, n, "statistics", err));
            CT_TRY(read_statistics(c, n, s, err));
        } else {
            CT_TRY(ct__stream_read(m->outer, NULL, n, &whole, err));
            if (!whole) return damaged(c, "it ends within a record", err);
        }
    }
    return CT_OK;
}

/* ---- Opening ---- */

/* CRC-32 of a part of the file; 0 stands for none. */
static ct_status check_crc(ct__container *c, int64_t from, int64_t to, uint32_t said, const char *what, ct_err *err)
{
    ct__mcap *m = c->own;
    int whole;
    if (!said) return CT_OK;
    CT_TRY(ct__stream_begin(m->outer, &c->in, from, to - from, CT__STORED, err));
    ct__stream_sum(m->outer);
    CT_TRY(ct__stream_read(m->outer, NULL, to - from, &whole, err));
    const uint32_t crc = ct__stream_crc(m->outer);
    if (crc == said) return CT_OK;
    return ct_fail(err, CT_E_PARSE, "%s: the %s is damaged: its CRC-32 is %08x, and the file says %08x", c->in.path,
                   what, crc, said);
}

/* Where the summary lies, by the footer; *there <- 0: there is no footer, or it names none. */
static ct_status find_summary(ct__container *c, ct__depth depth, int *there, ct_err *err)
{
    static const int tail = CT__MCAP_HEAD + CT__MCAP_FOOTER_SIZE + CT__MCAP_MAGIC;
    ct__mcap *m = c->own;
    uint8_t b[CT__MCAP_HEAD + CT__MCAP_FOOTER_SIZE + CT__MCAP_MAGIC], end[CT__MCAP_HEAD + 4];
    char magic[CT__MCAP_MAGIC];
    *there = 0;
    if (c->in.size < tail + CT__MCAP_MAGIC) return CT_OK;
    const int64_t footer = c->in.size - tail;
    CT_TRY(ct__bag_file_read(&c->in, 0, magic, CT__MCAP_MAGIC, err));
    CT_TRY(ct__bag_file_read(&c->in, footer, b, tail, err));
    if (memcmp(b + tail - CT__MCAP_MAGIC, magic, CT__MCAP_MAGIC) != 0 || b[0] != CT__MCAP_FOOTER ||
        ct__le64(b + 1) != CT__MCAP_FOOTER_SIZE)
        return CT_OK;
    const uint64_t start = ct__le64(b + CT__MCAP_HEAD), offsets = ct__le64(b + CT__MCAP_HEAD + 8);
    m->data_end = start ? (int64_t)CT_MIN(start, (uint64_t)footer) : footer;
    if (start > (uint64_t)footer || (start && start < CT__MCAP_MAGIC) ||
        (offsets && (offsets < start || offsets > (uint64_t)footer)))
        return damaged(c, "the footer names a place that it cannot be at", err);
    if (start)
        CT_TRY(check_crc(c, (int64_t)start, footer + CT__MCAP_HEAD + 16, ct__le32(b + CT__MCAP_HEAD + 16), "summary",
                         err));
    if (m->data_end >= CT__MCAP_MAGIC + (int64_t)sizeof end) {
        CT_TRY(ct__bag_file_read(&c->in, m->data_end - (int64_t)sizeof end, end, sizeof end, err));
        if (end[0] == CT__MCAP_DATA_END && ct__le64(end + 1) == 4) {
            m->data_end -= (int64_t)sizeof end;
            if (depth == CT__COUNTS_AND_CHECKSUMS)
                CT_TRY(check_crc(c, 0, m->data_end, ct__le32(end + CT__MCAP_HEAD), "data section", err));
        }
    }
    m->summary = (int64_t)start;
    m->summary_end = offsets ? (int64_t)offsets : footer;
    *there = start != 0;
    return CT_OK;
}

static ct_status add_chunk(ct__container *c, const chunk_index *x, ct_err *err)
{
    ct__mcap *m = c->own;
    c->codecs |= 1u << x->codec;
    /* Here `start` is where the next record after the chunk and its indexes begins: for the search of gaps alone. */
    return ct__merge_add(
        &m->merge,
        (ct__segment){.kind = CT__CHUNK, .at = x->at, .size = x->size, .start = x->at + x->size + x->index_size}, err);
}

static int by_place(const void *a, const void *b)
{
    const ct__segment *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Records between the chunks, from `at` to `end`: *found <- 1 if there is a message among them. */
static ct_status search_gap(const ct__container *c, int64_t at, int64_t end, int *found, ct_err *err)
{
    while (at < end && !*found) {
        uint8_t head[CT__MCAP_HEAD];
        if (end - at < CT__MCAP_HEAD) return damaged(c, "a chunk that it names begins within a record", err);
        CT_TRY(ct__bag_file_read(&c->in, at, head, CT__MCAP_HEAD, err));
        const uint64_t size = ct__le64(head + 1);
        if (size > (uint64_t)(end - at - CT__MCAP_HEAD))
            return damaged(c, "a chunk that it names begins within a record", err);
        *found |= head[0] == CT__MCAP_MESSAGE || head[0] == CT__MCAP_CHUNK;
        at += CT__MCAP_HEAD + (int64_t)size;
    }
    return CT_OK;
}

/* *found <- 1: messages that are in no chunk of the summary. */
static ct_status search_gaps(ct__container *c, int *found, ct_err *err)
{
    ct__mcap *m = c->own;
    int64_t at = CT__MCAP_MAGIC;
    *found = 0;
    if (m->merge.segments) qsort(m->merge.segment, (size_t)m->merge.segments, sizeof *m->merge.segment, by_place);
    for (int64_t i = 0; i < m->merge.segments && !*found; i++) {
        const ct__segment *s = &m->merge.segment[i];
        if (s->at < at) return damaged(c, "two chunks that it names overlap in the file", err);
        CT_TRY(search_gap(c, at, s->at, found, err));
        at = s->start;
    }
    return *found ? CT_OK : search_gap(c, at, m->data_end, found, err);
}

/* First and last of a channel in a chunk, from its message index; the summary's offsets lead there. */
static ct_status read_message_index(ct__container *c, const chunk_index *x, uint32_t id, int64_t at, ct_err *err)
{
    ct__mcap *m = c->own;
    ct__connection *connection = ct__container_find(c, id);
    uint8_t head[CT__MCAP_HEAD + 6], entry[16];
    int whole;
    const int64_t end = x->at + x->size + x->index_size;
    if (at < x->at + x->size || at > end - (int64_t)sizeof head)
        return damaged(c, "it names a message index that does not lie behind its chunk", err);
    CT_TRY(ct__bag_file_read(&c->in, at, head, sizeof head, err));
    const uint64_t size = ct__le64(head + 1);
    const uint32_t bytes = ct__le32(head + CT__MCAP_HEAD + 2);
    if (head[0] != CT__MCAP_MESSAGE_INDEX || size < 6 || size > (uint64_t)(end - at - CT__MCAP_HEAD) ||
        bytes > size - 6)
        return damaged(c, "a message index that it names is none", err);
    if (!connection || (x->start >= connection->first && x->end <= connection->last)) return CT_OK;
    CT_TRY(ct__stream_begin(m->inner, &c->in, at + (int64_t)sizeof head, bytes, CT__STORED, err));
    for (uint32_t i = 0; i < bytes / 16; i++) {
        CT_TRY(ct__stream_read(m->inner, entry, 16, &whole, err));
        const ct_ns stamp = ct__mcap_stamp(ct__le64(entry));
        connection->first = CT_MIN(connection->first, stamp);
        connection->last = CT_MAX(connection->last, stamp);
    }
    return CT_OK;
}

static ct_status find_times(ct__container *c, const chunk_index *x, ct_err *err)
{
    for (int64_t i = 0; i < x->offsets; i++) {
        const uint8_t *pair = x->offset + 10 * i;
        const uint64_t at = ct__le64(pair + 2);
        if (at > INT64_MAX) return damaged(c, "it names a message index beyond the file", err);
        CT_TRY(read_message_index(c, x, (uint32_t)pair[0] | (uint32_t)pair[1] << 8, (int64_t)at, err));
    }
    return CT_OK;
}

/* Are counts and times of all channels known? Messages without an index have none. */
static int is_complete(const ct__container *c, int64_t messages)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < c->connections; i++) {
        const ct__connection *connection = &c->connection[i];
        if ((connection->count > 0) != (connection->first <= connection->last)) return 0;
        if (connection->count > messages - sum) return 0;
        sum += connection->count;
    }
    return sum == messages;
}

ct_status ct__mcap_summary_open(ct__container *c, ct__depth depth, ct_err *err)
{
    ct__mcap *m = c->own;
    statistics s = {0};
    int there, outside;
    CT_TRY(find_summary(c, depth, &there, err));
    if (!there || depth == CT__COUNTS_AND_CHECKSUMS) return CT_OK;
    CT_TRY(pass(c, 1, add_chunk, NULL, err));
    CT_TRY(pass(c, 0, NULL, &s, err));
    if ((!c->connections && !(s.seen && !s.messages)) || !ct__mcap_has_schemas(c)) return CT_OK;
    if (s.seen && (s.chunks != m->merge.segments || s.channels != c->connections)) return CT_OK;
    CT_TRY(search_gaps(c, &outside, err));
    if (outside) return CT_OK;
    if (depth == CT__COUNTS) {
        if (!s.seen) return CT_OK;
        CT_TRY(pass(c, 0, find_times, NULL, err));
        if (!is_complete(c, s.messages)) return CT_OK;
    }
    m->indexed = 1;
    return CT_OK;
}

/* ---- Selection ---- */

/* A chunk without message indexes may hold any channel. */
static ct_status choose_chunk(ct__container *c, const chunk_index *x, ct_err *err)
{
    ct__mcap *m = c->own;
    int wanted = x->offsets == 0;
    for (int64_t i = 0; i < x->offsets && !wanted; i++) {
        const uint8_t *pair = x->offset + 10 * i;
        const ct__connection *connection = ct__container_find(c, (uint32_t)pair[0] | (uint32_t)pair[1] << 8);
        wanted = connection && connection->wanted;
    }
    return wanted
               ? ct__merge_add(&m->merge,
                               (ct__segment){.kind = CT__CHUNK, .at = x->at, .size = x->size, .start = x->start}, err)
               : CT_OK;
}

ct_status ct__mcap_summary_select(ct__container *c, ct_err *err)
{
    ct__mcap *m = c->own;
    m->merge.segments = 0;
    return pass(c, 0, choose_chunk, NULL, err);
}
