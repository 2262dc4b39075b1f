/* warnings.c: what Python's warnings needs to know of the program that warns; the rest is in prelude/warnings.tsr. */
#include "abc.h"
#include "modules.h"

#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

/* _place(level): the file, the line and its text where a call that warns was made; level 1 is the call of warn. */
static TsrStatus warnings_place(Value *out, const CallArgs *args) {
    const char *file, *text;
    int line;
    size_t length;
    int64_t level;
    Value items[3];
    TSR_TRY(value_to_index_clamped(&level, args->values[0]));
    vm_caller(level, &file, &line, &text, &length);
    TSR_TRY(str_new_c(&items[0], file));
    items[1] = value_int(line);
    items[2] = VALUE_NONE;
    TsrStatus status = text != NULL ? str_new(&items[2], text, (int64_t)length) : TSR_OK;
    if (status == TSR_OK) status = tuple_new(out, items, 3);
    value_release(items[0]);
    value_release(items[2]);
    return status;
}

static const Method functions[] = {{"_place", warnings_place, ARGS_ONE, 1, 1, "(level, /)", NULL}, {0}};

const NsModule ns_warnings = {"warnings", "Warnings and what becomes of them.", functions, NULL, NULL};
const NsModule ns_contextlib = {"contextlib", "Context managers.", NULL, abc_add_manager, NULL};
