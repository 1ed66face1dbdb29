/* print.c: what an import read, made and dropped: a table for people, one object with --json. */
#include "cli/common/findings.h"
#include "cli/import/import.h"

#include <stdlib.h>
#include <string.h>

static int64_t dropped_of(const ct_import_count *c)
{
    int64_t all = 0;
    for (int k = 0; k < CT_DROP_COUNT; k++) all += c->dropped[k];
    return all;
}

/* " scale 0.944, 1, 0.91" */
static void put_correction(cli_buffer *out, const ct_correction *c)
{
    cli_buffer_printf(out, " %s", ct_correction_key(c->kind));
    if (c->kind == CT_CORRECT_KERNEL)
        cli_buffer_printf(out, " %s:%.4g", ct_robust_name((ct_robust_kind)(int)c->value[0]), c->value[1]);
    else
        for (int32_t i = 0; i < c->count; i++) cli_buffer_printf(out, "%s%.5g", i ? ", " : " ", c->value[i]);
}

static int same_target(const ct_correction *a, const ct_correction *b)
{
    return !strcmp(a->sensor, b->sensor) && !strcmp(a->recording, b->recording);
}

/* A row for each sensor and recording: "odom of run1: delay 0.175; scale 0.944, 1, 0.91". */
static void print_corrections(const import_summary *s)
{
    for (int32_t i = 0; i < s->corrections; i++) {
        const ct_correction *c = &s->correction[i];
        cli_buffer text = {0};
        int32_t first = 0, any = 0;
        while (!same_target(&s->correction[first], c)) first++;
        if (first < i) continue;
        for (int32_t k = i; k < s->corrections; k++) {
            if (!same_target(&s->correction[k], c)) continue;
            if (any++) cli_buffer_printf(&text, ";");
            put_correction(&text, &s->correction[k]);
        }
        cli_row("corrected", "%s%s%s:%s", c->sensor, c->recording[0] ? " of " : "", c->recording,
                cli_buffer_text(&text));
        free(text.text);
    }
}

/* ---- JSON ---- */

static json_t *count_json(const ct_import_count *c)
{
    json_t *o = cli_object(), *dropped = cli_object();
    for (int k = 0; k < CT_DROP_COUNT; k++)
        if (c->dropped[k]) cli_put(dropped, ct_drop_name((ct_drop)k), cli_integer(c->dropped[k]));
    cli_put(o, "name", cli_text(c->name));
    cli_put(o, "records", cli_integer(c->records));
    cli_put(o, "rate_hz", cli_number(c->rate_hz));
    cli_put(o, "factors", cli_integer(c->factors));
    cli_put(o, "dropped", dropped);
    return o;
}

static json_t *correction_json(const ct_correction *c)
{
    json_t *o = cli_object();
    cli_put(o, "sensor", cli_text(c->sensor));
    if (c->recording[0]) cli_put(o, "recording", cli_text(c->recording));
    cli_put(o, "kind", cli_text(ct_correction_key(c->kind)));
    cli_put(o, "value", cli_numbers(c->count, c->value));
    return o;
}

static void print_json(const import_summary *s)
{
    json_t *o = cli_object(), *sensors = cli_array(), *corrections = cli_array();
    for (int32_t i = 0; i < s->result.counts; i++) cli_append(sensors, count_json(&s->result.count[i]));
    for (int32_t i = 0; i < s->corrections; i++) cli_append(corrections, correction_json(&s->correction[i]));
    cli_put(o, "recipe", cli_text(s->recipe));
    cli_put(o, "out", cli_text(s->out));
    cli_put(o, "recordings", cli_integer(s->result.recordings));
    cli_put(o, "train", cli_integer(s->result.trains));
    cli_put(o, "test", cli_integer(s->result.tests));
    cli_put(o, "states", cli_integer(s->result.states));
    cli_put(o, "landmarks", cli_integer(s->result.landmarks));
    cli_put(o, "sensors", sensors);
    cli_put(o, "corrections", corrections);
    cli_put(o, "findings", cli_findings_json(&s->result.findings));
    cli_print_json(o);
}

/* ---- for people ---- */

static void print_counts(const import_summary *s)
{
    ct_err err = {0};
    ct_table *table;
    if (ct_table_new(NULL, &table, &err) != CT_OK) cli_check_alloc(NULL);
    ct_table_column(table, "sensor", "sensor", NULL, 0);
    ct_table_column(table, "records", "records", NULL, 0);
    ct_table_column(table, "rate", "rate", "Hz", 3);
    ct_table_column(table, "factors", "factors", NULL, 0);
    ct_table_column(table, "dropped", "dropped", NULL, 0);
    for (int32_t i = 0; i < s->result.counts; i++) {
        const ct_import_count *c = &s->result.count[i];
        ct_table_row(table, 0);
        ct_table_text(table, "%s", c->name);
        ct_table_text(table, "%lld", (long long)c->records);
        ct_table_number(table, c->rate_hz);
        ct_table_text(table, "%lld", (long long)c->factors);
        ct_table_text(table, "%lld", (long long)dropped_of(c));
    }
    if (ct_table_print(table, CT_TABLE_TEXT, cli_result_width(), stdout, &err) != CT_OK) cli_check_alloc(NULL);
    ct_table_free(table);
}

static void print_dropped(const import_summary *s)
{
    for (int32_t i = 0; i < s->result.counts; i++)
        for (int k = 0; k < CT_DROP_COUNT; k++)
            if (s->result.count[i].dropped[k])
                cli_row("dropped", "%lld of %s: %s", (long long)s->result.count[i].dropped[k], s->result.count[i].name,
                        ct_drop_text((ct_drop)k));
}

void import_print(const cli_io *io, const import_summary *s)
{
    const ct_import_result *r = &s->result;
    if (io->json) {
        print_json(s);
        return;
    }
    if (io->quiet) return;
    cli_row("made", "%s: %d recording%s, %d sequence%s to learn from, %d to test", s->out, r->recordings,
            CLI_S(r->recordings), r->trains, CLI_S(r->trains), r->tests);
    cli_row("states", "%lld", (long long)r->states);
    if (r->landmarks) cli_row("landmarks", "%lld", (long long)r->landmarks);
    putchar('\n');
    print_counts(s);
    putchar('\n');
    print_dropped(s);
    print_corrections(s);
    for (int topic = 0; topic < CT_TOPIC_COUNT; topic++)
        cli_findings_print("note", &r->findings, (ct_topic)topic, 0, -1);
    char *quoted = cli_shell_quote(s->out);
    cli_row_command("next", "covtune doctor %s", quoted);
    cli_row_command("", "covtune learn %s --out learned", quoted);
    free(quoted);
}
