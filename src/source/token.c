/* token.c: the words of expressions. */
#include "source/decimal.h"
#include "source/expression.h"

#include <stdarg.h>
#include <stdio.h>

ct_status ct__expression_bad(const char *text, int at, ct_err *err, const char *fmt, ...)
{
    char what[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return ct_fail(err, CT_E_ARGUMENT, "expression \"%.150s\", character %d: %s", text, at + 1, what);
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Letters of any language: bytes of UTF-8 beyond ASCII count. */
static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 128;
}

/* The end of a name: letters, digits, ".name", "[3]". */
static int name_end(const char *text, int at)
{
    for (;;) {
        if (is_letter(text[at]) || is_digit(text[at]))
            at++;
        else if (text[at] == '.' && is_letter(text[at + 1]))
            at++;
        else if (text[at] == '[') {
            int end = at + 1;
            while (is_digit(text[end])) end++;
            if (end == at + 1 || text[end] != ']') return at;
            at = end + 1;
        } else
            return at;
    }
}

static int number_end(const char *text, int at)
{
    while (is_digit(text[at])) at++;
    if (text[at] == '.') at++;
    while (is_digit(text[at])) at++;
    if (text[at] != 'e' && text[at] != 'E') return at;
    int end = at + 1;
    if (text[end] == '-' || text[end] == '+') end++;
    if (!is_digit(text[end])) return at;
    while (is_digit(text[end])) end++;
    return end;
}

static ct__token quoted(const char *text, int at, ct__token_kind kind)
{
    const char *close = strchr(text + at + 1, text[at]);
    ct__token token = {.kind = kind, .begin = at, .end = close ? (int)(close - text) + 1 : at};
    if (!close) token.kind = CT__TOKEN_BAD;
    return token;
}

ct__token ct__token_at(const char *text, int at, int value)
{
    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') at++;
    ct__token token = {.begin = at, .end = at};
    const char c = text[at], next = c ? text[at + 1] : 0;
    if (!c) return token;
    if (c == '\'' || c == '"') return quoted(text, at, CT__TOKEN_TEXT);
    if (c == '`') return quoted(text, at, CT__TOKEN_QUOTED);
    if (is_digit(c) || (c == '.' && is_digit(next))) {
        token.kind = CT__TOKEN_NUMBER;
        token.end = number_end(text, at);
        ct__decimal(text + at, (size_t)(token.end - at), &token.number);
    } else if (value && c == '#' && is_digit(next)) {
        token.kind = CT__TOKEN_NAME;
        for (token.end = at + 1; is_digit(text[token.end]);) token.end++;
    } else if (is_letter(c) || (value && c == '^' && next == '.' && is_letter(text[at + 2]))) {
        token.kind = CT__TOKEN_NAME;
        token.end = name_end(text, at + 1);
    } else if (strchr("<>=!", c) && next == '=') {
        token.kind = CT__TOKEN_MARK;
        token.end = at + 2;
    } else if (strchr("+-*/%^()<>,", c)) {
        token.kind = CT__TOKEN_MARK;
        token.end = at + 1;
    } else
        token.kind = CT__TOKEN_BAD;
    return token;
}
