/* make_bag.c: writes the recording of bag_run.h as a bag, for sessions of the command line and seeds of the fuzzers:
 *     make_bag FORMAT CODEC FILE [STEPS [BYTES]]
 *     make_bag message TOPIC FILE      a seed of fuzz_message; TOPIC 0 to 2 of ROS 1, 3 to 5 of ROS 2
 * FORMAT: ros1, mcap, mcap1 (ROS 1 messages), db3; the file is cut after so many bytes; -N: N less than it has. */
#include "bag_writer.h"

static bw message_seed(int topic)
{
    const bag_encoding e = topic < BAG_TOPICS ? BAG_ROS1 : BAG_CDR;
    const bag_topic *t = &BAG_TOPIC[topic % BAG_TOPICS];
    bw b = {0}, m = {0};
    bw_put(&b, e == BAG_ROS1 ? "r" : "m", 1);
    bw_put(&b, e == BAG_ROS1 ? t->text1 : t->text2, strlen(e == BAG_ROS1 ? t->text1 : t->text2) + 1);
    if (topic % BAG_TOPICS == 0)
        bag_odometry(&m, e, 5);
    else if (topic % BAG_TOPICS == 1)
        bag_fix(&m, e, 5);
    else
        bag_transforms(&m, e, 5);
    bw_put(&b, m.b, m.n);
    free(m.b);
    return b;
}

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
    } else if (!strcmp(format, "message")) {
        b = message_seed(atoi(codec));
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
