/* table.c: Table, a dict of columns of one length, and Groups, what by() gives of one. Their slots call the functions
 * of prelude/table.tsr; what stands here is what dicts do otherwise. */
#include "tables_impl.h"

#include <string.h>

#include "core/layout.h"
#include "core/table.h"
#include "core/view.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/object/hint.h"
#include "lang/types/collections.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"

/* ---- Table ---- */

/* `rows`: how many there are, None where the other columns tell. */
static TsrStatus set_column(Value self, Value key, Value value, Value rows) {
    Value column;
    if (!value_is_str(key)) return tsr_error(TSR_TYPE_ERROR, "a column's name is str, not %s", value_type_name(key));
    TSR_TRY(tables_call(&column, "table slots", "fitting", 4, (Value[]){self, key, value, rows}));
    TsrStatus status = dict_set(value_as_dict(self), key, column);
    value_release(column);
    return status;
}

static TsrStatus table_set_item(Value self, Value key, Value value) { return set_column(self, key, value, VALUE_NONE); }

static bool has_rows(Value v) {
    return !value_is_str(v) && (v.tag == V_TENSOR ? tsr_ndim(v.t) > 0 : v.tag == V_OBJ && v.o->type->length != NULL);
}

/* As many as the first value has that is more than one; None: there is none such. */
static TsrStatus count_rows(Value *out, Value source) {
    int64_t position = 0, rows;
    *out = VALUE_NONE;
    for (DictEntry *e; (e = dict_next(value_as_dict(source), &position)) != NULL && out->tag == V_NONE;) {
        if (!has_rows(e->value)) continue;
        TSR_TRY(value_length(&rows, e->value));
        *out = value_int(rows);
    }
    return TSR_OK;
}

static TsrStatus set_all(Value made, Value source) {
    int64_t position = 0;
    Value rows;
    TSR_TRY(count_rows(&rows, source));
    for (DictEntry *e; (e = dict_next(value_as_dict(source), &position)) != NULL;)
        TSR_TRY(set_column(made, e->key, e->value, rows));
    return TSR_OK;
}

/* Of what dict() takes; its columns are checked as in an assignment. */
static TsrStatus table_construct(Value *out, Type *type, const CallArgs *args) {
    Value made, source;
    TSR_TRY(dict_type.construct(&source, &dict_type, args));
    TsrStatus status = dict_kind_new(&made, type, sizeof(Dict));
    if (status == TSR_OK) status = value_end_move(out, set_all(made, source), made);
    value_release(source);
    return status;
}

static int64_t table_rows(Value self) {
    int64_t position = 0, rows = 0;
    const DictEntry *first = dict_next(value_as_dict(self), &position);
    if (first == NULL) return 0;
    if (first->value.tag == V_TENSOR) return tsr_ndim(first->value.t) > 0 ? first->value.t->sizes[0] : 0;
    return value_length(&rows, first->value) == TSR_OK ? rows : 0;
}

static TsrStatus table_length(int64_t *out, Value self) {
    *out = table_rows(self);
    return TSR_OK;
}

static TsrStatus no_column(Value self, Value name) {
    Value names;
    int64_t position = 0;
    TSR_TRY(list_new(&names, 0));
    TsrStatus status = TSR_OK;
    for (DictEntry *e; status == TSR_OK && (e = dict_next(value_as_dict(self), &position)) != NULL;)
        status = list_append(value_as_list(names), e->key);
    if (status == TSR_OK) status = hint_no_column(name, names);
    value_release(names);
    return status;
}

static TsrStatus table_get_item(Value *out, Value self, Value index) {
    Value *found;
    if (!value_is_str(index)) return tables_call(out, "table slots", "get_item", 2, (Value[]){self, index});
    TSR_TRY(dict_find(&found, value_as_dict(self), index));
    if (found == NULL) return no_column(self, index);
    *out = value_retain(*found);
    return TSR_OK;
}

static TsrStatus repr_by(TsrText *out, const char *space, Value self) {
    Value text;
    TSR_TRY(tables_call(&text, space, "shown", 1, &self));
    TsrStatus status = value_str(out, text);
    value_release(text);
    return status;
}

static TsrStatus table_repr(TsrText *out, Value self) { return repr_by(out, "table slots", self); }

static TsrStatus table_lookup(Value *out, Type *type, Str *name) {
    (void)type;
    return prelude_get(out, "Table", name->data);
}

static TsrStatus table_dir(List *names, Value self) {
    (void)self;
    return prelude_append_names(names, "Table");
}

static TsrStatus table_copy(Value *out, Value self, Dict *memo) {
    (void)memo;
    return tables_call(out, "table slots", "copied", 1, &self);
}

static TsrStatus get_columns(Value *out, Value self) { return list_new_iterable(out, self); }

static TsrStatus get_shape(Value *out, Value self) { return tables_call(out, "Table", "shape_of", 1, &self); }

static const Getter table_getters[] = {
    {"shape", get_shape, NULL, "How many rows and columns it has, a torch.Size."},
    {"columns", get_columns, NULL, "The names of the columns, a list."},
    {0},
};

Type table_type = {
    .obj = TYPE_HEADER,
    .name = "Table",
    .module = "tsr",
    .base = &dict_type,
    .doc = "A dict of named columns of one length: tensors of one dimension, and Columns. x['a'] is a column, "
           "x[['a', 'b']] some of them, x[2:5] and x[x['a'] > 1] rows, x['c'] = ... a new one.",
    .construct = table_construct,
    .repr = table_repr,
    .length = table_length,
    .get_item = table_get_item,
    .set_item = table_set_item,
    .lookup = table_lookup,
    .dir = table_dir,
    .copy = table_copy,
    .getters = table_getters,
};

/* ---- Groups ---- */

/* What belongs to a group is written in a dict: the table, the names of the keys, the columns that are asked for. */
typedef struct Groups {
    GcObj gc;
    Value parts;
} Groups;

static void groups_destroy(Obj *self) {
    value_release(((Groups *)self)->parts);
    obj_free(self, sizeof(Groups));
}

static void groups_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_value(((Groups *)self)->parts, visit, context);
}

static void groups_clear(Obj *self) { value_set_move(&((Groups *)self)->parts, VALUE_NONE); }

static TsrStatus groups_of(Value *out, const CallArgs *args) {
    Groups *g = obj_new(&groups_type, sizeof *g);
    if (g == NULL) return mem_error();
    g->parts = value_retain(args->values[0]);
    gc_track(g);
    *out = value_obj_move(g);
    return TSR_OK;
}

static TsrStatus groups_get_item(Value *out, Value self, Value names) {
    return tables_call(out, "groups slots", "get_item", 2, (Value[]){self, names});
}

static TsrStatus groups_repr(TsrText *out, Value self) { return repr_by(out, "groups slots", self); }

static TsrStatus groups_iter(Value *out, Value self) {
    Value pairs;
    TSR_TRY(tables_call(&pairs, "groups slots", "pairs", 1, &self));
    TsrStatus status = value_iter(out, pairs);
    value_release(pairs);
    return status;
}

static TsrStatus groups_lookup(Value *out, Type *type, Str *name) {
    (void)type;
    return prelude_get(out, "Groups", name->data);
}

static TsrStatus groups_dir(List *names, Value self) {
    (void)self;
    return prelude_append_names(names, "Groups");
}

static TsrStatus get_parts(Value *out, Value self) {
    *out = value_retain(((Groups *)self.o)->parts);
    return TSR_OK;
}

static const Getter groups_getters[] = {
    {"parts", get_parts, NULL, "What it is made of: the table, the names of the keys, the columns asked for."},
    {0},
};

Type groups_type = {
    .obj = TYPE_HEADER,
    .name = "Groups",
    .module = "tsr",
    .flags = TYPE_GC,
    .doc = "The rows of a table by the values of some columns: x.by('a'). x.by('a')['b'].sum() is a table of the keys "
           "and the sums.",
    .destroy = groups_destroy,
    .traverse = groups_traverse,
    .clear = groups_clear,
    .repr = groups_repr,
    .get_item = groups_get_item,
    .iter = groups_iter,
    .lookup = groups_lookup,
    .dir = groups_dir,
    .getters = groups_getters,
};

/* ---- from files and to them ---- */

static TsrStatus column_value(Value *out, TsrTableColumn *c) {
    if (c->kind != TSR_COLUMN_NUMBERS || c->missing != NULL) return column_new_move(out, c);
    *out = value_tensor_move(c->data);
    c->data = NULL;
    return TSR_OK;
}

TsrStatus table_first_column(Value *out, TsrTable *table) { return column_value(out, &table->columns[0]); }

static TsrStatus add_column(Value table, TsrTableColumn *c) {
    Value column, name;
    TSR_TRY(column_value(&column, c));
    TsrStatus status = tables_new_str(&name, c->name, strlen(c->name));
    if (status == TSR_OK) {
        status = dict_set(value_as_dict(table), name, column);
        value_release(name);
    }
    value_release(column);
    return status;
}

TsrStatus table_from_columns(Value *out, TsrTable *table) {
    Value made;
    TSR_TRY(dict_kind_new(&made, &table_type, sizeof(Dict)));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < table->n && status == TSR_OK; i++) status = add_column(made, &table->columns[i]);
    return value_end_move(out, status, made);
}

/* Of its elements in order, so that they can be read as an array. */
static TsrStatus take_tensor(TsrTensor **out, const TsrTensor *t, const char *name, int64_t rows) {
    if (tsr_is_sparse(t) || tsr_ndim(t) != 1 || t->numel != rows || tsr_dtype_is_complex(t->dtype) ||
        !tsr_dtype_is_pod(t->dtype))
        return tsr_error(TSR_VALUE_ERROR, "the column '%.100s' is no vector of %lld real numbers", name,
                         (long long)rows);
    TSR_TRY(tsr_tensor_check(t, false));
    return tsr_tensor_new_contiguous(out, t, TSR_CONTIGUOUS);
}

static TsrStatus take_column(TsrTable *table, const char *name, size_t n, Value v) {
    TsrTableColumn c = {.kind = TSR_COLUMN_NUMBERS};
    const Column *from = value_is_column(v) ? value_as_column(v) : NULL;
    if (from == NULL && v.tag != V_TENSOR)
        return tsr_error(TSR_TYPE_ERROR, "the column '%.100s' is no tensor and no Column, but %s", name,
                         value_type_name(v));
    TsrStatus status = take_tensor(&c.data, from != NULL ? from->data.t : v.t, name, table->rows);
    if (status == TSR_OK) c.from = tsr_tensor_retain(from != NULL ? from->data.t : v.t);
    if (status == TSR_OK && from != NULL && from->missing.tag == V_TENSOR)
        status = take_tensor(&c.missing, from->missing.t, name, table->rows);
    if (status != TSR_OK) {
        tsr_table_column_clear(&c);
        return status;
    }
    if (from != NULL) {
        c.kind = from->kind;
        c.words = tsr_words_retain(from->words);
        c.unit = from->unit;
        c.style = from->style;
    }
    return tsr_table_add_move(table, name, n, c);
}

TsrStatus table_new_columns(TsrTable **out, Value value) {
    TsrTable *table;
    int64_t position = 0;
    TSR_TRY(tsr_table_new(&table, table_rows(value)));
    TsrStatus status = TSR_OK;
    for (DictEntry *e; status == TSR_OK && (e = dict_next(value_as_dict(value), &position)) != NULL;)
        status = value_is_str(e->key)
                     ? take_column(table, value_as_str(e->key)->data, (size_t)value_as_str(e->key)->size, e->value)
                     : tsr_error(TSR_TYPE_ERROR, "a column's name is str, not %s", value_type_name(e->key));
    if (status == TSR_OK) *out = table;
    else tsr_table_free(table);
    return status;
}

TsrStatus table_new_column(TsrTable **out, Value column) {
    TsrTable *table;
    const char *name = tsr_column_name(value_as_column(column)->data.t, 0);
    TSR_TRY(tsr_table_new(&table, value_as_column(column)->data.t->numel));
    TsrStatus status = take_column(table, name != NULL ? name : "", name != NULL ? strlen(name) : 0, column);
    if (status == TSR_OK) *out = table;
    else tsr_table_free(table);
    return status;
}

/* ---- start ---- */

TsrStatus table_of(Value *out, Value v) { return tables_call(out, "table slots", "table_of", 1, &v); }

static TsrStatus table(Value *out, const CallArgs *args) { return table_of(out, args->values[0]); }

static TsrStatus times(Value *out, const CallArgs *args) {
    static const char *const names[] = {"x", "unit"};
    static const ArgSpec spec = {"times", names, 2, 1, 2, 1};
    Value v[2], unit;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(v[1].tag > V_NONE ? (unit = value_retain(v[1]), TSR_OK) : str_new_c(&unit, "s"));
    TsrStatus status = tables_call(out, "column slots", "times_of", 2, (Value[]){v[0], unit});
    value_release(unit);
    return status;
}

static const Method functions[] = {
    {"table", table, ARGS_ONE, 1, 1, "(x)",
     "A Table of a table of numbers whose columns have names, of a dict of columns, of a list of dicts, or of a list "
     "of tables, whose rows follow each other."},
    {"times", times, ARGS_ANY, 1, 2, "(x, unit='s')",
     "A column of times: of a tensor of units since 1970-01-01 in UTC ('D', 's', 'ms', 'us', 'ns'), or of a list of "
     "texts."},
    {0},
};

/* For the prelude alone. */
static const Method makers[] = {
    {"words", column_of_words, ARGS_ONE, 1, 1, NULL, NULL},
    {"times", column_of_times, ARGS_RANGE, 3, 3, NULL, NULL},
    {"numbers", column_of_numbers, ARGS_RANGE, 2, 2, NULL, NULL},
    {"joined", column_of_joined, ARGS_ONE, 1, 1, NULL, NULL},
    {"groups", groups_of, ARGS_ONE, 1, 1, NULL, NULL},
    {0},
};

static TsrStatus fill_makers(Module *m) { return module_add_functions(m, makers); }

TsrStatus tables_startup(void) {
    static const Namespace space = {.name = "tsr._tables", .fill = fill_makers};
    type_inherit(&table_type);
    TSR_TRY(namespace_add(&space));
    TSR_TRY(namespace_add_functions("tsr", functions, true));
    TSR_TRY(namespace_add_value("tsr", "Table", value_lent(&table_type), false));
    return namespace_add_value("tsr", "Column", value_lent(&column_type), false);
}
