/* Prints the mean of each column of a file that tsr reads (.csv, .npy, .json ...).
 *     cc mean.c $(pkg-config --cflags --libs tsr) && ./a.out data.csv */
#include <stdio.h>
#include <tsr/tsr.h>

/* *out is the caller's. */
static TsrStatus column_means_new(TsrTensor **out, const char *path) {
    TsrItems items = {0};
    TsrTensor *table; /* lent by items */
    int64_t dim = 0;
    TSR_TRY(tsr_load(&items, path, NULL)); /* options other than tsr_load_options(): set them in one, and give it */
    TsrStatus status = tsr_items_only(&table, &items, "a table");
    if (status == TSR_OK)
        status = tsr_invoke_new(out, 1, "mean", "tI", table, 1, &dim); /* torch.mean(table, dim=[0]) */
    tsr_items_free(&items);
    return status;
}

static TsrStatus print_means(const char *path) {
    TsrTensor *means = NULL;
    TsrText text = {0};
    TSR_TRY(column_means_new(&means, path));
    TsrStatus status = tsr_print_tensor(&text, means, 0);
    if (status == TSR_OK) puts(text.data);
    tsr_text_free(&text);
    tsr_tensor_free(means);
    return status;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (print_means(argv[i]) == TSR_OK) continue;
        fprintf(stderr, "%s: %s\n", tsr_status_name(tsr_error_kind()), tsr_error_message());
        return 1;
    }
    return 0;
}
