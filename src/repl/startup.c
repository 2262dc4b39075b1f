#include "startup.h"

#include "alloc.h"
#include "builtin.h"
#include "dict_obj.h"
#include "exc.h"
#include "func_obj.h"
#include "draw.h"
#include "explain.h"
#include "files.h"
#include "golden.h"
#include "inspect.h"
#include "lesson.h"
#include "maybe_owned.h"
#include "namespace.h"
#include "ns_caffe2.h"
#include "ns_tensorflow.h"
#include "ns_th.h"
#include "notes.h"
#include "prelude.h"
#include "parallel_calls.h"
#include "see.h"
#include "str_obj.h"
#include "vm.h"
#include "who.h"

/* exit(status), quit(status): as sys.exit */
static TsrStatus leave(Value *out, const CallArgs *args) {
    (void)out;
    Value exception;
    TSR_TRY(exc_new(&exception, TSR_SYSTEM_EXIT, args->count, args->values));
    return exc_raise_move(exception);
}

static const Method leaving[] = {{"exit", leave, ARGS_RANGE, 0, 1, "(code=None)", "Ends the program; code is its exit status."},
                                 {"quit", leave, ARGS_RANGE, 0, 1, "(code=None)", "Ends the program; code is its exit status."}};

static TsrStatus add_leaving(void) {
    for (size_t i = 0; i < TSR_COUNTOF(leaving); i++) {
        Value name = VALUE_UNBOUND, function = VALUE_UNBOUND;
        TsrStatus status = str_new_c(&name, leaving[i].name);
        if (status == TSR_OK) status = native_new(&function, &leaving[i], NULL);
        if (status == TSR_OK) status = dict_set(vm_builtins(), name, function);
        value_release(name);
        value_release(function);
        TSR_TRY(status);
    }
    return TSR_OK;
}

TsrStatus startup_all(void) {
    TSR_TRY(value_startup());
    TSR_TRY(builtin_register_modules());
    TSR_TRY(vm_startup());
    TSR_TRY(add_leaving());
    TSR_TRY(namespace_startup());
    TSR_TRY(namespace_add_module("tsr", NULL));
    TSR_TRY(files_startup());
    TSR_TRY(inspect_startup());
    TSR_TRY(maybe_owned_startup());
    TSR_TRY(ns_th_startup());
    TSR_TRY(golden_startup());
    TSR_TRY(see_startup());
    TSR_TRY(explain_startup());
    TSR_TRY(notes_startup());
    TSR_TRY(parallel_calls_startup());
    TSR_TRY(draw_startup());
    TSR_TRY(lesson_startup());
    TSR_TRY(ns_caffe2_startup());
    TSR_TRY(ns_tensorflow_startup());
    who_name_for_core();
    return TSR_OK;
}

void startup_undo(void) {
    notes_shutdown();
    see_shutdown();
    vm_shutdown();
    ns_th_shutdown();
    ns_caffe2_shutdown();
    prelude_shutdown();
    namespace_shutdown();
    value_shutdown();
    tsr_error_clear();
}

void startup_limit_memory(size_t bytes) {
    if (bytes > 0) tsr_set_memory_limit(bytes);
    else tsr_limit_small_memory();
}
