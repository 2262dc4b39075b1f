/* error_impl.h: what tsr_interrupt_check shares with those who cause and catch interrupts; not for others. */
#ifndef CORE_BASE_ERROR_IMPL_H
#define CORE_BASE_ERROR_IMPL_H

#include "core/error.h"

/* Raises the memory fault that TSR_INTERRUPT_FAULT announces; fault.c sets it. */
extern TsrStatus (*tsr_interrupt_fault)(void);
/* This thread works on a chunk of tsr_parallel_for: a check then only reports, and the loop's owner raises. */
extern _Thread_local bool tsr_in_job;

#endif
