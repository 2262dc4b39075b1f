/* fuzz_parser: any bytes through the lexer, the parser and the compiler. */
#include <stddef.h>
#include <stdint.h>

#include "lang/syntax/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Source *source = NULL;
    Ast *ast = NULL;
    SourceRange where;
    size_t offset = 0, length;
    if (source_new(&source, "fuzz", (const char *)data, size, 1, NULL) != TSR_OK) return 0;
    if (parser_new_module(&ast, source, &where) == TSR_OK) ast_free(ast);
    source_text(source, &length);
    for (size_t before = 0; offset < length; before = offset) {
        if (parser_new_statement(&ast, source, &offset, &where) == TSR_OK) ast_free(ast);
        if (offset <= before && offset < length) __builtin_trap(); /* it must get on */
    }
    parser_need((const char *)data, size);
    source_free(source);
    tsr_error_clear();
    return 0;
}
