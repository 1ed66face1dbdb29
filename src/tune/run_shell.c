/* run_shell.c: values in a text for a shell, quoted for where they stand, so that the shell takes them as they are.
 *
 *     {log}                 'a b'        where the value needs it; also in $( ), whatever is around it
 *     '{log}'               it'\''s
 *     "{log}"               \$HOME
 *     `cat {log}`           as in $( ), with a backslash more, which backquotes take away
 *     # {log}               nothing: the value may have more than one line
 *     <<END                 \$HOME in the lines of a here-document; with <<'END' as it is
 *
 * The text is read once from left to right. What is open is a stack, innermost last. A pattern of `case` within $( )
 * needs its opening bracket: (a) and not a). */
#include "tune/run.h"

#include <ctype.h>
#include <stdio.h>

enum { SINGLE = '\'', DOUBLE = '"', ROUND = '(', SUM = '+', BACK = '`', COMMENT = '#', HERE = 'h', HERE_RAW = 'H' };

static char inside(const ct__shell *s) { return s->depth ? s->open[s->depth - 1] : 0; }

static void push(ct__shell *s, char what)
{
    if (s->depth < CT__SHELL_DEPTH) s->open[s->depth++] = what;
}

static void pop(ct__shell *s) { s->depth -= s->depth > 0; }

static int is_in(const ct__shell *s, char what) { return memchr(s->open, what, (size_t)s->depth) != NULL; }

/* A backquote ends the one that is open, with all that was opened since. */
static void read_backquote(ct__shell *s)
{
    if (!is_in(s, BACK)) {
        push(s, BACK);
        return;
    }
    while (inside(s) != BACK) pop(s);
    pop(s);
}

/* ---- here-documents --------------------------------------------------------------------------- */

/* In (( )), or in brackets of such a sum. */
static int is_sum(const ct__shell *s)
{
    int at = s->depth;
    while (at > 0 && s->open[at - 1] == ROUND) at--;
    return at > 0 && s->open[at - 1] == SUM;
}

/* "<<END", "<<-END", "<<'END'" at a text: the word that ends the lines; bytes that were read, or 0. In a sum it is a
 * shift. */
static size_t read_here(ct__shell *s, const char *text, size_t size)
{
    size_t at = 2, used = 0;
    if (size < 3 || text[1] != '<' || text[2] == '<' || is_sum(s) || s->here) return 0;
    s->here_tabs = text[at] == '-';
    at += (size_t)s->here_tabs;
    while (at < size && (text[at] == ' ' || text[at] == '\t')) at++;
    s->here = HERE;
    for (; at < size && !strchr(" \t\n;&|<>()", text[at]); at++) {
        if (strchr("'\"\\", text[at])) s->here = HERE_RAW;
        else if (used + 1 < sizeof s->here_end) s->here_end[used++] = text[at];
    }
    s->here_end[used] = 0;
    return at;
}

static void begin_line(ct__shell *s) { s->here_at = 0; }

/* A byte of a here-document's lines. 1: it is one of the line that may end them. */
static int read_here_byte(ct__shell *s, char c)
{
    if (c == '\n') {
        if (s->here_at >= 0 && !s->here_end[s->here_at]) pop(s);
        begin_line(s);
        return 1;
    }
    if (c == '\t' && s->here_at == 0 && s->here_tabs) return 1;
    if (s->here_at >= 0 && s->here_end[s->here_at] == c) {
        s->here_at++;
        return 1;
    }
    s->here_at = -1;
    return 0;
}

/* ---- the text --------------------------------------------------------------------------------- */

/* A byte where commands are: the whole text, $( ), backquotes. */
static void read_command_byte(ct__shell *s, char c)
{
    const int begins = s->before == 0 || isspace((unsigned char)s->before) || strchr(";&|()`", s->before) != NULL;
    if (c == ROUND && s->before == ROUND) push(s, SUM);
    else if (c == SINGLE || c == DOUBLE || c == ROUND) push(s, c);
    else if (c == ')' && (inside(s) == ROUND || inside(s) == SUM)) pop(s);
    else if (c == BACK) read_backquote(s);
    else if (c == COMMENT && begins) push(s, COMMENT);
}

/* A byte of double quotes, or of a here-document. next: the one that follows. */
static void read_quoted_byte(ct__shell *s, char c, char next)
{
    if (c == DOUBLE && inside(s) == DOUBLE) pop(s);
    else if (c == BACK) read_backquote(s);
    else if (c == '$' && next == ROUND) s->substitution = 1;
    else if (c == ROUND && s->substitution) {
        s->substitution = 0;
        push(s, ROUND);
    }
}

/* After the end of a line the lines of a here-document that the line announced. */
static void end_line(ct__shell *s)
{
    if (inside(s) == COMMENT) pop(s);
    if (!s->here || inside(s) == SINGLE || inside(s) == DOUBLE) return;
    push(s, s->here);
    s->here = 0;
    begin_line(s);
}

void ct__shell_read(ct__shell *s, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char c = text[i], in = inside(s), next = i + 1 < size ? text[i + 1] : 0;
        const int  is_line = (in == HERE || in == HERE_RAW) && read_here_byte(s, c);
        if (is_line || in == HERE_RAW) continue;
        if (in == SINGLE) s->depth -= c == SINGLE;
        else if (c == '\n') end_line(s);
        else if (in == COMMENT) continue;
        else if (c == '\\') { /* the next byte is one of a word */
            s->before = 'x';
            i++;
            continue;
        }
        else if (in == DOUBLE || in == HERE) read_quoted_byte(s, c, next);
        else if (c == '<' && next == '<') i += CT_MAX(read_here(s, text + i, size - i), (size_t)2) - 1;
        else read_command_byte(s, c);
        s->before = text[i];
    }
}

/* ---- values ----------------------------------------------------------------------------------- */

static void put_escaped(const char *value, const char *special, ct__text *out)
{
    for (; *value; value++) {
        if (strchr(special, *value)) ct__text_put(out, "\\");
        ct__text_bytes(out, value, 1);
    }
}

/* In single quotes; those are there already, or are added. */
static void put_single(const char *value, int add, ct__text *out)
{
    ct__text_put(out, add ? "'" : "");
    for (; *value; value++) {
        if (*value == '\'') ct__text_put(out, "'\\''");
        else ct__text_bytes(out, value, 1);
    }
    ct__text_put(out, add ? "'" : "");
}

static void put_in(char in, const char *value, ct__text *out)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
    if (in == COMMENT) return;
    if (in == HERE_RAW || (value[0] && !value[strspn(value, PLAIN)])) ct__text_put(out, value);
    else if (in == DOUBLE) put_escaped(value, "\\\"$`", out);
    else if (in == HERE) put_escaped(value, "\\$`", out);
    else put_single(value, in != SINGLE, out);
}

void ct__shell_put(ct__shell *s, const char *value, ct__text *out)
{
    ct__text once = {0};
    if (is_in(s, BACK)) {
        put_in(inside(s), value, &once);
        put_escaped(once.bytes ? once.bytes : "", "\\$`", out);
        out->failed |= once.failed;
        ct__text_free(&once);
    } else put_in(inside(s), value, out);
    s->before = 'x';
    s->here_at = -1;
}
