/* run_folder.c: folders of runs, and the user's files with values in them. */
#define _GNU_SOURCE
#include "base/file.h"
#include "tune/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_folder(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

ct_status ct__make_folders(const char *path, ct_err *err)
{
    char *copy = ct__strdup(path);
    if (!copy) return ct__no_memory(err, "file names", 1);
    ct_status status = CT_OK;
    for (char *at = copy; status == CT_OK && at; ) {
        at = strchr(at + 1, '/');
        if (at) *at = 0;
        const int why = mkdir(copy, 0777) ? errno : 0;
        if (why && !is_folder(copy))
            status = ct_fail(err, CT_E_IO, "%s: the folder cannot be made: %s", copy, strerror(why));
        if (at) *at = '/';
    }
    free(copy);
    return status;
}

char *ct__join_path(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char        *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

ct_status ct__write_plain(const char *path, const void *bytes, size_t size, ct_err *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) return ct_fail(err, ct__io_status(), "%s: cannot be written: %s", path, strerror(errno));
    int bad = 0;
    for (const char *at = bytes; size && !bad;) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        bad = n <= 0;
        if (!bad) {
            at += n;
            size -= (size_t)n;
        }
    }
    const int why = errno;
    if (close(fd) == 0 && !bad) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(bad ? why : errno));
}

/* ---- The user's files ------------------------------------------------------------------------- */

const char *ct__base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *ct__copy_name(const ct_tuning *tuning, int32_t file)
{
    const char *name = ct__base_name(tuning->file[file].path);
    int         same = 0;
    for (int32_t i = 0; i < tuning->files; i++) same += !strcmp(ct__base_name(tuning->file[i].path), name);
    if (same < 2) return ct__strdup(name);
    const size_t size = strlen(name) + strlen(tuning->file[file].name) + 2;
    char        *both = malloc(size);
    if (both) snprintf(both, size, "%s-%s", tuning->file[file].name, name);
    return both;
}

ct_status ct__file_text(const ct_tuning *tuning, int32_t file, const double value[], char **text, size_t *size,
                        ct_err *err)
{
    int32_t   count = 0;
    int32_t  *place = ct__zalloc(tuning->places, sizeof *place);
    double   *number = ct__zalloc(tuning->places, sizeof *number);
    ct_status status = place && number ? CT_OK : ct__no_memory(err, "places", tuning->places);
    for (int32_t i = 0; status == CT_OK && i < tuning->places; i++) {
        if (tuning->place[i].kind != CT__PLACE_FILE || tuning->place[i].file != file) continue;
        place[count] = tuning->place[i].place;
        number[count++] = value[tuning->place[i].parameter];
    }
    if (status == CT_OK) status = ct_config_write(tuning->file[file].config, count, place, number, text, size, err);
    free(place);
    free(number);
    return status;
}

ct_status ct__write_files(const ct_tuning *tuning, const double value[], const char *folder, int whole, ct_err *err)
{
    ct_status status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < tuning->files; i++) {
        if (!tuning->file[i].config) continue;
        char  *text = NULL, *name = ct__copy_name(tuning, i), *path = name ? ct__join_path(folder, name) : NULL;
        size_t size = 0;
        status = path ? ct__file_text(tuning, i, value, &text, &size, err) : ct__no_memory(err, "file names", 1);
        if (status == CT_OK)
            status = whole ? ct_file_replace(path, text, size, err) : ct__write_plain(path, text, size, err);
        struct stat entry;
        if (status == CT_OK && stat(tuning->file[i].path, &entry) == 0 && entry.st_mode & 0111)
            (void)chmod(path, entry.st_mode & 0777); /* it may be the program itself */
        free(name);
        free(path);
        free(text);
    }
    return status;
}

int ct_tuning_in_file(const ct_tuning *tuning, int32_t parameter)
{
    for (int32_t i = 0; i < tuning->places; i++)
        if (tuning->place[i].kind == CT__PLACE_FILE && tuning->place[i].parameter == parameter) return 1;
    return 0;
}

ct_status ct_tuning_write(const ct_tuning *tuning, const double value[], const char *folder, ct_err *err)
{
    CT_TRY(ct__make_folders(folder, err));
    return ct__write_files(tuning, value, folder, 1, err);
}
