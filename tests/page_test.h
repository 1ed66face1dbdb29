/* page_test.h: what is printed, as text, and whether markup is well-formed. */
#ifndef REPORT_TEST_H
#define REPORT_TEST_H

#include "ct_test.h"
#include "base/json.h"

#include <covtune/page.h>

/* A name that would like to be something else: markup, the end of an attribute, of a script, of a line; bytes that
 * are no UTF-8, an escape sequence, a change of direction. */
#define EVIL "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\n\x1b[31m\xff\xe2\x80\xae|*`_\\"
#define EVIL_HTML                                                                                                      \
    "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img src=x onerror=alert(2)&gt;&amp;amp; "  \
    "?[31m??|*`_\\"

static inline char *test_read(FILE *f)
{
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    char      *text = calloc((size_t)n + 1, 1);
    rewind(f);
    if (fread(text, 1, (size_t)n, f) != (size_t)n) text[0] = 0;
    fclose(f);
    return text;
}

static inline char *test_read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    return f ? test_read(f) : NULL;
}

static inline const char *test_path(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    return path;
}

/* The caller frees what these return. */
static inline char *table_text(const ct_table *table, ct_table_format format, int width)
{
    ct_err err = {0};
    FILE  *f = tmpfile();
    char  *string;
    CHECK_OK(ct_table_print(table, format, width, f, &err), err);
    CHECK_OK(ct_table_string(table, format, width, &string, &err), err);
    char *text = test_read(f);
    CHECK(string && !strcmp(string, text));
    free(string);
    return text;
}

static inline char *plot_text(const ct_plot *plot)
{
    ct_err err = {0};
    FILE  *f = tmpfile();
    CHECK_OK(ct_plot_print(plot, f, &err), err);
    return test_read(f);
}

static inline int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part)) n++;
    return n;
}

/* ---- markup ---- */

static inline int is_one_of(const char *word, const char *list) /* " a b " */
{
    char padded[64];
    snprintf(padded, sizeof padded, " %.50s ", word);
    return strstr(list, padded) != NULL;
}

/* A tag at p, behind its <: the place behind its >, NULL if it is none. name: "/p", "br/". */
static inline const char *read_tag(const char *p, char name[64])
{
    size_t n = strcspn(p, " \n>");
    snprintf(name, 64, "%.*s", (int)n, p);
    for (p += n; *p && *p != '>';) {
        p += strspn(p, " \n");
        if (*p == '/') {
            strcat(name, "/");
            p++;
            continue;
        }
        if (*p == '>') break;
        n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-:0123456789");
        p += n;
        if (!n) return NULL;
        if (*p != '=') continue; /* <details open> */
        if (p[1] != '"') return NULL;
        p += 2 + strcspn(p + 2, "\"<");
        if (*p++ != '"') return NULL;
    }
    return *p == '>' ? p + 1 : NULL;
}

/* Tags nest, attributes are in quotes, & begins an entity, all is UTF-8 without control characters. NULL if so, else
 * where not. */
static inline const char *malformed(const char *text)
{
    static char open[64][64];
    int         depth = 0;
    if (!ct__json_is_utf8(text)) return "not UTF-8";
    for (const char *p = text; *p;) {
        char name[64];
        if ((unsigned char)*p < ' ' && *p != '\n') return p;
        if (*p == '&' && (strspn(p + 1, "abcdefghijklmnopqrstuvwxyz#0123456789") == 0 ||
                          p[1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz#0123456789")] != ';'))
            return p;
        if (*p == '>') return p;
        if (*p != '<') {
            p++;
            continue;
        }
        const char *at = p;
        p = read_tag(p + 1, name);
        if (!p) return at;
        if (name[0] == '!' || is_one_of(name, " meta br img ") || name[strlen(name) - 1] == '/') continue;
        if (name[0] == '/') {
            if (!depth || strcmp(open[--depth], name + 1)) return at;
        } else {
            if (depth == 64) return at;
            strcpy(open[depth++], name);
            if (is_one_of(name, " style script ")) p = strstr(p, is_one_of(name, " style ") ? "</style" : "</script");
            if (!p) return at;
        }
    }
    return depth ? open[depth - 1] : NULL;
}

#define CHECK_WELL_FORMED(text)                                                                     \
    do {                                                                                            \
        const char *where = malformed(text);                                                        \
        if (where) CT_TEST_SAY("%s:%d: malformed at: %.120s\n", __FILE__, __LINE__, where);         \
    } while (0)

#endif
