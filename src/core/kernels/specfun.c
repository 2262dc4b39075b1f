/* Special functions: series near the origin, asymptotic expansions far out, quadrature between. DLMF: NIST Digital
 * Library of Mathematical Functions; A&S: Abramowitz and Stegun, Handbook of Mathematical Functions. */
#include "specfun.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* ---- gamma function and its kin ---- */

double tsr_sf_lgamma(double x) {
    int sign;
    return isinf(x) ? INFINITY : lgamma_r(x, &sign);
}

#define R double
#define TRIGAMMA tsr_sf_trigamma
#define ZETA zeta_sum
#define SIN sin
#define FABS fabs
#include "zeta.inc"

#define R float
#define TRIGAMMA tsr_sf_trigamma_f
#define ZETA zeta_sum_f
#define SIN sinf
#define FABS fabsf
#include "zeta.inc"

double tsr_sf_zeta(double s, double q) { return zeta_sum(s, q, pow(q, -s)); }
float tsr_sf_zeta_f(float s, float q) { return (float)zeta_sum(s, q, powf(q, -s)); }
float tsr_sf_zeta_steps(float s, float q) { return zeta_sum_f(s, q, (float)pow(q, -s)); }

#if defined(__wasm__) || defined(TSR_SHORT_GAMMA) /* elsewhere by gamma.c */
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

static double gamma_fraction(double a,
                             double x) { /* DLMF 8.9.2 by Lentz's method; times gamma(a + 1) x^-a e^x: divided out */
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

/* Near x = a of a large a, where series and fraction take sqrt(a) terms: Temme's expansion (DLMF 8.12.3 and 8.12.4),
 * whose eta is small wherever neither function is 0. The lower function has sign -1, the upper one 1. */
enum { TEMME_LEAST = 10000000 };

static double gamma_uniform(double a, double x, double sign) {
    double m = (x - a) / a, half = m - log1p(m); /* eta^2 / 2 */
    if (fabs(m) < 0.05) {
        double power = m * m;
        half = 0;
        for (int k = 2; k < 16; k++, power *= -m) half += power / k;
    }
    double eta = copysign(sqrt(2 * half), m),
           first = -1.0 / 3 + eta * (1.0 / 12 + eta * (-2.0 / 135 + eta * (1.0 / 864 + eta / 2835))),
           second = -1.0 / 540 + eta * (-1.0 / 288 + eta / 378);
    double tail = exp(-a * half), rest = tail > 0 ? tail / sqrt(2 * M_PI * a) * (first + second / a) : 0;
    return erfc(sign * eta * sqrt(a / 2)) / 2 + sign * rest;
}

double tsr_sf_gammainc(double a, double x) {
    if (x < 0 || a < 0) return NAN;
    if (a == 0) return x > 0 ? 1 : NAN;
    if (x == 0) return 0;
    if (isinf(a)) return isinf(x) ? NAN : 0;
    if (isinf(x)) return 1;
    if (isnan(a) || isnan(x)) return NAN;
    if (a >= TEMME_LEAST) return gamma_uniform(a, x, -1);
    return x > 1 && x > a ? 1 - gamma_fraction(a, x) : gamma_series(a, x);
}

double tsr_sf_gammaincc(double a, double x) {
    if (x < 0 || a < 0) return NAN;
    if (a == 0) return x > 0 ? 0 : NAN;
    if (x == 0) return 1;
    if (isinf(a)) return isinf(x) ? NAN : 1;
    if (isinf(x)) return 0;
    if (isnan(a) || isnan(x)) return NAN;
    if (a >= TEMME_LEAST) return gamma_uniform(a, x, 1);
    return x > 1 && x > a ? gamma_fraction(a, x) : 1 - gamma_series(a, x);
}

float tsr_sf_gammainc_f(float a, float x, bool fused) {
    (void)fused;
    return (float)tsr_sf_gammainc(a, x);
}
float tsr_sf_gammaincc_f(float a, float x) { return (float)tsr_sf_gammaincc(a, x); }
#endif

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

float tsr_sf_log_ndtr_f(float x) {
    float t = x * (float)M_SQRT1_2;
    return x < -1 ? fmaf(-t, t, logf((float)tsr_sf_erfcx(-t) / 2)) : log1pf(-erfcf(t) / 2);
}
