/* Who listens to what becomes of memory; the allocators stand between these and their table. */
#include "core/alloc.h"

TsrTraceHook tsr_trace_hook;
void *tsr_trace_user;
void (*tsr_write_hook)(struct TsrTensor *t, const char *what);
void (*tsr_writes_free_hook)(void *writes);
