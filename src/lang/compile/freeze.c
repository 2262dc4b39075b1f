/* freeze.c: code as bytes and back. The bytes are made by the program when it is built and are part of it afterwards:
 * numbers are as the machine has them, texts end with a NUL and stay where they are, and nothing is checked when they
 * are read. Constants are a letter and what it needs. */
#include "freeze.h"

#include <string.h>

#include "core/mem.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* The numbers of a Code, which come first. */
typedef struct Numbers {
    unsigned flags;
    int ins_count, handler_count, handled_count, slot_count, capture_count, const_count, child_count;
    int first_slot, first_temp, frame_size, positional, positional_only, keyword_only, first_line, doc;
    SourceRange def_at;
} Numbers;

/* ---- to bytes ---- */

static TsrStatus put(TsrText *out, const void *bytes, size_t n) {
    return n > 0 ? tsr_text_append(out, bytes, n) : TSR_OK;
}
static TsrStatus put_int(TsrText *out, int32_t i) { return put(out, &i, sizeof i); }
static TsrStatus put_name(TsrText *out, const char *s) { return put(out, s, strlen(s) + 1); }

static TsrStatus freeze_const(TsrText *out, Value v);

static TsrStatus freeze_consts(TsrText *out, const Value *v, int64_t n) {
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) status = freeze_const(out, v[i]);
    return status;
}

static TsrStatus freeze_str(TsrText *out, const Str *s) {
    TSR_TRY(tsr_text_putc(out, 's'));
    TSR_TRY(put_int(out, (int32_t)s->size));
    return put(out, s->data, (size_t)s->size + 1);
}

static TsrStatus freeze_tuple(TsrText *out, const Tuple *t) {
    TSR_TRY(tsr_text_putc(out, 't'));
    TSR_TRY(put_int(out, (int32_t)t->count));
    return freeze_consts(out, t->items, t->count);
}

static TsrStatus freeze_slice(TsrText *out, const Slice *s) {
    TSR_TRY(tsr_text_putc(out, ':'));
    return freeze_consts(out, (Value[]){s->start, s->stop, s->step}, 3);
}

static TsrStatus freeze_const(TsrText *out, Value v) {
    switch (v.tag) {
    case V_NONE: return tsr_text_putc(out, 'n');
    case V_BOOL: return tsr_text_putc(out, v.i ? '1' : '0');
    case V_INT: TSR_TRY(tsr_text_putc(out, 'i')); return put(out, &v.i, sizeof v.i);
    case V_FLOAT: TSR_TRY(tsr_text_putc(out, 'f')); return put(out, &v.f, sizeof v.f);
    default: break;
    }
    if (value_is_str(v)) return freeze_str(out, value_as_str(v));
    if (value_is_tuple(v)) return freeze_tuple(out, value_as_tuple(v));
    if (value_is_obj(v, &slice_type)) return freeze_slice(out, (const Slice *)v.o);
    if (v.tag == V_OBJ && v.o == &ellipsis_object) return tsr_text_putc(out, '.');
    return tsr_error(TSR_VALUE_ERROR, "a constant of type %s cannot be frozen", value_type_name(v));
}

static TsrStatus check_globals(const Code *code) {
    for (int i = 0; i < code->ins_count; i++) {
        Opcode op = (Opcode)code->ins[i].op;
        if (op == INS_LOADG || op == INS_STOREG || op == INS_DELG)
            return tsr_error(TSR_VALUE_ERROR, "%s names a global", code->qualname);
        if (op == INS_GETATTR || op == INS_METHOD) i += 2; /* words of cache */
    }
    return TSR_OK;
}

static TsrStatus freeze_names(TsrText *out, const Code *code) {
    TsrStatus status = put(out, code->slot_is_cell, (size_t)code->slot_count);
    for (int i = 0; i < code->slot_count && status == TSR_OK; i++) status = put_name(out, code->slot_names[i]);
    for (int i = 0; i < code->capture_count && status == TSR_OK; i++) {
        status = tsr_text_putc(out, (char)code->captures[i].from);
        if (status == TSR_OK) status = put_int(out, code->captures[i].index);
        if (status == TSR_OK) status = put_name(out, code->captures[i].name);
    }
    return status;
}

/* Field by field: what lies between them is another time's. */
static TsrStatus freeze_handled(TsrText *out, const HandledRegion *h) {
    HandledRegion whole;
    memset(&whole, 0, sizeof whole);
    whole.start = h->start;
    whole.end = h->end;
    whole.slot = h->slot;
    return put(out, &whole, sizeof whole);
}

TsrStatus code_freeze(TsrText *out, const Code *code) {
    TSR_TRY(check_globals(code));
    const Numbers n = {code->flags,           code->ins_count,     code->handler_count, code->handled_count,
                       code->slot_count,      code->capture_count, code->const_count,   code->child_count,
                       code->first_slot,      code->first_temp,    code->frame_size,    code->positional,
                       code->positional_only, code->keyword_only,  code->first_line,    code->doc,
                       code->def_at};
    TSR_TRY(put(out, &n, sizeof n));
    TSR_TRY(put_name(out, code->name));
    TSR_TRY(put_name(out, code->qualname));
    TSR_TRY(put(out, code->ins, sizeof *code->ins * (size_t)code->ins_count));
    TSR_TRY(put(out, code->handlers, sizeof *code->handlers * (size_t)code->handler_count));
    for (int i = 0; i < code->handled_count; i++) TSR_TRY(freeze_handled(out, &code->handled[i]));
    TSR_TRY(freeze_names(out, code));
    TSR_TRY(freeze_consts(out, code->consts, code->const_count));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < code->child_count && status == TSR_OK; i++) status = code_freeze(out, code->children[i]);
    return status;
}

/* ---- and back ---- */

typedef struct Reader {
    const char *at;
    Source *source; /* lent */
    char *room;     /* of the code that is being read: behind it, for its arrays */
} Reader;

static void take(Reader *r, void *to, size_t n) {
    if (n > 0) memcpy(to, r->at, n);
    r->at += n;
}

static int32_t take_int(Reader *r) {
    int32_t i;
    take(r, &i, sizeof i);
    return i;
}

static const char *take_name(Reader *r) {
    const char *s = r->at;
    r->at += strlen(s) + 1;
    return s;
}

static size_t array_bytes(int n, size_t size) { return ((size_t)n * size + 7) / 8 * 8; }

static void *new_array(Reader *r, int n, size_t size) {
    void *array = r->room;
    r->room += array_bytes(n, size);
    return array;
}

/* Of the next n * size bytes. */
static void *take_array(Reader *r, int n, size_t size) {
    void *array = new_array(r, n, size);
    take(r, array, (size_t)n * size);
    return array;
}

static TsrStatus thaw_const(Value *out, Reader *r);

/* v[0..n): on failure those that were made are released. */
static TsrStatus thaw_values(Value *v, Reader *r, int n) {
    for (int i = 0; i < n; i++) {
        TsrStatus status = thaw_const(&v[i], r);
        if (status == TSR_OK) continue;
        values_release(v, i);
        return status;
    }
    return TSR_OK;
}

/* Short ones are names, mostly: interned, as the compiler does. */
static TsrStatus thaw_str(Value *out, Reader *r) {
    int size = take_int(r);
    const char *text = r->at;
    r->at += size + 1;
    if (size > 64) return str_new(out, text, size);
    Str *s = str_intern(text, size);
    if (s == NULL) return TSR_MEMORY_ERROR;
    *out = value_obj_move(obj_retain(s));
    return TSR_OK;
}

static TsrStatus thaw_tuple(Value *out, Reader *r) {
    int count = take_int(r);
    Value *items = tsr_malloc(sizeof *items * (size_t)count + 1);
    if (items == NULL) return mem_error();
    TsrStatus status = thaw_values(items, r, count);
    if (status == TSR_OK) status = tuple_new_move(out, items, count);
    tsr_free(items);
    return status;
}

static TsrStatus thaw_slice(Value *out, Reader *r) {
    Value v[3];
    TSR_TRY(thaw_values(v, r, 3));
    TsrStatus status = slice_new(out, v[0], v[1], v[2]);
    values_release(v, 3);
    return status;
}

static TsrStatus thaw_const(Value *out, Reader *r) {
    *out = VALUE_NONE;
    switch (*r->at++) {
    case '0': *out = VALUE_FALSE; return TSR_OK;
    case '1': *out = VALUE_TRUE; return TSR_OK;
    case 'i':
        *out = value_int(0);
        take(r, &out->i, sizeof out->i);
        return TSR_OK;
    case 'f':
        *out = value_float(0);
        take(r, &out->f, sizeof out->f);
        return TSR_OK;
    case '.': *out = value_retain(VALUE_ELLIPSIS); return TSR_OK;
    case 's': return thaw_str(out, r);
    case 't': return thaw_tuple(out, r);
    case ':': return thaw_slice(out, r);
    default: return TSR_OK; /* 'n' */
    }
}

static void thaw_names(Code *code, Reader *r) {
    code->slot_is_cell = take_array(r, code->slot_count, 1);
    code->slot_names = new_array(r, code->slot_count, sizeof *code->slot_names);
    code->captures = new_array(r, code->capture_count, sizeof *code->captures);
    for (int i = 0; i < code->slot_count; i++) code->slot_names[i] = take_name(r);
    for (int i = 0; i < code->capture_count; i++) {
        Capture *c = &code->captures[i];
        c->from = (uint8_t)*r->at++;
        c->index = take_int(r);
        c->name = take_name(r);
    }
}

static TsrStatus thaw(Code **out, Reader *r);

/* Constants and children count as they are made, so that code_free knows at each exit what is there. */
static TsrStatus thaw_consts(Code *code, Reader *r, int count) {
    TSR_TRY(thaw_values(code->consts, r, count));
    code->const_count = count;
    return TSR_OK;
}

static TsrStatus thaw_children(Code *code, Reader *r, int count) {
    for (; code->child_count < count; code->child_count++) TSR_TRY(thaw(&code->children[code->child_count], r));
    return TSR_OK;
}

static TsrStatus thaw_parts(Code *code, Reader *r, const Numbers *n) {
    code->name = (char *)take_name(r);
    code->qualname = (char *)take_name(r);
    code->ins = take_array(r, code->ins_count, sizeof *code->ins);
    code->handlers = take_array(r, code->handler_count, sizeof *code->handlers);
    code->handled = take_array(r, code->handled_count, sizeof *code->handled);
    thaw_names(code, r);
    code->consts = new_array(r, n->const_count, sizeof *code->consts);
    code->children = new_array(r, n->child_count, sizeof(Code *));
    TSR_TRY(thaw_consts(code, r, n->const_count));
    return thaw_children(code, r, n->child_count);
}

/* The code and the arrays of thaw_parts. */
static size_t bytes_of(const Numbers *n) {
    return array_bytes(1, sizeof(Code)) + array_bytes(n->ins_count, sizeof(Ins)) +
           array_bytes(n->handler_count, sizeof(Handler)) + array_bytes(n->handled_count, sizeof(HandledRegion)) +
           array_bytes(n->slot_count, 1) + array_bytes(n->slot_count, sizeof(const char *)) +
           array_bytes(n->capture_count, sizeof(Capture)) + array_bytes(n->const_count, sizeof(Value)) +
           array_bytes(n->child_count, sizeof(Code *));
}

static TsrStatus thaw(Code **out, Reader *r) {
    Numbers n;
    take(r, &n, sizeof n);
    Code *code = tsr_malloc(bytes_of(&n));
    if (code == NULL) return mem_error();
    *code = (Code){.refs = 1,
                   .flags = n.flags,
                   .whole = true,
                   .source = source_retain(r->source),
                   .ins_count = n.ins_count,
                   .slot_count = n.slot_count,
                   .first_slot = n.first_slot,
                   .first_temp = n.first_temp,
                   .frame_size = n.frame_size,
                   .positional = n.positional,
                   .positional_only = n.positional_only,
                   .keyword_only = n.keyword_only,
                   .capture_count = n.capture_count,
                   .handler_count = n.handler_count,
                   .handled_count = n.handled_count,
                   .def_at = n.def_at,
                   .first_line = n.first_line,
                   .doc = n.doc};
    Reader inner = {r->at, r->source, (char *)code + array_bytes(1, sizeof *code)};
    TsrStatus status = thaw_parts(code, &inner, &n);
    r->at = inner.at;
    if (status == TSR_OK) *out = code;
    else code_free(code);
    return status;
}

TsrStatus code_thaw(Code **out, const char *bytes, Source *source) {
    Reader r = {bytes, source, NULL};
    return thaw(out, &r);
}
