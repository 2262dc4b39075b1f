/* Help pages. */
#include "help.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "lang/modules/builtin.h"
#include "lang/types/dict.h"
#include "fold.h"
#include "lang/object/native.h"
#include "op_doc.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "screen.h"
#include "lang/vm/prelude.h"
#include "torch/tables/tables.h"

static TsrStatus write_overview(TsrText *out) {
    return tsr_text_puts(out, "help(add), help(torch.linalg), help('linalg.qr') tell what something is; at\n"
                              "the prompt x? does the same. help('strides') finds lessons about a word.\n"
                              "dir(torch) and dir(x) list names, Tab completes them. %help lists the\n"
                              "commands of the prompt, %lesson the lessons. Ctrl-D or exit leaves.\n");
}

static TsrStatus write_row(TsrText *out, const char *name, const char *signature, const char *doc) {
    TSR_TRY(tsr_text_printf(out, "%s%s\n", name, signature != NULL ? signature : "(...)"));
    return doc != NULL ? tsr_text_printf(out, "\n    %s\n", doc) : TSR_OK;
}

static TsrStatus write_method(TsrText *out, const Method *m) { return write_row(out, m->name, m->signature, m->doc); }

/* Adds a name to a line of names in columns of at most 78; *column is where that line ends. */
static TsrStatus write_name(TsrText *out, size_t *column, const char *space, const char *name) {
    size_t width = strlen(space) + strlen(name) + 2;
    if (*column + width > 78) {
        TSR_TRY(tsr_text_putc(out, '\n'));
        *column = 0;
    }
    TSR_TRY(tsr_text_printf(out, "%s%s%s", *column == 0 ? "    " : "  ", space, name));
    *column += width + (*column == 0 ? 2 : 0);
    return TSR_OK;
}

static const struct {
    Type *type;
    const char *space;
} of_tables[] = {{&table_type, "Table."}, {&column_type, "Column."}, {&groups_type, "Groups."}};

static bool stands_before(const List *names, int64_t i) {
    for (int64_t k = 0; k < i; k++)
        if (str_equal(value_as_str(names->items[k]), value_as_str(names->items[i]))) return true;
    return false;
}

/* Those of dir(), and of a type whose methods are written in the language, these, too. */
static TsrStatus names_new(Value *out, Value subject) {
    Value names;
    TSR_TRY(value_dir(&names, subject));
    TsrStatus s = TSR_OK;
    for (size_t i = 0; i < TSR_COUNTOF(of_tables) && s == TSR_OK; i++)
        if (subject.o == (Obj *)of_tables[i].type && subject.tag == V_OBJ)
            s = prelude_append_names(value_as_list(names), of_tables[i].type->name);
    return value_end_move(out, s, names);
}

/* The names in a value, with `space` before them, that fit `pattern`, in which * stands for any characters. */
static TsrStatus write_names_like(TsrText *out, size_t *column, Value subject, const char *space, const char *pattern) {
    Value names;
    TSR_TRY(names_new(&names, subject));
    const List *list = value_as_list(names);
    TsrStatus s = TSR_OK;
    for (int64_t i = 0; i < list->count && s == TSR_OK; i++) {
        const char *name = value_as_str(list->items[i])->data;
        if ((name[0] != '_' || pattern[0] == '_') && fnmatch(pattern, name, FNM_NOESCAPE) == 0 &&
            !stands_before(list, i))
            s = write_name(out, column, space, name);
    }
    value_release(names);
    return s;
}

static TsrStatus write_names(TsrText *out, Value subject) {
    size_t column = 0;
    TSR_TRY(write_names_like(out, &column, subject, "", "*"));
    return column > 0 ? tsr_text_putc(out, '\n') : TSR_OK;
}

TsrStatus help_write_matching(TsrText *out, Value subject, const char *pattern) {
    size_t column = 0;
    TSR_TRY(write_names_like(out, &column, subject, "", pattern));
    return column > 0 ? tsr_text_putc(out, '\n') : tsr_text_printf(out, "no name fits '%s'\n", pattern);
}

static const struct {
    const char *module, *space;
} places[] = {
    {"torch", ""},         {"torch.nn.functional", "F."}, {"torch.linalg", "linalg."},
    {"torch.fft", "fft."}, {"torch.special", "special."}, {"tsr", ""},
};

static bool is_of_tables(Value v) {
    bool found = false;
    for (size_t i = 0; i < TSR_COUNTOF(of_tables); i++) found |= value_is_obj(v, of_tables[i].type);
    return found;
}

/* The page of what a module of PyTorch's has by that name. */
static TsrStatus write_named(TsrText *out, bool *found, const char *name) {
    Str *attribute = str_intern_c(name);
    if (attribute == NULL) return mem_error();
    *found = false;
    for (size_t i = 0; i < TSR_COUNTOF(places) && !*found; i++) {
        Value module, v = VALUE_UNBOUND;
        TSR_TRY(module_import(&module, places[i].module));
        TsrStatus s = value_lookup_attr(&v, module, attribute);
        value_release(module);
        *found = s == TSR_OK && v.tag != V_UNBOUND && !value_is_str(v);
        if (*found) s = help_write_page(out, v);
        value_release(v);
        TSR_TRY(s);
    }
    return TSR_OK;
}

TsrStatus (*help_lessons)(TsrText *out, const char *word);

/* The lessons about a word, and the names of PyTorch's that contain it. */
static TsrStatus write_search(TsrText *out, const char *word) {
    TsrText names = {0}, lessons = {0}, pattern = {0};
    size_t column = 0;
    TsrStatus s = tsr_text_printf(&pattern, "*%s*", word);
    for (size_t i = 0; i < TSR_COUNTOF(places) && strlen(word) > 1 && s == TSR_OK; i++) {
        Value module;
        s = module_import(&module, places[i].module);
        if (s == TSR_OK) {
            s = write_names_like(&names, &column, module, places[i].space, pattern.data);
            value_release(module);
        }
    }
    for (size_t i = 0; i < TSR_COUNTOF(of_tables) && strlen(word) > 1 && s == TSR_OK; i++)
        s = write_names_like(&names, &column, value_lent(of_tables[i].type), of_tables[i].space, pattern.data);
    if (s == TSR_OK && strlen(word) > 1 && help_lessons != NULL) s = help_lessons(&lessons, word);
    if (s == TSR_OK && lessons.length > 0)
        s = tsr_text_printf(out, "lessons about '%s'\n\n%s%s", word, lessons.data, names.length > 0 ? "\n" : "");
    if (s == TSR_OK && names.length > 0) s = tsr_text_printf(out, "names with '%s' in them\n\n%s\n", word, names.data);
    else if (s == TSR_OK && lessons.length == 0)
        s = tsr_text_printf(out, "nothing is known by the name '%s'; dir(torch) lists names\n", word);
    tsr_text_free(&names);
    tsr_text_free(&lessons);
    tsr_text_free(&pattern);
    return s;
}

static TsrStatus write_about(TsrText *out, const char *name) {
    const char *dot = strrchr(name, '.');
    bool found;
    TSR_TRY(write_named(out, &found, dot != NULL ? dot + 1 : name));
    return found ? TSR_OK : write_search(out, name);
}

static TsrStatus write_type(TsrText *out, Value subject) {
    const Type *type = (const Type *)subject.o;
    TSR_TRY(tsr_text_printf(out, "class %s\n", type_full_name(type)));
    if (type->doc != NULL) TSR_TRY(tsr_text_printf(out, "\n    %s\n", type->doc));
    TSR_TRY(tsr_text_putc(out, '\n'));
    return write_names(out, subject);
}

static TsrStatus write_module(TsrText *out, Value subject) {
    const Module *m = value_as_module(subject);
    TSR_TRY(tsr_text_printf(out, "module %s\n", m->name->data));
    if (m->doc != NULL) TSR_TRY(tsr_text_printf(out, "\n    %s\n", m->doc));
    TSR_TRY(tsr_text_putc(out, '\n'));
    return write_names(out, subject);
}

static TsrStatus write_default(TsrText *out, const Function *f, int i) {
    const Code *code = f->code;
    Value v = VALUE_UNBOUND;
    int first = code->positional - (f->defaults != NULL ? (int)f->defaults->count : 0);
    if (i < code->positional && i >= first) v = f->defaults->items[i - first];
    Value *keyword =
        i >= code->positional && f->kwdefaults != NULL ? dict_find_c(f->kwdefaults, code->slot_names[i]) : NULL;
    if (keyword != NULL) v = *keyword;
    if (v.tag == V_UNBOUND) return TSR_OK;
    TSR_TRY(tsr_text_putc(out, '='));
    return value_repr(out, v);
}

/* "f(a, b=1, *, c)", from parameter `first` on */
static TsrStatus write_signature(TsrText *out, const Function *f, int first) {
    const Code *code = f->code;
    int named = code->positional + code->keyword_only, star = named;
    const char *comma = "";
    TSR_TRY(tsr_text_printf(out, "%s(", code->name));
    for (int i = first; i <= named; i++) {
        bool bar = i == code->positional && (code->flags & CODE_STAR || code->keyword_only > 0);
        if (bar) TSR_TRY(tsr_text_printf(out, "%s*%s", comma, code->flags & CODE_STAR ? code->slot_names[star] : ""));
        if (bar) comma = ", ";
        if (i == named) break;
        TSR_TRY(tsr_text_printf(out, "%s%s", comma, code->slot_names[i]));
        TSR_TRY(write_default(out, f, i));
        comma = ", ";
    }
    if (code->flags & CODE_DOUBLE_STAR)
        TSR_TRY(tsr_text_printf(out, "%s**%s", comma, code->slot_names[star + (code->flags & CODE_STAR ? 1 : 0)]));
    return tsr_text_puts(out, ")\n");
}

/* Whether a docstring begins with a signature of its own, as PyTorch's do where Python's would say little:
 * "einsum(equation, *operands) -> Tensor". */
static bool has_signature(Value doc, Value name) {
    if (!value_is_str(doc) || !value_is_str(name)) return false;
    const char *text = value_as_str(doc)->data, *begin = value_as_str(name)->data;
    return strncmp(text, begin, strlen(begin)) == 0 && text[strlen(begin)] == '(';
}

/* The blanks that all lines of a docstring behind its first begin with. */
static size_t common_indent(const char *text) {
    size_t common = SIZE_MAX;
    for (const char *line = strchr(text, '\n'); line != NULL; line = strchr(line, '\n')) {
        size_t blanks = strspn(++line, " ");
        if (line[blanks] != '\n' && line[blanks] != '\0') common = TSR_MIN(common, blanks);
    }
    return common;
}

/* The lines of a docstring, indented by 4. */
static TsrStatus write_lines(TsrText *out, const char *text) {
    size_t common = common_indent(text), n;
    for (const char *line = text; *line != '\0'; line += n + (line[n] == '\n')) {
        if (line > text) line += TSR_MIN(common, strspn(line, " "));
        n = strcspn(line, "\n");
        if (n > 0 || line[n] == '\n') TSR_TRY(tsr_text_printf(out, "%s%.*s\n", n > 0 ? "    " : "", (int)n, line));
    }
    return TSR_OK;
}

/* The page of a function whose docstring has its signature. */
static TsrStatus write_by_docstring(TsrText *out, const char *text) {
    size_t n = strcspn(text, "\n");
    TSR_TRY(tsr_text_printf(out, "%.*s\n", (int)n, text));
    return write_lines(out, text + n + (text[n] == '\n'));
}

/* A function of the language, or that of a method; NULL: neither. */
static const Function *function_of(Value v) {
    if (value_is_obj(v, &method_type)) v = ((const BoundMethod *)v.o)->function;
    return value_is_function(v) ? (const Function *)v.o : NULL;
}

static TsrStatus write_name_and_doc(TsrText *out, Value subject, Value name, Value doc) {
    if (has_signature(doc, name)) return write_by_docstring(out, value_as_str(doc)->data);
    const Function *f = function_of(subject);
    if (f != NULL) TSR_TRY(write_signature(out, f, value_is_function(subject) || f->code->positional == 0 ? 0 : 1));
    else
        TSR_TRY(tsr_text_printf(out, "%s\n", value_is_str(name) ? value_as_str(name)->data : value_type_name(subject)));
    if (!value_is_str(doc)) return TSR_OK;
    TSR_TRY(tsr_text_putc(out, '\n'));
    return write_lines(out, value_as_str(doc)->data);
}

/* name and docstring of a function of the language, or of anything that has them. */
static TsrStatus write_by_attributes(TsrText *out, Value subject) {
    Str *name_attr = str_intern_c("__name__"), *doc_attr = str_intern_c("__doc__");
    if (name_attr == NULL || doc_attr == NULL) return mem_error();
    Value name = VALUE_UNBOUND, doc = VALUE_UNBOUND;
    TsrStatus s = value_lookup_attr(&name, subject, name_attr);
    if (s == TSR_OK) s = value_lookup_attr(&doc, subject, doc_attr);
    if (s == TSR_OK) s = write_name_and_doc(out, subject, name, doc);
    value_release(name);
    value_release(doc);
    return s;
}

TsrStatus help_write_function(TsrText *out, Value function) { return write_by_attributes(out, function); }

/* The page about a value: an operator's rows, a native function's signature, a function's docstring, a type's or
 * module's contents. For a str: the operator of that name. V_UNBOUND: how to find things. */
TsrStatus help_write_page(TsrText *out, Value subject) {
    bool found = false;
    if (subject.tag == V_UNBOUND) return write_overview(out);
    if (value_is_str(subject)) {
        TSR_TRY(op_doc_write(out, &found, value_as_str(subject)->data));
        if (found) return TSR_OK;
        Value named = globals_resolve(value_as_str(subject)->data);
        if (named.tag != V_UNBOUND && !value_is_str(named)) return help_write_page(out, named);
        return write_about(out, value_as_str(subject)->data);
    }
    TSR_TRY(op_doc_write_value(out, &found, subject));
    if (found) return TSR_OK;
    if (value_is_obj(subject, &native_type) || value_is_obj(subject, &method_descriptor_type))
        return write_method(out, ((Native *)subject.o)->def);
    if (value_is_obj(subject, &type_type)) return write_type(out, subject);
    if (value_is_obj(subject, &module_type)) return write_module(out, subject);
    if (is_of_tables(subject)) return write_type(out, value_lent(subject.o->type));
    return write_by_attributes(out, subject);
}

TsrStatus help_write(TsrText *out, Value subject) {
    TsrText page = {0};
    TsrStatus s = help_write_page(&page, subject);
    if (s == TSR_OK && page.length > 0)
        s = fold_page(out, page.data, (size_t)TSR_MAX(FOLD_LEAST, screen_line(FOLD_WIDTH)));
    tsr_text_free(&page);
    return s;
}

static TsrStatus print_page(Value subject) {
    TsrText page = {0};
    TsrStatus status = help_write(&page, subject);
    if (status == TSR_OK) screen_show(&page);
    tsr_text_free(&page);
    return status;
}

void help_startup(void) { builtin_hooks.help = print_page; }
