/* Sorting the arguments of a call into the parameters of a native function: first the positional ones, then the
 * keywords, then what is missing. Each mistake has CPython's text. */
#include "args.h"

#include "hint.h"
#include "lang/types/str.h"

#include <string.h>

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

TsrStatus args_only_keywords(const CallArgs *args, const char *function, const char *const *names, int n) {
    for (int i = 0; i < args->keyword_count; i++) {
        int k = 0;
        while (k < n && !str_equal_c(args->names[i], names[k])) k++;
        if (k == n)
            return tsr_error(TSR_TYPE_ERROR, "%s() got an unexpected keyword argument '%s'", function,
                             args->names[i]->data);
    }
    return TSR_OK;
}

TsrStatus args_no_keywords(const CallArgs *args, const char *function) {
    if (args->keyword_count == 0) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "%s() takes no keyword arguments", function);
}

TsrStatus args_count(const CallArgs *args, int skip, int min, int max, const char *function) {
    int given = args->count - skip;
    if (given < min) {
        return tsr_error(TSR_TYPE_ERROR, "%s expected %s%d argument%s, got %d", function, min == max ? "" : "at least ",
                         min, plural(min), given);
    }
    if (max >= 0 && given > max) {
        return tsr_error(TSR_TYPE_ERROR, "%s expected %s%d argument%s, got %d", function, min == max ? "" : "at most ",
                         max, plural(max), given);
    }
    return TSR_OK;
}

Value args_keyword(const CallArgs *args, const char *name) {
    for (int i = 0; i < args->keyword_count; i++) {
        if (str_equal_c(args->names[i], name)) return args->values[args->count + i];
    }
    return VALUE_UNBOUND;
}

static TsrStatus too_many(const ArgSpec *spec, int given, int keywords) {
    if (given + keywords > spec->total) {
        return tsr_error(TSR_TYPE_ERROR, "%s() takes %s %d %sargument%s (%d given)", spec->function,
                         spec->required == spec->total && spec->positional_only == spec->total ? "exactly" : "at most",
                         spec->total, given == 0 ? "keyword " : "", plural(spec->total), given + keywords);
    }
    if (spec->max_positional == 0)
        return tsr_error(TSR_TYPE_ERROR, "%s() takes no positional arguments", spec->function);
    return tsr_error(TSR_TYPE_ERROR, "%s() takes %s %d positional argument%s (%d given)", spec->function,
                     spec->required < spec->max_positional ? "at most" : "exactly", spec->max_positional,
                     plural(spec->max_positional), given);
}

/* The parameter of that name, or -1. */
static int find_parameter(const ArgSpec *spec, const Str *name) {
    for (int i = spec->positional_only; i < spec->total; i++) {
        if (str_equal_c(name, spec->names[i])) return i;
    }
    return -1;
}

static TsrStatus check_keyword(const ArgSpec *spec, const Str *name, int given) {
    int i = find_parameter(spec, name);
    if (i < 0)
        return tsr_error(TSR_TYPE_ERROR, "'%s' is an invalid keyword argument for %s()", name->data, spec->function);
    if (i >= given) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "argument for %s() given by name ('%s') and position (%d)", spec->function,
                     name->data, i + 1);
}

TsrStatus args_parse(Value *lent, const CallArgs *args, int skip, const ArgSpec *spec) {
    int given = args->count - skip;
    if (given > spec->max_positional || given + args->keyword_count > spec->total)
        return too_many(spec, given, args->keyword_count);
    for (int i = 0; i < spec->total; i++) lent[i] = i < given ? args->values[skip + i] : VALUE_UNBOUND;
    if (given < spec->positional_only && given < spec->required) {
        int least = TSR_MIN(spec->positional_only, spec->required);
        return tsr_error(TSR_TYPE_ERROR, "%s() takes %s %d positional argument%s (%d given)", spec->function,
                         least < spec->max_positional ? "at least" : "exactly", least, plural(least), given);
    }
    for (int i = 0; i < args->keyword_count; i++) {
        int at = find_parameter(spec, args->names[i]);
        if (at >= given) lent[at] = args->values[args->count + i];
    }
    for (int i = 0; i < spec->required; i++) { /* before what is wrong with the keywords, as CPython */
        if (lent[i].tag == V_UNBOUND)
            return tsr_error(TSR_TYPE_ERROR, "%s() missing required argument '%s' (pos %d)", spec->function,
                             spec->names[i], i + 1);
    }
    for (int i = 0; i < args->keyword_count; i++) TSR_TRY(check_keyword(spec, args->names[i], given));
    return TSR_OK;
}

/* ---- functions that are written in Python there ---- */

static TsrStatus missing_arguments(const char *function, const char *const *names, int count) {
    TsrText text = {0};
    TsrStatus s = TSR_OK;
    for (int i = 0; i < count && s == TSR_OK; i++) {
        const char *between = i == 0 ? "" : i + 1 < count ? ", " : count == 2 ? " and " : ", and ";
        s = tsr_text_printf(&text, "%s'%s'", between, names[i]);
    }
    if (s == TSR_OK)
        s = tsr_error(TSR_TYPE_ERROR, "%s() missing %d required positional argument%s: %s", function, count,
                      count == 1 ? "" : "s", text.data);
    tsr_text_free(&text);
    return s;
}

TsrStatus args_too_many(const char *function, int least, int most, int given) {
    if (least != most)
        return tsr_error(TSR_TYPE_ERROR, "%s() takes from %d to %d positional arguments but %d were given", function,
                         least, most, given);
    return tsr_error(TSR_TYPE_ERROR, "%s() takes %d positional argument%s but %d %s given", function, most,
                     most == 1 ? "" : "s", given, given == 1 ? "was" : "were");
}

static TsrStatus unexpected_keyword(const ArgSpec *spec, const char *keyword) {
    HintSearch search = hint_begin(keyword);
    for (int i = 0; i < spec->total; i++) hint_consider(&search, spec->names[i]);
    return hint_unexpected_keyword(spec->function, &search);
}

TsrStatus args_parse_python(Value *lent, const CallArgs *args, const ArgSpec *spec) {
    const char *absent[32];
    int nabsent = 0;
    for (int i = 0; i < spec->total; i++)
        lent[i] = i < args->count && i < spec->max_positional ? args->values[i] : VALUE_UNBOUND;
    for (int k = 0; k < args->keyword_count; k++) {
        int at = 0;
        while (at < spec->total && !str_equal_c(args->names[k], spec->names[at])) at++;
        if (at == spec->total) return unexpected_keyword(spec, args->names[k]->data);
        if (lent[at].tag != V_UNBOUND)
            return tsr_error(TSR_TYPE_ERROR, "%s() got multiple values for argument '%s'", spec->function,
                             spec->names[at]);
        lent[at] = args->values[args->count + k];
    }
    if (args->count > spec->max_positional)
        return args_too_many(spec->function, spec->required, spec->max_positional, args->count);
    for (int i = 0; i < spec->required && nabsent < 32; i++)
        if (lent[i].tag == V_UNBOUND) absent[nabsent++] = spec->names[i];
    return nabsent > 0 ? missing_arguments(spec->function, absent, nabsent) : TSR_OK;
}
