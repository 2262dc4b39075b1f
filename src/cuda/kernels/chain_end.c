/* chain_end.c: a reduction of what a chain of passes makes, as one kernel with them (chain.h).
 *
 * The kernel is that of the reduction, device/reduce.cuh, in which an input is not read but made by the passes. Threads
 * and blocks share the work as they would for the reduction alone, so the order of sums is the same. The reduction's
 * dimensions are cut until each lies within one of the chain's: then every place that the passes read has a stride
 * along it. */
#include "chain_impl.h"

#include <string.h>

#define alignas _Alignas
#include "cuda/device/chain_end_args.h"
#undef alignas

enum { CUT_DIMS = 12, READS = 8 };
/* More than this no kernel's arguments may have. */
_Static_assert(sizeof(ChainEndArgs) <= 4096 && sizeof(ChainStrided) <= 4096, "arguments of a kernel");

/* Dimensions that a reduction's are cut into: part k is `size[k]` steps of `factor[k]` elements along dimension
 * `of[k]`, and `within[k]` elements along the chain's dimension `at[k]`. */
typedef struct Cut {
    int n, of[CUT_DIMS], at[CUT_DIMS];
    int64_t size[CUT_DIMS], factor[CUT_DIMS], within[CUT_DIMS];
} Cut;

/* The chain's dimension in which a step of so many bytes of the value at `p` stays; -1: none. */
static int dim_of(const Chain *c, const Place *p, int64_t step) {
    for (int i = 0; i < c->ndim; i++) {
        int64_t stride = p->strides[i];
        if (c->sizes[i] > 1 && stride > 0 && step % stride == 0 && step < stride * c->sizes[i]) return i;
    }
    return -1;
}

static bool cut_dim(Cut *cut, const Chain *c, const Place *p, int of, int64_t size, int64_t step) {
    for (int64_t factor = 1; size > 1;) {
        int at = dim_of(c, p, step);
        int64_t within = at >= 0 ? step / p->strides[at] : 0;
        if (at < 0 || cut->n == CUT_DIMS || c->sizes[at] % within != 0) return false;
        int64_t part = TSR_MIN(size, c->sizes[at] / within);
        if (size % part != 0) return false;
        cut->of[cut->n] = of;
        cut->at[cut->n] = at;
        cut->size[cut->n] = part;
        cut->factor[cut->n] = factor;
        cut->within[cut->n++] = within;
        size /= part;
        factor *= part;
        step *= part;
    }
    return true;
}

static bool cut_dims(Cut *cut, const Chain *c, int n, const int64_t *sizes, const int64_t *steps) {
    const Place *p = &c->place[c->end_place];
    memset(cut, 0, sizeof *cut);
    for (int d = 0; d < n; d++)
        if (!cut_dim(cut, c, p, d, sizes[d], steps[d])) return false;
    if (cut->n == 0) cut->size[cut->n++] = 1;
    return true;
}

/* out[k] = given[of the k-th part's dimension], for the part. */
static void cut_strides(int64_t *out, const Cut *cut, const int64_t *given) {
    int64_t before[CUT_DIMS];
    memcpy(before, given, sizeof before);
    memset(out, 0, sizeof before);
    for (int k = 0; k < cut->n; k++) out[k] = cut->factor[k] * before[cut->of[k]];
}

static void place_strides(int64_t *out, const Cut *cut, const Place *p) {
    for (int k = 0; k < cut->n; k++) out[k] = cut->within[k] * p->strides[cut->at[k]];
}

/* What the kernel's text is made from. */
typedef struct Ended {
    Written chain;
    CudaReduceKey key;
    Cut kept, reduced;
} Ended;

static void write_ended(CudaSource *s, const void *what) {
    const Ended *e = what;
    const Chain *c = e->chain.chain;
    unsigned calls = cuda_chain_calls(c);
    cuda_source_begin(s, cuda_reduce_threads(&e->key));
    cuda_chain_write_steps(s, &e->chain);
    cuda_source_add(s, "#define PLACES %d\n#define RESULT v%d\n", TSR_MAX(e->chain.nplaces, 1),
                    c->place[c->end_place].value);
    cuda_reduce_write(s, &e->key, (calls & CUDA_CALLS_COMPLEX) != 0);
}

static void fill(ChainEndArgs *a, const Ended *e) {
    const Chain *c = e->chain.chain;
    ReduceArgs *r = &a->reduce;
    memset(a, 0, sizeof *a);
    *r = c->end.args;
    cuda_chain_fill(&a->chain, &e->chain);
    memcpy(r->kept, e->kept.size, sizeof r->kept);
    memcpy(r->reduced, e->reduced.size, sizeof r->reduced);
    cut_strides(r->index, &e->reduced, r->index);
    for (int k = 0; k < 2; k++) cut_strides(r->out_kept[k], &e->kept, r->out_kept[k]);
    for (int i = 0; i < e->chain.nplaces; i++) {
        const Place *p = &c->place[e->chain.place[i]];
        place_strides(a->kept[i], &e->kept, p);
        place_strides(a->reduced[i], &e->reduced, p);
    }
}

/* Whether the chain can be made into the reduction's kernel: no value of it goes to memory. */
static bool describe(Ended *e, Chain *c) {
    const ReduceArgs *r = &c->end.args;
    for (int i = 0; i < c->nplaces; i++)
        if (cuda_chain_is_stored(&c->place[i])) return false;
    cuda_chain_describe(&e->chain, c);
    e->chain.pack = e->chain.wide = 0;
    e->key = c->end.key;
    if (e->chain.nplaces > READS || !cut_dims(&e->kept, c, e->key.nkept, r->kept, r->in_kept) ||
        !cut_dims(&e->reduced, c, e->key.nreduced, r->reduced, r->in_reduced))
        return false;
    e->key.nkept = (uint8_t)e->kept.n;
    e->key.nreduced = (uint8_t)e->reduced.n;
    e->key.chained = 1;
    return true;
}

bool cuda_chain_end_write(CudaSource *out, Chain *c) {
    Ended e;
    if (!describe(&e, c)) return false;
    write_ended(out, &e);
    return true;
}

static TsrStatus merge(const Chain *c) {
    const CudaReduction *r = &c->end;
    return r->merge != NULL ? cuda_chain_launch(c, r->merge, r->blocks, 1, r->threads, &r->args) : TSR_OK;
}

TsrStatus cuda_chain_end_together(bool *done, Chain *c) {
    Ended e;
    ChainEndArgs args;
    CuFunction f = NULL;
    if (!describe(&e, c)) return TSR_OK;
    CudaHash key = cuda_chain_hash(&e.chain);
    const int32_t value = c->place[c->end_place].value;
    key = cuda_hash(cuda_hash(key, &e.key, sizeof e.key), &value, sizeof value);
    TsrStatus status = cuda_chain_now()
                           ? cuda_kernel(&f, c->index, &key, sizeof key, "tsr_reduce", write_ended, &e)
                           : cuda_kernel_beside(&f, c->index, &key, sizeof key, "tsr_reduce", write_ended, &e);
    if (status == TSR_NOT_IMPLEMENTED_ERROR || (status == TSR_OK && f == NULL)) return TSR_OK;
    TSR_TRY(status);
    *done = true;
    fill(&args, &e);
    TSR_TRY(cuda_chain_launch(c, f, c->end.blocks, c->end.blocks_y, c->end.threads, &args));
    return merge(c);
}

TsrStatus cuda_chain_end_alone(const Chain *c) {
    const CudaReduction *r = &c->end;
    TSR_TRY(cuda_chain_launch(c, r->read, r->blocks, r->blocks_y, r->threads, &r->args));
    return merge(c);
}
