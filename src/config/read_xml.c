#include "config/config.h"
ct_status ct__config_read_xml(ct_config *c, ct_err *err)
{
    return ct_fail(err, CT_E_UNSUPPORTED, "%s: xml is not read yet", c->name);
}
