/* error.h's interrupts: a long call of LAPACK is left behind whole, and a request is each running operator's. */
#include "suite.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/mem.h"
#include "core/op.h"
#include "core/parallel.h"
#include "core/rng.h"

#ifndef __SANITIZE_THREAD__ /* which knows nothing of what BLAS's own threads wait for */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *interrupt_soon(void *seconds) {
    usleep((useconds_t)(*(double *)seconds * 1e6));
    tsr_interrupt_request();
    return NULL;
}

static TsrTensor *matrix(int64_t n) {
    TsrTensor *a;
    int64_t sizes[] = {n, n};
    ck_assert_int_eq(tsr_tensor_new(&a, 2, sizes, TSR_FLOAT64, TSR_DEVICE_CPU), TSR_OK);
    double *p = tsr_data(a);
    for (int64_t i = 0; i < n * n; i++) p[i] = (double)(i * 7919 % 104729) / 104729;
    return a;
}

/* The status of a call that an interrupt meets, and how many seconds that took it to return. */
static TsrStatus interrupted_after(double wait, double *took, const char *name, TsrTensor *a) {
    pthread_t thread;
    TsrTensor *outs[2];
    double start = now();
    pthread_create(&thread, NULL, interrupt_soon, &wait);
    TsrStatus status = tsr_invoke_new(outs, 2, name, "t", a);
    *took = now() - start - wait;
    pthread_join(thread, NULL);
    return status;
}

/* Loads the library and builds what is built once. */
static void warm_up(const char *name) {
    TsrTensor *small = matrix(3), *outs[2];
    ck_assert_int_eq(tsr_invoke_new(outs, 2, name, "t", small), TSR_OK);
    for (int i = 0; i < 2; i++) tsr_tensor_free(outs[i]);
    tsr_tensor_free(small);
}

/* The same, once the call has come as far as LAPACK: on a busy machine later. */
static TsrStatus interrupted(double *took, const char *name, TsrTensor *a) {
    TsrStatus status = TSR_KEYBOARD_INTERRUPT;
    int before = tsr_calls_left();
    for (double wait = 0.05; wait < 1 && status == TSR_KEYBOARD_INTERRUPT && tsr_calls_left() <= before; wait *= 2)
        status = interrupted_after(wait, took, name, a);
    return status;
}

static void wait_until_left(int calls) {
    for (int i = 0; i < 60000 && tsr_calls_left() > calls; i++) usleep(10000);
    ck_assert_int_le(tsr_calls_left(), calls);
}

static void be_left(const char *name, int64_t n) {
    if (test_lacks_lapack()) return;
    TsrTensor *a = matrix(n), *before;
    double took;
    warm_up(name);
    ck_assert_int_eq(tsr_tensor_new_clone(&before, a, TSR_CONTIGUOUS), TSR_OK);
    int64_t bytes = tsr_memory_live(), blocks = tsr_mem_live_blocks();
    ck_assert_int_eq(interrupted(&took, name, a), TSR_KEYBOARD_INTERRUPT);
    ck_assert_double_lt(took, 5);
    ck_assert_int_eq(tsr_calls_left(), 1);
    ck_assert_int_gt(tsr_memory_live(), bytes); /* what it works in is counted */
    ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
    ck_assert_int_eq(memcmp(tsr_data(a), tsr_data(before), (size_t)(n * n) * 8), 0);
    memset(tsr_data(a), 0xFF, (size_t)(n * n) * 8); /* nothing of it is read any more */
    wait_until_left(0);
    ck_assert_int_eq(tsr_memory_live(), bytes);
    ck_assert_int_le(tsr_mem_live_blocks(), blocks);
    tsr_tensor_free(a);
    tsr_tensor_free(before);
}

START_TEST(singular_values_are_left_behind) { be_left("linalg.svd", 1200); }
END_TEST
START_TEST(eigenvalues_are_left_behind) { be_left("linalg.eig", 600); }
END_TEST
START_TEST(symmetric_eigenvalues_are_left_behind) { be_left("linalg.eigh", 1400); }
END_TEST

START_TEST(few_calls_are_left_at_a_time) {
    if (test_lacks_lapack()) return;
    TsrTensor *a = matrix(900), *small = matrix(20), *outs[2];
    double took;
    warm_up("linalg.eig");
    for (int i = 0; i < 2; i++) ck_assert_int_eq(interrupted(&took, "linalg.eig", a), TSR_KEYBOARD_INTERRUPT);
    ck_assert_int_eq(tsr_calls_left(), 2);
    ck_assert_int_eq(interrupted_after(0.05, &took, "linalg.eig", a), TSR_KEYBOARD_INTERRUPT); /* while it waits */
    ck_assert_int_le(tsr_calls_left(), 2);
    ck_assert_double_lt(took, 5);
    ck_assert_int_eq(tsr_invoke_new(outs, 2, "linalg.eig", "t", small), TSR_OK); /* small ones don't */
    for (int i = 0; i < 2; i++) tsr_tensor_free(outs[i]);
    wait_until_left(0);
    tsr_tensor_free(a);
    tsr_tensor_free(small);
}
END_TEST

static void *svd(void *arg) {
    TsrTensor *outs[1];
    TsrStatus status = tsr_invoke_new(outs, 1, "linalg.svdvals", "t", arg);
    if (status == TSR_OK) tsr_tensor_free(outs[0]);
    return (void *)(intptr_t)status;
}

START_TEST(a_call_that_nobody_interrupts_gives_what_it_gave) {
    if (test_lacks_lapack()) return;
    TsrTensor *a = matrix(300), *one[1], *other[1];
    pthread_t threads[3];
    ck_assert_int_eq(tsr_invoke_new(one, 1, "linalg.svdvals", "t", a), TSR_OK);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, svd, a);
    ck_assert_int_eq(tsr_invoke_new(other, 1, "linalg.svdvals", "t", a), TSR_OK);
    for (int i = 0; i < 3; i++) {
        void *status;
        pthread_join(threads[i], &status);
        ck_assert_ptr_null(status);
    }
    ck_assert_int_eq(memcmp(tsr_data(one[0]), tsr_data(other[0]), 300 * 8), 0);
    tsr_tensor_free(a), tsr_tensor_free(one[0]), tsr_tensor_free(other[0]);
}
END_TEST

#else
#define singular_values_are_left_behind an_operator_that_stopped_fails_whoever_clears_the_request
#define eigenvalues_are_left_behind an_operator_that_stopped_fails_whoever_clears_the_request
#define symmetric_eigenvalues_are_left_behind an_operator_that_stopped_fails_whoever_clears_the_request
#define few_calls_are_left_at_a_time an_operator_that_stopped_fails_whoever_clears_the_request
#define a_call_that_nobody_interrupts_gives_what_it_gave an_operator_that_stopped_fails_whoever_clears_the_request
#endif

/* ---- a request is every running operator's ---- */

static _Atomic bool running, seen;

/* As a kernel does: stops for a request, and is asked afterwards whether it went to its end. */
static void *stop_early(void *cleared) {
    uint32_t outer = tsr_interrupt_enter();
    running = true;
    while (tsr_interrupt_flag == 0) usleep(100);
    seen = true;
    while (!*(_Atomic bool *)cleared) usleep(100); /* by another thread */
    TsrStatus status = tsr_interrupt_check();
    TsrStatus again = tsr_interrupt_check();
    tsr_interrupt_leave(outer);
    return (void *)(intptr_t)(again == TSR_OK ? status : TSR_SYSTEM_ERROR);
}

START_TEST(an_operator_that_stopped_fails_whoever_clears_the_request) {
    static const struct {
        void (*request)(void);
        TsrStatus status;
    } kinds[] = {{tsr_interrupt_request, TSR_KEYBOARD_INTERRUPT}, {tsr_interrupt_request_timeout, TSR_TIMEOUT_ERROR}};
    for (size_t i = 0; i < TSR_COUNTOF(kinds); i++) {
        pthread_t thread;
        void *status;
        _Atomic bool cleared = false;
        running = seen = false;
        pthread_create(&thread, NULL, stop_early, (void *)&cleared);
        while (!running) usleep(100);
        kinds[i].request();
        while (!seen) usleep(100);
        ck_assert_int_eq(tsr_interrupt_check(), kinds[i].status);
        ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
        cleared = true;
        pthread_join(thread, &status);
        ck_assert_int_eq((intptr_t)status, kinds[i].status);
        ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
    }
}
END_TEST

START_TEST(an_operator_that_begins_while_a_request_stands_fails) {
    tsr_interrupt_request();
    uint32_t outer = tsr_interrupt_enter();
    tsr_interrupt_flag = TSR_INTERRUPT_NONE; /* another thread's check, which counted before */
    ck_assert_int_ne(tsr_interrupt_pending(), 0);
    tsr_interrupt_leave(outer);
    ck_assert_int_eq(tsr_interrupt_pending(), 0);
    TsrTensor *a, *sum;
    int64_t n = 3;
    ck_assert_int_eq(tsr_tensor_new(&a, 1, &n, TSR_INT64, TSR_DEVICE_CPU), TSR_OK);
    ck_assert_int_eq(tsr_invoke_new(&sum, 1, "sum", "t", a), TSR_OK); /* what is over concerns no later one */
    tsr_tensor_free(a), tsr_tensor_free(sum);
}
END_TEST

TEST_SUITE(interrupt, singular_values_are_left_behind, eigenvalues_are_left_behind,
           symmetric_eigenvalues_are_left_behind, few_calls_are_left_at_a_time,
           a_call_that_nobody_interrupts_gives_what_it_gave, an_operator_that_stopped_fails_whoever_clears_the_request,
           an_operator_that_begins_while_a_request_stands_fails)
