/* dtype_impl.h: what the row of nested tensors does with its elements (TsrTypeMeta's functions, dtype.h). dtype.c has
 * the table and knows no tensor; nested.c, above tensor.h, has these. */
#ifndef CORE_ELEMENT_DTYPE_IMPL_H
#define CORE_ELEMENT_DTYPE_IMPL_H

#include "core/dtype.h"

/* As TsrTypeMeta's members of the same names, for elements that are tensors: NULL or an owned reference each. */
TsrStatus tsr_nested_new(void **out);
TsrStatus tsr_nested_construct(void *data, size_t n);
TsrStatus tsr_nested_copy(void *dst, const void *src, size_t n);
void tsr_nested_destroy(void *data, size_t n);
void tsr_nested_delete(void *element);

#endif
