/* same_bits.cuh: what passes of a chain hand to one another: a value as the type that the next one reads. */
template <class To, class From> static inline To same_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "one element");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}
