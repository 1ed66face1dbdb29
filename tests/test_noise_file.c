/* test_noise_file.c: the noise file, and files that are replaced whole. */
#define _XOPEN_SOURCE 700
#include "base/file.h"
#include "ct_test.h"

#include <covtune/noise.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static ct_noise *new_table(void)
{
    ct_noise *noise = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    return noise;
}

/* A random symmetric positive definite matrix, coordinates scaled from 1e-3 to 1e3. */
static void random_spd(ct_rng *rng, int n, double *S)
{
    double B[36], scale[6];
    for (int i = 0; i < n * n; i++) B[i] = ct_rng_normal(rng);
    for (int i = 0; i < n; i++) scale[i] = pow(10, 6 * ct_rng_uniform(rng) - 3);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            S[i * n + j] = i == j ? 0.1 * scale[i] * scale[i] : 0;
            for (int k = 0; k < n; k++) S[i * n + j] += scale[i] * scale[j] * B[i * n + k] * B[j * n + k];
        }
}

static char folder[512];

static const char *in_folder(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_text(const char *text)
{
    const char *path = in_folder("hand.json");
    FILE       *f = fopen(path, "w");
    CHECK(f != NULL);
    if (f) fputs(text, f), fclose(f);
    return path;
}

#define FILE_OF(groups) "{\"format\": \"covtune-noise\", \"version\": 1, \"groups\": {" groups "}}"

static int files_in_folder(void)
{
    DIR *dir = opendir(folder);
    int  n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return n;
}

/* ---- Noise file ------------------------------------------------------------------------------------ */

static void check_same_model(const ct_noise_model *a, const ct_noise_model *b)
{
    CHECK(!strcmp(a->name, b->name) && a->kind == b->kind && a->dim == b->dim);
    CHECK(a->robust.kind == b->robust.kind && a->robust.width == b->robust.width &&
          a->robust.ratio == b->robust.ratio);
    const int n = a->kind == CT_NOISE_FULL ? a->dim * a->dim : a->dim;
    CHECK(!memcmp(a->covariance, b->covariance, (size_t)n * sizeof(double)));
    CHECK(!memcmp(a->sqrt_info, b->sqrt_info, (size_t)n * sizeof(double)));
}

static void test_a_written_table_is_read_back_to_the_same_bits(void)
{
    ct_rng    rng = ct_rng_seed(3);
    ct_err    err = {0};
    ct_noise *noise = new_table(), *again = new_table();
    for (int i = 0; i < 120; i++) {
        const int n = 1 + i % 6;
        double    S[36];
        char      name[48];
        snprintf(name, sizeof name, "\"\\%d\xc3\xa9@%d", i / 2, i % 2);
        random_spd(&rng, n, S);
        if (i % 3 == 0) CHECK_OK(ct_noise_add_full(noise, name, n, S, NULL, &err), err);
        if (i % 3 == 1) CHECK_OK(ct_noise_add_isotropic(noise, name, n, S[0], NULL, &err), err);
        for (int k = 0; k < n; k++) S[k] = S[k * n + k];
        if (i % 3 == 2) CHECK_OK(ct_noise_add_diagonal(noise, name, n, S, NULL, &err), err);
        ct_robust robust = {(ct_robust_kind)(i % CT_ROBUST_COUNT), ct_rng_uniform(&rng) + 0.1, 0};
        if (robust.kind == CT_ROBUST_MAX_MIXTURE) robust.ratio = 1.1 + i;
        if (robust.kind != CT_ROBUST_NONE) CHECK_OK(ct_noise_set_robust(noise, i, robust, &err), err);
    }
    const char *path = in_folder("table.json");
    CHECK_OK(ct_noise_write(noise, path, &err), err);
    CHECK_OK(ct_noise_read(again, path, &err), err); /* all added        */
    CHECK_OK(ct_noise_read(again, path, &err), err); /* all set, unchanged */
    CHECK(ct_noise_count(again) == 120);
    for (int i = 0; i < ct_noise_count(again); i++) check_same_model(ct_noise_get(noise, i), ct_noise_get(again, i));
    ct_noise_free(noise);
    ct_noise_free(again);
}

static void test_a_file_written_by_hand_is_enough(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 3, 9, NULL, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, 0, (ct_robust){CT_ROBUST_HUBER, 3, 0}, &err), err);
    const char *path = write_text(FILE_OF(
        "\"odom\": {\"variance\": [1, 0.01, 100000000000000000000]}, \"range\": {\"variance\": 0.5, \"dim\": 2},"
        "\"gps\": {\"covariance\": [[4, 1], [1, 4]], \"robust\": {\"kind\": \"tukey\"}, \"author\": \"me\"}"));
    CHECK_OK(ct_noise_read(noise, path, &err), err);
    CHECK(ct_noise_count(noise) == 3);
    const ct_noise_model *odom = ct_noise_get(noise, 0), *range = ct_noise_get(noise, 1), *gps = ct_noise_get(noise, 2);
    CHECK(odom->kind == CT_NOISE_DIAGONAL && odom->covariance[1] == 0.01 && odom->covariance[2] == 1e20);
    CHECK(odom->robust.kind == CT_ROBUST_HUBER && odom->robust.width == 3); /* not named: kept */
    CHECK(range->kind == CT_NOISE_ISOTROPIC && range->dim == 2 && range->covariance[1] == 0.5);
    CHECK(gps->kind == CT_NOISE_FULL && gps->covariance[1] == 1 && gps->robust.kind == CT_ROBUST_TUKEY &&
          gps->robust.width == 4.6851);
    ct_noise_free(noise);
}

static const char *const PLANE[] = {"x", "y", "yaw"}, *const PLANE_UNIT[] = {"m", "m", "rad"};

static void test_rows_survive_copies_new_numbers_and_files(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table(), *copy = NULL, *again = new_table();
    const double S[] = {2, 0.5, 0, 0.5, 1, 0, 0, 0, 3}, v[] = {4, 5, 6};
    const char  *odd[] = {"\"\xc3\xa9\"", "a-word-of-14-b\xc3\xa9"};
    CHECK_OK(ct_noise_add_full(noise, "odom", 3, S, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "odd", 2, 1, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "plain", 2, 1, NULL, &err), err);
    CHECK(!ct_noise_get(noise, 0)->row);
    ct_noise_set_rows(noise, 0, PLANE, PLANE_UNIT);
    ct_noise_set_rows(noise, 1, odd, NULL);
    CHECK(!strcmp(ct_noise_get(noise, 1)->row[1].name, "a-word-of-14-b")); /* the cut does not split a letter */
    CHECK_OK(ct_noise_set_variance(noise, 0, v, &err), err);
    CHECK_OK(ct_noise_set_covariance(noise, 0, S, &err), err);
    CHECK_OK(ct_noise_copy(noise, &copy, &err), err);
    CHECK_OK(ct_noise_write(copy, in_folder("table.json"), &err), err);
    CHECK_OK(ct_noise_read(again, in_folder("table.json"), &err), err);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < ct_noise_get(noise, i)->dim; c++)
            CHECK(!memcmp(&ct_noise_get(noise, i)->row[c], &ct_noise_get(again, i)->row[c], sizeof(ct_noise_row)));
    CHECK(!ct_noise_get(again, 2)->row);
    ct_noise_set_rows(again, 0, NULL, NULL);
    CHECK(!ct_noise_get(again, 0)->row);
    ct_noise_free(noise);
    ct_noise_free(copy);
    ct_noise_free(again);
}

static void test_what_measures_and_what_was_learned_survive_copies_new_numbers_and_files(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table(), *copy = NULL, *again = new_table();
    char      longer[80] = "";
    for (int i = 0; i < 3; i++)
        CHECK_OK(ct_noise_add_isotropic(noise, (const char *[]){"odom", "gps", "plain"}[i], 2, 1, NULL, &err), err);
    CHECK(!ct_noise_get(noise, 0)->measurement && ct_noise_get(noise, 0)->learned == -1);
    for (int i = 0; i < 46; i++) longer[i] = 'a';
    strcat(longer, "\xc3\xa9");
    ct_noise_set_measurement(noise, 0, "between_se2");
    ct_noise_set_measurement(noise, 0, ct_noise_get(noise, 0)->measurement); /* itself */
    ct_noise_set_measurement(noise, 1, longer);                             /* the cut does not split a letter */
    ct_noise_set_learned(noise, 0, 1);
    ct_noise_set_learned(noise, 1, 0);
    ct_noise_set_rows(noise, 1, PLANE, PLANE_UNIT);
    CHECK_OK(ct_noise_set_variance(noise, 0, (const double[]){2}, &err), err);
    CHECK_OK(ct_noise_copy(noise, &copy, &err), err);
    CHECK_OK(ct_noise_write(copy, in_folder("labels.json"), &err), err);
    CHECK_OK(ct_noise_read(again, in_folder("labels.json"), &err), err);
    for (int i = 0; i < 3; i++) {
        const ct_noise_model *m = ct_noise_get(again, i);
        CHECK(m->learned == (i == 0 ? 1 : i == 1 ? 0 : -1));
        CHECK(i == 2 ? !m->measurement
                     : !strcmp(m->measurement, i ? "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" : "between_se2"));
    }
    CHECK(!strcmp(ct_noise_get(again, 1)->row[1].name, "y"));

    /* Numbers of a file that does not say whether they were learned are not known to be; what measures does not
     * depend on them. */
    CHECK_OK(ct_noise_read(again, write_text(FILE_OF("\"odom\": {\"variance\": [1, 2]}")), &err), err);
    CHECK(ct_noise_get(again, 0)->learned == -1 && !strcmp(ct_noise_get(again, 0)->measurement, "between_se2"));
    ct_noise_set_measurement(again, 0, NULL);
    CHECK(!ct_noise_get(again, 0)->measurement);
    CHECK_REFUSED(ct_noise_read(again,
                                write_text(FILE_OF("\"odom\": {\"variance\": [1, 2], \"measurement\": \"two words\"}")),
                                &err),
                  err, "groups.odom.measurement: expected the name of a measurement model");
    CHECK_REFUSED(ct_noise_read(again, write_text(FILE_OF("\"odom\": {\"variance\": [1, 2], \"learned\": 1}")), &err),
                  err, "groups.odom.learned: expected true or false, found 1");
    ct_noise_free(noise);
    ct_noise_free(copy);
    ct_noise_free(again);
}

/* Files written before 0.2 name the heading "theta". Other rows of that name are the user's own. */
static void test_a_heading_called_theta_is_read_as_yaw(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_read(noise, write_text(FILE_OF(
                "\"odom\": {\"variance\": [1, 2, 3], \"coordinates\": [\"x\", \"y\", \"theta\"]},"
                "\"compass\": {\"variance\": [1], \"coordinates\": [\"theta\"]},"
                "\"polar\": {\"variance\": [1, 2], \"coordinates\": [\"r\", \"theta\"]}")), &err), err);
    CHECK(!strcmp(ct_noise_get(noise, 0)->row[2].name, "yaw"));
    CHECK(!strcmp(ct_noise_get(noise, 1)->row[0].name, "yaw"));
    CHECK(!strcmp(ct_noise_get(noise, 2)->row[1].name, "theta"));
    ct_noise_free(noise);
}

static void test_a_row_is_found_by_its_name(void)
{
    static const char *const own[] = {"yaw", "theta", ""};
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 3, 9, NULL, &err), err);
    CHECK(ct_noise_find_row(ct_noise_get(noise, 0), "x") == -1); /* rows without names */
    ct_noise_set_rows(noise, 0, PLANE, PLANE_UNIT);
    for (int i = 0; i < 3; i++) CHECK(ct_noise_find_row(ct_noise_get(noise, 0), PLANE[i]) == i);
    CHECK(ct_noise_find_row(ct_noise_get(noise, 0), "theta") == 2);
    CHECK(ct_noise_find_row(ct_noise_get(noise, 0), "z") == -1);
    ct_noise_set_rows(noise, 0, own, NULL);
    CHECK(ct_noise_find_row(ct_noise_get(noise, 0), "theta") == 1); /* its own name comes before a former one */
    CHECK(ct_noise_find_row(ct_noise_get(noise, 0), "") == -1 && ct_noise_find_row(ct_noise_get(noise, 0), NULL) == -1);
    CHECK(ct_noise_find_row(NULL, "x") == -1);
    ct_noise_free(noise);
}

static void test_rows_that_a_file_does_not_name_stay(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom@1", 3, 9, NULL, &err), err);
    ct_noise_set_rows(noise, 0, PLANE, PLANE_UNIT);
    CHECK_OK(ct_noise_read(noise, write_text(FILE_OF("\"odom@1\": {\"variance\": [1, 2, 3]}")), &err), err);
    CHECK(!strcmp(ct_noise_get(noise, 0)->row[2].name, "yaw"));
    CHECK_OK(ct_noise_read(
                 noise,
                 write_text(FILE_OF("\"odom\": {\"variance\": [1, 2, 3], \"coordinates\": [\"x\", \"y\", \"yaw\"]}")),
                 &err),
             err);
    CHECK(!strcmp(ct_noise_get(noise, 0)->row[2].name, "yaw") && !ct_noise_get(noise, 0)->row[2].unit[0]);
    ct_noise_free(noise);
}

static void test_numbered_models_take_the_nearest_name_of_the_file(void)
{
    ct_noise *noise = new_table();
    ct_err    err = {0};
    const char *const name[] = {"odom#1", "odom@1#7", "odom@2#3", "gps#1"};
    const double      want[] = {1, 3, 1, 9};
    for (int i = 0; i < 4; i++) CHECK_OK(ct_noise_add_isotropic(noise, name[i], 2, 9, NULL, &err), err);
    const char *path = write_text(FILE_OF("\"odom\": {\"variance\": [1, 2]}, \"odom@1\": {\"variance\": [3, 4]}"));
    CHECK_OK(ct_noise_read(noise, path, &err), err);
    for (int i = 0; i < 4; i++) CHECK(ct_noise_get(noise, ct_noise_find(noise, name[i]))->covariance[0] == want[i]);
    ct_noise_free(noise);
}

static void test_a_regime_the_file_does_not_name_takes_its_group(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom@0", 2, 9, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "odom@1", 2, 9, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps@1", 2, 9, NULL, &err), err);
    const char *path = write_text(FILE_OF("\"odom\": {\"variance\": [1, 2]}, \"odom@1\": {\"variance\": [3, 4]}"));
    CHECK_OK(ct_noise_read(noise, path, &err), err);
    CHECK(ct_noise_get(noise, 0)->covariance[1] == 2);
    CHECK(ct_noise_get(noise, 1)->covariance[1] == 4);
    CHECK(ct_noise_get(noise, 2)->covariance[1] == 9);
    CHECK(ct_noise_find(noise, "odom") == 3);
    ct_noise_free(noise);
}

static const struct {
    const char *text, *part;
} bad[] = {
    {"{\"format\": \n  oops}", "hand.json:2:"},
    {"", "hand.json:1:0: not JSON"},
    {"[]", "format: expected \"covtune-noise\", found nothing"},
    {"{\"format\": \"covtune-noise\", \"version\": 4, \"groups\": {}}", "version: this covtune reads 1 to 3, found 4"},
    {"{\"format\": \"covtune-noise\", \"version\": 1}", "groups: expected an object, found nothing"},
    {FILE_OF("\"new\": {\"variance\": [1]}, \"odom\": {\"variance\": [1, \"x\"]}"),
     "groups.odom.variance[1]: expected a positive number, found \"x\""},
    {FILE_OF("\"new\": {\"variance\": [1]}, \"odom\": {\"variance\": [1, -2.5]}"),
     "groups.odom.variance[1]: expected a positive number, found -2.5"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2, 3]}"), "groups.odom: noise model \"odom\" has dimension 2, found 3"},
    {FILE_OF("\"odom\": {\"variance\": [1, 1e-300]}"), "between 1e-150"},
    {FILE_OF("\"odom\": {\"variance\": []}"), "groups.odom.variance: expected a list of 1 to 6"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2, 3, 4, 5, 6, 7]}"), "found a list of 7"},
    {FILE_OF("\"odom\": {\"variance\": 1}"), "groups.odom.dim: expected 1 to 6"},
    {FILE_OF("\"odom\": {\"variance\": -1, \"dim\": 2}"),
     "groups.odom.variance: expected a positive number, found -1"},
    {FILE_OF("\"odom\": {\"sigma\": [1, 2]}"),
     "expected \"variance\" or \"covariance\" (not sigma), found neither"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"covariance\": [[1]]}"), "found both"},
    {FILE_OF("\"odom\": {\"covariance\": [[1, 2], [2]]}"),
     "groups.odom.covariance[1]: expected a row of 2 numbers, found a list of 1"},
    {FILE_OF("\"odom\": {\"covariance\": [[1, 2], [true, 1]]}"),
     "groups.odom.covariance[1][0]: expected a number, found true"},
    {FILE_OF("\"odom\": {\"covariance\": [[1, 2], [2, 1]]}"),
     "hand.json: noise model \"odom\": covariance is not positive definite"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"kind\": \"full\"}"),
     "groups.odom.kind: expected \"diagonal\", as its numbers are, found \"full\""},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"robust\": {\"kind\": \"hubert\"}}"),
     "groups.odom.robust.kind: expected none, huber"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"robust\": {\"kind\": \"huber\", \"width\": 0}}"),
     "width of the huber kernel is 0"},
    {FILE_OF("\"odom\": 3"), "groups.odom: expected an object"},
    {FILE_OF("\"a b\": {\"variance\": [1]}"), "hand.json: noise model \"a b\": a name must not hold spaces"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2]}, \"odom\": {\"variance\": [1, 2]}"), "duplicate"},
    {FILE_OF("\"odom\": {\"variance\": [1, 1e999]}"), "hand.json:1:"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"coordinates\": [\"x\"]}"),
     "groups.odom.coordinates: expected a list of 2 words, one a row, found a list of 1"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"coordinates\": \"x y\"}"),
     "groups.odom.coordinates: expected a list of 2 words, one a row, found \"x y\""},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"coordinates\": [\"x\", \"\"]}"),
     "groups.odom.coordinates[1]: expected a word of at most 15 bytes, found \"\""},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"coordinates\": [\"x\", \"y y\"]}"),
     "groups.odom.coordinates[1]: expected a word"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"coordinates\": [\"x\", \"sixteen-letters!\"]}"),
     "groups.odom.coordinates[1]: expected a word"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"coordinates\": [\"x\", \"y\"], \"units\": [\"m\", 1]}"),
     "groups.odom.units[1]: expected a word"},
    {FILE_OF("\"odom\": {\"variance\": [1, 2], \"units\": [\"m\", \"m\"]}"),
     "groups.odom.coordinates: expected a list beside \"units\", found nothing"},
    {FILE_OF("\"gps\": {\"variance\": [1, 2]}"), "groups.gps: noise model \"gps@1\" has dimension 1, found 2"},
};

static void test_a_bad_file_is_refused_and_changes_nothing(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 2, 9, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps@1", 1, 9, NULL, &err), err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_REFUSED(ct_noise_read(noise, write_text(bad[i].text), &err), err, bad[i].part);
        CHECK(ct_noise_count(noise) == 2 && ct_noise_get(noise, 0)->covariance[1] == 9 &&
              ct_noise_get(noise, 1)->covariance[0] == 9);
    }
    CHECK_REFUSED(ct_noise_read(noise, "/nowhere/n.json", &err), err, "/nowhere/n.json: cannot be read: No such file");
    CHECK(err.status == CT_E_IO);
    CHECK_REFUSED(ct_noise_read(noise, folder, &err), err, "cannot be read: Is a directory");
    ct_noise_free(noise);
}

/* ---- Atomic files ---------------------------------------------------------------------------- */

static void test_a_file_is_replaced_whole_or_left_alone(void)
{
    ct_err     err = {0};
    ct__file   file;
    char       path[600], link_path[600], text[16] = {0};
    struct stat st;
    snprintf(path, sizeof path, "%s", write_text("old"));
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    CHECK(chmod(path, 0640) == 0 && symlink("hand.json", link_path) == 0);
    const int before = files_in_folder();

    CHECK_OK(ct__file_begin(&file, path, &err), err);
    fputs("half", file.stream);
    CHECK(files_in_folder() == before + 1);
    ct__file_abort(&file);
    CHECK(files_in_folder() == before);
    CHECK_OK(ct__file_begin(&file, link_path, &err), err); /* through the link */
    fputs("new", file.stream);
    CHECK_OK(ct__file_commit(&file, &err), err);

    CHECK(files_in_folder() == before);
    CHECK(lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640);
    FILE *f = fopen(path, "r");
    CHECK(f && fgets(text, sizeof text, f) && !strcmp(text, "new"));
    if (f) fclose(f);
    unlink(link_path);
}

static void test_what_cannot_be_written_is_said(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 2, 9, NULL, &err), err);
    CHECK_REFUSED(ct_noise_write(noise, "/nowhere/n.json", &err), err,
                  "/nowhere/n.json: cannot create a file in this folder: No such file");
    CHECK(err.status == CT_E_IO);
    CHECK_REFUSED(ct_noise_write(noise, folder, &err), err, "it is a folder");
    if (access("/dev/full", W_OK) == 0)
        CHECK_REFUSED(ct_noise_write(noise, "/dev/full", &err), err, "/dev/full: could not be written: No space");
    const int before = files_in_folder();
    CHECK_OK(ct_noise_add_isotropic(noise, "odom\xff", 2, 9, NULL, &err), err);
    CHECK_REFUSED(ct_noise_write(noise, in_folder("new.json"), &err), err, "must be UTF-8");
    CHECK(files_in_folder() == before);
    ct_noise_free(noise);
}

/* The shortest of 15 to 17 digits by printf and strtod. */
static void shortest_by_printf(double value, char buf[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, 32, "%.*g", digits, value);
        if (strtod(buf, NULL) == value) return;
    }
}

static void check_number_as_text(double v)
{
    char text[32], expected[32], rounded[40];
    ct__format_double(v, text);
    shortest_by_printf(v, expected);
    if (strcmp(text, expected)) fprintf(stderr, "%a: %s, expected %s\n", v, text, expected);
    CHECK(!strcmp(text, expected));
    for (int digits = 14; digits <= 17; digits++) {
        snprintf(rounded, sizeof rounded, "%.*e", digits - 1, v);
        if (ct__round_to_digits(v, digits) != strtod(rounded, NULL)) fprintf(stderr, "%a, %d digits\n", v, digits);
        CHECK(ct__round_to_digits(v, digits) == strtod(rounded, NULL));
    }
}

static void test_numbers_as_text_are_those_of_printf(void)
{
    ct_rng rng = ct_rng_seed(5);
    for (int i = 0; i < 10000; i++) {
        const double u = ct_rng_uniform(&rng), s = ct_rng_uniform(&rng) < 0.5 ? -1 : 1;
        check_number_as_text(ct_rng_normal(&rng) * pow(10, 600 * u - 300));
        const double v = s * pow(10, 26 * u - 9); /* where integers do it, and beyond both ends */
        check_number_as_text(v);
        check_number_as_text(round(v * 1e6) / 1e6); /* few digits */
        check_number_as_text(round(v));
        check_number_as_text(s * ldexp(1 + floor(8 * u), (int)(60 * u) - 25)); /* ties, even mantissas */
    }
    for (int k = -10; k <= 17; k++)
        for (int i = -3; i <= 3; i++) { /* neighbours of powers of ten and of two */
            double ten = pow(10, k), two = ldexp(1, 3 * k);
            for (int n = 0; n < abs(i); n++) {
                ten = nextafter(ten, i < 0 ? 0 : INFINITY);
                two = nextafter(two, i < 0 ? 0 : INFINITY);
            }
            check_number_as_text(ten);
            check_number_as_text(two);
        }
    const double special[] = {0.0, -0.0, 0.1, -3, 5e-324, 1.7976931348623157e308, INFINITY, -INFINITY, 1e-7, 1e15, 0.5};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) check_number_as_text(special[i]);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s/noise_file_XXXXXX", ct_test_folder());
    if (!mkdtemp(folder)) return EXIT_FAILURE;
    RUN(test_a_written_table_is_read_back_to_the_same_bits);
    RUN(test_a_file_written_by_hand_is_enough);
    RUN(test_rows_survive_copies_new_numbers_and_files);
    RUN(test_what_measures_and_what_was_learned_survive_copies_new_numbers_and_files);
    RUN(test_a_heading_called_theta_is_read_as_yaw);
    RUN(test_a_row_is_found_by_its_name);
    RUN(test_rows_that_a_file_does_not_name_stay);
    RUN(test_a_regime_the_file_does_not_name_takes_its_group);
    RUN(test_numbered_models_take_the_nearest_name_of_the_file);
    RUN(test_a_bad_file_is_refused_and_changes_nothing);
    RUN(test_a_file_is_replaced_whole_or_left_alone);
    RUN(test_what_cannot_be_written_is_said);
    RUN(test_numbers_as_text_are_those_of_printf);
    unlink(in_folder("hand.json"));
    unlink(in_folder("table.json"));
    rmdir(folder);
    return ct_test_end();
}
