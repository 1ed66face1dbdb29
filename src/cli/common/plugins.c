/* plugins.c: measurement models from shared objects that the command line names. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <stdlib.h>
#include <string.h>

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

char *cli_plugin_words(const cli_io *io)
{
    cli_buffer out = {0};
    if (!io->plugin) return cli_check_alloc(strdup(""));
    char *quoted = cli_shell_quote(io->plugin);
    cli_buffer_printf(&out, " --plugin %s", quoted);
    free(quoted);
    return out.text;
}
