/* th.h: TH, THC, THS and THCS: raw handles without automatic counting, as the C libraries of torch7 had them.
 *
 * A handle is a number for a tensor (or storage) and a count of raw references, each with the line that made it. Values
 * of the language that name a handle hold nothing: what `new` and `retain` gave stays until `free` takes it. Freeing
 * once too often, using a freed handle and dropping the last name of one that is still referenced are reported, never a
 * crash. */
#ifndef SYSTEMS_TH_H
#define SYSTEMS_TH_H

#include "lang/object/value.h"

TsrStatus ns_th_startup(void);
void ns_th_shutdown(void); /* frees what was never freed; before the core's storages are counted */

#endif
