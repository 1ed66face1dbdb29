/* evaluate.c: programs of expressions run on a record. */
#include "source/program.h"

#include <math.h>

/* Nested brackets and operators, and the arguments of each call, hold one value a level; the parser limits levels. */
#define STACK 256

/* Python's: the result has the sign of b, so that (a + pi) % (2 * pi) - pi lies in [-pi, pi). */
static double modulo(double a, double b)
{
    const double r = fmod(a, b);
    if (r == 0) return copysign(0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

/* Of one operand. What is computed from NaN is NaN. */
static double unary(opcode op, double x)
{
    switch (op) {
    case OP_NEGATE: return -x;
    case OP_NOT: return isnan(x) ? x : x == 0;
    case OP_ABS: return fabs(x);
    case OP_SQRT: return sqrt(x);
    case OP_SIN: return sin(x);
    case OP_COS: return cos(x);
    case OP_TAN: return tan(x);
    case OP_ASIN: return asin(x);
    case OP_ACOS: return acos(x);
    case OP_ATAN: return atan(x);
    case OP_EXP: return exp(x);
    case OP_LOG: return log(x);
    case OP_FLOOR: return floor(x);
    case OP_ROUND: return round(x);
    default: return isnan(x); /* OP_ISNAN */
    }
}

/* Comparisons with NaN are 0, != too; everything else is NaN, also pow(1, NaN), which C has as 1. */
static double binary(opcode op, double a, double b)
{
    const int compares = op >= OP_LESS && op <= OP_NOT_EQUAL;
    if (isnan(a) || isnan(b)) return compares ? 0 : NAN;
    switch (op) {
    case OP_OR: return a != 0 || b != 0;
    case OP_AND: return a != 0 && b != 0;
    case OP_LESS: return a < b;
    case OP_LESS_EQUAL: return a <= b;
    case OP_MORE: return a > b;
    case OP_MORE_EQUAL: return a >= b;
    case OP_EQUAL: return a == b;
    case OP_NOT_EQUAL: return a != b;
    case OP_ADD: return a + b;
    case OP_SUBTRACT: return a - b;
    case OP_MULTIPLY: return a * b;
    case OP_DIVIDE: return a / b;
    case OP_MODULO: return modulo(a, b);
    case OP_POWER: return pow(a, b);
    case OP_ATAN2: return atan2(a, b);
    case OP_HYPOT: return hypot(a, b);
    case OP_MIN: return b < a ? b : a;
    default: return b > a ? b : a; /* OP_MAX */
    }
}

/* A text in its comparable form: where it is, or a copy in buf. */
static const char *comparable(const ct__expression *e, const ct__value value[], int32_t place, char buf[64],
                              size_t *length)
{
    if (place < 0) {
        *length = strlen(e->constant[~place]);
        return e->constant[~place];
    }
    *length = ct__value_text(&value[place], buf, 64);
    if (*length < 64) return buf;
    return value[place].text; /* numbers are shorter: it is a word that stays as it is */
}

static int same_text(const ct__expression *e, const ct__value value[], const instruction *i)
{
    char room_a[64], room_b[64];
    size_t length_a, length_b;
    const char *a = comparable(e, value, i->a, room_a, &length_a);
    const char *b = comparable(e, value, i->b, room_b, &length_b);
    return length_a == length_b && !memcmp(a, b, length_a);
}

static ct_status load(const ct__value *value, double *number, ct_err *err)
{
    char show[CT__SHOW_MAX];
    int ok = 1;
    *number = ct__value_number(value, &ok);
    if (ok) return CT_OK;
    ct__show(value->text, (size_t)value->length, show);
    return ct_fail(err, CT_E_PARSE, "expected a number, found %s", show);
}

ct_status ct__expression_value(const ct__expression *e, const ct__value value[], double *out, ct_err *err)
{
    double stack[STACK];
    int top = -1;
    for (int32_t k = 0; k < e->count; k++) {
        const instruction *i = &e->code[k];
        switch (i->op) {
        case OP_NUMBER: stack[++top] = i->number; break;
        case OP_LOAD: CT_TRY(load(&value[i->a], &stack[++top], err)); break;
        case OP_SAME_TEXT: stack[++top] = same_text(e, value, i); break;
        case OP_DIFFERENT_TEXT: stack[++top] = !same_text(e, value, i); break;
        case OP_ATAN2:
        case OP_HYPOT:
        case OP_MIN:
        case OP_MAX: top--, stack[top] = binary(i->op, stack[top], stack[top + 1]); break;
        default:
            if (i->op < OP_OR || i->op >= OP_NEGATE)
                stack[top] = unary(i->op, stack[top]);
            else
                top--, stack[top] = binary(i->op, stack[top], stack[top + 1]);
        }
    }
    *out = stack[0];
    return CT_OK;
}
