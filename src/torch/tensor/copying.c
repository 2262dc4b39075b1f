/* copying.c: what copy.copy and copy.deepcopy make of tensors, storages and generators (the slot `copy` of their
 * types). A tensor's deep copy has a copy of the whole storage, and two views of one storage are again views of one:
 * memo["torch"] remembers the copies of storages. */
#include "copying.h"

#include <string.h>

#include "torch/bind/bind.h"
#include "core/tensor/inference.h"
#include "core/view.h"
#include "lang/object/exc.h"
#include "lang/types/dict.h"
#include "storage.h"

static TsrStatus copy_storage(Value *out, TsrStorage *storage) {
    TsrStorage *made;
    TSR_TRY(tsr_storage_new(&made, storage->ptr.device, storage->nbytes, TSR_DTYPE_NONE));
    if (storage->nbytes > 0) memcpy(tsr_storage_data(made), tsr_storage_data(storage), storage->nbytes);
    TsrStatus status = tsr_memory_lost != 0 ? tsr_memory_check(tsr_storage_data(storage), storage->nbytes) : TSR_OK;
    if (status == TSR_OK) status = storage_obj_new(out, made, TSR_DTYPE_NONE);
    tsr_storage_free(made);
    return status;
}

/* memo["torch"]: the copies of storages, by their addresses. Lent. */
static TsrStatus storages_of(Dict **lent, Dict *memo) {
    Value *found = dict_find_c(memo, "torch"), made;
    if (found == NULL) {
        TSR_TRY(dict_new(&made));
        TSR_TRY(dict_set_c_move(memo, "torch", made));
        found = dict_find_c(memo, "torch");
    }
    if (found == NULL || !value_is_dict(*found)) return tsr_error(TSR_TYPE_ERROR, "memo['torch'] is no dict");
    *lent = value_as_dict(*found);
    return TSR_OK;
}

static TsrStatus new_storage(TsrStorage **lent, TsrStorage *storage, Dict *memo) {
    Dict *storages;
    Value *found, made;
    TSR_TRY(storages_of(&storages, memo));
    TSR_TRY(dict_find(&found, storages, value_int((int64_t)(uintptr_t)storage)));
    if (found == NULL) {
        TSR_TRY(copy_storage(&made, storage));
        TsrStatus status = dict_set(storages, value_int((int64_t)(uintptr_t)storage), made);
        *lent = ((StorageObj *)made.o)->storage;
        value_release(made);
        return status;
    }
    *lent = ((StorageObj *)found->o)->storage;
    return TSR_OK;
}

/* A tensor whose bytes can be copied as they are. */
static bool is_plain(const TsrTensor *t) {
    if (tsr_device_has_backend(t->device)) return false;
    bool bytes = tsr_is_defined(t) && t->storage != NULL && t->sparse == NULL && tsr_storage_data(t->storage) != NULL;
    return bytes && t->storage->element == TSR_DTYPE_NONE && (t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0;
}

static TsrStatus deep_tensor(Value *out, Value v, Dict *memo) {
    TsrTensor *t = v.t, *made;
    TsrStorage *storage;
    if (!is_plain(t)) {
        bool lazy = tsr_is_defined(t) && (t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) != 0;
        if (!lazy) return bind_call(out, "clone", 1, &v);
        TSR_TRY(bind_call(out, "conj_physical", 1, &v)); /* a new tensor with what v shows: conj twice */
        Value once = *out;
        TsrStatus status = bind_call(out, "conj_physical", 1, &once);
        value_release(once);
        return status;
    }
    TSR_TRY(new_storage(&storage, t->storage, memo));
    TSR_TRY(tsr_tensor_new_over(&made, storage, tsr_tensor_geometry(t), t->dtype));
    *out = value_tensor_move(made);
    return TSR_OK;
}

static TsrStatus shallow_tensor(Value *out, Value v) {
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new_data(&t, v.t));
    *out = value_tensor_move(t);
    return tsr_tensor_follow_mode(t);
}

TsrStatus copy_tensor(Value *out, Value self, Dict *memo) {
    return memo == NULL ? shallow_tensor(out, self) : deep_tensor(out, self, memo);
}

TsrStatus copy_storage_object(Value *out, Value self, Dict *memo) {
    (void)memo;
    return value_call_method(out, self, "clone", 0, NULL);
}

TsrStatus copy_generator(Value *out, Value self, Dict *memo) {
    (void)memo;
    return value_call_method(out, self, "clone_state", 0, NULL);
}
