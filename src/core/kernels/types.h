/* types.h: the macros that make one loop a dtype out of one expression.
 *
 * In an expression x, y, z are the operands' elements, T their type, U an unsigned type wide enough that T's arithmetic
 * in it is defined, R the result's type, and p the params pointer. A row of a .def names the set of types that it is
 * for. */
#ifndef CORE_KERNELS_TYPES_H
#define CORE_KERNELS_TYPES_H

/* TY_SET(M, ...) expands M(DTYPE, T, U, ...) for each dtype of the set: one dtype, then groups of them. BARE are the
 * unsigned types for which PyTorch has few operators. Half floats are passed as their bits. */
#define TY_U8(M, ...) M(UINT8, uint8_t, uint32_t, __VA_ARGS__)
#define TY_I8(M, ...) M(INT8, int8_t, uint32_t, __VA_ARGS__)
#define TY_I16(M, ...) M(INT16, int16_t, uint32_t, __VA_ARGS__)
#define TY_I32(M, ...) M(INT32, int32_t, uint32_t, __VA_ARGS__)
#define TY_I64(M, ...) M(INT64, int64_t, uint64_t, __VA_ARGS__)
#define TY_U16(M, ...) M(UINT16, uint16_t, uint32_t, __VA_ARGS__)
#define TY_U32(M, ...) M(UINT32, uint32_t, uint32_t, __VA_ARGS__)
#define TY_U64(M, ...) M(UINT64, uint64_t, uint64_t, __VA_ARGS__)
#define TY_BOOL(M, ...) M(BOOL, uint8_t, uint32_t, __VA_ARGS__)
#define TY_F16(M, ...) M(FLOAT16, uint16_t, uint32_t, __VA_ARGS__)
#define TY_BF16(M, ...) M(BFLOAT16, uint16_t, uint32_t, __VA_ARGS__)
#define TY_HALVES(M, ...) TY_F16(M, __VA_ARGS__) TY_BF16(M, __VA_ARGS__)
#define TY_F32(M, ...) M(FLOAT32, float, float, __VA_ARGS__)
#define TY_F64(M, ...) M(FLOAT64, double, double, __VA_ARGS__)
#define TY_C64(M, ...) M(COMPLEX64, TsrC64, float, __VA_ARGS__)
#define TY_C128(M, ...) M(COMPLEX128, TsrC128, double, __VA_ARGS__)
#define TY_SIGNED(M, ...) TY_I8(M, __VA_ARGS__) TY_I16(M, __VA_ARGS__) TY_I32(M, __VA_ARGS__) TY_I64(M, __VA_ARGS__)
#define TY_INT(M, ...) TY_U8(M, __VA_ARGS__) TY_SIGNED(M, __VA_ARGS__)
#define TY_BARE(M, ...) TY_U16(M, __VA_ARGS__) TY_U32(M, __VA_ARGS__) TY_U64(M, __VA_ARGS__)
#define TY_FLOAT(M, ...) TY_F32(M, __VA_ARGS__) TY_F64(M, __VA_ARGS__)
#define TY_INT_BOOL(M, ...) TY_INT(M, __VA_ARGS__) TY_BOOL(M, __VA_ARGS__)
#define TY_INT_BARE(M, ...) TY_INT(M, __VA_ARGS__) TY_BARE(M, __VA_ARGS__)
#define TY_INT_BARE_BOOL(M, ...) TY_INT_BARE(M, __VA_ARGS__) TY_BOOL(M, __VA_ARGS__)
#define TY_REAL(M, ...) TY_INT_BARE_BOOL(M, __VA_ARGS__) TY_FLOAT(M, __VA_ARGS__)

#if defined(__wasm__) /* the page is sent to each reader: there size counts more */
#define VECTOR
#elif defined(__clang__)
#define VECTOR _Pragma("clang loop vectorize(assume_safety)")
#else
#define VECTOR _Pragma("GCC ivdep")
#endif

/* An expression with names of its own. */
#define LET(value, ...) \
    __extension__({ \
        __VA_ARGS__; \
        value; \
    })

/* Opens a TsrLoop `name` and the types of its expression; the caller closes it. */
#define LOOP_BEGIN(name, T_, U_, R_) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        typedef T_ T TSR_UNUSED; \
        typedef U_ U TSR_UNUSED; \
        typedef R_ R; \
        (void)p;

/* A loop of one operand, then of two: vectorised where all operands are contiguous, by tsr_kernel_strided elsewhere. */
#define LOOP1(name, T_, U_, R_, ...) \
    LOOP_BEGIN(name, T_, U_, R_) \
    if (TSR_LIKELY(s[0] == (int64_t)sizeof(R) && s[1] == (int64_t)sizeof(T))) { \
        R *o = (R *)data[0]; \
        const T *a = (const T *)data[1]; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else { \
        tsr_kernel_strided(name, data, s, n, p, 2, (const uint8_t[]){sizeof(R), sizeof(T)}); \
    } \
    }

#define LOOP2(name, T_, U_, R_, ...) \
    LOOP_BEGIN(name, T_, U_, R_) \
    if (TSR_LIKELY(s[0] == (int64_t)sizeof(R) && s[1] == (int64_t)sizeof(T) && s[2] == (int64_t)sizeof(T))) { \
        R *o = (R *)data[0]; \
        const T *a = (const T *)data[1], *b = (const T *)data[2]; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i], y = b[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else { \
        tsr_kernel_strided(name, data, s, n, p, 3, (const uint8_t[]){sizeof(R), sizeof(T), sizeof(T)}); \
    } \
    }

/* As LOOP2, with loops of their own for one operand that does not move: what broadcasting and numbers give. */
#define LOOP2B(name, T_, U_, R_, ...) \
    LOOP_BEGIN(name, T_, U_, R_) \
    R *o = (R *)data[0]; \
    const T *a = (const T *)data[1], *b = (const T *)data[2]; \
    if (TSR_LIKELY(s[0] == (int64_t)sizeof(R) && s[1] == (int64_t)sizeof(T) && s[2] == (int64_t)sizeof(T))) { \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i], y = b[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else if (s[0] == (int64_t)sizeof(R) && s[1] == (int64_t)sizeof(T) && s[2] == 0) { \
        const T y = *b; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else if (s[0] == (int64_t)sizeof(R) && s[1] == 0 && s[2] == (int64_t)sizeof(T)) { \
        const T x = *a; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T y = b[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else { \
        tsr_kernel_strided(name, data, s, n, p, 3, (const uint8_t[]){sizeof(R), sizeof(T), sizeof(T)}); \
    } \
    }

/* As LOOP2 for three operands. */
#define LOOP3(name, T_, U_, R_, ...) \
    LOOP_BEGIN(name, T_, U_, R_) \
    if (TSR_LIKELY(s[0] == (int64_t)sizeof(R) && s[1] == (int64_t)sizeof(T) && s[2] == (int64_t)sizeof(T) && \
                   s[3] == (int64_t)sizeof(T))) { \
        R *o = (R *)data[0]; \
        const T *a = (const T *)data[1], *b = (const T *)data[2], *c = (const T *)data[3]; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i], y = b[i], z = c[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else { \
        tsr_kernel_strided(name, data, s, n, p, 4, (const uint8_t[]){sizeof(R), sizeof(T), sizeof(T), sizeof(T)}); \
    } \
    }

/* As LOOP3, with a loop of its own for a second operand that does not move. */
#define LOOP3B(name, T_, U_, R_, ...) \
    LOOP_BEGIN(name, T_, U_, R_) \
    const bool dense = s[0] == (int64_t)sizeof(R) && s[1] == (int64_t)sizeof(T) && s[3] == (int64_t)sizeof(T); \
    R *o = (R *)data[0]; \
    const T *a = (const T *)data[1], *b = (const T *)data[2], *c = (const T *)data[3]; \
    if (TSR_LIKELY(dense && s[2] == (int64_t)sizeof(T))) { \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i], y = b[i], z = c[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else if (dense && s[2] == 0) { \
        const T y = *b; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i], z = c[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else { \
        tsr_kernel_strided(name, data, s, n, p, 4, (const uint8_t[]){sizeof(R), sizeof(T), sizeof(T), sizeof(T)}); \
    } \
    }

/* A comparison of x and y, y an array or one number, and what is done with it: joined with the mask m, or choosing, or
 * both. */
#define COMPARING(name, T_, R_, OTHERS, ...) \
    LOOP_BEGIN(name, T_, T_, R_) \
    R *o = (R *)data[0]; \
    const T *a = (const T *)data[1], *b = (const T *)data[2]; \
    OTHERS \
    if (s[2] == 0) { \
        const T y = *b; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } else { \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i], y = b[i]; \
            o[i] = (__VA_ARGS__); \
        } \
    } \
    }
#define MASK(k) const uint8_t *m = (const uint8_t *)data[k];
#define CHOICE(k) const T *u = (const T *)data[k], *v = (const T *)data[k + 1];
#define CHOOSE(condition) \
    __extension__({ \
        const T yes = u[i], no = v[i]; \
        (condition) ? yes : no; \
    })

/* Rows become functions SIMD(name_DTYPE), then entries of the table. */
#define FN(name, dtype) SIMD(name##_##dtype)
#define DEFINE1(dtype, T, U, name, R, ...) LOOP1(FN(name, dtype), T, U, R, __VA_ARGS__)
#define DEFINE2(dtype, T, U, name, R, ...) LOOP2(FN(name, dtype), T, U, R, __VA_ARGS__)
#define DEFINE2B(dtype, T, U, name, R, ...) LOOP2B(FN(name, dtype), T, U, R, __VA_ARGS__)
#define DEFINE3(dtype, T, U, name, R, ...) LOOP3(FN(name, dtype), T, U, R, __VA_ARGS__)
#define DEFINE3B(dtype, T, U, name, R, ...) LOOP3B(FN(name, dtype), T, U, R, __VA_ARGS__)
#define DEFINE_MASKED(dtype, T, U, name, op) \
    COMPARING(FN(name##_and, dtype), T, uint8_t, MASK(3), (x op y)&m[i]) \
    COMPARING(FN(name##_or, dtype), T, uint8_t, MASK(3), (x op y) | m[i]) \
    COMPARING(FN(name##_where, dtype), T, T, CHOICE(3), CHOOSE(x op y)) \
    COMPARING(FN(name##_and_where, dtype), T, T, MASK(3) CHOICE(4), CHOOSE((x op y)&m[i])) \
    COMPARING(FN(name##_or_where, dtype), T, T, MASK(3) CHOICE(4), CHOOSE((x op y) | m[i]))
#define ENTRY(dtype, T, U, name, ...) [TSR_K_##name][TSR_##dtype] = FN(name, dtype),

#endif
