#include "fuse.h"

#include <string.h>

#include "parallel.h"

bool tsr_fuse_on = true;

enum { PAGE = 4096, BLOCK_BYTES = PAGE, BUFFERS = TSR_FUSE_INPUTS + 2 }; /* a result that waits has used up an input; one more while bools become numbers or the other way round */

bool tsr_fuse_accepts(const TsrTensor *t) {
    return (t->dtype == TSR_FLOAT32 || t->dtype == TSR_FLOAT64) && t->numel >= TSR_FUSE_LEAST && t->flags == 0 && t->layout == TSR_STRIDED &&
           t->device.type == TSR_CPU && tsr_is_contiguous(t, TSR_CONTIGUOUS);
}

bool tsr_fuse_alike(const TsrTensor *a, const TsrTensor *b) {
    return a->dtype == b->dtype && a->ndim_ == b->ndim_ && memcmp(a->sizes, b->sizes, (size_t)a->ndim_ * sizeof *a->sizes) == 0;
}

const TsrTensor *tsr_fuse_first(const TsrFused *f) {
    for (int i = 0; i < f->ninputs; i++)
        if (f->input[i].tensor != NULL) return f->input[i].tensor;
    return NULL;
}

void tsr_fuse_release(TsrFused *f) {
    for (int i = 0; i < f->ninputs; i++) tsr_tensor_free(f->input[i].tensor);
    f->ninputs = f->nsteps = 0;
}

/* The expression made ready: loops, where each step writes, numbers in the dtype. */
typedef struct Plan {
    const TsrFused *f;
    TsrLoop loop[TSR_FUSE_STEPS];
    int buffer[TSR_FUSE_STEPS]; /* -1: the output */
    _Alignas(8) char number[TSR_FUSE_INPUTS][8];
    int64_t itemsize, block;
    char *out;
    int64_t first; /* the element that goes to `out` */
} Plan;

static void store_number(char *to, const TsrFuseInput *in, TsrDtype dtype) {
    if (dtype == TSR_FLOAT32) {
        float value = in->whole ? (float)in->integer : (float)in->number;
        memcpy(to, &value, sizeof value);
    } else {
        double value = in->whole ? (double)in->integer : in->number;
        memcpy(to, &value, sizeof value);
    }
}

/* Gives each step a buffer: that of an operand of the same size which ends with it, else a free one. False when there are too few. */
static bool place(Plan *p) {
    bool used[BUFFERS] = {false};
    const TsrFused *f = p->f;
    for (int s = 0; s < f->nsteps; s++) {
        const TsrFuseStep *step = &f->step[s];
        int mine = -1;
        for (int k = 0; k < step->nin && mine < 0; k++)
            if (step->in[k] < 0 && f->step[-1 - step->in[k]].truth == step->truth) mine = p->buffer[-1 - step->in[k]];
        for (int b = 0; b < BUFFERS && mine < 0; b++)
            if (!used[b]) mine = b;
        if (mine < 0) return false;
        for (int k = 0; k < step->nin; k++)
            if (step->in[k] < 0) used[p->buffer[-1 - step->in[k]]] = false;
        used[mine] = true;
        p->buffer[s] = mine;
    }
    p->buffer[f->nsteps - 1] = -1;
    return true;
}

static void run_block(const Plan *p, int64_t begin, int64_t n, char *const *buffers) {
    const TsrFused *f = p->f;
    for (int s = 0; s < f->nsteps; s++) {
        const TsrFuseStep *step = &f->step[s];
        char *data[4];
        int64_t strides[4] = {step->truth ? 1 : p->itemsize, p->itemsize, p->itemsize, p->itemsize};
        data[0] = p->buffer[s] < 0 ? p->out + (begin - p->first) * strides[0] : buffers[p->buffer[s]];
        for (int k = 0; k < step->nin; k++) {
            int from = step->in[k];
            if (from < 0) {
                data[k + 1] = buffers[p->buffer[-1 - from]];
                if (f->step[-1 - from].truth) strides[k + 1] = 1;
            } else if (f->input[from].tensor != NULL) {
                data[k + 1] = (char *)tsr_data(f->input[from].tensor) + begin * p->itemsize;
            } else {
                data[k + 1] = (char *)(uintptr_t)p->number[from];
                strides[k + 1] = 0;
            }
        }
        p->loop[s](data, strides, n, NULL);
    }
}

/* A load that follows a store to the same place within some other page waits for it, on many CPUs. So the buffers, of a page
 * each, begin at the same place in their page as the output and, mostly, the inputs: then what collides is a whole page behind.
 * Measured on Zen 5, a * b + c of 1e6 floats, one thread: 230 us, with buffers anywhere 300 to 900. */
static void place_buffers(char **buffers, char *memory, const Plan *p) {
    uintptr_t wanted = (uintptr_t)p->out % PAGE / 64 * 64, at = (uintptr_t)memory;
    buffers[0] = memory + (wanted + PAGE - at % PAGE) % PAGE;
    for (int b = 1; b < BUFFERS; b++) buffers[b] = buffers[b - 1] + BLOCK_BYTES;
}

static void run_range(int64_t begin, int64_t end, void *user) {
    const Plan *p = user;
    char memory[BUFFERS * BLOCK_BYTES + PAGE], *buffers[BUFFERS];
    place_buffers(buffers, memory, p);
    for (; begin < end; begin += p->block) run_block(p, begin, TSR_MIN(p->block, end - begin), buffers);
}

/* Whole blocks, and several of them: each chunk sets up its buffers anew. */
static int64_t grain_of(const TsrFused *f) {
    int64_t cost = 1;
    for (int s = 0; s < f->nsteps; s++) cost += f->step[s].cost;
    int64_t grain = 4 * TSR_CHUNK_WORK / cost;
    return TSR_MAX(grain / 2048 * 2048, 2048);
}

static TsrStatus prepare(Plan *p, const TsrFused *f, TsrDtype dtype) {
    p->f = f;
    p->first = 0;
    p->itemsize = (int64_t)tsr_dtype_size(dtype);
    p->block = BLOCK_BYTES / p->itemsize;
    for (int i = 0; i < f->ninputs; i++) {
        if (f->input[i].tensor != NULL) TSR_TRY(tsr_tensor_check(f->input[i].tensor, false));
        else store_number(p->number[i], &f->input[i], dtype);
    }
    for (int s = 0; s < f->nsteps; s++) {
        p->loop[s] = tsr_kernel(f->step[s].kernel, f->step[s].of_truths ? TSR_BOOL : dtype);
        if (p->loop[s] == NULL) return tsr_error(TSR_SYSTEM_ERROR, "no loop for %s", f->step[s].name);
    }
    return place(p) ? TSR_OK : tsr_error(TSR_SYSTEM_ERROR, "the fused expression is too wide");
}

TsrStatus tsr_fuse_run_new(TsrTensor **out, const TsrFused *f) {
    const TsrTensor *like = tsr_fuse_first(f);
    Plan plan;
    TSR_TRY(prepare(&plan, f, like->dtype));
    TsrTensor *result;
    TSR_TRY(tsr_tensor_new(&result, like->ndim_, like->sizes, tsr_fuse_is_truth(f) ? TSR_BOOL : like->dtype, like->device));
    result->origin = f->step[f->nsteps - 1].name;
    plan.out = tsr_data(result);
    TsrStatus status = tsr_parallel_for(like->numel, grain_of(f), run_range, &plan);
    if (status != TSR_OK) {
        tsr_tensor_free(result);
        return status;
    }
    *out = result;
    return TSR_OK;
}

static void fill_chunk(void *user, int64_t begin, int64_t end, char *to) {
    Plan chunk = *(const Plan *)user;
    chunk.out = to;
    chunk.first = begin;
    run_range(begin, end, &chunk);
}

TsrStatus tsr_fuse_use(const TsrFused *f, TsrStatus (*use)(void *context, TsrFillFn fill, void *plan), void *context) {
    Plan plan;
    TSR_TRY(prepare(&plan, f, tsr_fuse_first(f)->dtype));
    return use(context, fill_chunk, &plan);
}
