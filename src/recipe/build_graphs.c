/* build_graphs.c: recipes of files that are graphs already. */
#include "recipe/build.h"

ct_status ct__graphs_import(ct__import *imp)
{
    return ct_fail(imp->err, CT_E_UNSUPPORTED, "%s:%d: sequences: not yet imported by this build", imp->recipe->name,
                   imp->recipe->sequences.line);
}
