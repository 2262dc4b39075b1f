/* formulas.c: the tables of kernels as text (formulas.h). */
#include "formulas.h"

#include <math.h>
#include <pthread.h>

#include "core/kernels/types.h"

/* The device has a type for complex numbers of its own (device/complex.cuh). */
#define TY_COMPLEX(M, ...) TY_C64(M, __VA_ARGS__) TY_C128(M, __VA_ARGS__)
#undef LET
#define LET(value, ...) \
    ([&] { \
        __VA_ARGS__; \
        return value; \
    }())
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define FORMULA(dtype, T, U, nin, name, R, ...) {TSR_K_##name, TSR_##dtype, nin, #T, #U, #R, TEXT(__VA_ARGS__)},
#define FORMULA1(dtype, T, U, ...) FORMULA(dtype, T, U, 1, __VA_ARGS__)
#define FORMULA2(dtype, T, U, ...) FORMULA(dtype, T, U, 2, __VA_ARGS__)
#define FORMULA3(dtype, T, U, ...) FORMULA(dtype, T, U, 3, __VA_ARGS__)
#define FORMULA2N(dtype, T, U, name, by_number, ...) FORMULA(dtype, T, U, 2, name, T, __VA_ARGS__)
#define K1(name, types, R, ...) types(FORMULA1, name, R, __VA_ARGS__)
#define K2(name, types, R, ...) types(FORMULA2, name, R, __VA_ARGS__)
#define K2B K2
#define K2N(name, types, ...) types(FORMULA2N, name, __VA_ARGS__)
#define K3(name, types, R, ...) types(FORMULA3, name, R, __VA_ARGS__)
#define K3B K3
#define BESSEL(name) K1(name, TY_FLOAT, T, name##_of(x))
#define POLYNOMIAL(name, kind) K2(name, TY_FLOAT, T, polynomial(kind, x, y))
#define MORE(kind, ...) kind(__VA_ARGS__)
#define ELSEWHERE(...)
#define C1 ELSEWHERE
#define C1S ELSEWHERE
#define C2 ELSEWHERE
#define V1 ELSEWHERE
#define V1D ELSEWHERE
#define V1S ELSEWHERE
#define V1SD ELSEWHERE
#define V2 ELSEWHERE
#define HALVES_TOO(kind, ...) kind(__VA_ARGS__)
#define HALVES_BY ELSEWHERE
#define V1R ELSEWHERE
#define V1DR ELSEWHERE
#define V1SDR ELSEWHERE
#define V2R ELSEWHERE
#define C2R ELSEWHERE
#define MASKED ELSEWHERE
static const CudaFormula formulas[] = {
#include "core/kernels/pointwise/fast.def"
#include "core/kernels/pointwise/plain.def"
#include "core/kernels/pointwise/special.def"
#include "functions.def"
};

/* By kernel and dtype: 1 + the index; a later row takes the place of an earlier one. */
static uint16_t places[TSR_K_COUNT][TSR_DTYPE_COUNT];

static void make_places(void) {
    for (size_t i = 0; i < TSR_COUNTOF(formulas); i++)
        places[formulas[i].kernel][formulas[i].dtype] = (uint16_t)(i + 1);
}

const CudaFormula *cuda_formula(unsigned kernel, TsrDtype dtype) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_places);
    if (kernel >= TSR_K_COUNT || dtype >= TSR_DTYPE_COUNT || places[kernel][dtype] == 0) return NULL;
    return &formulas[places[kernel][dtype] - 1];
}

const CudaFormula *cuda_formula_at(int i) { return i >= 0 && (size_t)i < TSR_COUNTOF(formulas) ? &formulas[i] : NULL; }
