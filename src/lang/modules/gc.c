/* gc.c: Python's gc: counts free almost all at once, and what holds itself in a cycle is looked for now and then. */
#include "modules.h"

#include "lang/object/gc.h"

static TsrStatus collect(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_int(gc_collect());
    return TSR_OK;
}

static const Method functions[] = {
    {"collect", collect, ARGS_RANGE, 0, 1, "(generation=2)",
     "Frees what only holds itself, and says how many objects that were."},
    {0},
};

const NsModule ns_gc = {"gc", "What is held by nothing but itself.", functions, NULL, NULL};
