/* grid.c: samplings at points (grid.h): the text of the kernel, device/nn/grid.cuh for a dtype and a mode. */
#include "grid.h"

#include <string.h>

#include "core/kernels/nn/grid.h"
#include "cuda/device/nn/grid_args.h"

enum { THREADS = 256 };

typedef struct Key {
    uint8_t dtype, ndim, mode;
} Key;

static bool is_half(TsrDtype d) { return d == TSR_FLOAT16 || d == TSR_BFLOAT16; }

/* The names that grid_places.inc asks for. */
static void write_names(CudaSource *s, TsrDtype d) {
    const char *f = d == TSR_FLOAT64 ? "" : "f";
    cuda_source_add(s, "typedef %s E;\n#define T %s\n#define NAME(x) grid_##x\n", cuda_memory_type(d),
                    d == TSR_FLOAT64 ? "double" : "float");
    cuda_source_add(s, "#define FLOOR floor%s\n#define RINT rint%s\n#define FABS fabs%s\n", f, f, f);
    cuda_source_add(s, "#define TRUNC trunc%s\n#define FMOD fmod%s\n", f, f);
    if (is_half(d)) cuda_source_add(s, "#define R(x) convert<T>(convert<E>((T)(x)))\n");
    else cuda_source_add(s, "#define R(x) (x)\n");
    if (is_half(d)) cuda_source_add(s, "#define FMA(a, b, c) R(R((a) * (b)) + (c))\n");
    else cuda_source_add(s, "#define FMA(a, b, c) __builtin_fma%s(a, b, c)\n", f);
}

static void write_grid(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_grid_modes);
    cuda_source_part(s, CUDA_PART_grid_args);
    write_names(s, key->dtype);
    cuda_source_part(s, CUDA_PART_grid_places);
    cuda_source_add(s, "#define NDIM %d\n#define MODE %d\n", key->ndim, key->mode);
    cuda_source_part(s, CUDA_PART_grid);
}

static bool plan(GridArgs *a, Key *key, const TsrDeviceWork *w) {
    const TsrDeviceGrid *p = w->params;
    const TsrDeviceTensor *input = &w->t[1];
    const TsrDtype d = input->at.dtype;
    if (d != TSR_FLOAT32 && d != TSR_FLOAT64 && !is_half(d)) return false;
    memset(a, 0, sizeof *a);
    a->out = w->t[0].at.data, a->input = input->at.data, a->grid = w->t[2].at.data;
    a->g = (TsrGrid){.ndim = input->ndim - 2,
                     .channels = input->sizes[input->ndim - 2],
                     .points = 1,
                     .volume = 1,
                     .mode = (TsrGridMode)p->mode,
                     .padding = (TsrGridPadding)p->padding,
                     .align_corners = p->align_corners};
    for (int k = 0; k < a->g.ndim; k++) {
        a->g.sizes[k] = input->sizes[a->g.ndim - 1 - k];
        a->g.volume *= a->g.sizes[k];
        a->g.points *= w->t[0].sizes[k];
    }
    a->n = input->sizes[input->ndim - 1] * a->g.points;
    *key = (Key){d, (uint8_t)a->g.ndim, p->mode};
    return true;
}

bool cuda_grid_source(CudaSource *out, const TsrDeviceWork *w) {
    GridArgs a;
    Key key;
    if (!plan(&a, &key, w)) return false;
    write_grid(out, &key);
    return true;
}

TsrStatus cuda_grid(const TsrDeviceWork *w) {
    GridArgs a;
    Key key;
    if (!plan(&a, &key, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    return cuda_run(w, (CudaText){&key, sizeof key, "tsr_grid", write_grid}, (uint64_t)a.n, THREADS, &a);
}
