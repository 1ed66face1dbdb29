/* tables.c: covtune simulate nav2d|nav3d --tables: stamped CSV files of a robot, and the recipe that imports them. */
#define _POSIX_C_SOURCE 200809L
#include <covtune/simulate.h>
#include "cli/simulate/simulate.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `least` to `most` numbers with commas, in [low, high]. Returns how many; -1: it is something else. */
static int take_numbers(const char *text, int least, int most, double low, double high, double out[])
{
    const char *at = text;
    for (int i = 0; i < most; i++) {
        char *end;
        out[i] = strtod(at, &end);
        if (end == at || !(out[i] >= low && out[i] <= high)) return -1;
        if (!*end) return i + 1 >= least ? i + 1 : -1;
        if (*end != ',') return -1;
        at = end + 1;
    }
    return -1;
}

static cli_exit resolve(const cli_io *io, const simulate_tables_request *q, ct_tables_options *o)
{
    double      number[4];
    const int   dim = ct_kind_dim(q->kind), axes = q->kind == CT_SE3 ? 3 : 2;
    const char *rows = axes == 3 ? "wx,wy,wz,vx,vy,vz" : "vx,vy,omega", *place = axes == 3 ? "x,y,z" : "x,y";
    *o = ct_tables_defaults(q->kind);
    if (!q->out) return cli_misuse(io, "--out DIR is missing");
    if (q->train + q->test < 1) return cli_misuse(io, "--train 0 and --test 0 leave nothing to make");
    if (q->duration_s > 0) o->duration_s = q->duration_s;
    if (q->every_s > 0) o->every_s = q->every_s;
    if (q->range >= 0) o->range = q->range;
    if (q->beacons > 0) o->beacons = q->beacons;
    o->seed = q->seed;
    if (q->odom && take_numbers(q->odom, dim, dim, 0, 1e6, o->odom) < 0)
        return cli_misuse(io, "--odom is %d sigmas from 0 to 1e+06 with commas (%s), found \"%s\"", dim, rows, q->odom);
    if (q->gps) {
        const int n = take_numbers(q->gps, axes, axes + 1, 0, 1e6, number);
        if (n < 0)
            return cli_misuse(io, "--gps is %d or %d sigmas from 0 to 1e+06 with commas (%s or %s,yaw), found \"%s\"",
                              axes, axes + 1, place, place, q->gps);
        memcpy(o->gps, number, (size_t)axes * sizeof *number);
        if (n > axes) o->heading = number[axes];
    }
    if (!q->rates) return CLI_GO;
    if (take_numbers(q->rates, 4, 4, 0, 1e4, number) < 0 || number[0] < 1e-3 || number[3] < 1e-3)
        return cli_misuse(io,
                          "--rates is 4 numbers up to 10000 with commas (Hz of odometry, GPS, ranges, truth); GPS and "
                          "ranges may have 0, found \"%s\"",
                          q->rates);
    o->odom_hz = number[0], o->gps_hz = number[1], o->range_hz = number[2], o->truth_hz = number[3];
    return CLI_GO;
}

/* ---- the folder ---- */

static int is_table(const char *name)
{
    static const char *const BEGIN[] = {"odometry-", "gps-", "ranges-", "truth-", "beacons.csv"};
    const size_t             n = strlen(name);
    if (n < 4 || strcmp(name + n - 4, ".csv")) return 0;
    for (size_t i = 0; i < sizeof BEGIN / sizeof *BEGIN; i++)
        if (!strncmp(name, BEGIN[i], strlen(BEGIN[i]))) return 1;
    return 0;
}

/* The folder must be missing, empty, or hold tables that covtune wrote. */
static ct_status check_place(const char *path, ct_err *err)
{
    struct stat entry;
    if (stat(path, &entry) != 0)
        return errno == ENOENT ? CT_OK : ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(entry.st_mode)) return ct_fail(err, CT_E_IO, "%s: it is a file; tables are in a folder", path);
    char     *recipe = cli_path_join(path, "recipe.yaml");
    const int own = cli_replaceable(recipe, CT_TABLES_BEGINS) && access(recipe, F_OK) == 0;
    free(recipe);
    if (own) return CT_OK;
    DIR *dir = cli_open_folder(path);
    if (!dir) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    int                  others = 0;
    const struct dirent *e;
    while ((e = readdir(dir))) others += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    if (!others) return CT_OK;
    return ct_fail(err, CT_E_IO,
                   "%s: there is something in this folder, and recipe.yaml is none that covtune simulated; name "
                   "another folder",
                   path);
}

/* The recipe's patterns match every table in the folder: those of an earlier set are removed first. */
static void remove_tables(const char *path)
{
    DIR *dir = cli_open_folder(path);
    if (!dir) return;
    const struct dirent *e;
    while ((e = readdir(dir))) {
        if (!is_table(e->d_name)) continue;
        char *file = cli_path_join(path, e->d_name);
        unlink(file);
        free(file);
    }
    closedir(dir);
}

/* ---- results ---- */

static void print(const simulate_tables_request *q, const ct_tables_options *o)
{
    cli_row("made", "%s: tables of %d training run%s and %d test run%s of %g s", q->out, q->train, CLI_S(q->train),
            q->test, CLI_S(q->test), o->duration_s);
    if (q->kind == CT_SE3)
        cli_row("odometry", "%g Hz: sigmas wx, wy, wz %g, %g, %g rad/s, vx, vy, vz %g, %g, %g m/s of a record",
                o->odom_hz, o->odom[0], o->odom[1], o->odom[2], o->odom[3], o->odom[4], o->odom[5]);
    else
        cli_row("odometry", "%g Hz: sigmas vx %g m/s, vy %g m/s, omega %g rad/s of a record", o->odom_hz, o->odom[0],
                o->odom[1], o->odom[2]);
    if (o->gps_hz > 0 && q->kind == CT_SE3)
        cli_row("GPS", "%g Hz: sigmas x %g m, y %g m, z %g m", o->gps_hz, o->gps[0], o->gps[1], o->gps[2]);
    else if (o->gps_hz > 0)
        cli_row("GPS", "%g Hz: sigmas x %g m, y %g m", o->gps_hz, o->gps[0], o->gps[1]);
    if (o->gps_hz > 0 && o->heading >= 0) cli_row("", "heading %g rad", o->heading);
    if (o->range_hz > 0)
        cli_row("ranges", "%g Hz, to %d beacon%s in turn: sigma %g m", o->range_hz, o->beacons, CLI_S(o->beacons),
                o->range);
    cli_row("truth", "%g Hz, without noise", o->truth_hz);
    cli_row("latent noise", "of the recipe's factors: %s/latent.json; seed %llu", q->out,
            (unsigned long long)o->seed);
    cli_row("next", "covtune import %s/recipe.yaml --out data", q->out);
}

static void print_json(const simulate_tables_request *q, const ct_tables_options *o)
{
    json_t *out = cli_object(), *rates = cli_object(), *sigma = cli_object();
    cli_put(out, "out", cli_text(q->out));
    cli_put(out, "world", cli_text(q->kind == CT_SE3 ? "nav3d" : "nav2d"));
    cli_put(out, "train", cli_integer(q->train));
    cli_put(out, "test", cli_integer(q->test));
    cli_put(out, "duration_s", cli_number(o->duration_s));
    cli_put(out, "every_s", cli_number(o->every_s));
    cli_put(out, "seed", cli_integer((int64_t)o->seed));
    cli_put(rates, "odometry", cli_number(o->odom_hz));
    cli_put(rates, "gps", cli_number(o->gps_hz));
    cli_put(rates, "ranges", cli_number(o->range_hz));
    cli_put(rates, "truth", cli_number(o->truth_hz));
    cli_put(out, "rates_hz", rates);
    cli_put(sigma, "odometry", cli_numbers(ct_kind_dim(q->kind), o->odom));
    if (o->gps_hz > 0) cli_put(sigma, "gps", cli_numbers(q->kind == CT_SE3 ? 3 : 2, o->gps));
    if (o->gps_hz > 0 && o->heading >= 0) cli_put(sigma, "heading", cli_number(o->heading));
    if (o->range_hz > 0) cli_put(sigma, "range", cli_number(o->range));
    cli_put(out, "sigma", sigma);
    if (o->range_hz > 0) cli_put(out, "beacons", cli_integer(o->beacons));
    cli_print_json(out);
}

cli_exit simulate_tables(const cli_io *io, const simulate_tables_request *q)
{
    ct_tables_options options;
    ct_err            err = {0};
    const cli_exit    code = resolve(io, q, &options);
    if (code != CLI_GO) return code;
    ct_status status = check_place(q->out, &err);
    cli_status_show(io, "simulating %d runs", q->train + q->test);
    if (status == CT_OK) remove_tables(q->out);
    if (status == CT_OK) status = ct_simulate_tables(&options, q->train, q->test, q->out, &err);
    cli_status_clear();
    if (status == CT_OK && io->json) print_json(q, &options);
    else if (status == CT_OK && !io->quiet) print(q, &options);
    return cli_finish(io, status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text));
}
