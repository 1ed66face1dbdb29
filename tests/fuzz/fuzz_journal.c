/* fuzz_journal.c: any bytes as a journal of runs. They are refused with a sentence, or make a journal that a run is
 * appended to, found in, and found in when it is opened again; as many runs are there as before and one. */
#include "fuzz.h"
#include "tune/journal.h"

#include <math.h>

static const double          VALUE[2] = {0.5, -3};
static const ct__journal_key KEY = {.digest = 5, .log = 1, .repeat = 77, .parameters = 2, .value = VALUE};

static void check_found(ct__journal_file *journal)
{
    ct_tune_outcome outcome;
    ct_err          err = {0};
    int             found = 0;
    FUZZ_LAW(ct__journal_find(journal, &KEY, &found, &outcome, &err) == CT_OK && found);
    FUZZ_LAW(outcome.end == CT_TUNE_CRASHED && outcome.code == 3 && outcome.cached && !strcmp(outcome.message, "so"));
    ct_tune_outcome_free(&outcome);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ct__journal_file      journal;
    ct_err                err = {0};
    char                  message[] = "so";
    const ct_tune_outcome outcome = {.end = CT_TUNE_CRASHED, .code = 3, .translation = NAN, .message = message};
    fuzz_write("in.journal", data, size);
    if (ct__journal_open("in.journal", 5, 1, &journal, &err) != CT_OK) {
        FUZZ_LAW(err.text[0]);
        return 0;
    }
    const int64_t runs = journal.runs;
    FUZZ_LAW(ct__journal_append(&journal, &KEY, &outcome, &err) == CT_OK && journal.runs <= runs + 1);
    check_found(&journal);
    const int64_t more = journal.runs;
    ct__journal_close(&journal);
    FUZZ_LAW(ct__journal_open("in.journal", 5, 1, &journal, &err) == CT_OK && journal.runs == more);
    check_found(&journal);
    ct__journal_close(&journal);
    return 0;
}
