/* escape.c: escapes. Input may be any bytes (names of files and models). Output is valid UTF-8 without control
 * characters, so that no name can end a tag, an attribute, a string or a line, or control a terminal. */
#include "page/escape.h"
#include "base/json.h"

#include <string.h>

/* ---- escapes ---- */

/* Marks that change the direction of writing could make a name look like another. */
static int is_unseemly(unsigned long c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

unsigned long ct__text_next(const char **s)
{
    const int n = ct__json_sequence(*s);
    if (!n) {
        (*s)++;
        return '?';
    }
    unsigned long c = (unsigned char)**s;
    if (n > 1) c &= 0x7fu >> n;
    for (int i = 1; i < n; i++) c = c << 6 | ((unsigned char)(*s)[i] & 0x3f);
    *s += n;
    if (c == '\n' || c == '\t' || c == '\r') return ' ';
    return is_unseemly(c) ? '?' : c;
}

static void put_code(ct__text *text, unsigned long c)
{
    char      buf[4];
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    buf[0] = (char)(more ? (0xff00u >> (more + 1) & 0xff) | c >> (6 * more) : c);
    for (int i = 1; i <= more; i++) buf[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    ct__text_bytes(text, buf, (size_t)more + 1);
}

void ct__text_plain(ct__text *text, const char *s)
{
    while (*s) put_code(text, ct__text_next(&s));
}

void ct__text_html(ct__text *text, const char *s)
{
    while (*s) {
        const unsigned long c = ct__text_next(&s);
        if (c == '&') ct__text_put(text, "&amp;");
        else if (c == '<') ct__text_put(text, "&lt;");
        else if (c == '>') ct__text_put(text, "&gt;");
        else if (c == '"') ct__text_put(text, "&quot;");
        else if (c == '\'') ct__text_put(text, "&#39;");
        else put_code(text, c);
    }
}

/* Characters with a meaning in Markdown; "<" and "&" as HTML entities, which Markdown passes on. */
void ct__text_markdown(ct__text *text, const char *s)
{
    while (*s) {
        const unsigned long c = ct__text_next(&s);
        if (c == '&') ct__text_put(text, "&amp;");
        else if (c == '<') ct__text_put(text, "&lt;");
        else {
            if (c < 0x80 && strchr("\\`*_[]|~>", (int)c)) ct__text_put(text, "\\");
            put_code(text, c);
        }
    }
}

void ct__text_json(ct__text *text, const char *s)
{
    ct__text_put(text, "\"");
    while (*s) {
        const unsigned char c = (unsigned char)*s;
        const int           n = ct__json_sequence(s);
        if (!n) ct__text_put(text, "?");
        else if (c == '"' || c == '\\') ct__text_printf(text, "\\%c", c);
        else if (c == '\n') ct__text_put(text, "\\n");
        else if (c < ' ' || c == 0x7f) ct__text_printf(text, "\\u%04x", c);
        else ct__text_bytes(text, s, (size_t)n);
        s += n ? n : 1;
    }
    ct__text_put(text, "\"");
}

int ct__text_columns(const char *s)
{
    int n = 0;
    for (; *s; n++) ct__text_next(&s);
    return n;
}
