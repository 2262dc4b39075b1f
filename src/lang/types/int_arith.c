/* The arithmetic of ints: conversions, quotients, shifts and powers. Sizes of results are estimated and refused before
 * computing. */
#include "bigint.h"
#include "numbers.h"
#include "lang/object/value_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- conversions --- */

/* Whether a number of so many bits may be made: asks the allocator, so that its ceiling counts. */
static TsrStatus allow_bits(int64_t bits) {
    if (bits < 4096) return TSR_OK;
    if (bits > (int64_t)INT32_MAX - 64) return mem_error();
    void *probe = tsr_malloc((size_t)bits / 8 * 2);
    if (probe == NULL) return mem_error();
    tsr_free(probe);
    return TSR_OK;
}

static bool mp_fits_int64(const mp_int *mp, int64_t *out) {
    int bits = mp_count_bits(mp);
    if (bits > 64) return false;
    uint64_t magnitude = mp_get_mag_u64(mp);
    bool negative = mp_isneg(mp);
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

TsrStatus int_new_mp_move(Value *out, mp_int *mp) {
    int64_t small;
    if (mp_fits_int64(mp, &small)) {
        mp_clear(mp);
        *out = value_int(small);
        return TSR_OK;
    }
    BigInt *big = obj_new(&int_type, sizeof *big);
    if (big == NULL) {
        mp_clear(mp);
        return TSR_MEMORY_ERROR;
    }
    big->mp = *mp;
    *out = value_obj_move(big);
    return TSR_OK;
}

TsrStatus int_to_mp(mp_int *out, Value v) {
    mp_err err = v.tag == V_OBJ ? mp_init_copy(out, &value_as_bigint(v)->mp) : mp_init_i64(out, v.i);
    return err == MP_OKAY ? TSR_OK : mem_error();
}

bool int_fits_int64(Value v, int64_t *out) {
    if (v.tag == V_OBJ) return false;
    *out = v.i;
    return true;
}

bool int_fits_uint64(Value v, uint64_t *out) {
    if (v.tag != V_OBJ) {
        *out = (uint64_t)v.i;
        return v.i >= 0;
    }
    const mp_int *mp = &value_as_bigint(v)->mp;
    if (mp_isneg(mp) || mp_count_bits(mp) > 64) return false;
    *out = mp_get_mag_u64(mp);
    return true;
}

TsrStatus int_new_uint64(Value *out, uint64_t u) {
    if (u <= INT64_MAX) {
        *out = value_int((int64_t)u);
        return TSR_OK;
    }
    mp_int mp;
    if (mp_init_u64(&mp, u) != MP_OKAY) return mem_error();
    return int_new_mp_move(out, &mp);
}

int int_sign(Value v) {
    if (v.tag != V_OBJ) return (v.i > 0) - (v.i < 0);
    return mp_isneg(&value_as_bigint(v)->mp) ? -1 : 1;
}

int int_compare(Value a, Value b) {
    if (a.tag != V_OBJ && b.tag != V_OBJ) return (a.i > b.i) - (a.i < b.i);
    if (a.tag == V_OBJ && b.tag == V_OBJ) return mp_cmp(&value_as_bigint(a)->mp, &value_as_bigint(b)->mp);
    return a.tag == V_OBJ ? int_sign(a) : -int_sign(b); /* a big one lies outside all small ones */
}

int64_t int_bit_length(Value v) {
    if (v.tag == V_OBJ) return mp_count_bits(&value_as_bigint(v)->mp);
    uint64_t magnitude = v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i;
    return magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
}

/* The top 64 bits of |mp|, the lowest of them or-ed with all bits below, and the shift that was taken off. */
static TsrStatus top_bits(uint64_t *out, int *shift, const mp_int *mp) {
    int bits = mp_count_bits(mp);
    *shift = bits > 64 ? bits - 64 : 0;
    if (*shift == 0) {
        *out = mp_get_mag_u64(mp);
        return TSR_OK;
    }
    int below = TSR_MAX(mp->used - 3, 0);
    mp_int high, top = *mp; /* the same digits, the highest three of them */
    top.dp += below;
    top.used -= below;
    if (mp_init(&high) != MP_OKAY) return mem_error();
    mp_err err = mp_div_2d(&top, *shift - below * MP_DIGIT_BIT, &high, NULL);
    *out = mp_get_mag_u64(&high);
    mp_clear(&high);
    if (err != MP_OKAY) return mem_error();
    if (mp_cnt_lsb(mp) < *shift) *out |= 1;
    return TSR_OK;
}

TsrStatus int_to_double(double *out, Value v) {
    if (v.tag != V_OBJ) {
        *out = (double)v.i;
        return TSR_OK;
    }
    uint64_t top;
    int shift;
    TSR_TRY(top_bits(&top, &shift, &value_as_bigint(v)->mp));
    double d = ldexp((double)top, shift);
    if (isinf(d)) return tsr_error(TSR_OVERFLOW_ERROR, "int too large to convert to float");
    *out = int_sign(v) < 0 ? -d : d;
    return TSR_OK;
}

TsrStatus int_new_double(Value *out, double d) {
    if (isnan(d)) return tsr_error(TSR_VALUE_ERROR, "cannot convert float NaN to integer");
    if (isinf(d)) return tsr_error(TSR_OVERFLOW_ERROR, "cannot convert float infinity to integer");
    d = trunc(d);
    if (d >= -9223372036854775808.0 && d < 9223372036854775808.0) {
        *out = value_int((int64_t)d);
        return TSR_OK;
    }
    int exponent;
    double fraction = frexp(fabs(d), &exponent);
    TsrStatus status;
    mp_int mp;
    if (mp_init_u64(&mp, (uint64_t)ldexp(fraction, 53)) != MP_OKAY) return mem_error();
    MP_TRY(mp_mul_2d(&mp, exponent - 53, &mp));
    if (d < 0) MP_TRY(mp_neg(&mp, &mp));
    return int_new_mp_move(out, &mp);
done:
    mp_clear(&mp);
    return status;
}

/* Hash modulo 2^61 - 1, as for every number. */
int64_t int_hash(Value v) {
    const uint64_t modulus = ((uint64_t)1 << 61) - 1;
    uint64_t h;
    if (v.tag != V_OBJ) {
        h = (v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i) % modulus;
    } else {
        const mp_int *mp = &value_as_bigint(v)->mp;
        h = 0;
        for (int i = mp->used - 1; i >= 0; i--) { /* times 2^60, which turns 61 bits round, and the digit */
            h = ((h << MP_DIGIT_BIT & modulus) | h >> (61 - MP_DIGIT_BIT)) + mp->dp[i];
            h = h >= modulus ? h - modulus : h;
        }
    }
    int64_t hash = int_sign(v) < 0 ? -(int64_t)h : (int64_t)h;
    return hash == -1 ? -2 : hash;
}

/* --- arithmetic --- */

/* Operands as mp: a big one in place, a small one in *space. */
typedef struct Operand {
    const mp_int *mp;
    mp_int space;
    bool owned;
} Operand;

static TsrStatus operand(Operand *o, Value v) {
    o->owned = v.tag != V_OBJ;
    if (!o->owned) {
        o->mp = &value_as_bigint(v)->mp;
        return TSR_OK;
    }
    if (mp_init_i64(&o->space, v.i) != MP_OKAY) return mem_error();
    o->mp = &o->space;
    return TSR_OK;
}

static void operand_clear(Operand *o) {
    if (o->owned) mp_clear(&o->space);
}

static TsrStatus operand_pair(Operand *x, Operand *y, Value a, Value b) {
    TSR_TRY(operand(x, a));
    TsrStatus status = operand(y, b);
    if (status != TSR_OK) operand_clear(x);
    return status;
}

/* Python's division: the remainder has the sign of the divisor. */
static TsrStatus floor_div(const mp_int *a, const mp_int *b, mp_int *q, mp_int *r) {
    TsrStatus status = bigint_divide(q, r, a, b);
    if (status == TSR_OK && !mp_iszero(r) && mp_isneg(r) != mp_isneg(b)) {
        MP_TRY(mp_add(r, b, r));
        MP_TRY(mp_sub_d(q, 1, q));
    }
done:
    return status;
}

static TsrStatus big_divmod(Value *quotient, Value *remainder, Value a, Value b) {
    Operand x, y;
    mp_int q, r;
    TsrStatus status = operand_pair(&x, &y, a, b);
    if (status != TSR_OK) return status;
    if (mp_init_multi(&q, &r, NULL) != MP_OKAY) {
        status = mem_error();
        goto operands;
    }
    if ((status = floor_div(x.mp, y.mp, &q, &r)) != TSR_OK) goto done;
    status = int_new_mp_move(quotient, &q);
    if (status != TSR_OK) {
        mp_clear(&r);
        goto operands;
    }
    status = int_new_mp_move(remainder, &r);
    if (status != TSR_OK) value_release(*quotient);
    goto operands;
done:
    mp_clear_multi(&q, &r, NULL);
operands:
    operand_clear(&x);
    operand_clear(&y);
    return status;
}

TsrStatus int_divmod(Value *quotient, Value *remainder, Value a, Value b) {
    if (b.tag != V_OBJ && b.i == 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "integer division or modulo by zero");
    if (a.tag == V_OBJ || b.tag == V_OBJ || (a.i == INT64_MIN && b.i == -1))
        return big_divmod(quotient, remainder, a, b);
    int64_t q = a.i / b.i, r = a.i % b.i;
    if (r != 0 && (r < 0) != (b.i < 0)) {
        r += b.i;
        q--;
    }
    *quotient = value_int(q);
    *remainder = value_int(r);
    return TSR_OK;
}

/* top * 2^exponent, rounded once: below 2^-1022 a double keeps fewer bits, which ldexp would round a second time. */
static double scaled(uint64_t top, int exponent) {
    int length = top == 0 ? 0 : 64 - __builtin_clzll(top);
    if (length + exponent >= -1021) return ldexp((double)top, exponent);
    if (length + exponent < -1074) return 0;
    int cut = TSR_MIN(-1074 - exponent, 64);
    uint64_t kept = cut >= 64 ? 0 : top >> cut;
    uint64_t rest = cut >= 64 ? top : top & (((uint64_t)1 << cut) - 1), half = (uint64_t)1 << (cut - 1);
    if (rest > half || (rest == half && (kept & 1))) kept++;
    return ldexp((double)kept, -1074);
}

/* a / b exactly rounded: a quotient of 66 bits or more, its last bit or-ed with whether there is a remainder. */
static TsrStatus true_divide(Value *out, Value a, Value b) {
    const int64_t exact = (int64_t)1 << 53;
    if (int_sign(b) == 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "division by zero");
    if (a.tag != V_OBJ && b.tag != V_OBJ && a.i >= -exact && a.i <= exact && b.i >= -exact && b.i <= exact) {
        *out = value_float((double)a.i / (double)b.i);
        return TSR_OK;
    }
    Operand x, y;
    mp_int q, r, shifted;
    TsrStatus status = operand_pair(&x, &y, a, b);
    if (status != TSR_OK) return status;
    if (mp_init_multi(&q, &r, &shifted, NULL) != MP_OKAY) {
        status = mem_error();
        goto operands;
    }
    int shift = TSR_MAX(mp_count_bits(y.mp) - mp_count_bits(x.mp) + 66, 0);
    if ((status = bigint_shift_left(&shifted, x.mp, shift)) != TSR_OK) goto done;
    if ((status = bigint_divide(&q, &r, &shifted, y.mp)) != TSR_OK) goto done;
    uint64_t top;
    int dropped;
    status = top_bits(&top, &dropped, &q);
    if (status != TSR_OK) goto done;
    if (!mp_iszero(&r)) top |= 1;
    double d = scaled(top, dropped - shift);
    if (isinf(d)) status = tsr_error(TSR_OVERFLOW_ERROR, "integer division result too large for a float");
    else *out = value_float(int_sign(a) * int_sign(b) < 0 ? -d : d);
done:
    mp_clear_multi(&q, &r, &shifted, NULL);
operands:
    operand_clear(&x);
    operand_clear(&y);
    return status;
}

static TsrStatus big_simple(Value *out, BinaryOp op, Value a, Value b) {
    if (op == OP_MUL) TSR_TRY(allow_bits(int_bit_length(a) + int_bit_length(b)));
    Operand x, y;
    mp_int r;
    TsrStatus status = operand_pair(&x, &y, a, b);
    if (status != TSR_OK) return status;
    if (mp_init(&r) != MP_OKAY) {
        status = mem_error();
        goto operands;
    }
    status = op == OP_MUL ? bigint_multiply(&r, x.mp, y.mp) : bigint_combine(&r, op, x.mp, y.mp);
    if (status == TSR_OK) status = int_new_mp_move(out, &r);
    else mp_clear(&r);
operands:
    operand_clear(&x);
    operand_clear(&y);
    return status;
}

TsrStatus int_negate(Value *out, Value v) {
    if (v.tag != V_OBJ && v.i != INT64_MIN) {
        *out = value_int(-v.i);
        return TSR_OK;
    }
    return big_simple(out, OP_SUB, value_int(0), v);
}

/* Of numbers of any size, to one side. */
static TsrStatus big_shift(Value *out, Value v, int64_t bits, TsrStatus (*by)(mp_int *, const mp_int *, int)) {
    mp_int r;
    TSR_TRY(int_to_mp(&r, v));
    TsrStatus status = by(&r, &r, (int)bits);
    if (status == TSR_OK) return int_new_mp_move(out, &r);
    mp_clear(&r);
    return status;
}

TsrStatus int_shift_left(Value *out, Value v, int64_t bits) {
    if (int_sign(v) == 0) {
        *out = value_int(0);
        return TSR_OK;
    }
    if (v.tag != V_OBJ && int_bit_length(v) + bits < 63) {
        *out = value_int(v.i * ((int64_t)1 << bits));
        return TSR_OK;
    }
    int64_t total;
    if (tsr_add_overflows(int_bit_length(v), bits, &total)) return mem_error();
    TSR_TRY(allow_bits(total));
    return big_shift(out, v, bits, bigint_shift_left);
}

static TsrStatus shift_right(Value *out, Value v, int64_t bits) {
    if (bits >= int_bit_length(v)) {
        *out = value_int(int_sign(v) < 0 ? -1 : 0);
        return TSR_OK;
    }
    if (v.tag != V_OBJ) {
        *out = value_int(v.i >> bits);
        return TSR_OK;
    }
    return big_shift(out, v, bits, bigint_shift_right);
}

static TsrStatus shift(Value *out, BinaryOp op, Value a, Value b) {
    int64_t bits;
    if (int_sign(b) < 0) return tsr_error(TSR_VALUE_ERROR, "negative shift count");
    if (!int_fits_int64(b, &bits)) {
        if (op == OP_LSHIFT && int_sign(a) != 0) return tsr_error(TSR_OVERFLOW_ERROR, "too many digits in integer");
        bits = INT64_MAX;
    }
    if (op == OP_RSHIFT) return shift_right(out, a, bits);
    return int_shift_left(out, a, bits);
}

/* --- powers --- */

static TsrStatus small_pow(Value *out, int64_t base, uint64_t exponent, bool *done) {
    int64_t result = 1;
    *done = true;
    while (exponent != 0) {
        if ((exponent & 1) && tsr_mul_overflows(result, base, &result)) *done = false;
        exponent >>= 1;
        if (exponent != 0 && tsr_mul_overflows(base, base, &base)) *done = false;
        if (!*done) return TSR_OK;
    }
    *out = value_int(result);
    return TSR_OK;
}

/* Left to right, so that one factor stays small. */
static TsrStatus big_pow(Value *out, Value base, int64_t exponent) {
    Operand x;
    mp_int r;
    TSR_TRY(operand(&x, base));
    TsrStatus status = TSR_OK;
    if (mp_init_copy(&r, x.mp) != MP_OKAY) {
        operand_clear(&x);
        return mem_error();
    }
    for (int bit = 62 - __builtin_clzll((uint64_t)exponent); bit >= 0; bit--) {
        if ((status = bigint_multiply(&r, &r, &r)) != TSR_OK) goto done;
        if ((exponent >> bit & 1) && (status = bigint_multiply(&r, &r, x.mp)) != TSR_OK) goto done;
    }
    operand_clear(&x);
    return int_new_mp_move(out, &r);
done:
    mp_clear(&r);
    operand_clear(&x);
    return status;
}

static TsrStatus int_pow(Value *out, Value base, Value exponent) {
    if (int_sign(exponent) < 0) {
        double b, e;
        TSR_TRY(int_to_double(&b, base));
        TSR_TRY(int_to_double(&e, exponent));
        return float_pow(out, b, e);
    }
    int64_t e, bits;
    bool done, fits = int_fits_int64(exponent, &e);
    bool trivial = base.tag != V_OBJ && base.i >= -1 && base.i <= 1;
    if (!fits && !trivial) return mem_error();
    if (trivial) {
        bool odd = fits ? (e & 1) != 0 : mp_isodd(&value_as_bigint(exponent)->mp);
        *out = value_int(fits && e == 0 ? 1 : base.i == 0 ? 0 : base.i == 1 || !odd ? 1 : -1);
        return TSR_OK;
    }
    if (base.tag != V_OBJ) {
        TSR_TRY(small_pow(out, base.i, (uint64_t)e, &done));
        if (done) return TSR_OK;
    }
    if (e == 0) {
        *out = value_int(1);
        return TSR_OK;
    }
    if (tsr_mul_overflows(int_bit_length(base), e, &bits)) return mem_error();
    TSR_TRY(allow_bits(bits));
    return big_pow(out, base, e);
}

/* r = r * b mod m; q is room. */
static TsrStatus multiply_mod(mp_int *r, const mp_int *b, const mp_int *m, mp_int *q) {
    mp_int product;
    if (mp_init(&product) != MP_OKAY) return mem_error();
    TsrStatus status = bigint_multiply(&product, r, b);
    if (status == TSR_OK) status = bigint_divide(q, r, &product, m);
    mp_clear(&product);
    return status;
}

/* base^exponent mod |modulus| by squaring; r holds 1 at the start. */
static TsrStatus mod_loop(mp_int *r, mp_int *b, const mp_int *e, const mp_int *m) {
    mp_int q;
    TsrStatus status = TSR_OK;
    if (mp_init(&q) != MP_OKAY) return mem_error();
    for (int bit = mp_count_bits(e) - 1; bit >= 0 && status == TSR_OK; bit--) {
        status = multiply_mod(r, r, m, &q);
        if (status == TSR_OK && (e->dp[bit / MP_DIGIT_BIT] >> (bit % MP_DIGIT_BIT) & 1))
            status = multiply_mod(r, b, m, &q);
    }
    if (status == TSR_OK) MP_TRY(mp_mod(r, m, r));
done:
    mp_clear(&q);
    return status;
}

static TsrStatus pow_mod(mp_int *r, Value base, Value exponent, Value modulus) {
    mp_int b, e, m;
    TsrStatus status = TSR_OK;
    TSR_TRY(int_to_mp(&b, base));
    if ((status = int_to_mp(&e, exponent)) != TSR_OK) goto clear_b;
    if ((status = int_to_mp(&m, modulus)) != TSR_OK) goto clear_e;
    bool negative = mp_isneg(&m);
    MP_TRY(mp_abs(&m, &m));
    MP_TRY(mp_mod(&b, &m, &b));
    if (mp_isneg(&e)) {
        if (mp_cmp_d(&m, 1) != MP_EQ && (status = bigint_invert(&b, &m)) != TSR_OK) goto done;
        MP_TRY(mp_abs(&e, &e));
    }
    mp_set(r, 1);
    if ((status = mod_loop(r, &b, &e, &m)) != TSR_OK) goto done;
    if (negative && !mp_iszero(r)) MP_TRY(mp_sub(r, &m, r));
done:
    mp_clear(&m);
clear_e:
    mp_clear(&e);
clear_b:
    mp_clear(&b);
    return status;
}

TsrStatus int_pow_mod(Value *out, Value base, Value exponent, Value modulus) {
    if (int_sign(modulus) == 0) return tsr_error(TSR_VALUE_ERROR, "pow() 3rd argument cannot be 0");
    mp_int r;
    if (mp_init(&r) != MP_OKAY) return mem_error();
    TsrStatus status = pow_mod(&r, base, exponent, modulus);
    if (status == TSR_OK) return int_new_mp_move(out, &r);
    mp_clear(&r);
    return status;
}

static TsrStatus both_bool(Value *out, BinaryOp op, bool a, bool b) {
    *out = value_bool(op == OP_AND ? a & b : op == OP_OR ? a | b : a ^ b);
    return TSR_OK;
}

static TsrStatus quotient_only(Value *out, BinaryOp op, Value a, Value b) {
    Value q, r;
    if (op == OP_MOD && int_sign(b) == 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "integer modulo by zero");
    TSR_TRY(int_divmod(&q, &r, a, b));
    value_release(op == OP_MOD ? q : r);
    *out = op == OP_MOD ? r : q;
    return TSR_OK;
}

TsrStatus int_binary(Value *out, BinaryOp op, Value a, Value b) {
    bool small = a.tag != V_OBJ && b.tag != V_OBJ;
    int64_t r;
    switch (op) {
    case OP_ADD:
        if (!small || tsr_add_overflows(a.i, b.i, &r)) return big_simple(out, op, a, b);
        break;
    case OP_SUB:
        if (!small || tsr_sub_overflows(a.i, b.i, &r)) return big_simple(out, op, a, b);
        break;
    case OP_MUL:
        if (!small || tsr_mul_overflows(a.i, b.i, &r)) return big_simple(out, op, a, b);
        break;
    case OP_DIV: return true_divide(out, a, b);
    case OP_FLOORDIV:
    case OP_MOD: return quotient_only(out, op, a, b);
    case OP_POW: return int_pow(out, a, b);
    case OP_LSHIFT:
    case OP_RSHIFT: return shift(out, op, a, b);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        if (a.tag == V_BOOL && b.tag == V_BOOL) return both_bool(out, op, a.b, b.b);
        if (!small) return big_simple(out, op, a, b);
        r = op == OP_AND ? a.i & b.i : op == OP_OR ? a.i | b.i : a.i ^ b.i;
        break;
    default: *out = VALUE_UNBOUND; return TSR_OK;
    }
    *out = value_int(r);
    return TSR_OK;
}
