/* The collector of cycles, by trial deletion. All containers are on one list; a collection subtracts the references
 * that come from other containers, marks what is still reached from outside, and clears the rest. It starts when the
 * number of new containers passes a threshold. */
#include "gc.h"

enum { FIRST_THRESHOLD = 20000 };

typedef struct GcList {
    GcObj head;
} GcList;

void (*gc_tensor_visit)(TsrTensor *t, void *context);

static GcObj tracked = {.gc_next = &tracked, .gc_prev = &tracked};
static int64_t live, born, threshold = FIRST_THRESHOLD;
static bool running;

static void unlink_object(GcObj *o) {
    o->gc_prev->gc_next = o->gc_next;
    o->gc_next->gc_prev = o->gc_prev;
}

static void link_before(GcObj *head, GcObj *o) {
    o->gc_prev = head->gc_prev;
    o->gc_next = head;
    head->gc_prev->gc_next = o;
    head->gc_prev = o;
}

void gc_track(void *object) {
    GcObj *o = object;
    if (o->obj.flags & OBJ_TRACKED) return;
    if (TSR_UNLIKELY(++born > threshold) && !running) gc_collect();
    o->obj.flags |= OBJ_TRACKED;
    link_before(&tracked, o);
    live++;
}

void gc_untrack(void *object) {
    GcObj *o = object;
    if (!(o->obj.flags & OBJ_TRACKED)) return;
    o->obj.flags &= ~(uint32_t)OBJ_TRACKED;
    unlink_object(o);
    live--;
    if (born > 0) born--;
}

int64_t gc_live(void) { return live; }

static TsrStatus visit_subtract(Obj *object, void *context) {
    (void)context;
    if (object->flags & OBJ_TRACKED) ((GcObj *)object)->gc_count--;
    return TSR_OK;
}

static TsrStatus visit_reach(Obj *object, void *context) {
    if ((object->flags & (OBJ_TRACKED | OBJ_MARK)) != OBJ_TRACKED) return TSR_OK;
    object->flags |= OBJ_MARK;
    unlink_object((GcObj *)object);
    link_before(context, (GcObj *)object);
    return TSR_OK;
}

/* Moves all that is reached from outside to `reached`; what stays in `tracked` is garbage. False when an interrupt,
 * which is left to be raised, ended it. */
static bool find_reached(GcObj *reached) {
    for (GcObj *o = tracked.gc_next; o != &tracked; o = o->gc_next) o->gc_count = o->obj.refcount;
    for (GcObj *o = tracked.gc_next; o != &tracked && tsr_interrupt_flag == 0; o = o->gc_next)
        o->obj.type->traverse(&o->obj, visit_subtract, NULL);
    if (tsr_interrupt_flag != 0) return false;
    for (GcObj *o = tracked.gc_next, *next; o != &tracked; o = next) {
        next = o->gc_next;
        if (o->gc_count > 0) visit_reach(&o->obj, reached);
    }
    for (GcObj *o = reached->gc_next; o != reached && tsr_interrupt_flag == 0; o = o->gc_next)
        o->obj.type->traverse(&o->obj, visit_reach, reached);
    return tsr_interrupt_flag == 0;
}

static void splice(GcObj *to, GcObj *from) {
    if (from->gc_next == from) return;
    from->gc_next->gc_prev = to->gc_prev;
    to->gc_prev->gc_next = from->gc_next;
    from->gc_prev->gc_next = to;
    to->gc_prev = from->gc_prev;
    from->gc_next = from->gc_prev = from;
}

int64_t gc_collect(void) {
    if (running) return 0;
    void (*tensor_visit)(TsrTensor *, void *) = gc_tensor_visit; /* not this walk's */
    gc_tensor_visit = NULL;
    running = true;
    GcObj reached = {.gc_next = &reached, .gc_prev = &reached};
    GcObj garbage = {.gc_next = &garbage, .gc_prev = &garbage};
    if (find_reached(&reached)) splice(&garbage, &tracked);
    for (GcObj *o = reached.gc_next; o != &reached; o = o->gc_next) o->obj.flags &= ~(uint32_t)OBJ_MARK;
    splice(&tracked, &reached);
    int64_t found = 0;
    for (GcObj *o = garbage.gc_next; o != &garbage; o = o->gc_next) {
        o->obj.refcount++; /* holds it until all are cleared */
        found++;
    }
    for (GcObj *o = garbage.gc_next; o != &garbage; o = o->gc_next) o->obj.type->clear(&o->obj);
    while (garbage.gc_next != &garbage) {
        GcObj *o = garbage.gc_next;
        gc_untrack(o);
        obj_release(o);
    }
    born = 0;
    threshold = live > 4 * FIRST_THRESHOLD ? live / 2 : FIRST_THRESHOLD;
    running = false;
    gc_tensor_visit = tensor_visit;
    return found;
}
