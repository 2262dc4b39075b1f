/* unichar.h: what Python asks of a character: its class, its case, whether a name may hold it; and how UTF-8 holds one.
 *
 * Categories and simple cases are utf8proc's; what it does not tell (digits that are not decimal, upper cases of
 * several characters, the exceptions among names) stands in unichar.inc. A character is a code point. */
#ifndef LANG_SYNTAX_UNICHAR_H
#define LANG_SYNTAX_UNICHAR_H

#include "core/base.h"

/* What str.isalpha() and so on ask of each character. */
bool unichar_is_alpha(uint32_t c);
bool unichar_is_decimal(uint32_t c); /* 0-9 of any script */
bool unichar_is_digit(uint32_t c);   /* superscripts and circled digits too */
bool unichar_is_numeric(uint32_t c); /* fractions and numbers of any size too */
bool unichar_is_alnum(uint32_t c);
bool unichar_is_space(uint32_t c);
bool unichar_is_printable(uint32_t c); /* shown as itself by repr */
bool unichar_is_upper(uint32_t c);
bool unichar_is_lower(uint32_t c);
bool unichar_is_title(uint32_t c);
bool unichar_is_cased(uint32_t c);
bool unichar_is_case_ignorable(uint32_t c); /* stands between letters without parting them: marks, apostrophes */
bool unichar_starts_name(uint32_t c);       /* whether an identifier may begin with it, and go on with it */
bool unichar_continues_name(uint32_t c);

/* What a letter is made of (Unicode's canonical decomposition): the letter without marks, then the marks; at most
 * `room` parts, how many. One of no other parts is its own. */
int unichar_parts(uint32_t *parts, int room, uint32_t c);

uint32_t utf8_decode(const char *p, int *size);     /* one code point of valid UTF-8 */
int utf8_encode(char *out, uint32_t codepoint);     /* writes 1 to 4 bytes; how many */
int64_t utf8_count(const char *data, int64_t size); /* code points of valid UTF-8 */

enum { UNICHAR_CASE_BYTES = 8 };
/* The case of one character as UTF-8 in `out` (UNICHAR_CASE_BYTES bytes, no zero byte): how many bytes. */
int unichar_lower(char *out, uint32_t c);
int unichar_upper(char *out, uint32_t c);
int unichar_title(char *out, uint32_t c);

#endif
