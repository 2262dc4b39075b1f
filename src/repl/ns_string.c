/* ns_string.c: the constants of Python's string. */
#include "ns.h"

#include "str_obj.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define PUNCTUATION "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
#define WHITESPACE " \t\n\r\v\f"

TsrStatus ns_string_new(Value *out) {
    static const char *const constants[][2] = {
        {"ascii_lowercase", LOWER}, {"ascii_uppercase", UPPER}, {"ascii_letters", LOWER UPPER}, {"digits", DIGITS}, {"hexdigits", DIGITS "abcdefABCDEF"},
        {"octdigits", "01234567"}, {"punctuation", PUNCTUATION}, {"whitespace", WHITESPACE}, {"printable", DIGITS LOWER UPPER PUNCTUATION WHITESPACE},
    };
    Value made, text;
    TSR_TRY(module_new(&made, "string", "Groups of characters."));
    TsrStatus status = TSR_OK;
    for (size_t i = 0; i < TSR_COUNTOF(constants) && status == TSR_OK; i++) {
        status = str_new_c(&text, constants[i][1]);
        if (status == TSR_OK) status = module_add_move(value_as_module(made), constants[i][0], text);
    }
    return value_end_move(out, status, made);
}
