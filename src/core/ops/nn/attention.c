/* attention.c: attention of float32 in PyTorch's blocks: rows of queries by blocks of keys. The scores of some rows
 * stay in the second cache, where they become weights and are multiplied with the values, before the next rows' are
 * made. */
#include "attention.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/kernels/matrix/chain.h"
#include "core/kernels/nn/attention.h"
#include "core/parallel.h"

/* Keys of a block, as PyTorch takes them; rows whose scores are made together, at most: 128 KiB. */
enum { KEYS = 512, ROWS = 64 };
enum { QUERY, KEY, VALUE };

typedef struct Attention {
    const TsrTensor *of[3];
    TsrTensor *out, *turned; /* turned: keys of (batch * heads, width, columns), blocks of KEYS one after the other */
    int64_t heads, rows, columns, width;
    int64_t block, strip; /* queries of one of PyTorch's blocks, of which we take so many at a time */
    float factor;
    bool causal;
    TsrChainFn product;
    TsrAttentionFn soften;
} Attention;

static const float *matrix_of(const Attention *a, int which, int64_t head) {
    const TsrTensor *t = a->of[which];
    return (const float *)tsr_data(t) + head / a->heads * t->strides[0] + head % a->heads * t->strides[1];
}

/* What is multiplied with all rows of a head lies in rows, as the products want it. */
static void turn_keys(int64_t begin, int64_t end, void *user) {
    const Attention *a = user;
    const int64_t step = a->of[KEY]->strides[2];
    for (int64_t head = begin; head < end; head++) {
        float *to = (float *)tsr_data(a->turned) + head * a->width * a->columns;
        for (int64_t first = 0; first < a->columns; first += KEYS) {
            int64_t n = TSR_MIN(a->columns - first, (int64_t)KEYS);
            const float *from = matrix_of(a, KEY, head) + first * step;
            for (int64_t w = 0; w < a->width; w++)
                for (int64_t c = 0; c < n; c++) to[first * a->width + w * n + c] = from[c * step + w];
        }
    }
}

/* Some rows of one head, and where they are in it. */
typedef struct Strip {
    int64_t head, first, rows;
    int64_t seen; /* keys that PyTorch's block of queries looks at */
    float *scores, *sums;
    TsrAttentionRow row[ROWS];
} Strip;

/* In MKL's order: chains of so many of the `terms`, a part of which g has and the rest of which is zero, are added. */
static void multiply(const Attention *a, TsrChain g, int64_t terms) {
    enum { DEPTH = 192 };
    const int64_t depth = terms <= DEPTH ? terms : terms < 2 * DEPTH ? terms / 2 : DEPTH, all = g.k;
    for (int64_t p = 0; p < all; p += depth) {
        TsrChain part = g;
        part.k = TSR_MIN(all - p, depth);
        part.a += p * g.a_cs;
        part.b += p * g.b_rs;
        if (p > 0) part.begin = TSR_CHAIN_ADDED;
        a->product(&part);
    }
}

/* Of keys `first` to first + n: weights into the strip's scores, their sum and what they have been shrunk by. */
static int64_t weigh(const Attention *a, Strip *s, int64_t first) {
    enum { VECTOR = 16 }; /* floats, of the widest */
    const int64_t all = TSR_MIN(a->columns - first, (int64_t)KEYS), seen = TSR_MIN(s->seen - first, all);
    const int64_t n = TSR_MIN((seen + VECTOR - 1) / VECTOR * VECTOR, all);
    const int64_t step = a->of[QUERY]->strides[2];
    multiply(a,
             (TsrChain){.m = s->rows,
                        .n = n,
                        .k = a->width,
                        .a = matrix_of(a, QUERY, s->head) + s->first * step,
                        .a_rs = step,
                        .a_cs = 1,
                        .b = (const float *)tsr_data(a->turned) + (s->head * a->columns + first) * a->width,
                        .b_rs = all,
                        .b_cs = 1,
                        .c = s->scores,
                        .c_rs = n,
                        .begin = TSR_CHAIN_NEW},
             a->width);
    for (int64_t r = 0; r < s->rows; r++) {
        for (int64_t c = TSR_MAX(s->first + r + 1 - first, (int64_t)0); a->causal && c < n; c++)
            s->scores[r * n + c] = -INFINITY;
        a->soften(s->scores + r * n, n, a->factor, &s->row[r]);
    }
    return n;
}

static void attend(const Attention *a, Strip *s) {
    for (int64_t r = 0; r < s->rows; r++) s->row[r] = (TsrAttentionRow){.greatest = -INFINITY};
    for (int64_t first = 0; first < s->seen && tsr_interrupt_flag == 0; first += KEYS) {
        const int64_t n = weigh(a, s, first), step = a->of[VALUE]->strides[2];
        for (int64_t r = 0; r < s->rows && first > 0; r++)
            for (int64_t w = 0; w < a->width; w++) s->sums[r * a->width + w] *= s->row[r].shrunk;
        multiply(a,
                 (TsrChain){.m = s->rows,
                            .n = a->width,
                            .k = n,
                            .a = s->scores,
                            .a_rs = n,
                            .a_cs = 1,
                            .b = matrix_of(a, VALUE, s->head) + first * step,
                            .b_rs = step,
                            .b_cs = 1,
                            .c = s->sums,
                            .c_rs = a->width,
                            .begin = first == 0 ? TSR_CHAIN_NEW : TSR_CHAIN_ADDED},
                 TSR_MIN(a->columns - first, (int64_t)KEYS));
    }
    float *out = (float *)tsr_data(a->out) + (s->head * a->rows + s->first) * a->width;
    for (int64_t r = 0; r < s->rows; r++) {
        const float by = 1 / (s->row[r].sum != 0 ? s->row[r].sum : 1);
        for (int64_t w = 0; w < a->width; w++) out[r * a->width + w] = s->sums[r * a->width + w] * by;
    }
}

static void attend_strips(int64_t begin, int64_t end, void *user) {
    const Attention *a = user;
    const int64_t strips = (a->rows + a->strip - 1) / a->strip;
    TsrDataPtr room;
    TsrStatus status = tsr_allocate(&room, TSR_DEVICE_CPU, (size_t)(ROWS * (KEYS + a->width)) * sizeof(float));
    if (status != TSR_OK) {
        tsr_parallel_fail(status);
        return;
    }
    for (int64_t i = begin; i < end && tsr_interrupt_flag == 0; i++) {
        Strip s = {.head = i / strips, .first = i % strips * a->strip, .scores = room.data};
        s.sums = s.scores + ROWS * KEYS;
        s.rows = TSR_MIN(a->rows - s.first, a->strip);
        s.seen = a->columns;
        if (a->causal) s.seen = TSR_MIN(s.seen, TSR_MIN((s.first / a->block + 1) * a->block, a->rows));
        attend(a, &s);
    }
    tsr_dataptr_release(&room);
}

/* Dense tensors of floats in memory of as many batches, heads and numbers a row, keys of as many rows as values. */
static bool suits(const TsrTensor *const of[3]) {
    for (int i = 0; i < 3; i++) {
        const TsrTensor *t = of[i], *like = of[i == VALUE ? KEY : QUERY];
        if (t->sparse != NULL || t->dtype != TSR_FLOAT32 || t->device.type != TSR_CPU || tsr_ndim(t) != 4) return false;
        for (int d = 0; d < 4; d++)
            if (t->sizes[d] != like->sizes[d] && !(i == KEY && d == 2)) return false;
        if (t->strides[3] != 1) return false;
    }
    return true;
}

TsrStatus tsr_attention_new(TsrTensor **out, const TsrTensor *const of[3], double factor, bool causal) {
    *out = NULL;
    if (!suits(of)) return TSR_OK;
    const int64_t *q = of[QUERY]->sizes;
    Attention a = {.of = {of[0], of[1], of[2]}, .heads = q[1], .rows = q[2], .columns = of[KEY]->sizes[2]};
    a.width = q[3];
    a.block = a.rows >= 768 ? 256 : a.rows >= 192 ? 64 : 32;
    a.strip = TSR_MIN(a.block, (int64_t)ROWS);
    a.factor = (float)factor;
    a.causal = causal;
    a.product = tsr_chain_kernel();
    a.soften = tsr_attention_kernel();
    if (a.soften == NULL || a.product == NULL || a.width > TSR_CHAIN_DEPTH) return TSR_OK;
    for (int i = 0; i < 3; i++) TSR_TRY(tsr_tensor_check(of[i], false));
    const int64_t heads = q[0] * q[1], strips = (a.rows + a.strip - 1) / a.strip;
    TSR_TRY(tsr_tensor_new(&a.turned, 1, (int64_t[]){heads * a.columns * a.width}, TSR_FLOAT32, TSR_DEVICE_CPU));
    TsrStatus status = tsr_tensor_new(&a.out, 4, q, TSR_FLOAT32, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = tsr_parallel_for(heads, tsr_grain(a.columns * a.width), turn_keys, &a);
    if (status == TSR_OK)
        status = tsr_parallel_for(heads * strips, tsr_grain(a.strip * a.columns * a.width / 4), attend_strips, &a);
    tsr_tensor_free(a.turned);
    if (status == TSR_OK) *out = a.out;
    else tsr_tensor_free(a.out);
    return status;
}
