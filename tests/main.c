/* Runs every suite that a test file registers with TEST_SUITE (tests/suite.h). CK_RUN_SUITE and CK_RUN_CASE pick. */
#include "suite.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "core/engine/blas.h"

static SuiteEntry *suites;

void suite_register(SuiteEntry *entry) {
    entry->next = suites;
    suites = entry;
}

int test_slowness(void) {
    const char *times = getenv("CK_TIMEOUT_MULTIPLIER");
    return times != NULL && atoi(times) > 1 ? atoi(times) : 1;
}

int test_sample(void) { return test_slowness() > 1 && getenv("TSR_TEST_ROUNDS") == NULL ? TEST_SAMPLE : 1; }

bool test_is_sampled(int64_t i) {
    const char *seed = getenv("TSR_TEST_SEED");
    return (i + (seed != NULL ? atoi(seed) : 0)) % test_sample() == 0;
}

bool test_lacks_lapack(void) { return sizeof(void *) == 4 && tsr_blas_try() == NULL; }

/* In the test's own process, unless CK_FORK=no leaves all in one. */
void test_limit_time(void) {
    const char *fork = getenv("CK_FORK");
    rlim_t seconds = TEST_PROCESSOR_SECONDS * (rlim_t)test_slowness();
    if (fork == NULL) ck_assert_int_eq(setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 5}), 0);
}

int main(void) {
    SRunner *runner = NULL;
    for (SuiteEntry *e = suites; e != NULL; e = e->next) {
        Suite *suite = e->make();
        if (runner == NULL) runner = srunner_create(suite);
        else srunner_add_suite(runner, suite);
    }
    if (runner == NULL) return EXIT_FAILURE;
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), run = srunner_ntests_run(runner);
    srunner_free(runner);
    printf("%d passed, %d failed\n", run - failed, failed);
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
