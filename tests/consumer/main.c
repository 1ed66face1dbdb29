/* A user's program: prints the version of the library it runs with. */
#include <covtune/covtune.h>
#include <stdio.h>

int main(void)
{
    ct_err err = {0};
    ct_fail(&err, CT_E_ARGUMENT, "covtune %s", ct_version());
    return puts(err.text) < 0;
}
