/* fuzz_message.c: a byte for the encoding (r ROS 1, m .msg of ROS 2, i IDL, j JSON), a definition up to a 0, and a
 * message. The definition is refused with a sentence, or its fields are bound, and the message is decoded or refused.
 * Text that is decoded lies in the message. */
#include "fuzz.h"

#include "source/message.h"

enum { SLOTS = 24, RECORDS = 1000 };

/* "a[].b[]" as "a[k].b[k]". */
static void index_path(const char *name, int k, char path[512])
{
    size_t n = 0;
    for (; *name && n < 500; name++) {
        path[n++] = *name;
        if (*name == '[' && name[1] == ']') path[n++] = (char)('0' + k);
    }
    path[n] = 0;
}

static void check_values(const ct__value *value, const uint8_t *message, size_t size)
{
    for (int i = 0; i < SLOTS; i++)
        if (value[i].kind == CT__VALUE_TEXT && message)
            FUZZ_LAW((const uint8_t *)value[i].text >= message && value[i].length >= 0 &&
                     (const uint8_t *)value[i].text + value[i].length <= message + size);
}

static void decode(ct__plan *plan, const uint8_t *message, size_t size)
{
    ct__value value[SLOTS];
    ct_err err = {0};
    int more = 1;
    if (ct__plan_begin(plan, message, size, value, SLOTS, &err) != CT_OK) {
        FUZZ_LAW(err.text[0]);
        return;
    }
    for (int k = 0; more && k < RECORDS; k++) {
        if (ct__plan_next(plan, value, &more, &err) != CT_OK) {
            FUZZ_LAW(err.text[0]);
            return;
        }
        if (more) check_values(value, message, size);
    }
}

static void try_plan(const ct__definition *d, const char *each, const uint8_t *message, size_t size)
{
    ct_err err = {0};
    ct__plan *plan = NULL;
    ct__fields fields = {0};
    if (ct__plan_new(d, each, &plan, &err) != CT_OK) {
        FUZZ_LAW(!plan && err.text[0]);
        return;
    }
    FUZZ_LAW(ct__definition_fields(d, ct__plan_each(plan), &fields, &err) == CT_OK);
    const int64_t step = fields.count / SLOTS + 1;
    int32_t slot = 0;
    for (int64_t i = 0; i < fields.count && slot < SLOTS; i += step, slot++) {
        char path[512];
        int found;
        index_path(fields.field[i].name, (int)(i % 3), path);
        if (ct__plan_bind(plan, path, slot, &found, &err) != CT_OK) FUZZ_LAW(err.text[0]);
    }
    decode(plan, message, size);
    ct__fields_free(&fields);
    ct__plan_free(plan);
}

/* The first array of the message, for `each`; NULL: none. */
static const char *first_array(const ct__definition *d)
{
    for (int64_t i = 0; i < d->type[0].members; i++)
        if (d->type[0].member[i].array != CT__ONE) return d->type[0].member[i].name;
    return NULL;
}

static void try_json(const uint8_t *message, size_t size)
{
    ct__value value[2];
    ct_err err = {0};
    ct__json_plan *plan = NULL;
    ct__fields fields = {0};
    int more = 1;
    FUZZ_LAW(ct__json_plan_new("list", &plan, &err) == CT_OK);
    FUZZ_LAW(ct__json_plan_bind(plan, "^.header.stamp", 0, &err) == CT_OK);
    FUZZ_LAW(ct__json_plan_bind(plan, "x[1].y", 1, &err) == CT_OK);
    if (ct__json_plan_begin(plan, message, size, value, 2, &err) == CT_OK) {
        FUZZ_LAW(ct__json_plan_fields(plan, &fields, &err) == CT_OK);
        for (int k = 0; more && k < RECORDS; k++) FUZZ_LAW(ct__json_plan_next(plan, value, &more, &err) == CT_OK);
    } else
        FUZZ_LAW(err.text[0]);
    ct__fields_free(&fields);
    ct__json_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ct_err err = {0};
    ct__definition *d = NULL;
    if (size < 2 || size > 1 << 16) return 0;
    const uint8_t *text = data + 1, *end = memchr(text, 0, size - 1);
    const size_t length = end ? (size_t)(end - text) : size - 1;
    const uint8_t *message = end ? end + 1 : data + size;
    const size_t left = (size_t)(data + size - message);
    if (data[0] == 'j') {
        try_json(message, left);
        return 0;
    }
    const char *encoding = data[0] == 'r' ? "ros1msg" : data[0] == 'i' ? "ros2idl" : "ros2msg";
    if (ct__definition_new("test_msgs/msg/T", encoding, (const char *)text, length, &d, &err) != CT_OK) {
        FUZZ_LAW(!d && err.text[0]);
        return 0;
    }
    try_plan(d, NULL, message, left);
    if (first_array(d)) try_plan(d, first_array(d), message, left);
    ct__definition_free(d);
    return 0;
}
