#include "program.h"

#include <string.h>

#include "lang/object/gc.h"
#include "lang/syntax/parser.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

TsrStatus program_run(Value *result, const char *text) {
    Source *source;
    Ast *ast;
    SourceRange where;
    TSR_TRY(source_new(&source, "<test>", text, strlen(text), 1, NULL));
    TsrStatus status = parser_new_module(&ast, source, &where);
    if (status == TSR_OK) {
        status = vm_run(result, ast, &(RunOptions){.show = SHOW_NONE, .result = true});
        ast_free(ast);
    }
    source_free(source);
    return status;
}

void program_forget_names(void) {
    for (int i = 0; i < globals_count(); i++) {
        Str *name;
        globals_at(i, &name);
        globals_delete(name->data);
    }
    gc_collect();
}
