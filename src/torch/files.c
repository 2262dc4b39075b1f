#include "files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lang/object/args.h"
#include "lang/modules/builtin.h"
#include "lang/types/codec.h"
#include "core/mem.h"
#include "core/table.h"
#include "lang/types/dict.h"
#include "lang/object/native.h"
#include "json.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "types.h"
#include "tree.h"
#include "holders.h"

/* ---- load ---- */

static TsrStatus optional_text(const char **out, Value v, const char *what) { return v.tag <= V_NONE ? TSR_OK : value_to_cstring(out, v, what); }

static TsrStatus read_shape(TsrLoadOptions *o, int64_t *shape, Value v) {
    const Value *items;
    int64_t count;
    o->ndim = -1;
    if (v.tag <= V_NONE) return TSR_OK;
    if (!value_as_array(v, &items, &count)) {
        items = &v;
        count = 1;
    }
    if (count > TSR_MAX_DIMS) return tsr_error(TSR_VALUE_ERROR, "load(): a shape has at most %d sizes", TSR_MAX_DIMS);
    for (int64_t i = 0; i < count; i++) TSR_TRY(value_to_index(&shape[i], items[i]));
    o->ndim = (int)count;
    o->shape = shape;
    return TSR_OK;
}

static TsrStatus read_mode(TsrLoadOptions *o, Value v) {
    const char *mode = "c";
    TSR_TRY(optional_text(&mode, v, "load(): argument 'mode'"));
    if (strcmp(mode, "c") != 0 && strcmp(mode, "r") != 0 && strcmp(mode, "r+") != 0) return tsr_error(TSR_VALUE_ERROR, "load(): mode is 'c', 'r' or 'r+', not '%s'", mode);
    o->mode = strcmp(mode, "r+") == 0 ? '+' : mode[0];
    return TSR_OK;
}

static TsrStatus read_delimiter(TsrLoadOptions *o, Value v) {
    const char *text = NULL;
    TSR_TRY(optional_text(&text, v, "load(): argument 'delimiter'"));
    if (text == NULL) return TSR_OK;
    if (strcmp(text, "\\t") == 0) text = "\t";
    if (text[0] == '\0' || text[1] != '\0') return tsr_error(TSR_VALUE_ERROR, "load(): a delimiter is one character, not '%s'", text);
    o->delimiter = text[0];
    return TSR_OK;
}

/* A name of a column into a list of them: in quotes, as csv has it, where it needs to be. */
static TsrStatus add_column_name(TsrText *text, Value v) {
    size_t begin = text->length;
    TSR_TRY(value_str(text, v));
    if (text->length > begin && strpbrk(text->data + begin, ",\" \t") == NULL) return TSR_OK;
    TsrText name = {0};
    TsrStatus status = tsr_text_append(&name, text->data + begin, text->length - begin);
    text->length = begin;
    if (status == TSR_OK) status = tsr_text_putc(text, '"');
    for (size_t i = 0; i < name.length && status == TSR_OK; i++) status = tsr_text_puts(text, name.data[i] == '"' ? "\"\"" : (char[]){name.data[i], '\0'});
    tsr_text_free(&name);
    return status == TSR_OK ? tsr_text_putc(text, '"') : status;
}

/* "0,2,name" or a list of them, as the reader wants it; `text` keeps the joined names alive. */
static TsrStatus read_list(const char **out, TsrText *text, Value v) {
    const Value *items;
    int64_t count;
    if (v.tag <= V_NONE) return TSR_OK;
    if (!value_as_array(v, &items, &count)) TSR_TRY(value_str(text, v));
    else for (int64_t i = 0; i < count; i++) {
        if (i > 0) TSR_TRY(tsr_text_putc(text, ','));
        TSR_TRY(add_column_name(text, items[i]));
    }
    *out = text->data != NULL ? text->data : "";
    return TSR_OK;
}

static TsrStatus read_header(TsrLoadOptions *o, Value v) {
    bool header;
    o->header = -1;
    if (v.tag <= V_NONE) return TSR_OK;
    TSR_TRY(value_truth(&header, v));
    o->header = header;
    return TSR_OK;
}

static TsrStatus items_to_value(Value *out, TsrItems *items) {
    Value dict;
    if (items->tree.root != NULL) return tree_to_value(out, &items->tree);
    if (items->single) {
        *out = value_tensor_move(items->items[0].tensor);
        items->items[0].tensor = NULL;
        return TSR_OK;
    }
    TSR_TRY(dict_new(&dict));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < items->n && status == TSR_OK; i++) {
        Value t = value_tensor_move(items->items[i].tensor);
        items->items[i].tensor = NULL;
        status = dict_set_c_move(value_as_dict(dict), items->items[i].name, t);
    }
    return value_end_move(out, status, dict);
}

/* What the file holds, and what it says besides. */
static TsrStatus items_to_pair(Value *out, TsrItems *items) {
    Value pair[2], text;
    TSR_TRY(dict_new(&pair[1]));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < items->nremarks && status == TSR_OK; i++) {
        status = str_new_c(&text, items->remarks[i].value);
        if (status == TSR_OK) status = dict_set_c_move(value_as_dict(pair[1]), items->remarks[i].key, text);
    }
    if (status == TSR_OK) status = items_to_value(&pair[0], items);
    if (status == TSR_OK) return tuple_new(out, pair, 2);
    value_release(pair[1]);
    return status;
}

enum { LOAD_PATH, LOAD_FORMAT, LOAD_DTYPE, LOAD_SHAPE, LOAD_MODE, LOAD_HEADER, LOAD_DELIMITER, LOAD_COLUMNS, LOAD_METADATA, LOAD_NA, LOAD_UNKNOWN, LOAD_ARGS };

static TsrStatus read_unknown(TsrLoadOptions *o, Value v) {
    const char *unknown = "error";
    TSR_TRY(optional_text(&unknown, v, "load(): argument 'unknown'"));
    o->opaque = strcmp(unknown, "opaque") == 0;
    return o->opaque || strcmp(unknown, "error") == 0 ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "load(): unknown is 'error' or 'opaque', not '%s'", unknown);
}

/* What is lent to the options stays in `shape` and `lists`. */
static TsrStatus load_options(TsrLoadOptions *o, int64_t *shape, TsrText lists[2], const Value *v) {
    *o = (TsrLoadOptions){.dtype = TSR_DTYPE_NONE};
    TSR_TRY(optional_text(&o->format, v[LOAD_FORMAT], "load(): argument 'format'"));
    if (v[LOAD_DTYPE].tag > V_NONE && !dtype_from_value(&o->dtype, v[LOAD_DTYPE]))
        return tsr_error(TSR_TYPE_ERROR, "load(): argument 'dtype' must be torch.dtype, not %s", value_type_name(v[LOAD_DTYPE]));
    TSR_TRY(read_shape(o, shape, v[LOAD_SHAPE]));
    TSR_TRY(read_mode(o, v[LOAD_MODE]));
    TSR_TRY(read_unknown(o, v[LOAD_UNKNOWN]));
    TSR_TRY(read_header(o, v[LOAD_HEADER]));
    TSR_TRY(read_delimiter(o, v[LOAD_DELIMITER]));
    TSR_TRY(read_list(&o->columns, &lists[0], v[LOAD_COLUMNS]));
    return read_list(&o->na, &lists[1], v[LOAD_NA]);
}

static TsrStatus load(Value *out, const CallArgs *args) {
    static const char *const names[] = {"path", "format", "dtype", "shape", "mode", "header", "delimiter", "columns", "metadata", "na", "unknown"};
    static const ArgSpec spec = {"load", names, LOAD_ARGS, 0, 2, 1};
    Value v[LOAD_ARGS];
    TsrLoadOptions options;
    TsrText lists[2] = {0};
    TsrItems items = {0};
    const char *path;
    int64_t shape[TSR_MAX_DIMS];
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(value_to_cstring(&path, v[LOAD_PATH], "load(): argument 'path'"));
    TsrText room = {0};
    TsrStatus status = codec_system_bytes(&path, &room, v[LOAD_PATH]);
    if (status == TSR_OK) status = load_options(&options, shape, lists, v);
    if (status == TSR_OK) status = tsr_load(&items, path, &options);
    bool metadata = false;
    if (status == TSR_OK && v[LOAD_METADATA].tag != V_UNBOUND) status = value_truth(&metadata, v[LOAD_METADATA]);
    if (status == TSR_OK) status = metadata ? items_to_pair(out, &items) : items_to_value(out, &items);
    tsr_items_free(&items);
    for (int i = 0; i < 2; i++) tsr_text_free(&lists[i]);
    tsr_text_free(&room);
    return status;
}

/* ---- save ---- */

enum { SAVE_VALUE, SAVE_PATH, SAVE_FORMAT, SAVE_PRECISION, SAVE_JSON_NAN, SAVE_DELIMITER, SAVE_HEADER, SAVE_UNTIE, SAVE_METADATA, SAVE_COMPRESS, SAVE_NA, SAVE_COMPACT, SAVE_ARGS };

/* A tensor, or one of what torch.tensor takes: a number, a list. */
static TsrStatus new_tensor_of(TsrTensor **out, Value v) {
    Value torch, made;
    TsrTensor *t;
    if (!value_is_int(v) && v.tag != V_FLOAT && !value_is_list(v) && !value_is_tuple(v)) {
        TSR_TRY(who_tensor(&t, v, "save"));
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    TSR_TRY(namespace_module(&torch, "torch"));
    TsrStatus status = value_call_method(&made, torch, "tensor", 1, &v);
    value_release(torch);
    TSR_TRY(status);
    if (made.tag != V_TENSOR) {
        value_release(made);
        return tsr_error(TSR_TYPE_ERROR, "save(): this value is not a tensor");
    }
    *out = made.t;
    return TSR_OK;
}

/* A dict gives one item a key, anything else is one. */
static TsrStatus value_to_items(TsrItems *items, Value v) {
    TsrTensor *t;
    if (value_is_dict(v)) {
        int64_t position = 0;
        for (DictEntry *e; (e = dict_next(value_as_dict(v), &position)) != NULL;) {
            if (!value_is_str(e->key)) return tsr_error(TSR_TYPE_ERROR, "save(): the keys of a dict of tensors are str, not %s", value_type_name(e->key));
            TSR_TRY(new_tensor_of(&t, e->value));
            TSR_TRY(tsr_items_add_move(items, value_as_str(e->key)->data, (size_t)value_as_str(e->key)->size, t));
        }
        return TSR_OK;
    }
    TSR_TRY(new_tensor_of(&t, v));
    return tsr_items_single_move(items, t);
}

/* A dict of texts. */
static TsrStatus add_remarks(TsrItems *items, Value v) {
    int64_t position = 0;
    if (v.tag <= V_NONE) return TSR_OK;
    if (!value_is_dict(v)) return tsr_error(TSR_TYPE_ERROR, "save(): argument 'metadata' must be dict, not %s", value_type_name(v));
    for (DictEntry *e; (e = dict_next(value_as_dict(v), &position)) != NULL;) {
        const char *key, *text;
        TSR_TRY(value_to_cstring(&key, e->key, "save(): a key of 'metadata'"));
        TSR_TRY(value_to_cstring(&text, e->value, "save(): a value of 'metadata'"));
        TSR_TRY(tsr_items_remark(items, key, text));
    }
    return TSR_OK;
}

/* JSON holds more than tensors; of JSON lines each item of a list has one. */
static TsrStatus json_text(TsrText *out, Value v, const TsrSaveOptions *options) {
    const JsonStyle style = {.nan = options->json_nan, .precision = options->precision, .strict = true};
    const Value *items = &v;
    int64_t count = 1;
    if (strcmp(options->format, "jsonl") == 0 && !value_as_array(v, &items, &count)) return tsr_error(TSR_TYPE_ERROR, "JSON lines are written of a tensor, a dict of them or a list, not %s", value_type_name(v));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(json_write(out, items[i], &style));
        TSR_TRY(tsr_text_putc(out, '\n'));
    }
    return TSR_OK;
}

static TsrStatus repr_text(TsrText *out, Value v) {
    TSR_TRY(value_repr(out, v));
    return tsr_text_putc(out, '\n');
}

static bool has_tensors_only(Value v) {
    if (!value_is_dict(v)) return v.tag == V_TENSOR;
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(value_as_dict(v), &position)) != NULL;)
        if (e->value.tag != V_TENSOR || !value_is_str(e->key)) return false;
    return true;
}

/* Whether a value goes into the format as text of ours, not as tensors. */
static bool is_written_as_text(Value v, const char *format) {
    if (strcmp(format, "text") == 0) return true;
    if (strcmp(format, "json") == 0) return !has_tensors_only(v);
    return strcmp(format, "jsonl") == 0 && (value_is_list(v) || value_is_tuple(v));
}

static TsrStatus write_items(const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    if (strcmp(path, "-") != 0) return tsr_save(items, path, options);
    TsrSink sink = {.fd = STDOUT_FILENO, .name = "<stdout>"};
    fflush(builtin_stdout());
    TsrStatus status = tsr_write(&sink, items, options);
    tsr_text_free(&sink.text);
    return status;
}

static TsrStatus save_options(TsrSaveOptions *o, const Value *v) {
    const char *delimiter = NULL;
    int64_t precision = 0;
    *o = (TsrSaveOptions){0};
    TSR_TRY(optional_text(&o->format, v[SAVE_FORMAT], "save(): argument 'format'"));
    TSR_TRY(optional_text(&o->json_nan, v[SAVE_JSON_NAN], "save(): argument 'json_nan'"));
    TSR_TRY(optional_text(&o->na, v[SAVE_NA], "save(): argument 'na'"));
    TSR_TRY(optional_text(&delimiter, v[SAVE_DELIMITER], "save(): argument 'delimiter'"));
    if (delimiter != NULL) o->delimiter = strcmp(delimiter, "\\t") == 0 ? '\t' : delimiter[0];
    if (v[SAVE_PRECISION].tag > V_NONE) TSR_TRY(value_to_index(&precision, v[SAVE_PRECISION]));
    if (precision < 0 || precision > 17) return tsr_error(TSR_VALUE_ERROR, "save(): precision is 1 to 17 digits");
    o->precision = (int)precision;
    if (v[SAVE_COMPRESS].tag > V_NONE) TSR_TRY(value_truth(&o->compress, v[SAVE_COMPRESS]));
    if (v[SAVE_COMPACT].tag > V_NONE) TSR_TRY(value_truth(&o->compact, v[SAVE_COMPACT]));
    if (v[SAVE_UNTIE].tag > V_NONE) TSR_TRY(value_truth(&o->untie, v[SAVE_UNTIE]));
    if (o->json_nan != NULL && strcmp(o->json_nan, "null") != 0 && strcmp(o->json_nan, "error") != 0 && strcmp(o->json_nan, "token") != 0)
        return tsr_error(TSR_VALUE_ERROR, "save(): json_nan is 'null', 'error' or 'token', not '%s'", o->json_nan);
    return TSR_OK;
}

/* True, False, or the names of the columns: what the strings of the list are is lent to o->header, which is the caller's (tsr_free). */
static TsrStatus save_header(TsrSaveOptions *o, Value v) {
    const Value *items;
    int64_t count;
    if (v.tag <= V_NONE) return TSR_OK;
    if (v.tag == V_BOOL) {
        o->no_header = !v.b;
        return TSR_OK;
    }
    if (!value_as_array(v, &items, &count)) return tsr_error(TSR_TYPE_ERROR, "save(): argument 'header' must be bool or a list of str, not %s", value_type_name(v));
    const char **names = tsr_calloc((size_t)TSR_MAX(count, 1), sizeof *names);
    if (names == NULL) return tsr_error_no_memory((size_t)count * sizeof *names);
    o->header = names;
    o->header_count = count;
    for (int64_t i = 0; i < count; i++) TSR_TRY(value_to_cstring(&names[i], items[i], "save(): a name in 'header'"));
    return TSR_OK;
}

/* Whether the format takes any values, not tensors alone. */
static bool holds_trees(const char *name) {
    const TsrFormat *format = name != NULL ? tsr_format_find(name) : NULL;
    return format != NULL && format->tree;
}

/* Bytes of the storages of the tree's tensors, and how many of them the tensors can reach. */
static TsrStatus measure(size_t *stored, size_t *reached, const TsrTree *tree) {
    Value counted, *known;
    TSR_TRY(dict_new(&counted));
    TsrStatus status = TSR_OK;
    *stored = *reached = 0;
    for (const TsrNode *node = tree->all; node != NULL && status == TSR_OK; node = node->next) {
        if (node->kind != TSR_NODE_TENSOR) continue;
        const TsrStorage *storage = node->tensor->storage;
        size_t wanted = TSR_MIN((size_t)node->tensor->numel, storage->nbytes) * tsr_itemsize(node->tensor);
        Value key = value_int((int64_t)(uintptr_t)storage);
        status = dict_find(&known, value_as_dict(counted), key);
        if (status != TSR_OK) break;
        size_t left = known != NULL ? (size_t)known->i : storage->nbytes, taken = TSR_MIN(left, wanted);
        if (known == NULL) *stored += left;
        *reached += taken;
        status = dict_set(value_as_dict(counted), key, value_int((int64_t)(left - taken)));
    }
    value_release(counted);
    return status;
}

/* A view drags its whole storage along: said when that is most of the file. */
static TsrStatus tell_of_ballast(const TsrTree *tree, const char *path) {
    size_t stored, reached;
    TSR_TRY(measure(&stored, &reached, tree));
    if (stored > 2 * reached) fprintf(stderr, "note: %s: storages of %zu bytes were written, of which the tensors reach %zu; compact=True (--compact) writes those\n", path, stored, reached);
    return TSR_OK;
}

/* `items` hold the remarks. */
static TsrStatus save_items(Value v, TsrItems *items, const char *path, const TsrSaveOptions *options) {
    TsrSaveOptions o = *options;
    TsrText text = {0};
    const TsrFormat *format = o.format == NULL ? tsr_format_for_path(path) : NULL;
    if (o.format == NULL && strcmp(path, "-") == 0) return tsr_error(TSR_VALUE_ERROR, "save() to '-' needs format=");
    if (format != NULL) o.format = format->name;
    if (holds_trees(o.format)) {
        TSR_TRY(tree_from_value(&items->tree, v));
        TSR_TRY(write_items(items, path, &o));
        return o.compact ? TSR_OK : tell_of_ballast(&items->tree, path);
    }
    if (o.format == NULL || !is_written_as_text(v, o.format)) {
        TSR_TRY(value_to_items(items, v));
        return write_items(items, path, &o);
    }
    TsrStatus status = strcmp(o.format, "text") == 0 ? repr_text(&text, v) : json_text(&text, v, &o);
    o.text = text.data != NULL ? text.data : "";
    o.text_length = text.length;
    if (status == TSR_OK) status = write_items(items, path, &o);
    tsr_text_free(&text);
    return status;
}

TsrStatus files_save(Value v, const char *path, const TsrSaveOptions *options) {
    TsrItems items = {0};
    TsrStatus status = save_items(v, &items, path, options);
    tsr_items_free(&items);
    return status;
}

static TsrStatus save(Value *out, const CallArgs *args) {
    static const char *const names[] = {"obj", "path", "format", "precision", "json_nan", "delimiter", "header", "untie", "metadata", "compress", "na", "compact"};
    static const ArgSpec spec = {"save", names, SAVE_ARGS, 0, 3, 2};
    Value v[SAVE_ARGS];
    TsrSaveOptions options;
    TsrItems items = {0};
    const char *path;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(value_to_cstring(&path, v[SAVE_PATH], "save(): argument 'path'"));
    TSR_TRY(save_options(&options, v));
    TsrText room = {0};
    TsrStatus status = codec_system_bytes(&path, &room, v[SAVE_PATH]);
    if (status == TSR_OK) status = save_header(&options, v[SAVE_HEADER]);
    if (status == TSR_OK) status = add_remarks(&items, v[SAVE_METADATA]);
    if (status == TSR_OK) status = save_items(v[SAVE_VALUE], &items, path, &options);
    tsr_free((void *)options.header);
    tsr_items_free(&items);
    tsr_text_free(&room);
    *out = VALUE_NONE;
    return status;
}

/* ---- names of columns ---- */

/* A name from a file as str: bytes that are not UTF-8 are shown escaped. */
static TsrStatus new_name(Value *out, const char *name) {
    char shown[440];
    bool fine = tsr_utf8_invalid(name, (int64_t)strlen(name)) < 0;
    return str_new_c(out, fine ? name : tsr_io_quote(shown, name, strlen(name)));
}

static TsrStatus names_of(Value *out, const TsrTensor *t) {
    Value list, name;
    *out = VALUE_NONE;
    if (!tsr_columns_known(t)) return TSR_OK;
    TSR_TRY(list_new(&list, tsr_column_count(t)));
    TsrStatus status = TSR_OK;
    for (int64_t j = 0; j < tsr_column_count(t) && status == TSR_OK; j++) {
        status = new_name(&name, tsr_column_name(t, j));
        if (status == TSR_OK) status = list_append_move(value_as_list(list), name);
    }
    return value_end_move(out, status, list);
}

static TsrStatus columns(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(who_tensor(&t, args->values[0], "columns"));
    return names_of(out, t);
}

static const Method functions[] = {
    {"load", load, ARGS_ANY, 1, 2, "(path, format=None, *, dtype=None, shape=None, mode='c', header=None, delimiter=None, columns=None, metadata=False, na=None, unknown='error')",
     "What a file holds: a tensor, a dict of tensors, or whatever values a .pt file has; '-' is standard input. With metadata=True a pair: that, and the texts that a safetensors file keeps beside its tensors, a dict."},
    {"save", save, ARGS_ANY, 2, 3, "(obj, path, format=None, *, precision=None, json_nan='null', delimiter=None, header=True, untie=False, metadata=None, compress=False, na='nan', compact=False)",
     "Writes a tensor, or a dict of tensors, or to a .pt file any values, whole or not at all. header= of csv and tsv: a list of names of the columns, or False for none."},
    {"columns", columns, ARGS_ONE, 1, 1, "(x)",
     "The names that the columns of x had in the file it was read from, as a list; None when that is not known."},
    {0},
};

TsrStatus files_startup(void) { return namespace_add_functions("tsr", functions, true); }
