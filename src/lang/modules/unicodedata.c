/* unicodedata.c: Python's unicodedata, as far as utf8proc knows: kinds of characters, and forms of text. */
#include "modules.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "lang/object/args.h"
#include "lang/types/str.h"

/* The only character of an argument. */
static TsrStatus character(utf8proc_int32_t *out, Value v, const char *function) {
    const Str *s = value_is_str(v) ? value_as_str(v) : NULL;
    if (s == NULL || s->length != 1)
        return tsr_error(TSR_TYPE_ERROR, "%s() argument must be a unicode character, not %s", function,
                         value_type_name(v));
    utf8proc_iterate((const utf8proc_uint8_t *)s->data, s->size, out);
    return TSR_OK;
}

static TsrStatus category(Value *out, const CallArgs *args) {
    utf8proc_int32_t c;
    TSR_TRY(character(&c, args->values[0], "category"));
    return str_new_c(out, utf8proc_category_string(c));
}

static TsrStatus combining(Value *out, const CallArgs *args) {
    utf8proc_int32_t c;
    TSR_TRY(character(&c, args->values[0], "combining"));
    *out = value_int(utf8proc_get_property(c)->combining_class);
    return TSR_OK;
}

static TsrStatus normalize(Value *out, const CallArgs *args) {
    static const struct {
        const char *name;
        int options;
    } forms[] = {{"NFC", UTF8PROC_COMPOSE},
                 {"NFD", UTF8PROC_DECOMPOSE},
                 {"NFKC", UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
                 {"NFKD", UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT}};
    const char *form;
    size_t k = 0;
    TSR_TRY(value_to_cstring(&form, args->values[0], "normalize() argument 1"));
    if (!value_is_str(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "normalize() argument 2 must be str, not %s",
                         value_type_name(args->values[1]));
    while (k < TSR_COUNTOF(forms) && strcmp(forms[k].name, form) != 0) k++;
    if (k == TSR_COUNTOF(forms)) return tsr_error(TSR_VALUE_ERROR, "invalid normalization form");
    const Str *s = value_as_str(args->values[1]);
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)s->data, s->size, &made,
                                      (utf8proc_option_t)(forms[k].options | UTF8PROC_STABLE));
    if (n == UTF8PROC_ERROR_NOMEM) return mem_error();
    if (n < 0) { /* a surrogate stays as it is, and so does all */
        *out = value_retain(args->values[1]);
        return TSR_OK;
    }
    TsrStatus status = str_new(out, (const char *)made, n);
    free(made);
    return status;
}

static const Method functions[] = {
    {"category", category, ARGS_ONE, 1, 1, "(chr, /)", "The kind of a character: 'Lu' of a capital letter."},
    {"combining", combining, ARGS_ONE, 1, 1, "(chr, /)", "Where a mark stands that combines with a letter; else 0."},
    {"normalize", normalize, ARGS_RANGE, 2, 2, "(form, unistr, /)", "The text in the form NFC, NFD, NFKC or NFKD."},
    {0},
};

const NsModule ns_unicodedata = {"unicodedata", "Kinds of characters.", functions, NULL, NULL};
