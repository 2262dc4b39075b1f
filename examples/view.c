/* Makes a tensor and a view of it, writes through the view, prints both, frees everything.
 *     cc view.c $(pkg-config --cflags --libs tsr) && ./a.out */
#include <stdio.h>
#include <tsr/tsr.h>

static TsrStatus show(const char *name, const TsrTensor *t) {
    TsrText text = {0};
    TsrStatus status = tsr_print_tensor(&text, t, 0);
    if (status == TSR_OK) printf("%s = %s\n", name, text.data);
    tsr_text_free(&text);
    return status;
}

/* Every reference taken here is given back at the one exit. */
static TsrStatus demo(void) {
    TsrTensor *x = NULL, *row = NULL;
    TsrStatus status = tsr_tensor_new(&x, 2, (int64_t[]){2, 3}, TSR_FLOAT32, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = tsr_tensor_fill(x, tsr_scalar_float(1));
    if (status == TSR_OK) status = tsr_tensor_new_select(&row, x, 0, 1);
    if (status == TSR_OK) status = tsr_tensor_fill(row, tsr_scalar_float(7)); /* x sees it */
    if (status == TSR_OK) status = show("x", x);
    if (status == TSR_OK) status = show("row", row);
    if (status == TSR_OK) printf("storage holders: %d\n", (int)tsr_storage_refcount(x->storage));
    tsr_tensor_free(row);
    tsr_tensor_free(x);
    return status;
}

int main(void) {
    if (demo() == TSR_OK) return 0;
    fprintf(stderr, "%s: %s\n", tsr_status_name(tsr_error_kind()), tsr_error_message());
    return 1;
}
