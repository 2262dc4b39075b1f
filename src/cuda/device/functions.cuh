/* functions.cuh: what the expressions of functions.def call. */

/* The quotient rounded down, of which m is the remainder towards zero. */
template <class T> static inline T floored(T x, T y, T m) {
    T quotient = (x - m) / y - (T)(m != 0 && (y < 0) != (m < 0)), whole = floor(quotient);
    whole = quotient - whole > (T)0.5 ? whole + 1 : whole;
    whole = quotient == 0 ? copysign((T)0, x / y) : whole;
    return y == 0 ? x / y : whole;
}

/* x / (1 - x), where x is kept eps away from 0 and 1 unless eps is negative. */
template <class T> static inline T odds(T x, double eps) {
    const T low = (T)eps, high = 1 - low, bounded = x < low ? low : x > high ? high : x, z = low >= 0 ? bounded : x;
    return z / (1 - z);
}
