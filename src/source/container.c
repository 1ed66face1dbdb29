/* container.c: connections of a bag's file. */
#include "source/bag.h"

ct_status ct__container_open(const char *path, const char *file, const ct__container_ops *ops, ct__depth depth,
                             ct__container **out, ct_err *err)
{
    ct__container *c = ct__zalloc(1, sizeof *c);
    *out = NULL;
    if (!c) return ct__no_memory(err, "a bag", 1);
    c->ops = ops;
    ct_status status = ct__bag_file_open(&c->in, path, file, err);
    if (status == CT_OK) status = ops->open(c, depth, err);
    if (status != CT_OK) {
        ct__container_free(c);
        return status;
    }
    *out = c;
    return CT_OK;
}

void ct__connection_clear(ct__connection *connection)
{
    free(connection->topic);
    free(connection->type);
    free(connection->encoding);
    free(connection->schema);
    free(connection->definition);
}

void ct__container_free(ct__container *c)
{
    if (!c) return;
    c->ops->close(c);
    for (int64_t i = 0; i < c->connections; i++) ct__connection_clear(&c->connection[i]);
    free(c->connection);
    free(c->by_id);
    ct__bag_file_close(&c->in);
    free(c);
}

ct__connection *ct__container_find(const ct__container *c, uint32_t id)
{
    return id < c->ids && c->by_id[id] ? &c->connection[c->by_id[id] - 1] : NULL;
}

char *ct__printable(char *text)
{
    for (char *c = text; c && *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    return text;
}

static char *copy(const char *text) { return ct__printable(ct__strdup(text ? text : "")); }

ct_status ct__connection_copy(const ct__connection *given, ct__connection *own, ct_err *err)
{
    *own = *given;
    own->topic = copy(given->topic);
    own->type = copy(given->type);
    own->encoding = copy(given->encoding);
    own->schema = copy(given->schema);
    own->definition = ct__zalloc((int64_t)given->definition_size + 1, 1);
    if (!own->topic || !own->type || !own->encoding || !own->schema || !own->definition) {
        ct__connection_clear(own);
        return ct__no_memory(err, "connections", 1);
    }
    if (given->definition_size) memcpy(own->definition, given->definition, given->definition_size);
    return CT_OK;
}

ct_status ct__container_take_text(ct__container *c, size_t size, ct_err *err)
{
    c->texts += (int64_t)size;
    if (c->texts <= CT__TEXTS_MAX) return CT_OK;
    return ct_fail(err, CT_E_LIMIT, "%s: the definitions of its connections have more than %lld MB", c->in.path,
                   (long long)(CT__TEXTS_MAX >> 20));
}

ct_status ct__container_add(ct__container *c, const ct__connection *given, ct_err *err)
{
    if (given->id >= CT__ID_MAX)
        return ct_fail(err, CT_E_LIMIT, "%s: connection %u of topic %s has a number beyond %u", c->in.path, given->id,
                       given->topic ? given->topic : "", CT__ID_MAX);
    if (ct__container_find(c, given->id)) return CT_OK;
    if (c->connections >= CT__CONNECTIONS_MAX)
        return ct_fail(err, CT_E_LIMIT, "%s: has more than %d connections", c->in.path, CT__CONNECTIONS_MAX);
    CT_TRY(ct__container_take_text(c, given->definition_size, err));
    const int64_t before = c->ids;
    CT_TRY(ct__grow(&c->by_id, &c->ids, (int64_t)given->id + 1, sizeof *c->by_id, "connections", err));
    if (c->ids > before) memset(c->by_id + before, 0, (size_t)(c->ids - before) * sizeof *c->by_id);
    CT_TRY(ct__grow(&c->connection, &c->capacity, c->connections + 1, sizeof *c->connection, "connections", err));
    ct__connection own;
    CT_TRY(ct__connection_copy(given, &own, err));
    own.first = INT64_MAX;
    own.last = INT64_MIN;
    own.count = 0;
    c->connection[c->connections++] = own;
    c->by_id[given->id] = (int32_t)c->connections;
    return CT_OK;
}

void ct__connection_count(ct__connection *connection, ct_ns stamp)
{
    connection->count++;
    if (stamp < connection->first) connection->first = stamp;
    if (stamp > connection->last) connection->last = stamp;
}
