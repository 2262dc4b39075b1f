/* turn.h: operators that draw random numbers take turns: a generator's stream is not for two threads at once. */
#ifndef CORE_ENGINE_TURN_H
#define CORE_ENGINE_TURN_H

#include "core/base.h"

/* Whether this thread's operator has the turn. */
extern _Thread_local bool tsr_turn_taken;
/* Waits for the turn and keeps it until the outermost operator of this thread ends (tsr_op_run); nothing outside one.
 */
void tsr_turn_take(void);
void tsr_turn_give_back(void);
static inline void tsr_turn_end(void) {
    if (TSR_UNLIKELY(tsr_turn_taken)) tsr_turn_give_back();
}

#endif
