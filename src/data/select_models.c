/* select_models.c: the noise models and rows that a name in a list selects.
 *
 * A name is a model or a group: "odom" selects "odom", "odom@0", "odom@1" and "odom#7". A row follows a point, by name
 * or number: "odom.x", "odom@0.2". */
#include "base/base.h"
#include "data/data.h"
#include "data/theta_options.h"

#define NAME_MAX 256

/* 1 if the name is this model or its group. */
static int names_model(const char *name, const char *model)
{
    const size_t n = strlen(name);
    return !strncmp(model, name, n) && (!model[n] || model[n] == '@' || model[n] == '#');
}

int ct__list_has_model(const char *list, const char *model)
{
    char item[CT__ITEM_MAX];
    while (ct__list_next(&list, item))
        if (names_model(item, model)) return 1;
    return 0;
}

static const char *model_name(const ct__model_names *names, int32_t i) { return ct_noise_get(names->noise, i)->name; }

/* ---- Rows ------------------------------------------------------------------------------------ */

static const char *row_name(const ct_noise_model *m, int row, char buf[24])
{
    if (m->row && m->row[row].name[0]) return m->row[row].name;
    snprintf(buf, 24, "%d", row);
    return buf;
}

/* The row of that name or number, or -1. */
static int find_row(const ct_noise_model *m, const char *text)
{
    const int named = ct_noise_find_row(m, text);
    char     *end;
    if (named >= 0) return named;
    const long number = strtol(text, &end, 10);
    return end != text && !*end && number >= 0 && number < m->dim ? (int)number : -1;
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* "odom, gps@0 and 3 more": the groups of the used models. Returns buf. */
static const char *list_groups(const ct__model_names *names, char *buf, size_t size)
{
    size_t  length = 0;
    int32_t more = 0;
    buf[0] = 0;
    for (int32_t i = 0; i < names->models; i++) {
        const char *group = model_name(names, i);
        const int   n = (int)strcspn(group, "#");
        int         listed = !names->used[i];
        for (int32_t k = 0; k < i && !listed; k++) {
            const char *other = model_name(names, k);
            listed = names->used[k] && (int)strcspn(other, "#") == n && !strncmp(other, group, (size_t)n);
        }
        if (listed) continue;
        if (length + (size_t)n + 24 > size) more++;
        else length += (size_t)snprintf(buf + length, size - length, "%s%.*s", length ? ", " : "", n, group);
    }
    if (more) snprintf(buf + length, size - length, " and %d more", more);
    return buf;
}

static const char *name_at(const void *list, int i) { return ((const char *const *)list)[i]; }

/* near <- the used model or group that is spelled most like the name, "" if none is. */
static ct_status find_near(const ct__model_names *names, const char *name, char near[NAME_MAX])
{
    const int64_t room = 2 * (int64_t)names->models + 1;
    const char  **candidate = ct__zalloc(room, sizeof *candidate);
    char(*group)[NAME_MAX] = ct__zalloc(names->models, sizeof *group);
    const int memory = candidate && group;
    int32_t   n = 0;
    for (int32_t i = 0; memory && i < names->models; i++) {
        const char *model = model_name(names, i);
        if (!names->used[i]) continue;
        snprintf(group[i], sizeof group[i], "%.*s", (int)strcspn(model, "@#"), model);
        candidate[n++] = group[i];
        if (strcmp(group[i], model)) candidate[n++] = model;
    }
    const char *found = memory ? ct_nearest(name, name_at, candidate) : NULL;
    snprintf(near, NAME_MAX, "%s", found ? found : "");
    free(candidate);
    free(group);
    return memory ? CT_OK : ct__no_memory(names->err, "names", room);
}

static ct_status refuse_name(const ct__model_names *names, const char *option, const char *name)
{
    char near[NAME_MAX], groups[256];
    int  unused = 0;
    for (int32_t i = 0; i < names->models; i++)
        unused = unused || (!names->used[i] && names_model(name, model_name(names, i)));
    list_groups(names, groups, sizeof groups);
    if (unused)
        return ct_fail(names->err, CT_E_ARGUMENT,
                       "%s%s %s: no factor of the training sequences uses that noise model; there are %s",
                       names->prefix, option, name, groups);
    CT_TRY(find_near(names, name, near));
    if (near[0])
        return ct_fail(names->err, CT_E_ARGUMENT,
                       "%s%s %s: there is no such noise model; did you mean %s? There are %s", names->prefix, option,
                       name, near, groups);
    return ct_fail(names->err, CT_E_ARGUMENT, "%s%s %s: there is no such noise model; there are %s", names->prefix,
                   option, name, groups);
}

static ct_status refuse_row(const ct__model_names *names, const char *option, const char *text, int32_t model,
                            const char *row)
{
    const ct_noise_model *m = ct_noise_get(names->noise, model);
    char                  rows[160] = "", buf[24];
    size_t                length = 0;
    for (int i = 0; i < m->dim && length < sizeof rows; i++)
        length += (size_t)snprintf(rows + length, sizeof rows - length, "%s%s", i ? ", " : "", row_name(m, i, buf));
    return ct_fail(names->err, CT_E_ARGUMENT, "%s%s %s: %s has no row %s; its rows are %s", names->prefix, option, text,
                   m->name, row, rows);
}

/* ---- Selection ------------------------------------------------------------------------------- */

static int32_t select_group(const ct__model_names *names, const char *name, int32_t *model)
{
    int32_t n = 0;
    for (int32_t i = 0; i < names->models; i++)
        if (names->used[i] && names_model(name, model_name(names, i))) model[n++] = i;
    return n;
}

/* A row that was found by a name of earlier versions. */
static void remark_renamed(const ct__model_names *names, const char *option, const char *text, const char *group,
                           const ct_noise_model *m, int row)
{
    const char *old = strrchr(text, '.') + 1;
    ct_err      sentence = {0};
    if (!names->remark || ct_noise_find_row(m, old) != row || !strcmp(old, m->row[row].name)) return;
    ct_fail(&sentence, CT_OK, "%s%s %s: row \"%s\" is now called \"%s\"; write %s.%s", names->prefix, option, text, old,
            m->row[row].name, group, m->row[row].name);
    names->remark(names->user, sentence.text);
}

ct_status ct__select_models(const ct__model_names *names, const char *option, const char *text, int32_t *model,
                            int32_t *count, int *row)
{
    char name[CT__ITEM_MAX];
    *row = -1;
    *count = select_group(names, text, model);
    if (*count) return CT_OK;
    snprintf(name, sizeof name, "%s", text);
    char *point = strrchr(name, '.');
    if (!point) return refuse_name(names, option, text);
    *point = 0;
    *count = select_group(names, name, model);
    if (!*count) return refuse_name(names, option, name);
    for (int32_t i = 0; i < *count; i++) {
        const int found = find_row(ct_noise_get(names->noise, model[i]), point + 1);
        if (found < 0) return refuse_row(names, option, text, model[i], point + 1);
        if (i && found != *row)
            return ct_fail(names->err, CT_E_ARGUMENT,
                           "%s%s %s: row %s is not the same in all of %s; name them one by one", names->prefix, option,
                           text, point + 1, name);
        *row = found;
    }
    remark_renamed(names, option, text, name, ct_noise_get(names->noise, model[0]), *row);
    return CT_OK;
}
