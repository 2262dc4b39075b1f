/* complex_base.c: the table of complex loops compiled for any CPU; complex_avx2.c compiles the same source for AVX2. */
#include "complex_tables.inc"
