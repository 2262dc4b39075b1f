/* some_tensors.h: tensors of random geometry for tests, from a stream of numbers that is the same in each run. */
#ifndef TESTS_CORE_SOME_TENSORS_H
#define TESTS_CORE_SOME_TENSORS_H

#include <check.h>

#include "core/tensor.h"
#include "core/view.h"

/* A number in [0, n), from Marsaglia's xorshift. */
static inline uint32_t below(uint32_t n) {
    static uint64_t state = 0x9E3779B97F4A7C15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % n);
}

/* FNV-1a of n bytes, as tests/oracle/suite_cases.py writes it down. */
static inline uint64_t digest_of(const void *data, size_t n) {
    uint64_t value = 0xCBF29CE484222325u;
    for (size_t i = 0; i < n; i++) value = (value ^ ((const uint8_t *)data)[i]) * 0x100000001B3u;
    return value;
}

/* The i-th number of those that its matrices and signals hold: in [-0.5, 0.5). */
static inline double number_of(int64_t i) { return (double)(i * 7919 % 104729) / 104729 - 0.5; }

/* Element i in row-major order. */
static inline double at(const TsrTensor *t, int64_t i) { return tsr_scalar_to_double(tsr_tensor_get(t, i)); }

/* Dense, row-major, of whole numbers below 100, complex ones with such parts; the caller's. */
static inline TsrTensor *new_tensor(int ndim, const int64_t *sizes, TsrDtype d) {
    TsrTensor *t = NULL;
    ck_assert_int_eq(tsr_tensor_new(&t, ndim, sizes, d, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < t->numel; i++) {
        TsrScalar value = tsr_scalar_int((int64_t)below(100));
        if (tsr_dtype_is_complex(d)) value = tsr_scalar_complex((double)value.i, below(100));
        tsr_scalar_store(value, d, (char *)tsr_data(t) + i * (int64_t)tsr_itemsize(t));
    }
    return t;
}

/* The same with its dimensions in any order, some of them every second element, from an offset; no element twice. */
static inline TsrTensor *new_strided_tensor(int ndim, const int64_t *sizes, TsrDtype d) {
    int order[TSR_MAX_DIMS];
    int64_t strides[TSR_MAX_DIMS], step = 1;
    for (int i = 0; i < ndim; i++) order[i] = i;
    for (int i = ndim - 1; i > 0 && below(4) != 0; i--) {
        int k = (int)below((uint32_t)i + 1), swap = order[i];
        order[i] = order[k], order[k] = swap;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        strides[order[i]] = step;
        step *= sizes[order[i]] * (below(5) == 0 ? 2 : 1);
    }
    TsrTensor *whole = new_tensor(1, (int64_t[]){step + 3}, d), *t = NULL;
    ck_assert_int_eq(tsr_tensor_new_as_strided(&t, whole, (TsrGeometry){ndim, sizes, strides, below(3)}), TSR_OK);
    tsr_tensor_free(whole);
    return t;
}

#endif
