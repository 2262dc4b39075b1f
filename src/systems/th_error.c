/* THError: what an error of TH does. As in torch7 a handler is called with the message, and must not return. */
#include "th_impl.h"

#include <stdarg.h>
#include <stdio.h>

#include "lang/object/exc.h"
#include "lang/types/str.h"
#include "torch/holders.h"

enum { ABORTED = 134 }; /* the status that a shell gives a program that aborted */

/* Called with the message; V_UNBOUND: THError is raised, as by the handler that PyTorch's bindings set; None is
 * torch7's default. */
static Value error_handler = VALUE_UNBOUND;

/* "By default, it aborts the entire process"; here as sys.exit ends it. */
static TsrStatus abort_with(Value message) {
    fflush(stdout);
    fprintf(stderr, "$ Error: %s\n", value_as_str(message)->data);
    return exc_raise_value(TSR_SYSTEM_EXIT, value_int(ABORTED));
}

static TsrStatus call_handler(Value message) {
    Value result;
    TSR_TRY(value_call_n(&result, error_handler, 1, &message));
    if (value_is_exc(result)) return exc_raise_move(result); /* the handler is a type of exceptions */
    value_release(result);
    return tsr_error(TSR_RUNTIME_ERROR, "the TH error handler returned: it must raise, or end the program");
}

TsrStatus th_fail(const char *format, ...) {
    char text[512];
    Value message;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (error_handler.tag == V_UNBOUND) return tsr_error(TSR_TH_ERROR, "%s", text);
    TSR_TRY(str_new_c(&message, text));
    TsrStatus status = value_is_none(error_handler) ? abort_with(message) : call_handler(message);
    value_release(message);
    return status;
}

/* Returns the handler that was, so that it can be set again. */
TsrStatus th_set_error_handler(Value *out, const CallArgs *args) {
    Value handler = args->values[0], own = value_lent(EXC_TYPE(TSR_TH_ERROR));
    if (!value_is_none(handler) && !value_is_callable(handler))
        return tsr_error(TSR_TYPE_ERROR, "TH.setErrorHandler: expected a function of the message or None, not %s",
                         value_type_name(handler));
    *out = error_handler.tag == V_UNBOUND ? value_retain(own) : error_handler;
    error_handler = value_is_same(handler, own) ? VALUE_UNBOUND : value_retain(handler);
    return TSR_OK;
}

void th_error_startup(void) { holders_register_root("TH.errorHandler", &error_handler); }
void th_error_shutdown(void) { value_clear(&error_handler); }
