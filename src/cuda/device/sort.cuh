/* sort.cuh: sorting lines, stably. Before this text stand, made by sort.c: E, the type of an element, and Key, an
 * unsigned number that orders elements as their dtype does: -0 as 0, nan after all.
 *
 * Short lines: a block sorts what it holds in shared memory by a bitonic network (K. E. Batcher, Sorting networks and
 * their applications, 1968); equal keys are told apart by their places. Long ones: by digits of 8 bits from the lowest
 * on, and last by the number of the line, so that all lines are sorted together. A pass counts the digits of each
 * block's tile, and, when the counts are summed up, gives each element its place: those of the blocks before, of the
 * warps before, of the rounds before, and of the lanes before it. group.cuh stands above. */
enum { TILE = BLOCK_THREADS * ROUNDS, WARPS = BLOCK_THREADS / 32, DIGITS = 256 };

static inline Key key_of(uint8_t x) { return x; }
static inline Key key_of(uint16_t x) { return x; }
static inline Key key_of(uint32_t x) { return (Key)x; }
static inline Key key_of(uint64_t x) { return (Key)x; }
static inline Key key_of(int8_t x) { return (Key)(uint8_t)((uint8_t)x ^ 0x80u); }
static inline Key key_of(int16_t x) { return (Key)(uint16_t)((uint16_t)x ^ 0x8000u); }
static inline Key key_of(int32_t x) { return (Key)((uint32_t)x ^ 0x80000000u); }
static inline Key key_of(int64_t x) { return (Key)((uint64_t)x ^ 0x8000000000000000u); }
static inline Key key_of(float x) {
    uint32_t bits;
    if (x != x) return (Key)0xFFFFFFFFu;
    x = x == 0 ? 0 : x;
    memcpy(&bits, &x, sizeof bits);
    return (Key)(bits >> 31 ? ~bits : bits | 0x80000000u);
}
static inline Key key_of(double x) {
    uint64_t bits;
    if (x != x) return (Key)0xFFFFFFFFFFFFFFFFu;
    x = x == 0 ? 0 : x;
    memcpy(&bits, &x, sizeof bits);
    return (Key)(bits >> 63 ? ~bits : bits | 0x8000000000000000u);
}
/* Of halves from their bits. */
static inline Key key_of_bits(uint16_t bits, float x) {
    if (x != x) return (Key)0xFFFFu;
    if (x == 0) return (Key)0x8000u;
    return (Key)(uint16_t)(bits >> 15 ? ~bits : bits | 0x8000u);
}
template <class T> static inline Key key_of_element(T x) { return key_of(widened(x)); }
static inline Key key_of_element(TsrHalf x) { return key_of_bits(x.bits, widened(x)); }
static inline Key key_of_element(TsrBfloat16 x) { return key_of_bits(x.bits, widened(x)); }

static inline Key key_at(const SortArgs &a, uint64_t i) {
    const Key key = key_of_element(at<E>(a.in)[i]);
    return a.descending ? (Key)~key : key;
}

/* ---- short lines ---- */

enum { HELD = 2 * BLOCK_THREADS };
struct Entry {
    Key key;
    uint32_t place;
};
static inline bool before(const Entry &a, const Entry &b) {
    return a.key < b.key || (a.key == b.key && a.place < b.place);
}

KERNEL_TOGETHER(tsr_sort_short, SortArgs) {
    SHARED(Entry, held, HELD);
    const unsigned lines = HELD / a.padded;
    const uint64_t first = (uint64_t)block() * lines;
    for (unsigned i = thread(); i < HELD; i += BLOCK_THREADS) {
        const uint64_t line = first + i / a.padded;
        const uint32_t place = i % a.padded;
        Entry e = {(Key)~(Key)0, place};
        if (line < a.lines && place < a.size) e.key = key_at(a, line * a.size + place);
        held[i] = e;
    }
    for (unsigned run = 2; run <= a.padded; run *= 2) {
        for (unsigned step = run / 2; step > 0; step /= 2) {
            barrier();
            const unsigned i = 2 * step * (thread() / step) + thread() % step;
            const bool rising = (i % a.padded & run) == 0;
            if (before(held[i + step], held[i]) == rising) {
                const Entry e = held[i];
                held[i] = held[i + step];
                held[i + step] = e;
            }
        }
    }
    barrier();
    for (unsigned i = thread(); i < HELD; i += BLOCK_THREADS) {
        const uint64_t line = first + i / a.padded, place = i % a.padded;
        if (line >= a.lines || place >= a.size) continue;
        at<E>(a.values)[line * a.size + place] = at<E>(a.in)[line * a.size + held[i].place];
        at<int64_t>(a.places)[line * a.size + place] = held[i].place;
    }
}

/* ---- long lines ---- */

KERNEL(tsr_sort_keys, SortArgs) {
    const uint64_t step = (uint64_t)threads() * blocks();
    for (uint64_t i = (uint64_t)block() * threads() + thread(); i < a.n; i += step) {
        at<Key>(a.keys[0])[i] = key_at(a, i);
        at<uint32_t>(a.order[0])[i] = (uint32_t)i;
    }
}

static inline unsigned digit_of(const SortArgs &a, Key key, uint32_t number) {
    const uint64_t from = a.by_line ? number / a.size : key;
    return (unsigned)(from >> a.shift) % DIGITS;
}

/* Keys are not read where they do not matter. */
static inline Key read_key(const SortArgs &a, uint64_t i) { return at<Key>(a.keys[0])[i]; }
static inline uint32_t read_number(const SortArgs &a, uint64_t i) { return at<uint32_t>(a.order[0])[i]; }

KERNEL_TOGETHER(tsr_sort_counts, SortArgs) {
    SHARED(uint32_t, counts, DIGITS);
    for (unsigned d = thread(); d < DIGITS; d += BLOCK_THREADS) counts[d] = 0;
    barrier();
    for (unsigned r = 0; r < ROUNDS; r++) {
        const uint64_t i = (uint64_t)block() * TILE + r * BLOCK_THREADS + thread();
        if (i >= a.n) break;
        atomic_add(&counts[a.by_line ? digit_of(a, 0, read_number(a, i)) : digit_of(a, read_key(a, i), 0)], 1u);
    }
    barrier();
    for (unsigned d = thread(); d < DIGITS; d += BLOCK_THREADS)
        at<uint32_t>(a.counts)[(uint64_t)d * blocks() + block()] = counts[d];
}

/* How many elements of this warp's rounds so far have the digit, this one not counted; the warp's count grows. */
static inline uint32_t rank_of(uint32_t *counts, unsigned digit) {
    const uint32_t same = warp_same(digit), below = same & ((1u << thread() % 32) - 1);
    const int leader = first_bit(same);
    uint32_t so_far = 0;
    if ((int)(thread() % 32) == leader && digit < DIGITS) {
        so_far = counts[digit];
        counts[digit] = so_far + (uint32_t)bits_set(same);
    }
    warp_meet();
    return warp_read(so_far, leader) + (uint32_t)bits_set(below);
}

/* The tile's elements in the order of their digits, so that neighbours go to neighbours in memory: `held` has first the
 * keys and then the numbers, `apart` how far a digit's elements go from where they are in the tile. */
KERNEL_TOGETHER(tsr_sort_pass, SortArgs) {
    SHARED(uint32_t, counts, WARPS * DIGITS);
    SHARED(Key, held, TILE);
    SHARED(uint8_t, digits, TILE);
    SHARED(uint32_t, apart, DIGITS);
    static_assert(BLOCK_THREADS == DIGITS, "a thread a digit");
    Key keys[ROUNDS];
    uint32_t numbers[ROUNDS], places[ROUNDS];
    const unsigned t = thread();
    uint32_t *const own = counts + t / 32 * DIGITS;
    const uint64_t begin = (uint64_t)block() * TILE, first = begin + t / 32 * (32 * ROUNDS) + t % 32;
    const uint32_t count = a.n - begin < TILE ? (uint32_t)(a.n - begin) : TILE;
    for (unsigned d = t; d < WARPS * DIGITS; d += BLOCK_THREADS) counts[d] = 0;
    barrier();
    UNROLL for (int r = 0; r < ROUNDS; r++) {
        const uint64_t i = first + r * 32;
        const bool valid = i < a.n;
        keys[r] = valid ? read_key(a, i) : 0;
        numbers[r] = valid ? read_number(a, i) : 0;
        places[r] = rank_of(own, valid ? digit_of(a, keys[r], numbers[r]) : DIGITS);
    }
    barrier();
    uint32_t of_digit = 0, all;
    for (int w = 0; w < WARPS; w++) of_digit += counts[w * DIGITS + t];
    uint32_t place = merged_before<BLOCK_THREADS, Counting<uint32_t>>(of_digit, &all);
    const uint64_t cell = (uint64_t)t * blocks() + block();
    apart[t] = (cell > 0 ? at<uint32_t>(a.counts)[cell - 1] : 0) - place;
    for (int w = 0; w < WARPS; w++) {
        const uint32_t of_warp = counts[w * DIGITS + t];
        counts[w * DIGITS + t] = place;
        place += of_warp;
    }
    barrier();
    UNROLL for (int r = 0; r < ROUNDS; r++) {
        if (first + r * 32 >= a.n) continue;
        const unsigned digit = digit_of(a, keys[r], numbers[r]);
        places[r] += own[digit];
        held[places[r]] = keys[r];
        digits[places[r]] = (uint8_t)digit;
    }
    barrier();
    for (uint32_t i = t; i < count; i += BLOCK_THREADS) at<Key>(a.keys[1])[(uint32_t)(i + apart[digits[i]])] = held[i];
    barrier();
    UNROLL for (int r = 0; r < ROUNDS; r++) {
        if (first + r * 32 < a.n) held[places[r]] = (Key)numbers[r];
    }
    barrier();
    for (uint32_t i = t; i < count; i += BLOCK_THREADS)
        at<uint32_t>(a.order[1])[(uint32_t)(i + apart[digits[i]])] = (uint32_t)held[i];
}

KERNEL(tsr_sort_finish, SortArgs) {
    const uint64_t step = (uint64_t)threads() * blocks();
    for (uint64_t i = (uint64_t)block() * threads() + thread(); i < a.n; i += step) {
        const uint32_t number = at<uint32_t>(a.order[0])[i];
        at<E>(a.values)[i] = at<E>(a.in)[number];
        at<int64_t>(a.places)[i] = (int64_t)(number - number / a.size * a.size);
    }
}
