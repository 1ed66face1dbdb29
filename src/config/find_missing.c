/* find_missing.c: what a message says of a key that is not there: the nearest name, or where the same name is. */
#include "config/config.h"

#include <stdio.h>

/* Members of a node in their order; ct_nearest asks for them one after the other. */
typedef struct {
    const ct_config *c;
    int32_t first, node;
    int at;
} members;

static const char *member(const void *list, int i)
{
    members *m = (members *)(uintptr_t)list;
    if (i < m->at || m->node < 0) m->node = m->first, m->at = 0;
    for (; m->at < i && m->node >= 0; m->at++) m->node = m->c->node[m->node].next;
    return m->node >= 0 ? ct__config_key(m->c, m->node) : NULL;
}

/* A key as a path has it. */
static void put_key(ct__text *out, const char *key, ct_config_format format)
{
    const int plain = format == CT_CONFIG_XML || format == CT_CONFIG_INI || (*key && !strpbrk(key, ".[]'\""));
    if (plain) {
        ct__text_put(out, key);
        return;
    }
    ct__text_put(out, "'");
    for (; *key; key++) {
        if (*key == '\'') ct__text_put(out, "'");
        ct__text_bytes(out, key, 1);
    }
    ct__text_put(out, "'");
}

const char *ct__config_path_of(const ct_config *c, int32_t node, char *buf, size_t size)
{
    ct__text text = {0};
    int32_t chain[32];
    int depth = 0;
    for (int32_t n = node; n >= 0 && c->node[n].parent > 0 && depth < 32; n = c->node[n].parent) chain[depth++] = n;
    while (depth--) {
        const ct__config_node *n = &c->node[chain[depth]], *p = &c->node[n->parent];
        if (p->type == CT__CONFIG_MAP) {
            if (text.used) ct__text_put(&text, c->format == CT_CONFIG_XML ? "/" : ".");
            put_key(&text, ct__config_key(c, chain[depth]), c->format);
        } else {
            int i = 0;
            for (int32_t k = p->first; k != chain[depth]; k = c->node[k].next) i++;
            ct__text_printf(&text, "[%d]", i);
        }
    }
    snprintf(buf, size, "%s", text.bytes && !text.failed ? text.bytes : "");
    ct__text_free(&text);
    return buf;
}

/* The first other node with this key, -1: none. */
static int32_t elsewhere(const ct_config *c, const char *key)
{
    for (int32_t i = 1; i < (int32_t)c->nodes; i++)
        if (c->node[i].key >= 0 && !strcmp(ct__config_key(c, i), key)) return i;
    return -1;
}

ct_status ct__config_missing(const ct_config *c, const ct__key_path *path, const ct__step *step, int32_t node,
                             ct_err *err)
{
    const char *key = ct__key_path_name(path, step);
    members list = {.c = c, .first = c->node[node].first, .node = c->node[node].first};
    const char *near = ct_nearest(key, member, &list);
    char where[160] = "", hint[240] = "", shown[CT__CONFIG_SHOWN], other[CT__CONFIG_SHOWN], full[160];
    int32_t there;
    if (step->begin > 0) {
        const int32_t length = step->begin - (path->text[step->begin - 1] == '.' || path->text[step->begin - 1] == '/');
        if (length > 0) snprintf(where, sizeof where, " in %s", ct__config_shown(path->text, (size_t)length, other));
    }
    for (there = c->node[node].first; near && there >= 0 && ct__config_key(c, there) != near;)
        there = c->node[there].next;
    if (near && strcmp(near, key))
        snprintf(hint, sizeof hint, "; the nearest is \"%s\" in line %d", ct__config_shown(near, strlen(near), other),
                 ct__config_line(c, c->node[there].begin));
    else if ((there = elsewhere(c, key)) >= 0) {
        ct__config_path_of(c, there, full, sizeof full);
        snprintf(hint, sizeof hint, "; line %d has %s", ct__config_line(c, c->node[there].begin), full);
    }
    if (c->format == CT_CONFIG_TEMPLATE)
        return ct_fail(err, CT_E_EMPTY, "%s: there is no {{%s}} in it%s; a file with {{name}} has no key paths",
                       c->name, ct__config_shown(key, strlen(key), shown), hint);
    return ct_fail(err, CT_E_EMPTY, "%s:%d: there is no %s \"%s\"%s%s", c->name,
                   ct__config_line(c, c->node[node].begin),
                   c->format == CT_CONFIG_XML ? *key == '@' ? "attribute" : "element" : "key",
                   ct__config_shown(key, strlen(key), shown), where, hint);
}
