/* build.h: what turns records into sequences (build_*.c).
 *
 *   ct__recordings  recordings, from file patterns                              build_plan.c
 *   ct__points      landmarks of a recording: maps, tables of ids               build_points.c
 *   ct__stream      the files of a source in a recording, record by record      build_stream.c
 *   ct__channel     what one sensor, or the truth, makes of a record            build_channel.c, build_sample.c
 *   ct__body        a moving body: its motion and its states                    build_motion.c, build_states.c
 *   ct__pending     measurements that wait for the next state                   build_attach.c, build_factor.c
 *   ct__open        a sequence that is being built                              build_sequence.c
 *   ct__sink        where finished sequences go: memory or a folder             build_split.c, build_folder.c
 *   ct__import      all of it                                                   build_import.c, build_recording.c
 *
 * Poses are ct_se3 throughout. In the plane z, roll and pitch are zero, and products of such poses keep them zero to
 * the bit; factors and values are converted to SE2 where they leave. Tangent vectors are (rotation, translation).
 *
 * Time. All streams of a recording are open at once; the record with the smallest corrected stamp is next. Each
 * stream holds its next record. So at any time t a sensor that is a function of time (odometry, velocity, truth) has
 * the records before and after t at hand, and nothing else is stored. */
#ifndef CT_BUILD_H
#define CT_BUILD_H

#include "base/base.h"
#include "base/name_table.h"
#include "base/text.h"
#include "data/data.h"
#include "recipe/build_plan.h"
#include "recipe/recipe.h"

/* ---- Points ----------------------------------------------------------------------------------- */

/* Translation of texts: a table of two columns. */
typedef struct {
    ct__names from, to;   /* to: distinct, numbered */
    int32_t  *number;     /* in `to`, per entry of `from` */
    int64_t   capacity;
    int       given;
} ct__ids;

/* Points of one section of landmarks in one recording. */
typedef struct {
    ct__ids   ids;
    ct__names name;      /* of all points, known or not */
    double   *position;  /* 3 each; NaN: unknown        */
    int64_t   capacity;
} ct__points;

ct_status ct__points_read(const ct_recipe *recipe, const ct__recordings *plan, int32_t section, int32_t r,
                          ct__points *points,
                          ct_err *err);
void      ct__points_free(ct__points *points);
/* *number <- the point that a measurement calls so; -1: there is none. Unknown ones are added where they are
 * estimated. */
ct_status ct__points_find(const ct_recipe *recipe, int32_t section, ct__points *points, const char *text,
                          int32_t *number, ct_err *err);

ct_status   ct__ids_read(const ct_recipe *recipe, const ct__recordings *plan, const ct__recipe_ids *from, int32_t r,
                         ct__ids *ids, ct_err *err);
void        ct__ids_free(ct__ids *ids);
const char *ct__ids_find(const ct__ids *ids, const char *text); /* text itself without a table; NULL: not in it */

typedef struct ct__import ct__import;

/* ---- Records ---------------------------------------------------------------------------------- */

/* What a channel made of a record. */
typedef struct {
    ct_ns   stamp;
    ct_se3  pose;      /* pose types, truth: of the body; relative poses                                   */
    double  value[6];  /* measurement in rows; velocities: body twist, per s                               */
    double  twist[6];  /* motion from the record before to this one (increments, poses), per s             */
    double  regime;    /* value of the regime's expression; NaN: none                                      */
    double  feature[CT__SENSOR_FEATURES_MAX]; /* by expression; NaN: none                                   */
    int32_t target;    /* point or body; -1: none                                                          */
    /* Of the truth, most records of which no state needs: 1: `pose` is as it was read; 2: it is yet to be made of
     * `value`, position and yaw. ct__sample_pose then gives the pose of the body. */
    int     late;
} ct__sample;

typedef enum { CT__MOTION_NONE, CT__MOTION_VELOCITY, CT__MOTION_INCREMENT, CT__MOTION_POSE } ct__motion_type;

/* Corrections of one sensor in one recording. */
typedef struct {
    double  delay_s, drift;
    double  steps_s, wrap_m; /* 0: none */
    int     axes[6], has_axes; /* 0: as it is */
    double  scale[6], bias[6], wheel[2];
    int     scalar_first, camera, ned, compass, inverse, degrees;
    const ct_correction *mount, *frame; /* NULL: the recipe's */
} ct__corrected;

/* Long steps between stamps, in the order of the records: build_clocks.c. */
#define CT__JUMPS 8
typedef struct {
    ct_ns   last;              /* stamp of the last record                    */
    int64_t records;
    double  ordinary_s;        /* sum of steps that are not long, and how many */
    int64_t ordinary;
    double  jump[CT__JUMPS], from[CT__JUMPS]; /* s; from: the stamp before    */
    int     jumps;             /* beyond CT__JUMPS they are no longer listed   */
} ct__clock;

/* Long steps of counters of wheels, over all recordings: build_counters.c. */
#define CT__LEAPS 24
typedef struct {
    double  way[CT__LEAPS];    /* the longest steps, m: lengths                             */
    double  around[CT__LEAPS]; /* where a counter begins again, if the step was like the one before it */
    int64_t number[CT__LEAPS]; /* twice that of the step, and the wheel                     */
    int     leaps;
    double  ordinary;          /* the longest of the others */
    int64_t steps, more;       /* more: leaps that are not listed */
} ct__counters;

#define CT__PLACES       12
#define CT__TURN_OWN     (-1)
#define CT__TURN_MISSING (-2)

/* A sensor of one body, or the truth (sensor NULL) of one body. */
typedef struct {
    const ct__recipe_sensor *sensor;
    const ct__list *role;     /* CT__ROLE_COUNT of them */
    int32_t number;           /* of the sensor; recipe->sensors: the truth */
    int32_t body;
    ct__motion_type motion;   /* odometry, velocity */
    ct__motion_type rates;    /* a sensor of turns: velocities that hold from their record on, or differences */
    int32_t turn;             /* of odometry: channel of its turns; CT__TURN_OWN: none, CT__TURN_MISSING: no files */
    int     steady;           /* 1: a function of time; its stamps must increase */
    ct__corrected corrected;
    ct__axes axes;
    int     rotates;          /* 1: a pose with rotation                              */
    int     spatial;          /* 1: a pose in space, also where states are in the plane */
    ct_se3  mount, frame;     /* mount: of the sensor on the body                     */
    int     has_mount, has_frame, mount_in_space;
    /* places of selected values */
    int32_t place[CT__ROLE_COUNT][CT__PLACES], where, id, feature[CT__SENSOR_FEATURES_MAX];
    /* the last two records: cur is before or at the present, next after it */
    ct__sample cur, next;
    int     has_cur, has_next, ended;
    ct_ns   last_stamp;       /* of the records taken so far */
    ct_ns   first, last;      /* first and last stamp        */
    int64_t taken, seen;
    ct_se3  last_pose;        /* of the last record that was read */
    double  last_wheel[2];    /* of the last record that was read: distances travelled */
    double  wheel_step[2];    /* and since the record before                            */
    double  last_yaw;         /* of a sensor of turns */
    int     has_last_pose, in_gap;
    ct__clock clock;
    /* motion since the body's last state */
    ct_se3  moved;
    double  length_m, turn_rad, sum[6]; /* sum: of velocity times duration */
    ct_ns   covered_from;     /* motion is known from here on without a gap */
    double  step_regime;      /* of the record in force */
    double  feature_sum[CT__SENSOR_FEATURES_MAX], feature_s[CT__SENSOR_FEATURES_MAX]; /* value times time, time */
    double  regime_of;        /* the last regime that was asked for, and its noise model */
    int32_t regime_model;
    ct__ids ids;              /* of bodies */
} ct__channel;

/* ---- poses: build_pose.c ---- */

ct_se3 ct__planar(double x, double y, double yaw);
ct_se3 ct__flatten(ct_se3 a); /* x, y, yaw of a pose in space */
double ct__yaw(ct_se3 a);
ct_se2 ct__to_se2(ct_se3 a);
/* Rotations from axes of a body (of the world) to x ahead, y left, z up (east, north, up). */
ct_so3 ct__body_axes(ct__axes axes);
ct_so3 ct__world_axes(ct__axes axes);
/* Fields of a recipe or a correction as a pose: x y yaw, x y z qx qy qz qw, or a position. 0: they are none. */
int ct__pose_of_numbers(ct_kind kind, const double value[], int count, ct_se3 *pose, int *in_space);
/* v <- axes, scale and bias of n rows. */
void ct__correct_rows(const ct__corrected *c, int n, double v[]);
/* twist <- Ad(mount) twist: motion of the body from that of a sensor on it. */
void ct__move_twist(ct_se3 mount, double twist[6]);
ct_se3 ct__exp_part(const double twist[6], double dt_s);
/* Rows of a twist in the order of recipes: SE2: vx vy omega; SE3: as it is. */
void ct__twist_rows(ct_kind kind, const double twist[6], double row[6]);
void ct__rows_twist(ct_kind kind, const double row[6], double twist[6]);

/* ---- samples: build_sample.c ---- */

/* Of imp->bytes_all. build_stream.c. */
int64_t ct__bytes_read(const ct__import *imp);
/* *drop <- -1 and the sample; or a ct_drop. */
ct_status ct__sample_make(ct__import *imp, ct__channel *c, const ct_record *record, ct_ns stamp,
                          ct__sample *sample, int *drop);
/* The pose that the record has, as it is: before axes, corrections and mount. Returns a ct_drop or -1. */
ct_se3 ct__relative_pose(const ct__import *imp, const ct__channel *c, ct_se3 raw); /* axes, corrections */
/* Of poses and the truth: the body's pose in the world. */
ct_se3 ct__sample_pose(const ct__import *imp, const ct__channel *c, const ct__sample *s);
int ct__sample_raw_pose(ct__import *imp, const ct__channel *c, const ct_record *record, ct_se3 *pose);
/* twist <- velocity of the body, from that of an odometry without turns and the turn rates of another sensor. */
void ct__join_turns(const ct__import *imp, const ct__channel *c, const double rate[3], double twist[6]);

/* ---- channels: build_channel.c ---- */

/* The channels of a recording: every sensor of every body that it has files for, and the truth. */
ct_status ct__channels_make(ct__import *imp);
void      ct__channels_free(ct__import *imp);
/* Select the values that a channel reads. */
ct_status ct__channel_select(const ct__import *imp, ct__channel *c, ct_source *source);
const char *ct__channel_name(const ct__channel *c); /* of the sensor, or "truth" */
/* The noise model in a regime: of the record's expression, or of the interval of the recording. */
ct_status ct__channel_model(ct__import *imp, ct__channel *c, double regime, ct_ns stamp, int32_t *model);
void ct__channel_drop(ct__import *imp, const ct__channel *c, ct_drop why, int64_t count);

/* ---- geodetic positions: build_geodetic.c ---- */

/* p <- east, north, up from the origin, m. geodetic: latitude, longitude in degrees, height in m. 0: it has none. */
int       ct__geodetic_local(ct__import *imp, const double geodetic[3], double p[3]);
/* Find the origin, if a sensor needs one, before any recording is read. */
ct_status ct__geodetic_begin(ct__import *imp);
void      ct__geodetic_end(ct__import *imp);

/* Records that wait to be ordered: build_reorder.c. */
typedef struct ct__held ct__held;
ct_status ct__held_new(int32_t channels, ct__held **out, ct_err *err);
void      ct__held_free(ct__held *held);
int       ct__held_is_full(const ct__held *held);
int       ct__held_is_empty(const ct__held *held);
/* Where the samples of the next record go, one a channel, and whether it took it; then push. */
void      ct__held_slot(ct__held *held, ct__sample **sample, uint8_t **took);
void      ct__held_push(ct__held *held, ct_ns stamp);
/* The first record; valid until the next slot is asked for. */
ct_ns     ct__held_pop(ct__held *held, ct__sample **sample, uint8_t **took);

/* The records of a source for channels that can share them. */
typedef struct {
    int32_t    source, body;  /* body -1: any */
    int32_t    files, at;     /* numbers of files in the plan, the one that is open */
    int32_t   *file;
    struct ct__reading *reading;
    int64_t    had, line;     /* records of it so far, line of the last */
    ct_source_counts count;   /* up to that record */
    double     delay_s, drift, steps_s;
    ct_ns      raw_last;      /* steps that are taken out: the stamp before, sum of those, mean of the others */
    double     removed_s, ordinary_s;
    int64_t    ordinary;
    int        lonely;        /* 1: one channel alone, which looks ahead */
    int        ordered, drained, given; /* ordered: measurements, by stamp; drained: all are read */
    struct ct__held *held;
    ct_ns      newest;        /* stamp of the records read so far */
    int32_t    channels;
    int32_t   *channel;
    int        ended, begun;
    ct_ns      raw_first, stamp; /* first stamp as recorded; corrected stamp of the record that is next */
    int64_t    bytes_before, bytes;
    int64_t    records;
} ct__stream;

#define CT__PROGRESS_RECORDS 2048 /* between two calls: some milliseconds */

/* Clocks that were set while they recorded: build_clocks.c. */
void      ct__clock_note(ct__clock *clock, ct_ns stamp);
ct_status ct__clocks_find(ct__import *imp); /* after a recording */

/* Counters of wheels that begin again: build_counters.c. d: ways since the record before; before: those before. */
void      ct__counters_note(ct__counters *n, const double d[2], const double before[2]);
/* 0: they do not; else the distance after which they do, and how often they did. */
double    ct__counters_wrap(const ct__counters *n, int *times);

/* A file that is open, for one stream or for several (build_reading.c): the file s->at of the stream. */
typedef struct ct__reading ct__reading;
ct_status        ct__reading_open(ct__import *imp, ct__stream *s);
void             ct__reading_close(ct__stream *s);
/* *more <- 1 and the next record, valid until the next record of any stream; 0: the end of the file. */
ct_status        ct__reading_next(ct__import *imp, ct__stream *s, ct_record *record, int *more);
/* Is the next record far ahead of what other streams have had? Further on the file is opened again for the stream. */
int              ct__reading_is_ahead(const ct__import *imp, const ct__stream *s);
int64_t          ct__reading_bytes(const ct__stream *s); /* of the file, read so far, by whatever stream */
ct_source_counts ct__reading_count(const ct__stream *s);
/* Place of the stream's last record, into buf; returns buf. */
const char      *ct__reading_where(const ct__import *imp, const ct__stream *s, char *buf, size_t size);

ct_status   ct__streams_make(ct__import *imp);
void        ct__streams_free(ct__import *imp);
/* Records that were read and are behind the end count as outside. */
void        ct__streams_close(ct__import *imp);
/* Read the next record of a stream into `next` of its channels; at the end it is `ended`. */
ct_status   ct__stream_advance(ct__import *imp, ct__stream *s);
/* The stream whose next record is the first in time; NULL: all have ended. */
ct__stream *ct__streams_first(const ct__import *imp);

/* ---- States ----------------------------------------------------------------------------------- */

typedef struct ct__open ct__open;

/* Says so, once, if the sequence will need much memory. build_result.c. Asked at every CT__LONG_LOOK states. */
#define CT__LONG_LOOK 50000
ct_status ct__result_long(ct__import *imp, const ct__open *open);

typedef struct {
    const char *name;
    int32_t     motion;       /* channel that gives the motion, -1: none */
    int32_t     truth;        /* channel, -1: none                       */
    int32_t     at;           /* channel at whose stamps states are      */
    int         started;      /* 1: there is a last state in this chain  */
    ct_ns       last, before; /* stamps of the last state and the one before it in this chain */
    int         has_before;
    int32_t     open;         /* number of the sequence of the last state */
    int32_t     state;        /* its number there                        */
    int64_t     states;       /* of the recording so far                 */
    ct_ns       now;          /* motion is integrated up to here          */
    int64_t     grid;         /* next number of the grid                  */
    int64_t     grid_of;      /* the number whose time grid_stamp is; -1: none */
    ct_ns       grid_stamp;
    int         stuck;        /* 1: its odometry is missing               */
} ct__body;

/* One end of a measurement: a body at a time. */
typedef struct {
    int32_t   body;
    int       done, early;   /* early: before the first state of its chain */
    ct_se3    moved;         /* from the body's last state to the time of measuring; after `done` from its state */
    int32_t   open, state;   /* number of the sequence, of the state in it */
} ct__end;

typedef struct {
    ct_ns      stamp;
    int32_t    channel;
    ct__sample sample;
    int        ends;
    ct__end    end[2];
    int64_t    relative;      /* -1: a measurement; else one end of this relative pose */
    int        relative_end;
} ct__pending;

/* A relative pose: read before the recording, its ends resolved as their times come. */
typedef struct {
    int32_t channel;
    ct_ns   stamp;      /* of the record */
    ct_se3  pose;
    double  regime, feature[CT__SENSOR_FEATURES_MAX];
    ct__end end[2];
    int     gone;       /* 1: it is a factor, or was dropped */
} ct__relative;

/* A time at which, or a state on which, a relative pose begins or ends. */
typedef struct {
    ct_ns   stamp;      /* or the number of the state */
    int64_t relative;
    int     end;
} ct__visit;

/* ---- features: build_features.c ---- */

int         ct__sensor_features(const ct__recipe_sensor *s); /* expressions, then those of motion */
const char *ct__sensor_feature(const ct__recipe_sensor *s, int i);
ct_status   ct__features_select(const ct__import *imp, ct__channel *c, ct_source *source);
/* Values of a record; NaN: it has none. */
void ct__features_of_record(const ct__channel *c, const ct_record *record, double value[CT__SENSOR_FEATURES_MAX]);
/* The record in force was in force for dt seconds of the present step. */
void ct__features_advance(ct__channel *c, const double value[CT__SENSOR_FEATURES_MAX], double dt);
/* Means over the step, then speed, turn rate and duration. */
void ct__features_of_step(const ct__channel *c, double dt, double value[CT__SENSOR_FEATURES_MAX]);
/* Give factor f of a graph the features of a sensor that are numbers. */
ct_status ct__features_put(ct_graph *graph, int32_t f, const ct__recipe_sensor *s, const double value[], ct_err *err);

/* ---- motion: build_motion.c ---- */

/* Integrate the motion of a body up to t, which is not after the next record of any of its channels. */
void ct__body_advance(ct__import *imp, int32_t b, ct_ns t);
/* Begin anew: no motion so far. */
void ct__body_restart(ct__import *imp, int32_t b);
/* Motion of the body since its last state; the identity without odometry. */
ct_se3 ct__body_moved(const ct__import *imp, int32_t b);
/* Where the gap of the odometry at t ends that is longer than the recipe allows; t: there is none. */
ct_ns ct__gap_end(const ct__import *imp, int32_t b, ct_ns t);
/* 1 if there is such a gap. */
int ct__body_in_gap(const ct__import *imp, int32_t b, ct_ns t);
/* twist <- the velocity in force after the last record, of an odometry with the turns of another sensor with those.
 * 0: unknown. */
int ct__channel_twist(const ct__import *imp, const ct__channel *c, double twist[6]);
/* `next` of a channel becomes `cur`. The motion has been integrated up to its stamp. */
void ct__channel_take(ct__import *imp, ct__channel *c);
/* Bits of the tangent coordinates that the truth tells. */
unsigned ct__truth_known(const ct__import *imp, const ct__channel *c);
/* The truth of a body at t; 0: there is none. */
int ct__truth_at(const ct__import *imp, int32_t b, ct_ns t, ct_se3 *pose);

/* ---- states: build_states.c ---- */

/* Make the states that are due up to t, by the grid or by distance. */
ct_status ct__states_until(ct__import *imp, ct_ns t);
/* Make a state of a body at t, if odometry and truth are there. */
ct_status ct__state_make(ct__import *imp, int32_t b, ct_ns t);

/* ---- measurements and states: build_attach.c ---- */

/* A measurement of a channel at the present, by its `cur`. */
ct_status ct__pending_add(ct__import *imp, int32_t channel);
ct_status ct__pending_visit(ct__import *imp, const ct__visit *visit);
/* A new state of the body, number `state` of the sequence `open`, at t; body->last is still the one before. */
ct_status ct__pending_resolve(ct__import *imp, int32_t b, ct_ns t, int32_t open, int32_t state);
/* The chain of states of a body ends: what was measured soon after its last state belongs to that. */
ct_status ct__pending_close(ct__import *imp, int32_t b);

/* ---- factors: build_factor.c ---- */

ct_status ct__factor_of_pending(ct__import *imp, const ct__pending *p);
ct_status ct__factor_of_relative(ct__import *imp, ct__relative *p);
/* Odometry and velocities between the last state of a body and the new one. */
ct_status ct__factors_of_step(ct__import *imp, int32_t b, ct_ns t, ct__open *open, int32_t from, int32_t to);

/* ---- relative poses: build_relative.c ---- */

ct_status ct__relatives_read(ct__import *imp);
/* Once for each relative pose. */
void      ct__relative_drop(ct__import *imp, ct__relative *r, ct_drop why);
/* At the end of a recording: those without a state at both ends are outside. */
void      ct__relatives_close(ct__import *imp);

/* ---- Sequences -------------------------------------------------------------------------------- */

typedef struct {
    const ct_factor_ops *ops;
    int32_t var[2];     /* states; points as -1 - number */
    int32_t noise, sensor;
    double  multiplier;
    int64_t z;          /* place of its numbers */
    int64_t feature;    /* place of its features, as many as its sensor has; -1: none */
} ct__factor_row;

typedef struct {
    int32_t body;
    ct_ns   stamp;
    int     truth, rotates; /* 1: there is a truth; 1: with a rotation */
    unsigned known;         /* bits of tangent coordinates             */
    ct_se3  value;          /* of the truth                            */
} ct__state_row;

struct ct__open {
    int32_t         segment, number; /* number: of the import, for names of files */
    int32_t         states;
    ct__state_row  *state;
    int64_t         state_capacity;
    int32_t         factors;
    ct__factor_row *factor;
    int64_t         factor_capacity;
    double         *z;
    int64_t         numbers, z_capacity;
    ct__names       point;           /* unknown points: "section_id" */
    int32_t        *seen;            /* times, per point */
    int32_t        *needed;
    int64_t         seen_capacity, needed_capacity;
    ct_ns           begin;
    int             broken;          /* 1: ended by a gap: the recording has several sequences */
};

ct_status ct__open_new(ct__import *imp, ct_ns t, ct__open **out);
void      ct__open_free(ct__open *open);
ct__open *ct__open_find(const ct__import *imp, int32_t number); /* NULL: it is finished */
ct_status ct__open_add_state(ct__import *imp, ct__open *open, const ct__state_row *row, int32_t *state);
/* z: ct_factor_z_size numbers; var: states, or points as -1 - number (ct__open_point). */
ct_status ct__open_add_factor(ct__import *imp, ct__open *open, const ct_factor_ops *ops, const int32_t var[],
                              const double z[], int32_t sensor, int32_t noise, double multiplier);
/* Features of the last factor of the sequence, as many as its sensor has. */
ct_status ct__open_add_features(ct__import *imp, ct__open *open, const double value[]);
/* *number <- an unknown point of the sequence. needed: measurements that determine it. */
ct_status ct__open_point(ct__import *imp, ct__open *open, int32_t section, int32_t point, int needed, int32_t *number);
/* Make the sequence and give it to the sink; frees open. */
ct_status ct__open_finish(ct__import *imp, ct__open *open);
/* The noise model of an anchor: rows of a whole pose, or of a position. */
ct_status ct__anchor_model(ct__import *imp, int rows, int32_t *model);
/* Finish the oldest open sequence. */
ct_status ct__opens_finish_first(ct__import *imp);

/* ---- Where sequences go ------------------------------------------------------------------------ */

typedef struct {
    char   *name, *recording;
    char   *temp;            /* file; NULL: in memory */
    ct_sequence *seq;
    int32_t of;              /* number of the recording */
} ct__made;

typedef struct {
    ct__made *item;
    int64_t   count, capacity;
    /* folder */
    char     *folder, *staged; /* NULL: in memory */
} ct__sink;

void      ct__sink_free(ct__sink *sink);
/* seq is owned, also on failure. */
ct_status ct__sink_put(ct__import *imp, ct_sequence *seq);

/* ---- Import ----------------------------------------------------------------------------------- */

/* Steps from record to record, at most CT__STEPS, thinned evenly. */
#define CT__STEPS 500
typedef struct {
    int32_t count;
    int64_t seen, every; /* so far; one of so many is kept */
    double  at[CT__STEPS], step[CT__STEPS];
} ct__steps;

typedef struct {
    ct__steps steady, late;  /* steps between stamps that ascend, and that do not */
    char    where[256];      /* place of the first record whose stamp is not after those before it */
    int64_t unordered;       /* records that were put in order */
    int64_t damaged;         /* bytes at the end of files that were cut short, and the first of them */
    char    damaged_in[256];
    char    numbered_in[256]; /* first table without stamps, whose records are numbered; empty: none */
    int64_t missing;         /* recordings without files of it, and the first of them */
    char    missing_in[128];
    int64_t gaps;
    double  longest_gap_s;
    int32_t rates;
    double *rate;
    int64_t rate_capacity;
    ct_ns   first, last;     /* stamps over all recordings */
    int     any;
    ct__counters counters;
} ct__seen;

struct ct__import {
    const ct_recipe   *recipe;
    ct_import_options  options;
    ct_err            *err;
    ct__recordings           plan;
    ct_noise          *noise;
    int32_t           *model;       /* per sensor: its noise model */
    int32_t            first_pose;  /* noise model of the anchor, -1: not yet */
    ct_kind            kind;
    ct__sink           sink;
    ct_import_result   result;
    ct__seen          *seen;        /* per sensor and the truth */
    int64_t            bytes_all, bytes_done;
    ct_ns              gap; /* between records of odometry, beyond which the motion is unknown */
    double             origin[3];   /* of geodetic positions */
    int                has_origin;
    void              *geodetic;
    int                unnamed;     /* 1: the recording is called after the recipe */
    int64_t            short_states, short_segments, few_points;
    int                said_long; /* 1: a sequence that will be long was reported */
    int32_t            made;        /* sequences so far */
    /* the recording at hand */
    int32_t            r;
    ct_ns              base, begin;  /* first stamp of the recording; first of states */
    ct__points        *points;       /* per section */
    int32_t            streams, channels, bodies;
    ct__stream        *stream;
    ct__channel       *channel;
    ct__body          *body;
    ct__pending       *pending;
    int64_t            pendings, pending_capacity;
    ct__relative      *relative;
    int64_t            relatives, relative_capacity;
    ct__visit         *visit, *numbered; /* by time; by number of a state */
    int64_t            visits, visit_capacity, visit_at, numbereds, numbered_capacity;
    ct_ns              previous;     /* stamp of the last record that was processed */
    ct__open          *open[2];      /* oldest first */
    int32_t            opens, segments;
    int                cut;          /* 1: a gap begins a new sequence */
    int64_t            records_since;
};

ct_status ct__recording_import(ct__import *imp);

/* ---- results: build_result.c ---- */

/* After a recording: stamps and rates of its channels. */
ct_status ct__result_recording(ct__import *imp);
/* A record of a channel whose stamps must ascend, with its stamp. */
void      ct__result_step(ct__import *imp, const ct__channel *c, ct_ns stamp);
/* A recording without sequences. */
ct_status ct__result_empty(ct__import *imp);
/* No sequence came out: a sentence that says why. */
ct_status ct__result_nothing(ct__import *imp);
/* After all: rates, findings. */
ct_status ct__result_finish(ct__import *imp);

/* ---- train and test: build_split.c ---- */

typedef struct {
    int64_t *item; /* numbers of sequences in the sink */
    int32_t  count;
} ct__part;

/* partial: some recordings only; the lists may name others. */
ct_status ct__split(const ct_recipe *recipe, const ct__sink *sink, int partial, ct__part *train, ct__part *test,
                    ct_err *err);
/* Groups of dataset.yaml: models that are not learned. */
ct_status ct__add_groups(ct__import *imp, ct_dataset *dataset);

/* ---- folders: build_folder.c ---- */

#define CT__RECIPE_COPY "recipe.yaml"
typedef struct ct__folder ct__folder;
ct_status ct__folder_begin(const char *out, ct__folder **folder, ct_err *err);
ct_status ct__folder_commit(ct__import *imp, ct__folder *folder);
void      ct__folder_free(ct__folder *folder); /* removes what was not committed */
const char *ct__folder_staged(const ct__folder *folder);

/* ---- graphs: build_graphs.c ---- */

/* The section `sequences`: files that are graphs already. */
ct_status ct__graphs_import(ct__import *imp);

#endif
