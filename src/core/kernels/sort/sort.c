/* Sorting and selecting pairs. */
#include "sort.h"

#include <stdbool.h>
#include <string.h>

static bool less(const TsrPair *a, const TsrPair *b) { return a->key < b->key; }

static void swap(TsrPair *a, TsrPair *b) {
    TsrPair t = *a;
    *a = *b;
    *b = t;
}

/* ---- insertion ---- */

static void insert_unguarded(TsrPair *last) {
    TsrPair v = *last;
    TsrPair *next = last - 1;
    while (less(&v, next)) {
        *last = *next;
        last = next--;
    }
    *last = v;
}

static void insertion_sort(TsrPair *first, TsrPair *last) {
    if (first == last) return;
    for (TsrPair *i = first + 1; i != last; i++) {
        if (less(i, first)) {
            TsrPair v = *i;
            memmove(first + 1, first, sizeof *first * (size_t)(i - first));
            *first = v;
        } else {
            insert_unguarded(i);
        }
    }
}

/* ---- heaps ---- */

static void push_heap(TsrPair *a, int64_t hole, int64_t top, TsrPair v) {
    for (int64_t parent = (hole - 1) / 2; hole > top && less(&a[parent], &v); parent = (hole - 1) / 2) {
        a[hole] = a[parent];
        hole = parent;
    }
    a[hole] = v;
}

static void adjust_heap(TsrPair *a, int64_t hole, int64_t n, TsrPair v) {
    int64_t top = hole, child = hole;
    while (child < (n - 1) / 2) {
        child = 2 * (child + 1);
        if (less(&a[child], &a[child - 1])) child--;
        a[hole] = a[child];
        hole = child;
    }
    if ((n & 1) == 0 && child == (n - 2) / 2) {
        child = 2 * (child + 1);
        a[hole] = a[child - 1];
        hole = child - 1;
    }
    push_heap(a, hole, top, v);
}

static void make_heap(TsrPair *a, int64_t n) {
    if (n < 2) return;
    for (int64_t parent = (n - 2) / 2; parent >= 0; parent--) adjust_heap(a, parent, n, a[parent]);
}

static void pop_heap(TsrPair *a, int64_t n, TsrPair *result) {
    TsrPair v = *result;
    *result = a[0];
    adjust_heap(a, 0, n, v);
}

static void heap_select(TsrPair *a, int64_t k, int64_t n) {
    make_heap(a, k);
    for (int64_t i = k; i < n && !tsr_interrupted_at(i); i++)
        if (less(&a[i], &a[0])) pop_heap(a, k, &a[i]);
}

static void sort_heap(TsrPair *a, int64_t n) {
    while (n > 1 && !tsr_interrupted_at(n)) {
        n--;
        pop_heap(a, n, &a[n]);
    }
}

void tsr_kernel_heap_start(TsrPair *heap, int64_t k) { make_heap(heap, k); }
void tsr_kernel_heap_offer(TsrPair *heap, int64_t k, TsrPair pair) { adjust_heap(heap, 0, k, pair); }
void tsr_kernel_heap_finish(TsrPair *heap, int64_t k) { sort_heap(heap, k); }

/* std::partial_sort: the k least, in order. */
static void partial_sort(TsrPair *a, int64_t k, int64_t n) {
    heap_select(a, k, n);
    sort_heap(a, k);
}

/* ---- partition ---- */

static void median_to_first(TsrPair *result, TsrPair *a, TsrPair *b, TsrPair *c) {
    TsrPair *middle;
    if (less(a, b)) middle = less(b, c) ? b : less(a, c) ? c : a;
    else middle = less(a, c) ? a : less(b, c) ? c : b;
    swap(result, middle);
}

/* Pairs of a block, and how many pairs are worth blocks. sort() of 10000 random floats, one thread on Zen 3: 541 us
 * without blocks, 403 with them; blocks of 32, or from 96 pairs on, were slower or no faster. */
enum { BLOCK = 64, BY_BLOCKS = 256 };
/* Where one side's pairs that belong to the other side lie: steps from `base`, those from `next` to `end` not yet
 * swapped. */
typedef struct Misplaced {
    TsrPair *base;
    int next, end;
    uint8_t step[BLOCK];
} Misplaced;

/* Of the block that begins (side 1) or ends (side -1) at `base`. */
static inline __attribute__((always_inline)) void find_misplaced(Misplaced *m, TsrPair *base, int side,
                                                                 uint64_t pivot) {
    int end = 0;
    for (int i = 0; i < BLOCK; i++) {
        m->step[end] = (uint8_t)i;
        end += side > 0 ? base[i].key >= pivot : base[-1 - i].key <= pivot;
    }
    m->base = base;
    m->next = 0;
    m->end = end;
}

/* The whole blocks of a partition without branches that depend on keys, which are guessed wrong half of the time (S.
 * Edelkamp and A. Weiss, "BlockQuicksort", 2016): the k-th misplaced pair from the left is swapped with the k-th from
 * the right, as the loop of `partition` does it, which goes on between *first and *last. */
__attribute__((noinline)) static void partition_blocks(TsrPair **first, TsrPair **last, uint64_t pivot) {
    TsrPair *low = *first, *high = *last;
    Misplaced l = {.base = low}, r = {.base = high};
    while (high - low >= 2 * BLOCK && tsr_interrupt_flag == 0) {
        if (l.next == l.end) {
            find_misplaced(&l, low, 1, pivot);
            low += BLOCK;
        }
        if (r.next == r.end) {
            find_misplaced(&r, high, -1, pivot);
            high -= BLOCK;
        }
        for (int n = TSR_MIN(l.end - l.next, r.end - r.next); n > 0; n--)
            swap(l.base + l.step[l.next++], r.base - 1 - r.step[r.next++]);
    }
    *first = l.next < l.end ? l.base + l.step[l.next] : low;
    *last = r.next < r.end ? r.base - r.step[r.next] : high;
}

static TsrPair *partition(TsrPair *first, TsrPair *last) {
    TsrPair *pivot = first, *middle = first + (last - first) / 2;
    median_to_first(first, first + 1, middle, last - 1);
    first++;
    if (last - first >= BY_BLOCKS) partition_blocks(&first, &last, pivot->key);
    for (int64_t swaps = 1;; swaps++) {
        while (less(first, pivot)) first++;
        last--;
        while (less(pivot, last)) last--;
        if (!(first < last) || tsr_interrupted_at(swaps)) return first;
        swap(first, last);
        first++;
    }
}

static int log2_floor(int64_t n) { return 63 - __builtin_clzll((unsigned long long)n); }

static void introsort(TsrPair *first, TsrPair *last, int depth) {
    while (last - first > 16 && tsr_interrupt_flag == 0) {
        if (depth-- == 0) {
            partial_sort(first, last - first, last - first);
            return;
        }
        TsrPair *cut = partition(first, last);
        introsort(cut, last, depth);
        last = cut;
    }
}

void tsr_kernel_sort(TsrPair *a, int64_t n) {
    if (n < 2) return;
    introsort(a, a + n, log2_floor(n) * 2);
    if (tsr_interrupt_flag != 0) return;
    insertion_sort(a, a + TSR_MIN(n, 16));
    for (int64_t i = 16; i < n && !tsr_interrupted_at(i); i++) insert_unguarded(a + i);
}

void tsr_kernel_nth_element(TsrPair *a, int64_t nth, int64_t n) {
    if (n == 0 || nth == n) return;
    TsrPair *first = a, *last = a + n, *at = a + nth;
    for (int depth = log2_floor(n) * 2; last - first > 3 && tsr_interrupt_flag == 0;) {
        if (depth-- == 0) {
            heap_select(first, at + 1 - first, last - first);
            swap(first, at);
            return;
        }
        TsrPair *cut = partition(first, last);
        if (cut <= at) first = cut;
        else last = cut;
    }
    if (tsr_interrupt_flag == 0) insertion_sort(first, last);
}

void tsr_kernel_quick_select(TsrPair *a, int64_t k, int64_t n) {
    int64_t left = 0, right = n - 1;
    for (;;) {
        if (right <= left || tsr_interrupt_flag != 0) return;
        if (right == left + 1) {
            if (less(&a[right], &a[left])) swap(&a[left], &a[right]);
            return;
        }
        swap(&a[(left + right) >> 1], &a[left + 1]);
        if (less(&a[right], &a[left + 1])) swap(&a[left + 1], &a[right]);
        if (less(&a[right], &a[left])) swap(&a[left], &a[right]);
        if (less(&a[left], &a[left + 1])) swap(&a[left + 1], &a[left]);
        int64_t i = left + 1, j = right;
        uint64_t pivot = a[left].key;
        for (int64_t swaps = 1;; swaps++) {
            do i++;
            while (a[i].key < pivot);
            do j--;
            while (pivot < a[j].key);
            if (j < i || tsr_interrupted_at(swaps)) break;
            swap(&a[i], &a[j]);
        }
        swap(&a[left], &a[j]);
        if (j <= k) left = i;
        if (j >= k) right = j - 1;
    }
}

/* ---- stable ---- */

static void merge(const TsrPair *a, int64_t na, const TsrPair *b, int64_t nb, TsrPair *out) {
    while (na > 0 && nb > 0) {
        if (b->key < a->key) {
            *out++ = *b++;
            nb--;
        } else {
            *out++ = *a++;
            na--;
        }
    }
    memcpy(out, a, sizeof *a * (size_t)na);
    memcpy(out + na, b, sizeof *b * (size_t)nb);
}

/* Runs of 16 by insertion, then merges back and forth. */
static void merge_sort(TsrPair *a, TsrPair *spare, int64_t n) {
    /* Up to here insertion needs fewer moves than merging. */
    enum { RUN = 16 };
    for (int64_t i = 0; i < n; i += RUN) insertion_sort(a + i, a + TSR_MIN(i + RUN, n));
    TsrPair *from = a, *to = spare;
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width) {
            int64_t middle = TSR_MIN(i + width, n), end = TSR_MIN(i + 2 * width, n);
            merge(from + i, middle - i, from + middle, end - middle, to + i);
        }
        TsrPair *t = from;
        from = to;
        to = t;
    }
    if (from != a) memcpy(a, from, sizeof *a * (size_t)n);
}

/* Least significant byte first; a byte that all keys share costs nothing. */
static void radix_sort(TsrPair *a, TsrPair *spare, int64_t n) {
    static const int BITS = 8;
    int64_t counts[8][256];
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++)
        for (int p = 0; p < 8; p++) counts[p][a[i].key >> (p * BITS) & 255]++;
    TsrPair *from = a, *to = spare;
    for (int p = 0; p < 8; p++) {
        int64_t *c = counts[p], sum = 0;
        if (c[from[0].key >> (p * BITS) & 255] == n) continue;
        if (tsr_interrupt_flag != 0) return;
        for (int k = 0; k < 256; k++) {
            int64_t count = c[k];
            c[k] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) {
            to[c[from[i].key >> (p * BITS) & 255]++] = from[i];
            if (tsr_interrupted_at(i)) return; /* a has been written in full before, spare need not */
        }
        TsrPair *t = from;
        from = to;
        to = t;
    }
    if (from != a) memcpy(a, from, sizeof *a * (size_t)n);
}

void tsr_kernel_sort_stable(TsrPair *a, TsrPair *spare, int64_t n) {
    if (n <= 16) insertion_sort(a, a + n);
    else if (n <= 1024) merge_sort(a, spare, n);
    else radix_sort(a, spare, n);
}
