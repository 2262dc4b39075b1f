/* inspect.h: the introspection functions of namespace tsr: facts as data, shown at the prompt as cards and tables.
 * refcount, holders, storage_id, storage_refcount, sharing, shares_memory, overlap, has_internal_overlap, inspect, whos, storages, why,
 * anatomy, memory, empty_cache, typemeta, allocators, set_allocator, leaks. */
#ifndef REPL_INSPECT_H
#define REPL_INSPECT_H

#include "value.h"

TsrStatus inspect_startup(void);

/* What a None that is the value of a statement means, for the one who typed it ("no common element"); static; forgotten with the next statement. */
extern const char *inspect_none_note;

/* More of what leaks() reports: appends str to a list. Registered by the modules that hand out raw references and borrows. */
typedef TsrStatus (*LeakSource)(List *out);
void inspect_register_leaks(LeakSource source);

/* A list of dicts made by the caller shows as a table from now on. */
void table_mark(Value list);
/* Makes `type` a kind of dict, list or str that shows itself by `repr`. */
void inspect_derive(Type *type, Type *from, const char *name, TsrStatus (*repr)(TsrText *, Value));
void note_mark(Value str); /* a str that shows without quotes */
/* "t() of a", "add()", "" : how a tensor came about, by the names of now. Returns buffer. */
char *inspect_origin(char *buffer, size_t room, struct TsrTensor *t);
/* Whether two views of one storage have an element in common, as far as can be told in bounded time (a tensor that is gone keeps its geometry while a
 * weak link to it is held). */
bool inspect_overlaps(const struct TsrTensor *a, const struct TsrTensor *b);

#endif
