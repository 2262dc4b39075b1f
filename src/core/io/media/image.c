/* image.c: which tensors are pictures (image.h). */
#include "image.h"

#include "core/io/elements.h"

enum { SIDE_MOST = 1000000 /* libpng's limit of width and height, by default */ };

static TsrStatus check_dtype(const TsrTensor *t, const char *format) {
    if (t->dtype == TSR_UINT8 || t->dtype == TSR_UINT16 || t->dtype == TSR_BOOL) return TSR_OK;
    tsr_error(TSR_VALUE_ERROR, "%s holds uint8 or uint16, not torch.%s", format, tsr_dtype_name(t->dtype));
    tsr_error_hint(tsr_dtype_is_float(t->dtype) ? "of values from 0 to 1: (x * 255).round().clamp(0, 255).to(uint8)"
                                                : "of values from 0 to 255: x.to(uint8)");
    return TSR_VALUE_ERROR;
}

TsrStatus tsr_image_new(TsrImage *out, const TsrItems *items, const char *format) {
    TsrTensor *t;
    TSR_TRY(tsr_items_only(&t, items, format));
    TSR_TRY(check_dtype(t, format));
    int n = tsr_ndim(t);
    *out = (TsrImage){.height = n > 0 ? t->sizes[0] : 0,
                      .width = n > 1 ? t->sizes[1] : 0,
                      .channels = n > 2 ? t->sizes[2] : 1,
                      .bits = t->dtype == TSR_BOOL,
                      .wide = t->dtype == TSR_UINT16};
    bool sides = out->height > 0 && out->width > 0 && out->height <= SIDE_MOST && out->width <= SIDE_MOST;
    if ((n == 2 || n == 3) && sides && out->channels >= 1 && out->channels <= 4)
        return tsr_new_elements(&out->dense, t);
    tsr_error(TSR_VALUE_ERROR, "%s holds a picture: height, width (1 to %d each) and 1 to 4 channels", format,
              SIDE_MOST);
    if (n == 3 && t->sizes[0] >= 1 && t->sizes[0] <= 4) tsr_error_hint("with the channels first: x.permute(1, 2, 0)");
    return TSR_VALUE_ERROR;
}
