/* registry.c: measurement models beside the built-in ones, found by name. */
#include "graph/graph.h"

#define NAME_MAX_LENGTH 63

/* Few models: they are searched one by one, once for each line of a file that names a model that is not built in. */
struct ct_factor_registry {
    const ct_factor_ops **model;
    int64_t               count, capacity;
};

ct_status ct_factor_registry_new(ct_factor_registry **out, ct_err *err)
{
    *out = ct__zalloc(1, sizeof **out);
    return *out ? CT_OK : ct__no_memory(err, "registries", 1);
}

void ct_factor_registry_free(ct_factor_registry *registry)
{
    if (!registry) return;
    free(registry->model);
    free(registry);
}

static int is_name(const char *name)
{
    int n = 0;
    for (; n <= NAME_MAX_LENGTH && name[n]; n++) {
        const int letter = name[n] >= 'a' && name[n] <= 'z', digit = name[n] >= '0' && name[n] <= '9';
        if (!letter && (n == 0 || (!digit && name[n] != '_'))) return 0;
    }
    return n >= 1 && n <= NAME_MAX_LENGTH;
}

ct_status ct_factor_registry_add(ct_factor_registry *registry, const ct_factor_ops *ops, ct_err *err)
{
    if (!ops) return ct_fail(err, CT_E_ARGUMENT, "a measurement model is NULL");
    if (!ops->name || !is_name(ops->name))
        return ct_fail(err, CT_E_ARGUMENT,
                       "a measurement model is called \"%.64s\"; a name is 1 to %d lower-case letters, digits and _, "
                       "the first a letter",
                       ops->name ? ops->name : "", NAME_MAX_LENGTH);
    const char *why = ct__factor_inconsistent(ops);
    if (why) return ct_fail(err, CT_E_ARGUMENT, "%s: %s", ops->name, why);
    if (ct_factor_find(ops->name))
        return ct_fail(err, CT_E_ARGUMENT, "%s is the name of a built-in measurement model", ops->name);
    if (ct_factor_registry_find(registry, ops->name))
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is a measurement model of that name already", ops->name);
    CT_TRY(ct__grow(&registry->model, &registry->capacity, registry->count + 1, sizeof *registry->model,
                    "measurement models", err));
    registry->model[registry->count++] = ops;
    return CT_OK;
}

void ct__factor_registry_cut(ct_factor_registry *registry, int count) { registry->count = count; }

const ct_factor_ops *ct_factor_registry_at(const ct_factor_registry *registry, int i)
{
    return registry && i >= 0 && i < registry->count ? registry->model[i] : NULL;
}

const ct_factor_ops *ct_factor_registry_find(const ct_factor_registry *registry, const char *name)
{
    const ct_factor_ops *ops = ct_factor_find(name);
    for (int i = 0; !ops && name && ct_factor_registry_at(registry, i); i++)
        if (!strcmp(registry->model[i]->name, name)) ops = registry->model[i];
    return ops;
}
