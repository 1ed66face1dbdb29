/* test_export.c: every export is read back to the numbers it was made from: by a compiler, an interpreter or
 * covtune's own readers where there are such, else by what little parsing it takes. */
#define _XOPEN_SOURCE 700
#include "export_test.h"

#include <unistd.h>

static char folder[512];

static const char *in_folder(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    CHECK(f != NULL);
    if (f) fputs(text, f), fclose(f);
}

/* What a command run in the folder prints; the caller frees it. NULL if it fails. */
static char *output_of(const char *command)
{
    char  *line = malloc(strlen(folder) + strlen(command) + 32), *text = NULL, buf[4096];
    size_t size, n;
    sprintf(line, "cd '%s' && %s", folder, command);
    FILE *pipe = popen(line, "r"), *all = open_memstream(&text, &size);
    while (pipe && (n = fread(buf, 1, sizeof buf, pipe)) > 0) fwrite(buf, 1, n, all);
    fclose(all);
    free(line);
    if (pipe && pclose(pipe) == 0) return text;
    free(text);
    return NULL;
}

static int there_is(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

/* ---- Models ---------------------------------------------------------------------------------------- */

#define PLANE  {"x", "y", "yaw"}, {"m", "m", "rad"}, {0, 1, 2}
#define SPACE  {"rx", "ry", "rz", "x", "y", "z"}, {"rad", "rad", "rad", "m", "m", "m"}, {0, 1, 2, 3, 4, 5}
#define LASER  {"range", "bearing"}, {"m", "rad"}, {1, 0}
#define NO_KERNEL {CT_ROBUST_NONE, 0, 0}

static const example EXAMPLE[] = {
    {"odom@0", "noise_odom_0", PLANE, NO_KERNEL, CT_NOISE_DIAGONAL, 3},
    {"odom@1", "noise_odom_1", PLANE, NO_KERNEL, CT_NOISE_FULL, 3},
    {"odom#1", "noise_odom_1_3", PLANE, NO_KERNEL, CT_NOISE_ISOTROPIC, 3}, /* the same identifier as odom@1: numbered */
    {"loop", "noise_loop", SPACE, {CT_ROBUST_CAUCHY, 2.3849, 0}, CT_NOISE_FULL, 6},
    {"loop@2", "noise_loop_2", SPACE, {CT_ROBUST_GEMAN_MCCLURE, 1.0 / 3, 0}, CT_NOISE_DIAGONAL, 6},
    {"laser", "noise_laser", LASER, {CT_ROBUST_HUBER, 1.345, 0}, CT_NOISE_FULL, 2},
    {"laser@far", "noise_laser_far", LASER, {CT_ROBUST_TUKEY, 4.6851, 0}, CT_NOISE_DIAGONAL, 2},
    {"2*/\"odd\\", "noise_2_odd", {"range"}, {"m"}, {0}, NO_KERNEL, CT_NOISE_ISOTROPIC, 1},
    {"\xc3\xa9\xf0\x9f\x90\x9d",
     "noise",
     {"odd\"\n", "row"},
     {"", "\xc3\xa9"},
     {0, 1},
     NO_KERNEL,
     CT_NOISE_DIAGONAL,
     2},
    {"@", "noise_10", {NULL}, {NULL}, {0, 1, 2, 3}, NO_KERNEL, CT_NOISE_DIAGONAL, 4},
    {"int", "noise_int", {"lidar", "range", "azimuth"}, {"m", "m", "rad"}, {0, 1, 2}, NO_KERNEL, CT_NOISE_DIAGONAL, 3},
};
#define EXAMPLES ((int)(sizeof EXAMPLE / sizeof *EXAMPLE))

/* Text that would end a comment, or begin something, if it could. */
static const ct_export_options ODD = {.origin = "ends in a backslash \\\n*/ \"\r#error \\\n\xe2\x80\xae"};

static ct_noise *all_examples(void)
{
    ct_noise *noise = NULL;
    ct_rng    rng = ct_rng_seed(11);
    ct_noise_new(&noise, NULL);
    for (int i = 0; i < EXAMPLES; i++) add(noise, &rng, &EXAMPLE[i]);
    return noise;
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void test_json_is_the_noise_file(void)
{
    ct_noise *noise = one_model("odom@1", "x y yaw", 3, CT_NOISE_FULL, 1), *again = NULL;
    ct_rng    rng = ct_rng_seed(2);
    ct_err    err = {0};
    add(noise, &rng, &EXAMPLE[3]);
    add(noise, &rng, &EXAMPLE[6]);
    CHECK_OK(ct_export_write(noise, CT_EXPORT_JSON, NULL, in_folder("noise.json"), &err), err);
    ct_noise_new(&again, NULL);
    CHECK_OK(ct_noise_read(again, in_folder("noise.json"), &err), err);
    CHECK(ct_noise_count(again) == 3);
    for (int i = 0; i < ct_noise_count(again); i++) {
        CHECK(same_noise(ct_noise_get(noise, i), ct_noise_get(again, i)) &&
              !strcmp(ct_noise_get(noise, i)->name, ct_noise_get(again, i)->name));
        CHECK(!memcmp(ct_noise_get(noise, i)->row, ct_noise_get(again, i)->row,
                      (size_t)ct_noise_get(noise, i)->dim * sizeof(ct_noise_row)));
    }
    ct_noise_free(again);
    ct_noise_new(&again, NULL);
    CHECK_OK(
        ct_export_write(noise, CT_EXPORT_JSON, &(ct_export_options){.group = "loop"}, in_folder("noise.json"), &err),
        err);
    CHECK_OK(ct_noise_read(again, in_folder("noise.json"), &err), err);
    CHECK(ct_noise_count(again) == 1 && ct_noise_find(again, "loop") == 0);
    ct_noise_free(noise);
    ct_noise_free(again);
}

/* ---- What is written, and what is said of it ------------------------------------------------------- */

/* One of each kind of label: learned, held, not said. */
static ct_noise *labelled(int learned_first)
{
    ct_noise *noise = NULL;
    ct_rng    rng = ct_rng_seed(5);
    ct_noise_new(&noise, NULL);
    for (int i = 0; i < 3; i++)
        ct_noise_set_learned(noise, add(noise, &rng, &EXAMPLE[i]), i == 0 ? learned_first : i - 2);
    return noise;
}

static void test_models_that_were_held_are_left_out_where_others_were_learned(void)
{
    ct_noise *noise = labelled(1); /* odom@0 learned, odom@1 not said, odom#1 held */
    ct_err    err = {0};
    for (int f = 0; f < CT_EXPORT_COUNT; f++) {
        ct_export_options options = ct_export_defaults();
        if (f == CT_EXPORT_ROBOT_LOCALIZATION) options.diagonal = 1;
        char *text = export_with(noise, &options, (ct_export_format)f, &err);
        CHECK(text && strstr(text, "Held while others were learned, and left out: odom#1") &&
              strstr(text, "\"odom@1\"") && !strstr(text, "\"odom#1\""));
        free(text);
        options.all = 1;
        text = export_with(noise, &options, (ct_export_format)f, &err);
        CHECK(text && !strstr(text, "left out: ") && strstr(text, "\"odom#1\"") && strstr(text, "\"odom@0\""));
        free(text);
        options = (ct_export_options){.group = "odom#1"};
        text = export_with(noise, &options, (ct_export_format)f, &err);
        CHECK(text && !strstr(text, "left out: ") && strstr(text, "\"odom#1\"") && !strstr(text, "\"odom@1\""));
        free(text);
    }
    ct_noise_free(noise);
    noise = labelled(-1);
    char *text = export_text(noise, NULL, CT_EXPORT_C, &err);
    CHECK(text && !strstr(text, "left out: ") && strstr(text, "\"odom#1\"")); /* nothing was learned: held from what? */
    free(text);
    ct_noise_free(noise);
}

/* Two question marks and a slash are a backslash where C reads trigraphs: at a comment's end it makes the next line
 * one. */
static void test_a_trigraph_does_not_end_a_comment(void)
{
    ct_noise               *noise = one_model("odd?\?/", "x y yaw", 3, CT_NOISE_DIAGONAL, 1);
    ct_err                  err = {0};
    const char *const       remark[] = {"what?\?/\n??\?/"};
    const ct_export_options options = {.origin = "why?\?/", .remark = remark};
    ct_noise_set_measurement(noise, 0, "between_se2?\?/");
    for (int f = 0; f < CT_EXPORT_COUNT; f++) {
        char *text = export_with(noise, &options, (ct_export_format)f, &err);
        if (f == CT_EXPORT_C || f == CT_EXPORT_GTSAM_CPP)
            CHECK(text && !strstr(text, "?\?") && strstr(text, "// why?\\u003f/\n"));
        free(text);
    }
    ct_noise_free(noise);
}

static void test_origin_and_remarks_are_comments_of_every_format(void)
{
    ct_noise               *noise = labelled(1);
    ct_err                  err = {0};
    const char *const       remark[] = {"x +- 2 %\nat its lower bound", NULL, "never seen"};
    const ct_export_options options = {.diagonal = 1, .origin = "first line\nsecond line", .remark = remark};
    for (int f = 0; f < CT_EXPORT_COUNT; f++) {
        const char *mark = f == CT_EXPORT_C || f == CT_EXPORT_GTSAM_CPP ? "//" : "#";
        char       *text = export_with(noise, &options, (ct_export_format)f, &err), line[64];
        if (f == CT_EXPORT_JSON) {
            CHECK(text && strstr(text, "\"comment\": [\"x +- 2 %\", \"at its lower bound\"]") &&
                  strstr(text, "\"comment\": [\"first line\", \"second line\", \"Held "));
            CHECK(text && strstr(text, "\"comment\": [\"its correlations are left out\"]") &&
                  strstr(text, "\"learned\": true"));
        }
        const char *const want[] = {"first line", "second line", "x +- 2 %", "at its lower bound",
                                    "its correlations are left out"};
        for (int i = 0; f != CT_EXPORT_JSON && i < 5; i++) {
            snprintf(line, sizeof line, "\n%s %s\n", mark, want[i]);
            CHECK(text && strstr(text, line));
        }
        CHECK(text && !strstr(text, "never seen"));
        free(text);
        CHECK(!export_with(noise, &(ct_export_options){.origin = "\xff"}, (ct_export_format)f, &err) &&
              err.status == CT_E_ARGUMENT && strstr(err.text, "the origin of an export must be UTF-8"));
    }
    ct_noise_free(noise);
}

/* ---- GTSAM ----------------------------------------------------------------------------------------- */

static const char *const GTSAM_KIND[] = {"Isotropic", "Diagonal", "Gaussian"};
static const char *const GTSAM_KERNEL[] = {"", "Huber", "Cauchy", "GemanMcClure", "Tukey"};

/* A line a model, as the programs below print it: kernel, width, kind, dimension, numbers in GTSAM's order. */
static char *expected_gtsam(const ct_noise *noise)
{
    char  *text = NULL;
    size_t size;
    FILE  *out = open_memstream(&text, &size);
    for (int k = 0; k < EXAMPLES; k++) {
        const ct_noise_model *m = ct_noise_get(noise, k);
        const int            *order = EXAMPLE[k].order;
        if (m->robust.kind != CT_ROBUST_NONE) fprintf(out, "%s %.17g ", GTSAM_KERNEL[m->robust.kind], m->robust.width);
        fprintf(out, "%s %d", GTSAM_KIND[m->kind], m->dim);
        const int n = m->kind == CT_NOISE_FULL ? m->dim * m->dim : m->kind == CT_NOISE_DIAGONAL ? m->dim : 1;
        for (int i = 0; i < n; i++) {
            const int full = m->kind == CT_NOISE_FULL, a = order[full ? i / m->dim : i],
                      b = order[full ? i % m->dim : i];
            fprintf(out, " %.17g", entry(m, a, b));
        }
        fprintf(out, "\n");
    }
    fclose(out);
    return text;
}

static const char CPP_STUB[] =
    "#include <cstdio>\n#include <memory>\n#include <string>\n#include <vector>\n"
    "namespace gtsam {\n"
    "struct Array { int n; std::vector<double> v;\n"
    "    Array &operator<<(double x) { v.push_back(x); return *this; }\n"
    "    Array &operator,(double x) { v.push_back(x); return *this; }\n"
    "    Array &finished() { if (static_cast<int>(v.size()) != n) throw 1; return *this; } };\n"
    "struct Vector : Array { explicit Vector(int k) : Array{k, {}} {} };\n"
    "struct Matrix : Array { Matrix(int k, int l) : Array{k * l, {}} {} };\n"
    "inline std::string word(double x) { char b[40]; std::snprintf(b, sizeof b, \" %.17g\", x); return b; }\n"
    "inline std::string all(const Array &a) { std::string s; for (double x : a.v) s += word(x); return s; }\n"
    "typedef std::shared_ptr<std::string> SharedNoiseModel;\n"
    "inline SharedNoiseModel share(const std::string &s) { return std::make_shared<std::string>(s); }\n"
    "namespace noiseModel {\n"
    "struct Isotropic { static SharedNoiseModel Variance(int n, double v) { return share(\"Isotropic \" + "
    "std::to_string(n) + word(v)); } };\n"
    "struct Diagonal { static SharedNoiseModel Variances(const Array &a) { return share(\"Diagonal \" + "
    "std::to_string(a.n) + all(a)); } };\n"
    "struct Gaussian { static SharedNoiseModel Covariance(const Array &a) { int n = 0; while (n * n < a.n) n++;\n"
    "    return share(\"Gaussian \" + std::to_string(n) + all(a)); } };\n"
    "namespace mEstimator {\n"
    "#define KERNEL(K) struct K { static SharedNoiseModel Create(double k) { return share(#K + word(k) + \" \"); } };\n"
    "KERNEL(Huber) KERNEL(Cauchy) KERNEL(GemanMcClure) KERNEL(Tukey)\n}\n"
    "struct Robust { static SharedNoiseModel Create(SharedNoiseModel k, SharedNoiseModel n) { return share(*k + *n); } "
    "};\n}\n}\n";

static void test_gtsam_cpp_compiles_to_the_same_numbers(void)
{
    if (!there_is("c++")) SKIP("there is no C++ compiler");
    ct_noise *noise = all_examples();
    ct_err    err = {0};
    char      program[4096] = "#include \"noise.h\"\n#include \"noise.h\"\nint main() {\n";
    for (int k = 0; k < EXAMPLES; k++)
        sprintf(program + strlen(program), "    std::printf(\"%%s\\n\", %s->c_str());\n", EXAMPLE[k].id);
    strcat(program, "}\n");
    CHECK_OK(ct_export_write(noise, CT_EXPORT_GTSAM_CPP, &ODD, in_folder("noise.h"), &err), err);
    put_file("NoiseModel.h", CPP_STUB);
    put_file("main.cpp", program);
    char *want = expected_gtsam(noise);
    char *found = output_of("mkdir -p gtsam/linear && mv NoiseModel.h gtsam/linear && c++ -std=c++11 -Wall -Wextra "
                            "-Werror -I. main.cpp -o main_cpp && ./main_cpp");
    CHECK(found && !strcmp(found, want));
    free(found);
    free(want);
    ct_noise_free(noise);
}

static const char PYTHON_STUB[] =
    "class Word(str): pass\n"
    "def numbers(a): return ''.join(' %.17g' % x for x in a)\n"
    "class noiseModel:\n"
    "    class Isotropic:\n        Variance = staticmethod(lambda n, v: 'Isotropic %d %.17g' % (n, v))\n"
    "    class Diagonal:\n        Variances = staticmethod(lambda a: 'Diagonal %d' % len(a) + numbers(a))\n"
    "    class Gaussian:\n        Covariance = staticmethod(lambda A: 'Gaussian %d' % len(A) + ''.join(numbers(a) for "
    "a in A))\n"
    "    class Robust:\n        Create = staticmethod(lambda k, n: k + n)\n"
    "    class mEstimator: pass\n"
    "for name in ('Huber', 'Cauchy', 'GemanMcClure', 'Tukey'):\n"
    "    setattr(noiseModel.mEstimator, name, type(name, (), {'Create': staticmethod(lambda k, name=name: '%s %.17g ' "
    "% (name, k))}))\n";

static void test_gtsam_python_runs_to_the_same_numbers(void)
{
    if (!there_is("python3")) SKIP("there is no python3");
    ct_noise *noise = all_examples();
    ct_err    err = {0};
    char      program[4096] = "from noise import *\n";
    for (int k = 0; k < EXAMPLES; k++) sprintf(program + strlen(program), "print(%s)\n", EXAMPLE[k].id);
    CHECK_OK(ct_export_write(noise, CT_EXPORT_GTSAM_PYTHON, &ODD, in_folder("noise.py"), &err), err);
    put_file("gtsam.py", PYTHON_STUB);
    put_file("numpy.py", "def array(a, dtype): return a\n");
    put_file("main.py", program);
    char *want = expected_gtsam(noise), *found = output_of("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=. python3 main.py");
    CHECK(found && !strcmp(found, want));
    free(found);
    free(want);
    ct_noise_free(noise);
}

/* The same without a compiler or an interpreter: dimensions, where the language says them, and then the numbers. */
static void test_gtsam_text_holds_the_numbers_in_its_order(void)
{
    ct_noise *noise = all_examples();
    ct_err    err = {0};
    for (int python = 0; python < 2; python++) {
        char *text = export_text(noise, NULL, python ? CT_EXPORT_GTSAM_PYTHON : CT_EXPORT_GTSAM_CPP, &err);
        for (int k = 0; text && k < EXAMPLES; k++) {
            const ct_noise_model *m = ct_noise_get(noise, k);
            const int             n = m->dim, full = m->kind == CT_NOISE_FULL, *order = EXAMPLE[k].order;
            double                v[64];
            char                  from[64];
            snprintf(from, sizeof from, "%s = ", EXAMPLE[k].id);
            int at = m->robust.kind != CT_ROBUST_NONE;
            const int count = numbers_between(text, from, python ? "\n\n" : ";", 64, v);
            CHECK(!at || v[0] == m->robust.width);
            at += m->kind == CT_NOISE_ISOTROPIC ? 1 : python ? 0 : full ? 2 : 1;
            for (int i = 0; i < (m->kind == CT_NOISE_ISOTROPIC ? 1 : full ? n * n : n); i++)
                CHECK(v[at++] == (full ? entry(m, order[i / n], order[i % n]) : entry(m, order[i], order[i])));
            CHECK(count == at);
        }
        CHECK(text != NULL);
        free(text);
    }
    ct_noise_free(noise);
}

static void test_gtsam_kernels_are_the_same_functions(void)
{
    const double k = 1.7; /* loss and weight as GTSAM's LossFunctions.cpp has them */
    for (double d = 0; d < 5; d += 0.125) {
        const double d2 = d * d, k2 = k * k, t = 1 - d2 / k2;
        double       w;
        CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_HUBER, k, 0}, d2, &w), d <= k ? d2 / 2 : k * (d - k / 2),
                   1e-14);
        CHECK_NEAR(w, d <= k ? 1 : k / d, 1e-14);
        CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_CAUCHY, k, 0}, d2, &w), k2 * log1p(d2 / k2) * 0.5, 1e-14);
        CHECK_NEAR(w, k2 / (k2 + d2), 1e-14);
        CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_GEMAN_MCCLURE, k, 0}, d2, &w), 0.5 * (k2 * d2) / (k2 + d2),
                   1e-14);
        CHECK_NEAR(w, k2 * k2 / ((k2 + d2) * (k2 + d2)), 1e-14);
        CHECK_NEAR(ct_robust_error((ct_robust){CT_ROBUST_TUKEY, k, 0}, d2, &w),
                   d <= k ? k2 * (1 - t * t * t) / 6 : k2 / 6, 1e-14);
        CHECK_NEAR(w, d <= k ? t * t : 0, 1e-14);
    }
}

static void test_gtsam_directions_must_be_round(void)
{
    ct_err    err = {0};
    ct_noise *noise = one_model("star", "range azimuth elevation", 3, CT_NOISE_DIAGONAL, 4);
    CHECK(!export_text(noise, NULL, CT_EXPORT_GTSAM_CPP, &err) &&
          strstr(err.text, "noise model \"star\": GTSAM's directions"));
    CHECK_OK(ct_noise_set_variance(noise, 0, (const double[]){5, 0.25, 0.25}, &err), err);
    char  *text = export_text(noise, NULL, CT_EXPORT_GTSAM_CPP, &err);
    double v[4] = {0};
    CHECK(text && numbers_between(text, "noise_star = ", ";", 4, v) == 4 && v[1] == 0.25 && v[2] == 0.25 && v[3] == 5);
    free(text);
    ct_noise_free(noise);
}

/* ---- C --------------------------------------------------------------------------------------------- */

static void put_expected_c(FILE *out, const ct_noise_model *m)
{
    for (int i = 0; i < m->dim; i++) fprintf(out, "%.17g %.17g\n", entry(m, i, i), sqrt(entry(m, i, i)));
    for (int i = 0; m->kind == CT_NOISE_FULL && i < m->dim * m->dim; i++) fprintf(out, "%.17g\n", m->covariance[i]);
    if (m->robust.kind != CT_ROBUST_NONE) fprintf(out, "%s %.17g\n", ct_robust_name(m->robust.kind), m->robust.width);
}

static void test_a_c_header_compiles_to_the_same_numbers(void)
{
    if (!there_is("cc")) SKIP("there is no C compiler");
    ct_noise *noise = all_examples();
    ct_err    err = {0};
    char     *program = NULL, *want = NULL;
    size_t    size;
    FILE     *c = open_memstream(&program, &size), *w = open_memstream(&want, &size);
    fprintf(c, "#include \"noise_c.h\"\n#include \"noise_c.h\"\n#include <stdio.h>\nint main(void)\n{\n");
    for (int k = 0; k < EXAMPLES; k++) {
        const ct_noise_model *m = ct_noise_get(noise, k);
        const char           *id = EXAMPLE[k].id;
        fprintf(c, "for (int i = 0; i < %d; i++) printf(\"%%.17g %%.17g\\n\", %s_variance[i], %s_sigma[i]);\n", m->dim,
                id, id);
        if (m->kind == CT_NOISE_FULL)
            fprintf(c,
                    "for (int i = 0; i < (int)(sizeof %s_covariance / sizeof(double)); i++) printf(\"%%.17g\\n\", "
                    "%s_covariance[i]);\n",
                    id, id);
        if (m->robust.kind != CT_ROBUST_NONE) fprintf(c, "printf(\"%%s %%.17g\\n\", %s_kernel, %s_width);\n", id, id);
        put_expected_c(w, m);
    }
    fprintf(c, "return 0;\n}\n");
    fclose(c);
    fclose(w);
    CHECK_OK(ct_export_write(noise, CT_EXPORT_C, &ODD, in_folder("noise_c.h"), &err), err);
    put_file("main.c", program);
    char *found = output_of("cc -std=c99 -Wall -Wextra -Werror -pedantic main.c -o main_c && ./main_c");
    CHECK(found && !strcmp(found, want));
    free(found);
    free(program);
    free(want);
    ct_noise_free(noise);
}

/* ---- g2o ------------------------------------------------------------------------------------------- */

static const struct {
    const char *rows;
    int         dim;
    const char *edge; /* and what comes before the information */
} G2O[] = {
    {"x y yaw", 3, "EDGE_SE2 0 1 1 2 0"},
    {"x y theta", 3, "EDGE_SE2 0 1 1 2 0"}, /* before 0.2 */
    {"rx ry rz x y z", 6, "EDGE_SE3:QUAT 0 1 1 2 3 0 0 0 1"},
    {"x y", 2, "EDGE_POINTXY 0 1 1 2"},
    {"x y z", 3, "EDGE_POINTXYZ 0 1 1 2 3"},
    {"bearing", 1, "EDGE_BEARING_SE2_XY 0 1 0.5"},
};

static void check_g2o(ct_noise *noise, const char *edge, double tolerance)
{
    ct_err                err = {0};
    run                   r;
    const ct_noise_model *m = ct_noise_get(noise, 0);
    char                 *text = export_text(noise, NULL, CT_EXPORT_G2O, &err), file[2048] = "";
    for (char *line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n"))
        if (line[0] != '#') snprintf(file, sizeof file, "%s %s\n", edge, line);
    CHECK_OK(read_text(&r, CT_FORMAT_G2O, file), r.err);
    if (r.seq) {
        const ct_noise_model *again = ct_noise_get(r.noise, 0);
        for (int i = 0; i < m->dim * m->dim; i++) {
            const double want = entry(m, i / m->dim, i % m->dim),
                         scale = sqrt(entry(m, i / m->dim, i / m->dim) * entry(m, i % m->dim, i % m->dim));
            CHECK_NEAR(entry(again, i / m->dim, i % m->dim), want, tolerance * scale);
        }
    }
    run_free(&r);
    free(text);
}

static void test_g2o_information_is_read_as_the_same_model(void)
{
    for (size_t k = 0; k < sizeof G2O / sizeof *G2O; k++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            ct_noise *noise = one_model("edge", G2O[k].rows, G2O[k].dim, (ct_noise_kind)(seed % 3), seed);
            /* full ones are inverses of few digits */
            check_g2o(noise, G2O[k].edge, seed % 3 == CT_NOISE_FULL && G2O[k].dim > 1 ? 0 : 4e-16);
            ct_noise_set_variance(noise, 0, (const double[]){0.01, 0.25, 4, 0.0001, 1, 0.04}, NULL);
            check_g2o(noise, G2O[k].edge, 0);
            ct_noise_free(noise);
        }
    }
}

static void test_g2o_itself_gets_half_the_angle(void)
{
    ct_noise *noise = one_model("edge", "rx ry rz x y z", 6, CT_NOISE_FULL, 5);
    ct_err    err = {0};
    char     *text = export_text(noise, NULL, CT_EXPORT_G2O, &err);
    double    ours[21], theirs[22];
    CHECK(text && numbers_between(text, "rx ry rz\n", "\n", 21, ours) == 21 &&
          numbers_between(text, "for g2o itself: ", "\n", 22, theirs) == 21);
    for (int i = 0, at = 0; i < 6; i++) /* |q| = angle / 2: information grows by the square */
        for (int j = i; j < 6; j++, at++) CHECK(theirs[at] == ours[at] * (i > 2 ? 2 : 1) * (j > 2 ? 2 : 1));
    free(text);
    ct_noise_free(noise);
}

/* ---- Refusals -------------------------------------------------------------------------------------- */

static void check_refusal(const char *rows, int dim, ct_noise_kind kind, ct_robust_kind kernel, ct_export_format format,
                          const char *words)
{
    ct_noise *noise = one_model("odom@1", rows, dim, kind, 3);
    ct_err    err = {0};
    CHECK_OK(ct_noise_set_robust(noise, 0, (ct_robust){kernel, 1, 0}, &err), err);
    char *text = export_text(noise, NULL, format, &err);
    if (text || err.status != CT_E_UNSUPPORTED || strncmp(err.text, "noise model \"odom@1\": ", 22) ||
        !strstr(err.text, words))
        CT_TEST_SAY("wanted \"%s\", got \"%s\"\n", words, text ? text : err.text);
    free(text);
    ct_noise_free(noise);
}

static void test_what_a_format_has_no_place_for_is_said(void)
{
    const ct_export_format needs[] = {CT_EXPORT_ROS, CT_EXPORT_ROBOT_LOCALIZATION, CT_EXPORT_G2O};
    for (int i = 0; i < 3; i++) {
        check_refusal(NULL, 3, CT_NOISE_ISOTROPIC, CT_ROBUST_NONE, needs[i],
                      "needs to know what its 3 rows are; say it in the noise file, for instance \"coordinates\": "
                      "[\"x\", \"y\", \"yaw\"]");
        check_refusal("x y yaw", 3, CT_NOISE_DIAGONAL, CT_ROBUST_TUKEY, needs[i],
                      "has no place for its tukey kernel; \"robust\": {\"kind\": \"none\"}");
    }
    check_refusal(NULL, 2, CT_NOISE_DIAGONAL, CT_ROBUST_NONE, CT_EXPORT_GTSAM_PYTHON,
                  "GTSAM, where a bearing comes before a range, needs to know");
    check_refusal("range bearing", 2, CT_NOISE_DIAGONAL, CT_ROBUST_NONE, CT_EXPORT_ROS,
                  "a ROS message has no place for its row \"range\"");
    check_refusal("x y vx", 3, CT_NOISE_DIAGONAL, CT_ROBUST_NONE, CT_EXPORT_ROS, "row \"vx\"");
    check_refusal("rz theta", 2, CT_NOISE_DIAGONAL, CT_ROBUST_NONE, CT_EXPORT_ROS, "row \"theta\"");
    check_refusal("x y yaw", 3, CT_NOISE_FULL, CT_ROBUST_NONE, CT_EXPORT_ROBOT_LOCALIZATION,
                  "no place for its correlations; the option diagonal");
    check_refusal("y x", 2, CT_NOISE_DIAGONAL, CT_ROBUST_NONE, CT_EXPORT_G2O, "g2o has no edge with rows y x");
}

/* A stream in memory has no error flag: whoever writes must look. */
static void test_a_stream_that_takes_nothing_is_said(void)
{
    ct_noise *noise = all_examples();
    ct_err    err = {0};
    FILE     *full = fopen("/dev/full", "w");
    for (int i = 0; full && i < CT_EXPORT_COUNT; i++) {
        setvbuf(full, NULL, _IONBF, 0);
        CHECK_REFUSED(
            ct_export(noise, (ct_export_format)i, &(ct_export_options){.group = "odom@0", .diagonal = 1}, full, &err),
            err, "bytes of text could not be written: No space");
    }
    if (full) fclose(full);
    ct_noise_free(noise);
}

static void test_groups_and_formats_that_are_not_there_are_refused(void)
{
    ct_noise *noise = all_examples();
    ct_err    err = {0};
    double    v;
    CHECK(!export_text(noise, "od", CT_EXPORT_C, &err) && err.status == CT_E_ARGUMENT &&
          strstr(err.text, "there is no noise model \"od\", nor one of that group; there are: odom@0, "));
    char *text = export_text(noise, "odom@1", CT_EXPORT_C, &err);
    CHECK(text && numbers_between(text, "noise_odom_1_sigma", "]", 1, &v) == 1 && !strstr(text, "odom_0") &&
          strstr(text, "COVTUNE_C_NOISE_ODOM_1_H"));
    free(text);
    for (int i = 0; i < CT_EXPORT_COUNT; i++) CHECK(ct_export_find(ct_export_name((ct_export_format)i)) == i);
    CHECK(ct_export_find("gtsam") == -1);
    CHECK_REFUSED(ct_export_write(noise, CT_EXPORT_C, NULL, "/nowhere/n.h", &err), err,
                  "/nowhere/n.h: cannot create a file in this folder");
    if (access("/dev/full", W_OK) == 0)
        CHECK_REFUSED(ct_export_write(noise, CT_EXPORT_C, NULL, "/dev/full", &err), err,
                      "/dev/full: could not be written: No space");
    ct_noise_add_isotropic(noise, "\xff", 1, 1, NULL, NULL);
    for (int i = 0; i < CT_EXPORT_COUNT; i++)
        CHECK_REFUSED(ct_export_write(noise, (ct_export_format)i, &(ct_export_options){.group = "\xff"},
                                      in_folder("never"), &err),
                      err, "must be UTF-8");
    CHECK(access(in_folder("never"), F_OK) != 0);
    ct_noise_free(noise);
}

int main(void)
{
    char clean[600];
    snprintf(folder, sizeof folder, "%s/export_XXXXXX", ct_test_folder());
    if (!mkdtemp(folder)) return EXIT_FAILURE;
    RUN(test_json_is_the_noise_file);
    RUN(test_models_that_were_held_are_left_out_where_others_were_learned);
    RUN(test_a_trigraph_does_not_end_a_comment);
    RUN(test_origin_and_remarks_are_comments_of_every_format);
    RUN(test_gtsam_cpp_compiles_to_the_same_numbers);
    RUN(test_gtsam_python_runs_to_the_same_numbers);
    RUN(test_gtsam_text_holds_the_numbers_in_its_order);
    RUN(test_gtsam_kernels_are_the_same_functions);
    RUN(test_gtsam_directions_must_be_round);
    RUN(test_a_c_header_compiles_to_the_same_numbers);
    RUN(test_g2o_information_is_read_as_the_same_model);
    RUN(test_g2o_itself_gets_half_the_angle);
    RUN(test_what_a_format_has_no_place_for_is_said);
    RUN(test_a_stream_that_takes_nothing_is_said);
    RUN(test_groups_and_formats_that_are_not_there_are_refused);
    snprintf(clean, sizeof clean, "rm -rf '%s'", folder);
    return system(clean) ? EXIT_FAILURE : ct_test_end();
}
