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

HintSearch hint_begin(const char *wanted); /* `wanted` is lent for as long as the search lasts */
void hint_consider(HintSearch *search, const char *candidate);
/* TypeError for a keyword argument, search->wanted, that a function does not have; the names it has were considered. */
TsrStatus hint_unexpected_keyword(const char *function, const HintSearch *search);
/* What advice.def has to say about the last line of a report; NULL: nothing. */
const char *hint_advice(const char *line);
/* The same where it depends on what the carets mark: `length` bytes of code. */
const char *hint_marked(const char *code, size_t length, const char *line);
/* And about a line of a program, `length` bytes, that is no valid syntax, by its first words; NULL: nothing. */
const char *hint_first_words(const char *line, size_t length);
/* How the statement that such a line seems to be is written, where nothing else is known. */
const char *hint_statement(const char *line, size_t length);
/* And by the operator at its byte `place`, where the syntax is no longer valid. */
const char *hint_at_place(const char *line, size_t length, size_t place);
/* Sets "did you mean 'x'?" as the last error's hint when an attribute of v is near to name. Keeps the error. */
void hint_attribute(Value v, const char *name);

/* The hint for a bare `name`, or one behind "torch.", that a module has and the surroundings have not: "did you mean F.cross_entropy?"; into `buffer`,
 * which it returns, or NULL. Drops the error there is. */
const char *hint_home(char *buffer, size_t size, const char *name);

#endif
