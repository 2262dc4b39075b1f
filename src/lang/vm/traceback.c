/* Records of errors: where an exception came by; and the place that runs now. */
#include "frame.h"

static void trace_destroy(Obj *self) {
    Trace *trace = (Trace *)self;
    for (int64_t k = 0; k < trace->count; k++) {
        code_free(trace->entries[k].code);
        source_free(trace->entries[k].source);
    }
    tsr_free(trace->entries);
    obj_free(trace, sizeof *trace);
}

static TsrStatus trace_repr(TsrText *out, Value self) {
    (void)self;
    return tsr_text_puts(out, "<traceback object>");
}

Type trace_type = {.obj = TYPE_HEADER, .name = "traceback", .destroy = trace_destroy, .repr = trace_repr};

static Trace *trace_of(Value exception) {
    Exc *e = value_exc(exception);
    if (value_as_trace(e->trace) != NULL) return value_as_trace(e->trace);
    Trace *trace = obj_new(&trace_type, sizeof *trace);
    if (trace == NULL) return NULL;
    trace->entries = NULL;
    trace->count = trace->capacity = 0;
    value_set_move(&e->trace, value_obj_move(trace));
    return trace;
}

static void add_place(Value exception, Code *code, Source *source, SourceRange at) {
    Trace *trace = trace_of(exception);
    if (trace == NULL ||
        mem_grow(&trace->entries, &trace->capacity, trace->count + 1, sizeof *trace->entries) != TSR_OK) {
        tsr_error_clear();
        return;
    }
    trace->entries[trace->count++] = (TraceEntry){code == NULL ? NULL : code_retain(code), source_retain(source), at};
}

static SourceRange frame_range(const Frame *f) { return code_range(f->code, f->pc > f->code->ins ? f->pc - 1 : f->pc); }

void trace_add(Value exception, const Frame *frame) {
    add_place(exception, frame->code, frame->code->source, frame_range(frame));
}

static bool is_inside(SourceRange a, SourceRange b) {
    bool begins = a.line > b.line || (a.line == b.line && a.col >= b.col);
    return begins && (a.end_line < b.end_line || (a.end_line == b.end_line && a.end_col <= b.end_col));
}

/* The name that was lent to the code that failed and is not set, which is the thread's last error then; NULL: none. */
static const LentName *unset_before(const Frame *f, SourceRange failed) {
    int at = (int)(f->pc - f->code->ins) - 1;
    for (int k = 0; k < f->code->lent_count; k++) {
        const LentName *n = &f->code->lent[k];
        if (at < n->start || !is_inside(failed, n->later) || f->base[n->slot].tag != V_UNBOUND) continue;
        if (frame_name(f, n->slot) == NULL) return n;
    }
    return NULL;
}

Value trace_begin(TsrStatus status, const Frame *f, Value handled) {
    Value exception;
    SourceRange at = frame_range(f);
    exc_fetch(&exception, status, handled);
    const LentName *name = unset_before(f, at);
    if (name != NULL) {
        value_release(exception);
        exc_fetch(&exception, exc_status(), handled);
        at = name->at;
    }
    add_place(exception, f->code, f->code->source, at);
    return exception;
}

TsrStatus vm_raise_at(TsrStatus status, Source *source, SourceRange at) {
    Value exception;
    exc_fetch(&exception, status, VALUE_UNBOUND);
    add_place(exception, NULL, source, at);
    return exc_raise_move(exception);
}

bool vm_take_error(Value *exception, TsrStatus status) {
    if (status == TSR_OK) return false;
    exc_fetch(exception, status, VALUE_UNBOUND);
    return true;
}

static const Frame *user_frame_from(const Frame *f) {
    while (f != NULL && source_is_prelude(f->code->source)) f = f->prev;
    return f;
}

/* The innermost call of the user's own code; NULL: none. */
static const Frame *user_frame(void) { return user_frame_from(vm.frame); }

char *vm_current_text(char *buffer, size_t room) {
    const Frame *f = user_frame();
    size_t length = 0, size;
    buffer[0] = '\0';
    if (f == NULL) return buffer;
    SourceRange at = frame_range(f);
    const char *line = source_line(f->code->source, at.line, &length);
    if (line == NULL || (size_t)at.col > length) return buffer;
    bool whole = at.end_line == at.line && (size_t)at.end_col <= length;
    size = (whole ? (size_t)at.end_col : length) - (size_t)at.col;
    bool cut = !whole || size + 1 > room;
    if (cut) size = TSR_MIN(size, room - 5);
    while (cut && size > 0 && ((unsigned char)line[(size_t)at.col + size] & 0xc0) == 0x80)
        size--; /* not inside a character */
    snprintf(buffer, room, "%.*s%s", (int)size, line + at.col, cut ? "..." : "");
    return buffer;
}

bool vm_current_is_used(void) {
    const Frame *f = user_frame();
    if (f == NULL || f->pc == f->code->ins) return false;
    Opcode op = (Opcode)f->pc[-1].op, next = (Opcode)f->pc->op;
    bool call = op == INS_CALL || op == INS_CALLWAIT || op == INS_CALLMETHOD || op == INS_CALLKW || op == INS_CALLEX;
    bool last = next == INS_RETURN && (f->code->flags & CODE_MODULE) != 0;
    return call && next != INS_DISPLAY && next != INS_CLEAR && next != INS_CHECK && !last;
}

int vm_current_line(void) {
    const Frame *f = user_frame();
    return f == NULL ? 0 : frame_range(f).line;
}

void vm_caller(int64_t level, const char **file, int *line, const char **text, size_t *length) {
    const Frame *f = user_frame();
    for (; f != NULL && level > 1; level--) f = user_frame_from(f->prev);
    *file = f != NULL ? source_name(f->code->source) : "sys";
    *line = f != NULL ? frame_range(f).line : 0;
    *length = 0;
    *text = f != NULL ? source_line(f->code->source, *line, length) : NULL;
}
