/* value.c: the life of objects, the bound of recursion, and the static tables that start the interpreter.
 *
 * Small objects come from free lists in steps of 16 bytes, the first of them cut from one block, large ones from
 * malloc; builds under AddressSanitizer use malloc for all, to see each. obj_dealloc runs a type's destructor; where
 * many are running already the object waits in a list, so that a deep nest is freed with a bounded stack. */
#include "value.h"

#include "exc.h"
#include "native.h"
#include "gc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "value_impl.h"

#include <string.h>

Type *const value_immediate_types[] = {
    [V_UNBOUND] = &none_type, [V_NONE] = &none_type,   [V_BOOL] = &bool_type,
    [V_INT] = &int_type,      [V_FLOAT] = &float_type,
};
Type *tensor_type = &object_type;
TensorHooks tensor_hooks;
int recursion_depth, recursion_limit = 1000;
uint32_t value_nans;

void value_set_tensor_type(Type *type) { tensor_type = type; }

TsrStatus mem_error(void) { return tsr_error(TSR_MEMORY_ERROR, "%s", ""); }

TsrStatus mem_grow(void *items, int64_t *capacity, int64_t wanted, size_t size) {
    if (wanted <= *capacity) return TSR_OK;
    size_t room = (size_t)*capacity;
    if (tsr_mem_grow(items, &room, (size_t)wanted, size) != TSR_OK) return mem_error();
    *capacity = (int64_t)room;
    return TSR_OK;
}

/* --- memory of objects: free lists in steps of 16 bytes --- */

enum { STEP = 16, CLASSES = 16, KEEP = 512 };
#if defined(__SANITIZE_ADDRESS__)
enum { USE_FREE_LISTS = 0 };
#else
enum { USE_FREE_LISTS = 1 };
#endif
typedef struct FreeBlock {
    struct FreeBlock *next;
} FreeBlock;
static FreeBlock *free_blocks[CLASSES + 1];
static int free_counts[CLASSES + 1];

/* What a start makes, and a short program, is cut from here: first_cut bytes are. */
static _Alignas(STEP) char first[USE_FREE_LISTS ? 120 << 10 : STEP];
static size_t first_cut;

int64_t obj_room_left(void) { return (int64_t)(sizeof first - first_cut); }

/* A block of whole steps, of its own once the first ones are used up. */
static void *block_cut(size_t bytes) {
    if (!USE_FREE_LISTS || bytes > sizeof first - first_cut) return tsr_malloc(bytes);
    if (TSR_UNLIKELY(tsr_mem_inject_failure())) return NULL;
    void *piece = first + first_cut;
    first_cut += bytes;
    return piece;
}

static bool is_of_first(const void *block) { return (uintptr_t)block - (uintptr_t)first < sizeof first; }

static void *block_new(size_t size) {
    size_t class = (size + STEP - 1) / STEP;
    if (class > CLASSES) return tsr_malloc(size);
    if (free_blocks[class] != NULL) {
        FreeBlock *block = free_blocks[class];
        free_blocks[class] = block->next;
        free_counts[class]--;
        return block;
    }
    return block_cut(class * STEP);
}

void *obj_new(Type *type, size_t size) {
    Obj *object = block_new(size);
    if (TSR_UNLIKELY(object == NULL)) {
        mem_error();
        return NULL;
    }
    if (size <= CLASSES * STEP) memset(object, 0, size);
    else if (type->flags & TYPE_GC) memset(object, 0, sizeof(GcObj));
    object->refcount = 1;
    object->flags = 0;
    object->type = type;
    return object;
}

void obj_free(void *object, size_t size) {
    size_t class = (size + STEP - 1) / STEP;
    if (USE_FREE_LISTS && class <= CLASSES && (free_counts[class] < KEEP || is_of_first(object))) {
        FreeBlock *block = object;
        block->next = free_blocks[class];
        free_blocks[class] = block;
        free_counts[class]++;
        return;
    }
    tsr_free(object);
}

/* The first pieces are cut again only when all of them are back. */
static void free_lists_drop(void) {
    size_t back = 0;
    for (size_t i = 0; i <= CLASSES; i++) {
        while (free_blocks[i] != NULL) {
            FreeBlock *block = free_blocks[i];
            free_blocks[i] = block->next;
            if (is_of_first(block)) back += i * STEP;
            else tsr_free(block);
        }
        free_counts[i] = 0;
    }
    if (back == first_cut) first_cut = 0;
}

/* Objects that die while many destructors are already running wait in a list, so that a deep nest is freed
 * with a bounded stack. */
enum { DEALLOC_DEPTH = 40 };
static int dealloc_depth;
static Obj *dead_objects;

void obj_dealloc(Obj *object) {
    if (object->flags & OBJ_TRACKED) gc_untrack(object);
    if (dealloc_depth >= DEALLOC_DEPTH) {
        object->next_dead = dead_objects;
        dead_objects = object;
        return;
    }
    dealloc_depth++;
    object->type->destroy(object);
    while (dealloc_depth == 1 && dead_objects != NULL) {
        Obj *next = dead_objects;
        dead_objects = next->next_dead;
        next->next_dead = NULL;
        next->type->destroy(next);
    }
    dealloc_depth--;
}

void values_release(Value *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) value_release(values[i]);
}

/* --- recursion --- */

TsrStatus recursion_error(const char *where) {
    return tsr_error(TSR_RECURSION_ERROR, "maximum recursion depth exceeded%s", where);
}

static ReprGuard *repr_guards;

TsrStatus repr_enter(ReprGuard *guard, Obj *object, bool *again) {
    for (const ReprGuard *g = repr_guards; g != NULL; g = g->outer) {
        if (g->object == object) {
            *again = true;
            return TSR_OK;
        }
    }
    *again = false;
    TSR_TRY(recursion_enter(" while getting the repr of an object"));
    guard->object = object;
    guard->outer = repr_guards;
    repr_guards = guard;
    return TSR_OK;
}

void repr_leave(ReprGuard *guard) {
    repr_guards = guard->outer;
    recursion_leave();
}

/* --- start and end --- */

TsrStatus value_startup(void) {
    type_startup();
    TSR_TRY(str_startup());
    return exc_startup();
}

void value_shutdown(void) {
    module_shutdown();
    gc_collect();
    exc_shutdown();
    type_shutdown();
    gc_collect();
    tuple_shutdown(); /* after the last object: what dies asks its type */
    namedtuple_shutdown();
    str_shutdown();
    free_lists_drop();
}
