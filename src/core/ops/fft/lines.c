/* Lines of a tensor to buffers and back: see lines.h. Where there are several, tsr_fft_lanes() of them are transformed
 * side by side: a buffer then holds rows of one real from each lane, two rows a value. */
#include "lines.h"

#include <string.h>

#include "core/kernels/matrix/fft/fft_lines.h"
#include "core/kernels/move/move.h"
#include "core/op/shared.h"

/* A line of a tensor: where it begins, in elements, and, innermost first, the dimensions that the lines are counted by,
 * with how many lines along each are left, this one included. */
typedef struct LinePlace {
    int64_t offset, left[TSR_MAX_DIMS], sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    int ndim;
} LinePlace;

/* What one worker holds. */
typedef struct LineWork {
    TsrDataPtr memory; /* from the tensors' allocator: it keeps pages that have been touched */
    char *in, *out, *scratch;
    size_t part;        /* bytes of a real in them */
    int64_t room;       /* lanes that there is room for */
    int64_t lanes;      /* lanes in use; 0: none yet */
    bool packed;        /* real lines lie in them without imaginary parts */
    bool narrow;        /* computed in double, read and stored in float */
    LinePlace from, to; /* the next line read, and written */
} LineWork;

/* Lines at the same place in memory order: values `step` apart, `count` lines of `parts` reals a value. */
typedef struct LineGroup {
    char *line[TSR_FFT_LANES];
    int64_t step, parts, count;
} LineGroup;

/* ---- between lines and rows ---- */

enum { SLICE = 64 }; /* values of all lines of a group that are in the first cache together */

/* Values first to first + n - 1 of the group's lines; PUT says which way. `pitch`: from one row of reals to the next.
 */
#define INLINE static inline __attribute__((always_inline))
#define READ(row, element) (row) = (element)
#define WRITE(row, element) (element) = (row)
#define MOVE read_floats
#define MOVE_AS read_floats_as
#define T float
#define PUT READ
#include "move_lines.inc"

#define MOVE read_doubles
#define MOVE_AS read_doubles_as
#define T double
#define PUT READ
#include "move_lines.inc"

#define MOVE write_floats
#define MOVE_AS write_floats_as
#define T float
#define PUT WRITE
#include "move_lines.inc"

#define MOVE write_doubles
#define MOVE_AS write_doubles_as
#define T double
#define PUT WRITE
#include "move_lines.inc"

/* The bytes from one line to the next where that is the same for all lanes; else 0. */
static int64_t spacing_of(const LineGroup *g, int64_t lanes) {
    int64_t between = g->count == lanes && lanes > 1 ? g->line[1] - g->line[0] : 0;
    for (int64_t l = 2; l < g->count; l++)
        if (g->line[l] - g->line[l - 1] != between) return 0;
    return between;
}

static void move_rows(char *rows, int64_t pitch, const LineGroup *g, int64_t lanes, int64_t first, int64_t n,
                      size_t part, bool read) {
    int64_t spacing = spacing_of(g, lanes), value = g->parts * (int64_t)part;
    char *line = g->line[0] + first * g->step * value;
    if (spacing > 0 && g->step == 1) { /* dense lines */
        if (read) tsr_kernel_transpose(rows, pitch * (int64_t)part, line, spacing, lanes, n * g->parts, part);
        else tsr_kernel_transpose(line, spacing, rows, pitch * (int64_t)part, n * g->parts, lanes, part);
        return;
    }
    bool adjacent = spacing == value;
    if (part == sizeof(float)) (read ? read_floats : write_floats)((float *)(void *)rows, pitch, g, first, n, adjacent);
    else (read ? read_doubles : write_doubles)((double *)(void *)rows, pitch, g, first, n, adjacent);
}

/* Rows of doubles, `pitch` apart, and of floats, which are dense. */
#define EACH_ROW(L) \
    for (int64_t i = 0; i < rows; i++) \
        for (int64_t l = 0; l < (L); l++)
TSR_CLONES static void widen_rows(double *to, int64_t pitch, const float *from, int64_t rows, int64_t lanes) {
    if (lanes == 4) EACH_ROW(4) to[i * pitch + l] = from[4 * i + l];
    else EACH_ROW(lanes) to[i * pitch + l] = from[lanes * i + l];
}

TSR_CLONES static void round_rows(float *to, const double *from, int64_t pitch, int64_t rows, int64_t lanes) {
    if (lanes == 4) EACH_ROW(4) to[4 * i + l] = (float)from[i * pitch + l];
    else EACH_ROW(lanes) to[lanes * i + l] = (float)from[i * pitch + l];
}

/* Dense lines of floats, four at a time, to rows of the plan's reals and back. */
static void move_dense(const LineWork *w, char *rows, int64_t pitch, const LineGroup *g, int64_t n, bool read) {
    for (int64_t first = 0; first < g->count; first += TSR_FFT_FOUR, rows += TSR_FFT_FOUR * w->part) {
        float *line[TSR_FFT_FOUR], *narrow = (float *)(void *)rows;
        double *wide = (double *)(void *)rows;
        int lines = (int)TSR_MIN(g->count - first, (int64_t)TSR_FFT_FOUR);
        for (int l = 0; l < lines; l++) line[l] = (float *)(void *)g->line[first + l];
        if (read && w->narrow) tsr_fft_widen_dense(wide, pitch, (const float *const *)line, n);
        else if (read) tsr_fft_read_dense(narrow, pitch, (const float *const *)line, n);
        else if (w->narrow) tsr_fft_round_dense(line, lines, wide, pitch, n);
        else tsr_fft_write_dense(line, lines, narrow, pitch, n);
    }
}

/* Four lines side by side to rows of doubles and back. */
static void move_beside(double *rows, int64_t pitch, const LineGroup *g, int64_t n, bool read) {
    float *at = (float *)(void *)g->line[0];
    if (read) tsr_fft_widen_beside(rows, pitch, at, g->step * g->parts, g->parts, n);
    else tsr_fft_round_beside(at, g->step * g->parts, g->parts, rows, pitch, n);
}

/* Values first to first + n - 1 of the lines, through a tile of floats where the rows are wider. */
static void move_some(const LineWork *w, char *rows, int64_t pitch, const LineGroup *g, int64_t first, int64_t n,
                      bool read) {
    float tile[2 * SLICE * TSR_FFT_LANES];
    double *wide = (double *)(void *)rows;
    if (!w->narrow) {
        move_rows(rows, pitch, g, w->lanes, first, n, w->part, read);
    } else if (read) {
        move_rows((char *)tile, w->lanes, g, w->lanes, first, n, sizeof(float), true);
        widen_rows(wide, pitch, tile, n * g->parts, w->lanes);
    } else {
        round_rows(tile, wide, pitch, n * g->parts, w->lanes);
        move_rows((char *)tile, w->lanes, g, w->lanes, first, n, sizeof(float), false);
    }
}

/* The first n values of the lines into the buffer, or back; real ones leave imaginary rows alone. */
static void move_values(const LineWork *w, char *buffer, const LineGroup *g, int64_t n, bool read) {
    int64_t pitch = w->lanes * (g->parts == 1 && !w->packed ? 2 : 1);
    bool floats = w->narrow || w->part == sizeof(float), fours = w->lanes % TSR_FFT_FOUR == 0;
    if (floats && fours && g->step == 1) {
        move_dense(w, buffer, pitch, g, n * g->parts, read);
        return;
    }
    if (w->narrow && w->lanes == TSR_FFT_FOUR && spacing_of(g, w->lanes) == g->parts * (int64_t)sizeof(float)) {
        move_beside((double *)(void *)buffer, pitch, g, n, read);
        return;
    }
    for (int64_t k = 0, count; k < n && tsr_interrupt_flag == 0; k += count) { /* tsr_parallel_for raises it */
        count = TSR_MIN(n - k, (int64_t)SLICE);
        move_some(w, buffer + (size_t)(k * g->parts * pitch) * w->part, pitch, g, k, count, read);
    }
}

/* ---- what half a spectrum leaves out ---- */

/* A real signal's mean and fastest wave are real. */
#define T float
#define NAME(x) x##_float
#include "mirror_lines.inc"

#define T double
#define NAME(x) x##_double
#include "mirror_lines.inc"

static void complete(char *buffer, int64_t n, int64_t lanes, bool wide, bool mirrored) {
    if (wide) make_real_double((double *)(void *)buffer, n, lanes);
    else make_real_float((float *)(void *)buffer, n, lanes);
    if (mirrored && wide) mirror_double((double *)(void *)buffer, n, lanes);
    else if (mirrored) mirror_float((float *)(void *)buffer, n, lanes);
}

/* ---- running ---- */

static bool line_work_begin(LineWork *w, const TsrFftLines *j) {
    w->part = j->wide ? sizeof(double) : sizeof(float);
    w->packed = tsr_fft_is_packed(j->plan);
    w->narrow = j->wide && tsr_dtype_real_of(j->out->dtype) == TSR_FLOAT32;
    w->room = tsr_fft_lanes(j->plan);
    w->lanes = 0;
    size_t lanes = (size_t)w->room, values = (size_t)(w->packed ? j->n / 2 + 1 : j->n),
           line = (values * 2 * w->part * lanes + 63) / 64 * 64;
    if (tsr_allocate(&w->memory, TSR_DEVICE_CPU, 2 * line + tsr_fft_scratch(j->plan) * lanes + 64) != TSR_OK)
        return false;
    w->in = (char *)w->memory.data + (-(uintptr_t)w->memory.data & 63);
    w->out = w->in + line;
    w->scratch = w->out + line;
    return true;
}

static void find_line(LinePlace *p, const TsrFftLines *j, const TsrTensor *t, int64_t index) {
    p->offset = 0;
    p->ndim = 0;
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) {
        const int64_t size = j->out->sizes[d];
        if (d == j->dim || size == 1) continue;
        const int64_t rest = index / size, at = index - rest * size;
        p->left[p->ndim] = size - at;
        p->sizes[p->ndim] = size;
        p->strides[p->ndim++] = t->strides[d];
        p->offset += at * t->strides[d];
        index = rest;
    }
}

static void next_line(LinePlace *p) {
    for (int d = 0; d < p->ndim; d++) {
        p->offset += p->strides[d];
        if (--p->left[d] > 0) return;
        p->offset -= p->sizes[d] * p->strides[d];
        p->left[d] = p->sizes[d];
    }
}

/* The next `count` lines of a tensor, past which *place goes; what is read for lanes without a line is that of the last
 * one. Lines as far apart as their dimension has them are counted at once. */
static LineGroup next_group(LinePlace *place, const TsrFftLines *j, const LineWork *w, const TsrTensor *t,
                            int64_t count, bool repeat) {
    const int64_t item = (int64_t)tsr_itemsize(t);
    LineGroup g = {.step = t->strides[j->dim],
                   .parts = tsr_dtype_is_complex(t->dtype) ? 2 : 1,
                   .count = repeat ? w->lanes : count}; /* repeat: for all lanes */
    char *const data = tsr_data(t);
    if (place->ndim > 0 && place->left[0] > count) {
        char *const at = data + place->offset * item;
        const int64_t apart = place->strides[0] * item;
        for (int64_t l = 0; l < count; l++) g.line[l] = at + l * apart;
        place->offset += count * place->strides[0];
        place->left[0] -= count;
    } else {
        for (int64_t l = 0; l < count; l++, next_line(place)) g.line[l] = data + place->offset * item;
    }
    for (int64_t l = count; l < g.count; l++) g.line[l] = g.line[count - 1];
    return g;
}

/* Whether a line can be transformed where it lies: in the precision of the plan, its values side by side as the plan
 * has them. */
static bool lies_ready(const TsrFftLines *j, const LineWork *w, const TsrTensor *t) {
    bool as_planned = w->packed || j->kind == TSR_FFT_C2C;
    return as_planned && !w->narrow && t->strides[j->dim] == 1 && j->in->storage != j->out->storage;
}

/* One line, from and to where it lies where that can be. */
static void run_line(const TsrFftLines *j, LineWork *w, const LineGroup *in, const LineGroup *out) {
    const char *from = lies_ready(j, w, j->in) ? in->line[0] : w->in;
    char *to = lies_ready(j, w, j->out) ? out->line[0] : w->out;
    if (from == w->in) move_values(w, w->in, in, j->in->sizes[j->dim], true);
    if (j->kind == TSR_FFT_C2R && !w->packed) complete(w->in, j->n, 1, j->wide, true);
    if (tsr_interrupt_flag == 0) tsr_fft_run(j->plan, to, from, j->forward, j->scale, w->scratch);
    if (j->kind == TSR_FFT_R2C && !w->packed) complete(w->out, j->n, 1, j->wide, false);
    if (to == w->out) move_values(w, w->out, out, j->out->sizes[j->dim], false);
}

static void run_lanes(const TsrFftLines *j, LineWork *w, const LineGroup *in, const LineGroup *out) {
    move_values(w, w->in, in, j->in->sizes[j->dim], true);
    if (j->kind == TSR_FFT_C2R && !w->packed) complete(w->in, j->n, w->lanes, j->wide, true);
    if (tsr_interrupt_flag == 0) tsr_fft_run_lanes(j->plan, w->out, w->in, j->forward, j->scale, w->scratch);
    if (j->kind == TSR_FFT_R2C && !w->packed) complete(w->out, j->n, w->lanes, j->wide, false);
    move_values(w, w->out, out, j->out->sizes[j->dim], false);
}

/* The next `count` lines; side by side when there are several. */
static void run_group(const TsrFftLines *j, LineWork *w, int64_t count) {
    int64_t lanes = count > 1 ? w->room : 1;
    bool real = j->kind == TSR_FFT_R2C && !w->packed;
    if (real && lanes != w->lanes)
        memset(w->in, 0, (size_t)(2 * j->n * lanes) * w->part); /* the imaginary parts stay so */
    w->lanes = lanes;
    LineGroup in = next_group(&w->from, j, w, j->in, count, true), out = next_group(&w->to, j, w, j->out, count, false);
    (lanes > 1 ? run_lanes : run_line)(j, w, &in, &out);
}

static void run_lines(int64_t begin, int64_t end, void *user) {
    const TsrFftLines *j = user;
    LineWork w;
    if (!line_work_begin(&w, j)) {
        tsr_parallel_fail(tsr_error_kind());
        return;
    }
    find_line(&w.from, j, j->in, begin);
    find_line(&w.to, j, j->out, begin);
    for (int64_t i = begin, count; i < end && tsr_interrupt_flag == 0; i += count) {
        count = end - i >= 3 ? TSR_MIN(end - i, w.room) : 1;
        run_group(j, &w, count);
    }
    tsr_dataptr_release(&w.memory);
}

TsrStatus tsr_fft_lines_run(const TsrFftLines *lines) {
    int64_t count = lines->out->numel / lines->out->sizes[lines->dim];
    return tsr_parallel_for(count, TSR_MAX(2 * TSR_FFT_LANES, tsr_grain(2 * lines->n)), run_lines,
                            (void *)(uintptr_t)lines);
}

/* ---- the other half of a spectrum ---- */

typedef struct Mirror {
    const TsrTensor *t;
    int dim;
    bool transformed[TSR_MAX_DIMS];
    int64_t sizes[TSR_MAX_DIMS];
} Mirror;

#define CONJUGATES(T) \
    static void conjugates_##T(T *to, const T *from, int64_t step, int64_t n) { \
        for (int64_t k = n / 2 + 1; k < n && !tsr_interrupted_at(k); k++) { \
            to[2 * k * step] = from[2 * (n - k) * step]; \
            to[2 * k * step + 1] = -from[2 * (n - k) * step + 1]; \
        } \
    }
CONJUGATES(float)
CONJUGATES(double)

/* Lines begin to end, each from the one at the opposite frequencies in the other dimensions. */
static void mirror_lines(int64_t begin, int64_t end, void *user) {
    const Mirror *m = user;
    const TsrTensor *t = m->t;
    for (int64_t i = begin; i < end && tsr_interrupt_flag == 0; i++) {
        int64_t to = 0, from = 0, index = i;
        for (int d = tsr_ndim(t) - 1; d >= 0; d--) {
            if (d == m->dim) continue;
            int64_t at = index % m->sizes[d];
            index /= m->sizes[d];
            to += at * t->strides[d];
            from += (m->transformed[d] && at > 0 ? m->sizes[d] - at : at) * t->strides[d];
        }
        if (t->dtype == TSR_COMPLEX64)
            conjugates_float((float *)tsr_data(t) + 2 * to, (const float *)tsr_data(t) + 2 * from, t->strides[m->dim],
                             m->sizes[m->dim]);
        else
            conjugates_double((double *)tsr_data(t) + 2 * to, (const double *)tsr_data(t) + 2 * from,
                              t->strides[m->dim], m->sizes[m->dim]);
    }
}

TsrStatus tsr_fft_lines_mirror(TsrTensor *t, const int64_t *dims, int n) {
    Mirror m = {.t = t, .dim = (int)dims[n - 1]};
    if (t->numel == 0) return TSR_OK;
    memcpy(m.sizes, t->sizes, sizeof(int64_t) * (size_t)tsr_ndim(t));
    for (int i = 0; i < n; i++) m.transformed[dims[i]] = true;
    return tsr_parallel_for(t->numel / m.sizes[m.dim], tsr_grain(m.sizes[m.dim]), mirror_lines, &m);
}
