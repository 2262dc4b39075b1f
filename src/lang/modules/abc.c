/* abc.c: Python's collections.abc and numbers. A row is a type that is nobody's base: isinstance() asks for methods, or
 * for the types that Python registers with it. */
#include "abc.h"

#include <string.h>

#include "lang/object/value_impl.h"
#include "lang/types/bytes.h"
#include "lang/types/collections.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "modules.h"

enum { MOST = 7 };

typedef struct Abc {
    Type type;
    const char *methods;       /* all of these, separated by spaces; NULL: the types alone decide */
    const Type *members[MOST]; /* up to NULL; these are instances whatever their methods */
    const char *above;         /* the abstract types that this one is made from */
} Abc;

static bool is_callable(const Type *type) {
    while (type != NULL && type->call == NULL) type = type_base(type);
    return type != NULL;
}

/* Of v, an instance of `type`, or `type` itself. */
static TsrStatus has_method(bool *out, const Type *type, Value v, const char *name, size_t length) {
    Value found;
    Str *s = str_intern(name, (int64_t)length);
    if (s == NULL) return mem_error();
    if (strcmp(s->data, "__hash__") == 0) return *out = type->hash != hash_refused, TSR_OK;
    if (strcmp(s->data, "__call__") == 0) return *out = is_callable(type), TSR_OK;
    TSR_TRY(value_lookup_attr(&found, v, s));
    *out = found.tag != V_UNBOUND;
    value_release(found);
    return TSR_OK;
}

/* False for no methods at all. */
static TsrStatus has_methods(bool *out, const Type *type, Value v, const char *methods) {
    *out = methods != NULL;
    for (const char *p = methods; p != NULL && *p != '\0' && *out; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        TSR_TRY(has_method(out, type, v, p, n));
        p += n;
    }
    return TSR_OK;
}

static TsrStatus is_instance(bool *out, Type *type, Value v) {
    const Abc *abc = (const Abc *)type;
    TSR_TRY(has_methods(out, value_type(v), v, abc->methods));
    for (int i = 0; i < MOST && abc->members[i] != NULL; i++) *out |= value_is_a(v, abc->members[i]);
    return TSR_OK;
}

#ifndef __wasm__ /* for the size of the page, where abstract types are asked about values only */
static bool is_word_of(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *p = words; p != NULL && (p = strstr(p, word)) != NULL; p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
    return false;
}

TsrStatus abc_subclass(bool *out, const Type *type, const Type *asked) {
    const Abc *abc = (const Abc *)asked, *made = (const Abc *)type;
    if (*out || asked->instance_check != is_instance) return TSR_OK;
    if (type->instance_check == is_instance) return *out = is_word_of(made->above, asked->name), TSR_OK;
    TSR_TRY(has_methods(out, type, value_lent((Type *)type), abc->methods));
    for (int i = 0; i < MOST && abc->members[i] != NULL; i++) *out |= type_is_subtype(type, abc->members[i]);
    return TSR_OK;
}
#define ABOVE(text) .above = text
#else
TsrStatus abc_subclass(bool *out, const Type *type, const Type *asked) {
    (void)out, (void)type, (void)asked;
    return TSR_OK;
}
#define ABOVE(text) .above = NULL
#endif

#define ABC_OF(module_, name_, ...) \
    { .type = {.obj = TYPE_HEADER, .name = name_, .module = module_, .instance_check = is_instance}, __VA_ARGS__ }
#define ABC(...) ABC_OF("collections.abc", __VA_ARGS__)
#define BY_METHODS(name, text, above) ABC(name, .methods = text, ABOVE(above))
#define BY_TYPES(name, above, ...) ABC(name, .members = {__VA_ARGS__}, ABOVE(above))
#define COLLECTION "Collection Sized Iterable Container"
#define SEQUENCE "Sequence Hashable Reversible " COLLECTION
static Abc rows[] = {
    BY_METHODS("Callable", "__call__", "Hashable"),
    ABC("Collection", .methods = "__len__ __iter__ __contains__", ABOVE("Hashable Sized Iterable Container"),
        .members = {&dict_values_type}),
    ABC("Container", .methods = "__contains__", ABOVE("Hashable"), .members = {&dict_values_type}),
    BY_METHODS("Hashable", "__hash__", NULL),
    BY_METHODS("Iterable", "__iter__", "Hashable"),
    BY_METHODS("Iterator", "__iter__ __next__", "Hashable Iterable"),
    ABC("Reversible", .methods = "__reversed__ __iter__", ABOVE("Hashable Iterable"),
        .members = {&tuple_type, &str_type, &bytes_type, &bytearray_type}),
    BY_METHODS("Sized", "__len__", "Hashable"),
    BY_TYPES("ByteString", SEQUENCE, &bytes_type, &bytearray_type),
    BY_TYPES("Generator", "Hashable Iterator Iterable", &generator_type),
    BY_TYPES("Mapping", COLLECTION, &dict_type),
    BY_TYPES("MutableMapping", "Mapping " COLLECTION, &dict_type),
    BY_TYPES("MutableSequence", SEQUENCE, &list_type, &bytearray_type, &deque_type),
    BY_TYPES("MutableSet", "Set " COLLECTION, &set_type),
    BY_TYPES("Sequence", "Hashable Reversible " COLLECTION, &list_type, &tuple_type, &str_type, &range_type,
             &bytes_type, &bytearray_type, &deque_type),
    BY_TYPES("Set", COLLECTION, &set_type, &frozenset_type, &dict_keys_type, &dict_items_type),
};

static Abc manager = ABC_OF("contextlib", "AbstractContextManager", .methods = "__enter__ __exit__");

TsrStatus abc_add_manager(Module *contextlib) {
    return module_add(contextlib, manager.type.name, value_lent(&manager.type));
}

Type *abc_type(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (strcmp(rows[i].type.name, name) == 0) return &rows[i].type;
    return NULL;
}

static TsrStatus fill(Module *module) {
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        TSR_TRY(module_add(module, rows[i].type.name, value_lent(&rows[i].type)));
    return TSR_OK;
}

const NsModule ns_collections_abc = {"collections.abc", "What a value can do, for isinstance().", NULL, fill, NULL};

#ifndef __wasm__ /* for the size of the page */
#define NUMBER(name, above, ...) ABC_OF("numbers", name, .members = {__VA_ARGS__}, ABOVE(above))
static Abc number_rows[] = {
    NUMBER("Number", NULL, &int_type, &float_type, &complex_type, &bool_type),
    NUMBER("Complex", "Number", &int_type, &float_type, &complex_type, &bool_type),
    NUMBER("Real", "Complex Number", &int_type, &float_type, &bool_type),
    NUMBER("Rational", "Real Complex Number", &int_type, &bool_type),
    NUMBER("Integral", "Rational Real Complex Number", &int_type, &bool_type),
};

static TsrStatus numbers_fill(Module *module) {
    for (size_t i = 0; i < TSR_COUNTOF(number_rows); i++)
        TSR_TRY(module_add(module, number_rows[i].type.name, value_lent(&number_rows[i].type)));
    return TSR_OK;
}

const NsModule ns_numbers = {"numbers", "Kinds of numbers, for isinstance().", NULL, numbers_fill, NULL};
#endif
