/* Tensors as elements of a tensor: what the row NESTED of dtype.def constructs, copies and destroys. Each element owns
 * one reference. */
#include "core/element/dtype_impl.h"
#include "core/mem.h"
#include "core/tensor.h"

TsrStatus tsr_nested_construct(void *data, size_t n) {
    TsrTensor **t = data;
    for (size_t i = 0; i < n; i++) t[i] = tsr_tensor_new_undefined();
    return TSR_OK;
}

void tsr_nested_destroy(void *data, size_t n) {
    TsrTensor **t = data;
    for (size_t i = 0; i < n; i++) {
        TsrTensor *old = t[i];
        t[i] = NULL;
        tsr_tensor_free(old);
    }
}

TsrStatus tsr_nested_copy(void *dst, const void *src, size_t n) {
    TsrTensor **to = dst, *const *from = src;
    for (size_t i = 0; i < n; i++) {
        TsrTensor *old = to[i];
        to[i] = tsr_tensor_retain(from[i]);
        tsr_tensor_free(old);
    }
    return TSR_OK;
}

TsrStatus tsr_nested_new(void **out) {
    TsrTensor **t = tsr_malloc(sizeof *t);
    if (t == NULL) return tsr_error_no_memory(sizeof *t);
    *t = tsr_tensor_new_undefined();
    *out = t;
    return TSR_OK;
}

void tsr_nested_delete(void *element) {
    tsr_nested_destroy(element, 1);
    tsr_free(element);
}
