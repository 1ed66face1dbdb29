/* config_set.c: configuration files with numbers replaced, for check_config_python. Lines of stdin, fields by tabs:
 *     FORMAT IN OUT        reads IN
 *     KEY NUMBER ...       numbers for the places of a key, one each or one for all; none: they stay as they are
 *     (an empty line)      writes OUT, prints "ok" with the numbers that were there, or the sentence of a refusal */
#include <covtune/config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 16384, PLACES_MAX = 4096 };

static int32_t place[PLACES_MAX];
static double value[PLACES_MAX];
static int32_t places;

/* A key and its numbers, into place and value. */
static ct_status take_key(ct_config *c, char *line, ct_err *err)
{
    int32_t first, count;
    char *field = strchr(line, '\t');
    if (field) *field++ = 0;
    ct_status status = ct_config_find(c, line, &first, &count, err);
    double number = 0;
    for (int32_t i = 0; status == CT_OK && i < count && places < PLACES_MAX; i++, places++) {
        place[places] = first + i;
        status = ct_config_number(c, first + i, &value[places], err);
        if (status == CT_E_PARSE && ct_config_format_of(c) == CT_CONFIG_TEMPLATE) status = CT_OK;
        printf(" %.17g", value[places]);
        if (field && *field) number = strtod(field, &field);
        if (field) value[places] = number;
    }
    return status;
}

static ct_status write_file(const ct_config *c, const char *path, ct_err *err)
{
    char *text = NULL;
    size_t size;
    ct_status status = ct_config_write(c, places, place, value, &text, &size, err);
    FILE *file = status == CT_OK ? fopen(path, "wb") : NULL;
    if (status == CT_OK && (!file || fwrite(text, 1, size, file) != size))
        status = ct_fail(err, CT_E_IO, "%s: not written", path);
    if (file) fclose(file);
    free(text);
    return status;
}

int main(void)
{
    static char line[LINE_MAX_BYTES], path[LINE_MAX_BYTES];
    ct_config *c = NULL;
    ct_err err = {0};
    ct_status status = CT_OK;
    int begun = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!line[0]) {
            if (status == CT_OK) status = write_file(c, path, &err);
            printf(" %s\n", status == CT_OK ? "ok" : err.text);
            ct_config_free(c);
            c = NULL;
            begun = 0;
        } else if (!begun) {
            char *in = strchr(line, '\t'), *out = in ? strchr(in + 1, '\t') : NULL;
            if (!out) return EXIT_FAILURE;
            *in++ = *out++ = 0;
            snprintf(path, sizeof path, "%s", out);
            const int format = ct_config_format_find(line);
            status = ct_config_read(in, format < 0 ? CT_CONFIG_AUTO : (ct_config_format)format, &c, &err);
            places = 0;
            begun = 1;
        } else if (status == CT_OK)
            status = take_key(c, line, &err);
    }
    return begun ? EXIT_FAILURE : EXIT_SUCCESS;
}
