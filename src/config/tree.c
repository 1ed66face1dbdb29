/* tree.c: nodes of a configuration file, lines, and bytes of files in messages. */
#include "config/config.h"

#include "base/json.h"

#include <stdarg.h>
#include <stdio.h>

ct_status ct__config_string(ct_config *c, const char *text, size_t length, int32_t *out, ct_err *err)
{
    *out = (int32_t)c->strings.used;
    if (c->strings.used + (int64_t)length + 1 > INT32_MAX)
        return ct_fail(err, CT_E_LIMIT, "%s: its keys have more than %d bytes", c->name, INT32_MAX);
    ct__text_bytes(&c->strings, text, length);
    ct__text_bytes(&c->strings, "", 1);
    if (c->strings.failed) return ct__no_memory(err, "bytes of keys", (int64_t)length + 1);
    for (size_t i = 0; i < length; i++)
        if (!c->strings.bytes[(size_t)*out + i]) c->strings.bytes[(size_t)*out + i] = '?';
    return CT_OK;
}

ct_status ct__config_add(ct_config *c, int32_t parent, ct__config_type type, const char *key, size_t key_length,
                         int32_t *out, ct_err *err)
{
    int32_t name = -1;
    if (c->nodes >= CT__CONFIG_VALUES)
        return ct_fail(err, CT_E_LIMIT, "%s: a configuration file has at most %d values", c->name, CT__CONFIG_VALUES);
    CT_TRY(ct__grow(&c->node, &c->node_capacity, c->nodes + 1, sizeof *c->node, "values of a configuration", err));
    if (key) CT_TRY(ct__config_string(c, key, key_length, &name, err));
    *out = (int32_t)c->nodes++;
    c->node[*out] = (ct__config_node){
        .type = (uint8_t)type, .parent = parent, .first = -1, .last = -1, .next = -1, .key = name, .pending = -1};
    if (parent < 0) return CT_OK;
    ct__config_node *p = &c->node[parent];
    if (p->last < 0)
        p->first = *out;
    else
        c->node[p->last].next = *out;
    p->last = *out;
    p->count++;
    return CT_OK;
}

const char *ct__config_key(const ct_config *c, int32_t node)
{
    return node >= 0 && c->node[node].key >= 0 ? c->strings.bytes + c->node[node].key : "";
}

int ct__config_line(const ct_config *c, int32_t offset)
{
    int64_t low = 0, high = c->lines; /* line[low] <= offset < line[high] */
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (c->line[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return (int)low + 1;
}

ct_status ct__config_bad(const ct_config *c, int64_t offset, ct_err *err, const char *fmt, ...)
{
    char sentence[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    const int64_t last = (int64_t)c->size;
    return ct_fail(err, CT_E_PARSE, "%s:%d: %s", c->name, ct__config_line(c, (int32_t)CT_MIN(offset, last)), sentence);
}

const char *ct__config_shown(const char *text, size_t length, char buf[CT__CONFIG_SHOWN])
{
    size_t used = 0, i = 0;
    while (i < length && used < 60) {
        char next[5] = {0};
        memcpy(next, text + i, CT_MIN(length - i, (size_t)4));
        const int n = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? 0 : ct__json_sequence(next);
        if (n > 0) {
            memcpy(buf + used, text + i, (size_t)n);
            used += (size_t)n;
            i += (size_t)n;
        } else
            buf[used++] = text[i] == '\t' ? ' ' : '?', i++;
    }
    memcpy(buf + used, i < length ? "..." : "", i < length ? 4 : 1);
    return buf;
}

static int separates(char c) { return c && strchr(" \t\r\n\f\v,;[](){}\"'", c) != NULL; }

ct_status ct__config_split(ct_config *c, int32_t list, int32_t begin, int32_t end, ct_err *err)
{
    for (int32_t at = begin; at < end;) {
        int32_t item;
        while (at < end && separates(c->text[at])) at++;
        if (at == end) break;
        CT_TRY(ct__config_add(c, list, CT__CONFIG_SCALAR, NULL, 0, &item, err));
        c->node[item].begin = at;
        while (at < end && !separates(c->text[at])) at++;
        c->node[item].end = at;
    }
    return CT_OK;
}

int ct__config_utf8(uint32_t code, char buf[4])
{
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    if (code < 0x80) return buf[0] = (char)code, 1;
    if (code < 0x800) return buf[0] = (char)(0xc0 | code >> 6), buf[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000) {
        buf[0] = (char)(0xe0 | code >> 12);
        buf[1] = (char)(0x80 | (code >> 6 & 63));
        buf[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    buf[0] = (char)(0xf0 | code >> 18);
    buf[1] = (char)(0x80 | (code >> 12 & 63));
    buf[2] = (char)(0x80 | (code >> 6 & 63));
    buf[3] = (char)(0x80 | (code & 63));
    return 4;
}
