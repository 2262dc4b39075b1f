/* triangle.c: clears triangles by device/triangle.cuh (triangle.h). */
#include "triangle.h"

#include "cuda/launch.h"
#include "walk.h"

#include "cuda/device/triangle_args.h"

enum { THREADS = 256 };

void cuda_triangle_source(CudaSource *s, int item) {
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_triangle_args);
    cuda_source_add(s, "typedef %s Item;\n", cuda_moved_type(item));
    cuda_source_part(s, CUDA_PART_triangle);
}

static void write_triangle(CudaSource *s, const void *what) { cuda_triangle_source(s, *(const uint8_t *)what); }

TsrStatus cuda_triangle(const TsrDeviceWork *w) {
    const TsrDeviceTriangle *p = w->params;
    const TsrDeviceTensor *t = &w->t[0];
    uint8_t item = (uint8_t)cuda_itemsize(t->at.dtype);
    TriangleArgs a = {.data = t->at.data, .n = 1, .diagonal = p->diagonal, .upper = p->upper};
    if (t->ndim < 2 || item == 0) return TSR_NOT_IMPLEMENTED_ERROR;
    a.columns = t->sizes[0];
    a.rows = t->sizes[1];
    for (int d = 0; d < t->ndim; d++) a.n *= (uint64_t)t->sizes[d];
    return cuda_run(w, (CudaText){&item, sizeof item, "tsr_triangle", write_triangle}, a.n, THREADS, &a);
}
