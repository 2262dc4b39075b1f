/* prelude.c: functions of modules that are written in the language, compiled one by one when they are needed.
 *
 * A unit is a source cut into blocks, one a top-level name. To compile a block, its text is put into a function of its
 * own whose parameters are the names that the block may mean (see prelude.h); what the function returns is the block's
 * value. The parameters are never set: each cell that the value's code captured from them is replaced by the unit's
 * cell of that name, which is empty until code first reads it; the evaluator then asks prelude_fill_cell.
 *
 * A program that is built takes that code from itself: prelude_freeze wrote where the blocks stand and what the code of
 * each is (compile/freeze.h), and the Makefile puts this into the program under the name prelude_frozen. What is not
 * in there is compiled. */
#include "prelude.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/mem.h"
#include "frame.h"
#include "lang/compile/freeze.h"
#include "lang/object/native.h"
#include "lang/syntax/parser.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "vm.h"

/* Stands in a table, of this program's memory or of what was frozen. */
typedef struct Block {
    uint32_t name, name_length; /* in the unit's names */
    uint32_t begin, end;        /* in the source's text */
    uint32_t hash;              /* of the name */
    uint32_t line, function;
    uint32_t code; /* the code of its wrapper, for code_thaw, from the table on; 0: it has to be compiled */
} Block;

enum { MAX_UNITS = 128, NAME_ROOM = 64, FILTER_WORDS = 64 };

typedef struct Unit {
    const PreludeSource *source;
    const Block *blocks; /* NULL until the source is first looked into */
    const char *names;   /* of the blocks; the source's text where it was not frozen */
    Block *cut;          /* the blocks then */
    int block_count;
    Value cells;     /* a dict of cells by name; V_UNBOUND until the first block is compiled */
    Source *thawed;  /* an empty one of the source's name, that frozen code is said to come from; NULL until needed */
    uint64_t *known; /* FILTER_WORDS: a Bloom filter with one hash of what is_known answers true for: most words of a
                        text are no such name; NULL before the first block is compiled */
} Unit;

static Unit units[MAX_UNITS];
static int unit_count;

void prelude_add(const PreludeSource *sources, int count) {
    assert(count <= MAX_UNITS - unit_count);
    for (int i = 0; i < count; i++) units[unit_count++] = (Unit){.source = &sources[i]};
}

/* ---- the blocks of a source ---- */

static bool is_name_char(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static size_t name_length(const char *p, const char *end) {
    size_t n = 0;
    while (p + n < end && is_name_char(p[n])) n++;
    return n;
}

/* Whether a block begins with this line of the text: "def NAME(" or "NAME = ". */
static bool begins_block(Block *b, const char *text, const char *line, const char *end) {
    b->function = end - line > 4 && memcmp(line, "def ", 4) == 0;
    const char *name = b->function ? line + 4 : line;
    const size_t length = name_length(name, end);
    if (length == 0 || length >= NAME_ROOM) return false;
    b->name = (uint32_t)(name - text);
    b->name_length = (uint32_t)length;
    b->begin = (uint32_t)(line - text);
    b->hash = tsr_hash_text(name, length);
    const char *after = name + length;
    return b->function ? after < end && *after == '(' : end - after > 3 && memcmp(after, " = ", 3) == 0;
}

static const char *name_of(const Unit *u, const Block *b) { return u->names + b->name; }

/* The name as the block's own text has it. */
static const char *name_in_text(const Unit *u, const Block *b) {
    return u->source->text + b->begin + (b->function ? strlen("def ") : 0);
}

/* The bit of a name in a unit's filter. */
static unsigned filter_bit(const char *name, size_t length) {
    const uint32_t hash = tsr_hash_text(name, length);
    return (hash ^ hash >> 16) % (FILTER_WORDS * 64);
}

static void filter_add(Unit *u, const char *name, size_t length) {
    unsigned bit = filter_bit(name, length);
    u->known[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool filter_has(const Unit *u, const char *name, size_t length) {
    unsigned bit = filter_bit(name, length);
    return u->known[bit / 64] >> bit % 64 & 1;
}

static void add_builtin(const char *name, void *unit) { filter_add(unit, name, strlen(name)); }

static void filter_add_blocks(Unit *u, const Unit *of) {
    for (const Block *b = of->blocks; b < of->blocks + of->block_count; b++)
        filter_add(u, name_of(of, b), b->name_length);
}

/* Whether code of `u` may use the names of another unit. No source of the page's does. */
static bool shares(const Unit *u, const Unit *other) {
#ifdef __wasm__
    (void)u, (void)other;
    return false;
#else
    const char *modules = u->source->modules;
    return other != u && modules != NULL && modules[0] == '@' && strcmp(u->source->space, other->source->space) == 0;
#endif
}

static TsrStatus need_blocks(Unit *u);

static TsrStatus need_filter(Unit *u) {
    if (u->known != NULL) return TSR_OK;
    if ((u->known = tsr_calloc(FILTER_WORDS, sizeof *u->known)) == NULL) return mem_error();
    filter_add_blocks(u, u);
    for (Unit *other = units; other < units + unit_count; other++)
        if (shares(u, other)) {
            TSR_TRY(need_blocks(other));
            filter_add_blocks(u, other);
        }
    for (const char *p = u->source->modules; p != NULL && *p != '\0'; p += strcspn(p, " "), p += strspn(p, " "))
        filter_add(u, p, strcspn(p, "= "));
    vm_each_builtin(add_builtin, u);
    return TSR_OK;
}

static TsrStatus cut(Unit *u) {
    const char *text = u->source->text;
    int64_t capacity = 0;
    uint32_t line = 1;
    u->block_count = 0;
    for (const char *p = text, *end = u->source->end; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        Block b = {.line = line, .end = (uint32_t)(end - text)};
        if (begins_block(&b, text, p, end)) {
            TSR_TRY(mem_grow(&u->cut, &capacity, u->block_count + 1, sizeof *u->cut));
            if (u->block_count > 0) u->cut[u->block_count - 1].end = b.begin;
            u->cut[u->block_count++] = b;
        }
        p = newline != NULL ? newline + 1 : end;
    }
    u->blocks = u->cut;
    u->names = text;
    return TSR_OK;
}

/* ---- what was cut and compiled when the program was built ---- */

/* A FrozenUnit for each source, its blocks behind it and their names behind these; a name of no letters ends them. The
 * code of all stands behind that: who looks for a name touches no page of code or of the source. */
typedef struct FrozenUnit {
    char name[NAME_ROOM];
    uint32_t block_count, names_size;
} FrozenUnit;

/* Of a program that is not built yet, and of the test programs; the linker prefers what the Makefile made. */
__attribute__((weak, aligned(8))) const char prelude_frozen[sizeof(FrozenUnit)];

static const Block *frozen_blocks(const FrozenUnit *f) { return (const Block *)(f + 1); }
static const char *frozen_names(const FrozenUnit *f) { return (const char *)(frozen_blocks(f) + f->block_count); }

static const FrozenUnit *frozen_unit(const char *name) {
    const FrozenUnit *f = (const FrozenUnit *)prelude_frozen;
    while (f->name[0] != '\0' && strcmp(f->name, name) != 0) f = (const FrozenUnit *)(frozen_names(f) + f->names_size);
    return f->name[0] != '\0' ? f : NULL;
}

static TsrStatus need_blocks(Unit *u) {
    if (u->blocks != NULL) return TSR_OK;
    const FrozenUnit *frozen = frozen_unit(u->source->name);
    if (frozen == NULL) return cut(u);
    u->blocks = frozen_blocks(frozen);
    u->names = frozen_names(frozen);
    u->block_count = (int)frozen->block_count;
    return TSR_OK;
}

static const Block *find_block(const Unit *u, const char *name) {
    const size_t length = strlen(name);
    const uint32_t hash = tsr_hash_text(name, length);
    for (const Block *b = u->blocks; b < u->blocks + u->block_count; b++)
        if (b->hash == hash && b->name_length == length && memcmp(name_of(u, b), name, length) == 0) return b;
    return NULL;
}

/* The module that `name` stands for in a unit, into `module`; false: it stands for none. */
static bool find_module(char module[NAME_ROOM], const Unit *u, const char *name) {
    const char *p = u->source->modules;
    size_t length = strlen(name);
    for (; p != NULL && *p != '\0'; p += strspn(p, " ")) {
        size_t n = strcspn(p, " "), key = strcspn(p, "= ");
        const char *value = key < n ? p + key + 1 : p;
        if (key == length && memcmp(p, name, length) == 0) {
            snprintf(module, NAME_ROOM, "%.*s", (int)(p + n - value), value);
            return true;
        }
        p += n;
    }
    return false;
}

/* Another unit whose names `u` may use, that has this one, lent; NULL: none has. */
static TsrStatus find_sharing(Unit **lent, const Unit *u, const char *name) {
    *lent = NULL;
    for (Unit *other = units; other < units + unit_count && *lent == NULL; other++)
        if (shares(u, other)) {
            TSR_TRY(need_blocks(other));
            if (find_block(other, name) != NULL) *lent = other;
        }
    return TSR_OK;
}

static TsrStatus is_known(bool *known, const Unit *u, const char *name) {
    char module[NAME_ROOM];
    Unit *other;
    TSR_TRY(find_sharing(&other, u, name));
    *known = find_block(u, name) != NULL || find_module(module, u, name) || other != NULL || vm_is_builtin(name);
    return TSR_OK;
}

/* ---- what a name of a unit is worth ---- */

static TsrStatus compile_block(Value *out, Unit *u, const Block *b);

/* The unit's cell of a name, made empty when it is new. Lent. */
static TsrStatus cell_of(Cell **lent, Unit *u, const char *name) {
    Value cell;
    if (u->cells.tag == V_UNBOUND) TSR_TRY(dict_new(&u->cells));
    Value *found = dict_find_c(value_as_dict(u->cells), name);
    if (found == NULL) {
        TSR_TRY(cell_new(&cell, VALUE_UNBOUND));
        *lent = value_as_cell(cell);
        return dict_set_c_move(value_as_dict(u->cells), name, cell);
    }
    *lent = value_as_cell(*found);
    return TSR_OK;
}

static TsrStatus resolve(Value *out, Unit *u, const char *name);

static TsrStatus value_of_name(Value *out, Unit *u, const char *name) {
    char module[NAME_ROOM];
    Unit *other;
    const Block *b = find_block(u, name);
    if (b != NULL) return compile_block(out, u, b);
    if (find_module(module, u, name)) return module_import(out, module);
    TSR_TRY(find_sharing(&other, u, name));
    if (other != NULL) return resolve(out, other, name);
    TSR_TRY(vm_find_builtin(out, name));
    return out->tag != V_UNBOUND ? TSR_OK : tsr_error(TSR_SYSTEM_ERROR, "%s has no name '%s'", u->source->name, name);
}

/* What the name is worth; the unit's cell of it is filled. *out is the caller's. */
static TsrStatus resolve(Value *out, Unit *u, const char *name) {
    Cell *cell;
    TSR_TRY(cell_of(&cell, u, name));
    if (cell->value.tag == V_UNBOUND) {
        Value v;
        TSR_TRY(value_of_name(&v, u, name));
        value_set_move(&cell->value, v);
    }
    *out = value_retain(cell->value);
    return TSR_OK;
}

/* The unit whose code says to come from this source. */
static Unit *unit_of(const Source *source) {
    for (int i = 0; i < unit_count; i++)
        if (units[i].thawed == source) return &units[i];
    for (int i = 0; i < unit_count; i++) /* compiled code: a source for each block */
        if (strcmp(units[i].source->name, source_name(source)) == 0) return &units[i];
    return NULL;
}

TsrStatus prelude_fill_cell(Value *out, const Source *source, const char *name) {
    Unit *u = unit_of(source);
    return u != NULL ? resolve(out, u, name) : tsr_error(TSR_SYSTEM_ERROR, "%s has no unit", source_name(source));
}

/* ---- compiling a block ---- */

typedef struct Parameters {
    List *names;
    List *values; /* None for a name that is read when the function runs only */
} Parameters;

static bool has_name(const List *names, const char *name) {
    for (int64_t i = 0; i < names->count; i++)
        if (str_equal_c(value_as_str(names->items[i]), name)) return true;
    return false;
}

static TsrStatus add_value(List *values, Unit *u, const char *name, bool now) {
    Value value = VALUE_NONE;
    if (now) TSR_TRY(resolve(&value, u, name));
    return list_append_move(values, value);
}

static TsrStatus add_parameter(const Parameters *p, Unit *u, const char *name, bool now) {
    TSR_TRY(add_value(p->values, u, name, now));
    return list_append_c(p->names, name);
}

/* Where the part of a block ends that runs when the block does: a function's signature, or all of an assignment. */
static const char *end_of_header(const Block *b, const char *begin, const char *end) {
    const char *p = begin;
    if (!b->function) return end;
    while (p < end && !(*p == '\n' && p[-1] == ':')) p++;
    return p;
}

/* The names in a block that may mean something outside of it, in the order in which they first appear. */
static TsrStatus find_parameters(const Parameters *p, Unit *u, const Block *b) {
    const char *begin = u->source->text + b->begin, *end = u->source->text + b->end;
    const char *header = end_of_header(b, begin, end);
    TSR_TRY(need_filter(u));
    for (const char *at = begin; at < end;) {
        size_t n = name_length(at, end);
        bool attribute = at > begin && at[-1] == '.', itself = at == name_in_text(u, b);
        if (n > 0 && n < NAME_ROOM && !attribute && !itself && filter_has(u, at, n)) {
            char name[NAME_ROOM];
            memcpy(name, at, n);
            name[n] = '\0';
            bool now = at < header && find_block(u, name) != b; /* a parameter may be called as its function is */
            bool known = false;
            if (!has_name(p->names, name)) TSR_TRY(is_known(&known, u, name));
            if (known) TSR_TRY(add_parameter(p, u, name, now));
        }
        at += n > 0 ? n : 1;
    }
    return TSR_OK;
}

/* "def _unit(a, b):", the block, each line one space in, and "return NAME". */
static TsrStatus wrap(TsrText *text, const Unit *u, const Block *b, const List *names) {
    const char *end = u->source->text + b->end;
    TSR_TRY(tsr_text_puts(text, "def _unit("));
    for (int64_t i = 0; i < names->count; i++)
        TSR_TRY(tsr_text_printf(text, "%s%s", i > 0 ? ", " : "", value_as_str(names->items[i])->data));
    TSR_TRY(tsr_text_puts(text, "):\n"));
    for (const char *p = u->source->text + b->begin; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline != NULL ? newline + 1 : end;
        if (*p != '\n') TSR_TRY(tsr_text_putc(text, ' '));
        TSR_TRY(tsr_text_append(text, p, (size_t)(stop - p)));
        p = stop;
    }
    return tsr_text_printf(text, "\n return %.*s\n", (int)b->name_length, name_of(u, b));
}

static TsrStatus parse(Ast **ast, const TsrText *text, const Unit *u, const Block *b) {
    Source *source;
    SourceRange where;
    int bad_line; /* the wrapper's own line stands before the block's first */
    TSR_TRY(source_new(&source, u->source->name, text->data, text->length, (int)b->line - 1, &bad_line));
    TsrStatus status = parser_new_module(ast, source, &where);
    source_free(source);
    return status;
}

/* The code of the wrapper of a block, compiled. */
static TsrStatus compile_wrapper(Code **out, const Unit *u, const Block *b, const List *names) {
    TsrText text = {0};
    Ast *ast = NULL;
    Code *module = NULL;
    SourceRange where;
    const CompileOptions options = {.show = SHOW_NONE, .first_slot = GLOBAL_SLOTS};
    TsrStatus status = wrap(&text, u, b, names);
    if (status == TSR_OK) status = parse(&ast, &text, u, b);
    if (status == TSR_OK) status = compile_module(&module, ast, &options, &where);
    if (status == TSR_OK) *out = code_retain(module->children[0]);
    code_free(module);
    ast_free(ast);
    tsr_text_free(&text);
    return status;
}

static const char *frozen_code(const Unit *u, const Block *b) { return (const char *)u->blocks + b->code; }

/* The same as it was frozen. Its parameters are those that the block's values and names may mean. */
static TsrStatus thaw_wrapper(Code **out, Unit *u, const Block *b) {
    if (u->thawed == NULL) TSR_TRY(source_new(&u->thawed, u->source->name, "", 0, 1, NULL));
    return code_thaw(out, frozen_code(u, b), u->thawed);
}

/* Cells that were the wrapper's become the unit's. */
static TsrStatus share_cells(Unit *u, Value v) {
    if (!value_is_function(v)) return TSR_OK;
    Function *f = (Function *)v.o;
    for (int64_t i = 0; i < f->cell_count; i++) {
        Cell *cell;
        TSR_TRY(cell_of(&cell, u, f->code->captures[i].name));
        Cell *old = f->cells[i];
        f->cells[i] = obj_retain(cell);
        obj_release(old);
    }
    return TSR_OK;
}

/* Calls the wrapper: what it returns is the block's value. */
static TsrStatus run_wrapper(Value *out, Unit *u, Code *code, const List *values) {
    Value wrapper, made;
    TSR_TRY(function_new(&wrapper, code, NULL, NULL, NULL, NULL));
    TsrStatus status = value_call_n(&made, wrapper, (int)values->count, values->items);
    value_release(wrapper);
    TSR_TRY(status);
    return value_end_move(out, share_cells(u, made), made);
}

/* The code of a block's wrapper, with what its parameters are given. */
static TsrStatus compiled_wrapper(Code **out, Unit *u, const Block *b, List *values) {
    Value names;
    TSR_TRY(list_new(&names, 0));
    const Parameters p = {value_as_list(names), values};
    TsrStatus status = find_parameters(&p, u, b);
    if (status == TSR_OK) status = compile_wrapper(out, u, b, p.names);
    value_release(names);
    return status;
}

static TsrStatus thawed_wrapper(Code **out, Unit *u, const Block *b, List *values) {
    TSR_TRY(thaw_wrapper(out, u, b));
    const Code *code = *out;
    const char *now =
        frozen_code(u, b) - code->positional; /* a byte a parameter: whether it is read when the block runs */
    TsrStatus status = TSR_OK;
    for (int i = 0; i < code->positional && status == TSR_OK; i++)
        status = add_value(values, u, code->slot_names[i], now[i]);
    if (status != TSR_OK) code_free(*out);
    return status;
}

static TsrStatus compile_block(Value *out, Unit *u, const Block *b) {
    Value values;
    Code *code;
    TSR_TRY(list_new(&values, 0));
    List *list = value_as_list(values);
    TsrStatus status = b->code == 0 ? compiled_wrapper(&code, u, b, list) : thawed_wrapper(&code, u, b, list);
    if (status == TSR_OK) {
        status = run_wrapper(out, u, code, list);
        code_free(code);
    }
    value_release(values);
    return status;
}

/* ---- freezing ---- */

/* The code of a block behind a byte for each of its parameters, or nothing where it cannot be frozen; *start is where
 * the code begins in `out`, -1 without. */
static TsrStatus freeze_block(TsrText *out, int64_t *start, Unit *u, const Block *b, const Parameters *p) {
    Code *code;
    size_t before = out->length;
    *start = -1;
    TSR_TRY(find_parameters(p, u, b));
    TSR_TRY(compile_wrapper(&code, u, b, p->names));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < p->values->count && status == TSR_OK; i++)
        status = tsr_text_putc(out, p->values->items[i].tag != V_NONE);
    if (status == TSR_OK) {
        *start = (int64_t)out->length;
        status = code_freeze(out, code);
    }
    code_free(code);
    if (status == TSR_OK || !exc_matches(status, TSR_VALUE_ERROR)) return status;
    exc_discard(status);
    out->length = before;
    *start = -1;
    return TSR_OK;
}

/* `ahead`: how far behind the unit's first block `out` will stand, from its begin. */
static TsrStatus freeze_next(TsrText *out, Block *to, size_t ahead, Unit *u, const Block *b) {
    Value names, values;
    int64_t start = -1;
    TSR_TRY(list_new(&names, 0));
    TsrStatus status = list_new(&values, 0);
    if (status == TSR_OK) {
        const Parameters p = {value_as_list(names), value_as_list(values)};
        status = freeze_block(out, &start, u, b, &p);
        value_release(values);
    }
    value_release(names);
    *to = *b;
    to->code = start < 0 ? 0 : (uint32_t)(ahead + (size_t)start);
    return status;
}

/* Of the names one after the other, up to where the next unit may begin. */
static uint32_t names_size(const Unit *u) {
    uint32_t size = 0;
    for (int i = 0; i < u->block_count; i++) size += u->blocks[i].name_length;
    return (size + 7) / 8 * 8;
}

static void write_names(FILE *file, const Unit *u) {
    uint32_t written = 0;
    for (const Block *b = u->blocks; b < u->blocks + u->block_count; b++) {
        fwrite(name_of(u, b), 1, b->name_length, file);
        written += b->name_length;
    }
    while (written++ < names_size(u)) fputc('\0', file);
}

/* Writes the unit's head, table and names, and appends its code to `codes`, which will stand `ahead` bytes behind the
 * head. */
static TsrStatus freeze_unit(FILE *file, TsrText *codes, size_t ahead, Unit *u) {
    FrozenUnit head = {.block_count = (uint32_t)u->block_count, .names_size = names_size(u)};
    uint32_t name = 0;
    snprintf(head.name, sizeof head.name, "%s", u->source->name);
    fwrite(&head, sizeof head, 1, file);
    for (int i = 0; i < u->block_count; i++) {
        Block block;
        TSR_TRY(freeze_next(codes, &block, ahead - sizeof head, u, &u->blocks[i]));
        block.name = name;
        name += block.name_length;
        fwrite(&block, sizeof block, 1, file);
    }
    write_names(file, u);
    return TSR_OK;
}

static size_t frozen_size(const Unit *u) {
    return sizeof(FrozenUnit) + sizeof(Block) * (size_t)u->block_count + names_size(u);
}

TsrStatus prelude_freeze(FILE *file) {
    const FrozenUnit end = {.name = ""};
    TsrText codes = {0};
    size_t ahead = sizeof end;
    TsrStatus status = TSR_OK;
    for (int i = 0; i < unit_count && status == TSR_OK; i++) {
        status = need_blocks(&units[i]);
        ahead += frozen_size(&units[i]);
    }
    for (int i = 0; i < unit_count && status == TSR_OK; i++) {
        status = freeze_unit(file, &codes, ahead, &units[i]);
        ahead -= frozen_size(&units[i]);
    }
    fwrite(&end, sizeof end, 1, file);
    if (codes.length > 0) fwrite(codes.data, 1, codes.length, file);
    tsr_text_free(&codes);
    return status;
}

/* ---- what the modules ask ---- */

/* The first unit of a space that has the name, lent; NULL: none has. */
static TsrStatus unit_with(Unit **lent, const char *space, const char *name) {
    *lent = NULL;
    if (name[0] == '_' && strcmp(space, "rows") != 0) return TSR_OK;
    for (int i = 0; i < unit_count; i++) {
        if (strcmp(units[i].source->space, space) != 0) continue;
        TSR_TRY(need_blocks(&units[i]));
        if (find_block(&units[i], name) == NULL) continue;
        *lent = &units[i];
        return TSR_OK;
    }
    return TSR_OK;
}

TsrStatus prelude_get(Value *out, const char *space, const char *name) {
    Unit *u;
    *out = VALUE_UNBOUND;
    TSR_TRY(unit_with(&u, space, name));
    return u != NULL ? resolve(out, u, name) : TSR_OK;
}

bool prelude_has(const char *space, const char *name) {
    Unit *u;
    if (unit_with(&u, space, name) == TSR_OK) return u != NULL;
    tsr_error_clear();
    return false;
}

/* Of `kind` the names of its methods, NULL: all names but those of methods; without helpers. */
static void each_name(const Unit *u, const char *kind, void (*visit)(const char *name, void *context), void *context) {
    size_t prefix = kind != NULL ? strlen(kind) : 0;
    for (const Block *b = u->blocks; b < u->blocks + u->block_count; b++) {
        char name[NAME_ROOM];
        if (name_of(u, b)[0] == '_') continue;
        memcpy(name, name_of(u, b), b->name_length);
        name[b->name_length] = '\0';
        const char *method = strstr(name, "__");
        if (kind == NULL && method == NULL) visit(name, context);
        if (kind == NULL || method != name + prefix || strncmp(name, kind, prefix) != 0 || method[2] == '_') continue;
        visit(method + (strncmp(method, "__get_", 6) == 0 ? 6 : 2), context);
    }
}

static void each_of(const char *space, const char *kind, void (*visit)(const char *name, void *context),
                    void *context) {
    for (int i = 0; i < unit_count; i++)
        if (strcmp(units[i].source->space, space) == 0 && need_blocks(&units[i]) == TSR_OK)
            each_name(&units[i], kind, visit, context);
}

void prelude_each(const char *space, void (*visit)(const char *name, void *context), void *context) {
    each_of(space, NULL, visit, context);
}

typedef struct Names {
    List *list;
    TsrStatus status;
} Names;

static void append_name(const char *name, void *context) {
    Names *names = context;
    if (names->status == TSR_OK) names->status = list_append_c(names->list, name);
}

TsrStatus prelude_append_names(List *list, const char *space) {
    Names names = {list, TSR_OK};
    prelude_each(space, append_name, &names);
    return names.status;
}

TsrStatus prelude_append_methods(List *list, const char *space, const char *kind) {
    Names names = {list, TSR_OK};
    each_of(space, kind, append_name, &names);
    return names.status;
}

void prelude_shutdown(void) {
    for (int i = 0; i < unit_count; i++) {
        value_clear(&units[i].cells);
        tsr_free(units[i].cut);
        tsr_free(units[i].known);
        source_free(units[i].thawed);
    }
    unit_count = 0; /* the next start adds them again */
}
