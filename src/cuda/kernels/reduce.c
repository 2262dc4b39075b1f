/* reduce.c: reductions (reduce.h): how threads and blocks share the work, and the text of the kernel, device/reduce.cuh
 * for one kind and its dtypes.
 *
 * The sharing is PyTorch's (aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig), since it tells in which order
 * floats are added up: a block's width goes along what lies closest in memory; its height, and then whole blocks, share
 * the inputs of a result where there are many of them for few results. */
#include "reduce.h"

#include <string.h>

#include "chain.h"
#include "core/kernels/reduce/reduce.h"
#include "cuda/memory.h"

/* PyTorch's numbers: threads of a block, of a warp, inputs that a thread takes at least and at most, and neighbours
 * that it reads, or results that it makes, at once. */
enum { THREADS = 512, WARP = 32, LEAST_INPUTS = 16, MOST_INPUTS = 256, TOGETHER = 4 };
/* Blocks along a grid's second dimension at most. */
enum { MOST_BLOCKS = 65535 };

typedef CudaReduceKey Key;

/* ---- the text ---- */

/* ONE ROW A KIND that there is a kernel for: its struct in reduce.cuh. */
static const char *const reducers[TSR_R_COUNT_KINDS] = {
    [TSR_R_SUM] = "Adding",        [TSR_R_NANSUM] = "AddingNumbers",
    [TSR_R_PROD] = "Multiplying",  [TSR_R_AMAX] = "Best<Greater>",
    [TSR_R_AMIN] = "Best<Less>",   [TSR_R_ARGMAX] = "Best<Greater>",
    [TSR_R_ARGMIN] = "Best<Less>", [TSR_R_AMINMAX] = "Both<A>",
    [TSR_R_ANY] = "Any",           [TSR_R_ALL] = "All",
    [TSR_R_COUNT] = "Counting",    [TSR_R_MOMENTS] = "MeanAndVariance<A>",
};

/* Bytes of an accumulator at most. */
enum { ACC_BYTES = 32 };

static const char *type_of(TsrDtype d) { return d == TSR_DTYPE_NONE ? "uint8_t" : cuda_memory_type(d); }

int cuda_reduce_threads(const Key *key) { return THREADS / key->outputs; }

void cuda_reduce_write(CudaSource *s, const Key *key, bool complex_numbers) {
    cuda_source_part(s, CUDA_PART_reduce_args);
    if (key->chained) cuda_source_part(s, CUDA_PART_chain_end_args);
    cuda_source_add(s, "typedef %s E;\n", cuda_memory_type(key->dtype));
    cuda_source_add(s, "typedef %s O0;\ntypedef %s O1;\n", type_of(key->out[0]), type_of(key->out[1]));
    cuda_source_add(s, "#define REDUCER %s\n#define NREDUCED %d\n#define NKEPT %d\n", reducers[key->kind],
                    key->nreduced, key->nkept);
    cuda_source_add(s, "#undef VEC\n#define VEC %d\n#define OUT %d\n#define BLOCK_THREADS %d\n", key->vec, key->outputs,
                    cuda_reduce_threads(key));
    cuda_source_add(s, "#define FIRST %d\n#define SECOND %d\n#define PARTS %d\n#define CHAINED %d\n",
                    key->out[0] != TSR_DTYPE_NONE, key->out[1] != TSR_DTYPE_NONE, key->parts, key->chained);
    if (!complex_numbers) cuda_source_part(s, CUDA_PART_complex);
    cuda_source_part(s, CUDA_PART_moments);
    cuda_source_part(s, CUDA_PART_reduce);
}

static void write_reduce(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, cuda_reduce_threads(key));
    cuda_reduce_write(s, key, false);
}

/* ---- who does what ---- */

/* What has no order among its elements, and no variance. */
static bool can_be_complex(uint8_t kind) {
    return kind == TSR_R_SUM || kind == TSR_R_NANSUM || kind == TSR_R_PROD || kind == TSR_R_ANY || kind == TSR_R_ALL ||
           kind == TSR_R_COUNT;
}

static bool can_reduce(const TsrDeviceReduce *r) {
    if (r->kind >= TSR_R_COUNT_KINDS || reducers[r->kind] == NULL || cuda_memory_type(r->dtype) == NULL) return false;
    if (r->dtype == TSR_COMPLEX32 || r->dtype == TSR_BCOMPLEX32) return false;
    if (cuda_is_complex(r->dtype) && !can_be_complex(r->kind)) return false;
    if (r->kind == TSR_R_MOMENTS && r->dtype != TSR_FLOAT32 && r->dtype != TSR_FLOAT64) return false;
    for (int k = 0; k < r->nout; k++)
        if (r->out[k].dtype != TSR_DTYPE_NONE && cuda_memory_type(r->out[k].dtype) == NULL) return false;
    return r->in.dtype == r->dtype && r->nreduced >= 1 && r->nkept >= 1;
}

static int64_t power_below(int64_t n) {
    int64_t power = 1;
    while (power * 2 <= n) power *= 2;
    return power;
}
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* Whether a result's inputs lie closer together than the inputs of different results. */
static bool along_inputs(const TsrDeviceReduce *r) {
    if (r->results == 1) return true;
    for (int d = 0; d < r->nkept; d++)
        if (r->kept[d] > 1 && r->in_kept[d] < r->in_reduced[0]) return false;
    return true;
}

/* How many neighbouring results a thread makes: as the address, the line and the other strides allow. */
static int results_together(const TsrDeviceReduce *r) {
    int64_t size = (int64_t)cuda_itemsize(r->dtype), together = TOGETHER;
    if (r->in_kept[0] != size) return 1;
    while (r->kept[0] % together != 0 || (int64_t)(r->in.data % (uint64_t)(together * size)) != 0) together /= 2;
    for (int d = 1; d < r->nkept; d++)
        while (r->in_kept[d] % (together * size) != 0) together /= 2;
    for (int d = 0; d < r->nreduced; d++)
        while (r->in_reduced[d] % (together * size) != 0) together /= 2;
    return (int)together;
}

/* How many neighbouring inputs a thread reads at once: of one line without gaps, if it is long. */
static int inputs_together(const TsrDeviceReduce *r) {
    uint64_t size = cuda_itemsize(r->dtype);
    bool line = r->results == 1 && r->nreduced == 1 && r->in_reduced[0] == (int64_t)size;
    return line && r->count > 128 && r->in.data % (TOGETHER * size) == 0 ? TOGETHER : 1;
}

static int64_t split_input(ReduceArgs *a, int64_t by) {
    int64_t step = a->step_input;
    a->step_input *= by;
    return step;
}
static int64_t split_output(ReduceArgs *a, int64_t by) {
    int64_t step = a->step_output;
    a->step_output *= by;
    return step;
}

/* Blocks side by side where few results leave processors idle. */
static void share_by_blocks(ReduceArgs *a, const Key *key, int index) {
    int64_t each = parts_of(a->inputs, a->step_input), grid = parts_of(a->outputs / key->outputs, a->step_output),
            held = (int64_t)cuda_multiprocessors(index) * (cuda_threads_held(index) / (a->block_x * a->block_y));
    if (a->input_y == 0 || each < MOST_INPUTS || grid > held) return;
    int64_t fill = parts_of(held, grid), most = parts_of(each, LEAST_INPUTS), least = parts_of(each, MOST_INPUTS);
    a->ctas = TSR_MIN(TSR_MAX(TSR_MIN(fill, most), least), (int64_t)MOST_BLOCKS);
    if (a->ctas > 1) a->input_block = split_input(a, a->ctas);
}

static void share(ReduceArgs *a, Key *key, const TsrDeviceReduce *r) {
    bool along = along_inputs(r);
    key->vec = (uint8_t)(along ? inputs_together(r) : 1);
    key->outputs = (uint8_t)(along ? 1 : results_together(r));
    int64_t x = along ? r->count / key->vec : r->results / key->outputs, y = along ? r->results : r->count,
            most = THREADS / key->outputs, width = TSR_MIN(power_below(x), most),
            height = TSR_MIN(power_below(y), most);
    a->block_x = (uint32_t)TSR_MIN(width, (int64_t)WARP);
    a->block_y = (uint32_t)TSR_MIN(height, most / a->block_x);
    a->block_x = (uint32_t)TSR_MIN(width, most / a->block_y);
    a->inputs = r->count;
    a->outputs = r->results;
    a->step_input = a->step_output = a->ctas = 1;
    if (along) a->input_x = split_input(a, a->block_x);
    else a->output_x = split_output(a, a->block_x);
    int64_t each = parts_of(a->inputs, a->step_input);
    if (each >= TSR_MIN((int64_t)a->block_y * LEAST_INPUTS, (int64_t)MOST_INPUTS))
        a->input_y = split_input(a, a->block_y);
    else a->output_y = split_output(a, a->block_y);
    share_by_blocks(a, key, r->index);
}

static void fill(ReduceArgs *a, Key *key, const TsrDeviceReduce *r) {
    const TsrReduceParams *p = r->params;
    memset(a, 0, sizeof *a);
    memset(key, 0, sizeof *key);
    key->kind = r->kind;
    key->dtype = r->dtype;
    key->nreduced = (uint8_t)r->nreduced;
    key->nkept = (uint8_t)r->nkept;
    a->in = r->in.data;
    for (int k = 0; k < 2; k++) {
        key->out[k] = k < r->nout ? r->out[k].dtype : TSR_DTYPE_NONE;
        a->out[k] = k < r->nout ? r->out[k].data : 0;
        for (int d = 0; d < r->nkept; d++) a->out_kept[k][d] = r->out_kept[k][d];
    }
    for (int d = 0; d < r->nreduced; d++) {
        a->reduced[d] = r->reduced[d];
        a->in_reduced[d] = r->in_reduced[d];
        a->index[d] = r->index_reduced[d];
    }
    for (int d = 0; d < r->nkept; d++) {
        a->kept[d] = r->kept[d];
        a->in_kept[d] = r->in_kept[d];
    }
    if (p != NULL) a->correction = p->correction, a->root = p->root;
    share(a, key, r);
}

/* ---- the launches ---- */

static TsrStatus find_kernel(CuFunction *out, int index, const Key *key) {
    return cuda_kernel(out, index, key, sizeof *key, key->parts ? "tsr_reduce_parts" : "tsr_reduce", write_reduce, key);
}

/* Both kernels are made before one is launched, so that nothing is done by half. */
static TsrStatus find_kernels(CudaReduction *c) {
    Key merge = c->key;
    merge.parts = 1;
    merge.vec = 1;
    TSR_TRY(find_kernel(&c->read, c->index, &c->key));
    return c->args.ctas > 1 ? find_kernel(&c->merge, c->index, &merge) : TSR_OK;
}

void cuda_reduce_plan(CudaReduction *c, const TsrDeviceReduce *r) {
    memset(c, 0, sizeof *c);
    c->index = r->index;
    fill(&c->args, &c->key, r);
    c->blocks = (unsigned)parts_of(c->args.outputs / c->key.outputs, c->args.step_output);
    c->blocks_y = (unsigned)c->args.ctas;
    c->threads = c->args.block_x * c->args.block_y;
    if (c->args.ctas > 1) c->parts_bytes = (size_t)(c->args.ctas * c->args.outputs) * ACC_BYTES;
}

static TsrStatus launch(const CudaReduction *c) {
    TSR_TRY(cuda_launch(c->read, c->index, c->blocks, c->blocks_y, c->threads, &c->args));
    return c->merge != NULL ? cuda_launch(c->merge, c->index, c->blocks, 1, c->threads, &c->args) : TSR_OK;
}

/* Scratch memory is given back as soon as it is known where it lies: whatever is put into the stream later, and might
 * be given it, comes after the reduction, held back or not. */
static TsrStatus find_parts(CudaReduction *c) {
    TsrDataPtr parts;
    TSR_TRY(cuda_scratch(&parts, c->index, c->parts_bytes));
    c->args.parts = (uint64_t)(uintptr_t)parts.data;
    cuda_scratch_free(&parts);
    return TSR_OK;
}

static void tell_uses(const TsrDeviceReduce *r) {
    int64_t sizes[2 * TSR_DEVICE_DIMS];
    TsrDeviceOperand in = r->in;
    int n = 0;
    for (int d = 0; d < r->nreduced && n < TSR_DEVICE_DIMS; d++, n++)
        sizes[n] = r->reduced[d], in.strides[n] = r->in_reduced[d];
    for (int d = 0; d < r->nkept && n < TSR_DEVICE_DIMS; d++, n++) sizes[n] = r->kept[d], in.strides[n] = r->in_kept[d];
    if (r->count > 0) cuda_operand_uses(&in, r->index, n, sizes, false);
    for (int k = 0; k < r->nout; k++) {
        if (r->out[k].dtype == TSR_DTYPE_NONE) continue;
        TsrDeviceOperand out = r->out[k];
        memcpy(out.strides, r->out_kept[k], sizeof out.strides);
        cuda_operand_uses(&out, r->index, r->nkept, r->kept, true);
    }
}

bool cuda_reduce_source(CudaSource *out, const TsrDeviceReduce *r, bool parts) {
    ReduceArgs a;
    Key key;
    if (!can_reduce(r)) return false;
    fill(&a, &key, r);
    key.parts = parts;
    if (parts) key.vec = 1;
    write_reduce(out, &key);
    return true;
}

TsrStatus cuda_reduce(const TsrDeviceReduce *r) {
    CudaReduction c;
    if (r->results == 0) return TSR_OK;
    if (!can_reduce(r)) return TSR_NOT_IMPLEMENTED_ERROR;
    cuda_reduce_plan(&c, r);
    TSR_TRY(find_kernels(&c));
    TSR_TRY(find_parts(&c));
    if (!cuda_chain_take_end(&c, r)) TSR_TRY(launch(&c));
    tell_uses(r);
    return TSR_OK;
}
