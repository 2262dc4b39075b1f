/* The commands -l, which lists the tensors in files, and --diff, which compares two files tensor by tensor. Both are
 * calls of functions of the language whose text is printed. */
#include "commands.h"

#include <stdio.h>

#include "lang/modules/builtin.h"
#include "filter.h"
#include "lang/vm/prelude.h"
#include "lang/types/sequences.h"
#include "shell.h"

PRELUDE_EMBED(prelude_files, "src/repl/prelude/files.tsr");
static const PreludeSource files_source = {"files", "<prelude files>", prelude_files, prelude_files_end, "torch math"};

void commands_startup(void) { prelude_add(&files_source, 1); }

/* Prints the lines that a function of the prelude (files.tsr) makes of what files hold. *count: how many. */
static TsrStatus print_lines(const char *function, const Value *values, int value_count, int64_t *count) {
    Value callee = VALUE_UNBOUND, lines;
    TSR_TRY(prelude_get(&callee, "files", function));
    TsrStatus status = value_call_n(&lines, callee, value_count, values);
    value_release(callee);
    TSR_TRY(status);
    *count = value_as_list(lines)->count;
    for (int64_t i = 0; i < *count && status == TSR_OK; i++) {
        TsrText text = {0};
        status = value_str(&text, value_as_list(lines)->items[i]);
        if (status == TSR_OK) fprintf(builtin_stdout(), "%s\n", text.data != NULL ? text.data : "");
        tsr_text_free(&text);
    }
    value_release(lines);
    return status;
}

static TsrStatus list_one(const char *path, bool named) {
    Value v;
    int64_t count;
    TSR_TRY(filter_read(&v, &shell_options->filter, path, true));
    if (named) fprintf(builtin_stdout(), "%s:\n", path);
    TsrStatus status = print_lines("file_lines", &v, 1, &count);
    value_release(v);
    return status;
}

int command_list(const char *const *paths, int count) {
    int result = EXIT_FINE;
    for (int i = 0; i < count; i++) {
        TsrStatus status = list_one(paths[i], count > 1);
        if (status == TSR_OK) continue;
        result = shell_report(status, NULL);
        if (result == EXIT_INTERRUPTED) break;
    }
    return result;
}

int command_diff(const char *a, const char *b) {
    Value both[2] = {VALUE_UNBOUND, VALUE_UNBOUND};
    int64_t count = 0;
    TsrStatus status = filter_read(&both[0], &shell_options->filter, a, false);
    if (status == TSR_OK) status = filter_read(&both[1], &shell_options->filter, b, false);
    if (status == TSR_OK) status = print_lines("diff_lines", both, 2, &count);
    values_release(both, 2);
    if (status != TSR_OK) return shell_report(status, NULL);
    return count > 0 ? EXIT_FAILED : EXIT_FINE;
}
