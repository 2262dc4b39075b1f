/* files.c: load, save and columns as functions of the language, and what all of them share: the lines that are told,
 * the remarks of the first file that was read. Arguments become TsrLoadOptions or TsrSaveOptions (load.c, save.c); the
 * core reads or writes, and what it returns (one tensor, named ones, a tree) becomes values. */
#include "files_impl.h"

#include <stdio.h>
#include <string.h>

#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "torch/holders.h"
#include "torch/tables/tables.h"
#include "torch/tensor/column_names.h"

static void tell_on_stderr(const char *line) { fprintf(stderr, "tsr: %s\n", line); }
void (*files_tell)(const char *line) = tell_on_stderr;

bool files_listing;

/* The reader's notes, line by line. */
void files_tell_notes(const TsrItems *items) {
    char line[1024];
    const char *p = items->notes.data;
    for (size_t n; p != NULL && *p != '\0'; p += n + 1) {
        n = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, p);
        files_tell(line);
    }
}

/* ---- what the first file says besides ---- */

static bool remembering;
static TsrItems remembered; /* remarks alone; its format NULL: nothing was read yet */

/* All but those of the key `other`; NULL: all. */
TsrStatus files_copy_remarks(TsrItems *to, const TsrItems *from, const char *other) {
    for (int i = 0; i < from->nremarks; i++) {
        const TsrRemark *r = &from->remarks[i];
        if (other != NULL && strcmp(r->key, other) == 0) continue;
        TSR_TRY(tsr_items_remark_raw(to, r->key, r->value, r->raw, r->raw_length));
    }
    return TSR_OK;
}

void files_remember(void) {
    tsr_items_free(&remembered);
    remembering = true;
}

void files_remember_items(const TsrItems *items) {
    if (!remembering || remembered.format != NULL) return;
    remembered.format = items->format;
    if (files_copy_remarks(&remembered, items, NULL) == TSR_OK) return;
    tsr_items_free(&remembered); /* short of memory: whoever writes says it */
    tsr_error_clear();
}

TsrStatus files_add_remembered(TsrItems *items, const char *path, const TsrSaveOptions *options) {
    const TsrFormat *format = options->format != NULL ? tsr_format_find(options->format) : tsr_format_for_path(path);
    bool alike = format != NULL && remembered.format != NULL && strcmp(format->name, remembered.format) == 0;
    return alike ? files_copy_remarks(items, &remembered, "maxval") : TSR_OK; /* maxval is that of other numbers */
}

/* ---- the functions ---- */

static TsrStatus columns(Value *out, const CallArgs *args) {
    TsrTensor *t;
    if (value_is_table(args->values[0])) return list_new_iterable(out, args->values[0]);
    TSR_TRY(holders_tensor(&t, args->values[0], "columns"));
    return tensor_new_column_names(out, t);
}

static const Method functions[] = {
    {"load", files_call_load, ARGS_ANY, 1, 2,
     "(path, format=None, *, dtype=None, shape=None, mode='c', header=None, delimiter=None, columns=None, "
     "metadata=False, na=None, unknown='opaque', records=False, text=None, ragged=False, "
     "decimal='.')",
     "What a file holds: a tensor, a dict of tensors, or whatever values a .pt file has; '-' is standard input. With "
     "metadata=True a pair: that, and the texts that a safetensors file keeps beside its tensors, a dict. With "
     "records=True a list of all that stand one behind the other in an npy, json or raw file."},
    {"loads", files_call_loads, ARGS_ANY, 2, 2,
     "(data, format, *, dtype=None, shape=None, header=None, delimiter=None, columns=None, na=None, text=None, "
     "ragged=False, decimal='.')",
     "What a file of these bytes, or of this text, holds: loads('a,b\\n1,2\\n', 'csv')."},
    {"save", files_call_save, ARGS_ANY, 2, 3,
     "(obj, path, format=None, *, precision=None, json_nan='null', delimiter=None, header=True, untie=False, "
     "metadata=None, compress=False, na='nan', compact=False)",
     "Writes a tensor, or a dict of tensors, or to a .pt file any values, whole or not at all. header= of csv and "
     "tsv: a list of names of the columns, or False for none."},
    {"dumps", files_call_dumps, ARGS_ANY, 2, 2,
     "(obj, format, *, precision=None, json_nan='null', delimiter=None, header=True, untie=False, metadata=None, "
     "compress=False, na='nan', compact=False)",
     "The bytes that a file would get: dumps(x, 'npy')."},
    {"columns", columns, ARGS_ONE, 1, 1, "(x)",
     "The names that the columns of x had in the file it was read from, as a list; None when that is not known."},
    {0},
};

TsrStatus files_startup(void) { return namespace_add_functions("tsr", functions, true); }
