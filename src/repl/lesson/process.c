/* The copy (copy.h) has all names and tensors; pages that either side writes become its own, but for those of mappings
 * that processes share. */
#include "process.h"

#include "copy.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/value.h"
#include "repl/shell.h"

/* In the copy. False after an error, which it reports. */
static bool call_there(void *context) {
    Value result;
    TsrStatus status = value_call_n(&result, *(const Value *)context, 0, NULL);
    if (status != TSR_OK) {
        shell_report(status, NULL);
        return false;
    }
    value_release(result);
    return true;
}

static TsrStatus another_process(Value *out, const CallArgs *args) {
    Value f = args->values[0];
    if (!value_is_callable(f)) return tsr_error(TSR_TYPE_ERROR, "'%s' object is not callable", value_type_name(f));
    if (!copy_call(call_there, &f, false)) {
        TSR_TRY(tsr_interrupt_check());
        return tsr_error(TSR_RUNTIME_ERROR, "another_process(): the other process ended with an error");
    }
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method functions[] = {
    {"another_process", another_process, ARGS_RANGE, 1, 1, "(f)",
     "Calls f() in a copy of this process and waits for its end. What it writes into memory that processes share "
     "(share_memory_, a shared mapping) is seen here; all else it did is gone with it."},
    {0},
};

TsrStatus process_startup(void) { return namespace_add_functions("tsr", functions, true); }
