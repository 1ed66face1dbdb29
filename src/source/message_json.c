/* message_json.c: values of messages that are JSON text. */
#include "source/message.h"

#include "base/text.h"

#include <jansson.h>

typedef struct {
    char *path; /* without "^." */
    int of_message;
    int32_t slot;
} wanted;

struct ct__json_plan {
    char *each;
    wanted *want;
    int64_t wants, capacity;
    json_t *message;
    json_t *array; /* of each; NULL: none */
    size_t next;
    int left; /* without each: 1 until the record is given */
};

ct_status ct__json_plan_new(const char *each, ct__json_plan **out, ct_err *err)
{
    ct__json_plan *plan = ct__zalloc(1, sizeof *plan);
    *out = NULL;
    if (!plan || (each && *each && !(plan->each = ct__strdup(each)))) {
        free(plan);
        return ct__no_memory(err, "fields", 1);
    }
    *out = plan;
    return CT_OK;
}

void ct__json_plan_free(ct__json_plan *plan)
{
    if (!plan) return;
    for (int64_t i = 0; i < plan->wants; i++) free(plan->want[i].path);
    free(plan->want);
    free(plan->each);
    json_decref(plan->message);
    free(plan);
}

ct_status ct__json_plan_bind(ct__json_plan *plan, const char *path, int32_t slot, ct_err *err)
{
    const int up = path[0] == '^' && path[1] == '.';
    CT_TRY(ct__grow(&plan->want, &plan->capacity, plan->wants + 1, sizeof *plan->want, "fields", err));
    wanted w = {ct__strdup(up ? path + 2 : path), up || !plan->each, slot};
    if (!w.path) return ct__no_memory(err, "fields", 1);
    plan->want[plan->wants++] = w;
    return CT_OK;
}

/* What a path leads to; NULL: nothing. */
static const json_t *follow(const json_t *from, const char *path)
{
    while (*path && from) {
        char name[256];
        const size_t n = strcspn(path, ".[");
        if (n) {
            if (n >= sizeof name) return NULL;
            memcpy(name, path, n);
            name[n] = 0;
            from = json_object_get(from, name);
            path += n;
        } else if (*path == '[') {
            char *end;
            const unsigned long long i = path[1] >= '0' && path[1] <= '9' ? strtoull(path + 1, &end, 10) : 0;
            if (path[1] < '0' || path[1] > '9' || *end != ']') return NULL;
            from = json_array_get(from, (size_t)i);
            path = end + 1;
        } else if (path[1]) {
            path++;
        } else {
            return NULL;
        }
    }
    return from;
}

static ct__value to_value(const json_t *j)
{
    if (json_is_integer(j)) return (ct__value){.kind = CT__VALUE_INTEGER, .integer = json_integer_value(j)};
    if (json_is_real(j)) return (ct__value){.kind = CT__VALUE_NUMBER, .number = json_real_value(j)};
    if (json_is_boolean(j)) return (ct__value){.kind = CT__VALUE_INTEGER, .integer = json_is_true(j)};
    if (json_is_string(j) && json_string_length(j) <= INT32_MAX)
        return (ct__value){
            .kind = CT__VALUE_TEXT, .length = (int32_t)json_string_length(j), .text = json_string_value(j)};
    if (json_is_object(j) && json_object_size(j) == 2) {
        const json_t *s = json_object_get(j, "sec"), *ns = json_object_get(j, "nsec");
        if (!ns) ns = json_object_get(j, "nanosec");
        if (json_is_integer(s) && json_is_integer(ns) && json_integer_value(s) < 9000000000 &&
            json_integer_value(s) > -9000000000)
            return (ct__value){.kind = CT__VALUE_TIME,
                               .integer = json_integer_value(s) * 1000000000 + json_integer_value(ns) % 1000000000};
    }
    return (ct__value){.kind = CT__VALUE_MISSING};
}

ct_status ct__json_plan_begin(ct__json_plan *plan, const void *message, size_t size, ct__value *value, int32_t slots,
                              ct_err *err)
{
    json_error_t why;
    json_decref(plan->message);
    plan->array = NULL;
    plan->next = 0;
    plan->left = 0;
    plan->message = json_loadb(message, size, 0, &why);
    if (!plan->message)
        return ct_fail(err, json_error_code(&why) == json_error_out_of_memory ? CT_E_MEMORY : CT_E_PARSE,
                       "the message is no JSON object: line %d: %s", why.line, why.text);
    for (int32_t i = 0; i < slots; i++) value[i] = (ct__value){.kind = CT__VALUE_MISSING};
    for (int64_t i = 0; i < plan->wants; i++)
        if (plan->want[i].of_message) value[plan->want[i].slot] = to_value(follow(plan->message, plan->want[i].path));
    if (!plan->each) {
        plan->left = 1;
        return CT_OK;
    }
    const json_t *array = follow(plan->message, plan->each);
    if (json_is_array(array)) plan->array = (json_t *)(uintptr_t)array;
    return CT_OK;
}

ct_status ct__json_plan_next(ct__json_plan *plan, ct__value *value, int *more, ct_err *err)
{
    (void)err;
    if (!plan->each) {
        *more = plan->left;
        plan->left = 0;
        return CT_OK;
    }
    *more = plan->array && plan->next < json_array_size(plan->array);
    if (!*more) return CT_OK;
    const json_t *element = json_array_get(plan->array, plan->next++);
    for (int64_t i = 0; i < plan->wants; i++) {
        const wanted *w = &plan->want[i];
        if (w->of_message) continue;
        value[w->slot] =
            to_value(json_is_object(element) || strcmp(w->path, "value") ? follow(element, w->path) : element);
    }
    return CT_OK;
}

/* ---- Fields ---- */

#define DEPTH_MAX 16

static const char *type_of(const json_t *j)
{
    const ct__value v = to_value(j);
    static const char *const NAME[] = {[CT__VALUE_MISSING] = "null",
                                       [CT__VALUE_NUMBER] = "number",
                                       [CT__VALUE_INTEGER] = "integer",
                                       [CT__VALUE_TIME] = "time",
                                       [CT__VALUE_TEXT] = "string"};
    return json_is_array(j) ? "array" : NAME[v.kind];
}

static ct_status list(const json_t *from, ct__text *path, int depth, ct__fields *fields, ct_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)from, key, value)
    {
        const int64_t before = path->used;
        if (fields->count >= CT__FIELDS_MAX || depth > DEPTH_MAX) break;
        ct__text_printf(path, "%s%s%s", before ? "." : "", key, json_is_array(value) ? "[]" : "");
        if (path->failed) return ct__no_memory(err, "fields", fields->count);
        const int inner = json_is_object(value) && to_value(value).kind == CT__VALUE_MISSING;
        CT_TRY(inner ? list(value, path, depth + 1, fields, err)
                     : ct__fields_add(fields, path->bytes, type_of(value), err));
        if (json_is_object(json_array_get(value, 0)))
            CT_TRY(list(json_array_get(value, 0), path, depth + 1, fields, err));
        path->used = before;
        path->bytes[before] = 0;
    }
    return CT_OK;
}

ct_status ct__json_plan_fields(const ct__json_plan *plan, ct__fields *fields, ct_err *err)
{
    ct__text path = {0};
    ct_status status = CT_OK;
    const json_t *first = json_array_get(plan->array, 0);
    if (json_is_object(first))
        status = list(first, &path, 0, fields, err);
    else if (first)
        status = ct__fields_add(fields, "value", type_of(first), err);
    if (status == CT_OK && plan->each) ct__text_put(&path, "^");
    if (status == CT_OK) status = list(plan->message, &path, 0, fields, err);
    ct__text_free(&path);
    return status;
}
