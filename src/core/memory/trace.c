/* trace.c: the hooks of the trace and of the log of writes (alloc.h). They are in a file of their own because
 * allocators, storages and tensors all call them. */
#include "core/alloc.h"

TsrTraceHook tsr_trace_hook;
_Thread_local bool tsr_trace_off;
void *tsr_trace_user;
void (*tsr_write_hook)(struct TsrTensor *t, const char *what);
void (*tsr_writes_free_hook)(void *writes);
