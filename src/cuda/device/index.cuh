/* index.cuh: elements read and written by positions. Before this text stand, made by index.c: the walk (walk.cuh), of
 * OPERANDS operands; Item, the type of an element, and one of PICK, SET, JOIN and FOLD.
 *
 * A position that there is no element at is reported, and what it is for left alone: 0 where it is read. */
enum { PLACES = OPERANDS - 2, NOWHERE = -1 };

/* The offset in bytes that the positions at a place of the walk add up to, or NOWHERE. */
static inline int64_t place_of(const IndexArgs &a, const int64_t *offset) {
    int64_t sum = 0;
    UNROLL for (int k = 0; k < PLACES; k++) {
        const int64_t given = *at<int64_t>(a.data[2 + k], offset[2 + k]), size = a.size[k];
        const int64_t v = given < 0 && a.wraps ? given + size : given;
        if (v < 0 || v >= size) {
            report(a.errors, a.launch, (int)a.found, given, a.dim[k], size);
            return NOWHERE;
        }
        sum += v * a.step[k];
    }
    return sum;
}

#if PICK
KERNEL(tsr_pick, IndexArgs) {
    const Index n = (Index)a.walk.n, step = (Index)threads() * blocks();
    for (Index i = (Index)block() * threads() + thread(); i < n; i += step) {
        int64_t offset[OPERANDS];
        walk_to<NDIM, OPERANDS>(a.walk, i, offset);
        const int64_t place = place_of(a, offset);
        Item v = Item();
        if (place != NOWHERE) v = *at<Item>(a.data[1], offset[1] + place);
        *at<Item>(a.data[0], offset[0]) = v;
    }
}
#endif

#if SET || JOIN
KERNEL(tsr_place, IndexArgs) {
    const Index n = (Index)a.walk.n, step = (Index)threads() * blocks();
    for (Index i = (Index)block() * threads() + thread(); i < n; i += step) {
        int64_t offset[OPERANDS];
        walk_to<NDIM, OPERANDS>(a.walk, i, offset);
        const int64_t place = place_of(a, offset);
        if (place == NOWHERE) continue;
        Item *const to = at<Item>(a.data[1], offset[1] + place);
        const Item v = *at<Item>(a.data[0], offset[0]);
#if SET
        *to = v;
#else
        JOINED(to, v);
#endif
    }
}
#endif

/* Joined in the order of the walk: tsr_place_keys leaves where each of its places goes, as a key to be sorted with the
 * number of the place; of a run of equal ones tsr_fold joins all to the element there. What is not indexed is walked
 * over by `slices`. */
#if FOLD
typedef decltype(widened(Item())) X;
template <class T> struct Sums { typedef uint64_t Type; };
template <> struct Sums<float> { typedef float Type; };
template <> struct Sums<double> { typedef double Type; };
#if COMPLEX
template <class F> struct Sums<Complex<F>> { typedef Complex<F> Type; };
#endif
typedef Sums<X>::Type A;
struct Add {
    static inline Item of(X a, X b) { return convert<Item>((A)a + (A)b); }
};
struct Multiply {
    static inline Item of(X a, X b) { return convert<Item>((A)a * (A)b); }
};
#if !COMPLEX
struct Most {
    static inline Item of(X a, X b) { return convert<Item>(b != b ? b : a < b ? b : a); }
};
struct Least {
    static inline Item of(X a, X b) { return convert<Item>(b != b ? b : b < a ? b : a); }
};
#endif

KERNEL(tsr_place_keys, IndexArgs) {
    const Index n = (Index)a.walk.n, step = (Index)threads() * blocks();
    for (Index i = (Index)block() * threads() + thread(); i < n; i += step) {
        int64_t offset[OPERANDS];
        walk_to<NDIM, OPERANDS>(a.walk, i, offset);
        const int64_t place = place_of(a, offset);
        at<uint64_t>(a.keys)[i] = place != NOWHERE ? (uint64_t)(offset[1] + place) : a.most;
        at<uint32_t>(a.order)[i] = (uint32_t)i;
    }
}

KERNEL(tsr_fold, IndexArgs) {
    const uint64_t *const keys = at<uint64_t>(a.keys), all = a.walk.n * a.slices.n;
    const uint64_t step = (uint64_t)threads() * blocks();
    for (uint64_t t = (uint64_t)block() * threads() + thread(); t < all; t += step) {
        const uint64_t first = t / a.slices.n, key = keys[first];
        if (key == a.most || (first > 0 && keys[first - 1] == key)) continue;
        int64_t within[2];
        walk_to<NSLICES, 2>(a.slices, (Index)(t - first * a.slices.n), within);
        Item *const to = at<Item>(a.data[1], (int64_t)key + within[1]);
        Item joined = *to;
        for (uint64_t i = first; i < a.walk.n && keys[i] == key; i++) {
            int64_t from[1];
            walk_to<NDIM, 1>(a.walk, (Index)at<uint32_t>(a.order)[i], from);
            joined = JOINED::of(widened(joined), widened(*at<Item>(a.data[0], from[0] + within[0])));
        }
        *to = joined;
    }
}
#endif
