/* map.c: pointwise passes (map.h): from the description of a pass to the text of its kernel, device/map.cuh around the
 * formula, and to a launch.
 *
 * A kernel is made for a formula, the dtypes of the operands in memory and in the formula, which of them are one
 * number, and how they lie: packs of up to 16 bytes where all are dense, else strides in so many dimensions, with
 * indices of 32 or 64 bits. */
#include "map.h"

#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "core/element/halffloat.h"
#include "cuda/errors.h"
#include "walk.h"

/* ---- the text ---- */

static const char *const letters[] = {"x", "y", "z"};

/* T of the formula stands for what the dtype is computed in; for halves it may be their bits. */
static const char *compute_type(const CudaPass *p, int k) {
    TsrDtype d = p->key.operand[k].compute;
    if (p->key.kernel == TSR_MAP_COPY) return cuda_memory_type(d);
    return p->formula != NULL && d == p->key.dtype ? p->formula->t : cuda_compute_type(d);
}

static const char *memory_type(const CudaPass *p, int k) {
    TsrDtype d = p->key.operand[k].memory;
    bool bits = p->formula != NULL && strcmp(p->formula->t, "uint16_t") == 0 && d == p->key.dtype;
    return bits ? "uint16_t" : cuda_memory_type(d);
}

static void write_types(CudaSource *s, const CudaPass *p) {
    for (int k = 0; k < p->key.noperands; k++) {
        cuda_source_add(s, "typedef %s M%d;\ntypedef %s C%d;\n", memory_type(p, k), k, compute_type(p, k), k);
        bool truth = p->key.operand[k].compute == TSR_BOOL && k > 0; /* what is not 0, before it is a byte */
        const char *type = p->key.operand[k].via ? cuda_memory_type(p->key.common) : truth ? "Bool" : NULL;
        if (k == 0 && type != NULL)
            cuda_source_add(s, "static inline M0 put0(C0 v) { return convert<M0>(convert<%s>(v)); }\n", type);
        else if (k == 0) cuda_source_add(s, "static inline M0 put0(C0 v) { return convert<M0>(v); }\n");
        else if (p->key.operand[k].number) continue;
        else if (type != NULL)
            cuda_source_add(s, "static inline C%d get%d(M%d v) { return convert<C%d>(convert<%s>(v)); }\n", k, k, k, k,
                            type);
        else cuda_source_add(s, "static inline C%d get%d(M%d v) { return convert<C%d>(v); }\n", k, k, k, k);
    }
}

static void write_formula(CudaSource *s, const CudaPass *p) {
    int nin = p->key.noperands - 1;
    if (p->formula != NULL) cuda_source_add(s, "typedef %s T;\ntypedef %s U;\n", p->formula->t, p->formula->u);
    cuda_source_add(s, "static inline C0 formula(");
    for (int i = 0; i < nin; i++) cuda_source_add(s, "const C%d %s, ", i + 1, letters[i]);
    cuda_source_add(s, "const void *p) { return ");
    if (p->formula != NULL) cuda_source_add(s, "(%s)(%s); }\n", p->formula->result, p->formula->text);
    else cuda_source_add(s, nin == 3 ? "x != 0 ? y : z; }\n" : "x; }\n");
}

/* The list of inputs, each as `format` says, whose %d is its number; numbers as they are given. */
static void write_list(CudaSource *s, const CudaPass *p, const char *name, const char *format) {
    cuda_source_add(s, "#define %s", name);
    for (int k = 1; k < p->key.noperands; k++) {
        cuda_source_add(s, k > 1 ? ", " : " ");
        if (p->key.operand[k].number) cuda_source_add(s, "0");
        else cuda_source_add(s, format, k, k, k);
    }
    cuda_source_add(s, "\n");
}

void cuda_map_write_helpers(CudaSource *s, unsigned calls) {
    cuda_source_part(s, CUDA_PART_helpers);
    cuda_source_part(s, CUDA_PART_functions);
    if (calls & CUDA_CALLS_COMPLEX) cuda_source_part(s, CUDA_PART_complex);
    if (!(calls & CUDA_CALLS_SPECIAL)) return;
    cuda_source_add(s, "namespace {\n"); /* so that nothing but the kernel is seen from outside */
    cuda_source_part(s, CUDA_PART_special_numbers);
    cuda_source_part(s, CUDA_PART_special);
    cuda_source_add(s, "}\n");
}

unsigned cuda_map_calls(const CudaMapKey *key) {
    bool complex_numbers = key->dtype == TSR_COMPLEX64 || key->dtype == TSR_COMPLEX128;
    bool special = key->kernel > TSR_K_SPECIAL && key->kernel < TSR_K_SPECIAL_END;
    return (complex_numbers ? CUDA_CALLS_COMPLEX : 0) | (special ? CUDA_CALLS_SPECIAL : 0);
}

bool cuda_map_reports(const CudaMapKey *key) {
    switch (key->kernel) {
    case TSR_K_div_floor:
    case TSR_K_div_trunc:
    case TSR_K_remainder:
    case TSR_K_fmod: return key->dtype != TSR_FLOAT32 && key->dtype != TSR_FLOAT64;
    default: return false;
    }
}

static void write_element(CudaSource *s, const CudaPass *p, const CudaMapNames *names) {
    cuda_source_add(s, "static inline M0 element(const %s &a", names->args);
    for (int k = 1; k < p->key.noperands; k++)
        cuda_source_add(s, ", %s%d m%d", p->key.operand[k].number ? "Number" : "M", k, k);
    cuda_source_add(s, ") { ");
    if (cuda_map_reports(&p->key)) {
        if (p->key.operand[2].number) cuda_source_add(s, "const C2 y = *(const C2 *)a.number[%d]; ", names->number[2]);
        else cuda_source_add(s, "const C2 y = get2(m2); ");
        cuda_source_add(s, "if (y == 0) report(a.errors, %s, FOUND_ZERO_DIVISOR, 0, 0, 0); ", names->launch);
    }
    cuda_source_add(s, "return put0(formula(");
    for (int k = 1; k < p->key.noperands; k++) {
        if (p->key.operand[k].number) cuda_source_add(s, "*(const C%d *)a.number[%d], ", k, names->number[k]);
        else cuda_source_add(s, "get%d(m%d), ", k, k);
    }
    cuda_source_add(s, "%s)); }\n", p->key.params ? names->params : "NULL");
}

void cuda_map_write_element(CudaSource *s, const CudaPass *p, const CudaMapNames *names) {
    write_types(s, p);
    write_formula(s, p);
    for (int k = 1; k < p->key.noperands; k++)
        if (p->key.operand[k].number) cuda_source_add(s, "typedef int Number%d;\n", k);
    write_element(s, p, names);
}

/* Of a kernel that does one pass. */
static const CudaMapNames alone = {"MapArgs", "a.params", "a.launch", {0, 1, 2, 3, 4, 5, 6, 7}};

static void write_map(CudaSource *s, const void *what) {
    const CudaPass *p = what;
    const CudaMapKey *key = &p->key;
    cuda_source_begin(s, CUDA_MAP_THREADS);
    cuda_source_part(s, CUDA_PART_map_args);
    cuda_map_write_helpers(s, cuda_map_calls(key));
    cuda_map_write_element(s, p, &alone);
    cuda_source_add(s, "#define ELEMENT(a, i, ...) element(a, __VA_ARGS__)\n");
    if (key->pack == 0) cuda_walk_source(s, (WalkKind){key->ndim, key->wide});
    cuda_source_add(s, "#define VEC %d\n#define OPERANDS %d\n#define LOAD", key->pack, key->noperands);
    for (int k = 1; k < key->noperands; k++)
        if (!key->operand[k].number)
            cuda_source_add(s, " const Pack<M%d, VEC> v%d = *(const Pack<M%d, VEC> *)(at<M%d>(a.data[%d]) + i);", k, k,
                            k, k, k);
    cuda_source_add(s, "\n");
    write_list(s, p, "OF_PACK(j)", "v%d.e[j]");
    write_list(s, p, "OF_MEMORY(i)", "at<M%d>(a.data[%d])[i]");
    write_list(s, p, "OF_STRIDES", "*at<M%d>(a.map.data[%d], offset[%d])");
    cuda_source_part(s, CUDA_PART_map);
}

/* ---- the plan ---- */

static bool is_half(TsrDtype d) { return d == TSR_FLOAT16 || d == TSR_BFLOAT16; }

/* A number of half precision as one of float32. */
static void widen_number(TsrDeviceOperand *o) {
    TsrHalf half;
    TsrBfloat16 bfloat;
    memcpy(&half, o->value, sizeof half);
    memcpy(&bfloat, o->value, sizeof bfloat);
    const float wide = o->dtype == TSR_FLOAT16 ? tsr_half_widen(half) : tsr_bfloat16_widen(bfloat);
    memcpy(o->value, &wide, sizeof wide);
    o->dtype = TSR_FLOAT32;
}

/* Halves whose kernel is one of bits are taken as they are; all others are computed in float32. */
static void widen_halves(TsrDeviceMap *m) {
    bool alike = true;
    if (!is_half(m->dtype) || m->kernel == TSR_MAP_COPY || m->kernel == TSR_K_where) return;
    for (int k = 0; k < m->noperands; k++)
        alike = alike && m->operand[k].dtype == m->dtype && m->operand[k].compute == m->dtype && !m->operand[k].number;
    if (alike && cuda_formula(m->kernel, m->dtype) != NULL) return;
    for (int k = 0; k < m->noperands; k++) {
        TsrDeviceOperand *o = &m->operand[k];
        if (o->compute != m->dtype) continue;
        if (o->number) widen_number(o);
        else o->via = o->dtype != m->dtype;
        o->compute = TSR_FLOAT32;
    }
    m->dtype = TSR_FLOAT32;
}

static bool can_compute(CudaPass *p, const TsrDeviceMap *m) {
    if (m->nout != 1 || m->noperands > TSR_DEVICE_OPERANDS || m->ndim > TSR_DEVICE_DIMS || m->ndim < 1) return false;
    for (int k = 0; k < m->noperands; k++)
        if (cuda_memory_type(m->operand[k].dtype) == NULL || cuda_compute_type(m->operand[k].compute) == NULL)
            return false;
    if (m->kernel == TSR_MAP_COPY) return m->noperands == 2;
    if (m->kernel == TSR_K_where) return m->noperands == 4;
    p->formula = cuda_formula(m->kernel, m->dtype);
    return p->formula != NULL && m->noperands == 1 + p->formula->nin;
}

/* How many elements a pack has: 0 where an operand lies with gaps, 1 where one is not aligned for more. */
static int pack_of(const TsrDeviceMap *m) {
    size_t largest = 1;
    for (int k = 0; k < m->noperands; k++) {
        const TsrDeviceOperand *o = &m->operand[k];
        size_t size = cuda_itemsize(o->dtype);
        if (o->number) continue;
        if (m->ndim != 1 || (o->strides[0] != (int64_t)size && m->numel > 1)) return 0;
        largest = TSR_MAX(largest, size);
    }
    size_t pack = TSR_MIN(CUDA_PACK_BYTES / largest, (size_t)CUDA_MOST_IN_PACK);
    for (int k = 0; k < m->noperands; k++) {
        const TsrDeviceOperand *o = &m->operand[k];
        if (!o->number && o->data % (pack * cuda_itemsize(o->dtype)) != 0) return 1;
    }
    return (int)pack;
}

static void make_key(CudaPass *p, const TsrDeviceMap *m) {
    CudaMapKey *key = &p->key;
    key->kernel = m->kernel;
    key->dtype = m->dtype;
    key->nout = (uint8_t)m->nout;
    key->params = m->nparams > 0;
    key->noperands = (uint8_t)m->noperands;
    key->pack = (uint8_t)pack_of(m);
    if (key->pack == 0) {
        key->ndim = (uint8_t)m->ndim;
        key->wide = m->numel >= (INT64_C(1) << 31);
    }
    for (int k = 0; k < m->noperands; k++) {
        const TsrDeviceOperand *o = &m->operand[k];
        key->operand[k].memory = o->dtype;
        key->operand[k].compute = o->compute;
        key->operand[k].via = o->via;
        key->operand[k].number = o->number;
        if (o->via) key->common = m->common;
    }
}

/* ---- the launch ---- */

static void fill_map(MapArgs *a, const TsrDeviceMap *m) {
    a->n = (uint64_t)m->numel;
    for (int k = 0; k < m->noperands; k++) {
        a->data[k] = m->operand[k].data;
        if (m->operand[k].number) memcpy(a->number[k], m->operand[k].value, sizeof a->number[k]);
    }
    if (m->nparams > 0) memcpy(a->params, m->params, TSR_MIN(m->nparams, sizeof a->params));
}

static void fill_strided(MapStrided *a, const TsrDeviceMap *m) {
    fill_map(&a->map, m);
    for (int d = 0; d < m->ndim; d++) {
        a->sizes[d] = (uint64_t)m->sizes[d];
        cuda_division(&a->magic[d], &a->shift[d], a->sizes[d]);
        for (int k = 0; k < m->noperands; k++) a->strides[k][d] = m->operand[k].number ? 0 : m->operand[k].strides[d];
    }
}

bool cuda_map_pass(CudaPass *pass, const TsrDeviceMap *given) {
    memset(pass, 0, sizeof *pass);
    pass->map = *given;
    widen_halves(&pass->map);
    if (!can_compute(pass, &pass->map)) return false;
    make_key(pass, &pass->map);
    return true;
}

bool cuda_map_source(CudaSource *out, const TsrDeviceMap *given) {
    CudaPass pass;
    if (!cuda_map_pass(&pass, given)) return false;
    write_map(out, &pass);
    return true;
}

TsrStatus cuda_map(const TsrDeviceMap *given) {
    CudaPass pass;
    CudaLaunch launch;
    const TsrDeviceMap *m = &pass.map;
    MapStrided args;
    if (given->numel == 0) return TSR_OK;
    if (!cuda_map_pass(&pass, given)) return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_kernel(&launch.function, m->index, &pass.key, sizeof pass.key, "tsr_map", write_map, &pass));
    memset(&args, 0, sizeof args);
    if (pass.key.pack != 0) fill_map(&args.map, m);
    else fill_strided(&args, m);
    if (cuda_map_reports(&pass.key)) TSR_TRY(cuda_errors_begin(&args.map.errors, &args.map.launch, m->index));
    uint64_t pack = TSR_MAX(pass.key.pack, 1);
    launch.blocks = cuda_blocks(m->index, ((uint64_t)m->numel + pack - 1) / pack, CUDA_MAP_THREADS);
    launch.args = &args;
    launch.size = pass.key.pack != 0 ? sizeof args.map : sizeof args;
    TSR_TRY(cuda_chain_add(&pass, &launch));
    for (int k = 0; k < m->noperands; k++) cuda_operand_uses(&m->operand[k], m->index, m->ndim, m->sizes, k < m->nout);
    return TSR_OK;
}
