/* scan.c: running reductions (scan.h) by device/scan.cuh: lines that lie close together are shared by a warp or a
 * block, lines across memory go a thread each; where there are few lines, long ones are cut into chunks, in three
 * launches. */
#include "scan.h"

#include <string.h>

#include "core/kernels/reduce/scan.h"
#include "cuda/launch.h"
#include "cuda/memory.h"

#include "cuda/device/scan_args.h"

/* SHORT: elements of a line that a warp is enough for. FEW and WANTED: lines that are cut into chunks when there are
 * fewer, into so many chunks of all, each of LEAST elements or more. */
enum { THREADS = 256, SHORT = 512, FEW = 64, WANTED = 1024, LEAST = 4096 };
/* The same of lines across memory, of which each is one thread's. */
enum { FEW_COLUMNS = 4096, WANTED_COLUMNS = 16384, LEAST_COLUMNS = 128 };
enum { EACH, FROM_STARTS, TOTALS }; /* as scan.cuh has them */
enum { ACC_BYTES = 16 };

typedef struct Key {
    uint8_t how, dtype, what, group, vec; /* group: warps */
} Key;

/* ---- the text ---- */

static const char *const scanners[TSR_SCAN_COUNT] = {[TSR_SCAN_SUM] = "Sum",
                                                     [TSR_SCAN_PROD] = "Product",
                                                     [TSR_SCAN_LOGSUMEXP] = "LogSum<A>",
                                                     [TSR_SCAN_MAX] = "Extreme<AtLeast>",
                                                     [TSR_SCAN_MIN] = "Extreme<AtMost>"};

static void write_scan(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    cuda_source_add(s, "#define BLOCK_THREADS %d\n", THREADS);
    cuda_source_part(s, CUDA_PART_group);
    cuda_source_part(s, CUDA_PART_scan_args);
    cuda_source_part(s, CUDA_PART_complex);
    cuda_source_add(s, "typedef %s E;\n#define SCANNER %s\n", cuda_memory_type(key->dtype), scanners[key->how]);
    cuda_source_add(s, "#define GROUP %d\n#define VEC %d\n#define WHAT %d\n", key->group * 32, key->vec, key->what);
    cuda_source_part(s, CUDA_PART_scan);
}

/* ---- the plan ---- */

static bool can_scan(const TsrDeviceWork *w) {
    const TsrDeviceScan *p = w->params;
    TsrDtype d = w->t[0].at.dtype;
    bool numbers = d == TSR_COMPLEX64 || d == TSR_COMPLEX128, floats = d == TSR_FLOAT32 || d == TSR_FLOAT64 || numbers;
    bool places = p->how == TSR_SCAN_MAX || p->how == TSR_SCAN_MIN;
    if (p->how >= TSR_SCAN_COUNT || cuda_memory_type(d) == NULL) return false;
    if (cuda_is_complex(d) && (!numbers || places)) return false;
    if (w->nout != 1 + places || w->nin != 1 || w->t[w->nout].at.dtype != d) return false;
    return p->how != TSR_SCAN_LOGSUMEXP || floats;
}

static void cut(ScanArgs *a, int64_t few, int64_t wanted, int64_t least) {
    a->chunks = 1;
    a->length = a->size;
    if (a->lines >= few || a->size < 2 * least) return;
    int64_t chunks = TSR_MIN((wanted + a->lines - 1) / a->lines, a->size / least);
    a->length = (a->size + chunks - 1) / chunks;
    a->length = (a->length + 3) / 4 * 4; /* so that chunks begin where packs do */
    a->chunks = (a->size + a->length - 1) / a->length;
}

static void fill(ScanArgs *a, Key *key, const TsrDeviceWork *w) {
    const TsrDeviceScan *p = w->params;
    const TsrDeviceTensor *in = &w->t[w->nout];
    memset(a, 0, sizeof *a);
    memset(key, 0, sizeof *key);
    a->in = in->at.data;
    a->out = w->t[0].at.data;
    a->places = w->nout > 1 ? w->t[1].at.data : 0;
    a->lines = a->inner = 1;
    a->size = in->ndim > 0 ? in->sizes[w->dim] : 1;
    for (int d = 0; d < in->ndim; d++) {
        if (d < w->dim) a->inner *= in->sizes[d];
        if (d != w->dim) a->lines *= in->sizes[d];
    }
    uint64_t item = cuda_itemsize(in->at.dtype);
    if (a->inner == 1) cut(a, FEW, WANTED, LEAST);
    else cut(a, FEW_COLUMNS, WANTED_COLUMNS, LEAST_COLUMNS);
    key->how = p->how;
    key->dtype = in->at.dtype;
    key->group = a->inner == 1 && a->size > SHORT ? THREADS / 32 : 1;
    key->vec = a->inner == 1 && a->in % (4 * item) == 0 && (a->size % 4 == 0 || a->lines == 1);
}

bool cuda_scan_source(CudaSource *out, const TsrDeviceWork *w, bool chunks) {
    ScanArgs a;
    Key key;
    if (!can_scan(w)) return false;
    fill(&a, &key, w);
    key.what = chunks ? FROM_STARTS : EACH;
    write_scan(out, &key);
    return true;
}

/* ---- the launches ---- */

static TsrStatus kernel_of(CuFunction *f, int index, Key *key, int what, const char *name) {
    key->what = (uint8_t)what;
    return cuda_kernel(f, index, key, sizeof *key, name, write_scan, key);
}

static TsrStatus launch(CuFunction f, int index, const ScanArgs *a, const Key *key) {
    int64_t units = a->lines * a->chunks, each = THREADS / (key->group * 32);
    if (a->inner > 1) return cuda_launch(f, index, cuda_blocks(index, (uint64_t)units, THREADS), 1, THREADS, a);
    return cuda_launch(f, index, (unsigned)((units + each - 1) / each), 1, THREADS, a);
}

/* All kernels are made before the first is launched, so that nothing is done by half. */
static TsrStatus by_chunks(int index, ScanArgs *a, Key *key) {
    const char *name = a->inner > 1 ? "tsr_scan_columns" : "tsr_scan_rows";
    CuFunction totals, starts, each;
    TsrDataPtr scratch;
    TSR_TRY(kernel_of(&totals, index, key, TOTALS, name));
    TSR_TRY(kernel_of(&starts, index, key, TOTALS, "tsr_scan_starts"));
    TSR_TRY(kernel_of(&each, index, key, FROM_STARTS, name));
    TSR_TRY(cuda_scratch(&scratch, index, (size_t)(a->lines * a->chunks) * ACC_BYTES));
    a->starts = (uint64_t)(uintptr_t)scratch.data;
    TsrStatus status = launch(totals, index, a, key);
    if (status == TSR_OK) status = cuda_launch(starts, index, (unsigned)a->lines, 1, THREADS, a);
    if (status == TSR_OK) status = launch(each, index, a, key);
    cuda_scratch_free(&scratch);
    return status;
}

/* Those of lines of any length. */
static TsrStatus make_kernels(const TsrDeviceWork *w) {
    ScanArgs a;
    Key key;
    CuFunction f;
    fill(&a, &key, w);
    for (int group = 1; group <= THREADS / 32; group += THREADS / 32 - 1) {
        key.group = (uint8_t)group;
        TSR_TRY(kernel_of(&f, w->index, &key, EACH, "tsr_scan_rows"));
    }
    TSR_TRY(kernel_of(&f, w->index, &key, TOTALS, "tsr_scan_rows"));
    TSR_TRY(kernel_of(&f, w->index, &key, TOTALS, "tsr_scan_starts"));
    return kernel_of(&f, w->index, &key, FROM_STARTS, "tsr_scan_rows");
}

TsrStatus cuda_scan(const TsrDeviceWork *w) {
    ScanArgs a;
    Key key;
    CuFunction f;
    if (!can_scan(w)) return TSR_NOT_IMPLEMENTED_ERROR;
    fill(&a, &key, w);
    if (a.lines == 0 || a.size == 0) return TSR_OK;
    if (a.lines > INT32_MAX) return TSR_NOT_IMPLEMENTED_ERROR; /* more than a grid has blocks */
    if (a.chunks > 1) {
        TSR_TRY(by_chunks(w->index, &a, &key));
    } else {
        TSR_TRY(kernel_of(&f, w->index, &key, EACH, a.inner > 1 ? "tsr_scan_columns" : "tsr_scan_rows"));
        TSR_TRY(launch(f, w->index, &a, &key));
    }
    for (int k = 0; k < w->nout + w->nin; k++)
        cuda_operand_uses(&w->t[k].at, w->index, w->t[k].ndim, w->t[k].sizes, k < w->nout);
    return TSR_OK;
}

TsrStatus cuda_scan_counts(int index, uint64_t address, uint64_t n) {
    const TsrDeviceScan how = {TSR_SCAN_SUM};
    TsrDeviceWork w = {.index = index, .what = TSR_P_SCAN, .nout = 1, .nin = 1, .params = &how};
    for (int k = 0; k < 2; k++) {
        w.t[k] = (TsrDeviceTensor){.ndim = 1, .sizes = {(int64_t)n}};
        w.t[k].at.data = address;
        w.t[k].at.dtype = w.t[k].at.compute = TSR_UINT32;
        w.t[k].at.strides[0] = 4;
    }
    return n == 0 ? make_kernels(&w) : cuda_scan(&w);
}
