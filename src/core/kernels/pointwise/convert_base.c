/* convert_base.c: conversion between dtypes (convert.inc) compiled for any CPU; kernels/simd.c chooses among the three
 * builds. */
#include "core/kernels/simd.h"
#include "convert.inc"
