/* parallel(f, g): two threads take turns at the evaluator under one lock and one condition. A turn ends at backward
 * jumps and calls; the thread puts its state aside (VmThread), wakes the other and waits for its own turn. */
#include "two_threads.h"

#include <pthread.h>
#include <signal.h>

#include "lang/object/exc.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/vm/frame.h"
#include "two_threads_memory.h"

/* One of the two calls. Its thread reads and writes the evaluator only while `turn` is its number. */
typedef struct Side {
    Value function, result, exception; /* result or exception, V_UNBOUND the other */
    VmThread state;                    /* while it waits */
    bool ended;
    TsrStatus stopped; /* an interrupt or the time limit ended it, and ends the other too; else TSR_OK */
} Side;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t passed;
    int turn;
    Side side[2];
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .passed = PTHREAD_COND_INITIALIZER};

/* Gives the evaluator to the other side; its state was put aside before. */
static void pass_turn(int other) {
    vm_waiting = calls.side[1 - other].ended ? NULL : &calls.side[1 - other].state;
    pthread_mutex_lock(&calls.lock);
    calls.turn = other;
    pthread_cond_broadcast(&calls.passed);
    pthread_mutex_unlock(&calls.lock);
}

static void wait_for_turn(int me) {
    pthread_mutex_lock(&calls.lock);
    while (calls.turn != me) pthread_cond_wait(&calls.passed, &calls.lock);
    pthread_mutex_unlock(&calls.lock);
    vm_thread_load(&calls.side[me].state);
}

static TsrStatus end_turn(void) {
    int me = calls.turn, other = 1 - me;
    if (calls.side[other].stopped == TSR_TIMEOUT_ERROR)
        return tsr_error(TSR_TIMEOUT_ERROR, "the time limit was reached");
    if (calls.side[other].stopped != TSR_OK) return tsr_error(TSR_KEYBOARD_INTERRUPT, "%s", "");
    if (calls.side[other].ended) return TSR_OK;
    vm_thread_save(&calls.side[me].state);
    pass_turn(other);
    wait_for_turn(me);
    return TSR_OK;
}

static void run_side(Side *s) {
    TsrStatus status = value_call_n(&s->result, s->function, 0, NULL);
    if (exc_matches(status, TSR_KEYBOARD_INTERRUPT)) s->stopped = TSR_KEYBOARD_INTERRUPT;
    if (exc_matches(status, TSR_TIMEOUT_ERROR)) s->stopped = TSR_TIMEOUT_ERROR;
    if (status == TSR_OK) return;
    s->result = VALUE_UNBOUND;
    exc_fetch(&s->exception, status, VALUE_UNBOUND);
}

static void *run_second(void *unused) {
    (void)unused;
    wait_for_turn(1);
    stack_measure();
    run_side(&calls.side[1]);
    vm_thread_end(&calls.side[0].state);
    calls.side[1].ended = true;
    tsr_error_clear(); /* the thread's own buffers */
    pass_turn(0);
    return NULL;
}

/* Signals stay with the first thread. */
static TsrStatus start_second(pthread_t *thread) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run_second, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0 ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "can't start new thread");
}

static TsrStatus run_both(void) {
    pthread_t second;
    VmThread mine;
    vm_thread_save(&mine);
    calls.side[1].state = (VmThread){.recursion_depth = mine.recursion_depth};
    calls.turn = 0;
    TSR_TRY(start_second(&second));
    vm_end_turn = end_turn;
    vm.turns = 1;
    run_side(&calls.side[0]);
    calls.side[0].ended = true;
    if (!calls.side[1].ended) {
        vm_thread_save(&calls.side[0].state);
        pass_turn(1);
        wait_for_turn(0);
    }
    vm.turns = 0;
    vm_waiting = NULL;
    pthread_join(second, NULL);
    return TSR_OK;
}

/* The results as a tuple, or the first exception. Gives up what the sides hold. */
static TsrStatus collect(Value *out) {
    Side *a = &calls.side[0], *b = &calls.side[1];
    if (a->exception.tag != V_UNBOUND || b->exception.tag != V_UNBOUND) {
        bool first = a->exception.tag != V_UNBOUND;
        value_release(a->result);
        value_release(b->result);
        if (first) value_release(b->exception);
        return exc_raise_move(first ? a->exception : b->exception);
    }
    Value pair[2] = {a->result, b->result};
    return tuple_new_move(out, pair, 2);
}

static int running_side(void) { return calls.turn; }

static const char *function_name(Value f, const char *otherwise) {
    return value_is_function(f) ? ((Function *)f.o)->code->name : otherwise;
}

static TsrStatus parallel(Value *out, const CallArgs *args) {
    if (vm.turns != 0) return tsr_error(TSR_RUNTIME_ERROR, "parallel() does not nest");
    for (int i = 0; i < 2; i++) {
        if (!value_is_callable(args->values[i]))
            return tsr_error(TSR_TYPE_ERROR, "'%s' object is not callable", value_type_name(args->values[i]));
        calls.side[i] = (Side){.function = args->values[i], .result = VALUE_UNBOUND, .exception = VALUE_UNBOUND};
    }
    memory_watch_begin(running_side);
    TsrStatus status = run_both();
    memory_watch_end();
    if (status == TSR_OK)
        memory_watch_tell(
            (const char *const[]){function_name(args->values[0], "f"), function_name(args->values[1], "g")});
    TSR_TRY(status);
    return collect(out);
}

static const Method functions[] = {
    {"parallel", parallel, ARGS_RANGE, 2, 2, "(f, g)",
     "Calls f() and g() on two threads that take turns; the pair of their results. A warning names memory that one "
     "writes while the other uses it."},
    {0},
};

TsrStatus parallel_calls_startup(void) { return namespace_add_functions("tsr", functions, true); }
