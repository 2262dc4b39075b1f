/* sys.c: Python's sys, as far as it makes sense here. */
#include "modules.h"

#include <float.h>
#include <stdio.h>

#include "builtin.h"
#include "file.h"
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/types/codec.h"
#include "lang/types/dict.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

static Value argv_list; /* owned once set */

TsrStatus builtin_set_argv(int count, const char *const *argv) {
    Value list, item;
    TSR_TRY(list_new(&list, count));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < count && status == TSR_OK; i++) {
        status = codec_system_str_c(&item, argv[i]);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), item);
    }
    if (status == TSR_OK) value_set_move(&argv_list, list);
    else value_release(list);
    return status;
}

static TsrStatus sys_exit(Value *out, const CallArgs *args) {
    (void)out;
    return exc_raise_value(TSR_SYSTEM_EXIT, args->count > 0 ? args->values[0] : VALUE_NONE);
}

static TsrStatus sys_getrecursionlimit(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_int(recursion_limit);
    return TSR_OK;
}

static TsrStatus sys_setrecursionlimit(Value *out, const CallArgs *args) {
    int64_t limit;
    TSR_TRY(value_to_index(&limit, args->values[0]));
    if (limit < 1) return tsr_error(TSR_VALUE_ERROR, "recursion limit must be greater or equal than 1");
    if (limit > 20000) return tsr_error(TSR_OVERFLOW_ERROR, "the recursion limit is at most 20000");
    if (limit <= recursion_depth)
        return tsr_error(TSR_RECURSION_ERROR,
                         "cannot set the recursion limit to %lld at the recursion depth %d: the limit is too low",
                         (long long)limit, recursion_depth);
    recursion_limit = (int)limit;
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus sys_get_int_max_str_digits(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_int(int_max_str_digits);
    return TSR_OK;
}

static TsrStatus sys_set_int_max_str_digits(Value *out, const CallArgs *args) {
    int64_t limit;
    TSR_TRY(value_to_index(&limit, args->values[0]));
    if (limit != 0 && limit < 640) return tsr_error(TSR_VALUE_ERROR, "maxdigits must be 0 or larger than 640");
    int_max_str_digits = (int)TSR_MIN(limit, INT32_MAX);
    *out = VALUE_NONE;
    return TSR_OK;
}

/* As Python counts: the references that hold the value, the call's own argument included. */
static TsrStatus sys_getrefcount(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    *out = value_int(v.tag == V_OBJ ? (int64_t)v.o->refcount : 1);
    return TSR_OK;
}

static const Method functions[] = {
    {"exit", sys_exit, ARGS_RANGE, 0, 1, "(status=None, /)", "Ends the program."},
    {"getrecursionlimit", sys_getrecursionlimit, ARGS_NONE, 0, 0, "()", "How deep calls may nest."},
    {"setrecursionlimit", sys_setrecursionlimit, ARGS_ONE, 1, 1, "(limit, /)", "Sets how deep calls may nest."},
    {"get_int_max_str_digits", sys_get_int_max_str_digits, ARGS_NONE, 0, 0, "()",
     "Digits an int may have as decimal text."},
    {"set_int_max_str_digits", sys_set_int_max_str_digits, ARGS_ONE, 1, 1, "(maxdigits, /)", "Sets that."},
    {"getrefcount", sys_getrefcount, ARGS_ONE, 1, 1, "(object, /)",
     "References to an object; refcount(x) is for tensors."},
    {0},
};

static TsrStatus new_float_info(Value *out) {
    static const char *const fields[] = {"max", "max_exp",  "max_10_exp", "min",   "min_exp", "min_10_exp",
                                         "dig", "mant_dig", "epsilon",    "radix", "rounds"};
    Type *type = structseq_type("sys.float_info", fields, 11);
    if (type == NULL) return TSR_MEMORY_ERROR;
    Value items[] = {value_float(DBL_MAX),
                     value_int(DBL_MAX_EXP),
                     value_int(DBL_MAX_10_EXP),
                     value_float(DBL_MIN),
                     value_int(DBL_MIN_EXP),
                     value_int(DBL_MIN_10_EXP),
                     value_int(DBL_DIG),
                     value_int(DBL_MANT_DIG),
                     value_float(DBL_EPSILON),
                     value_int(FLT_RADIX),
                     value_int(1)};
    return structseq_new_move(out, type, items);
}

/* The Python whose language this is. */
static TsrStatus new_version(Value *out) {
    static const char *const fields[] = {"major", "minor", "micro", "releaselevel", "serial"};
    Type *type = structseq_type("sys.version_info", fields, 5);
    Value level;
    if (type == NULL) return mem_error();
    TSR_TRY(str_new_c(&level, "final"));
    return structseq_new_move(out, type, (Value[]){value_int(3), value_int(11), value_int(0), level, value_int(0)});
}

static Module *sys_module; /* lives as long as the process; NULL: not imported yet */
static const Obj *own_stdout;

Value sys_stdout(void) {
    Str *name = sys_module != NULL ? str_intern_c("stdout") : NULL;
    const Value *found = name != NULL ? dict_find_str(sys_module->dict, name) : NULL;
    return found == NULL || (found->tag == V_OBJ && found->o == own_stdout) ? VALUE_UNBOUND : *found;
}

static TsrStatus fill(Module *m) {
    Value v;
    TSR_TRY(new_float_info(&v));
    TSR_TRY(module_add_move(m, "float_info", v));
    if (argv_list.tag == V_UNBOUND) TSR_TRY(builtin_set_argv(1, (const char *const[]){""}));
    TSR_TRY(module_add(m, "argv", argv_list));
    TSR_TRY(module_add(m, "maxsize", value_int(INT64_MAX)));
    TSR_TRY(module_add_text(m, "platform", "linux"));
    TSR_TRY(module_add_text(m, "byteorder", "little"));
    TSR_TRY(module_add_text(m, "version", "3.11 (tsr " TSR_VERSION ")"));
    TSR_TRY(new_version(&v));
    TSR_TRY(module_add_move(m, "version_info", v));
    TSR_TRY(file_new_stream(&v, stdin, "<stdin>", "r"));
    TSR_TRY(module_add_move(m, "stdin", v));
    TSR_TRY(file_new_stream(&v, stdout, "<stdout>", "w"));
    own_stdout = v.o;
    TSR_TRY(module_add_move(m, "stdout", v));
    TSR_TRY(file_new_stream(&v, stderr, "<stderr>", "w"));
    TSR_TRY(module_add_move(m, "stderr", v));
    sys_module = m;
    return TSR_OK;
}

const NsModule ns_sys = {"sys", "The program and its limits.", functions, fill, NULL};
