/* fft.c: Fourier transforms of lines (fft.h): by cuFFT where it is found and takes them, else by the passes of
 * device/fft/fft.cuh, in the order that the length asks for. */
#include "fft.h"

#include <string.h>

#include "cuda/kernels/walk.h"
#include "cuda/memory.h"

#include "cuda/device/fft/fft_args.h"

/* As device/fft/fft.cuh has them. Above FFT_PRIME a prime factor is better taken by Bluestein's algorithm, of which the
 * work grows with the logarithm; no GPU has said where. */
enum { THREADS = 256, ROOM_BYTES = 16384, FFT_PRIME = 61 };

typedef struct Key {
    uint8_t dtype;
    WalkKind walk;
} Key;

/* A transform that is planned. */
typedef struct Plan {
    FftArgs a;
    Key key;
    int index;
    size_t item;  /* bytes of a complex number */
    bool chirped; /* by Bluestein's algorithm */
} Plan;

static void write_fft(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_walk_args);
    cuda_walk_source(s, key->walk);
    cuda_source_part(s, CUDA_PART_fft_args);
    cuda_source_add(s, "typedef %s R;\n", key->dtype == TSR_FLOAT64 ? "double" : "float");
    cuda_source_part(s, CUDA_PART_fft);
}

/* ---- the plan ---- */

/* The radices of n, fours before twos; false: a prime factor is too large. */
static bool factor(FftArgs *a, int64_t n) {
    a->m = n;
    a->passes = 0;
    while (n % 4 == 0) a->radix[a->passes++] = 4, n /= 4;
    for (int32_t p = 2; p <= FFT_PRIME; p++)
        while (n % p == 0) a->radix[a->passes++] = p, n /= p;
    return n == 1;
}

/* The dimensions of the tensor without the line's. */
static TsrDeviceTensor without(const TsrDeviceTensor *t, int dim) {
    TsrDeviceTensor lines = *t;
    lines.ndim--;
    for (int d = dim; d < lines.ndim; d++) {
        lines.sizes[d] = t->sizes[d + 1];
        lines.at.strides[d] = t->at.strides[d + 1];
    }
    return lines;
}

static void choose_length(Plan *p) {
    p->chirped = !factor(&p->a, p->a.n);
    if (!p->chirped) return;
    int64_t m = 1;
    while (m < 2 * p->a.n - 1) m *= 2;
    (void)factor(&p->a, m);
    p->a.backward = !p->a.forward;
    p->a.forward = 1;
}

static bool plan(Plan *p, const TsrDeviceWork *w) {
    const TsrDeviceFft *how = w->params;
    const TsrDeviceTensor *out = &w->t[0], *in = &w->t[1], both[2] = {without(out, w->dim), without(in, w->dim)};
    const TsrDtype d = (how->kind == TSR_FFT_C2R ? in : out)->at.dtype;
    memset(p, 0, sizeof *p);
    if (d != TSR_COMPLEX64 && d != TSR_COMPLEX128) return false;
    p->index = w->index;
    p->item = cuda_itemsize(d);
    p->a.out = out->at.data, p->a.in = in->at.data;
    p->a.out_step = out->at.strides[w->dim], p->a.in_step = in->at.strides[w->dim];
    p->a.n = how->n;
    p->a.scale = how->scale;
    p->a.kind = how->kind;
    p->a.forward = how->forward;
    p->key.walk = cuda_walk(&p->a.lines, both, 2);
    p->a.batch = (int64_t)p->a.lines.n;
    p->a.across = p->a.batch > 1 && p->a.in_step > p->a.lines.strides[1][0];
    choose_length(p);
    p->key.dtype = d == TSR_COMPLEX128 ? TSR_FLOAT64 : TSR_FLOAT32;
    p->key.walk.wide = p->a.batch * p->a.m >> 30 != 0;
    return p->a.batch < INT64_MAX / (2 * p->a.m * (int64_t)p->item);
}

bool cuda_fft_source(CudaSource *out, const TsrDeviceWork *w) {
    Plan p;
    if (!plan(&p, w)) return false;
    write_fft(out, &p.key);
    return true;
}

/* ---- launches ---- */

static TsrStatus launch(const Plan *p, const FftArgs *a, const char *name, int64_t items, unsigned threads) {
    CuFunction f;
    TSR_TRY(cuda_kernel(&f, p->index, &p->key, sizeof p->key, name, write_fft, &p->key));
    return cuda_launch(f, p->index, cuda_blocks(p->index, (uint64_t)items, threads), 1, THREADS, a);
}

static TsrStatus short_lines(Plan *p) {
    p->a.beside = (int32_t)TSR_MIN(TSR_MAX(ROOM_BYTES / (int64_t)p->item / p->a.n, 1), p->a.batch);
    TSR_TRY(launch(p, &p->a, "tsr_fft_table", p->a.m, THREADS));
    return launch(p, &p->a, "tsr_fft_lines", (p->a.batch + p->a.beside - 1) / p->a.beside, 1);
}

/* All passes over `batch` lines at *from, with as much room at *to; then *from is where they are. */
static TsrStatus all_passes(const Plan *p, uint64_t *from, uint64_t *to, int64_t batch) {
    FftArgs a = p->a;
    a.batch = batch;
    a.done = 1;
    for (int i = 0; i < p->a.passes; i++) {
        a.from = *from;
        a.to = *to;
        a.radix[0] = p->a.radix[i];
        TSR_TRY(launch(p, &a, "tsr_fft_pass", batch * (a.m / a.radix[0]), THREADS));
        a.done *= a.radix[0];
        *from = a.to;
        *to = a.from;
    }
    return TSR_OK;
}

/* `work`: two rooms for all lines, and for Bluestein's algorithm two lines and the chirp. */
static TsrStatus long_lines(Plan *p, uint64_t work) {
    const uint64_t line = (uint64_t)p->a.m * p->item, lines = line * (uint64_t)p->a.batch;
    uint64_t from = work, to = work + lines, chirped = to + lines, other = chirped + line;
    FftArgs *a = &p->a;
    TSR_TRY(launch(p, a, "tsr_fft_table", a->m, THREADS));
    if (p->chirped) {
        a->chirp = other + line;
        a->to = chirped;
        TSR_TRY(launch(p, a, "tsr_fft_chirp", a->m, THREADS));
        TSR_TRY(all_passes(p, &chirped, &other, 1));
    }
    a->to = from;
    TSR_TRY(launch(p, a, "tsr_fft_load", a->batch * a->m, THREADS));
    TSR_TRY(all_passes(p, &from, &to, a->batch));
    if (p->chirped) {
        a->from = from;
        a->to = chirped;
        TSR_TRY(launch(p, a, "tsr_fft_times", a->batch * a->m, THREADS));
        TSR_TRY(all_passes(p, &from, &to, a->batch));
        a->scale /= (double)a->m;
    }
    a->from = from;
    return launch(p, a, "tsr_fft_store", a->batch * a->n, THREADS);
}

/* By our own passes. The table lies in front of everything else. */
static TsrStatus own_kernels(Plan *p) {
    TsrDataPtr scratch;
    const uint64_t line = (uint64_t)p->a.m * p->item;
    const bool fits = !p->chirped && line <= ROOM_BYTES;
    const uint64_t lines = fits ? 0 : 2 * line * (uint64_t)p->a.batch, chirps = p->chirped ? 3 * line : 0;
    TSR_TRY(cuda_scratch(&scratch, p->index, (size_t)(line + lines + chirps)));
    p->a.table = (uint64_t)(uintptr_t)scratch.data;
    TsrStatus status = fits ? short_lines(p) : long_lines(p, p->a.table + line);
    cuda_scratch_free(&scratch);
    return status;
}

/* What cuFFT leaves out. */
static TsrStatus apply_scale(Plan *p, const TsrDeviceWork *w) {
    if (p->a.scale == 1) return TSR_OK;
    p->a.n = w->t[0].sizes[w->dim];
    p->a.across = p->a.batch > 1 && p->a.out_step > p->a.lines.strides[0][0];
    return launch(p, &p->a, "tsr_fft_scale", p->a.batch * p->a.n, THREADS);
}

TsrStatus cuda_fft(const TsrDeviceWork *w) {
    Plan p;
    if (!plan(&p, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    TsrStatus status = cuda_cufft(w);
    if (status == TSR_OK) status = apply_scale(&p, w);
    else if (status == TSR_NOT_IMPLEMENTED_ERROR) status = own_kernels(&p);
    if (status == TSR_OK) cuda_work_uses(w);
    return status;
}
