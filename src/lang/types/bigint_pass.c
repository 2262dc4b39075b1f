/* What takes one pass over the digits. libtommath's own passes are one piece each, which for numbers of a hundred
 * megabytes is too long to wait: those go digit by digit here, with a look for an interrupt now and then. */
#include "bigint.h"

#include "core/base/wide.h"
#include "lang/object/value_impl.h"

enum {
    LONG = 1 << 17,  /* digits above which a pass is ours: a millisecond */
    PIECE = 1 << 16, /* digits between two looks for an interrupt */
};

static TsrStatus new_zeros(mp_int *out, int64_t digits) {
    return digits > INT32_MAX / MP_DIGIT_BIT || mp_init_size(out, (int)digits) != MP_OKAY ? mem_error() : TSR_OK;
}

/* What a pass wrote takes the place of *out, which may have been its operand. */
static TsrStatus replace(mp_int *out, mp_int *made, int used, TsrStatus status) {
    made->used = used;
    mp_clamp(made);
    if (status == TSR_OK) mp_exch(out, made);
    mp_clear(made);
    return status;
}

/* ---- sums and bits ---- */

/* A number's digits in two's complement, from the lowest on. */
typedef struct Digits {
    const mp_digit *dp;
    int used;
    mp_digit flip, carry;
} Digits;

static Digits digits_of(const mp_int *a, bool negative) {
    return (Digits){a->dp, a->used, negative ? MP_MASK : 0, negative};
}

static inline mp_digit digit_at(Digits *a, int i) {
    mp_digit d = ((i < a->used ? a->dp[i] : 0) ^ a->flip) + a->carry;
    a->carry = d >> MP_DIGIT_BIT;
    return d & MP_MASK;
}

static void combine_piece(mp_digit *to, int begin, int end, BinaryOp op, Digits *a, Digits *b, mp_digit *carry) {
    for (int i = begin; i < end; i++) {
        mp_digit x = digit_at(a, i), y = digit_at(b, i);
        switch (op) {
        case OP_AND: to[i] = x & y; break;
        case OP_OR: to[i] = x | y; break;
        case OP_XOR: to[i] = x ^ y; break;
        default:
            *carry += x + y;
            to[i] = *carry & MP_MASK;
            *carry >>= MP_DIGIT_BIT;
        }
    }
}

/* out = -out, whose digits are in two's complement. */
static TsrStatus complement(mp_int *out, int n) {
    Digits own = {out->dp, n, MP_MASK, 1};
    for (int i = 0; i < n; i++) {
        if (i % PIECE == 0) TSR_TRY(tsr_interrupt_check());
        out->dp[i] = digit_at(&own, i);
    }
    out->sign = MP_NEG;
    return TSR_OK;
}

static TsrStatus combine_long(mp_int *out, BinaryOp op, const mp_int *a, const mp_int *b) {
    int n = TSR_MAX(a->used, b->used) + 1; /* one for the sign */
    Digits x = digits_of(a, mp_isneg(a)), y = digits_of(b, mp_isneg(b) != (op == OP_SUB));
    mp_int made;
    mp_digit carry = 0;
    TSR_TRY(new_zeros(&made, n));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < n && status == TSR_OK; i += PIECE) {
        combine_piece(made.dp, i, TSR_MIN(i + PIECE, n), op, &x, &y, &carry);
        status = tsr_interrupt_check();
    }
    if (status == TSR_OK && made.dp[n - 1] >> (MP_DIGIT_BIT - 1) != 0) status = complement(&made, n);
    return replace(out, &made, n, status);
}

TsrStatus bigint_combine(mp_int *out, BinaryOp op, const mp_int *a, const mp_int *b) {
    if (TSR_MAX(a->used, b->used) > LONG) return combine_long(out, op, a, b);
    mp_err err = op == OP_ADD   ? mp_add(a, b, out)
                 : op == OP_SUB ? mp_sub(a, b, out)
                 : op == OP_AND ? mp_and(a, b, out)
                 : op == OP_OR  ? mp_or(a, b, out)
                                : mp_xor(a, b, out);
    return err == MP_OKAY ? TSR_OK : mem_error();
}

/* ---- shifts ---- */

TsrStatus bigint_shift_left(mp_int *out, const mp_int *a, int bits) {
    if (a->used + bits / MP_DIGIT_BIT <= LONG) return mp_mul_2d(a, bits, out) == MP_OKAY ? TSR_OK : mem_error();
    int skip = bits / MP_DIGIT_BIT, by = bits % MP_DIGIT_BIT, n = a->used + skip + 1;
    mp_int made;
    mp_digit below = 0;
    TSR_TRY(new_zeros(&made, n));
    TsrStatus status = TSR_OK;
    for (int i = skip; i < n && status == TSR_OK; i++) {
        if (i % PIECE == 0) status = tsr_interrupt_check();
        mp_digit d = i - skip < a->used ? a->dp[i - skip] : 0;
        made.dp[i] = (d << by & MP_MASK) | below;
        below = d >> (MP_DIGIT_BIT - by);
    }
    made.sign = a->sign;
    return replace(out, &made, n, status);
}

/* |a| without its low bits. */
static TsrStatus drop_bits(mp_int *out, const mp_int *a, int bits) {
    int skip = bits / MP_DIGIT_BIT, by = bits % MP_DIGIT_BIT, n = a->used - skip;
    mp_int made;
    TSR_TRY(new_zeros(&made, n));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < n && status == TSR_OK; i++) {
        if (i % PIECE == 0) status = tsr_interrupt_check();
        mp_digit above = i + 1 < n ? a->dp[skip + i + 1] : 0;
        made.dp[i] = a->dp[skip + i] >> by | (above << (MP_DIGIT_BIT - by) & MP_MASK);
    }
    return replace(out, &made, n, status);
}

TsrStatus bigint_shift_right(mp_int *out, const mp_int *a, int bits) {
    TsrStatus status = TSR_OK;
    if (a->used - bits / MP_DIGIT_BIT <= LONG) {
        MP_TRY(mp_signed_rsh(a, bits, out));
        return TSR_OK;
    }
    bool negative = mp_isneg(a), exact = mp_cnt_lsb(a) >= bits;
    TSR_TRY(drop_bits(out, a, bits));
    if (negative) {
        out->sign = MP_NEG;
        if (!exact) MP_TRY(mp_sub_d(out, 1, out));
    }
done:
    return status;
}

/* ---- a divisor of one digit ---- */

TsrStatus bigint_divide_digit(mp_int *q, mp_digit *rest, const mp_int *a, mp_digit b) {
    if (a->used <= LONG) return mp_div_d(a, b, q, rest) == MP_OKAY ? TSR_OK : mem_error();
    mp_int made;
    uint64_t over = 0;
    TSR_TRY(new_zeros(&made, a->used));
    TsrStatus status = TSR_OK;
    for (int i = a->used - 1; i >= 0 && status == TSR_OK; i--) {
        if (i % PIECE == 0) status = tsr_interrupt_check();
        uint64_t high = over >> (64 - MP_DIGIT_BIT), low = over << MP_DIGIT_BIT | a->dp[i];
        made.dp[i] = (mp_digit)tsr_div_wide(high, low, b, &over);
    }
    *rest = (mp_digit)over;
    return replace(q, &made, a->used, status);
}
