/* bigint.h: what libtommath does in one piece that nothing can interrupt, or in time quadratic without need.
 * Results are initialised by the caller and hold anything after an error: MemoryError or an interrupt. */
#ifndef LANG_TYPES_BIGINT_H
#define LANG_TYPES_BIGINT_H

#include "core/text.h"
#include "lang/object/value.h"

#include <tommath.h>

/* Inside a function with `TsrStatus status` and a label `done`: libtommath's only error is a lack of memory. */
#define MP_TRY(expr) \
    do { \
        if ((expr) != MP_OKAY) { \
            status = mem_error(); \
            goto done; \
        } \
    } while (0)

/* a * b. out may be a or b; a == b squares. */
TsrStatus bigint_multiply(mp_int *out, const mp_int *a, const mp_int *b);
/* The sum, difference or bits (OP_ADD, OP_SUB, OP_AND, OP_OR, OP_XOR). out may be a or b. */
TsrStatus bigint_combine(mp_int *out, BinaryOp op, const mp_int *a, const mp_int *b);
/* a * 2^bits, and a / 2^bits rounded down. out may be a. */
TsrStatus bigint_shift_left(mp_int *out, const mp_int *a, int bits);
TsrStatus bigint_shift_right(mp_int *out, const mp_int *a, int bits);
/* |a| / b and what remains; b is not 0. q may be a, and has either sign. */
TsrStatus bigint_divide_digit(mp_int *q, mp_digit *rest, const mp_int *a, mp_digit b);
/* a / b towards zero and what remains, with a's sign; b is not 0. q and r are not a or b. */
TsrStatus bigint_divide(mp_int *q, mp_int *r, const mp_int *a, const mp_int *b);
/* *a = what times *a is 1 modulo m; ValueError if nothing is. 0 <= a < m, 1 < m. */
TsrStatus bigint_invert(mp_int *a, const mp_int *m);
/* The whole part of the square root of n >= 0. */
TsrStatus bigint_sqrt(mp_int *root, const mp_int *n);
/* The number of n bytes, the highest first. */
TsrStatus bigint_from_bytes(mp_int *out, const unsigned char *bytes, int64_t n);
/* The n low bytes of a number >= 0, the highest first. */
TsrStatus bigint_to_bytes(unsigned char *bytes, int64_t n, const mp_int *a);
/* The number of n digits, all valid for the base 2..36. */
TsrStatus bigint_from_digits(mp_int *out, const char *digits, int64_t n, int base);
/* |a|'s digits in base 2..36, in lower case, without leading zeros. */
TsrStatus bigint_to_digits(TsrText *out, const mp_int *a, int base);

#endif
