/* plugin.c: measurement models from a shared object.
 *
 * The description is checked from its first member on, because a plugin of another version may have another layout
 * behind it. What is refused is unloaded. What is accepted stays loaded: graphs keep pointers to its models. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "graph/graph.h"

#include <covtune/plugin.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>

#define SYMBOL "ct_plugin_describe"

typedef const ct_plugin *describe_function(void);

/* What dlerror says, without the path that it begins with. */
static const char *loader_error(const char *path)
{
    const char  *text = dlerror();
    const size_t n = strlen(path);
    if (!text) return "no reason is given";
    return !strncmp(text, path, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text; /* foreign text */
}

static ct_status open_object(const char *path, void **object, ct_err *err)
{
    struct stat info;
    if (stat(path, &info)) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return ct_fail(err, CT_E_IO, "%s: it is not a file; a plugin is a shared object", path);
    const size_t size = strlen(path) + 3;
    char        *file = ct__zalloc((int64_t)size, 1);
    if (!file) return ct__no_memory(err, "bytes of a path", (int64_t)size);
    snprintf(file, size, "%s%s", strchr(path, '/') ? "" : "./", path); /* no search path */
    *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    ct_status status = CT_OK;
    if (!*object)
        status = ct_fail(err, CT_E_IO, "%s: it is not a shared object that can be loaded: %s", path,
                         loader_error(file));
    free(file);
    return status;
}

static ct_status check_description(const char *path, const ct_plugin *p, ct_err *err)
{
    if (!p) return ct_fail(err, CT_E_UNSUPPORTED, "%s: " SYMBOL " returns NULL", path);
    if (p->abi != CT_PLUGIN_ABI)
        return ct_fail(err, CT_E_UNSUPPORTED,
                       "%s: the plugin is of ABI %u, this covtune of ABI %u; compile it with the headers of covtune %s",
                       path, (unsigned)p->abi, CT_PLUGIN_ABI, ct_version());
    if (p->ops_size != sizeof(ct_factor_ops))
        return ct_fail(err, CT_E_UNSUPPORTED,
                       "%s: its ct_factor_ops has %u bytes, that of this covtune %u; compile it with the headers of "
                       "covtune %s",
                       path, (unsigned)p->ops_size, (unsigned)sizeof(ct_factor_ops), ct_version());
    if (p->count < 1 || p->count > CT_PLUGIN_MODELS_MAX || !p->model)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: the plugin has %d measurement models; 1 to %d are possible", path,
                       p->model ? (int)p->count : 0, CT_PLUGIN_MODELS_MAX);
    return CT_OK;
}

static ct_status add_models(const char *path, const ct_plugin *p, ct_factor_registry *registry, ct_err *err)
{
    int before = 0;
    while (ct_factor_registry_at(registry, before)) before++;
    for (int32_t i = 0; i < p->count; i++) {
        ct_err          why = {0};
        const ct_status status = ct_factor_registry_add(registry, p->model[i], &why);
        if (status == CT_OK) continue;
        ct__factor_registry_cut(registry, before);
        return ct_fail(err, status, "%s: %s", path, why.text);
    }
    return CT_OK;
}

ct_status ct_plugin_load(const char *path, ct_factor_registry *registry, const ct_plugin **out, ct_err *err)
{
    void              *object = NULL;
    const ct_plugin   *plugin = NULL;
    describe_function *describe = NULL;
    if (out) *out = NULL;
    CT_TRY(open_object(path, &object, err));
    void *const symbol = dlsym(object, SYMBOL);
    ct_status   status = CT_OK;
    if (symbol) {
        memcpy(&describe, &symbol, sizeof describe); /* POSIX, not ISO C, makes a function of it */
        plugin = describe();
        status = check_description(path, plugin, err);
    } else {
        status = ct_fail(err, CT_E_UNSUPPORTED,
                         "%s: it has no function " SYMBOL "; a plugin has one (covtune/plugin.h, CT_PLUGIN)", path);
    }
    if (status == CT_OK) status = add_models(path, plugin, registry, err);
    if (status != CT_OK) dlclose(object);
    else if (out) *out = plugin;
    return status;
}
