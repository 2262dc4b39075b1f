/* time.c: Python's time, as far as it makes sense here: clocks, the time of day and sleep. */
#include "modules.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "lang/object/args.h"
#include "lang/types/numbers.h"
#include "lang/types/str.h"

static int64_t read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define CLOCK(name, id) \
    static TsrStatus time_##name(Value *out, const CallArgs *args) { \
        (void)args; \
        *out = value_float((double)read_clock(id) * 1e-9); \
        return TSR_OK; \
    } \
    static TsrStatus time_##name##_ns(Value *out, const CallArgs *args) { \
        (void)args; \
        *out = value_int(read_clock(id)); \
        return TSR_OK; \
    }

CLOCK(time, CLOCK_REALTIME)
CLOCK(perf_counter, CLOCK_MONOTONIC)
CLOCK(monotonic, CLOCK_MONOTONIC)
CLOCK(process_time, CLOCK_PROCESS_CPUTIME_ID)

/* In slices of 50 ms, so that an interrupt is seen at once. */
static TsrStatus time_sleep(Value *out, const CallArgs *args) {
    double seconds;
    TSR_TRY(value_to_double(&seconds, args->values[0]));
    if (isnan(seconds)) return tsr_error(TSR_VALUE_ERROR, "Invalid value NaN (not a number)");
    if (seconds < 0) return tsr_error(TSR_VALUE_ERROR, "sleep length must be non-negative");
    int64_t end = read_clock(CLOCK_MONOTONIC) + (int64_t)fmin(seconds * 1e9, 9e17);
    for (int64_t left; (left = end - read_clock(CLOCK_MONOTONIC)) > 0;) {
        struct timespec slice = {0, (long)TSR_MIN(left, 50000000)};
        nanosleep(&slice, NULL);
        TSR_TRY(tsr_interrupt_check());
    }
    *out = VALUE_NONE;
    return TSR_OK;
}

#ifndef __wasm__ /* for the size of the page */
static TsrStatus time_strftime(Value *out, const CallArgs *args) {
    enum { MOST = 4096 };
    char text[MOST];
    const char *format;
    TSR_TRY(value_to_cstring(&format, args->values[0], "strftime() argument 1"));
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local) == NULL) return tsr_error_errno(errno, NULL);
    size_t n = strftime(text, sizeof text, format, &local);
    if (n == 0 && format[0] != '\0') return tsr_error(TSR_VALUE_ERROR, "Invalid format string");
    return str_new(out, text, (int64_t)n);
}
#endif

static const Method functions[] = {
    {"time", time_time, ARGS_NONE, 0, 0, "()", "Seconds since 1970 as a float."},
    {"time_ns", time_time_ns, ARGS_NONE, 0, 0, "()", "Nanoseconds since 1970."},
    {"perf_counter", time_perf_counter, ARGS_NONE, 0, 0, "()", "A clock for timing, in seconds."},
    {"perf_counter_ns", time_perf_counter_ns, ARGS_NONE, 0, 0, "()", "A clock for timing, in nanoseconds."},
    {"monotonic", time_monotonic, ARGS_NONE, 0, 0, "()", "A clock that never goes back, in seconds."},
    {"monotonic_ns", time_monotonic_ns, ARGS_NONE, 0, 0, "()", "A clock that never goes back, in nanoseconds."},
    {"process_time", time_process_time, ARGS_NONE, 0, 0, "()", "Processor time of this program, in seconds."},
    {"process_time_ns", time_process_time_ns, ARGS_NONE, 0, 0, "()", "Processor time of this program, in nanoseconds."},
#ifndef __wasm__
    {"strftime", time_strftime, ARGS_ONE, 1, 1, "(format, /)", "The time of day and the date now, as the format says."},
#endif
    {"sleep", time_sleep, ARGS_ONE, 1, 1, "(seconds, /)", "Waits."},
    {0},
};

const NsModule ns_time = {"time", "Clocks.", functions, NULL, NULL};
