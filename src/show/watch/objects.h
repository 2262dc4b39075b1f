/* objects.h: what the tensors and storages in a log of events are called, from its first row to its last: a tensor by
 * the name that held it when the log began, else by the one that holds it when it ends, else by the expression in which
 * it was seen first; a storage by its number (storage_id). Weak links keep a tensor's struct, not its memory, so that
 * no two of them have one address. */
#ifndef SHOW_OBJECTS_H
#define SHOW_OBJECTS_H

#include "core/tensor.h"

typedef struct Object {
    const void *at;
    TsrTensor *t;       /* a weak link; NULL: a storage */
    int64_t serial, id; /* of a storage; serial 0: it was being made when it was last seen */
    char *name;         /* owned; of a tensor; NULL: none */
    char *text;         /* owned; the expression in which it was seen first */
} Object;

typedef struct Objects {
    Object *items; /* owned */
    int64_t count, capacity;
    int64_t *table; /* owned; open addressing by address: the youngest object there, plus 1 */
    int64_t slots;  /* a power of two, or 0 */
    bool short_of_memory;
} Objects;

void objects_begin(Objects *o); /* gives names to what has one now */
void objects_end(Objects *o);   /* and to what has one by now, whole: objects_name may be called from here on */
void objects_free(Objects *o);
/* The number of the tensor or the storage (NULL: -1), which is added when it is new; -1 when memory was short. */
int64_t objects_tensor(Objects *o, TsrTensor *t);
int64_t objects_storage(Objects *o, TsrStorage *s);
/* Lent; NULL for -1. */
const char *objects_name(const Objects *o, int64_t i);

#endif
