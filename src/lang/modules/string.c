/* string.c: the constants of Python's string. */
#include "modules.h"

#include "lang/types/str.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define PUNCTUATION "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
#define WHITESPACE " \t\n\r\v\f"

static TsrStatus fill(Module *module) {
    static const char *const constants[][2] = {
        {"ascii_lowercase", LOWER},
        {"ascii_uppercase", UPPER},
        {"ascii_letters", LOWER UPPER},
        {"digits", DIGITS},
        {"hexdigits", DIGITS "abcdefABCDEF"},
        {"octdigits", "01234567"},
        {"punctuation", PUNCTUATION},
        {"whitespace", WHITESPACE},
        {"printable", DIGITS LOWER UPPER PUNCTUATION WHITESPACE},
    };
    for (size_t i = 0; i < TSR_COUNTOF(constants); i++)
        TSR_TRY(module_add_text(module, constants[i][0], constants[i][1]));
    return TSR_OK;
}

const NsModule ns_string = {"string", "Groups of characters.", NULL, fill, NULL};
