/* Code as text: what a debug build writes with TSR_DUMP_CODE in the environment. */
#include "code.h"

static const struct {
    const char *name, *format, *meaning;
} rows[INS_COUNT] = {
#define OP(name, format, meaning) [INS_##name] = {#name, #format, meaning},
#include "opcode.def"
#undef OP
};

static void print_slot(const Code *code, FILE *file, int slot) {
    int name = slot - code->first_slot;
    if ((code->flags & CODE_MODULE) && slot < GLOBAL_SLOTS) fprintf(file, " g%d", slot);
    else if (name >= 0 && name < code->slot_count) fprintf(file, " %s", code->slot_names[name]);
    else fprintf(file, " t%d", slot - code->first_temp);
}

static TsrStatus print_const(const Code *code, FILE *file, uint32_t index) {
    TsrText text = {0};
    TsrStatus status = index < (uint32_t)code->const_count ? value_repr(&text, code->consts[index]) : TSR_OK;
    fprintf(file, " %s", text.data != NULL ? text.data : "?");
    tsr_text_free(&text);
    return status;
}

/* A letter of the format: which field, and what it is. */
static TsrStatus print_operands(const Code *code, FILE *file, const Ins *i) {
    const char *format = rows[i->op].format;
    for (const char *p = format; *p != '\0'; p++) {
        bool constant = *p == 'K' && (p[1] == 'B' || p[1] == 'C');
        if (constant) {
            p++;
            TSR_TRY(print_const(code, file, *p == 'B' ? i->b : i->c));
            continue;
        }
        switch (*p) {
        case 'A': print_slot(code, file, i->a); break;
        case 'B': print_slot(code, file, i->b); break;
        case 'C': print_slot(code, file, i->c); break;
        case 'N': fprintf(file, " #%d", i->c); break;
        case 'n': fprintf(file, " #%d", i->b); break;
        case 'G': fprintf(file, " g%u", i->k); break;
        case 'J': fprintf(file, " ->%d", (int)(i - code->ins) + 1 + (i->head >> 8)); break;
        case 'X': fprintf(file, " x%d", i->x); break;
        case 'K':
            if (i->op == INS_FUNCTION) fprintf(file, " code %u", i->k);
            else TSR_TRY(print_const(code, file, i->k));
            break;
        default: break;
        }
    }
    return TSR_OK;
}

TsrStatus code_disassemble(const Code *code, FILE *file) {
    fprintf(file, "%s: %d slots, %d instructions\n", code->qualname, code->frame_size - code->first_slot,
            code->ins_count);
    for (int k = 0; k < code->ins_count; k++) {
        const Ins *i = &code->ins[k];
        fprintf(file, "%5d %4d  %-12s", code_range(code, i).line, k, rows[i->op].name);
        TSR_TRY(print_operands(code, file, i));
        fprintf(file, "    ; %s\n", rows[i->op].meaning);
        if (i->op == INS_METHOD || i->op == INS_GETATTR) k += 2;
    }
    for (int k = 0; k < code->handler_count; k++) {
        const Handler *h = &code->handlers[k];
        fprintf(file, "      error in %d..%d: to %d, slot %d\n", h->start, h->end, h->target, h->slot);
    }
    for (int k = 0; k < code->child_count; k++) TSR_TRY(code_disassemble(code->children[k], file));
    return TSR_OK;
}
