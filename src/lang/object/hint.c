#include "hint.h"

#include "lang/types/dict.h"
#include "exc.h"
#include "native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 40 };

/* Cut off at `limit` + 1; names of more than MAX_NAME characters are that far from everything. */
static int edit_distance(const char *a, const char *b, int limit) {
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_NAME || m > MAX_NAME) return limit + 1;
    int rows[3][MAX_NAME + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) above[j] = (int)j * 2;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (int)i * 2;
        for (size_t j = 1; j <= m; j++) {
            int change = a[i - 1] == b[j - 1] ? 0 : tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]) ? 1 : 2;
            int best = TSR_MIN(TSR_MIN(above[j] + 2, row[j - 1] + 2), above[j - 1] + change);
            bool swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && change != 0;
            row[j] = swap ? TSR_MIN(best, before[j - 2] + 2) : best;
        }
        int *next = before;
        before = above;
        above = row;
        row = next;
    }
    return TSR_MIN(above[m], limit + 1);
}

HintSearch hint_begin(const char *wanted) {
    /* half points: a third of the letters may differ, at least one; of a name of one letter only its case */
    int limit = wanted[0] != '\0' && wanted[1] == '\0' ? 1 : TSR_MAX(2, (int)(2 * strlen(wanted) / 3));
    return (HintSearch){wanted, NULL, TSR_MIN(limit, 6) + 1};
}

void hint_consider(HintSearch *search, const char *candidate) {
    if (candidate[0] == '_' && search->wanted[0] != '_') return;
    if (strcmp(candidate, search->wanted) == 0) return;
    int distance = edit_distance(search->wanted, candidate, search->best_distance);
    bool nearer_start = search->best != NULL && candidate[0] == search->wanted[0] && search->best[0] != search->wanted[0];
    if (distance > search->best_distance || (distance == search->best_distance && !nearer_start)) return;
    search->best = candidate;
    search->best_distance = distance;
}

static bool module_has(const char *module, Str *name) {
    Value m, v = VALUE_UNBOUND;
    TsrStatus status = module_import(&m, module);
    if (status == TSR_OK) {
        status = value_lookup_attr(&v, m, name);
        value_release(m);
    }
    if (status != TSR_OK) exc_discard(status);
    bool has = v.tag != V_UNBOUND;
    value_release(v);
    return has;
}

const char *hint_home(char *buffer, size_t size, const char *name) {
    static const struct { const char *module, *hint; } homes[] = {
        {"torch.nn.functional", "did you mean F.%s?"}, {"torch.linalg", "did you mean torch.linalg.%s?"}, {"torch.fft", "did you mean torch.fft.%s?"},
        {"torch.special", "did you mean torch.special.%s?"}, {"math", "did you mean math.%s?"}, {"functools", "import functools first: functools.%s"},
        {"itertools", "import itertools first: itertools.%s"}, {"collections", "import collections first: collections.%s"}, {"random", "import random first: random.%s"},
    };
    Str *wanted = name[0] != '_' ? str_intern_c(name) : NULL;
    for (size_t i = 0; wanted != NULL && i < TSR_COUNTOF(homes); i++) {
        if (!module_has(homes[i].module, wanted)) continue;
        snprintf(buffer, size, homes[i].hint, name);
        return buffer;
    }
    return NULL;
}

void hint_attribute(Value v, const char *name) {
    TsrText message = {0};
    TsrStatus kind = tsr_error_kind();
    Value list = VALUE_UNBOUND;
    if (tsr_text_puts(&message, tsr_error_message()) != TSR_OK) return;
    TsrStatus status = value_dir(&list, v);
    HintSearch search = hint_begin(name);
    for (int64_t i = 0; status == TSR_OK && i < value_as_list(list)->count; i++) hint_consider(&search, value_as_str(value_as_list(list)->items[i])->data);
    if (status != TSR_OK) exc_discard(status);
    char home[128];
    bool torch = value_is_obj(v, &module_type) && str_equal_c(value_as_module(v)->name, "torch") && hint_home(home, sizeof home, name) != NULL;
    tsr_error(kind, "%s", message.data != NULL ? message.data : "");
    if (torch) tsr_error_hint("%s", home);
    else if (search.best != NULL) tsr_error_hint("did you mean '%s'?", search.best);
    value_release(list);
    tsr_text_free(&message);
}

TsrStatus hint_unexpected_keyword(const char *function, const HintSearch *search) {
    tsr_error(TSR_TYPE_ERROR, "%s() got an unexpected keyword argument '%s'", function, search->wanted);
    if (search->best != NULL) tsr_error_hint("did you mean %s=?", search->best);
    return TSR_TYPE_ERROR;
}

static bool begins_with(const char *code, size_t length, const char *words) {
    size_t n = strlen(words);
    return length >= n && memcmp(code, words, n) == 0;
}

static bool is_marked(const char *code, size_t length, const char *words) {
    size_t n = strlen(words);
    return words[0] == '.' ? length > n && begins_with(code + length - n, n, words) : begins_with(code, length, words);
}

const char *hint_marked(const char *code, size_t length, const char *line) {
    static const struct { const char *code, *fits, *hint; } rows[] = {
#define MARKED(code, fits, hint) {code, fits, hint},
#include "repl/advice.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (strstr(line, rows[i].fits) != NULL && is_marked(code, length, rows[i].code)) return rows[i].hint;
    return NULL;
}

/* An operator that is none may be noticed at any of its characters, or behind it. */
const char *hint_at_place(const char *line, size_t length, size_t place) {
    static const struct { const char *words, *hint; } rows[] = {
#define AT_PLACE(words, hint) {words, hint},
#include "repl/advice.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        for (size_t back = 0; back <= strlen(rows[i].words) && back <= place; back++)
            if (place <= length && begins_with(line + place - back, length - place + back, rows[i].words)) return rows[i].hint;
    return NULL;
}

const char *hint_advice(const char *line) {
    static const struct { const char *fits, *hint; } rows[] = {
#define ADVICE(fits, hint) {fits, hint},
#include "repl/advice.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (strstr(line, rows[i].fits) != NULL) return rows[i].hint;
    return NULL;
}

typedef struct Opening { const char *words, *hint; } Opening;

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

const char *hint_first_words(const char *line, size_t length) {
    static const Opening rows[] = {
#define FIRST_WORDS(words, hint) {words, hint},
#include "repl/advice.def"
    };
    return by_opening(rows, TSR_COUNTOF(rows), line, length);
}

const char *hint_statement(const char *line, size_t length) {
    static const Opening rows[] = {
#define STATEMENT(words, hint) {words, hint},
#include "repl/advice.def"
    };
    return by_opening(rows, TSR_COUNTOF(rows), line, length);
}
