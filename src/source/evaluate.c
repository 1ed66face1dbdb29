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

static int is_binary(opcode op)
{
    return (op >= OP_OR && op < OP_NEGATE) || op == OP_ATAN2 || op == OP_HYPOT || op == OP_MIN || op == OP_MAX;
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
    if (e->count == 1 && e->code->op == OP_LOAD && value[e->code->a].kind == CT__VALUE_NUMBER) { /* most of them */
        *out = value[e->code->a].number;
        return CT_OK;
    }
    for (int32_t k = 0; k < e->count; k++) {
        const instruction *i = &e->code[k];
        switch (i->op) {
        case OP_NUMBER: stack[++top] = i->number; break;
        case OP_LOAD: CT_TRY(load(&value[i->a], &stack[++top], err)); break;
        case OP_SAME_TEXT: stack[++top] = same_text(e, value, i); break;
        case OP_DIFFERENT_TEXT: stack[++top] = !same_text(e, value, i); break;
        default:
            if (is_binary(i->op)) top--, stack[top] = binary(i->op, stack[top], stack[top + 1]);
            else stack[top] = unary(i->op, stack[top]);
        }
    }
    *out = stack[0];
    return CT_OK;
}

/* ---- stamps ---- */

/* hi + lo, where lo is what rounding took from hi. Stamps since 1970 in s need 61 bits for ns. */
typedef struct {
    double hi, lo;
} pair;

static pair sum_of(double a, double b)
{
    const double s = a + b, t = s - a;
    return (pair){s, (a - (s - t)) + (b - t)};
}

static pair add(pair a, pair b)
{
    const pair s = sum_of(a.hi, b.hi);
    return isfinite(s.hi) ? sum_of(s.hi, s.lo + a.lo + b.lo) : (pair){s.hi, 0};
}

static pair multiply(pair a, pair b)
{
    const double p = a.hi * b.hi;
    if (!isfinite(p)) return (pair){p, 0};
    return sum_of(p, fma(a.hi, b.hi, -p) + a.hi * b.lo + a.lo * b.hi);
}

static ct_status load_pair(const ct__value *value, pair *out, ct_err *err)
{
    out->lo = 0;
    CT_TRY(load(value, &out->hi, err));
    if (value->kind == CT__VALUE_INTEGER && fabs(out->hi) < 9e18) out->lo = (double)(value->integer - (int64_t)out->hi);
    if (value->kind == CT__VALUE_TIME) { /* ns */
        out->hi = (double)(value->integer / 1000000000);
        *out = add(*out, multiply((pair){(double)(value->integer % 1000000000), 0}, (pair){1e-9, 0}));
    }
    return CT_OK;
}

ct_status ct__expression_seconds(const ct__expression *e, const ct__value value[], double *hi, double *lo, ct_err *err)
{
    pair stack[STACK];
    int top = -1;
    for (int32_t k = 0; k < e->count; k++) {
        const instruction *i = &e->code[k];
        pair *at = &stack[CT_MAX(top, 0)];
        switch (i->op) {
        case OP_NUMBER: stack[++top] = (pair){i->number, 0}; break;
        case OP_LOAD: CT_TRY(load_pair(&value[i->a], &stack[++top], err)); break;
        case OP_NEGATE: *at = (pair){-at->hi, -at->lo}; break;
        case OP_SAME_TEXT: stack[++top] = (pair){same_text(e, value, i), 0}; break;
        case OP_DIFFERENT_TEXT: stack[++top] = (pair){!same_text(e, value, i), 0}; break;
        case OP_ADD: top--, stack[top] = add(at[-1], *at); break;
        case OP_SUBTRACT: top--, stack[top] = add(at[-1], (pair){-at->hi, -at->lo}); break;
        case OP_MULTIPLY: top--, stack[top] = multiply(at[-1], *at); break;
        default:
            if (is_binary(i->op)) top--, stack[top] = (pair){binary(i->op, at[-1].hi, at->hi), 0};
            else *at = (pair){unary(i->op, at->hi), 0};
        }
    }
    *hi = stack[0].hi;
    *lo = stack[0].lo;
    return CT_OK;
}
