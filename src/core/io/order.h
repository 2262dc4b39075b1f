/* order.h: stable orders of pointers, for as many as a file names; interrupts end them. */
#ifndef CORE_IO_ORDER_H
#define CORE_IO_ORDER_H

#include "core/error.h"

/* Sorts n pointers, equal ones left in order; looks for interrupts, and fails with one. */
TsrStatus tsr_sort_pointers(const void **pointers, size_t n, int (*compare)(const void *a, const void *b));
/* Pointers to n structs of `size` bytes, sorted; the caller's to tsr_free. */
TsrStatus tsr_new_sorted(const void ***out, const void *structs, size_t n, size_t size,
                         int (*compare)(const void *a, const void *b));
int tsr_by_name(const void *a, const void *b); /* of structs whose first member is their name */

#endif
