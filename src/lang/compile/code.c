/* Counting and freeing compiled code, and finding the place in the source that an instruction came from. The last
 * reference frees the instructions, the constants and the tables; nested functions are constants and go with them. */
#include "code.h"

#include "core/mem.h"

Code *code_retain(Code *code) {
    code->refs++;
    return code;
}

static void free_arrays(Code *code) {
    tsr_free(code->name);
    tsr_free(code->qualname);
    tsr_free(code->ins);
    tsr_free(code->at);
    tsr_free(code->consts);
    tsr_free(code->children);
    tsr_free(code->slot_names);
    tsr_free(code->slot_is_cell);
    tsr_free(code->captures);
    tsr_free(code->handlers);
    tsr_free(code->handled);
    tsr_free(code->lent);
    tsr_free(code->names);
}

void code_free(Code *code) {
    if (code == NULL || --code->refs > 0) return;
    for (int i = 0; i < code->const_count; i++) value_release(code->consts[i]);
    for (int i = 0; i < code->child_count; i++) code_free(code->children[i]);
    source_free(code->source);
    if (!code->whole) free_arrays(code);
    tsr_free(code);
}

SourceRange code_range(const Code *code, const Ins *pc) {
    return code->at != NULL ? code->at[pc - code->ins] : (SourceRange){0};
}
