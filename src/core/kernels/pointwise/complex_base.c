#include "complex_tables.inc"
