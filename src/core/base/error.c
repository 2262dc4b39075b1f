/* error.c: the last error of each thread, the table of error kinds, and the raising of interrupts (error.h).
 *
 * A thread's last error lies in thread-local buffers of fixed size, so that reporting a lack of memory needs none. Only
 * a message longer than INLINE_MESSAGE is allocated, with malloc directly: mem.h's limit and injected failures must not
 * stop an error from being reported. If even that fails, the message is cut. The shapes of a failed broadcast are kept
 * apart, with a copy of the message they belong to, since a later error may replace it. */
#include "error_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a message that is kept without an allocation, terminator included. Few messages are longer; three such
 * buffers a thread are what it costs. */
enum { INLINE_MESSAGE = 512 };

/* The message lives in `text` when it fits, else in `heap`. */
typedef struct LastError {
    TsrStatus kind;
    char text[INLINE_MESSAGE];
    char *heap;
    char hint[INLINE_MESSAGE];
} LastError;

static _Thread_local LastError last;
_Atomic int tsr_interrupt_flag = TSR_INTERRUPT_NONE;
_Atomic uint32_t tsr_interrupt_count = 2;
_Thread_local TsrInterruptOwn tsr_interrupt_own;
static _Atomic int cleared; /* the kind of the last request that was cleared */
TsrStatus (*tsr_interrupt_fault)(void) = NULL;
_Thread_local bool tsr_in_job;

static const struct {
    const char *name;
    TsrStatus base;
} kinds[TSR_STATUS_COUNT] = {
    [TSR_OK] = {"OK", TSR_OK},
#define ERROR(suffix, name, base) [TSR_##suffix] = {name, TSR_##base},
#include "core/error.def"
#undef ERROR
};

/* Starts a new last error: frees the old one's long message and drops its hint. */
static void begin(TsrStatus kind) {
    free(last.heap);
    last.heap = NULL;
    last.hint[0] = '\0';
    last.kind = kind;
}

TsrStatus tsr_error(TsrStatus kind, const char *format, ...) {
    char text[INLINE_MESSAGE]; /* formatted first: an argument may be the old message */
    char *heap = NULL;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length >= INLINE_MESSAGE && (heap = malloc((size_t)length + 1)) != NULL) {
        va_start(args, format);
        vsnprintf(heap, (size_t)length + 1, format, args);
        va_end(args);
    }
    if (TSR_UNLIKELY(kind == TSR_OK || kind >= TSR_STATUS_COUNT))
        kind = TSR_SYSTEM_ERROR; /* the caller passed no error kind: as CPython's SystemError */
    begin(kind);
    memcpy(last.text, text, sizeof text);
    last.heap = heap;
    return kind;
}

TsrStatus tsr_error_no_memory(uint64_t bytes) {
    begin(TSR_RUNTIME_ERROR);
    snprintf(last.text, sizeof last.text,
             "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
             "allocate %" PRIu64 " bytes. Error code 12 (Cannot allocate memory)",
             bytes);
    return TSR_RUNTIME_ERROR;
}

/* Python's mapping of errno to the subclasses of OSError (PEP 3151). */
static TsrStatus kind_of_errno(int err) {
    switch (err) {
    case ENOENT: return TSR_FILE_NOT_FOUND_ERROR;
    case EEXIST: return TSR_FILE_EXISTS_ERROR;
    case EISDIR: return TSR_IS_A_DIRECTORY_ERROR;
    case ENOTDIR: return TSR_NOT_A_DIRECTORY_ERROR;
    case EACCES:
    case EPERM: return TSR_PERMISSION_ERROR;
    case EPIPE:
    case ESHUTDOWN: return TSR_BROKEN_PIPE_ERROR;
    case ECONNABORTED: return TSR_CONNECTION_ABORTED_ERROR;
    case ECONNREFUSED: return TSR_CONNECTION_REFUSED_ERROR;
    case ECONNRESET: return TSR_CONNECTION_RESET_ERROR;
    case EAGAIN:
    case EALREADY:
    case EINPROGRESS: return TSR_BLOCKING_IO_ERROR;
    case ECHILD: return TSR_CHILD_PROCESS_ERROR;
    case EINTR: return TSR_INTERRUPTED_ERROR;
    case ESRCH: return TSR_PROCESS_LOOKUP_ERROR;
    case ETIMEDOUT: return TSR_TIMEOUT_ERROR;
    default: return TSR_OS_ERROR;
    }
}

/* Linux's number of an error of this machine, for those that files and memory bring: what is shown does not depend on
 * the machine. */
static int shown_errno(int err) {
    static const struct {
        int here, shown;
    } rows[] = {
        {EPERM, 1},   {ENOENT, 2},  {EINTR, 4},         {EIO, 5},     {EBADF, 9},      {ECHILD, 10},
        {EAGAIN, 11}, {ENOMEM, 12}, {EACCES, 13},       {EFAULT, 14}, {EBUSY, 16},     {EEXIST, 17},
        {EXDEV, 18},  {ENODEV, 19}, {ENOTDIR, 20},      {EISDIR, 21}, {EINVAL, 22},    {ENFILE, 23},
        {EMFILE, 24}, {ENOTTY, 25}, {EFBIG, 27},        {ENOSPC, 28}, {ESPIPE, 29},    {EROFS, 30},
        {EPIPE, 32},  {ERANGE, 34}, {ENAMETOOLONG, 36}, {ENOSYS, 38}, {ENOTEMPTY, 39}, {ELOOP, 40},
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (rows[i].here == err) return rows[i].shown;
    return err;
}

TsrStatus tsr_error_errno(int err, const char *path) {
    TsrStatus kind = kind_of_errno(err);
    if (path == NULL) return tsr_error(kind, "[Errno %d] %s", shown_errno(err), strerror(err));
    return tsr_error(kind, "[Errno %d] %s: '%s'", shown_errno(err), strerror(err), path);
}

void tsr_error_hint(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(last.hint, sizeof last.hint, format, args);
    va_end(args);
}

/* Shapes of more dimensions are not drawn: they would not fit a line of a terminal. */
enum { MOST_SHOWN_DIMS = 12, SHAPES_TEXT = 1024 };

/* The drawing, and the message of the error that it explains. */
static _Thread_local struct {
    char text[SHAPES_TEXT];
    char message[INLINE_MESSAGE];
} shapes;

/* Appends to the drawing; what does not fit is left out. */
static void put(size_t *length, const char *format, ...) {
    va_list args;
    if (*length >= SHAPES_TEXT - 1) return;
    va_start(args, format);
    int n = vsnprintf(shapes.text + *length, SHAPES_TEXT - *length, format, args);
    va_end(args);
    *length = n > 0 ? *length + (size_t)n : *length;
}

/* One shape, its last dimension in the last of n columns. */
static void put_shape(size_t *length, const char *name, int n, const int *widths, int count, const int64_t *sizes) {
    put(length, "%s: ", name);
    for (int i = 0; i < n; i++) {
        int d = i - (n - count);
        if (d < 0) put(length, "%*s", widths[i] + (i + 1 < n ? 3 : 0), "");
        else put(length, "%*lld%s", widths[i], (long long)sizes[d], i + 1 < n ? " x " : "");
    }
    put(length, "\n");
}

void tsr_error_shapes(int na, const int64_t *a, int nb, const int64_t *b, int dim) {
    int n = na > nb ? na : nb, widths[MOST_SHOWN_DIMS], before = 0;
    size_t length = 0;
    shapes.text[0] = '\0';
    if (na < 0 || nb < 0 || n > MOST_SHOWN_DIMS || dim < 0 || dim >= n) return;
    for (int i = 0; i < n; i++) {
        int wa = i >= n - na ? snprintf(NULL, 0, "%lld", (long long)a[i - (n - na)]) : 0;
        int wb = i >= n - nb ? snprintf(NULL, 0, "%lld", (long long)b[i - (n - nb)]) : 0;
        widths[i] = wa > wb ? wa : wb;
        if (i < dim) before += widths[i] + 3;
    }
    put_shape(&length, "a", n, widths, na, a);
    put_shape(&length, "b", n, widths, nb, b);
    put(&length, "   %*s%*s\n", before, "", widths[dim], "^");
    snprintf(shapes.message, sizeof shapes.message, "%s", tsr_error_message());
}

const char *tsr_error_shapes_text(const char *message) {
    return shapes.text[0] != '\0' && strcmp(shapes.message, message) == 0 ? shapes.text : NULL;
}

TsrStatus tsr_error_kind(void) { return last.kind; }
const char *tsr_error_message(void) { return last.heap != NULL ? last.heap : last.text; }
const char *tsr_error_hint_text(void) { return last.hint[0] != '\0' ? last.hint : NULL; }

void tsr_error_clear(void) {
    begin(TSR_OK);
    last.text[0] = '\0';
}

const char *tsr_status_name(TsrStatus kind) { return kind < TSR_STATUS_COUNT ? kinds[kind].name : "Exception"; }
TsrStatus tsr_status_base(TsrStatus kind) { return kind < TSR_STATUS_COUNT ? kinds[kind].base : TSR_EXCEPTION; }

bool tsr_status_is_a(TsrStatus kind, TsrStatus ancestor) {
    for (;; kind = tsr_status_base(kind)) {
        if (kind == ancestor) return true;
        if (kind == tsr_status_base(kind)) return false;
    }
}

void tsr_interrupt_request(void) { tsr_interrupt_flag = TSR_INTERRUPT_KEYBOARD; }
void tsr_interrupt_request_timeout(void) { tsr_interrupt_flag = TSR_INTERRUPT_TIMEOUT; }

/* What this thread must stop for: the request, or one that another thread cleared while this one's operator ran. */
static int pending_kind(void) {
    int kind = tsr_interrupt_flag;
    bool missed = tsr_interrupt_own.since != 0 && tsr_interrupt_own.since != tsr_interrupt_count;
    return kind == TSR_INTERRUPT_NONE && missed ? cleared : kind;
}

/* Counted before the flag goes: an operator that begins in between sees the flag (tsr_interrupt_enter). */
static void clear(int kind) {
    if (tsr_interrupt_flag != TSR_INTERRUPT_NONE) {
        cleared = kind;
        tsr_interrupt_count++;
        tsr_interrupt_flag = TSR_INTERRUPT_NONE;
    }
    if (tsr_interrupt_own.since != 0) tsr_interrupt_own.since = tsr_interrupt_count;
}

TsrStatus tsr_interrupt_raise_fault(void) {
    if (tsr_interrupt_own.fault == 0) return TSR_OK;
    tsr_interrupt_own.fault = 0;
    return tsr_interrupt_fault();
}

/* In a worker of a parallel loop everything stays pending and no message is written: the thread that owns the loop
 * raises it. */
TsrStatus tsr_interrupt_raise(void) {
    int kind = pending_kind();
    if (tsr_in_job && kind == TSR_INTERRUPT_NONE) return TSR_OK;
    if (tsr_in_job) return kind == TSR_INTERRUPT_TIMEOUT ? TSR_TIMEOUT_ERROR : TSR_KEYBOARD_INTERRUPT;
    TSR_TRY(tsr_interrupt_raise_fault());
    clear(kind);
    if (kind == TSR_INTERRUPT_TIMEOUT) return tsr_error(TSR_TIMEOUT_ERROR, "the time limit was reached");
    return kind == TSR_INTERRUPT_KEYBOARD ? tsr_error(TSR_KEYBOARD_INTERRUPT, "%s", "") : TSR_OK;
}
