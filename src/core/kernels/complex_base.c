#include "kernels/complex_tables.inc"
