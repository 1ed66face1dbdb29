/* times.c: where the time went, for who measures (COVTUNE_TIMES=1). */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void cli_print_times(const ct_dataset *dataset)
{
    const char *wanted = getenv("COVTUNE_TIMES");
    if (!wanted || !*wanted || !strcmp(wanted, "0")) return;
    const ct_work_times t = ct_work_times_so_far();
    struct rusage       usage = {0};
    ct_cache_info       cache;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "times: processor %.3f s, outside of parallel sections %.3f s (%.2f %%), memory at most %.1f MB\n",
            t.all_s, t.serial_s, 100 * t.serial_s / t.all_s, (double)usage.ru_maxrss / 1024);
    if (!dataset || !ct_dataset_cache_info(dataset, &cache)) return;
    fprintf(stderr,
            "cache: %lld sequences acquired, %lld brought in %.3f s, %lld sent in %.3f s (%.2f %% of the time), "
            "%.1f of %.1f MB counted\n",
            (long long)cache.used, (long long)cache.came, cache.come_s, (long long)cache.left, cache.leave_s,
            100 * (cache.come_s + cache.leave_s) / t.all_s, (double)cache.most / 1048576,
            (double)cache.limit / 1048576);
}
