/* find_ini.c: members of files of key = value. Sections and keys may have dots, so a path is compared with the whole of
 * "section.key". A quoted path, 'section'.'key', is compared part by part. */
#include "config/config.h"

#include <stdio.h>

/* Does "section.key", or a key before all sections, equal the name? */
static int is_named(const ct_config *c, int32_t node, const char *name)
{
    const int32_t section = c->node[node].parent;
    const char *prefix = ct__config_key(c, section), *key = ct__config_key(c, node);
    const size_t n = strlen(prefix);
    if (c->node[section].key < 0) return !strcmp(name, key);
    return !strncmp(name, prefix, n) && name[n] == '.' && !strcmp(name + n + 1, key);
}

static int is_member(const ct_config *c, int32_t node) { return c->node[node].split; }

/* ---- what is not there ---- */

/* Full names of all members, each ended by 0. */
typedef struct {
    ct__text names;
    int64_t *begin;
    int32_t *node;
    int64_t count, begin_capacity, node_capacity;
} listing;

static const char *name_at(const void *list, int i)
{
    const listing *l = list;
    return i < l->count ? l->names.bytes + l->begin[i] : NULL;
}

static void list_members(const ct_config *c, listing *l)
{
    char name[256];
    for (int32_t i = 1; i < (int32_t)c->nodes; i++) {
        if (!is_member(c, i)) continue;
        if (ct__grow(&l->begin, &l->begin_capacity, l->count + 1, sizeof *l->begin, "names", NULL) != CT_OK ||
            ct__grow(&l->node, &l->node_capacity, l->count + 1, sizeof *l->node, "names", NULL) != CT_OK)
            return;
        const int64_t begin = l->names.used;
        ct__config_path_of(c, i, name, sizeof name);
        ct__text_bytes(&l->names, name, strlen(name) + 1);
        if (l->names.failed) return;
        l->begin[l->count] = begin;
        l->node[l->count++] = i;
    }
}

/* A key of this name in any section, or the nearest name of all; -1: none. */
static int32_t similar(const ct_config *c, const char *name)
{
    listing l = {0};
    int32_t node = -1;
    for (int32_t i = 1; i < (int32_t)c->nodes && node < 0; i++)
        if (is_member(c, i) && !strcmp(ct__config_key(c, i), name)) node = i;
    if (node >= 0) return node;
    list_members(c, &l);
    const char *near = ct_nearest(name, name_at, &l);
    for (int64_t i = 0; near && i < l.count; i++)
        if (l.names.bytes + l.begin[i] == near) node = l.node[i];
    ct__text_free(&l.names);
    free(l.begin);
    free(l.node);
    return node;
}

static ct_status missing(const ct_config *c, const ct__key_path *path, ct_err *err)
{
    const char *name = ct__key_path_name(path, &path->step[0]);
    char hint[400] = "", near[256], shown[CT__CONFIG_SHOWN], other[CT__CONFIG_SHOWN];
    const int32_t node = similar(c, name);
    if (node >= 0) {
        ct__config_path_of(c, node, near, sizeof near);
        snprintf(hint, sizeof hint, "; the nearest is \"%s\" in line %d", ct__config_shown(near, strlen(near), other),
                 ct__config_line(c, c->node[node].begin));
    }
    return ct_fail(err, CT_E_EMPTY, "%s: there is no key \"%s\"%s", c->name,
                   ct__config_shown(path->text, strlen(path->text), shown), hint);
}

/* ---- what is there ---- */

static int matches(const ct_config *c, const ct__key_path *path, int steps, int32_t node)
{
    if (!is_member(c, node)) return 0;
    if (path->text[0] != '\'' && path->text[0] != '"')
        return is_named(c, node, ct__key_path_name(path, &path->step[0]));
    const int32_t section = c->node[node].parent;
    const char *last = ct__key_path_name(path, &path->step[steps - 1]);
    if (strcmp(ct__config_key(c, node), last)) return 0;
    if (steps == 1) return c->node[section].key < 0;
    return c->node[section].key >= 0 && !strcmp(ct__config_key(c, section), ct__key_path_name(path, &path->step[0]));
}

ct_status ct__config_find_ini(const ct_config *c, const ct__key_path *path, int64_t *steps, int32_t *out, ct_err *err)
{
    char shown[CT__CONFIG_SHOWN];
    *out = -1;
    *steps = path->steps > 1 && path->step[1].kind == CT__STEP_KEY ? 2 : 1;
    for (int32_t i = 1; i < (int32_t)c->nodes; i++) {
        if (!matches(c, path, (int)*steps, i)) continue;
        if (*out >= 0)
            return ct_fail(err, CT_E_ARGUMENT, "%s:%d: the key \"%s\" is there twice: first in line %d", c->name,
                           ct__config_line(c, c->node[i].begin),
                           ct__config_shown(path->text, strlen(path->text), shown),
                           ct__config_line(c, c->node[*out].begin));
        *out = i;
    }
    return *out >= 0 ? CT_OK : missing(c, path, err);
}
