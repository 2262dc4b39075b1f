/* inspect.h: the introspection functions of namespace tsr: facts as data, shown at the prompt as cards and tables.
 * refcount, holders, storage_id, storage_refcount, sharing, shares_memory, overlap, has_internal_overlap, inspect,
 * whos, storages, leaks. (anatomy, why, memory and the allocators have files of their own.) */
#ifndef SHOW_FACTS_INSPECT_H
#define SHOW_FACTS_INSPECT_H

#include "lang/object/value.h"

TsrStatus inspect_startup(void);

/* What a None that is the value of a statement means, for the one who typed it ("no common element"); static; forgotten
 * with the next statement. */
extern const char *inspect_none_note;

/* "t() of a", "add()", "" : how a tensor came about, by the names of now. Returns buffer. */
char *inspect_origin(char *buffer, size_t room, struct TsrTensor *t);
/* Of an address, up to a line of the caches: more is chance, and a card would differ from run to run; 0 of NULL. */
int64_t inspect_alignment(const void *data);
/* Whether two views of one storage have an element in common, as far as can be told in bounded time (a tensor that is
 * gone keeps its geometry while a weak link to it is held). */
bool inspect_overlaps(const struct TsrTensor *a, const struct TsrTensor *b);

#endif
