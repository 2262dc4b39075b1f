/* sources.c: functions of Python's modules that are written in the language (prelude/). A source is a row here. */
#include "modules.h"
#include "core/base/embed.h"

#include "lang/vm/prelude.h"

PRELUDE_EMBED(prelude_bisect, "src/lang/modules/prelude/bisect.tsr");
PRELUDE_EMBED(prelude_contextlib, "src/lang/modules/prelude/contextlib.tsr");
PRELUDE_EMBED(prelude_future, "src/lang/modules/prelude/future.tsr");
PRELUDE_EMBED(prelude_functools, "src/lang/modules/prelude/functools.tsr");
PRELUDE_EMBED(prelude_heapq, "src/lang/modules/prelude/heapq.tsr");
PRELUDE_EMBED(prelude_operator, "src/lang/modules/prelude/operator.tsr");
PRELUDE_EMBED(prelude_random, "src/lang/modules/prelude/random.tsr");
#ifndef __wasm__
PRELUDE_EMBED(prelude_argparse, "src/lang/modules/prelude/argparse.tsr");
PRELUDE_EMBED(prelude_csv, "src/lang/modules/prelude/csv.tsr");
PRELUDE_EMBED(prelude_io, "src/lang/modules/prelude/io.tsr");
PRELUDE_EMBED(prelude_logging, "src/lang/modules/prelude/logging.tsr");
PRELUDE_EMBED(prelude_pathlib, "src/lang/modules/prelude/pathlib.tsr");
PRELUDE_EMBED(prelude_pprint, "src/lang/modules/prelude/pprint.tsr");
PRELUDE_EMBED(prelude_re, "src/lang/modules/prelude/re.tsr");
PRELUDE_EMBED(prelude_singledispatch, "src/lang/modules/prelude/singledispatch.tsr");
PRELUDE_EMBED(prelude_statistics, "src/lang/modules/prelude/statistics.tsr");
PRELUDE_EMBED(prelude_string, "src/lang/modules/prelude/string.tsr");
PRELUDE_EMBED(prelude_textwrap, "src/lang/modules/prelude/textwrap.tsr");
PRELUDE_EMBED(prelude_timeit, "src/lang/modules/prelude/timeit.tsr");
PRELUDE_EMBED(prelude_typing_parts, "src/lang/modules/prelude/typing_parts.tsr");
#endif
PRELUDE_EMBED(prelude_types, "src/lang/modules/prelude/types.tsr");
PRELUDE_EMBED(prelude_typing, "src/lang/modules/prelude/typing.tsr");
PRELUDE_EMBED(prelude_warnings, "src/lang/modules/prelude/warnings.tsr");

#define SOURCE(space, file, modules) \
    { space, "<prelude " #file ">", prelude_##file, prelude_##file##_end, modules }
static const PreludeSource sources[] = {
    SOURCE("bisect", bisect, "operator"),
    SOURCE("contextlib", contextlib, "contextlib functools sys"),
    SOURCE("__future__", future, "__future__"),
    SOURCE("functools", functools, NULL),
    SOURCE("heapq", heapq, NULL),
    SOURCE("operator", operator, NULL),
    SOURCE("random", random, "math random"),
#ifndef __wasm__
    SOURCE("argparse", argparse, "argparse os sys textwrap types"),
    SOURCE("csv", csv, "csv types"),
    SOURCE("io", io, "io operator"),
    SOURCE("logging", logging, "logging sys time"),
    SOURCE("pathlib", pathlib, "os pathlib re"),
    SOURCE("pprint", pprint, "functools types"),
    SOURCE("re", re, "re"),
    SOURCE("functools", singledispatch, "functools typing"),
    SOURCE("statistics", statistics, "collections math statistics"),
    SOURCE("string", string, NULL),
    SOURCE("textwrap", textwrap, "re"),
    SOURCE("timeit", timeit, "time"),
    SOURCE("typing", typing_parts, "types"),
#endif
    SOURCE("types", types, NULL),
    SOURCE("typing", typing, "collections typing"),
    SOURCE("warnings", warnings, "warnings sys re"),
};

void modules_sources_add(void) { prelude_add(sources, (int)TSR_COUNTOF(sources)); }
