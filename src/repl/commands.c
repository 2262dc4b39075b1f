#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "namespace.h"
#include "shell.h"
#include "str_obj.h"

/* Calls tsr.NAME(values...), which prints; the values are consumed. */
static int call_move(const char *name, Value *values, int count, TsrStatus status) {
    Value module = VALUE_UNBOUND, result = VALUE_UNBOUND;
    if (status == TSR_OK) status = namespace_module(&module, "tsr");
    if (status == TSR_OK) status = value_call_method(&result, module, name, count, values);
    value_release(result);
    value_release(module);
    values_release(values, count);
    return shell_report(status, NULL);
}

int command_list(const char *const *paths, int count) {
    int result = EXIT_FINE;
    for (int i = 0; i < count; i++) {
        Value path = VALUE_UNBOUND;
        TsrStatus status = str_new_c(&path, paths[i]);
        int one = call_move("list_file", &path, 1, status);
        if (one != EXIT_FINE) result = one;
    }
    return result;
}

int command_diff(const char *a, const char *b) {
    Value paths[2] = {VALUE_UNBOUND, VALUE_UNBOUND};
    TsrStatus status = str_new_c(&paths[0], a);
    if (status == TSR_OK) status = str_new_c(&paths[1], b);
    return call_move("diff_files", paths, 2, status);
}

int command_lesson(const char *number) {
    Value n = value_int(number != NULL ? strtol(number, NULL, 10) : 0);
    return call_move("lesson", &n, number != NULL ? 1 : 0, TSR_OK);
}
