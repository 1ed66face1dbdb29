/* build_points.c: points that sensors measure: maps, tables of ids, unknown points. Read whole: a map is small beside a
 * recording. Sources are opened here, with the recipe's options and the named parts of the file as constants. */
#include "recipe/build.h"

#include <math.h>

/* ---- sources ---- */

static const char **texts_of(const ct__list *list, ct_err *err)
{
    const char **text = ct__zalloc(list->count, sizeof *text);
    if (!text) ct__no_memory(err, "names of columns", list->count);
    for (int32_t i = 0; text && i < list->count; i++) text[i] = list->item[i].text;
    return text;
}

ct_status ct__source_begin(const ct_recipe *recipe, const ct__recordings *plan, int32_t source, int32_t f,
                           ct_source **out, ct_err *err)
{
    const ct__recipe_source *from = &recipe->source[source];
    const ct__source_files *files = &plan->source[source];
    ct_source_options options = ct_source_defaults();
    const char **column = texts_of(&from->columns, err), **missing = texts_of(&from->missing, err);
    const char **constant = ct__zalloc(2 * (int64_t)files->parts, sizeof *constant);
    *out = NULL;
    if (!constant) ct__no_memory(err, "named parts", files->parts);
    ct_status status = column && missing && constant ? CT_OK : CT_E_MEMORY;
    for (int32_t p = 0; status == CT_OK && p < files->parts; p++) {
        constant[2 * p] = files->name[p];
        constant[2 * p + 1] = files->value[(int64_t)f * files->parts + p];
    }
    options.format = from->format;
    options.separator = from->separator;
    options.header = from->header;
    options.column = from->columns.count ? column : NULL;
    options.columns = from->columns.count;
    options.comment = from->comment;
    options.missing = from->missing.count ? missing : NULL;
    options.missings = from->missing.count;
    options.skip = from->skip;
    options.topic = from->topic;
    options.each = from->each;
    options.time = from->time;
    options.where = from->where;
    options.constant = files->parts ? constant : NULL;
    options.constants = files->parts;
    ct_err inner = {0};
    if (status == CT_OK) {
        status = ct_source_open(files->file[f], &options, out, &inner);
        if (status != CT_OK)
            ct_fail(err, status, "%s:%d: source %s: %s", recipe->name, from->line, from->name, inner.text);
    }
    free(column);
    free(missing);
    free(constant);
    return status;
}

static ct_status place_message(const ct_recipe *recipe, const ct__words *words, ct_status status, const ct_err *inner,
                               ct_err *err)
{
    if (status == CT_OK) return CT_OK;
    return ct_fail(err, status, "%s:%d: %s", recipe->name, words->line, inner->text);
}

ct_status ct__select(const ct_recipe *recipe, ct_source *source, const ct__words *words, int32_t *place, ct_err *err)
{
    ct_err inner = {0};
    return place_message(recipe, words, ct_source_select(source, words->text, place, &inner), &inner, err);
}

ct_status ct__select_text(const ct_recipe *recipe, ct_source *source, const ct__words *words, int32_t *place,
                          ct_err *err)
{
    ct_err inner = {0};
    return place_message(recipe, words, ct_source_select_text(source, words->text, place, &inner), &inner, err);
}

/* ---- ids ---- */

const char *ct__ids_find(const ct__ids *ids, const char *text)
{
    if (!ids->given) return text;
    const int32_t from = ct__names_find(&ids->from, text);
    return from < 0 ? NULL : ct__names_get(&ids->to, ids->number[from]);
}

void ct__ids_free(ct__ids *ids)
{
    ct__names_free(&ids->from);
    ct__names_free(&ids->to);
    free(ids->number);
    *ids = (ct__ids){0};
}

static ct_status add_id(ct__ids *ids, const char *from, const char *to, ct_err *err)
{
    if (ct__names_find(&ids->from, from) >= 0) return CT_OK; /* the first line counts */
    CT_TRY(ct__grow(&ids->number, &ids->capacity, ids->from.count + 1, sizeof *ids->number, "ids", err));
    int32_t number = ct__names_find(&ids->to, to);
    if (number < 0) {
        CT_TRY(ct__names_add(&ids->to, to, err));
        number = (int32_t)ids->to.count - 1;
    }
    ids->number[ids->from.count] = number;
    return ct__names_add(&ids->from, from, err);
}

static ct_status read_ids_file(const ct_recipe *recipe, const ct__recordings *plan, const ct__recipe_ids *from,
                               int32_t f, ct__ids *ids, ct_err *err)
{
    const ct__words a = {from->from, from->line}, b = {from->to, from->line};
    ct_source *source = NULL;
    ct_record record;
    int32_t i, j;
    int more = 1;
    CT_TRY(ct__source_begin(recipe, plan, from->source, f, &source, err));
    ct_status status = ct__select_text(recipe, source, &a, &i, err);
    if (status == CT_OK) status = ct__select_text(recipe, source, &b, &j, err);
    while (status == CT_OK && more) {
        status = ct_source_next(source, &record, &more, err);
        if (status == CT_OK && more) status = add_id(ids, record.text[i], record.text[j], err);
    }
    ct_source_free(source);
    return status;
}

ct_status ct__ids_read(const ct_recipe *recipe, const ct__recordings *plan, const ct__recipe_ids *from, int32_t r,
                       ct__ids *ids, ct_err *err)
{
    *ids = (ct__ids){.given = from->source >= 0};
    for (int32_t f = 0; ids->given && f < plan->source[from->source].files; f++)
        if (ct__recordings_has(recipe, plan, from->source, f, r, -1))
            CT_TRY(read_ids_file(recipe, plan, from, f, ids, err));
    return CT_OK;
}

/* ---- maps ---- */

static ct_status add_point(ct__points *points, const char *name, const double position[3], ct_err *err)
{
    CT_TRY(ct__grow(&points->position, &points->capacity, points->name.count + 1, 3 * sizeof(double), "points", err));
    memcpy(points->position + 3 * points->name.count, position, 3 * sizeof(double));
    return ct__names_add(&points->name, name, err);
}

static ct_status take_point(const ct_source *source, const ct_record *record, int32_t id, const int32_t at[3], int n,
                            ct__points *points, ct_err *err)
{
    double position[3] = {0, 0, 0};
    char where[256];
    const char *name = record->text[id];
    for (int i = 0; i < n; i++) position[i] = record->value[at[i]];
    for (int i = 0; i < 3; i++)
        if (!isfinite(position[i]))
            return ct_fail(err, CT_E_PARSE, "%s: the position of point %s is not finite",
                           ct_source_where(source, where, sizeof where), name);
    const int32_t old = ct__names_find(&points->name, name);
    if (old < 0) return add_point(points, name, position, err);
    if (!memcmp(points->position + 3 * (int64_t)old, position, sizeof position)) return CT_OK;
    return ct_fail(err, CT_E_PARSE, "%s: point %s is there already, at another position",
                   ct_source_where(source, where, sizeof where), name);
}

static ct_status read_map_file(const ct_recipe *recipe, const ct__recordings *plan, const ct__recipe_landmarks *from,
                               int32_t f, ct__points *points, ct_err *err)
{
    const ct__list *position = &from->role[CT__ROLE_POSITION], *name = &from->role[CT__ROLE_ID];
    const int least = recipe->states.kind == CT_SE2 ? 2 : 3, n = CT_MAX(least, position->count); /* with heights */
    ct_source *source = NULL;
    ct_record record;
    int32_t id = 0, at[3];
    int more = 1;
    if (position->count < least || name->count != 1)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s:%d: landmarks %s: a map needs `id` and a position of %d numbers, found %d", recipe->name,
                       from->line, from->name, least, position->count);
    CT_TRY(ct__source_begin(recipe, plan, from->source, f, &source, err));
    ct_status status = ct__select_text(recipe, source, &name->item[0], &id, err);
    for (int i = 0; status == CT_OK && i < n; i++) status = ct__select(recipe, source, &position->item[i], &at[i], err);
    while (status == CT_OK && more) {
        status = ct_source_next(source, &record, &more, err);
        if (status == CT_OK && more) status = take_point(source, &record, id, at, n, points, err);
    }
    ct_source_free(source);
    return status;
}

ct_status ct__points_read(const ct_recipe *recipe, const ct__recordings *plan, int32_t section, int32_t r,
                          ct__points *points, ct_err *err)
{
    const ct__recipe_landmarks *from = &recipe->landmark[section];
    CT_TRY(ct__ids_read(recipe, plan, &from->ids, r, &points->ids, err));
    for (int32_t f = 0; from->source >= 0 && f < plan->source[from->source].files; f++)
        if (ct__recordings_has(recipe, plan, from->source, f, r, -1))
            CT_TRY(read_map_file(recipe, plan, from, f, points, err));
    return CT_OK;
}

void ct__points_free(ct__points *points)
{
    ct__ids_free(&points->ids);
    ct__names_free(&points->name);
    free(points->position);
    *points = (ct__points){0};
}

ct_status ct__points_find(const ct_recipe *recipe, int32_t section, ct__points *points, const char *text,
                          int32_t *number, ct_err *err)
{
    const double unknown[3] = {NAN, NAN, NAN};
    const char *name = ct__ids_find(&points->ids, text);
    *number = -1;
    if (!name && !recipe->landmark[section].estimate_unknown) return CT_OK;
    if (!name) name = text;
    *number = ct__names_find(&points->name, name);
    if (*number >= 0 || !*name) return CT_OK;
    if (!recipe->landmark[section].estimate_unknown && recipe->landmark[section].source >= 0) return CT_OK;
    CT_TRY(add_point(points, name, unknown, err));
    *number = (int32_t)points->name.count - 1;
    return CT_OK;
}
