/* two_threads.h: parallel(f, g): two functions of the language on two threads.
 *
 * The evaluator belongs to one thread at a time. Each backward jump and each call of a language function ends a turn:
 * the thread puts its frames aside and wakes the other, as CPython's threads do with their global lock, but strictly in
 * turns, so that a program does the same every time. The tensors are shared: their counts are atomic in the core, and
 * what is written between two turns of the other is seen by it. */
#ifndef SHOW_TWO_THREADS_H
#define SHOW_TWO_THREADS_H

#include "lang/object/value.h"

TsrStatus parallel_calls_startup(void);

#endif
