/* regex.h: regular expressions as Python's re has them, on UTF-8. regex_compile.c reads a pattern, regex.c matches. */
#ifndef LANG_MODULES_REGEX_H
#define LANG_MODULES_REGEX_H

#include "lang/types/str.h"

/* Flags, with Python's numbers. */
enum { REGEX_I = 2, REGEX_M = 8, REGEX_S = 16, REGEX_U = 32, REGEX_X = 64, REGEX_A = 256 };

typedef enum RegexOp {
    RE_CHAR,   /* .x the character; with RE_FOLD in .flags of either case */
    RE_ANY,    /* .flags & RE_DOTALL: newlines, too */
    RE_SET,    /* .x which set */
    RE_ASSERT, /* .x an Assertion */
    RE_SAVE,   /* .x which slot gets the place */
    RE_SPLIT,  /* goes on at .x; where that fails at .y */
    RE_JUMP,   /* to .x */
    RE_REPEAT, /* the next instruction, of one character, .x to .y times (-1: no limit); RE_LAZY: as few as can be */
    RE_ENTER,  /* register .x is the place where a turn of a loop begins */
    RE_TURN,   /* a turn that began where it ends is the last: goes on at .y */
    RE_BACK,   /* the text of group .x again */
    RE_LOOK,   /* what follows, to .x, matches here; RE_NOT: does not; .y characters back of here (-1: ahead) */
    RE_ATOMIC, /* what follows, to .x, matches, and is not tried otherwise */
    RE_END     /* the pattern, a RE_LOOK or a RE_ATOMIC ends here */
} RegexOp;
enum { RE_FOLD = 1, RE_DOTALL = 2, RE_LAZY = 4, RE_NOT = 8, RE_ASCII = 16, RE_POSSESSIVE = 32 };
typedef enum Assertion { AT_LINE_START, AT_LINE_END, AT_START, AT_END, AT_LAST, AT_BOUNDARY, AT_NO_BOUNDARY } Assertion;

typedef struct RegexIns {
    uint8_t op, flags;
    int32_t x, y;
} RegexIns;

/* Characters: ranges and classes, or all but these. */
typedef struct RegexSet {
    uint64_t ascii[2]; /* which of the first 128 */
    uint32_t *ranges;  /* pairs, first and last; owned */
    int64_t count, capacity;
    unsigned classes; /* bit 1 << k: class k of the letters in regex_classes */
    bool negated, fold;
} RegexSet;
extern const char regex_classes[]; /* "dDsSwW" */

typedef struct Regex {
    RegexIns *code;
    int64_t count, capacity;
    RegexSet *sets;
    int64_t set_count, set_capacity;
    int groups, registers; /* groups: without the whole match */
    int flags;
    Dict *names; /* name to group number; owned */
} Regex;

/* Reads a pattern. re.error with Python's message. *out is the caller's (regex_free). */
TsrStatus regex_new(Regex **out, Str *pattern, int flags);
void regex_free(Regex *regex);

typedef enum RegexMode { REGEX_MATCH, REGEX_FULL, REGEX_SEARCH } RegexMode;

/* Matches data[at..end) of a text that begins at data[0]. `spans` has room for 2 * (groups + 1) byte offsets; -1: the
 * group took no part. *last is the group that was closed last, 0: none was. `not_empty_at`: a match there of no
 * characters is none (-1: all are). */
TsrStatus regex_run(bool *found, int64_t *spans, int *last, const Regex *regex, const char *data, int64_t at,
                    int64_t end, RegexMode mode, int64_t not_empty_at);

/* Whether a character is in a set (of those of `regex`). */
bool regex_set_has(const RegexSet *set, uint32_t c, bool ascii);
uint32_t regex_lower(uint32_t c);

#endif
