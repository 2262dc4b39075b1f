/* codec.h: text to bytes and back: UTF-8, ASCII, Latin-1, UTF-16 and UTF-32, with Python's error handlers. */
#ifndef LANG_TYPES_CODEC_H
#define LANG_TYPES_CODEC_H

#include "str.h"

/* In which encoding, and what becomes of that which it can't say: "strict" (UnicodeEncodeError, UnicodeDecodeError),
 * "ignore", "replace", "backslashreplace", "xmlcharrefreplace" (encoding only), "surrogateescape" or "surrogatepass".
 */
typedef struct CodecChoice {
    const char *encoding, *errors;
} CodecChoice;

/* From two arguments of `function`: V_UNBOUND stands for "utf-8", "strict". Lent by the values. TypeError "FUNCTION()
 * argument 'encoding' must be str, not int". */
TsrStatus codec_choose(CodecChoice *lent, Value encoding, Value errors, const char *function);
/* The same from all arguments of str.encode or bytes.decode. */
TsrStatus codec_arguments(CodecChoice *lent, const CallArgs *args, const char *method);

/* Both append, and raise LookupError for an encoding or handler not known. Text is UTF-8, as Str has it. */
TsrStatus codec_encode(TsrText *out, const Str *s, CodecChoice how);
TsrStatus codec_decode(TsrText *out, const char *data, int64_t size, CodecChoice how);

/* What the system names (files, arguments, variables) as a str, and back: bytes that are no UTF-8 are surrogates there
 * (os.fsdecode and os.fsencode, PEP 383). The bytes, which end in a zero, are lent by v or by `room`, the caller's to
 * free. ValueError for a zero within; `v` is a str. */
TsrStatus codec_system_str(Value *out, const char *bytes, int64_t size);
TsrStatus codec_system_str_c(Value *out, const char *bytes); /* that end in a zero */
TsrStatus codec_system_bytes(const char **lent, TsrText *room, Value v);

#endif
