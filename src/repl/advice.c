/* advice.c: the hints of advice.def, looked up by what stands in a report or on a line that is no valid syntax. */
#include "advice.h"

#include <ctype.h>
#include <string.h>

#include "core/base.h"

static bool begins_with(const char *code, size_t length, const char *words) {
    size_t n = strlen(words);
    return length >= n && memcmp(code, words, n) == 0;
}

static bool is_marked(const char *code, size_t length, const char *words) {
    size_t n = strlen(words);
    return words[0] == '.' ? length > n && begins_with(code + length - n, n, words) : begins_with(code, length, words);
}

const char *advice_marked(const char *code, size_t length, const char *line) {
    static const struct {
        const char *code, *fits, *hint;
    } rows[] = {
#define MARKED(code, fits, hint) {code, fits, hint},
#include "advice.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (strstr(line, rows[i].fits) != NULL && is_marked(code, length, rows[i].code)) return rows[i].hint;
    return NULL;
}

/* An operator that is none may be noticed at any of its characters, or behind it. */
const char *advice_at_place(const char *line, size_t length, size_t place) {
    static const struct {
        const char *words, *hint;
    } rows[] = {
#define AT_PLACE(words, hint) {words, hint},
#include "advice.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        for (size_t back = 0; back <= strlen(rows[i].words) && back <= place; back++)
            if (place <= length && begins_with(line + place - back, length - place + back, rows[i].words))
                return rows[i].hint;
    return NULL;
}

const char *advice_line(const char *line) {
    static const struct {
        const char *fits, *hint;
    } rows[] = {
#define ADVICE(fits, hint) {fits, hint},
#include "advice.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (strstr(line, rows[i].fits) != NULL) return rows[i].hint;
    return NULL;
}

typedef struct Opening {
    const char *words, *hint;
} Opening;

static const char *by_opening(const Opening *rows, size_t count, const char *line, size_t length) {
    for (; length > 0 && (*line == ' ' || *line == '\t'); line++) length--;
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(rows[i].words);
        if (!begins_with(line, length, rows[i].words)) continue;
        if (ispunct((unsigned char)rows[i].words[0])) return rows[i].hint;
        if (length > n && line[n] != ' ' && line[n] != ':') continue;
        while (n < length && line[n] == ' ') n++; /* not a name that is used as one: let = 1 */
        if (n == length || isalnum((unsigned char)line[n]) || strchr("_(:", line[n]) != NULL) return rows[i].hint;
    }
    return NULL;
}

const char *advice_first_words(const char *line, size_t length) {
    static const Opening rows[] = {
#define FIRST_WORDS(words, hint) {words, hint},
#include "advice.def"
    };
    return by_opening(rows, TSR_COUNTOF(rows), line, length);
}

const char *advice_statement(const char *line, size_t length) {
    static const Opening rows[] = {
#define STATEMENT(words, hint) {words, hint},
#include "advice.def"
    };
    return by_opening(rows, TSR_COUNTOF(rows), line, length);
}
