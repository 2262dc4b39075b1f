/* Stable sort by `<` alone: natural runs, extended by binary insertion to at least MIN_RUN, then merged. Up to 63
 * items the comparisons made are those of CPython's, so that even inconsistent orders (nan) come out the same. */
#include "numbers.h"
#include "sequences.h"
#include "str.h"

#include <string.h>

typedef struct Sorter Sorter;
struct Sorter {
    Value *keys;   /* what is compared */
    Value *values; /* moves along; NULL when the keys are the values */
    Value *spare_keys, *spare_values;
    TsrStatus (*less)(bool *out, Value a, Value b);
    int64_t compared;
};

static TsrStatus less_any(bool *out, Value a, Value b) { return value_compare_bool(out, CMP_LT, a, b); }
static TsrStatus less_int(bool *out, Value a, Value b) {
    *out = a.i < b.i;
    return TSR_OK;
}
static TsrStatus less_float(bool *out, Value a, Value b) {
    *out = a.f < b.f;
    return TSR_OK;
}
static TsrStatus less_str(bool *out, Value a, Value b) {
    *out = str_compare(value_as_str(a), value_as_str(b)) < 0;
    return TSR_OK;
}

static TsrStatus less(Sorter *s, bool *out, Value a, Value b) {
    TSR_TRY(tsr_interrupt_check_at(++s->compared));
    return s->less(out, a, b);
}

static void choose_less(Sorter *s, int64_t n) {
    uint32_t tag = s->keys[0].tag;
    bool text = value_is_str(s->keys[0]);
    for (int64_t i = 1; i < n; i++) {
        text = text && value_is_str(s->keys[i]);
        if (s->keys[i].tag != tag) tag = V_UNBOUND;
    }
    s->less = tag == V_INT ? less_int : tag == V_FLOAT ? less_float : text ? less_str : less_any;
}

static void reverse_range(Value *v, int64_t lo, int64_t hi) {
    if (v == NULL) return;
    for (hi--; lo < hi; lo++, hi--) {
        Value t = v[lo];
        v[lo] = v[hi];
        v[hi] = t;
    }
}

/* Length of the run at lo: ascending, or strictly descending, which is reversed. */
static TsrStatus count_run(Sorter *s, int64_t lo, int64_t hi, int64_t *length) {
    bool down, on;
    *length = hi - lo;
    if (*length <= 1) return TSR_OK;
    TSR_TRY(less(s, &down, s->keys[lo + 1], s->keys[lo]));
    int64_t i = lo + 2;
    for (; i < hi; i++) {
        TSR_TRY(less(s, &on, s->keys[i], s->keys[i - 1]));
        if (on != down) break;
    }
    *length = i - lo;
    if (down) {
        reverse_range(s->keys, lo, i);
        reverse_range(s->values, lo, i);
    }
    return TSR_OK;
}

static void insert_at(Value *v, int64_t from, int64_t to) {
    if (v == NULL) return;
    Value moved = v[from];
    memmove(v + to + 1, v + to, (size_t)(from - to) * sizeof *v);
    v[to] = moved;
}

static TsrStatus insertion(Sorter *s, int64_t lo, int64_t hi, int64_t start) {
    for (; start < hi; start++) {
        int64_t l = lo, r = start;
        Value pivot = s->keys[start];
        while (l < r) {
            int64_t middle = l + ((r - l) >> 1);
            bool before;
            TSR_TRY(less(s, &before, pivot, s->keys[middle]));
            if (before) r = middle;
            else l = middle + 1;
        }
        insert_at(s->keys, start, l);
        insert_at(s->values, start, l);
    }
    return TSR_OK;
}

/* Merges [lo, mid) and [mid, hi): the left run goes to the spare space. On an error all values stay in place. */
static TsrStatus merge(Sorter *s, int64_t lo, int64_t mid, int64_t hi) {
    int64_t n = mid - lo, i = 0, j = mid, k = lo;
    memcpy(s->spare_keys, s->keys + lo, (size_t)n * sizeof(Value));
    if (s->values != NULL) memcpy(s->spare_values, s->values + lo, (size_t)n * sizeof(Value));
    TsrStatus status = TSR_OK;
    while (i < n && j < hi) {
        bool right;
        if ((status = less(s, &right, s->keys[j], s->spare_keys[i])) != TSR_OK) break;
        s->keys[k] = right ? s->keys[j] : s->spare_keys[i];
        if (s->values != NULL) s->values[k] = right ? s->values[j] : s->spare_values[i];
        k++;
        if (right) j++;
        else i++;
    }
    memcpy(s->keys + k, s->spare_keys + i, (size_t)(n - i) * sizeof(Value));
    if (s->values != NULL) memcpy(s->values + k, s->spare_values + i, (size_t)(n - i) * sizeof(Value));
    return status;
}

static int64_t min_run(int64_t n) {
    int64_t r = 0;
    while (n >= 64) {
        r |= n & 1;
        n >>= 1;
    }
    return n + r;
}

typedef struct Runs {
    int64_t base[96], length[96];
    int count;
} Runs;

static TsrStatus merge_at(Sorter *s, Runs *r, int i) {
    int64_t lo = r->base[i], mid = r->base[i + 1], hi = mid + r->length[i + 1];
    r->length[i] += r->length[i + 1];
    for (int k = i + 1; k < r->count - 1; k++) {
        r->base[k] = r->base[k + 1];
        r->length[k] = r->length[k + 1];
    }
    r->count--;
    return merge(s, lo, mid, hi);
}

/* Keeps the lengths falling faster than Fibonacci numbers, so that merges are balanced. */
static TsrStatus collapse(Sorter *s, Runs *r, bool all) {
    while (r->count > 1) {
        int i = r->count - 2;
        const int64_t *n = r->length;
        bool early = (i > 0 && n[i - 1] <= n[i] + n[i + 1]) || (i > 1 && n[i - 2] <= n[i - 1] + n[i]);
        if (early || all) {
            if (i > 0 && n[i - 1] < n[i + 1]) i--;
        } else if (n[i] > n[i + 1]) {
            return TSR_OK;
        }
        TSR_TRY(merge_at(s, r, i));
    }
    return TSR_OK;
}

static TsrStatus sort_keys(Sorter *s, int64_t n) {
    Runs runs = {.count = 0};
    int64_t least = min_run(n);
    for (int64_t lo = 0; lo < n;) {
        int64_t length;
        TSR_TRY(count_run(s, lo, n, &length));
        if (length < least) {
            int64_t forced = TSR_MIN(least, n - lo);
            TSR_TRY(insertion(s, lo, lo + forced, lo + length));
            length = forced;
        }
        runs.base[runs.count] = lo;
        runs.length[runs.count++] = length;
        TSR_TRY(collapse(s, &runs, false));
        lo += length;
    }
    return collapse(s, &runs, true);
}

static TsrStatus make_keys(Value *keys, const Value *items, int64_t n, Value key) {
    for (int64_t i = 0; i < n; i++) {
        TsrStatus status = value_call_n(&keys[i], key, 1, &items[i]);
        if (status == TSR_OK) continue;
        values_release(keys, i);
        return status;
    }
    return TSR_OK;
}

/* Sorts n items that the list has lent out. Reversing before and after keeps the order of equals. */
static TsrStatus sort_items(Value *items, int64_t n, Value key, bool reverse) {
    bool keyed = key.tag != V_UNBOUND && key.tag != V_NONE;
    int arrays = keyed ? 3 : 1;
    Value *space = tsr_malloc((size_t)n * sizeof *space * (size_t)arrays);
    if (space == NULL) return mem_error();
    Sorter s = {.keys = items, .spare_keys = space};
    if (keyed) {
        s.keys = space + n;
        s.values = items;
        s.spare_values = space + 2 * n;
        TsrStatus status = make_keys(s.keys, items, n, key);
        if (status != TSR_OK) {
            tsr_free(space);
            return status;
        }
    }
    if (reverse) {
        reverse_range(s.keys, 0, n);
        reverse_range(s.values, 0, n);
    }
    choose_less(&s, n);
    TsrStatus status = sort_keys(&s, n);
    if (reverse) reverse_range(items, 0, n);
    if (keyed) values_release(s.keys, n);
    tsr_free(space);
    return status;
}

TsrStatus list_sort(List *list, Value key, bool reverse) {
    List taken = *list;
    if (taken.count < 2 && (key.tag == V_UNBOUND || key.tag == V_NONE || taken.count == 0)) return TSR_OK;
    list->items = NULL; /* callbacks see an empty list */
    list->count = list->capacity = 0;
    TsrStatus status = sort_items(taken.items, taken.count, key, reverse);
    bool touched = list->items != NULL;
    Value *others = list->items;
    int64_t other_count = list->count;
    list->items = taken.items;
    list->count = taken.count;
    list->capacity = taken.capacity;
    values_release(others, other_count);
    tsr_free(others);
    if (touched && status == TSR_OK) return tsr_error(TSR_VALUE_ERROR, "list modified during sort");
    return status;
}
