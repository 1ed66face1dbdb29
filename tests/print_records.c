/* print_records.c: records of a source as lines, for checks that compare them with other programs' readings:
 *     print_records FILE TOPIC EACH NAME...
 * A line has the stamp in ns, then numbers to 17 digits, and text of names after "@". EACH "" is none. "-" as TOPIC:
 * the only one, or a table. */
#include <covtune/source.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const ct_err *err)
{
    fprintf(stderr, "%s\n", err->text);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    ct_err err = {0};
    ct_source *source = NULL;
    ct_source_options options = ct_source_defaults();
    ct_record record;
    int more = 1;
    int32_t at[64];
    if (argc < 4 || argc > 60) {
        fprintf(stderr, "usage: print_records FILE TOPIC EACH NAME...\n");
        return 2;
    }
    options.topic = strcmp(argv[2], "-") ? argv[2] : NULL;
    options.each = *argv[3] ? argv[3] : NULL;
    if (ct_source_open(argv[1], &options, &source, &err) != CT_OK) return fail(&err);
    for (int i = 4; i < argc; i++) {
        const ct_status status = *argv[i] == '@' ? ct_source_select_text(source, argv[i] + 1, &at[i], &err)
                                                 : ct_source_select(source, argv[i], &at[i], &err);
        if (status != CT_OK) return fail(&err);
    }
    for (;;) {
        if (ct_source_next(source, &record, &more, &err) != CT_OK) return fail(&err);
        if (!more) break;
        printf("%lld", (long long)record.stamp);
        for (int i = 4; i < argc; i++) {
            if (*argv[i] == '@')
                printf("\t%s", record.text[at[i]]);
            else
                printf("\t%.17g", record.value[at[i]]);
        }
        printf("\n");
    }
    ct_source_free(source);
    return EXIT_SUCCESS;
}
