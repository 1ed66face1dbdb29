/* print_candidates.c: the decision between candidates, as a table and as JSON. */
#include "cli/learn/learn.h"

#include <math.h>

json_t *learn_candidates_json(const ct_learn_result *r)
{
    json_t *list = cli_array();
    for (int k = 0; k < r->candidates; k++) {
        const ct_learn_candidate *c = &r->candidate[k];
        json_t *o = cli_object();
        const int   closed = r->reference == CT_REFERENCE_CLOSED_FORM; /* a key of older files */
        const char *reference = closed ? "closed_form" : ct_reference_name(r->reference);
        cli_put(o, "candidate", cli_text(isnan(c->prior) ? "start" : isinf(c->prior) ? reference : "learned"));
        cli_put(o, "prior", cli_number(c->prior));
        cli_put(o, "heldout", cli_number(c->heldout));
        cli_put(o, "heldout_error", cli_number(c->heldout_error));
        cli_put(o, "translation", cli_number(c->translation));
        cli_put(o, "rotation", cli_number(c->rotation));
        cli_put(o, "log_ratio", cli_number(c->log_ratio));
        cli_put(o, "log_ratio_error", cli_number(c->log_ratio_error));
        cli_put(o, "translation_ratio", cli_number(c->translation_ratio));
        cli_put(o, "rotation_ratio", cli_number(c->rotation_ratio));
        cli_put(o, "failed", cli_integer(c->failed));
        cli_put(o, "chosen", cli_check_alloc(json_boolean(c->chosen)));
        cli_put(o, "verdict", cli_text(ct_choice_name(c->verdict)));
        cli_append(list, o);
    }
    return list;
}

static const char *number(double value, const char *format, char buf[24])
{
    snprintf(buf, 24, isfinite(value) ? format : "-", value);
    return buf;
}

void learn_print_candidates(const ct_learn_result *r)
{
    if (!r->candidates) return;
    printf("%-14s %10s %10s %19s %6s  %s\n", "candidate", "m", "rad", "loss ratio", "failed", "on held-out sequences");
    for (int k = 0; k < r->candidates; k++) {
        const ct_learn_candidate *c = &r->candidate[k];
        char name[32], m[24], rad[24], ratio[24], error[24], both[64];
        if (isfinite(c->prior)) snprintf(name, sizeof name, "prior %g", c->prior);
        else snprintf(name, sizeof name, "%s", isnan(c->prior) ? "start values" : ct_reference_name(r->reference));
        snprintf(both, sizeof both, "%s +- %s", number(exp(c->log_ratio), "%.3f", ratio),
                 number(exp(c->log_ratio) * c->log_ratio_error, "%.3f", error));
        printf("%-14s %10s %10s %19s %6d  %s\n", name, number(c->translation, "%.4g", m),
               number(c->rotation, "%.4g", rad), c->chosen ? "1" : both, c->failed, ct_choice_meaning(c->verdict));
    }
    putchar('\n');
}
