/* nvtx.c: the context manager that torch.cuda.nvtx.range gives; its functions are in torch/prelude/devices/nvtx.tsr. The name
 * of a range is formatted when its block is entered, by a function that the prelude hands over. No profiler listens, so
 * to leave a range takes nothing. */
#include "cuda_impl.h"

#include "lang/object/gc.h"
#include "lang/vm/prelude.h"

typedef struct NvtxRange {
    GcObj gc;
    Value push; /* begins the range */
    bool entered;
} NvtxRange;

GC_HOLDS(nvtx_range, NvtxRange, &it->push)

static TsrStatus range_enter(Value *out, const CallArgs *args) {
    NvtxRange *r = (NvtxRange *)args->values[0].o;
    Value depth;
    if (r->entered) return tsr_error(TSR_ATTRIBUTE_ERROR, "'_GeneratorContextManager' object has no attribute 'args'");
    r->entered = true;
    TSR_TRY(value_call_n(&depth, r->push, 0, NULL));
    value_release(depth);
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus range_exit(Value *out, const CallArgs *args) {
    (void)args;
    *out = VALUE_FALSE;
    return TSR_OK;
}

/* As a decorator. */
static TsrStatus range_call(Value *out, Value self, const CallArgs *args) {
    static const char *const names[] = {"func"};
    Value wrapped, decorate;
    TSR_TRY(args_parse_python(&wrapped, args, &(ArgSpec){"ContextDecorator.__call__", names, 1, 0, 1, 1}));
    TSR_TRY(prelude_get(&decorate, "nvtx range", "function"));
    TsrStatus status = value_call_n(out, decorate, 2, (Value[]){((NvtxRange *)self.o)->push, wrapped});
    value_release(decorate);
    return status;
}

static const Method range_methods[] = {
    {"__enter__", range_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Begins the range."},
    {"__exit__", range_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)", "Ends it."},
    END,
};
static Type nvtx_range_type = {.obj = TYPE_HEADER,
                               .name = "_GeneratorContextManager",
                               .module = "contextlib",
                               .destroy = nvtx_range_destroy,
                               .traverse = nvtx_range_traverse,
                               .clear = nvtx_range_clear,
                               .call = range_call,
                               .methods = range_methods};

static TsrStatus range_new(Value *out, const CallArgs *args) {
    NvtxRange *r = obj_new(&nvtx_range_type, sizeof *r);
    if (r == NULL) return TSR_MEMORY_ERROR;
    r->push = value_retain(args->values[0]);
    r->entered = false;
    gc_track(r);
    *out = value_obj_move(r);
    return TSR_OK;
}

const Method cuda_nvtx_functions[] = {
    {"_nvtx_range", range_new, ARGS_ONE, 1, 1, "(push, /)", "What torch.cuda.nvtx.range gives."},
    END,
};
