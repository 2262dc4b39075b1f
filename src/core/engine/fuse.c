/* fuse.c: evaluation of an elementwise expression block by block, without intermediate tensors (fuse.h).
 *
 * Each step of the expression becomes a Pass: one inner loop over a block of a page. A pass reads inputs, numbers and
 * buffers, and writes a buffer, or for the last one the output. Buffers are assigned as registers are in a compiler:
 * one is free again when its last reader has run (place). Two adjacent steps for which pairs.def has a kernel become
 * one pass (take_in). Every step rounds as the operator would, so results equal those without fusion bit for bit. */
#include "fuse.h"

#include <string.h>

#include "core/kernels/move/move.h"
#include "core/parallel.h"

bool tsr_fuse_on = true;

enum {
    PAGE = 4096,
    BUFFERS =
        TSR_FUSE_INPUTS +
        2, /* a result that waits has used up an input; one more while bools become numbers or the other way round */
    OPERANDS = 6 /* of a pass, its result included */
};

bool tsr_fuse_accepts(const TsrTensor *t) {
    return (t->dtype == TSR_FLOAT32 || t->dtype == TSR_FLOAT64) && t->numel >= TSR_FUSE_LEAST && t->flags == 0 &&
           t->layout == TSR_STRIDED && t->device.type == TSR_CPU && tsr_is_contiguous(t, TSR_CONTIGUOUS);
}

bool tsr_fuse_alike(const TsrTensor *a, const TsrTensor *b) {
    return a->dtype == b->dtype && a->ndim_ == b->ndim_ &&
           memcmp(a->sizes, b->sizes, (size_t)a->ndim_ * sizeof *a->sizes) == 0;
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

/* What one loop does to a block: a step, or with it some before it whose results only it uses. Operands are named as a
 * step's are. */
typedef struct Pass {
    TsrKernel kernel;
    TsrLoop loop; /* NULL: a later pass does this step */
    TsrDtype dtype;
    int nin, in[OPERANDS - 1];
    int number_at; /* the operand that may be a number; -1: any of them */
    bool truth;
    int buffer; /* -1: the output */
} Pass;

/* The expression made ready: loops, where each writes, numbers in the dtype. */
typedef struct Plan {
    const TsrFused *f;
    Pass pass[TSR_FUSE_STEPS];
    _Alignas(8) char number[TSR_FUSE_INPUTS][8];
    int64_t itemsize, block;
    char *out;
    int64_t first; /* the element that goes to `out` */
} Plan;

/* A number input in the dtype of the expression. */
static void store_number(char *to, const TsrFuseInput *in, TsrDtype dtype) {
    if (dtype == TSR_FLOAT32) {
        float value = in->whole ? (float)in->integer : (float)in->number;
        memcpy(to, &value, sizeof value);
    } else {
        double value = in->whole ? (double)in->integer : in->number;
        memcpy(to, &value, sizeof value);
    }
}

/* Gives each pass a buffer: that of an operand of the same size which ends with it, else a free one. False when there
 * are too few. */
static bool place(Plan *p) {
    bool used[BUFFERS] = {false};
    for (int s = 0; s < p->f->nsteps; s++) {
        Pass *pass = &p->pass[s];
        int mine = -1;
        if (pass->loop == NULL) continue;
        for (int k = 0; k < pass->nin && mine < 0; k++)
            if (pass->in[k] < 0 && p->pass[-1 - pass->in[k]].truth == pass->truth)
                mine = p->pass[-1 - pass->in[k]].buffer;
        for (int b = 0; b < BUFFERS && mine < 0; b++)
            if (!used[b]) mine = b;
        if (mine < 0) return false;
        for (int k = 0; k < pass->nin; k++)
            if (pass->in[k] < 0) used[p->pass[-1 - pass->in[k]].buffer] = false;
        used[mine] = true;
        pass->buffer = mine;
    }
    p->pass[p->f->nsteps - 1].buffer = -1;
    return true;
}

/* A pass at work: where its operands, the result first, are in this block, and how far the next one's are from there.
 */
typedef struct Work {
    TsrLoop loop;
    int noperands;
    char *data[OPERANDS];
    int64_t strides[OPERANDS], move[OPERANDS];
} Work;

/* Operand k of a pass; a number that its loop cannot take as such is repeated for a block, at *spare. */
static void set_operand(Work *w, const Plan *p, const Pass *pass, int k, int64_t begin, char *const *buffers,
                        char **spare) {
    int from = pass->in[k];
    w->strides[k + 1] = p->itemsize;
    w->move[k + 1] = 0;
    if (from < 0) {
        w->data[k + 1] = buffers[p->pass[-1 - from].buffer];
        if (p->pass[-1 - from].truth) w->strides[k + 1] = 1;
    } else if (p->f->input[from].tensor != NULL) {
        w->data[k + 1] = (char *)tsr_data(p->f->input[from].tensor) + begin * p->itemsize;
        w->move[k + 1] = p->block * p->itemsize;
    } else if (pass->number_at < 0 || pass->number_at == k) {
        w->data[k + 1] = (char *)(uintptr_t)p->number[from];
        w->strides[k + 1] = 0;
    } else {
        w->data[k + 1] = *spare;
        *spare += PAGE;
        tsr_kernel_repeat(w->data[k + 1], p->number[from], (size_t)p->itemsize, p->block);
    }
}

/* Sets up every pass for the chunk that starts at `begin`; returns how many there are. */
static int set_work(Work *work, const Plan *p, int64_t begin, char *const *buffers, char *spare) {
    int n = 0;
    for (int s = 0; s < p->f->nsteps; s++) {
        const Pass *pass = &p->pass[s];
        if (pass->loop == NULL) continue;
        Work *w = &work[n++];
        *w = (Work){.loop = pass->loop, .noperands = 1 + pass->nin, .strides = {pass->truth ? 1 : p->itemsize}};
        w->data[0] = pass->buffer < 0 ? p->out + (begin - p->first) * w->strides[0] : buffers[pass->buffer];
        w->move[0] = pass->buffer < 0 ? p->block * w->strides[0] : 0;
        for (int k = 0; k < pass->nin; k++) set_operand(w, p, pass, k, begin, buffers, &spare);
    }
    return n;
}

/* Places the buffers within their pages. A load that follows a store to the same offset in another page waits for that
 * store on many CPUs, which compare only the low 12 bits of addresses first. So each buffer begins at the offset in its
 * page at which the output's block (and mostly the inputs') does: what collides is then a whole page behind. Measured
 * on Zen 5, a * b + c of 1e6 floats, one thread: 230 us, with buffers anywhere 300 to 900. */
static void place_buffers(char **buffers, char *memory, const Plan *p, int64_t begin) {
    uintptr_t wanted = ((uintptr_t)p->out + (uintptr_t)((begin - p->first) * p->itemsize)) % PAGE / 64 * 64,
              at = (uintptr_t)memory;
    buffers[0] = memory + (wanted + PAGE - at % PAGE) % PAGE;
    for (int b = 1; b <= BUFFERS; b++) buffers[b] = buffers[b - 1] + PAGE;
}

/* TsrRangeFn: runs all passes over block after block of [begin, end). */
static void run_range(int64_t begin, int64_t end, void *user) {
    const Plan *p = user;
    char memory[(BUFFERS + TSR_FUSE_INPUTS + 1) * PAGE], *buffers[BUFFERS + 1];
    Work work[TSR_FUSE_STEPS];
    place_buffers(buffers, memory, p, begin);
    int nwork = set_work(work, p, begin, buffers, buffers[BUFFERS]);
    for (; begin < end; begin += p->block) {
        int64_t n = TSR_MIN(p->block, end - begin);
        for (Work *w = work; w < work + nwork; w++) {
            w->loop(w->data, w->strides, n, NULL);
            for (int k = 0; k < w->noperands; k++) w->data[k] += w->move[k];
        }
    }
}

/* Elements of a chunk: a multiple of 2048, which is a whole number of blocks, and four times the usual work
 * (parallel.h), because each chunk sets up its buffers anew. */
static int64_t grain_of(const TsrFused *f) {
    int64_t cost = 1;
    for (int s = 0; s < f->nsteps; s++) cost += f->step[s].cost;
    int64_t grain = 4 * TSR_CHUNK_WORK / cost;
    return TSR_MAX(grain / 2048 * 2048, 2048);
}

/* Whether the operands may change places to make a pair kernel fit. */
static bool commutes(TsrKernel k) {
    return k == TSR_K_add || k == TSR_K_mul || k == TSR_K_bitwise_and || k == TSR_K_bitwise_or;
}

/* The pair kernel that does `pass` together with the step that made its operand k, as operand number `as` of the pair;
 * TSR_K_NONE if there is none. */
static TsrKernel both(const Plan *p, const Pass *pass, int k, int as) {
    return k >= pass->nin || pass->in[k] >= 0 ? TSR_K_NONE
                                              : tsr_kernel_pair(p->pass[-1 - pass->in[k]].kernel, pass->kernel, as);
}

/* Merges the step that made operand k into `pass` when there is a pair kernel for both. */
static bool take_in(Plan *p, Pass *pass, int k) {
    TsrKernel kernel = both(p, pass, k, k);
    if (kernel == TSR_K_NONE) return false;
    Pass *made = &p->pass[-1 - pass->in[k]];
    memmove(&pass->in[k + made->nin], &pass->in[k + 1], (size_t)(pass->nin - k - 1) * sizeof *pass->in);
    memcpy(&pass->in[k], made->in, (size_t)made->nin * sizeof *made->in);
    pass->nin += made->nin - 1;
    pass->kernel = kernel;
    pass->dtype = made->dtype;
    pass->number_at = made->truth ? 1 : OPERANDS; /* what is compared with, else none */
    made->loop = NULL;
    return true;
}

static TsrStatus add_pass(Plan *p, int s, TsrDtype dtype) {
    const TsrFuseStep *step = &p->f->step[s];
    Pass *pass = &p->pass[s];
    *pass = (Pass){.kernel = step->kernel,
                   .dtype = step->of_truths ? TSR_BOOL : dtype,
                   .nin = step->nin,
                   .truth = step->truth,
                   .number_at = step->kernel == TSR_K_where ? OPERANDS : -1};
    memcpy(pass->in, step->in, sizeof step->in);
    if (commutes(step->kernel) && both(p, pass, 0, 0) == TSR_K_NONE && both(p, pass, 1, 0) != TSR_K_NONE) {
        pass->in[0] = step->in[1];
        pass->in[1] = step->in[0];
    }
    for (int k = 0; k < pass->nin; k++)
        while (take_in(p, pass, k)) {}
    pass->loop = tsr_kernel(pass->kernel, pass->dtype);
    return pass->loop != NULL ? TSR_OK : tsr_error(TSR_SYSTEM_ERROR, "no loop for %s", step->name);
}

/* Makes the plan: numbers in the dtype, passes, buffers. The inputs' storages are checked. */
static TsrStatus prepare(Plan *p, const TsrFused *f, TsrDtype dtype) {
    p->f = f;
    p->first = 0;
    p->itemsize = (int64_t)tsr_dtype_size(dtype);
    p->block = PAGE / p->itemsize;
    for (int i = 0; i < f->ninputs; i++) {
        if (f->input[i].tensor != NULL) TSR_TRY(tsr_tensor_check(f->input[i].tensor, false));
        else store_number(p->number[i], &f->input[i], dtype);
    }
    for (int s = 0; s < f->nsteps; s++) TSR_TRY(add_pass(p, s, dtype));
    return place(p) ? TSR_OK : tsr_error(TSR_SYSTEM_ERROR, "the fused expression is too wide");
}

TsrStatus tsr_fuse_run_new(TsrTensor **out, const TsrFused *f) {
    const TsrTensor *like = tsr_fuse_first(f);
    Plan plan;
    TSR_TRY(prepare(&plan, f, like->dtype));
    TsrTensor *result;
    TSR_TRY(
        tsr_tensor_new(&result, like->ndim_, like->sizes, tsr_fuse_is_truth(f) ? TSR_BOOL : like->dtype, like->device));
    result->origin = f->step[f->nsteps - 1].name;
    plan.out = tsr_data(result);
    TsrStatus status = tsr_parallel_for(like->numel, grain_of(f), run_range, &plan);
    if (status == TSR_OK && tsr_interrupt_own.fault != 0) status = tsr_interrupt_check();
    if (status != TSR_OK) {
        tsr_tensor_free(result);
        return status;
    }
    *out = result;
    return TSR_OK;
}

/* TsrFillFn: elements [begin, end) of the expression, to `to`. */
static void fill_chunk(void *user, int64_t begin, int64_t end, char *to) {
    Plan chunk = *(const Plan *)user;
    chunk.out = to;
    chunk.first = begin;
    run_range(begin, end, &chunk);
}

TsrStatus tsr_fuse_use(const TsrFused *f, TsrStatus (*use)(void *context, TsrFillFn fill, void *plan), void *context) {
    Plan plan;
    TSR_TRY(prepare(&plan, f, tsr_fuse_first(f)->dtype));
    TsrStatus status = use(context, fill_chunk, &plan);
    return status == TSR_OK && tsr_interrupt_own.fault != 0 ? tsr_interrupt_check() : status;
}
