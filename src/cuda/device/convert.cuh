/* convert.cuh: convert<To>(x), between any two types of types.cuh, by the host's rules. */

/* What the machine calculates with in place of a small type. */
template <class T> static inline T widened(T x) { return x; }
static inline uint8_t widened(Bool x) { return x.value != 0; }
static inline float widened(TsrHalf x) { return tsr_half_widen(x); }
static inline float widened(TsrBfloat16 x) { return tsr_bfloat16_widen(x); }
static inline float widened(TsrFloat8E5m2 x) { return tsr_float8_e5m2_widen(x); }
static inline float widened(TsrFloat8E4m3fn x) { return tsr_float8_e4m3fn_widen(x); }
static inline float widened(TsrFloat8E5m2fnuz x) { return tsr_float8_e5m2fnuz_widen(x); }
static inline float widened(TsrFloat8E4m3fnuz x) { return tsr_float8_e4m3fnuz_widen(x); }
static inline float widened(TsrFloat8E8m0fnu x) { return tsr_float8_e8m0fnu_widen(x); }
template <class F> static inline Complex<float> widened_parts(Complex<F> x) {
    const Complex<float> z = {widened(x.re), widened(x.im)};
    return z;
}
static inline Complex<float> widened(Complex<TsrHalf> x) { return widened_parts(x); }
static inline Complex<float> widened(Complex<TsrBfloat16> x) { return widened_parts(x); }

template <class To> struct Narrow { /* integers */
    template <class S> static inline To of(S x) { return (To)x; }
    static inline To of(float x) { return sizeof(To) < 4 ? (To)tsr_float_to_int32(x) : of((double)x); }
    static inline To of(double x) {
        return sizeof(To) < 4 ? (To)tsr_double_to_int32(x) : (To)tsr_double_to_int64(x);
    }
};
template <> struct Narrow<int32_t> {
    template <class S> static inline int32_t of(S x) { return (int32_t)x; }
    static inline int32_t of(float x) { return tsr_float_to_int32(x); }
    static inline int32_t of(double x) { return tsr_double_to_int32(x); }
};
template <> struct Narrow<uint64_t> {
    template <class S> static inline uint64_t of(S x) { return (uint64_t)x; }
    static inline uint64_t of(float x) { return tsr_double_to_uint64((double)x); }
    static inline uint64_t of(double x) { return tsr_double_to_uint64(x); }
};
template <> struct Narrow<float> {
    template <class S> static inline float of(S x) { return (float)x; }
};
template <> struct Narrow<double> {
    template <class S> static inline double of(S x) { return (double)x; }
};
template <> struct Narrow<Bool> {
    template <class S> static inline Bool of(S x) {
        Bool b = {(uint8_t)(x != 0)};
        return b;
    }
};
template <> struct Narrow<TsrHalf> {
    template <class S> static inline TsrHalf of(S x) { return tsr_half_round((float)x); }
};
template <> struct Narrow<TsrBfloat16> {
    template <class S> static inline TsrBfloat16 of(S x) { return tsr_bfloat16_round((float)x); }
};
template <> struct Narrow<TsrFloat8E5m2> {
    template <class S> static inline TsrFloat8E5m2 of(S x) { return tsr_float8_e5m2_round((float)x); }
};
template <> struct Narrow<TsrFloat8E4m3fn> {
    template <class S> static inline TsrFloat8E4m3fn of(S x) { return tsr_float8_e4m3fn_round((float)x); }
};
template <> struct Narrow<TsrFloat8E5m2fnuz> {
    template <class S> static inline TsrFloat8E5m2fnuz of(S x) { return tsr_float8_e5m2fnuz_round((float)x); }
};
template <> struct Narrow<TsrFloat8E4m3fnuz> {
    template <class S> static inline TsrFloat8E4m3fnuz of(S x) { return tsr_float8_e4m3fnuz_round((float)x); }
};
template <> struct Narrow<TsrFloat8E8m0fnu> {
    template <class S> static inline TsrFloat8E8m0fnu of(S x) { return tsr_float8_e8m0fnu_round((float)x); }
};

/* Of a complex number a real type keeps the real part; but a bool is whether it is 0. */
template <class To, class From> struct Conversion {
    static inline To of(From x) { return Narrow<To>::of(widened(x)); }
};
template <class To, class F> struct Conversion<To, Complex<F>> {
    static inline To of(Complex<F> x) { return Narrow<To>::of(widened(x.re)); }
};
template <class F> struct Conversion<Bool, Complex<F>> {
    static inline Bool of(Complex<F> x) {
        Bool b = {(uint8_t)(widened(x.re) != 0 || widened(x.im) != 0)};
        return b;
    }
};
template <class F, class From> struct Conversion<Complex<F>, From> {
    static inline Complex<F> of(From x) {
        Complex<F> z = {Narrow<F>::of(widened(x)), Narrow<F>::of(0)};
        return z;
    }
};
template <class F, class G> struct Conversion<Complex<F>, Complex<G>> {
    static inline Complex<F> of(Complex<G> x) {
        Complex<F> z = {Narrow<F>::of(widened(x.re)), Narrow<F>::of(widened(x.im))};
        return z;
    }
};
template <class T> struct Conversion<T, T> {
    static inline T of(T x) { return x; }
};
template <class F> struct Conversion<Complex<F>, Complex<F>> {
    static inline Complex<F> of(Complex<F> x) { return x; }
};

template <class To, class From> static inline To convert(From x) { return Conversion<To, From>::of(x); }
