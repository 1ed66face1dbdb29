/* expression.c: expressions compiled to a program for a stack, and run on every record.
 *
 * The parser climbs precedences. Its recursion is as deep as brackets are nested, at most DEPTH_MAX. A name becomes a
 * load whose slot is filled in when it is known whether the field is wanted as a number or as text: a comparison turns
 * its two operands, if they are single loads, into one comparison of texts. */
#include "source/decimal.h"
#include "source/program.h"

#include <math.h>
#include <stdio.h>

#define DEPTH_MAX 64
#define UNBOUND   (-1) /* a load whose field is not bound yet  */
#define CONSTANT  (-2) /* a number or text of the scope        */

enum { PREC_NOT = 3, PREC_COMPARE = 4, PREC_NEGATE = 7 };

typedef struct {
    ct__expression *e;
    const ct__scope *scope;
    const char *text;
    ct_err *err;
    ct__token token; /* the next one */
    int depth;
    int64_t code_capacity, constant_capacity;
} parser;

static const struct {
    opcode op;
    const char *name;
    int low, high;
} function[] = {
#define X(constant, name, low, high) {constant, name, low, high},
    FUNCTION_LIST(X)
#undef X
};
#define FUNCTIONS (int)(sizeof function / sizeof *function)

static const struct {
    opcode op;
    const char *mark;
    int precedence;
} operator[] = {
#define X(constant, mark, precedence) {constant, mark, precedence},
    OPERATOR_LIST(X)
#undef X
};
#define OPERATORS (int)(sizeof operator/ sizeof * operator)

static const char *function_at(const void *list, int i)
{
    (void)list;
    return i < FUNCTIONS ? function[i].name : NULL;
}

/* ---- compiling ---- */

static int is_word(const parser *p, const char *word)
{
    const ct__token *t = &p->token;
    return (t->kind == CT__TOKEN_NAME || t->kind == CT__TOKEN_MARK) && (int)strlen(word) == t->end - t->begin &&
           !strncmp(p->text + t->begin, word, strlen(word));
}

static void advance(parser *p, int value) { p->token = ct__token_at(p->text, p->token.end, value); }

static ct_status unexpected(const parser *p, const char *expected)
{
    const ct__token *t = &p->token;
    const char first = p->text[t->begin];
    char show[CT__SHOW_MAX];
    if (t->kind == CT__TOKEN_END)
        return ct__expression_bad(p->text, t->begin, p->err, "expected %s, found the end", expected);
    if (first == '`' || first == '\'' || first == '"')
        return ct__expression_bad(p->text, t->begin, p->err, "expected %s, found %c%s", expected, first,
                                  t->kind == CT__TOKEN_BAD ? " without its partner" : "");
    if (first == '=' && t->kind == CT__TOKEN_BAD)
        return ct__expression_bad(p->text, t->begin, p->err, "expected %s, found \"=\"; equality is ==", expected);
    ct__show(p->text + t->begin, (size_t)CT_MAX(1, t->end - t->begin), show);
    return ct__expression_bad(p->text, t->begin, p->err, "expected %s, found %s", expected, show);
}

static ct_status emit(parser *p, instruction i)
{
    CT_TRY(ct__grow(&p->e->code, &p->code_capacity, p->e->count + 1, sizeof i, "steps of an expression", p->err));
    p->e->code[p->e->count++] = i;
    return CT_OK;
}

static char *slice(const parser *p, int begin, int end)
{
    char *copy = malloc((size_t)(end - begin) + 1);
    if (!copy) return NULL;
    memcpy(copy, p->text + begin, (size_t)(end - begin));
    copy[end - begin] = 0;
    return copy;
}

/* Bind the name of a load. */
static ct_status bind(parser *p, const instruction *i, ct__as as, int32_t *slot)
{
    char *name = slice(p, i->begin, i->end);
    if (!name) return ct__no_memory(p->err, "characters of a name", i->end - i->begin);
    const ct_status status = p->scope->bind(p->scope->user, name, as, slot, p->err);
    free(name);
    return status;
}

/* The operand code[from .. to) is used as a number: bind it if it is a name, refuse it if it is a text. */
static ct_status as_number(parser *p, int32_t from, int32_t to)
{
    instruction *i = p->e->code + from;
    if (to != from + 1) return CT_OK;
    if (i->op == OP_TEXT)
        return ct__expression_bad(p->text, i->begin, p->err,
                                  "a number is needed here; text can only be compared (== or !=)");
    if (i->op != OP_LOAD || i->a >= 0) return CT_OK;
    return bind(p, i, CT__AS_NUMBER, &i->a);
}

static int is_text_field(parser *p, const instruction *i, ct_status *status)
{
    if (i->op != OP_LOAD || i->a >= 0) return 0;
    char *name = slice(p, i->begin, i->end);
    const int yes = name && p->scope->is_text(p->scope->user, name);
    if (!name) *status = ct__no_memory(p->err, "characters of a name", i->end - i->begin);
    free(name);
    return yes;
}

/* *place <- a slot, or ~index of a new constant. */
static ct_status text_operand(parser *p, const instruction *i, int32_t *place)
{
    if (i->op == OP_LOAD) return bind(p, i, CT__AS_TEXT, place);
    ct__expression *e = p->e;
    CT_TRY(ct__grow(&e->constant, &p->constant_capacity, e->constants + 1, sizeof *e->constant, "texts", p->err));
    ct__value value = {.kind = CT__VALUE_TEXT, .length = i->end - i->begin, .text = p->text + i->begin};
    if (i->a == CONSTANT) { /* what the scope has under this name */
        char *name = slice(p, i->begin, i->end);
        if (!name) return ct__no_memory(p->err, "characters of a name", i->end - i->begin);
        const ct_status status = p->scope->constant(p->scope->user, name, &value.text, p->err);
        free(name);
        CT_TRY(status);
        value.length = (int32_t)strlen(value.text);
    }
    const size_t room = ct__value_text(&value, NULL, 0) + 1;
    char *copy = malloc(room);
    if (!copy) return ct__no_memory(p->err, "characters of a text", (int64_t)room);
    ct__value_text(&value, copy, room);
    e->constant[e->constants] = copy;
    *place = ~e->constants++;
    return CT_OK;
}

/* == and != of code[left] and what follows: of texts if one of them is text. *done <- 1 if it was compiled so. */
static ct_status compare_texts(parser *p, int32_t left, int32_t right, opcode op, int *done)
{
    ct__expression *e = p->e;
    const instruction a = e->code[left], b = e->code[right];
    ct_status status = CT_OK;
    const int single_a = right == left + 1, single_b = e->count == right + 1;
    const int text_a = single_a && (a.op == OP_TEXT || is_text_field(p, &a, &status));
    const int text_b = single_b && (b.op == OP_TEXT || is_text_field(p, &b, &status));
    *done = 0;
    if (status != CT_OK || (!text_a && !text_b)) return status;
    const int leaf_a = single_a && (a.op == OP_TEXT || a.op == OP_NUMBER || (a.op == OP_LOAD && a.a < 0));
    const int leaf_b = single_b && (b.op == OP_TEXT || b.op == OP_NUMBER || (b.op == OP_LOAD && b.a < 0));
    if (!leaf_a || !leaf_b)
        return ct__expression_bad(p->text, text_a ? a.begin : b.begin, p->err,
                                  "text is compared with a field, a text or a number, not with what is computed");
    instruction i = {.op = op == OP_EQUAL ? OP_SAME_TEXT : OP_DIFFERENT_TEXT, .begin = a.begin, .end = b.end};
    CT_TRY(text_operand(p, &a, &i.a));
    CT_TRY(text_operand(p, &b, &i.b));
    e->count = left;
    *done = 1;
    return emit(p, i);
}

static ct_status parse(parser *p, int precedence);

/* Between brackets, or the whole: EXPRESSION [in UNIT]. */
static ct_status parse_with_unit(parser *p)
{
    const int32_t from = p->e->count;
    if (++p->depth > DEPTH_MAX)
        return ct__expression_bad(p->text, p->token.begin, p->err, "brackets and signs are nested more than %d deep",
                                  DEPTH_MAX);
    CT_TRY(parse(p, 0));
    CT_TRY(as_number(p, from, p->e->count));
    p->depth--;
    if (!is_word(p, "in")) return CT_OK;
    double factor;
    int at = p->token.end;
    CT_TRY(ct__unit_read(p->text, &at, &factor, p->err));
    p->token = ct__token_at(p->text, at, 0);
    if (factor == 1) return CT_OK;
    CT_TRY(emit(p, (instruction){.op = OP_NUMBER, .number = factor}));
    return emit(p, (instruction){.op = OP_MULTIPLY});
}

static ct_status parse_call(parser *p, int f)
{
    int arguments = 0;
    advance(p, 1); /* the bracket */
    do {
        if (arguments > 0) advance(p, 1);
        CT_TRY(parse_with_unit(p));
        arguments++;
        if (arguments > 2 && arguments <= function[f].high) CT_TRY(emit(p, (instruction){.op = function[f].op}));
    } while (is_word(p, ","));
    if (!is_word(p, ")")) return unexpected(p, "\",\" or \")\"");
    if (arguments < function[f].low || arguments > function[f].high)
        return ct__expression_bad(p->text, p->token.begin, p->err, "%s takes %s%d argument%s, found %d",
                                  function[f].name, function[f].low < function[f].high ? "at least " : "",
                                  function[f].low, function[f].low == 1 ? "" : "s", arguments);
    advance(p, 0);
    return emit(p, (instruction){.op = function[f].op});
}

/* A name: keyword pi, function, constant or field. */
static ct_status parse_name(parser *p)
{
    const ct__token t = p->token;
    const int quoted = t.kind == CT__TOKEN_QUOTED;
    instruction i = {.op = OP_LOAD, .a = UNBOUND, .begin = t.begin + quoted, .end = t.end - quoted};
    if (!quoted) {
        for (const char *const *word = (const char *const[]){"in", "and", "or", NULL}; *word; word++)
            if (is_word(p, *word)) return unexpected(p, "a value");
    }
    char *name = slice(p, i.begin, i.end);
    if (!name) return ct__no_memory(p->err, "characters of a name", i.end - i.begin);
    advance(p, 0);
    if (!quoted && is_word(p, "(")) {
        int f = 0;
        while (f < FUNCTIONS && strcmp(function[f].name, name) != 0) f++;
        const char *nearest = ct_nearest(name, function_at, NULL);
        ct_status status = CT_OK;
        if (f == FUNCTIONS)
            status = ct__expression_bad(p->text, t.begin, p->err, "no function \"%.60s\"%s%s%s", name,
                                        nearest ? "; is it \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
        free(name);
        CT_TRY(status);
        return parse_call(p, f);
    }
    const char *value = NULL;
    ct_status status = p->scope->constant(p->scope->user, name, &value, p->err);
    if (status == CT_OK && value) {
        const int number = ct__decimal(value, strlen(value), &i.number);
        i = (instruction){
            .op = number ? OP_NUMBER : OP_TEXT, .a = CONSTANT, .number = i.number, .begin = i.begin, .end = i.end};
    } else if (status == CT_OK && !quoted && !strcmp(name, "pi")) {
        i = (instruction){
            .op = OP_NUMBER, .a = UNBOUND, .number = 3.14159265358979323846, .begin = i.begin, .end = i.end};
    }
    free(name);
    CT_TRY(status);
    return emit(p, i);
}

static ct_status parse_bracket(parser *p)
{
    advance(p, 1);
    CT_TRY(parse_with_unit(p));
    if (!is_word(p, ")")) return unexpected(p, "an operator or \")\"");
    advance(p, 0);
    return CT_OK;
}

/* A sign or "not" before what binds at least as tightly. */
static ct_status parse_prefix(parser *p, opcode op, int precedence)
{
    const int32_t from = p->e->count;
    if (++p->depth > DEPTH_MAX)
        return ct__expression_bad(p->text, p->token.begin, p->err, "brackets and signs are nested more than %d deep",
                                  DEPTH_MAX);
    advance(p, 1);
    CT_TRY(parse(p, precedence));
    CT_TRY(as_number(p, from, p->e->count));
    p->depth--;
    return op == OP_ADD ? CT_OK : emit(p, (instruction){.op = op});
}

static ct_status parse_value(parser *p)
{
    const ct__token t = p->token;
    switch (t.kind) {
    case CT__TOKEN_NUMBER:
        advance(p, 0);
        return emit(p,
                    (instruction){.op = OP_NUMBER, .a = UNBOUND, .number = t.number, .begin = t.begin, .end = t.end});
    case CT__TOKEN_TEXT:
        advance(p, 0);
        return emit(p, (instruction){.op = OP_TEXT, .a = UNBOUND, .begin = t.begin + 1, .end = t.end - 1});
    case CT__TOKEN_QUOTED:
    case CT__TOKEN_NAME: return is_word(p, "not") ? parse_prefix(p, OP_NOT, PREC_NOT) : parse_name(p);
    case CT__TOKEN_MARK:
        if (is_word(p, "(")) return parse_bracket(p);
        if (is_word(p, "-")) return parse_prefix(p, OP_NEGATE, PREC_NEGATE);
        if (is_word(p, "+")) return parse_prefix(p, OP_ADD, PREC_NEGATE);
        break;
    default: break;
    }
    return unexpected(p, "a value");
}

/* The operator that comes next, if it binds at least as tightly; OPERATORS: none. */
static int next_operator(const parser *p, int precedence)
{
    int k = 0;
    while (k < OPERATORS && !is_word(p, operator[k].mark)) k++;
    return k < OPERATORS && operator[k].precedence >= precedence ? k : OPERATORS;
}

static ct_status parse(parser *p, int precedence)
{
    const int32_t left = p->e->count;
    int compared = 0;
    CT_TRY(parse_value(p));
    for (;;) {
        const int k = next_operator(p, precedence);
        if (k == OPERATORS) return CT_OK;
        const opcode op = operator[k].op;
        const int tight = operator[k].precedence;
        const int32_t right = p->e->count;
        if (tight == PREC_COMPARE && compared++)
            return ct__expression_bad(p->text, p->token.begin, p->err,
                                      "comparisons are joined by \"and\": a < b and b < c");
        const int equality = op == OP_EQUAL || op == OP_NOT_EQUAL;
        if (!equality) CT_TRY(as_number(p, left, right));
        if (++p->depth > DEPTH_MAX)
            return ct__expression_bad(p->text, p->token.begin, p->err, "more than %d levels deep", DEPTH_MAX);
        advance(p, 1);
        CT_TRY(parse(p, op == OP_POWER ? PREC_NEGATE : tight + 1)); /* 2^-1, and 2^3^2 = 2^9 */
        p->depth--;
        int done = 0;
        if (equality) CT_TRY(compare_texts(p, left, right, op, &done));
        if (done) continue;
        if (equality) CT_TRY(as_number(p, left, right));
        CT_TRY(as_number(p, right, p->e->count));
        CT_TRY(emit(p, (instruction){.op = op}));
    }
}

static ct_status compile(parser *p)
{
    p->token = ct__token_at(p->text, 0, 1);
    CT_TRY(parse_with_unit(p));
    return p->token.kind == CT__TOKEN_END ? CT_OK : unexpected(p, "an operator or the end");
}

ct_status ct__expression_new(const char *text, const ct__scope *scope, ct__expression **out, ct_err *err)
{
    *out = NULL;
    if (strlen(text) > CT__EXPRESSION_MAX)
        return ct_fail(err, CT_E_ARGUMENT, "expression \"%.40s...\" is longer than %d characters", text,
                       CT__EXPRESSION_MAX);
    ct__expression *e = ct__zalloc(1, sizeof *e);
    if (!e) return ct__no_memory(err, "expression", 1);
    parser p = {.e = e, .scope = scope, .text = text, .err = err};
    const ct_status status = compile(&p);
    if (status == CT_OK)
        *out = e;
    else
        ct__expression_free(e);
    return status;
}

void ct__expression_free(ct__expression *e)
{
    if (!e) return;
    for (int32_t i = 0; i < e->constants; i++) free(e->constant[i]);
    free(e->constant);
    free(e->code);
    free(e);
}

ct_status ct__expression_stamp(const char *text, char **name, int *digits, ct_err *err)
{
    *name = NULL;
    *digits = 9;
    parser p = {.text = text, .err = err, .token = ct__token_at(text, 0, 1)};
    const ct__token t = p.token;
    const int quoted = t.kind == CT__TOKEN_QUOTED;
    if (t.kind != CT__TOKEN_NAME && !quoted) return CT_OK;
    advance(&p, 0);
    if (is_word(&p, "in")) {
        advance(&p, 0);
        if (is_word(&p, "ns"))
            *digits = 0;
        else if (is_word(&p, "us"))
            *digits = 3;
        else if (is_word(&p, "ms"))
            *digits = 6;
        else if (!is_word(&p, "s"))
            return CT_OK;
        advance(&p, 0);
    }
    if (p.token.kind != CT__TOKEN_END) return CT_OK;
    *name = slice(&p, t.begin + quoted, t.end - quoted);
    return *name ? CT_OK : ct__no_memory(err, "characters of a name", t.end - t.begin);
}
