/* Arithmetic on large integers that stays interruptible and below quadratic time: multiplication and division by
 * halves, and conversion from and to digits by splitting at powers of the base. Small operands go to libtommath
 * directly. */
#include "bigint.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "lang/object/value_impl.h"

enum {
    WORK = 1 << 24,    /* products of libtommath's digits between two looks for an interrupt: some ten milliseconds */
    LEAST_BLOCK = 16,  /* digits of a dividend taken at a time */
    SHORT_TEXT = 2000, /* digits of a text converted in one go */
};

/* out = the digits [begin, begin + count) of |a|. */
static mp_err take(mp_int *out, const mp_int *a, int begin, int count) {
    count = TSR_MAX(0, TSR_MIN(count, a->used - begin));
    mp_err err = out->alloc < count ? mp_grow(out, count) : MP_OKAY;
    if (err != MP_OKAY) return err;
    mp_zero(out);
    if (count > 0) memcpy(out->dp, a->dp + begin, (size_t)count * sizeof *a->dp);
    out->used = count;
    mp_clamp(out);
    return MP_OKAY;
}

/* ---- products ---- */

static TsrStatus multiply(mp_int *out, const mp_int *a, const mp_int *b);

/* As MP_TRY; in long numbers each step takes a while. */
#define MP_STEP(expr) \
    do { \
        if ((status = tsr_interrupt_check()) != TSR_OK) goto done; \
        MP_TRY(expr); \
    } while (0)

/* a is the longer. Karatsuba's three products of halves; where b has no high part, two do. */
static TsrStatus multiply_halves(mp_int *out, const mp_int *a, const mp_int *b, int half) {
    mp_int a0, a1, b0, b1, low, high, cross;
    TsrStatus status = TSR_OK;
    bool square = a == b;
    if (mp_init_multi(&a0, &a1, &b0, &b1, &low, &high, &cross, NULL) != MP_OKAY) return mem_error();
    MP_STEP(take(&a0, a, 0, half));
    MP_STEP(take(&a1, a, half, a->used));
    MP_STEP(take(&b0, b, 0, half));
    MP_STEP(take(&b1, b, half, b->used));
    if ((status = multiply(&low, &a0, square ? &a0 : &b0)) != TSR_OK) goto done;
    if (mp_iszero(&b1)) {
        if ((status = multiply(&cross, &a1, &b0)) != TSR_OK) goto done;
    } else {
        if ((status = multiply(&high, &a1, square ? &a1 : &b1)) != TSR_OK) goto done;
        MP_STEP(mp_add(&a0, &a1, &a0));
        if (!square) MP_STEP(mp_add(&b0, &b1, &b0));
        if ((status = multiply(&cross, &a0, square ? &a0 : &b0)) != TSR_OK) goto done;
        MP_STEP(mp_sub(&cross, &low, &cross));
        MP_STEP(mp_sub(&cross, &high, &cross));
        MP_STEP(mp_lshd(&high, half));
        MP_STEP(mp_add(&cross, &high, &cross));
    }
    MP_STEP(mp_lshd(&cross, half));
    MP_STEP(mp_add(&cross, &low, out));
done:
    mp_clear_multi(&a0, &a1, &b0, &b1, &low, &high, &cross, NULL);
    return status;
}

/* |a| * |b| */
static TsrStatus multiply(mp_int *out, const mp_int *a, const mp_int *b) {
    TsrStatus status = tsr_interrupt_check();
    if (status != TSR_OK) return status;
    if ((int64_t)a->used * b->used > WORK)
        return multiply_halves(out, a->used < b->used ? b : a, a->used < b->used ? a : b,
                               (TSR_MAX(a->used, b->used) + 1) / 2);
    MP_TRY(a == b ? mp_sqr(a, out) : mp_mul(a, b, out));
done:
    return status;
}

TsrStatus bigint_multiply(mp_int *out, const mp_int *a, const mp_int *b) {
    bool negative = mp_isneg(a) != mp_isneg(b);
    TSR_TRY(multiply(out, a, b));
    out->sign = negative && !mp_iszero(out) ? MP_NEG : MP_ZPOS;
    return TSR_OK;
}

/* ---- quotients ---- */

static void set_signs(mp_int *q, mp_int *r, bool dividend, bool divisor) {
    if (dividend != divisor && !mp_iszero(q)) q->sign = MP_NEG;
    if (dividend && !mp_iszero(r)) r->sign = MP_NEG;
}

/* Long division whose figures are blocks of digits: as many as the divisor has, since mp_div takes the dividend's whole
 * length for each digit. */
static TsrStatus divide_blocks(mp_int *q, mp_int *r, const mp_int *a, const mp_int *b) {
    int block = TSR_MAX(TSR_MIN(b->used, WORK / b->used), LEAST_BLOCK);
    mp_int piece, figure;
    TsrStatus status = TSR_OK;
    if (mp_init_multi(&piece, &figure, NULL) != MP_OKAY) return mem_error();
    MP_TRY(mp_grow(q, a->used));
    mp_zero(q);
    mp_zero(r);
    for (int at = (a->used - 1) / block * block; at >= 0; at -= block) {
        if ((status = tsr_interrupt_check()) != TSR_OK) goto done;
        MP_TRY(take(&piece, a, at, block));
        MP_TRY(mp_lshd(r, block));
        MP_TRY(mp_add(r, &piece, r));
        MP_TRY(mp_div(r, b, &figure, r));
        memcpy(q->dp + at, figure.dp, (size_t)figure.used * sizeof *q->dp);
    }
    q->used = a->used;
    mp_clamp(q);
done:
    mp_clear_multi(&piece, &figure, NULL);
    return status;
}

TsrStatus bigint_divide(mp_int *q, mp_int *r, const mp_int *a, const mp_int *b) {
    TsrStatus status = TSR_OK;
    bool dividend = mp_isneg(a), divisor = mp_isneg(b);
    if (b->used == 1) {
        mp_digit rest;
        TSR_TRY(bigint_divide_digit(q, &rest, a, b->dp[0]));
        q->sign = MP_ZPOS;
        mp_set(r, rest);
        set_signs(q, r, dividend, divisor);
        return TSR_OK;
    }
    if (a->used < b->used || (int64_t)(a->used - b->used + 1) * a->used <= WORK) {
        MP_TRY(mp_div(a, b, q, r));
        return TSR_OK;
    }
    mp_int size;
    MP_TRY(mp_init_copy(&size, b));
    size.sign = MP_ZPOS;
    status = divide_blocks(q, r, a, &size);
    mp_clear(&size);
    set_signs(q, r, dividend, divisor);
done:
    return status;
}

/* Euclid's remainders of m and a, with what a was taken times for each. */
TsrStatus bigint_invert(mp_int *a, const mp_int *m) {
    mp_int high, times, before, q, r, product;
    TsrStatus status = TSR_OK;
    if (mp_init_multi(&high, &times, &before, &q, &r, &product, NULL) != MP_OKAY) return mem_error();
    MP_TRY(mp_copy(m, &high));
    mp_set(&times, 1);
    while (!mp_iszero(a)) {
        if ((status = bigint_divide(&q, &r, &high, a)) != TSR_OK ||
            (status = bigint_multiply(&product, &q, &times)) != TSR_OK)
            goto done;
        MP_TRY(mp_sub(&before, &product, &product));
        mp_exch(&before, &times);
        mp_exch(&times, &product);
        mp_exch(&high, a);
        mp_exch(a, &r);
    }
    if (mp_cmp_d(&high, 1) == MP_EQ) MP_TRY(mp_mod(&before, m, a));
    else status = tsr_error(TSR_VALUE_ERROR, "base is not invertible for the given modulus");
done:
    mp_clear_multi(&high, &times, &before, &q, &r, &product, NULL);
    return status;
}

/* Newton's steps, each with the twice as many leading bits that it makes exact, as CPython's math.isqrt does them. */
TsrStatus bigint_sqrt(mp_int *root, const mp_int *n) {
    mp_int top, q, r;
    TsrStatus status = TSR_OK;
    if (mp_init_multi(&top, &q, &r, NULL) != MP_OKAY) return mem_error();
    int bits = mp_iszero(n) ? 0 : (mp_count_bits(n) - 1) / 2, done_bits = 0;
    mp_set(root, mp_iszero(n) ? 0 : 1);
    for (int shift = bits == 0 ? 0 : 32 - __builtin_clz((unsigned)bits); shift > 0; shift--) {
        int had = done_bits;
        done_bits = bits >> (shift - 1);
        if ((status = bigint_shift_right(&top, n, 2 * bits - had - done_bits + 1)) != TSR_OK) goto done;
        if ((status = bigint_divide(&q, &r, &top, root)) != TSR_OK) goto done;
        MP_TRY(mp_mul_2d(root, done_bits - had - 1, root));
        MP_TRY(mp_add(root, &q, root));
    }
    if ((status = bigint_multiply(&q, root, root)) != TSR_OK) goto done;
    if (mp_cmp(&q, n) == MP_GT) MP_TRY(mp_sub_d(root, 1, root));
done:
    mp_clear_multi(&top, &q, &r, NULL);
    return status;
}

/* ---- bits, which libtommath moves all for each byte ---- */

/* Ors `bits` bits (8 at most) in at place `at`; the digits are there, and zero. */
static void put_bits(mp_int *a, int64_t at, int bits, unsigned value) {
    int digit = (int)(at / MP_DIGIT_BIT), shift = (int)(at % MP_DIGIT_BIT);
    a->dp[digit] |= ((mp_digit)value << shift) & MP_MASK;
    if (shift + bits > MP_DIGIT_BIT) a->dp[digit + 1] |= (mp_digit)value >> (MP_DIGIT_BIT - shift);
}

static unsigned get_bits(const mp_int *a, int64_t at, int bits) {
    int64_t digit = at / MP_DIGIT_BIT;
    int shift = (int)(at % MP_DIGIT_BIT);
    if (digit >= a->used) return 0;
    mp_digit value = a->dp[digit] >> shift;
    if (shift + bits > MP_DIGIT_BIT && digit + 1 < a->used) value |= a->dp[digit + 1] << (MP_DIGIT_BIT - shift);
    return (unsigned)value & ((1u << bits) - 1);
}

/* Makes room for so many bits, all 0. */
static TsrStatus zero_bits(mp_int *a, int64_t bits) {
    int64_t digits = bits / MP_DIGIT_BIT + 2;
    if (bits > INT32_MAX - 64 || mp_grow(a, (int)digits) != MP_OKAY) return mem_error();
    mp_zero(a);
    a->used = (int)digits;
    return TSR_OK;
}

TsrStatus bigint_from_bytes(mp_int *out, const unsigned char *bytes, int64_t n) {
    if (n > INT32_MAX / 8) return mem_error();
    TSR_TRY(zero_bits(out, n * 8));
    for (int64_t i = 0; i < n; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        put_bits(out, i * 8, 8, bytes[n - 1 - i]);
    }
    mp_clamp(out);
    return TSR_OK;
}

TsrStatus bigint_to_bytes(unsigned char *bytes, int64_t n, const mp_int *a) {
    for (int64_t i = 0; i < n; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        bytes[n - 1 - i] = (unsigned char)get_bits(a, i * 8, 8);
    }
    return TSR_OK;
}

/* ---- text ---- */

static int digit_value(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }
/* The bits of a digit of base 2, 4, 8, 16 or 32; 0 for other bases. */
static int digit_bits(int base) { return (base & (base - 1)) == 0 ? __builtin_ctz((unsigned)base) : 0; }

/* out = base ** n */
static TsrStatus power(mp_int *out, int base, int64_t n) {
    TsrStatus status = TSR_OK;
    mp_set(out, 1);
    for (int bit = 62; bit >= 0; bit--) {
        if ((status = bigint_multiply(out, out, out)) != TSR_OK) return status;
        if (n >> bit & 1) MP_TRY(mp_mul_d(out, (mp_digit)base, out));
    }
done:
    return status;
}

static TsrStatus read_short(mp_int *out, const char *digits, int64_t n, int base) {
    char text[SHORT_TEXT + 1];
    TsrStatus status = TSR_OK;
    memcpy(text, digits, (size_t)n);
    text[n] = '\0';
    MP_TRY(mp_read_radix(out, text, base));
done:
    return status;
}

TsrStatus bigint_from_digits(mp_int *out, const char *digits, int64_t n, int base) {
    int bits = digit_bits(base);
    if (bits != 0) {
        if (n > INT32_MAX / bits) return mem_error();
        TSR_TRY(zero_bits(out, n * bits));
        for (int64_t i = 0; i < n; i++) {
            TSR_TRY(tsr_interrupt_check_at(i));
            put_bits(out, i * bits, bits, (unsigned)digit_value(digits[n - 1 - i]));
        }
        mp_clamp(out);
        return TSR_OK;
    }
    if (n <= SHORT_TEXT) return read_short(out, digits, n, base);
    mp_int low, scale;
    TsrStatus status = TSR_OK;
    if (mp_init_multi(&low, &scale, NULL) != MP_OKAY) return mem_error();
    int64_t half = n / 2;
    if ((status = bigint_from_digits(out, digits, n - half, base)) == TSR_OK &&
        (status = power(&scale, base, half)) == TSR_OK && (status = bigint_multiply(out, out, &scale)) == TSR_OK &&
        (status = bigint_from_digits(&low, digits + n - half, half, base)) == TSR_OK) {
        MP_TRY(mp_add(out, &low, out));
    }
done:
    mp_clear_multi(&low, &scale, NULL);
    return status;
}

/* The low `width` digits of a >= 0, with leading zeros. */
static TsrStatus write_digits(char *p, int64_t width, const mp_int *a, int base) {
    TsrStatus status = tsr_interrupt_check();
    if (status != TSR_OK) return status;
    if (width <= SHORT_TEXT) {
        char text[SHORT_TEXT + 2];
        size_t written;
        MP_TRY(mp_to_radix(a, text, sizeof text, &written, base));
        int64_t length = (int64_t)strlen(text);
        memset(p, '0', (size_t)(width - length));
        memcpy(p + width - length, text, (size_t)length);
        return TSR_OK;
    }
    mp_int scale, high, low;
    int64_t half = width / 2;
    if (mp_init_multi(&scale, &high, &low, NULL) != MP_OKAY) return mem_error();
    if ((status = power(&scale, base, half)) == TSR_OK && (status = bigint_divide(&high, &low, a, &scale)) == TSR_OK &&
        (status = write_digits(p, width - half, &high, base)) == TSR_OK) {
        status = write_digits(p + width - half, half, &low, base);
    }
    mp_clear_multi(&scale, &high, &low, NULL);
done:
    return status;
}

TsrStatus bigint_to_digits(TsrText *out, const mp_int *a, int base) {
    int bits = digit_bits(base);
    int64_t count = bits != 0 ? mp_count_bits(a) / bits + 1 : (int64_t)(mp_count_bits(a) / log2(base)) + 2;
    char *text = tsr_malloc((size_t)count);
    if (text == NULL) return mem_error();
    char *p = text, *end = text + count;
    TsrStatus status = TSR_OK;
    mp_int size = *a; /* the same digits */
    size.sign = MP_ZPOS;
    if (bits == 0) status = write_digits(text, count, &size, base);
    for (int64_t i = 0; bits != 0 && i < count; i++) {
        if ((status = tsr_interrupt_check_at(i)) != TSR_OK) break;
        end[-1 - i] = "0123456789abcdefghijklmnopqrstuvwxyz"[get_bits(a, i * bits, bits)];
    }
    while (status == TSR_OK && p < end - 1 && *p == '0') p++;
    for (char *c = p; status == TSR_OK && c < end; c++) *c |= *c >= 'A' ? 32 : 0;
    if (status == TSR_OK) status = tsr_text_append(out, p, (size_t)(end - p));
    tsr_free(text);
    return status;
}
