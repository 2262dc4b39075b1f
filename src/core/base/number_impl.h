/* number_impl.h: what printing shares with the reading of numbers; not for others. */
#ifndef CORE_BASE_NUMBER_IMPL_H
#define CORE_BASE_NUMBER_IMPL_H

#include <locale.h>

#include "core/number.h"

/* The "C" locale: the C library's numbers then have a point whatever the program's locale. Lent for ever; (locale_t)0
 * when memory is short. */
locale_t tsr_c_locale(void);

#endif
