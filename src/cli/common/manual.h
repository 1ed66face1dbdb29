/* manual.h: what is generated from the option tables at build time: man pages (manual.c) and completion for shells
 * (completion.c). `covtune --generate` writes them, and `make install` installs them. */
#ifndef CT_CLI_MANUAL_H
#define CT_CLI_MANUAL_H

#include "cli/common/cli.h"

/* covtune.1 and covtune-COMMAND.1 for every subcommand, into a folder that is there. */
ct_status cli_write_manual(const char *folder, ct_err *err);

/* The completion script of a shell: "bash", "zsh" or "fish". NULL: there is none. The caller frees it. */
char *cli_completion(const char *shell);

#endif
