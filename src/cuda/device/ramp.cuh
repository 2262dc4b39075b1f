/* ramp.cuh: numbers in steps, each rounded as the host rounds it (core/ops/create/fill_ranges.c). M is the type in
 * memory, F what it is computed in: float or double; IS_WHOLE: M is an integer; LANES: elements of the 32-byte vectors
 * that the host's arange goes by, from whose first element the others are reckoned. */
enum { RAMP_ARANGE, RAMP_LINSPACE, RAMP_LOGSPACE };

/* start + step i, rounded to M once from W. */
template <class W> static inline M stepped(W start, W step, int64_t i) { return convert<M>(fma(step, (W)i, start)); }

/* W: float for halves, double for float and double. */
template <class W> static inline M arange_element(const RampArgs &a, int64_t i) {
    const int64_t vectors = a.n / (2 * LANES) * (2 * LANES), first = i / LANES * LANES;
    if (i >= vectors) return stepped((W)a.start, (W)a.step, i);
    return stepped((W)convert<F>(stepped((W)a.start, (W)a.step, first)), (W)a.step, i - first);
}

/* From the nearer end. */
template <class W> static inline W from_both_ends(const RampArgs &a, W step, int64_t i) {
    return i < a.n / 2 ? fma(step, (W)i, (W)a.start) : fma(-step, (W)(a.n - i - 1), (W)a.end);
}

static inline M ramp_element(const RampArgs &a, int64_t i) {
    if (a.kind == RAMP_LOGSPACE) return convert<M>(pow(a.base, from_both_ends(a, a.step, i)));
    if (IS_WHOLE) {
        if (a.kind == RAMP_ARANGE) return convert<M>((int64_t)((uint64_t)a.start_i + (uint64_t)i * (uint64_t)a.step_i));
        return convert<M>((int64_t)from_both_ends(a, a.step, i));
    }
    if (a.kind == RAMP_ARANGE) return sizeof(M) == 2 ? arange_element<float>(a, i) : arange_element<double>(a, i);
    return sizeof(M) == 8 ? convert<M>(from_both_ends(a, a.step, i)) : convert<M>(from_both_ends(a, a.step_f, i));
}

KERNEL(tsr_ramp, RampArgs) {
    const int64_t step = (int64_t)threads() * blocks();
    for (int64_t i = (int64_t)block() * threads() + thread(); i < a.n; i += step) at<M>(a.data)[i] = ramp_element(a, i);
}
