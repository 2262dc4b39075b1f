/* heapq.c: Python's heapq: lists kept as heaps, with CPython's moves. What sorts or merges is in prelude/heapq.tsr; a
 * push written in the language takes 3.4 times as long as this one (100,000 numbers onto a list). */
#include "modules.h"

#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/types/sequences.h"

static TsrStatus heap_of(List **lent, const CallArgs *args, const char *function) {
    Value v = args->values[0];
    if (!value_is_list(v))
        return tsr_error(TSR_TYPE_ERROR, "%s() argument%s must be list, not %s", function, args->count > 1 ? " 1" : "",
                         value_shown_type(v));
    *lent = value_as_list(v);
    return TSR_OK;
}

/* Whether item i is less than item k. */
static TsrStatus less(bool *out, const List *l, int64_t i, int64_t k) {
    int64_t count = l->count;
    Value a = value_retain(l->items[i]), b = value_retain(l->items[k]);
    TsrStatus status = value_compare_bool(out, CMP_LT, a, b);
    value_release(a);
    value_release(b);
    TSR_TRY(status);
    return l->count == count ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "list changed size during iteration");
}

static void swap(List *l, int64_t i, int64_t k) {
    Value v = l->items[i];
    l->items[i] = l->items[k];
    l->items[k] = v;
}

/* The item at `at` goes up towards `top` while it is less than its parent. */
static TsrStatus rise(List *l, int64_t top, int64_t at) {
    while (at > top) {
        int64_t parent = (at - 1) >> 1;
        bool smaller;
        TSR_TRY(less(&smaller, l, at, parent));
        if (!smaller) break;
        swap(l, at, parent);
        at = parent;
    }
    return TSR_OK;
}

/* The item at `top` goes down to a leaf, the smaller children up, and from there to its place: fewer comparisons than
 * stopping on the way. */
static TsrStatus sink(List *l, int64_t top) {
    int64_t at = top;
    TSR_TRY(tsr_interrupt_check());
    while (at < l->count >> 1) {
        int64_t child = 2 * at + 1;
        bool smaller = true;
        if (child + 1 < l->count) TSR_TRY(less(&smaller, l, child, child + 1));
        if (!smaller) child++;
        swap(l, at, child);
        at = child;
    }
    return rise(l, top, at);
}

static TsrStatus heapq_heapify(Value *out, const CallArgs *args) {
    List *l;
    *out = VALUE_NONE;
    TSR_TRY(heap_of(&l, args, "heapify"));
    for (int64_t i = l->count / 2 - 1; i >= 0; i--) TSR_TRY(sink(l, i));
    return TSR_OK;
}

static TsrStatus heapq_heappush(Value *out, const CallArgs *args) {
    List *l;
    *out = VALUE_NONE;
    TSR_TRY(heap_of(&l, args, "heappush"));
    TSR_TRY(list_append(l, args->values[1]));
    return rise(l, 0, l->count - 1);
}

static TsrStatus heapq_heappop(Value *out, const CallArgs *args) {
    List *l;
    TSR_TRY(heap_of(&l, args, "heappop"));
    if (l->count == 0) return tsr_error(TSR_INDEX_ERROR, "index out of range");
    Value last = l->items[--l->count];
    if (l->count == 0) {
        *out = last;
        return TSR_OK;
    }
    Value first = l->items[0];
    l->items[0] = last;
    return value_end_move(out, sink(l, 0), first);
}

static TsrStatus replace_first(Value *out, List *l, Value item) {
    Value first = l->items[0];
    l->items[0] = value_retain(item);
    return value_end_move(out, sink(l, 0), first);
}

static TsrStatus heapq_heapreplace(Value *out, const CallArgs *args) {
    List *l;
    TSR_TRY(heap_of(&l, args, "heapreplace"));
    if (l->count == 0) return tsr_error(TSR_INDEX_ERROR, "index out of range");
    return replace_first(out, l, args->values[1]);
}

static TsrStatus heapq_heappushpop(Value *out, const CallArgs *args) {
    List *l;
    bool smaller = false;
    TSR_TRY(heap_of(&l, args, "heappushpop"));
    if (l->count > 0) {
        Value first = value_retain(l->items[0]);
        TsrStatus status = value_compare_bool(&smaller, CMP_LT, first, args->values[1]);
        value_release(first);
        TSR_TRY(status);
    }
    if (smaller && l->count > 0) return replace_first(out, l, args->values[1]);
    *out = value_retain(args->values[1]);
    return TSR_OK;
}

static const Method heapq_functions[] = {
    {"heapify", heapq_heapify, ARGS_ONE, 1, 1, "(heap, /)", "Makes a list a heap: no item is less than its parent's."},
    {"heappush", heapq_heappush, ARGS_RANGE, 2, 2, "(heap, item, /)", "Adds an item."},
    {"heappop", heapq_heappop, ARGS_ONE, 1, 1, "(heap, /)", "Takes the smallest item away."},
    {"heapreplace", heapq_heapreplace, ARGS_RANGE, 2, 2, "(heap, item, /)",
     "Takes the smallest item away, then adds one."},
    {"heappushpop", heapq_heappushpop, ARGS_RANGE, 2, 2, "(heap, item, /)",
     "Adds an item, then takes the smallest away."},
    {0},
};

const NsModule ns_heapq = {"heapq", "Lists as heaps.", heapq_functions, NULL, NULL};
