/* Reads a line of code from its beginning and notes at the cursor which quote is open and which call or index
 * surrounds it. */
#include "cursor.h"

#include <ctype.h>
#include <string.h>

enum { MAX_OPEN = 64 };

static bool is_path(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

Cursor cursor_find(const char *line, size_t point) {
    size_t open[MAX_OPEN];
    int depth = 0;
    Cursor p = {0};
    for (size_t i = 0; i < point && line[i] != '\0'; i++) {
        char c = line[i];
        if (p.quote != '\0') {
            if (c == '\\' && i + 1 < point) i++;
            else if (c == p.quote) p.quote = '\0';
        } else if (c == '"' || c == '\'') {
            p.quote = c;
            p.quote_at = i;
        } else if (strchr("([{", c) != NULL) {
            if (depth < MAX_OPEN) open[depth] = i;
            depth++;
        } else if (strchr(")]}", c) != NULL && depth > 0) {
            depth--;
        }
    }
    if (depth == 0 || depth > MAX_OPEN) return p;
    p.bracket_at = p.path_at = open[depth - 1];
    p.bracket = line[p.bracket_at];
    while (p.path_at > 0 && is_path(line[p.path_at - 1])) p.path_at--;
    return p;
}
