/* unit.c: units as factors: "deg", "km/h", "m/s^2". */
#include "source/expression.h"

#include <math.h>

static const struct {
    const char *name;
    double factor;
} unit[] = {
#define X(name, factor) {name, factor},
    CT_UNIT_LIST(X)
#undef X
};
#define UNITS (int)(sizeof unit / sizeof *unit)

static const char *unit_at(const void *list, int i)
{
    (void)list;
    return i < UNITS ? unit[i].name : NULL;
}

/* One unit at *at, without its power. */
static ct_status read_one(const char *text, int *at, double *factor, ct_err *err)
{
    const ct__token token = ct__token_at(text, *at, 0);
    const int length = token.end - token.begin;
    char word[32];
    if (token.kind == CT__TOKEN_END) return ct__expression_bad(text, token.begin, err, "a unit is missing");
    if (length < (int)sizeof word && token.kind != CT__TOKEN_BAD) {
        memcpy(word, text + token.begin, (size_t)length);
        word[length] = 0;
        *at = token.end;
        for (int i = 0; i < UNITS; i++)
            if (!strcmp(unit[i].name, word)) return *factor = unit[i].factor, CT_OK;
        const char *nearest = ct_nearest(word, unit_at, NULL);
        if (nearest) return ct__expression_bad(text, token.begin, err, "no unit \"%s\"; is it \"%s\"?", word, nearest);
    }
    return ct__expression_bad(text, token.begin, err, "expected a unit (m, mm, km, deg, s, ns, g, rpm, ... or km/h)");
}

/* "^2" or "^-1" at *at, if there is one. */
static ct_status read_power(const char *text, int *at, int *power, ct_err *err)
{
    ct__token token = ct__token_at(text, *at, 0);
    *power = 1;
    if (token.kind != CT__TOKEN_MARK || text[token.begin] != '^') return CT_OK;
    token = ct__token_at(text, token.end, 0);
    const int negative = token.kind == CT__TOKEN_MARK && text[token.begin] == '-';
    if (negative) token = ct__token_at(text, token.end, 0);
    if (token.kind != CT__TOKEN_NUMBER || token.number != floor(token.number) || token.number > 9)
        return ct__expression_bad(text, token.begin, err, "the power of a unit is an integer from -9 to 9");
    *power = negative ? -(int)token.number : (int)token.number;
    *at = token.end;
    return CT_OK;
}

ct_status ct__unit_read(const char *text, int *at, double *factor, ct_err *err)
{
    double over = 1, under = 1; /* apart, so that km/h is 1000 / 3600, rounded once */
    for (int divide = 0;;) {
        double one = 1;
        int power;
        CT_TRY(read_one(text, at, &one, err));
        CT_TRY(read_power(text, at, &power, err));
        for (int i = 0; i < (power < 0 ? -power : power); i++) {
            if ((power < 0) != divide)
                under *= one;
            else
                over *= one;
        }
        const ct__token token = ct__token_at(text, *at, 0);
        if (token.kind != CT__TOKEN_MARK || (text[token.begin] != '*' && text[token.begin] != '/')) break;
        divide = text[token.begin] == '/';
        *at = token.end;
    }
    *factor = over / under;
    if (!isfinite(*factor) || *factor == 0) return ct__expression_bad(text, *at, err, "the unit is beyond a double");
    return CT_OK;
}
