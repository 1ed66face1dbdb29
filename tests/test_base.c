/* test_base.c: messages, growth, random numbers. */
#define _DEFAULT_SOURCE /* setgroups */
#define _XOPEN_SOURCE 700
#include "base/base.h"
#include "base/select.h"
#include "ct_test.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_a_long_message_is_cut_and_says_so(void)
{
    ct_err err = {0};
    char   word[2048];
    memset(word, 'a', sizeof word);
    word[sizeof word - 1] = 0;
    CHECK(ct_fail(&err, CT_E_PARSE, "%s", word) == CT_E_PARSE);
    CHECK(err.status == CT_E_PARSE);
    CHECK(strlen(err.text) == sizeof err.text - 1);
    CHECK(!strcmp(err.text + strlen(err.text) - 3, "..."));
    CHECK(ct_fail(NULL, CT_E_IO, "x") == CT_E_IO);
}

static void test_every_status_has_a_text_of_its_own(void)
{
    for (int i = CT_OK; i <= CT_E_EMPTY; i++)
        for (int j = CT_OK; j < i; j++) CHECK(strcmp(ct_status_text(i), ct_status_text(j)));
}

static void test_growth_keeps_contents_and_refuses_overflow(void)
{
    int    *array = NULL;
    int64_t capacity = 0;
    ct_err  err = {0};
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(ct__grow(&array, &capacity, i + 1, sizeof *array, "numbers", &err), err);
        array[i] = i;
    }
    for (int i = 0; i < 1000; i++) CHECK(array[i] == i);
    CHECK_REFUSED(ct__grow(&array, &capacity, INT64_MAX / 2, sizeof *array, "numbers", &err), err, "numbers");
    CHECK(array[999] == 999);
    CHECK(ct__zalloc(INT64_MAX, 8) == NULL);
    free(array);
}

/* xoshiro256++ with state 1, 2, 3, 4 begins with these (computed by hand from its definition). */
static void test_generator_follows_its_definition(void)
{
    ct_rng rng = {.s = {1, 2, 3, 4}};
    CHECK(ct_rng_bits(&rng) == 41943041u);
    CHECK(ct_rng_bits(&rng) == 58720359u);
    CHECK(ct_rng_bits(&rng) == 3588806011781223u);
}

static void test_uniforms_fill_the_half_open_unit_interval(void)
{
    ct_rng    rng = ct_rng_seed(0);
    const int n = 100000;
    int       tenth[10] = {0};
    for (int i = 0; i < n; i++) {
        const double u = ct_rng_uniform(&rng);
        CHECK(u >= 0 && u < 1);
        tenth[(int)(10 * u)]++;
    }
    for (int k = 0; k < 10; k++) CHECK_NEAR(tenth[k], n / 10, 475); /* five standard errors */
}

static void test_clock_never_goes_back(void)
{
    double last = ct_now_s();
    for (int i = 0; i < 1000; i++) {
        const double now = ct_now_s();
        CHECK(now >= last);
        last = now;
    }
}

static void test_version_is_three_numbers(void)
{
    int part[3], end = 0;
    CHECK(sscanf(ct_version(), "%d.%d.%d%n", &part[0], &part[1], &part[2], &end) == 3);
    CHECK(ct_version()[end] == 0);
}

static void test_normals_have_the_moments_of_a_normal(void)
{
    ct_rng    rng = ct_rng_seed(7);
    const int n = 200000;
    double    m[5] = {0};
    for (int i = 0; i < n; i++) {
        const double v = ct_rng_normal(&rng);
        for (int k = 1; k < 5; k++) m[k] += pow(v, k) / n;
    }
    CHECK_NEAR(m[1], 0, 0.01); /* five standard errors are .011, .016, .043, .11 */
    CHECK_NEAR(m[2], 1, 0.016);
    CHECK_NEAR(m[3], 0, 0.04);
    CHECK_NEAR(m[4], 3, 0.11);
}

static const char *month(const void *list, int i) { return ((const char *const *)list)[i]; }

static void test_the_nearest_word_is_what_was_meant(void)
{
    static const char *const MONTH[] = {"january", "february", "march", "april", "may", NULL};
    CHECK(!strcmp(ct_nearest("febuary", month, MONTH), "february") &&
          !strcmp(ct_nearest("apirl", month, MONTH), "april"));
    CHECK(!strcmp(ct_nearest("jan", month, MONTH), "january")); /* a beginning */
    CHECK(!ct_nearest("xylophone", month, MONTH) && !ct_nearest("", month, MONTH));
}

static void test_the_median_is_in_the_middle(void)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7}, large[] = {1.7e308, 1.6e308};
    CHECK(ct_median(3, odd) == 3 && odd[0] == 1 && odd[2] == 5);
    CHECK(ct_median(4, even) == 2.5 && ct_median(1, one) == 7);
    CHECK_NEAR(ct_median(2, large), 1.65e308, 1e293);
    CHECK(isnan(ct_median(0, odd)) && isnan(ct_median(-1, NULL)));
}

static void test_selection_agrees_with_sorting(void)
{
    ct_rng rng = ct_rng_seed(7);
    double a[101], b[101];
    for (int trial = 0; trial < 2000; trial++) {
        const int64_t n = 1 + (int64_t)(ct_rng_bits(&rng) % 101), k = (int64_t)(ct_rng_bits(&rng) % (uint64_t)n);
        const int     few = trial % 2; /* many equal values */
        for (int64_t i = 0; i < n; i++) a[i] = b[i] = few ? floor(4 * ct_rng_uniform(&rng)) : ct_rng_normal(&rng);
        const double median = ct_median(n, a); /* a is sorted now */
        ct__nth_smallest(n, b, k);
        CHECK(b[k] == a[k]);
        for (int64_t i = 0; i < n; i++) CHECK(i < k ? b[i] <= b[k] : b[i] >= b[k]);
        CHECK(ct__median(n, b) == median);
    }
    CHECK(isnan(ct__median(0, a)));
}

static void test_a_name_is_found_in_its_list(void)
{
    static const char *const LIST[] = {"a", "bc", "d"};
    for (int i = 0; i < 3; i++) CHECK(ct__find_name(ct__name_at(LIST, 3, i), LIST, 3) == i);
    CHECK(ct__find_name("b", LIST, 3) == -1 && ct__find_name("d", LIST, 2) == -1 && ct__find_name(NULL, LIST, 3) == -1);
    CHECK(!strcmp(ct__name_at(LIST, 3, -1), "?") && !strcmp(ct__name_at(LIST, 3, 3), "?"));
}

/* A folder as programs leave it: what is in it may not be read, written or removed by its owner. */
static int make_closed_folder(const char *root)
{
    static const struct {
        const char *name;
        mode_t      mode; /* 0: a file */
    } ENTRIES[] = {{"", 0755}, {"/a", 0755}, {"/a/b", 0755}, {"/a/b/x", 0}, {"/a/y", 0}, {"/c", 0755}, {"/c/d", 0755}};
    static const char *const CLOSED[] = {"/a/b", "/a", "/c/d", "/c", ""};
    char path[4096];
    for (size_t i = 0; i < sizeof ENTRIES / sizeof *ENTRIES; i++) {
        snprintf(path, sizeof path, "%s%s", root, ENTRIES[i].name);
        FILE *file = ENTRIES[i].mode ? NULL : fopen(path, "w");
        if (ENTRIES[i].mode ? mkdir(path, ENTRIES[i].mode) : !file) return 0;
        if (file) fclose(file);
    }
    snprintf(path, sizeof path, "%s/c/link", root);
    if (symlink("../../kept", path)) return 0;
    for (size_t i = 0; i < sizeof CLOSED / sizeof *CLOSED; i++) {
        snprintf(path, sizeof path, "%s%s", root, CLOSED[i]);
        if (chmod(path, i % 2 ? 0500 : 0)) return 0;
    }
    return 1;
}

/* In a process of a user who is not root, for whom modes are nothing. */
static int remove_as_user(const char *folder)
{
    char        root[4000];
    struct stat entry;
    snprintf(root, sizeof root, "%s/closed", folder);
    if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534))) return 2;
    if (!make_closed_folder(root)) return 2;
    return ct_folder_remove(root, NULL) == CT_OK && lstat(root, &entry) != 0 ? 0 : 1;
}

/* Folders within each other, so deep that no path leads to the last: they stayed, and filled the disk run by run. */
static void test_a_folder_is_removed_whatever_its_depth(void)
{
    enum { DEEP = 300 };
    char        root[4096], name[200];
    struct stat entry;
    ct_err      err = {0};
    snprintf(root, sizeof root, "%s/deep", ct_test_folder());
    CHECK_OK(ct_folder_remove(root, &err), err);
    CHECK(mkdir(root, 0777) == 0);
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = 0;
    int at = open(root, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEEP && at >= 0; i++) {
        const int made = mkdirat(at, name, 0777), below = openat(at, name, O_RDONLY | O_DIRECTORY);
        const int file = openat(at, i % 2 ? ".covtune-up-3" : "file", O_WRONLY | O_CREAT, 0666);
        CHECK(made == 0 && below >= 0 && file >= 0 && symlinkat("/", at, "link") == 0);
        close(file);
        close(at);
        at = below;
    }
    close(at);
    CHECK_OK(ct_folder_remove(root, &err), err);
    CHECK(lstat(root, &entry) != 0 && errno == ENOENT);
}

static void test_a_folder_is_removed_whatever_its_modes(void)
{
    char   kept[4096], missing[4096];
    int    status = 0;
    ct_err err = {0};
    snprintf(kept, sizeof kept, "%s/kept", ct_test_folder());
    snprintf(missing, sizeof missing, "%s/missing", ct_test_folder());
    FILE *file = fopen(kept, "w");
    CHECK(file && fclose(file) == 0 && chmod(ct_test_folder(), 0777) == 0);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) _exit(remove_as_user(ct_test_folder()));
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1);
    CHECK(access(kept, F_OK) == 0);
    CHECK_OK(ct_folder_remove(missing, &err), err);
    CHECK(ct_folder_remove("/dev/null/x", &err) == CT_E_IO && strstr(err.text, "/dev/null/x: cannot be removed"));
    if (WEXITSTATUS(status) == 2) SKIP("a user who is not root cannot write here");
}

int main(void)
{
    RUN(test_a_long_message_is_cut_and_says_so);
    RUN(test_every_status_has_a_text_of_its_own);
    RUN(test_growth_keeps_contents_and_refuses_overflow);
    RUN(test_generator_follows_its_definition);
    RUN(test_uniforms_fill_the_half_open_unit_interval);
    RUN(test_clock_never_goes_back);
    RUN(test_version_is_three_numbers);
    RUN(test_normals_have_the_moments_of_a_normal);
    RUN(test_the_nearest_word_is_what_was_meant);
    RUN(test_the_median_is_in_the_middle);
    RUN(test_selection_agrees_with_sorting);
    RUN(test_a_name_is_found_in_its_list);
    RUN(test_a_folder_is_removed_whatever_its_depth);
    RUN(test_a_folder_is_removed_whatever_its_modes);
    return ct_test_end();
}
