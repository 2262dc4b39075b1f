/* numbers.h: int beyond 64 bits, float's text, complex. */
#ifndef LANG_TYPES_NUMBERS_H
#define LANG_TYPES_NUMBERS_H

#include "lang/object/value.h"

#include <tommath.h>

typedef struct BigInt {
    Obj obj;
    mp_int mp; /* never fits int64 */
} BigInt;

typedef struct Complex {
    Obj obj;
    double re, im;
} Complex;

extern Type complex_type;
static inline bool value_is_bigint(Value v) { return value_is_obj(v, &int_type); }
static inline BigInt *value_as_bigint(Value v) { return (BigInt *)v.o; }
static inline bool value_is_complex(Value v) { return value_is_obj(v, &complex_type); }
static inline Complex *value_as_complex(Value v) { return (Complex *)v.o; }
/* bool and small int as int64; false for anything else. */
static inline bool value_small_int(Value v, int64_t *out) {
    if (v.tag != V_INT && v.tag != V_BOOL) return false;
    *out = v.i;
    return true;
}

/* --- int --- */
/* Digits of `base` 2..36 with no sign, prefix or underscores (an int literal of the tree). */
TsrStatus int_new_digits(Value *out, const char *digits, int64_t size, int base);
/* int(text, base): sign, spaces, underscores, prefix; "invalid literal for int() with base 10: 'x'". */
TsrStatus int_new_text(Value *out, const char *text, int64_t size, int base);
TsrStatus int_new_double(Value *out, double d); /* truncates; OverflowError/ValueError for inf and nan */
TsrStatus int_new_uint64(Value *out, uint64_t u);
TsrStatus int_new_mp_move(Value *out, mp_int *mp); /* consumes mp; small results become V_INT */
TsrStatus int_to_mp(mp_int *out, Value v);         /* initialises *out; the caller clears it */
TsrStatus int_to_double(double *out, Value v);     /* "int too large to convert to float" */
bool int_fits_int64(Value v, int64_t *out);
bool int_fits_uint64(Value v, uint64_t *out);
int int_sign(Value v);
int int_compare(Value a, Value b);
TsrStatus int_binary(Value *out, BinaryOp op, Value a, Value b); /* two ints; / gives a float */
TsrStatus int_pow_mod(Value *out, Value base, Value exponent, Value modulus);
TsrStatus int_digits(TsrText *out, Value v,
                     int base); /* |v|'s sign and digits, no prefix; base 10 obeys the 4300 limit */
TsrStatus int_divmod(Value *quotient, Value *remainder, Value a, Value b);
TsrStatus int_negate(Value *out, Value v);
TsrStatus int_shift_left(Value *out, Value v, int64_t bits);
int64_t int_bit_length(Value v);
int64_t int_hash(Value v);     /* as hash(v): modulo 2**61 - 1, never -1 */
extern int int_max_str_digits; /* sys.set_int_max_str_digits; 0: no limit */

/* The text of a number with other scripts' decimal digits as ASCII and their spaces as ' ', for the caller to free; of
 * bytes, which have no other scripts, a copy. NULL when memory is short. */
char *number_new_ascii(const char *text, int64_t size, bool bytes, int64_t *out_size);
/* Drops the spaces around a number in number_new_ascii's text and the underscores between its digits, in place: the
 * rest is [*begin, *end). False for an underscore elsewhere. */
bool number_clean(char *text, int64_t size, char **begin, char **end);

/* --- float --- */
/* Into buffer (at least 32 bytes) as repr(d); returns the length. */
int float_repr(double d, char *buffer);
double float_mod(double a, double b); /* Python's %, b != 0 */
double float_floordiv(double a, double b);
TsrStatus float_pow(Value *out, double a, double b); /* complex for a negative base and a fractional exponent */
TsrStatus float_round(Value *out, double d, int64_t digits);
int64_t float_hash(double d);

/* --- complex --- */
TsrStatus complex_new(Value *out, double re, double im);
/* int, float, bool, complex as re and im; false for others. */
bool value_to_complex(Value v, double *re, double *im, TsrStatus *status);
TsrStatus complex_binary(Value *out, BinaryOp op, double ar, double ai, double br, double bi);

#endif
