/* fuzz_source.c: any bytes as a table, an expression or a pattern. The first line says what: a character for the format
 * ('0' the first of the list, 'a' by content, 'p' a pattern and a name), then fields between bars: a value, a
 * condition, a stamp, a text. The rest is the file. It is refused with a sentence, or every record is read, and
 *   counts add up, and a second reading gives the same;
 *   brackets around the value, and a column that is wanted beside the others, change nothing. */
#include "fuzz.h"

#include "source/pattern.h"

#include <math.h>
#include <string.h>

#define FIELD_MAX 256

typedef struct {
    char format, value[FIELD_MAX], where[FIELD_MAX], time[FIELD_MAX], text[FIELD_MAX];
} question;

/* What a reading comes to. */
typedef struct {
    ct_status status;
    int64_t records, left_out, no_stamp, lines;
    uint64_t digest;
} answer;

static uint64_t mix(uint64_t digest, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) digest = (digest ^ ((const unsigned char *)bytes)[i]) * 1099511628211U;
    return digest;
}

static ct_status select_all(ct_source *s, const question *q, int also, int32_t *value, int32_t *text, ct_err *err)
{
    char column[32];
    int32_t other;
    *value = *text = -1;
    for (int32_t i = 0; also && i < ct_source_fields(s) && i < 20; i++) {
        snprintf(column, sizeof column, "#%d", i + 1);
        FUZZ_LAW(ct_source_field_at(s, i)->name && ct_source_field_at(s, i)->type);
        const ct_status status = ct_source_select_text(s, column, &other, err);
        if (status != CT_OK) FUZZ_LAW(err->text[0]);
    }
    ct_status status = q->value[0] ? ct_source_select(s, q->value, value, err) : CT_OK;
    if (status == CT_OK && q->text[0]) status = ct_source_select_text(s, q->text, text, err);
    return status;
}

static answer read_all(const question *q, int also)
{
    ct_err err = {0};
    ct_source *s = NULL;
    ct_record record;
    ct_source_options options = ct_source_defaults();
    answer a = {.digest = 14695981039346656037U};
    int32_t value = -1, text = -1;
    int more = 0;
    if (q->format >= '0' && q->format < '5') options.format = (ct_source_format)(q->format - '0');
    options.where = q->where[0] ? q->where : NULL;
    options.time = q->time[0] ? q->time : NULL;
    options.constants = 1;
    options.constant = (const char *const[]){"robot", "7"};
    a.status = ct_source_open("in.csv", &options, &s, &err);
    FUZZ_LAW(a.status == CT_OK ? s != NULL : !s && err.text[0]);
    if (a.status == CT_OK) a.status = select_all(s, q, also, &value, &text, &err);
    while (a.status == CT_OK && (a.status = ct_source_next(s, &record, &more, &err)) == CT_OK && more) {
        FUZZ_LAW(record.line > a.lines);
        a.lines = record.line;
        a.digest = mix(a.digest, &record.stamp, sizeof record.stamp);
        const double number = value >= 0 && !isnan(record.value[value]) ? record.value[value] : 0.5;
        a.digest = mix(a.digest, &number, sizeof number);
        if (text >= 0) a.digest = mix(a.digest, record.text[text], strlen(record.text[text]));
        a.records++;
    }
    if (a.status != CT_OK) FUZZ_LAW(err.text[0]);
    if (s) {
        char where[64];
        const ct_source_counts count = ct_source_count(s);
        FUZZ_LAW(count.records == a.records && count.bytes >= 0 && count.bytes <= count.size);
        FUZZ_LAW(strlen(ct_source_where(s, where, sizeof where)) < sizeof where);
        a.left_out = count.left_out;
        a.no_stamp = count.no_stamp;
    }
    ct_source_free(s);
    return a;
}

static int same(const answer *a, const answer *b)
{
    return a->status == b->status && a->records == b->records && a->left_out == b->left_out &&
           a->no_stamp == b->no_stamp && a->digest == b->digest;
}

static void check_table(const question *q)
{
    const answer first = read_all(q, 0), again = read_all(q, 0);
    FUZZ_LAW(same(&first, &again));
    if (first.status != CT_OK) return;
    const answer beside = read_all(q, 1);
    if (beside.status == CT_OK) FUZZ_LAW(same(&first, &beside));
    question in_brackets = *q;
    if (!q->value[0] || strlen(q->value) + 3 > FIELD_MAX) return;
    snprintf(in_brackets.value, sizeof in_brackets.value, "(%.*s)", FIELD_MAX - 3, q->value);
    const answer brackets = read_all(&in_brackets, 0);
    FUZZ_LAW(same(&first, &brackets) || brackets.status == CT_E_ARGUMENT); /* one level deeper may be one too many */
}

/* The value is a pattern, the text a name. */
static void check_pattern(const question *q)
{
    ct_err err = {0};
    ct__pattern p;
    ct__part_value part[CT__PARTS_MAX] = {0};
    const ct_status status = ct__pattern_parse(q->value, &p, &err);
    FUZZ_LAW(status == CT_OK || err.text[0]);
    for (int i = 0; status == CT_OK && i < p.levels; i++) {
        const int match = ct__level_match(&p.level[i], q->text, part);
        FUZZ_LAW(match >= -1 && match <= 1);
        if (match != 1) break;
        for (int k = 0; k < p.parts; k++)
            FUZZ_LAW(!part[k].text || (part[k].length > 0 && part[k].length <= (int)strlen(q->text)));
    }
    ct__pattern_free(&p);
}

/* The next field of the first line. */
static const uint8_t *take(const uint8_t *at, const uint8_t *end, char out[FIELD_MAX])
{
    size_t n = 0;
    while (at < end && *at != '|' && *at != '\n') {
        if (n + 1 < FIELD_MAX && *at) out[n++] = (char)*at;
        at++;
    }
    out[n] = 0;
    return at < end && *at == '|' ? at + 1 : at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    question q = {0};
    const uint8_t *at = data, *const end = data + size;
    if (size == 0) return 0;
    q.format = (char)*at++;
    at = take(at, end, q.value);
    at = take(at, end, q.where);
    at = take(at, end, q.time);
    at = take(at, end, q.text);
    while (at < end && *at != '\n') at++;
    if (at < end) at++;
    if (q.format == 'p')
        check_pattern(&q);
    else {
        fuzz_write("in.csv", at, (size_t)(end - at));
        check_table(&q);
    }
    return 0;
}
