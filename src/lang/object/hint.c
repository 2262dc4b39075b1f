/* The nearest name to one that was not found, for "Did you mean". Candidates are compared by edit distance, and one
 * that is too far for its length is ignored; of two as near the one that begins alike for longer is taken. Where no
 * attribute is near, the modules are searched for one of that name. */
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
            int change = a[i - 1] == b[j - 1]                                                   ? 0
                         : tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]) ? 1
                                                                                                : 2;
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

static size_t common_start(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] != '\0' && a[n] == b[n]) n++;
    return n;
}

void hint_consider(HintSearch *search, const char *candidate) {
    if (candidate[0] == '_' && search->wanted[0] != '_') return;
    if (strcmp(candidate, search->wanted) == 0) return;
    int distance = edit_distance(search->wanted, candidate, search->best_distance);
    bool alike_longer =
        search->best != NULL && common_start(candidate, search->wanted) > common_start(search->best, search->wanted);
    if (distance > search->best_distance || (distance == search->best_distance && !alike_longer)) return;
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
    static const struct {
        const char *module, *hint;
    } homes[] = {
        {"torch.nn.functional", "did you mean F.%s?"},
        {"torch.linalg", "did you mean torch.linalg.%s?"},
        {"torch.fft", "did you mean torch.fft.%s?"},
        {"torch.special", "did you mean torch.special.%s?"},
        {"math", "did you mean math.%s?"},
        {"functools", "import functools first: functools.%s"},
        {"itertools", "import itertools first: itertools.%s"},
        {"collections", "import collections first: collections.%s"},
        {"random", "import random first: random.%s"},
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
    for (int64_t i = 0; status == TSR_OK && i < value_as_list(list)->count; i++)
        hint_consider(&search, value_as_str(value_as_list(list)->items[i])->data);
    if (status != TSR_OK) exc_discard(status);
    char home[128];
    bool torch = value_is_obj(v, &module_type) && str_equal_c(value_as_module(v)->name, "torch") &&
                 hint_home(home, sizeof home, name) != NULL;
    tsr_error(kind, "%s", message.data != NULL ? message.data : "");
    if (torch) tsr_error_hint("%s", home);
    else if (search.best != NULL) tsr_error_hint("did you mean '%s'?", search.best);
    value_release(list);
    tsr_text_free(&message);
}

/* The nearest of them, else the first ones. */
static TsrStatus hint_columns(TsrText *out, const char *wanted, const List *names) {
    enum { SHOWN = 10 };
    HintSearch search = hint_begin(wanted);
    for (int64_t i = 0; i < names->count; i++) hint_consider(&search, value_as_str(names->items[i])->data);
    if (search.best != NULL) return tsr_text_printf(out, "did you mean '%s'?", search.best);
    for (int64_t i = 0; i < TSR_MIN(names->count, SHOWN + 1); i++)
        TSR_TRY(tsr_text_printf(out, "%s%s", i == 0 ? "the columns are " : ", ",
                                i < SHOWN ? value_as_str(names->items[i])->data : "..."));
    return TSR_OK;
}

TsrStatus hint_no_column(Value name, Value names) {
    Value e;
    TsrText hint = {0};
    TSR_TRY(exc_new(&e, TSR_KEY_ERROR, 1, &name));
    if (hint_columns(&hint, value_as_str(name)->data, value_as_list(names)) == TSR_OK)
        value_exc(e)->hint = tsr_text_move(&hint);
    tsr_text_free(&hint);
    return exc_raise_move(e);
}

TsrStatus hint_unexpected_keyword(const char *function, const HintSearch *search) {
    tsr_error(TSR_TYPE_ERROR, "%s() got an unexpected keyword argument '%s'", function, search->wanted);
    if (search->best != NULL) tsr_error_hint("did you mean %s=?", search->best);
    return TSR_TYPE_ERROR;
}
