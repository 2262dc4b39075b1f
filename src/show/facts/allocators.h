/* allocators.h: the core's registries as data: memory, empty_cache, typemeta, allocators, set_allocator. */
#ifndef SHOW_FACTS_ALLOCATORS_H
#define SHOW_FACTS_ALLOCATORS_H

#include "lang/object/value.h"

TsrStatus allocators_startup(void);

#endif
