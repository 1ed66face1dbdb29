/* fuzz_net.c: any bytes as a network. They are refused with a sentence, or make a net that is written and read back
 * to the same bits. */
#include "fuzz.h"

#include <covtune/net.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ct_err  err = {0};
    ct_net *net = NULL, *again = NULL;
    fuzz_write("in.json", data, size);
    if (ct_net_read("in.json", &net, &err) == CT_OK) {
        FUZZ_LAW(ct_net_write(net, "out.json", &err) == CT_OK);
        FUZZ_LAW(ct_net_read("out.json", &again, &err) == CT_OK);
        FUZZ_LAW(ct_net_inputs(net) == ct_net_inputs(again) && ct_net_weights(net) == ct_net_weights(again));
        FUZZ_LAW(!memcmp(ct_net_values(net), ct_net_values(again), (size_t)ct_net_weights(net) * sizeof(double)));
    } else {
        FUZZ_LAW(!net && err.text[0]);
    }
    ct_net_free(net);
    ct_net_free(again);
    return 0;
}
