/* ns.h: the modules of Python's that the language has, one file each: a maker fills a module from a table. */
#ifndef REPL_NS_H
#define REPL_NS_H

#include "func_obj.h"

TsrStatus ns_math_new(Value *out);
TsrStatus ns_cmath_new(Value *out);
TsrStatus ns_itertools_new(Value *out);
TsrStatus ns_functools_new(Value *out);
TsrStatus ns_json_new(Value *out);
TsrStatus ns_sys_new(Value *out);
TsrStatus ns_os_new(Value *out);
TsrStatus ns_os_path_new(Value *out);
TsrStatus ns_time_new(Value *out);
TsrStatus ns_random_new(Value *out);
TsrStatus ns_collections_new(Value *out);
TsrStatus ns_copy_new(Value *out);
TsrStatus ns_typing_new(Value *out);
TsrStatus ns_heapq_new(Value *out);
TsrStatus ns_bisect_new(Value *out);
TsrStatus ns_operator_new(Value *out);
TsrStatus ns_string_new(Value *out);

/* copy.deepcopy(v, memo): `memo` maps the id of what was copied already to its copy. */
TsrStatus deep_copy(Value *out, Value v, Dict *memo);

#endif
