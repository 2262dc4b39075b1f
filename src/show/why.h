/* why.h: why(x): what keeps a tensor's memory alive, and what would free it. */
#ifndef SHOW_WHY_H
#define SHOW_WHY_H

#include "lang/object/value.h"

TsrStatus why_startup(void);

#endif
