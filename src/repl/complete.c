#include "complete.h"

#include <stdlib.h>
#include <string.h>

#include "exc.h"
#include "func_obj.h"
#include "lexer.h"
#include "line.h"
#include "magic.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "vm.h"

/* The candidates of the word in hand. */
static struct {
    char **items;
    int count, room;
    const char *word;    /* what they must begin with */
    size_t prefix;       /* length of "a.b." before it in the text typed */
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

/* The value of "a.b" by names and attributes alone. False when there is none. */
static bool resolve(Value *out, const char *path, size_t length) {
    char *copy = strndup(path, length);
    if (copy == NULL) return false;
    char *rest = copy, *name = strsep(&rest, ".");
    Value v = value_retain(globals_resolve(name));
    while (v.tag != V_UNBOUND && rest != NULL) {
        Value next = VALUE_UNBOUND;
        Str *attribute = str_intern_c(strsep(&rest, "."));
        TsrStatus status = attribute != NULL ? value_lookup_attr(&next, v, attribute) : TSR_MEMORY_ERROR;
        if (status != TSR_OK) exc_discard(status);
        value_release(v);
        v = next;
    }
    free(copy);
    *out = v;
    return v.tag != V_UNBOUND;
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
static Type *likely_type(void) {
    char before = line_before(strlen(found.typed) + 1);
    if (before == ')' || before == ']') return tensor_type;
    return before == '"' || before == '\'' ? &str_type : NULL;
}

static void add_members(const char *typed) {
    Value v;
    if (found.prefix == 1) {
        if (likely_type() != NULL) add_attributes(value_lent(likely_type()));
        if (likely_type() == tensor_type && found.count == 0) add_attributes(value_lent(&str_type));
    } else if (resolve(&v, typed, found.prefix - 1)) {
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
    for (int64_t i = 0; i < value_as_list(names)->count; i++) add(value_as_str(value_as_list(names)->items[i])->data, NULL);
    value_release(names);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void collect(const char *typed) {
    const char *dot = strrchr(typed, '.');
    forget();
    found.typed = typed;
    found.prefix = names_module() || dot == NULL ? 0 : (size_t)(dot - typed) + 1;
    found.word = typed + found.prefix;
    if (names_module()) {
        add_modules();
    } else if (names_magic(typed)) {
        for (int i = 0; magic_at(i) != NULL; i++) add(magic_at(i)->name, NULL);
    } else if (dot == NULL) {
        vm_each_visible_name(add, NULL);
        for (int kind = K_FALSE; kind < TOKEN_KIND_COUNT; kind++) add(token_text((TokenKind)kind), NULL);
    } else {
        add_members(typed);
    }
    qsort(found.items, (size_t)found.count, sizeof *found.items, by_text);
}

char *complete_word(const char *word, int index) {
    if (index == 0) collect(word);
    static int at;
    if (index == 0) at = 0;
    while (at > 0 && at < found.count && strcmp(found.items[at], found.items[at - 1]) == 0) at++; /* a name seen twice */
    return at < found.count ? strdup(found.items[at++]) : NULL;
}
