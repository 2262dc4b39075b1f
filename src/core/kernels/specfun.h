/* specfun.h: special functions of one or two real arguments, in double (those in _f: in float). Edge values are
 * PyTorch's. No tensors. The device compiles the text of specfun.c too (src/cuda/device/special.cuh). */
#ifndef CORE_KERNELS_SPECFUN_H
#define CORE_KERNELS_SPECFUN_H

#include <stdbool.h>

double tsr_sf_lgamma(double x);              /* log |gamma(x)|; inf at the poles */
double tsr_sf_trigamma(double x);            /* the second derivative of log gamma */
float tsr_sf_trigamma_f(float x);            /* each step rounded to float */
double tsr_sf_zeta(double s, double q);      /* Hurwitz */
float tsr_sf_zeta_f(float s, float q);       /* the first power in float, all else in double */
float tsr_sf_zeta_steps(float s, float q);   /* each step rounded to float */
double tsr_sf_gammainc(double a, double x);  /* regularized lower incomplete gamma */
double tsr_sf_gammaincc(double a, double x); /* upper */
/* Each step rounded to float; the lower one with fused operations, as PyTorch's vectors have them, or without. */
float tsr_sf_gammainc_f(float a, float x, bool fused);
float tsr_sf_gammaincc_f(float a, float x);
double tsr_sf_erfcx(double x);    /* exp(x^2) erfc(x) */
double tsr_sf_log_ndtr(double x); /* log of the normal distribution function */
float tsr_sf_log_ndtr_f(float x); /* each step rounded to float */

#endif
