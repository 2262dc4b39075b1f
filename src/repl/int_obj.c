/* int: int64 in the value, libtommath beyond. Sizes of results are estimated and refused before computing. */
#include "args.h"
#include "bigint.h"
#include "bytes_obj.h"
#include "exc.h"
#include "format.h"
#include "num_obj.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "unichar.h"
#include "value_internal.h"

#include <math.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

int int_max_str_digits = 4300;

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
    mp_int high;
    if (mp_init(&high) != MP_OKAY) return mem_error();
    mp_err err = mp_div_2d(mp, *shift, &high, NULL);
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
static int64_t int_hash(Value v) {
    const uint64_t modulus = ((uint64_t)1 << 61) - 1;
    uint64_t h;
    if (v.tag != V_OBJ) {
        h = (v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i) % modulus;
    } else {
        const mp_int *mp = &value_as_bigint(v)->mp;
        h = 0;
        for (int i = mp->used - 1; i >= 0; i--) h = (uint64_t)((((__uint128_t)h << MP_DIGIT_BIT) + mp->dp[i]) % modulus);
    }
    int64_t hash = int_sign(v) < 0 ? -(int64_t)h : (int64_t)h;
    return hash == -1 ? -2 : hash;
}

/* --- arithmetic --- */

/* Operands as mp: a big one in place, a small one in *space. */
typedef struct Operand { const mp_int *mp; mp_int space; bool owned; } Operand;

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
    if (a.tag == V_OBJ || b.tag == V_OBJ || (a.i == INT64_MIN && b.i == -1)) return big_divmod(quotient, remainder, a, b);
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
    MP_TRY(mp_mul_2d(x.mp, shift, &shifted));
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
    switch (op) {
    case OP_ADD: MP_TRY(mp_add(x.mp, y.mp, &r)); break;
    case OP_SUB: MP_TRY(mp_sub(x.mp, y.mp, &r)); break;
    case OP_MUL:
        if ((status = bigint_multiply(&r, x.mp, y.mp)) != TSR_OK) goto done;
        break;
    case OP_AND: MP_TRY(mp_and(x.mp, y.mp, &r)); break;
    case OP_OR: MP_TRY(mp_or(x.mp, y.mp, &r)); break;
    default: MP_TRY(mp_xor(x.mp, y.mp, &r)); break;
    }
    status = int_new_mp_move(out, &r);
    goto operands;
done:
    mp_clear(&r);
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
    TsrStatus status;
    mp_int r;
    TSR_TRY(int_to_mp(&r, v));
    MP_TRY(mp_mul_2d(&r, (int)bits, &r));
    return int_new_mp_move(out, &r);
done:
    mp_clear(&r);
    return status;
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
    TsrStatus status;
    mp_int r;
    TSR_TRY(int_to_mp(&r, v));
    MP_TRY(mp_signed_rsh(&r, (int)bits, &r));
    return int_new_mp_move(out, &r);
done:
    mp_clear(&r);
    return status;
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
        if (status == TSR_OK && (e->dp[bit / MP_DIGIT_BIT] >> (bit % MP_DIGIT_BIT) & 1)) status = multiply_mod(r, b, m, &q);
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
        mp_err err = mp_cmp_d(&m, 1) == MP_EQ ? MP_OKAY : mp_invmod(&b, &m, &b);
        if (err == MP_VAL) {
            status = tsr_error(TSR_VALUE_ERROR, "base is not invertible for the given modulus");
            goto done;
        }
        MP_TRY(err);
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

/* --- text --- */

static TsrStatus too_many_digits(int64_t digits) {
    if (digits < 0) {
        return tsr_error(TSR_VALUE_ERROR, "Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit",
                         int_max_str_digits);
    }
    return tsr_error(TSR_VALUE_ERROR, "Exceeds the limit (%d digits) for integer string conversion: value has %lld digits; use sys.set_int_max_str_digits() to increase the limit",
                     int_max_str_digits, (long long)digits);
}

static bool power_of_two(int base) { return (base & (base - 1)) == 0; }

TsrStatus int_digits(TsrText *out, Value v, int base) {
    if (v.tag != V_OBJ) {
        char buffer[72], *p = buffer + sizeof buffer;
        uint64_t m = v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i;
        do *--p = "0123456789abcdefghijklmnopqrstuvwxyz"[m % (uint64_t)base];
        while ((m /= (uint64_t)base) != 0);
        if (v.i < 0) *--p = '-';
        return tsr_text_append(out, p, (size_t)(buffer + sizeof buffer - p));
    }
    const mp_int *mp = &value_as_bigint(v)->mp;
    double digits = mp_count_bits(mp) / log2(base);
    bool limited = int_max_str_digits > 0 && !power_of_two(base);
    if (limited && digits > int_max_str_digits + 2) return too_many_digits(-1);
    size_t begin = out->length;
    if (mp_isneg(mp)) TSR_TRY(tsr_text_putc(out, '-'));
    size_t first = out->length;
    TsrStatus status = bigint_to_digits(out, mp, base);
    if (status == TSR_OK && limited && out->length - first > (size_t)int_max_str_digits) status = too_many_digits(-1);
    if (status != TSR_OK) out->length = begin;
    return status;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

TsrStatus int_new_digits(Value *out, const char *digits, int64_t size, int base) {
    int64_t n = 0;
    int64_t i = 0;
    for (; i < size; i++) {
        int64_t next;
        if (tsr_mul_overflows(n, base, &next) || tsr_add_overflows(next, digit_value(digits[i]), &next)) break;
        n = next;
    }
    if (i == size) {
        *out = value_int(n);
        return TSR_OK;
    }
    if (int_max_str_digits > 0 && !power_of_two(base) && size > int_max_str_digits) return too_many_digits(size);
    mp_int mp;
    if (mp_init(&mp) != MP_OKAY) return mem_error();
    TsrStatus status = bigint_from_digits(&mp, digits, size, base);
    if (status == TSR_OK) return int_new_mp_move(out, &mp);
    mp_clear(&mp);
    return status;
}

static TsrStatus bad_literal(const char *text, int64_t size, int base) {
    TsrText shown = {0};
    TsrStatus status = str_repr(&shown, text, size, false);
    if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "invalid literal for int() with base %d: %.*s", base, (int)TSR_MIN(shown.length, 200u), shown.data);
    tsr_text_free(&shown);
    return status;
}

/* Copies the digits without underscores; -1 when the text is no number of that base. */
static int64_t clean_digits(char *out, const char *p, const char *end, int base) {
    int64_t n = 0;
    bool underscore = true; /* none at the start */
    for (; p < end; p++) {
        if (*p == '_') {
            if (underscore) return -1;
            underscore = true;
            continue;
        }
        if (digit_value(*p) >= base) return -1;
        underscore = false;
        out[n++] = *p;
    }
    return underscore ? -1 : n;
}

char *number_new_ascii(const char *text, int64_t size, int64_t *out_size) {
    char *copy = tsr_malloc((size_t)size + 1);
    int64_t n = 0;
    for (int64_t i = 0; copy != NULL && i < size;) {
        int used;
        uint32_t c = utf8_decode(text + i, &used);
        if (c < 0x80) {
            copy[n++] = (char)c;
        } else if (unichar_is_space(c)) {
            copy[n++] = ' ';
        } else if (utf8proc_category((int32_t)c) == UTF8PROC_CATEGORY_ND) {
            uint32_t zero = c; /* each script's digits stand in a row from its zero */
            while (c - zero < 9 && utf8proc_category((int32_t)zero - 1) == UTF8PROC_CATEGORY_ND) zero--;
            copy[n++] = (char)('0' + (c - zero) % 10);
        } else {
            copy[n++] = '?';
        }
        i += used;
    }
    if (copy != NULL) copy[n] = '\0';
    *out_size = n;
    return copy;
}

bool number_clean(char *text, int64_t size, char **begin, char **end) {
    char *p = text, *stop = text + size;
    while (p < stop && unichar_is_space((unsigned char)*p)) p++;
    while (stop > p && unichar_is_space((unsigned char)stop[-1])) stop--;
    char *to = p;
    *begin = p;
    for (const char *q = p; q < stop; q++) {
        bool between = q > p && q + 1 < stop && isdigit((unsigned char)q[-1]) && isdigit((unsigned char)q[1]);
        if (*q == '_' && !between) return false;
        if (*q != '_') *to++ = *q;
    }
    *end = to;
    return true;
}

static TsrStatus parse_int(Value *out, const char *text, int64_t size, int base, bool *ok) {
    const char *p = text, *end = text + size;
    *ok = false;
    while (p < end && unichar_is_space((unsigned char)*p)) p++;
    while (end > p && unichar_is_space((unsigned char)end[-1])) end--;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int prefix = end - p > 2 && *p == '0' ? (p[1] | 32) == 'x' ? 16 : (p[1] | 32) == 'o' ? 8 : (p[1] | 32) == 'b' ? 2 : 0 : 0;
    bool bare_zero_base = base == 0;
    if (prefix != 0 && (base == 0 || base == prefix)) {
        p += p[2] == '_' && end - p > 3 ? 3 : 2;
        base = prefix;
        bare_zero_base = false;
    }
    if (base == 0) base = 10;
    char *digits = tsr_malloc((size_t)(end - p) + 1);
    if (digits == NULL) return mem_error();
    int64_t n = clean_digits(digits, p, end, base);
    bool leading_zero = bare_zero_base && n > 1 && digits[0] == '0' && strspn((digits[n] = '\0', digits), "0") != (size_t)n;
    TsrStatus status = TSR_OK;
    if (n > 0 && !leading_zero) {
        *ok = true;
        status = int_new_digits(out, digits, n, base);
        if (status == TSR_OK && negative) {
            Value positive = *out;
            status = int_negate(out, positive);
            value_release(positive);
        }
    }
    tsr_free(digits);
    return status;
}

TsrStatus int_new_text(Value *out, const char *text, int64_t size, int base) {
    int64_t ascii_size;
    char *ascii = number_new_ascii(text, size, &ascii_size);
    if (ascii == NULL) return mem_error();
    bool ok;
    TsrStatus status = parse_int(out, ascii, ascii_size, base, &ok);
    tsr_free(ascii);
    return status == TSR_OK && !ok ? bad_literal(text, size, base) : status;
}

/* --- slots --- */

static void int_destroy(Obj *self) {
    mp_clear(&((BigInt *)self)->mp);
    obj_free(self, sizeof(BigInt));
}

static TsrStatus int_repr(TsrText *out, Value self) { return int_digits(out, self, 10); }

static TsrStatus int_hash_slot(int64_t *out, Value self) {
    *out = int_hash(self);
    return TSR_OK;
}

static TsrStatus int_compare_slot(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (!value_is_int(a) || !value_is_int(b)) return TSR_OK;
    *out = value_bool(compare_order(op, int_compare(a, b)));
    return TSR_OK;
}

static TsrStatus int_truth(bool *out, Value self) {
    *out = int_sign(self) != 0;
    return TSR_OK;
}

static TsrStatus int_binary_slot(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return value_is_int(a) && value_is_int(b) ? int_binary(out, op, a, b) : TSR_OK;
}

static TsrStatus int_unary(Value *out, UnaryOp op, Value v) {
    if (op == OP_NEG) return int_negate(out, v);
    if (op == OP_INVERT) return v.tag != V_OBJ ? (*out = value_int(~v.i), TSR_OK) : big_simple(out, OP_SUB, value_int(-1), v);
    *out = v.tag == V_BOOL ? value_int(v.i) : value_retain(v);
    return TSR_OK;
}

static TsrStatus int_format_slot(TsrText *out, Value self, const char *spec, size_t size) {
    return size == 0 ? value_str(out, self) : format_int(out, self, spec, size);
}

/* int(v) for one argument. */
/* Of a tensor's complex element. */
static TsrStatus int_of_complex(Value *out, const Complex *c) {
    return c->im != 0 ? tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type int64_t without overflow") : int_new_double(out, c->re);
}

static TsrStatus int_of(Value *out, Value v) {
    char *data;
    int64_t size;
    switch (v.tag) {
    case V_INT:
    case V_BOOL: *out = value_int(v.i); return TSR_OK;
    case V_FLOAT: return int_new_double(out, v.f);
    default: break;
    }
    if (value_is_bigint(v)) {
        *out = value_retain(v);
        return TSR_OK;
    }
    if (value_is_str(v)) return int_new_text(out, value_as_str(v)->data, value_as_str(v)->size, 10);
    if (value_as_buffer(v, &data, &size)) {
        TsrStatus status = int_new_text(out, data, size, 10);
        if (!exc_matches(status, TSR_VALUE_ERROR) || value_is_bytearray(v)) return status;
        TsrText shown = {0};
        if (bytes_repr(&shown, data, size) == TSR_OK) tsr_error(TSR_VALUE_ERROR, "invalid literal for int() with base 10: %s", shown.data);
        tsr_text_free(&shown);
        return TSR_VALUE_ERROR;
    }
    TsrStatus (*to_number)(Value *, Value) = v.tag == V_TENSOR ? tensor_hooks.to_number : value_type(v)->number;
    if (to_number != NULL) {
        Value n;
        TSR_TRY(to_number(&n, v));
        TsrStatus status = n.tag == V_TENSOR ? tsr_error(TSR_TYPE_ERROR, "int() argument must be a number")
                         : value_is_complex(n) ? int_of_complex(out, value_as_complex(n)) : int_of(out, n);
        value_release(n);
        return status;
    }
    return tsr_error(TSR_TYPE_ERROR, "int() argument must be a string, a bytes-like object or a real number, not '%s'", value_type_name(v));
}

static TsrStatus int_with_base(Value *out, Value v, Value base_value) {
    int64_t base, size;
    char *data;
    TSR_TRY(value_to_index_clamped(&base, base_value));
    if (base != 0 && (base < 2 || base > 36)) return tsr_error(TSR_VALUE_ERROR, "int() base must be >= 2 and <= 36, or 0");
    if (value_is_str(v)) return int_new_text(out, value_as_str(v)->data, value_as_str(v)->size, (int)base);
    if (value_as_buffer(v, &data, &size)) return int_new_text(out, data, size, (int)base);
    return tsr_error(TSR_TYPE_ERROR, "int() can't convert non-string with explicit base");
}

static TsrStatus int_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"x", "base"};
    static const ArgSpec spec = {"int", names, 2, 1, 2, 0};
    Value given[2];
    (void)type;
    TSR_TRY(args_parse(given, args, 0, &spec));
    if (given[0].tag == V_UNBOUND) {
        if (given[1].tag != V_UNBOUND) return tsr_error(TSR_TYPE_ERROR, "int() missing string argument");
        *out = value_int(0);
        return TSR_OK;
    }
    return given[1].tag == V_UNBOUND ? int_of(out, given[0]) : int_with_base(out, given[0], given[1]);
}

/* --- methods --- */

static TsrStatus method_bit_length(Value *out, const CallArgs *args) {
    *out = value_int(int_bit_length(args->values[0]));
    return TSR_OK;
}

static TsrStatus method_bit_count(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    int64_t n = 0;
    if (v.tag != V_OBJ) {
        n = __builtin_popcountll(v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i);
    } else {
        const mp_int *mp = &value_as_bigint(v)->mp;
        for (int i = 0; i < mp->used; i++) n += __builtin_popcountll(mp->dp[i]);
    }
    *out = value_int(n);
    return TSR_OK;
}

static TsrStatus method_self(Value *out, const CallArgs *args) { return int_unary(out, OP_POS, args->values[0]); }

static TsrStatus method_ratio(Value *out, const CallArgs *args) {
    Value pair[2];
    TSR_TRY(int_unary(&pair[0], OP_POS, args->values[0]));
    pair[1] = value_int(1);
    return tuple_new_move(out, pair, 2);
}

/* round(n, -k): to a multiple of 10^k, ties to even. */
static TsrStatus round_to(Value *out, Value n, Value digits) {
    Value positive, power, q, r, twice;
    TSR_TRY(int_negate(&positive, digits));
    TsrStatus status = int_pow(&power, value_int(10), positive);
    value_release(positive);
    TSR_TRY(status);
    status = int_divmod(&q, &r, n, power);
    if (status != TSR_OK) goto power_only;
    status = int_shift_left(&twice, r, 1);
    if (status != TSR_OK) goto all;
    int order = int_compare(twice, power);
    bool odd = q.tag != V_OBJ ? (q.i & 1) != 0 : mp_isodd(&value_as_bigint(q)->mp);
    value_release(twice);
    Value change;
    status = order > 0 || (order == 0 && odd) ? int_binary(&change, OP_SUB, power, r) : int_negate(&change, r);
    if (status == TSR_OK) {
        status = int_binary(out, OP_ADD, n, change);
        value_release(change);
    }
all:
    value_release(q);
    value_release(r);
power_only:
    value_release(power);
    return status;
}

static TsrStatus method_round(Value *out, const CallArgs *args) {
    Value n = args->values[0];
    if (args->count < 2 || value_is_none(args->values[1])) return int_unary(out, OP_POS, n);
    if (!value_is_int(args->values[1])) return tsr_error(TSR_TYPE_ERROR, "'%s' object cannot be interpreted as an integer", value_type_name(args->values[1]));
    if (int_sign(args->values[1]) >= 0) return int_unary(out, OP_POS, n);
    int64_t digits;
    if (!int_fits_int64(args->values[1], &digits) || -digits > int_bit_length(n) + 1) { /* 10^k is far more than 2 |n| */
        *out = value_int(0);
        return TSR_OK;
    }
    return round_to(out, n, args->values[1]);
}

static TsrStatus byte_order(bool *little, Value v, const char *function) {
    *little = false;
    if (v.tag == V_UNBOUND) return TSR_OK;
    if (!value_is_str(v)) return tsr_error(TSR_TYPE_ERROR, "%s() argument 'byteorder' must be str, not %s", function, value_shown_type(v));
    *little = str_equal_c(value_as_str(v), "little");
    if (!*little && !str_equal_c(value_as_str(v), "big")) return tsr_error(TSR_VALUE_ERROR, "byteorder must be either 'little' or 'big'");
    return TSR_OK;
}

static void reverse_bytes(unsigned char *p, int64_t n) {
    for (int64_t i = 0, j = n - 1; i < j; i++, j--) {
        unsigned char t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
}

static TsrStatus write_bytes(unsigned char *p, int64_t length, Value v) {
    mp_int mp;
    TSR_TRY(int_to_mp(&mp, v));
    if (mp_isneg(&mp)) { /* two's complement: ~(|v| - 1) */
        mp_int all;
        TsrStatus status = TSR_OK;
        if (mp_init(&all) != MP_OKAY) {
            mp_clear(&mp);
            return mem_error();
        }
        if (mp_2expt(&all, (int)(length * 8)) != MP_OKAY || mp_add(&mp, &all, &mp) != MP_OKAY) status = mem_error();
        mp_clear(&all);
        if (status != TSR_OK) {
            mp_clear(&mp);
            return status;
        }
    }
    bigint_to_bytes(p, length, &mp);
    mp_clear(&mp);
    return TSR_OK;
}

static TsrStatus method_to_bytes(Value *out, const CallArgs *args) {
    static const char *const names[] = {"length", "byteorder", "signed"};
    static const ArgSpec spec = {"to_bytes", names, 3, 0, 2, 0};
    Value given[3], v = args->values[0];
    int64_t length = 1;
    bool little, is_signed = false;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[0].tag != V_UNBOUND) TSR_TRY(value_to_index(&length, given[0]));
    TSR_TRY(byte_order(&little, given[1], "to_bytes"));
    if (given[2].tag != V_UNBOUND) TSR_TRY(value_truth(&is_signed, given[2]));
    if (length < 0) return tsr_error(TSR_VALUE_ERROR, "length argument must be non-negative");
    if (length > INT32_MAX / 8) return mem_error();
    if (int_sign(v) < 0 && !is_signed) return tsr_error(TSR_OVERFLOW_ERROR, "can't convert negative int to unsigned");
    Value below = v;
    if (int_sign(v) < 0) TSR_TRY(int_unary(&below, OP_INVERT, v));
    bool fits = int_bit_length(below) + is_signed <= length * 8;
    if (int_sign(v) < 0) value_release(below);
    if (!fits) return tsr_error(TSR_OVERFLOW_ERROR, "int too big to convert");
    TSR_TRY(bytes_new(out, NULL, length));
    char *data;
    value_as_buffer(*out, &data, &length);
    TSR_TRY(write_bytes((unsigned char *)data, length, v));
    if (little) reverse_bytes((unsigned char *)data, length);
    return TSR_OK;
}

static TsrStatus read_bytes(Value *out, const unsigned char *p, int64_t size, bool is_signed) {
    mp_int mp, all;
    TsrStatus status;
    if (mp_init_multi(&mp, &all, NULL) != MP_OKAY) return mem_error();
    if ((status = bigint_from_bytes(&mp, p, size)) != TSR_OK) goto done;
    if (is_signed && size > 0 && p[0] >= 0x80) {
        MP_TRY(mp_2expt(&all, (int)(size * 8)));
        MP_TRY(mp_sub(&mp, &all, &mp));
    }
    mp_clear(&all);
    return int_new_mp_move(out, &mp);
done:
    mp_clear_multi(&mp, &all, NULL);
    return status;
}

static TsrStatus method_from_bytes(Value *out, const CallArgs *args) {
    static const char *const names[] = {"bytes", "byteorder", "signed"};
    static const ArgSpec spec = {"from_bytes", names, 3, 0, 2, 1};
    Value given[3], copy;
    bool little, is_signed = false;
    TSR_TRY(args_parse(given, args, 1, &spec));
    TSR_TRY(byte_order(&little, given[1], "from_bytes"));
    if (given[2].tag != V_UNBOUND) TSR_TRY(value_truth(&is_signed, given[2]));
    if (value_is_int(given[0]) || value_is_str(given[0])) {
        return tsr_error(TSR_TYPE_ERROR, "cannot convert '%s' object to bytes", value_type_name(given[0]));
    }
    TSR_TRY(value_call_n(&copy, value_lent(&bytes_type), 1, given));
    char *data;
    int64_t size;
    value_as_buffer(copy, &data, &size);
    TsrStatus status = TSR_OK;
    unsigned char *turned = tsr_malloc((size_t)size + 1);
    if (turned == NULL) status = mem_error();
    if (status == TSR_OK) {
        memcpy(turned, data, (size_t)size);
        if (little) reverse_bytes(turned, size);
        status = read_bytes(out, turned, size, is_signed);
    }
    tsr_free(turned);
    value_release(copy);
    return status;
}

static TsrStatus get_self(Value *out, Value self) { return int_unary(out, OP_POS, self); }
static TsrStatus get_zero(Value *out, Value self) {
    (void)self;
    *out = value_int(0);
    return TSR_OK;
}
static TsrStatus get_one(Value *out, Value self) {
    (void)self;
    *out = value_int(1);
    return TSR_OK;
}

static const Getter int_getters[] = {
    {"real", get_self, NULL, "The number itself."}, {"imag", get_zero, NULL, "0."}, {"numerator", get_self, NULL, "The number itself."},
    {"denominator", get_one, NULL, "1."}, {0},
};
static const Method int_methods[] = {
    {"bit_length", method_bit_length, ARGS_NONE, 0, 0, "()", "How many bits the absolute value takes."},
    {"bit_count", method_bit_count, ARGS_NONE, 0, 0, "()", "How many bits of the absolute value are set."},
    {"conjugate", method_self, ARGS_NONE, 0, 0, "()", "The number itself."},
    {"as_integer_ratio", method_ratio, ARGS_NONE, 0, 0, "()", "(n, 1)."},
    {"to_bytes", method_to_bytes, ARGS_ANY, 0, 0, "(length=1, byteorder='big', *, signed=False)", "The bytes of the number."},
    {"from_bytes", method_from_bytes, ARGS_ANY | METHOD_CLASS, 0, 0, "(bytes, byteorder='big', *, signed=False)", "The number of the bytes."},
    {"__round__", method_round, ARGS_RANGE, 0, 1, "(ndigits=None, /)", NULL},
    {"__trunc__", method_self, ARGS_NONE, 0, 0, "()", NULL},
    {"__floor__", method_self, ARGS_NONE, 0, 0, "()", NULL},
    {"__ceil__", method_self, ARGS_NONE, 0, 0, "()", NULL},
    {0},
};

Type int_type = {.obj = TYPE_HEADER, .name = "int", .doc = "int(x=0) or int(text, base=10): whole numbers of any size.", .construct = int_construct,
                 .destroy = int_destroy, .repr = int_repr, .hash = int_hash_slot, .compare = int_compare_slot, .truth = int_truth,
                 .format = int_format_slot, .binary = int_binary_slot, .unary = int_unary, .methods = int_methods, .getters = int_getters};

/* --- bool --- */

static TsrStatus bool_repr(TsrText *out, Value self) { return tsr_text_puts(out, self.b ? "True" : "False"); }

static TsrStatus bool_construct(Value *out, Type *type, const CallArgs *args) {
    bool truth = false;
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 0, 1, "bool"));
    if (args->count == 1) TSR_TRY(value_truth(&truth, args->values[0]));
    *out = value_bool(truth);
    return TSR_OK;
}

Type bool_type = {.obj = TYPE_HEADER, .name = "bool", .base = &int_type, .doc = "bool(x): whether x counts as true.", .construct = bool_construct,
                  .repr = bool_repr, .hash = int_hash_slot, .compare = int_compare_slot, .truth = int_truth, .format = int_format_slot,
                  .binary = int_binary_slot, .unary = int_unary};
