/* fuzz_data.c: any bytes as a sequence; the first one says the format ('0' the first in the list).
 * They are refused with a sentence, or make a graph that covtune's own format keeps: written and
 * read back it has the same variables, factors and error, to the bit. */
#include "fuzz.h"

#include <covtune/data.h>
#include <math.h>

/* The error under the table's models; NaN and infinity count as equal to themselves. */
static void check_equal(const ct_sequence *a, const ct_noise *noise_a, const ct_sequence *b, const ct_noise *noise_b)
{
    FUZZ_LAW(ct_graph_variables(a->graph) == ct_graph_variables(b->graph));
    FUZZ_LAW(ct_graph_factors(a->graph) == ct_graph_factors(b->graph));
    const double ea = ct_graph_error(a->graph, noise_a, ct_graph_initial_const(a->graph));
    const double eb = ct_graph_error(b->graph, noise_b, ct_graph_initial_const(b->graph));
    FUZZ_LAW(ea == eb || (isnan(ea) && isnan(eb)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const ct_format format = (ct_format)((unsigned)(data[0] - '0') % CT_FORMAT_COUNT);
    ct_err          err = {0};
    ct_noise       *noise = NULL, *noise_again = NULL;
    ct_sequence    *seq = NULL, *again = NULL;
    FUZZ_LAW(ct_noise_new(&noise, &err) == CT_OK && ct_noise_new(&noise_again, &err) == CT_OK);
    fuzz_write("in", data + 1, size - 1);
    if (ct_sequence_read("in", format, noise, &seq, &err) == CT_OK) {
        FUZZ_LAW(ct_sequence_write(seq, noise, NULL, CT_FORMAT_COVTUNE, 0, "out", NULL, &err) == CT_OK);
        FUZZ_LAW(ct_sequence_read("out", CT_FORMAT_COVTUNE, noise_again, &again, &err) == CT_OK);
        check_equal(seq, noise, again, noise_again);
    } else {
        FUZZ_LAW(!seq && err.text[0]);
    }
    ct_sequence_free(seq);
    ct_sequence_free(again);
    ct_noise_free(noise);
    ct_noise_free(noise_again);
    return 0;
}
