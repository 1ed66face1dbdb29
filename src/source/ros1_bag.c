/* ros1_bag.c: ROS 1 bags of version 2.0.
 *
 * A record is a header of fields "name=value" and data, each after a uint32 of its length. Messages and connections are
 * in chunks; behind each chunk lie the indexes of its messages, and in the end all connections and a list of chunks
 * with their times. A bag that was not closed has no such list (index_pos is 0, or beyond the file): it is scanned,
 * and whole records are used, also those of a chunk whose length was not written yet. Reference: "Bags/Format/2.0" of
 * the ROS wiki. */
#include "source/bag.h"

#define MAGIC      "#ROSBAG V2.0\n"
#define MAGIC_SIZE 13
#define FIELDS_MAX (16LL << 20) /* bytes of a header or of the data of a connection, which has the definition */
#define TEXTS_MAX  (64LL << 20) /* definitions of all connections                                              */
#define PART_SIZE  (4LL << 20)  /* of messages outside of chunks                                              */

enum { OP_MESSAGE = 2, OP_BAG = 3, OP_INDEX = 4, OP_CHUNK = 5, OP_CHUNK_INFO = 6, OP_CONNECTION = 7 };

typedef struct {
    ct__stream *outer, *inner;
    ct__merge merge;
    uint8_t *header, *data; /* of the current record */
    int64_t header_room, data_room, texts;
    int indexed;
    int64_t index;               /* where the list of connections and chunks begins */
    int64_t chunks, connections; /* as the bag's header counts them         */
} ros1;

/* ---- Records ---- */

/* The header of a record: what is there is set, the rest is 0. */
typedef struct {
    int op;
    uint32_t connection, size, count;
    uint64_t place; /* index_pos, chunk_pos */
    ct_ns time;     /* time, start_time     */
    ct_ns end;
    uint32_t connections, chunks;
    const uint8_t *text; /* topic, compression   */
    uint32_t text_length;
    int encrypted;
    int64_t data; /* length of the data   */
} record;

static ct_ns to_time(const uint8_t *b) { return (ct_ns)ct__le32(b) * 1000000000 + ct__le32(b + 4); }

/* The next field of a header; 0: none, -1: malformed. */
static int take_field(const uint8_t **at, int64_t *left, const uint8_t **name, int64_t *name_length,
                      const uint8_t **value, int64_t *length)
{
    if (!*left) return 0;
    if (*left < 4) return -1;
    const int64_t size = ct__le32(*at);
    if (size > *left - 4) return -1;
    const uint8_t *equal = memchr(*at + 4, '=', (size_t)size);
    if (!equal) return -1;
    *name = *at + 4;
    *name_length = equal - *name;
    *value = equal + 1;
    *length = *name + size - *value;
    *at += 4 + size;
    *left -= 4 + size;
    return 1;
}

static int is(const uint8_t *name, int64_t length, const char *word)
{
    return (size_t)length == strlen(word) && !memcmp(name, word, (size_t)length);
}

/* 0: malformed. */
static int parse_header(const uint8_t *at, int64_t left, record *r)
{
    const uint8_t *name, *v;
    int64_t n, size;
    int more;
    while ((more = take_field(&at, &left, &name, &n, &v, &size)) > 0) {
        if (is(name, n, "op") && size == 1)
            r->op = *v;
        else if (is(name, n, "conn") && size == 4)
            r->connection = ct__le32(v);
        else if (is(name, n, "size") && size == 4)
            r->size = ct__le32(v);
        else if (is(name, n, "count") && size == 4)
            r->count = ct__le32(v);
        else if ((is(name, n, "index_pos") || is(name, n, "chunk_pos")) && size == 8)
            r->place = ct__le64(v);
        else if ((is(name, n, "time") || is(name, n, "start_time")) && size == 8)
            r->time = to_time(v);
        else if (is(name, n, "end_time") && size == 8)
            r->end = to_time(v);
        else if (is(name, n, "conn_count") && size == 4)
            r->connections = ct__le32(v);
        else if (is(name, n, "chunk_count") && size == 4)
            r->chunks = ct__le32(v);
        else if (is(name, n, "encryptor") && size > 0)
            r->encrypted = 1;
        else if (is(name, n, "topic") || is(name, n, "compression")) {
            r->text = v;
            r->text_length = (uint32_t)size;
        }
    }
    return more == 0;
}

/* n bytes into a buffer that grows as they come. *whole <- 0: the stream ends before. */
static ct_status read_into(ct__stream *s, uint8_t **buffer, int64_t *room, int64_t n, int *whole, ct_err *err)
{
    *whole = 1;
    for (int64_t have = 0; have < n && *whole;) {
        const int64_t step = CT_MIN(n - have, 1 << 20);
        CT_TRY(ct__grow(buffer, room, have + step, 1, "a record", err));
        CT_TRY(ct__stream_read(s, *buffer + have, step, whole, err));
        have += step;
    }
    return CT_OK;
}

/* A record's header, of a stream that has `left` bytes. *whole <- 0: it is not whole, or makes no sense; the stream is
 * then of no more use, but r->op is set if only the data are not whole. Its data are next in the stream. */
static ct_status read_record(ct__container *c, ct__stream *s, int64_t left, record *r, int *whole, ct_err *err)
{
    ros1 *bag = c->own;
    uint8_t length[4];
    *r = (record){0};
    *whole = 0;
    if (left < 8) return CT_OK;
    CT_TRY(ct__stream_read(s, length, 4, whole, err));
    const int64_t n = ct__le32(length);
    if (!*whole || n > left - 8 || n > FIELDS_MAX) {
        *whole = 0;
        return CT_OK;
    }
    CT_TRY(read_into(s, &bag->header, &bag->header_room, n, whole, err));
    if (*whole) CT_TRY(ct__stream_read(s, length, 4, whole, err));
    if (!*whole) return CT_OK;
    r->data = ct__le32(length);
    if (!parse_header(bag->header, n, r)) r->op = 0;
    *whole = r->op && r->data <= left - 8 - n;
    return CT_OK;
}

/* ---- Connections ---- */

static char *copy(const uint8_t *text, int64_t length)
{
    char *s = ct__zalloc(length + 1, 1);
    if (s && length) memcpy(s, text, (size_t)length);
    return s;
}

/* Type and definition from the data of a connection's record, which are fields too. */
static ct_status add_connection(ct__container *c, const record *r, const char *topic, ct_err *err)
{
    const ros1 *bag = c->own;
    ct__connection connection = {.id = r->connection,
                                 .topic = (char *)(uintptr_t)topic,
                                 .encoding = (char *)"ros1",
                                 .schema = (char *)"ros1msg"};
    const uint8_t *at = bag->data, *name, *v;
    int64_t left = r->data, n, size;
    while (take_field(&at, &left, &name, &n, &v, &size) > 0) {
        if (is(name, n, "type") && !connection.type && !(connection.type = copy(v, size)))
            return ct__no_memory(err, "connections", 1);
        if (!is(name, n, "message_definition")) continue;
        connection.definition = (char *)(uintptr_t)v;
        connection.definition_size = (size_t)size;
    }
    const ct_status status = ct__container_add(c, &connection, err);
    free(connection.type);
    return status;
}

static ct_status take_connection(ct__container *c, ct__stream *s, const record *r, int *whole, ct_err *err)
{
    ros1 *bag = c->own;
    if (ct__container_find(c, r->connection)) return ct__stream_read(s, NULL, r->data, whole, err);
    if (r->data > FIELDS_MAX || (bag->texts += r->data) > TEXTS_MAX)
        return ct_fail(err, CT_E_LIMIT, "%s: the definitions of messages have more than %lld MB", c->in.path,
                       (long long)(TEXTS_MAX >> 20));
    char *topic = copy(r->text, r->text_length);
    if (!topic) return ct__no_memory(err, "connections", 1);
    ct_status status = read_into(s, &bag->data, &bag->data_room, r->data, whole, err);
    if (status == CT_OK && *whole) status = add_connection(c, r, topic, err);
    free(topic);
    return status;
}

/* ---- Chunks ---- */

/* Where messages go: into a run (those wanted), or into the counts of their connections, with their earliest time. */
typedef struct {
    ct__run *run;
    ct_ns start;
} sink;

static ct_status bad_chunk(const ct__container *c, int64_t at, const char *why, ct_err *err)
{
    return ct_fail(err, CT_E_PARSE, "%s: byte %lld: the chunk that begins here is damaged: %s", c->in.path,
                   (long long)at, why);
}

static ct_status take_message(ct__container *c, ct__stream *s, const record *r, sink *to, int *whole, ct_err *err)
{
    ct__connection *connection = ct__container_find(c, r->connection);
    uint8_t *bytes = NULL;
    if (!connection)
        return ct_fail(err, CT_E_PARSE, "%s: a message is of connection %u, which no record before it defines",
                       c->in.path, r->connection);
    if (to->run && connection->wanted)
        CT_TRY(ct__run_add(to->run, r->time, (int32_t)(connection - c->connection), r->data, &bytes, err));
    CT_TRY(ct__stream_read(s, bytes, r->data, whole, err));
    if (!to->run && *whole) {
        ct__connection_count(connection, r->time);
        to->start = CT_MIN(to->start, r->time);
    }
    return CT_OK;
}

/* The next record of a chunk, or of a part of the file, of `total` bytes. *whole <- 0: it goes beyond. */
static ct_status take_record(ct__container *c, ct__stream *s, int64_t total, sink *to, int *whole, ct_err *err)
{
    record r;
    CT_TRY(read_record(c, s, total - ct__stream_at(s), &r, whole, err));
    if (!*whole) return CT_OK;
    if (r.op == OP_MESSAGE) return take_message(c, s, &r, to, whole, err);
    if (r.op == OP_CONNECTION) return take_connection(c, s, &r, whole, err);
    return ct__stream_read(s, NULL, r.data, whole, err);
}

static ct_status take_records(ct__container *c, ct__stream *s, int64_t total, int64_t at, sink *to, ct_err *err)
{
    while (ct__stream_at(s) < total) {
        int whole;
        CT_TRY(take_record(c, s, total, to, &whole, err));
        if (!whole) return bad_chunk(c, at, "its records are not whole", err);
    }
    return CT_OK;
}

/* The records before the place where a chunk was cut: *bytes <- what they have, uncompressed. */
static ct_status take_whole_records(ct__container *c, ct__stream *s, int64_t total, sink *to, int64_t *bytes,
                                    ct_err *err)
{
    int whole = 1;
    for (*bytes = 0; *bytes < total; *bytes = ct__stream_at(s)) {
        ct_err why = {0};
        const ct_status status = take_record(c, s, total, to, &whole, &why);
        if (status == CT_E_MEMORY || status == CT_E_IO) return ct_fail(err, status, "%s", why.text);
        if (status != CT_OK || !whole) break;
    }
    return CT_OK;
}

static ct_status find_codec(ct__container *c, const record *chunk, int64_t at, ct__codec *codec, ct_err *err)
{
    const int found = ct__codec_find((const char *)chunk->text, chunk->text_length);
    char shown[CT__SHOW_MAX];
    if (found < 0)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: byte %lld: a chunk is compressed by %s; read are none, bz2 and lz4",
                       c->in.path, (long long)at, ct__show((const char *)chunk->text, chunk->text_length, shown));
    c->codecs |= 1u << found;
    *codec = (ct__codec)found;
    return CT_OK;
}

/* A chunk whose record begins at `at`, its data at `data`. */
static ct_status take_chunk(ct__container *c, const record *r, int64_t at, int64_t data, sink *to, ct_err *err)
{
    ros1 *bag = c->own;
    const int64_t total = r->size;
    ct__codec codec = CT__STORED;
    uint8_t beyond;
    int more;
    CT_TRY(find_codec(c, r, at, &codec, err));
    CT_TRY(ct__stream_begin(bag->inner, &c->in, data, r->data, codec, err));
    CT_TRY(take_records(c, bag->inner, total, at, to, err));
    CT_TRY(ct__stream_read(bag->inner, &beyond, 1, &more, err));
    return more ? bad_chunk(c, at, "it has more bytes than it says", err) : CT_OK;
}

/* The header of a chunk that lies at this byte; *data <- where its data begin. */
static ct_status find_chunk(ct__container *c, int64_t at, record *r, int64_t *data, ct_err *err)
{
    ros1 *bag = c->own;
    int whole = 0;
    if (at < MAGIC_SIZE || at >= c->in.size) return bad_chunk(c, at, "it lies beyond the file", err);
    CT_TRY(ct__stream_begin(bag->outer, &c->in, at, c->in.size - at, CT__STORED, err));
    CT_TRY(read_record(c, bag->outer, c->in.size - at, r, &whole, err));
    if (!whole || r->op != OP_CHUNK) return bad_chunk(c, at, "there is no chunk, as the index says", err);
    *data = at + ct__stream_at(bag->outer);
    return CT_OK;
}

static ct_status load(void *container, const ct__segment *segment, ct__run *run, ct_err *err)
{
    ct__container *c = container;
    ros1 *bag = c->own;
    sink to = {.run = run};
    record r;
    int64_t data = 0;
    if (segment->kind != CT__CHUNK) {
        const int64_t total = segment->kind == CT__CHUNK_CUT ? segment->whole : segment->size;
        CT_TRY(ct__stream_begin(bag->inner, &c->in, segment->at, segment->size, segment->codec, err));
        return take_records(c, bag->inner, total, segment->at, &to, err);
    }
    CT_TRY(find_chunk(c, segment->at, &r, &data, err));
    return take_chunk(c, &r, segment->at, data, &to, err);
}

/* ---- Bags without index ---- */

typedef struct {
    ct__segment part; /* messages outside of chunks, being gathered */
    int64_t end;      /* of the last whole record                   */
} scan;

static ct_status close_part(ct__container *c, scan *s, ct_err *err)
{
    ros1 *bag = c->own;
    const ct__segment part = s->part;
    s->part = (ct__segment){0};
    return part.size ? ct__merge_add(&bag->merge, part, err) : CT_OK;
}

static ct_status scan_chunk(ct__container *c, scan *s, const record *r, int64_t at, ct_err *err)
{
    ros1 *bag = c->own;
    sink to = {.start = INT64_MAX};
    const int64_t data = MAGIC_SIZE + ct__stream_at(bag->outer);
    CT_TRY(close_part(c, s, err));
    if (!r->data && !r->size) return CT_OK; /* the recorder had not written its length yet: its records follow */
    CT_TRY(take_chunk(c, r, at, data, &to, err));
    return to.start == INT64_MAX
               ? CT_OK
               : ct__merge_add(&bag->merge, (ct__segment){.kind = CT__CHUNK, .at = at, .start = to.start}, err);
}

/* A chunk that the end of the file cuts short. Of compressed ones all bytes count as damaged. */
static ct_status scan_cut_chunk(ct__container *c, scan *s, const record *r, ct_err *err)
{
    ros1 *bag = c->own;
    sink to = {.start = INT64_MAX};
    const int64_t at = s->end, data = MAGIC_SIZE + ct__stream_at(bag->outer), size = c->in.size - data;
    const int64_t total = r->size;
    ct__codec codec = CT__STORED;
    int64_t bytes = 0;
    CT_TRY(close_part(c, s, err));
    CT_TRY(find_codec(c, r, at, &codec, err));
    CT_TRY(ct__stream_begin(bag->inner, &c->in, data, size, codec, err));
    CT_TRY(take_whole_records(c, bag->inner, total, &to, &bytes, err));
    if (codec == CT__STORED) s->end = data + bytes;
    if (to.start == INT64_MAX) return CT_OK;
    return ct__merge_add(&bag->merge, (ct__segment){CT__CHUNK_CUT, data, size, to.start, codec, bytes}, err);
}

static ct_status scan_message(ct__container *c, scan *s, const record *r, int64_t at, int *whole, ct_err *err)
{
    ros1 *bag = c->own;
    sink to = {.start = INT64_MAX};
    CT_TRY(take_message(c, bag->outer, r, &to, whole, err));
    const int64_t end = MAGIC_SIZE + ct__stream_at(bag->outer);
    if (s->part.size && end - s->part.at > PART_SIZE) CT_TRY(close_part(c, s, err));
    if (!s->part.size) s->part = (ct__segment){.at = at, .start = INT64_MAX};
    s->part.size = end - s->part.at;
    s->part.start = CT_MIN(s->part.start, to.start);
    return CT_OK;
}

static ct_status scan_file(ct__container *c, ct_err *err)
{
    ros1 *bag = c->own;
    scan s = {.end = MAGIC_SIZE};
    bag->merge.segments = 0;
    CT_TRY(ct__stream_begin(bag->outer, &c->in, MAGIC_SIZE, c->in.size - MAGIC_SIZE, CT__STORED, err));
    while (s.end < c->in.size) {
        record r;
        int whole;
        CT_TRY(read_record(c, bag->outer, c->in.size - s.end, &r, &whole, err));
        if (!whole && r.op == OP_CHUNK) CT_TRY(scan_cut_chunk(c, &s, &r, err));
        if (!whole) break;
        if (r.op == OP_CHUNK) CT_TRY(scan_chunk(c, &s, &r, s.end, err));
        if (r.op == OP_MESSAGE)
            CT_TRY(scan_message(c, &s, &r, s.end, &whole, err));
        else if (r.op == OP_CONNECTION)
            CT_TRY(take_connection(c, bag->outer, &r, &whole, err));
        else
            CT_TRY(ct__stream_read(bag->outer, NULL, r.data, &whole, err));
        if (!whole) break;
        s.end = MAGIC_SIZE + ct__stream_at(bag->outer);
    }
    c->damaged = c->in.size - s.end;
    return close_part(c, &s, err);
}

/* ---- The index ---- */

typedef ct_status visit(ct__container *c, const record *r, ct_err *err);

/* Connections and the list of chunks at the end of the file; the pairs of connection and count of a chunk are in
 * bag->data. *good <- 0: they are not whole, or not as many as the bag's header says. */
static ct_status pass(ct__container *c, visit *chunk, int *good, ct_err *err)
{
    ros1 *bag = c->own;
    const int64_t total = c->in.size - bag->index;
    int64_t chunks = 0;
    *good = 0;
    CT_TRY(ct__stream_begin(bag->outer, &c->in, bag->index, total, CT__STORED, err));
    while (ct__stream_at(bag->outer) < total) {
        record r;
        int whole;
        CT_TRY(read_record(c, bag->outer, total - ct__stream_at(bag->outer), &r, &whole, err));
        if (!whole) return CT_OK;
        if (r.op == OP_CONNECTION) {
            CT_TRY(take_connection(c, bag->outer, &r, &whole, err));
        } else if (r.op == OP_CHUNK_INFO) {
            if (r.data > FIELDS_MAX || r.data / 8 < r.count) return CT_OK;
            CT_TRY(read_into(bag->outer, &bag->data, &bag->data_room, r.data, &whole, err));
            if (whole) CT_TRY(chunk(c, &r, err));
            chunks++;
        } else {
            CT_TRY(ct__stream_read(bag->outer, NULL, r.data, &whole, err));
        }
        if (!whole) return CT_OK;
    }
    *good = chunks == bag->chunks && c->connections == bag->connections;
    return CT_OK;
}

static ct_status choose_chunk(ct__container *c, const record *r, ct_err *err)
{
    ros1 *bag = c->own;
    int wanted = 0;
    for (uint32_t i = 0; i < r->count && !wanted; i++) {
        const ct__connection *connection = ct__container_find(c, ct__le32(bag->data + 8 * (int64_t)i));
        wanted = connection && connection->wanted;
    }
    if (!wanted) return CT_OK;
    return ct__merge_add(
        &bag->merge,
        (ct__segment){.kind = CT__CHUNK, .at = (int64_t)CT_MIN(r->place, (uint64_t)INT64_MAX), .start = r->time}, err);
}

static ct_status add_chunk(ct__container *c, const record *r, ct_err *err)
{
    ros1 *bag = c->own;
    for (uint32_t i = 0; i < r->count; i++) {
        ct__connection *connection = ct__container_find(c, ct__le32(bag->data + 8 * (int64_t)i));
        if (connection) connection->count += ct__le32(bag->data + 8 * (int64_t)i + 4);
    }
    return ct__merge_add(
        &bag->merge,
        (ct__segment){.kind = CT__CHUNK, .at = (int64_t)CT_MIN(r->place, (uint64_t)INT64_MAX), .start = r->time}, err);
}

/* First and last of the connections of a chunk, from the indexes behind it. */
static ct_status find_times(ct__container *c, int64_t at, ct_err *err)
{
    ros1 *bag = c->own;
    record chunk, r;
    int64_t data = 0;
    int whole = 1;
    CT_TRY(find_chunk(c, at, &chunk, &data, err));
    ct__codec codec = CT__STORED;
    CT_TRY(find_codec(c, &chunk, at, &codec, err));
    const int64_t from = data + chunk.data, left = c->in.size - from;
    CT_TRY(ct__stream_begin(bag->outer, &c->in, from, left, CT__STORED, err));
    while (ct__stream_at(bag->outer) < left) {
        CT_TRY(read_record(c, bag->outer, left - ct__stream_at(bag->outer), &r, &whole, err));
        if (!whole || r.op != OP_INDEX) break;
        ct__connection *connection = ct__container_find(c, r.connection);
        for (int64_t i = 0; i < r.data / 12 && whole; i++) {
            uint8_t entry[12];
            CT_TRY(ct__stream_read(bag->outer, entry, 12, &whole, err));
            if (!connection || !whole) continue;
            connection->first = CT_MIN(connection->first, to_time(entry));
            connection->last = CT_MAX(connection->last, to_time(entry));
        }
        CT_TRY(ct__stream_read(bag->outer, NULL, r.data % 12, &whole, err));
    }
    return CT_OK;
}

static int is_complete(const ct__container *c)
{
    for (int64_t i = 0; i < c->connections; i++)
        if ((c->connection[i].count > 0) != (c->connection[i].first <= c->connection[i].last)) return 0;
    return 1;
}

static void forget_counts(ct__container *c)
{
    for (int64_t i = 0; i < c->connections; i++) {
        c->connection[i].count = 0;
        c->connection[i].first = INT64_MAX;
        c->connection[i].last = INT64_MIN;
    }
}

/* ---- The container ---- */

static ct_status read_bag_header(ct__container *c, ct_err *err)
{
    ros1 *bag = c->own;
    char magic[MAGIC_SIZE];
    record r;
    int whole;
    if (c->in.size < MAGIC_SIZE) return ct_fail(err, CT_E_PARSE, "%s: ends within its first line", c->in.path);
    CT_TRY(ct__bag_file_read(&c->in, 0, magic, MAGIC_SIZE, err));
    if (memcmp(magic, MAGIC, MAGIC_SIZE) != 0)
        return ct_fail(err, CT_E_UNSUPPORTED,
                       "%s: is a ROS 1 bag of another version than 2.0, begins with \"%.12s\"; "
                       "`rosbag fix` of ROS 1 rewrites it",
                       c->in.path, magic);
    CT_TRY(ct__stream_begin(bag->outer, &c->in, MAGIC_SIZE, c->in.size - MAGIC_SIZE, CT__STORED, err));
    CT_TRY(read_record(c, bag->outer, c->in.size - MAGIC_SIZE, &r, &whole, err));
    if (!whole || r.op != OP_BAG) return CT_OK;
    if (r.encrypted)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: is encrypted; `rosbag decrypt` of ROS 1 decrypts it", c->in.path);
    if (r.place > MAGIC_SIZE && r.place <= (uint64_t)c->in.size) bag->index = (int64_t)r.place;
    bag->chunks = r.chunks;
    bag->connections = r.connections;
    return CT_OK;
}

static ct_status ros1_open(ct__container *c, ct__depth depth, ct_err *err)
{
    ros1 *bag = c->own = ct__zalloc(1, sizeof *bag);
    if (!bag) return ct__no_memory(err, "a bag", 1);
    CT_TRY(ct__stream_new(&bag->outer, err));
    CT_TRY(ct__stream_new(&bag->inner, err));
    CT_TRY(read_bag_header(c, err));
    if (bag->index) CT_TRY(pass(c, add_chunk, &bag->indexed, err));
    for (int64_t i = 0; i < bag->merge.segments && bag->indexed && depth != CT__NAMES; i++)
        CT_TRY(find_times(c, bag->merge.segment[i].at, err));
    if (bag->indexed && (depth == CT__NAMES || is_complete(c))) return CT_OK;
    bag->indexed = 0;
    forget_counts(c);
    c->codecs = 0;
    return scan_file(c, err);
}

static ct_status ros1_select(ct__container *c, ct_ns *start, ct_err *err)
{
    ros1 *bag = c->own;
    int good;
    if (bag->indexed) {
        bag->merge.segments = 0;
        CT_TRY(pass(c, choose_chunk, &good, err));
    }
    ct__merge_begin(&bag->merge);
    *start = bag->merge.segments ? bag->merge.segment[0].start : INT64_MAX;
    return CT_OK;
}

static ct_status ros1_next(ct__container *c, ct__message *message, int *more, ct_err *err)
{
    ros1 *bag = c->own;
    return ct__merge_next(&bag->merge, c->in.path, load, c, message, more, err);
}

static double ros1_progress(const ct__container *c)
{
    const ros1 *bag = c->own;
    return ct__merge_progress(&bag->merge);
}

static void ros1_close(ct__container *c)
{
    ros1 *bag = c->own;
    if (!bag) return;
    free(bag->header);
    free(bag->data);
    ct__merge_free(&bag->merge);
    ct__stream_free(bag->outer);
    ct__stream_free(bag->inner);
    free(bag);
}

const ct__container_ops ct__ros1_ops = {ros1_open, ros1_select, ros1_next, ros1_progress, ros1_close};
