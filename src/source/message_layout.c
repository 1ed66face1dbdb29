/* message_layout.c: sizes of types that are the same in every message, and the list of fields.
 *
 * With alignment a, a number of w bytes begins at the next multiple of min(w, a) from the beginning of the message's
 * content. So the size of a struct depends on where it begins, modulo 8. A message is decoded by skipping what is not
 * wanted; a struct without text and sequences is skipped in one step, also where hostile definitions nest it 2^32
 * times. */
#include "source/message.h"

#include "base/text.h"

int ct__base_width(ct__base base)
{
    static const int WIDTH[] = {
        [CT__BOOL] = 1,    [CT__INT8] = 1,   [CT__UINT8] = 1,  [CT__INT16] = 2,       [CT__UINT16] = 2,
        [CT__INT32] = 4,   [CT__UINT32] = 4, [CT__INT64] = 8,  [CT__UINT64] = 8,      [CT__FLOAT32] = 4,
        [CT__FLOAT64] = 8, [CT__TIME] = 8,   [CT__STRUCT] = 0, [CT__TIME_SIGNED] = 8, [CT__TIME_UNSIGNED] = 8,
    };
    return WIDTH[base];
}

static int64_t align_to(int64_t at, int width, ct__alignment alignment)
{
    const int most = alignment == CT__PACKED ? 1 : alignment == CT__ALIGN4 ? 4 : 8;
    const int unit = width < most ? width : most;
    return (at + unit - 1) / unit * unit;
}

static int is_time(ct__base base) { return base >= CT__TIME && base <= CT__TIME_SIGNED; }

/* n structs of a constant size. The offset modulo 8 repeats after at most 8 of them. */
static int64_t after_structs(const ct__type *type, ct__alignment alignment, int64_t at, int64_t n)
{
    int64_t seen_at[8], seen_k[8];
    memset(seen_k, -1, sizeof seen_k);
    for (int64_t k = 0; k < n; k++) {
        const int r = (int)(at % 8);
        if (seen_k[r] >= 0) {
            const int64_t period = k - seen_k[r], step = at - seen_at[r], times = (n - k) / period;
            if (step && times > CT__SIZE_MAX / step) return -1;
            at += step * times;
            k += period * times;
            memset(seen_k, -1, sizeof seen_k);
            if (k >= n) break;
        }
        seen_k[r] = k;
        seen_at[r] = at;
        at += type->size[alignment][r];
        if (at > CT__SIZE_MAX) return -1;
    }
    return at;
}

int64_t ct__layout_after(const ct__definition *d, const ct__member *m, ct__alignment alignment, int64_t at, int64_t n)
{
    if (!n) return at;
    if (m->base == CT__STRUCT) return after_structs(&d->type[m->type], alignment, at, n);
    const int width = ct__base_width(m->base);
    if (n > CT__SIZE_MAX / width) return -1;
    return align_to(at, is_time(m->base) ? 4 : width, alignment) + n * width;
}

int ct__member_is_variable(const ct__definition *d, const ct__member *m)
{
    return m->base == CT__TEXT || m->base == CT__WIDE_TEXT || (m->base == CT__STRUCT && d->type[m->type].variable);
}

/* Sizes of a type whose members' types are known. */
static ct_status compute_sizes(const ct__definition *d, ct__type *type, ct_err *err)
{
    for (int a = 0; a < CT__ALIGNMENTS && !type->variable; a++)
        for (int start = 0; start < 8; start++) {
            int64_t at = start;
            for (int64_t i = 0; i < type->members && at >= 0; i++) {
                const ct__member *m = &type->member[i];
                at = ct__layout_after(d, m, (ct__alignment)a, at, m->array == CT__FIXED ? m->length : 1);
            }
            if (at < 0 || at > CT__SIZE_MAX)
                return ct_fail(err, CT_E_LIMIT, "type %s has more than 2^40 bytes", type->name);
            type->size[a][start] = at - start;
        }
    return CT_OK;
}

/* Depth first; recursion is at most CT__DEPTH_MAX deep. */
static ct_status layout(ct__definition *d, int32_t t, int level, ct_err *err)
{
    ct__type *type = &d->type[t];
    int depth = 0;
    if (type->depth > 0) return CT_OK;
    if (type->depth < 0) return ct_fail(err, CT_E_PARSE, "type %s contains itself", type->name);
    if (level > CT__DEPTH_MAX)
        return ct_fail(err, CT_E_LIMIT, "type %s is nested more than %d deep", type->name, CT__DEPTH_MAX);
    type->depth = -1;
    for (int64_t i = 0; i < type->members; i++) {
        const ct__member *m = &type->member[i];
        if (m->base == CT__STRUCT) {
            CT_TRY(layout(d, m->type, level + 1, err));
            depth = CT_MAX(depth, d->type[m->type].depth);
            type->wide |= d->type[m->type].wide;
        }
        type->wide |= m->base == CT__WIDE_TEXT;
        type->variable |= m->array == CT__SEQUENCE || ct__member_is_variable(d, m);
    }
    if (depth + 1 > CT__DEPTH_MAX)
        return ct_fail(err, CT_E_LIMIT, "type %s is nested more than %d deep", type->name, CT__DEPTH_MAX);
    type->depth = depth + 1;
    return compute_sizes(d, type, err);
}

ct_status ct__definition_layout(ct__definition *d, ct_err *err)
{
    for (int64_t t = 0; t < d->types; t++) CT_TRY(layout(d, (int32_t)t, 1, err));
    return CT_OK;
}

/* ---- Fields ---- */

void ct__fields_free(ct__fields *fields)
{
    for (int64_t i = 0; i < fields->count; i++) {
        free(fields->field[i].name);
        free(fields->field[i].type);
    }
    free(fields->field);
    *fields = (ct__fields){0};
}

ct_status ct__fields_add(ct__fields *fields, const char *name, const char *type, ct_err *err)
{
    CT_TRY(ct__grow(&fields->field, &fields->capacity, fields->count + 1, sizeof *fields->field, "fields", err));
    ct_source_field field = {ct__strdup(name), ct__strdup(type)};
    if (!field.name || !field.type) {
        free(field.name);
        free(field.type);
        return ct__no_memory(err, "fields", fields->count);
    }
    for (char *c = field.name; *c; c++) /* JSON has any */
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    fields->field[fields->count++] = field;
    return CT_OK;
}

/* "float64[36]", "float64[]", "time". */
static void put_type(const ct__member *m, ct__text *text)
{
    ct__text_put(text, is_time(m->base) && strchr(m->type_name, '/')
                           ? (strstr(m->type_name, "Duration") ? "duration" : "time")
                           : m->type_name);
    if (m->array == CT__FIXED) ct__text_printf(text, "[%lld]", (long long)m->length);
    if (m->array == CT__SEQUENCE) ct__text_put(text, "[]");
}

static void cut(ct__text *text, int64_t used)
{
    if (text->failed || !text->bytes) return;
    text->used = used;
    text->bytes[used] = 0;
}

/* Structs are listed by their members, arrays of structs also by themselves; the member `but` is left out. */
static ct_status list(const ct__definition *d, int32_t t, const ct__member *but, ct__text *path, ct__fields *fields,
                      ct_err *err)
{
    for (int64_t i = 0; i < d->type[t].members && fields->count < CT__FIELDS_MAX; i++) {
        if (++fields->visits > 16 * CT__FIELDS_MAX) break;
        const ct__member *m = &d->type[t].member[i];
        const int64_t before = path->used;
        if (m == but) continue;
        ct__text type = {0};
        ct_status status = CT_OK;
        ct__text_printf(path, "%s%s%s", before ? "." : "", m->name, m->array == CT__ONE ? "" : "[]");
        put_type(m, &type);
        if (path->failed || type.failed) status = ct__no_memory(err, "fields", fields->count);
        if (status == CT_OK && (m->base != CT__STRUCT || m->array != CT__ONE))
            status = ct__fields_add(fields, path->bytes, type.bytes, err);
        ct__text_free(&type);
        if (status == CT_OK && m->base == CT__STRUCT) status = list(d, m->type, but, path, fields, err);
        CT_TRY(status);
        cut(path, before);
    }
    return CT_OK;
}

ct_status ct__definition_fields(const ct__definition *d, const ct__member *each, ct__fields *fields, ct_err *err)
{
    ct__text path = {0};
    ct_status status = CT_OK;
    if (each && each->base == CT__STRUCT)
        status = list(d, each->type, NULL, &path, fields, err);
    else if (each)
        status = ct__fields_add(fields, "value", each->type_name, err);
    if (status == CT_OK && each) ct__text_put(&path, "^");
    if (status == CT_OK) status = list(d, 0, each, &path, fields, err);
    ct__text_free(&path);
    return status;
}
