/* config_test.h: what tests of configuration files share. */
#ifndef CONFIG_TEST_H
#define CONFIG_TEST_H

#include <covtune/config.h>
#include "ct_test.h"

static inline ct_config *config_of(const char *text, ct_config_format format)
{
    ct_err err = {0};
    ct_config *c = NULL;
    CHECK_OK(ct_config_parse(text, strlen(text), "in.cfg", format, &c, &err), err);
    return c;
}

/* The file with one number at all places of a key. For the caller to free; NULL on failure. */
static inline char *config_set(ct_config *c, const char *key, double value)
{
    ct_err err = {0};
    int32_t first, count, place[300];
    double number[300];
    char *text = NULL;
    size_t size;
    const ct_status found = c ? ct_config_find(c, key, &first, &count, &err) : CT_E_ARGUMENT;
    CHECK_OK(found, err);
    if (found != CT_OK || count > 300) return NULL;
    for (int32_t i = 0; i < count; i++) place[i] = first + i, number[i] = value;
    CHECK_OK(ct_config_write(c, count, place, number, &text, &size, &err), err);
    CHECK(text && strlen(text) == size);
    return text;
}

/* In a file, a key set to a number gives this file. */
#define CHECK_SET(format, before, key, value, after)                                                                   \
    do {                                                                                                               \
        ct_config *set_c = config_of(before, format);                                                                  \
        char *set_text = config_set(set_c, key, value);                                                                \
        if (!set_text || strcmp(set_text, after))                                                                      \
            CT_TEST_SAY("%s:%d: %s: got\n%s\n", __FILE__, __LINE__, key, set_text ? set_text : "nothing");             \
        free(set_text);                                                                                                \
        ct_config_free(set_c);                                                                                         \
    } while (0)

/* In a file, a key set to a number changes this piece of it to that one, and nothing else. */
static inline void check_changed(int line, ct_config_format format, const char *before, const char *key, double value,
                                 const char *old, const char *now)
{
    ct_config *c = config_of(before, format);
    char *text = config_set(c, key, value);
    const char *at = strstr(before, old);
    const size_t head = at ? (size_t)(at - before) : 0;
    if (!text || !at || strncmp(text, before, head) || strncmp(text + head, now, strlen(now)) ||
        strcmp(text + head + strlen(now), at + strlen(old)))
        CT_TEST_SAY("%d: %s: got\n%s\n", line, key, text ? text : "nothing");
    free(text);
    ct_config_free(c);
}
#define CHECK_CHANGED(...) check_changed(__LINE__, __VA_ARGS__)

/* In a file, a key is refused with this status and a sentence that contains `part`. */
#define CHECK_NOT_FOUND(format, file, key, wanted, part)                                                               \
    do {                                                                                                               \
        ct_err not_err = {0};                                                                                          \
        int32_t not_first, not_count;                                                                                  \
        ct_config *not_c = config_of(file, format);                                                                    \
        const ct_status not_status = not_c ? ct_config_find(not_c, key, &not_first, &not_count, &not_err) : CT_OK;     \
        if (not_status != (wanted) || !strstr(not_err.text, part))                                                     \
            CT_TEST_SAY("%s:%d: %s: %d \"%s\"\n", __FILE__, __LINE__, key, (int)not_status, not_err.text);             \
        ct_config_free(not_c);                                                                                         \
    } while (0)

/* A file is refused with a sentence that contains `part`. */
#define CHECK_BAD(format, file, part)                                                                                  \
    do {                                                                                                               \
        ct_err bad_err = {0};                                                                                          \
        ct_config *bad_c = NULL;                                                                                       \
        CHECK_REFUSED(ct_config_parse(file, strlen(file), "in.cfg", format, &bad_c, &bad_err), bad_err, part);         \
        CHECK(!bad_c && !strncmp(bad_err.text, "in.cfg:", 7));                                                         \
        ct_config_free(bad_c);                                                                                         \
    } while (0)

#endif
