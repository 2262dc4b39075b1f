/* trace.c: the hooks of the trace and of the log of writes (alloc.h). They are in a file of their own because
 * allocators, storages and tensors all call them. */
#include "alloc_impl.h"

TsrTraceHook tsr_trace_hook;
_Thread_local bool tsr_trace_off;
_Thread_local const char *tsr_trace_reason;
_Thread_local const struct TsrStorage *tsr_trace_storage;
void *tsr_trace_user;
void (*tsr_write_hook)(struct TsrTensor *t, const char *what);
TSR_THREAD_LOCAL int64_t tsr_write_element = -1;
void (*tsr_writes_free_hook)(void *writes);
