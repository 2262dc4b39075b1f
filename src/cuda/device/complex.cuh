/* complex.cuh: arithmetic and functions of complex numbers, of Complex<float> and Complex<double>. Quotients as the
 * host's (Smith); the inverse functions as W. Kahan has them (Branch cuts for complex elementary functions, 1987). */
typedef Complex<float> TsrC64;
typedef Complex<double> TsrC128;

template <class F> static inline Complex<F> complex(F re, F im) {
    const Complex<F> z = {re, im};
    return z;
}
template <class F> static inline Complex<F> operator+(Complex<F> x, Complex<F> y) {
    return complex(x.re + y.re, x.im + y.im);
}
template <class F> static inline Complex<F> operator-(Complex<F> x, Complex<F> y) {
    return complex(x.re - y.re, x.im - y.im);
}
template <class F> static inline Complex<F> operator-(Complex<F> x) { return complex(-x.re, -x.im); }
template <class F> static inline Complex<F> operator*(Complex<F> x, Complex<F> y) {
    return complex(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
}
template <class F> static inline Complex<F> operator/(Complex<F> x, Complex<F> y) {
    const F a = y.re < 0 ? -y.re : y.re, b = y.im < 0 ? -y.im : y.im;
    if (!(a >= b)) {
        const F ratio = y.re / y.im, s = 1 / (y.re * ratio + y.im);
        return complex((x.re * ratio + x.im) * s, (x.im * ratio - x.re) * s);
    }
    if (y.re == 0 && y.im == 0) return complex(x.re / a, x.im / a);
    const F ratio = y.im / y.re, s = 1 / (y.im * ratio + y.re);
    return complex((x.re + x.im * ratio) * s, (x.im - x.re * ratio) * s);
}
template <class F> static inline bool operator==(Complex<F> x, Complex<F> y) { return x.re == y.re && x.im == y.im; }
template <class F> static inline bool operator!=(Complex<F> x, Complex<F> y) { return !(x == y); }
template <class F> static inline Complex<F> scaled(Complex<F> x, F by) { return complex(x.re * by, x.im * by); }
template <class F> static inline bool is_true(Complex<F> x) { return x.re != 0 || x.im != 0; }
template <class F> static inline bool is_finite(F x) { return x - x == 0; }
template <class F> static inline Complex<F> conjugated(Complex<F> x) { return complex(x.re, -x.im); }
template <class F> static inline F magnitude(Complex<F> x) { return hypot(x.re, x.im); }
template <class F> static inline Complex<F> direction(Complex<F> x) {
    const F a = magnitude(x);
    return a == 0 ? complex((F)0, (F)0) : complex(x.re / a, x.im / a);
}
template <class F> static inline Complex<F> times_i(Complex<F> x) { return complex(-x.im, x.re); }
template <class F> static inline Complex<F> over_i(Complex<F> x) { return complex(x.im, -x.re); }
template <class F> static inline Complex<F> one_like(Complex<F>) { return complex((F)1, (F)0); }

template <class F> static inline Complex<F> exp(Complex<F> x) {
    const F size = exp(x.re);
    if (x.im == 0) return complex(size, x.im);
    if (!is_finite(x.im) && size == 0) return complex((F)0, (F)0);
    if (!is_finite(x.im) && x.re == (F)INFINITY) return complex(x.re, (F)NAN);
    return complex(size * cos(x.im), size * sin(x.im));
}
/* Near the unit circle from the distance to it, which is not rounded away there. */
template <class F> static inline Complex<F> log(Complex<F> x) {
    const F size = magnitude(x), angle = atan2(x.im, x.re);
    if (!(size > (F)0.5 && size < (F)2)) return complex(log(size), angle);
    const F a = fabs(x.re) > fabs(x.im) ? fabs(x.re) : fabs(x.im),
            b = fabs(x.re) > fabs(x.im) ? fabs(x.im) : fabs(x.re);
    return complex((F)0.5 * log1p((a - 1) * (a + 1) + b * b), angle);
}
template <class F> static inline Complex<F> sqrt(Complex<F> x) {
    if (x.re == 0 && x.im == 0) return complex((F)0, x.im);
    if (fabs(x.im) == (F)INFINITY) return complex((F)INFINITY, x.im);
    const F t = sqrt(fabs(x.re) / 2 + hypot(x.re / 2, x.im / 2));
    if (x.re >= 0) return complex(t, x.im / (2 * t));
    return complex(fabs(x.im) / (2 * t), copysign(t, x.im));
}
template <class F> static inline Complex<F> sinh(Complex<F> x) {
    if (x.im == 0) return complex(sinh(x.re), x.im);
    return complex(sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im));
}
template <class F> static inline Complex<F> cosh(Complex<F> x) {
    if (x.im == 0) return complex(cosh(x.re), x.re < 0 ? -x.im : x.im);
    return complex(cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im));
}
template <class F> static inline Complex<F> tanh(Complex<F> x) {
    const F most = sizeof(F) == 4 ? (F)9 : (F)20; /* where 1 is the nearest number */
    if (fabs(x.re) > most && is_finite(x.im))
        return complex(copysign((F)1, x.re), 4 * sin(x.im) * cos(x.im) * exp(-2 * fabs(x.re)));
    const F t = tan(x.im), beta = 1 + t * t, s = sinh(x.re), rho = sqrt(1 + s * s), below = 1 + beta * s * s;
    return complex(beta * rho * s / below, t / below);
}
template <class F> static inline Complex<F> sin(Complex<F> x) { return over_i(sinh(times_i(x))); }
template <class F> static inline Complex<F> cos(Complex<F> x) { return cosh(times_i(x)); }
template <class F> static inline Complex<F> tan(Complex<F> x) { return over_i(tanh(times_i(x))); }
template <class F> static inline Complex<F> asin(Complex<F> x) {
    const Complex<F> below = sqrt(one_like(x) - x), above = sqrt(one_like(x) + x);
    return complex(atan2(x.re, (below * above).re), asinh((conjugated(below) * above).im));
}
template <class F> static inline Complex<F> acos(Complex<F> x) {
    const Complex<F> below = sqrt(one_like(x) - x), above = sqrt(one_like(x) + x);
    return complex(2 * atan2(below.re, above.re), asinh((conjugated(above) * below).im));
}
template <class F> static inline Complex<F> asinh(Complex<F> x) { return times_i(asin(over_i(x))); }
template <class F> static inline Complex<F> acosh(Complex<F> x) {
    const Complex<F> below = sqrt(x - one_like(x)), above = sqrt(x + one_like(x));
    return complex(asinh((conjugated(below) * above).re), 2 * atan2(below.im, above.re));
}
template <class F> static inline bool is_infinite(F x) { return x - x != 0 && x == x; }
template <class F> static inline Complex<F> atanh(Complex<F> x) {
    if (is_infinite(x.re) || is_infinite(x.im))
        return complex(copysign((F)0, x.re), x.im == x.im ? copysign((F)(M_PI / 2), x.im) : x.im);
    const F beyond = 1 - x.re;
    return complex((F)0.25 * log1p(4 * x.re / (beyond * beyond + x.im * x.im)),
                   (F)0.5 * atan2(2 * x.im, beyond * (1 + x.re) - x.im * x.im));
}
template <class F> static inline Complex<F> atan(Complex<F> x) { return over_i(atanh(times_i(x))); }
template <class F> static inline Complex<F> pow(Complex<F> x, Complex<F> y) {
    if (!is_true(x)) return is_true(y) ? (y.re > 0 ? complex((F)0, (F)0) : complex((F)NAN, (F)NAN)) : one_like(x);
    return exp(y * log(x));
}
template <class F> static inline Complex<F> log1p(Complex<F> x) {
    const Complex<F> above = complex(x.re + 1, x.im);
    if (above.re == 1 && above.im == 0) return x;
    return complex(above.re - 1, above.im).re == x.re ? log(above) : log(above) * (x / (above - one_like(x)));
}
template <class F> static inline Complex<F> expm1(Complex<F> x) {
    const F half = sin(x.im / 2);
    return complex(expm1(x.re) * cos(x.im) - 2 * half * half, exp(x.re) * sin(x.im));
}
template <class F> static inline Complex<F> sinc(Complex<F> x) {
    const Complex<F> w = scaled(x, (F)M_PI);
    return is_true(x) ? sin(w) / w : one_like(x);
}
template <class F> static inline Complex<F> logaddexp(Complex<F> x, Complex<F> y) {
    if (x != x || y != y) return complex((F)NAN, (F)NAN);
    const Complex<F> low = x.re < y.re ? x : y, high = x.re < y.re ? y : x;
    if (!is_finite(low.re) && low.re == high.re) return low.re < 0 ? low : log(exp(low) + exp(high));
    return log1p(exp(low - high)) + high;
}
template <class F> static inline Complex<F> between(Complex<F> x, Complex<F> y, Complex<F> w) {
    const Complex<F> d = y - x;
    return magnitude(w) < (F)0.5 ? x + w * d : y - d * (one_like(w) - w);
}
template <class F> static inline F finite_or(F x, F nan, F above, F below) {
    return x != x ? nan : is_finite(x) ? x : x > 0 ? above : below;
}
