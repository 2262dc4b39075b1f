/* args.h: the arguments of native functions, checked and sorted with CPython's messages. */
#ifndef LANG_OBJECT_ARGS_H
#define LANG_OBJECT_ARGS_H

#include "value.h"

/* What a native function takes. names[0..total) in order, the first `positional_only` of which can't be given by
 * name, the first `max_positional` can be given by position, the first `required` must be there. */
typedef struct ArgSpec {
    const char *function; /* "sorted" */
    const char *const *names;
    int total, positional_only, max_positional, required;
} ArgSpec;

/* lent[0..total) get the values; V_UNBOUND where absent. `skip` leading values (self) are not counted. */
TsrStatus args_parse(Value *lent, const CallArgs *args, int skip, const ArgSpec *spec);

/* The same for what is a function in Python there: CPython has other words for those. `positional_only` is not looked
 * at. */
TsrStatus args_parse_python(Value *lent, const CallArgs *args, const ArgSpec *spec);

/* "f() takes 1 positional argument but 2 were given", in the words for those; always fails. */
TsrStatus args_too_many(const char *function, int least, int most, int given);

/* "f() takes no keyword arguments" unless there are none. */
TsrStatus args_no_keywords(const CallArgs *args, const char *function);
/* "f() got an unexpected keyword argument 'x'" for one that is none of `n` names. */
TsrStatus args_only_keywords(const CallArgs *args, const char *function, const char *const *names, int n);
/* min to max positional arguments after `skip`: "f expected at least 1 argument, got 0". max -1: no limit. */
TsrStatus args_count(const CallArgs *args, int skip, int min, int max, const char *function);
/* The keyword's value, lent, or V_UNBOUND. */
Value args_keyword(const CallArgs *args, const char *name);

static inline Value arg_at(const CallArgs *args, int i) { return i < args->count ? args->values[i] : VALUE_UNBOUND; }

#endif
