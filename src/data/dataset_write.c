/* dataset_write.c: writes a dataset to a folder. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"

#include <errno.h>
#include <sys/stat.h>

static ct_status make_folder(const char *path, ct_err *err)
{
    struct stat entry;
    if (mkdir(path, 0777) == 0) return CT_OK;
    const int why = errno;
    if (why == EEXIST && stat(path, &entry) == 0 && S_ISDIR(entry.st_mode)) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: the folder cannot be made: %s", path, strerror(why));
}

static ct_status write_run(const ct_dataset *d, const ct_sequence *seq, ct_format format, const char *folder,
                           const char *name, ct_err *err)
{
    ct_err      inner = {0};
    char        recording[256], *path = ct__path_join(folder, name);
    if (!path) return ct__no_memory(err, "file names", 1);
    ct_status status = ct_sequence_acquire(seq, err);
    if (status != CT_OK) {
        free(path);
        return status;
    }
    ct_sequence named = *seq; /* its recording does not depend on the file's name any more */
    ct_sequence_recording(seq, recording, sizeof recording);
    if (seq->name && strcmp(recording, seq->name)) named.recording = recording;
    status = ct_sequence_write(&named, d->noise, NULL, format, 0, path, NULL, &inner);
    ct_sequence_release(seq);
    if (status == CT_E_IO || status == CT_E_MEMORY) ct_fail(err, status, "%s", inner.text); /* has the path */
    else if (status != CT_OK) ct_fail(err, status, "%s: %s", path, inner.text);
    free(path);
    return status;
}

int32_t ct__sequence_find(ct_sequence *const list[], int32_t count, const ct_sequence *seq)
{
    for (int32_t i = 0; i < count; i++)
        if (list[i] == seq) return i;
    return -1;
}

/* Write the sequences of one part, and append their file names to `names`. A sequence of both parts is written once. */
static ct_status write_part(const ct_dataset *d, ct_format format, const char *folder, const char *part,
                            ct__paths *names, ct_err *err)
{
    const int          testing = !strcmp(part, "test");
    ct_sequence *const *list = testing ? d->test : d->train;
    const int32_t      count = testing ? d->tests : d->trains;
    char               name[32];
    char              *sub = ct__path_join(folder, part);
    ct_status          status = !sub ? ct__no_memory(err, "file names", 1) : count ? make_folder(sub, err) : CT_OK;
    free(sub);
    for (int32_t i = 0; status == CT_OK && i < count; i++) {
        const int32_t same = testing ? ct__sequence_find(d->train, d->trains, list[i]) : -1;
        snprintf(name, sizeof name, "%s/%04d%s", same >= 0 ? "train" : part, same >= 0 ? same : i,
                 format == CT_FORMAT_BINARY ? ".ctbin" : ".ctseq");
        status = ct__paths_add(names, "", name, err);
        if (status == CT_OK && same < 0) status = write_run(d, list[i], format, folder, name, err);
    }
    return status;
}

static ct_status write_yaml(const ct_dataset *d, const char *folder, const ct__paths *train, const ct__paths *test,
                            ct_err *err)
{
    ct__file file;
    char    *path = ct__path_join(folder, "dataset.yaml");
    if (!path) return ct__no_memory(err, "file names", 1);
    ct_status status = ct__file_begin(&file, path, err);
    free(path);
    CT_TRY(status);
    status = ct__yaml_write(file.stream, d, train->path, test->path, err);
    if (status == CT_OK) return ct__file_commit(&file, err);
    ct__file_abort(&file);
    return status;
}

ct_status ct_dataset_write(const ct_dataset *dataset, const char *folder, ct_err *err)
{
    return ct_dataset_write_as(dataset, folder, CT_FORMAT_COVTUNE, err);
}

ct_status ct_dataset_write_as(const ct_dataset *dataset, const char *folder, ct_format format, ct_err *err)
{
    ct__paths train = {0}, test = {0};
    if (format != CT_FORMAT_COVTUNE && format != CT_FORMAT_BINARY)
        return ct_fail(err, CT_E_ARGUMENT, "%s: a dataset is written as %s or %s, not as %s", folder,
                       ct_format_name(CT_FORMAT_COVTUNE), ct_format_name(CT_FORMAT_BINARY), ct_format_name(format));
    if (!dataset->trains && !dataset->tests)
        return ct_fail(err, CT_E_ARGUMENT, "%s: a dataset without sequences is not written", folder);
    ct_status status = make_folder(folder, err);
    if (status == CT_OK) status = write_part(dataset, format, folder, "train", &train, err);
    if (status == CT_OK) status = write_part(dataset, format, folder, "test", &test, err);
    if (status == CT_OK) status = write_yaml(dataset, folder, &train, &test, err);
    ct__paths_free(&train);
    ct__paths_free(&test);
    return status;
}
