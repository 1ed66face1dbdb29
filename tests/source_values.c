/* source_values.c: for check_source_python: the records of a table as numbers. usage: source_values FILE TIME, with an
 * expression a line on stdin. Prints a line a record, its stamp and values to the bit, or the sentence of an error. */
#include <covtune/source.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const ct_err *err) { return printf("error: %s\n", err->text), 1; }

int main(int argc, char **argv)
{
    char              line[8192];
    ct_err            err = {0};
    ct_source        *source;
    ct_record         record;
    ct_source_options options = ct_source_defaults();
    int32_t           index = -1;
    int               more;
    if (argc != 3) return fprintf(stderr, "usage: %s FILE TIME < EXPRESSIONS\n", argv[0]), 2;
    options.format = CT_SOURCE_TABLE;
    options.time = argv[2][0] ? argv[2] : NULL;
    if (ct_source_open(argv[1], &options, &source, &err) != CT_OK) return failed(&err);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (ct_source_select(source, line, &index, &err) != CT_OK) return failed(&err);
    }
    for (;;) {
        if (ct_source_next(source, &record, &more, &err) != CT_OK) return failed(&err);
        if (!more) break;
        printf("%" PRId64, record.stamp);
        for (int32_t i = 0; i <= index; i++) printf(" %.17g", record.value[i]);
        printf("\n");
    }
    ct_source_free(source);
    return 0;
}
