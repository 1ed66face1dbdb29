/* test_net.c: networks, their derivatives, what they learn. */
#include "net_test.h"

/* ---- values and derivatives ---- */

/* y of an unscaled net, in long double, by the formula. */
static void value_by_hand(int layers, const int32_t *width, const double *w, const double *x, long double *y)
{
    long double a[64], z[64];
    for (int32_t i = 0; i < width[0]; i++) a[i] = x[i];
    for (int k = 0; k < layers; k++) {
        for (int32_t j = 0; j < width[k + 1]; j++) {
            z[j] = w[(int64_t)width[k] * width[k + 1] + j];
            for (int32_t i = 0; i < width[k]; i++) z[j] += (long double)w[(int64_t)j * width[k] + i] * a[i];
        }
        w += ((int64_t)width[k] + 1) * width[k + 1];
        for (int32_t j = 0; j < width[k + 1]; j++) a[j] = k + 1 < layers ? tanhl(z[j]) : z[j];
    }
    for (int32_t j = 0; j < width[layers]; j++) y[j] = a[j];
}

static const struct {
    int     layers;
    int32_t width[5];
} SHAPE[] = {{1, {3, 2}}, {2, {5, 7, 1}}, {3, {4, 6, 3, 2}}, {4, {1, 9, 1, 8, 3}}};
enum { SHAPES = sizeof SHAPE / sizeof *SHAPE };

static void test_a_value_is_what_the_formula_says(void)
{
    for (int s = 0; s < SHAPES; s++) {
        ct_net       *net = new_net(SHAPE[s].layers, SHAPE[s].width, 7);
        const int32_t in = ct_net_inputs(net), out = ct_net_outputs(net);
        double       *w = ct_net_values(net), *x = normals(1, 20 * in, 0, 1), y[8];
        long double   exact[64];
        int64_t       weights = 0;
        for (int k = 0; k < SHAPE[s].layers; k++) weights += (SHAPE[s].width[k] + 1) * SHAPE[s].width[k + 1];
        CHECK(in == SHAPE[s].width[0] && out == SHAPE[s].width[SHAPE[s].layers] && ct_net_weights(net) == weights);
        for (int64_t i = 0; i < weights; i++) w[i] += 0.1 * sin((double)i); /* biases as well */
        for (int i = 0; i < 20; i++) {
            ct_net_predict(net, x + i * in, y);
            value_by_hand(SHAPE[s].layers, SHAPE[s].width, w, x + i * in, exact);
            for (int32_t j = 0; j < out; j++) CHECK_NEAR(y[j], (double)exact[j], 1e-14);
        }
        free(x);
        ct_net_free(net);
    }
}

/* A net whose scaling is not the identity. */
static ct_net *scaled_net(int s, const double *x, const double *t, int64_t count)
{
    ct_net        *net = new_net(SHAPE[s].layers, SHAPE[s].width, 7);
    ct_net_options o = ct_net_defaults();
    ct_err         err = {0};
    o.epochs = 3;
    CHECK_OK(ct_net_train(net, count, x, t, &o, NULL, &err), err);
    return net;
}

static void test_the_loss_is_the_mean_of_squares_and_its_gradient_that_of_differences(void)
{
    enum { COUNT = 13 };
    for (int s = 0; s < SHAPES; s++) {
        const int32_t in = SHAPE[s].width[0], out = SHAPE[s].width[SHAPE[s].layers];
        double       *x = normals(2, COUNT * in, 3, 2), *t = normals(3, COUNT * out, -5, 0.5);
        ct_net       *net = scaled_net(s, x, t, COUNT);
        const int64_t n = ct_net_weights(net);
        double       *g = malloc((size_t)n * sizeof *g), *w = ct_net_values(net), sum = 0, y[8];
        for (int i = 0; i < COUNT; i++) {
            ct_net_predict(net, x + i * in, y);
            for (int32_t j = 0; j < out; j++) sum += 0.5 * (y[j] - t[i * out + j]) * (y[j] - t[i * out + j]);
        }
        CHECK_NEAR(ct_net_loss(net, COUNT, x, t, g), sum / COUNT, 1e-14);
        for (int64_t i = 0; i < n; i++) {
            const double kept = w[i], h = 1e-5;
            w[i] = kept + h;
            const double up = ct_net_loss(net, COUNT, x, t, NULL);
            w[i] = kept - h;
            const double down = ct_net_loss(net, COUNT, x, t, NULL);
            w[i] = kept;
            CHECK_NEAR(g[i], (up - down) / (2 * h), 1e-9);
        }
        free(g);
        free(x);
        free(t);
        ct_net_free(net);
    }
}

static void test_weights_are_drawn_within_glorots_bound_and_biases_are_zero(void)
{
    const int32_t width[] = {100, 50, 10};
    ct_net       *net = new_net(2, width, 3), *same = new_net(2, width, 3), *other = new_net(2, width, 4);
    const double *w = ct_net_values(net), *at = w;
    for (int k = 0; k < 2; k++) {
        const int    n = width[k] * width[k + 1];
        const double bound = sqrt(6.0 / (width[k] + width[k + 1]));
        double       sum = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            CHECK(fabs(at[i]) <= bound);
            sum += at[i];
            squares += at[i] * at[i];
        }
        CHECK_NEAR(sum / n, 0, 5 * bound / sqrt(3.0 * n));
        CHECK_NEAR(squares / n, bound * bound / 3, 5 * bound * bound * sqrt(4.0 / 45 / n));
        for (int j = 0; j < width[k + 1]; j++) CHECK(at[n + j] == 0);
        at += n + width[k + 1];
    }
    CHECK(!memcmp(w, ct_net_values(same), (size_t)ct_net_weights(net) * sizeof *w) && w[0] != ct_net_values(other)[0]);
    ct_net_free(net);
    ct_net_free(same);
    ct_net_free(other);
}

/* ---- learning ---- */

/* One layer, one output, of examples all learned from: the minimum of mean 1/2 (y - t)^2 / v + decay/2 |W|^2 in
 * scaled units is the solution of (A + decay I) W = b, A the correlations of the inputs, b those of inputs and
 * output. Two inputs. */
static void check_ridge(double decay)
{
    enum { COUNT = 200 };
    const int32_t  width[] = {2, 1};
    double *x = normals(4, 2 * COUNT, 1, 3), *noise = normals(5, COUNT, 0, 1), t[COUNT], mean[3] = {0}, S[9] = {0};
    ct_net_options o = ct_net_defaults();
    ct_err         err = {0};
    ct_net        *net = new_net(1, width, 1);
    for (int i = 0; i < COUNT; i++)
        x[2 * i + 1] += 0.5 * x[2 * i], t[i] = 2 * x[2 * i] - 0.1 * x[2 * i + 1] + 4 + noise[i];
    for (int i = 0; i < COUNT; i++)
        for (int a = 0; a < 3; a++) mean[a] += (a < 2 ? x[2 * i + a] : t[i]) / COUNT;
    for (int i = 0; i < COUNT; i++) {
        const double d[3] = {x[2 * i] - mean[0], x[2 * i + 1] - mean[1], t[i] - mean[2]};
        for (int a = 0; a < 9; a++) S[a] += d[a / 3] * d[a % 3] / COUNT;
    }
    const double sx = sqrt(S[0]), sy = sqrt(S[4]), st = sqrt(S[8]), c = S[1] / (sx * sy), b0 = S[2] / (sx * st),
                 b1 = S[5] / (sy * st);
    const double det = (1 + decay) * (1 + decay) - c * c, w0 = ((1 + decay) * b0 - c * b1) / det,
                 w1 = ((1 + decay) * b1 - c * b0) / det;
    o.epochs = 3000, o.batch = COUNT, o.heldout = 0, o.decay = decay;
    /* on from where it was */
    for (o.rate = 1e-2; o.rate > 1e-6; o.rate /= 10) CHECK_OK(ct_net_train(net, COUNT, x, t, &o, NULL, &err), err);
    CHECK_NEAR(ct_net_values(net)[0], w0, 1e-6);
    CHECK_NEAR(ct_net_values(net)[1], w1, 1e-6);
    CHECK_NEAR(ct_net_values(net)[2], 0, 1e-6);
    double y;
    ct_net_predict(net, (const double[2]){7, -2}, &y);
    CHECK_NEAR(y, mean[2] + st * (w0 * (7 - mean[0]) / sx + w1 * (-2 - mean[1]) / sy), 1e-5);
    free(x);
    free(noise);
    ct_net_free(net);
}

static void test_one_layer_ends_at_the_least_squares(void) { check_ridge(0); }
static void test_decay_is_that_of_a_ridge(void) { check_ridge(0.5); }

/* What has the sign of x y, which no straight line tells. */
static void test_exclusive_or_is_learned(void)
{
    enum { COUNT = 400 };
    const int32_t  width[] = {2, 8, 1};
    double        *x = normals(6, 2 * COUNT, 0, 1), t[COUNT];
    int            wrong = 0;
    ct_net_options o = ct_net_defaults();
    ct_err         err = {0};
    ct_net        *net = new_net(2, width, 2);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 2; k++) x[2 * i + k] += x[2 * i + k] > 0 ? 0.3 : -0.3;
        t[i] = x[2 * i] * x[2 * i + 1] > 0 ? 1 : -1;
    }
    o.rate = 1e-2;
    CHECK_OK(ct_net_train(net, COUNT * 3 / 4, x, t, &o, NULL, &err), err);
    for (int i = COUNT * 3 / 4; i < COUNT; i++) {
        double y;
        ct_net_predict(net, x + 2 * i, &y);
        wrong += (y > 0) != (t[i] > 0);
    }
    CHECK(wrong <= 1);
    free(x);
    ct_net_free(net);
}

static void test_a_smooth_function_is_learned_to_a_hundredth(void)
{
    enum { COUNT = 1200, TRAIN = 1000 };
    const int32_t  width[] = {2, 24, 24, 1};
    double        *x = normals(8, 2 * COUNT, 0, 1), t[COUNT], squares = 0, y;
    ct_net_options o = ct_net_defaults();
    ct_net_result  result;
    ct_err         err = {0};
    ct_net        *net = new_net(3, width, 2);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 2; k++) x[2 * i + k] = 1.5 * tanh(x[2 * i + k]); /* none alone, far out */
        t[i] = 50 + 10 * sin(2 * x[2 * i]) * cos(x[2 * i + 1]);
    }
    o.decay = 0, o.epochs = 400, o.patience = 50;
    for (o.rate = 5e-3; o.rate > 1e-4; o.rate /= 10) CHECK_OK(ct_net_train(net, TRAIN, x, t, &o, &result, &err), err);
    for (int i = TRAIN; i < COUNT; i++) {
        ct_net_predict(net, x + 2 * i, &y);
        squares += (y - t[i]) * (y - t[i]) / (COUNT - TRAIN);
    }
    CHECK(sqrt(squares) < 0.1); /* of an amplitude of 10 */
    CHECK(result.train < 0.005 && result.heldout < 0.005);
    free(x);
    ct_net_free(net);
}

/* ---- stopping ---- */

enum { FEW = 40 };

/* Noise learned by heart: the held-out loss falls and rises. */
static ct_net_result train_on_noise(int epochs, int patience, ct_net *net, const double *x, const double *t)
{
    ct_net_options o = ct_net_defaults();
    ct_net_result  result;
    ct_err         err = {0};
    o.epochs = epochs, o.patience = patience, o.rate = 1e-2, o.batch = 8, o.heldout = 0.25, o.decay = 0;
    CHECK_OK(ct_net_train(net, FEW, x, t, &o, &result, &err), err);
    return result;
}

static void test_weights_are_kept_from_where_the_held_out_loss_was_least(void)
{
    const int32_t width[] = {4, 30, 1};
    double       *x = normals(9, FEW * 4, 0, 1), t[FEW], least = INFINITY;
    double       *noise = normals(10, FEW, 0, 1);
    for (int i = 0; i < FEW; i++) t[i] = x[4 * i] + 0.5 * noise[i];
    ct_net             *net = new_net(2, width, 1);
    const ct_net_result all = train_on_noise(1000, 15, net, x, t);
    CHECK(all.best > 1 && all.epochs == all.best + 15 && all.epochs < 1000);
    CHECK(all.heldout == ct_net_loss(net, FEW / 4, x + 3 * FEW, t + FEW * 3 / 4, NULL));
    CHECK(all.train == ct_net_loss(net, FEW * 3 / 4, x, t, NULL));
    for (int epochs = 1; epochs <= all.epochs; epochs++) { /* the same, cut short */
        ct_net             *shorter = new_net(2, width, 1);
        const ct_net_result r = train_on_noise(epochs, 1000, shorter, x, t);
        CHECK(r.epochs == epochs && (r.heldout < least) == (r.best == epochs));
        CHECK((r.best == all.best) == (epochs >= all.best) && r.heldout >= all.heldout);
        if (epochs >= all.best)
            CHECK(!memcmp(ct_net_values(net), ct_net_values(shorter), (size_t)ct_net_weights(net) * sizeof(double)));
        least = fmin(least, r.heldout);
        ct_net_free(shorter);
    }
    free(x);
    free(noise);
    ct_net_free(net);
}

static void test_held_out_examples_teach_nothing(void)
{
    const int32_t width[] = {4, 5, 1};
    double       *x = normals(9, FEW * 4, 0, 1), *t = normals(10, FEW, 0, 1);
    ct_net       *a = new_net(2, width, 1), *b = new_net(2, width, 1);
    train_on_noise(1, 1, a, x, t);
    for (int i = FEW * 3 / 4; i < FEW; i++) t[i] += 1e-3, x[4 * i] += 1e-3;
    train_on_noise(1, 1, b, x, t);
    CHECK(!memcmp(ct_net_values(a), ct_net_values(b), (size_t)ct_net_weights(a) * sizeof(double)));
    free(x);
    free(t);
    ct_net_free(a);
    ct_net_free(b);
}

/* At such a rate every pass is worse than none. */
static void test_weights_that_nothing_was_better_than_stay(void)
{
    const int32_t  width[] = {1, 3, 1};
    double        *x = normals(9, FEW, 0, 1), *t = normals(10, FEW, 0, 1), before[10];
    ct_net        *net = new_net(2, width, 1);
    ct_net_options o = ct_net_defaults();
    ct_net_result  result;
    ct_err         err = {0};
    o.rate = 1e200;
    memcpy(before, ct_net_values(net), sizeof before);
    CHECK_OK(ct_net_train(net, FEW, x, t, &o, &result, &err), err);
    CHECK(result.best == 0 && result.epochs == o.patience && !memcmp(before, ct_net_values(net), sizeof before));
    free(x);
    free(t);
    ct_net_free(net);
}

static void test_the_same_input_gives_the_same_bits(void)
{
    const int32_t  width[] = {4, 5, 1};
    double        *x = normals(9, FEW * 4, 0, 1), *t = normals(10, FEW, 0, 1);
    ct_net        *net[3];
    const uint64_t seed[3] = {1, 1, 2};
    for (int i = 0; i < 3; i++) {
        ct_net_options o = ct_net_defaults();
        net[i] = new_net(2, width, 1);
        o.seed = seed[i], o.batch = 7, o.heldout = 0, o.epochs = 10;
        CHECK(ct_net_train(net[i], FEW, x, t, &o, NULL, NULL) == CT_OK);
    }
    const size_t size = (size_t)ct_net_weights(net[0]) * sizeof(double);
    CHECK(!memcmp(ct_net_values(net[0]), ct_net_values(net[1]), size) &&
          memcmp(ct_net_values(net[0]), ct_net_values(net[2]), size));
    for (int i = 0; i < 3; i++) ct_net_free(net[i]);
    free(x);
    free(t);
}

static void test_an_input_that_never_changes_does_no_harm(void)
{
    const int32_t  width[] = {2, 1};
    double         x[2 * FEW], t[FEW], y;
    ct_net_options o = ct_net_defaults();
    ct_net        *net = new_net(1, width, 1);
    for (int i = 0; i < FEW; i++) x[2 * i] = 5, x[2 * i + 1] = i, t[i] = 3 * i;
    o.epochs = 3000, o.heldout = 0, o.decay = 0;
    CHECK(ct_net_train(net, FEW, x, t, &o, NULL, NULL) == CT_OK);
    ct_net_predict(net, (const double[2]){5, 20}, &y);
    CHECK_NEAR(y, 60, 0.5);
    ct_net_free(net);
}

/* ---- refusals ---- */

static void test_shapes_that_cannot_be_are_refused(void)
{
    ct_net *net = NULL;
    ct_err  err = {0};
    CHECK_REFUSED(ct_net_new(0, (const int32_t[]){3}, 1, &net, &err), err,
                  "a network has 1 to 8 layers of weights, 0 were asked for");
    CHECK_REFUSED(ct_net_new(9, (const int32_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, &net, &err), err,
                  "9 were asked for");
    CHECK_REFUSED(ct_net_new(1, (const int32_t[]){0, 1}, 1, &net, &err), err,
                  "inputs are 1 to 1024, 0 were asked for (width 0)");
    CHECK_REFUSED(ct_net_new(2, (const int32_t[]){1, 1025, 1}, 1, &net, &err), err,
                  "hidden units are 1 to 1024, 1025 were asked for (width 1)");
    CHECK_REFUSED(ct_net_new(2, (const int32_t[]){1, 2, -3}, 1, &net, &err), err,
                  "outputs are 1 to 1024, -3 were asked for (width 2)");
    CHECK(!net && err.status == CT_E_ARGUMENT);
    const int32_t widest[] = {1024, 1024, 1};
    double       *x = normals(1, 1024, 0, 1), y = NAN;
    net = new_net(2, widest, 1);
    ct_net_predict(net, x, &y);
    CHECK(isfinite(y));
    free(x);
    ct_net_free(net);
    ct_net_free(NULL);
}

static void test_a_net_is_as_it_was_when_training_is_refused(void)
{
    const int32_t  width[] = {2, 3, 1};
    double         x[2 * FEW], t[FEW], y, again;
    ct_err         err = {0};
    ct_net_result  result;
    ct_net        *net = new_net(2, width, 1);
    const ct_net_options good = ct_net_defaults();
    for (int i = 0; i < FEW; i++) x[2 * i] = i, x[2 * i + 1] = -i, t[i] = i;
    ct_net_predict(net, x + 2, &y);
    CHECK_REFUSED(ct_net_train(net, 1, x, t, &good, &result, &err), err,
                  "a network is trained on 2 examples or more, found 1");
    x[7] = NAN;
    CHECK_REFUSED(ct_net_train(net, FEW, x, t, &good, &result, &err), err,
                  "input 1 of example 3 is nan; a network is trained on finite numbers");
    x[7] = 1e200;
    CHECK_REFUSED(ct_net_train(net, FEW, x, t, &good, &result, &err), err,
                  "input 1 is too large for its variance to be a number");
    x[7] = 0, t[5] = INFINITY;
    CHECK_REFUSED(ct_net_train(net, FEW, x, t, &good, &result, &err), err, "output 0 of example 5 is inf");
    t[5] = -1e300;
    CHECK_REFUSED(ct_net_train(net, FEW, x, t, &good, &result, &err), err,
                  "output 0 is too large for its variance to be a number");
    t[5] = 0;
#define OPTION(field, value, part)                                                                 \
    do {                                                                                           \
        ct_net_options o = good;                                                                   \
        o.field = value;                                                                           \
        CHECK_REFUSED(ct_net_train(net, FEW, x, t, &o, &result, &err), err, part);                 \
        CHECK(err.status == CT_E_ARGUMENT);                                                        \
    } while (0)
    OPTION(epochs, 0, "epochs is 0");
    OPTION(batch, 0, "batch is 0");
    OPTION(patience, -1, "patience is -1");
    OPTION(rate, 0, "rate is 0");
    OPTION(rate, INFINITY, "rate is inf");
    OPTION(decay, -1, "decay is -1");
    OPTION(decay, NAN, "decay is nan");
    OPTION(heldout, 1, "heldout is 1; it is a share in [0, 1)");
    OPTION(heldout, NAN, "heldout is nan");
#undef OPTION
    ct_net_predict(net, x + 2, &again);
    CHECK(again == y);
    CHECK_OK(ct_net_train(net, FEW, x, t, &good, &result, &err), err);
    ct_net_predict(net, x + 2, &again);
    CHECK(again != y);
    ct_net_free(net);
}

int main(void)
{
    RUN(test_a_value_is_what_the_formula_says);
    RUN(test_the_loss_is_the_mean_of_squares_and_its_gradient_that_of_differences);
    RUN(test_weights_are_drawn_within_glorots_bound_and_biases_are_zero);
    RUN(test_one_layer_ends_at_the_least_squares);
    RUN(test_decay_is_that_of_a_ridge);
    RUN(test_exclusive_or_is_learned);
    RUN(test_a_smooth_function_is_learned_to_a_hundredth);
    RUN(test_weights_are_kept_from_where_the_held_out_loss_was_least);
    RUN(test_held_out_examples_teach_nothing);
    RUN(test_weights_that_nothing_was_better_than_stay);
    RUN(test_the_same_input_gives_the_same_bits);
    RUN(test_an_input_that_never_changes_does_no_harm);
    RUN(test_shapes_that_cannot_be_are_refused);
    RUN(test_a_net_is_as_it_was_when_training_is_refused);
    return ct_test_end();
}
