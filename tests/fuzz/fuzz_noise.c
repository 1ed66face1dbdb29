/* fuzz_noise.c: any bytes as a noise file. They are refused with a sentence, or make a table that
 * is written and read back to the same bits. */
#include "fuzz.h"

#include <covtune/noise.h>
#include <string.h>

static void check_equal(const ct_noise *a, const ct_noise *b)
{
    FUZZ_LAW(ct_noise_count(a) == ct_noise_count(b));
    for (int32_t i = 0; i < ct_noise_count(a); i++) {
        const ct_noise_model *m = ct_noise_get(a, i);
        const int32_t         j = ct_noise_find(b, m->name);
        FUZZ_LAW(j >= 0);
        const ct_noise_model *n = ct_noise_get(b, j);
        FUZZ_LAW(m->kind == n->kind && m->dim == n->dim);
        FUZZ_LAW(m->robust.kind == n->robust.kind && m->robust.width == n->robust.width);
        const int entries = m->kind == CT_NOISE_FULL ? m->dim * m->dim : m->dim;
        FUZZ_LAW(!m->row == !n->row && (!m->row || !memcmp(m->row, n->row, (size_t)m->dim * sizeof *m->row)));
        FUZZ_LAW(m->learned == n->learned && !m->measurement == !n->measurement &&
                 (!m->measurement || !strcmp(m->measurement, n->measurement)));
        for (int k = 0; k < entries; k++) FUZZ_LAW(m->covariance[k] == n->covariance[k]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ct_err    err = {0};
    ct_noise *noise = NULL, *again = NULL;
    FUZZ_LAW(ct_noise_new(&noise, &err) == CT_OK && ct_noise_new(&again, &err) == CT_OK);
    fuzz_write("in.json", data, size);
    if (ct_noise_read(noise, "in.json", &err) == CT_OK) {
        FUZZ_LAW(ct_noise_write(noise, "out.json", &err) == CT_OK);
        FUZZ_LAW(ct_noise_read(again, "out.json", &err) == CT_OK);
        check_equal(noise, again);
    } else {
        FUZZ_LAW(err.text[0]);
    }
    ct_noise_free(noise);
    ct_noise_free(again);
    return 0;
}
