/* kind.h: types whose methods are written in the language.
 *
 * A kind is a row of C, and its methods are functions of a prelude source (prelude.h): `Normal__sample(self, ...)` is
 * the method sample of the kind Normal, `Normal__get_mean(self)` the attribute mean, which is computed when it is read,
 * `Normal__support = ...` an attribute of the kind itself, and `Normal____init__(self, ...)` makes an instance of what
 * it is called with. A kind has the methods of its base, too. Its instances have a dict of attributes, as Python's
 * objects have; users can make no kinds. */
#ifndef LANG_VM_KIND_H
#define LANG_VM_KIND_H

#include "lang/object/native.h"

/* A row, of static lifetime; made by KIND. */
typedef struct Kind {
    Type type;
    const char *home;  /* the module that has its name */
    const char *space; /* of the prelude, where the methods are */
    bool ready;        /* its slots are filled */
} Kind;

/* module: what is written before the name, NULL: nothing; base: the type of another Kind, or NULL. */
#define KIND(name_, module_, base_, home_, space_) \
    { .type = {.obj = TYPE_HEADER, .name = name_, .module = module_, .base = base_}, .home = home_, .space = space_ }

/* The type of the row among `count` that has this name and home, ready for use, lent; V_UNBOUND: none has. */
Value kind_named(Kind *rows, size_t count, const char *home, const char *name);

/* Appends the names of the rows of a module as str, for dir(). */
TsrStatus kind_append_names(List *names, const Kind *rows, size_t count, const char *home);

/* The attributes of an instance of a kind, lent; NULL: `o` is none. */
Dict *kind_attributes(const Obj *o);

/* What `v` is as the path of a file: the text that a path of pathlib stands for, its attribute _path, or v itself.
 * Lent. */
Value kind_path(Value v);

#endif
