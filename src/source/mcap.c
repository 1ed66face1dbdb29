/* mcap.c: MCAP files: records, chunks, and files without a summary.
 *
 * A file has a magic, records, and in the end a summary, a footer and the magic again. Messages are in chunks or among
 * the other records. Without a summary (a recording that was cut short) the file is scanned once for connections and
 * for the time of each chunk; whole records are used. Messages outside of chunks have no index: they are read in parts
 * of some megabytes, each with its earliest time from the scan. Reference: the specification at mcap.dev. */
#include "source/mcap.h"

static const char MAGIC[CT__MCAP_MAGIC] = {'\x89', 'M', 'C', 'A', 'P', '0', '\r', '\n'};

#define PART_SIZE  (4LL << 20)  /* of messages outside of chunks                          */
#define TEXTS_MAX  (64LL << 20) /* definitions of all types; of a large robot 1 MB        */
#define CODEC_NAME 64

/* ---- Fields ---- */

uint64_t ct__mcap_number(ct__mcap_fields *f, int width)
{
    uint64_t value = 0;
    if (f->left < width) {
        f->bad = 1;
        f->left = 0;
        return 0;
    }
    for (int i = 0; i < width; i++) value |= (uint64_t)f->bytes[i] << 8 * i;
    f->bytes += width;
    f->left -= width;
    return value;
}

const char *ct__mcap_bytes(ct__mcap_fields *f, int64_t size)
{
    if (size < 0 || f->left < size) {
        f->bad = 1;
        f->left = 0;
        return NULL;
    }
    const char *at = (const char *)f->bytes;
    if (size) f->bytes += size; /* NULL + 0 is not defined */
    f->left -= size;
    return at;
}

char *ct__mcap_string(ct__mcap_fields *f)
{
    const int64_t size = (int64_t)ct__mcap_number(f, 4);
    const char *at = ct__mcap_bytes(f, size);
    char *s = at ? ct__zalloc(size + 1, 1) : NULL;
    if (s && size) memcpy(s, at, (size_t)size);
    return s;
}

ct_ns ct__mcap_stamp(uint64_t stamp) { return stamp > INT64_MAX ? INT64_MAX : (ct_ns)stamp; }

ct_status ct__mcap_content(ct__container *c, ct__stream *s, int64_t size, const char *what, ct_err *err)
{
    ct__mcap *m = c->own;
    int whole;
    if (size > CT__MCAP_RECORD_MAX)
        return ct_fail(err, CT_E_LIMIT, "%s: a %s record has %lld bytes, more than %lld MB", c->in.path, what,
                       (long long)size, (long long)(CT__MCAP_RECORD_MAX >> 20));
    /* In steps: a damaged length is seen before memory is taken for all of it. */
    for (int64_t have = 0; have < size;) {
        const int64_t n = CT_MIN(size - have, 1 << 20);
        CT_TRY(ct__grow(&m->buffer, &m->room, have + n, 1, "a record", err));
        CT_TRY(ct__stream_read(s, m->buffer + have, n, &whole, err));
        if (!whole) return ct_fail(err, CT_E_PARSE, "%s: a %s record ends early", c->in.path, what);
        have += n;
    }
    return CT_OK;
}

/* ---- Schemas and channels ---- */

static ct__mcap_schema *find_schema(const ct__mcap *m, uint32_t id)
{
    for (int64_t i = 0; i < m->schemas; i++)
        if (m->schema[i].id == id) return &m->schema[i];
    return NULL;
}

static void clear_schema(ct__mcap_schema *schema)
{
    free(schema->name);
    free(schema->encoding);
    free(schema->text);
}

ct_status ct__mcap_schema_read(ct__container *c, ct__stream *s, int64_t size, ct_err *err)
{
    ct__mcap *m = c->own;
    CT_TRY(ct__mcap_content(c, s, size, "schema", err));
    ct__mcap_fields f = {m->buffer, size, 0};
    ct__mcap_schema schema = {.id = (uint32_t)ct__mcap_number(&f, 2)};
    if (!f.bad && find_schema(m, schema.id)) return CT_OK;
    schema.name = ct__mcap_string(&f);
    schema.encoding = ct__mcap_string(&f);
    schema.size = (size_t)ct__mcap_number(&f, 4);
    const char *text = ct__mcap_bytes(&f, (int64_t)schema.size);
    ct_status status = CT_OK;
    if (f.bad)
        status = ct_fail(err, CT_E_PARSE, "%s: a schema record is damaged", c->in.path);
    else if ((m->texts += size) > TEXTS_MAX)
        status = ct_fail(err, CT_E_LIMIT, "%s: the definitions of messages have more than %lld MB", c->in.path,
                         (long long)(TEXTS_MAX >> 20));
    else if (!schema.name || !schema.encoding || !(schema.text = ct__zalloc((int64_t)schema.size + 1, 1)))
        status = ct__no_memory(err, "schemas", m->schemas);
    else
        status = ct__grow(&m->schema, &m->capacity, m->schemas + 1, sizeof schema, "schemas", err);
    if (status != CT_OK) {
        clear_schema(&schema);
        return status;
    }
    if (schema.size) memcpy(schema.text, text, schema.size);
    m->schema[m->schemas++] = schema;
    return CT_OK;
}

ct_status ct__mcap_channel_read(ct__container *c, ct__stream *s, int64_t size, ct_err *err)
{
    ct__mcap *m = c->own;
    CT_TRY(ct__mcap_content(c, s, size, "channel", err));
    ct__mcap_fields f = {m->buffer, size, 0};
    ct__connection connection = {.id = (uint32_t)ct__mcap_number(&f, 2)};
    const uint32_t schema = (uint32_t)ct__mcap_number(&f, 2);
    if (!f.bad && ct__container_find(c, connection.id)) return CT_OK;
    connection.topic = ct__mcap_string(&f);
    connection.encoding = ct__mcap_string(&f);
    ct_status status = CT_OK;
    if (f.bad)
        status = ct_fail(err, CT_E_PARSE, "%s: a channel record is damaged", c->in.path);
    else if (!connection.topic || !connection.encoding)
        status = ct__no_memory(err, "channels", c->connections);
    if (status == CT_OK)
        status =
            ct__grow(&m->schema_of, &m->schema_of_capacity, c->connections + 1, sizeof *m->schema_of, "channels", err);
    if (status == CT_OK) {
        m->schema_of[c->connections] = schema;
        status = ct__container_add(c, &connection, err);
    }
    free(connection.topic);
    free(connection.encoding);
    return status;
}

int ct__mcap_has_schemas(const ct__container *c)
{
    const ct__mcap *m = c->own;
    for (int64_t i = 0; i < c->connections; i++)
        if (m->schema_of[i] && !find_schema(m, m->schema_of[i])) return 0;
    return 1;
}

/* Schemas may come after their channels in the summary: they are given to the connections in the end. */
static ct_status attach_schemas(ct__container *c, ct_err *err)
{
    ct__mcap *m = c->own;
    for (int64_t i = 0; i < c->connections; i++) {
        const ct__mcap_schema *schema = find_schema(m, m->schema_of[i]);
        ct__connection *connection = &c->connection[i];
        if (!m->schema_of[i] || !schema) continue;
        CT_TRY(ct__container_take_text(c, schema->size, err));
        char *name = ct__printable(ct__strdup(schema->name));
        char *encoding = ct__printable(ct__strdup(schema->encoding));
        char *text = ct__zalloc((int64_t)schema->size + 1, 1);
        if (!name || !encoding || !text) {
            free(name);
            free(encoding);
            free(text);
            return ct__no_memory(err, "channels", c->connections);
        }
        memcpy(text, schema->text, schema->size);
        free(connection->type);
        free(connection->schema);
        free(connection->definition);
        connection->type = name;
        connection->schema = encoding;
        connection->definition = text;
        connection->definition_size = schema->size;
    }
    return CT_OK;
}

/* ---- Chunks ---- */

typedef struct {
    int64_t size;       /* of the record's content         */
    int64_t at, packed; /* its records in the file         */
    uint64_t unpacked;
    uint32_t crc;
    ct__codec codec;
} chunk_head;

ct_status ct__mcap_refuse_codec(const ct__container *c, int64_t at, const char *name, int64_t length, ct_err *err)
{
    char shown[CT__SHOW_MAX];
    return ct_fail(err, CT_E_UNSUPPORTED,
                   "%s: byte %lld: a chunk is compressed by %s; read are none, lz4, zstd and bz2", c->in.path,
                   (long long)at, ct__show(name, (size_t)length, shown));
}

static ct_status bad_chunk(const ct__container *c, int64_t at, const char *why, ct_err *err)
{
    return ct_fail(err, CT_E_PARSE, "%s: byte %lld: the chunk that begins here is damaged: %s", c->in.path,
                   (long long)at, why);
}

/* The fields before the records of the chunk that begins at this byte of the file. cut: the file may end within it, and
 * head->packed is what there is. */
static ct_status read_chunk_head(const ct__container *c, int64_t at, int cut, chunk_head *head, ct_err *err)
{
    uint8_t b[CT__MCAP_HEAD + 32 + CODEC_NAME + 8];
    const int64_t have = CT_MIN((int64_t)sizeof b, c->in.size - at);
    if (at < 0 || have < CT__MCAP_HEAD + 40) return bad_chunk(c, at, "the file ends within it", err);
    CT_TRY(ct__bag_file_read(&c->in, at, b, have, err));
    const uint64_t size = ct__le64(b + 1);
    const uint32_t name = ct__le32(b + CT__MCAP_HEAD + 28);
    const uint8_t *codec = b + CT__MCAP_HEAD + 32;
    if (b[0] != CT__MCAP_CHUNK) return bad_chunk(c, at, "there is another record", err);
    if (!cut && size > (uint64_t)(c->in.size - at - CT__MCAP_HEAD))
        return bad_chunk(c, at, "the file ends within it", err);
    if (name > CODEC_NAME || have < (int64_t)(CT__MCAP_HEAD + 32 + name + 8))
        return bad_chunk(c, at, "the name of its compression has no end", err);
    const int found = ct__codec_find((const char *)codec, name);
    const uint64_t packed = ct__le64(codec + name);
    if (found < 0) return ct__mcap_refuse_codec(c, at, (const char *)codec, name, err);
    if (packed > size || size - packed != 40 + name) return bad_chunk(c, at, "its lengths contradict each other", err);
    const int64_t begin = at + CT__MCAP_HEAD + 40 + name;
    *head = (chunk_head){.size = (int64_t)CT_MIN(size, (uint64_t)(c->in.size - at)),
                         .at = begin,
                         .packed = (int64_t)CT_MIN(packed, (uint64_t)(c->in.size - begin)),
                         .unpacked = ct__le64(b + CT__MCAP_HEAD + 16),
                         .crc = ct__le32(b + CT__MCAP_HEAD + 24),
                         .codec = (ct__codec)found};
    return CT_OK;
}

/* Where messages go: into a run (those wanted), or into the counts of their connections, with their earliest time. */
typedef struct {
    ct__run *run;
    ct_ns start;
} sink;

static ct_status take_message(ct__container *c, ct__stream *s, int64_t size, sink *to, int *whole, ct_err *err)
{
    uint8_t head[22];
    *whole = 1;
    if (size < 22)
        return ct_fail(err, CT_E_PARSE, "%s: a message record has %lld bytes, and its fields need 22", c->in.path,
                       (long long)size);
    CT_TRY(ct__stream_read(s, head, 22, whole, err));
    if (!*whole) return CT_OK;
    const uint32_t id = (uint32_t)head[0] | (uint32_t)head[1] << 8;
    const ct_ns stamp = ct__mcap_stamp(ct__le64(head + 6));
    ct__connection *connection = ct__container_find(c, id);
    if (!connection)
        return ct_fail(err, CT_E_PARSE, "%s: a message is of channel %u, which no record before it defines", c->in.path,
                       id);
    uint8_t *bytes = NULL;
    if (to->run && connection->wanted)
        CT_TRY(ct__run_add(to->run, stamp, (int32_t)(connection - c->connection), size - 22, &bytes, err));
    CT_TRY(ct__stream_read(s, bytes, size - 22, whole, err));
    if (!to->run && *whole) {
        ct__connection_count(connection, stamp);
        to->start = CT_MIN(to->start, stamp);
    }
    return CT_OK;
}

/* The next record of a chunk, or of a part of the file, of `total` bytes. *whole <- 0: it goes beyond. */
static ct_status take_record(ct__container *c, ct__stream *s, uint64_t total, sink *to, int *whole, ct_err *err)
{
    uint8_t head[CT__MCAP_HEAD];
    CT_TRY(ct__stream_read(s, head, CT__MCAP_HEAD, whole, err));
    const uint64_t at = (uint64_t)ct__stream_at(s), size = *whole ? ct__le64(head + 1) : 0;
    *whole = *whole && at <= total && size <= total - at;
    if (!*whole) return CT_OK;
    switch (head[0]) {
    case CT__MCAP_SCHEMA: return ct__mcap_schema_read(c, s, (int64_t)size, err);
    case CT__MCAP_CHANNEL: return ct__mcap_channel_read(c, s, (int64_t)size, err);
    case CT__MCAP_MESSAGE: return take_message(c, s, (int64_t)size, to, whole, err);
    default: return ct__stream_read(s, NULL, (int64_t)size, whole, err);
    }
}

static ct_status take_records(ct__container *c, ct__stream *s, uint64_t total, int64_t at, sink *to, ct_err *err)
{
    while ((uint64_t)ct__stream_at(s) < total) {
        int whole;
        CT_TRY(take_record(c, s, total, to, &whole, err));
        if (!whole) return bad_chunk(c, at, "it ends within a record", err);
    }
    return CT_OK;
}

/* The records before the place where a chunk was cut: *bytes <- what they have, uncompressed. */
static ct_status take_whole_records(ct__container *c, ct__stream *s, uint64_t total, sink *to, int64_t *bytes,
                                    ct_err *err)
{
    int whole = 1;
    for (*bytes = 0; (uint64_t)*bytes < total; *bytes = ct__stream_at(s)) {
        ct_err why = {0};
        const ct_status status = take_record(c, s, total, to, &whole, &why);
        if (status == CT_E_MEMORY || status == CT_E_IO) return ct_fail(err, status, "%s", why.text);
        if (status != CT_OK || !whole) break;
    }
    return CT_OK;
}

static ct_status take_chunk(ct__container *c, int64_t at, const chunk_head *head, sink *to, ct_err *err)
{
    ct__mcap *m = c->own;
    uint8_t beyond;
    int more;
    if (head->unpacked > INT64_MAX) return bad_chunk(c, at, "its uncompressed size is beyond 2^63", err);
    CT_TRY(ct__stream_begin(m->inner, &c->in, head->at, head->packed, head->codec, err));
    if (head->crc) ct__stream_sum(m->inner);
    CT_TRY(take_records(c, m->inner, head->unpacked, at, to, err));
    const uint32_t crc = ct__stream_crc(m->inner);
    CT_TRY(ct__stream_read(m->inner, &beyond, 1, &more, err));
    if (more) return bad_chunk(c, at, "it has more bytes than it says", err);
    if (head->crc && crc != head->crc)
        return ct_fail(err, CT_E_PARSE,
                       "%s: byte %lld: the chunk that begins here is damaged: its CRC-32 is %08x, and "
                       "the chunk says %08x",
                       c->in.path, (long long)at, crc, head->crc);
    return CT_OK;
}

static ct_status load(void *container, const ct__segment *segment, ct__run *run, ct_err *err)
{
    ct__container *c = container;
    ct__mcap *m = c->own;
    sink to = {.run = run};
    chunk_head head;
    if (segment->kind != CT__CHUNK) {
        const int64_t total = segment->kind == CT__CHUNK_CUT ? segment->whole : segment->size;
        CT_TRY(ct__stream_begin(m->inner, &c->in, segment->at, segment->size, segment->codec, err));
        return take_records(c, m->inner, (uint64_t)total, segment->at, &to, err);
    }
    CT_TRY(read_chunk_head(c, segment->at, 0, &head, err));
    return take_chunk(c, segment->at, &head, &to, err);
}

/* ---- Scan of a file without summary ---- */

/* The part of messages outside of chunks that is being gathered. */
typedef struct {
    ct__segment part;
    int64_t end; /* of the last whole record */
    int cut;     /* the file ends within a record */
} scan;

static ct_status close_part(ct__container *c, scan *s, ct_err *err)
{
    ct__mcap *m = c->own;
    const ct__segment part = s->part;
    s->part = (ct__segment){0};
    return part.size ? ct__merge_add(&m->merge, part, err) : CT_OK;
}

static ct_status scan_chunk(ct__container *c, scan *s, int64_t at, ct_err *err)
{
    ct__mcap *m = c->own;
    chunk_head head;
    sink to = {.start = INT64_MAX};
    CT_TRY(close_part(c, s, err));
    CT_TRY(read_chunk_head(c, at, 0, &head, err));
    c->codecs |= 1u << head.codec;
    CT_TRY(take_chunk(c, at, &head, &to, err));
    if (to.start == INT64_MAX) return CT_OK;
    return ct__merge_add(
        &m->merge, (ct__segment){.kind = CT__CHUNK, .at = at, .size = head.size + CT__MCAP_HEAD, .start = to.start},
        err);
}

/* A chunk that the end of the file cuts short. Of compressed ones all bytes count as damaged. */
static ct_status scan_cut_chunk(ct__container *c, scan *s, int64_t at, ct_err *err)
{
    ct__mcap *m = c->own;
    chunk_head head;
    sink to = {.start = INT64_MAX};
    int64_t bytes = 0;
    CT_TRY(close_part(c, s, err));
    const ct_status status = read_chunk_head(c, at, 1, &head, err);
    if (status == CT_E_PARSE || (status == CT_OK && head.unpacked > INT64_MAX)) return CT_OK;
    if (status != CT_OK) return status;
    CT_TRY(ct__stream_begin(m->inner, &c->in, head.at, head.packed, head.codec, err));
    CT_TRY(take_whole_records(c, m->inner, head.unpacked, &to, &bytes, err));
    c->codecs |= 1u << head.codec;
    if (head.codec == CT__STORED) s->end = head.at + bytes;
    if (to.start == INT64_MAX) return CT_OK;
    return ct__merge_add(&m->merge, (ct__segment){CT__CHUNK_CUT, head.at, head.packed, to.start, head.codec, bytes},
                         err);
}

static ct_status scan_message(ct__container *c, scan *s, int64_t at, int64_t size, ct_err *err)
{
    ct__mcap *m = c->own;
    sink to = {.start = INT64_MAX};
    int whole;
    CT_TRY(take_message(c, m->outer, size, &to, &whole, err));
    c->codecs |= 1u << CT__STORED;
    if (s->part.size && at + size - s->part.at > PART_SIZE) CT_TRY(close_part(c, s, err));
    if (!s->part.size) s->part = (ct__segment){.at = at, .start = INT64_MAX};
    s->part.size = at + CT__MCAP_HEAD + size - s->part.at;
    s->part.start = CT_MIN(s->part.start, to.start);
    return CT_OK;
}

/* One record of the file; *end <- 1 at the last of the data. A record that is not whole ends the data. */
static ct_status scan_record(ct__container *c, scan *s, int *end, ct_err *err)
{
    ct__mcap *m = c->own;
    const int64_t at = CT__MCAP_MAGIC + ct__stream_at(m->outer);
    uint8_t head[CT__MCAP_HEAD];
    int whole;
    *end = 1;
    if (c->in.size - at < CT__MCAP_HEAD) {
        s->cut = 1;
        return CT_OK;
    }
    CT_TRY(ct__stream_read(m->outer, head, CT__MCAP_HEAD, &whole, err));
    const uint64_t size = ct__le64(head + 1);
    if (size > (uint64_t)(c->in.size - at - CT__MCAP_HEAD)) {
        s->cut = 1;
        return head[0] == CT__MCAP_CHUNK ? scan_cut_chunk(c, s, at, err) : CT_OK;
    }
    const int64_t n = (int64_t)size;
    *end = head[0] == CT__MCAP_DATA_END || head[0] == CT__MCAP_FOOTER;
    if (*end) return CT_OK;
    switch (head[0]) {
    case CT__MCAP_SCHEMA: CT_TRY(ct__mcap_schema_read(c, m->outer, n, err)); break;
    case CT__MCAP_CHANNEL: CT_TRY(ct__mcap_channel_read(c, m->outer, n, err)); break;
    case CT__MCAP_MESSAGE: CT_TRY(scan_message(c, s, at, n, err)); break;
    case CT__MCAP_CHUNK: CT_TRY(scan_chunk(c, s, at, err)); /* fall through */
    default: CT_TRY(ct__stream_read(m->outer, NULL, n, &whole, err));
    }
    s->end = at + CT__MCAP_HEAD + n;
    return CT_OK;
}

static ct_status scan_file(ct__container *c, ct_err *err)
{
    ct__mcap *m = c->own;
    scan s = {.end = CT__MCAP_MAGIC};
    int end = 0;
    m->merge.segments = 0;
    c->codecs = 0;
    for (int64_t i = 0; i < c->connections; i++) {
        c->connection[i].count = 0;
        c->connection[i].first = INT64_MAX;
        c->connection[i].last = INT64_MIN;
    }
    CT_TRY(ct__stream_begin(m->outer, &c->in, CT__MCAP_MAGIC, c->in.size - CT__MCAP_MAGIC, CT__STORED, err));
    while (!end) CT_TRY(scan_record(c, &s, &end, err));
    CT_TRY(close_part(c, &s, err));
    c->damaged = s.cut ? c->in.size - s.end : 0;
    return CT_OK;
}

/* ---- The container ---- */

static ct_status mcap_open(ct__container *c, ct__depth depth, ct_err *err)
{
    ct__mcap *m = c->own = ct__zalloc(1, sizeof *m);
    char magic[CT__MCAP_MAGIC];
    if (!m) return ct__no_memory(err, "a bag", 1);
    CT_TRY(ct__stream_new(&m->outer, err));
    CT_TRY(ct__stream_new(&m->inner, err));
    if (c->in.size < CT__MCAP_MAGIC)
        return ct_fail(err, CT_E_PARSE, "%s: ends within the first 8 bytes of MCAP", c->in.path);
    CT_TRY(ct__bag_file_read(&c->in, 0, magic, CT__MCAP_MAGIC, err));
    if (memcmp(magic, MAGIC, CT__MCAP_MAGIC) != 0)
        return ct_fail(err, CT_E_PARSE, "%s: does not begin as MCAP of version 0 does", c->in.path);
    CT_TRY(ct__mcap_summary_open(c, depth, err));
    if (!m->indexed) CT_TRY(scan_file(c, err));
    return attach_schemas(c, err);
}

static ct_status mcap_select(ct__container *c, ct_ns *start, ct_err *err)
{
    ct__mcap *m = c->own;
    if (m->indexed) CT_TRY(ct__mcap_summary_select(c, err));
    ct__merge_begin(&m->merge);
    *start = m->merge.segments ? m->merge.segment[0].start : INT64_MAX;
    return CT_OK;
}

static ct_status mcap_next(ct__container *c, ct__message *message, int *more, ct_err *err)
{
    ct__mcap *m = c->own;
    return ct__merge_next(&m->merge, c->in.path, load, c, message, more, err);
}

static double mcap_progress(const ct__container *c)
{
    const ct__mcap *m = c->own;
    return ct__merge_progress(&m->merge);
}

static void mcap_close(ct__container *c)
{
    ct__mcap *m = c->own;
    if (!m) return;
    for (int64_t i = 0; i < m->schemas; i++) clear_schema(&m->schema[i]);
    free(m->schema);
    free(m->schema_of);
    free(m->buffer);
    ct__merge_free(&m->merge);
    ct__stream_free(m->outer);
    ct__stream_free(m->inner);
    free(m);
}

const ct__container_ops ct__mcap_ops = {mcap_open, mcap_select, mcap_next, mcap_progress, mcap_close};
