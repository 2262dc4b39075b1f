/* load, save and columns. Arguments become TsrLoadOptions or TsrSaveOptions; the core reads or writes, and what it
 * returns (one tensor, named ones, a tree) becomes values. Saving under an existing name may change a file in place
 * (files_change). */
#include "files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lang/object/args.h"
#include "lang/modules/builtin.h"
#include "lang/types/codec.h"
#include "core/io/names.h"
#include "core/io/packing/unpack.h"
#include "core/mem.h"
#include "core/table.h"
#include "lang/types/bytes.h"
#include "lang/vm/prelude.h"
#include "lang/types/dict.h"
#include "lang/object/native.h"
#include "json.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "types.h"
#include "torch/tables/tables.h"
#include "tree.h"
#include "holders.h"

static void tell_on_stderr(const char *line) { fprintf(stderr, "tsr: %s\n", line); }
void (*files_tell)(const char *line) = tell_on_stderr;

bool files_listing;

/* ---- load ---- */

static TsrStatus optional_text(const char **out, Value v, const char *what) {
    return v.tag <= V_NONE ? TSR_OK : value_to_cstring(out, v, what);
}

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
    if (strcmp(mode, "c") != 0 && strcmp(mode, "r") != 0 && strcmp(mode, "r+") != 0)
        return tsr_error(TSR_VALUE_ERROR, "load(): mode is 'c', 'r' or 'r+', not '%s'", mode);
    o->mode = strcmp(mode, "r+") == 0 ? '+' : mode[0];
    return TSR_OK;
}

static TsrStatus read_delimiter(TsrLoadOptions *o, Value v) {
    const char *text = NULL;
    TSR_TRY(optional_text(&text, v, "load(): argument 'delimiter'"));
    if (text == NULL) return TSR_OK;
    if (strcmp(text, "\\t") == 0) text = "\t";
    if (text[0] == '\0' || text[1] != '\0')
        return tsr_error(TSR_VALUE_ERROR, "load(): a delimiter is one character, not '%s'", text);
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
    for (size_t i = 0; i < name.length && status == TSR_OK; i++)
        status = tsr_text_puts(text, name.data[i] == '"' ? "\"\"" : (char[]){name.data[i], '\0'});
    tsr_text_free(&name);
    return status == TSR_OK ? tsr_text_putc(text, '"') : status;
}

/* "0,2,name" or a list of them, as the reader wants it; `text` keeps the joined names alive. */
static TsrStatus read_list(const char **out, TsrText *text, Value v) {
    const Value *items;
    int64_t count;
    if (v.tag <= V_NONE) return TSR_OK;
    if (!value_as_array(v, &items, &count)) TSR_TRY(value_str(text, v));
    else
        for (int64_t i = 0; i < count; i++) {
            if (i > 0) TSR_TRY(tsr_text_putc(text, ','));
            TSR_TRY(add_column_name(text, items[i]));
        }
    *out = text->data != NULL ? text->data : "";
    return TSR_OK;
}

static TsrStatus flag(bool *out, Value v) {
    *out = false;
    return v.tag == V_UNBOUND ? TSR_OK : value_truth(out, v);
}

static TsrStatus read_header(TsrLoadOptions *o, Value v) {
    bool header;
    o->header = -1;
    if (v.tag <= V_NONE) return TSR_OK;
    TSR_TRY(value_truth(&header, v));
    o->header = header;
    return TSR_OK;
}

TsrStatus files_value(Value *out, TsrItems *items) {
    Value dict;
    if (items->tree.root != NULL) return tree_to_value(out, &items->tree);
    if (items->table != NULL) return table_from_columns(out, items->table);
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

static TsrStatus remarks_to_dict(Value *out, const TsrItems *items) {
    Value dict, text;
    TSR_TRY(dict_new(&dict));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < items->nremarks && status == TSR_OK; i++) {
        status = str_new_c(&text, items->remarks[i].value);
        if (status == TSR_OK) status = dict_set_c_move(value_as_dict(dict), items->remarks[i].key, text);
    }
    return value_end_move(out, status, dict);
}

/* What the file holds, which is consumed, and what it says besides. */
static TsrStatus pair_move(Value *out, Value held, const TsrItems *items) {
    Value pair[2] = {held};
    TsrStatus status = remarks_to_dict(&pair[1], items);
    if (status == TSR_OK) {
        status = tuple_new(out, pair, 2);
        value_release(pair[1]);
    }
    value_release(held);
    return status;
}

enum {
    LOAD_PATH,
    LOAD_FORMAT,
    LOAD_DTYPE,
    LOAD_SHAPE,
    LOAD_MODE,
    LOAD_HEADER,
    LOAD_DELIMITER,
    LOAD_COLUMNS,
    LOAD_METADATA,
    LOAD_NA,
    LOAD_UNKNOWN,
    LOAD_RECORDS,
    LOAD_TEXT,
    LOAD_RAGGED,
    LOAD_ARGS
};

static TsrStatus read_unknown(TsrLoadOptions *o, Value v) {
    const char *unknown = "opaque";
    TSR_TRY(optional_text(&unknown, v, "load(): argument 'unknown'"));
    o->opaque = strcmp(unknown, "opaque") == 0;
    return o->opaque || strcmp(unknown, "error") == 0
               ? TSR_OK
               : tsr_error(TSR_VALUE_ERROR, "load(): unknown is 'error' or 'opaque', not '%s'", unknown);
}

/* The names of the arguments that say what value is wanted, and are not for every format, as far as they are given. */
static TsrStatus add_given(TsrText *out, const Value *v) {
    static const struct {
        int place;
        const char *name;
    } named[] = {{LOAD_DTYPE, "dtype"},
                 {LOAD_SHAPE, "shape"},
                 {LOAD_COLUMNS, "columns"},
                 {LOAD_TEXT, "text"},
                 {LOAD_RAGGED, "ragged"}};
    for (size_t i = 0; i < TSR_COUNTOF(named); i++)
        if (v[named[i].place].tag > V_NONE) TSR_TRY(tsr_text_printf(out, "%s ", named[i].name));
    return TSR_OK;
}

/* What is lent to the options stays in `shape` and `lists`. */
static TsrStatus load_options(TsrLoadOptions *o, int64_t *shape, TsrText lists[4], const Value *v) {
    *o = (TsrLoadOptions){.size = sizeof(TsrLoadOptions), .dtype = TSR_DTYPE_NONE};
    TSR_TRY(optional_text(&o->format, v[LOAD_FORMAT], "load(): argument 'format'"));
    if (v[LOAD_DTYPE].tag > V_NONE && !dtype_from_value(&o->dtype, v[LOAD_DTYPE]))
        return tsr_error(TSR_TYPE_ERROR, "load(): argument 'dtype' must be torch.dtype, not %s",
                         value_type_name(v[LOAD_DTYPE]));
    TSR_TRY(add_given(&lists[2], v));
    o->given = lists[2].data;
    TSR_TRY(read_shape(o, shape, v[LOAD_SHAPE]));
    TSR_TRY(read_mode(o, v[LOAD_MODE]));
    TSR_TRY(read_unknown(o, v[LOAD_UNKNOWN]));
    TSR_TRY(read_header(o, v[LOAD_HEADER]));
    TSR_TRY(read_delimiter(o, v[LOAD_DELIMITER]));
    TSR_TRY(flag(&o->ragged, v[LOAD_RAGGED]));
    TSR_TRY(read_list(&o->columns, &lists[0], v[LOAD_COLUMNS]));
    TSR_TRY(read_list(&o->text, &lists[3], v[LOAD_TEXT]));
    return read_list(&o->na, &lists[1], v[LOAD_NA]);
}

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
static TsrStatus copy_remarks(TsrItems *to, const TsrItems *from, const char *other) {
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
    if (copy_remarks(&remembered, items, NULL) == TSR_OK) return;
    tsr_items_free(&remembered); /* short of memory: whoever writes says it */
    tsr_error_clear();
}

static TsrStatus add_remembered(TsrItems *items, const char *path, const TsrSaveOptions *options) {
    const TsrFormat *format = options->format != NULL ? tsr_format_find(options->format) : tsr_format_for_path(path);
    bool alike = format != NULL && remembered.format != NULL && strcmp(format->name, remembered.format) == 0;
    return alike ? copy_remarks(items, &remembered, "maxval") : TSR_OK; /* maxval is that of other numbers */
}

/* *v becomes the part of it that the name tells (`part_of` of the prelude). */
static TsrStatus take_part(Value *v, const char *part, const char *file) {
    Value arguments[3] = {*v}, callee = VALUE_UNBOUND, found;
    if (part == NULL) return TSR_OK;
    TsrStatus status = codec_system_str_c(&arguments[1], part);
    if (status == TSR_OK) status = codec_system_str_c(&arguments[2], file);
    if (status == TSR_OK) status = prelude_get(&callee, "tree", "part_of");
    if (status == TSR_OK) status = value_call_n(&found, callee, 3, arguments);
    if (status == TSR_OK) {
        value_release(*v);
        *v = found;
    }
    value_release(callee);
    value_release(arguments[1]);
    value_release(arguments[2]);
    return status;
}

static TsrStatus load_one(Value *out, const char *path, const TsrLoadOptions *options, bool metadata) {
    TsrItems items;
    TSR_TRY(tsr_load(&items, path, options));
    files_tell_notes(&items);
    files_remember_items(&items);
    Value v;
    TsrStatus status = files_value(&v, &items);
    if (status == TSR_OK) {
        status = take_part(&v, options->part, path);
        if (status != TSR_OK) value_release(v);
    }
    if (status == TSR_OK) {
        if (metadata) status = pair_move(out, v, &items);
        else *out = v;
    }
    tsr_items_free(&items);
    return status;
}

/* A list of all records; with metadata the first one's, which is the only one where a format has such. */
static TsrStatus load_all(Value *out, const char *path, const TsrLoadOptions *options, bool metadata) {
    TsrRecords records;
    Value list = VALUE_UNBOUND, item;
    TSR_TRY(tsr_load_records(&records, path, options));
    TsrStatus status = list_new(&list, (int64_t)records.n);
    for (size_t i = 0; i < records.n && status == TSR_OK; i++) {
        files_tell_notes(&records.of[i]);
        files_remember_items(&records.of[i]);
        status = files_value(&item, &records.of[i]);
        if (status != TSR_OK) break;
        status = take_part(&item, options->part, path);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), item);
        else value_release(item);
    }
    if (status == TSR_OK && metadata) {
        Value held = list;
        list = VALUE_UNBOUND;
        status = pair_move(&list, held, &records.of[0]);
    }
    tsr_records_free(&records);
    return value_end_move(out, status, list);
}

#define LOAD_OPTION_NAMES \
    "format", "dtype", "shape", "mode", "header", "delimiter", "columns", "metadata", "na", "unknown", "records", \
        "text", "ragged"

/* *path without the name of a part, in `file`, where it has one, which the options get. */
static TsrStatus split_path(const char **path, TsrLoadOptions *o, TsrText *file) {
    o->part = tsr_io_part(*path);
    o->listing = files_listing;
    if (o->part == NULL) return TSR_OK;
    TSR_TRY(tsr_text_append(file, *path, (size_t)(o->part - 1 - *path)));
    *path = file->data;
    return TSR_OK;
}

static TsrStatus load(Value *out, const CallArgs *args) {
    static const char *const names[] = {"path", LOAD_OPTION_NAMES};
    static const ArgSpec spec = {"load", names, LOAD_ARGS, 0, 2, 1};
    Value v[LOAD_ARGS];
    TsrLoadOptions options;
    TsrText lists[4] = {0};
    const char *path;
    bool metadata, records;
    int64_t shape[TSR_MAX_DIMS];
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(value_to_cstring(&path, v[LOAD_PATH], "load(): argument 'path'"));
    TSR_TRY(flag(&metadata, v[LOAD_METADATA]));
    TSR_TRY(flag(&records, v[LOAD_RECORDS]));
    TsrText room = {0}, file = {0};
    TsrStatus status = codec_system_bytes(&path, &room, v[LOAD_PATH]);
    if (status == TSR_OK) status = load_options(&options, shape, lists, v);
    if (status == TSR_OK) status = split_path(&path, &options, &file);
    if (status == TSR_OK)
        status = records ? load_all(out, path, &options, metadata) : load_one(out, path, &options, metadata);
    for (int i = 0; i < 4; i++) tsr_text_free(&lists[i]);
    tsr_text_free(&room);
    tsr_text_free(&file);
    return status;
}

const char *files_first = "-";

TsrStatus files_table_options(FilesOptions *out, Value path, const Value *values) {
    static const int places[] = {LOAD_FORMAT,  LOAD_DTYPE, LOAD_HEADER, LOAD_DELIMITER,
                                 LOAD_COLUMNS, LOAD_NA,    LOAD_TEXT};
    Value v[LOAD_ARGS];
    const char *text;
    *out = (FilesOptions){.path = files_first};
    for (int i = 0; i < LOAD_ARGS; i++) v[i] = VALUE_UNBOUND;
    for (int i = 0; i < FILES_TABLE_OPTION_COUNT; i++) v[places[i]] = values[i];
    if (path.tag > V_NONE) {
        TSR_TRY(value_to_cstring(&text, path, "stream(): argument 'path'"));
        TSR_TRY(codec_system_bytes(&out->path, &out->room, path));
    }
    return load_options(&out->load, out->shape, out->lists, v);
}

void files_options_clear(FilesOptions *o) {
    for (int i = 0; i < 4; i++) tsr_text_free(&o->lists[i]);
    tsr_text_free(&o->room);
}

/* The bytes of str or bytes; lent. */
static TsrStatus content_of(const char **data, size_t *size, Value v) {
    bool bytes = value_is_bytes(v);
    if (!bytes && !value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "loads(): argument 'data' must be str or bytes, not %s", value_type_name(v));
    *data = bytes ? ((const Bytes *)v.o)->data : value_as_str(v)->data;
    *size = (size_t)(bytes ? ((const Bytes *)v.o)->size : value_as_str(v)->size);
    return TSR_OK;
}

/* What the file would give that has these bytes. */
static TsrStatus loads(Value *out, const CallArgs *args) {
    static const char *const names[] = {"data", LOAD_OPTION_NAMES};
    static const ArgSpec spec = {"loads", names, LOAD_ARGS, 0, 2, 2};
    Value v[LOAD_ARGS];
    TsrLoadOptions options;
    TsrText lists[4] = {0};
    TsrItems items;
    const char *data;
    size_t size;
    int64_t shape[TSR_MAX_DIMS];
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(content_of(&data, &size, v[LOAD_PATH]));
    TsrStatus status = load_options(&options, shape, lists, v);
    if (status == TSR_OK) status = tsr_load_bytes(&items, "<text>", data, size, &options);
    if (status == TSR_OK) {
        files_tell_notes(&items);
        status = files_value(out, &items);
        tsr_items_free(&items);
    }
    for (int i = 0; i < 4; i++) tsr_text_free(&lists[i]);
    return status;
}

/* ---- save ---- */

enum {
    SAVE_VALUE,
    SAVE_PATH,
    SAVE_FORMAT,
    SAVE_PRECISION,
    SAVE_JSON_NAN,
    SAVE_DELIMITER,
    SAVE_HEADER,
    SAVE_UNTIE,
    SAVE_METADATA,
    SAVE_COMPRESS,
    SAVE_NA,
    SAVE_COMPACT,
    SAVE_ARGS
};

/* A tensor, or one of what torch.tensor takes: a number, a list. */
static TsrStatus new_tensor_of(TsrTensor **out, Value v) {
    Value torch, made;
    TsrTensor *t;
    if (!value_is_int(v) && v.tag != V_FLOAT && !value_is_list(v) && !value_is_tuple(v)) {
        TSR_TRY(holders_tensor(&t, v, "save"));
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
            if (!value_is_str(e->key))
                return tsr_error(TSR_TYPE_ERROR, "save(): the keys of a dict of tensors are str, not %s",
                                 value_type_name(e->key));
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
    if (!value_is_dict(v))
        return tsr_error(TSR_TYPE_ERROR, "save(): argument 'metadata' must be dict, not %s", value_type_name(v));
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
    const JsonStyle style = {
        .nan = options->json_nan, .precision = options->precision, .strict = true, .nulls = options->nulls};
    const Value *items = &v;
    int64_t count = 1;
    if (strcmp(options->format, "jsonl") == 0 && value_is_column(v)) {
        Value list;
        TSR_TRY(list_new_iterable(&list, v));
        TsrStatus status = json_text(out, list, options);
        value_release(list);
        return status;
    }
    if (strcmp(options->format, "jsonl") == 0 && !value_as_array(v, &items, &count))
        return tsr_error(TSR_TYPE_ERROR, "JSON lines are written of a tensor, a dict of them or a list, not %s",
                         value_type_name(v));
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
    return strcmp(format, "jsonl") == 0 && (value_is_list(v) || value_is_tuple(v) || value_is_column(v));
}

/* `bytes`, if not NULL, gets what else the file would. */
static TsrStatus write_items(const TsrItems *items, const char *path, const TsrSaveOptions *options, TsrText *bytes) {
    if (bytes == NULL && strcmp(path, "-") != 0) return tsr_save(items, path, options);
    TsrSink sink = {.fd = bytes != NULL ? -1 : STDOUT_FILENO, .name = bytes != NULL ? path : "<stdout>"};
    fflush(builtin_stdout());
    TsrStatus status = tsr_write(&sink, items, options);
    if (bytes != NULL) *bytes = sink.text;
    else tsr_text_free(&sink.text);
    return status;
}

static TsrStatus save_options(TsrSaveOptions *o, const Value *v) {
    const char *delimiter = NULL;
    int64_t precision = 0;
    *o = (TsrSaveOptions){.size = sizeof(TsrSaveOptions)};
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
    if (o->json_nan != NULL && strcmp(o->json_nan, "null") != 0 && strcmp(o->json_nan, "error") != 0 &&
        strcmp(o->json_nan, "token") != 0)
        return tsr_error(TSR_VALUE_ERROR, "save(): json_nan is 'null', 'error' or 'token', not '%s'", o->json_nan);
    return TSR_OK;
}

/* True, False, or the names of the columns: what the strings of the list are is lent to o->header, which is the
 * caller's (tsr_free). */
static TsrStatus save_header(TsrSaveOptions *o, Value v) {
    const Value *items;
    int64_t count;
    if (v.tag <= V_NONE) return TSR_OK;
    if (v.tag == V_BOOL) {
        o->no_header = !v.b;
        return TSR_OK;
    }
    if (!value_as_array(v, &items, &count))
        return tsr_error(TSR_TYPE_ERROR, "save(): argument 'header' must be bool or a list of str, not %s",
                         value_type_name(v));
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
    if (stored > 2 * reached)
        fprintf(
            stderr,
            "note: %s: storages of %zu bytes were written, of which the tensors reach %zu; compact=True (--compact) "
            "writes those\n",
            path, stored, reached);
    return TSR_OK;
}

/* A table, or a dict some of whose values are columns of one. */
static bool has_columns(Value v) {
    int64_t position = 0;
    if (value_is_table(v)) return true;
    if (!value_is_dict(v)) return false;
    for (DictEntry *e; (e = dict_next(value_as_dict(v), &position)) != NULL;)
        if (value_is_column(e->value)) return true;
    return false;
}

/* A list of dicts, which are the rows of a table. */
static bool is_rows(Value v) {
    const Value *items;
    int64_t count, i = 0;
    if (!value_as_array(v, &items, &count)) return false;
    while (i < count && value_is_dict(items[i])) i++;
    return count > 0 && i == count;
}

/* A list of texts, some of which may be missing. */
static bool is_words(Value v) {
    const Value *items;
    int64_t count;
    bool words = false;
    if (value_is_str(v) || !value_as_array(v, &items, &count)) return false;
    for (int64_t i = 0; i < count; i++) {
        if (!value_is_str(items[i]) && items[i].tag != V_NONE) return false;
        words = words || value_is_str(items[i]);
    }
    return words;
}

/* What stands in one cell. */
static bool is_cell(Value v) {
    return value_is_str(v) || v.tag == V_NONE || v.tag == V_BOOL || v.tag == V_INT || v.tag == V_FLOAT ||
           (v.tag == V_TENSOR && tsr_ndim(v.t) == 0);
}

/* A dict with texts: columns of a table, or the cells of its one row. */
static bool is_dict_with_words(bool *one_row, Value v) {
    int64_t position = 0;
    bool words = false;
    *one_row = true;
    if (!value_is_dict(v)) return false;
    for (DictEntry *e; (e = dict_next(value_as_dict(v), &position)) != NULL;) {
        words = words || value_is_str(e->value) || is_words(e->value);
        *one_row = *one_row && is_cell(e->value);
    }
    return words;
}

/* csv and tsv. */
static bool format_has_header(const char *name) {
    const TsrFormat *format = name != NULL ? tsr_format_find(name) : NULL;
    return format != NULL && format->table;
}

/* Whether v goes into the format as a table of named columns. */
static bool is_written_as_table(Value v, const char *name) {
    const TsrFormat *format = name != NULL ? tsr_format_find(name) : NULL;
    if (format == NULL || !format->tables) return false;
    return has_columns(v) || (format->table && is_rows(v)) || strcmp(name, "markdown") == 0;
}

static bool is_format_of_rows(const char *name) {
    return format_has_header(name) || (name != NULL && strcmp(name, "markdown") == 0);
}

static TsrStatus table_items(TsrItems *items, Value v) {
    Value table;
    TSR_TRY(table_of(&table, v));
    TsrStatus status = table_new_columns(&items->table, table);
    value_release(table);
    return status;
}

/* Whether v is a tensor of two dimensions whose columns were given names, in a format that has these in each row. */
static bool is_named_matrix(Value v, const TsrSaveOptions *o) {
    const TsrFormat *format = o->format != NULL ? tsr_format_find(o->format) : NULL;
    return format != NULL && format->put_cell != NULL && !format->table && v.tag == V_TENSOR && tsr_ndim(v.t) == 2 &&
           !tsr_is_sparse(v.t) && !tsr_is_meta(v.t) && o->header != NULL && !o->no_header;
}

static TsrStatus add_matrix_column(TsrTable *table, const TsrTensor *t, int64_t j, const TsrText *name) {
    TsrTableColumn c = {.kind = TSR_COLUMN_NUMBERS};
    TsrStatus status = tsr_tensor_new_select(&c.from, t, 1, j);
    if (status == TSR_OK) status = tsr_tensor_new_contiguous(&c.data, c.from, TSR_CONTIGUOUS);
    if (status == TSR_OK) return tsr_table_add_move(table, name->data != NULL ? name->data : "", name->length, c);
    tsr_table_column_clear(&c);
    return status;
}

/* The columns under the names of the header, made different as those of a table that is read are. */
static TsrStatus add_matrix_columns(TsrTable *table, const TsrTensor *t, const char *const *header) {
    TsrNames names;
    TsrStatus status = tsr_names_begin(&names, t->sizes[1]);
    for (int64_t j = 0; j < t->sizes[1] && status == TSR_OK; j++) {
        TsrText name = {0};
        status = tsr_names_put(&name, &names, header[j]);
        if (status == TSR_OK) status = add_matrix_column(table, t, j, &name);
        tsr_text_free(&name);
    }
    tsr_names_free(&names);
    return status;
}

static TsrStatus matrix_items(TsrItems *items, TsrSaveOptions *o, const TsrTensor *t) {
    if (o->header_count != t->sizes[1])
        return tsr_error(TSR_VALUE_ERROR, "the header has %lld names, the tensor %lld columns",
                         (long long)o->header_count, (long long)t->sizes[1]);
    if (!tsr_dtype_is_pod(t->dtype) || tsr_dtype_is_complex(t->dtype))
        return tsr_error(TSR_VALUE_ERROR, "JSON holds dense real numbers, not this tensor of torch.%s",
                         tsr_dtype_name(t->dtype));
    TSR_TRY(tsr_tensor_check(t, false));
    TSR_TRY(tsr_table_new(&items->table, t->sizes[0]));
    TSR_TRY(add_matrix_columns(items->table, t, o->header));
    o->header = NULL; /* the table has them */
    return TSR_OK;
}

/* Whether v goes into NumPy's files as arrays that are no tensors: a column, or a dict with some or with tables. */
static bool is_written_as_arrays(Value v, const char *name) {
    int64_t position = 0;
    if (name == NULL) return false;
    if (value_is_column(v)) return strcmp(name, "npy") == 0;
    if (strcmp(name, "npz") != 0 || !value_is_dict(v)) return false;
    for (DictEntry *e; (e = dict_next(value_as_dict(v), &position)) != NULL;)
        if (value_is_column(e->value) || value_is_table(e->value)) return true;
    return false;
}

/* A column alone is a table of one, with a header where it has a name. */
static TsrStatus column_items(TsrItems *items, TsrSaveOptions *o, Value v) {
    TSR_TRY(table_new_column(&items->table, v));
    o->no_header |= items->table->columns[0].name[0] == '\0' && o->header == NULL;
    return TSR_OK;
}

/* A list of texts is a column without a name. */
static TsrStatus words_items(TsrItems *items, TsrSaveOptions *o, Value v) {
    Value column;
    TSR_TRY(column_type.construct(&column, &column_type, &(CallArgs){.values = &v, .count = 1}));
    TsrStatus status = column_items(items, o, column);
    value_release(column);
    return status;
}

static TsrStatus one_row_items(TsrItems *items, Value v) {
    Value rows;
    TSR_TRY(list_new(&rows, 0));
    TsrStatus status = list_append(value_as_list(rows), v);
    if (status == TSR_OK) status = table_items(items, rows);
    value_release(rows);
    return status;
}

/* What is to be written of v: items, or their tree, or text of ours, which `text` keeps. `items` hold the remarks. */
static TsrStatus prepare(TsrItems *items, TsrSaveOptions *o, TsrText *text, Value v, const char *path) {
    const TsrFormat *format = o->format == NULL ? tsr_format_for_path(path) : NULL;
    if (o->format == NULL && strcmp(path, "-") == 0) return tsr_error(TSR_VALUE_ERROR, "save() to '-' needs format=");
    if (format != NULL) o->format = format->name;
    if (holds_trees(o->format)) return tree_from_value(&items->tree, v, false);
    if (is_written_as_arrays(v, o->format)) return tree_from_value(&items->tree, v, true);
    if (value_is_column(v) && format_has_header(o->format)) return column_items(items, o, v);
    bool one_row;
    if (is_words(v) && format_has_header(o->format)) return words_items(items, o, v);
    if (is_format_of_rows(o->format) && is_dict_with_words(&one_row, v))
        return one_row ? one_row_items(items, v) : table_items(items, v);
    if (is_written_as_table(v, o->format)) return table_items(items, v);
    if (is_named_matrix(v, o)) return matrix_items(items, o, v.t);
    if (o->format == NULL || !is_written_as_text(v, o->format)) return value_to_items(items, v);
    TSR_TRY(strcmp(o->format, "text") == 0 ? repr_text(text, v) : json_text(text, v, o));
    o->text = text->data != NULL ? text->data : "";
    o->text_length = text->length;
    return TSR_OK;
}

void files_tell_nulls(const TsrSaveOptions *o, const char *path) {
    char line[700], shown[440];
    if (o->json_nan != NULL || o->nulls == NULL || *o->nulls == 0) return;
    snprintf(line, sizeof line, "%s: null stands for %lld number%s; --json-nan, or json_nan=, says what else",
             strcmp(path, "-") == 0 ? "<stdout>" : tsr_io_quote(shown, path, strlen(path)), (long long)*o->nulls,
             *o->nulls == 1 ? " that is nan or infinite" : "s that are nan or infinite");
    files_tell(line);
}

static void tell_replaced(const TsrSaveOptions *o, const char *path) {
    char line[700], shown[440];
    if (o->replaced == NULL || *o->replaced == 0) return;
    snprintf(line, sizeof line,
             "%s: U+FFFD stands for %lld byte%s UTF-8; text in Latin-1 needs `iconv -f latin1 -t utf8` first",
             strcmp(path, "-") == 0 ? "<stdout>" : tsr_io_quote(shown, path, strlen(path)), (long long)*o->replaced,
             *o->replaced == 1 ? " that is no" : "s that are no");
    files_tell(line);
}

/* What was lost of what was written. */
static void tell_losses(const TsrSaveOptions *o, const char *path) {
    files_tell_nulls(o, path);
    tell_replaced(o, path);
}

static TsrStatus save_items(Value v, TsrItems *items, const char *path, const TsrSaveOptions *options, TsrText *bytes) {
    int64_t nulls = 0, replaced = 0;
    TsrSaveOptions o = *options;
    TsrText text = {0};
    if (o.nulls == NULL) o.nulls = &nulls;
    o.replaced = &replaced;
    TsrStatus status = prepare(items, &o, &text, v, path);
    if (status == TSR_OK) status = write_items(items, path, &o, bytes);
    if (status == TSR_OK && o.nulls == &nulls) files_tell_nulls(&o, path);
    if (status == TSR_OK) tell_replaced(&o, path);
    if (status == TSR_OK && holds_trees(o.format) && !o.compact) status = tell_of_ballast(&items->tree, path);
    tsr_text_free(&text);
    return status;
}

TsrStatus files_save(Value v, const char *path, const TsrSaveOptions *options) {
    TsrItems items = {0};
    TsrStatus status = save_items(v, &items, path, options, NULL);
    tsr_items_free(&items);
    return status;
}

TsrStatus files_save_alike(Value v, const char *path, const TsrSaveOptions *options) {
    TsrItems items = {0};
    TsrStatus status = add_remembered(&items, path, options);
    if (status == TSR_OK) status = save_items(v, &items, path, options, NULL);
    tsr_items_free(&items);
    return status;
}

/* ---- over the file that was read ---- */

/* The names that the table's file had, lent by it, for writing it as it was. *names is the caller's. */
static TsrStatus old_header(TsrSaveOptions *o, const char ***names, const TsrItems *old) {
    const TsrTensor *t = old->single ? old->items[0].tensor : NULL;
    const TsrColumns *columns = t != NULL ? t->storage->columns : NULL;
    o->header = NULL;
    o->header_count = 0;
    o->no_header = false;
    if (columns == NULL) return TSR_OK;
    o->delimiter = columns->n > 1 ? columns->delimiter : 0;
    if (columns->names == NULL) return TSR_OK;
    *names = tsr_malloc((size_t)columns->n * sizeof **names);
    if (*names == NULL) return tsr_error_no_memory((size_t)columns->n * sizeof **names);
    for (int64_t i = 0; i < columns->n; i++) (*names)[i] = columns->names[i];
    o->header = *names;
    o->header_count = columns->n;
    return TSR_OK;
}

/* The bytes of what a file holds, as they would be written. */
static TsrStatus write_again(TsrSink *sink, TsrItems *old, const char *path, const TsrSaveOptions *save) {
    TsrSaveOptions o = *save;
    TsrItems again = {0};
    TsrText text = {0};
    const char **names = NULL;
    Value v = VALUE_UNBOUND;
    TsrStatus status = old_header(&o, &names, old);
    if (status == TSR_OK) status = files_value(&v, old);
    if (status == TSR_OK) status = prepare(&again, &o, &text, v, path);
    if (status == TSR_OK) status = tsr_write(sink, &again, &o);
    value_release(v);
    tsr_free(names);
    tsr_text_free(&text);
    tsr_items_free(&again);
    return status;
}

/* The first line in which two texts differ; 0: they are the same. */
static int64_t first_difference(const char *a, size_t na, const char *b, size_t nb) {
    size_t i = 0;
    int64_t line = 1;
    for (; i < na && i < nb && a[i] == b[i]; i++) line += a[i] == '\n';
    return i == na && i == nb ? 0 : line;
}

/* Whether a file of text may be written anew: only when that would not change what it holds. */
static TsrStatus check_anew(const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save) {
    TsrInput in;
    TsrItems old = {0};
    TsrSink sink = {.fd = -1, .name = path};
    TSR_TRY(tsr_input_open(&in, path, 'c', NULL));
    TsrStatus status = tsr_load_bytes(&old, path, in.data, in.size, load);
    if (status == TSR_OK) status = write_again(&sink, &old, path, save);
    int64_t line = status == TSR_OK ? first_difference(in.data, in.size, sink.text.data, sink.text.length) : 0;
    if (status == TSR_OK && line > 0) {
        status = tsr_error(TSR_VALUE_ERROR,
                           "%s: the value has another form than the file, so that all would be written anew, and line "
                           "%lld would not stay as it is",
                           path, (long long)line);
        tsr_error_hint("-o FILE writes the value to another file, or over this one");
    }
    tsr_text_free(&sink.text);
    tsr_items_free(&old);
    tsr_dataptr_release(&in.hold);
    return status;
}

/* What the program was not given can't be written back. */
static TsrStatus refuse_columns(const char *path) {
    tsr_error(TSR_VALUE_ERROR,
              "%s: --columns took a part of it, and the value has another form than that: the rest would be lost",
              path);
    tsr_error_hint("-o FILE writes the value to another file");
    return TSR_VALUE_ERROR;
}

/* A header that the value has no names for would be lost. */
static TsrStatus check_header(const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save, Value v) {
    TsrItems old;
    if (save->header != NULL || save->no_header || value_is_dict(v)) return TSR_OK;
    TSR_TRY(tsr_load(&old, path, load));
    const TsrColumns *columns = old.single ? old.items[0].tensor->storage->columns : NULL;
    bool named = columns != NULL && columns->names != NULL;
    tsr_items_free(&old);
    if (!named) return TSR_OK;
    tsr_error(TSR_VALUE_ERROR, "%s: its header would be lost: the value has other columns", path);
    tsr_error_hint("--no-header leaves it out; a dict, {'name': column}, has names of its own");
    return TSR_VALUE_ERROR;
}

/* Names that the file has and the value has not, and what it says besides: *items gets the latter. */
static TsrStatus keep_rest(TsrItems *items, Value v, const char *path, const TsrLoadOptions *load) {
    TsrItems old;
    TSR_TRY(tsr_load(&old, path, load));
    if (old.derived) {
        tsr_items_free(&old);
        tsr_error(TSR_VALUE_ERROR, "%s: it packs its numbers in few bits, and would be written with all of theirs",
                  path);
        tsr_error_hint("-o FILE writes them to another file");
        return TSR_VALUE_ERROR;
    }
    bool lost = !old.single && old.tree.root == NULL && !value_is_dict(v);
    TsrStatus status =
        lost ? tsr_error(TSR_VALUE_ERROR, "%s: it holds tensors with names, and the value is none: they would be lost",
                         path)
             : TSR_OK;
    if (lost) tsr_error_hint("{**_, 'name': x} changes one of them");
    if (status == TSR_OK) status = copy_remarks(items, &old, NULL);
    tsr_items_free(&old);
    return status;
}

static TsrStatus change_all(Value v, const char *path, const TsrFormat *format, const TsrLoadOptions *load,
                            const TsrSaveOptions *save) {
    TsrItems items = {0};
    TsrStatus status = TSR_OK;
    if (format->put == NULL) status = keep_rest(&items, v, path, load);
    else if (load->columns != NULL) status = refuse_columns(path);
    else {
        status = check_anew(path, load, save);
        if (status == TSR_OK) status = check_header(path, load, save, v);
    }
    if (status == TSR_OK) status = save_items(v, &items, path, save, NULL);
    tsr_items_free(&items);
    return status;
}

/* Whether v is a table, or what tensors are made of, so that the file may be changed in its places. */
static bool may_be_items(Value v) {
    if (has_columns(v)) return true;
    if (!value_is_dict(v))
        return v.tag == V_TENSOR || value_is_list(v) || value_is_tuple(v) || value_is_int(v) || v.tag == V_FLOAT;
    return has_tensors_only(v);
}

TsrStatus files_change(Value v, const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save) {
    int64_t nulls = 0;
    bool done = false;
    TsrItems items = {0};
    TsrSaveOptions o = *save;
    const TsrFormat *format = load->format != NULL ? tsr_format_find(load->format) : tsr_format_for_path(path);
    TSR_TRY(tsr_io_check_writable(path));
    if (format == NULL) TSR_TRY(tsr_check_unpacked(path));
    if (format == NULL) return tsr_format_unnamed(path, "--input");
    if (format->put != NULL || format->probe != NULL) TSR_TRY(tsr_check_unpacked(path));
    o.nulls = &nulls;
    o.format = format->name;
    if (format->put == NULL || save->no_header || !may_be_items(v)) return change_all(v, path, format, load, &o);
    TsrStatus status = has_columns(v) ? table_items(&items, v) : value_to_items(&items, v);
    bool other = status != TSR_OK && status != TSR_KEYBOARD_INTERRUPT &&
                 status != TSR_MEMORY_ERROR; /* a list that is no tensor, of JSON */
    if (other) tsr_error_clear(), status = TSR_OK;
    else if (status == TSR_OK) status = tsr_edit(&done, &items, path, load, &o);
    tsr_items_free(&items);
    if (status == TSR_OK && done) tell_losses(&o, path);
    return status == TSR_OK && !done ? change_all(v, path, format, load, &o) : status;
}

static TsrStatus no_use(const char *what, const char *kinds, const TsrFormat *format) {
    return tsr_error(TSR_VALUE_ERROR, "save(): %s is for %s, not for %s", what, kinds, format->name);
}

/* What the format passes over, though it was asked for. An unknown one is told of later. */
static TsrStatus check_use(const TsrSaveOptions *o, const char *path) {
    const TsrFormat *format = o->format != NULL ? tsr_format_find(o->format) : tsr_format_for_path(path);
    bool repr = o->format != NULL && strcmp(o->format, "text") == 0;
    if (repr && o->precision > 0)
        return tsr_error(TSR_VALUE_ERROR, "save(): the digits of text are those of torch.set_printoptions(precision=)");
    if (format == NULL) return TSR_OK;
    bool text = format->put != NULL || format->table, npz = strcmp(format->name, "npz") == 0;
    if (o->precision > 0 && !text) return no_use("precision", "text", format);
    if (o->json_nan != NULL && (!text || format->table)) return no_use("json_nan", "json and jsonl", format);
    return o->compress && !npz ? no_use("compress", "npz", format) : TSR_OK;
}

/* Saves as the arguments say; `bytes` NULL: to the file of that path. */
static TsrStatus save_as(const Value *v, const char *path, TsrText *bytes) {
    TsrSaveOptions options;
    TsrItems items = {0};
    TSR_TRY(save_options(&options, v));
    TsrStatus status = check_use(&options, path);
    if (status == TSR_OK) status = save_header(&options, v[SAVE_HEADER]);
    if (status == TSR_OK) status = add_remarks(&items, v[SAVE_METADATA]);
    if (status == TSR_OK) status = save_items(v[SAVE_VALUE], &items, path, &options, bytes);
    tsr_free((void *)options.header);
    tsr_items_free(&items);
    return status;
}

static const char *const save_names[] = {"obj",    "path",  "format",   "precision", "json_nan", "delimiter",
                                         "header", "untie", "metadata", "compress",  "na",       "compact"};

static TsrStatus save(Value *out, const CallArgs *args) {
    static const ArgSpec spec = {"save", save_names, SAVE_ARGS, 0, 3, 2};
    Value v[SAVE_ARGS];
    const char *path;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(value_to_cstring(&path, v[SAVE_PATH], "save(): argument 'path'"));
    TsrText room = {0};
    TsrStatus status = codec_system_bytes(&path, &room, v[SAVE_PATH]);
    if (status == TSR_OK) status = save_as(v, path, NULL);
    tsr_text_free(&room);
    *out = VALUE_NONE;
    return status;
}

/* The bytes that a file would get. */
static TsrStatus dumps(Value *out, const CallArgs *args) {
    const char *names[SAVE_ARGS - 1] = {"obj"};
    memcpy(&names[1], &save_names[SAVE_FORMAT], sizeof names - sizeof names[0]);
    const ArgSpec spec = {"dumps", names, SAVE_ARGS - 1, 0, 2, 2};
    Value given[SAVE_ARGS - 1], v[SAVE_ARGS];
    TsrText bytes = {0};
    TSR_TRY(args_parse(given, args, 0, &spec));
    v[SAVE_VALUE] = given[0];
    v[SAVE_PATH] = VALUE_UNBOUND;
    memcpy(&v[SAVE_FORMAT], &given[1], sizeof given - sizeof given[0]);
    TsrStatus status = save_as(v, "<bytes>", &bytes);
    if (status == TSR_OK) status = bytes_new(out, bytes.data != NULL ? bytes.data : "", (int64_t)bytes.length);
    tsr_text_free(&bytes);
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
    TSR_TRY(holders_tensor(&t, args->values[0], "columns"));
    return names_of(out, t);
}

static const Method functions[] = {
    {"load", load, ARGS_ANY, 1, 2,
     "(path, format=None, *, dtype=None, shape=None, mode='c', header=None, delimiter=None, columns=None, "
     "metadata=False, na=None, unknown='opaque', records=False, text=None, ragged=False)",
     "What a file holds: a tensor, a dict of tensors, or whatever values a .pt file has; '-' is standard input. With "
     "metadata=True a pair: that, and the texts that a safetensors file keeps beside its tensors, a dict. With "
     "records=True a list of all that stand one behind the other in an npy, json or raw file."},
    {"loads", loads, ARGS_ANY, 2, 2,
     "(data, format, *, dtype=None, shape=None, header=None, delimiter=None, columns=None, na=None, text=None, "
     "ragged=False)",
     "What a file of these bytes, or of this text, holds: loads('a,b\\n1,2\\n', 'csv')."},
    {"save", save, ARGS_ANY, 2, 3,
     "(obj, path, format=None, *, precision=None, json_nan='null', delimiter=None, header=True, untie=False, "
     "metadata=None, compress=False, na='nan', compact=False)",
     "Writes a tensor, or a dict of tensors, or to a .pt file any values, whole or not at all. header= of csv and "
     "tsv: a list of names of the columns, or False for none."},
    {"dumps", dumps, ARGS_ANY, 2, 2,
     "(obj, format, *, precision=None, json_nan='null', delimiter=None, header=True, untie=False, metadata=None, "
     "compress=False, na='nan', compact=False)",
     "The bytes that a file would get: dumps(x, 'npy')."},
    {"columns", columns, ARGS_ONE, 1, 1, "(x)",
     "The names that the columns of x had in the file it was read from, as a list; None when that is not known."},
    {0},
};

TsrStatus files_startup(void) { return namespace_add_functions("tsr", functions, true); }
