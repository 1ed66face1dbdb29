/* test_recipe_draft_kinds.c: first recipes of logs as robots, receivers and other programs write them: which files
 * belong together, units of stamps, conventions, and which table is the truth. */
#define _POSIX_C_SOURCE 200809L
#include "draft_test.h"

/* ---- files ---- */

/* Names that end in a digit: "odo0.csv" and "uwb0.csv" are runs of two sensors. */
static void test_tables_with_other_columns_are_not_one_source(void)
{
    new_folder("kinds");
    for (int i = 0; i < 3; i++) {
        char name[60];
        snprintf(name, sizeof name, "odo%d.csv", i);
        write_table(name, "stamp_ms,lin_vel,ang_vel", 0, 50, 101, "1,0.1");
        snprintf(name, sizeof name, "uwb%d.csv", i);
        write_table(name, "stamp_ms,anchor,dist_mm,rx_power", 0, 50, 101, "7,2500,-80");
        snprintf(name, sizeof name, "totalstation%d.csv", i);
        write_table(name, "stamp_ms,x,y", 0, 20, 251, "1,2");
    }
    write_table("anchors.csv", "anchor_id,x,y", 7, 1, 4, "1,2");
    import(DRAFT("odometry: \"odo{run}.csv\"", "ranges: \"uwb{run}.csv\"", "reference: \"totalstation{run}.csv\"",
                 "range: dist_mm in mm", "velocity: [lin_vel, 0, ang_vel]"),
           3, 153);
}

static void test_a_part_is_not_called_after_a_sensor(void)
{
    new_folder("part");
    for (int i = 0; i < 3; i++) {
        char name[60];
        snprintf(name, sizeof name, "odo%d.csv", i);
        write_table(name, "t,v,omega", 0, 0.05, 101, "1,0.1");
    }
    ct_recipe_free(DRAFT("\"odo{run}.csv\""));
}

/* A number that varies in names of one sensor is a part of names of the other, which one robot alone has. */
static void test_a_sensor_of_one_robot_is_not_given_to_another(void)
{
    new_folder("robots");
    for (int i = 0; i < 4; i++) {
        char name[60];
        snprintf(name, sizeof name, "run%d_robot%d_odom.csv", i / 2, 1 + i % 2);
        write_table(name, "t,v,omega", 0, 0.05, 101, "1,0.1");
        snprintf(name, sizeof name, "run%d_robot%d_truth.csv", i / 2, 1 + i % 2);
        write_table(name, "t,x,y,theta", 0, 0.05, 101, "1,2,0.5");
        snprintf(name, sizeof name, "run%d_robot1_gps.csv", i / 2);
        if (i % 2 == 0) write_table(name, "t,x,y", 0, 0.5, 11, "1,2");
    }
    import(DRAFT("\"run{run}_robot{robot}_odom.csv\"", "\"run{run}_robot{robot}_gps.csv\"", "# bodies: robot"), 4, 204);
}

/* Numbers that do not tell runs apart but sensors: file by file. */
static void test_numbers_of_tables_with_other_columns_are_no_runs(void)
{
    new_folder("numbers");
    write_table("log_1.csv", "t,v,omega", 0, 0.05, 101, "1,0.1");
    write_table("log_2.csv", "t,x,y", 0, 0.5, 11, "1,2");
    import(DRAFT("odometry: log_1.csv", "positions: log_2.csv"), 1, 51);
}

static void test_files_of_one_record_are_told(void)
{
    ct_err      err = {0};
    char       *text = NULL;
    const char *path = folder;
    new_folder("records");
    for (int i = 0; i < 12; i++) {
        char name[60];
        snprintf(name, sizeof name, "data/%010d.csv", i);
        write_table(name, "t,lat,lon", i, 1, 1, "49,8");
    }
    CHECK_REFUSED(ct_recipe_draft(&path, 1, &text, &err), err, "each file has one record; join them into one table");
}

/* ---- stamps ---- */

static void test_seconds_since_1970_are_seconds_at_any_rate(void)
{
    new_folder("slow");
    write_table("dvl.csv", "time,vx,vy,wz", 1600000000, 0.2, 301, "1,0,0.1");
    write_table("usbl.csv", "time,easting,northing,depth", 1600000004, 10, 6, "1,2,20");
    import(DRAFT("positions: usbl.csv", "odometry: dvl.csv"), 1, 121);
}

/* A clock that begins at 0: the step of 10 alone would be one of ms. */
static void test_slow_tables_have_the_unit_of_dense_ones(void)
{
    new_folder("clocks");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 1201, "1,0.1");
    write_table("gps.csv", "t,x,y", 3, 10, 6, "1,2");
    import(DRAFT("positions: gps.csv"), 1, 601);
}

static void test_stamps_of_another_clock_are_marked(void)
{
    new_folder("apart");
    write_table("odometry.csv", "t,v,omega", 1600000000, 0.05, 101, "1,0.1");
    write_table("gps.csv", "t,x,y", 5, 1, 6, "1,2");
    ct_recipe_free(DRAFT("check: its stamps have nothing in common with those of odometry.csv"));
}

/* rostopic echo -p: the stamp of the header, in ns, and not the time of recording before it. */
static void test_tables_of_rostopic_have_the_stamp_of_the_header(void)
{
    new_folder("rostopic");
    write_table("odom.csv", "%time,field.header.seq,field.header.stamp,field.child_frame_id,field.pose.pose.position.x,"
                            "field.pose.covariance0,field.twist.twist.linear.x,field.twist.twist.angular.z",
                1.6e18, 5e7, 101, "1,1600000000000000000,base,1,0,1,0.1");
    ct_recipe_free(DRAFT("time: field.header.stamp in ns",
                         "velocity: [field.twist.twist.linear.x, 0, field.twist.twist.angular.z]"));
}

/* Between the records of a slow truth nothing is known: chords would count as motion. */
static void test_states_are_at_the_records_of_a_slow_truth(void)
{
    new_folder("chords");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 401, "1,0.1");
    write_table("truth.csv", "t,x,y,yaw", 0, 2, 11, "1,2,0.5");
    import(DRAFT("at: truth"), 1, 11);
}

/* bagpy: seconds and nanoseconds in two columns. */
static void test_stamps_of_two_columns_are_added(void)
{
    new_folder("nsecs");
    write_table("odom.csv", "x_seq,header.stamp.secs,header.stamp.nsecs,linear.x,angular.z", 0, 1, 101,
                "1600000000,5,1,0.1");
    ct_recipe_free(DRAFT("time: \"header.stamp.secs + (header.stamp.nsecs in ns)\""));
}

/* ---- conventions ---- */

static void test_headings_beside_north_run_clockwise(void)
{
    new_folder("compass");
    write_table("can.csv", "t,speed_kmh,yaw_rate", 0, 0.05, 101, "36,0.1");
    write_table("compass.csv", "t,heading", 0, 0.1, 51, "170");
    write_table("truth.csv", "t,utm_e,utm_n,heading_deg", 0, 0.05, 101, "448000,5411000,31");
    import(DRAFT("yaw: \"pi/2 - (heading_deg in deg)\" # check: clockwise from north",
                 "yaw: \"pi/2 - (heading in deg)\" # check: clockwise from north", "speed_kmh in km/h"),
           1, 51);
    new_folder("yaw");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 101, "1,0.1");
    write_table("truth.csv", "t,x,y,heading", 0, 0.05, 101, "1,2,0.5");
    char       *text = NULL;
    const char *path = folder;
    ct_err      err = {0};
    CHECK_OK(ct_recipe_draft(&path, 1, &text, &err), err);
    CHECK(text && strstr(text, "check: clockwise from north"));
    free(text);
}

/* ulog2csv: scalars first, north, east, down, stamps in us. */
static void test_tables_of_px4_have_their_scalar_first_and_z_down(void)
{
    new_folder("px4");
    write_table("vio.csv", "timestamp,x,y,z,q[0],q[1],q[2],q[3]", 5e6, 5e4, 101, "1,2,-3,0.8,0,0,0.6");
    write_table("uwb.csv", "timestamp,pos_n,pos_e,pos_d", 5e6, 1e6, 6, "1,2,-3");
    write_table("mocap.csv", "t,x,y,z,qx,qy,qz,qw", 5, 0.05, 101, "1,2,3,0,0,0,1");
    import(DRAFT("quaternion: [\"`q[1]`\", \"`q[2]`\", \"`q[3]`\", \"`q[0]`\"]", "axes: ned # check",
                 "time: timestamp in us", "position: [pos_e, pos_n, \"-pos_d\"]"),
           1, 51);
}

/* MATLAB's vectors: position_1 is x; a scalar comes first. */
static void test_elements_of_vectors_are_axes(void)
{
    new_folder("matlab");
    write_table("wheelOdometry.csv", "Time,Velocity_1,Velocity_2,YawRate", 0, 0.05, 101, "1,0,0.1");
    write_table("groundTruth.csv", "Time,Position_1,Position_2,Orientation_1,Orientation_2,Orientation_3,Orientation_4",
                0, 0.05, 101, "1,2,0.8,0,0,0.6");
    import(DRAFT("velocity: [Velocity_1, Velocity_2, YawRate]", "position: [Position_1, Position_2]",
                 "quaternion: [Orientation_2, Orientation_3, Orientation_4, Orientation_1]"),
           1, 51);
}

static void test_latitudes_of_receivers_are_scaled(void)
{
    new_folder("ublox");
    write_table("wheels.csv", "tow,speed_left,speed_right", 1e5, 0.05, 101, "1,1.1");
    write_table("nav_pvt.csv", "iTOW,lon,lat,height,hAcc", 1e8, 200, 26, "84000000,490000000,110000,500");
    import(DRAFT("time: iTOW in ms", "geodetic: [lat * 1e-07, lon * 1e-07, height * 0.001]", "time: tow",
                 "velocity: [\"(speed_left + speed_right) / 2\", 0, \"(speed_right - speed_left) / 0.5\"]"),
           1, 51);
}

static void test_a_steering_angle_turns_a_car(void)
{
    new_folder("car");
    write_table("vehicle.csv", "time,steering_angle [deg],wheel_speed [km/h]", 0.02, 0.02, 251, "3,36");
    write_table("truth.csv", "time,x,y,yaw", 0.02, 0.1, 51, "1,2,0.1");
    import(DRAFT("velocity: [wheel_speed in km/h, 0, \"(wheel_speed in km/h) * tan(steering_angle in deg) / 2.7\"]",
                 "# check: 2.7 is the wheelbase, m"),
           1, 51);
}

static void test_lines_above_the_names_are_skipped(void)
{
    new_folder("vicon");
    write_table("odom.csv", "t,v_x,wz", 0.02, 0.02, 251, "1,0.1");
    write_table("vicon.csv",
                "Objects\n50\n,,robot:robot,,,,,\nFrame,Sub Frame,RX,RY,RZ,TX,TY,TZ\n,,deg,deg,deg,mm,mm,mm", 1, 1, 251,
                "0,0,0,90,1000,2000,100");
    import(DRAFT("skip: 3", "time: Frame / 50", "position: [TX in mm, TY in mm]", "yaw: RZ in deg"), 1, 51);
}

/* ---- roles ---- */

static void test_rtk_is_the_truth_and_counts_are_wheels(void)
{
    new_folder("rtk");
    write_table("gps.csv", "time,latitude,longitude,altitude", 1.7e9, 1, 6, "47.4,8.5,400");
    write_table("rtk.csv", "time,latitude,longitude,altitude,fix", 1.7e9, 0.1, 51, "47.4,8.5,400,4");
    write_table("wheel.csv", "time,left_ticks,right_ticks", 1.7e9, 0.05, 101, "1000,77");
    TEXT("no truth was found", "reference: rtk.csv", "  geodetic: [latitude, longitude, altitude]\n  origin: [47.4",
         "# sigma: [0.02, 0.01]", "wheels: [left_ticks * 0.001, right_ticks * 0.001] # check", "track: 0.5 # check",
         "  gps:\n    type: geodetic");
}

static void test_barometers_and_depths_are_heights(void)
{
    new_folder("heights");
    write_table("estimate.csv", "t,x,y,z,qx,qy,qz,qw", 0, 0.05, 101, "1,2,3,0,0,0,1");
    write_table("groundtruth.csv", "t,x,y,z,qx,qy,qz,qw", 0, 0.05, 101, "1,2,3,0,0,0,1");
    write_table("baro.csv", "t,baro_alt_meter", 0, 0.1, 51, "3");
    write_table("pressure.csv", "t,depth", 0, 0.1, 51, "3");
    TEXT(NULL, "type: height\n    source: heights\n    height: baro_alt_meter", "height: \"-depth\"");
}

static void test_the_densest_pose_beside_odometry_is_taken_for_the_truth(void)
{
    new_folder("dense");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 101, "1,0.1");
    write_table("gps.csv", "t,x,y", 0, 1, 6, "1,2");
    write_table("tracker.csv", "t,x,y,yaw", 0, 0.01, 501, "1,2,0.5");
    import(DRAFT("reference: tracker.csv", "truth:\n  source: reference # check: the truth is a guess", "  gps:\n"), 1,
           51);
    new_folder("dense-positions");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 101, "1,0.1");
    write_table("prism.csv", "t,x,y", 0, 0.05, 101, "1,2");
    TEXT("\ntruth:", "positions: prism.csv"); /* nothing else measures: it is a sensor */
    write_table("ranges.csv", "t,anchor,range", 0, 0.1, 51, "3,2");
    TEXT("no truth was found", "reference: prism.csv", "source: reference # check: the truth is a guess");
}

static void test_tables_without_records_are_told(void)
{
    ct_err      err = {0};
    char       *text = NULL;
    const char *path = folder;
    new_folder("empty");
    write_table("truth.csv", "t,x,y", 0, 1, 0, "");
    CHECK_REFUSED(ct_recipe_draft(&path, 1, &text, &err), err, "truth.csv: the table has no records");
}

static void test_columns_that_mean_nothing_are_listed(void)
{
    new_folder("columns");
    write_table("odometry.csv", "t,v,omega", 0, 0.05, 101, "1,0.1");
    write_table("battery.csv", "t,volts,amps", 0, 1, 6, "12,3");
    write_table("gyro.csv", "t,wz", 0, 1, 6, "0.1");
    TEXT(NULL, "battery.csv: no sensor was recognised by the names of its fields: t, volts, amps",
         "gyro.csv: turn rates, which the odometry has, too");
}

int main(void)
{
    RUN(test_tables_with_other_columns_are_not_one_source);
    RUN(test_a_part_is_not_called_after_a_sensor);
    RUN(test_a_sensor_of_one_robot_is_not_given_to_another);
    RUN(test_numbers_of_tables_with_other_columns_are_no_runs);
    RUN(test_files_of_one_record_are_told);
    RUN(test_seconds_since_1970_are_seconds_at_any_rate);
    RUN(test_slow_tables_have_the_unit_of_dense_ones);
    RUN(test_stamps_of_another_clock_are_marked);
    RUN(test_tables_of_rostopic_have_the_stamp_of_the_header);
    RUN(test_states_are_at_the_records_of_a_slow_truth);
    RUN(test_stamps_of_two_columns_are_added);
    RUN(test_headings_beside_north_run_clockwise);
    RUN(test_tables_of_px4_have_their_scalar_first_and_z_down);
    RUN(test_elements_of_vectors_are_axes);
    RUN(test_latitudes_of_receivers_are_scaled);
    RUN(test_a_steering_angle_turns_a_car);
    RUN(test_lines_above_the_names_are_skipped);
    RUN(test_rtk_is_the_truth_and_counts_are_wheels);
    RUN(test_barometers_and_depths_are_heights);
    RUN(test_the_densest_pose_beside_odometry_is_taken_for_the_truth);
    RUN(test_tables_without_records_are_told);
    RUN(test_columns_that_mean_nothing_are_listed);
    return ct_test_end();
}
