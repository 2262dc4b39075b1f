/* promote.c: the dtype of an operation's result (promote.h), by c10's rules.
 *
 * Two dtypes: bool < integers by width < floats by width < complex; uint8 with int8 gives int16, half with bfloat16
 * float32. float8 promotes with nothing but itself, and uint16, uint32 and uint64 ("barebones" in c10) with floats
 * only. Several operands: tensors with dimensions, 0-d tensors and Python numbers are promoted each among themselves,
 * then a lower group changes the result only when its kind (integer, float, complex) is higher. */
#include "core/promote.h"

/* PyTorch stores these dtypes and has few operators for them (its "barebones" unsigned types). */
static bool is_barebones(TsrDtype d) { return tsr_dtype_group(d) == TSR_GROUP_BARE; }

/* The wider of two, neither barebones; int16 for int8 with uint8, as neither holds the other's values. */
static TsrDtype promote_integers(TsrDtype a, TsrDtype b) {
    if ((a == TSR_UINT8 && b == TSR_INT8) || (a == TSR_INT8 && b == TSR_UINT8)) return TSR_INT16;
    return tsr_dtype_size(a) > tsr_dtype_size(b) ? a : b;
}

static TsrDtype promote_floats(TsrDtype a, TsrDtype b) {
    if (tsr_dtype_size(a) == tsr_dtype_size(b)) return TSR_FLOAT32; /* half with bfloat16 */
    return tsr_dtype_size(a) > tsr_dtype_size(b) ? a : b;
}

TsrDtype tsr_promote_types(TsrDtype a, TsrDtype b) {
    if (a == b) return tsr_dtype_is_known(a) ? a : TSR_DTYPE_NONE;
    if (!tsr_dtype_is_pod(a) || !tsr_dtype_is_pod(b) || tsr_dtype_is_float8(a) || tsr_dtype_is_float8(b))
        return TSR_DTYPE_NONE;
    if (is_barebones(a) || is_barebones(b)) {
        TsrDtype other = is_barebones(a) ? b : a;
        return tsr_dtype_is_float(other) ? other : TSR_DTYPE_NONE;
    }
    TsrDtypeKind ka = tsr_dtype_kind(a), kb = tsr_dtype_kind(b);
    if (ka == TSR_KIND_COMPLEX || kb == TSR_KIND_COMPLEX) {
        bool a_floats = ka == TSR_KIND_COMPLEX || ka == TSR_KIND_FLOAT,
             b_floats = kb == TSR_KIND_COMPLEX || kb == TSR_KIND_FLOAT;
        if (!b_floats) return a;
        if (!a_floats) return b;
        TsrDtype ca = tsr_dtype_complex_of(a), cb = tsr_dtype_complex_of(b);
        if (ca != cb && tsr_dtype_size(ca) == tsr_dtype_size(cb)) return TSR_COMPLEX64; /* the two of 32 bits */
        return tsr_dtype_size(ca) >= tsr_dtype_size(cb) ? ca : cb;
    }
    if (ka == TSR_KIND_FLOAT && kb == TSR_KIND_FLOAT) return promote_floats(a, b);
    if (ka == TSR_KIND_FLOAT) return a;
    if (kb == TSR_KIND_FLOAT) return b;
    if (ka == TSR_KIND_BOOL) return b;
    if (kb == TSR_KIND_BOOL) return a;
    return promote_integers(a, b);
}

TsrStatus tsr_promote(TsrDtype *out, TsrDtype a, TsrDtype b) {
    TSR_TRY(tsr_dtype_check(a));
    TSR_TRY(tsr_dtype_check(b));
    TsrDtype d = tsr_promote_types(a, b);
    if (d == TSR_DTYPE_NONE) {
        const char *na = tsr_dtype_scalar_name(a), *nb = tsr_dtype_scalar_name(b);
        if (tsr_dtype_is_float8(a) || tsr_dtype_is_float8(b))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "Promotion for Float8 Types is not supported, attempted to promote %s and %s", na, nb);
        if (is_barebones(a) || is_barebones(b))
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote %s and %s", na, nb);
        return tsr_error(TSR_RUNTIME_ERROR, "Promotion of %s and %s is not supported", na, nb);
    }
    *out = d;
    return TSR_OK;
}

/* Promotes one group's dtype so far, TSR_DTYPE_NONE for none, with that of one more operand. */
static TsrStatus accumulate(TsrDtype *slot, TsrDtype d) {
    if (*slot == TSR_DTYPE_NONE) {
        *slot = d;
        return TSR_OK;
    }
    return tsr_promote(slot, *slot, d);
}

/* `lower` matters only when it is of a higher kind than `higher`. */
static TsrStatus combine(TsrDtype *out, TsrDtype higher, TsrDtype lower) {
    if (higher == TSR_DTYPE_NONE || lower == TSR_DTYPE_NONE) {
        *out = higher == TSR_DTYPE_NONE ? lower : higher;
        return TSR_OK;
    }
    if (tsr_dtype_is_complex(higher)) {
        *out = higher;
        return TSR_OK;
    }
    if (tsr_dtype_is_float8(higher) && tsr_dtype_is_complex(lower))
        return tsr_error(TSR_RUNTIME_ERROR, "Unknown Complex ScalarType for %s", tsr_dtype_scalar_name(higher));
    if (tsr_dtype_is_float(higher)) {
        if (tsr_dtype_is_complex(lower) && tsr_dtype_size(higher) == 1)
            return tsr_error(TSR_RUNTIME_ERROR, "Unknown Complex ScalarType for %s", tsr_dtype_scalar_name(higher));
        *out = tsr_dtype_is_complex(lower) ? tsr_dtype_complex_of(higher) : higher;
        return TSR_OK;
    }
    if (tsr_dtype_is_complex(lower)) {
        *out = lower;
        return TSR_OK;
    }
    if (higher == TSR_BOOL || tsr_dtype_is_float(lower)) return tsr_promote(out, higher, lower);
    *out = higher;
    return TSR_OK;
}

TsrStatus tsr_result_type(TsrDtype *out, TsrTensor *const *tensors, int n) {
    TsrDtype dim = TSR_DTYPE_NONE, zero = TSR_DTYPE_NONE, wrapped = TSR_DTYPE_NONE, low;
    if (n < 0) return tsr_error(TSR_VALUE_ERROR, "a negative number of tensors: %d", n);
    for (int i = 0; i < n; i++) {
        const TsrTensor *t = tensors[i];
        if (t == NULL) continue;
        TsrDtype d = t->dtype;
        if (t->flags & TSR_FLAG_WRAPPED_NUMBER) {
            if (tsr_dtype_is_complex(d)) d = tsr_default_complex();
            else if (tsr_dtype_is_float(d)) d = tsr_default_dtype();
        }
        TsrDtype *slot = tsr_ndim(t) > 0 ? &dim : (t->flags & TSR_FLAG_WRAPPED_NUMBER) ? &wrapped : &zero;
        TSR_TRY(accumulate(slot, d));
    }
    TSR_TRY(combine(&low, zero, wrapped));
    return combine(out, dim, low);
}

bool tsr_can_cast(TsrDtype from, TsrDtype to) {
    if (!tsr_dtype_is_pod(from) || !tsr_dtype_is_pod(to)) return from == to && tsr_dtype_is_known(from);
    if (tsr_dtype_is_complex(from) && !tsr_dtype_is_complex(to)) return false;
    if (tsr_dtype_is_float(from) && (tsr_dtype_is_integral(to) || to == TSR_BOOL)) return false;
    return from == TSR_BOOL || to != TSR_BOOL;
}
