/* The commands -l, which lists the tensors in files, and --diff, which compares two files tensor by tensor. Both are
 * calls of functions of the language whose text is printed. */
#include "commands.h"

#include <stdio.h>

#include "core/base/embed.h"
#include "core/ops/reduce/survey.h"

#include "lang/modules/builtin.h"
#include "lang/modules/namespace.h"
#include "lang/object/native.h"
#include "filter.h"
#include "lang/vm/prelude.h"
#include "lang/types/codec.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "shell.h"
#include "torch/files/files.h"
#include "torch/holders.h"

PRELUDE_EMBED(prelude_files, "src/repl/prelude/files.tsr");
static const PreludeSource files_source = {"files", "<prelude files>", prelude_files, prelude_files_end,
                                           "torch math L=tsr._listing"};

/* survey(x): what tsr_survey tells of a contiguous tensor of floats, a dict. */
static TsrStatus survey(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrSurvey s;
    int64_t bars[TSR_SURVEY_BARS];
    Value list = VALUE_UNBOUND, dict = VALUE_UNBOUND;
    TSR_TRY(holders_tensor(&t, args->values[0], "survey"));
    TSR_TRY(tsr_survey(&s, bars, t));
    TsrStatus status = dict_new(&dict);
    const struct {
        const char *name;
        Value value;
    } told[] = {{"nan", value_int(s.nan)},     {"inf", value_int(s.inf)},          {"finite", value_int(s.finite)},
                {"zeros", value_int(s.zeros)}, {"low", value_float(s.low)},        {"high", value_float(s.high)},
                {"mean", value_float(s.mean)}, {"squares", value_float(s.squares)}};
    for (size_t i = 0; i < TSR_COUNTOF(told) && status == TSR_OK; i++)
        status = dict_set_c_move(value_as_dict(dict), told[i].name, told[i].value);
    if (status == TSR_OK) status = list_new(&list, TSR_SURVEY_BARS);
    for (int k = 0; k < TSR_SURVEY_BARS && status == TSR_OK; k++)
        status = list_append_move(value_as_list(list), value_int(bars[k]));
    if (status == TSR_OK) status = dict_set_c_move(value_as_dict(dict), "bars", list);
    else value_release(list);
    return value_end_move(out, status, dict);
}

/* For files.tsr alone. */
static const Method own_functions[] = {{"survey", survey, ARGS_ONE, 1, 1, NULL, NULL}, {0}};

static TsrStatus fill_listing(Module *m) { return module_add_functions(m, own_functions); }

TsrStatus commands_startup(void) {
    static const Namespace space = {.name = "tsr._listing", .fill = fill_listing};
    prelude_add(&files_source, 1);
    return namespace_add(&space);
}

/* Prints the lines that a function of the prelude (files.tsr) makes of three values. *count: how many. */
static TsrStatus print_lines(const char *function, const Value values[3], int64_t *count) {
    Value callee = VALUE_UNBOUND, lines;
    TSR_TRY(prelude_get(&callee, "files", function));
    TsrStatus status = value_call_n(&lines, callee, 3, values);
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

/* NULL is None. */
static TsrStatus set_text(Dict *dict, const char *key, const char *text) {
    Value v = VALUE_NONE;
    if (text != NULL) TSR_TRY(codec_system_str_c(&v, text));
    return dict_set_c_move(dict, key, v);
}

/* The options as the prelude takes them. */
static TsrStatus told(Value *out) {
    const TellOptions *o = &shell_options->tell;
    TSR_TRY(dict_new(out));
    Dict *dict = value_as_dict(*out);
    TsrStatus status = dict_set_c_move(dict, "json", value_bool(shell_options->json));
    if (status == TSR_OK) status = dict_set_c_move(dict, "stats", value_bool(o->stats));
    if (status == TSR_OK) status = set_text(dict, "sort", o->sort);
    if (status == TSR_OK) status = set_text(dict, "match", o->match);
    if (status == TSR_OK) status = dict_set_c_move(dict, "rtol", value_float(o->rtol));
    if (status == TSR_OK) status = dict_set_c_move(dict, "atol", value_float(o->atol));
    if (status == TSR_OK) status = dict_set_c_move(dict, "tolerant", value_bool(o->tolerant));
    if (status != TSR_OK) value_release(*out);
    return status;
}

static TsrStatus list_one(const char *path, bool named) {
    Value arguments[3] = {VALUE_UNBOUND, VALUE_UNBOUND, VALUE_UNBOUND};
    int64_t count;
    files_listing = !shell_options->tell.stats;
    TsrStatus status = filter_read(&arguments[0], &shell_options->filter, path, true);
    if (status == TSR_OK) status = codec_system_str_c(&arguments[1], path);
    if (status == TSR_OK) status = told(&arguments[2]);
    if (status == TSR_OK && named && !shell_options->json) fprintf(builtin_stdout(), "%s:\n", path);
    if (status == TSR_OK) status = print_lines("file_lines", arguments, &count);
    values_release(arguments, 3);
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
    Value both[3] = {VALUE_UNBOUND, VALUE_UNBOUND, VALUE_UNBOUND};
    int64_t count = 0;
    TsrStatus status = filter_read(&both[0], &shell_options->filter, a, false);
    if (status == TSR_OK) status = filter_read(&both[1], &shell_options->filter, b, false);
    if (status == TSR_OK) status = told(&both[2]);
    if (status == TSR_OK) status = print_lines("diff_lines", both, &count);
    values_release(both, 3);
    if (status != TSR_OK) return shell_report(status, NULL);
    return count > 0 ? EXIT_FAILED : EXIT_FINE;
}
