/* bag.c: covtune info of a bag: its topics, or the fields of one. */
#define _POSIX_C_SOURCE 200809L
#include "cli/info/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A time in s with all its digits: "1714741164.196592603". */
static const char *seconds(ct_ns t, char buf[32])
{
    const long long whole = t / 1000000000, rest = t % 1000000000;
    snprintf(buf, 32, "%s%lld.%09lld", t < 0 && !whole ? "-" : "", whole, rest < 0 ? -rest : rest);
    return buf;
}

/* " (2024-05-03 12:59:24 UTC)" if the clock counts from 1970, by the look of it; else "". */
static const char *date(ct_ns t, char buf[40])
{
    const time_t s = (time_t)(t / 1000000000);
    struct tm utc;
    buf[0] = 0;
    if (s > 631152000 && gmtime_r(&s, &utc)) strftime(buf, 40, " (%Y-%m-%d %H:%M:%S UTC)", &utc); /* after 1990 */
    return buf;
}

static double rate(const ct_bag_topic *t)
{
    return t->count > 1 && t->last > t->first ? (double)(t->count - 1) / ((double)(t->last - t->first) * 1e-9) : 0;
}

static void span(const ct_bag *bag, ct_ns *first, ct_ns *last)
{
    *first = INT64_MAX;
    *last = INT64_MIN;
    for (int32_t i = 0; i < bag->topics; i++) {
        if (bag->topic[i].first < *first) *first = bag->topic[i].first;
        if (bag->topic[i].last > *last) *last = bag->topic[i].last;
    }
}

/* ---- Topics ---- */

static void print_topics_json(const char *path, const ct_bag *bag)
{
    json_t *o = cli_object(), *topics = cli_array();
    for (int32_t i = 0; i < bag->topics; i++) {
        const ct_bag_topic *t = &bag->topic[i];
        json_t *row = cli_object();
        cli_put(row, "name", cli_text(t->name));
        cli_put(row, "type", cli_text(t->type));
        cli_put(row, "encoding", cli_text(t->encoding));
        cli_put(row, "messages", cli_integer(t->count));
        cli_put(row, "first_ns", t->count ? cli_integer(t->first) : cli_text(NULL));
        cli_put(row, "last_ns", t->count ? cli_integer(t->last) : cli_text(NULL));
        cli_put(row, "has_definition", cli_check_alloc(json_boolean(t->definition != NULL)));
        cli_append(topics, row);
    }
    cli_put(o, "bag", cli_text(path));
    cli_put(o, "format", cli_text(ct_source_format_name(bag->format)));
    cli_put(o, "compression", cli_text(bag->compression));
    cli_put(o, "messages", cli_integer(bag->messages));
    cli_put(o, "damaged_bytes", cli_integer(bag->damaged));
    cli_put(o, "topics", topics);
    cli_print_json(o);
}

static ct_status print_topics(const char *path, const ct_bag *bag, ct_err *err)
{
    char a[32], b[40];
    ct_ns first, last;
    ct_table *table = NULL;
    span(bag, &first, &last);
    cli_row("bag", "%s (%s%s%s)", path, ct_source_format_name(bag->format),
            strcmp(bag->compression, "none") ? ", compressed: " : "",
            strcmp(bag->compression, "none") ? bag->compression : "");
    cli_row("messages", "%lld of %d topic%s", (long long)bag->messages, bag->topics, CLI_S(bag->topics));
    if (first <= last) {
        cli_row("recorded", "from %s s%s", seconds(first, a), date(first, b));
        cli_row("", "for %s s", seconds(last - first, a));
    }
    if (bag->damaged)
        cli_row("damaged", "%lld byte%s at the end are no whole record: the recording was cut short",
                (long long)bag->damaged, CLI_S(bag->damaged));
    ct_status status = ct_table_new(NULL, &table, err);
    if (status != CT_OK) return status;
    ct_table_column(table, "topic", "topic", "", 0);
    ct_table_column(table, "messages", "messages", "", 10);
    ct_table_column(table, "rate", "rate", "Hz", 4);
    ct_table_column(table, "type", "type", "", 0);
    ct_table_column(table, "encoding", "encoding", "", 0);
    ct_table_column(table, "first", "first", "s", 0);
    ct_table_column(table, "last", "last", "s", 0);
    for (int32_t i = 0; i < bag->topics; i++) {
        const ct_bag_topic *t = &bag->topic[i];
        ct_table_row(table, 0);
        ct_table_text(table, "%s", t->name);
        ct_table_number(table, (double)t->count);
        ct_table_number(table, rate(t) > 0 ? rate(t) : NAN);
        ct_table_text(table, "%s", t->type);
        ct_table_text(table, "%s", t->encoding);
        ct_table_text(table, "%s", t->count ? seconds(t->first, a) : "");
        ct_table_text(table, "%s", t->count ? seconds(t->last, a) : "");
    }
    printf("\n");
    status = ct_table_print(table, CT_TABLE_TEXT, cli_result_width(), stdout, err);
    ct_table_free(table);
    return status;
}

/* ---- Fields ---- */

#define SHOWN 4 /* elements of an array that are asked for; one less is shown */

typedef struct {
    const ct_source_field *field;
    int elements; /* 1, or SHOWN */
    int32_t at[SHOWN];
} shown_field;

/* The name by which a value is selected: of arrays of structs the first element's; of an array of values element k.
 * Quoted, because names of JSON fields may have any characters. */
static char *selectable(const char *name, int k)
{
    const size_t n = strlen(name);
    char *out = cli_alloc((int64_t)(3 * n) + 16, 1);
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const int array = name[i] == '[' && name[i + 1] == ']';
        if (array)
            used += (size_t)sprintf(out + used, "[%d]", i + 2 == n ? k : 0);
        else
            out[used++] = name[i];
        i += (size_t)array;
    }
    return out;
}

static int is_array(const char *name)
{
    const size_t n = strlen(name);
    return n > 2 && !strcmp(name + n - 2, "[]");
}

/* Fields that cannot be shown (arrays of structs by themselves, wide text) have no value. */
static ct_status select_field(ct_source *source, shown_field *f, ct_err *err)
{
    f->elements = is_array(f->field->name) ? SHOWN : 1;
    for (int k = 0; k < SHOWN; k++) {
        f->at[k] = -1;
        if (k >= f->elements) continue;
        char *name = selectable(f->field->name, k);
        const ct_status status = ct_source_select_text(source, name, &f->at[k], err);
        free(name);
        if (status == CT_E_MEMORY) return status;
        if (status != CT_OK) f->at[k] = -1;
    }
    return CT_OK;
}

/* "1.5", or "0.1 0.2 0.3 ..." of an array. The caller frees it. */
static char *value_of(const ct_record *record, const shown_field *f)
{
    cli_buffer text = {0};
    for (int k = 0; k < f->elements; k++) {
        const char *value = f->at[k] >= 0 ? record->text[f->at[k]] : "";
        if (!*value) break;
        cli_buffer_printf(&text, "%s%s", k ? " " : "", k == SHOWN - 1 ? "..." : value);
    }
    return cli_buffer_text(&text);
}

static void print_fields_json(const char *path, const char *topic, const char *each, const ct_record *record,
                              int32_t count, const shown_field *f)
{
    json_t *o = cli_object(), *list = cli_array();
    for (int32_t i = 0; i < count; i++) {
        json_t *row = cli_object();
        char *value = record ? value_of(record, &f[i]) : NULL;
        cli_put(row, "name", cli_text(f[i].field->name));
        cli_put(row, "type", cli_text(f[i].field->type));
        cli_put(row, "first", cli_text(value));
        cli_append(list, row);
        free(value);
    }
    cli_put(o, "bag", cli_text(path));
    cli_put(o, "topic", cli_text(topic));
    cli_put(o, "each", cli_text(each));
    cli_put(o, "stamp_ns", record ? cli_integer(record->stamp) : cli_text(NULL));
    cli_put(o, "fields", list);
    cli_print_json(o);
}

static ct_status print_fields(const char *path, const char *topic, const char *each, const ct_record *record,
                              int32_t count, const shown_field *f, ct_err *err)
{
    ct_table *table = NULL;
    char buf[32], day[40];
    ct_status status = ct_table_new(NULL, &table, err);
    if (status != CT_OK) return status;
    cli_row("bag", "%s", path);
    cli_row("topic", "%s%s%s", topic, each ? ", each of " : "", each ? each : "");
    if (record)
        cli_row("first", "stamp %s s%s", seconds(record->stamp, buf), date(record->stamp, day));
    else
        cli_row("first", "there is no message");
    ct_table_column(table, "field", "field", "", 0);
    ct_table_column(table, "type", "type", "", 0);
    ct_table_column(table, "first", "first value", "", 0);
    for (int32_t i = 0; i < count; i++) {
        char *value = record ? value_of(record, &f[i]) : NULL;
        ct_table_row(table, 0);
        ct_table_text(table, "%s", f[i].field->name);
        ct_table_text(table, "%s", f[i].field->type);
        ct_table_text(table, "%.200s", value ? value : "");
        free(value);
    }
    printf("\n");
    status = ct_table_print(table, CT_TABLE_TEXT, cli_result_width(), stdout, err);
    ct_table_free(table);
    return status;
}

static ct_status describe_topic(const cli_io *io, const char *path, const char *topic, const char *each, ct_err *err)
{
    ct_source_options options = ct_source_defaults();
    ct_source *source = NULL;
    ct_record record;
    int more = 0;
    options.topic = topic;
    options.each = each;
    ct_status status = ct_source_open(path, &options, &source, err);
    if (status != CT_OK) return status;
    const int32_t count = ct_source_fields(source);
    shown_field *f = cli_alloc(count, sizeof *f);
    for (int32_t i = 0; i < count && status == CT_OK; i++) {
        f[i].field = ct_source_field_at(source, i);
        status = select_field(source, &f[i], err);
    }
    if (status == CT_OK) status = ct_source_next(source, &record, &more, err);
    cli_status_clear();
    if (status == CT_OK && io->json)
        print_fields_json(path, topic, each, more ? &record : NULL, count, f);
    else if (status == CT_OK && !io->quiet)
        status = print_fields(path, topic, each, more ? &record : NULL, count, f, err);
    free(f);
    ct_source_free(source);
    return status;
}

cli_exit info_bag(const cli_io *io, const char *path, const char *topic, const char *each)
{
    ct_err err = {0};
    ct_bag *bag = NULL;
    ct_status status;
    cli_status_show(io, "reading %s", path);
    if (topic) {
        status = describe_topic(io, path, topic, each, &err);
    } else {
        status = ct_bag_read(path, &bag, &err);
        cli_status_clear();
        if (status == CT_OK && io->json)
            print_topics_json(path, bag);
        else if (status == CT_OK && !io->quiet)
            status = print_topics(path, bag, &err);
    }
    cli_status_clear();
    ct_bag_free(bag);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}
