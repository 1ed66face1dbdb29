/* A GTSAM program that covtune tune can run: noise from a file, a log in, a trajectory out.
 *
 *     smoother NOISE ODOMETRY.csv GPS.csv ESTIMATE.tum
 *
 * A pose for each GPS record (t, x, y, yaw); between two of them the odometry (t, vx, vy, omega), held from a record to
 * the next. Nothing here knows of covtune. What a program needs for it: numbers in a file, no other state than its
 * arguments, stamps in the output, an exit code other than 0 where it fails.
 */
#include <gtsam/geometry/Pose2.h>
#include <gtsam/nonlinear/LevenbergMarquardtOptimizer.h>
#include <gtsam/nonlinear/NonlinearFactorGraph.h>
#include <gtsam/nonlinear/PriorFactor.h>
#include <gtsam/nonlinear/Values.h>
#include <gtsam/slam/BetweenFactor.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using gtsam::Pose2;
using gtsam::Vector3;

// Lines "name = number"; # begins a comment.
static std::map<std::string, double> read_noise(const char* path) {
    std::ifstream file(path);
    std::map<std::string, double> noise;
    for (std::string line, name, equals; std::getline(file, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        double number;
        if (words >> name >> equals >> number) noise[name] = number;
    }
    return noise;
}

static std::vector<std::vector<double>> read_table(const char* path) {
    std::ifstream file(path);
    std::vector<std::vector<double>> rows;
    std::string line;
    std::getline(file, line);  // the header
    while (std::getline(file, line)) {
        std::istringstream words(line);
        rows.emplace_back();
        for (std::string word; std::getline(words, word, ',');) rows.back().push_back(std::stod(word));
    }
    if (rows.size() < 2) throw std::runtime_error(std::string(path) + ": no records");
    return rows;
}

// The motion from `begin` to `end`; *errors: the sum over records of the squared seconds that each one held.
static Pose2 motion(const std::vector<std::vector<double>>& odometry, double begin, double end, double* errors) {
    Pose2 pose;
    for (size_t k = 0; k + 1 < odometry.size(); k++) {
        const double dt = std::min(end, odometry[k + 1][0]) - std::max(begin, odometry[k][0]);
        if (dt <= 0) continue;
        pose = pose * Pose2::Expmap(Vector3(odometry[k][1], odometry[k][2], odometry[k][3]) * dt);
        *errors += dt * (odometry[k + 1][0] - odometry[k][0]);
    }
    return pose;
}

int main(int argc, char** argv) try {
    if (argc != 5) throw std::runtime_error("usage: smoother NOISE ODOMETRY.csv GPS.csv ESTIMATE.tum");
    const auto noise = read_noise(argv[1]);
    const auto odometry = read_table(argv[2]), gps = read_table(argv[3]);
    const Vector3 record(noise.at("vx"), noise.at("vy"), noise.at("omega"));
    const auto gps_model = gtsam::noiseModel::Diagonal::Sigmas(
        Vector3(noise.at("gps"), noise.at("gps"), noise.at("yaw")));

    gtsam::NonlinearFactorGraph graph;
    gtsam::Values start;
    for (size_t k = 0; k < gps.size(); k++) {
        const Pose2 measured(gps[k][1], gps[k][2], gps[k][3]);
        graph.emplace_shared<gtsam::PriorFactor<Pose2>>(k, measured, gps_model);
        start.insert(k, measured);
        if (k == 0) continue;
        double errors = 0;
        const Pose2 moved = motion(odometry, gps[k - 1][0], gps[k][0], &errors);
        const auto model = gtsam::noiseModel::Diagonal::Sigmas(record * std::sqrt(errors));
        graph.emplace_shared<gtsam::BetweenFactor<Pose2>>(k - 1, k, moved, model);
    }
    const gtsam::Values estimate = gtsam::LevenbergMarquardtOptimizer(graph, start).optimize();

    std::ofstream out(argv[4]);
    out.precision(12);
    for (size_t k = 0; k < gps.size(); k++) {
        const Pose2 pose = estimate.at<Pose2>(k);
        out << gps[k][0] << ' ' << pose.x() << ' ' << pose.y() << " 0 0 0 " << std::sin(pose.theta() / 2) << ' '
            << std::cos(pose.theta() / 2) << '\n';
    }
    return out.flush() ? 0 : 1;
} catch (const std::exception& trouble) {
    std::cerr << "smoother: " << trouble.what() << '\n';
    return 1;
}
