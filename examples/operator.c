/* Adds an operator to the table, and calls it by its name from four threads at once.
 *     cc operator.c -pthread $(pkg-config --cflags --libs tsr) && ./a.out */
#include <pthread.h>
#include <stdio.h>
#include <tsr/tsr.h>

/* x * x + c. What fails on the way leaves nothing behind: the first product is freed at the end in any case. */
static TsrStatus op_square_plus(TsrOpCall *call) {
    TsrTensor *square = NULL, *sum = NULL, *x = call->arg[0].t;
    TSR_TRY(tsr_invoke_new(&square, 1, "mul", "tt", x, x));
    TsrStatus status = tsr_finish_move(call, tsr_invoke_new(&sum, 1, "add", "ts", square, call->arg[1].s), sum);
    tsr_tensor_free(square);
    return status;
}

/* Lives as long as the program. The schema says which arguments a call may have. */
static const TsrOp rows[] = {{
    .fn = op_square_plus,
    .schema = "square_plus(Tensor self, Scalar c=1) -> Tensor",
    .forms = TSR_FN | TSR_METHOD,
    .alias = TSR_FRESH,
    .category = "pointwise",
    .summary = "x * x + c.",
}};

static int complain(void) {
    fprintf(stderr, "%s: %s\n", tsr_status_name(tsr_error_kind()), tsr_error_message());
    return 1;
}

/* Any thread may call operators; its errors are its own. */
static void *call_often(void *x) {
    for (int i = 0; i < 1000; i++) {
        TsrTensor *y = NULL;
        if (tsr_invoke_new(&y, 1, "square_plus", "t", (TsrTensor *)x) != TSR_OK) complain();
        tsr_tensor_free(y);
    }
    return NULL;
}

static TsrStatus show(TsrTensor *x) {
    TsrTensor *y = NULL;
    TsrText text = {0};
    TSR_TRY(tsr_invoke_new(&y, 1, "square_plus", "ts", x, tsr_scalar_float(0.5)));
    TsrStatus status = tsr_print_tensor(&text, y, 0);
    if (status == TSR_OK) puts(text.data);
    tsr_text_free(&text);
    tsr_tensor_free(y);
    return status;
}

int main(void) {
    pthread_t threads[4];
    TsrTensor *x = NULL, *wrong = NULL;
    if (tsr_op_register(rows, 1) != TSR_OK) return complain(); /* before the first call by name */
    if (tsr_invoke_new(&x, 1, "arange", "i", (int64_t)4) != TSR_OK) return complain();
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, call_often, x);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    if (show(x) != TSR_OK) return complain();
    printf("references to x: %d\n", (int)x->refcount);
    if (tsr_invoke_new(&wrong, 1, "square_plus", "c", "text") != TSR_OK) complain(); /* and `wrong` is still NULL */
    tsr_tensor_free(wrong);
    tsr_tensor_free(x);
    return 0;
}
