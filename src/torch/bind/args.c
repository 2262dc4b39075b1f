/* The TypeError for a call that fits no overload. It lists what was given, then each signature; of a single signature
 * it marks the arguments that do not match, as PyTorch's parser does. */
#include "args.h"

#include <stdio.h>
#include <string.h>

#include "lang/object/hint.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* One parameter of a printed option, as PyTorch's error formatter reads it back from the text. */
typedef struct OptionPart {
    const char *type;
    size_t type_length;
    const char *name;
    size_t name_length;
} OptionPart;

/* Splits "(Tensor input, *, int dim = 0)" at ", "; parts past `room` are counted only. */
static int split_option(const char *option, OptionPart *parts, int room) {
    int n = 0;
    const char *p = option + 1, *end = option + strlen(option) - 1;
    for (;;) {
        const char *stop = strstr(p, ", ");
        if (stop == NULL || stop > end) stop = end;
        const char *space = stop;
        while (space > p && *space != ' ') space--;
        if (n < room) {
            bool has_space = *space == ' ' && space > p;
            parts[n] = (OptionPart){p, has_space ? (size_t)(space - p) : (size_t)(stop - p), has_space ? space + 1 : p,
                                    (size_t)(stop - (has_space ? space + 1 : p))};
        }
        n++;
        if (stop == end) return n;
        p = stop + 2;
    }
}

static bool part_matches(const OptionPart *part, Value v) {
    const char *type = value_type_name(v);
    if (part->type_length == 5 && strncmp(part->type, "float", 5) == 0)
        return strcmp(type, "float") == 0 || strcmp(type, "int") == 0;
    return strlen(type) == part->type_length && strncmp(type, part->type, part->type_length) == 0;
}

static bool name_is(const OptionPart *part, const Str *name) {
    return part->name_length == (size_t)name->size && memcmp(part->name, name->data, part->name_length) == 0;
}

/* "list of [int, str]" for sequences, else the type's name. */
static TsrStatus describe_value(TsrText *text, Value v) {
    const Value *items;
    int64_t n;
    if (!value_as_array(v, &items, &n)) return tsr_text_puts(text, value_type_name(v));
    bool tuple = value_is_tuple(v);
    TSR_TRY(tsr_text_printf(text, "%s of %c", value_type_name(v), tuple ? '(' : '['));
    for (int64_t i = 0; i < n; i++)
        TSR_TRY(tsr_text_printf(text, "%s%s", i > 0 ? ", " : "", value_type_name(items[i])));
    return tsr_text_puts(text, tuple ? (n == 1 ? ",)" : ")") : "]");
}

/* "(Tensor, !str!)": which of the arguments have the type of their place. */
static TsrStatus mark_mismatches(TsrText *text, const OptionPart *parts, int nparts, const CallArgs *args, int skip) {
    int positional = args->count - skip, total = positional + args->keyword_count;
    TSR_TRY(tsr_text_putc(text, '('));
    for (int i = 0; i < total; i++) {
        const OptionPart *part = i < nparts ? &parts[i] : NULL;
        Value v = VALUE_UNBOUND;
        if (i < positional) v = args->values[skip + i];
        for (int k = 0; i >= positional && part != NULL && k < args->keyword_count; k++)
            if (name_is(part, args->names[k])) v = args->values[args->count + k];
        if (v.tag == V_UNBOUND) continue;
        const char *mark = part != NULL && part_matches(part, v) ? "" : "!";
        TSR_TRY(tsr_text_puts(text, mark));
        if (i >= positional) TSR_TRY(tsr_text_printf(text, "%.*s=", (int)part->name_length, part->name));
        TSR_TRY(describe_value(text, v));
        TSR_TRY(tsr_text_puts(text, mark));
        if (i < total - 1 || positional == 0) TSR_TRY(tsr_text_puts(text, ", "));
    }
    return tsr_text_putc(text, ')');
}

/* "(Tensor, dim=str)"; with keywords alone a comma is left over, as PyTorch leaves it. */
static TsrStatus describe_arguments(TsrText *text, const CallArgs *args, int skip) {
    int positional = args->count - skip, total = positional + args->keyword_count, done = 0;
    TSR_TRY(tsr_text_putc(text, '('));
    for (int i = skip; i < args->count; i++)
        TSR_TRY(tsr_text_printf(text, "%s%s", value_type_name(args->values[i]), ++done < total ? ", " : ""));
    for (int k = args->keyword_count - 1; k >= 0; k--) { /* a hash map there lists them backwards */
        bool comma = ++done < total || positional == 0;
        TSR_TRY(tsr_text_printf(text, "%s=%s%s", args->names[k]->data, value_type_name(args->values[args->count + k]),
                                comma ? ", " : ""));
    }
    return tsr_text_putc(text, ')');
}

/* Keywords that none of the option's last parameters has; appends them, false when all are known. */
static TsrStatus unknown_keywords(TsrText *text, bool *any, const OptionPart *parts, int nparts, const CallArgs *args,
                                  const char *lead) {
    int start = nparts - args->keyword_count;
    *any = false;
    for (int k = args->keyword_count - 1; k >= 0; k--) {
        bool found = false;
        for (int i = TSR_MAX(start, 0); i < nparts; i++) found |= name_is(&parts[i], args->names[k]);
        if (found) continue;
        TSR_TRY(tsr_text_printf(text, "%s%s", *any ? ", " : lead, args->names[k]->data));
        *any = true;
    }
    return TSR_OK;
}

enum { MAX_PARTS = 44 }; /* parameters of one option that are looked at: more than any has */

static TsrStatus explain_one(TsrText *text, const char *option, const CallArgs *args, int skip) {
    OptionPart parts[MAX_PARTS];
    int n = split_option(option, parts, MAX_PARTS), given = args->count - skip + args->keyword_count;
    bool unknown = false;
    if (args->keyword_count > 0)
        TSR_TRY(unknown_keywords(text, &unknown, parts, TSR_MIN(n, MAX_PARTS), args,
                                 "got unrecognized keyword arguments: "));
    if (unknown) return TSR_OK;
    TSR_TRY(tsr_text_puts(text, "got "));
    TSR_TRY(given == n ? mark_mismatches(text, parts, n, args, skip) : describe_arguments(text, args, skip));
    return tsr_text_printf(text, ", but expected %s", option);
}

static TsrStatus explain_many(TsrText *text, const CallArgs *args, int skip, int count, const char *const *options) {
    TSR_TRY(tsr_text_puts(text, "got "));
    TSR_TRY(describe_arguments(text, args, skip));
    TSR_TRY(tsr_text_puts(text, ", but expected one of:\n"));
    for (int i = 0; i < count; i++) {
        OptionPart parts[MAX_PARTS];
        int n = split_option(options[i], parts, MAX_PARTS);
        TSR_TRY(tsr_text_printf(text, " * %s\n", options[i]));
        if (args->count - skip + args->keyword_count != n) continue;
        bool unknown = false;
        if (args->keyword_count > 0)
            TSR_TRY(unknown_keywords(text, &unknown, parts, TSR_MIN(n, MAX_PARTS), args,
                                     "      didn't match because some of the keywords were incorrect: "));
        if (!unknown) {
            TSR_TRY(tsr_text_puts(text, "      didn't match because some of the arguments have invalid types: "));
            TSR_TRY(mark_mismatches(text, parts, TSR_MIN(n, MAX_PARTS), args, skip));
        }
        TSR_TRY(tsr_text_putc(text, '\n'));
    }
    return TSR_OK;
}

/* The parameter that the first keyword which none of the options has was meant for. */
static void hint_keyword(const CallArgs *args, int count, const char *const *options) {
    for (int k = 0; k < args->keyword_count; k++) {
        char names[MAX_PARTS][48];
        bool known = false;
        HintSearch search = hint_begin(args->names[k]->data);
        for (int i = 0; i < count; i++) {
            OptionPart parts[MAX_PARTS];
            int n = TSR_MIN(split_option(options[i], parts, MAX_PARTS), MAX_PARTS);
            for (int j = 0; j < n; j++) {
                snprintf(names[j], sizeof names[j], "%.*s", (int)parts[j].name_length, parts[j].name);
                known = known || str_equal_c(args->names[k], names[j]);
                hint_consider(&search, names[j]);
            }
            if (search.best != NULL && !known)
                tsr_error_hint("did you mean %s=?", search.best); /* before names is filled anew */
        }
        if (!known) return;
    }
}

TsrStatus args_fit_none(const char *function, const CallArgs *args, int skip, int count, const char *const *options) {
    TsrText text = {0};
    TsrStatus s = tsr_text_printf(&text, "%s() received an invalid combination of arguments - ", function);
    if (s == TSR_OK)
        s = count == 1 ? explain_one(&text, options[0], args, skip) : explain_many(&text, args, skip, count, options);
    if (s == TSR_OK) {
        s = tsr_error(TSR_TYPE_ERROR, "%s", text.data);
        hint_keyword(args, count, options);
    }
    tsr_text_free(&text);
    return s;
}
