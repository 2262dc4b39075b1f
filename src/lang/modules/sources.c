/* sources.c: functions of Python's modules that are written in the language (prelude/). A source is a row here. */
#include "modules.h"

#include "lang/vm/prelude.h"

PRELUDE_EMBED(prelude_functools, "src/lang/modules/prelude/functools.tsr");
PRELUDE_EMBED(prelude_heapq, "src/lang/modules/prelude/heapq.tsr");

#define SOURCE(space, file) \
    { space, "<prelude " #file ">", prelude_##file, prelude_##file##_end, NULL }
static const PreludeSource sources[] = {
    SOURCE("functools", functools),
    SOURCE("heapq", heapq),
};

void modules_sources_add(void) { prelude_add(sources, (int)TSR_COUNTOF(sources)); }
