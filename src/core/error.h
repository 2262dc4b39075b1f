/* error.h: status codes, the thread's last error, and the interrupt flag.
 *
 * A function that can fail returns TsrStatus, TSR_OK (0) on success. On failure it has set the
 * thread-local last error: its kind (the status itself), a message with the numbers in it, and
 * perhaps a hint. On success the last error is what it was. Nothing in the core prints, exits or
 * jumps. The kinds are Python's exception types, one row each in error.def. Reporting that memory
 * is short allocates nothing. */
#ifndef TSR_ERROR_H
#define TSR_ERROR_H

#include "base.h"

TSR_PUBLIC_BEGIN

/* The result of a function that can fail: TSR_OK, or the kind of the last error. One constant for each row of
 * error.def. */
typedef enum TsrStatus {
    TSR_OK = 0,
#define ERROR(suffix, name, base) TSR_##suffix,
#include "error.def"
#undef ERROR
    TSR_STATUS_COUNT,
    TSR_RAISED /* the language only: the exception object is already pending in its evaluator */
} TsrStatus;

/* Returns from the enclosing function with the status of `expr` unless it succeeded. */
#define TSR_TRY(expr) \
    do { \
        TsrStatus tsr_try_status_ = (expr); \
        if (TSR_UNLIKELY(tsr_try_status_ != TSR_OK)) return tsr_try_status_; \
    } while (0)

/* Sets the last error and returns `kind`; a caller that passes TSR_OK or no known kind gets TSR_SYSTEM_ERROR. The
 * message is copied, whatever its length; a hint set before is dropped. Marked cold, so that the compiler moves the
 * paths that fail out of the way. */
TsrStatus tsr_error(TsrStatus kind, const char *format, ...) TSR_PRINTF(2, 3) __attribute__((cold));

/* As tsr_error for a failed allocation of `bytes`; allocates nothing. Kind: TSR_RUNTIME_ERROR, with
 * the text PyTorch's CPU allocator gives ("... you tried to allocate N bytes ..."). */
TsrStatus tsr_error_no_memory(uint64_t bytes) __attribute__((cold));

/* As tsr_error for errno value `err` of a system call on `path` (which may be NULL):
 * "[Errno 2] No such file or directory: 'x.npy'", of the kind that Python maps err to. */
TsrStatus tsr_error_errno(int err, const char *path) __attribute__((cold));

/* Adds a hint (one line, no final stop) to the last error. Never part of the message. */
void tsr_error_hint(const char *format, ...) TSR_PRINTF(1, 2) __attribute__((cold));

/* Remembers two shapes that do not broadcast, for the report of the last error: na sizes in a, nb in b, and in `dim`
 * the first dimension that does not fit, counted in the longer shape. They are drawn right-aligned with a caret under
 * that dimension. Shapes of more than 12 dimensions are not drawn. */
void tsr_error_shapes(int na, const int64_t *a, int nb, const int64_t *b, int dim) __attribute__((cold));
/* That drawing (each line ends with \n) if it belongs to an error with this message, else NULL. Lent until the next
 * call of tsr_error_shapes. */
const char *tsr_error_shapes_text(const char *message);

TsrStatus tsr_error_kind(void);        /* of the last error of this thread, TSR_OK if none */
const char *tsr_error_message(void);   /* lent until the next error of this thread; never NULL */
const char *tsr_error_hint_text(void); /* lent; NULL if the last error has none */
void tsr_error_clear(void);            /* also frees the thread's buffers */

const char *tsr_status_name(TsrStatus kind); /* "ValueError"; static */
TsrStatus tsr_status_base(TsrStatus kind);   /* the kind it derives from; TSR_BASE_EXCEPTION is its own */
/* Whether `kind` is `ancestor` or derives from it, as issubclass of Python's exceptions. */
bool tsr_status_is_a(TsrStatus kind, TsrStatus ancestor);

/* Interrupts. A signal handler may call tsr_interrupt_request. Long loops call tsr_interrupt_check
 * every block (at least every 50 ms of work): TSR_KEYBOARD_INTERRUPT, or TSR_TIMEOUT_ERROR after
 * tsr_interrupt_request_timeout. A check that fires clears the request. A request is the process's: every operator that
 * runs, in whatever thread, may fail by it, and one that it ended early does fail, whichever thread clears it. */
typedef enum TsrInterrupt { TSR_INTERRUPT_NONE, TSR_INTERRUPT_KEYBOARD, TSR_INTERRUPT_TIMEOUT } TsrInterrupt;
extern TSR_ATOMIC(int) tsr_interrupt_flag; /* a TsrInterrupt: why to stop at the next check; read it in hot loops */
/* How many requests were cleared, from 2 on. */
extern TSR_ATOMIC(uint32_t) tsr_interrupt_count;
/* What this thread alone has to raise. */
typedef struct TsrInterruptOwn {
    volatile int fault; /* not 0: a fault of memory that tsr_catch_faults repaired */
    uint32_t since;     /* tsr_interrupt_count when this thread's operator began; 0: none runs */
} TsrInterruptOwn;
extern TSR_THREAD_LOCAL TsrInterruptOwn tsr_interrupt_own TSR_EARLY_TLS;
/* Ask every loop to stop at its next check; both are safe in a signal handler. */
void tsr_interrupt_request(void);
void tsr_interrupt_request_timeout(void);
/* Sets the error of the pending interrupt, clears the request and returns the error's kind. tsr_interrupt_check calls
 * it. TSR_OK where nothing is pending. */
TsrStatus tsr_interrupt_raise(void) __attribute__((cold));
/* Whether tsr_interrupt_check has something to say. */
static inline bool tsr_interrupt_pending(void) {
    return TSR_UNLIKELY((tsr_interrupt_flag | tsr_interrupt_own.fault) != 0) ||
           TSR_UNLIKELY(tsr_interrupt_own.since != 0 && tsr_interrupt_own.since != tsr_interrupt_count);
}
/* TSR_OK unless an interrupt was requested; some loads and predicted branches. */
static inline TsrStatus tsr_interrupt_check(void) { return tsr_interrupt_pending() ? tsr_interrupt_raise() : TSR_OK; }
/* The same in a loop of short steps, at its step i: looks at every 1024th only. */
static inline TsrStatus tsr_interrupt_check_at(int64_t i) { return (i & 0x3FF) == 0 ? tsr_interrupt_check() : TSR_OK; }
/* Around what may run kernels: whatever request comes between the two is this thread's too. They nest: leave with what
 * enter returned. */
static inline uint32_t tsr_interrupt_enter(void) {
    uint32_t outer = tsr_interrupt_own.since;
    if (outer == 0) {
        tsr_interrupt_own.since = tsr_interrupt_count;
        if (TSR_UNLIKELY(tsr_interrupt_flag != 0)) tsr_interrupt_own.since--; /* it may be cleared by another thread */
    }
    return outer;
}
static inline void tsr_interrupt_leave(uint32_t outer) { tsr_interrupt_own.since = outer; }
/* For kernels, which have no status: true when the loop must stop at its step i. Looks at every 64th step only, since
 * each step may be the first to touch a huge page, which takes the system a millisecond or more. The caller of the
 * kernel checks afterwards. */
static inline bool tsr_interrupted_at(int64_t i) { return (i & 0x3F) == 0 && TSR_UNLIKELY(tsr_interrupt_flag != 0); }
/* The same for loops that the compiler is to vectorise: runs the body for k in [0, n) and looks for an interrupt before
 * each TSR_PIECE steps. `break` leaves only the current piece. TSR_PIECE trades the delay of an interrupt against the
 * cost of the looks; 16384 steps take microseconds. */
enum { TSR_PIECE = 1 << 14 };
#define TSR_IN_PIECES(k, n) \
    for (int64_t k##_from = 0; k##_from < (n) && TSR_LIKELY(tsr_interrupt_flag == 0); k##_from += TSR_PIECE) \
        for (int64_t k = k##_from, k##_to = TSR_MIN(k##_from + TSR_PIECE, (n)); k < k##_to; k++)

TSR_PUBLIC_END

#endif
