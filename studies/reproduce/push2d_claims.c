/* push2d_claims.c: the claims about Tables II and III, computed from their numbers. Rows are the means over
 * seeds. */
#include "studies/reproduce/push2d.h"

#include <math.h>

#define CM             100.0
#define INITIAL_CM     2.0   /* the start is bad                                              */
#define FINGER_CM      0.015 /* the end-effector is measured, and stays where it is measured  */
#define BELOW_ORACLE   6.0   /* times below the start                                         */
#define BELOW_NETWORK  2.5
#define SPREAD_MAX     100   /* of the tight box: 10 over 0.1                                 */
#define HELD_OUT       1.5   /* times the training loss                                       */
#define SAME           0.01  /* relative: two starts came to the same                         */
#define CONVERGED      0.95  /* of the runs                                                   */

#define TIE            1e-3  /* relative: one and the same answer but for a common factor differs by less */
#define ROUNDING       (1 + 1e-9) /* a spread is a quotient of rounded numbers                */

static void start_is_bad(push2d *n)
{
    claim t = claim_new();
    for (int p = 0; p < PAPER_PUSHES; p++) {
        double mean = NAN;
        /* one and the same where both are */
        for (int b = 0; b < PAPER_BOUNDS; b++)
            mean = fmax(mean, CM * push2d_mean(n, p, b, PUSH2D_INITIAL, PUSH2D_OBJECT_T, NULL));
        claim_row(&t, -mean, -INITIAL_CM, "%s %s, %.3f cm", push2d_object[p], push2d_tactile[p], mean);
    }
    claim_state(&t, &n->job->document, "Initial: the object is off by at least 2 cm");
}

static void default_is_below_start(push2d *n, int network, double times, const char *what)
{
    claim t = claim_new();
    for (int p = network; p < PAPER_PUSHES; p += 2)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            const double before = CM * push2d_mean(n, p, b, PUSH2D_INITIAL, PUSH2D_OBJECT_T, NULL),
                         after = CM * push2d_mean(n, p, b, PUSH2D_LM, PUSH2D_OBJECT_T, NULL);
            char         name[48];
            claim_row(&t, after / before, 1 / times, "%s, %.3f to %.3f cm, %.2f times", push2d_row_name(p, b, name),
                        before, after, before / after);
        }
    claim_state(&t, &n->job->document, what);
}

static void finger_stays(push2d *n)
{
    claim t = claim_new();
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            const double mean = CM * push2d_mean(n, p, b, PUSH2D_LM, PUSH2D_FINGER_T, NULL);
            char         name[48];
            claim_row(&t, mean, FINGER_CM, "%s, %.5f cm", push2d_row_name(p, b, name), mean);
        }
    claim_state(&t, &n->job->document, "The default's end-effector is off by at most 0.015 cm");
}

/* Of differences of the two on the same seeds, the mean less its standard error; of one seed there is none, and it
 * counts as zero. */
static void no_worse(push2d *n, claim *t, int p, int b, int rival)
{
    double difference[PUSH2D_SEEDS], error;
    char   name[48], by[32] = "";
    for (int s = 0; s < n->seeds; s++)
        difference[s] = CM * (push2d_error(n, p, b, PUSH2D_LM, s, PUSH2D_OBJECT_T) -
                              push2d_error(n, p, b, rival, s, PUSH2D_OBJECT_T));
    const double mean = push2d_average(n->seeds, difference, &error);
    if (isnan(error)) error = 0;
    else snprintf(by, sizeof by, " ± %.4f", error);
    claim_row(t, (mean - error) / (CM * push2d_mean(n, p, b, rival, PUSH2D_OBJECT_T, NULL)), TIE,
                "%s, %s: %+.4f%s cm", push2d_row_name(p, b, name), n->column[rival].key, mean, by);
}

static void default_is_no_worse(push2d *n)
{
    static const int RIVAL[] = {PUSH2D_FW, PUSH2D_POWELL, PUSH2D_LEO, PUSH2D_CLOSED_FORM};
    claim            t = claim_new();
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (size_t k = 0; k < sizeof RIVAL / sizeof *RIVAL; k++) no_worse(n, &t, p, b, RIVAL[k]);
    claim_state(&t, &n->job->document,
                "The default's object is no worse than that of Frank-Wolfe, Powell, LEO or the closed form, beyond one "
                "standard error of the differences over seeds (and 0.1 %)");
}

static void spreads_are_kept(push2d *n)
{
    claim t = claim_new();
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int c = PUSH2D_LEO; c < PUSH2D_COLUMNS; c++) {
            double most = NAN;
            for (int s = 0; s < n->seeds; s++)
                if (n->cell[p][1][c][s].cell.done) most = fmax(most, n->cell[p][1][c][s].cell.spread);
            claim_row(&t, most, SPREAD_MAX * ROUNDING, "%s %s %s, %.6g", push2d_object[p], push2d_tactile[p],
                        n->column[c].key, most);
        }
    claim_state(&t, &n->job->document, "Under tight bounds no spread is above 100, for every method and seed");
}

static double train_of(const push2d_cell *cell) { return cell->cell.train.loss; }
static double test_of(const push2d_cell *cell) { return cell->cell.test.loss; }

static void default_does_not_overfit(push2d *n)
{
    claim t = claim_new();
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            const double ratio =
                push2d_mean_of(n, p, b, PUSH2D_LM, test_of, NULL) / push2d_mean_of(n, p, b, PUSH2D_LM, train_of, NULL);
            const double closed = push2d_mean_of(n, p, b, PUSH2D_CLOSED_FORM, test_of, NULL) /
                                  push2d_mean_of(n, p, b, PUSH2D_CLOSED_FORM, train_of, NULL);
            char         name[48], beside[64] = "";
            if (!isnan(closed)) snprintf(beside, sizeof beside, " (closed form %.2f)", closed);
            claim_row(&t, ratio, HELD_OUT, "%s, %.2f times%s", push2d_row_name(p, b, name), ratio, beside);
        }
    claim_state(&t, &n->job->document,
                "The default's loss on test sequences, incrementally, is within 1.5 times its loss on training "
                "sequences");
}

static void start_does_not_matter(push2d *n)
{
    claim t = claim_new();
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int s = 0; s < n->seeds; s++) {
            const push2d_diagnosis *c = &n->diagnosis[p][1][s];
            if (!c->done) continue;
            const double far = CM * push2d_error(n, p, 1, PUSH2D_LM, s, PUSH2D_OBJECT_T),
                         ones = CM * push2d_accuracy(&c->centre, PUSH2D_OBJECT_T);
            claim_row(&t, fabs(far / ones - 1), SAME, "%s %s, seed %d, %.4f and %.4f cm", push2d_object[p],
                        push2d_tactile[p], s + 1, far, ones);
        }
    claim_state(&t, &n->job->document,
                "The start does not matter: under tight bounds the default's object is off by the same, within 1 %, "
                "from the far start clipped into the box and from ones, its centre");
}

/* Of all runs, and of the rows the one with the most that did not. */
static void runs_converge(push2d *n, int steps, const char *what)
{
    int  all = 0, reached = 0, most = -1;
    char where[400], worst[160] = "";
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            int  missed = 0, runs = 0;
            char name[48];
            for (int s = 0; s < n->seeds; s++)
                for (int i = 0; i < n->diagnosis[p][b][s].tests; i++, runs++)
                    missed += !(steps ? push2d_reached_steps(&n->diagnosis[p][b][s].run[i])
                                      : push2d_reached_truth(&n->diagnosis[p][b][s].run[i]));
            all += runs;
            reached += runs - missed;
            if (runs && missed > most)
                most = missed,
                snprintf(worst, sizeof worst, "%s, %d of %d", push2d_row_name(p, b, name), runs - missed, runs);
        }
    snprintf(where, sizeof where, "%d of %d; fewest: %s", reached, all, worst);
    if (all) document_state(&n->job->document, reached >= CONVERGED * all, where, "%s", what);
}

void push2d_state(push2d *n)
{
    start_is_bad(n);
    default_is_below_start(n, 0, BELOW_ORACLE,
                           "With the oracle, the default's object is off by a sixth of Initial's or less");
    default_is_below_start(n, 1, BELOW_NETWORK,
                           "With the network, the default's object is off by 1/2.5 of Initial's or less");
    finger_stays(n);
    default_is_no_worse(n);
    spreads_are_kept(n);
    default_does_not_overfit(n);
    start_does_not_matter(n);
    runs_converge(
        n, 0,
        "Under what the default learned, at least 95 % of the test sequences reach a minimum, in batch from the truth");
    runs_converge(n, 1,
                  "Under what the default learned, at least 95 % of the test sequences reach a minimum, incrementally");
}
