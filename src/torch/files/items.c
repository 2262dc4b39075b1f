/* items.c: values as what a file is written of: tensors with names, columns of a table, a tree, or text of ours. */
#include "files_impl.h"

#include <string.h>

#include "core/io/names.h"
#include "lang/types/bytes.h"
#include "lang/vm/prelude.h"
#include "lang/types/dict.h"
#include "json.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"
#include "torch/tables/tables.h"
#include "tree.h"
#include "torch/holders.h"

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
TsrStatus files_items_of(TsrItems *items, Value v) {
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
TsrStatus files_add_remarks(TsrItems *items, Value v) {
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

bool files_has_tensors_only(Value v) {
    if (!value_is_dict(v)) return v.tag == V_TENSOR;
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(value_as_dict(v), &position)) != NULL;)
        if (e->value.tag != V_TENSOR || !value_is_str(e->key)) return false;
    return true;
}

/* Whether a value goes into the format as text of ours, not as tensors. */
static bool is_written_as_text(Value v, const char *format) {
    if (strcmp(format, "text") == 0) return true;
    if (strcmp(format, "json") == 0) return !files_has_tensors_only(v);
    return strcmp(format, "jsonl") == 0 && (value_is_list(v) || value_is_tuple(v) || value_is_column(v));
}

/* Whether the format takes any values, not tensors alone. */
bool files_holds_trees(const char *name) {
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
TsrStatus files_tell_of_ballast(const TsrTree *tree, const char *path) {
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
bool files_has_columns(Value v) {
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
    return files_has_columns(v) || (format->table && is_rows(v)) || strcmp(name, "markdown") == 0;
}

static bool is_format_of_rows(const char *name) {
    return format_has_header(name) || (name != NULL && strcmp(name, "markdown") == 0);
}

TsrStatus files_table_items(TsrItems *items, Value v) {
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

static TsrStatus new_list_of(Value *out, Value v) {
    TSR_TRY(list_new(out, 1));
    TsrStatus status = list_append(value_as_list(*out), v);
    if (status != TSR_OK) value_release(*out);
    return status;
}

/* A list of texts is a column without a name, and so is a text alone. */
static TsrStatus words_items(TsrItems *items, TsrSaveOptions *o, Value v) {
    Value column;
    TSR_TRY(column_type.construct(&column, &column_type, &(CallArgs){.values = &v, .count = 1}));
    TsrStatus status = column_items(items, o, column);
    value_release(column);
    return status;
}

static TsrStatus one_word_items(TsrItems *items, TsrSaveOptions *o, Value word) {
    Value list;
    TSR_TRY(new_list_of(&list, word));
    TsrStatus status = words_items(items, o, list);
    value_release(list);
    return status;
}

static TsrStatus one_row_items(TsrItems *items, Value v) {
    Value rows;
    TSR_TRY(new_list_of(&rows, v));
    TsrStatus status = files_table_items(items, rows);
    value_release(rows);
    return status;
}

/* What is to be written of v: items, or their tree, or text of ours, which `text` keeps. `items` hold the remarks. */
TsrStatus files_prepare(TsrItems *items, TsrSaveOptions *o, TsrText *text, Value v, const char *path) {
    const TsrFormat *format = o->format == NULL ? tsr_format_for_path(path) : NULL;
    if (o->format == NULL && strcmp(path, "-") == 0) return tsr_error(TSR_VALUE_ERROR, "save() to '-' needs format=");
    if (format != NULL) o->format = format->name;
    if (files_holds_trees(o->format)) return tree_from_value(&items->tree, v, false);
    if (is_written_as_arrays(v, o->format)) return tree_from_value(&items->tree, v, true);
    if (value_is_column(v) && format_has_header(o->format)) return column_items(items, o, v);
    bool one_row;
    if (is_words(v) && format_has_header(o->format)) return words_items(items, o, v);
    if (value_is_str(v) && format_has_header(o->format)) return one_word_items(items, o, v);
    if (is_format_of_rows(o->format) && is_dict_with_words(&one_row, v))
        return one_row ? one_row_items(items, v) : files_table_items(items, v);
    if (is_written_as_table(v, o->format)) return files_table_items(items, v);
    if (is_named_matrix(v, o)) return matrix_items(items, o, v.t);
    if (o->format == NULL || !is_written_as_text(v, o->format)) return files_items_of(items, v);
    TSR_TRY(strcmp(o->format, "text") == 0 ? repr_text(text, v) : json_text(text, v, o));
    o->text = text->data != NULL ? text->data : "";
    o->text_length = text->length;
    return TSR_OK;
}
