/* `tsr -e` as a filter. The names `_` and `inputs` read their files when a program first uses them, with the options
 * of the command line as arguments of load; afterwards the value of the program is written as its repr, or as a file
 * in the format of -o. */
#include "filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/types/dict.h"
#include "lang/modules/builtin.h"
#include "core/mem.h"
#include "core/dtype.h"
#include "core/table.h"
#include "pieces.h"
#include "report.h"
#include "torch/files/files.h"
#include "torch/tables/tables.h"
#include "show/explain/explain.h"
#include "torch/files/json.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

enum { MAX_KEYWORDS = 12, MAX_DIMS = 64 };

static const FilterOptions *options;
static TsrStatus (*next_bare_name)(Value *out, Str *name);
static const char *const *files; /* of this run */
static int file_count;
static bool all_used; /* the program knows of all inputs */
static Value inputs;  /* the list, once something was read; V_UNBOUND before */

/* Keyword arguments under construction: values are owned. */
typedef struct Keywords {
    Value values[MAX_KEYWORDS + 2]; /* the positional ones come first */
    Str *names[MAX_KEYWORDS];
    int positional, count;
} Keywords;

static TsrStatus add_move(Keywords *k, const char *name, Value v) {
    Str *s = str_intern_c(name);
    if (s == NULL) {
        value_release(v);
        return TSR_MEMORY_ERROR;
    }
    k->values[k->positional + k->count] = v;
    k->names[k->count++] = s;
    return TSR_OK;
}

static TsrStatus add_text(Keywords *k, const char *name, const char *text) {
    Value v;
    if (text == NULL) return TSR_OK;
    TSR_TRY(str_new_c(&v, text));
    return add_move(k, name, v);
}

static TsrStatus add_position(Keywords *k, const char *text) {
    TSR_TRY(str_new_c(&k->values[k->positional], text));
    k->positional++;
    return TSR_OK;
}

static TsrStatus call_by_name(Value *out, const char *function, Keywords *k) {
    Value callee = globals_resolve(function);
    if (callee.tag == V_UNBOUND) return tsr_error(TSR_NAME_ERROR, "name '%s' is not defined", function);
    CallArgs args = {.values = k->values, .count = k->positional, .keyword_count = k->count, .names = k->names};
    return value_call(out, callee, &args);
}

static void drop(Keywords *k) { values_release(k->values, k->positional + k->count); }

/* ---- reading ---- */

static TsrStatus add_shape(Keywords *k) {
    if (options->shape == NULL) return TSR_OK;
    Value v, items[MAX_DIMS];
    int n = 0;
    for (const char *s = options->shape; *s != '\0' && n < MAX_DIMS;) {
        char *end;
        items[n++] = value_int(strtoll(s, &end, 10));
        s = *end != '\0' ? end + 1 : end;
    }
    TSR_TRY(tuple_new(&v, items, n));
    return add_move(k, "shape", v);
}

static TsrStatus add_dtype(Keywords *k) {
    if (options->dtype == NULL) return TSR_OK;
    Value torch = globals_resolve("torch"), v;
    Str *name = str_intern_c(options->dtype);
    if (name == NULL) return TSR_MEMORY_ERROR;
    TSR_TRY(value_lookup_attr(&v, torch, name));
    if (v.tag == V_UNBOUND) return tsr_error(TSR_VALUE_ERROR, "--dtype: there is no dtype '%s'", options->dtype);
    return add_move(k, "dtype", v);
}

static TsrStatus add_input_options(Keywords *k) {
    TSR_TRY(add_text(k, "format", options->input_format));
    TSR_TRY(add_dtype(k));
    TSR_TRY(add_shape(k));
    TSR_TRY(add_text(k, "delimiter", options->delimiter));
    TSR_TRY(add_text(k, "columns", options->columns));
    TSR_TRY(add_text(k, "na", options->na));
    TSR_TRY(add_text(k, "text", options->text));
    TSR_TRY(add_text(k, "decimal", options->decimal));
    if (options->ragged) TSR_TRY(add_move(k, "ragged", VALUE_TRUE));
    return options->header >= 0 ? add_move(k, "header", value_bool(options->header == 1)) : TSR_OK;
}

static TsrStatus read_one(Value *out, const char *path, bool metadata, bool records) {
    Keywords k = {.positional = 0};
    TsrStatus status = add_position(&k, path);
    if (status == TSR_OK && metadata) status = add_move(&k, "metadata", VALUE_TRUE);
    if (status == TSR_OK && records) status = add_move(&k, "records", VALUE_TRUE);
    if (status == TSR_OK) status = add_input_options(&k);
    if (status == TSR_OK) status = call_by_name(out, "load", &k);
    drop(&k);
    return status;
}

TsrStatus filter_read(Value *out, const FilterOptions *given, const char *path, bool metadata) {
    options = given;
    return read_one(out, path, metadata, metadata);
}

/* The records of one file, behind those there are. */
static TsrStatus append_records(Value list, const char *path) {
    Value records;
    TSR_TRY(read_one(&records, path, false, true));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < value_as_list(records)->count && status == TSR_OK; i++)
        status = list_append(value_as_list(list), value_as_list(records)->items[i]);
    value_release(records);
    return status;
}

/* The values of records, which are consumed. */
static TsrStatus add_records(Value list, TsrRecords *records) {
    Value v;
    TsrStatus status = TSR_OK;
    for (size_t i = 0; i < records->n && status == TSR_OK; i++) {
        files_tell_notes(&records->of[i]);
        files_remember_items(&records->of[i]);
        status = files_value(&v, &records->of[i]);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), v);
    }
    tsr_records_free(records);
    return status;
}

/* The file that --in-place is to change, as it was before it was read; st_ino 0: it was not read. */
static struct stat as_read;

static bool is_as_read(const struct stat *now) {
    return as_read.st_ino == 0 ||
           (now->st_dev == as_read.st_dev && now->st_ino == as_read.st_ino && now->st_size == as_read.st_size &&
            now->st_mtim.tv_sec == as_read.st_mtim.tv_sec && now->st_mtim.tv_nsec == as_read.st_mtim.tv_nsec);
}

static TsrStatus read_inputs(void) {
    Value list;
    if (inputs.tag != V_UNBOUND) return TSR_OK;
    if (!options->in_place || stat(files[0], &as_read) != 0) as_read.st_ino = 0;
    TsrRecords records;
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    if (pieces_take_rest(&status, &records)) {
        if (status == TSR_OK) status = add_records(list, &records);
        if (status == TSR_OK) inputs = list;
        else value_release(list);
        return status;
    }
    int count = file_count > 0 ? file_count : 1;
    for (int i = 0; i < count && status == TSR_OK; i++) status = append_records(list, file_count > 0 ? files[i] : "-");
    if (status == TSR_OK) inputs = list;
    else value_release(list);
    return status;
}

/* What the command line binds is a global, or with a file, which is read when the name is used, a bare name. */
static Value bound[MAX_BINDINGS]; /* by binding; V_UNBOUND: not used yet */

/* What binding i is worth, lent. */
static TsrStatus value_of_binding(Value *lent, int i) {
    const Binding *b = &options->bindings[i];
    if (bound[i].tag == V_UNBOUND)
        TSR_TRY(b->is_file ? read_one(&bound[i], b->value, false, false) : str_new_c(&bound[i], b->value));
    *lent = bound[i];
    return TSR_OK;
}

static TsrStatus bound_name(Value *lent, const Str *name) {
    for (int i = options->binding_count - 1; i >= 0; i--) {
        const Binding *b = &options->bindings[i];
        bool same = (size_t)name->size == b->name_length && memcmp(name->data, b->name, b->name_length) == 0;
        if (same && b->is_file) return value_of_binding(lent, i);
    }
    return TSR_OK;
}

/* Before each run. A file whose name means a builtin already is read now: the builtin would be found before a bare
 * name. */
static TsrStatus bind_globals(void) {
    for (int i = 0; i < options->binding_count; i++) {
        const Binding *b = &options->bindings[i];
        char name[MAX_BOUND_NAME + 1];
        Value v;
        snprintf(name, sizeof name, "%.*s", (int)b->name_length, b->name);
        if (b->is_file && !vm_is_builtin(name)) continue;
        TSR_TRY(value_of_binding(&v, i));
        TSR_TRY(globals_set(name, v));
    }
    return TSR_OK;
}

/* `_` and `inputs`, when the program asks for them and has not bound them. */
static TsrStatus bare_name(Value *lent, Str *name) {
    TSR_TRY(bound_name(lent, name));
    if (lent->tag == V_UNBOUND) TSR_TRY(pieces_name(lent, name));
    if (lent->tag != V_UNBOUND) return TSR_OK;
    bool last = str_equal_c(name, "_"), all = str_equal_c(name, "inputs");
    bool there = inputs.tag != V_UNBOUND || file_count > 0 ||
                 !shell_options->interactive; /* -i leaves standard input to the prompt */
    if (there && (last || all)) {
        TSR_TRY(read_inputs());
        all_used |= all;
        *lent = all ? inputs : value_as_list(inputs)->items[0];
        return TSR_OK;
    }
    return next_bare_name != NULL ? next_bare_name(lent, name) : TSR_OK;
}

/* Whether the records are objects of JSON, where nobody has said that they are. */
static bool may_be_lines(void) {
    Value first = value_as_list(inputs)->items[0];
    return options->input_format == NULL && value_is_obj(first, &dict_type);
}

void filter_tell_unused(void) {
    int64_t count = inputs.tag != V_UNBOUND ? value_as_list(inputs)->count : 0;
    char line[640], shown[440];
    if (count < 2 || all_used) return;
    const char *path = file_count > 0 ? files[0] : "-";
    if (file_count > 1)
        snprintf(line, sizeof line,
                 "`_` is %s alone; inputs is the list of all %lld, --each runs the program on each file",
                 tsr_io_quote(shown, path, strlen(path)), (long long)count);
    else
        snprintf(line, sizeof line, "%s holds %lld records, and `_` is the first; inputs is the list of all%s",
                 strcmp(path, "-") == 0 ? "<stdin>" : tsr_io_quote(shown, path, strlen(path)), (long long)count,
                 may_be_lines() ? ", -I jsonl reads each line as a row of a table" : "");
    files_tell(line);
}

/* --precision of tensors as text: torch.set_printoptions(precision=n) */
static TsrStatus set_precision(int digits) {
    Keywords k = {.positional = 0};
    Str *name = str_intern_c("set_printoptions");
    Value function, result = VALUE_UNBOUND;
    if (name == NULL) return TSR_MEMORY_ERROR;
    TSR_TRY(value_getattr(&function, globals_resolve("torch"), name));
    TsrStatus status = add_move(&k, "precision", value_int(digits));
    if (status == TSR_OK)
        status =
            value_call(&result, function, &(CallArgs){.values = k.values, .keyword_count = k.count, .names = k.names});
    value_release(function);
    value_release(result);
    drop(&k);
    return status;
}

/* --json: standard error has objects alone. */
static void tell_as_json(const char *line) {
    fflush(builtin_stdout());
    diag_write_json_note(stderr, line);
}

/* Of what comes in pieces: whether some was written, its columns' names, and how many numbers became null. */
static struct {
    bool some;
    Value names;
    int64_t nulls;
} pieces;

static void forget_pieces(void) {
    value_release(pieces.names);
    pieces.some = false;
    pieces.names = VALUE_UNBOUND;
    pieces.nulls = 0;
}

/* Whether rows may be written to standard output before those behind them are known. */
static bool writes_rows(void) {
    static const char *const formats[] = {"csv", "tsv", "jsonl"};
    if (options->output == NULL || options->output_file != NULL || options->in_place) return false;
    for (size_t i = 0; i < TSR_COUNTOF(formats); i++)
        if (strcmp(options->output, formats[i]) == 0) return true;
    return false;
}

TsrStatus filter_program(Ast *program) {
    const char *path = file_count > 0 ? files[0] : "-";
    if (file_count > 1 || shell_options->interactive) return TSR_OK;
    for (int i = 0; i < options->binding_count; i++)
        if (options->bindings[i].name_length == 1 && options->bindings[i].name[0] == '_') return TSR_OK;
    return pieces_begin(path, options, program, writes_rows());
}

TsrStatus filter_prepare(const FilterOptions *given, const char *const *paths, int count) {
    bool first = options == NULL;
    options = given;
    files = paths;
    file_count = count;
    files_first = count > 0 ? paths[0] : "-";
    files_remember();
    all_used = false;
    value_release(inputs);
    inputs = VALUE_UNBOUND;
    forget_pieces();
    TSR_TRY(bind_globals());
    if (!first) return TSR_OK;
    next_bare_name = vm_bare_name;
    vm_bare_name = bare_name;
    explain_before = pieces_explain;
    if (isatty(STDERR_FILENO) && !shell_options->json) progress_start();
    if (shell_options->json) files_tell = tell_as_json;
    return options->precision > 0 ? set_precision(options->precision) : TSR_OK;
}

/* ---- errors ---- */

/* A reader's or a writer's message begins with the file's name; the system's ends with it: "[Errno 2] reason: 'FILE'".
 */
static bool blames_name(TsrText *out, const char *message, const char *name) {
    const char *reason = strncmp(message, "[Errno ", 7) == 0 ? strchr(message, ']') : NULL;
    size_t n = strlen(name), all = strlen(message);
    if (strncmp(message, name, n) == 0 && message[n] == ':') return tsr_text_puts(out, message) == TSR_OK;
    if (reason == NULL || all < n + 4) return false;
    const char *end = message + (all - n - 4); /* before ": 'FILE'" */
    if (end < reason + 2 || memcmp(end, ": '", 3) != 0 || memcmp(end + 3, name, n) != 0) return false;
    return tsr_text_printf(out, "%s: %.*s", name, (int)(end - reason - 2), reason + 2) == TSR_OK;
}

static bool blames(TsrText *out, const char *message, const char *path) {
    char shown[440];
    const char *part = tsr_io_part(path);
    if (strcmp(path, "-") == 0) return blames_name(out, message, "<stdin>");
    return blames_name(out, message, tsr_io_quote(shown, path, strlen(path))) ||
           (part != NULL && blames_name(out, message, tsr_io_quote(shown, path, (size_t)(part - 1 - path))));
}

bool filter_blames(TsrText *out, const char *message) {
    const FilterOptions *o = &shell_options->filter;
    bool found = blames(out, message, "-") || (o->output_file != NULL && blames(out, message, o->output_file));
    for (int i = 0; i < o->file_count && !found; i++) found = blames(out, message, o->files[i]);
    for (int i = 0; i < o->binding_count && !found; i++)
        found = o->bindings[i].is_file && blames(out, message, o->bindings[i].value);
    return found;
}

/* ---- writing ---- */

/* The columns of the first table read that is as wide as t: it is taken to have the same ones. */
static const TsrTensor *as_wide(const TsrTensor *t) {
    int64_t count = tsr_column_count(t);
    for (int64_t i = 0; inputs.tag != V_UNBOUND && i < value_as_list(inputs)->count && count > 0; i++) {
        Value v = value_as_list(inputs)->items[i];
        if (v.tag == V_TENSOR && tsr_column_count(v.t) == count && tsr_columns_known(v.t)) return v.t;
    }
    return NULL;
}

/* The table whose names a value that is written bears; NULL: none. Where elements of a table are seen it is known which
 * columns they are. */
static const TsrTensor *named_like(Value result) {
    if (result.tag != V_TENSOR || options->no_header) return NULL;
    if (tsr_is_sparse(result.t)) return NULL;
    if (result.t->storage->columns != NULL) return tsr_columns_known(result.t) ? result.t : NULL;
    return tsr_columns_were_moved() ? NULL : as_wide(result.t);
}

/* Above the columns, or, in JSON, in each row of a matrix. */
static bool has_names(const TsrFormat *format, Value result) {
    if (format == NULL) return false;
    return format->table || (format->put_cell != NULL && result.tag == V_TENSOR && tsr_ndim(result.t) == 2);
}

/* *names is the caller's (tsr_free). */
static TsrStatus set_header(TsrSaveOptions *o, const char ***names, Value result) {
    const TsrTensor *like = named_like(result);
    if (like == NULL) return TSR_OK;
    o->header_count = tsr_column_count(like);
    *names = tsr_malloc((size_t)o->header_count * sizeof **names);
    if (*names == NULL) return tsr_error_no_memory((size_t)o->header_count * sizeof **names);
    for (int64_t j = 0; j < o->header_count; j++) (*names)[j] = tsr_column_name(like, j);
    o->header = *names;
    return TSR_OK;
}

/* Of --na: what nan is written as. NULL: nan. */
static const char *first_word(char *buffer, size_t size, const char *list) {
    size_t n = 0;
    if (list == NULL) return NULL;
    bool quoted = *list == '"';
    for (const char *p = list + quoted; *p != '\0' && n + 1 < size && (quoted || *p != ','); p++) {
        if (quoted && *p == '"' && *++p != '"') break;
        buffer[n++] = *p;
    }
    buffer[n] = '\0';
    return buffer;
}

/* The values of --in-place over the file they were made of. */
static TsrStatus change(Value result, const char *path, const TsrSaveOptions *o) {
    TsrLoadOptions load = filter_load_options(options);
    struct stat st;
    if (tsr_io_part(path) != NULL) {
        tsr_error(TSR_VALUE_ERROR, "%s: only a whole file can be changed in place, not a part of one", path);
        tsr_error_hint("of the file: {**_, 'name': x} changes one of its parts");
        return TSR_VALUE_ERROR;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return tsr_error(TSR_VALUE_ERROR, "%s: only a regular file can be changed in place", path);
    if (stat(path, &st) == 0 && !is_as_read(&st))
        return tsr_error(TSR_VALUE_ERROR, "%s: it was changed by others since it was read", path);
    return files_change(result, path, &load, o);
}

static TsrStatus save(Value result, const char *path, const char *format, bool writes_piece) {
    char na[64];
    const TsrFormat *row = format != NULL ? tsr_format_find(format) : tsr_format_for_path(path);
    TsrSaveOptions o = {.size = sizeof(TsrSaveOptions),
                        .format = format,
                        .precision = options->precision,
                        .json_nan = options->json_nan,
                        .no_header = options->no_header || (pieces.some && row != NULL && row->table),
                        .untie = options->untie,
                        .compact = options->compact,
                        .na = first_word(na, sizeof na, options->na),
                        .suffix = options->suffix,
                        .nulls = writes_piece ? &pieces.nulls : NULL};
    const char **names = NULL;
    TsrStatus status = has_names(row, result) ? set_header(&o, &names, result) : TSR_OK;
    if (status == TSR_OK) status = options->in_place ? change(result, path, &o) : files_save_alike(result, path, &o);
    tsr_free(names);
    return status;
}

static TsrStatus print_json(Value result) {
    TsrText text = {0};
    int64_t nulls = 0;
    JsonStyle style = {.nan = options->json_nan, .precision = options->precision, .nulls = &nulls};
    TsrStatus status = json_write(&text, result, &style);
    if (status == TSR_OK) status = tsr_text_putc(&text, '\n');
    if (status == TSR_OK) fwrite(text.data, 1, text.length, builtin_stdout());
    if (status == TSR_OK) files_tell_nulls(&(TsrSaveOptions){.json_nan = options->json_nan, .nulls = &nulls}, "-");
    tsr_text_free(&text);
    return status;
}

/* The header stands above the first piece: all have the same columns. */
static TsrStatus check_columns(Value piece) {
    Value names;
    bool same = true;
    if (!value_is_table(piece) || strcmp(options->output, "jsonl") == 0) return TSR_OK;
    TSR_TRY(list_new_iterable(&names, piece));
    if (!pieces.some) {
        value_set_move(&pieces.names, names);
        return TSR_OK;
    }
    TsrStatus status = value_equal(&same, pieces.names, names);
    value_release(names);
    if (status != TSR_OK || same) return status;
    tsr_error(TSR_VALUE_ERROR, "the columns change where rows were written already");
    tsr_error_hint("--columns says which are wanted; with -o FILE all is read before it is written");
    return TSR_VALUE_ERROR;
}

TsrStatus filter_write_piece(Value piece) {
    TSR_TRY(check_columns(piece));
    fflush(builtin_stdout());
    TsrStatus status = save(piece, "-", options->output, true);
    pieces.some = true;
    return status;
}

TsrStatus filter_finish(Value result, TsrStatus (*display)(Value v)) {
    const char *file = options->in_place ? files[0] : options->output_file;
    const char *format = options->in_place ? options->input_format : options->output;
    if (pieces.some) files_tell_nulls(&(TsrSaveOptions){.json_nan = options->json_nan, .nulls = &pieces.nulls}, "-");
    if (result.tag == V_UNBOUND || value_is_none(result))
        return file != NULL ? tsr_error(TSR_VALUE_ERROR, "%s is not written: the last statement has no value", file)
                            : TSR_OK;
    bool text = format != NULL && strcmp(format, "text") == 0;
    if (file != NULL) return save(result, file, text ? NULL : format, false);
    if (format == NULL && shell_options->json) return print_json(result);
    if (format == NULL || text) return display(result);
    fflush(builtin_stdout());
    return save(result, "-", format, false);
}
