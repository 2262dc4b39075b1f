/* random.c: random numbers (random.h), the same as PyTorch's for a seed, an offset and a kind of GPU.
 *
 * PyTorch starts as many blocks of 256 threads as the device holds at a time, or fewer where there are fewer elements,
 * and deals the elements to all threads in turn, four or two to a step; each thread has the stream of Philox of its
 * number. Dropout gives a thread packs of neighbours where the elements are dense, and probabilities of a tensor give
 * each thread four neighbours. So the numbers depend on the device, as PyTorch's do. Numbers by rejection take what
 * they need of the stream of a thread, which has one of them, or of binomial ones eight, as far apart as a block of 128
 * has threads. */
#include "random.h"

#include <string.h>

#include "cuda/errors.h"
#include "cuda/launch.h"
#include "cuda/kernels/walk.h"

/* The same struct as the kernel's text has. */
#include "cuda/device/random/random_args.h"

enum { THREADS = 256, CHANCES_RUN = 4, CHANCES_OFFSETS = 12, PACK_BYTES = 16, BINOMIAL_RUN = 8, BINOMIAL_LANES = 128 };

typedef struct Key {
    uint8_t draw, memory[3];
    uint8_t operands, each, run, lanes; /* lanes: those that draw by rejection; 0: other numbers */
    WalkKind walk;
} Key;

/* What PyTorch moves its generator by for numbers by rejection, however many words they took; 0: all others. */
static const uint8_t rejection_offsets[TSR_DRAWS] = {
    [TSR_DRAW_POISSON] = 20, [TSR_DRAW_GAMMA] = 12, [TSR_DRAW_BINOMIAL] = 44};

/* How an element is written: of DRAW_x; Real stands for what is computed in. */
static const char *const puts[TSR_DRAWS] = {
    [TSR_DRAW_WORDS] = "*P0 = convert<M0>(word_of(a, w, k));",
    [TSR_DRAW_UNIFORM] = "*P0 = uniform_of(a, w, k);",
    [TSR_DRAW_NORMAL] = "*P0 = convert<M0>(normal_of(a, w, k));",
    [TSR_DRAW_LOG_NORMAL] = "*P0 = convert<M0>(log_normal_of(a, w, k));",
    [TSR_DRAW_EXPONENTIAL] = "*P0 = convert<M0>(exponential_of(a, w, k));",
    [TSR_DRAW_CAUCHY] = "*P0 = convert<M0>(cauchy_of(a, w, k));",
    [TSR_DRAW_GEOMETRIC] = "*P0 = convert<M0>(geometric_of(a, w, k));",
    [TSR_DRAW_BERNOULLI] = "*P0 = convert<M0>((uint8_t)below(a, w, k));",
    [TSR_DRAW_CHANCES] = "*P0 = convert<M0>((uint8_t)has_chance(a, w, k, convert<Real>(*P1)));",
    [TSR_DRAW_DROPOUT] = ("{ const bool kept = is_kept(a, w, k); *P1 = convert<M1>((uint8_t)kept); "
                          "*P0 = convert<M0>(dropped(a, convert<Real>(*P2), kept)); }"),
    [TSR_DRAW_SLOPES] = "*P0 = convert<M0>(sloped(a, w, k, convert<Real>(*P1)));",
    [TSR_DRAW_POISSON] = "*P0 = convert<M0>(poisson_of(a, w, convert<double>(*P1)));",
    [TSR_DRAW_GAMMA] = "*P0 = gamma_at_least(gamma_of(w, convert<Real>(*P1)));",
    [TSR_DRAW_BINOMIAL] = "*P0 = convert<M0>(binomial_of(w, convert<Real>(*P1), convert<Real>(*P2)));",
};

/* The smallest normal number of a dtype. */
static const char *least_of(uint8_t dtype) {
    return dtype == TSR_FLOAT64 ? "0x1p-1022" : dtype == TSR_FLOAT16 ? "0x1p-14f" : "0x1p-126f";
}

static void write_random(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    for (int k = 0; k < key->operands; k++)
        cuda_source_add(s, "typedef %s M%d;\n", cuda_memory_type(key->memory[k]), k);
    cuda_source_add(s, "typedef %s Real;\n#define OPERANDS %d\n#define EACH %d\n#define RUN %d\n#define PUT %s\n",
                    key->memory[0] == TSR_FLOAT64 ? "double" : "float", key->operands, key->each, key->run,
                    puts[key->draw]);
    if (key->lanes > 0)
        cuda_source_add(s, "#define LANES %d\n#define LEAST %s\n", key->lanes, least_of(key->memory[0]));
    cuda_source_part(s, CUDA_PART_philox);
    cuda_source_part(s, CUDA_PART_numbers);
    cuda_source_part(s, CUDA_PART_walk_args);
    cuda_walk_source(s, key->walk);
    cuda_source_part(s, CUDA_PART_random_args);
    cuda_source_part(s, key->lanes > 0 ? CUDA_PART_sample : CUDA_PART_random);
}

/* ---- how elements are dealt ---- */

static bool is_dense(const TsrDeviceTensor *t) {
    return t->ndim <= 1 &&
           (t->ndim == 0 || t->sizes[0] == 1 || t->at.strides[0] == (int64_t)cuda_itemsize(t->at.dtype));
}

/* Elements of a pack of dropout, which divides the number of elements. */
static uint8_t pack_of(const TsrDeviceWork *w) {
    int64_t n = w->t[0].ndim == 0 ? 1 : w->t[0].sizes[0]; /* of a tensor of at most one dimension */
    size_t size = cuda_itemsize(w->t[2].at.dtype), pack = PACK_BYTES / size;
    for (int k = 0; k < 3; k++)
        if (!is_dense(&w->t[k])) return 1;
    while (pack > 1 && (w->t[2].at.data % (pack * size) != 0 || n % (int64_t)pack != 0)) pack /= 2;
    return (uint8_t)pack;
}

static uint8_t elements_of_words(const TsrDeviceWork *w, const TsrDeviceRandom *p) {
    bool is_double = w->t[0].at.dtype == TSR_FLOAT64;
    switch (p->draw) {
    case TSR_DRAW_WORDS: return p->bits == 64 ? 2 : 4;
    case TSR_DRAW_CHANCES:
    case TSR_DRAW_DROPOUT: return 4;
    default: return is_double ? 2 : 4;
    }
}

/* Blocks of threads; how many streams there are, and by how much each one's offset moves. */
static unsigned share(RandomArgs *a, uint64_t *used, const TsrDeviceWork *w, const Key *key) {
    const uint64_t n = a->walk.n, together = (uint64_t)key->lanes * key->run;
    uint64_t blocks = (n + THREADS - 1) / THREADS,
             most = (uint64_t)cuda_multiprocessors(w->index) * (uint64_t)(cuda_threads_held(w->index) / THREADS);
    if (key->lanes > 0) {
        *used = rejection_offsets[key->draw];
        a->streams = (n + together - 1) / together * key->lanes;
        return cuda_blocks(w->index, a->streams, THREADS);
    }
    if (key->draw == TSR_DRAW_CHANCES) {
        *used = CHANCES_OFFSETS;
        blocks = (n + CHANCES_RUN * THREADS - 1) / (CHANCES_RUN * THREADS);
    } else {
        blocks = TSR_MIN(blocks, most);
        *used = ((n - 1) / (blocks * THREADS * key->each) + 1) * 4;
    }
    a->streams = blocks * THREADS;
    return (unsigned)blocks;
}

static uint8_t run_of(const TsrDeviceWork *w, TsrDraw draw) {
    switch (draw) {
    case TSR_DRAW_DROPOUT: return pack_of(w);
    case TSR_DRAW_CHANCES: return CHANCES_RUN;
    case TSR_DRAW_BINOMIAL: return BINOMIAL_RUN;
    default: return 1;
    }
}

static bool make_key(Key *key, const TsrDeviceWork *w) {
    const TsrDeviceRandom *p = w->params;
    memset(key, 0, sizeof *key);
    key->draw = (uint8_t)p->draw;
    key->operands = (uint8_t)(w->nout + w->nin);
    key->each = elements_of_words(w, p);
    key->run = run_of(w, p->draw);
    if (rejection_offsets[p->draw] != 0) key->lanes = p->draw == TSR_DRAW_BINOMIAL ? BINOMIAL_LANES : 1;
    for (int k = 0; k < key->operands; k++) {
        if (w->t[k].at.number || cuda_memory_type(w->t[k].at.dtype) == NULL) return false;
        key->memory[k] = w->t[k].at.dtype;
    }
    return true;
}

static void fill(RandomArgs *a, WalkKind *kind, const TsrDeviceWork *w) {
    const TsrDeviceRandom *p = w->params;
    memset(a, 0, sizeof *a);
    *kind = cuda_walk(&a->walk, w->t, w->nout + w->nin);
    a->seed = p->seed;
    a->offset = p->offset;
    a->a = p->a;
    a->b = p->b;
    a->range = p->range;
    a->base = p->base;
    for (int k = 0; k < w->nout + w->nin; k++) a->data[k] = w->t[k].at.data;
}

bool cuda_random_source(CudaSource *out, const TsrDeviceWork *w) {
    RandomArgs a;
    Key key;
    if (!make_key(&key, w)) return false;
    fill(&a, &key.walk, w);
    write_random(out, &key);
    return true;
}

TsrStatus cuda_random(const TsrDeviceWork *w) {
    const TsrDeviceRandom *p = w->params;
    RandomArgs a;
    Key key;
    CuFunction f;
    if (!make_key(&key, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    fill(&a, &key.walk, w);
    TSR_TRY(cuda_kernel(&f, w->index, &key, sizeof key, "tsr_random", write_random, &key));
    unsigned blocks = share(&a, p->used, w, &key);
    if (p->draw == TSR_DRAW_CHANCES || p->draw == TSR_DRAW_POISSON)
        TSR_TRY(cuda_errors_begin(&a.errors, &a.launch, w->index));
    TSR_TRY(cuda_launch(f, w->index, blocks, 1, THREADS, &a));
    for (int k = 0; k < w->nout + w->nin; k++)
        cuda_operand_uses(&w->t[k].at, w->index, w->t[0].ndim, w->t[0].sizes, k < w->nout);
    return TSR_OK;
}

/* ---- shuffling ---- */

static void write_shuffle(CudaSource *s, const void *what) {
    const uint8_t *dtype = what;
    cuda_source_begin(s, THREADS);
    cuda_source_add(s, "typedef %s K;\n", cuda_memory_type(*dtype));
    cuda_source_part(s, CUDA_PART_philox);
    cuda_source_part(s, CUDA_PART_walk_args);
    cuda_source_part(s, CUDA_PART_random_args);
    cuda_source_part(s, CUDA_PART_shuffle);
}

void cuda_shuffle_source(CudaSource *out, TsrDtype keys) { write_shuffle(out, &keys); }

TsrStatus cuda_shuffle(const TsrDeviceWork *w) {
    const uint8_t dtype = w->t[1].at.dtype;
    RandomArgs a;
    WalkKind kind;
    CuFunction f;
    if (!is_dense(&w->t[0]) || !is_dense(&w->t[1])) return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_kernel(&f, w->index, &dtype, sizeof dtype, "tsr_shuffle", write_shuffle, &dtype));
    fill(&a, &kind, w);
    TSR_TRY(cuda_launch(f, w->index, cuda_blocks(w->index, a.walk.n, THREADS), 1, THREADS, &a));
    for (int k = 0; k < 2; k++) cuda_operand_uses(&w->t[k].at, w->index, w->t[0].ndim, w->t[0].sizes, k == 0);
    return TSR_OK;
}
