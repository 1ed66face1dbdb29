/* message_plan.c: wanted fields of messages, compiled to a tree.
 *
 * A node stands for a member of a struct, or an element of an array in it. Siblings are in the order of the message, so
 * that decoding passes over it once. A path is "pose.pose.position.x", "ranges[3]", "transforms[0].header.stamp"; parts
 * of times are "stamp.sec" and "stamp.nanosec" (in ROS 1 also "secs" and "nsecs"). With `each`, paths are those of the
 * elements, and "^.path" those of the message. */
#include "source/message_plan.h"

#include "base/text.h"

ct_status ct__plan_new(const ct__definition *d, const char *each, ct__plan **out, ct_err *err)
{
    ct__plan *plan = ct__zalloc(1, sizeof *plan);
    *out = NULL;
    if (!plan) return ct__no_memory(err, "fields", 1);
    plan->d = d;
    plan->message = plan->element = plan->array = -1;
    const ct_status status = each && *each ? ct__plan_bind_each(plan, each, err) : CT_OK;
    if (status != CT_OK) {
        ct__plan_free(plan);
        return status;
    }
    *out = plan;
    return CT_OK;
}

void ct__plan_free(ct__plan *plan)
{
    if (!plan) return;
    free(plan->node);
    free(plan);
}

const ct__member *ct__plan_each(const ct__plan *plan) { return plan->each; }

/* ---- Paths ---- */

typedef struct {
    const char *name;
    size_t length;
    int64_t element; /* -1: no index */
} part;

/* Take the first part of a path; *path is what is left. 0: malformed. */
static int take_part(const char **path, part *p)
{
    const char *s = *path;
    p->name = s;
    p->length = strcspn(s, ".[");
    p->element = -1;
    s += p->length;
    if (!p->length) return 0;
    if (*s == '[') {
        if (*++s < '0' || *s > '9') return 0;
        for (p->element = 0; *s >= '0' && *s <= '9'; s++)
            if ((p->element = p->element * 10 + (*s - '0')) > UINT32_MAX) return 0;
        if (*s++ != ']') return 0;
    }
    if (*s == '.' && !*++s)
        return 0;
    else if (*s && s[-1] != '.')
        return 0;
    *path = s;
    return 1;
}

static int find_member(const ct__type *type, const part *p)
{
    for (int64_t i = 0; i < type->members; i++)
        if (!strncmp(type->member[i].name, p->name, p->length) && !type->member[i].name[p->length]) return (int)i;
    return -1;
}

static int is_time(ct__base base) { return base >= CT__TIME && base <= CT__TIME_SIGNED; }

static ct__leaf find_time_part(const char *name)
{
    if (!strcmp(name, "sec") || !strcmp(name, "secs")) return CT__LEAF_SECONDS;
    if (!strcmp(name, "nanosec") || !strcmp(name, "nsec") || !strcmp(name, "nsecs")) return CT__LEAF_NANOSECONDS;
    return CT__LEAF_NONE;
}

/* Where the path leads in a message, as steps. found 0: nowhere. */
typedef struct {
    int found, steps;
    int32_t member[CT__DEPTH_MAX];
    int64_t element[CT__DEPTH_MAX];
    const ct__member *last;
    ct__leaf leaf;
    int wide; /* 1: wide text lies before it or in it */
    int64_t           beyond; /* length of an array of fixed length that the index goes beyond; -1: none */
} route;

/* From the struct `type` on. A path that stops at an array, without index, is found: leaf is CT__LEAF_ARRAY. */
static void find_route(const ct__definition *d, int32_t type, const char *path, route *r)
{
    *r = (route){.leaf = CT__LEAF_NONE, .beyond = -1};
    while (*path && r->steps < CT__DEPTH_MAX) {
        part p;
        const int ok = take_part(&path, &p), i = ok ? find_member(&d->type[type], &p) : -1;
        if (i < 0) return;
        for (int k = 0; k <= i; k++) {
            const ct__member *before = &d->type[type].member[k];
            if (k == i && (before->base == CT__STRUCT && before->array == CT__ONE)) break;
            r->wide |= before->base == CT__WIDE_TEXT || (before->base == CT__STRUCT && d->type[before->type].wide);
        }
        const ct__member *m = &d->type[type].member[i];
        r->member[r->steps] = i;
        r->element[r->steps++] = p.element;
        if (m->array == CT__FIXED && p.element >= m->length) r->beyond = m->length;
        r->last = m;
        if ((m->array == CT__ONE) != (p.element < 0)) {
            r->leaf = CT__LEAF_ARRAY; /* an array without index, or an index of what is none */
            r->found = !*path && m->array != CT__ONE;
            return;
        }
        if (is_time(m->base)) {
            r->leaf = *path ? find_time_part(path) : CT__LEAF_VALUE;
            r->found = r->leaf != CT__LEAF_NONE;
            return;
        }
        if (m->base != CT__STRUCT) {
            r->leaf = CT__LEAF_VALUE;
            r->found = !*path;
            return;
        }
        type = m->type;
    }
    r->found = !*path && r->steps > 0; /* a whole struct: leaf is CT__LEAF_NONE */
}

/* ---- Nodes ---- */

static int precedes(const ct__node *a, const ct__node *b)
{
    return a->member != b->member ? a->member < b->member : a->element < b->element;
}

/* *at <- the node among the siblings whose first is *first; inner nodes are shared, leaves are not. */
static ct_status insert(ct__plan *plan, int32_t parent, ct__node wanted, int32_t *at, ct_err *err)
{
    int32_t *link = parent < 0 ? &plan->message : parent == CT__ELEMENT ? &plan->element : &plan->node[parent].child;
    int32_t before = -1, now = *link;
    while (now >= 0 && precedes(&plan->node[now], &wanted)) before = now, now = plan->node[now].next;
    if (now >= 0 && !precedes(&wanted, &plan->node[now]) && wanted.leaf == CT__LEAF_NONE &&
        plan->node[now].leaf == CT__LEAF_NONE) {
        *at = now;
        return CT_OK;
    }
    CT_TRY(ct__grow(&plan->node, &plan->capacity, plan->nodes + 1, sizeof *plan->node, "fields", err));
    link = parent < 0 ? &plan->message : parent == CT__ELEMENT ? &plan->element : &plan->node[parent].child;
    wanted.next = now;
    wanted.child = -1;
    *at = (int32_t)plan->nodes;
    plan->node[plan->nodes++] = wanted;
    if (before < 0)
        *link = *at;
    else
        plan->node[before].next = *at;
    return CT_OK;
}

static ct_status insert_route(ct__plan *plan, int32_t root, const route *r, int32_t slot, ct_err *err)
{
    int32_t at = root;
    for (int i = 0; i < r->steps; i++) {
        const ct__node node = {.member = r->member[i],
                               .element = r->element[i],
                               .leaf = i == r->steps - 1 ? r->leaf : CT__LEAF_NONE,
                               .slot = slot};
        CT_TRY(insert(plan, at, node, &at, err));
    }
    if (r->leaf == CT__LEAF_ARRAY) plan->array = at;
    return CT_OK;
}

static ct_status refuse_wide(const char *path, ct_err *err)
{
    return ct_fail(err, CT_E_UNSUPPORTED, "%s cannot be read: wide text (wstring) in it or before it is not decoded",
                   path);
}

ct_status ct__plan_bind_each(ct__plan *plan, const char *each, ct_err *err)
{
    route r;
    find_route(plan->d, 0, each, &r);
    if (!r.found)
        return ct_fail(err, CT_E_ARGUMENT, "each: messages of type %s have no field %s", plan->d->type[0].name, each);
    if (r.leaf != CT__LEAF_ARRAY)
        return ct_fail(err, CT_E_ARGUMENT, "each: %s is no array but %s", each, r.last->type_name);
    if (r.wide) return refuse_wide(each, err);
    plan->each = r.last;
    return insert_route(plan, -1, &r, -1, err);
}

/* The route of a name as the caller writes it; *root <- -1 or CT__ELEMENT. */
static void resolve(const ct__plan *plan, const char *path, route *r, int32_t *root)
{
    const int of_message = !plan->each || (path[0] == '^' && path[1] == '.');
    if (path[0] == '^' && path[1] == '.') path += 2;
    *root = of_message ? -1 : CT__ELEMENT;
    *r = (route){.beyond = -1};
    if (of_message) {
        find_route(plan->d, 0, path, r);
    } else if (plan->each->base == CT__STRUCT) {
        find_route(plan->d, plan->each->type, path, r);
    } else if (!strcmp(path, "value")) {
        *r = (route){.found = 1, .leaf = CT__LEAF_VALUE, .last = plan->each, .beyond = -1};
    }
}

ct_status ct__plan_bind(ct__plan *plan, const char *path, int32_t slot, int *found, ct_err *err)
{
    route r;
    int32_t root;
    resolve(plan, path, &r, &root);
    *found = 0;
    if (!r.found) return CT_OK;
    if (r.leaf == CT__LEAF_ARRAY)
        return ct_fail(err, CT_E_ARGUMENT, "%s is an array: name an element, %s[0], or all of them, each: %s", path,
                       path, path);
    if (r.leaf == CT__LEAF_NONE)
        return ct_fail(err, CT_E_ARGUMENT, "%s is a %s: name a field of it, %s.%s", path, r.last->type_name, path,
                       plan->d->type[r.last->type].members ? plan->d->type[r.last->type].member[0].name : "...");
    if (r.wide) return refuse_wide(path, err);
    if (r.beyond >= 0)
        return ct_fail(err, CT_E_ARGUMENT, "%s: the array has %lld elements, the first is [0]", path,
                       (long long)r.beyond);
    *found = 1;
    if (!r.steps) { /* an element of an array of numbers */
        int32_t at;
        return insert(plan, CT__ELEMENT, (ct__node){.element = -1, .leaf = CT__LEAF_VALUE, .slot = slot}, &at, err);
    }
    return insert_route(plan, root, &r, slot, err);
}

ct__base ct__plan_base(const ct__plan *plan, const char *path)
{
    route r;
    int32_t root;
    resolve(plan, path, &r, &root);
    if (!r.found || r.leaf == CT__LEAF_ARRAY || r.leaf == CT__LEAF_NONE) return CT__STRUCT;
    if (r.leaf == CT__LEAF_SECONDS || r.leaf == CT__LEAF_NANOSECONDS) return CT__INT64;
    return r.last->base;
}
