/* make_bag.c: writes the recording of bag_run.h as a bag, for sessions of the command line and seeds of the fuzzers:
 *     make_bag FORMAT CODEC FILE [STEPS [BYTES]]
 * FORMAT: ros1, mcap, mcap1 (ROS 1 messages), db3; the file is cut after so many bytes; -N: N less than it has. */
#include "bag_writer.h"

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: make_bag FORMAT CODEC FILE [STEPS [BYTES]]\n");
        return 2;
    }
    const char *format = argv[1], *codec = argv[2], *path = argv[3];
    const int steps = argc > 4 ? atoi(argv[4]) : 20;
    const long long bytes = argc > 5 ? atoll(argv[5]) : 0;
    const bag_encoding e = !strcmp(format, "ros1") || !strcmp(format, "mcap1") ? BAG_ROS1 : BAG_CDR;
    bag_run run = bag_run_new(e, steps);
    bw b = {0};
    if (!strcmp(format, "db3")) {
#if COVTUNE_HAS_SQLITE3
        sqlite_write(&run, &(sqlite_options){.version = *codec ? 4 : 3}, path);
#endif
    } else if (!strcmp(format, "ros1")) {
        b = ros1_write(&run, &(ros1_options){.codec = codec, .per_chunk = 10});
    } else {
        b = mcap_write(&run, &(mcap_options){.codec = !strcmp(codec, "none") ? "" : codec, .per_chunk = 10});
    }
    if (b.n) bw_save(&b, bytes > 0 ? (size_t)bytes : b.n - (size_t)-bytes, path);
    free(b.b);
    bag_run_free(&run);
    return 0;
}
