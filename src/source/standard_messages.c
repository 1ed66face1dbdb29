/* standard_messages.c: members of the common types of ROS 2, for bags that carry no definitions: SQLite bags before
 * ROS 2 Iron. Types that these name are in the table too, but for times, which are simple types here. */
#include "source/message.h"

#define H "std_msgs/Header header\n"

static const struct {
    const char *name, *members;
} TYPES[] = {
    {"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id"},
    {"std_msgs/Empty", ""},
    {"std_msgs/Bool", "bool data"},
    {"std_msgs/Byte", "byte data"},
    {"std_msgs/Char", "char data"},
    {"std_msgs/Int8", "int8 data"},
    {"std_msgs/UInt8", "uint8 data"},
    {"std_msgs/Int16", "int16 data"},
    {"std_msgs/UInt16", "uint16 data"},
    {"std_msgs/Int32", "int32 data"},
    {"std_msgs/UInt32", "uint32 data"},
    {"std_msgs/Int64", "int64 data"},
    {"std_msgs/UInt64", "uint64 data"},
    {"std_msgs/Float32", "float32 data"},
    {"std_msgs/Float64", "float64 data"},
    {"std_msgs/String", "string data"},
    {"std_msgs/ColorRGBA", "float32 r\nfloat32 g\nfloat32 b\nfloat32 a"},
    {"std_msgs/MultiArrayDimension", "string label\nuint32 size\nuint32 stride"},
    {"std_msgs/MultiArrayLayout", "MultiArrayDimension[] dim\nuint32 data_offset"},
    {"std_msgs/Float32MultiArray", "MultiArrayLayout layout\nfloat32[] data"},
    {"std_msgs/Float64MultiArray", "MultiArrayLayout layout\nfloat64[] data"},
    {"std_msgs/Int16MultiArray", "MultiArrayLayout layout\nint16[] data"},
    {"std_msgs/Int32MultiArray", "MultiArrayLayout layout\nint32[] data"},
    {"std_msgs/UInt8MultiArray", "MultiArrayLayout layout\nuint8[] data"},
    {"std_msgs/UInt16MultiArray", "MultiArrayLayout layout\nuint16[] data"},
    {"geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z"},
    {"geometry_msgs/Vector3Stamped", H "Vector3 vector"},
    {"geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z"},
    {"geometry_msgs/Point32", "float32 x\nfloat32 y\nfloat32 z"},
    {"geometry_msgs/PointStamped", H "Point point"},
    {"geometry_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w"},
    {"geometry_msgs/QuaternionStamped", H "Quaternion quaternion"},
    {"geometry_msgs/Pose", "Point position\nQuaternion orientation"},
    {"geometry_msgs/Pose2D", "float64 x\nfloat64 y\nfloat64 theta"},
    {"geometry_msgs/PoseStamped", H "Pose pose"},
    {"geometry_msgs/PoseArray", H "Pose[] poses"},
    {"geometry_msgs/PoseWithCovariance", "Pose pose\nfloat64[36] covariance"},
    {"geometry_msgs/PoseWithCovarianceStamped", H "PoseWithCovariance pose"},
    {"geometry_msgs/Twist", "Vector3 linear\nVector3 angular"},
    {"geometry_msgs/TwistStamped", H "Twist twist"},
    {"geometry_msgs/TwistWithCovariance", "Twist twist\nfloat64[36] covariance"},
    {"geometry_msgs/TwistWithCovarianceStamped", H "TwistWithCovariance twist"},
    {"geometry_msgs/Accel", "Vector3 linear\nVector3 angular"},
    {"geometry_msgs/AccelStamped", H "Accel accel"},
    {"geometry_msgs/AccelWithCovariance", "Accel accel\nfloat64[36] covariance"},
    {"geometry_msgs/AccelWithCovarianceStamped", H "AccelWithCovariance accel"},
    {"geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation"},
    {"geometry_msgs/TransformStamped", H "string child_frame_id\nTransform transform"},
    {"geometry_msgs/Wrench", "Vector3 force\nVector3 torque"},
    {"geometry_msgs/WrenchStamped", H "Wrench wrench"},
    {"geometry_msgs/Inertia", "float64 m\nVector3 com\nfloat64 ixx\nfloat64 ixy\nfloat64 ixz\nfloat64 iyy\n"
                              "float64 iyz\nfloat64 izz"},
    {"geometry_msgs/Polygon", "Point32[] points"},
    {"geometry_msgs/PolygonStamped", H "Polygon polygon"},
    {"nav_msgs/Odometry", H "string child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
                            "geometry_msgs/TwistWithCovariance twist"},
    {"nav_msgs/Path", H "geometry_msgs/PoseStamped[] poses"},
    {"nav_msgs/GridCells", H "float32 cell_width\nfloat32 cell_height\ngeometry_msgs/Point[] cells"},
    {"nav_msgs/MapMetaData", "builtin_interfaces/Time map_load_time\nfloat32 resolution\nuint32 width\n"
                             "uint32 height\ngeometry_msgs/Pose origin"},
    {"nav_msgs/OccupancyGrid", H "MapMetaData info\nint8[] data"},
    {"sensor_msgs/Imu", H "geometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
                          "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
                          "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance"},
    {"sensor_msgs/NavSatStatus", "int8 status\nuint16 service"},
    {"sensor_msgs/NavSatFix", H "NavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\n"
                                "float64[9] position_covariance\nuint8 position_covariance_type"},
    {"sensor_msgs/LaserScan", H "float32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
                                "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\n"
                                "float32[] ranges\nfloat32[] intensities"},
    {"sensor_msgs/JointState", H "string[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort"},
    {"sensor_msgs/Range", H "uint8 radiation_type\nfloat32 field_of_view\nfloat32 min_range\nfloat32 max_range\n"
                            "float32 range"},
    {"sensor_msgs/MagneticField", H "geometry_msgs/Vector3 magnetic_field\nfloat64[9] magnetic_field_covariance"},
    {"sensor_msgs/FluidPressure", H "float64 fluid_pressure\nfloat64 variance"},
    {"sensor_msgs/Temperature", H "float64 temperature\nfloat64 variance"},
    {"sensor_msgs/RelativeHumidity", H "float64 relative_humidity\nfloat64 variance"},
    {"sensor_msgs/Illuminance", H "float64 illuminance\nfloat64 variance"},
    {"sensor_msgs/TimeReference", H "builtin_interfaces/Time time_ref\nstring source"},
    {"sensor_msgs/Joy", H "float32[] axes\nint32[] buttons"},
    {"sensor_msgs/RegionOfInterest", "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify"},
    {"sensor_msgs/CameraInfo", H "uint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] k\n"
                                 "float64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\n"
                                 "RegionOfInterest roi"},
    {"sensor_msgs/Image", H "uint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\n"
                            "uint8[] data"},
    {"sensor_msgs/CompressedImage", H "string format\nuint8[] data"},
    {"sensor_msgs/PointField", "string name\nuint32 offset\nuint8 datatype\nuint32 count"},
    {"sensor_msgs/PointCloud2", H "uint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\n"
                                  "uint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense"},
    {"tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms"},
    {"rosgraph_msgs/Clock", "builtin_interfaces/Time clock"},
    {"rcl_interfaces/Log", "builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\n"
                           "string function\nuint32 line"},
};

const char *ct__standard_message(const char *name)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i].name, name)) return TYPES[i].members;
    return NULL;
}
