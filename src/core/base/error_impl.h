/* error_impl.h: what tsr_interrupt_check shares with those who cause and catch interrupts; not for others. */
#ifndef CORE_BASE_ERROR_IMPL_H
#define CORE_BASE_ERROR_IMPL_H

#include "core/error.h"

/* Turns this thread's tsr_interrupt_own.fault into the error of the fault that was seen. memory/fault.c sets it before
 * any fault is. */
extern TsrStatus (*tsr_interrupt_fault)(void);
/* Sets the error of this thread's fault, if it has one, and leaves requests alone. */
TsrStatus tsr_interrupt_raise_fault(void);
/* Whether this thread runs a chunk of tsr_parallel_for: a check then only reports, and the thread that owns the loop
 * raises. */
extern _Thread_local bool tsr_in_job;

#endif
