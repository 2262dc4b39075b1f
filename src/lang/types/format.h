/* format.h: the format mini-language of Python: [[fill]align][sign][z][#][0][width][grouping][.precision][type].
 * Each function appends the formatted value; errors have CPython 3.11's texts. `spec` is UTF-8 of `size` bytes. */
#ifndef LANG_TYPES_FORMAT_H
#define LANG_TYPES_FORMAT_H

#include "lang/object/value.h"

TsrStatus format_int(TsrText *out, Value v, const char *spec, size_t size); /* int of any size, bool */
TsrStatus format_float(TsrText *out, double value, const char *spec, size_t size);
TsrStatus format_complex(TsrText *out, double re, double im, const char *spec, size_t size);
TsrStatus format_str(TsrText *out, const char *data, size_t length, const char *spec, size_t size); /* data is UTF-8 */
/* "%.*CONVf" with a C conversion character, in the C locale, of any precision; appends. For % formatting too.
 * `alternate`: the # flag. */
TsrStatus format_c_double(TsrText *out, double value, char conversion, int64_t precision, bool alternate);

#endif
