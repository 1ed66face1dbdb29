#!/bin/bash
# play.sh PARAMETERS BAG ESTIMATE: robot_localization's EKF on a ROS 2 bag; ESTIMATE becomes a bag with /odometry/filtered.
# Each run has a domain of its own: runs at the same time do not hear each other.
set -euo pipefail
parameters=$1 bag=$2 estimate=$3

locks=$(dirname "$0")/.domains
mkdir -p "$locks"
for ROS_DOMAIN_ID in $(seq 1 100); do
    exec 9>"$locks/$ROS_DOMAIN_ID"
    flock -n 9 && break
done
export ROS_DOMAIN_ID ROS_LOCALHOST_ONLY=1

ros2 run robot_localization ekf_node --ros-args --params-file "$parameters" -p use_sim_time:=true 9>&- &
filter=$!
ros2 bag record --output "$estimate" /odometry/filtered 9>&- &
recorder=$!
# The clock is faster than the filter's frequency: its timer sees no finer time. The whole bag is read ahead.
ros2 bag play "$bag" --clock 200 --rate 2 --delay 3 --read-ahead-queue-size 100000 --wait-for-all-acked 1000 9>&-
sleep 1
kill -INT $recorder
wait $recorder || true
kill -INT $filter
wait $filter || true
