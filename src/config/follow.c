/* follow.c: the nodes that a key path leads to.
 *
 * Each step maps a set of nodes to a set of nodes. A key of a mapping gives one node or none; entries of a list give
 * several. Elements of XML are sets until the path ends or asks for numbers: then there must be one. */
#include "config/config.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    const ct_config *c;
    const ct__key_path *path;
    ct_err *err;
    ct__config_set now, next;
    int64_t at; /* the step */
} search;

ct_status ct__config_set_add(ct__config_set *set, int32_t node, ct_err *err)
{
    CT_TRY(ct__grow(&set->node, &set->capacity, set->count + 1, sizeof node, "values of a key path", err));
    set->node[set->count++] = node;
    return CT_OK;
}

/* The path up to this step, or with it, as a message has it. */
static const char *so_far(const search *s, int whole, char buf[CT__CONFIG_SHOWN])
{
    const int64_t steps = CT_MIN(s->at + (whole != 0), s->path->steps);
    const int32_t end = steps > 0 ? s->path->step[steps - 1].end : 0;
    return end > 0 ? ct__config_shown(s->path->text, (size_t)end, buf) : "the file";
}

static int line_of(const search *s, int32_t node) { return ct__config_line(s->c, s->c->node[node].begin); }

static ct_status refuse(const search *s, int32_t node, int whole, const char *sentence)
{
    char shown[CT__CONFIG_SHOWN];
    return ct_fail(s->err, CT_E_ARGUMENT, "%s:%d: %s %s", s->c->name, line_of(s, node), so_far(s, whole, shown),
                   sentence);
}

/* ---- keys ---- */

static ct_status refuse_alias(const search *s, int32_t node)
{
    char shown[CT__CONFIG_SHOWN];
    return ct_fail(s->err, CT_E_ARGUMENT,
                   "%s:%d: %s is an alias of the value in line %d, which a change would change too; write the number "
                   "here, or make the file a template with {{name}}",
                   s->c->name, line_of(s, node), so_far(s, 1, shown), line_of(s, s->c->node[node].shared));
}

/* Does a mapping that is merged into this one ("<<: *base") have the key? -1: no, else its node. */
static int32_t merged(const ct_config *c, int32_t map, const char *key)
{
    for (int32_t n = c->node[map].first; n >= 0; n = c->node[n].next) {
        if (c->format != CT_CONFIG_YAML || strcmp(ct__config_key(c, n), "<<")) continue;
        const int list = c->node[n].type == CT__CONFIG_LIST;
        for (int32_t from = list ? c->node[n].first : n; from >= 0; from = list ? c->node[from].next : -1) {
            const int32_t base = c->node[from].type == CT__CONFIG_ALIAS ? c->node[from].shared : from;
            for (int32_t k = c->node[base].first; k >= 0; k = c->node[k].next)
                if (!strcmp(ct__config_key(c, k), key)) return k;
        }
    }
    return -1;
}

static ct_status no_such_key(const search *s, int32_t map, const ct__step *step)
{
    const int32_t base = merged(s->c, map, ct__key_path_name(s->path, step));
    char shown[CT__CONFIG_SHOWN];
    if (base < 0) return ct__config_missing(s->c, s->path, step, map, s->err);
    return ct_fail(s->err, CT_E_ARGUMENT,
                   "%s:%d: %s comes by << from line %d, which a change would change too; write the key here",
                   s->c->name, line_of(s, map), so_far(s, 1, shown), line_of(s, base));
}

/* The first member with a key after `from` (-1: of all); -1: none. */
static int32_t next_member(const ct_config *c, int32_t map, int32_t from, const char *key, size_t length)
{
    for (int32_t n = from < 0 ? c->node[map].first : c->node[from].next; n >= 0; n = c->node[n].next) {
        const char *name = ct__config_key(c, n);
        if (c->node[n].key >= 0 && !strncmp(name, key, length) && !name[length]) return n;
    }
    return -1;
}

/* The key of this step. Where a mapping has no key "a" but a key "a.b", the steps .a.b are that one: keys with dots
 * need quotes only where they could mean another. */
static const char *key_of(search *s, const ct__step *step, size_t *length)
{
    const ct__key_path *path = s->path;
    const char *key = ct__key_path_name(path, step), *whole = path->text + step->begin;
    const int32_t map = s->now.node[0];
    const int dotted =
        s->c->format == CT_CONFIG_YAML || s->c->format == CT_CONFIG_JSON || s->c->format == CT_CONFIG_TOML;
    *length = strlen(key);
    if (!dotted || s->c->node[map].type != CT__CONFIG_MAP || next_member(s->c, map, -1, key, *length) >= 0) return key;
    for (int64_t k = path->steps - 1; k > s->at; k--) {
        const size_t n = (size_t)(path->step[k].end - step->begin);
        int keys = 1;
        for (int64_t j = s->at; j <= k; j++) keys &= path->step[j].kind == CT__STEP_KEY;
        if (!keys || next_member(s->c, map, -1, whole, n) < 0) continue;
        s->at = k;
        *length = n;
        return whole;
    }
    return key;
}

/* A key of every node of the set. Of XML, all elements of that name. */
static ct_status take_key(search *s, const ct__step *step)
{
    const ct_config *c = s->c;
    size_t length;
    const char *key = key_of(s, step, &length);
    char shown[CT__CONFIG_SHOWN];
    for (int64_t i = 0; i < s->now.count; i++) {
        const int32_t node = s->now.node[i];
        if (c->node[node].type == CT__CONFIG_ALIAS) return refuse_alias(s, node);
        if (c->node[node].type == CT__CONFIG_LIST)
            return refuse(s, node, 0, "is a list; which entry? [0] is the first");
        if (c->node[node].type == CT__CONFIG_SCALAR) return refuse(s, node, 0, "is a value and has no keys");
        const int32_t found = next_member(c, node, -1, key, length);
        for (int32_t n = found; n >= 0; n = next_member(c, node, n, key, length)) {
            if (n != found && c->format != CT_CONFIG_XML && c->format != CT_CONFIG_TEMPLATE)
                return ct_fail(s->err, CT_E_ARGUMENT, "%s:%d: the key %s is there twice: first in line %d", c->name,
                               line_of(s, n), so_far(s, 1, shown), line_of(s, found));
            CT_TRY(ct__config_set_add(&s->next, n, s->err));
        }
        if (found < 0 && c->format != CT_CONFIG_XML) return no_such_key(s, node, step);
    }
    return s->next.count ? CT_OK : no_such_key(s, s->now.node[0], step);
}

/* ---- elements of XML ---- */

static int has_attribute(const ct_config *c, int32_t node, const char *name, const char *value)
{
    for (int32_t n = c->node[node].first; n >= 0; n = c->node[n].next)
        if (!strcmp(ct__config_key(c, n), name) && !strcmp(c->strings.bytes + c->node[n].pending, value)) return 1;
    return 0;
}

/* Values that an attribute has in the elements of a set. */
typedef struct {
    const search *s;
    const char *name;
} attribute_values;

static const char *value_at(const void *list, int i)
{
    const attribute_values *v = list;
    const ct_config *c = v->s->c;
    if (i >= v->s->now.count) return NULL;
    for (int32_t n = c->node[v->s->now.node[i]].first; n >= 0; n = c->node[n].next)
        if (!strcmp(ct__config_key(c, n), v->name)) return c->strings.bytes + c->node[n].pending;
    return "";
}

static ct_status take_attribute(search *s, const ct__step *step)
{
    const char *name = ct__key_path_name(s->path, step), *value = s->path->strings.bytes + step->value;
    char shown[CT__CONFIG_SHOWN], other[CT__CONFIG_SHOWN], hint[160] = "";
    for (int64_t i = 0; i < s->now.count; i++)
        if (has_attribute(s->c, s->now.node[i], name, value))
            CT_TRY(ct__config_set_add(&s->next, s->now.node[i], s->err));
    if (s->next.count) return CT_OK;
    const attribute_values values = {.s = s, .name = name};
    const char *near = ct_nearest(value, value_at, &values);
    if (near && *near)
        snprintf(hint, sizeof hint, "; the nearest is \"%s\"", ct__config_shown(near, strlen(near), other));
    return ct_fail(s->err, CT_E_EMPTY, "%s:%d: there is no element %s%s", s->c->name, line_of(s, s->now.node[0]),
                   so_far(s, 1, shown), hint);
}

/* The n-th of those below each parent, from 1. */
static ct_status take_position(search *s, const ct__step *step)
{
    const ct_config *c = s->c;
    const int32_t wanted = s->path->entry[step->entry];
    int32_t number = 0;
    char shown[CT__CONFIG_SHOWN];
    for (int64_t i = 0; i < s->now.count; i++) {
        const int32_t node = s->now.node[i];
        number = i && c->node[s->now.node[i - 1]].parent == c->node[node].parent ? number + 1 : 1;
        if (number == wanted) CT_TRY(ct__config_set_add(&s->next, node, s->err));
    }
    if (s->next.count) return CT_OK;
    return ct_fail(s->err, CT_E_EMPTY,
                   "%s:%d: there is no element %s: there %s %lld; a number in its text is /text()[%d]", c->name,
                   line_of(s, s->now.node[0]), so_far(s, 1, shown), s->now.count == 1 ? "is" : "are",
                   (long long)s->now.count, (int)wanted);
}

/* Where numbers are asked for, there must be one element. */
static ct_status one_element(const search *s)
{
    char shown[CT__CONFIG_SHOWN];
    if (s->c->format != CT_CONFIG_XML || s->now.count < 2) return CT_OK;
    for (int64_t i = 0; i < s->now.count; i++)
        if (s->c->node[s->now.node[i]].type == CT__CONFIG_SCALAR) return CT_OK; /* entries of one text */
    return ct_fail(s->err, CT_E_ARGUMENT,
                   "%s:%d: %s matches %lld times, first in line %d; choose one with [@attribute='value'] or [2]",
                   s->c->name, line_of(s, s->now.node[1]), so_far(s, 0, shown), (long long)s->now.count,
                   line_of(s, s->now.node[0]));
}

/* ---- entries of lists ---- */

int32_t ct__config_value_of(const ct_config *c, int32_t node)
{
    const ct__config_node *n = &c->node[node];
    if (c->format == CT_CONFIG_XML && n->type == CT__CONFIG_MAP)
        for (int32_t k = n->first; k >= 0; k = c->node[k].next)
            if (!strcmp(ct__config_key(c, k), "text()")) return k;
    return node;
}

static ct_status take_entries(search *s, const ct__step *step, int32_t list)
{
    const ct_config *c = s->c;
    char shown[CT__CONFIG_SHOWN];
    for (int32_t e = 0; e < step->count; e++) {
        const int32_t wanted = s->path->entry[step->entry + e];
        int32_t n = wanted < c->node[list].count ? c->node[list].first : -1;
        for (int32_t i = 0; n >= 0 && i < wanted; i++) n = c->node[n].next;
        if (n < 0)
            return ct_fail(s->err, CT_E_ARGUMENT, "%s:%d: %s has no entry %d: its %d entries are numbered from 0",
                           c->name, line_of(s, list), so_far(s, 0, shown), wanted, c->node[list].count);
        CT_TRY(ct__config_set_add(&s->next, n, s->err));
    }
    return CT_OK;
}

/* Entry k (n + 1) of n x n numbers, or entry k of row k. */
static ct_status take_diagonal(search *s, int32_t list)
{
    const ct_config *c = s->c;
    const int32_t count = c->node[list].count;
    const int nested = count > 0 && c->node[c->node[list].first].type == CT__CONFIG_LIST;
    const int32_t size = nested ? count : (int32_t)lround(sqrt((double)count));
    char shown[CT__CONFIG_SHOWN];
    if (!count || (!nested && (int64_t)size * size != count))
        return ct_fail(s->err, CT_E_ARGUMENT, "%s:%d: %s has no diagonal: it has %d entries, which is not n x n",
                       c->name, line_of(s, list), so_far(s, 0, shown), count);
    int32_t i = 0;
    for (int32_t n = c->node[list].first; n >= 0; n = c->node[n].next, i++) {
        if (!nested) {
            if (i % (size + 1) == 0) CT_TRY(ct__config_set_add(&s->next, n, s->err));
            continue;
        }
        if (c->node[n].type != CT__CONFIG_LIST || c->node[n].count != size)
            return ct_fail(s->err, CT_E_ARGUMENT, "%s:%d: %s has no diagonal: row %d is to be a list of %d entries",
                           c->name, line_of(s, n), so_far(s, 0, shown), i, size);
        int32_t k = c->node[n].first;
        for (int32_t j = 0; j < i; j++) k = c->node[k].next;
        CT_TRY(ct__config_set_add(&s->next, k, s->err));
    }
    return CT_OK;
}

/* Every value of a list, rows of nested lists one after the other. */
static ct_status take_every(search *s, int32_t list)
{
    const ct_config *c = s->c;
    for (int32_t n = c->node[list].first; n >= 0;) {
        if (c->node[n].type == CT__CONFIG_LIST && c->node[n].first >= 0) {
            n = c->node[n].first;
            continue;
        }
        if (c->node[n].type != CT__CONFIG_LIST) CT_TRY(ct__config_set_add(&s->next, n, s->err));
        while (c->node[n].next < 0 && c->node[n].parent != list) n = c->node[n].parent;
        n = c->node[n].next;
    }
    return s->next.count ? CT_OK : refuse(s, list, 0, "is an empty list");
}

static ct_status take_list(search *s, const ct__step *step)
{
    CT_TRY(one_element(s));
    for (int64_t i = 0; i < s->now.count; i++) {
        const int32_t node = ct__config_value_of(s->c, s->now.node[i]);
        if (s->c->node[node].type == CT__CONFIG_ALIAS) return refuse_alias(s, node);
        if (s->c->node[node].type != CT__CONFIG_LIST) return refuse(s, node, 0, "is no list");
        if (step->kind == CT__STEP_ENTRIES)
            CT_TRY(take_entries(s, step, node));
        else if (step->kind == CT__STEP_DIAGONAL)
            CT_TRY(take_diagonal(s, node));
        else
            CT_TRY(take_every(s, node));
    }
    return CT_OK;
}

/* ---- the path ---- */

static ct_status take_step(search *s, const ct__step *step)
{
    switch (step->kind) {
    case CT__STEP_KEY: return take_key(s, step);
    case CT__STEP_ATTRIBUTE: return take_attribute(s, step);
    case CT__STEP_POSITION: return take_position(s, step);
    default: return take_list(s, step);
    }
}

/* The path in one document; *depth: the steps that were there. */
static ct_status follow_document(search *s, int32_t document, int64_t *depth)
{
    s->now.count = s->at = 0;
    if (s->c->format == CT_CONFIG_INI) CT_TRY(ct__config_find_ini(s->c, s->path, &s->at, &document, s->err));
    CT_TRY(ct__config_set_add(&s->now, document, s->err));
    for (; s->at < s->path->steps; s->at++) {
        *depth = s->at;
        s->next.count = 0;
        CT_TRY(take_step(s, &s->path->step[s->at]));
        const ct__config_set swap = s->now;
        s->now = s->next;
        s->next = swap;
    }
    *depth = s->at;
    return one_element(s);
}

/* In the one document that has it. If none has, the message is of the document where most steps were there. */
static ct_status follow_documents(search *s, ct__config_set *out, ct_err *err)
{
    const ct_config *c = s->c;
    ct_err first = {0};
    int64_t deepest = -1, depth = 0;
    for (int32_t d = c->node[0].first; d >= 0; d = c->node[d].next) {
        const ct_status status = follow_document(s, d, &depth);
        if (status == CT_OK && out->count)
            return ct_fail(err, CT_E_ARGUMENT, "%s: several documents of the file have %.200s", c->name, s->path->text);
        if (status == CT_E_MEMORY) return ct_fail(err, status, "%s", s->err->text);
        if (status != CT_OK && depth > deepest) first = *s->err, deepest = depth;
        for (int64_t i = 0; status == CT_OK && i < s->now.count; i++)
            CT_TRY(ct__config_set_add(out, s->now.node[i], err));
    }
    if (out->count) return CT_OK;
    if (first.status != CT_OK) return ct_fail(err, first.status, "%s", first.text);
    return ct_fail(err, CT_E_EMPTY, "%s: there is nothing in it", c->name);
}

ct_status ct__config_follow(const ct_config *c, const ct__key_path *path, ct__config_set *out, ct_err *err)
{
    ct_err one = {0};
    search s = {.c = c, .path = path, .err = &one};
    const ct_status status = follow_documents(&s, out, err);
    free(s.now.node);
    free(s.next.node);
    return status;
}
