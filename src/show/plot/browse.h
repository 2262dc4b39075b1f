/* browse.h: browse(x): a tensor or a table in the window, a part at a time, with keys to move in it. The loop is
 * written in browse.tsr; here are the keys and the window. */
#ifndef SHOW_PLOT_BROWSE_H
#define SHOW_PLOT_BROWSE_H

#include "lang/object/value.h"

TsrStatus browse_startup(void);

#endif
