/* What sequences share: turning an index or the bounds of a search into positions, repeating, finding, counting and
 * comparing element by element. A comparison may run code of the language, so the size is read again after each
 * element. */
#include "indices.h"

#include <string.h>

#include "lang/object/exc.h"
#include "numbers.h"
#include "sequences.h"

/* ---- indices ---- */

TsrStatus sequence_index(int64_t *out, Value index, const char *type_name) {
    if (index.tag == V_INT || index.tag == V_BOOL) {
        *out = index.i;
        return TSR_OK;
    }
    if (!value_is_int(index) && index.tag != V_TENSOR) {
        if (strcmp(type_name, "string") == 0)
            return tsr_error(TSR_TYPE_ERROR, "string indices must be integers, not '%s'", value_type_name(index));
        return tsr_error(TSR_TYPE_ERROR, "%s indices must be integers or slices, not %s", type_name,
                         value_type_name(index));
    }
    if (value_is_bigint(index)) return tsr_error(TSR_INDEX_ERROR, "cannot fit 'int' into an index-sized integer");
    return value_to_index(out, index);
}

TsrStatus bound_argument(int64_t *out, Value v, bool none_too) {
    if (none_too && value_is_none(v)) return TSR_OK;
    if (!value_is_int(v) && v.tag != V_TENSOR)
        return tsr_error(TSR_TYPE_ERROR, "slice indices must be integers %sor have an __index__ method",
                         none_too ? "or None " : "");
    return value_to_index_clamped(out, v);
}

/* ---- repeating ---- */

TsrStatus repeat_count(int64_t *out, Value v, int64_t size, bool *handled) {
    *handled = value_is_int(v) || v.tag == V_TENSOR;
    if (!*handled) return TSR_OK;
    if (v.tag == V_TENSOR) {
        TsrStatus status = value_to_index(out, v);
        if (status != TSR_OK) {
            exc_discard(status);
            *handled = false;
            return TSR_OK;
        }
    } else if (!int_fits_int64(v, out)) {
        return tsr_error(TSR_OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer");
    }
    if (*out < 0) *out = 0;
    int64_t total;
    if (tsr_mul_overflows(*out, TSR_MAX(size, 1), &total)) return mem_error();
    return TSR_OK;
}

TsrStatus repeat_bytes(char *to, const char *bytes, int64_t n, int64_t times) {
    const int64_t total = n * times, most = 1 << 22;
    int64_t done = 0;
    if (n == 1) memset(to, bytes[0], (size_t)(done = TSR_MIN(total, 512)));
    while (done < total) { /* behind the first round what is there is copied, more each time */
        const int64_t at = done < n ? done : done % n, there = done < n ? n - done : done - at,
                      piece = TSR_MIN(TSR_MIN(there, most), total - done);
        memcpy(to + done, done < n ? bytes + at : to + at, (size_t)piece);
        done += piece;
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

/* ---- lists and tuples ---- */

/* First index where the two differ, or the shorter length. Lengths are read anew: comparing may change them. */
static TsrStatus first_difference(int64_t *out, Value a, Value b) {
    const Value *x, *y;
    int64_t n, m, i;
    for (i = 0;; i++) {
        value_as_array(a, &x, &n);
        value_as_array(b, &y, &m);
        if (i >= n || i >= m) break;
        Value p = value_retain(x[i]), q = value_retain(y[i]);
        bool same;
        TsrStatus status = value_equal(&same, p, q);
        value_release(p);
        value_release(q);
        TSR_TRY(status);
        TSR_TRY(tsr_interrupt_check());
        if (!same) break;
    }
    *out = i;
    return TSR_OK;
}

TsrStatus sequence_compare(Value *out, CompareOp op, Value a, Value b) {
    const Value *x, *y;
    int64_t n, m, i;
    value_as_array(a, &x, &n);
    value_as_array(b, &y, &m);
    if (n != m && (op == CMP_EQ || op == CMP_NE)) {
        *out = value_bool(op == CMP_NE);
        return TSR_OK;
    }
    TSR_TRY(first_difference(&i, a, b));
    value_as_array(a, &x, &n);
    value_as_array(b, &y, &m);
    if (i < n && i < m) {
        if (op == CMP_EQ || op == CMP_NE) {
            *out = value_bool(op == CMP_NE);
            return TSR_OK;
        }
        return value_compare(out, op, x[i], y[i]);
    }
    return value_compare(out, op, value_int(n), value_int(m));
}

TsrStatus sequence_find_item(int64_t *out, Value sequence, Value item, int64_t start, int64_t stop) {
    *out = -1;
    for (int64_t i = start; i < stop; i++) {
        const Value *items;
        int64_t count;
        bool same;
        value_as_array(sequence, &items, &count);
        if (i >= count) break;
        Value held = value_retain(items[i]);
        TsrStatus status = value_equal(&same, held, item);
        value_release(held);
        TSR_TRY(status);
        TSR_TRY(tsr_interrupt_check());
        if (same) {
            *out = i;
            break;
        }
    }
    return TSR_OK;
}

TsrStatus sequence_find(int64_t *out, const CallArgs *args) {
    int64_t start = 0, stop = INT64_MAX, count;
    const Value *items;
    value_as_array(args->values[0], &items, &count);
    if (args->count > 2) TSR_TRY(bound_argument(&start, args->values[2], false));
    if (args->count > 3) TSR_TRY(bound_argument(&stop, args->values[3], false));
    if (start < 0) start = TSR_MAX(start + count, 0);
    if (stop < 0) stop = TSR_MAX(stop + count, 0);
    return sequence_find_item(out, args->values[0], args->values[1], start, stop);
}

TsrStatus sequence_count(Value *out, const CallArgs *args) {
    int64_t n = 0;
    for (int64_t i = 0;; i++) {
        const Value *items;
        int64_t count;
        bool same;
        value_as_array(args->values[0], &items, &count);
        if (i >= count) break;
        Value held = value_retain(items[i]);
        TsrStatus status = value_equal(&same, held, args->values[1]);
        value_release(held);
        TSR_TRY(status);
        TSR_TRY(tsr_interrupt_check());
        n += same;
    }
    *out = value_int(n);
    return TSR_OK;
}
