/* test_net_memory.c: no memory at any moment. Every allocation is failed once, each in a run of its own: the call
 * that made it says so and leaves nothing half-built, the net as it was and the file as it was; what takes no status
 * allocates nothing. */
#include "net_test.h"
#include "memory_test.h"

#include <jansson.h>

enum { COUNT = 10 };

static const int32_t WIDTH[] = {2, 3, 1};
static double        x[2 * COUNT], t[COUNT];

static void test_training_survives_the_failure_of_every_allocation(void)
{
    ct_net_options o = ct_net_defaults();
    ct_err         err = {0};
    o.epochs = 2;
    int64_t k = 0;
    for (int through = 0; !through && k < 100; k++) {
        ct_net *net = NULL;
        double  before = 0, after;
        left = k;
        ct_status status = ct_net_new(2, WIDTH, 1, &net, &err);
        if (net) ct_net_predict(net, x, &before);
        if (status == CT_OK) status = ct_net_train(net, COUNT, x, t, &o, NULL, &err);
        through = left >= 0;
        left = -1;
        CHECK(through == (status == CT_OK));
        if (!through) CHECK(status == CT_E_MEMORY && strstr(err.text, "out of memory"));
        if (!net) continue;
        ct_net_predict(net, x, &after);
        CHECK((before == after) == !through);
        ct_net_free(net);
    }
    CHECK(k == 2 + 3 + 1);
}

static void check_file(const ct_net *net, const char *path)
{
    ct_net *again = NULL;
    ct_err  err = {0};
    double  y, z;
    CHECK_OK(ct_net_read(path, &again, &err), err);
    if (!again) return;
    ct_net_predict(net, x + 2, &y);
    ct_net_predict(again, x + 2, &z);
    CHECK(y == z);
    ct_net_free(again);
}

static void test_writing_survives_the_failure_of_every_allocation(void)
{
    ct_net *old = new_net(2, WIDTH, 1), *net = new_net(2, WIDTH, 2);
    ct_err  err = {0};
    char    path[512];
    snprintf(path, sizeof path, "%s", scratch_path("net.json"));
    CHECK_OK(ct_net_write(old, path, &err), err);
    int64_t k = 0;
    for (int through = 0; !through && k < 1000; k++) {
        json_set_alloc_funcs(__wrap_malloc, free); /* jansson is a library of its own */
        left = k;
        const ct_status status = ct_net_write(net, path, &err);
        through = left >= 0;
        left = -1;
        json_set_alloc_funcs(__real_malloc, free);
        CHECK(through == (status == CT_OK));
        if (!through) CHECK(status == CT_E_MEMORY && strstr(err.text, "out of memory"));
        check_file(through ? net : old, path);
    }
    CHECK(k > 50 && k < 1000); /* of the values; their text grows in a few steps */
    ct_net_free(old);
    ct_net_free(net);
}

/* With memory for jansson, whose reader takes a number that it has no memory for by its first digits. */
static void test_reading_survives_the_failure_of_every_allocation(void)
{
    ct_net *net = new_net(2, WIDTH, 1);
    ct_err  err = {0};
    char    path[512];
    snprintf(path, sizeof path, "%s", scratch_path("net.json"));
    CHECK_OK(ct_net_write(net, path, &err), err);
    int64_t k = 0;
    for (int through = 0; !through && k < 100; k++) {
        ct_net *again = NULL;
        left = k;
        const ct_status status = ct_net_read(path, &again, &err);
        through = left >= 0;
        left = -1;
        CHECK(through == (status == CT_OK) && through == (again != NULL));
        if (!through) CHECK(status == CT_E_MEMORY && strstr(err.text, "out of memory"));
        ct_net_free(again);
    }
    CHECK(k == 2 + 1);
    ct_net_free(net);
}

static void test_values_and_losses_allocate_nothing(void)
{
    ct_net *net = new_net(2, WIDTH, 1);
    double  y, gradient[64];
    left = 0; /* the first to ask gets nothing */
    ct_net_predict(net, x, &y);
    ct_net_loss(net, COUNT, x, t, gradient);
    CHECK(left == 0);
    left = -1;
    ct_net_free(net);
}

int main(void)
{
    for (int i = 0; i < COUNT; i++) x[2 * i] = i, x[2 * i + 1] = i * i, t[i] = sin(i);
    RUN(test_training_survives_the_failure_of_every_allocation);
    RUN(test_writing_survives_the_failure_of_every_allocation);
    RUN(test_reading_survives_the_failure_of_every_allocation);
    RUN(test_values_and_losses_allocate_nothing);
    return ct_test_end();
}
