/* terminal.c: what a terminal of its own would do for the program, and a page can't: browse(x), which takes keys one by
 * one, and pictures as sequences of bytes. In the place of show/plot/browse.c and graphics.c. */
#include "core/error.h"
#include "lang/modules/namespace.h"
#include "show/plot/browse.h"
#include "show/plot/graphics.h"

static TsrStatus browse(Value *out, const CallArgs *args) {
    (void)out, (void)args;
    return tsr_error(TSR_RUNTIME_ERROR, "browse() needs a terminal for input and output");
}

TsrStatus browse_startup(void) {
    static const Method functions[] = {
        {"browse", browse, ARGS_ONE, 1, 1, "(x)", "Shows a tensor or a table a window at a time, in a terminal."},
        {0},
    };
    return namespace_add_functions("tsr", functions, true);
}

Graphics graphics_here(void) { return GRAPHICS_NONE; }

TsrStatus graphics_append(TsrText *out, Graphics kind, Pixels pixels) {
    (void)out, (void)kind, (void)pixels;
    return tsr_error(TSR_SYSTEM_ERROR, "a page shows no sequences of a terminal");
}
