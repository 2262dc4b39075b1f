/* gc.h: the collector of cycles that counts can't free.
 *
 * Trial deletion: over all tracked containers, references from inside are subtracted from the counts; what then
 * has none left and is not reached from what has, is garbage and is cleared. No finaliser of the language runs,
 * so a collection may happen at any allocation of a container. */
#ifndef LANG_OBJECT_GC_H
#define LANG_OBJECT_GC_H

#include "value.h"

/* From now on the object takes part: call it when it is whole (traverse may be called at once). May collect. */
void gc_track(void *object);
void gc_untrack(void *object); /* fine when not tracked */
int64_t gc_collect(void);      /* runs now; how many objects were found in dead cycles */
int64_t gc_live(void);         /* containers tracked */

/* While torch/holders.c walks it also sees the tensors that objects hold directly; NULL otherwise. */
extern void (*gc_tensor_visit)(TsrTensor *t, void *context);

static inline void gc_visit_value(Value v, GcVisit visit, void *context) {
    if (v.tag == V_OBJ) visit(v.o, context);
    else if (v.tag == V_TENSOR && gc_tensor_visit != NULL) gc_tensor_visit(v.t, context);
}
static inline void gc_visit_obj(void *object, GcVisit visit, void *context) {
    if (object != NULL) visit(object, context);
}

/* NAME_destroy, NAME_traverse and NAME_clear of a type whose instances, a Struct, hold some values and nothing else:
 * GC_HOLDS(pair, Pair, &it->first, &it->second) */
#define GC_HOLDS(name, Struct, ...) \
    static void name##_destroy(Obj *self) { \
        Struct *it = (Struct *)self; \
        Value *const held[] = {__VA_ARGS__}; \
        for (size_t i = 0; i < TSR_COUNTOF(held); i++) value_release(*held[i]); \
        obj_free(it, sizeof *it); \
    } \
    static void name##_traverse(Obj *self, GcVisit visit, void *context) { \
        Struct *it = (Struct *)self; \
        Value *const held[] = {__VA_ARGS__}; \
        for (size_t i = 0; i < TSR_COUNTOF(held); i++) gc_visit_value(*held[i], visit, context); \
    } \
    static void name##_clear(Obj *self) { \
        Struct *it = (Struct *)self; \
        Value *const held[] = {__VA_ARGS__}; \
        for (size_t i = 0; i < TSR_COUNTOF(held); i++) value_clear(held[i]); \
    }

#endif
