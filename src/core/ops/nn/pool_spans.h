/* pool_spans.h: which elements a pool's window reaches along one dimension, and what a mean divides by. For the host's
 * loops and, as text, for the kernels of devices; so all in numbers of 64 bits. */
#ifndef CORE_OPS_NN_POOL_SPANS_H
#define CORE_OPS_NN_POOL_SPANS_H

#include <stdint.h>

/* Elements begin, begin + step ... below end. */
typedef struct Span {
    int64_t begin, end, step;
} Span;

/* Of window number `at`: the part that lies in the `in` elements. */
static inline Span even_span(int64_t at, int64_t kernel, int64_t stride, int64_t pad, int64_t step, int64_t in) {
    int64_t begin = at * stride - pad;
    const int64_t reach = (kernel - 1) * step, end = reach < in - begin ? begin + reach + 1 : in;
    if (begin < 0) begin = (step - -begin % step) % step;
    const Span span = {begin, end, step};
    return span;
}

/* Of window number `at` of `out` that share `in` elements. */
static inline Span shared_span(int64_t at, int64_t out, int64_t in) {
    const Span span = {at / out * in + at % out * in / out, 1 + ((at + 1) * in - 1) / out, 1};
    return span;
}

/* Elements that window number `at` reaches, the padding's included. */
static inline uint64_t padded_span(int64_t at, int64_t kernel, int64_t stride, int64_t pad, int64_t in) {
    const int64_t begin = at * stride - pad, end = begin + kernel, last = in + pad;
    return (uint64_t)((end < last ? end : last) - begin);
}

static inline bool is_empty(Span s) { return s.begin >= s.end; }

#endif
