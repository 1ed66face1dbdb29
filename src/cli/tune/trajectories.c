/* trajectories.c: trajectories.json: positions of truth, start and answer, for the report. They are those that the
 * queue kept in estimates/ when it ran them; what is neither start nor answer is removed at the end. */
#define _POSIX_C_SOURCE 200809L
#include "cli/tune/tune.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIGITS 10 /* millimetres of coordinates that count thousands of kilometres, as UTM's */

/* {t: [..], x: [..], y: [..], z: [..]} of a file, or null. */
static json_t *read_positions(const char *folder, const char *name)
{
    static const char *const KEY[] = {"t", "x", "y", "z"};
    char *path = cli_path_join(folder, name);
    FILE *file = cli_open(path, "rb");
    json_t *o, *list[4];
    double v[4];
    free(path);
    if (!file) return json_null();
    o = cli_object();
    for (int k = 0; k < 4; k++) list[k] = cli_array();
    while (fscanf(file, "%lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3]) == 4)
        for (int k = 0; k < 4; k++) cli_append(list[k], cli_number(v[k]));
    fclose(file);
    for (int k = 0; k < 4; k++) cli_put(o, KEY[k], list[k]);
    return o;
}

static double *start_values(const tune_job *job)
{
    double *start = cli_alloc(job->problem->parameters, sizeof *start);
    for (int32_t i = 0; i < job->problem->parameters; i++) start[i] = job->problem->parameter[i].start;
    return start;
}

/* Is it of the truth, or of wanted values? "log7-..." is of log 7. Other names are not ours. */
static int is_wanted(const tune_job *job, const double *const wanted[2], const char *file)
{
    char name[64], *end = NULL;
    const long log = strncmp(file, "log", 3) ? -1 : strtol(file + 3, &end, 10);
    if (log < 0 || log >= job->problem->logs || end == file + 3 || *end != '-' || strstr(file, "-truth.txt")) return 1;
    for (int k = 0; k < 2; k++)
        if (!strcmp(file, ct_tuning_estimate_name(job->tuning, (int32_t)log, wanted[k], name))) return 1;
    return 0;
}

/* Files of other values. */
static void prune(const tune_job *job, const double *const wanted[2])
{
    DIR *dir = cli_open_folder(job->estimates);
    const struct dirent *e;
    while (dir && (e = readdir(dir))) {
        if (is_wanted(job, wanted, e->d_name)) continue;
        char *path = cli_path_join(job->estimates, e->d_name);
        unlink(path);
        free(path);
    }
    if (dir) closedir(dir);
}

ct_status tune_write_trajectories(const tune_job *job, ct_err *err)
{
    double *start = start_values(job);
    const double *const wanted[2] = {start, job->result.value};
    json_t *logs = cli_array();
    for (int32_t i = 0; i < job->problem->logs; i++) {
        char name[64];
        json_t *truth = read_positions(job->estimates, ct_tuning_estimate_name(job->tuning, i, NULL, name));
        if (json_is_null(truth)) continue;
        json_t *o = cli_object();
        cli_put(o, "log", cli_text(job->problem->log[i].name));
        cli_put(o, "truth", truth);
        cli_put(o, "before", read_positions(job->estimates, ct_tuning_estimate_name(job->tuning, i, start, name)));
        cli_put(o, "after",
                read_positions(job->estimates, ct_tuning_estimate_name(job->tuning, i, job->result.value, name)));
        cli_append(logs, o);
    }
    char *text = cli_check_alloc(json_dumps(logs, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)));
    const ct_status status = ct_file_replace(job->trajectories, text, strlen(text), err);
    if (status == CT_OK && job->result.stop != CT_TUNE_STOP_CANCELLED) prune(job, wanted);
    free(text);
    json_decref(logs);
    free(start);
    return status;
}
