/* number.c: decimal text from floating-point numbers and back (number.h).
 *
 * Formatting is Schubfach: scale the value and the two boundaries of its rounding interval by a power of ten from a
 * table of 128-bit powers, rounded to odd, and take the shortest decimal inside the interval (choose). The same code
 * serves float and double; only the widths of the scaling differ.
 *
 * Parsing reads at most 19 significant digits into 64 bits. Small cases are one exact floating-point operation
 * (Clinger's fast path); the rest is Eisel-Lemire with the same table; what that cannot decide goes to strtod in the
 * "C" locale. */
#include "number_impl.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wide.h"

/* The table's first row is 10^POW10_MIN: the least power that an input of 19 digits needs to become a subnormal double.
 */
enum { POW10_MIN = -342 };
static const struct {
    uint64_t high, low;
    uint8_t exact;
} pow10_table[] = {
#include "pow10.inc"
};

/* floor(log2(10^e)), floor(log10(2^e)) and floor(log10(3/4 * 2^e)) for the exponents of a double. */
static int floor_log2_pow10(int e) { return (e * 1741647) >> 19; }
static int floor_log10_pow2(int e) { return (e * 1262611) >> 22; }
static int floor_log10_three_quarters_pow2(int e) { return (e * 1262611 - 524031) >> 22; }

/* ---- formatting ---- */

/* The upper 64 bits of g * c, rounded to odd: enough to compare with the exact product. */
static uint64_t round_to_odd(uint64_t high, uint64_t low, uint64_t c) {
    uint64_t x, top;
    tsr_mul_wide(low, c, &x);
    uint64_t y = tsr_mul_wide(high, c, &top) + x;
    return (top + (y < x)) | (y > 1);
}

/* The same for float32: the upper 32 bits of a product with 64 bits of the power. */
static uint32_t round_to_odd32(uint64_t high, uint32_t c) {
    uint64_t upper, lower = tsr_mul_wide(high, c, &upper), top = upper << 32 | lower >> 32;
    return (uint32_t)(top >> 32) | ((uint32_t)top > 1);
}

/* Moves trailing zeros of *digits into *exponent; zero has exponent 0. */
static void strip_zeros(uint64_t *digits, int *exponent) {
    while (*digits != 0 && *digits % 10 == 0) {
        *digits /= 10;
        ++*exponent;
    }
    if (*digits == 0) *exponent = 0;
}

/* Schubfach's last step, common to both widths. `lower`, `v` and `upper` are four times the scaled lower boundary,
 * value and upper boundary. Takes a multiple of ten inside the interval if there is exactly one, else the nearer of the
 * two neighbours of v. */
static void choose(uint64_t lower, uint64_t v, uint64_t upper, int k, uint64_t *digits, int *exponent) {
    uint64_t s = v / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool low_inside = lower <= 40 * tens, high_inside = 40 * tens + 40 <= upper;
        if (low_inside != high_inside) {
            *digits = tens + high_inside;
            *exponent = k + 1;
            return;
        }
    }
    bool low_inside = lower <= 4 * s, high_inside = 4 * s + 4 <= upper;
    uint64_t middle = 4 * s + 2;
    bool up = low_inside != high_inside ? high_inside : v > middle || (v == middle && (s & 1) != 0);
    *digits = s + up;
    *exponent = k;
}

/* value = digits * 10^exponent, digits without trailing zeros (0 for zero). `value` is finite and positive or zero. */
static void shortest_double(double value, uint64_t *digits, int *exponent) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1), c = fraction;
    int biased = (int)(bits >> 52 & 0x7ff), q = (biased != 0 ? biased : 1) - 1075;
    if (biased != 0) c |= UINT64_C(1) << 52;
    bool uneven = fraction == 0 && biased > 1; /* the gap below a power of two is half the gap above */
    int k = uneven ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    int h = q + floor_log2_pow10(-k) + 1;
    uint64_t high = pow10_table[-k - POW10_MIN].high, low = pow10_table[-k - POW10_MIN].low;
    if (!pow10_table[-k - POW10_MIN].exact && ++low == 0) high++; /* the ceiling is wanted */
    bool open = (c & 1) != 0; /* the boundaries round away from an odd significand */
    uint64_t lower = round_to_odd(high, low, (4 * c - 2 + uneven) << h) + open;
    uint64_t upper = round_to_odd(high, low, (4 * c + 2) << h) - open;
    choose(lower, round_to_odd(high, low, (4 * c) << h), upper, k, digits, exponent);
    strip_zeros(digits, exponent);
}

/* As shortest_double, in 32 bits: the upper 64 bits of the power are enough. */
static void shortest_float(float value, uint64_t *digits, int *exponent) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t fraction = bits & ((1u << 23) - 1), c = fraction;
    int biased = (int)(bits >> 23 & 0xff), q = (biased != 0 ? biased : 1) - 150;
    if (biased != 0) c |= 1u << 23;
    bool uneven = fraction == 0 && biased > 1;
    int k = uneven ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    int h = q + floor_log2_pow10(-k) + 1;
    uint64_t high = pow10_table[-k - POW10_MIN].high;
    if (pow10_table[-k - POW10_MIN].low != 0 || !pow10_table[-k - POW10_MIN].exact) high++;
    bool open = (c & 1) != 0;
    uint32_t lower = round_to_odd32(high, (4 * c - 2 + uneven) << h) + open;
    uint32_t upper = round_to_odd32(high, (4 * c + 2) << h) - open;
    choose(lower, round_to_odd32(high, (4 * c) << h), upper, k, digits, exponent);
    strip_zeros(digits, exponent);
}

/* Two digits at a time, from the last. */
static int write_digits(char *p, uint64_t value) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char text[20];
    int at = sizeof text;
    for (; value >= 10; value /= 100) memcpy(text + (at -= 2), pairs + value % 100 * 2, 2);
    if (value > 0 || at == sizeof text) text[--at] = (char)('0' + value);
    memcpy(p, text + at, sizeof text - (size_t)at);
    return (int)sizeof text - at;
}

/* Lays digits * 10^exponent out as repr does: fixed for 1e-4 <= value < 1e16, else scientific. */
static size_t lay_out(char *buffer, bool negative, uint64_t value, int exponent) {
    char digits[20], *p = buffer;
    int n = write_digits(digits, value), point = n + exponent; /* digits before the decimal point */
    if (value == 0) point = 1;
    if (negative) *p++ = '-';
    if (point > 16 || point < -3) {
        *p++ = digits[0];
        if (n > 1) *p++ = '.';
        memcpy(p, digits + 1, (size_t)n - 1);
        p += n - 1;
        int e = point - 1;
        *p++ = 'e';
        *p++ = e < 0 ? '-' : '+';
        if (abs(e) < 10) *p++ = '0';
        p += write_digits(p, (uint64_t)abs(e));
    } else if (point <= 0) {
        memcpy(p, "0.0000", (size_t)(2 - point));
        p += 2 - point;
        memcpy(p, digits, (size_t)n);
        p += n;
    } else {
        int whole = TSR_MIN(n, point);
        memcpy(p, digits, (size_t)whole);
        memset(p + whole, '0', (size_t)(point - whole));
        p += point;
        *p++ = '.';
        if (n > point) {
            memcpy(p, digits + point, (size_t)(n - point));
            p += n - point;
        } else {
            *p++ = '0';
        }
    }
    *p = '\0';
    return (size_t)(p - buffer);
}

size_t tsr_format_integer(char *buffer, bool negative, uint64_t magnitude) {
    if (negative) *buffer = '-';
    size_t n = (size_t)negative + (size_t)write_digits(buffer + negative, magnitude);
    buffer[n] = '\0';
    return n;
}

/* "nan", "inf" or "-inf". */
static size_t format_special(char *buffer, double value) {
    const char *text = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    strcpy(buffer, text);
    return strlen(text);
}

size_t tsr_format_double(char *buffer, double value) {
    uint64_t digits = 0;
    int exponent = 0;
    if (!isfinite(value)) return format_special(buffer, value);
    if (value != 0) shortest_double(fabs(value), &digits, &exponent);
    return lay_out(buffer, signbit(value) != 0, digits, exponent);
}

size_t tsr_format_float(char *buffer, float value) {
    uint64_t digits = 0;
    int exponent = 0;
    if (!isfinite(value)) return format_special(buffer, value);
    if (value != 0) shortest_float(fabsf(value), &digits, &exponent);
    return lay_out(buffer, signbit(value) != 0, digits, exponent);
}

/* ---- parsing ---- */

/* Eisel-Lemire: w * 10^q as a double, or false when the 128-bit product cannot decide the rounding. */
static bool eisel_lemire(double *out, uint64_t w, int q) {
    if (w == 0 || q < POW10_MIN) {
        *out = 0.0;
        return true;
    }
    if (q > 308) {
        *out = INFINITY;
        return true;
    }
    uint64_t high = pow10_table[q - POW10_MIN].high, low = pow10_table[q - POW10_MIN].low;
    if (q < 0 && q >= -27 && ++low == 0) high++;
    int shift = __builtin_clzll(w);
    w <<= shift;
    uint64_t top, product = tsr_mul_wide(high, w, &top);
    if ((top & 0x1ff) == 0x1ff) {
        uint64_t second;
        tsr_mul_wide(low, w, &second);
        product += second;
        top += product < second;
        if (product == UINT64_MAX && (q < -27 || q > 55)) return false;
    }
    int upper_bit = (int)(top >> 63), cut = upper_bit + 64 - 52 - 3;
    uint64_t mantissa = top >> cut;
    int power = (((152170 + 65536) * q) >> 16) + 63 + upper_bit - shift + 1023;
    if (power <= 0) {
        if (-power + 1 >= 64) {
            *out = 0.0;
            return true;
        }
        mantissa >>= -power + 1;
        mantissa += mantissa & 1;
        mantissa >>= 1;
        power = mantissa < (UINT64_C(1) << 52) ? 0 : 1;
    } else {
        /* halfway between two doubles exactly: round to even */
        if (product <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << cut == top)
            mantissa &= ~UINT64_C(1);
        mantissa += mantissa & 1;
        mantissa >>= 1;
        if (mantissa >= (UINT64_C(2) << 52)) {
            mantissa = UINT64_C(1) << 52;
            power++;
        }
        if (power >= 0x7ff) {
            *out = INFINITY;
            return true;
        }
    }
    uint64_t bits = (mantissa & ~(UINT64_C(1) << 52)) | (uint64_t)power << 52;
    memcpy(out, &bits, sizeof bits);
    return true;
}

/* Made once and never freed: lent to the functions that print or read numbers. */
static locale_t c_locale;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t tsr_c_locale(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale;
}

/* The C library's exact conversion, for the rare inputs that the fast ways leave open. */
static double parse_exactly(const char *begin, const char *end) {
    char small[128], *text = small;
    size_t n = (size_t)(end - begin);
    if (n >= sizeof small && (text = tsr_malloc(n + 1)) == NULL) { /* short of memory: the first digits decide */
        text = small;
        n = sizeof small - 1;
    }
    memcpy(text, begin, n);
    text[n] = '\0';
    double value = strtod_l(text, NULL, tsr_c_locale());
    if (text != small) tsr_free(text);
    return value;
}

/* "inf", "infinity" and "nan" in any case, at p; NULL when none stands there. */
static const char *parse_word(double *out, const char *p, const char *end, bool negative) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", INFINITY}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < TSR_COUNTOF(words); i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(end - p) >= n && strncasecmp(p, words[i].word, n) == 0) {
            *out = negative ? -words[i].value : words[i].value;
            return p + n;
        }
    }
    return NULL;
}

/* A decimal number as it is read: digits * 10^scale. */
typedef struct Decimal {
    uint64_t digits; /* the first 19 significant ones, which fit */
    int count;       /* of those */
    int64_t scale;
    bool any, more; /* a digit was there; one beyond the nineteenth is not 0 */
} Decimal;

/* Reads digits, of a fraction or of what stands before the point. Returns where they end. */
static inline const char *read_digits(Decimal *d, const char *p, const char *end, bool fraction) {
    for (; p < end && (unsigned char)(*p - '0') < 10; p++, d->any = true) {
        if (d->count < 19) {
            d->digits = d->digits * 10 + (uint64_t)(*p - '0');
            d->count += d->digits != 0;
            d->scale -= fraction;
        } else {
            d->more |= *p != '0';
            d->scale += !fraction;
        }
    }
    return p;
}

/* "e-5", if it is there: without digits it is no part of the number. */
static const char *read_exponent(Decimal *d, const char *p, const char *end) {
    if (p == end || (*p != 'e' && *p != 'E')) return p;
    const char *e = p + 1;
    bool minus = e < end && *e == '-';
    if (e < end && (*e == '-' || *e == '+')) e++;
    if (e == end || (unsigned char)(*e - '0') >= 10) return p;
    int64_t power = 0;
    for (; e < end && (unsigned char)(*e - '0') < 10; e++)
        if (power < 100000) power = power * 10 + (*e - '0');
    d->scale += minus ? -power : power;
    return e;
}

/* False where the digits that were kept do not decide how the number rounds. */
static bool decimal_value(double *out, const Decimal *d) {
    static const double small_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const uint64_t w = d->digits;
    if (!d->more && w <= UINT64_C(1) << 53 && d->scale >= -22 && d->scale <= 22) { /* exact operands: one rounding */
        *out = d->scale < 0 ? (double)w / small_powers[-d->scale] : (double)w * small_powers[d->scale];
        return true;
    }
    int q = (int)TSR_MAX(-100000, TSR_MIN(100000, d->scale));
    double next;
    /* Digits beyond the nineteenth: decided when both neighbours round alike. */
    return eisel_lemire(out, w, q) && (!d->more || (eisel_lemire(&next, w + 1, q) && next == *out));
}

const char *tsr_parse_double(double *out, const char *begin, const char *end) {
    Decimal d = {0};
    const char *p = begin;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    p = read_digits(&d, p, end, false);
    if (p < end && *p == '.') p = read_digits(&d, p + 1, end, true);
    if (!d.any) return parse_word(out, p, end, negative);
    p = read_exponent(&d, p, end);
    double value;
    if (decimal_value(&value, &d)) *out = negative ? -value : value;
    else *out = parse_exactly(begin, p);
    return p;
}

const char *tsr_parse_int64(int64_t *out, const char *begin, const char *end) {
    const char *p = begin;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *first = p;
    int64_t value = 0;
    for (; p < end && (unsigned char)(*p - '0') < 10; p++) {
        int digit = *p - '0';
        if (tsr_mul_overflows(value, 10, &value) || tsr_add_overflows(value, negative ? -digit : digit, &value))
            return NULL;
    }
    if (p == first) return NULL;
    *out = value;
    return p;
}
