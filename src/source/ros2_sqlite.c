/* ros2_sqlite.c: ROS 2 bags in SQLite (.db3), of schema versions 1 to 4.
 *
 * Tables: topics (id, name, type, serialization_format), messages (id, topic_id, timestamp in ns, data), and from
 * version 4 on message_definitions (topic_type, encoding, encoded_message_definition). The file is opened read-only,
 * as unchangeable unless a recorder left a write-ahead log. SQLite sorts by its index of timestamps, or in temporary
 * files. */
#include "source/bag.h"

#include <stdio.h>

#if COVTUNE_HAS_SQLITE3
#include "base/text.h"

#include <sqlite3.h>
#include <sys/stat.h>

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *messages;
    int ready;     /* 1: a row was read and not given yet */
    int64_t bytes; /* of the messages given              */
} sqlite_bag;

static ct_status refuse(const ct__container *c, ct_err *err)
{
    const sqlite_bag *own = c->own;
    const int code = own->db ? sqlite3_errcode(own->db) : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM) return ct__no_memory(err, "SQLite", 1);
    return ct_fail(err, code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? CT_E_IO : CT_E_PARSE, "%s: SQLite says: %s",
                   c->in.path, sqlite3_errmsg(own->db));
}

/* "file:PATH?mode=ro&immutable=1", PATH with escapes. */
static ct_status open_database(ct__container *c, ct_err *err)
{
    sqlite_bag *own = c->own;
    ct__text uri = {0};
    char *log = NULL;
    ct__text_printf(&uri, "%s-wal", c->in.file);
    CT_TRY(ct__text_take(&uri, &log, err));
    struct stat entry;
    const int logged = stat(log, &entry) == 0 && entry.st_size > 0;
    free(log);
    ct__text_put(&uri, "file:");
    for (const char *s = c->in.file; *s; s++) {
        if (strchr("%?#", *s))
            ct__text_printf(&uri, "%%%02x", (unsigned char)*s);
        else
            ct__text_bytes(&uri, s, 1);
    }
    ct__text_put(&uri, logged ? "?mode=ro" : "?mode=ro&immutable=1");
    if (uri.failed) {
        ct__text_free(&uri);
        return ct__no_memory(err, "paths", 1);
    }
    const int code =
        sqlite3_open_v2(uri.bytes, &own->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    ct__text_free(&uri);
    if (code != SQLITE_OK) return refuse(c, err);
    sqlite3_limit(own->db, SQLITE_LIMIT_LENGTH, (int)CT__HELD_MAX);
    sqlite3_exec(own->db, "PRAGMA trusted_schema=OFF", NULL, NULL, NULL);
    return CT_OK;
}

static ct_status prepare(const ct__container *c, const char *query, sqlite3_stmt **out, ct_err *err)
{
    const sqlite_bag *own = c->own;
    return sqlite3_prepare_v2(own->db, query, -1, out, NULL) == SQLITE_OK ? CT_OK : refuse(c, err);
}

/* *row <- 1: there is a row. */
static ct_status step(const ct__container *c, sqlite3_stmt *statement, int *row, ct_err *err)
{
    const int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? CT_OK : refuse(c, err);
}

/* Is there a table, no view, of this name? */
static ct_status has_table(const ct__container *c, const char *name, int *found, ct_err *err)
{
    sqlite3_stmt *s = NULL;
    CT_TRY(prepare(c, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND sql NOT LIKE '%virtual%'", &s,
                   err));
    sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    const ct_status status = step(c, s, found, err);
    sqlite3_finalize(s);
    return status;
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    return text ? (const char *)text : "";
}

/* ---- Topics ---- */

static ct_status add_topics(ct__container *c, int definitions, ct_err *err)
{
    sqlite3_stmt *s = NULL;
    ct_status status =
        prepare(c,
                definitions ? "SELECT t.id, t.name, t.type, t.serialization_format, d.encoding, "
                              "d.encoded_message_definition FROM topics t LEFT JOIN message_definitions d ON d.id = "
                              "(SELECT min(id) FROM message_definitions WHERE topic_type = t.type) ORDER BY t.id"
                            : "SELECT id, name, type, serialization_format, '', '' FROM topics ORDER BY id",
                &s, err);
    int row = 1;
    while (status == CT_OK && (status = step(c, s, &row, err)) == CT_OK && row) {
        const int64_t id = sqlite3_column_int64(s, 0);
        if (id < 0 || id >= CT__ID_MAX) {
            status = ct_fail(err, CT_E_LIMIT, "%s: topic %s has the number %lld, beyond %u", c->in.path, text_at(s, 1),
                             (long long)id, CT__ID_MAX);
            break;
        }
        const char *encoding = text_at(s, 4), *text = text_at(s, 5);
        if (!*text || (strcmp(encoding, "ros2msg") != 0 && strcmp(encoding, "ros2idl") != 0)) encoding = text = "";
        status = ct__container_add(c,
                                   &(ct__connection){.id = (uint32_t)id,
                                                     .topic = (char *)(uintptr_t)text_at(s, 1),
                                                     .type = (char *)(uintptr_t)text_at(s, 2),
                                                     .encoding = (char *)(uintptr_t)text_at(s, 3),
                                                     .schema = (char *)(uintptr_t)encoding,
                                                     .definition = (char *)(uintptr_t)text,
                                                     .definition_size = strlen(text)},
                                   err);
    }
    sqlite3_finalize(s);
    return status;
}

static ct_status count_messages(ct__container *c, ct_err *err)
{
    sqlite3_stmt *s = NULL;
    int row = 1;
    ct_status status = prepare(c,
                               "SELECT topic_id, count(*), min(timestamp), max(timestamp) FROM messages GROUP BY "
                               "topic_id",
                               &s, err);
    while (status == CT_OK && (status = step(c, s, &row, err)) == CT_OK && row) {
        const int64_t id = sqlite3_column_int64(s, 0);
        ct__connection *connection = id >= 0 && id < CT__ID_MAX ? ct__container_find(c, (uint32_t)id) : NULL;
        if (!connection) continue;
        connection->count = sqlite3_column_int64(s, 1);
        connection->first = sqlite3_column_int64(s, 2);
        connection->last = sqlite3_column_int64(s, 3);
    }
    sqlite3_finalize(s);
    return status;
}

static ct_status sqlite_open(ct__container *c, ct__depth depth, ct_err *err)
{
    sqlite_bag *own = c->own = ct__zalloc(1, sizeof *own);
    int topics, messages, definitions;
    if (!own) return ct__no_memory(err, "a bag", 1);
    CT_TRY(open_database(c, err));
    CT_TRY(has_table(c, "topics", &topics, err));
    CT_TRY(has_table(c, "messages", &messages, err));
    CT_TRY(has_table(c, "message_definitions", &definitions, err));
    if (!topics || !messages)
        return ct_fail(err, CT_E_PARSE, "%s: is an SQLite file without the tables topics and messages of a ROS 2 bag",
                       c->in.path);
    c->codecs = 1u << CT__STORED;
    CT_TRY(add_topics(c, definitions, err));
    return depth != CT__NAMES ? count_messages(c, err) : CT_OK;
}

/* ---- Messages ---- */

static ct_status sqlite_select(ct__container *c, ct_ns *start, ct_err *err)
{
    sqlite_bag *own = c->own;
    ct__text query = {0};
    const char *comma = "";
    sqlite3_finalize(own->messages);
    own->messages = NULL;
    ct__text_put(&query, "SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN (");
    for (int64_t i = 0; i < c->connections; i++) {
        if (!c->connection[i].wanted) continue;
        ct__text_printf(&query, "%s%u", comma, c->connection[i].id);
        comma = ", ";
    }
    ct__text_put(&query, ") ORDER BY timestamp, id");
    ct_status status = query.failed ? ct__no_memory(err, "SQLite", 1) : prepare(c, query.bytes, &own->messages, err);
    ct__text_free(&query);
    CT_TRY(status);
    CT_TRY(step(c, own->messages, &own->ready, err));
    *start = own->ready ? sqlite3_column_int64(own->messages, 1) : INT64_MAX;
    if (own->ready && *start == INT64_MAX) *start = INT64_MAX - 1;
    return CT_OK;
}

static ct_status sqlite_next(ct__container *c, ct__message *message, int *more, ct_err *err)
{
    sqlite_bag *own = c->own;
    if (!own->ready) CT_TRY(step(c, own->messages, &own->ready, err));
    *more = own->ready;
    own->ready = 0;
    if (!*more) return CT_OK;
    const ct__connection *connection = ct__container_find(c, (uint32_t)sqlite3_column_int64(own->messages, 0));
    const void *data = sqlite3_column_blob(own->messages, 2);
    *message = (ct__message){.stamp = sqlite3_column_int64(own->messages, 1),
                             .connection = (int32_t)(connection - c->connection),
                             .bytes = data ? data : "",
                             .size = sqlite3_column_bytes(own->messages, 2)};
    if (!data && message->size) return ct__no_memory(err, "SQLite", 1);
    own->bytes += message->size;
    return CT_OK;
}

static double sqlite_progress(const ct__container *c)
{
    const sqlite_bag *own = c->own;
    return c->in.size ? CT_MIN(1.0, (double)own->bytes / (double)c->in.size) : 1;
}

static void sqlite_close(ct__container *c)
{
    sqlite_bag *own = c->own;
    if (!own) return;
    sqlite3_finalize(own->messages);
    sqlite3_close_v2(own->db);
    free(own);
}

#else

static ct_status sqlite_open(ct__container *c, ct__depth depth, ct_err *err)
{
    (void)depth;
    return ct_fail(err, CT_E_UNSUPPORTED, "%s: is a ROS 2 bag in SQLite, and covtune was built without that library",
                   c->in.path);
}
static ct_status sqlite_select(ct__container *c, ct_ns *start, ct_err *err)
{
    (void)start;
    return sqlite_open(c, 0, err);
}
static ct_status sqlite_next(ct__container *c, ct__message *message, int *more, ct_err *err)
{
    (void)message;
    *more = 0;
    return sqlite_open(c, 0, err);
}
static double sqlite_progress(const ct__container *c)
{
    (void)c;
    return 1;
}
static void sqlite_close(ct__container *c) { (void)c; }

#endif

const ct__container_ops ct__sqlite_ops = {sqlite_open, sqlite_select, sqlite_next, sqlite_progress, sqlite_close};
