/* types.cuh: the dtypes as they lie in memory, and conversion between any two by the host's rules (tsr_convert). Half
 * floats and float8 are converted by core/element/halffloat.h, which is part of this text. */
#define NULL nullptr
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define M_PI 3.14159265358979323846
#define M_LOG2E 1.4426950408889634074
#define M_SQRT1_2 0.70710678118654752440

typedef uint8_t TsrDtype;
typedef struct TsrHalf {
    uint16_t bits;
} TsrHalf;
typedef struct TsrBfloat16 {
    uint16_t bits;
} TsrBfloat16;
typedef struct TsrFloat8E5m2 {
    uint8_t bits;
} TsrFloat8E5m2;
typedef struct TsrFloat8E4m3fn {
    uint8_t bits;
} TsrFloat8E4m3fn;
typedef struct TsrFloat8E5m2fnuz {
    uint8_t bits;
} TsrFloat8E5m2fnuz;
typedef struct TsrFloat8E4m3fnuz {
    uint8_t bits;
} TsrFloat8E4m3fnuz;
typedef struct TsrFloat8E8m0fnu {
    uint8_t bits;
} TsrFloat8E8m0fnu;
typedef struct Bool {
    uint8_t value;
} Bool;

/* Complex numbers of a real type. */
template <class F> struct Complex {
    F re, im;
};

/* n elements that are read and written at once. */
template <class T, int n> struct alignas(sizeof(T) * n) Pack {
    T e[n];
};
