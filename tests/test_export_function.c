/* test_export_function.c: functions of features as code of other languages compute what the library computes. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>

#define POINTS 25

static const char *const GTSAM_HEADER =
    "#include <cstddef>\nnamespace gtsam { struct Matrix {\n"
    "double v[36]; int n; Matrix(int r, int c) : n(c) { (void)r; }\n"
    "double &operator()(int i, int j) { return v[i * n + j]; } };\n"
    "struct Model { Matrix S; Model(const Matrix &s) : S(s) {} }; typedef Model SharedNoiseModel;\n"
    "namespace noiseModel { struct Gaussian { static Model Covariance(const Matrix &s) { return Model(s); } }; } }\n";

/* outputs 6: a matrix function, its first term 1. */
static ct_function form(int kind, int outputs)
{
    static ct_function_term term[4];
    static double           weight[200];
    const int               matrix = outputs == 6;
    ct_function f = {.kind = (ct_function_kind)kind, .outputs = outputs, .features = 2, .term = term, .weight = weight,
                     .matrix = matrix, .unit = {1, 1.4, 0.7}, .lower = {0.05, 0.05, 0.05}, .upper = {20, 20, 20}};
    f.feature[0] = (ct_function_feature){"sky", 0.4, 0.3, 0, 1};
    f.feature[1] = (ct_function_feature){"hdop", 2, 0.7, 0.5, 4};
    if (kind == CT_FUNCTION_LINEAR) {
        f.terms = 3;
        term[0] = (ct_function_term){.a = 0, .b = -1};
        term[1] = (ct_function_term){.a = 1, .b = -1};
        term[2] = (ct_function_term){.a = 0, .b = 1};
    } else if (kind == CT_FUNCTION_PIECEWISE) {
        f.terms = 3;
        term[0] = (ct_function_term){0, -1, 1, -INFINITY, 0.1, 0.4};
        term[1] = (ct_function_term){0, -1, 1, 0.4, 0.9, INFINITY};
        term[2] = (ct_function_term){1, -1, 1, 1, 2, 3.5};
    } else {
        f.layers = 2;
        f.width[0] = 5;
        f.width[1] = 3;
    }
    if (matrix && f.terms) {
        memmove(term + 1, term, 3 * sizeof *term);
        term[0] = (ct_function_term){.a = -1, .b = -1};
        f.terms = 4;
    }
    f.weights = ct_function_weights(&f);
    for (int i = 0; i < f.weights; i++) weight[i] = (matrix ? 0.9 : 1.3) * sin(2.0 + i);
    return f;
}

static ct_noise *table(void)
{
    static const char *const ROW[] = {"x", "y", "yaw"};
    ct_noise *noise;
    ct_err    err;
    int32_t   i;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    const double S[9] = {1, 0.3, 0, 0.3, 2, 0.1, 0, 0.1, 0.5}, v[3] = {1, 2, 0.5};
    for (int k = 0; k < 2 * CT_FUNCTION_COUNT; k++) { /* the second half: matrix functions */
        const int kind = k % CT_FUNCTION_COUNT;
        char      name[16];
        snprintf(name, sizeof name, "m%d", k);
        if (kind == 1) CHECK_OK(ct_noise_add_full(noise, name, 3, S, &i, &err), err);
        else CHECK_OK(ct_noise_add_diagonal(noise, name, 3, v, &i, &err), err);
        const ct_function f = form(kind, k >= CT_FUNCTION_COUNT ? 6 : kind == 1 ? 1 : 3);
        CHECK_OK(ct_noise_set_function(noise, i, &f, &err), err);
        ct_noise_set_rows(noise, i, ROW, NULL);
        ct_noise_set_measurement(noise, i, "between_se2");
    }
    return noise;
}

static void point(int i, double x[2])
{
    x[0] = -0.3 + 0.07 * i; /* beyond the range as well */
    x[1] = 5.5 - 0.25 * i;
}

/* The numbers that a program prints, against the library's. */
static void check_output(const char *command, const ct_noise *noise)
{
    FILE *pipe = popen(command, "r");
    int   read = 0;
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        for (int i = 0; i < POINTS; i++) {
            double x[2], S[9];
            point(i, x);
            ct_noise_covariance_at(ct_noise_get(noise, g), x, S);
            for (int k = 0; k < 9; k++) {
                double found = NAN;
                read += fscanf(pipe, "%lf", &found) == 1;
                CHECK_NEAR(found, S[k], 1e-12 * (1 + fabs(S[k])));
            }
        }
    CHECK(read == 9 * POINTS * ct_noise_count(noise));
    pclose(pipe);
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void export_to(const ct_noise *noise, ct_export_format format, const char *name)
{
    char  *text = NULL;
    ct_err err;
    CHECK_OK(ct_export_string(noise, format, NULL, &text, &err), err);
    put(name, text ? text : "");
    free(text);
}

#define LOOP                                                                                                           \
    "    for (i = 0; i < 25; i++) { double x[2], S[9]; int k; x[0] = -0.3 + 0.07 * i; x[1] = 5.5 - 0.25 * i;\n"

static void test_c_functions_compute_the_librarys_covariances(void)
{
    ct_noise *noise = table();
    char      command[1200];
    export_to(noise, CT_EXPORT_C, "fn.h");
    put("fn.c", "#include \"fn.h\"\n#include <stdio.h>\nint main(void) { int i;\n"
#define C_ONE(m) \
    LOOP "noise_m" m "_covariance_at(x, S); for (k = 0; k < 9; k++) printf(\"%.17g\\n\", S[k]); }\n"
                C_ONE("0") C_ONE("1") C_ONE("2") C_ONE("3") C_ONE("4") C_ONE("5") "return 0; }\n");
    snprintf(command, sizeof command,
             "cd %s && cc -std=c99 -Wall -Wextra -pedantic -Werror -Wno-unused-variable fn.c -o fn -lm && ./fn && "
             "! grep -q alloc fn.h", ct_test_folder());
    check_output(command, noise);
    ct_noise_free(noise);
}

static void test_gtsam_functions_compute_the_librarys_covariances(void)
{
    ct_noise *noise = table();
    char      command[1200], folder[600];
    if (system("c++ --version >/dev/null 2>&1")) SKIP("there is no c++");
    snprintf(folder, sizeof folder, "mkdir -p %s/gtsam/linear", ct_test_folder());
    CHECK(system(folder) == 0);
    put("gtsam/linear/NoiseModel.h", GTSAM_HEADER);
    export_to(noise, CT_EXPORT_GTSAM_CPP, "gt.h");
    put("gt.cpp", "#include \"gt.h\"\n#include <cstdio>\nint main() { int i;\n"
#define ONE(m)                                                                                                         \
    LOOP "(void)S; gtsam::SharedNoiseModel n = noise_m" m                                                              \
         "(x); for (k = 0; k < 9; k++) std::printf(\"%.17g\\n\", n.S.v[k]); }\n"
                  ONE("0") ONE("1") ONE("2") ONE("3") ONE("4") ONE("5") "return 0; }\n");
    snprintf(command, sizeof command,
             "cd %s && c++ -std=c++11 -Wall -Wextra -I. gt.cpp -o gt && ./gt", ct_test_folder());
    check_output(command, noise);
    ct_noise_free(noise);
}

static void test_python_and_ros_functions_compute_the_librarys_covariances(void)
{
    ct_noise *noise = table();
    char      command[1200];
    if (system("python3 --version >/dev/null 2>&1")) SKIP("there is no python3");
    export_to(noise, CT_EXPORT_PYTHON, "fn_python.py");
    export_to(noise, CT_EXPORT_ROS_NODE, "fn_ros.py");
    export_to(noise, CT_EXPORT_GTSAM_PYTHON, "fn_gtsam.py");
    put("gtsam.py", "class noiseModel:\n    class Gaussian:\n        Covariance = staticmethod(lambda m: m)\n");
    put("numpy.py", "array = list\n");
    put("main_fn.py",
        "import sys\n"
        "module = __import__(sys.argv[1])\n"
        "for m in range(6):\n"
        "    for i in range(25):\n"
        "        x = [-0.3 + 0.07 * i, 5.5 - 0.25 * i]\n"
        "        if sys.argv[1] == 'fn_ros':\n"
        "            field = module.ros_covariance('m%d' % m, x)\n"
        "            S = [[field[6 * a + b] for b in (0, 1, 5)] for a in (0, 1, 5)]\n"
        "            assert field[14] == 1e6 and field[2] == 0\n"
        "        elif sys.argv[1] == 'fn_gtsam':\n"
        "            S = getattr(module, 'noise_m%d' % m)(x)\n"
        "        else:\n"
        "            S = getattr(module, 'noise_m%d_covariance_at' % m)(x)\n"
        "        for row in S:\n"
        "            for v in row:\n"
        "                print(repr(float(v)))\n");
    for (int k = 0; k < 3; k++) {
        static const char *const MODULE[] = {"fn_python", "fn_ros", "fn_gtsam"};
        snprintf(command, sizeof command, "cd %s && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=. python3 main_fn.py %s",
                 ct_test_folder(), MODULE[k]);
        check_output(command, noise);
    }
    ct_noise_free(noise);
}

static void test_formats_without_functions_refuse_them(void)
{
    static const ct_export_format FORMAT[] = {CT_EXPORT_ROBOT_LOCALIZATION, CT_EXPORT_ROS, CT_EXPORT_G2O};
    ct_noise *noise = table();
    for (int i = 0; i < 3; i++) {
        char  *text = NULL;
        ct_err err;
        CHECK_REFUSED(ct_export_string(noise, FORMAT[i], NULL, &text, &err), err,
                      "noise model \"m0\" is a function of features, which ");
        CHECK(!text);
    }
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_c_functions_compute_the_librarys_covariances);
    RUN(test_gtsam_functions_compute_the_librarys_covariances);
    RUN(test_python_and_ros_functions_compute_the_librarys_covariances);
    RUN(test_formats_without_functions_refuse_them);
    return ct_test_end();
}
