/* bag_reader.c: the messages of a topic as records of a source.
 *
 * Each connection of the topic has its own definition, and so its own plan; fields that one of them lacks are missing
 * in its messages. "log_time" is the time of recording, where the message has no field of this name. */
#include "source/bag.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct {
    ct__definition *definition;
    ct__plan *plan;
    ct__json_plan *json;
} decoder;

typedef struct {
    ct__bag *bag;
    char *topic, *each;
    decoder *decoder; /* of each connection of the bag; those not wanted are empty */
    ct__fields fields;
    char **name; /* of each slot */
    int64_t names, name_capacity;
    ct__value *value;
    int64_t value_capacity;
    int32_t log_slot[2]; /* of the time of recording, as "log_time" and as "^.log_time"; -1: not wanted */
    int64_t number;      /* of the message                          */
    ct__message message;
    int peeked;       /* 1: the first message was read to list its fields */
    decoder *current; /* of the message; NULL: it has no more records */
} reader;

static const char LOG_TIME[] = "log_time";

/* ---- Topics ---- */

static const char *topic_at(const void *list, int i)
{
    const ct__bag *bag = list;
    return i < bag->connections ? bag->connection[i].topic : NULL;
}

/* The names of the topics, for messages. */
static const char *list_topics(const ct__bag *bag, char *buf, size_t size)
{
    size_t used = 0;
    int64_t shown = 0;
    snprintf(buf, size, "none");
    for (int64_t i = 0; i < bag->connections; i++) {
        int again = 0;
        for (int64_t k = 0; k < i; k++) again |= !strcmp(bag->connection[k].topic, bag->connection[i].topic);
        if (again) continue;
        if (shown == 12 || used + 60 > size) {
            snprintf(buf + used, size - used, ", ...");
            break;
        }
        used += (size_t)snprintf(buf + used, size - used, "%s%.40s", shown++ ? ", " : "", bag->connection[i].topic);
        used = CT_MIN(used, size - 1);
    }
    return buf;
}

/* Mark the connections of the topic; of NULL those of the only one. */
static ct_status choose_topic(reader *r, const char *topic, ct_err *err)
{
    ct__bag *bag = r->bag;
    char names[320];
    if (!bag->connections) return ct_fail(err, CT_E_EMPTY, "%s: the bag has no topics", bag->path);
    if (!topic || !*topic) {
        topic = bag->connection[0].topic;
        for (int64_t i = 1; i < bag->connections; i++)
            if (strcmp(bag->connection[i].topic, topic) != 0)
                return ct_fail(err, CT_E_ARGUMENT,
                               "%s: the bag has several topics, and none is named: topic is one of %s", bag->path,
                               list_topics(bag, names, sizeof names));
    }
    int64_t wanted = 0;
    for (int64_t i = 0; i < bag->connections; i++)
        wanted += bag->connection[i].wanted = !strcmp(bag->connection[i].topic, topic);
    if (!wanted) {
        const char *near = ct_nearest(topic, topic_at, bag);
        if (near)
            return ct_fail(err, CT_E_ARGUMENT, "%s: there is no topic %.80s; is it %.80s?", bag->path, topic, near);
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no topic %.80s; there are %s", bag->path, topic,
                       list_topics(bag, names, sizeof names));
    }
    r->topic = ct__strdup(topic);
    return r->topic ? CT_OK : ct__no_memory(err, "topics", 1);
}

/* ---- Decoders ---- */

static ct_status make_decoder(const reader *r, const ct__connection *c, decoder *d, ct_err *err)
{
    char shown[CT__SHOW_MAX], schema[CT__SHOW_MAX];
    if (!strcmp(c->encoding, "json")) return ct__json_plan_new(r->each, &d->json, err);
    const int ros1 = !strcmp(c->encoding, "ros1") && !strcmp(c->schema, "ros1msg");
    const int ros2 =
        !strcmp(c->encoding, "cdr") && (!strcmp(c->schema, "ros2msg") || !strcmp(c->schema, "ros2idl") || !*c->schema);
    if (!ros1 && !ros2)
        return ct_fail(err, CT_E_UNSUPPORTED,
                       "its messages are encoded as %s with definitions as %s; decoded are ros1 with ros1msg, cdr with "
                       "ros2msg or ros2idl, and json",
                       ct__show(c->encoding, strlen(c->encoding), shown),
                       ct__show(c->schema, strlen(c->schema), schema));
    CT_TRY(ct__definition_new(c->type, c->schema, c->definition, c->definition_size, &d->definition, err));
    return ct__plan_new(d->definition, r->each, &d->plan, err);
}

/* Put the topic before the sentence. */
static ct_status at_topic(const reader *r, ct_status status, const ct_err *why, ct_err *err)
{
    if (status == CT_OK) return CT_OK;
    if (status == CT_E_MEMORY) return ct_fail(err, status, "%s", why->text);
    return ct_fail(err, status, "%s: topic %s: %s", r->bag->path, r->topic, why->text);
}

static ct_status add_field_once(reader *r, const char *name, const char *type, ct_err *err)
{
    for (int64_t i = 0; i < r->fields.count; i++)
        if (!strcmp(r->fields.field[i].name, name)) return CT_OK;
    return ct__fields_add(&r->fields, name, type, err);
}

/* Read the first message of a topic in JSON: it has the only list of its fields. */
static ct_status peek(reader *r, ct_err *err)
{
    int more;
    CT_TRY(ct__bag_select(r->bag, err));
    CT_TRY(ct__bag_next(r->bag, &r->message, &more, err));
    r->peeked = 1;
    if (!more) {
        r->message.connection = -1;
        return CT_OK;
    }
    const decoder *d = &r->decoder[r->message.connection];
    ct_err why = {0};
    if (!d->json) return CT_OK;
    ct_status status = ct__json_plan_begin(d->json, r->message.bytes, (size_t)r->message.size, NULL, 0, &why);
    if (status == CT_OK) status = ct__json_plan_fields(d->json, &r->fields, &why);
    return at_topic(r, status, &why, err);
}

static ct_status make_decoders(reader *r, ct_err *err)
{
    int json = 0, listed = 0;
    r->decoder = ct__zalloc(r->bag->connections, sizeof *r->decoder);
    if (!r->decoder) return ct__no_memory(err, "connections", r->bag->connections);
    for (int64_t i = 0; i < r->bag->connections; i++) {
        decoder *d = &r->decoder[i];
        ct_err why = {0};
        if (!r->bag->connection[i].wanted) continue;
        CT_TRY(at_topic(r, make_decoder(r, &r->bag->connection[i], d, &why), &why, err));
        json |= d->json != NULL;
        if (d->json || listed) continue;
        CT_TRY(ct__definition_fields(d->definition, ct__plan_each(d->plan), &r->fields, err));
        listed = 1;
    }
    if (json) CT_TRY(peek(r, err));
    return add_field_once(r, LOG_TIME, "time", err);
}

/* ---- The reader ---- */

static void reader_free(void *user)
{
    reader *r = user;
    if (!r) return;
    for (int64_t i = 0; r->decoder && i < r->bag->connections; i++) {
        ct__plan_free(r->decoder[i].plan);
        ct__json_plan_free(r->decoder[i].json);
        ct__definition_free(r->decoder[i].definition);
    }
    for (int64_t i = 0; i < r->names; i++) free(r->name[i]);
    free(r->decoder);
    free(r->name);
    free(r->value);
    free(r->topic);
    free(r->each);
    ct__fields_free(&r->fields);
    ct__bag_close(r->bag);
    free(r);
}

static ct_status reader_open(const char *path, ct_source_format format, const ct_source_options *options, void **out,
                             ct_err *err)
{
    reader *r = ct__zalloc(1, sizeof *r);
    ct_status status = CT_OK;
    *out = NULL;
    if (!r || (options->each && !(r->each = ct__strdup(options->each)))) {
        free(r);
        return ct__no_memory(err, "a bag", 1);
    }
    r->log_slot[0] = r->log_slot[1] = -1;
    status = ct__bag_open(path, format, CT__NAMES, &r->bag, err);
    if (status == CT_OK) status = choose_topic(r, options->topic, err);
    if (status == CT_OK) status = make_decoders(r, err);
    if (status == CT_OK && !r->peeked) status = ct__bag_select(r->bag, err);
    if (status != CT_OK) {
        reader_free(r);
        return status;
    }
    *out = r;
    return CT_OK;
}

static const ct_source_field *reader_field(const void *user, int32_t i)
{
    const reader *r = user;
    return i >= 0 && i < r->fields.count ? &r->fields.field[i] : NULL;
}

static int is_log_time(const reader *r, const char *name)
{
    if (name[0] == '^' && name[1] == '.') name += 2;
    if (strcmp(name, LOG_TIME) != 0) return 0;
    for (int64_t i = 0; i < r->bag->connections; i++)
        if (r->decoder[i].plan && ct__plan_base(r->decoder[i].plan, name) != CT__STRUCT) return 0;
    return strcmp(r->fields.field[r->fields.count - 1].name, LOG_TIME) == 0;
}

/* The type of a field of JSON messages, as the first one has it. */
static const char *json_type(const reader *r, const char *name)
{
    for (int64_t i = 0; i < r->fields.count; i++)
        if (!strcmp(r->fields.field[i].name, name)) return r->fields.field[i].type;
    return "";
}

static int reader_is_text(const void *user, const char *name)
{
    const reader *r = user;
    for (int64_t i = 0; i < r->bag->connections; i++) {
        if (r->decoder[i].plan && ct__plan_base(r->decoder[i].plan, name) == CT__TEXT) return 1;
        if (r->decoder[i].json && !strcmp(json_type(r, name), "string")) return 1;
    }
    return 0;
}

/* Bind a name in all decoders; *found <- 1 if one of them has it. JSON messages may have any. */
static ct_status bind_all(reader *r, const char *name, int32_t slot, int *found, ct_err *err)
{
    *found = 0;
    for (int64_t i = 0; i < r->bag->connections; i++) {
        decoder *d = &r->decoder[i];
        ct_err why = {0};
        int here = d->json != NULL;
        if (d->plan) CT_TRY(at_topic(r, ct__plan_bind(d->plan, name, slot, &here, &why), &why, err));
        if (d->json) CT_TRY(ct__json_plan_bind(d->json, name, slot, err));
        *found |= here;
    }
    return CT_OK;
}

static ct_status reader_bind(void *user, const char *name, ct__as as, int32_t *slot, ct_err *err)
{
    reader *r = user;
    int found = 1;
    (void)as;
    *slot = -1;
    for (int64_t i = 0; i < r->names; i++)
        if (!strcmp(r->name[i], name)) {
            *slot = (int32_t)i;
            return CT_OK;
        }
    CT_TRY(ct__grow(&r->name, &r->name_capacity, r->names + 1, sizeof *r->name, "fields", err));
    CT_TRY(ct__grow(&r->value, &r->value_capacity, r->names + 1, sizeof *r->value, "fields", err));
    if (is_log_time(r, name))
        r->log_slot[*name == '^'] = (int32_t)r->names;
    else
        CT_TRY(bind_all(r, name, (int32_t)r->names, &found, err));
    if (!found) return CT_OK;
    r->name[r->names] = ct__strdup(name);
    if (!r->name[r->names]) return ct__no_memory(err, "fields", r->names);
    *slot = (int32_t)r->names++;
    return CT_OK;
}

static ct_status reader_bind_stamp(void *user, int32_t *slot, int *digits, ct_err *err)
{
    reader *r = user;
    *digits = 0;
    static const char *const NAMES[] = {"header.stamp", "^.header.stamp"};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < r->bag->connections; i++) {
            const decoder *d = &r->decoder[i];
            const ct__base base = d->plan ? ct__plan_base(d->plan, NAMES[k]) : CT__STRUCT;
            if ((base >= CT__TIME && base <= CT__TIME_SIGNED) || (d->json && !strcmp(json_type(r, NAMES[k]), "time")))
                return reader_bind(r, NAMES[k], CT__AS_STAMP, slot, err);
        }
    return reader_bind(r, LOG_TIME, CT__AS_STAMP, slot, err);
}

static void reader_where(const void *user, char *buf, size_t size)
{
    const reader *r = user;
    snprintf(buf, size, "%s: %s, message %" PRId64, r->bag->path, r->topic, r->number);
}

static ct_status at_message(const reader *r, ct_status status, const ct_err *why, ct_err *err)
{
    char where[256];
    if (status == CT_OK) return CT_OK;
    reader_where(r, where, sizeof where);
    return ct_fail(err, status, "%s: %s", where, why->text);
}

/* The next message that is decoded by one of ours. */
static ct_status next_message(reader *r, int *more, ct_err *err)
{
    ct_err why = {0};
    *more = 1;
    if (!r->peeked)
        CT_TRY(ct__bag_next(r->bag, &r->message, more, err));
    else
        *more = r->message.connection >= 0;
    r->peeked = 0;
    if (!*more) return CT_OK;
    r->number++;
    decoder *d = &r->decoder[r->message.connection];
    const int32_t slots = (int32_t)r->names;
    const ct_status status =
        d->json ? ct__json_plan_begin(d->json, r->message.bytes, (size_t)r->message.size, r->value, slots, &why)
                : ct__plan_begin(d->plan, r->message.bytes, (size_t)r->message.size, r->value, slots, &why);
    for (int i = 0; i < 2 && status == CT_OK; i++)
        if (r->log_slot[i] >= 0)
            r->value[r->log_slot[i]] = (ct__value){.kind = CT__VALUE_TIME, .integer = r->message.stamp};
    r->current = d;
    return at_message(r, status, &why, err);
}

static ct_status reader_next(void *user, const ct__value **value, int64_t *line, int *more, ct_err *err)
{
    reader *r = user;
    for (;;) {
        ct_err why = {0};
        if (!r->current) {
            CT_TRY(next_message(r, more, err));
            if (!*more) return CT_OK;
        }
        CT_TRY(at_message(r,
                          r->current->json ? ct__json_plan_next(r->current->json, r->value, more, &why)
                                           : ct__plan_next(r->current->plan, r->value, more, &why),
                          &why, err));
        if (*more) break;
        r->current = NULL;
    }
    *value = r->value;
    *line = r->number;
    return CT_OK;
}

static int64_t reader_damaged(const void *user) { return ((const reader *)user)->bag->damaged; }

static void reader_progress(const void *user, int64_t *bytes, int64_t *size)
{
    const reader *r = user;
    *bytes = ct__bag_progress(r->bag);
    *size = r->bag->size;
}

const ct__reader_ops ct__bag_reader = {
    .typed = 1,
    .detect = ct__bag_detect,
    .open = reader_open,
    .free = reader_free,
    .field = reader_field,
    .is_text = reader_is_text,
    .bind = reader_bind,
    .bind_stamp = reader_bind_stamp,
    .next = reader_next,
    .where = reader_where,
    .progress = reader_progress,
    .damaged = reader_damaged,
};
