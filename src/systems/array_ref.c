/* c10.ArrayRef: a non-owning, read-only view of some ints: of a tensor's sizes or strides, or of a list that was given.
 * Holding one past its tensor is caught like a dangling borrow. */
#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "lang/types/dict.h"
#include "caffe2.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/vm/vm.h"

typedef struct ArrayRef {
    Obj obj;
    TsrTensor *t; /* a weak link; NULL: `items` are its own */
    bool strides;
    int line;
    int64_t *items;
    int64_t count;
} ArrayRef;

static ArrayRef *as_ref(Value v) { return (ArrayRef *)v.o; }

static void ref_destroy(Obj *self) {
    ArrayRef *r = (ArrayRef *)self;
    tsr_tensor_weak_free(r->t);
    tsr_free(r->items);
    obj_free(r, sizeof *r);
}

static TsrStatus new_ref(ArrayRef **out) {
    ArrayRef *r = obj_new(&array_ref_type, sizeof *r);
    if (r == NULL) return mem_error();
    r->t = NULL;
    r->strides = false;
    r->items = NULL;
    r->count = 0;
    r->line = vm_current_line();
    *out = r;
    return TSR_OK;
}

TsrStatus array_ref_new(Value *out, TsrTensor *t, bool strides) {
    ArrayRef *r;
    TSR_TRY(new_ref(&r));
    r->t = tsr_tensor_weak_new(t);
    r->strides = strides;
    *out = value_obj_move(r);
    return TSR_OK;
}

static TsrStatus look(const int64_t **items, int64_t *count, Value v) {
    const ArrayRef *r = as_ref(v);
    *items = r->items;
    *count = r->count;
    if (r->t == NULL) return TSR_OK;
    if (!tsr_tensor_weak_alive(r->t)) {
        tsr_error(TSR_BORROW_ERROR,
                  "this ArrayRef of line %d refers to a tensor that is gone: an ArrayRef owns nothing", r->line);
        tsr_error_hint("vec() copies the numbers into a list");
        return TSR_BORROW_ERROR;
    }
    *items = r->strides ? r->t->strides : r->t->sizes;
    *count = tsr_ndim(r->t);
    return TSR_OK;
}

static TsrStatus ref_construct(Value *out, Type *type, const CallArgs *args) {
    const Value *items;
    int64_t count;
    ArrayRef *r;
    (void)type;
    TSR_TRY(args_count(args, 0, 0, 1, "ArrayRef"));
    TSR_TRY(new_ref(&r));
    *out = value_obj_move(r);
    if (args->count == 0) return TSR_OK;
    TsrStatus status = value_as_array(args->values[0], &items, &count)
                           ? TSR_OK
                           : tsr_error(TSR_TYPE_ERROR, "ArrayRef(): expected a list or tuple of ints, not %s",
                                       value_type_name(args->values[0]));
    if (status == TSR_OK && (r->items = tsr_malloc(sizeof(int64_t) * (size_t)(count + 1))) == NULL)
        status = mem_error();
    for (int64_t i = 0; i < count && status == TSR_OK; i++) status = value_to_index(&r->items[i], items[i]);
    r->count = status == TSR_OK ? count : 0;
    if (status != TSR_OK) value_clear(out);
    return status;
}

static TsrStatus ref_repr(TsrText *out, Value self) {
    const int64_t *items;
    int64_t count;
    if (look(&items, &count, self) != TSR_OK) {
        tsr_error_clear();
        return tsr_text_puts(out, "ArrayRef(dangling)");
    }
    TSR_TRY(tsr_text_putc(out, '['));
    for (int64_t i = 0; i < count; i++) TSR_TRY(tsr_text_printf(out, i > 0 ? ", %lld" : "%lld", (long long)items[i]));
    return tsr_text_putc(out, ']');
}

static TsrStatus ref_length(int64_t *out, Value self) {
    const int64_t *items;
    return look(&items, out, self);
}

static TsrStatus ref_get_item(Value *out, Value self, Value index) {
    const int64_t *items;
    int64_t count, i;
    TSR_TRY(look(&items, &count, self));
    TSR_TRY(value_to_index(&i, index));
    if (i < 0 || i >= count)
        return tsr_error(TSR_INDEX_ERROR, "ArrayRef: invalid index Index = %lld; Length = %lld", (long long)i,
                         (long long)count);
    *out = value_int(items[i]);
    return TSR_OK;
}

static TsrStatus ref_set_item(Value self, Value index, Value value) {
    (void)self, (void)index, (void)value;
    return tsr_error(TSR_TYPE_ERROR, "an ArrayRef is read-only; vec() gives a list of your own");
}

static TsrStatus ref_vec(Value *out, const CallArgs *args) {
    const int64_t *items;
    int64_t count;
    TSR_TRY(look(&items, &count, args->values[0]));
    TSR_TRY(list_new(out, count));
    for (int64_t i = 0; i < count; i++) TSR_TRY(list_append(value_as_list(*out), value_int(items[i])));
    return TSR_OK;
}

static TsrStatus ref_size(Value *out, const CallArgs *args) {
    int64_t count;
    TSR_TRY(ref_length(&count, args->values[0]));
    *out = value_int(count);
    return TSR_OK;
}

static TsrStatus ref_empty(Value *out, const CallArgs *args) {
    int64_t count;
    TSR_TRY(ref_length(&count, args->values[0]));
    *out = value_bool(count == 0);
    return TSR_OK;
}

static TsrStatus same_items(bool *out, Value a, Value b) {
    const int64_t *x, *y;
    const Value *values;
    int64_t n, m, item;
    TSR_TRY(look(&x, &n, a));
    *out = false;
    if (value_is_obj(b, &array_ref_type)) {
        TSR_TRY(look(&y, &m, b));
        *out = n == m && memcmp(x, y, sizeof(int64_t) * (size_t)n) == 0;
    } else if (value_as_array(b, &values, &m) && n == m) {
        *out = true;
        for (int64_t i = 0; i < n && *out; i++) *out = value_small_int(values[i], &item) && item == x[i];
    }
    return TSR_OK;
}

static TsrStatus ref_equals(Value *out, const CallArgs *args) {
    bool same;
    TSR_TRY(same_items(&same, args->values[0], args->values[1]));
    *out = value_bool(same);
    return TSR_OK;
}

static TsrStatus ref_compare(Value *out, CompareOp op, Value a, Value b) {
    bool same;
    *out = VALUE_UNBOUND;
    if (op != CMP_EQ && op != CMP_NE) return TSR_OK;
    if (!value_is_obj(a, &array_ref_type)) {
        Value t = a;
        a = b;
        b = t;
    }
    TSR_TRY(same_items(&same, a, b));
    *out = value_bool(same == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus ref_iter(Value *out, Value self) {
    Value list;
    TSR_TRY(ref_vec(&list, &(CallArgs){.values = &self, .count = 1}));
    TsrStatus status = value_iter(out, list);
    value_release(list);
    return status;
}

static const Method methods[] = {
    {"vec", ref_vec, ARGS_NONE, 0, 0, "()", "A copy of the numbers as a list."},
    {"size", ref_size, ARGS_NONE, 0, 0, "()", "How many."},
    {"empty", ref_empty, ARGS_NONE, 0, 0, "()", "Whether there are none."},
    {"equals", ref_equals, ARGS_ONE, 1, 1, "(other)", "Whether the numbers are the same."},
    {0},
};

Type array_ref_type = {.obj = TYPE_HEADER,
                       .name = "ArrayRef",
                       .module = "c10",
                       .construct = ref_construct,
                       .destroy = ref_destroy,
                       .repr = ref_repr,
                       .length = ref_length,
                       .get_item = ref_get_item,
                       .set_item = ref_set_item,
                       .iter = ref_iter,
                       .compare = ref_compare,
                       .hash = hash_refused,
                       .methods = methods};
