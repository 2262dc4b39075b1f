/* cufft.c: Fourier transforms by NVIDIA's cuFFT, found beside the driver at the first transform (fft.h). Plans are
 * kept, as many as KEPT; which one goes when there are more is the one that was made first. Lines have to lie the same
 * distance apart, and where cuFFT may read two reals at once, their first one at a multiple of their size. A transform
 * to reals may write over its input, and so is given a copy. */
#include "cufft.h"

#include <pthread.h>
#include <string.h>

#include "cuda/kernels/map.h"
#include "cuda/kernels/walk.h"
#include "cuda/library.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "fft.h"

#define FUNCTIONS "cuda/kernels/fft/cufft.def"
#define TABLE fft
#define LIBRARY cuda_libcufft
#define STEM "cufft"
#include "cuda/library_table.inc"

/* What tells a plan from another; no padding. */
typedef struct Shape {
    int64_t n, batch, in_step, in_apart, out_step, out_apart; /* elements */
    int32_t in_type, out_type, type, index;
} Shape;

typedef struct Made {
    Shape of; /* n 0: free */
    FftHandle handle;
    size_t work;
} Made;

enum { KEPT = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Made kept[KEPT];
static unsigned next_kept;

/* Elements from one line to the next where all lines are the same distance apart. */
static bool spacing(int64_t *apart, int64_t *lines, const TsrDeviceTensor *t, int dim, int64_t item) {
    *lines = 1;
    *apart = 0;
    for (int d = 0; d < t->ndim; d++) {
        if (d == dim || t->sizes[d] == 1) continue;
        if (*lines > 1 && t->at.strides[d] != *apart * *lines) return false;
        if (*lines == 1) *apart = t->at.strides[d];
        *lines *= t->sizes[d];
    }
    if (*apart % item != 0 || *apart < 0) return false;
    *apart /= item;
    return true;
}

static bool describe(Shape *s, const TsrDeviceWork *w) {
    const TsrDeviceFft *how = w->params;
    const TsrDeviceTensor *out = &w->t[0], *in = &w->t[1];
    const bool wide = (how->kind == TSR_FFT_C2R ? in : out)->at.dtype == TSR_COMPLEX128;
    const int64_t in_item = (int64_t)cuda_itemsize(in->at.dtype), out_item = (int64_t)cuda_itemsize(out->at.dtype);
    const uint64_t pair = wide ? 16 : 8;
    memset(s, 0, sizeof *s);
    s->n = how->n;
    s->index = w->index;
    s->type = wide ? FFT_C64 : FFT_C32;
    s->in_type = how->kind == TSR_FFT_R2C ? (wide ? FFT_R64 : FFT_R32) : s->type;
    s->out_type = how->kind == TSR_FFT_C2R ? (wide ? FFT_R64 : FFT_R32) : s->type;
    s->in_step = in->at.strides[w->dim] / in_item;
    s->out_step = out->at.strides[w->dim] / out_item;
    return in->at.strides[w->dim] % in_item == 0 && s->in_step > 0 && s->out_step > 0 && in->at.data % pair == 0 &&
           out->at.data % pair == 0 && spacing(&s->in_apart, &s->batch, in, w->dim, in_item) &&
           spacing(&s->out_apart, &s->batch, out, w->dim, out_item);
}

static void forget(Made *made) {
    if (made->of.n != 0) (void)fft.destroy(made->handle);
    memset(made, 0, sizeof *made);
}

static bool make(Made *made, const Shape *s) {
    long long n = s->n, embedded = s->n; /* of one dimension only its being there counts */
    if (fft.create(&made->handle) != 0) return false;
    if (fft.own_memory(made->handle, 0) == 0 &&
        fft.plan(made->handle, 1, &n, &embedded, s->in_step, s->in_apart, s->in_type, &embedded, s->out_step,
                 s->out_apart, s->out_type, s->batch, &made->work, s->type) == 0) {
        made->of = *s;
        return true;
    }
    (void)fft.destroy(made->handle);
    return false;
}

/* The lock is held. NULL: the library refuses it. */
static const Made *find(const Shape *s) {
    for (int i = 0; i < KEPT; i++)
        if (memcmp(&kept[i].of, s, sizeof *s) == 0) return &kept[i];
    Made *made = &kept[next_kept++ % KEPT];
    forget(made);
    return make(made, s) ? made : NULL;
}

/* The lock is held. The work area is the stream's: freed at once, it is given to what comes later in the stream. */
static TsrStatus run(const Made *made, const TsrDeviceWork *w) {
    const TsrDeviceFft *how = w->params;
    TsrDataPtr area;
    CuStream stream;
    TSR_TRY(cuda_scratch(&area, w->index, made->work));
    TsrStatus status = cuda_stream(&stream, w->index, cuda_current_stream(w->index));
    if (status == TSR_OK &&
        (fft.stream(made->handle, stream) != 0 || fft.work_area(made->handle, area.data) != 0 ||
         fft.run(made->handle, (void *)(uintptr_t)w->t[1].at.data, (void *)(uintptr_t)w->t[0].at.data,
                 how->forward ? FFT_FORWARD : FFT_INVERSE) != 0))
        status = cuda_host->error(TSR_ACCELERATOR_ERROR, "CUDA error: cuFFT refused a transform it had planned");
    cuda_scratch_free(&area);
    return status;
}

/* A dense tensor of the sizes of `t`, in whose place it comes, at `address`. */
static void lay_dense(TsrDeviceTensor *t, TsrAddress address) {
    int64_t step = (int64_t)cuda_itemsize(t->at.dtype);
    t->at.data = address;
    for (int d = 0; d < t->ndim; d++) {
        t->at.strides[d] = step;
        step *= t->sizes[d];
    }
}

static TsrStatus copy(const TsrDeviceTensor *to, const TsrDeviceTensor *from, int index) {
    const TsrDeviceTensor both[2] = {*to, *from};
    Walk walk;
    TsrDeviceMap map = {.index = index, .kernel = TSR_MAP_COPY, .nout = 1, .noperands = 2};
    map.ndim = cuda_walk(&walk, both, 2).ndim;
    map.numel = (int64_t)walk.n;
    map.dtype = map.common = to->at.dtype;
    for (int d = 0; d < map.ndim; d++) map.sizes[d] = (int64_t)walk.sizes[d];
    for (int k = 0; k < 2; k++) {
        map.operand[k] = both[k].at;
        map.operand[k].compute = to->at.dtype;
        memcpy(map.operand[k].strides, walk.strides[k], sizeof map.operand[k].strides);
    }
    return cuda_map(&map);
}

/* The work on a copy of its input. */
static TsrStatus with_a_copy(TsrDataPtr *scratch, TsrDeviceWork *own, const TsrDeviceWork *w) {
    size_t bytes = cuda_itemsize(w->t[1].at.dtype);
    for (int d = 0; d < w->t[1].ndim; d++) bytes *= (size_t)w->t[1].sizes[d];
    TSR_TRY(cuda_scratch(scratch, w->index, bytes));
    *own = *w;
    lay_dense(&own->t[1], (TsrAddress)(uintptr_t)scratch->data);
    return copy(&own->t[1], &w->t[1], w->index);
}

static TsrStatus transform(const TsrDeviceWork *w) {
    Shape s;
    if (!describe(&s, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_enter(w->index));
    pthread_mutex_lock(&lock);
    const Made *made = find(&s);
    TsrStatus status = made != NULL ? run(made, w) : TSR_NOT_IMPLEMENTED_ERROR;
    pthread_mutex_unlock(&lock);
    return status;
}

TsrStatus cuda_cufft(const TsrDeviceWork *w) {
    const TsrDeviceFft *how = w->params;
    TsrDeviceWork own;
    TsrDataPtr scratch = {0};
    if (!cuda_library_has(&cuda_libcufft)) return TSR_NOT_IMPLEMENTED_ERROR;
    if (how->kind != TSR_FFT_C2R) return transform(w);
    TsrStatus status = with_a_copy(&scratch, &own, w);
    if (status == TSR_OK) status = transform(&own);
    cuda_scratch_free(&scratch);
    return status;
}
