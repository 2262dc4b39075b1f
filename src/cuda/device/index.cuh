/* index.cuh: elements read and written by positions. Before this text stand, made by index.c: the walk (walk.cuh), of
 * OPERANDS operands; Item, the type of an element, and one of PICK, SET, JOIN.
 *
 * A position that there is no element at is reported, and what it is for left alone: 0 where it is read. */
enum { PLACES = OPERANDS - 2, NOWHERE = -1 };

/* The offset in bytes that the positions at a place of the walk add up to, or NOWHERE. */
static inline int64_t place_of(const IndexArgs &a, const int64_t *offset) {
    int64_t sum = 0;
    UNROLL for (int k = 0; k < PLACES; k++) {
        const int64_t given = *at<int64_t>(a.data[2 + k] + (uint64_t)offset[2 + k]), size = a.size[k];
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
        walk_to<OPERANDS>(a.walk, i, offset);
        const int64_t place = place_of(a, offset);
        Item v = Item();
        if (place != NOWHERE) v = *at<Item>(a.data[1] + (uint64_t)(offset[1] + place));
        *at<Item>(a.data[0] + (uint64_t)offset[0]) = v;
    }
}
#endif

#if SET || JOIN
KERNEL(tsr_place, IndexArgs) {
    const Index n = (Index)a.walk.n, step = (Index)threads() * blocks();
    for (Index i = (Index)block() * threads() + thread(); i < n; i += step) {
        int64_t offset[OPERANDS];
        walk_to<OPERANDS>(a.walk, i, offset);
        const int64_t place = place_of(a, offset);
        if (place == NOWHERE) continue;
        Item *const to = at<Item>(a.data[1] + (uint64_t)(offset[1] + place));
        const Item v = *at<Item>(a.data[0] + (uint64_t)offset[0]);
#if SET
        *to = v;
#else
        JOINED(to, v);
#endif
    }
}
#endif
