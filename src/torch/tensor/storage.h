/* storage.h: torch.UntypedStorage and torch.TypedStorage as values: a counted hold on a core storage. */
#ifndef TORCH_TENSOR_STORAGE_H
#define TORCH_TENSOR_STORAGE_H

#include "core/storage.h"
#include "lang/object/value.h"

typedef struct StorageObj {
    Obj obj;
    TsrStorage *storage; /* retained */
    TsrDtype dtype;      /* elements; uint8 when untyped */
} StorageObj;

extern Type untyped_storage_type, typed_storage_type;
extern Type legacy_storage_types
    [TSR_DTYPE_COUNT]; /* torch.FloatStorage and its kin, by dtype; name NULL where torch has none */
static inline bool value_is_storage(Value v) {
    return v.tag == V_OBJ && (v.o->type == &untyped_storage_type || v.o->type == &typed_storage_type);
}

static inline const TsrStorage *storage_obj_of(Value v) { return ((const StorageObj *)v.o)->storage; } /* lent */
/* The storage that a slice of another one's bytes keeps alive, lent; NULL for a storage that is no such part. */
const TsrStorage *storage_obj_whole(Value v);
/* dtype TSR_DTYPE_NONE: untyped. */
TsrStatus storage_obj_new(Value *out, TsrStorage *storage, TsrDtype dtype);

#endif
