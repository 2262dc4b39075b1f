/* why.h: why(x): what keeps a tensor's memory alive, and what would free it. */
#ifndef REPL_WHY_H
#define REPL_WHY_H

#include "lang/object/value.h"

TsrStatus why_startup(void);

#endif
