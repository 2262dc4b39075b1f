/* Operators called by several threads at once: what is built when it is first asked for, and every row with arguments
 * of its own. `make tsan` runs it under the thread sanitizer. */
#include "core/op/op_calls.h"
#include "suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "core/rng.h"

enum { THREADS = 4, LARGE = 40000 };

static pthread_barrier_t barrier;

static void *in_each(void *(*work)(void *), void *arg) {
    pthread_t threads[THREADS];
    void *failed = NULL;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, work, arg), 0);
    for (int i = 0; i < THREADS; i++) {
        void *said;
        pthread_join(threads[i], &said);
        if (said != NULL) failed = said;
    }
    pthread_barrier_destroy(&barrier);
    return failed;
}

/* ---- the first calls of a process ---- */

static char *all_names_and_schemas(void) {
    int n = tsr_op_count();
    for (int i = 0; i < n; i++) {
        const TsrOpSet *set = tsr_op_at(i);
        if (set == NULL || tsr_op_find(set->name) != set) return "a name is not found";
        for (int k = 0; k < set->n; k++) {
            const TsrSchema *schema, *again;
            if (tsr_op_schema(&schema, set->ops[k]) != TSR_OK || tsr_op_schema(&again, set->ops[k]) != TSR_OK)
                return "a schema is not there";
            if (schema != again || strcmp(schema->name, set->name) != 0) return "a schema is not its row's";
        }
    }
    return NULL;
}

/* One operator after the other over what the one before gave, small ones and ones that are split over the pool. */
static char *some_operators(int64_t n) {
    TsrTensor *a, *b, *c, *d;
    int64_t sizes[] = {n};
    if (tsr_invoke_new(&a, 1, "rand", "I", 1, sizes) != TSR_OK) return "rand";
    if (tsr_invoke_new(&b, 1, "add", "tt", a, a) != TSR_OK) return "add";
    if (tsr_invoke_new(&c, 1, "sort", "t", b) != TSR_OK) return "sort";
    if (tsr_invoke_new(&d, 1, "sum", "t", c) != TSR_OK) return "sum";
    TsrScalar sum = tsr_tensor_get(d, 0);
    tsr_tensor_free(a), tsr_tensor_free(b), tsr_tensor_free(c), tsr_tensor_free(d);
    return sum.f > 0.5 * (double)n && sum.f < 1.5 * (double)n ? NULL : "the sum is not that of random numbers";
}

static void *first_calls(void *unused) {
    (void)unused;
    pthread_barrier_wait(&barrier);
    char *wrong = some_operators(LARGE);
    return wrong != NULL ? wrong : all_names_and_schemas();
}

START_TEST(first_calls_come_at_once) {
    tsr_set_num_threads(2);
    char *failed = in_each(first_calls, NULL);
    ck_assert_msg(failed == NULL, "%s", failed);
}
END_TEST

/* ---- random numbers ---- */

static _Atomic int64_t drawn;
static uint32_t seen[THREADS * 4096];
static void *draw(void *unused) {
    int64_t sizes[] = {64};
    (void)unused;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 64; i++) {
        TsrTensor *t;
        if (tsr_invoke_new(&t, 1, "rand", "I", 1, sizes) != TSR_OK) return "rand";
        int64_t at = drawn;
        while (
            !__atomic_compare_exchange_n((int64_t *)&drawn, &at, at + 64, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
        memcpy(seen + at, tsr_data(t), sizeof(float) * 64);
        tsr_tensor_free(t);
    }
    return NULL;
}

static int compare_words(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

START_TEST(threads_share_one_stream_of_random_numbers) {
    static uint32_t alone[THREADS * 4096];
    ck_assert_ptr_null(in_each(draw, NULL)); /* seeds from the system, once */
    tsr_rng_seed(tsr_rng_default(), 7);
    drawn = 0;
    ck_assert_ptr_null(in_each(draw, NULL));
    memcpy(alone, seen, sizeof alone);
    tsr_rng_seed(tsr_rng_default(), 7);
    drawn = 0;
    pthread_barrier_init(&barrier, NULL, 1);
    for (int i = 0; i < THREADS; i++) ck_assert_ptr_null(draw(NULL));
    qsort(alone, TSR_COUNTOF(alone), sizeof *alone, compare_words);
    qsort(seen, TSR_COUNTOF(seen), sizeof *seen, compare_words);
    ck_assert_mem_eq(alone, seen, sizeof seen); /* each number once, whoever drew it */
}
END_TEST

/* ---- every row ---- */

typedef struct Calls {
    OpCall *of[THREADS + 1]; /* the last are what the threads' own are copies of */
    TsrStatus *status;
    int n;
} Calls;
static Calls calls;
static _Atomic int next_thread;

static void make_calls(void) {
    calls_seed(11);
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        for (int k = 0; k < set->n; k++) {
            const TsrSchema *schema;
            OpCall *first = &calls.of[THREADS][calls.n];
            ck_assert_int_eq(tsr_op_schema(&schema, set->ops[k]), TSR_OK);
            if (!call_begin(first, set->ops[k], schema, i % 2 == 0 ? TSR_FLOAT32 : TSR_INT64, LAID_CONTIGUOUS, false))
                continue;
            bool made = true;
            for (int t = 0; t < THREADS; t++) made = call_copy(&calls.of[t][calls.n], first, COPY_AS_IT_IS) && made;
            ck_assert(made);
            calls.n++;
        }
    }
}

static TsrStatus run_alone(OpCall *call) {
    TsrOpCall run = {.op = call->op, .schema = call->schema, .arg = call->arg, .nargs = call->schema->nparams};
    run.inplace = (call->op->forms & TSR_INPLACE_ONLY) != 0;
    if (run.inplace) run.out[0] = call->arg[0].t;
    TsrStatus status = tsr_op_run(&run);
    tsr_op_release_returns(&run);
    return status;
}

/* Each thread makes all calls, and begins with another one. */
static void *run_all(void *unused) {
    (void)unused;
    int thread = next_thread++;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < calls.n; i++) {
        int at = (i + (thread / 2) * calls.n / 2) % calls.n;
        TsrStatus status = run_alone(&calls.of[thread][at]), none = (TsrStatus)-1;
        if (!__atomic_compare_exchange_n(&calls.status[at], &none, status, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
            none != status)
            return (void *)calls.of[thread][at].op->schema;
    }
    tsr_error_clear();
    return NULL;
}

START_TEST(every_row_is_called_by_all_threads) {
    enum { MOST = 8192 };
    int64_t before = tsr_memory_live();
    for (int t = 0; t <= THREADS; t++) calls.of[t] = calloc(MOST, sizeof(OpCall));
    calls.status = malloc(MOST * sizeof *calls.status);
    for (int i = 0; i < MOST; i++) calls.status[i] = (TsrStatus)-1;
    make_calls();
    ck_assert_int_gt(calls.n, 800);
    const char *failed = in_each(run_all, NULL);
    ck_assert_msg(failed == NULL, "threads get different answers of %s", failed);
    int accepted = 0;
    for (int i = 0; i < calls.n; i++) accepted += calls.status[i] == TSR_OK;
    ck_assert_int_gt(accepted, calls.n / 2);
    for (int t = 0; t <= THREADS; t++) /* what was copied last */
        for (int i = 0; i < calls.n; i++) call_end(&calls.of[t][i]);
    ck_assert_int_eq(tsr_memory_live(), before);
}
END_TEST

TEST_SUITE(threads, first_calls_come_at_once, threads_share_one_stream_of_random_numbers,
           every_row_is_called_by_all_threads)
