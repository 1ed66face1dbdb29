/* fuzz_bag.c: any bytes as a ROS 1 bag, an MCAP file or a ROS 2 bag in SQLite. They are refused with a sentence, or
 * their topics are listed and their messages read. A file without index, which is scanned, has exactly the messages
 * that were counted, in the order of their times. */
#include "fuzz.h"

#include <covtune/source.h>
#include <string.h>

enum { TOPICS = 8, NAMES = 12, RECORDS = 2000 };

static void select_some(ct_source *source)
{
    for (int32_t i = 0; i < NAMES && i < ct_source_fields(source); i++) {
        const ct_source_field *field = ct_source_field_at(source, i);
        int32_t at;
        FUZZ_LAW(field && field->name && field->type);
        if (!strcmp(field->type, "string"))
            ct_source_select_text(source, field->name, &at, NULL);
        else
            ct_source_select(source, field->name, &at, NULL);
    }
}

/* Messages of a topic, at most RECORDS; -1: reading failed. Ordered: their times do not fall. */
static int64_t read_topic(const char *path, const char *topic, int some, int *ordered)
{
    ct_err err = {0};
    ct_source *source = NULL;
    ct_source_options options = ct_source_defaults();
    ct_record record;
    ct_ns before = INT64_MIN;
    int64_t count = 0;
    int more = 1;
    options.topic = topic;
    if (!some) options.time = "log_time";
    *ordered = 1;
    if (ct_source_open(path, &options, &source, &err) != CT_OK) {
        FUZZ_LAW(!source && err.text[0]);
        return -1;
    }
    if (some) select_some(source);
    while (more && count < RECORDS) {
        if (ct_source_next(source, &record, &more, &err) != CT_OK) {
            FUZZ_LAW(err.text[0]);
            count = -1;
            break;
        }
        if (!more) break;
        count++;
        *ordered = *ordered && (record.stamp >= before || some);
        before = record.stamp;
    }
    ct_source_free(source);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char PATH[] = "in.bag";
    ct_err err = {0};
    ct_bag *bag = NULL;
    int ordered;
    if (size > 1 << 17) return 0;
    remove(PATH); /* to truncate a file makes some file systems write it to the disk at once */
    fuzz_write(PATH, data, size);
    const ct_status status = ct_bag_read(PATH, &bag, &err);
    FUZZ_LAW(status == CT_OK ? bag != NULL : !bag && err.text[0]);
    for (int32_t i = 0; bag && i < bag->topics && i < TOPICS; i++) {
        const ct_bag_topic *topic = &bag->topic[i];
        FUZZ_LAW(topic->name && topic->type && topic->encoding && topic->count >= 0);
        read_topic(PATH, topic->name, 1, &ordered);
        const int64_t count = read_topic(PATH, topic->name, 0, &ordered);
        const int alone = (i == 0 || strcmp(topic[-1].name, topic->name) != 0) &&
                          (i + 1 == bag->topics || strcmp(topic[1].name, topic->name) != 0);
        if (bag->damaged > 0 && alone && count >= 0 && count < RECORDS) FUZZ_LAW(count == topic->count && ordered);
    }
    ct_bag_free(bag);
    return 0;
}
