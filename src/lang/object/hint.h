/* hint.h: "did you mean": the nearest of some names. */
#ifndef LANG_OBJECT_HINT_H
#define LANG_OBJECT_HINT_H

#include "value.h"

/* Feed candidates to one of these; best is NULL while nothing is near enough. Names must outlive it. */
typedef struct HintSearch {
    const char *wanted;
    const char *best;
    int best_distance;
} HintSearch;

HintSearch hint_begin(const char *wanted);                     /* `wanted` is lent for as long as the search lasts */
void hint_consider(HintSearch *search, const char *candidate); /* a name that is there, static or lent as long */
/* TypeError for a keyword argument, search->wanted, that a function does not have; the names it has were considered. */
TsrStatus hint_unexpected_keyword(const char *function, const HintSearch *search);
/* KeyError for a column of which the list `names` has none of the name; the hint has the nearest one, or the first ten.
 */
TsrStatus hint_no_column(Value name, Value names);
/* Sets "did you mean 'x'?" as the last error's hint when an attribute of v is near to name. Keeps the error. */
void hint_attribute(Value v, const char *name);

/* The hint for a bare `name`, or one behind "torch.", that a module has and the surroundings have not: "did you mean
 * F.cross_entropy?"; into `buffer`, which it returns, or NULL. Drops the error there is. */
const char *hint_home(char *buffer, size_t size, const char *name);

#endif
