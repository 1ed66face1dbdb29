/* message_decode.c: values of ROS 1 and CDR messages by a plan.
 *
 * ROS 1: little endian, one after the other; text and sequences after a uint32 of their length. CDR: a header of 4
 * bytes that names the byte order and the version, then numbers at multiples of their width; text ends with a 0 that
 * its length counts. References: "Serialization" of the ROS 1 wiki; OMG DDS-XTypes 1.3, 7.4.
 *
 * A message is walked once, in its order, and no further than the last wanted field. Every step checks the bytes that
 * are left. */
#include "source/message_plan.h"

static int is_time(ct__base base) { return base >= CT__TIME && base <= CT__TIME_SIGNED; }

/* ---- Bytes ---- */

static void align(ct__cursor *c, int width)
{
    const int64_t unit = c->alignment == CT__PACKED ? 1 : c->alignment == CT__ALIGN4 && width > 4 ? 4 : width;
    c->at = (c->at + unit - 1) & ~(unit - 1);
}

/* The next number of `width` bytes as they are, in our byte order. 0: the message ends early. */
static int take(ct__cursor *c, int width, uint64_t *bits)
{
    uint8_t b[8];
    align(c, width);
    if (c->size - c->at < width) return 0;
    memcpy(b, c->bytes + c->at, (size_t)width);
    c->at += width;
    *bits = 0;
    for (int i = 0; i < width; i++) *bits |= (uint64_t)b[i] << 8 * (c->swap ? width - 1 - i : i);
    return 1;
}

static int take_length(ct__cursor *c, int64_t *length)
{
    uint64_t bits;
    if (!take(c, 4, &bits) || (int64_t)bits > c->size - c->at) return 0;
    *length = (int64_t)bits;
    return 1;
}

/* ---- Skipping ---- */

static int skip_elements(const ct__definition *d, ct__cursor *c, const ct__member *m, int64_t n);

static int skip_member(const ct__definition *d, ct__cursor *c, const ct__member *m)
{
    int64_t n = m->array == CT__FIXED ? m->length : 1;
    if (m->array == CT__SEQUENCE && !take_length(c, &n)) return 0;
    return skip_elements(d, c, m, n);
}

static int skip_struct(const ct__definition *d, ct__cursor *c, const ct__type *type)
{
    for (int64_t i = 0; i < type->members; i++)
        if (!skip_member(d, c, &type->member[i])) return 0;
    return 1;
}

/* Recursion is as deep as the type, at most CT__DEPTH_MAX. What is variable takes 4 bytes at least. */
static int skip_elements(const ct__definition *d, ct__cursor *c, const ct__member *m, int64_t n)
{
    if (!ct__member_is_variable(d, m)) {
        const int64_t after = ct__layout_after(d, m, c->alignment, c->at, n);
        if (after < 0 || after > c->size) return 0;
        c->at = after;
        return 1;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t length;
        if (m->base == CT__WIDE_TEXT) return 0; /* no plan leads past it */
        if (m->base == CT__STRUCT) {
            if (!skip_struct(d, c, &d->type[m->type])) return 0;
        } else {
            if (!take_length(c, &length)) return 0;
            c->at += length;
        }
    }
    return 1;
}

/* ---- Values ---- */

static int64_t sign_extend(uint64_t bits, int width)
{
    const int shift = 64 - 8 * width;
    return (int64_t)(bits << shift) >> shift;
}

static int take_time(ct__cursor *c, ct__base base, int64_t *seconds, int64_t *ns)
{
    uint64_t a, b;
    if (!take(c, 4, &a) || !take(c, 4, &b)) return 0;
    *seconds = base == CT__TIME_UNSIGNED ? (int64_t)a : sign_extend(a, 4);
    *ns = base == CT__TIME_SIGNED ? sign_extend(b, 4) : (int64_t)b;
    return 1;
}

static int take_text(const ct__cursor *of, ct__cursor *c, ct__value *value)
{
    int64_t length;
    if (!take_length(c, &length) || length > INT32_MAX) return 0;
    *value = (ct__value){.kind = CT__VALUE_TEXT, .text = (const char *)c->bytes + c->at};
    c->at += length;
    if (of->alignment != CT__PACKED && length && !value->text[length - 1]) length--;
    value->length = (int32_t)length;
    return 1;
}

static ct__value to_value(ct__base base, uint64_t bits)
{
    switch (base) {
    case CT__FLOAT32: {
        const uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof f);
        return (ct__value){.kind = CT__VALUE_NUMBER, .number = (double)f};
    }
    case CT__FLOAT64: {
        double f;
        memcpy(&f, &bits, sizeof f);
        return (ct__value){.kind = CT__VALUE_NUMBER, .number = f};
    }
    case CT__UINT64:
        if (bits > INT64_MAX) return (ct__value){.kind = CT__VALUE_NUMBER, .number = (double)bits};
        return (ct__value){.kind = CT__VALUE_INTEGER, .integer = (int64_t)bits};
    case CT__INT8:
    case CT__INT16:
    case CT__INT32:
    case CT__INT64: return (ct__value){.kind = CT__VALUE_INTEGER, .integer = sign_extend(bits, ct__base_width(base))};
    default: return (ct__value){.kind = CT__VALUE_INTEGER, .integer = (int64_t)bits};
    }
}

/* One value of a simple type, into the slots of all nodes from `node` on that stand for it. */
static int read_value(const ct__plan *plan, ct__cursor *c, ct__base base, int32_t node, ct__value *value)
{
    const ct__node *first = &plan->node[node];
    ct__value v = {0};
    int64_t seconds = 0, ns = 0;
    uint64_t bits;
    if (is_time(base)) {
        if (!take_time(c, base, &seconds, &ns)) return 0;
    } else if (base == CT__TEXT) {
        if (!take_text(c, c, &v)) return 0;
    } else {
        if (base == CT__WIDE_TEXT || !take(c, ct__base_width(base), &bits)) return 0;
        v = to_value(base, bits);
    }
    for (const ct__node *n = first; n; n = n->next < 0 ? NULL : &plan->node[n->next]) {
        if (n->member != first->member || n->element != first->element) break;
        if (n->slot < 0) continue;
        if (is_time(base))
            v = n->leaf == CT__LEAF_SECONDS ? (ct__value){.kind = CT__VALUE_INTEGER, .integer = seconds}
                : n->leaf == CT__LEAF_NANOSECONDS
                    ? (ct__value){.kind = CT__VALUE_INTEGER, .integer = ns}
                    : (ct__value){.kind = CT__VALUE_TIME, .integer = seconds * 1000000000 + ns};
        value[n->slot] = v;
    }
    return 1;
}

/* ---- The walk ---- */

/* The first sibling after `node` that stands for another member (or another element, if by_element). */
static int32_t next_other(const ct__plan *plan, int32_t node, int by_element)
{
    const ct__node *n = &plan->node[node];
    int32_t next = n->next;
    while (next >= 0 && plan->node[next].member == n->member && (!by_element || plan->node[next].element == n->element))
        next = plan->node[next].next;
    return next;
}

static int walk(ct__plan *plan, ct__cursor *c, const ct__type *type, int32_t node, int last, ct__value *value);

/* The element, or the member that is no array, that `node` and its equals stand for. */
static int read_one(ct__plan *plan, ct__cursor *c, const ct__member *m, int32_t node, int last, ct__value *value)
{
    if (m->base == CT__STRUCT) return walk(plan, c, &plan->d->type[m->type], plan->node[node].child, last, value);
    return read_value(plan, c, m->base, node, value);
}

/* Elements of an array, from `node` on; last: nothing after this member is wanted. */
static int read_array(ct__plan *plan, ct__cursor *c, const ct__member *m, int32_t node, int last, ct__value *value)
{
    int64_t n = m->length, at = 0;
    if (m->array == CT__SEQUENCE && !take_length(c, &n)) return 0;
    if (n > c->size) return 0; /* also of elements without bytes there are no more than this */
    const int32_t after = next_other(plan, node, 0);
    if (node == plan->array || plan->node[node].leaf == CT__LEAF_ARRAY) {
        plan->cursor = *c;
        plan->left = n;
        node = next_other(plan, node, 1);
    }
    while (node != after && plan->node[node].element < n) {
        const int32_t next = next_other(plan, node, 1);
        const int64_t wanted = plan->node[node].element;
        if (!skip_elements(plan->d, c, m, wanted - at)) return 0;
        if (!read_one(plan, c, m, node, last && next == after, value)) return 0;
        at = wanted + 1;
        node = next;
    }
    return last || skip_elements(plan->d, c, m, n - at);
}

/* Members of a struct, from its first node on. last: nothing after the struct is wanted. */
static int walk(ct__plan *plan, ct__cursor *c, const ct__type *type, int32_t node, int last, ct__value *value)
{
    for (int32_t i = 0; i < type->members && (node >= 0 || !last); i++) {
        const ct__member *m = &type->member[i];
        if (node < 0 || plan->node[node].member != i) {
            if (!skip_member(plan->d, c, m)) return 0;
            continue;
        }
        const int32_t next = next_other(plan, node, 0);
        if (!(m->array == CT__ONE ? read_one(plan, c, m, node, last && next < 0, value)
                                  : read_array(plan, c, m, node, last && next < 0, value)))
            return 0;
        node = next;
    }
    return 1;
}

/* ---- Messages ---- */

/* The header of CDR: 0, the kind, two bytes of options. Kinds: OMG RTPS 2.5 (0, 1, 6, 7), and those of XTypes 1.3 as
 * some writers have them (16, 17). */
static ct_status open_cdr(ct__cursor *c, ct_err *err)
{
    if (c->size < 4)
        return ct_fail(err, CT_E_PARSE, "the message ends after %lld bytes, within its CDR header", (long long)c->size);
    const int kind = c->bytes[0] << 8 | c->bytes[1];
    switch (kind) {
    case 0x00:
    case 0x01: c->alignment = CT__ALIGN8; break;
    case 0x06:
    case 0x07:
    case 0x10:
    case 0x11: c->alignment = CT__ALIGN4; break;
    default:
        return ct_fail(err, CT_E_UNSUPPORTED,
                       "the message's CDR header says encoding 0x%04x; decoded are plain CDR (0, 1) and CDR2 (6, 7)",
                       kind);
    }
    c->swap = !(kind & 1);
    c->bytes += 4;
    c->size -= 4;
    return CT_OK;
}

static ct_status ends_early(const ct__plan *plan, const ct__cursor *c, ct_err *err)
{
    return ct_fail(err, CT_E_PARSE,
                   "the message does not fit its type %s: it has %lld bytes, and its fields or the "
                   "lengths in it need more",
                   plan->d->type[0].name, (long long)c->size);
}

ct_status ct__plan_begin(ct__plan *plan, const void *message, size_t size, ct__value *value, int32_t slots, ct_err *err)
{
    ct__cursor c = {.bytes = message, .size = (int64_t)size, .alignment = CT__PACKED};
    for (int32_t i = 0; i < slots; i++) value[i] = (ct__value){.kind = CT__VALUE_MISSING};
    plan->left = 0;
    if (!plan->d->ros1) CT_TRY(open_cdr(&c, err));
    if (!walk(plan, &c, &plan->d->type[0], plan->message, 1, value)) {
        plan->left = 0;
        return ends_early(plan, &c, err);
    }
    if (!plan->each) plan->left = 1;
    return CT_OK;
}

/* Values of the last element that this one may lack (elements of arrays) become missing. */
static void forget(const ct__plan *plan, int32_t node, ct__value *value)
{
    for (; node >= 0; node = plan->node[node].next) {
        if (plan->node[node].slot >= 0) value[plan->node[node].slot] = (ct__value){.kind = CT__VALUE_MISSING};
        forget(plan, plan->node[node].child, value);
    }
}

ct_status ct__plan_next(ct__plan *plan, ct__value *value, int *more, ct_err *err)
{
    *more = plan->left > 0;
    if (!*more) return CT_OK;
    plan->left--;
    if (!plan->each) return CT_OK;
    ct__cursor *c = &plan->cursor;
    int ok;
    forget(plan, plan->element, value);
    if (plan->each->base != CT__STRUCT)
        ok = plan->element < 0 ? skip_elements(plan->d, c, plan->each, 1)
                               : read_value(plan, c, plan->each->base, plan->element, value);
    else
        ok = walk(plan, c, &plan->d->type[plan->each->type], plan->element, plan->left == 0, value);
    return ok ? CT_OK : ends_early(plan, c, err);
}
