/* codec.h: text to bytes and back: UTF-8, ASCII, Latin-1, UTF-16 and UTF-32, with Python's error handlers. */
#ifndef REPL_CODEC_H
#define REPL_CODEC_H

#include "str_obj.h"

/* Appends `s` in the encoding. `errors` is "strict" (UnicodeEncodeError), "ignore", "replace", "backslashreplace",
 * "xmlcharrefreplace", "surrogateescape" or "surrogatepass". LookupError for an encoding or handler not known. */
TsrStatus codec_encode(TsrText *out, const Str *s, const char *encoding, const char *errors);

/* The arguments of encode(), decode() and str(): V_UNBOUND stands for "utf-8", "strict". Lent by the values. TypeError "FUNCTION() argument 'encoding' must be
 * str, not int". */
TsrStatus codec_arguments(const char **encoding, const char **errors, Value given_encoding, Value given_errors, const char *function);

/* Appends the text (UTF-8, as Str has it) of `size` bytes in the encoding; the same handlers but xmlcharrefreplace. */
TsrStatus codec_decode(TsrText *out, const char *data, int64_t size, const char *encoding, const char *errors);

#endif
