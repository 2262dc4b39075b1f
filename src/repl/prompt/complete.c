/* Completion at the prompt. The text before the cursor says what is wanted (an attribute, a module, an argument's
 * name, a key of a dict, any name); the candidates are collected and sorted at index 0 and handed out one by one. */
#include "complete.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torch/bind/bind.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "show/help/help.h"
#include "lang/syntax/lexer.h"
#include "line.h"
#include "magic.h"
#include "cursor.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

/* The candidates of the word in hand. */
static struct {
    char **items;
    int count, room;
    const char *word; /* what they must begin with */
    size_t prefix;    /* length of "a.b." before it in the text typed */
    const char *typed;
} found;

static void forget(void) {
    for (int i = 0; i < found.count; i++) free(found.items[i]);
    found.count = 0;
}

static void add(const char *name, void *context) {
    (void)context;
    size_t n = strlen(found.word);
    if (strncmp(name, found.word, n) != 0 || (n == 0 && name[0] == '_')) return;
    if (found.count == found.room) {
        int room = found.room * 2 + 64;
        char **grown = realloc(found.items, (size_t)room * sizeof *grown);
        if (grown == NULL) return;
        found.items = grown;
        found.room = room;
    }
    size_t length = strlen(name);
    char *item = malloc(found.prefix + length + 1);
    if (item == NULL) return;
    memcpy(item, found.typed, found.prefix);
    memcpy(item + found.prefix, name, length + 1);
    found.items[found.count++] = item;
}

/* What the attributes "b.c" of a value give. False when there is none. Consumes v. */
static bool follow_move(Value *out, Value v, char *rest) {
    while (v.tag != V_UNBOUND && rest != NULL) {
        Value next = VALUE_UNBOUND;
        Str *attribute = str_intern_c(strsep(&rest, "."));
        TsrStatus status = attribute != NULL ? value_lookup_attr(&next, v, attribute) : TSR_MEMORY_ERROR;
        if (status != TSR_OK) exc_discard(status);
        value_release(v);
        v = next;
    }
    *out = v;
    return v.tag != V_UNBOUND;
}

/* The value of "a.b" by names and attributes alone; of ".b" the attribute of `before`, NULL for none. False when there
 * is none. */
static bool resolve(Value *out, const char *path, size_t length, Type *before) {
    char *copy = strndup(path, length), *rest = copy;
    if (copy == NULL) return false;
    const char *name = strsep(&rest, ".");
    Value first = name[0] != '\0' ? globals_resolve(name) : before != NULL ? value_lent(before) : VALUE_UNBOUND;
    bool there = follow_move(out, value_retain(first), rest);
    free(copy);
    return there;
}

static void add_attributes(Value v) {
    Value names;
    TsrStatus status = value_dir(&names, v);
    if (status != TSR_OK) {
        exc_discard(status);
        return;
    }
    const List *list = value_as_list(names);
    for (int64_t i = 0; i < list->count; i++)
        if (value_is_str(list->items[i])) add(value_as_str(list->items[i])->data, NULL);
    value_release(names);
}

/* What ends with a bracket is most often a tensor here, and with a quote a str; nothing is evaluated to find out. */
static Type *likely_type(char before) {
    if (before == ')' || before == ']') return tensor_type;
    return before == '"' || before == '\'' ? &str_type : NULL;
}

static void add_members(const char *typed) {
    Value v;
    if (found.prefix == 1) {
        Type *type = likely_type(line_before(strlen(found.typed) + 1));
        if (type != NULL) add_attributes(value_lent(type));
        if (type == tensor_type && found.count == 0) add_attributes(value_lent(&str_type));
    } else if (resolve(&v, typed, found.prefix - 1, NULL)) {
        add_attributes(v);
        value_release(v);
    }
}

/* Whether the name of a magic is being typed. */
static bool names_magic(const char *typed) {
    return line_typed()[0] == '%' && line_before(strlen(typed) + 1) == '%' && line_before(strlen(typed) + 2) == '\0';
}

/* Whether the word names a module: behind import, or between from and import. */
static bool names_module(void) {
    const char *line = line_typed() + strspn(line_typed(), " ");
    if (strncmp(line, "import ", 7) == 0) return true;
    return strncmp(line, "from ", 5) == 0 && strstr(line, " import ") == NULL;
}

static void add_modules(void) {
    Value names;
    if (list_new(&names, 0) != TSR_OK) return;
    TsrStatus status = module_list(value_as_list(names));
    if (status != TSR_OK) exc_discard(status);
    for (int64_t i = 0; i < value_as_list(names)->count; i++) {
        const char *name = value_as_str(value_as_list(names)->items[i])->data;
        bool inner = strstr(name, "._") != NULL && strstr(found.typed, "._") == NULL; /* of who wrote the modules */
        if (!inner) add(name, NULL);
    }
    value_release(names);
}

/* The names in the module behind from. */
static void add_module_names(void) {
    char name[128];
    Value module;
    if (sscanf(line_typed(), " from %127[A-Za-z0-9_.] import ", name) != 1) return;
    TsrStatus status = module_import(&module, name);
    if (status != TSR_OK) {
        exc_discard(status);
        return;
    }
    add_attributes(module);
    value_release(module);
}

/* ---- inside brackets ---- */

static Cursor here(void) { return cursor_find(line_typed(), line_point()); }

/* What stands in front of the bracket around the cursor: what is called, or indexed. The caller's. */
static bool owner_of_bracket(Value *out, const Cursor *p) {
    const char *line = line_typed();
    return p->path_at < p->bracket_at && resolve(out, line + p->path_at, p->bracket_at - p->path_at,
                                                 p->path_at > 0 ? likely_type(line[p->path_at - 1]) : NULL);
}

/* The names of arguments in one line of help, "torch.sum(input, dim, *, dtype=None) -> Tensor", with the = behind them.
 */
static void add_arguments(const char *signature, size_t length) {
    int depth = 0;
    const char *slash = memmem(signature, length, ", /", 3);
    size_t first = slash != NULL ? (size_t)(slash - signature) : 0; /* those before it have no names to give */
    for (size_t i = 0; i < length; i++) {
        char c = signature[i];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (depth != 1 || i < first || (c != '(' && c != ' ')) continue;
        char name[64];
        size_t n = 0;
        while (++i < length && n + 2 < sizeof name && (isalnum((unsigned char)signature[i]) || signature[i] == '_'))
            name[n++] = signature[i];
        if (i < length && n > 0 && strchr("=,)", signature[i]) != NULL) {
            memcpy(name + n, "=", 2);
            add(name, NULL);
        }
        i--;
    }
}

/* Whether an argument begins before the word in hand. */
static bool begins_argument(const Cursor *p) {
    size_t at = line_point() - strlen(found.typed);
    while (at > 0 && line_typed()[at - 1] == ' ') at--;
    return p->bracket == '(' && at > 0 && strchr("(,", line_typed()[at - 1]) != NULL;
}

/* The arguments that the function in front of the bracket takes by name, as its help has them: a line without blanks
 * before it is a signature. */
static void add_keywords(void) {
    Cursor p = here();
    Value function;
    TsrText page = {0};
    if (!begins_argument(&p) || !owner_of_bracket(&function, &p)) return;
    const OpFunction *f = bind_function_of(function);
    const char *form = f != NULL && (f->form == BIND_METHOD || f->form == BIND_INPLACE) ? "Tensor." : "";
    TsrStatus status = help_write_page(&page, function);
    value_release(function);
    if (status != TSR_OK) exc_discard(status);
    for (const char *line = status == TSR_OK ? page.data : NULL; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (*line != ' ' && strncmp(line, form, strlen(form)) == 0) add_arguments(line, length);
        line += length + (line[length] == '\n');
    }
    tsr_text_free(&page);
}

/* The keys of the dict in front of the bracket: inside a quote those that are texts, without theirs. */
static bool add_keys(void) {
    Cursor p = here();
    Value owner;
    if (p.bracket != '[' || !owner_of_bracket(&owner, &p)) return false;
    const Dict *dict = value_is_dict(owner) ? value_as_dict(owner) : NULL;
    int64_t at = 0;
    for (const DictEntry *e; dict != NULL && (e = dict_next(dict, &at)) != NULL;) {
        TsrText text = {0};
        if (p.quote != '\0' ? value_is_str(e->key) : value_is_str(e->key) || value_is_int(e->key)) {
            TsrStatus status = p.quote != '\0' ? value_str(&text, e->key) : value_repr(&text, e->key);
            if (status != TSR_OK) exc_discard(status);
            else if (text.data != NULL) add(text.data, NULL);
        }
        tsr_text_free(&text);
    }
    value_release(owner);
    return dict != NULL;
}

bool complete_wants_key(void) {
    Cursor p = here();
    Value owner = VALUE_UNBOUND;
    bool is = p.bracket == '[' && p.quote != '\0' && p.quote_at == p.bracket_at + 1 && owner_of_bracket(&owner, &p) &&
              value_is_dict(owner);
    value_release(owner);
    return is;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool names_from_module(void) { return strncmp(line_typed() + strspn(line_typed(), " "), "from ", 5) == 0; }

/* Names, where no dot stands in the word: of an argument or a key alone where nothing is typed yet. */
static void add_names(void) {
    bool keys = add_keys();
    if (!keys) add_keywords();
    if (found.word[0] == '\0' && found.count > 0) return;
    vm_each_visible_name(add, NULL);
    for (int kind = K_FALSE; kind < TOKEN_KIND_COUNT; kind++) add(token_text((TokenKind)kind), NULL);
}

static void collect(const char *typed) {
    const char *dot = strrchr(typed, '.');
    bool whole = names_module() || complete_wants_key() || dot == NULL;
    forget();
    found.typed = typed;
    found.prefix = whole ? 0 : (size_t)(dot - typed) + 1;
    found.word = typed + found.prefix;
    if (names_module()) {
        add_modules();
    } else if (names_from_module()) {
        add_module_names();
    } else if (complete_wants_key()) {
        add_keys();
    } else if (names_magic(typed)) {
        for (int i = 0; magic_at(i) != NULL; i++) add(magic_at(i)->name, NULL);
    } else if (dot == NULL) {
        add_names();
    } else {
        add_members(typed);
    }
    qsort(found.items, (size_t)found.count, sizeof *found.items, by_text);
}

char *complete_word(const char *word, int index) {
    if (index == 0) collect(word);
    static int at;
    if (index == 0) at = 0;
    while (at > 0 && at < found.count && strcmp(found.items[at], found.items[at - 1]) == 0)
        at++; /* a name seen twice */
    return at < found.count ? strdup(found.items[at++]) : NULL;
}
