/* covtune/plugin.h: measurement models of your own in a shared object, for `covtune --plugin FILE` and other programs.
 *
 * A plugin is a shared object with one exported function, ct_plugin_describe, which CT_PLUGIN defines:
 *
 *     static const ct_factor_ops wall = {.name = "wall_se2", ...};
 *     static const ct_factor_ops *const models[] = {&wall};
 *     CT_PLUGIN("walls", models)
 *
 *     cc -shared -fPIC -o libwalls.so walls.c
 *
 * Sequence files then name its models. docs/plugins.md has an example that works.
 */
#ifndef COVTUNE_PLUGIN_H
#define COVTUNE_PLUGIN_H

#include <covtune/base.h>
#include <covtune/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with ct_plugin, ct_factor_ops, ct_kind and the layout of values. A plugin of another number, or with another
 * size of ct_factor_ops, is refused: it has to be compiled again. */
#define CT_PLUGIN_ABI        1u
#define CT_PLUGIN_MODELS_MAX 1000

/* The first two members stay where they are in all versions. */
typedef struct {
    uint32_t                    abi;      /* CT_PLUGIN_ABI                */
    uint32_t                    ops_size; /* sizeof(ct_factor_ops)        */
    const char                 *name;     /* for messages                 */
    int32_t                     count;    /* of models, 1 to CT_PLUGIN_MODELS_MAX */
    const ct_factor_ops *const *model;
} ct_plugin;

#if defined(__GNUC__)
#define CT_PLUGIN_VISIBLE __attribute__((visibility("default")))
#else
#define CT_PLUGIN_VISIBLE
#endif
#ifdef __cplusplus
#define CT_PLUGIN_EXPORT extern "C" CT_PLUGIN_VISIBLE
#else
#define CT_PLUGIN_EXPORT CT_PLUGIN_VISIBLE
#endif

/* Defines the exported function, in C and C++; `models` is an array of pointers to ct_factor_ops. */
#define CT_PLUGIN(title, models)                                                                                       \
    CT_PLUGIN_EXPORT const ct_plugin *ct_plugin_describe(void);                                                        \
    const ct_plugin                  *ct_plugin_describe(void)                                                         \
    {                                                                                                                  \
        static const ct_plugin plugin = {CT_PLUGIN_ABI, sizeof(ct_factor_ops), title,                                  \
                                         sizeof(models) / sizeof *(models), models};                                   \
        return &plugin;                                                                                                \
    }

/* Load a shared object and add its models to the registry. The object's code runs with all rights of the process: load
 * what you have built or trust, and never what a file names. It stays loaded until the process ends. A path without a
 * slash is a file of the current folder; no search path is used. CT_E_IO if the file cannot be read or loaded,
 * CT_E_UNSUPPORTED if it is no plugin or of another ABI, CT_E_ARGUMENT if a model is refused (ct_factor_registry_add);
 * then the registry has none of its models. *out (may be NULL) <- its description, or NULL. */
ct_status ct_plugin_load(const char *path, ct_factor_registry *registry, const ct_plugin **out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
