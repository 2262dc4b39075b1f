/* chain.c: passes that are held back, and the kernel that does them together (chain.h).
 *
 * All passes of a chain go over the same elements, in dimensions that each pass's own can be cut into. An operand is a
 * place: an address, a dtype and strides. Two operands at one place are the same elements: a pass that reads where
 * another one wrote takes its value. A pass whose operands touch bytes of another place in any other way, one of both
 * writing, does not go into the chain. In the kernel a thread reads everything of its elements first and writes last,
 * so a place that is both read and written is no matter. */
#include "chain_impl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/stream.h"
#include "walk.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Chain chain; /* nsteps 0: nothing is held back */
static int held;    /* chain.nsteps, for a look without the lock */

typedef enum Mode { BESIDE, NOW, OFF } Mode;

static Mode mode(void) {
    static int known = -1;
    int m = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (m >= 0) return (Mode)m;
    const char *text = getenv("TSR_CUDA_CHAINS"), *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    m = text != NULL && strcmp(text, "now") == 0 ? NOW : text != NULL && strcmp(text, "off") == 0 ? OFF : BESIDE;
    if (blocking != NULL && strcmp(blocking, "1") == 0) m = OFF;
    __atomic_store_n(&known, m, __ATOMIC_RELAXED);
    return (Mode)m;
}

bool cuda_chain_now(void) { return mode() == NOW; }

/* ---- dimensions ---- */

/* The dimensions that both a's and b's can be cut into, innermost first: every size of a and b is a product of some of
 * them. 0: there are none, or more than DIMS. */
static int common_dims(int64_t *out, int na, const int64_t *a, int nb, const int64_t *b) {
    int64_t left_a = na > 0 ? a[0] : 1, left_b = nb > 0 ? b[0] : 1;
    int n = 0, i = 0, j = 0;
    while (i < na || j < nb) {
        int64_t size = TSR_MIN(left_a, left_b);
        if (left_a == 1 && i < na) {
            left_a = ++i < na ? a[i] : 1;
        } else if (left_b == 1 && j < nb) {
            left_b = ++j < nb ? b[j] : 1;
        } else {
            if (n == DIMS || size <= 1 || left_a % size != 0 || left_b % size != 0) return 0;
            out[n++] = size;
            left_a /= size;
            left_b /= size;
        }
    }
    if (n == 0) out[n++] = 1;
    return n;
}

/* Strides of the dimensions `to`, which the dimensions `from` are cut into. */
static void cut_strides(int64_t *out, int nto, const int64_t *to, int nfrom, const int64_t *from,
                        const int64_t *strides) {
    int d = 0;
    int64_t passed = 1;
    for (int i = 0; i < nto; i++) {
        while (d < nfrom && passed == from[d]) d++, passed = 1;
        out[i] = d < nfrom ? strides[d] * passed : 0;
        passed *= to[i];
    }
}

/* ---- places ---- */

static Place place_of(const TsrDeviceOperand *o, const int64_t *strides, int ndim, const int64_t *sizes) {
    Place p = {.data = o->data, .dtype = o->dtype, .value = -1, .at = -1};
    p.begin = p.end = o->data;
    for (int d = 0; d < ndim; d++) {
        int64_t reach = (sizes[d] - 1) * strides[d];
        p.strides[d] = sizes[d] > 1 ? strides[d] : 0;
        if (reach < 0) p.begin += (uint64_t)reach;
        else p.end += (uint64_t)reach;
    }
    p.end += cuda_itemsize(o->dtype);
    return p;
}

static bool is_same(const Place *a, const Place *b) {
    return a->data == b->data && a->dtype == b->dtype && memcmp(a->strides, b->strides, sizeof a->strides) == 0;
}

/* Nothing of the value is in memory, nor will be. */
static bool is_gone(const Place *p) { return p->value >= 0 && p->freed && p->used; }
static bool is_stored(const Place *p) { return p->value >= 0 && !is_gone(p); }
bool cuda_chain_is_stored(const Place *p) { return is_stored(p); }

/* The place of an operand; -1: it would be a new one. False: what it touches is another place's, and one of them
 * writes. */
static bool find_place(int *found, const Chain *c, const Place *p, bool writes) {
    *found = -1;
    for (int i = 0; i < c->nplaces; i++) {
        const Place *q = &c->place[i];
        if (q->end <= p->begin || p->end <= q->begin) continue;
        if (is_same(p, q)) {
            if (writes && q->freed && q->value >= 0 && !q->used) return false; /* nobody has seen that value yet */
            if (!writes && is_gone(q)) return false;                           /* nothing was written there since */
            *found = i;
        } else if ((writes && (q->read || is_stored(q))) || (!writes && q->value >= 0)) {
            return false;
        }
    }
    return true;
}

/* A copy of the chain's description with one more step; what it is made of fits. */
typedef struct Joined {
    int ndim;
    int64_t sizes[DIMS];
    Place operand[TSR_DEVICE_OPERANDS];
    int place[TSR_DEVICE_OPERANDS]; /* -1: a new one */
} Joined;

static void cut_places(Place *p, int n, const Chain *c, int ndim, const int64_t *sizes) {
    int64_t strides[DIMS];
    for (int i = 0; i < n; i++) {
        memset(strides, 0, sizeof strides);
        cut_strides(strides, ndim, sizes, c->ndim, c->sizes, p[i].strides);
        memcpy(p[i].strides, strides, sizeof strides);
    }
}

/* How many places are read from memory or written to it. */
static int in_memory(const Chain *c) {
    int n = 0;
    for (int i = 0; i < c->nplaces; i++) n += c->place[i].read || c->place[i].value >= 0;
    return n;
}

static bool has_room(const Chain *c, const TsrDeviceMap *m, int fresh) {
    int numbers = 0;
    for (int k = 0; k < m->noperands; k++) numbers += m->operand[k].number;
    if (c->nplaces + fresh > PLACES || in_memory(c) + fresh > MOST_IN_MEMORY) return false;
    return c->nsteps < STEPS && c->nnumbers + numbers <= NUMBERS && c->nparams + (m->nparams > 0) <= PARAMS;
}

static bool can_join(Joined *j, Chain *c, const TsrDeviceMap *m) {
    int64_t strides[DIMS];
    int fresh = 0;
    if (c->nsteps > 0 && m->numel != c->numel) return false;
    if (c->nsteps > 0) j->ndim = common_dims(j->sizes, c->ndim, c->sizes, m->ndim, m->sizes);
    else j->ndim = common_dims(j->sizes, m->ndim, m->sizes, m->ndim, m->sizes);
    if (j->ndim == 0) return false;
    cut_places(c->place, c->nplaces, c, j->ndim, j->sizes);
    c->ndim = j->ndim;
    memcpy(c->sizes, j->sizes, sizeof c->sizes);
    for (int k = 0; k < m->noperands; k++) {
        if (m->operand[k].number) continue;
        memset(strides, 0, sizeof strides);
        cut_strides(strides, j->ndim, j->sizes, m->ndim, m->sizes, m->operand[k].strides);
        j->operand[k] = place_of(&m->operand[k], strides, j->ndim, j->sizes);
        if (!find_place(&j->place[k], c, &j->operand[k], k < m->nout)) return false;
        fresh += j->place[k] < 0;
        for (int i = m->nout; i < k; i++) /* the operands of one pass: equal ones are one place */
            if (!m->operand[i].number && j->place[k] < 0 && is_same(&j->operand[i], &j->operand[k])) fresh--;
    }
    return has_room(c, m, fresh);
}

/* An input's place; those that are not there yet are made. */
static Source source_of(Chain *c, const Place *operand) {
    int i = 0;
    while (i < c->nplaces && (!is_same(&c->place[i], operand) || is_gone(&c->place[i]))) i++;
    if (i == c->nplaces) c->place[c->nplaces++] = *operand;
    Place *p = &c->place[i];
    if (p->value < 0) return p->read = true, (Source){PLACE, i};
    p->used = true;
    return (Source){VALUE, p->value};
}

static void write_place(Chain *c, const Place *operand) {
    int i = 0;
    while (i < c->nplaces && !is_same(&c->place[i], operand)) i++;
    if (i == c->nplaces) c->place[c->nplaces++] = *operand;
    c->place[i].value = c->nsteps;
    c->place[i].used = c->place[i].freed = false;
}

static void take_step(Chain *c, const Joined *j, const CudaPass *pass, const CudaLaunch *launch) {
    Step *s = &c->step[c->nsteps];
    const TsrDeviceMap *m = &pass->map;
    s->pass = *pass;
    s->function = launch->function;
    s->blocks = launch->blocks;
    memcpy(&s->args, launch->args, launch->size);
    if (m->nparams > 0) {
        memcpy(s->params, m->params, TSR_MIN(m->nparams, sizeof s->params));
        c->nparams++;
    }
    s->pass.map.params = s->params;
    for (int k = m->nout; k < m->noperands; k++)
        s->in[k] = m->operand[k].number ? (Source){NUMBER, c->nnumbers++} : source_of(c, &j->operand[k]);
    write_place(c, &j->operand[0]);
    c->nsteps++;
}

/* ---- the text ---- */

static bool is_read(const Place *p) { return p->read; }

static void add_value(CudaSource *s, const Source *from, int step, int k) {
    if (from->kind == NUMBER) cuda_source_add(s, "0");
    else cuda_source_add(s, "same_bits<s%d::M%d>(%s%d)", step, k, from->kind == PLACE ? "m" : "v", from->which);
}

/* A macro with a line for each place in memory of which `which` holds: `format` is about its element's type, and its
 * number twice. */
static void add_lines(CudaSource *s, const Written *w, const char *head, bool (*which)(const Place *p),
                      void (*line)(CudaSource *s, const Written *w, const Place *p, int number)) {
    cuda_source_add(s, "#define %s", head);
    for (int i = 0; i < w->nplaces; i++)
        if (which(&w->chain->place[w->place[i]])) line(s, w, &w->chain->place[w->place[i]], w->place[i]);
    cuda_source_add(s, "\n");
}

static const char *type_of(const Place *p) { return cuda_memory_type(p->dtype); }

static void read_pack(CudaSource *s, const Written *w, const Place *p, int n) {
    (void)w;
    cuda_source_add(s, " const Pack<%s, VEC> in%d = *(const Pack<%s, VEC> *)(at<%s>(a.data[%d]) + i);", type_of(p), n,
                    type_of(p), type_of(p), p->at);
}
static void make_pack(CudaSource *s, const Written *w, const Place *p, int n) {
    (void)w;
    cuda_source_add(s, " Pack<%s, VEC> out%d;", type_of(p), n);
}
static void read_packed(CudaSource *s, const Written *w, const Place *p, int n) {
    (void)w;
    cuda_source_add(s, " const %s m%d = in%d.e[j];", type_of(p), n, n);
}
static void write_packed(CudaSource *s, const Written *w, const Place *p, int n) {
    (void)w;
    cuda_source_add(s, " out%d.e[j] = same_bits<%s>(v%d);", n, type_of(p), p->value);
}
static void write_pack(CudaSource *s, const Written *w, const Place *p, int n) {
    (void)w;
    cuda_source_add(s, " *(Pack<%s, VEC> *)(at<%s>(a.data[%d]) + i) = out%d;", type_of(p), type_of(p), p->at, n);
}
static void read_one(CudaSource *s, const Written *w, const Place *p, int n) {
    (void)w;
    cuda_source_add(s, " const %s m%d = at_(%s, %d);", type_of(p), n, type_of(p), p->at);
}
static void write_one(CudaSource *s, const Written *w, const Place *p, int n) {
    (void)w;
    (void)n;
    cuda_source_add(s, " at_(%s, %d) = same_bits<%s>(v%d);", type_of(p), p->at, type_of(p), p->value);
}

static void add_steps(CudaSource *s, const Chain *c) {
    cuda_source_add(s, "#define STEPS");
    for (int i = 0; i < c->nsteps; i++) {
        const Step *step = &c->step[i];
        cuda_source_add(s, " const s%d::M0 v%d = s%d::element(a", i, i, i);
        for (int k = 1; k < step->pass.key.noperands; k++) {
            cuda_source_add(s, ", ");
            add_value(s, &step->in[k], i, k);
        }
        cuda_source_add(s, ");");
    }
    cuda_source_add(s, "\n");
}

/* The passes, each in a namespace of its own. */
static void add_passes(CudaSource *s, const Chain *c) {
    int params = 0;
    for (int i = 0; i < c->nsteps; i++) {
        const Step *step = &c->step[i];
        CudaMapNames names = {.args = "ChainArgs"};
        snprintf(names.params, sizeof names.params, "a.params[%d]", params);
        snprintf(names.launch, sizeof names.launch, "a.launch[%d]", i);
        params += step->pass.key.params;
        for (int k = 1; k < step->pass.key.noperands; k++)
            if (step->in[k].kind == NUMBER) names.number[k] = (uint8_t)step->in[k].which;
        cuda_source_add(s, "namespace s%d {\n", i);
        cuda_map_write_element(s, &step->pass, &names);
        cuda_source_add(s, "}\n");
    }
}

unsigned cuda_chain_calls(const Chain *c) {
    unsigned calls = 0;
    for (int i = 0; i < c->nsteps; i++) calls |= cuda_map_calls(&c->step[i].pass.key);
    return calls;
}

void cuda_chain_write_steps(CudaSource *s, const Written *w) {
    cuda_source_part(s, CUDA_PART_chain_args);
    cuda_map_write_helpers(s, cuda_chain_calls(w->chain));
    cuda_source_part(s, CUDA_PART_same_bits);
    add_passes(s, w->chain);
    add_lines(s, w, "READ(at_)", is_read, read_one);
    add_lines(s, w, "WRITE(at_)", is_stored, write_one);
    add_steps(s, w->chain);
}

static void write_chain(CudaSource *s, const void *what) {
    const Written *w = what;
    cuda_source_begin(s, CUDA_MAP_THREADS);
    cuda_chain_write_steps(s, w);
    if (w->pack == 0) cuda_walk_source(s, (WalkKind){(uint8_t)w->chain->ndim, w->wide});
    cuda_source_add(s, "#define VEC %d\n#define PLACES %d\n", w->pack, w->nplaces);
    add_lines(s, w, "READ_PACKS(i)", is_read, read_pack);
    add_lines(s, w, "PACKS", is_stored, make_pack);
    add_lines(s, w, "READ_PACKED(j)", is_read, read_packed);
    add_lines(s, w, "WRITE_PACKED(j)", is_stored, write_packed);
    add_lines(s, w, "WRITE_PACKS(i)", is_stored, write_pack);
    cuda_source_part(s, CUDA_PART_chain);
}

/* ---- the launch ---- */

/* Whether all places are dense, so that packs of them can be taken; and how many elements a pack has. */
static int pack_of(const Chain *c, const Written *w) {
    size_t largest = 1;
    for (int i = 0; i < w->nplaces; i++) {
        const Place *p = &c->place[w->place[i]];
        int64_t step = (int64_t)cuda_itemsize(p->dtype);
        largest = TSR_MAX(largest, (size_t)step);
        for (int d = 0; d < c->ndim; d++, step *= c->sizes[d - 1])
            if (c->sizes[d] > 1 && p->strides[d] != step) return 0;
    }
    size_t pack = TSR_MIN(CUDA_PACK_BYTES / largest, (size_t)CUDA_MOST_IN_PACK);
    for (int i = 0; i < w->nplaces; i++)
        if (c->place[w->place[i]].data % (pack * cuda_itemsize(c->place[w->place[i]].dtype)) != 0) return 1;
    return (int)pack;
}

void cuda_chain_describe(Written *w, Chain *c) {
    *w = (Written){.chain = c};
    for (int i = 0; i < c->nplaces; i++) {
        Place *p = &c->place[i];
        p->at = p->read || is_stored(p) ? (int8_t)w->nplaces : -1;
        if (p->at >= 0) w->place[w->nplaces++] = i;
    }
    w->pack = pack_of(c, w);
    w->wide = w->pack == 0 && c->numel >= INT64_C(1) << 31;
}

CudaHash cuda_chain_hash(const Written *w) {
    const Chain *c = w->chain;
    const int64_t shape[] = {c->nsteps, w->nplaces, w->pack, w->pack != 0 ? 0 : c->ndim, w->wide};
    CudaHash h = cuda_hash((CudaHash){0, 0}, shape, sizeof shape);
    for (int i = 0; i < c->nsteps; i++) {
        const Step *s = &c->step[i];
        CudaMapKey key = s->pass.key;
        int32_t in[2 * TSR_DEVICE_OPERANDS] = {0};
        key.pack = key.ndim = key.wide = 0;
        for (int k = 1; k < key.noperands; k++) in[2 * k] = (int32_t)s->in[k].kind, in[2 * k + 1] = s->in[k].which;
        h = cuda_hash(cuda_hash(h, &key, sizeof key), in, sizeof in);
    }
    for (int i = 0; i < w->nplaces; i++) {
        const Place *p = &c->place[w->place[i]];
        const int32_t seen[] = {w->place[i], p->dtype, p->read, is_stored(p) ? p->value : -1};
        h = cuda_hash(h, seen, sizeof seen);
    }
    return h;
}

void cuda_chain_fill(ChainArgs *a, const Written *w) {
    const Chain *c = w->chain;
    int params = 0;
    memset(a, 0, sizeof *a);
    a->n = (uint64_t)c->numel;
    for (int i = 0; i < w->nplaces; i++) a->data[i] = c->place[w->place[i]].data;
    for (int i = 0; i < c->nsteps; i++) {
        const Step *s = &c->step[i];
        if (cuda_map_reports(&s->pass.key)) a->errors = s->args.map.errors, a->launch[i] = s->args.map.launch;
        if (s->pass.key.params) memcpy(a->params[params++], s->params, sizeof s->params);
        for (int k = 1; k < s->pass.key.noperands; k++)
            if (s->in[k].kind == NUMBER)
                memcpy(a->number[s->in[k].which], s->pass.map.operand[k].value, sizeof a->number[0]);
    }
}

static void fill(ChainStrided *a, const Written *w) {
    const Chain *c = w->chain;
    memset(a, 0, sizeof *a);
    cuda_chain_fill(&a->chain, w);
    for (int i = 0; i < w->nplaces; i++) memcpy(a->strides[i], c->place[w->place[i]].strides, sizeof a->strides[i]);
    for (int d = 0; d < c->ndim; d++) {
        a->sizes[d] = (uint64_t)c->sizes[d];
        cuda_division(&a->magic[d], &a->shift[d], a->sizes[d]);
    }
}

TsrStatus cuda_chain_launch(const Chain *c, CuFunction function, unsigned blocks, unsigned blocks_y, unsigned threads,
                            const void *args) {
    void *list[] = {(void *)(uintptr_t)args};
    return cuda_check(cuda.launch(function, blocks, blocks_y, 1, threads, 1, 1, 0, c->stream, list, NULL));
}

static TsrStatus launch(const Chain *c, CuFunction function, unsigned blocks, const void *args) {
    return cuda_chain_launch(c, function, blocks, 1, CUDA_MAP_THREADS, args);
}

static TsrStatus launch_one_by_one(const Chain *c) {
    for (int i = 0; i < c->nsteps; i++) TSR_TRY(launch(c, c->step[i].function, c->step[i].blocks, &c->step[i].args));
    return TSR_OK;
}

/* *done: the chain was launched as one kernel, or that failed. */
static TsrStatus launch_together(bool *done, Chain *c) {
    Written w;
    ChainStrided args;
    CuFunction f = NULL;
    cuda_chain_describe(&w, c);
    CudaHash key = cuda_chain_hash(&w);
    TsrStatus status = mode() == NOW ? cuda_kernel(&f, c->index, &key, sizeof key, "tsr_chain", write_chain, &w)
                                     : cuda_kernel_beside(&f, c->index, &key, sizeof key, "tsr_chain", write_chain, &w);
    *done = status == TSR_OK && f != NULL;
    if (!*done) return status == TSR_NOT_IMPLEMENTED_ERROR ? TSR_OK : status;
    uint64_t pack = (uint64_t)TSR_MAX(w.pack, 1);
    fill(&args, &w);
    return launch(c, f, cuda_blocks(c->index, ((uint64_t)c->numel + pack - 1) / pack, CUDA_MAP_THREADS), &args);
}

/* The passes without what comes after them. */
static TsrStatus launch_passes(Chain *c) {
    bool done = false;
    if (c->nsteps > 1) TSR_TRY(launch_together(&done, c));
    return done ? TSR_OK : launch_one_by_one(c);
}

static TsrStatus launch_with_end(Chain *c) {
    bool done = false;
    TSR_TRY(cuda_chain_end_together(&done, c));
    if (done) return TSR_OK;
    c->place[c->end_place].used = false; /* by a pass: the reduction alone reads it from memory */
    TSR_TRY(launch_passes(c));
    return cuda_chain_end_alone(c);
}

/* The lock is held. */
static TsrStatus flush(void) {
    Chain *c = &chain;
    if (c->nsteps == 0) return TSR_OK;
    TsrStatus status = cuda_enter(c->index);
    if (status == TSR_OK) status = c->has_end ? launch_with_end(c) : launch_passes(c);
    c->nsteps = c->nplaces = c->nnumbers = c->nparams = c->ndim = 0;
    c->has_end = false;
    __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
    return status;
}

TsrStatus cuda_chain_flush(void) {
    if (__atomic_load_n(&held, __ATOMIC_ACQUIRE) == 0) return TSR_OK;
    pthread_mutex_lock(&lock);
    TsrStatus status = flush();
    pthread_mutex_unlock(&lock);
    return status;
}

/* The lock is held. */
static TsrStatus add(const CudaPass *pass, const CudaLaunch *given) {
    Chain *c = &chain;
    Joined joined;
    const TsrDeviceMap *m = &pass->map;
    int64_t id = cuda_current_stream(m->index);
    if (c->nsteps > 0 && (c->has_end || c->index != m->index || c->id != id)) TSR_TRY(flush());
    if (c->nsteps > 0 && !can_join(&joined, c, m)) TSR_TRY(flush());
    if (c->nsteps == 0) {
        c->index = m->index;
        c->id = id;
        c->numel = m->numel;
        TSR_TRY(cuda_stream_handle(&c->stream, m->index, id));
        if (mode() == OFF || cuda_host->traced() || !can_join(&joined, c, m))
            return launch(c, given->function, given->blocks, given->args);
    }
    take_step(c, &joined, pass, given);
    __atomic_store_n(&held, c->nsteps, __ATOMIC_RELEASE);
    return TSR_OK;
}

TsrStatus cuda_chain_add(const CudaPass *pass, const CudaLaunch *given) {
    pthread_mutex_lock(&lock);
    TsrStatus status = add(pass, given);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Whether bytes that the reduction writes are read by a pass, which then has to be done before. (What passes only write
 * is not in memory where all is one kernel, and is written before the reduction begins where it is not.) */
static bool touches(const Chain *c, TsrAddress begin, TsrAddress end) {
    for (int i = 0; i < c->nplaces; i++)
        if (c->place[i].read && c->place[i].begin < end && begin < c->place[i].end) return true;
    return false;
}

static bool writes_apart(const Chain *c, const CudaReduction *end, const TsrDeviceReduce *r) {
    if (end->parts_bytes > 0 && touches(c, end->args.parts, end->args.parts + end->parts_bytes)) return false;
    for (int k = 0; k < r->nout; k++) {
        TsrAddress begin = r->out[k].data, last = begin + cuda_itemsize(r->out[k].dtype);
        for (int d = 0; d < r->nkept; d++) last += (TsrAddress)((r->kept[d] - 1) * r->out_kept[k][d]);
        if (r->out[k].dtype != TSR_DTYPE_NONE && touches(c, begin, last)) return false;
    }
    return true;
}

/* The place whose value the reduction reads, all of it; -1: none. */
static int place_read(const Chain *c, const TsrDeviceReduce *r) {
    for (int i = 0; i < c->nplaces; i++) {
        const Place *p = &c->place[i];
        bool whole = p->begin == p->data && p->end - p->begin == (TsrAddress)c->numel * cuda_itemsize(p->dtype);
        if (is_stored(p) && whole && p->data == r->in.data && p->dtype == r->dtype) return i;
    }
    return -1;
}

bool cuda_chain_take_end(const CudaReduction *end, const TsrDeviceReduce *r) {
    Chain *c = &chain;
    if (__atomic_load_n(&held, __ATOMIC_ACQUIRE) == 0) return false;
    pthread_mutex_lock(&lock);
    bool here = c->nsteps > 0 && !c->has_end && c->index == r->index && c->id == cuda_current_stream(r->index);
    int place = here && r->count * r->results == c->numel ? place_read(c, r) : -1;
    bool taken = place >= 0 && writes_apart(c, end, r);
    if (taken) {
        c->place[place].used = true;
        c->end = *end;
        c->end_place = place;
        c->has_end = true;
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

static bool join_all(Chain *c, const TsrDeviceMap *maps, int n) {
    static const MapStrided no_args;
    for (int i = 0; i < n; i++) {
        Joined joined;
        CudaPass pass;
        c->numel = maps[i].numel;
        if (!cuda_map_pass(&pass, &maps[i]) || !can_join(&joined, c, &pass.map)) return false;
        take_step(c, &joined, &pass, &(CudaLaunch){.args = &no_args, .size = sizeof no_args});
        for (int k = 0; k < c->nplaces; k++) c->place[k].freed = c->place[k].value >= 0;
    }
    return true;
}

static bool write_with_end(CudaSource *out, Chain *c, const TsrDeviceReduce *end) {
    c->end_place = place_read(c, end);
    if (c->end_place < 0) return false;
    c->place[c->end_place].used = c->place[c->end_place].freed = true;
    cuda_reduce_plan(&c->end, end);
    return cuda_chain_end_write(out, c);
}

bool cuda_chain_source(CudaSource *out, const TsrDeviceMap *maps, int n, const TsrDeviceReduce *end) {
    Chain *c = cuda_host->malloc(sizeof *c);
    Written w;
    if (c == NULL) return false;
    memset(c, 0, sizeof *c);
    bool good = join_all(c, maps, n);
    if (good && end != NULL) {
        good = write_with_end(out, c, end);
    } else if (good) {
        cuda_chain_describe(&w, c);
        write_chain(out, &w);
    }
    cuda_host->free(c);
    return good;
}

void cuda_chain_freed(TsrAddress address, size_t bytes) {
    if (__atomic_load_n(&held, __ATOMIC_ACQUIRE) == 0) return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < chain.nplaces; i++) {
        Place *p = &chain.place[i];
        if (p->value >= 0 && p->begin >= address && p->end <= address + bytes) p->freed = true;
    }
    pthread_mutex_unlock(&lock);
}
