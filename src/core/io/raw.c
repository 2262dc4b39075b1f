/* Bare elements in the machine's byte order. */
#include "elements.h"
#include "formats.h"
#include "core/number.h"
#include "core/view.h"

/* The shape asked for, with one -1 replaced by what the bytes give; without a shape a vector of all there is. */
static TsrStatus resolve_shape(int64_t *shape, int *ndim, const TsrInput *in, const TsrLoadOptions *options,
                               int64_t available) {
    int unknown = -1;
    int64_t known = 1;
    *ndim = options->ndim < 0 ? 1 : options->ndim;
    if (*ndim > TSR_MAX_DIMS) return tsr_input_error(in, "more than %d dimensions", TSR_MAX_DIMS);
    for (int d = 0; d < *ndim; d++) {
        shape[d] = options->ndim < 0 ? -1 : options->shape[d];
        if (shape[d] == -1 && unknown < 0) unknown = d;
        else if (shape[d] < 0) return tsr_input_error(in, "a shape can't have the size %lld", (long long)shape[d]);
        else if (tsr_mul_overflows(known, shape[d], &known)) return tsr_input_error(in, "its shape overflows");
    }
    if (unknown < 0) return TSR_OK;
    if (known == 0 || available % known != 0)
        return tsr_input_error(in, "%lld elements do not fill the shape asked for", (long long)available);
    shape[unknown] = available / known;
    return TSR_OK;
}

TsrStatus tsr_raw_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    int ndim;
    int64_t shape[TSR_MAX_DIMS], numel;
    size_t nbytes;
    TsrTensor *t;
    TsrDtype dtype = options->dtype;
    if (dtype == TSR_DTYPE_NONE)
        return tsr_input_error(in, "raw bytes need a dtype: load(path, format='raw', dtype=..., shape=...)");
    if (!tsr_dtype_is_pod(dtype)) return tsr_input_error(in, "raw bytes can't be torch.%s", tsr_dtype_name(dtype));
    if (options->ndim < 0 && in->size % tsr_dtype_size(dtype) != 0)
        return tsr_input_error(in, "%zu bytes are not whole elements of torch.%s", in->size, tsr_dtype_name(dtype));
    TSR_TRY(resolve_shape(shape, &ndim, in, options, (int64_t)(in->size / tsr_dtype_size(dtype))));
    TSR_TRY(tsr_check_shape(in, &numel, &nbytes, ndim, shape, dtype));
    if (nbytes > in->size) return tsr_input_error(in, "the shape needs %zu bytes, there are %zu", nbytes, in->size);
    if (nbytes == 0 && in->size > 0) return tsr_input_error(in, "the shape takes none of %zu bytes", in->size);
    TSR_TRY(tsr_input_new_tensor(&t, in, &(TsrElements){dtype, false, 0, nbytes, 0}, ndim, shape, false));
    in->end = nbytes;
    return tsr_items_single_move(out, t);
}

TsrStatus tsr_raw_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrTensor *t;
    (void)options;
    TSR_TRY(tsr_items_only(&t, items, "raw"));
    return tsr_write_elements(sink, t);
}
