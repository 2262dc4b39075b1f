/* Classes and cases of characters. Most answers come from utf8proc's categories; tables in unichar.inc hold the
 * exceptions, and are searched by halving. */
#include "unichar.h"

#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

/* --- UTF-8 --- */

uint32_t utf8_decode(const char *p, int *size) {
    const unsigned char *s = (const unsigned char *)p;
    if (s[0] < 0x80) {
        *size = 1;
        return s[0];
    }
    if (s[0] < 0xe0) {
        *size = 2;
        return (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f);
    }
    if (s[0] < 0xf0) {
        *size = 3;
        return (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
    }
    *size = 4;
    return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3f) << 12 | (uint32_t)(s[2] & 0x3f) << 6 | (s[3] & 0x3f);
}

int utf8_encode(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* All bytes but those that go on with a character, 10xxxxxx: eight at a time. */
int64_t utf8_count(const char *data, int64_t size) {
    int64_t n = size, i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t bytes;
        memcpy(&bytes, data + i, sizeof bytes);
        const uint64_t ones = UINT64_C(0x0101010101010101), more = bytes >> 7 & ~bytes >> 6 & ones;
        n -= (int64_t)(more * ones >> 56);
    }
    for (; i < size; i++) n -= ((unsigned char)data[i] & 0xc0) == 0x80;
    return n;
}

/* --- classes --- */

typedef struct Range {
    uint32_t first, last;
} Range;
typedef struct LongCase {
    uint32_t c;
    const char *text;
} LongCase;

#include "unichar.inc"

static bool in_ranges(uint32_t c, const Range *ranges, size_t count) {
    size_t low = 0;
    while (count > 0) { /* the first range that does not end before c is in [low, low + count] */
        size_t half = count / 2;
        if (ranges[low + half].last < c) low += half + 1, count -= half + 1;
        else if (ranges[low + half].first <= c) return true;
        else count = half;
    }
    return false;
}
#define IN(c, ranges) in_ranges(c, ranges, TSR_COUNTOF(ranges))

#define CATEGORY(name) (1u << UTF8PROC_CATEGORY_##name)
enum {
    LETTERS = CATEGORY(LU) | CATEGORY(LL) | CATEGORY(LT) | CATEGORY(LM) | CATEGORY(LO),
    NAME_START = LETTERS | CATEGORY(NL),
    NAME_REST = NAME_START | CATEGORY(MN) | CATEGORY(MC) | CATEGORY(ND) | CATEGORY(PC),
    UNPRINTABLE = CATEGORY(CC) | CATEGORY(CF) | CATEGORY(CS) | CATEGORY(CO) | CATEGORY(CN) | CATEGORY(ZL) |
                  CATEGORY(ZP) | CATEGORY(ZS),
    IGNORABLE = CATEGORY(MN) | CATEGORY(ME) | CATEGORY(CF) | CATEGORY(LM) | CATEGORY(SK)
};

static bool in_categories(uint32_t c, uint32_t set) { return (set >> utf8proc_category((utf8proc_int32_t)c) & 1) != 0; }

/* --- classes --- */

bool unichar_is_alpha(uint32_t c) { return c < 0x80 ? isalpha((int)c) != 0 : in_categories(c, LETTERS); }
bool unichar_is_decimal(uint32_t c) { return c < 0x80 ? isdigit((int)c) != 0 : in_categories(c, CATEGORY(ND)); }
bool unichar_is_digit(uint32_t c) { return unichar_is_decimal(c) || IN(c, digit_others); }
bool unichar_is_numeric(uint32_t c) {
    return unichar_is_decimal(c) ||
           (c >= 0x80 && (in_categories(c, CATEGORY(NL) | CATEGORY(NO)) || IN(c, numeric_letters)));
}
bool unichar_is_alnum(uint32_t c) { return unichar_is_alpha(c) || unichar_is_numeric(c); }

bool unichar_is_printable(uint32_t c) {
    if (c < 0x7f) return c >= 0x20;
    return c >= 0xa1 && !in_categories(c, UNPRINTABLE);
}

bool unichar_is_space(uint32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

bool unichar_is_upper(uint32_t c) {
    return c < 0x80 ? c >= 'A' && c <= 'Z' : in_categories(c, CATEGORY(LU)) || IN(c, upper_others);
}
bool unichar_is_lower(uint32_t c) {
    return c < 0x80 ? c >= 'a' && c <= 'z' : in_categories(c, CATEGORY(LL)) || IN(c, lower_others);
}
bool unichar_is_title(uint32_t c) { return c >= 0x80 && in_categories(c, CATEGORY(LT)); }
bool unichar_is_cased(uint32_t c) { return unichar_is_upper(c) || unichar_is_lower(c) || unichar_is_title(c); }
bool unichar_is_case_ignorable(uint32_t c) { return in_categories(c, IGNORABLE) || IN(c, ignorable_others); }

bool unichar_starts_name(uint32_t c) {
    if (c < 0x80) return c == '_' || isalpha((int)c) != 0;
    return in_categories(c, NAME_START) != IN(c, start_others);
}

bool unichar_continues_name(uint32_t c) {
    if (c < 0x80) return c == '_' || isalnum((int)c) != 0;
    return in_categories(c, NAME_REST) != IN(c, going_on_others);
}

/* --- case --- */

static const char *find_long(uint32_t c, const LongCase *rows, size_t count) {
    for (size_t i = 0; i < count && rows[i].c <= c; i++)
        if (rows[i].c == c) return rows[i].text;
    return NULL;
}

int unichar_parts(uint32_t *parts, int room, uint32_t c) {
    int last = 0;
    utf8proc_int32_t found[8];
    utf8proc_ssize_t n =
        utf8proc_decompose_char((utf8proc_int32_t)c, found, (int)TSR_COUNTOF(found), UTF8PROC_DECOMPOSE, &last);
    if (n < 1 || n > (utf8proc_ssize_t)TSR_COUNTOF(found)) return *parts = c, 1;
    int count = (int)TSR_MIN(n, (utf8proc_ssize_t)room);
    for (int i = 0; i < count; i++) parts[i] = (uint32_t)found[i];
    return count;
}

/* The long form if there is one, else the one character. */
static int write_case(char *out, const char *many, utf8proc_int32_t one) {
    if (many == NULL) return utf8_encode(out, (uint32_t)one);
    memcpy(out, many, strlen(many));
    return (int)strlen(many);
}

int unichar_lower(char *out, uint32_t c) {
    return write_case(out, c == 0x130 ? "i\xcc\x87" : NULL,
                      utf8proc_tolower((utf8proc_int32_t)c)); /* the only long one */
}

int unichar_upper(char *out, uint32_t c) {
    return write_case(out, find_long(c, long_upper, TSR_COUNTOF(long_upper)), utf8proc_toupper((utf8proc_int32_t)c));
}

int unichar_title(char *out, uint32_t c) {
    return write_case(out, find_long(c, long_title, TSR_COUNTOF(long_title)), utf8proc_totitle((utf8proc_int32_t)c));
}
