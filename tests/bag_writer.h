/* bag_writer.h: small writers of ROS 1 bags, MCAP and ROS 2 SQLite bags, independent of the readers. The same recording
 * goes into every container. */
#ifndef BAG_WRITER_H
#define BAG_WRITER_H

#include "bag_run.h"

#if COVTUNE_HAS_SQLITE3
#include <sqlite3.h>
#endif

/* ---- ROS 1 ---- */

typedef struct {
    const char *codec; /* "none", "bz2", "lz4", or a name that no reader knows */
    int per_chunk;
    int no_index;        /* as a recording that was not closed */
    int two_connections; /* /odom has two, in turns */
} ros1_options;

static inline void ros1_field(bw *w, const char *name, const void *value, size_t n)
{
    bw_int(w, strlen(name) + 1 + n, 4);
    bw_put(w, name, strlen(name));
    bw_put(w, "=", 1);
    bw_put(w, value, n);
}
static inline void ros1_number(bw *w, const char *name, uint64_t value, int width)
{
    bw v = {0};
    bw_int(&v, value, width);
    ros1_field(w, name, v.b, v.n);
    free(v.b);
}
static inline void ros1_time(bw *w, const char *name, int64_t t)
{
    ros1_number(w, name, (uint64_t)(t / 1000000000) | (uint64_t)(t % 1000000000) << 32, 8);
}
static inline void ros1_record(bw *to, const bw *header, const void *data, size_t n)
{
    bw_int(to, header->n, 4);
    bw_put(to, header->b, header->n);
    bw_int(to, n, 4);
    bw_put(to, data, n);
}

static inline void ros1_connection(bw *to, int id, const bag_topic *t)
{
    bw h = {0}, d = {0};
    ros1_number(&h, "conn", (uint64_t)id, 4);
    ros1_number(&h, "op", 7, 1);
    ros1_field(&h, "topic", t->topic, strlen(t->topic));
    ros1_field(&d, "topic", t->topic, strlen(t->topic));
    ros1_field(&d, "type", t->type1, strlen(t->type1));
    ros1_field(&d, "md5sum", "*", 1);
    ros1_field(&d, "message_definition", t->text1, strlen(t->text1));
    ros1_record(to, &h, d.b, d.n);
    free(h.b);
    free(d.b);
}

static inline void ros1_bag_header(bw *to, uint64_t index, int connections, int chunks)
{
    bw h = {0};
    char pad[4096];
    memset(pad, ' ', sizeof pad);
    ros1_number(&h, "op", 3, 1);
    ros1_number(&h, "index_pos", index, 8);
    ros1_number(&h, "conn_count", (uint64_t)connections, 4);
    ros1_number(&h, "chunk_count", (uint64_t)chunks, 4);
    ros1_record(to, &h, pad, sizeof pad - 8 - h.n);
    free(h.b);
}

/* Messages [from, to) as a chunk with its indexes; its ChunkInfo goes to `info`. */
static inline void ros1_chunk(bw *out, bw *info, const bag_run *run, int from, int to, const ros1_options *o)
{
    bw raw = {0}, h = {0}, packed = {0}, index[BAG_TOPICS + 1] = {{0}}, counts = {0};
    int64_t first = INT64_MAX, last = 0;
    int used = 0;
    for (int c = 0; c < BAG_TOPICS + (o->two_connections != 0); c++)
        if (from == 0) ros1_connection(&raw, c, &BAG_TOPIC[c % BAG_TOPICS]);
    for (int i = from; i < to; i++) {
        const bag_message *m = &run->message[i];
        const int c = m->topic == 0 && o->two_connections && i % 2 ? BAG_TOPICS : m->topic;
        bw_int(&index[c], (uint64_t)(m->log / 1000000000), 4);
        bw_int(&index[c], (uint64_t)(m->log % 1000000000), 4);
        bw_int(&index[c], raw.n, 4);
        h.n = 0;
        ros1_number(&h, "op", 2, 1);
        ros1_number(&h, "conn", (uint64_t)c, 4);
        ros1_time(&h, "time", m->log);
        ros1_record(&raw, &h, m->bytes, m->size);
        first = m->log < first ? m->log : first;
        last = m->log > last ? m->log : last;
    }
    const uint64_t at = out->n;
    if (!bw_pack(&packed, raw.b, raw.n, o->codec)) bw_put(&packed, raw.b, raw.n);
    h.n = 0;
    ros1_number(&h, "op", 5, 1);
    ros1_field(&h, "compression", o->codec, strlen(o->codec));
    ros1_number(&h, "size", raw.n, 4);
    ros1_record(out, &h, packed.b, packed.n);
    for (int c = 0; c < BAG_TOPICS + 1; c++) {
        if (!index[c].n) continue;
        h.n = 0;
        ros1_number(&h, "op", 4, 1);
        ros1_number(&h, "ver", 1, 4);
        ros1_number(&h, "conn", (uint64_t)c, 4);
        ros1_number(&h, "count", index[c].n / 12, 4);
        ros1_record(out, &h, index[c].b, index[c].n);
        bw_int(&counts, (uint64_t)c, 4);
        bw_int(&counts, index[c].n / 12, 4);
        used++;
        free(index[c].b);
    }
    h.n = 0;
    ros1_number(&h, "op", 6, 1);
    ros1_number(&h, "ver", 1, 4);
    ros1_number(&h, "chunk_pos", at, 8);
    ros1_time(&h, "start_time", first);
    ros1_time(&h, "end_time", last);
    ros1_number(&h, "count", (uint64_t)used, 4);
    ros1_record(info, &h, counts.b, counts.n);
    free(raw.b);
    free(h.b);
    free(packed.b);
    free(counts.b);
}

static inline bw ros1_write(const bag_run *run, const ros1_options *o)
{
    bw out = {0}, info = {0};
    int chunks = 0;
    bw_put(&out, "#ROSBAG V2.0\n", 13);
    ros1_bag_header(&out, 0, 0, 0);
    for (int i = 0; i < run->messages; i += o->per_chunk, chunks++)
        ros1_chunk(&out, &info, run, i, i + o->per_chunk < run->messages ? i + o->per_chunk : run->messages, o);
    if (!o->no_index) {
        bw head = {0};
        ros1_bag_header(&head, out.n, BAG_TOPICS + (o->two_connections != 0), chunks);
        memcpy(out.b + 13, head.b, head.n);
        free(head.b);
        for (int c = 0; c < BAG_TOPICS + (o->two_connections != 0); c++)
            ros1_connection(&out, c, &BAG_TOPIC[c % BAG_TOPICS]);
        bw_put(&out, info.b, info.n);
    }
    free(info.b);
    return out;
}

/* ---- MCAP ---- */

typedef struct {
    const char *codec; /* "", "lz4", "zstd", or a name that no reader knows        */
    int per_chunk;     /* 0: no chunks                                          */
    int no_summary, no_index, no_crc, no_statistics, data_crc;
    int no_schemas; /* none in the summary */
    const char *schema;           /* NULL: ros1msg or ros2msg                              */
    const char *text[BAG_TOPICS]; /* definitions; NULL: those of BAG_TOPIC           */
    const char *encoding;         /* NULL: ros1 or cdr                                     */
} mcap_options;

static inline void mcap_record(bw *to, int op, const bw *content)
{
    bw_int(to, (uint64_t)op, 1);
    bw_int(to, content->n, 8);
    bw_put(to, content->b, content->n);
}

static inline void mcap_channels(bw *to, const bag_run *run, const mcap_options *o, int schemas)
{
    const int ros1 = run->encoding == BAG_ROS1;
    for (int t = 0; t < BAG_TOPICS; t++) {
        bw s = {0}, c = {0};
        const char *text = o->text[t] ? o->text[t] : ros1 ? BAG_TOPIC[t].text1 : BAG_TOPIC[t].text2;
        bw_int(&s, (uint64_t)t + 1, 2);
        bw_text(&s, ros1 ? BAG_TOPIC[t].type1 : BAG_TOPIC[t].type2);
        bw_text(&s, o->schema ? o->schema : ros1 ? "ros1msg" : "ros2msg");
        bw_text(&s, text);
        if (schemas) mcap_record(to, 3, &s);
        bw_int(&c, (uint64_t)t + 40, 2);
        bw_int(&c, (uint64_t)t + 1, 2);
        bw_text(&c, BAG_TOPIC[t].topic);
        bw_text(&c, o->encoding ? o->encoding : ros1 ? "ros1" : "cdr");
        bw_int(&c, 0, 4);
        mcap_record(to, 4, &c);
        free(s.b);
        free(c.b);
    }
}

static inline void mcap_message(bw *to, const bag_message *m, int i)
{
    bw c = {0};
    bw_int(&c, (uint64_t)m->topic + 40, 2);
    bw_int(&c, (uint64_t)i, 4);
    bw_int(&c, (uint64_t)m->log, 8);
    bw_int(&c, (uint64_t)m->log, 8);
    bw_put(&c, m->bytes, m->size);
    mcap_record(to, 5, &c);
    free(c.b);
}

/* Messages [from, to) as a chunk with its message indexes; its ChunkIndex goes to `indexes`. */
static inline void mcap_chunk(bw *out, bw *indexes, const bag_run *run, int from, int to, const mcap_options *o)
{
    bw raw = {0}, packed = {0}, c = {0}, index[BAG_TOPICS] = {{0}}, map = {0};
    uint64_t first = UINT64_MAX, last = 0;
    if (from == 0) mcap_channels(&raw, run, o, 1);
    for (int i = from; i < to; i++) {
        const bag_message *m = &run->message[i];
        bw_int(&index[m->topic], (uint64_t)m->log, 8);
        bw_int(&index[m->topic], raw.n, 8);
        mcap_message(&raw, m, i);
        first = (uint64_t)m->log < first ? (uint64_t)m->log : first;
        last = (uint64_t)m->log > last ? (uint64_t)m->log : last;
    }
    if (!bw_pack(&packed, raw.b, raw.n, o->codec)) bw_put(&packed, raw.b, raw.n);
    bw_int(&c, first, 8);
    bw_int(&c, last, 8);
    bw_int(&c, raw.n, 8);
    bw_int(&c, o->no_crc ? 0 : bw_crc(raw.b, raw.n), 4);
    bw_text(&c, o->codec);
    bw_int(&c, packed.n, 8);
    bw_put(&c, packed.b, packed.n);
    const uint64_t at = out->before + out->n;
    mcap_record(out, 6, &c);
    const uint64_t behind = out->before + out->n;
    for (int t = 0; t < BAG_TOPICS; t++) {
        if (!index[t].n || o->no_index) continue;
        bw_int(&map, (uint64_t)t + 40, 2);
        bw_int(&map, out->before + out->n, 8);
        c.n = 0;
        bw_int(&c, (uint64_t)t + 40, 2);
        bw_int(&c, index[t].n, 4);
        bw_put(&c, index[t].b, index[t].n);
        mcap_record(out, 7, &c);
    }
    c.n = 0;
    bw_int(&c, first, 8);
    bw_int(&c, last, 8);
    bw_int(&c, at, 8);
    bw_int(&c, behind - at, 8);
    bw_int(&c, map.n, 4);
    bw_put(&c, map.b, map.n);
    bw_int(&c, out->before + out->n - behind, 8);
    bw_text(&c, o->codec);
    bw_int(&c, packed.n, 8);
    bw_int(&c, raw.n, 8);
    mcap_record(indexes, 8, &c);
    for (int t = 0; t < BAG_TOPICS; t++) free(index[t].b);
    free(raw.b);
    free(packed.b);
    free(c.b);
    free(map.b);
}

static inline void mcap_statistics(bw *out, const bag_run *run, int chunks)
{
    bw c = {0};
    uint64_t count[BAG_TOPICS] = {0};
    for (int i = 0; i < run->messages; i++) count[run->message[i].topic]++;
    bw_int(&c, (uint64_t)run->messages, 8);
    bw_int(&c, BAG_TOPICS, 2);
    bw_int(&c, BAG_TOPICS, 4);
    bw_int(&c, 0, 4);
    bw_int(&c, 1, 4);
    bw_int(&c, (uint64_t)chunks, 4);
    bw_int(&c, 0, 8);
    bw_int(&c, 0, 8);
    bw_int(&c, 10 * BAG_TOPICS, 4);
    for (int t = 0; t < BAG_TOPICS; t++) {
        bw_int(&c, (uint64_t)t + 40, 2);
        bw_int(&c, count[t], 8);
    }
    mcap_record(out, 11, &c);
    free(c.b);
}

static const char BAG_MCAP_MAGIC[8] = {'\x89', 'M', 'C', 'A', 'P', '0', '\r', '\n'};

static inline void mcap_begin(bw *out, const bag_run *run)
{
    bw c = {0};
    bw_put(out, BAG_MCAP_MAGIC, 8);
    bw_text(&c, run->encoding == BAG_ROS1 ? "ros1" : "ros2");
    bw_text(&c, "");
    mcap_record(out, 1, &c);
    c.n = 0;
    bw_text(&c, "note");
    bw_int(&c, 0, 4);
    mcap_record(out, 12, &c); /* metadata, which readers skip */
    free(c.b);
}

/* From DataEnd on. */
static inline void mcap_end(bw *out, const bw *indexes, const bag_run *run, int chunks, const mcap_options *o)
{
    bw c = {0};
    bw_int(&c, o->data_crc ? bw_crc(out->b, out->n) : 0, 4);
    mcap_record(out, 15, &c);
    const size_t summary = out->n;
    if (!o->no_summary) {
        mcap_channels(out, run, o, !o->no_schemas);
        if (!o->no_statistics) mcap_statistics(out, run, chunks);
        bw_put(out, indexes->b, indexes->n);
    }
    const size_t footer = out->n;
    c.n = 0;
    bw_int(&c, o->no_summary ? 0 : out->before + summary, 8);
    bw_int(&c, 0, 8);
    bw_int(&c, 0, 4);
    mcap_record(out, 2, &c);
    if (!o->no_summary && !o->no_crc) bw_set(out, footer + 25, bw_crc(out->b + summary, footer + 25 - summary), 4);
    bw_put(out, BAG_MCAP_MAGIC, 8);
    free(c.b);
}

static inline bw mcap_write(const bag_run *run, const mcap_options *o)
{
    bw out = {0}, indexes = {0};
    int chunks = 0;
    mcap_begin(&out, run);
    if (!o->per_chunk) mcap_channels(&out, run, o, 1);
    for (int i = 0; i < run->messages && !o->per_chunk; i++) mcap_message(&out, &run->message[i], i);
    for (int i = 0; i < run->messages && o->per_chunk; i += o->per_chunk, chunks++)
        mcap_chunk(&out, &indexes, run, i, i + o->per_chunk < run->messages ? i + o->per_chunk : run->messages, o);
    mcap_end(&out, &indexes, run, chunks, o);
    free(indexes.b);
    return out;
}

/* ---- ROS 2 SQLite ---- */

#if COVTUNE_HAS_SQLITE3
typedef struct {
    int version;  /* of the schema: 1 to 4; from 4 on with definitions             */
    int zstd;     /* messages compressed one by one                                */
    int from, to; /* messages [from, to); 0, 0: all                                */
} sqlite_options;

static inline void sqlite_do(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        abort();
    }
}

static inline void sqlite_tables(sqlite3 *db, const sqlite_options *o)
{
    sqlite_do(db,
              "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, "
              "data BLOB NOT NULL); CREATE INDEX timestamp_idx ON messages (timestamp ASC)");
    sqlite_do(db, o->version == 1
                      ? "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
                        "serialization_format TEXT NOT NULL)"
                      : "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
                        "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)");
    if (o->version >= 3)
        sqlite_do(db, "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL)");
    if (o->version >= 4)
        sqlite_do(db,
                  "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT "
                  "NOT NULL, encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL)");
    for (int t = 0; t < BAG_TOPICS; t++) {
        char *sql = sqlite3_mprintf("INSERT INTO topics VALUES(%d, %Q, %Q, 'cdr'%s)", t + 1, BAG_TOPIC[t].topic,
                                    BAG_TOPIC[t].type2, o->version == 1 ? "" : ", ''");
        sqlite_do(db, sql);
        sqlite3_free(sql);
        if (o->version < 4) continue;
        sql = sqlite3_mprintf("INSERT INTO message_definitions VALUES(%d, %Q, 'ros2msg', %Q, '')", t + 1,
                              BAG_TOPIC[t].type2, BAG_TOPIC[t].text2);
        sqlite_do(db, sql);
        sqlite3_free(sql);
    }
}

static inline void sqlite_write(const bag_run *run, const sqlite_options *o, const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    remove(path);
    if (sqlite3_open(path, &db) != SQLITE_OK) abort();
    sqlite_do(db, "PRAGMA page_size=512; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
    sqlite_tables(db, o);
    if (sqlite3_prepare_v2(db, "INSERT INTO messages(topic_id, timestamp, data) VALUES(?1, ?2, ?3)", -1, &s, NULL))
        abort();
    for (int i = o->from; i < (o->to ? o->to : run->messages); i++) {
        const bag_message *m = &run->message[i];
        bw packed = {0};
        if (!bw_pack(&packed, m->bytes, m->size, o->zstd ? "zstd" : "")) abort();
        sqlite3_bind_int(s, 1, m->topic + 1);
        sqlite3_bind_int64(s, 2, m->log);
        sqlite3_bind_blob(s, 3, packed.b, (int)packed.n, SQLITE_TRANSIENT);
        if (sqlite3_step(s) != SQLITE_DONE) abort();
        sqlite3_reset(s);
        free(packed.b);
    }
    sqlite3_finalize(s);
    sqlite_do(db, "COMMIT");
    sqlite3_close(db);
}
#endif

#endif
