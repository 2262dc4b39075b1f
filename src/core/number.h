/* number.h: floating-point numbers from and to decimal text, exactly rounded and independent of the locale. */
#ifndef TSR_NUMBER_H
#define TSR_NUMBER_H

#include "base.h"

TSR_PUBLIC_BEGIN

enum { TSR_NUMBER_ROOM = 32 }; /* bytes that hold any of the texts below, with a terminator */

/* The shortest decimal that reads back as the same double (of those the nearest), laid out as Python's repr:
 * "0.1", "1e+16", "100.0", "-inf", "nan". Returns the length. Schubfach (R. Giulietti, "The Schubfach way to render
 * doubles", 2021, section 9). */
size_t tsr_format_double(char *buffer, double value);
/* The same for the shortest decimal that reads back as the same float32. */
size_t tsr_format_float(char *buffer, float value);
/* Decimal digits, with '-' before them when `negative`; 22 bytes at most. */
size_t tsr_format_integer(char *buffer, bool negative, uint64_t magnitude);

/* Reads one number in [begin, end): decimal with optional sign, point and exponent, or inf, infinity, nan in any case.
 * Returns where it ends, or NULL when there is none. Correctly rounded: Eisel-Lemire (D. Lemire, "Number parsing at
 * a gigabyte per second", 2021), with an exact fallback where that is undecided. No spaces, underscores or hex. */
const char *tsr_parse_double(double *out, const char *begin, const char *end);
/* Reads a decimal integer with optional sign that fits int64; NULL when there is none or it does not fit. */
const char *tsr_parse_int64(int64_t *out, const char *begin, const char *end);

TSR_PUBLIC_END

#endif
