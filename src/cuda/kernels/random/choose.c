/* choose.c: choices by device/choose.cuh (choose.h). How many threads add up a row is PyTorch's, for the order of the
 * sum; which stream a sample has is in the kernel's text. */
#include "choose.h"

#include "cuda/errors.h"
#include "cuda/launch.h"

#include "cuda/device/random/choose_args.h"

/* ROWS_AT_A_TIME as device/choose.cuh has them. */
enum { MOST_THREADS = 1024, THREADS = 256, WARP = 32, ROWS_AT_A_TIME = 65535 };

static void write_choose(CudaSource *s, const void *what) {
    const uint8_t *dtype = what;
    cuda_source_begin(s, MOST_THREADS);
    cuda_source_add(s, "typedef %s E;\ntypedef %s Real;\n", cuda_memory_type(*dtype),
                    *dtype == TSR_FLOAT64 ? "double" : "float");
    cuda_source_part(s, CUDA_PART_philox);
    cuda_source_part(s, CUDA_PART_numbers);
    cuda_source_part(s, CUDA_PART_choose_args);
    cuda_source_part(s, CUDA_PART_choose);
}

void cuda_choose_source(CudaSource *out, TsrDtype dtype) { write_choose(out, &dtype); }

static TsrStatus launch(const char *name, const TsrDeviceWork *w, ChooseArgs *a, uint64_t blocks, unsigned threads) {
    const uint8_t dtype = w->t[1].at.dtype;
    return cuda_run_reporting(w, (CudaText){&dtype, sizeof dtype, name, write_choose}, blocks * threads, threads, a,
                              &a->errors, &a->launch);
}

/* Rows of a tensor of one or two dimensions, none of them 0. */
static uint64_t rows_of(const TsrDeviceTensor *t) { return t->ndim == 2 ? (uint64_t)t->sizes[1] : 1; }

TsrStatus cuda_shares(const TsrDeviceWork *w) {
    const TsrDeviceTensor *t = &w->t[1];
    ChooseArgs a = {
        .shares = w->t[0].at.data, .sums = t->at.data, .rows = rows_of(t), .columns = (uint64_t)t->sizes[0]};
    const uint64_t warps = (a.columns + WARP - 1) / WARP;
    return launch("tsr_shares", w, &a, a.rows, (unsigned)TSR_MIN(warps * WARP, (uint64_t)MOST_THREADS));
}

TsrStatus cuda_choose(const TsrDeviceWork *w) {
    const TsrDeviceRandom *p = w->params;
    ChooseArgs a = {.out = w->t[0].at.data,
                    .sums = w->t[1].at.data,
                    .shares = w->t[2].at.data,
                    .seed = p->seed,
                    .offset = p->offset,
                    .rows = rows_of(&w->t[0]),
                    .columns = (uint64_t)w->t[1].sizes[0],
                    .samples = (uint64_t)w->t[0].sizes[0]};
    *p->used = ((a.rows - 1) / TSR_MIN(a.rows, (uint64_t)ROWS_AT_A_TIME) + 1) * 4;
    return launch("tsr_choose", w, &a, (a.rows * a.samples + THREADS - 1) / THREADS, THREADS);
}
