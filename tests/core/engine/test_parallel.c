/* parallel.h: every number is visited once, whatever the chunks; after an error or an interrupt no further chunk is
 * taken. */
#include "suite.h"

#include <string.h>
#include <unistd.h>

#include "core/parallel.h"

static _Atomic int visits[100000];
static void visit(int64_t begin, int64_t end, void *user) {
    (void)user;
    for (int64_t i = begin; i < end; i++) visits[i]++;
}

START_TEST(parallel_for_visits_each_once) {
    for (int64_t n = 1; n <= 100000; n *= 7) {
        memset((void *)visits, 0, sizeof visits);
        ck_assert_int_eq(tsr_parallel_for(n, 100, visit, NULL), TSR_OK);
        for (int64_t i = 0; i < 100000; i++) ck_assert_int_eq(visits[i], i < n);
    }
}
END_TEST

enum { NUMBERS = 100000 };
static _Atomic int64_t worked;

static void fail_at_some(int64_t begin, int64_t end, void *user) {
    worked += end - begin;
    usleep(50);
    if (begin <= *(int64_t *)user && *(int64_t *)user < end)
        tsr_parallel_fail(tsr_error(TSR_VALUE_ERROR, "number %lld", (long long)*(int64_t *)user));
}

static void ask_to_stop(int64_t begin, int64_t end, void *user) {
    worked += end - begin;
    usleep(50);
    if (begin <= *(int64_t *)user && *(int64_t *)user < end) tsr_interrupt_request();
}

START_TEST(no_further_chunk_is_taken_after_an_error) {
    for (int threads = 1; threads <= 4; threads += 3) {
        int64_t at = threads == 1 ? 5000 : 100;
        tsr_set_num_threads(threads);
        worked = 0;
        ck_assert_int_eq(tsr_parallel_for(NUMBERS, 10, fail_at_some, &at), TSR_VALUE_ERROR);
        ck_assert_int_ge(worked, 1);
        ck_assert_int_lt(worked, NUMBERS / 2);
        worked = 0;
        ck_assert_int_eq(tsr_parallel_for(NUMBERS, 10, ask_to_stop, &at), TSR_KEYBOARD_INTERRUPT);
        ck_assert_int_lt(worked, NUMBERS / 2);
        ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
        at = -1;
        worked = 0;
        ck_assert_int_eq(tsr_parallel_for(NUMBERS, 10, fail_at_some, &at), TSR_OK); /* and all of the next one is */
        ck_assert_int_eq(worked, NUMBERS);
    }
}
END_TEST

TEST_SUITE(parallel, parallel_for_visits_each_once, no_further_chunk_is_taken_after_an_error)
