/* fallback.h: what is said of operators that ran on the host because they have no code for the device. */
#ifndef SHOW_WATCH_FALLBACK_H
#define SHOW_WATCH_FALLBACK_H

#include "core/error.h"

TsrStatus fallback_startup(void); /* tsr.cuda_fallback, and the notes */

#endif
