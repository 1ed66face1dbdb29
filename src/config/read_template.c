/* read_template.c: {{name}} in any text. Blanks around the name are allowed. Other text in double braces, such as
 * {{1, 0}} of a C++ initialiser, stays as it is. */
#include "config/config.h"

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }
static int is_blank(char c) { return c == ' ' || c == '\t'; }

int ct__config_next_placeholder(const char *text, size_t size, size_t at, size_t *begin, size_t *end, size_t name[2])
{
    for (const char *p; at + 4 < size && (p = memchr(text + at, '{', size - at)) != NULL; at++) {
        size_t i = at = (size_t)(p - text);
        if (i + 4 >= size || text[i + 1] != '{' || text[i + 2] == '{') continue;
        for (i += 2; i < size && is_blank(text[i]);) i++;
        name[0] = i;
        if (i == size || !is_letter(text[i])) continue;
        while (i < size && is_name(text[i])) i++;
        name[1] = i;
        while (i < size && is_blank(text[i])) i++;
        const size_t word = i;
        while (i < size && (is_name(text[i]) || is_blank(text[i]))) i++; /* a name with blanks is a mistake */
        if (i + 1 >= size || text[i] != '}' || text[i + 1] != '}') continue;
        *begin = at;
        *end = i + 2;
        if (i == word) return 1;
        while (is_blank(text[i - 1])) i--;
        name[1] = i;
        return -1;
    }
    return 0;
}

ct_status ct__config_read_template(ct_config *c, ct_err *err)
{
    size_t begin, end, name[2];
    int32_t root, map, node;
    char shown[CT__CONFIG_SHOWN];
    CT_TRY(ct__config_add(c, -1, CT__CONFIG_LIST, NULL, 0, &root, err));
    CT_TRY(ct__config_add(c, root, CT__CONFIG_MAP, NULL, 0, &map, err));
    for (size_t at = 0;; at = end) {
        const int found = ct__config_next_placeholder(c->text, c->size, at, &begin, &end, name);
        if (!found) return CT_OK;
        if (found < 0)
            return ct__config_bad(c, (int64_t)begin, err,
                                  "a placeholder's name has letters, digits, '_', '-' and '.', found \"%s\"",
                                  ct__config_shown(c->text + name[0], name[1] - name[0], shown));
        CT_TRY(ct__config_add(c, map, CT__CONFIG_SCALAR, c->text + name[0], name[1] - name[0], &node, err));
        c->node[node].begin = (int32_t)begin;
        c->node[node].end = (int32_t)end;
        const char *key = ct__config_key(c, node);
        if (ct__names_find(&c->placeholders, key) < 0) CT_TRY(ct__names_add(&c->placeholders, key, err));
    }
}
