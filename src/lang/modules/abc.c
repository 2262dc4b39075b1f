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
    const char *methods;       /* all of these, separated by spaces; NULL: the types decide */
    const Type *members[MOST]; /* up to NULL */
} Abc;

static TsrStatus has_method(bool *out, Value v, const char *name, size_t length) {
    Value found;
    Str *s = str_intern(name, (int64_t)length);
    if (s == NULL) return mem_error();
    if (strcmp(s->data, "__hash__") == 0) return *out = value_type(v)->hash != hash_refused, TSR_OK;
    if (strcmp(s->data, "__call__") == 0) return *out = value_is_callable(v), TSR_OK;
    TSR_TRY(value_lookup_attr(&found, v, s));
    *out = found.tag != V_UNBOUND;
    value_release(found);
    return TSR_OK;
}

static TsrStatus is_instance(bool *out, Type *type, Value v) {
    const Abc *abc = (const Abc *)type;
    *out = abc->methods != NULL;
    for (const char *p = abc->methods; p != NULL && *p != '\0' && *out; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        TSR_TRY(has_method(out, v, p, n));
        p += n;
    }
    for (int i = 0; abc->methods == NULL && i < MOST && abc->members[i] != NULL; i++)
        *out |= value_is_a(v, abc->members[i]);
    return TSR_OK;
}

#define ABC_OF(module_, name_, ...) \
    { .type = {.obj = TYPE_HEADER, .name = name_, .module = module_, .instance_check = is_instance}, __VA_ARGS__ }
#define ABC(...) ABC_OF("collections.abc", __VA_ARGS__)
#define BY_METHODS(name, text) ABC(name, .methods = text)
#define BY_TYPES(name, ...) ABC(name, .members = {__VA_ARGS__})
static Abc rows[] = {
    BY_METHODS("Callable", "__call__"),
    BY_METHODS("Collection", "__len__ __iter__ __contains__"),
    BY_METHODS("Container", "__contains__"),
    BY_METHODS("Hashable", "__hash__"),
    BY_METHODS("Iterable", "__iter__"),
    BY_METHODS("Iterator", "__iter__ __next__"),
    BY_METHODS("Reversible", "__reversed__ __iter__"),
    BY_METHODS("Sized", "__len__"),
    BY_TYPES("ByteString", &bytes_type, &bytearray_type),
    BY_TYPES("Generator", &generator_type),
    BY_TYPES("Mapping", &dict_type),
    BY_TYPES("MutableMapping", &dict_type),
    BY_TYPES("MutableSequence", &list_type, &bytearray_type, &deque_type),
    BY_TYPES("MutableSet", &set_type),
    BY_TYPES("Sequence", &list_type, &tuple_type, &str_type, &range_type, &bytes_type, &bytearray_type, &deque_type),
    BY_TYPES("Set", &set_type, &frozenset_type, &dict_keys_type, &dict_items_type),
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
#define NUMBER(name, ...) ABC_OF("numbers", name, .members = {__VA_ARGS__})
static Abc number_rows[] = {
    NUMBER("Number", &int_type, &float_type, &complex_type, &bool_type),
    NUMBER("Complex", &int_type, &float_type, &complex_type, &bool_type),
    NUMBER("Real", &int_type, &float_type, &bool_type),
    NUMBER("Rational", &int_type, &bool_type),
    NUMBER("Integral", &int_type, &bool_type),
};

static TsrStatus numbers_fill(Module *module) {
    for (size_t i = 0; i < TSR_COUNTOF(number_rows); i++)
        TSR_TRY(module_add(module, number_rows[i].type.name, value_lent(&number_rows[i].type)));
    return TSR_OK;
}

const NsModule ns_numbers = {"numbers", "Kinds of numbers, for isinstance().", NULL, numbers_fill, NULL};
#endif
