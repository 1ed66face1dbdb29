#include "config/config.h"
ct_status ct__config_read_json(ct_config *c, ct_err *err)
{
    return ct_fail(err, CT_E_UNSUPPORTED, "%s: json is not read yet", c->name);
}
