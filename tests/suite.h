/* suite.h: how a test file adds its suite: one file a module, cases named for the behaviour.
 *
 *     START_TEST(narrow_shares_storage) { ... } END_TEST
 *     TEST_SUITE(view, narrow_shares_storage, select_counts_from_the_end)
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct SuiteEntry {
    Suite *(*make)(void);
    struct SuiteEntry *next;
} SuiteEntry;
void suite_register(SuiteEntry *entry);

/* A test that runs away ends after so much processor time, which a busy machine does not shorten; one that hangs, after
 * an hour. */
enum { TEST_PROCESSOR_SECONDS = 600, TEST_SECONDS = 3600 };
void test_limit_time(void);
/* CK_TIMEOUT_MULTIPLIER, 1 where unset: how many times slower this run may be, under valgrind for one. Scales every
 * limit of a test's own. */
int test_slowness(void);
/* Whether the i-th step of a long sweep is taken: each is, but of a slow run's one in TEST_SAMPLE, which one
 * TSR_TEST_SEED says; TSR_TEST_ROUNDS asks for all again. */
enum { TEST_SAMPLE = 10 };
bool test_is_sampled(int64_t i);
/* 1, or TEST_SAMPLE where steps are left out. */
int test_sample(void);
/* Whether what needs LAPACK is left out: in a program of 32 bits that finds none, as a machine of 64 has none for it.
 * A program of 64 bits has to find one. */
bool test_lacks_lapack(void);

/* Each test is a case of its own, so that CK_RUN_CASE can pick it. */
#define TEST_SUITE(module, ...) \
    static Suite *make_suite(void) { \
        const TTest *tests[] = {__VA_ARGS__}; \
        Suite *suite = suite_create(#module); \
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) { \
            TCase *one = tcase_create(tests[i]->name); \
            tcase_set_timeout(one, TEST_SECONDS); \
            tcase_add_checked_fixture(one, test_limit_time, NULL); \
            tcase_add_test(one, tests[i]); \
            suite_add_tcase(suite, one); \
        } \
        return suite; \
    } \
    __attribute__((constructor)) static void register_suite(void) { \
        static SuiteEntry entry = {make_suite, NULL}; \
        suite_register(&entry); \
    }

#endif
