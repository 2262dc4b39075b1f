/* load.c: load() and loads(): arguments as TsrLoadOptions, and what was read as values. */
#include "files_impl.h"

#include <string.h>

#include "lang/types/codec.h"
#include "lang/types/bytes.h"
#include "lang/vm/prelude.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/kind.h"
#include "torch/types.h"
#include "torch/tables/tables.h"
#include "tree.h"

TsrStatus files_optional_text(const char **out, Value v, const char *what) {
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
    TSR_TRY(files_optional_text(&mode, v, "load(): argument 'mode'"));
    if (strcmp(mode, "c") != 0 && strcmp(mode, "r") != 0 && strcmp(mode, "r+") != 0)
        return tsr_error(TSR_VALUE_ERROR, "load(): mode is 'c', 'r' or 'r+', not '%s'", mode);
    o->mode = strcmp(mode, "r+") == 0 ? '+' : mode[0];
    return TSR_OK;
}

static TsrStatus read_delimiter(TsrLoadOptions *o, Value v) {
    const char *text = NULL;
    TSR_TRY(files_optional_text(&text, v, "load(): argument 'delimiter'"));
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
    LOAD_DECIMAL,
    LOAD_ARGS
};

static TsrStatus read_unknown(TsrLoadOptions *o, Value v) {
    const char *unknown = "opaque";
    TSR_TRY(files_optional_text(&unknown, v, "load(): argument 'unknown'"));
    o->opaque = strcmp(unknown, "opaque") == 0;
    return o->opaque || strcmp(unknown, "error") == 0
               ? TSR_OK
               : tsr_error(TSR_VALUE_ERROR, "load(): unknown is 'error' or 'opaque', not '%s'", unknown);
}

static TsrStatus read_decimal(TsrLoadOptions *o, Value v) {
    const char *mark = ".";
    TSR_TRY(files_optional_text(&mark, v, "load(): argument 'decimal'"));
    o->decimal_comma = strcmp(mark, ",") == 0;
    return o->decimal_comma || strcmp(mark, ".") == 0
               ? TSR_OK
               : tsr_error(TSR_VALUE_ERROR, "load(): decimal is ',' or '.', not '%s'", mark);
}

/* The names of the arguments that say what value is wanted, and are not for every format, as far as they are given. */
static TsrStatus add_given(TsrText *out, const Value *v) {
    static const struct {
        int place;
        const char *name;
    } named[] = {{LOAD_DTYPE, "dtype"}, {LOAD_SHAPE, "shape"},   {LOAD_COLUMNS, "columns"},
                 {LOAD_TEXT, "text"},   {LOAD_RAGGED, "ragged"}, {LOAD_DECIMAL, "decimal"}};
    for (size_t i = 0; i < TSR_COUNTOF(named); i++)
        if (v[named[i].place].tag > V_NONE) TSR_TRY(tsr_text_printf(out, "%s ", named[i].name));
    return TSR_OK;
}

/* Fills out->load; what is lent to it stays in *out. */
static TsrStatus load_options(FilesOptions *out, const Value *v) {
    TsrLoadOptions *o = &out->load;
    TsrText *lists = out->lists;
    *o = (TsrLoadOptions){.size = sizeof(TsrLoadOptions), .dtype = TSR_DTYPE_NONE};
    TSR_TRY(files_optional_text(&o->format, v[LOAD_FORMAT], "load(): argument 'format'"));
    if (v[LOAD_DTYPE].tag > V_NONE && !dtype_from_value(&o->dtype, v[LOAD_DTYPE]))
        return tsr_error(TSR_TYPE_ERROR, "load(): argument 'dtype' must be torch.dtype, not %s",
                         value_type_name(v[LOAD_DTYPE]));
    TSR_TRY(add_given(&lists[2], v));
    o->given = lists[2].data;
    TSR_TRY(read_shape(o, out->shape, v[LOAD_SHAPE]));
    TSR_TRY(read_mode(o, v[LOAD_MODE]));
    TSR_TRY(read_unknown(o, v[LOAD_UNKNOWN]));
    TSR_TRY(read_header(o, v[LOAD_HEADER]));
    TSR_TRY(read_delimiter(o, v[LOAD_DELIMITER]));
    TSR_TRY(flag(&o->ragged, v[LOAD_RAGGED]));
    TSR_TRY(read_decimal(o, v[LOAD_DECIMAL]));
    TSR_TRY(read_list(&o->columns, &lists[0], v[LOAD_COLUMNS]));
    TSR_TRY(read_list(&o->text, &lists[3], v[LOAD_TEXT]));
    return read_list(&o->na, &lists[1], v[LOAD_NA]);
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
        "text", "ragged", "decimal"

/* *path without the name of a part, in `file`, where it has one, which the options get. */
static TsrStatus split_path(const char **path, TsrLoadOptions *o, TsrText *file) {
    o->part = tsr_io_part(*path);
    o->listing = files_listing;
    if (o->part == NULL) return TSR_OK;
    TSR_TRY(tsr_text_append(file, *path, (size_t)(o->part - 1 - *path)));
    *path = file->data;
    return TSR_OK;
}

TsrStatus files_call_load(Value *out, const CallArgs *args) {
    static const char *const names[] = {"path", LOAD_OPTION_NAMES};
    static const ArgSpec spec = {"load", names, LOAD_ARGS, 0, 2, 1};
    Value v[LOAD_ARGS];
    FilesOptions o = {0};
    bool metadata, records;
    TSR_TRY(args_parse(v, args, 0, &spec));
    v[LOAD_PATH] = kind_path(v[LOAD_PATH]);
    TSR_TRY(value_to_cstring(&o.path, v[LOAD_PATH], "load(): argument 'path'"));
    TSR_TRY(flag(&metadata, v[LOAD_METADATA]));
    TSR_TRY(flag(&records, v[LOAD_RECORDS]));
    TsrText file = {0};
    TsrStatus status = codec_system_bytes(&o.path, &o.room, v[LOAD_PATH]);
    if (status == TSR_OK) status = load_options(&o, v);
    if (status == TSR_OK) status = split_path(&o.path, &o.load, &file);
    if (status == TSR_OK) status = (records ? load_all : load_one)(out, o.path, &o.load, metadata);
    files_options_clear(&o);
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
    return load_options(out, v);
}

void files_options_clear(FilesOptions *o) {
    for (size_t i = 0; i < TSR_COUNTOF(o->lists); i++) tsr_text_free(&o->lists[i]);
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
TsrStatus files_call_loads(Value *out, const CallArgs *args) {
    static const char *const names[] = {"data", LOAD_OPTION_NAMES};
    static const ArgSpec spec = {"loads", names, LOAD_ARGS, 0, 2, 2};
    Value v[LOAD_ARGS];
    FilesOptions o = {0};
    TsrItems items;
    const char *data;
    size_t size;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(content_of(&data, &size, v[LOAD_PATH]));
    TsrStatus status = load_options(&o, v);
    if (status == TSR_OK) status = tsr_load_bytes(&items, "<text>", data, size, &o.load);
    if (status == TSR_OK) {
        files_tell_notes(&items);
        status = files_value(out, &items);
        tsr_items_free(&items);
    }
    files_options_clear(&o);
    return status;
}
