/* test_net_file.c: networks written and read. */
#include "net_test.h"

static const char GOOD[] = "{\"format\": \"covtune-net\", \"version\": 1, \"widths\": [2, 3, 1], \"inputs\": "
                           "{\"mean\": [1, 2], \"deviation\": [2, 4]}, "
                           "\"outputs\": {\"mean\": [0.5], \"deviation\": [10]}, \"layers\": [{\"weights\": [[0.1, "
                           "0.2], [0.3, -0.4], [0.5, 0.6]], \"biases\": [0, 1, -1]}, "
                           "{\"weights\": [[1, -2, 3]], \"biases\": [0.25]}], \"note\": \"of no concern\"}\n";

static ct_status read_text(const char *text, ct_net **net, ct_err *err)
{
    const char *path = scratch_path("net.json");
    FILE       *file = fopen(path, "wb");
    fputs(text, file);
    fclose(file);
    return ct_net_read(path, net, err);
}

/* The good file with one place changed must be refused with exactly these words after the path. */
static void check_refused(const char *place, const char *instead, const char *words, int line)
{
    char        text[1024], want[1024];
    ct_net     *net = NULL;
    ct_err      err = {0};
    const char *at = strstr(GOOD, place);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - GOOD), GOOD, instead, at + strlen(place));
    snprintf(want, sizeof want, "%s: %s", scratch_path("net.json"), words);
    if (read_text(text, &net, &err) != CT_E_PARSE || net || strcmp(err.text, want))
        CT_TEST_SAY("line %d: wanted \"%s\", got \"%s\"\n", line, want, err.text);
    ct_net_free(net);
}
#define CHECK_FILE(place, instead, words) check_refused(place, instead, words, __LINE__)

static void test_a_file_is_the_net_it_says(void)
{
    ct_net *net = NULL;
    ct_err  err = {0};
    CHECK_OK(read_text(GOOD, &net, &err), err);
    if (!net) return;
    const double x[2] = {3, -2}, a[2] = {1, -1}; /* scaled */
    double       y;
    CHECK(ct_net_inputs(net) == 2 && ct_net_outputs(net) == 1 && ct_net_weights(net) == 13);
    ct_net_predict(net, x, &y);
    CHECK_NEAR(y,
               0.5 + 10 * (tanh(0.1 * a[0] + 0.2 * a[1]) - 2 * tanh(0.3 * a[0] - 0.4 * a[1] + 1) +
                           3 * tanh(0.5 * a[0] + 0.6 * a[1] - 1) + 0.25),
               1e-13);
    ct_net_free(net);
}

static void test_numbers_come_back_to_the_bit(void)
{
    const int32_t width[] = {5, 7, 3, 2};
    double       *x = normals(1, 5 * 50, 1e-3, 1e3), *t = normals(2, 2 * 50, 1e6, 1e-7), y[2], z[2];
    ct_net       *net = new_net(3, width, 1), *again = NULL;
    ct_err        err = {0};
    const ct_net_options o = ct_net_defaults();
    CHECK_OK(ct_net_train(net, 50, x, t, &o, NULL, &err), err);
    double *w = ct_net_values(net);
    w[0] = -0.0, w[1] = 5e-324, w[2] = 1.7976931348623157e308, w[3] = 0.1, w[4] = 17;
    CHECK_OK(ct_net_write(net, scratch_path("net.json"), &err), err);
    CHECK_OK(ct_net_read(scratch_path("net.json"), &again, &err), err);
    if (again) {
        CHECK(ct_net_weights(net) == ct_net_weights(again) &&
              !memcmp(w, ct_net_values(again), (size_t)ct_net_weights(net) * sizeof *w));
        for (int i = 0; i < 5; i++) w[i] = ct_net_values(again)[i] = 0.5;
        for (int i = 0; i < 50; i++) {
            ct_net_predict(net, x + 5 * i, y);
            ct_net_predict(again, x + 5 * i, z);
            CHECK(isfinite(y[0]) && !memcmp(y, z, sizeof y)); /* scaling included */
        }
    }
    free(x);
    free(t);
    ct_net_free(net);
    ct_net_free(again);
}

static void test_wrong_shapes_are_refused_by_layer_with_what_was_expected_and_found(void)
{
    CHECK_FILE("[0.5, 0.6]]", "[0.5, 0.6, 0.7]]",
               "layers[0].weights[2]: expected 2 numbers, as there are inputs, found a list of 3");
    CHECK_FILE(", [0.5, 0.6]]", "]", "layers[0].weights: expected 3 rows of 2 numbers, found a list of 2");
    CHECK_FILE("[[1, -2, 3]]", "[[1, -2]]",
               "layers[1].weights[0]: expected 3 numbers, as there are units in the layer before, found a list of 2");
    CHECK_FILE("[[1, -2, 3]]", "[1, -2, 3]", "layers[1].weights: expected 1 rows of 3 numbers, found a list of 3");
    CHECK_FILE("[0, 1, -1]", "[0, 1]",
               "layers[0].biases: expected 3 numbers, as there are rows of weights, found a list of 2");
    CHECK_FILE("\"biases\": [0.25]", "\"biases\": 0.25",
               "layers[1].biases: expected 1 numbers, as there are rows of weights, found 0.25");
    CHECK_FILE("\"biases\": [0.25]", "\"bias\": [0.25]",
               "layers[1].biases: expected 1 numbers, as there are rows of weights, found nothing");
    CHECK_FILE("\"widths\": [2, 3, 1]", "\"widths\": [2, 3, 3, 1]",
               "layers: expected a list of 3, one less than there are widths, found a list of 2");
    CHECK_FILE("\"mean\": [1, 2]", "\"mean\": [1, 2, 3]",
               "inputs.mean: expected 2 numbers, as there are inputs, found a list of 3");
    CHECK_FILE("\"deviation\": [10]", "\"deviation\": []",
               "outputs.deviation: expected 1 numbers, as there are outputs, found a list of 0");
    CHECK_FILE("\"outputs\"", "\"output\"", "outputs.mean: expected 1 numbers, as there are outputs, found nothing");
}

static void test_numbers_that_are_none_are_refused(void)
{
    CHECK_FILE("-0.4", "null", "layers[0].weights[1][1]: expected a number, found null");
    CHECK_FILE("-0.4", "\"nan\"", "layers[0].weights[1][1]: expected a number, found \"nan\"");
    CHECK_FILE("[0.25]", "[true]", "layers[1].biases[0]: expected a number, found true");
    CHECK_FILE("\"deviation\": [2, 4]", "\"deviation\": [2, 0]",
               "inputs.deviation[1]: expected a positive number, found 0.0");
    CHECK_FILE("\"deviation\": [10]", "\"deviation\": [-10]",
               "outputs.deviation[0]: expected a positive number, found -10.0");
    CHECK_FILE("\"widths\": [2, 3, 1]", "\"widths\": [2, 0, 1]",
               "widths[1]: expected a whole number from 1 to 1024, found 0.0");
    CHECK_FILE("\"widths\": [2, 3, 1]", "\"widths\": [2.5, 3, 1]",
               "widths[0]: expected a whole number from 1 to 1024, found 2.5");
    CHECK_FILE("\"widths\": [2, 3, 1]", "\"widths\": [2, 3, 1e9]",
               "widths[2]: expected a whole number from 1 to 1024, found 1000000000.0");
    CHECK_FILE("\"widths\": [2, 3, 1]", "\"widths\": [2]",
               "widths: expected a list of 2 to 9 numbers, found a list of 1");
    CHECK_FILE("\"widths\": [2, 3, 1]", "\"widths\": 3", "widths: expected a list of 2 to 9 numbers, found 3.0");
    CHECK_FILE("covtune-net", "covtune-noise", "format: expected \"covtune-net\", found \"covtune-noise\"");
    CHECK_FILE("\"version\": 1", "\"version\": 2", "version: expected 1, found 2.0");
}

static void test_what_is_no_json_or_no_file_is_refused(void)
{
    ct_net *net = NULL;
    ct_err  err = {0};
    CHECK_REFUSED(read_text("{\"format\": NaN}", &net, &err), err, "not JSON");
    CHECK_REFUSED(read_text("{\"a\": 1e999}", &net, &err), err, "not JSON");
    CHECK_REFUSED(read_text("[1]", &net, &err), err, "format: expected \"covtune-net\", found nothing");
    CHECK_REFUSED(read_text("", &net, &err), err, "not JSON");
    CHECK_REFUSED(ct_net_read(scratch_path("none.json"), &net, &err), err, "none.json: cannot be read: No such file");
    CHECK(!net && err.status == CT_E_IO);
}

static void test_a_net_that_json_cannot_hold_leaves_the_file_as_it_was(void)
{
    ct_err  err = {0};
    ct_net *net = NULL, *again = NULL;
    CHECK_OK(read_text(GOOD, &net, &err), err);
    if (!net) return;
    ct_net_values(net)[12] = NAN;
    CHECK_REFUSED(ct_net_write(net, scratch_path("net.json"), &err), err,
                  "weight 12 of the network is nan, which JSON cannot hold");
    CHECK_OK(ct_net_read(scratch_path("net.json"), &again, &err), err);
    CHECK(again && ct_net_values(again)[12] == 0.25);
    ct_net_values(net)[12] = 0;
    CHECK_REFUSED(ct_net_write(net, scratch_path("none/net.json"), &err), err, "cannot create a file in this folder");
    ct_net_free(net);
    ct_net_free(again);
}

int main(void)
{
    RUN(test_a_file_is_the_net_it_says);
    RUN(test_numbers_come_back_to_the_bit);
    RUN(test_wrong_shapes_are_refused_by_layer_with_what_was_expected_and_found);
    RUN(test_numbers_that_are_none_are_refused);
    RUN(test_what_is_no_json_or_no_file_is_refused);
    RUN(test_a_net_that_json_cannot_hold_leaves_the_file_as_it_was);
    return ct_test_end();
}
