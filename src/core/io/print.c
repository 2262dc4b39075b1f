/* A tensor as text, by PyTorch's rules (torch/_tensor_str.py): one formatter decides width and mode from the
 * elements shown, then rows are laid out; large tensors show `edgeitems` at each end of each dimension. */
#include "core/print.h"

#include "core/tensor/loan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/number_impl.h"
#include "core/tensor/owned.h"
#include "core/view.h"

static TsrPrintOptions options = {.precision = 4, .threshold = 1000, .edgeitems = 3, .linewidth = 80, .sci_mode = -1};

TsrPrintOptions *tsr_print_options(void) { return &options; }

/* ---- one number ---- */

enum { NUMBER_ROOM = 512 }; /* "%.0f" of the largest double has 309 digits; precision is capped to fit */

/* How the numbers of one tensor (or of its real or imaginary parts) are written. */
typedef struct Format {
    bool floating, whole, scientific;
    int width;
    bool any;                 /* some nonzero finite element was seen */
    double smallest, largest; /* absolute values of those */
} Format;

/* Which number of an element: a complex one has two. */
typedef enum Part { PART_REAL, PART_IMAG } Part;

static int precision(void) { return TSR_MIN(options.precision, 128); }

static int format_number(char *text, const char *conversion, double value) {
    if (isnan(value)) return snprintf(text, NUMBER_ROOM, "nan"); /* printf may write -nan */
    return snprintf(text, NUMBER_ROOM, conversion, precision(), value);
}

static double part_of(TsrScalar s, Part part) {
    if (s.kind == TSR_SCALAR_COMPLEX) return part == PART_REAL ? s.c.re : s.c.im;
    return tsr_scalar_to_double(s);
}

static int format_integer(char *text, TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: return snprintf(text, NUMBER_ROOM, "%s", s.b ? "True" : "False");
    case TSR_SCALAR_UINT: return snprintf(text, NUMBER_ROOM, "%llu", (unsigned long long)s.u);
    default: return snprintf(text, NUMBER_ROOM, "%lld", (long long)s.i);
    }
}

/* Without padding. */
static int format_value(char *text, const Format *f, TsrScalar s, Part part) {
    if (!f->floating) return format_integer(text, s);
    double value = part_of(s, part);
    if (f->scientific) return format_number(text, "%.*e", value);
    if (!f->whole) return format_number(text, "%.*f", value);
    if (!isfinite(value)) return format_number(text, "%.*f", value);
    return snprintf(text, NUMBER_ROOM, "%.0f.", value);
}

/* ---- walking over the elements that are shown ---- */

typedef TsrStatus (*Visit)(void *user, TsrScalar element);

static TsrScalar element_at(const TsrTensor *t, int64_t offset) {
    return tsr_scalar_load(t->dtype, (const char *)t->storage->ptr.data + offset * (int64_t)tsr_itemsize(t));
}

static TsrStatus walk(const TsrTensor *t, int dim, int64_t offset, bool summarize, Visit visit, void *user) {
    if (dim == tsr_ndim(t)) return visit(user, element_at(t, offset));
    int64_t n = t->sizes[dim], edge = options.edgeitems;
    TSR_TRY(tsr_interrupt_check());
    for (int64_t i = 0; i < n; i++) {
        if (tsr_interrupted_at(i)) return tsr_interrupt_check();
        if (summarize && n > 2 * edge && i == edge) i = n - edge;
        if (i < n) TSR_TRY(walk(t, dim + 1, offset + i * t->strides[dim], summarize, visit, user));
    }
    return TSR_OK;
}

typedef struct Measure {
    Format *format;
    Part part;
    double zero; /* what == 0 in the tensor's dtype: float8_e8m0fnu has its least number for 0 */
} Measure;

static bool is_measured(const Measure *m, double value) { return isfinite(value) && value != 0 && value != m->zero; }

static TsrStatus measure_range(void *user, TsrScalar s) {
    Measure *m = user;
    Format *f = m->format;
    double value = part_of(s, m->part), size = fabs(value);
    if (!is_measured(m, value)) return TSR_OK;
    f->smallest = f->any ? fmin(f->smallest, size) : size;
    f->largest = f->any ? fmax(f->largest, size) : size;
    f->any = true;
    if (value != ceil(value)) f->whole = false;
    return TSR_OK;
}

static TsrStatus measure_width(void *user, TsrScalar s) {
    Measure *m = user;
    char text[NUMBER_ROOM];
    if (m->format->floating && !is_measured(m, part_of(s, m->part))) return TSR_OK;
    m->format->width = TSR_MAX(m->format->width, format_value(text, m->format, s, m->part));
    return TSR_OK;
}

static TsrStatus choose_format(Format *f, const TsrTensor *t, bool summarize, Part part) {
    Measure m = {f, part, t->dtype == TSR_FLOAT8_E8M0FNU ? tsr_dtypes[t->dtype].limits.low : 0};
    *f =
        (Format){.floating = tsr_dtype_is_float(t->dtype) || tsr_dtype_is_complex(t->dtype), .whole = true, .width = 1};
    if (f->floating) {
        TSR_TRY(walk(t, 0, t->offset, summarize, measure_range, &m));
        if (!f->any) return TSR_OK;
        f->scientific = options.sci_mode >= 0
                            ? options.sci_mode
                            : f->largest / f->smallest > 1000.0 || f->largest > 1.0e8 || f->smallest < 1.0e-4;
    }
    return walk(t, 0, t->offset, summarize, measure_width, &m);
}

/* ---- laying out ---- */

typedef struct Layout {
    TsrText *text;
    const TsrTensor *t;
    Format real, imag;
    bool complex, summarize;
} Layout;

static TsrStatus append_padded(TsrText *text, const char *number, int length, int width) {
    if (length < width) TSR_TRY(tsr_text_pad(text, ' ', (size_t)(width - length)));
    return tsr_text_append(text, number, (size_t)length);
}

static TsrStatus append_element(const Layout *l, int64_t offset) {
    char number[NUMBER_ROOM];
    TsrScalar s = element_at(l->t, offset);
    int length = format_value(number, &l->real, s, PART_REAL);
    TSR_TRY(append_padded(l->text, number, length, l->real.width));
    if (!l->complex) return TSR_OK;
    length = format_value(number, &l->imag, s, PART_IMAG); /* its padding is stripped: the sign comes first */
    if (number[0] != '-') TSR_TRY(tsr_text_putc(l->text, '+'));
    TSR_TRY(tsr_text_append(l->text, number, (size_t)length));
    return tsr_text_putc(l->text, 'j');
}

static TsrStatus append_vector(const Layout *l, int64_t offset, int indent) {
    int dim = tsr_ndim(l->t) - 1;
    int64_t n = l->t->sizes[dim], stride = l->t->strides[dim], edge = options.edgeitems;
    int64_t cell = l->real.width + 2 + (l->complex ? l->imag.width + 1 : 0);
    int64_t room = options.linewidth - indent, per_line = TSR_MAX(1, (room < 0 ? -1 : room) / cell);
    bool gap = l->summarize && (edge == 0 || n > 2 * edge);
    int64_t shown = gap ? 2 * edge + 1 : n;
    TSR_TRY(tsr_text_putc(l->text, '['));
    for (int64_t k = 0; k < shown; k++) {
        TSR_TRY(tsr_interrupt_check_at(k));
        if (k > 0 && k % per_line != 0) TSR_TRY(tsr_text_puts(l->text, ", "));
        if (k > 0 && k % per_line == 0) {
            TSR_TRY(tsr_text_puts(l->text, ",\n"));
            TSR_TRY(tsr_text_pad(l->text, ' ', (size_t)indent + 1));
        }
        if (gap && k == edge) TSR_TRY(tsr_text_puts(l->text, edge == 0 ? "..." : " ..."));
        else TSR_TRY(append_element(l, offset + stride * (gap && k > edge ? n - shown + k : k)));
    }
    return tsr_text_putc(l->text, ']');
}

static TsrStatus append_separator(const Layout *l, int dims_left, int indent) {
    TSR_TRY(tsr_text_putc(l->text, ','));
    TSR_TRY(tsr_text_pad(l->text, '\n', (size_t)dims_left - 1));
    return tsr_text_pad(l->text, ' ', (size_t)indent + 1);
}

static TsrStatus append_dims(const Layout *l, int dim, int64_t offset, int indent) {
    int left = tsr_ndim(l->t) - dim;
    if (left == 0) return append_element(l, offset);
    if (left == 1) return append_vector(l, offset, indent);
    int64_t n = l->t->sizes[dim], edge = options.edgeitems;
    bool gap = l->summarize && n > 2 * edge;
    int64_t shown = gap ? 2 * edge + 1 : n;
    TSR_TRY(tsr_text_putc(l->text, '['));
    for (int64_t k = 0; k < shown; k++) {
        if (k > 0) TSR_TRY(append_separator(l, left, indent));
        if (gap && k == edge) TSR_TRY(tsr_text_puts(l->text, "..."));
        else
            TSR_TRY(append_dims(l, dim + 1, offset + l->t->strides[dim] * (gap && k > edge ? n - shown + k : k),
                                indent + 1));
    }
    return tsr_text_putc(l->text, ']');
}

/* The elements of a dense numeric tensor with conj and neg resolved. */
static TsrStatus append_numbers(TsrText *text, const TsrTensor *t, int indent) {
    Layout l = {.text = text,
                .t = t,
                .complex = tsr_dtype_is_complex(t->dtype),
                .summarize = (double)t->numel > options.threshold};
    TSR_TRY(choose_format(&l.real, t, l.summarize, PART_REAL));
    if (l.complex) TSR_TRY(choose_format(&l.imag, t, l.summarize, PART_IMAG));
    return append_dims(&l, 0, t->offset, indent);
}

/* ---- elements that are objects ---- */

/* A string in Python's quotes, control bytes escaped. */
static TsrStatus append_quoted(TsrText *text, const TsrString *s) {
    bool single = memchr(s->data != NULL ? s->data : "", '\'', s->length) != NULL;
    bool dbl = memchr(s->data != NULL ? s->data : "", '"', s->length) != NULL;
    char quote = single && !dbl ? '"' : '\'';
    TSR_TRY(tsr_text_putc(text, quote));
    for (size_t i = 0; i < s->length; i++) {
        unsigned char c = (unsigned char)s->data[i];
        if (c == (unsigned char)quote || c == '\\') TSR_TRY(tsr_text_printf(text, "\\%c", c));
        else if (c == '\n') TSR_TRY(tsr_text_puts(text, "\\n"));
        else if (c == '\t') TSR_TRY(tsr_text_puts(text, "\\t"));
        else if (c == '\r') TSR_TRY(tsr_text_puts(text, "\\r"));
        else if (c < 32 || c == 127) TSR_TRY(tsr_text_printf(text, "\\x%02x", c));
        else TSR_TRY(tsr_text_putc(text, (char)c));
    }
    return tsr_text_putc(text, quote);
}

/* Nested tensors within each other that are printed: the bound of the recursion. */
enum { MAX_NESTING = 64 };
static _Thread_local int nesting; /* a nested tensor may hold nested tensors */

static TsrStatus append_object(TsrText *text, const TsrTensor *t, int64_t offset, int indent) {
    const char *element = (const char *)t->storage->ptr.data + offset * (int64_t)tsr_itemsize(t);
    if (t->dtype == TSR_STRING) return append_quoted(text, (const TsrString *)element);
    const TsrTensor *inner = *(TsrTensor *const *)element;
    if (inner == NULL) return tsr_text_puts(text, "undefined");
    if (nesting >= MAX_NESTING) return tsr_text_puts(text, "tensor(...)");
    nesting++;
    TsrStatus status = tsr_print_tensor(text, inner, indent);
    nesting--;
    return status;
}

static TsrStatus append_objects(TsrText *text, const TsrTensor *t, int dim, int64_t offset, int indent) {
    if (dim == tsr_ndim(t)) return append_object(text, t, offset, indent);
    int64_t n = t->sizes[dim], edge = options.edgeitems;
    bool gap = (double)t->numel > options.threshold && n > 2 * edge;
    bool lines = t->dtype == TSR_NESTED || dim + 1 < tsr_ndim(t);
    TSR_TRY(tsr_text_putc(text, '['));
    for (int64_t i = 0; i < n; i++) {
        if (i > 0) TSR_TRY(tsr_text_puts(text, lines ? ",\n" : ", "));
        if (i > 0 && lines) TSR_TRY(tsr_text_pad(text, ' ', (size_t)indent + 1));
        if (gap && i == edge) {
            TSR_TRY(tsr_text_puts(text, "..."));
            i = n - edge - 1;
            continue;
        }
        TSR_TRY(append_objects(text, t, dim + 1, offset + i * t->strides[dim], indent + 1));
    }
    return tsr_text_putc(text, ']');
}

/* ---- the whole ---- */

static TsrStatus append_host_elements(TsrText *text, const TsrTensor *t, int indent) {
    if (t->numel == 0) return tsr_text_puts(text, "[]");
    TSR_TRY(tsr_tensor_check(t, false));
    if (!tsr_dtype_is_pod(t->dtype)) return append_objects(text, t, 0, t->offset, indent);
    TSR_OWNED resolved = NULL;
    TSR_TRY(tsr_tensor_new_resolved(&resolved, t));
    return append_numbers(text, resolved, indent);
}

static TsrStatus append_elements(TsrText *text, const TsrTensor *t, int indent) {
    return tsr_on_host("print", t, append_host_elements(text, t, indent));
}

static TsrStatus append_tuple(TsrText *text, int n, const int64_t *items) {
    TSR_TRY(tsr_text_putc(text, '('));
    for (int i = 0; i < n; i++) TSR_TRY(tsr_text_printf(text, i == 0 ? "%lld" : ", %lld", (long long)items[i]));
    return tsr_text_puts(text, n == 1 ? ",)" : ")");
}

/* The suffixes wrap to a new line where the last one would pass the line's width. */
typedef struct Suffixes {
    TsrText *text;
    int64_t last_line; /* length of the last line, as _add_suffixes counts it */
    int indent;
    bool force_newline;
} Suffixes;

static Suffixes begin_suffixes(TsrText *text, size_t start, int indent) {
    size_t line = text->length;
    while (line > start && text->data[line - 1] != '\n') line--;
    return (Suffixes){text, (int64_t)(text->length - line) + 2, indent, false};
}

static TsrStatus add_suffix(Suffixes *s, const char *suffix) {
    int64_t n = (int64_t)strlen(suffix);
    if (s->force_newline || s->last_line + n + 2 > options.linewidth) {
        s->force_newline = false;
        s->last_line = s->indent + n;
        TSR_TRY(tsr_text_puts(s->text, ",\n"));
        TSR_TRY(tsr_text_pad(s->text, ' ', (size_t)s->indent));
    } else {
        s->last_line += n + 2;
        TSR_TRY(tsr_text_puts(s->text, ", "));
    }
    return tsr_text_puts(s->text, suffix);
}

static TsrStatus add_size_suffix(Suffixes *s, const TsrTensor *t) {
    TsrText size = {0};
    TsrStatus status = tsr_text_puts(&size, "size=");
    if (status == TSR_OK) status = append_tuple(&size, tsr_ndim(t), t->sizes);
    if (status == TSR_OK) status = add_suffix(s, size.data);
    tsr_text_free(&size);
    return status;
}

static TsrStatus add_dtype_suffix(Suffixes *s, const TsrTensor *t) {
    char suffix[64];
    snprintf(suffix, sizeof suffix, "dtype=torch.%s", tsr_dtype_name(t->dtype));
    return add_suffix(s, suffix);
}

static bool has_default_dtype(const TsrTensor *t) {
    TsrDtype complex = tsr_default_dtype() == TSR_FLOAT64 ? TSR_COMPLEX128 : TSR_COMPLEX64;
    return t->dtype == tsr_default_dtype() || t->dtype == complex || t->dtype == TSR_INT64 || t->dtype == TSR_BOOL;
}

static TsrStatus add_device_suffix(Suffixes *s, const TsrTensor *t) {
    char device[16], suffix[32];
    if (t->device.type == TSR_CPU) return TSR_OK;
    snprintf(suffix, sizeof suffix, "device='%s'", tsr_device_format(t->device, device));
    return add_suffix(s, suffix);
}

static TsrStatus append_strided(TsrText *text, const TsrTensor *t, int indent) {
    size_t start = text->length;
    bool empty = t->numel == 0, meta = tsr_is_meta(t);
    TSR_TRY(tsr_text_puts(text, "tensor("));
    TSR_TRY(meta ? tsr_text_puts(text, "...") : append_elements(text, t, indent + 7));
    Suffixes s = begin_suffixes(text, start, indent + 7);
    TSR_TRY(add_device_suffix(&s, t));
    if (meta || (empty && tsr_ndim(t) != 1) || (!empty && options.edgeitems == 0)) TSR_TRY(add_size_suffix(&s, t));
    bool show_dtype = meta || empty ? t->dtype != tsr_default_dtype() : !has_default_dtype(t);
    if (show_dtype) TSR_TRY(add_dtype_suffix(&s, t));
    return tsr_text_putc(text, ')');
}

/* ---- sparse layouts ---- */

static const struct {
    const char *name, *compressed, *plain;
} sparse_layouts[] = {
    [TSR_SPARSE_COO] = {"torch.sparse_coo", "indices", NULL},
    [TSR_SPARSE_CSR] = {"torch.sparse_csr", "crow_indices", "col_indices"},
    [TSR_SPARSE_CSC] = {"torch.sparse_csc", "ccol_indices", "row_indices"},
    [TSR_SPARSE_BSR] = {"torch.sparse_bsr", "crow_indices", "col_indices"},
    [TSR_SPARSE_BSC] = {"torch.sparse_bsc", "ccol_indices", "row_indices"},
};

/* "indices=tensor([...])" and, when not the last, a line break. */
static TsrStatus append_member(TsrText *text, const char *name, const TsrTensor *t, int indent, bool last) {
    TSR_TRY(tsr_text_printf(text, "%s=tensor(", name));
    if (tsr_is_meta(t)) TSR_TRY(tsr_text_puts(text, "..."));
    else TSR_TRY(append_elements(text, t, indent + (int)strlen(name) + 8));
    if (tsr_is_meta(t) || t->numel == 0) {
        TSR_TRY(tsr_text_puts(text, ", size="));
        TSR_TRY(append_tuple(text, tsr_ndim(t), t->sizes));
    }
    TSR_TRY(tsr_text_putc(text, ')'));
    if (last) return TSR_OK;
    TSR_TRY(tsr_text_puts(text, ",\n"));
    return tsr_text_pad(text, ' ', (size_t)indent);
}

static TsrStatus append_sparse(TsrText *text, const TsrTensor *t, int indent) {
    size_t start = text->length;
    const TsrSparse *sp = t->sparse;
    bool coo = t->layout == TSR_SPARSE_COO;
    char suffix[64];
    TSR_TRY(tsr_text_puts(text, "tensor("));
    TSR_TRY(append_member(text, sparse_layouts[t->layout].compressed, sp->indices, indent + 7, false));
    if (!coo) TSR_TRY(append_member(text, sparse_layouts[t->layout].plain, sp->plain_indices, indent + 7, false));
    TSR_TRY(append_member(text, "values", sp->values, indent + 7, true));
    Suffixes s = begin_suffixes(text, start, indent + 7);
    s.force_newline = coo;
    TSR_TRY(add_device_suffix(&s, t));
    TSR_TRY(add_size_suffix(&s, t));
    if (!tsr_is_meta(t)) {
        int64_t nnz = coo ? sp->indices->sizes[1] : sp->plain_indices->sizes[tsr_ndim(sp->plain_indices) - 1];
        snprintf(suffix, sizeof suffix, "nnz=%lld", (long long)nnz);
        TSR_TRY(add_suffix(&s, suffix));
    }
    if (!has_default_dtype(t)) TSR_TRY(add_dtype_suffix(&s, t));
    snprintf(suffix, sizeof suffix, "layout=%s", sparse_layouts[t->layout].name);
    TSR_TRY(add_suffix(&s, suffix));
    return tsr_text_putc(text, ')');
}

TsrStatus tsr_print_tensor(TsrText *text, const TsrTensor *t, int indent) {
    locale_t c_locale = tsr_c_locale(),
             before = c_locale != (locale_t)0 ? uselocale(c_locale) : (locale_t)0; /* for printf's decimal point */
    TsrStatus status = !tsr_is_defined(t) ? tsr_text_puts(text, "tensor(undefined)")
                       : tsr_is_sparse(t) ? append_sparse(text, t, indent)
                                          : append_strided(text, t, indent);
    if (before != (locale_t)0) uselocale(before);
    return status == TSR_OK ? tsr_interrupt_check()
                            : status; /* a mapped file that became shorter has not these elements */
}
