/* range.c: range and slice.
 *
 * A range is start, stop and step, ints of any size; its length is computed when it is made. Indexing, slicing,
 * searching and comparing are arithmetic on these three, with 64 bits while all fit and large ints beyond. A slice is
 * three values; slice_resolve turns them into start, stop and step within a length, as CPython's does. */
#include "lang/object/args.h"
#include "lang/object/native.h"
#include "numbers.h"
#include "sequences.h"
#include "indices.h"
#include "lang/object/value_impl.h"

#include <math.h>
#include <string.h>

/* --- slice --- */

static void slice_destroy(Obj *self) {
    Slice *s = (Slice *)self;
    value_release(s->start);
    value_release(s->stop);
    value_release(s->step);
    obj_free(s, sizeof *s);
}
static void slice_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_value(((Slice *)self)->start, visit, context);
    gc_visit_value(((Slice *)self)->stop, visit, context);
    gc_visit_value(((Slice *)self)->step, visit, context);
}
static void slice_clear(Obj *self) {
    value_set_move(&((Slice *)self)->start, VALUE_NONE);
    value_set_move(&((Slice *)self)->stop, VALUE_NONE);
    value_set_move(&((Slice *)self)->step, VALUE_NONE);
}

static bool holds_container(Value v) { return v.tag == V_OBJ && (v.o->type->flags & TYPE_GC); }

TsrStatus slice_new(Value *out, Value start, Value stop, Value step) {
    Slice *s = obj_new(&slice_type, sizeof *s);
    if (s == NULL) return TSR_MEMORY_ERROR;
    s->start = start.tag == V_UNBOUND ? VALUE_NONE : value_retain(start);
    s->stop = stop.tag == V_UNBOUND ? VALUE_NONE : value_retain(stop);
    s->step = step.tag == V_UNBOUND ? VALUE_NONE : value_retain(step);
    if (holds_container(start) || holds_container(stop) || holds_container(step)) gc_track(s);
    *out = value_obj_move(s);
    return TSR_OK;
}

static TsrStatus slice_part(int64_t *out, Value v, int64_t fallback) {
    if (v.tag == V_INT || v.tag == V_BOOL) {
        *out = v.i;
        return TSR_OK;
    }
    if (value_is_none(v)) {
        *out = fallback;
        return TSR_OK;
    }
    if (!value_is_int(v) && v.tag != V_TENSOR)
        return tsr_error(TSR_TYPE_ERROR, "slice indices must be integers or None or have an __index__ method");
    return value_to_index_clamped(out, v);
}

static int64_t clamp_part(int64_t i, int64_t length, int64_t step) {
    if (i < 0) {
        i += length;
        return i < 0 ? (step < 0 ? -1 : 0) : i;
    }
    return i >= length ? (step < 0 ? length - 1 : length) : i;
}

TsrStatus slice_resolve(const Slice *slice, int64_t length, int64_t *start, int64_t *stop, int64_t *step,
                        int64_t *count) {
    TSR_TRY(slice_part(step, slice->step, 1));
    if (*step == 0) return tsr_error(TSR_VALUE_ERROR, "slice step cannot be zero");
    if (*step == INT64_MIN) *step = -INT64_MAX;
    TSR_TRY(slice_part(start, slice->start, *step < 0 ? INT64_MAX : 0));
    TSR_TRY(slice_part(stop, slice->stop, *step < 0 ? INT64_MIN : INT64_MAX));
    *start = clamp_part(*start, length, *step);
    *stop = clamp_part(*stop, length, *step);
    if (*step < 0) *count = *stop < *start ? (*start - *stop - 1) / -*step + 1 : 0;
    else *count = *start < *stop ? (*stop - *start - 1) / *step + 1 : 0;
    return TSR_OK;
}

static TsrStatus slice_repr(TsrText *out, Value self) {
    const Slice *s = (Slice *)self.o;
    ReprGuard guard;
    bool again;
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_puts(out, "slice(...)");
    TsrStatus status = tsr_text_puts(out, "slice(");
    if (status == TSR_OK) status = value_repr(out, s->start);
    if (status == TSR_OK) status = tsr_text_puts(out, ", ");
    if (status == TSR_OK) status = value_repr(out, s->stop);
    if (status == TSR_OK) status = tsr_text_puts(out, ", ");
    if (status == TSR_OK) status = value_repr(out, s->step);
    if (status == TSR_OK) status = tsr_text_putc(out, ')');
    repr_leave(&guard);
    return status;
}

static TsrStatus slice_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 1, 3, "slice"));
    if (args->count == 1) return slice_new(out, VALUE_NONE, args->values[0], VALUE_NONE);
    return slice_new(out, args->values[0], args->values[1], arg_at(args, 2));
}

static TsrStatus slice_as_tuple(Value *out, Value v) {
    const Slice *s = (Slice *)v.o;
    Value parts[3] = {s->start, s->stop, s->step};
    return tuple_new(out, parts, 3);
}

static TsrStatus slice_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return value_is_obj(a, &slice_type) && value_is_obj(b, &slice_type)
               ? value_compare_by(out, op, slice_as_tuple, a, b)
               : TSR_OK;
}

/* One end of a slice over any length, as an int of its own: counted from the end when negative, and kept within [low,
 * high]. */
static TsrStatus big_end(Value *out, Value end, Value length, Value low, Value high, Value missing) {
    Value at;
    if (value_is_none(end)) return *out = value_retain(missing), TSR_OK;
    if (!value_is_int(end))
        return tsr_error(TSR_TYPE_ERROR, "slice indices must be integers or None or have an __index__ method");
    TSR_TRY(int_binary(&at, OP_ADD, end, int_sign(end) < 0 ? length : value_int(0)));
    *out = value_retain(int_compare(at, low) < 0 ? low : int_compare(at, high) > 0 ? high : at);
    value_release(at);
    return TSR_OK;
}

/* indices() where something is no int of 64 bits. */
static TsrStatus big_indices(Value *out, const Slice *s, Value length) {
    Value parts[3], last, step = value_is_none(s->step) ? value_int(1) : s->step;
    if (!value_is_int(step))
        return tsr_error(TSR_TYPE_ERROR, "slice indices must be integers or None or have an __index__ method");
    if (int_sign(step) == 0) return tsr_error(TSR_VALUE_ERROR, "slice step cannot be zero");
    if (int_sign(length) < 0) return tsr_error(TSR_VALUE_ERROR, "length should not be negative");
    bool down = int_sign(step) < 0;
    TSR_TRY(int_binary(&last, OP_SUB, length, value_int(down)));
    Value low = value_int(down ? -1 : 0);
    TsrStatus status = big_end(&parts[0], s->start, length, low, last, down ? last : low);
    if (status == TSR_OK) {
        status = big_end(&parts[1], s->stop, length, low, last, down ? low : last);
        if (status != TSR_OK) value_release(parts[0]);
    }
    value_release(last);
    TSR_TRY(status);
    parts[2] = value_retain(step);
    return tuple_new_move(out, parts, 3);
}

static bool is_big(Value v) { return value_is_int(v) && v.tag != V_INT && v.tag != V_BOOL; }

static TsrStatus slice_indices(Value *out, const CallArgs *args) {
    int64_t length, start, stop, step, count;
    const Slice *s = (Slice *)args->values[0].o;
    if (is_big(args->values[1]) || is_big(s->start) || is_big(s->stop) || is_big(s->step))
        return big_indices(out, s, args->values[1]);
    TSR_TRY(value_to_index(&length, args->values[1]));
    if (length < 0) return tsr_error(TSR_VALUE_ERROR, "length should not be negative");
    TSR_TRY(slice_resolve((Slice *)args->values[0].o, length, &start, &stop, &step, &count));
    Value parts[3] = {value_int(start), value_int(stop), value_int(step)};
    return tuple_new(out, parts, 3);
}

/* An attribute of self. */
#define GET(name, value) \
    static TsrStatus name(Value *out, Value self) { \
        *out = value; \
        return TSR_OK; \
    }

GET(get_start, value_retain(((Slice *)self.o)->start))
GET(get_stop, value_retain(((Slice *)self.o)->stop))
GET(get_step, value_retain(((Slice *)self.o)->step))

static const Getter slice_getters[] = {
    {"start", get_start, NULL, NULL}, {"stop", get_stop, NULL, NULL}, {"step", get_step, NULL, NULL}, {0}};
static const Method slice_methods[] = {
    {"indices", slice_indices, ARGS_ONE, 0, 0, "(length, /)", "(start, stop, step) for a sequence of this length."},
    {0}};

Type slice_type = {.obj = TYPE_HEADER,
                   .name = "slice",
                   .doc = "slice(stop) or slice(start, stop[, step]).",
                   .flags = TYPE_GC | TYPE_ATOMIC,
                   .construct = slice_construct,
                   .destroy = slice_destroy,
                   .traverse = slice_traverse,
                   .clear = slice_clear,
                   .repr = slice_repr,
                   .hash = hash_refused,
                   .compare = slice_compare,
                   .methods = slice_methods,
                   .getters = slice_getters};

/* --- range --- */

static void range_destroy(Obj *self) {
    Range *r = (Range *)self;
    value_release(r->start);
    value_release(r->stop);
    value_release(r->step);
    obj_free(r, sizeof *r);
}

/* The number of items as an int, of any size. */
static TsrStatus range_count(Value *out, const Range *r) {
    if (r->small) {
        *out = value_int(r->count);
        return TSR_OK;
    }
    bool up = int_sign(r->step) > 0;
    Value span, less, quotient;
    TSR_TRY(int_binary(&span, OP_SUB, up ? r->stop : r->start, up ? r->start : r->stop));
    if (int_sign(span) <= 0) {
        value_release(span);
        *out = value_int(0);
        return TSR_OK;
    }
    Value step;
    TsrStatus status = int_binary(&less, OP_SUB, span, value_int(1));
    value_release(span);
    TSR_TRY(status);
    status = up ? (step = value_retain(r->step), TSR_OK) : int_negate(&step, r->step);
    if (status == TSR_OK) {
        status = int_binary(&quotient, OP_FLOORDIV, less, step);
        value_release(step);
    }
    value_release(less);
    TSR_TRY(status);
    status = int_binary(out, OP_ADD, quotient, value_int(1));
    value_release(quotient);
    return status;
}

static void range_measure(Range *r) {
    int64_t stop, span;
    r->small = int_fits_int64(r->start, &r->first) && int_fits_int64(r->stop, &stop) &&
               int_fits_int64(r->step, &r->stride) && r->stride != INT64_MIN;
    if (!r->small) return;
    if (r->stride > 0) {
        if (stop <= r->first) r->count = 0;
        else if (tsr_sub_overflows(stop, r->first, &span)) r->small = false;
        else r->count = (span - 1) / r->stride + 1;
    } else {
        if (stop >= r->first) r->count = 0;
        else if (tsr_sub_overflows(r->first, stop, &span)) r->small = false;
        else r->count = (span - 1) / -r->stride + 1;
    }
}

static TsrStatus range_new(Value *out, Value start, Value stop, Value step) {
    if (int_sign(step) == 0) return tsr_error(TSR_VALUE_ERROR, "range() arg 3 must not be zero");
    Range *r = obj_new(&range_type, sizeof *r);
    if (r == NULL) return TSR_MEMORY_ERROR;
    r->start = value_retain(start);
    r->stop = value_retain(stop);
    r->step = value_retain(step);
    range_measure(r);
    *out = value_obj_move(r);
    return TSR_OK;
}

static TsrStatus to_int(Value *out, Value v) {
    if (v.tag == V_BOOL) *out = value_int(v.i);
    else if (value_is_int(v)) *out = value_retain(v);
    else if (v.tag == V_TENSOR && tensor_hooks.to_index != NULL) return tensor_hooks.to_index(out, v);
    else return tsr_error(TSR_TYPE_ERROR, "'%s' object cannot be interpreted as an integer", value_type_name(v));
    return TSR_OK;
}

static TsrStatus range_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 1, 3, "range"));
    Value parts[3] = {value_int(0), VALUE_UNBOUND, value_int(1)};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < args->count && status == TSR_OK; i++)
        status = to_int(&parts[args->count == 1 ? 1 : i], args->values[i]);
    if (status == TSR_OK) status = range_new(out, parts[0], parts[1], parts[2]);
    values_release(parts, 3);
    return status;
}

static TsrStatus range_repr(TsrText *out, Value self) {
    const Range *r = (Range *)self.o;
    TSR_TRY(tsr_text_puts(out, "range("));
    TSR_TRY(value_repr(out, r->start));
    TSR_TRY(tsr_text_puts(out, ", "));
    TSR_TRY(value_repr(out, r->stop));
    if (!(r->step.tag == V_INT && r->step.i == 1)) {
        TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(value_repr(out, r->step));
    }
    return tsr_text_putc(out, ')');
}

static TsrStatus range_length(int64_t *out, Value self) {
    Value n;
    TSR_TRY(range_count(&n, (Range *)self.o));
    bool fits = int_fits_int64(n, out);
    value_release(n);
    return fits ? TSR_OK : tsr_error(TSR_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
}

static TsrStatus range_truth(bool *out, Value self) {
    Value n;
    TSR_TRY(range_count(&n, (Range *)self.o));
    *out = int_sign(n) != 0;
    value_release(n);
    return TSR_OK;
}

/* start + i * step, for an int i of any size. */
static TsrStatus range_at(Value *out, const Range *r, Value i) {
    Value offset;
    TSR_TRY(int_binary(&offset, OP_MUL, i, r->step));
    TsrStatus status = int_binary(out, OP_ADD, r->start, offset);
    value_release(offset);
    return status;
}

static TsrStatus range_slice(Value *out, Value self, const Slice *slice) {
    const Range *r = (Range *)self.o;
    int64_t length, start, stop, step, count;
    TSR_TRY(range_length(&length, self));
    TSR_TRY(slice_resolve(slice, length, &start, &stop, &step, &count));
    Value parts[3] = {VALUE_UNBOUND, VALUE_UNBOUND, VALUE_UNBOUND};
    TsrStatus status = range_at(&parts[0], r, value_int(start));
    if (status == TSR_OK) status = range_at(&parts[1], r, value_int(stop));
    if (status == TSR_OK) status = int_binary(&parts[2], OP_MUL, r->step, value_int(step));
    if (status == TSR_OK) status = range_new(out, parts[0], parts[1], parts[2]);
    values_release(parts, 3);
    return status;
}

static TsrStatus range_get_item(Value *out, Value self, Value index) {
    const Range *r = (Range *)self.o;
    int64_t i;
    if (value_is_obj(index, &slice_type)) return range_slice(out, self, (Slice *)index.o);
    if (r->small && (index.tag == V_INT || index.tag == V_BOOL)) {
        i = index.i;
        if (!index_wrap(&i, r->count)) return tsr_error(TSR_INDEX_ERROR, "range object index out of range");
        *out = value_int(r->first + i * r->stride);
        return TSR_OK;
    }
    if (!value_is_int(index) && index.tag != V_TENSOR) return sequence_index(&i, index, "range");
    Value n, wanted, wrapped;
    TSR_TRY(to_int(&wanted, index));
    TsrStatus status = range_count(&n, r);
    if (status == TSR_OK) {
        status =
            int_sign(wanted) < 0 ? int_binary(&wrapped, OP_ADD, wanted, n) : (wrapped = value_retain(wanted), TSR_OK);
        if (status == TSR_OK) {
            bool inside = int_sign(wrapped) >= 0 && int_compare(wrapped, n) < 0;
            status = inside ? range_at(out, r, wrapped) : tsr_error(TSR_INDEX_ERROR, "range object index out of range");
            value_release(wrapped);
        }
        value_release(n);
    }
    value_release(wanted);
    return status;
}

/* Index of an int in the range; *out V_UNBOUND when it is not there. */
static TsrStatus range_find(Value *out, const Range *r, Value v) {
    Value offset, quotient, remainder, n;
    *out = VALUE_UNBOUND;
    TSR_TRY(int_binary(&offset, OP_SUB, v, r->start));
    TsrStatus status = int_divmod(&quotient, &remainder, offset, r->step);
    value_release(offset);
    TSR_TRY(status);
    status = range_count(&n, r);
    if (status == TSR_OK) {
        if (int_sign(remainder) == 0 && int_sign(quotient) >= 0 && int_compare(quotient, n) < 0)
            *out = value_retain(quotient);
        value_release(n);
    }
    value_release(quotient);
    value_release(remainder);
    return status;
}

/* The int that an int, a float or a complex number is equal to; V_UNBOUND of all else, and of floats beyond 9e15. */
static Value as_whole(Value v) {
    if (value_is_int(v)) return v;
    bool imaginary = value_is_complex(v);
    if (v.tag != V_FLOAT && !imaginary) return VALUE_UNBOUND;
    double x = imaginary ? value_as_complex(v)->re : v.f;
    if ((imaginary && value_as_complex(v)->im != 0) || !(x >= -9e15 && x <= 9e15) || x != trunc(x))
        return VALUE_UNBOUND;
    return value_int((int64_t)x);
}

static TsrStatus range_contains(bool *out, Value self, Value item) {
    const Range *r = (Range *)self.o;
    Value found, n, v = as_whole(item);
    *out = false;
    if (v.tag == V_UNBOUND) {
        TSR_TRY(range_count(&n, r));
        int64_t count = 0;
        int_fits_int64(n, &count);
        value_release(n);
        if (item.tag != V_TENSOR) return TSR_OK;
        for (int64_t i = 0; i < count && !*out; i++)
            TSR_TRY(value_equal(out, value_int(r->first + i * r->stride), item));
        return TSR_OK;
    }
    TSR_TRY(range_find(&found, r, v));
    *out = found.tag != V_UNBOUND;
    value_release(found);
    return TSR_OK;
}

/* Equal as sequences: the same length, first item and, with two or more, step. */
static TsrStatus range_key(Value *out, Value self) {
    const Range *r = (Range *)self.o;
    Value parts[3] = {VALUE_NONE, VALUE_NONE, VALUE_NONE};
    TSR_TRY(range_count(&parts[0], r));
    if (int_sign(parts[0]) > 0) parts[1] = r->start;
    if (int_sign(parts[0]) > 0 && !(parts[0].tag == V_INT && parts[0].i == 1)) parts[2] = r->step;
    TsrStatus status = tuple_new(out, parts, 3);
    value_release(parts[0]);
    return status;
}

static TsrStatus range_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || !value_is_obj(a, &range_type) || !value_is_obj(b, &range_type)) return TSR_OK;
    return value_compare_by(out, op, range_key, a, b);
}

static TsrStatus range_hash(int64_t *out, Value self) {
    Value key;
    TSR_TRY(range_key(&key, self));
    TsrStatus status = value_hash(out, key);
    value_release(key);
    return status;
}

typedef struct RangeIter {
    Obj obj;
    Value next, stop, step; /* ints */
    bool small;
    int64_t at, stride, left;
} RangeIter;

static void iter_destroy(Obj *self) {
    RangeIter *it = (RangeIter *)self;
    value_release(it->next);
    value_release(it->stop);
    value_release(it->step);
    obj_free(it, sizeof *it);
}

static TsrStatus iter_next(Value *out, Value self) {
    RangeIter *it = (RangeIter *)self.o;
    if (it->small) {
        if (it->left == 0) return TSR_OK;
        it->left--;
        *out = value_int(it->at);
        it->at = (int64_t)((uint64_t)it->at + (uint64_t)it->stride);
        return TSR_OK;
    }
    int order = int_compare(it->next, it->stop);
    if (int_sign(it->step) > 0 ? order >= 0 : order <= 0) return TSR_OK;
    Value after;
    TSR_TRY(int_binary(&after, OP_ADD, it->next, it->step));
    *out = it->next;
    it->next = after;
    return TSR_OK;
}

static TsrStatus iter_length_hint(Value *out, const CallArgs *args) {
    *out = value_int(((RangeIter *)args->values[0].o)->left);
    return TSR_OK;
}
static const Method iter_methods[] = {{"__length_hint__", iter_length_hint, ARGS_NONE, 0, 0, NULL, NULL}, {0}};
static Type long_range_iter_type = {.obj = TYPE_HEADER,
                                    .name = "longrange_iterator",
                                    .destroy = iter_destroy,
                                    .iter_next = iter_next,
                                    .methods = iter_methods};
static Type range_iter_type = {.obj = TYPE_HEADER,
                               .name = "range_iterator",
                               .destroy = iter_destroy,
                               .iter_next = iter_next,
                               .methods = iter_methods};

static TsrStatus range_iter(Value *out, Value self) {
    const Range *r = (Range *)self.o;
    RangeIter *it = obj_new(r->small ? &range_iter_type : &long_range_iter_type, sizeof *it);
    if (it == NULL) return TSR_MEMORY_ERROR;
    it->small = r->small;
    it->at = r->first;
    it->stride = r->stride;
    it->left = r->count;
    if (!r->small) {
        it->next = value_retain(r->start);
        it->stop = value_retain(r->stop);
        it->step = value_retain(r->step);
    }
    *out = value_obj_move(it);
    return TSR_OK;
}

static TsrStatus range_reversed(Value *out, const CallArgs *args) {
    Value slice, reversed;
    TSR_TRY(slice_new(&slice, VALUE_NONE, VALUE_NONE, value_int(-1)));
    TsrStatus status = range_slice(&reversed, args->values[0], (Slice *)slice.o);
    value_release(slice);
    TSR_TRY(status);
    status = range_iter(out, reversed);
    value_release(reversed);
    return status;
}

static TsrStatus range_index_method(Value *out, const CallArgs *args) {
    Value whole = as_whole(args->values[1]);
    *out = VALUE_UNBOUND;
    if (whole.tag != V_UNBOUND) TSR_TRY(range_find(out, (Range *)args->values[0].o, whole));
    if (out->tag != V_UNBOUND) return TSR_OK;
    if (!value_is_int(args->values[1])) return tsr_error(TSR_VALUE_ERROR, "sequence.index(x): x not in sequence");
    TsrText text = {0};
    TsrStatus status = value_repr(&text, args->values[1]);
    if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "%s is not in range", text.data);
    tsr_text_free(&text);
    return status;
}

static TsrStatus range_count_method(Value *out, const CallArgs *args) {
    bool found;
    TSR_TRY(range_contains(&found, args->values[0], args->values[1]));
    *out = value_int(found);
    return TSR_OK;
}

GET(get_first, value_retain(((Range *)self.o)->start))
GET(get_last, value_retain(((Range *)self.o)->stop))
GET(get_stride, value_retain(((Range *)self.o)->step))

static const Getter range_getters[] = {
    {"start", get_first, NULL, NULL}, {"stop", get_last, NULL, NULL}, {"step", get_stride, NULL, NULL}, {0}};
static const Method range_methods[] = {
    {"index", range_index_method, ARGS_ONE, 0, 0, "(value, /)", "The index of the value."},
    {"count", range_count_method, ARGS_ONE, 0, 0, "(value, /)", "1 when the value is in the range, else 0."},
    {"__reversed__", range_reversed, ARGS_NONE, 0, 0, "()", NULL},
    {0},
};

Type range_type = {.obj = TYPE_HEADER,
                   .name = "range",
                   .flags = TYPE_ATOMIC,
                   .doc = "range(stop) or range(start, stop[, step]).",
                   .construct = range_construct,
                   .destroy = range_destroy,
                   .repr = range_repr,
                   .hash = range_hash,
                   .compare = range_compare,
                   .truth = range_truth,
                   .length = range_length,
                   .get_item = range_get_item,
                   .contains = range_contains,
                   .iter = range_iter,
                   .methods = range_methods,
                   .getters = range_getters};
