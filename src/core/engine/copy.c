/* copy.c: elements from one geometry to another: copy, fill, clone, contiguous, cast.
 *
 * A Copy is the two geometries side by side, strides in bytes. Preparing it: dimensions are sorted by the stride that
 * is written, neighbours that continue one another are merged, a dense line as short as an element becomes the element.
 * Then one of these runs, over threads where there is enough:
 *   one run of bytes           memcpy, past the caches when large;
 *   lines (copy_lines)         dimension 0 by memcpy or the dtypes' conversion, at each place along the others;
 *   strips of blocks           where reading and writing run along different dimensions: blocks of a cache line each
 *                              way, so that no line of either side is fetched twice;
 *   bands (copy_bands)         many lines of a few elements: crossed, a band within a cache's reach at a time.
 * Where the two overlap, or the result meets itself, elements go one by one in PyTorch's order. With a device at one
 * end bytes go as they lie, through dense tensors in between where they have to. */
#include "core/iter.h"
#include "core/alloc.h"
#include "device.h"
#include "core/kernels/move/move.h"
#include "core/tensor/loan.h"
#include "core/tensor/tensor_impl.h"
#include "core/view.h"

#include <string.h>

/* The sizes of caches and of their lines decide these: STREAMED is measured. */
enum {
    ALONG = 1024, /* elements of a strip of blocks */
    /* bytes from which on a transposed copy is not meant to stay in the caches: x.t().contiguous() of 2048 by 2048
     * floats, least of 30 calls in build/tsr by time.perf_counter() (AMD EPYC, Zen 3): 2.5 ms past them, 16.8 through
     * them; of 512 by 512 0.17 and 0.12 */
    STREAMED = 4 << 20,
    PARALLEL = 4 * TSR_CHUNK_WORK, /* elements, of which two take a step */
    MOST_LAYERS = 3,
    TOGETHER = 1 << 12,   /* lines of TSR_COPIED_LINE bytes or fewer, between two looks for an interrupt */
    LINE_PIECE = 1 << 14, /* elements of a long line: what is done to them once they are copied finds them in cache */
};

/* One copy: dimension 0 is the innermost; strides in bytes. */
typedef struct Copy {
    int ndim;
    int64_t sizes[TSR_MAX_DIMS], to_stride[TSR_MAX_DIMS], from_stride[TSR_MAX_DIMS];
    char *to;
    const char *from;
    TsrDtype to_dtype, from_dtype;
    size_t plain;   /* itemsize when bytes move as they are, else 0 */
    unsigned flips; /* of TSR_FLAG_CONJ and TSR_FLAG_NEG: to be applied to what was written */
    bool tiled; /* dimension 1 is the one that is dense in the source: elements go by blocks, one cache line wide both
                   ways */
    int64_t layers; /* of tiled blocks: the size of dimension 2 where it lies between the result's elements, so that
                       each block is filled at once; else 1 */
    int64_t band;   /* elements of dimension 0 that are copied at each place along dimension 1 before the next ones; 0:
                       all of them */
    bool streamed;  /* whole lines of blocks are written past the caches */
    bool in_order;  /* the two overlap, or the result does itself: no other order will do */
} Copy;

/* --- one line --- */

#define FLIP(type) \
    do { \
        const type first = (type)((type)re << (sizeof(type) * 8 - 1)), \
                   second = (type)((type)im << (sizeof(type) * 8 - 1)); \
        if (stride == (int64_t)size) { \
            for (size_t at = 0; at < sizeof pattern; at += sizeof(type)) \
                memcpy(pattern + at, complex && at / sizeof(type) % 2 == 1 ? &second : &first, sizeof(type)); \
            tsr_kernel_xor(p, pattern, n *(int64_t)size); \
            break; \
        } \
        for (int64_t i = 0; i < n; i++, p += stride) { \
            *(type *)(void *)p ^= first; \
            if (complex) ((type *)(void *)p)[1] ^= second; \
        } \
    } while (0)

/* Flips the sign bit of components: all of a negated one, the imaginary part of a conjugated one. */
static void flip_signs(TsrDtype d, unsigned flips, char *p, int64_t stride, int64_t n) {
    bool complex = tsr_dtype_is_complex(d);
    size_t size = tsr_dtype_size(d);
    char pattern[TSR_XOR_PATTERN];
    bool re = flips & TSR_FLAG_NEG, im = complex && ((flips & TSR_FLAG_NEG) != 0) != ((flips & TSR_FLAG_CONJ) != 0);
    if (!complex && !tsr_dtype_is_float(d)) return;
    switch (complex ? size / 2 : size) {
    case 1: FLIP(uint8_t); break;
    case 2: FLIP(uint16_t); break;
    case 4: FLIP(uint32_t); break;
    default: FLIP(uint64_t); break;
    }
}

static void negate_integers(TsrDtype d, char *p, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; i++, p += stride) {
        TsrScalar s = tsr_scalar_load(d, p);
        tsr_scalar_store(tsr_scalar_int((int64_t)(0 - (uint64_t)tsr_scalar_to_int(s))), d, p);
    }
}

/* The bytes of a line that is copied at once; 0 for another kind. */
static int64_t short_dense_line(const Copy *c) {
    int64_t size = (int64_t)c->plain;
    bool dense = size != 0 && c->flips == 0 && c->to_stride[0] == size && c->from_stride[0] == size;
    return dense && !c->in_order && c->sizes[0] * size <= TSR_COPIED_LINE ? c->sizes[0] * size : 0;
}

/* Whether lines are read from their end. */
static bool reads_backwards(const Copy *c) {
    int64_t size = (int64_t)c->plain;
    return size != 0 && size <= 16 && c->flips == 0 && !c->in_order && c->to_stride[0] == size &&
           c->from_stride[0] == -size && c->sizes[0] <= LINE_PIECE;
}

static void copy_line(const Copy *c, char *to, int64_t ts, const char *from, int64_t fs, int64_t n) {
    int64_t size = (int64_t)c->plain;
    if (size != 0 && ts == size && fs == size) tsr_kernel_copy(to, from, n * size);
    else if (size != 0) tsr_kernel_move(to, ts, from, fs, n, c->plain);
    else tsr_convert(c->to_dtype, to, ts, c->from_dtype, from, fs, n);
    if (TSR_LIKELY(c->flips == 0)) return;
    if (tsr_dtype_is_integral(c->to_dtype)) {
        if (c->flips & TSR_FLAG_NEG) negate_integers(c->to_dtype, to, ts, n);
    } else {
        flip_signs(c->to_dtype, c->flips, to, ts, n);
    }
}

/* In pieces, between looks for an interrupt. */
static void copy_long_line(const Copy *c, char *to, int64_t ts, const char *from, int64_t fs, int64_t n) {
    for (int64_t i = 0; i < n && tsr_interrupt_flag == 0; i += LINE_PIECE)
        copy_line(c, to + i * ts, ts, from + i * fs, fs, TSR_MIN(n - i, (int64_t)LINE_PIECE));
}

/* A line where the two overlap. */
static void copy_line_in_order(const Copy *c, char *to, int64_t ts, const char *from, int64_t fs, int64_t n) {
    char held[TSR_ORDER_STEP];
    int64_t size = (int64_t)c->plain, step = 1;
    for (int64_t i = 0; i < n && tsr_interrupt_flag == 0; i += step, to += step * ts, from += step * fs) {
        step = size != 0 && ts == size && fs == size && (n - i) * size >= TSR_ORDER_STEP ? TSR_ORDER_STEP / size : 1;
        memcpy(held, from, (size_t)step * tsr_dtype_size(c->from_dtype));
        copy_line(c, to, ts, held, fs, step);
    }
}

/* --- the order of dimensions --- */

static void swap_dims(Copy *c, int a, int b) {
    int64_t *rows[] = {c->sizes, c->to_stride, c->from_stride};
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++) {
        int64_t x = rows[i][a];
        rows[i][a] = rows[i][b];
        rows[i][b] = x;
    }
}

static void drop_dim(Copy *c, int d) {
    for (c->ndim--; d < c->ndim; d++) swap_dims(c, d, d + 1);
}

/* Whether dimension k is to be walked inside of the one before it: by the strides written, of equal ones the smaller
 * size, which is PyTorch's order and shows where the result's elements overlap one another. */
static bool goes_further_in(const Copy *c, int k) {
    return c->to_stride[k] < c->to_stride[k - 1] ||
           (c->to_stride[k] == c->to_stride[k - 1] && c->sizes[k] < c->sizes[k - 1]);
}

/* Rising destination strides, then neighbours that continue one another become one. */
static void order_and_merge(Copy *c) {
    for (int i = 1; i < c->ndim; i++)
        for (int k = i; k > 0 && goes_further_in(c, k); k--) swap_dims(c, k, k - 1);
    for (int d = 0; d + 1 < c->ndim;) {
        bool merge = c->to_stride[d + 1] == c->to_stride[d] * c->sizes[d] &&
                     c->from_stride[d + 1] == c->from_stride[d] * c->sizes[d];
        if (!merge) {
            d++;
            continue;
        }
        c->sizes[d] *= c->sizes[d + 1];
        drop_dim(c, d + 1);
    }
}

/* Whether elements of the result may lie on one another; the strides written rise. */
static bool may_meet_itself(const Copy *c) {
    int64_t reach = 0;
    for (int d = 0; d < c->ndim; d++) {
        if (c->sizes[d] > 1 && c->to_stride[d] <= reach) return true;
        reach += (c->sizes[d] - 1) * c->to_stride[d];
    }
    return false;
}

/* Dense lines as short as an element are moved as one. */
static void lines_as_elements(Copy *c) {
    int64_t size = (int64_t)c->plain, bytes = size * c->sizes[0];
    bool dense = c->flips == 0 && size != 0 && c->to_stride[0] == size && c->from_stride[0] == size;
    if (c->ndim < 2 || !dense || bytes > TSR_LINE || (bytes & (bytes - 1)) != 0) return;
    c->plain = (size_t)bytes;
    drop_dim(c, 0);
}

static int64_t element_size(const Copy *c) {
    return (int64_t)(c->plain != 0 ? c->plain : tsr_dtype_size(c->from_dtype));
}

/* Elements a block has each way. */
static int64_t block_of(const Copy *c) { return TSR_LINE / element_size(c); }

/* A transposing copy goes block by block, so that no cache line of the source is read twice, nor one of the result
 * written twice. Where lines have two or three elements (the channels of a picture), it is dimension 1 that the blocks
 * go across, and those are their layers. */
static void choose_tiles(Copy *c, int64_t numel) {
    int64_t size = element_size(c);
    int across = c->sizes[0] <= MOST_LAYERS ? 1 : 0;
    c->layers = 1;
    if (size > 16 || c->ndim < across + 2 || c->sizes[across] < 4 || c->from_stride[across] <= 4 * size) return;
    for (int d = across + 1; d < c->ndim && !c->tiled; d++) {
        if (c->from_stride[d] != size || c->sizes[d] < 8) continue;
        c->tiled = true;
        swap_dims(c, 0, across);
        swap_dims(c, 1, d);
        if (across == 0) continue;
        swap_dims(c, 2, d);
        c->layers = c->sizes[2];
    }
    bool lines = c->to_stride[0] == size && (uintptr_t)c->to % TSR_LINE == 0;
    for (int d = 1; d < c->ndim; d++) lines = lines && c->to_stride[d] % TSR_LINE == 0;
    c->streamed = c->tiled && lines && c->plain != 0 && c->flips == 0 && numel * size >= STREAMED;
}

/* A few elements a line: the many lines are crossed, a band of them within a cache's reach at a time. */
static void cross_short_lines(Copy *c) {
    /* A line of fewer than SHORT elements is crossed; a band of lines spans REACH bytes, the size of a first-level
     * cache, and holds LEAST lines or more. */
    enum { SHORT = 8, REACH = 1 << 15, LEAST = 64 };
    int64_t step = TSR_MAX(c->to_stride[1], TSR_MAX(c->from_stride[1], -c->from_stride[1]));
    if (c->tiled || short_dense_line(c) > 1 || c->sizes[0] >= SHORT || c->sizes[1] <= c->sizes[0] ||
        step > REACH / LEAST)
        return;
    swap_dims(c, 0, 1);
    c->band = REACH / step;
}

/* --- running --- */

/* `width` elements of dimension 0 by `height` of dimension 1, at most a block each way. */
static void copy_block(const Copy *c, char *to, const char *from, int64_t width, int64_t height) {
    _Alignas(TSR_LINE) char block[TSR_LINE * TSR_LINE];
    int64_t size = element_size(c);
    bool streamed = c->streamed && width * size == TSR_LINE;
    if (c->plain != 0 && c->flips == 0 && c->to_stride[0] == size && !streamed) {
        tsr_kernel_transpose(to, c->to_stride[1], from, c->from_stride[0], width, height, (size_t)size);
        return;
    }
    tsr_kernel_transpose(block, TSR_LINE, from, c->from_stride[0], width, height, (size_t)size);
    for (int64_t j = 0; j < height; j++, to += c->to_stride[1]) {
        if (streamed) tsr_kernel_stream(to, block + j * TSR_LINE, TSR_LINE);
        else copy_line(c, to, c->to_stride[0], block + j * TSR_LINE, size, width);
    }
}

/* The same of each layer. */
static void copy_layers(const Copy *c, char *to, const char *from, int64_t width, int64_t height) {
    enum { BLOCK = TSR_LINE * TSR_LINE };
    _Alignas(TSR_LINE) char blocks[MOST_LAYERS * BLOCK];
    int64_t size = element_size(c);
    bool dense = c->to_stride[2] == size && c->to_stride[0] == c->layers * size;
    if (c->layers == 1 || !dense || c->plain == 0 || c->flips != 0) {
        for (int64_t k = 0; k < c->layers; k++)
            copy_block(c, to + k * c->to_stride[2], from + k * c->from_stride[2], width, height);
        return;
    }
    for (int64_t k = 0; k < c->layers; k++)
        tsr_kernel_transpose(blocks + k * BLOCK, TSR_LINE, from + k * c->from_stride[2], c->from_stride[0], width,
                             height, (size_t)size);
    for (int64_t j = 0; j < height; j++, to += c->to_stride[1])
        tsr_kernel_interleave(to, blocks + j * TSR_LINE, BLOCK, c->layers, width, (size_t)size);
}

/* A strip of blocks: the source's lines are read from end to end, side by side. */
static void copy_strip(const Copy *c, char *to, const char *from, int64_t width, int64_t along) {
    int64_t block = block_of(c);
    for (int64_t j = 0; j < along && tsr_interrupt_flag == 0; j += block)
        copy_layers(c, to + j * c->to_stride[1], from + j * c->from_stride[1], width, TSR_MIN(block, along - j));
}

/* The first dimension that strips of blocks do not cover. */
static int beyond_blocks(const Copy *c) { return c->layers > 1 ? 3 : 2; }

/* The strips that dimensions 0 and 1 are made of. */
static int64_t strips_across(const Copy *c) { return (c->sizes[0] + block_of(c) - 1) / block_of(c); }
static int64_t strips_down(const Copy *c) { return (c->sizes[1] + ALONG - 1) / ALONG; }

/* Strips [begin, end) of blocks. */
static void copy_strips(int64_t begin, int64_t end, void *user) {
    const Copy *c = user;
    for (int64_t strip = begin; strip < end && tsr_interrupt_flag == 0; strip++) {
        int64_t y = strip % strips_down(c) * ALONG, rest = strip / strips_down(c);
        int64_t x = rest % strips_across(c) * block_of(c);
        char *to = c->to + x * c->to_stride[0] + y * c->to_stride[1];
        const char *from = c->from + x * c->from_stride[0] + y * c->from_stride[1];
        rest /= strips_across(c);
        for (int d = beyond_blocks(c); d < c->ndim; d++) {
            int64_t index = rest % c->sizes[d];
            rest /= c->sizes[d];
            to += index * c->to_stride[d];
            from += index * c->from_stride[d];
        }
        copy_strip(c, to, from, TSR_MIN(block_of(c), c->sizes[0] - x), TSR_MIN(ALONG, c->sizes[1] - y));
    }
    if (c->streamed) tsr_kernel_stream_end();
}

static int64_t bands_across(const Copy *c) { return (c->sizes[0] + c->band - 1) / c->band; }

/* Bands [begin, end). */
static void copy_bands(int64_t begin, int64_t end, void *user) {
    const Copy *c = user;
    for (int64_t unit = begin; unit < end && tsr_interrupt_flag == 0; unit++) {
        int64_t x = unit % bands_across(c) * c->band, rest = unit / bands_across(c);
        char *to = c->to + x * c->to_stride[0];
        const char *from = c->from + x * c->from_stride[0];
        for (int d = 2; d < c->ndim; d++) {
            int64_t index = rest % c->sizes[d];
            rest /= c->sizes[d];
            to += index * c->to_stride[d];
            from += index * c->from_stride[d];
        }
        for (int64_t j = 0; j < c->sizes[1]; j++, to += c->to_stride[1], from += c->from_stride[1])
            copy_line(c, to, c->to_stride[0], from, c->from_stride[0], TSR_MIN(c->band, c->sizes[0] - x));
    }
}

/* Lines [begin, end): dimension 0, at each place along the others. */
static void copy_lines(int64_t begin, int64_t end, void *user) {
    const Copy *c = user;
    int64_t index[TSR_MAX_DIMS], rest = begin, together = 1;
    const int64_t bytes = short_dense_line(c), n = c->sizes[0];
    const bool backwards = reads_backwards(c);
    const int64_t most = backwards ? TSR_MAX(LINE_PIECE / n, (int64_t)1) : (int64_t)TOGETHER; /* between two looks */
    char *to = c->to;
    const char *from = c->from;
    for (int d = 1; d < c->ndim; d++) {
        index[d] = rest % c->sizes[d];
        rest /= c->sizes[d];
        to += index[d] * c->to_stride[d];
        from += index[d] * c->from_stride[d];
    }
    for (int64_t line = begin; line < end && tsr_interrupt_flag == 0; line += together) {
        if (bytes != 0 || backwards) together = TSR_MIN(TSR_MIN(c->sizes[1] - index[1], end - line), most);
        if (bytes != 0) {
            tsr_kernel_copy_lines(to, c->to_stride[1], from, c->from_stride[1], bytes, together);
        } else if (backwards) {
            tsr_kernel_reverse_lines(to, c->to_stride[1], from - (n - 1) * (int64_t)c->plain, c->from_stride[1], n,
                                     together, c->plain);
        } else {
            (c->in_order ? copy_line_in_order : copy_long_line)(c, to, c->to_stride[0], from, c->from_stride[0], n);
        }
        for (int d = 1; d < c->ndim; d++) {
            const int64_t steps = d == 1 ? together : 1;
            to += steps * c->to_stride[d];
            from += steps * c->from_stride[d];
            if ((index[d] += steps) < c->sizes[d]) break;
            to -= index[d] * c->to_stride[d];
            from -= index[d] * c->from_stride[d];
            index[d] = 0;
        }
    }
}

static void copy_range(int64_t begin, int64_t end, void *user) {
    const Copy *c = user;
    copy_long_line(c, c->to + begin * c->to_stride[0], c->to_stride[0], c->from + begin * c->from_stride[0],
                   c->from_stride[0], end - begin);
}

typedef struct Bytes {
    char *to;
    const char *from;
    bool streamed;
} Bytes;

static void copy_bytes(int64_t begin, int64_t end, void *user) {
    const Bytes *b = user;
    if (!b->streamed) {
        tsr_kernel_copy(b->to + begin, b->from + begin, end - begin);
        return;
    }
    tsr_kernel_stream(b->to + begin, b->from + begin, end - begin);
    tsr_kernel_stream_end();
}

/* The two do not overlap. A large copy goes past the caches. */
static TsrStatus copy_all_bytes(void *to, const void *from, int64_t bytes) {
    return tsr_parallel_for(bytes, TSR_CHUNK_BYTES, copy_bytes, &(Bytes){to, from, bytes >= TSR_STREAMED});
}

static TsrStatus run(Copy *c) {
    int64_t numel = 1, units = 1;
    for (int d = 0; d < c->ndim; d++) numel *= c->sizes[d];
    if (c->in_order) {
        copy_lines(0, numel / c->sizes[0], c);
        return TSR_OK;
    }
    if (c->ndim <= 1) {
        if (numel < PARALLEL) {
            copy_range(0, numel, c);
            return TSR_OK;
        }
        int64_t size = (int64_t)c->plain;
        if (size != 0 && c->flips == 0 && c->to_stride[0] == size && c->from_stride[0] == size)
            return copy_all_bytes(c->to, c->from, numel * size);
        return tsr_parallel_for(numel, 2 * tsr_grain(1), copy_range, c);
    }
    choose_tiles(c, numel);
    cross_short_lines(c);
    for (int d = c->tiled ? beyond_blocks(c) : c->band != 0 ? 2 : 1; d < c->ndim; d++) units *= c->sizes[d];
    if (c->tiled) units *= strips_across(c) * strips_down(c);
    if (c->band != 0) units *= bands_across(c);
    TsrRangeFn copy = c->tiled ? copy_strips : c->band != 0 ? copy_bands : copy_lines;
    if (numel < PARALLEL) {
        copy(0, units, c);
        return TSR_OK;
    }
    return tsr_parallel_for(units, tsr_grain(numel / units / 2), copy, c);
}

static bool moves_as_bytes(TsrDtype a, TsrDtype b) { return a == b; }

/* `dst` and `src` have the same sizes; src_strides in elements; dimensions of the set `flipped` are read from their
 * ends. */
static Copy copy_of(TsrTensor *dst, const TsrTensor *src, const int64_t *src_strides, uint64_t flipped) {
    Copy c = {.to = tsr_data(dst), .from = tsr_data(src), .to_dtype = dst->dtype, .from_dtype = src->dtype};
    int64_t ts = (int64_t)tsr_itemsize(dst), fs = (int64_t)tsr_itemsize(src);
    c.flips = (dst->flags ^ src->flags) & (TSR_FLAG_CONJ | TSR_FLAG_NEG);
    if (src->flags & TSR_FLAG_NEG && !tsr_dtype_is_complex(src->dtype))
        c.flips ^= TSR_FLAG_CONJ; /* of a negated real number the imaginary part is +0 */
    c.plain = moves_as_bytes(dst->dtype, src->dtype) ? (size_t)ts : 0;
    for (int d = tsr_ndim(dst) - 1; d >= 0; d--) {
        if (dst->sizes[d] == 1) continue;
        c.sizes[c.ndim] = dst->sizes[d];
        c.to_stride[c.ndim] = dst->strides[d] * ts;
        c.from_stride[c.ndim] = src_strides[d] * fs;
        if (flipped != 0 && (flipped >> d & 1)) { /* of at most 64 dimensions then */
            c.from += (c.sizes[c.ndim] - 1) * c.from_stride[c.ndim];
            c.from_stride[c.ndim] *= -1;
        }
        c.ndim++;
    }
    if (c.ndim == 0) {
        c.sizes[c.ndim++] = 1;
        c.to_stride[0] = ts;
        c.from_stride[0] = fs;
    }
    order_and_merge(&c);
    c.in_order = may_meet_itself(&c) || tsr_overlaps_elsewhere(dst, src);
    return c;
}

static TsrStatus copy_same_shape(TsrTensor *dst, const TsrTensor *src, const int64_t *src_strides, uint64_t flipped) {
    Copy c = copy_of(dst, src, src_strides, flipped);
    if (!c.in_order) lines_as_elements(&c);
    return run(&c);
}

/* The same on the device that both lie on; a number as the source where `number` is not NULL, of dst's dtype. */
static TsrStatus copy_there(const Copy *c, TsrDevice device, const char *number) {
    TsrDeviceMap map = {.index = device.index, .kernel = TSR_MAP_COPY, .nout = 1, .noperands = 2, .numel = 1};
    TsrDeviceOperand *to = &map.operand[0], *from = &map.operand[1];
    if (c->in_order || c->flips != 0 || c->ndim > TSR_DEVICE_DIMS) return tsr_device_decline();
    map.dtype = map.common = to->dtype = to->compute = from->compute = c->to_dtype;
    from->dtype = c->from_dtype;
    to->data = (TsrAddress)(uintptr_t)c->to;
    from->number = number != NULL;
    if (number != NULL) memcpy(from->value, number, tsr_dtype_size(c->from_dtype));
    else from->data = (TsrAddress)(uintptr_t)c->from;
    map.ndim = c->ndim;
    for (int d = 0; d < c->ndim; d++) {
        map.numel *= map.sizes[d] = c->sizes[d];
        to->strides[d] = c->to_stride[d];
        from->strides[d] = number != NULL ? 0 : c->from_stride[d];
    }
    return tsr_device_map(device.type, &map);
}

/* Elements with constructors: one assignment each. */
static TsrStatus copy_objects(TsrTensor *dst, const TsrTensor *src, const int64_t *src_strides) {
    const TsrTypeMeta *meta = &tsr_dtypes[dst->dtype];
    int64_t index[TSR_MAX_DIMS] = {0}, size = (int64_t)meta->itemsize;
    int ndim = tsr_ndim(dst);
    for (int64_t i = 0; i < dst->numel; i++) {
        int64_t to = 0, from = 0;
        for (int d = 0; d < ndim; d++) {
            to += index[d] * dst->strides[d];
            from += index[d] * src_strides[d];
        }
        if (tsr_interrupted_at(i)) return tsr_interrupt_check();
        TSR_TRY(meta->copy((char *)tsr_data(dst) + to * size, (const char *)tsr_data(src) + from * size, 1));
        for (int d = ndim - 1; d >= 0 && ++index[d] == dst->sizes[d]; d--) index[d] = 0;
    }
    return TSR_OK;
}

/* --- copy --- */

static TsrStatus check_overlap(const TsrTensor *dst, const TsrTensor *src) {
    if (dst->numel > 0 && tsr_layout_internal_status(tsr_ndim(dst), dst->sizes, dst->strides) == TSR_OVERLAP_FULL)
        return tsr_refuse_internal_overlap();
    if (dst->storage != src->storage || tsr_is_meta(dst)) return TSR_OK;
    TsrFootprint a = tsr_tensor_footprint(dst), b = tsr_tensor_footprint(src);
    return tsr_layout_overlap_status(&a, &b) == TSR_OVERLAP_PARTIAL ? tsr_refuse_overlap() : TSR_OK;
}

/* Strides of src as seen with dst's sizes, with the errors of an in-place broadcast. */
static TsrStatus source_strides(int64_t *strides, const TsrTensor *dst, const TsrTensor *src) {
    int64_t shape[TSR_MAX_DIMS];
    int ndim = tsr_ndim(dst), lead = ndim - tsr_ndim(src);
    if (ndim > 0) memcpy(shape, dst->sizes, (size_t)ndim * sizeof *shape);
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, src->sizes, tsr_ndim(src)));
    if (ndim != tsr_ndim(dst) || (ndim > 0 && memcmp(shape, dst->sizes, (size_t)ndim * sizeof *shape) != 0)) {
        return tsr_error(TSR_RUNTIME_ERROR, "output with shape %s doesn't match the broadcast shape %s",
                         tsr_layout_text(tsr_ndim(dst), dst->sizes), tsr_layout_text(ndim, shape));
    }
    for (int d = 0; d < ndim; d++)
        strides[d] = d < lead || (src->sizes[d - lead] == 1 && dst->sizes[d] != 1) ? 0 : src->strides[d - lead];
    return TSR_OK;
}

static TsrStatus copy_elements(TsrTensor *dst, const TsrTensor *src, const int64_t *strides, uint64_t flipped);

/* Whether all elements lie in the same order in both, without gaps: one run of bytes. */
static bool is_one_run(const TsrTensor *dst, const TsrTensor *src, const int64_t *strides, uint64_t flipped) {
    if (flipped != 0 || dst->dtype != src->dtype || !tsr_dtype_is_pod(dst->dtype)) return false;
    if (((dst->flags ^ src->flags) & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) != 0 || dst->storage == src->storage) return false;
    for (int d = 0; d < tsr_ndim(dst); d++)
        if (dst->sizes[d] != 1 && dst->strides[d] != strides[d]) return false;
    return tsr_is_dense(dst);
}

/* Set while a copy runs that the host need not wait for. */
static _Thread_local bool may_be_later;

static TsrCopyMode mode_of(const TsrTensor *dst, const TsrTensor *src) {
    if (tsr_on_device(dst) && tsr_on_device(src)) return TSR_COPY_LATER;
    bool pinned = tsr_storage_is_pinned(tsr_on_device(dst) ? src->storage : dst->storage);
    return may_be_later && pinned ? TSR_COPY_LATER : TSR_COPY_WAIT;
}

static const char *copy_reason(TsrCopyMode mode) {
    if (tsr_trace_reason != NULL) return tsr_trace_reason;
    if (mode == TSR_COPY_LATER) return "the host goes on";
    return may_be_later ? "not pinned: the host waits" : "the host waits";
}

/* Whether a kernel of the device may copy the elements. */
static bool is_by_kernel(const TsrTensor *dst, const TsrTensor *src) {
    return dst->device.type == src->device.type && dst->device.index == src->device.index && tsr_on_device(dst) &&
           tsr_dtype_is_pod(dst->dtype) && tsr_dtype_is_pod(src->dtype);
}

/* Through dense tensors at both ends, of the source's dtype and the result's sizes, between which bytes go. */
static TsrStatus copy_staged(TsrTensor *dst, const TsrTensor *src, const int64_t *strides, uint64_t flipped) {
    TsrTensor *from = NULL, *to = NULL;
    TsrStatus status = tsr_tensor_new(&from, tsr_ndim(dst), dst->sizes, src->dtype, src->device);
    if (status == TSR_OK) status = copy_elements(from, src, strides, flipped);
    if (status == TSR_OK && is_one_run(dst, from, from->strides, 0)) {
        status = copy_elements(dst, from, from->strides, 0);
    } else if (status == TSR_OK) {
        status = tsr_tensor_new(&to, tsr_ndim(dst), dst->sizes, src->dtype, dst->device);
        if (status == TSR_OK) status = copy_elements(to, from, from->strides, 0);
        if (status == TSR_OK) status = copy_elements(dst, to, to->strides, 0);
    }
    tsr_tensor_free(to);
    tsr_tensor_free(from);
    return status;
}

/* With a device at one end or both: bytes as they lie, by a kernel of the device, or both come to the host. */
static TsrStatus copy_by_device(TsrTensor *dst, const TsrTensor *src, const int64_t *strides, uint64_t flipped) {
    if (is_one_run(dst, src, strides, flipped)) {
        size_t bytes = (size_t)dst->numel * tsr_itemsize(dst);
        TsrCopyMode mode = mode_of(dst, src);
        tsr_trace(TSR_TRACE_COPY, "copy", copy_reason(mode), (int64_t)bytes, dst, src);
        return tsr_device_copy_as(tsr_data(dst), dst->device, tsr_data(src), src->device, bytes, mode);
    }
    const unsigned lazy = TSR_FLAG_CONJ | TSR_FLAG_NEG;
    if (is_by_kernel(dst, src)) {
        Copy c = copy_of(dst, src, strides, flipped);
        (void)tsr_device_declined();
        tsr_trace(TSR_TRACE_COPY, dst->dtype == src->dtype ? "copy" : "convert", tsr_trace_reason,
                  dst->numel * (int64_t)tsr_itemsize(dst), dst, src);
        TsrStatus status = copy_there(&c, dst->device, NULL);
        if (status != TSR_NOT_IMPLEMENTED_ERROR || !tsr_device_declined()) return status;
    }
    bool one_here = tsr_on_device(dst) != tsr_on_device(src) && ((dst->flags ^ src->flags) & lazy) == 0;
    if (one_here && tsr_dtype_is_pod(dst->dtype) && tsr_dtype_is_pod(src->dtype))
        return copy_staged(dst, src, strides, flipped);
    TsrLoans loans = {.what = "copy"};
    TsrStatus status = tsr_lend(&loans, dst, true);
    if (status == TSR_OK) status = tsr_lend(&loans, (TsrTensor *)(uintptr_t)src, false);
    if (status == TSR_OK) status = copy_elements(dst, src, strides, flipped);
    return tsr_give_back(&loans, status);
}

static TsrStatus copy_elements(TsrTensor *dst, const TsrTensor *src, const int64_t *strides, uint64_t flipped) {
    if (dst->numel == 0 || tsr_is_meta(dst) || tsr_is_meta(src)) return TSR_OK;
    TSR_TRY(tsr_tensor_check(src, false));
    TSR_TRY(tsr_tensor_check(dst, true));
    if (tsr_on_device(dst) || tsr_on_device(src)) return copy_by_device(dst, src, strides, flipped);
    tsr_trace(TSR_TRACE_COPY, dst->dtype == src->dtype ? "copy" : "convert", tsr_trace_reason,
              dst->numel * (int64_t)tsr_itemsize(dst), dst, src);
    if (tsr_dtype_is_pod(dst->dtype) && tsr_dtype_is_pod(src->dtype))
        return copy_same_shape(dst, src, strides, flipped);
    if (dst->dtype == src->dtype && flipped == 0) return copy_objects(dst, src, strides);
    return tsr_error(TSR_TYPE_ERROR, "cannot convert elements of dtype %s to %s", tsr_dtype_name(src->dtype),
                     tsr_dtype_name(dst->dtype));
}

/* The very same elements: nothing to do, even where they overlap. */
static bool is_itself(const TsrTensor *dst, const TsrTensor *src) {
    return tsr_is_same_view(dst, src) && dst->dtype == src->dtype &&
           ((dst->flags ^ src->flags) & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0;
}

/* Sparse tensors have no elements here: their own operators (ops/sparse.h) copy them. */
static TsrStatus not_strided(const TsrTensor *t) {
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "this copies strided tensors only, not one of layout %s",
                     t->layout == TSR_SPARSE_COO ? "sparse_coo" : "sparse_csr");
}

TsrStatus tsr_tensor_copy(TsrTensor *dst, const TsrTensor *src) {
    int64_t strides[TSR_MAX_DIMS];
    if (is_itself(dst, src)) return TSR_OK;
    if (TSR_UNLIKELY(tsr_is_sparse(dst) || tsr_is_sparse(src))) return not_strided(tsr_is_sparse(dst) ? dst : src);
    TSR_TRY(check_overlap(dst, src));
    TSR_TRY(source_strides(strides, dst, src));
    uint32_t outer = tsr_interrupt_enter();
    TsrStatus status = copy_elements(dst, src, strides, 0);
    tsr_interrupt_leave(outer);
    return status;
}

TsrStatus tsr_tensor_copy_later(TsrTensor *dst, const TsrTensor *src) {
    may_be_later = true;
    TsrStatus status = tsr_tensor_copy(dst, src);
    may_be_later = false;
    return status;
}

TsrStatus tsr_tensor_copy_flipped(TsrTensor *dst, const TsrTensor *src, uint64_t dims) {
    return copy_elements(dst, src, src->strides, dims);
}

/* On dst's device, or by loan. */
static TsrStatus fill_there(TsrTensor *dst, const Copy *c, TsrScalar value) {
    (void)tsr_device_declined();
    TsrStatus status = copy_there(c, dst->device, c->from);
    if (status != TSR_NOT_IMPLEMENTED_ERROR || !tsr_device_declined()) return status;
    TsrLoans loans = {.what = "fill"};
    status = tsr_lend(&loans, dst, true);
    return tsr_give_back(&loans, status == TSR_OK ? tsr_tensor_fill(dst, value) : status);
}

TsrStatus tsr_tensor_fill(TsrTensor *dst, TsrScalar value) {
    char element[16] = {0};
    int64_t zeros[TSR_MAX_DIMS] = {0};
    if (TSR_UNLIKELY(tsr_is_sparse(dst))) return not_strided(dst);
    if (!tsr_dtype_is_pod(dst->dtype))
        return tsr_error(TSR_TYPE_ERROR, "a tensor of dtype %s cannot be filled with a number",
                         tsr_dtype_name(dst->dtype));
    if (dst->numel != 1 && dst->dtype == TSR_COMPLEX32) tsr_scalar_store(value, dst->dtype, element);
    else TSR_TRY((dst->numel == 1 ? tsr_scalar_store_only : tsr_scalar_store_checked)(value, dst->dtype, element));
    if (dst->numel == 0 || tsr_is_meta(dst)) return TSR_OK; /* overlap within dst does no harm to a fill */
    TSR_TRY(tsr_tensor_check(dst, true));
    Copy c = {.to = tsr_data(dst),
              .from = element,
              .to_dtype = dst->dtype,
              .from_dtype = dst->dtype,
              .plain = tsr_itemsize(dst)};
    flip_signs(dst->dtype, dst->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG), element, 16, 1);
    for (int d = tsr_ndim(dst) - 1; d >= 0; d--) {
        if (dst->sizes[d] == 1) continue;
        c.sizes[c.ndim] = dst->sizes[d];
        c.from_stride[c.ndim] = zeros[d];
        c.to_stride[c.ndim++] = dst->strides[d] * (int64_t)tsr_itemsize(dst);
    }
    if (c.ndim == 0) c.sizes[c.ndim++] = 1;
    order_and_merge(&c);
    return tsr_on_device(dst) ? fill_there(dst, &c, value) : run(&c);
}

/* --- fresh tensors --- */

/* Fills *out, frees it when that fails. */
static TsrStatus finish_copy(TsrTensor **out, TsrTensor *fresh, const TsrTensor *src) {
    TsrStatus status = copy_elements(fresh, src, src->strides, 0);
    if (status == TSR_OK) *out = fresh;
    else tsr_tensor_free(fresh);
    return status;
}

TsrStatus tsr_tensor_new_clone(TsrTensor **out, const TsrTensor *self, TsrMemoryFormat format) {
    TsrTensor *t = NULL;
    if (TSR_UNLIKELY(!tsr_is_defined(self))) {
        *out = tsr_tensor_new_undefined();
        return TSR_OK;
    }
    if (TSR_UNLIKELY(tsr_is_sparse(self))) return not_strided(self);
    TSR_TRY(tsr_tensor_new_like(&t, self, self->dtype, format));
    return finish_copy(out, t, self);
}

TsrStatus tsr_tensor_new_reshape(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes) {
    int64_t whole[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    TsrTensor *copy = NULL;
    TSR_TRY(tsr_layout_check_ndim(ndim));
    TSR_TRY(tsr_layout_infer_size(whole, ndim, sizes, self->numel));
    if (tsr_layout_view_strides(strides, ndim, whole, tsr_tensor_geometry(self)))
        return tsr_tensor_new_view(out, self, &(TsrGeometry){ndim, whole, strides, self->offset}, "view");
    TSR_TRY(tsr_tensor_new_clone(&copy, self, TSR_CONTIGUOUS));
    TsrStatus status = tsr_tensor_new_reshaped_view(out, copy, ndim, whole);
    if (status == TSR_OK) (*out)->origin = "reshape";
    tsr_tensor_free(copy);
    return status;
}

TsrStatus tsr_tensor_new_contiguous(TsrTensor **out, const TsrTensor *self, TsrMemoryFormat format) {
    if ((unsigned)format <= TSR_CHANNELS_LAST_3D && (format == TSR_PRESERVE || tsr_is_contiguous(self, format))) {
        *out = tsr_tensor_retain((TsrTensor *)self);
        return TSR_OK;
    }
    const char *outer = tsr_trace_reason;
    tsr_trace_reason = format == TSR_CONTIGUOUS ? "not row-major" : "not in that format";
    TsrStatus status = tsr_tensor_new_clone(out, self, format);
    tsr_trace_reason = outer;
    return status;
}

TsrStatus tsr_tensor_new_cast(TsrTensor **out, const TsrTensor *self, TsrDtype dtype) {
    TsrTensor *t = NULL;
    if (self->dtype == dtype) {
        *out = tsr_tensor_retain((TsrTensor *)self);
        return TSR_OK;
    }
    if (TSR_UNLIKELY(tsr_is_sparse(self))) return not_strided(self);
    TSR_TRY(tsr_tensor_new_like(&t, self, dtype, TSR_PRESERVE));
    return finish_copy(out, t, self);
}

TsrStatus tsr_tensor_new_resolved(TsrTensor **out, const TsrTensor *self) {
    if ((self->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0) {
        *out = tsr_tensor_retain((TsrTensor *)self);
        return TSR_OK;
    }
    return tsr_tensor_new_clone(out, self, TSR_PRESERVE);
}
