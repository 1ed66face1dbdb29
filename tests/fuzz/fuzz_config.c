/* fuzz_config.c: any bytes as a configuration file. The first line has a character for the format ('0' the first of the
 * list, 'a' by content) and a key path; the rest is the file. It is refused with a sentence, or
 *   its own values written at the path's places give the same bytes;
 *   other numbers written there are read back at the same path, and nothing else has changed. */
#include "fuzz.h"

#include <covtune/config.h>
#include <math.h>
#include <string.h>

#define PLACES_MAX 4096
#define KEY_MAX    256

static int32_t place[PLACES_MAX];
static double value[PLACES_MAX];

static char *write_numbers(const ct_config *c, int32_t first, int32_t count, double scale, size_t *size)
{
    ct_err err = {0};
    char *text = NULL;
    for (int32_t i = 0; i < count; i++) place[i] = first + i, value[i] = scale * (i + 1);
    const ct_status status = ct_config_write(c, count, place, value, &text, size, &err);
    /* refused: placeholders of other names */
    FUZZ_LAW(status == CT_OK || (ct_config_format_of(c) == CT_CONFIG_TEMPLATE && err.text[0] && !text));
    return text;
}

/* Numbers written are read back at the same path. Others written over them give what they give in the first file: so
 * nothing but places has changed. */
static void check_changed(const ct_config *c, const char *key, int32_t first, int32_t count)
{
    ct_err err = {0};
    ct_config *again = NULL;
    int32_t first_again, count_again;
    double number;
    size_t size, direct_size, over_size;
    char *text = write_numbers(c, first, count, -1.5e-7, &size);
    if (text && ct_config_format_of(c) != CT_CONFIG_TEMPLATE) {
        FUZZ_LAW(ct_config_parse(text, size, "in", ct_config_format_of(c), &again, &err) == CT_OK);
        FUZZ_LAW(ct_config_find(again, key, &first_again, &count_again, &err) == CT_OK && count_again == count);
        for (int32_t i = 0; i < count; i++) {
            int line, line_again;
            ct_config_text(c, first + i, &line);
            ct_config_text(again, first_again + i, &line_again);
            FUZZ_LAW(ct_config_number(again, first_again + i, &number, &err) == CT_OK && number == -1.5e-7 * (i + 1));
            FUZZ_LAW(line == line_again);
        }
        char *direct = write_numbers(c, first, count, 4567.75, &direct_size);
        char *over = write_numbers(again, first_again, count, 4567.75, &over_size);
        FUZZ_LAW(direct && over && direct_size == over_size && !memcmp(direct, over, over_size));
        free(direct);
        free(over);
    }
    ct_config_free(again);
    free(text);
}

static void check_key(ct_config *c, const char *key, const char *file, size_t file_size)
{
    ct_err err = {0};
    int32_t first, count;
    char *text = NULL;
    size_t size;
    const ct_status status = ct_config_find(c, key, &first, &count, &err);
    if (status != CT_OK) {
        FUZZ_LAW(err.text[0] && (status == CT_E_EMPTY || status == CT_E_ARGUMENT));
        return;
    }
    FUZZ_LAW(count > 0);
    if (count > PLACES_MAX) return;
    for (int32_t i = 0; i < count; i++) {
        place[i] = first + i;
        if (ct_config_format_of(c) != CT_CONFIG_TEMPLATE)
            FUZZ_LAW(ct_config_number(c, first + i, &value[i], &err) == CT_OK && isfinite(value[i]));
    }
    if (ct_config_format_of(c) != CT_CONFIG_TEMPLATE) {
        FUZZ_LAW(ct_config_write(c, count, place, value, &text, &size, &err) == CT_OK);
        FUZZ_LAW(size == file_size && !memcmp(text, file, size));
        free(text);
    }
    check_changed(c, key, first, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[KEY_MAX] = "";
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    if (!end) return 0;
    const size_t length = (size_t)(end - data);
    for (size_t i = 1, n = 0; i < length && n + 1 < KEY_MAX; i++)
        if (data[i]) key[n++] = (char)data[i];
    const ct_config_format format =
        data[0] >= '0' && data[0] < '0' + CT_CONFIG_FORMAT_COUNT ? (ct_config_format)(data[0] - '0') : CT_CONFIG_AUTO;
    ct_err err = {0};
    ct_config *c = NULL;
    const size_t file_size = size - length - (length < size);
    char *file = malloc(file_size + 1);
    FUZZ_LAW(file);
    memcpy(file, end + 1, file_size);
    file[file_size] = 0;
    if (ct_config_parse(file, file_size, "in", format, &c, &err) == CT_OK)
        check_key(c, key, file, file_size);
    else
        FUZZ_LAW(err.text[0] && !c && !strncmp(err.text, "in:", 3));
    ct_config_free(c);
    free(file);
    return 0;
}
