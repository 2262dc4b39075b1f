/* parse_dump: reads programs from standard input, each "LENGTH\n" and its bytes, and answers each with "LENGTH\n"
 * and either its tree or "error: Type: message". Modes: -s takes each program statement by statement. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/syntax/parser.h"
#include "lang/syntax/ast_dump.h"

static void answer(const char *text) {
    printf("%zu\n%s", strlen(text), text);
    fflush(stdout);
}

static void answer_error(SourceRange at) {
    char text[2000];
    snprintf(text, sizeof text, "error: %s: %s @%d:%d-%d:%d", tsr_status_name(tsr_error_kind()), tsr_error_message(),
             at.line, at.col, at.end_line, at.end_col);
    answer(text);
}

static TsrStatus one(const char *text, size_t length, bool positions, SourceRange *at) {
    Source *source = NULL;
    Ast *ast = NULL;
    char *dump = NULL;
    TSR_TRY(source_new(&source, "x", text, length, 1, NULL));
    TsrStatus status = parser_new_module(&ast, source, at);
    source_free(source);
    if (status == TSR_OK) status = ast_dump_new(&dump, ast, positions);
    if (status == TSR_OK) answer(dump);
    free(dump);
    ast_free(ast);
    return status;
}

int main(int argc, char **argv) {
    size_t length;
    bool positions = argc > 1 && strcmp(argv[1], "-p") == 0;
    while (scanf("%zu", &length) == 1 && getchar() == '\n') {
        char *text = malloc(length + 1);
        SourceRange at = {0};
        if (text == NULL || fread(text, 1, length, stdin) != length) return 1;
        text[length] = '\0';
        if (one(text, length, positions, &at) != TSR_OK) answer_error(at);
        free(text);
    }
    tsr_error_clear();
    return 0;
}
