/* method_presets.c: the table of presets.
 *
 * Roles are colours: CT_ROLE_AFTER and CT_ROLE_FIRST are both blue, so that no preset has the latter. Costs were
 * measured on five sequences of D3, twelve parameters, loose bounds (covtune reproduce runtime). The progress bar needs
 * their order of magnitude alone. */
#include "studies/method_presets.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ADJOINT CT_GRADIENT_ADJOINT
#define LOCAL   CT_DIFFERENCE_LOCAL

static const method_preset ALL[] = {
    /* key, name, method, from the table, alone, loss, gradient, cost, quick, role */
    {"lm", "default (lm)", CT_LEARN_LM, -1, 0, LOCAL, ADJOINT, 1, 0, CT_ROLE_AFTER},
    {"lm-alone", "lm, no prior", CT_LEARN_LM, 1, 1, LOCAL, ADJOINT, 0.6, 0, CT_ROLE_FIRST + 2},
    {"closed-form", "closed form", CT_LEARN_CLOSED_FORM, -1, 0, LOCAL, ADJOINT, 0.1, 0, CT_ROLE_FIRST + 9},
    {"likelihood", "likelihood", CT_LEARN_LIKELIHOOD, -1, 0, LOCAL, ADJOINT, 1, 0, CT_ROLE_QUIET},
    {"fw", "Frank-Wolfe", CT_LEARN_FRANK_WOLFE, 1, 0, LOCAL, ADJOINT, 2, 0, CT_ROLE_FIRST + 1},
    {"fw-left", "FW, left loss", CT_LEARN_FRANK_WOLFE, 1, 0, CT_DIFFERENCE_LEFT, ADJOINT, 2, 0, CT_ROLE_FIRST + 10},
    {"fw-numeric", "FW, differences", CT_LEARN_FRANK_WOLFE, 1, 0, LOCAL, CT_GRADIENT_NUMERIC, 12, 0,
     CT_ROLE_FIRST + 3},
    {"fw-log", "FW in logarithms", CT_LEARN_FRANK_WOLFE_LOG, 1, 0, LOCAL, ADJOINT, 2, 0, CT_ROLE_FIRST + 3},
    {"pg", "projected gradient", CT_LEARN_PROJECTED_GRADIENT, 1, 0, LOCAL, ADJOINT, 2, 0, CT_ROLE_FIRST + 4},
    {"lbfgs", "L-BFGS", CT_LEARN_LBFGS, 1, 0, LOCAL, ADJOINT, 2, 0, CT_ROLE_FIRST + 5},
    {"tnewton", "truncated Newton", CT_LEARN_TNEWTON, 1, 0, LOCAL, ADJOINT, 2, 0, CT_ROLE_QUIET},
    {"mma", "MMA", CT_LEARN_MMA, 1, 0, LOCAL, ADJOINT, 2, 0, CT_ROLE_QUIET},
    {"slsqp", "SLSQP", CT_LEARN_SLSQP, 1, 0, LOCAL, ADJOINT, 2, 0, CT_ROLE_QUIET},
    {"nelder-mead", "Nelder-Mead", CT_LEARN_NELDER_MEAD, 1, 0, LOCAL, ADJOINT, 50, 400, CT_ROLE_FIRST + 6},
    {"powell", "Powell", CT_LEARN_POWELL, 1, 0, LOCAL, ADJOINT, 50, 2, CT_ROLE_FIRST + 7},
    {"bobyqa", "BOBYQA", CT_LEARN_BOBYQA, 1, 0, LOCAL, ADJOINT, 30, 600, CT_ROLE_FIRST + 8},
    {"subplex", "Subplex", CT_LEARN_SUBPLEX, 1, 0, LOCAL, ADJOINT, 25, 600, CT_ROLE_FIRST + 9},
    {"crs", "random search", CT_LEARN_CRS, 1, 0, LOCAL, ADJOINT, 240, 1200, CT_ROLE_FIRST + 10},
    {"leo", "LEO", CT_LEARN_LEO, 1, 0, LOCAL, ADJOINT, 5, 0, CT_ROLE_FIRST + 11},
};

/* "Closed_Form" is closed-form. */
static int same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' ? '-' : tolower((unsigned char)*a)) != *b) return 0;
    return !*a && !*b;
}

const method_preset *preset_find(const char *key)
{
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (same_word(key, ALL[i].key)) return &ALL[i];
    return NULL;
}

int preset_list(const char *list, const method_preset *out[], int most, char bad[64])
{
    int n = 0;
    while (*list || !n) {
        const size_t length = strcspn(list, ",");
        char         word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        const method_preset *who = preset_find(word);
        memcpy(bad, word, sizeof word);
        if (!who || n == most) return -1;
        out[n++] = who;
        list += length;
        if (*list == ',') list++;
    }
    return n;
}

int preset_is_zero_order(const method_preset *who)
{
    return ct_learn_method_get_info(who->method)->iterations > 0 &&
           ct_learn_method_has(who->method, CT_LEARN_DESCENDS) && !ct_learn_method_has(who->method, CT_LEARN_GRADIENT);
}

void preset_options(const method_preset *who, ct_trial_options *o)
{
    if (who->difference != LOCAL) o->outer.loss.difference = who->difference;
    o->outer.gradient = who->gradient;
    o->learn.method = who->method;
    o->learn.from_table = who->from_table;
    if (who->alone) o->learn.prior = 0;
}
