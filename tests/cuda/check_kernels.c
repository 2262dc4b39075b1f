/* check_kernels.c: compiles every kernel that the plugin can write, as `make cuda-check` does: each formula, conversion
 * and layout, by NVRTC for the architectures that are named (sm_90 ...), or, with "simulated", by the C++ compiler.
 * With -d FOLDER the code is left there, for ptxas and cuobjdump to look at; with -f FAMILY only a family's kernels are
 * compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "cuda/kernels/chain.h"
#include "cuda/compile.h"
#include "cuda/pack/host_alone.h"
#include "cuda/kernels/formulas.h"
#include "cuda/kernels/index.h"
#include "cuda/kernels/map.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/matmul.h"
#include "cuda/kernels/ramp.h"
#include "cuda/kernels/random/choose.h"
#include "cuda/kernels/random/random.h"
#include "cuda/kernels/reduce.h"
#include "cuda/kernels/rows.h"
#include "cuda/kernels/scan.h"
#include "cuda/kernels/search.h"
#include "cuda/kernels/sort.h"
#include "cuda/kernels/triangle.h"
#include "core/kernels/move/combine.h"
#include "core/kernels/reduce/reduce.h"
#include "core/kernels/reduce/scan.h"

/* For the first architecture each kernel is compiled, for the others one in so many. */
enum { SAMPLE = 8 };
static const char *folder, *const *architectures;
static int narchitectures, made, failed;
static bool absent;

static void keep(const char *architecture, const CudaImage *image) {
    char path[4096];
    if (folder == NULL) return;
    snprintf(path, sizeof path, "%s/%04d.%s.cubin", folder, made, architecture);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(image->bytes, 1, image->size, f) != image->size)
        fprintf(stderr, "%s was not written\n", path);
    if (f != NULL) fclose(f);
}

static void compile(const char *what, const CudaSource *source) {
    made++;
    for (int i = 0; i < narchitectures && !absent; i++) {
        if (i > 0 && made % SAMPLE != 0) continue;
        CudaImage image;
        TsrStatus status = source->failed ? TSR_MEMORY_ERROR : cuda_compile_for(&image, architectures[i], source->text);
        absent = status == TSR_NOT_IMPLEMENTED_ERROR;
        if (status != TSR_OK) {
            failed += !absent;
            if (!absent) fprintf(stderr, "... for %s: %s\n", architectures[i], what);
            continue;
        }
        keep(architectures[i], &image);
        cuda_image_free(&image);
    }
}

void check_fail(const char *what) {
    failed++;
    fprintf(stderr, "%s\n", what);
}

void check_compile(const char *what, bool written, CudaSource *source) {
    if (written) compile(what, source);
    else failed++, fprintf(stderr, "no kernel for %s\n", what);
    cuda_source_free(source);
}

static void compile_map(const char *what, const TsrDeviceMap *map) {
    CudaSource source = {0};
    if (!cuda_map_source(&source, map)) {
        failed++;
        fprintf(stderr, "no kernel for %s\n", what);
    } else {
        compile(what, &source);
    }
    cuda_source_free(&source);
}

/* Dense operands, or those of `ndim` dimensions. */
static TsrDeviceMap map_of(unsigned kernel, TsrDtype dtype, TsrDtype result, int nin, int ndim) {
    TsrDeviceMap m = {.kernel = (uint16_t)kernel,
                      .dtype = dtype,
                      .common = dtype,
                      .nout = 1,
                      .noperands = 1 + nin,
                      .ndim = ndim,
                      .numel = 64};
    for (int k = 0; k < m.noperands; k++) {
        TsrDeviceOperand *o = &m.operand[k];
        o->data = 4096;
        o->dtype = o->compute = k == 0 ? result : dtype;
        for (int d = 0; d < ndim; d++) o->strides[d] = (int64_t)cuda_itemsize(o->dtype) << 2 * d;
    }
    for (int d = 0; d < ndim; d++) m.sizes[d] = 64 >> 2 * d;
    return m;
}

static void compile_formulas_of(bool special) {
    char what[64];
    for (int i = 0; cuda_formula_at(i) != NULL; i++) {
        const CudaFormula *f = cuda_formula_at(i);
        if ((f->kernel > TSR_K_SPECIAL && f->kernel < TSR_K_SPECIAL_END) != special) continue;
        bool truth = strcmp(f->result, "uint8_t") == 0 && strcmp(f->t, "uint8_t") != 0;
        bool part = strcmp(f->result, "U") == 0; /* of a complex number: a real one */
        bool joined = strcmp(f->result, "Complex<T>") == 0, number = strcmp(f->result, "int32_t") == 0;
        TsrDtype real = f->dtype == TSR_COMPLEX64 ? TSR_FLOAT32 : TSR_FLOAT64;
        TsrDtype both = f->dtype == TSR_FLOAT32 ? TSR_COMPLEX64 : TSR_COMPLEX128;
        TsrDtype result = truth ? TSR_BOOL : part ? real : joined ? both : number ? TSR_INT32 : f->dtype;
        TsrDeviceMap m = map_of(f->kernel, f->dtype, result, f->nin, 1);
        snprintf(what, sizeof what, "kernel %u, dtype %u: %s", f->kernel, f->dtype, f->text);
        compile_map(what, &m);
    }
}

static void compile_formulas(void) { compile_formulas_of(false); }
static void compile_special(void) { compile_formulas_of(true); }

static void compile_copies(void) {
    for (TsrDtype to = 0; to < TSR_DTYPE_COUNT; to++)
        for (TsrDtype from = 0; from < TSR_DTYPE_COUNT; from++) {
            char what[64];
            if (cuda_memory_type(to) == NULL || cuda_memory_type(from) == NULL) continue;
            TsrDeviceMap m = map_of(TSR_MAP_COPY, to, to, 1, 1);
            m.operand[1].dtype = from;
            m.operand[1].strides[0] = (int64_t)cuda_itemsize(from);
            snprintf(what, sizeof what, "copy to dtype %u from %u", to, from);
            compile_map(what, &m);
        }
}

static void compile_layouts(void) {
    for (int ndim = 2; ndim <= 4; ndim++) {
        char what[64];
        TsrDeviceMap m = map_of(TSR_K_add, TSR_FLOAT32, TSR_FLOAT32, 2, ndim);
        snprintf(what, sizeof what, "%d dimensions", ndim);
        compile_map(what, &m);
        m.operand[2].number = true;
        m.numel = INT64_C(1) << 40;
        compile_map(what, &m);
        m = map_of(TSR_K_where, TSR_BFLOAT16, TSR_BFLOAT16, 3, ndim);
        m.operand[1].dtype = m.operand[1].compute = TSR_BOOL;
        compile_map(what, &m);
    }
}

/* A reduction of 64 by 64 elements: of all, along lines, across them, and what merges the parts of several blocks. */
static void compile_reduction(unsigned kind, TsrDtype dtype, TsrDtype first, TsrDtype second) {
    int64_t size = (int64_t)cuda_itemsize(dtype);
    for (int way = 0; way < 4; way++) {
        char what[64];
        CudaSource source = {0};
        TsrDeviceReduce r = {
            .kind = (uint8_t)kind, .dtype = dtype, .nkept = 1, .nreduced = 1, .nout = 2, .count = 64, .results = 64};
        r.in = (TsrDeviceOperand){.data = 4096, .dtype = dtype, .compute = dtype};
        r.out[0].dtype = first;
        r.out[1].dtype = second;
        r.kept[0] = r.reduced[0] = 64;
        r.in_kept[0] = way == 2 ? size : 64 * size;
        r.in_reduced[0] = way == 2 ? 64 * size : size;
        if (way == 0 || way == 3) r.count = r.reduced[0] = 4096, r.results = r.kept[0] = 1;
        snprintf(what, sizeof what, "reduction %u of dtype %u, way %d", kind, dtype, way);
        if (cuda_reduce_source(&source, &r, way == 3)) compile(what, &source);
        cuda_source_free(&source);
    }
}

static void compile_reductions(void) {
    static const TsrDtype some[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_INT64, TSR_INT32, TSR_UINT8, TSR_BOOL};
    for (size_t i = 0; i < TSR_COUNTOF(some); i++) {
        TsrDtype d = some[i], sum = i < 2 ? d : TSR_INT64;
        for (unsigned kind = TSR_R_SUM; kind < TSR_R_COUNT_KINDS; kind++) {
            bool place = kind == TSR_R_ARGMAX || kind == TSR_R_ARGMIN, truth = kind == TSR_R_ANY || kind == TSR_R_ALL;
            bool two = kind == TSR_R_AMINMAX || kind == TSR_R_MOMENTS, adds = kind <= TSR_R_PROD || kind == TSR_R_COUNT;
            TsrDtype first = truth ? TSR_BOOL : kind == TSR_R_COUNT ? TSR_INT64 : adds ? sum : d;
            compile_reduction(kind, d, first, place ? TSR_INT64 : two ? d : TSR_DTYPE_NONE);
        }
    }
    compile_reduction(TSR_R_SUM, TSR_COMPLEX64, TSR_COMPLEX64, TSR_DTYPE_NONE);
    compile_reduction(TSR_R_PROD, TSR_COMPLEX128, TSR_COMPLEX128, TSR_DTYPE_NONE);
    compile_reduction(TSR_R_COUNT, TSR_COMPLEX64, TSR_INT64, TSR_DTYPE_NONE);
    compile_reduction(TSR_R_SUM, TSR_FLOAT16, TSR_FLOAT16, TSR_DTYPE_NONE);
    compile_reduction(TSR_R_SUM, TSR_BFLOAT16, TSR_BFLOAT16, TSR_DTYPE_NONE);
}

/* Four passes, each over what the one before made: dense, with strides, and of halves by their bits and as floats. */
static void compile_chains(void) {
    static const unsigned kernels[] = {TSR_K_sub, TSR_K_square, TSR_K_mul, TSR_K_tanh};
    static const TsrDtype dtypes[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_BFLOAT16, TSR_FLOAT16};
    for (size_t i = 0; i < TSR_COUNTOF(dtypes); i++)
        for (int ndim = 1; ndim <= 3; ndim++) {
            char what[64];
            CudaSource source = {0};
            TsrDeviceMap maps[TSR_COUNTOF(kernels)];
            for (size_t k = 0; k < TSR_COUNTOF(kernels); k++) {
                int nin = kernels[k] == TSR_K_sub || kernels[k] == TSR_K_mul ? 2 : 1;
                maps[k] = map_of(kernels[k], dtypes[i], dtypes[i], nin, ndim);
                for (int o = 0; o <= nin; o++) maps[k].operand[o].data = (uint64_t)(o == 0 ? k + 1 : k) << 20;
                if (nin == 2) maps[k].operand[2].number = true;
            }
            snprintf(what, sizeof what, "chain of dtype %u, %d dimensions", dtypes[i], ndim);
            if (cuda_chain_source(&source, maps, TSR_COUNTOF(kernels), NULL)) compile(what, &source);
            else failed++, fprintf(stderr, "no kernel for %s\n", what);
            cuda_source_free(&source);
        }
}

/* Two passes over 64 by 64 elements, and a reduction of all of them, along lines, or across them. */
static void compile_chain_end(unsigned kind, TsrDtype dtype, TsrDtype first, int way) {
    char what[64];
    CudaSource source = {0};
    int64_t size = (int64_t)cuda_itemsize(dtype);
    TsrDeviceMap maps[2] = {map_of(TSR_K_mul, dtype, dtype, 2, 1), map_of(TSR_K_square, dtype, dtype, 1, 1)};
    TsrDeviceReduce r = {.kind = (uint8_t)kind, .dtype = dtype, .nkept = 1, .nreduced = 1, .nout = 1, .count = 64};
    for (int k = 0; k < 2; k++) {
        maps[k].numel = maps[k].sizes[0] = 4096;
        for (int o = 0; o < maps[k].noperands; o++) maps[k].operand[o].data = (uint64_t)(o == 0 ? k + 1 : k) << 20;
    }
    r.in = (TsrDeviceOperand){.data = 2 << 20, .dtype = dtype, .compute = dtype};
    r.out[0] = (TsrDeviceOperand){.data = 4 << 20, .dtype = first};
    r.results = r.kept[0] = r.reduced[0] = 64;
    r.in_kept[0] = way == 2 ? size : 64 * size;
    r.in_reduced[0] = way == 2 ? 64 * size : size;
    if (way == 0) r.count = r.reduced[0] = 4096, r.results = r.kept[0] = 1;
    snprintf(what, sizeof what, "chain and reduction %u of dtype %u, way %d", kind, dtype, way);
    if (cuda_chain_source(&source, maps, 2, &r)) compile(what, &source);
    else failed++, fprintf(stderr, "no kernel for %s\n", what);
    cuda_source_free(&source);
}

static void compile_chain_ends(void) {
    for (int way = 0; way < 3; way++) {
        compile_chain_end(TSR_R_SUM, TSR_FLOAT32, TSR_FLOAT32, way);
        compile_chain_end(TSR_R_AMAX, TSR_FLOAT64, TSR_FLOAT64, way);
        compile_chain_end(TSR_R_SUM, TSR_BFLOAT16, TSR_BFLOAT16, way);
        compile_chain_end(TSR_R_SUM, TSR_COMPLEX64, TSR_COMPLEX64, way);
    }
}

/* Each distribution of the dtypes that it has, dense and with strides, the shuffling of keys, and choices. */
static void compile_random(void) {
    static const TsrDtype dtypes[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_FLOAT16, TSR_BFLOAT16,
                                      TSR_INT64,   TSR_UINT8,   TSR_BOOL};
    for (TsrDraw draw = 0; draw < TSR_DRAWS; draw++)
        for (size_t i = 0; i < 2 * TSR_COUNTOF(dtypes); i++) {
            TsrDtype dtype = dtypes[i / 2];
            bool integral = i / 2 >= 4;
            bool whole = draw == TSR_DRAW_WORDS || draw == TSR_DRAW_BERNOULLI || draw == TSR_DRAW_CHANCES;
            if (integral && !whole) continue;
            TsrDeviceRandom params = {.draw = draw, .bits = i % 2 == 0 ? 64 : 32, .a = 0.5, .b = 1, .range = 10};
            TsrDeviceWork w = {.what = TSR_P_RANDOM, .nout = 1, .params = &params, .nparams = sizeof params};
            w.nin = (draw >= TSR_DRAW_CHANCES) + (draw == TSR_DRAW_BINOMIAL);
            w.nout = draw == TSR_DRAW_DROPOUT ? 2 : 1;
            for (int k = 0; k < w.nout + w.nin; k++) {
                TsrDtype own = k == 1 && draw == TSR_DRAW_DROPOUT ? TSR_BOOL : k > 0 && integral ? TSR_FLOAT32 : dtype;
                int64_t size = (int64_t)cuda_itemsize(own);
                w.t[k] =
                    (TsrDeviceTensor){.at = {.data = 4096, .dtype = own, .compute = own}, .ndim = 2, .sizes = {8, 8}};
                w.t[k].at.strides[0] = size;
                w.t[k].at.strides[1] = (i % 2 == 0 ? 8 : 9) * size;
            }
            char what[64];
            CudaSource source = {0};
            snprintf(what, sizeof what, "draw %u of dtype %u", draw, dtype);
            if (cuda_random_source(&source, &w)) compile(what, &source);
            else failed++, fprintf(stderr, "no kernel for %s\n", what);
            cuda_source_free(&source);
        }
    for (int wide = 0; wide < 2; wide++) {
        CudaSource source = {0};
        cuda_shuffle_source(&source, wide ? TSR_INT64 : TSR_INT32);
        compile("shuffle", &source);
        cuda_source_free(&source);
    }
    for (size_t i = 0; i < 4; i++) {
        CudaSource source = {0};
        cuda_choose_source(&source, dtypes[i]);
        compile("choices", &source);
        cuda_source_free(&source);
    }
}

/* Products by tiles and with a vector; complex factors as conjugates too. */
static void compile_products(void) {
    static const struct {
        TsrDtype dtype, sums;
    } rows[] = {{TSR_FLOAT32, TSR_FLOAT32},     {TSR_FLOAT64, TSR_FLOAT64},     {TSR_FLOAT16, TSR_FLOAT32},
                {TSR_BFLOAT16, TSR_FLOAT32},    {TSR_INT64, TSR_INT64},         {TSR_INT32, TSR_INT64},
                {TSR_FLOAT8_E5M2, TSR_FLOAT32}, {TSR_COMPLEX64, TSR_COMPLEX64}, {TSR_COMPLEX128, TSR_COMPLEX128}};
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        for (int way = 0; way < 4; way++) {
            char what[64];
            CudaSource source = {0};
            TsrDeviceMatmul m = {.dtype = rows[i].dtype, .sums = rows[i].sums, .rows = way & 1 ? 1 : 64, .columns = 64};
            m.a.conj = m.b.conj = way > 1;
            if (way > 1 && cuda_itemsize(m.sums) < 16 && m.sums != TSR_COMPLEX64) continue;
            snprintf(what, sizeof what, "product of dtype %u, way %d", m.dtype, way);
            if (cuda_matmul_source(&source, &m)) compile(what, &source);
            cuda_source_free(&source);
        }
}

/* "simulated": the compiler of the simulated device, which lies beside this program. */
static void use_simulated(const char *program) {
    char path[4096];
    const char *slash = strrchr(program, '/');
    snprintf(path, sizeof path, "%.*slibtsr_cuda_simulated.so", slash != NULL ? (int)(slash + 1 - program) : 0,
             program);
    setenv("TSR_CUDA_NVRTC", path, 1);
}

/* Positions in one of `ndim` dimensions, or, of rows, one for each of the outermost. */
static TsrDeviceWork index_of(TsrPrimitive what, TsrDtype dtype, int ndim, bool rows, TsrDevicePlaces *places) {
    TsrDeviceWork w = {.what = what, .nout = 1, .nin = 2, .params = places, .nparams = sizeof *places};
    for (int k = 0; k < 3; k++) {
        TsrDeviceTensor *t = &w.t[k];
        int64_t size = k == 2 ? 8 : (int64_t)cuda_itemsize(dtype);
        t->at.data = 4096;
        t->at.dtype = t->at.compute = k == 2 ? TSR_INT64 : dtype;
        t->ndim = ndim;
        for (int d = 0; d < ndim; d++) {
            bool still = k == 2 && rows && d + 1 < ndim;
            t->sizes[d] = 4;
            t->at.strides[d] = still ? 0 : size << (2 * d + (d > 0 && !rows));
        }
    }
    return w;
}

static void compile_index(TsrPrimitive what, unsigned combine, TsrDtype dtype, int ndim, bool rows) {
    char text[64];
    CudaSource source = {0};
    TsrDevicePlaces places = {.n = 1, .of = {{4, 4, 0}}, .combine = (uint8_t)combine};
    TsrDeviceWork w = index_of(what, dtype, ndim, rows, &places);
    snprintf(text, sizeof text, "primitive %d, %u, dtype %u, %d dimensions", (int)what, combine, dtype, ndim);
    if (cuda_index_source(&source, &w)) {
        compile(text, &source);
    } else {
        failed++;
        fprintf(stderr, "no kernel for %s\n", text);
    }
    cuda_source_free(&source);
}

static void compile_indices(void) {
    static const TsrDtype sizes[] = {TSR_UINT8, TSR_FLOAT16, TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX128};
    static const TsrDtype joined[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_FLOAT16, TSR_BFLOAT16, TSR_INT8, TSR_BOOL};
    static const TsrDtype whole[] = {TSR_INT32, TSR_INT64, TSR_UINT32, TSR_UINT64};
    for (int ndim = 1; ndim <= 4; ndim++) {
        for (size_t i = 0; i < TSR_COUNTOF(sizes); i++) {
            compile_index(TSR_P_PICK, TSR_COMBINE_SET, sizes[i], ndim, ndim % 2 == 0);
            compile_index(TSR_P_PLACE, TSR_COMBINE_SET, sizes[i], ndim, ndim % 2 == 0);
        }
        for (size_t i = 0; i < TSR_COUNTOF(whole); i++)
            for (unsigned how = TSR_COMBINE_ADD; how < TSR_COMBINE_COUNT; how++)
                compile_index(TSR_P_PLACE, how, whole[i], ndim, false);
        for (size_t i = 0; i < TSR_COUNTOF(joined); i++)
            for (unsigned how = TSR_COMBINE_ADD; how < TSR_COMBINE_COUNT; how++)
                compile_index(TSR_P_PLACE, how, joined[i], ndim, ndim % 2 == 0);
        compile_index(TSR_P_PLACE, TSR_COMBINE_ADD, TSR_COMPLEX64, ndim, ndim % 2 == 0);
    }
}

/* Running reductions of short lines, of long ones in chunks, and across memory. */
static void compile_scan(unsigned how, TsrDtype dtype, int way) {
    char text[64];
    CudaSource source = {0};
    bool two = how == TSR_SCAN_MAX || how == TSR_SCAN_MIN;
    const TsrDeviceScan params = {(uint8_t)how};
    TsrDeviceWork w = {.what = TSR_P_SCAN, .nout = 1 + two, .nin = 1, .dim = way == 2, .params = &params};
    for (int k = 0; k < w.nout + w.nin; k++) {
        w.t[k] = (TsrDeviceTensor){.ndim = 2, .sizes = {way == 1 ? 65536 : 64, 4}};
        w.t[k].at.data = 4096;
        w.t[k].at.dtype = w.t[k].at.compute = two && k == 1 ? TSR_INT64 : dtype;
    }
    snprintf(text, sizeof text, "scan %u of dtype %u, way %d", how, dtype, way);
    if (cuda_scan_source(&source, &w, way == 1)) compile(text, &source);
    cuda_source_free(&source);
}

static void compile_scans(void) {
    static const TsrDtype some[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_INT64, TSR_INT32, TSR_UINT8, TSR_BOOL};
    static const TsrDtype numbers[] = {TSR_COMPLEX64, TSR_COMPLEX128};
    CudaSource mask = {0};
    for (size_t i = 0; i < TSR_COUNTOF(some); i++)
        for (unsigned how = 0; how < TSR_SCAN_COUNT; how++)
            for (int way = 0; way < 3; way++) compile_scan(how, some[i], way);
    for (size_t i = 0; i < TSR_COUNTOF(numbers); i++)
        for (unsigned how = TSR_SCAN_SUM; how <= TSR_SCAN_LOGSUMEXP; how++)
            for (int way = 0; way < 3; way++) compile_scan(how, numbers[i], way);
    cuda_mask_source(&mask);
    compile("masks", &mask);
    cuda_source_free(&mask);
}

static void compile_triangles(void) {
    for (int item = 1; item <= 16; item *= 2) {
        CudaSource source = {0};
        cuda_triangle_source(&source, item);
        compile("triangles", &source);
        cuda_source_free(&source);
    }
}

static void compile_ramps(void) {
    for (TsrDtype d = 0; d < TSR_DTYPE_COUNT; d++) {
        char text[64];
        CudaSource source = {0};
        snprintf(text, sizeof text, "numbers in steps of dtype %u", d);
        if (cuda_ramp_source(&source, d)) compile(text, &source);
        cuda_source_free(&source);
    }
}

static void compile_searches(void) {
    for (int way = 0; way < 4; way++) {
        CudaSource source = {0};
        cuda_search_source(&source, way & 1 ? TSR_FLOAT64 : TSR_INT64, way & 2 ? TSR_INT32 : TSR_INT64);
        compile("searches", &source);
        cuda_source_free(&source);
    }
}

static void compile_sorts(void) {
    for (TsrDtype d = 0; d < TSR_DTYPE_COUNT; d++) {
        char text[64];
        CudaSource source = {0};
        snprintf(text, sizeof text, "sorts of dtype %u", d);
        if (cuda_sort_source(&source, d)) compile(text, &source);
        cuda_source_free(&source);
    }
}

static void compile_row(const char *what, TsrDtype dtype, const TsrDeviceWork *given) {
    char text[64];
    CudaSource source = {0};
    TsrDeviceWork w = *given;
    for (int k = 0; k < w.nout + w.nin; k++)
        w.t[k] = (TsrDeviceTensor){.at = {.dtype = dtype}, .ndim = 1, .sizes = {64}};
    snprintf(text, sizeof text, "%s of dtype %u", what, dtype);
    if (cuda_rows_source(&source, &w)) compile(text, &source);
    else failed++, fprintf(stderr, "no kernel for %s\n", text);
    cuda_source_free(&source);
}

static void compile_rows(void) {
    static const TsrDtype dtypes[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_FLOAT16, TSR_BFLOAT16};
    for (size_t i = 0; i < TSR_COUNTOF(dtypes); i++)
        for (int way = 0; way < 2; way++) {
            bool all = way == 1;
            TsrDeviceSoftmax softmax = {.log = all};
            TsrDeviceNorm norm = {
                .rows = 1, .columns = 64, .groups = 1, .span = 1, .statistics = all, .weight = all, .bias = all};
            compile_row("softmax", dtypes[i],
                        &(TsrDeviceWork){.what = TSR_P_SOFTMAX, .nout = 1, .nin = 1, .params = &softmax});
            compile_row("norm", dtypes[i],
                        &(TsrDeviceWork){.what = TSR_P_NORM, .nout = all ? 3 : 1, .nin = all ? 3 : 1, .params = &norm});
        }
}

/* ONE ROW A FAMILY of kernels. */
static const struct {
    const char *name;
    void (*compile)(void);
} families[] = {{"random", compile_random},       {"layouts", compile_layouts},
                {"chains", compile_chains},       {"reductions", compile_reductions},
                {"products", compile_products},   {"index", compile_indices},
                {"scans", compile_scans},         {"rows", compile_rows},
                {"sorts", compile_sorts},         {"formulas", compile_formulas},
                {"copies", compile_copies},       {"searches", compile_searches},
                {"triangles", compile_triangles}, {"nn", check_nn},
                {"libraries", check_libraries},   {"special", compile_special},
                {"ramps", compile_ramps},         {"ends", compile_chain_ends}};

/* `only`: the one family; NULL: all. */
static void compile_families(const char *only) {
    for (size_t i = 0; i < TSR_COUNTOF(families); i++)
        if (only == NULL || strcmp(families[i].name, only) == 0) families[i].compile();
}

int main(int argc, char **argv) {
    const char *program = argv[0], *only = NULL;
    cuda_host = &host;
    for (; argc > 3 && argv[1][0] == '-'; argv += 2, argc -= 2) {
        if (strcmp(argv[1], "-d") == 0) folder = argv[2];
        else only = argv[2];
    }
    if (argc < 2) {
        fputs("usage: check_kernels [-d FOLDER] [-f FAMILY] ARCHITECTURE...\n", stderr);
        return 2;
    }
    architectures = (const char *const *)argv + 1;
    narchitectures = argc - 1;
    if (strcmp(architectures[0], "simulated") == 0) use_simulated(program);
    compile_families(only);
    if (absent) {
        fputs("cuda-check: SKIPPED: no NVRTC was found (README.md, Devices, says where it is looked for)\n", stderr);
        return 0;
    }
    printf("%d kernels for %d architectures, %d refused\n", made, narchitectures, failed);
    return failed != 0;
}
