/* Special functions: series near the origin, asymptotic expansions far out, quadrature between. DLMF: NIST Digital Library of
 * Mathematical Functions; A&S: Abramowitz and Stegun, Handbook of Mathematical Functions. */
#include "specfun.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* ---- gamma function and its kin ---- */

double tsr_sf_lgamma(double x) {
    int sign;
    return isinf(x) ? INFINITY : lgamma_r(x, &sign);
}

/* Recurrence up to 10, then the asymptotic series with Bernoulli numbers (A&S 6.3.18); reflection below 0. */
double tsr_sf_digamma(double x) {
    if (x == 0) return copysign(INFINITY, -x);
    if (x < 0) {
        double whole, part = modf(x, &whole);
        if (x == whole) return NAN;
        return tsr_sf_digamma(1 - x) - M_PI / tan(M_PI * part);
    }
    double sum = 0;
    while (x < 10) {
        sum -= 1 / x;
        x += 1;
    }
    double z = 1 / (x * x);
    double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
    return sum + log(x) - 0.5 / x - (isinf(x) ? 0 : series);
}

/* A&S 6.4.7 (reflection), 6.4.6 and 6.4.12. */
#define TRIGAMMA_BODY(R, SIN) \
    R sign = 1, sum = 0; \
    if (x < (R)0.5) { \
        R s = SIN((R)M_PI * x); \
        sign = -1; \
        sum -= (R)(M_PI * M_PI) / (s * s); \
        x = 1 - x; \
    } \
    for (int i = 0; i < 6; i++) { \
        sum += 1 / (x * x); \
        x += 1; \
    } \
    R z = 1 / (x * x); \
    sum += (1 + 1 / (2 * x) + z * ((R)(1.0 / 6) - z * ((R)(1.0 / 30) - z * (R)(1.0 / 42)))) / x; \
    return sign * sum;
double tsr_sf_trigamma(double x) { TRIGAMMA_BODY(double, sin) }
float tsr_sf_trigamma_f(float x) { TRIGAMMA_BODY(float, sinf) }

/* Euler-Maclaurin summation from the tenth term on (DLMF 25.11.43); the constants are (2k)! / B(2k). */
double tsr_sf_zeta(double s, double q) {
    static const double inverse[] = {12, -720, 30240, -1209600, 47900160, -1892437580.3183791606, 74724249600.0, -2950130727918.164224, 116467828143500.67249,
                                     -4597978722407472.6105, 181521054019435467.73, -7166165256175667011.3};
    if (s == 1) return INFINITY;
    if (s < 1) return NAN;
    if (q <= 0) {
        if (q == floor(q)) return INFINITY;
        if (s != floor(s)) return NAN;
    }
    double sum = pow(q, -s), a = q, b = 0;
    for (int i = 0; i < 9 || a <= 9; i++) {
        if (i > 1000000) return NAN;
        a += 1;
        b = pow(a, -s);
        sum += b;
        if (-DBL_EPSILON * sum < b && b < DBL_EPSILON * sum) return sum;
    }
    double w = a, factor = 1, k = 0;
    sum += b * w / (s - 1);
    sum -= 0.5 * b;
    for (int i = 0; i < 12; i++) {
        factor *= s + k;
        b /= w;
        double t = factor * b / inverse[i];
        sum += t;
        if (fabs(t / sum) < DBL_EPSILON) return sum;
        k += 1;
        factor *= s + k;
        b /= w;
        k += 1;
    }
    return sum;
}

double tsr_sf_polygamma(int n, double x) { return (n % 2 ? 1 : -1) * exp(tsr_sf_lgamma(n + 1.0)) * tsr_sf_zeta(n + 1.0, x); }

/* x^a e^-x / gamma(a + 1), without overflow. */
static double gamma_prefactor(double a, double x) {
    if (a < 100) return exp(a * log(x) - x - tsr_sf_lgamma(a + 1));
    double d = (x - a) / a; /* near x = a the logarithms nearly cancel: Stirling's series keeps the difference */
    double correction = 1 / (12 * a) - 1 / (360 * a * a * a);
    return exp(a * (log1p(d) - d) - correction) / sqrt(2 * M_PI * a);
}

static double gamma_series(double a, double x) { /* DLMF 8.11.4 */
    double term = 1, sum = 1;
    for (int n = 1; n < 200000; n++) {
        term *= x / (a + n);
        sum += term;
        if (term <= sum * DBL_EPSILON) break;
    }
    return sum * gamma_prefactor(a, x);
}

static double gamma_fraction(double a, double x) { /* DLMF 8.9.2 by Lentz's method; times gamma(a + 1) x^-a e^x: divided out */
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 200000; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        if (fabs(d) < 1e-300) d = 1e-300;
        c = b + an / c;
        if (fabs(c) < 1e-300) c = 1e-300;
        d = 1 / d;
        double step = d * c;
        h *= step;
        if (fabs(step - 1) < DBL_EPSILON) break;
    }
    return h * gamma_prefactor(a, x) * a;
}

double tsr_sf_gammainc(double a, double x) {
    if (x < 0 || a < 0) return NAN;
    if (a == 0) return x > 0 ? 1 : NAN;
    if (x == 0) return 0;
    if (isinf(a)) return isinf(x) ? NAN : 0;
    if (isinf(x)) return 1;
    if (isnan(a) || isnan(x)) return NAN;
    return x > 1 && x > a ? 1 - gamma_fraction(a, x) : gamma_series(a, x);
}

double tsr_sf_gammaincc(double a, double x) {
    if (x < 0 || a < 0) return NAN;
    if (a == 0) return x > 0 ? 0 : NAN;
    if (x == 0) return 1;
    if (isinf(a)) return isinf(x) ? NAN : 1;
    if (isinf(x)) return 0;
    if (isnan(a) || isnan(x)) return NAN;
    return x > 1 && x > a ? gamma_fraction(a, x) : 1 - gamma_series(a, x);
}

/* ---- the error function's kin ---- */

double tsr_sf_erfcx(double x) {
    if (x < -26.7) return INFINITY;
    if (!(x > 10)) return exp(x * x) * erfc(x);
    double z = 1 / (2 * x * x), term = 1, sum = 1; /* DLMF 7.12.1 */
    for (int k = 1; k < 12; k++) {
        term *= -(2 * k - 1) * z;
        sum += term;
    }
    return sum / (x * sqrt(M_PI));
}


double tsr_sf_log_ndtr(double x) {
    double t = x * M_SQRT1_2;
    return x < -1 ? log(tsr_sf_erfcx(-t) / 2) - t * t : log1p(-erfc(t) / 2);
}

/* Newton's iteration on log(ndtr), from the leading term of the tail (A&S 26.2.23): converges from any start in the lower half. */
double tsr_sf_ndtri(double p) {
    if (p == 0) return -INFINITY;
    if (p == 1) return INFINITY;
    if (!(p > 0 && p < 1)) return NAN;
    if (p > 0.5) return p == 1 - (1 - p) ? -tsr_sf_ndtri(1 - p) : NAN;
    double t = sqrt(-2 * log(p)), target = log(p);
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int i = 0; i < 20; i++) {
        double value = tsr_sf_log_ndtr(x);
        double slope = exp(-x * x / 2 - value) / sqrt(2 * M_PI), step = (value - target) / slope;
        x -= step;
        if (fabs(step) <= 1e-15 * fabs(x)) break;
    }
    return fabs(x) < 1e-15 ? 0 : x;
}

double tsr_sf_entr(double x) {
    if (isnan(x)) return x;
    return x > 0 ? -x * log(x) : x == 0 ? 0 : -INFINITY;
}

double tsr_sf_xlog1py(double x, double y) {
    if (isnan(y)) return NAN;
    return x == 0 ? 0 : x * log1p(y);
}

/* ---- modified Bessel functions ---- */

/* K_nu(x) e^x = integral over t >= 0 of exp(-x (cosh t - 1)) cosh(nu t): the trapezoidal rule converges geometrically (DLMF 10.32.9). */
static double bessel_k_integral(double nu, double x) {
    double h = 0.12 / sqrt(fmax(x, 1)), sum = 0.5;
    for (int i = 1; i < 400; i++) {
        double t = i * h, s = sinh(t / 2), term = exp(-2 * x * s * s) * cosh(nu * t);
        sum += term;
        if (term < sum * 1e-18) break;
    }
    return sum * h;
}

static double bessel_k_far(double nu, double x) { /* DLMF 10.40.2 */
    double mu = 4 * nu * nu, term = 1, sum = 1;
    for (int k = 1; k < 40; k++) {
        double next = term * (mu - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
        if (fabs(next) < 1e-18 * fabs(sum) || fabs(next) > fabs(term)) break;
        term = next;
        sum += term;
    }
    return sqrt(M_PI / (2 * x)) * sum;
}

/* ---- Bessel functions ---- */

double tsr_sf_spherical_j0(double x) {
    if (isinf(x)) return 0;
    if (fabs(x) < 0.5) {
        double z = x * x;
        return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156)))));
    }
    return sin(x) / x;
}

/* ---- Airy ---- */

/* The Maclaurin series (DLMF 9.4.1), in long double since its terms cancel. */
static double airy_near(double x) {
    const long double c1 = 0.355028053887817239260063186004183177L, c2 = 0.258819403792806798405183560189203963L;
    long double z = (long double)x * x * x, f = 1, g = x, tf = 1, tg = x;
    for (int k = 1; k < 100; k++) {
        tf *= z / ((3 * k - 1) * (3.0L * k));
        tg *= z / ((3.0L * k) * (3 * k + 1));
        f += tf;
        g += tg;
        if (fabsl(tf) < 1e-22L * fabsl(f) && fabsl(tg) < 1e-22L * fabsl(g)) break;
    }
    return (double)(c1 * f - c2 * g);
}

/* u_k of DLMF 9.7.1: each from the one before. */
static double airy_ratio(int k) { return (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / ((2.0 * k - 1) * 216 * k); }

static double airy_oscillating(double x) { /* of -x, x large: DLMF 9.7.9 */
    double zeta = 2.0 / 3 * x * sqrt(x), term = 1, even = 1, odd = 0;
    for (int k = 1; k < 30; k++) {
        double next = term * airy_ratio(k) / zeta;
        if (fabs(next) > fabs(term) || fabs(next) < 1e-18) break;
        term = next;
        if (k % 2) odd += (k / 2) % 2 ? -term : term;
        else even += (k / 2) % 2 ? -term : term;
    }
    return (cos(zeta - M_PI_4) * even + sin(zeta - M_PI_4) * odd) / (sqrt(M_PI) * sqrt(sqrt(x)));
}

double tsr_sf_airy_ai(double x) {
    if (isinf(x) || isnan(x)) return NAN;
    if (x < -9) return airy_oscillating(-x);
    if (x <= 2) return airy_near(x);
    double zeta = 2.0 / 3 * x * sqrt(x);
    if (zeta > 760) return 0;
    double scaled = zeta > 30 ? bessel_k_far(1.0 / 3, zeta) : bessel_k_integral(1.0 / 3, zeta);
    return sqrt(x / 3) / M_PI * scaled * exp(-zeta);
}
