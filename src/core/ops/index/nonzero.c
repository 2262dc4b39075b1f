/* nonzero.c: where a mask is true: the positions, and the elements of another tensor there. Chunks of the mask are
 * counted side by side first; then each knows where its results begin, and they are written side by side too. */
#include "nonzero.h"

#include "core/engine/device.h"
#include "core/indexing.h"
#include "core/kernels/move/select.h"
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

_Static_assert((int)TSR_KERNEL_DIMS >= (int)TSR_MAX_DIMS, "a kernel takes every tensor");

typedef struct Nonzero {
    const uint8_t *mask;
    int64_t n, chunk;
    int64_t *starts;     /* of each chunk among the results, and their count at the end */
    int64_t *out, count; /* column-major (count, ndim) */
    int ndim;
    const int64_t *sizes;
} Nonzero;

static void count_chunks(int64_t begin, int64_t end, void *user) {
    Nonzero *z = user;
    for (int64_t c = begin; c < end; c++) {
        int64_t first = c * z->chunk, last = TSR_MIN(first + z->chunk, z->n);
        z->starts[c] = tsr_kernel_count_bytes(z->mask + first, last - first);
    }
}

static void fill_chunks(int64_t begin, int64_t end, void *user) {
    Nonzero *z = user;
    for (int64_t c = begin; c < end && tsr_interrupt_flag == 0; c++) {
        int64_t first = c * z->chunk, last = TSR_MIN(first + z->chunk, z->n);
        tsr_kernel_positions(z->mask + first, last - first, z->starts[c + 1] - z->starts[c], first,
                             z->out + z->starts[c], z->count, z->ndim, z->sizes);
    }
}

/* Counts the chunks of the mask and turns counts into starts. */
static TsrStatus nonzero_count(Nonzero *z) {
    int64_t chunks = (z->n + z->chunk - 1) / z->chunk;
    z->starts = tsr_malloc_array((size_t)chunks + 1, sizeof(int64_t));
    if (z->starts == NULL) return tsr_error_no_memory(sizeof(int64_t) * (size_t)(chunks + 1));
    TSR_TRY(tsr_parallel_for(chunks, 1, count_chunks, z));
    z->count = 0;
    for (int64_t c = 0; c < chunks; c++) {
        int64_t k = z->starts[c];
        z->starts[c] = z->count;
        z->count += k;
    }
    z->starts[chunks] = z->count;
    return TSR_OK;
}

static TsrStatus nonzero_fill(TsrTensor **out, Nonzero *z, TsrDevice device) {
    int64_t sizes[2] = {z->count, z->ndim},
            strides[2] = {1, z->count}; /* a column after the other, even where there is no row */
    TSR_TRY(tsr_tensor_new_strided(out, 2, sizes, strides, TSR_INT64, device));
    z->out = tsr_data(*out);
    if (z->count == 0 || z->ndim == 0) return TSR_OK;
    TsrStatus status = tsr_parallel_for((z->n + z->chunk - 1) / z->chunk, 1, fill_chunks, z);
    return tsr_owned_keep(out, status);
}

/* How many of a dense mask of a device are true up to the end of each of its chunks, and in all, which is waited for.
 */
static TsrStatus count_there(TsrTensor **ends, int64_t *count, const TsrTensor *mask) {
    TSR_OWNED counts = NULL;
    TSR_OWNED last = NULL;
    TsrScalar total;
    int64_t n = mask->numel, chunks = (n + TSR_DEVICE_MASK_CHUNK - 1) / TSR_DEVICE_MASK_CHUNK;
    TsrDeviceWork work = {.what = TSR_P_TRUE_COUNTS};
    TSR_TRY(tsr_tensor_new(&counts, 1, &chunks, TSR_INT64, mask->device));
    TSR_TRY(tsr_device_work_add(&work, counts, true));
    TSR_TRY(tsr_device_work_add_as(&work, mask, (TsrGeometry){1, &n, &(int64_t){1}, mask->offset}, false));
    TSR_TRY(tsr_device_work(mask->device.type, &work));
    TSR_TRY(tsr_invoke_new(ends, 1, "cumsum", "ti", counts, (int64_t)0));
    TSR_TRY(tsr_tensor_new_select(&last, *ends, 0, -1));
    TSR_TRY(tsr_tensor_item(&total, last));
    *count = tsr_scalar_to_int(total);
    return TSR_OK;
}

/* nonzero of a dense mask of a device. */
static TsrStatus nonzero_there(TsrTensor **out, const TsrTensor *mask) {
    TSR_OWNED ends = NULL;
    TsrDeviceShape shape = {.ndim = tsr_ndim(mask)};
    TsrDeviceWork work = {.what = TSR_P_TRUE_PLACES, .params = &shape, .nparams = sizeof shape};
    int64_t n = mask->numel, count = 0;
    if (shape.ndim > TSR_DEVICE_DIMS) return tsr_device_decline();
    if (n > 0) TSR_TRY(count_there(&ends, &count, mask));
    int64_t sizes[2] = {count, shape.ndim}, strides[2] = {1, count};
    for (int d = 0; d < shape.ndim; d++) shape.sizes[d] = mask->sizes[shape.ndim - 1 - d];
    TSR_TRY(tsr_tensor_new_strided(out, 2, sizes, strides, TSR_INT64, mask->device));
    if ((*out)->numel == 0) return TSR_OK;
    TsrStatus status = tsr_device_work_add(&work, *out, true);
    if (status == TSR_OK)
        status = tsr_device_work_add_as(&work, mask, (TsrGeometry){1, &n, &(int64_t){1}, mask->offset}, false);
    if (status == TSR_OK) status = tsr_device_work_add(&work, ends, false);
    if (status == TSR_OK) status = tsr_device_work(mask->device.type, &work);
    return tsr_owned_keep(out, status);
}

TsrStatus tsr_nonzero_check(const TsrTensor *self) {
    return tsr_require(TSR_BITS_USUAL | TSR_BIT(BOOL) | TSR_BITS_COMPLEX | TSR_BIT(COMPLEX32) | TSR_BIT(BCOMPLEX32),
                       self->dtype, "nonzero_count_cpu");
}

TsrStatus tsr_nonzero_new(TsrTensor **out, const TsrTensor *self) {
    if (tsr_is_meta(self))
        return tsr_error(
            TSR_NOT_IMPLEMENTED_ERROR,
            "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct "
            "data-independent implementation does not exist. This implementation "
            "returns a fake value, assuming all elements of the tensor are non-zero. To enable this registration, "
            "please set "
            "'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True.");
    TSR_TRY(tsr_nonzero_check(self));
    TsrTensor *mask, *dense;
    TSR_TRY(tsr_tensor_new_cast(&mask, self, TSR_BOOL));
    TsrStatus status = tsr_tensor_new_contiguous(&dense, mask, TSR_CONTIGUOUS);
    tsr_tensor_free(mask);
    TSR_TRY(status);
    if (tsr_on_device(dense)) {
        status = nonzero_there(out, dense);
        tsr_tensor_free(dense);
        return status;
    }
    Nonzero z = {
        .mask = tsr_data(dense), .n = dense->numel, .chunk = 1 << 16, .ndim = tsr_ndim(self), .sizes = self->sizes};
    status = nonzero_count(&z);
    if (status == TSR_OK) status = nonzero_fill(out, &z, self->device);
    tsr_free(z.starts);
    tsr_tensor_free(dense);
    return status;
}

/* ---- the elements ---- */

typedef struct Select {
    Nonzero z;
    const char *src;
    char *dst;
    size_t item;
} Select;

static void select_chunks(int64_t begin, int64_t end, void *user) {
    Select *s = user;
    for (int64_t c = begin; c < end && tsr_interrupt_flag == 0; c++) {
        int64_t first = c * s->z.chunk, last = TSR_MIN(first + s->z.chunk, s->z.n);
        tsr_kernel_compress(s->z.mask + first, last - first, s->z.starts[c + 1] - s->z.starts[c],
                            s->src + (size_t)first * s->item, s->dst + (size_t)s->z.starts[c] * s->item, s->item);
    }
}

TsrStatus tsr_selected_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *mask) {
    Select s = {.z = {.mask = tsr_data(mask), .n = mask->numel, .chunk = 1 << 16},
                .src = tsr_data(self),
                .item = tsr_itemsize(self)};
    TsrStatus status = nonzero_count(&s.z);
    if (status == TSR_OK) status = tsr_tensor_new(out, 1, &s.z.count, self->dtype, self->device);
    if (status == TSR_OK) {
        s.dst = tsr_data(*out);
        status = tsr_parallel_for((s.z.n + s.z.chunk - 1) / s.z.chunk, 1, select_chunks, &s);
        if (status != TSR_OK) tsr_tensor_reset(out);
    }
    tsr_free(s.z.starts);
    return status;
}
