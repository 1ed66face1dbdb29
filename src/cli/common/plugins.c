/* plugins.c: measurement models from shared objects that the command line names. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-4 /* of 1 + a derivative: mistakes are larger, kinks nearby mostly not */

/* A command line may be parsed twice (covtune learn CONFIG). The registry is needed until the program ends. */
static ct_factor_registry *registry;
static char               *loaded;

cli_exit cli_load_plugins(cli_io *io)
{
    ct_err err = {0};
    if (!io->plugin) return CLI_GO;
    if (!loaded) {
        if (ct_factor_registry_new(&registry, &err) != CT_OK) cli_check_alloc(NULL);
        char *list = cli_check_alloc(strdup(io->plugin)), *rest = list;
        for (char *path = strtok_r(list, ",", &rest); path; path = strtok_r(NULL, ",", &rest))
            if (ct_plugin_load(path, registry, NULL, &err) != CT_OK) {
                const cli_exit code = cli_fail(io, "--plugin: %s", err.text);
                free(list);
                return code;
            }
        free(list);
        loaded = cli_check_alloc(strdup(io->plugin));
    }
    io->models = registry;
    return CLI_GO;
}

/* The first factor of each model, at the file's values: measurements there are real ones. */
void cli_check_plugin_models(const cli_io *io, const char *path, const ct_sequence *seq)
{
    const ct_factor_ops *ops;
    for (int i = 0; (ops = ct_factor_registry_at(io->models, i)); i++)
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor k = ct_graph_factor(seq->graph, f);
            const double   *x[CT_ARITY_MAX];
            ct_err          err = {0};
            if (k.ops != ops) continue;
            for (int v = 0; v < ops->arity; v++)
                x[v] = ct_graph_initial_const(seq->graph) + ct_graph_offset(seq->graph, k.var[v]);
            if (ct_factor_check(ops, k.z, k.context, x, TOLERANCE, &err) != CT_OK)
                cli_remark(io,
                           "--plugin %s: derivatives of a model are wrong, so solves may fail: %s (factor %d of %s)",
                           io->plugin, err.text, f, path);
            break;
        }
}

char *cli_plugin_words(const cli_io *io)
{
    cli_buffer out = {0};
    if (!io->plugin) return cli_check_alloc(strdup(""));
    char *quoted = cli_shell_quote(io->plugin);
    cli_buffer_printf(&out, " --plugin %s", quoted);
    free(quoted);
    return out.text;
}
