/* test_recipe_draft.c: first recipes: what files hold is recognised, and the recipe is read, and imported. */
#define _POSIX_C_SOURCE 200809L
#include "draft_test.h"

static const struct {
    const char *name;
    ct__meaning meaning;
    const char *unit;
} NAME[] = {
    {"t", CT__MEANS_TIME, NULL},
    {"Time", CT__MEANS_TIME, NULL},
    {"timestamp_ns", CT__MEANS_TIME, "ns"},
    {"x", CT__MEANS_X, NULL},
    {"pos_y", CT__MEANS_Y, NULL},
    {"p_RS_R_z", CT__MEANS_Z, NULL},
    {"pose.pose.position.x", CT__MEANS_X, NULL},
    {"easting", CT__MEANS_X, NULL},
    {"x_m", CT__MEANS_X, NULL},
    {"x std-dev", CT__MEANS_NOTHING, NULL},
    {"heading_deg", CT__MEANS_YAW, "deg"},
    {"theta", CT__MEANS_YAW, NULL},
    {"orientation", CT__MEANS_YAW, NULL},
    {"pose.pose.orientation.w", CT__MEANS_QW, NULL},
    {"q_RS_x", CT__MEANS_QX, NULL},
    {"q_RS_w []", CT__MEANS_QW, NULL},
    {"ranges[]", CT__MEANS_NOTHING, NULL},
    {"qz", CT__MEANS_QZ, NULL},
    {"v", CT__MEANS_VX, NULL},
    {"forward velocity", CT__MEANS_VX, NULL},
    {"angular velocity", CT__MEANS_WZ, NULL},
    {"yawRate", CT__MEANS_WZ, NULL},
    {"omega", CT__MEANS_WZ, NULL},
    {"twist.twist.angular.z", CT__MEANS_WZ, NULL},
    {"twist.twist.linear.y", CT__MEANS_VY, NULL},
    {"linear_acceleration.x", CT__MEANS_NOTHING, NULL},
    {"b_w_RS_S_x", CT__MEANS_NOTHING, NULL},
    {"w_RS_S_y", CT__MEANS_WY, NULL},
    {"lat", CT__MEANS_LATITUDE, NULL},
    {"longitude", CT__MEANS_LONGITUDE, NULL},
    {"range", CT__MEANS_RANGE, NULL},
    {"range_mm", CT__MEANS_RANGE, "mm"},
    {"bearing", CT__MEANS_BEARING, NULL},
    {"landmark_id", CT__MEANS_ID, NULL},
    {"Subject #", CT__MEANS_ID, NULL},
    {"dx", CT__MEANS_DX, NULL},
    {"dtheta", CT__MEANS_DYAW, NULL},
    {"speed_kmh", CT__MEANS_VX, "km/h"},
    {"temperature", CT__MEANS_NOTHING, NULL},
    {"header.seq", CT__MEANS_NOTHING, NULL},
    {"lin_vel", CT__MEANS_VX, NULL},
    {"ang_vel", CT__MEANS_WZ, NULL},
    {"v_x", CT__MEANS_VX, NULL},
    {"linear.x", CT__MEANS_VX, NULL},
    {"gyro_z", CT__MEANS_WZ, NULL},
    {"gyro_rad[2]", CT__MEANS_WZ, NULL},
    {"yaw_rate", CT__MEANS_WZ, NULL},
    {"YawRate_degps", CT__MEANS_WZ, "deg/s"},
    {"VehSpd_kmh", CT__MEANS_VX, "km/h"},
    {"q[0]", CT__MEANS_QW, NULL},
    {"q[3]", CT__MEANS_QZ, NULL},
    {"pos_n", CT__MEANS_Y, NULL},
    {"pos_d", CT__MEANS_DOWN, NULL},
    {"utm_e", CT__MEANS_X, NULL},
    {"depth", CT__MEANS_DOWN, NULL},
    {"baro_alt_meter", CT__MEANS_HEIGHT, "m"},
    {"ref_lat", CT__MEANS_NOTHING, NULL},
    {"velocity_north", CT__MEANS_NOTHING, NULL},
    {"NedVelX", CT__MEANS_NOTHING, NULL},
    {"vel_d_m_s", CT__MEANS_NOTHING, NULL},
    {"field.pose.covariance35", CT__MEANS_NOTHING, NULL},
    {"field.child_frame_id", CT__MEANS_NOTHING, NULL},
    {"field.header.stamp", CT__MEANS_TIME, NULL},
    {"header.stamp.nsecs", CT__MEANS_NANOSECONDS, NULL},
    {"iTOW", CT__MEANS_TIME, "ms"},
    {"utime", CT__MEANS_TIME, NULL},
    {"left_ticks", CT__MEANS_LEFT, NULL},
    {"encoder_right", CT__MEANS_RIGHT, NULL},
    {"d_left_ticks", CT__MEANS_NOTHING, NULL},
    {"speed_left", CT__MEANS_LEFT_SPEED, NULL},
    {"cog", CT__MEANS_YAW, NULL},
};

static void test_names_of_columns_have_meanings(void)
{
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++) {
        const char *unit;
        const ct__meaning m = ct__draft_meaning(NAME[i].name, &unit);
        const int same = (!unit && !NAME[i].unit) || (unit && NAME[i].unit && !strcmp(unit, NAME[i].unit));
        if (m != NAME[i].meaning || !same) printf("  %s: %d in %s\n", NAME[i].name, (int)m, unit ? unit : "-");
        CHECK(m == NAME[i].meaning && same);
    }
}

static void test_odometry_positions_and_truth_are_recognised_and_imported(void)
{
    new_folder("plain");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 401, "1,0.1");
    write_table("gps.csv", "t,x,y", 0, 0.5, 41, "1,2");
    write_table("truth.csv", "t,x,y,yaw", 0, 0.05, 401, "1,2,0.5");
    import(DRAFT("velocity: [v, 0, omega]", "type: position", "yaw: yaw", "every: 0.1"), 1, 201);
}

static void test_units_are_guessed_from_values(void)
{
    new_folder("units");
    write_table("odometry.csv", "timestamp,speed,yaw_rate", 1700000000000, 50, 200, "1,40");
    write_table("truth.csv", "timestamp,x,y,heading", 1700000000000, 50, 200, "1,2,170");
    ct_recipe *recipe = DRAFT("time: timestamp in ms", "yaw_rate in deg/s", "heading in deg", "check: ");
    import(recipe, 1, 100);
}

static void test_runs_become_named_parts(void)
{
    new_folder("runs");
    for (int i = 1; i <= 3; i++) {
        char name[60];
        snprintf(name, sizeof name, "Robot%d_Odometry.csv", i);
        write_table(name, "t,v,omega", 0, 0.05, 101, "1,0.1");
        snprintf(name, sizeof name, "Robot%d_Truth.csv", i);
        write_table(name, "t,x,y,theta", 0, 0.05, 101, "1,2,0.5");
    }
    import(DRAFT("\"Robot{robot}_Odometry.csv\"", "\"Robot{robot}_Truth.csv\""), 3, 153);
}

static void test_words_with_numbers_are_runs(void)
{
    static const char *const RUN_NAME[] = {"train00", "train01", "test00"};
    new_folder("words");
    for (int i = 0; i < 3; i++) {
        char name[60];
        snprintf(name, sizeof name, "odometry-%s.csv", RUN_NAME[i]);
        write_table(name, "t,v,omega", 0, 0.05, 101, "1,0.1");
        snprintf(name, sizeof name, "truth-%s.csv", RUN_NAME[i]);
        write_table(name, "t,x,y,theta", 0, 0.05, 101, "1,2,0.5");
    }
    import(DRAFT("\"odometry-{run}.csv\"", "\"truth-{run}.csv\""), 3, 153);
}

static void test_folders_with_the_same_files_are_runs(void)
{
    static const char *const RUN_NAME[] = {"monday", "friday"};
    new_folder("folders");
    for (int i = 0; i < 2; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s/odom.csv", RUN_NAME[i]);
        write_table(name, "t,v,omega", 0, 0.05, 101, "1,0.1");
        snprintf(name, sizeof name, "%s/groundtruth.csv", RUN_NAME[i]);
        write_table(name, "t,x,y,theta", 0, 0.05, 101, "1,2,0.5");
    }
    import(DRAFT("\"{run}/odom.csv\"", "\"{run}/groundtruth.csv\""), 2, 102);
}

/* A map beside the folders, a folder without one of the files, one with a file of its own, names that have the run. */
static void test_folders_with_some_files_in_common_are_runs(void)
{
    static const char *const RUN_NAME[] = {"lab", "hall", "yard"};
    new_folder("some");
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s/%s_odom.csv", RUN_NAME[i], RUN_NAME[i]);
        write_table(name, "t,v,omega", 0, 0.05, 101, "1,0.1");
        snprintf(name, sizeof name, "%s/gps.csv", RUN_NAME[i]);
        write_table(name, "t,x,y", 0, 0.5, 11, "1,2");
        snprintf(name, sizeof name, "%s/groundtruth.csv", RUN_NAME[i]);
        if (i < 2) write_table(name, "t,x,y,theta", 0, 0.05, 101, "1,2,0.5");
    }
    write_table("lab/battery.csv", "t,volts", 0, 1, 5, "12");
    write_table("beacons.csv", "id,x,y", 0, 1, 4, "1,2");
    import(DRAFT("\"{run}/{run}_odom.csv\"", "\"{run}/groundtruth.csv\"", "\"{run}/gps.csv\"", "lab/battery.csv"), 3,
           153);
}

static void test_landmarks_and_their_codes_are_found_by_their_names(void)
{
    new_folder("codes");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 101, "1,0.1");
    write_table("truth.csv", "t,x,y,theta", 0, 0.05, 101, "1,2,0.5");
    write_table("seen.csv", "t,tag,range,bearing", 0, 0.5, 11, "63,2,0.5");
    write_table("landmarks.csv", "subject,x,y", 6, 1, 5, "1,2");
    write_table("codes.csv", "subject,barcode", 6, 1, 5, "63");
    import(DRAFT("type: range_bearing", "from: barcode, to: subject", "source: map"), 1, 51);
}

static void test_one_table_may_hold_several_sensors(void)
{
    new_folder("one");
    write_table("log.csv", "t,odom_v,odom_omega,gps_x,gps_y,gt_x,gt_y,gt_theta", 0, 0.05, 101, "1,0.1,1,2,1,2,0.5");
    import(DRAFT("velocity: [odom_v, 0, odom_omega]", "position: [gps_x, gps_y]", "yaw: gt_theta"), 1, 51);
}

static void test_latitudes_beside_odometry_are_a_sensor_of_their_own(void)
{
    const char *path = folder;
    char *text = NULL;
    ct_err err = {0};
    new_folder("fixes");
    write_table("log.csv", "t,speed,yaw_rate,latitude,longitude,altitude", 0, 0.05, 101, "1,0.1,50.1,8.2,100");
    CHECK_OK(ct_recipe_draft(&path, 1, &text, &err), err);
    CHECK(text && strstr(text, "velocity: [speed, 0, yaw_rate]") && strstr(text, "type: geodetic") &&
          strstr(text, "geodetic: [latitude, longitude"));
    free(text);
}

static void test_pixels_of_cameras_are_recognised(void)
{
    const char *path = folder;
    char *text = NULL;
    ct_err err = {0};
    new_folder("camera");
    write_table("imu.csv", "t,vx,vy,vz,wx,wy,wz", 0, 0.05, 101, "1,0,0,0,0,0.1");
    write_table("truth.csv", "t,x,y,z,qx,qy,qz,qw", 0, 0.05, 101, "1,2,3,0,0,0,1");
    write_table("stereo.csv", "t,landmark,u_left,v_left,u_right,v_right", 0, 0.1, 51, "3,320,240,300,240");
    CHECK_OK(ct_recipe_draft(&path, 1, &text, &err), err);
    CHECK(text && strstr(text, "type: stereo") && strstr(text, "pixel: [u_left, v_left, u_right, v_right]") &&
          strstr(text, "# check: fu, fv, cu, cv, and the baseline in m") && strstr(text, "type: SE3") &&
          !strstr(text, "before it can be imported"));
    free(text);
}

static void test_trajectories_in_space_are_recognised(void)
{
    new_folder("space");
    write_table("estimate.csv", "t,x,y,z,qx,qy,qz,qw", 0, 0.05, 101, "1,2,3,0,0,0,1");
    write_table("groundtruth.csv", "t,x,y,z,qx,qy,qz,qw", 0, 0.01, 501, "1,2,3,0,0,0,1");
    import(DRAFT("type: SE3", "quaternion: [qx, qy, qz, qw]"), 1, 51);
}

static void test_what_is_not_recognised_is_said(void)
{
    ct_err err = {0};
    char *text = NULL;
    const char *path = folder;
    new_folder("nothing");
    write_table("weather.csv", "a,b", 0, 1, 5, "7");
    CHECK_REFUSED(ct_recipe_draft(&path, 1, &text, &err), err, "weather.csv: no sensor was recognised");
    write_table("truth.csv", "t,x,y", 0, 1, 5, "7,8");
    CHECK_OK(ct_recipe_draft(&path, 1, &text, &err), err);
    CHECK(text && strstr(text, "#   weather.csv: no sensor was recognised") &&
          strstr(text, "# check: before it can be"));
    free(text);
    CHECK_REFUSED(ct_recipe_draft(&path, 0, &text, &err), err, "one file or more");
    path = "nowhere/at/all";
    CHECK_REFUSED(ct_recipe_draft(&path, 1, &text, &err), err, "nowhere/at/all: ");
}

/* Recorded sets of others: each draft is a recipe, and is imported as it is. */
static void test_recorded_sets_are_drafted_and_imported(void)
{
    static const char *const SET[] = {"data/mrclam6/Barcodes.dat", "data/plaza1/truth.csv",
                                      "data/lost-in-the-woods/truth.csv", "data/evo/tf_example/metadata.yaml",
                                      "data/evo/nav2_turtlebot.mcap"};
    if (!ct_test_shared(SET[0])) SKIP("there is no ../shared/data");
    for (size_t i = 0; i < sizeof SET / sizeof *SET; i++) {
        ct_err err = {0};
        char *text = NULL;
        ct_recipe *recipe = NULL;
        ct_dataset *dataset = NULL;
        ct_import_result result = {0};
        const char *whole = ct_test_shared(SET[i]);
        if (!whole) continue;
        char *path = strdup(whole), *slash = strrchr(path, '/');
        if (i < 4) *slash = 0;
        CHECK_OK(ct_recipe_draft((const char *const *)&path, 1, &text, &err), err);
        if (text) CHECK_OK(ct_recipe_parse(text, "draft.yaml", NULL, &recipe, &err), err);
        if (recipe) CHECK_OK(ct_recipe_dataset(recipe, NULL, &dataset, &result, &err), err);
        CHECK(result.states > 200 && result.recordings == (i == 0 ? 5 : 1));
        for (int32_t k = 0; k < result.counts; k++) CHECK(result.count[k].factors > 0);
        ct_import_result_free(&result);
        ct_dataset_free(dataset);
        ct_recipe_free(recipe);
        free(text);
        free(path);
    }
}

/* A date in microseconds is one at any rate: at 2 Hz its steps would do for nanoseconds. */
static void test_stamps_since_1970_have_their_unit_by_their_size(void)
{
    new_folder("micro");
    write_table("odometry.csv", "time,v,omega", 1.7e15, 50000, 100, "1,0.1");
    write_table("gps.csv", "time,x,y", 1.7e15, 500000, 10, "1,2");
    ct_recipe_free(DRAFT("files: gps.csv\n    time: time in us # check", "files: odometry.csv\n    time: time in us"));
    new_folder("slow");
    write_table("odometry.csv", "time,v,omega", 1.7e9, 0.05, 2000, "1,0.1");
    write_table("gps.csv", "time,x,y", 1.7e9, 10, 10, "1,2");
    ct_recipe_free(DRAFT("positions: gps.csv\n"));
}

static void test_latitudes_times_ten_millions_are_degrees(void)
{
    new_folder("ublox");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 100, "1,0.1");
    write_table("gps.csv", "t,lat,lon,height", 0, 0.5, 10, "481000000,115000000,500000");
    ct_recipe_free(DRAFT("geodetic: [lat * 1e-07, lon * 1e-07, height * 0.001] # check"));
}

int main(void)
{
    RUN(test_names_of_columns_have_meanings);
    RUN(test_odometry_positions_and_truth_are_recognised_and_imported);
    RUN(test_units_are_guessed_from_values);
    RUN(test_stamps_since_1970_have_their_unit_by_their_size);
    RUN(test_latitudes_times_ten_millions_are_degrees);
    RUN(test_runs_become_named_parts);
    RUN(test_words_with_numbers_are_runs);
    RUN(test_folders_with_the_same_files_are_runs);
    RUN(test_folders_with_some_files_in_common_are_runs);
    RUN(test_landmarks_and_their_codes_are_found_by_their_names);
    RUN(test_one_table_may_hold_several_sensors);
    RUN(test_latitudes_beside_odometry_are_a_sensor_of_their_own);
    RUN(test_pixels_of_cameras_are_recognised);
    RUN(test_trajectories_in_space_are_recognised);
    RUN(test_what_is_not_recognised_is_said);
    RUN(test_recorded_sets_are_drafted_and_imported);
    return ct_test_end();
}
