/* reader_table.c: which reader reads which format, and which format a file has. */
#define _POSIX_C_SOURCE 200809L
#include "source/input.h"

#include <stdio.h>
#include <sys/stat.h>

const ct__reader_ops *const ct__reader_table[CT_SOURCE_FORMAT_COUNT] = {
    [CT_SOURCE_TABLE] = &ct__table_reader, [CT_SOURCE_TUM] = &ct__table_reader, [CT_SOURCE_EUROC] = &ct__table_reader,
    [CT_SOURCE_KITTI] = &ct__table_reader, [CT_SOURCE_G2O] = &ct__table_reader,
    [CT_SOURCE_ROS1] = &ct__bag_reader, [CT_SOURCE_ROS2] = &ct__bag_reader, [CT_SOURCE_MCAP] = &ct__bag_reader,
};

static const char *const name[] = {
#define X(constant, word, description) word,
    CT_SOURCE_FORMAT_LIST(X)
#undef X
};

const char *ct_source_format_name(ct_source_format format)
{
    return format == CT_SOURCE_AUTO ? "auto" : ct__name_at(name, CT_SOURCE_FORMAT_COUNT, (int)format);
}

int ct_source_format_find(const char *word)
{
    if (word && !strcmp(word, "auto")) return CT_SOURCE_AUTO;
    return ct__find_name(word, name, CT_SOURCE_FORMAT_COUNT);
}

static int format_of(const ct__head *head)
{
    /* from the last: bags before text, which takes all files */
    for (int f = CT_SOURCE_FORMAT_COUNT - 1; f >= 0; f--) {
        const ct__reader_ops *ops = ct__reader_table[f];
        if (!ops || (f + 1 < CT_SOURCE_FORMAT_COUNT && ops == ct__reader_table[f + 1])) continue;
        const int found = ops->detect(head);
        if (found >= 0) return found;
    }
    return -1;
}

/* The first bytes; of a gzip file those of its content, as far as it is whole. */
static ct_status read_head(const char *path, ct__head *head, char bytes[CT__HEAD_MAX], ct_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    head->size = fread(bytes, 1, CT__HEAD_MAX, file);
    const int failed = ferror(file);
    fclose(file);
    if (failed) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(EIO));
    if (head->size < 2 || memcmp(bytes, "\x1f\x8b", 2) != 0) return CT_OK;
    ct__input *input;
    CT_TRY(ct__input_open(path, &input, err));
    size_t got = 1;
    for (head->size = 0; head->size < CT__HEAD_MAX && got > 0; head->size += got)
        if (ct__input_read(input, bytes + head->size, CT__HEAD_MAX - head->size, &got, NULL) != CT_OK) got = 0;
    ct__input_free(input);
    return CT_OK;
}

ct_status ct__source_detect(const char *path, ct_source_format *format, ct_err *err)
{
    char bytes[CT__HEAD_MAX];
    struct stat info;
    ct__head head = {.path = path, .bytes = bytes};
    if (stat(path, &info) != 0) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    head.folder = S_ISDIR(info.st_mode);
    if (!head.folder) {
        if (!S_ISREG(info.st_mode)) return *format = CT_SOURCE_TABLE, CT_OK; /* a pipe is read once */
        CT_TRY(read_head(path, &head, bytes, err));
    }
    const int found = format_of(&head);
    if (found < 0)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: %s", path,
                       head.folder ? "a folder that is no ROS 2 bag" : "no format that this build reads");
    *format = (ct_source_format)found;
    return CT_OK;
}
