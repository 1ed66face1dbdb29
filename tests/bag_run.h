/* bag_run.h: a recording as a list of messages in the encoding of ROS 1 or CDR, made without the library. */
#ifndef BAG_RUN_H
#define BAG_RUN_H

#include "ct_test.h"

#include <stdint.h>
#if COVTUNE_HAS_BZIP2
#include <bzlib.h>
#endif
#if COVTUNE_HAS_LZ4
#include <lz4frame.h>
#endif
#if COVTUNE_HAS_ZSTD
#include <zstd.h>
#endif

/* ---- Bytes that grow ---- */

typedef struct {
    uint8_t *b;
    size_t n, room;
    uint64_t before; /* bytes of the file before these, which were written already */
} bw;

static inline void bw_put(bw *w, const void *bytes, size_t n)
{
    if (w->n + n > w->room) {
        w->room = 2 * (w->n + n) + 64;
        w->b = realloc(w->b, w->room);
        if (!w->b) abort();
    }
    if (n) memcpy(w->b + w->n, bytes, n);
    w->n += n;
}
static inline void bw_int(bw *w, uint64_t value, int width)
{
    for (int i = 0; i < width; i++) bw_put(w, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}
static inline void bw_text(bw *w, const char *text)
{
    bw_int(w, strlen(text), 4);
    bw_put(w, text, strlen(text));
}
static inline void bw_set(bw *w, size_t at, uint64_t value, int width)
{
    for (int i = 0; i < width; i++) w->b[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}
static inline void bw_save(const bw *w, size_t n, const char *path)
{
    remove(path); /* to truncate a file makes some file systems write it to the disk at once */
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(w->b, 1, n, file) != n || fclose(file) != 0) abort();
}

/* CRC-32, a byte at a time: the table is what eight steps of its definition do to a byte. */
static inline uint32_t bw_crc(const uint8_t *b, size_t n)
{
    static uint32_t table[256];
    uint32_t crc = ~0u;
    for (uint32_t i = 0; i < 256 && !table[255]; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ (0xedb88320u & (0u - (c & 1)));
        table[i] = c;
    }
    for (size_t i = 0; i < n; i++) crc = (crc >> 8) ^ table[(crc ^ b[i]) & 255];
    return ~crc;
}

/* Append `n` bytes, compressed. 0: this build has no such library. */
static inline int bw_pack(bw *w, const uint8_t *b, size_t n, const char *codec)
{
    if (!strcmp(codec, "") || !strcmp(codec, "none")) {
        bw_put(w, b, n);
        return 1;
    }
#if COVTUNE_HAS_BZIP2
    if (!strcmp(codec, "bz2")) {
        unsigned size = (unsigned)(n + n / 50 + 1024);
        char *out = malloc(size);
        if (BZ2_bzBuffToBuffCompress(out, &size, (char *)(uintptr_t)b, (unsigned)n, 9, 0, 0) != BZ_OK) abort();
        bw_put(w, out, size);
        free(out);
        return 1;
    }
#endif
#if COVTUNE_HAS_LZ4
    if (!strcmp(codec, "lz4")) {
        const size_t room = LZ4F_compressFrameBound(n, NULL);
        void *out = malloc(room);
        const size_t size = LZ4F_compressFrame(out, room, b, n, NULL);
        if (LZ4F_isError(size)) abort();
        bw_put(w, out, size);
        free(out);
        return 1;
    }
#endif
#if COVTUNE_HAS_ZSTD
    if (!strcmp(codec, "zstd")) {
        const size_t room = ZSTD_compressBound(n);
        void *out = malloc(room);
        const size_t size = ZSTD_compress(out, room, b, n, 1);
        if (ZSTD_isError(size)) abort();
        bw_put(w, out, size);
        free(out);
        return 1;
    }
#endif
    return 0;
}

/* ---- Messages ---- */

typedef enum { BAG_ROS1, BAG_CDR, BAG_CDR_BIG } bag_encoding;

/* A number of `width` bytes at its place. CDR has a header of 4 bytes, from which alignment does not count. */
static inline void bag_bits(bw *w, bag_encoding e, uint64_t bits, int width)
{
    while (e != BAG_ROS1 && (w->n - 4) % (size_t)width) bw_int(w, 0, 1);
    for (int i = 0; i < width; i++)
        bw_put(w, &(uint8_t){(uint8_t)(bits >> 8 * (e == BAG_CDR_BIG ? width - 1 - i : i))}, 1);
}
static inline void bag_f64(bw *w, bag_encoding e, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    bag_bits(w, e, bits, 8);
}
static inline void bag_f32(bw *w, bag_encoding e, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    bag_bits(w, e, bits, 4);
}
static inline void bag_text(bw *w, bag_encoding e, const char *text)
{
    const size_t n = strlen(text) + (e != BAG_ROS1);
    bag_bits(w, e, n, 4);
    bw_put(w, text, n);
}
static inline void bag_begin(bw *w, bag_encoding e)
{
    w->n = 0;
    if (e != BAG_ROS1) bw_put(w, e == BAG_CDR ? "\0\1\0\0" : "\0\0\0\0", 4);
}
static inline void bag_header(bw *w, bag_encoding e, int64_t stamp, const char *frame)
{
    if (e == BAG_ROS1) bag_bits(w, e, 7, 4); /* seq */
    bag_bits(w, e, (uint64_t)(stamp / 1000000000), 4);
    bag_bits(w, e, (uint64_t)(stamp % 1000000000), 4);
    bag_text(w, e, frame);
}

/* ---- A recording ---- */

typedef struct {
    const char *topic, *type1, *type2, *text1, *text2; /* types and definitions of ROS 1 and ROS 2 */
} bag_topic;

#define BAG_LINE  "================================================================================\n"
#define BAG_HEAD1 "Header header\n"
#define BAG_HEAD2 "std_msgs/Header header\n"
#define BAG_HDEF1 BAG_LINE "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
#define BAG_HDEF2                                                                                                      \
    BAG_LINE "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" BAG_LINE                         \
             "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
#define BAG_VEC  BAG_LINE "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
#define BAG_QUAT BAG_LINE "MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
#define BAG_ODOM                                                                                                       \
    "# an estimate\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"                                    \
    "geometry_msgs/TwistWithCovariance twist\n"
#define BAG_ODOMDEF                                                                                                    \
    BAG_LINE "MSG: geometry_msgs/PoseWithCovariance\nPose pose\n\nfloat64[36] covariance\n" BAG_LINE                   \
             "MSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n" BAG_LINE                              \
             "MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n" BAG_QUAT BAG_LINE                           \
             "MSG: geometry_msgs/TwistWithCovariance\nTwist twist\nfloat64[36] covariance\n" BAG_LINE                  \
             "MSG: geometry_msgs/Twist\nVector3  linear\nVector3  angular\n" BAG_VEC
#define BAG_FIX                                                                                                        \
    "NavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\nfloat64[9] position_covariance\n"     \
    "uint8 COVARIANCE_TYPE_UNKNOWN = 0\nuint8 position_covariance_type\n"
#define BAG_FIXDEF                                                                                                     \
    BAG_LINE "MSG: sensor_msgs/NavSatStatus\nint8 STATUS_NO_FIX = -1 # none\nint8 status\nuint16 service\n"
#define BAG_TF "geometry_msgs/TransformStamped[] transforms\n"
#define BAG_TFDEF1                                                                                                     \
    BAG_LINE                                                                                                           \
    "MSG: geometry_msgs/TransformStamped\nHeader header\nstring child_frame_id\nTransform transform\n" BAG_HDEF1       \
        BAG_LINE "MSG: geometry_msgs/Transform\nVector3 translation\nQuaternion rotation\n" BAG_VEC BAG_QUAT
#define BAG_TFDEF2                                                                                                     \
    BAG_LINE "MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\nTransform "          \
             "transform\n" BAG_HDEF2 BAG_LINE                                                                          \
             "MSG: geometry_msgs/Transform\nVector3 translation\nQuaternion rotation\n" BAG_VEC BAG_QUAT

#define BAG_TOPICS 3
static const bag_topic BAG_TOPIC[BAG_TOPICS] = {
    {"/odom", "nav_msgs/Odometry", "nav_msgs/msg/Odometry", BAG_HEAD1 BAG_ODOM BAG_HDEF1 BAG_ODOMDEF,
     BAG_HEAD2 BAG_ODOM BAG_HDEF2 BAG_ODOMDEF},
    {"/fix", "sensor_msgs/NavSatFix", "sensor_msgs/msg/NavSatFix", BAG_HEAD1 BAG_FIX BAG_HDEF1 BAG_FIXDEF,
     BAG_HEAD2 BAG_FIX BAG_HDEF2 BAG_FIXDEF},
    {"/tf", "tf2_msgs/TFMessage", "tf2_msgs/msg/TFMessage", BAG_TF BAG_TFDEF1, BAG_TF BAG_TFDEF2},
};

typedef struct {
    int topic;
    int64_t log; /* time of recording */
    uint8_t *bytes;
    size_t size;
} bag_message;

typedef struct {
    bag_encoding encoding;
    bag_message *message;
    int messages;
} bag_run;

#define BAG_T0 1700000000123456789LL
#define BAG_DT 20000000LL

/* What the run has at step k: any numbers with full mantissas. */
static inline double bag_value(int k, int i) { return (k + 1) / 3.0 + 0.1 * i; }
static inline int64_t bag_stamp(int k) { return BAG_T0 + k * BAG_DT + k % 7; }
static inline int64_t bag_log(int k) { return bag_stamp(k) + 1500000 + 1000 * (k % 5); }

static inline void bag_odometry(bw *w, bag_encoding e, int k)
{
    bag_begin(w, e);
    bag_header(w, e, bag_stamp(k), "odom");
    bag_text(w, e, k % 2 ? "base" : "base_link");
    for (int i = 0; i < 7 + 36 + 6 + 36; i++) bag_f64(w, e, bag_value(k, i));
}

static inline void bag_fix(bw *w, bag_encoding e, int k)
{
    bag_begin(w, e);
    bag_header(w, e, bag_stamp(k), "gps");
    bag_bits(w, e, (uint64_t)(int64_t)-1, 1);
    bag_bits(w, e, 513, 2);
    for (int i = 0; i < 12; i++) bag_f64(w, e, bag_value(k, i));
    bag_bits(w, e, 2, 1);
}

static inline void bag_transforms(bw *w, bag_encoding e, int k)
{
    bag_begin(w, e);
    bag_bits(w, e, (uint64_t)(k % 3), 4); /* also none */
    for (int j = 0; j < k % 3; j++) {
        bag_header(w, e, bag_stamp(k) + j, "world");
        bag_text(w, e, j ? "camera" : "base");
        for (int i = 0; i < 7; i++) bag_f64(w, e, bag_value(k, i) + 10 * j);
    }
}

static inline void bag_run_add(bag_run *run, int topic, int64_t log, const bw *w)
{
    bag_message m = {topic, log, malloc(w->n + 1), w->n};
    run->message = realloc(run->message, (size_t)(run->messages + 1) * sizeof m);
    if (!m.bytes || !run->message) abort();
    memcpy(m.bytes, w->b, w->n);
    run->message[run->messages++] = m;
}

/* Odometry at every step, transforms at every other, a fix at every fifth. */
static inline bag_run bag_run_new(bag_encoding e, int steps)
{
    bag_run run = {.encoding = e};
    bw w = {0};
    for (int k = 0; k < steps; k++) {
        bag_odometry(&w, e, k);
        bag_run_add(&run, 0, bag_log(k), &w);
        if (k % 2 == 0) {
            bag_transforms(&w, e, k);
            bag_run_add(&run, 2, bag_log(k) + 200, &w);
        }
        if (k % 5 == 0) {
            bag_fix(&w, e, k);
            bag_run_add(&run, 1, bag_log(k) + 100, &w);
        }
    }
    free(w.b);
    return run;
}

static inline void bag_run_free(bag_run *run)
{
    for (int i = 0; i < run->messages; i++) free(run->message[i].bytes);
    free(run->message);
    *run = (bag_run){0};
}

#endif
