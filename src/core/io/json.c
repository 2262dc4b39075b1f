/* json.c: nested arrays of numbers or booleans, or an object of such arrays (RFC 8259, strictly); and JSON lines, a value on each.
 * A pull parser of our own: it fills a flat vector of numbers and learns the shape on the way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "formats.h"
#include "json_text.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/number.h"
#include "core/view.h"

enum { MAX_DEPTH = 64 };

/* A byte order mark, which some programs write, says nothing. */
static size_t mark_size(const char *data, size_t size) { return size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; }

bool tsr_json_probe(const char *data, size_t size) {
    size_t i = mark_size(data, size);
    while (i < size && strchr(" \t\r\n", data[i]) != NULL && data[i] != '\0') i++;
    return i < size && (data[i] == '[' || data[i] == '{');
}

/* The numbers of one array: as int64 while all are whole, as double too, so that one of them is right in the end. */
typedef struct Numbers {
    double *floats;
    int64_t *ints;
    size_t n, room;
    bool all_int, all_bool, any_bool;
    int leaf;                      /* depth of the numbers, -1 unknown */
    int64_t sizes[MAX_DEPTH];      /* -1 unknown */
} Numbers;

static TsrJson text_of(const TsrInput *in) {
    const char *start = in->data + mark_size(in->data, in->size);
    return (TsrJson){in, start, in->data + in->size, start, ""};
}

static TsrStatus make_room(Numbers *v) {
    if (v->n < v->room) return TSR_OK;
    size_t room = v->room; /* the same for both */
    TSR_TRY(tsr_mem_grow(&v->floats, &room, v->n + 1, sizeof *v->floats));
    return tsr_mem_grow(&v->ints, &v->room, v->n + 1, sizeof *v->ints);
}

/* number := -? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][+-]?[0-9]+)?: what a lenient reader would take besides is refused. */
static bool number_shape(const char *p, const char *end, const char **stop, bool *whole) {
    *whole = true;
    if (p < end && *p == '-') p++;
    const char *digits = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    if (p == digits || (*digits == '0' && p - digits > 1)) return false;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        if (p == fraction) return false;
        *whole = false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        const char *power = p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        if (p == power) return false;
        *whole = false;
    }
    *stop = p;
    return true;
}

static TsrStatus read_number(TsrJson *j, Numbers *v) {
    const char *stop;
    bool whole, boolean = true;
    TSR_TRY(make_room(v));
    if (tsr_json_accept(j, "true")) {
        v->ints[v->n] = 1;
        v->floats[v->n] = 1;
    } else if (tsr_json_accept(j, "false")) {
        v->ints[v->n] = 0;
        v->floats[v->n] = 0;
    } else if (tsr_json_accept(j, "null")) {
        v->floats[v->n] = NAN;
        v->all_int = boolean = false;
    } else {
        if (!number_shape(j->p, j->end, &stop, &whole)) return tsr_json_error(j, "a number or an array was expected");
        boolean = false;
        tsr_parse_double(&v->floats[v->n], j->p, stop);
        if (!whole || tsr_parse_int64(&v->ints[v->n], j->p, stop) != stop) v->all_int = false;
        j->p = stop;
    }
    v->any_bool |= boolean;
    v->all_bool &= boolean;
    v->n++;
    return TSR_OK;
}

static TsrStatus read_array(TsrJson *j, Numbers *v, int depth);

static TsrStatus read_element(TsrJson *j, Numbers *v, int depth) {
    tsr_json_skip_space(j);
    if (j->p < j->end && *j->p == '[') return read_array(j, v, depth);
    if (j->p < j->end && *j->p == '"') return tsr_json_error(j, "a string where a number was expected");
    if (j->p < j->end && *j->p == '{') return tsr_json_error(j, "an object where a number was expected");
    if (v->leaf < 0 && depth < MAX_DEPTH && v->sizes[depth] >= 0) return tsr_json_error(j, "a number beside arrays does not make a tensor");
    if (v->leaf < 0) v->leaf = depth;
    if (v->leaf != depth) return tsr_json_error(j, "numbers at different depths do not make a tensor");
    return read_number(j, v);
}

static TsrStatus read_array(TsrJson *j, Numbers *v, int depth) {
    int64_t n = 0;
    if (depth == MAX_DEPTH) return tsr_json_error(j, "arrays nested deeper than 64");
    if (v->leaf >= 0 && depth >= v->leaf) return tsr_json_error(j, "numbers at different depths do not make a tensor");
    j->p++;
    tsr_json_skip_space(j);
    while (j->p < j->end && *j->p != ']') {
        if ((n & 4095) == 0) TSR_TRY(tsr_interrupt_check());
        TSR_TRY(read_element(j, v, depth + 1));
        n++;
        tsr_json_skip_space(j);
        if (j->p < j->end && *j->p == ',') {
            j->p++;
            tsr_json_skip_space(j);
            if (j->p < j->end && *j->p == ']') return tsr_json_error(j, "a value was expected after ,");
        } else if (j->p < j->end && *j->p != ']') {
            return tsr_json_error(j, ", or ] was expected");
        }
    }
    if (j->p == j->end) return tsr_json_error(j, "the text ends inside an array");
    j->p++;
    if (v->sizes[depth] < 0) v->sizes[depth] = n;
    if (v->sizes[depth] != n) {
        char text[96];
        snprintf(text, sizeof text, "this array has %lld element%s, those before it %lld", (long long)n, n == 1 ? "" : "s", (long long)v->sizes[depth]);
        return tsr_json_error(j, text);
    }
    return TSR_OK;
}

/* Numbers that are to be integers are such, and fit: nothing is cut off or wraps around. */
static TsrStatus check_integers(const TsrJson *j, const Numbers *v, TsrDtype wanted) {
    bool integral = wanted != TSR_DTYPE_NONE && tsr_dtype_is_integral(wanted);
    for (size_t i = 0; i < v->n && integral; i++) {
        if ((i & 0xFFFFF) == 0) TSR_TRY(tsr_interrupt_check());
        double d = v->floats[i];
        bool whole = v->all_int || (d == floor(d) && d >= -0x1p63 && d < 0x1p63); /* not nan, either */
        if (whole && tsr_integer_fits(wanted, v->all_int ? v->ints[i] : (int64_t)d)) continue;
        return tsr_input_error(j->in, whole ? "number %zu, %.17g, does not fit torch.%s" : "number %zu, %.17g, is not an integer (torch.%s)", i + 1, d, tsr_dtype_name(wanted));
    }
    return TSR_OK;
}

static TsrStatus new_from_numbers(TsrTensor **out, const TsrJson *j, const Numbers *v, int ndim, TsrDtype wanted) {
    TsrTensor *t, *converted;
    TSR_TRY(check_integers(j, v, wanted));
    bool mixed = v->any_bool && !v->all_bool;
    TsrDtype dtype = v->n == 0 ? TSR_FLOAT64 : v->all_bool ? TSR_BOOL : v->all_int && !mixed ? TSR_INT64 : TSR_FLOAT64;
    TSR_TRY(tsr_tensor_new(&t, ndim, v->sizes, dtype, TSR_DEVICE_CPU));
    if (dtype == TSR_BOOL)
        for (size_t i = 0; i < v->n; i++) ((bool *)tsr_data(t))[i] = v->ints[i] != 0;
    else if (v->n > 0)
        memcpy(tsr_data(t), dtype == TSR_INT64 ? (const void *)v->ints : (const void *)v->floats, v->n * 8);
    *out = t;
    if (wanted == TSR_DTYPE_NONE || wanted == dtype) return TSR_OK;
    TsrStatus status = tsr_tensor_new_cast(&converted, t, wanted);
    tsr_tensor_free(t);
    *out = status == TSR_OK ? converted : NULL;
    return status;
}

static Numbers no_numbers(void) {
    Numbers v = {.all_int = true, .all_bool = true, .leaf = -1};
    for (int d = 0; d < MAX_DEPTH; d++) v.sizes[d] = -1;
    return v;
}

static void free_numbers(Numbers *v) {
    tsr_free(v->floats);
    tsr_free(v->ints);
}

static int ndim_of(const Numbers *v) {
    int ndim = v->leaf;
    if (ndim < 0)
        for (ndim = 0; ndim < MAX_DEPTH && v->sizes[ndim] >= 0;) ndim++;
    return ndim;
}

static TsrStatus read_tensor(TsrTensor **out, TsrJson *j, TsrDtype wanted) {
    Numbers v = no_numbers();
    TsrStatus status = read_element(j, &v, 0);
    if (status == TSR_OK) status = new_from_numbers(out, j, &v, ndim_of(&v), wanted);
    free_numbers(&v);
    return status;
}

typedef struct Members {
    TsrItems *out;
    TsrDtype wanted;
} Members;

static bool same_name(const char *name, const char *key, size_t length) { return strlen(name) == length && memcmp(name, key, length) == 0; }

static TsrStatus read_named(TsrJson *j, const char *key, size_t length, void *context) {
    Members *m = context;
    TsrTensor *t = NULL;
    for (int i = 0; i < m->out->n; i++)
        if (same_name(m->out->items[i].name, key, length)) return tsr_json_error(j, "the key is there twice");
    TSR_TRY(read_tensor(&t, j, m->wanted));
    return tsr_items_add_move(m->out, key, length, t);
}

static TsrStatus check_dtype(const TsrInput *in, TsrDtype wanted) {
    if (wanted == TSR_DTYPE_NONE || tsr_dtype_is_pod(wanted)) return TSR_OK;
    return tsr_input_error(in, "numbers can't be torch.%s", tsr_dtype_name(wanted));
}

TsrStatus tsr_json_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrJson j = text_of(in);
    TsrTensor *t = NULL;
    TSR_TRY(check_dtype(in, options->dtype));
    tsr_json_skip_space(&j);
    bool object = j.p < j.end && *j.p == '{';
    if (object) TSR_TRY(tsr_json_object(&j, read_named, &(Members){out, options->dtype}));
    else TSR_TRY(read_tensor(&t, &j, options->dtype));
    tsr_json_skip_space(&j);
    if (j.p != j.end) {
        tsr_tensor_free(t);
        return tsr_json_error(&j, "more text after the value");
    }
    return object ? TSR_OK : tsr_items_single_move(out, t);
}

/* ---- a value on each line ---- */

/* What the lines give, one below the other: the numbers of arrays, without a name, or of a key of objects. */
typedef struct Column {
    char *name;
    int64_t rows;
    Numbers numbers; /* the lines are dimension 0 */
} Column;

typedef struct Lines {
    Column *columns;
    int n;
    int64_t rows;
    bool chosen; /* by --columns: other keys are passed over */
} Lines;

static void free_lines(Lines *l) {
    for (int i = 0; i < l->n; i++) {
        tsr_free(l->columns[i].name);
        free_numbers(&l->columns[i].numbers);
    }
    tsr_free(l->columns);
}

static TsrStatus add_column(Lines *l, const char *name, size_t length) {
    Column *grown = tsr_realloc(l->columns, sizeof *grown * (size_t)(l->n + 1));
    if (grown != NULL) l->columns = grown;
    char *copy = grown != NULL ? tsr_malloc(length + 1) : NULL;
    if (copy == NULL) return tsr_error_no_memory(sizeof *grown + length);
    memcpy(copy, name, length);
    copy[length] = '\0';
    l->columns[l->n++] = (Column){copy, 0, no_numbers()};
    return TSR_OK;
}

static TsrStatus choose_columns(Lines *l, const char *list) {
    for (l->chosen = list != NULL; list != NULL && *list != '\0';) {
        size_t length = strcspn(list, ",");
        TSR_TRY(add_column(l, list, length));
        list += length + (list[length] == ',');
    }
    return TSR_OK;
}

/* Passes over any value: texts, and whatever stands in brackets. */
static TsrStatus skip_value(TsrJson *j) {
    int depth = 0;
    bool text = false;
    for (; j->p < j->end && *j->p != '\n'; j->p++) {
        char c = *j->p;
        if (text && c == '\\' && j->p + 1 < j->end) j->p++;
        else if (c == '"') text = !text;
        else if (!text && (c == '[' || c == '{')) depth++;
        else if (!text && depth == 0 && (c == ',' || c == '}')) return TSR_OK;
        else if (!text && (c == ']' || c == '}')) depth--;
    }
    return tsr_json_error(j, "the text ends inside an object");
}

static TsrStatus read_cell(TsrJson *j, const char *key, size_t length, void *context) {
    Lines *l = context;
    int i = 0;
    while (i < l->n && !same_name(l->columns[i].name, key, length)) i++;
    if (i == l->n && l->chosen) return skip_value(j);
    if (i == l->n && l->rows > 0) return tsr_json_error(j, "a key that the lines before have not");
    if (i == l->n) TSR_TRY(add_column(l, key, length));
    if (l->columns[i].rows > l->rows) return tsr_json_error(j, "the key is there twice");
    l->columns[i].rows++;
    return read_element(j, &l->columns[i].numbers, 1);
}

static TsrStatus read_row(TsrJson *j, Lines *l) {
    TSR_TRY(tsr_json_object(j, read_cell, l));
    for (int i = 0; i < l->n; i++) {
        char text[96];
        snprintf(text, sizeof text, "the key '%.40s' is missing", l->columns[i].name);
        if (l->columns[i].rows == l->rows) return tsr_json_error(j, text);
    }
    return TSR_OK;
}

static TsrStatus read_lines(TsrJson *j, Lines *l, bool objects) {
    for (tsr_json_skip_space(j); j->p < j->end; tsr_json_skip_space(j)) {
        if ((l->rows & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        if (objects && *j->p != '{') return tsr_json_error(j, "an object was expected, as on the lines before");
        TSR_TRY(objects ? read_row(j, l) : read_element(j, &l->columns[0].numbers, 1));
        l->rows++;
        while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\r')) j->p++;
        if (j->p < j->end && *j->p != '\n') return tsr_json_error(j, "more text after the value");
    }
    return TSR_OK;
}

static TsrStatus take_columns(TsrItems *out, const TsrJson *j, Lines *l, bool objects, TsrDtype wanted) {
    for (int i = 0; i < l->n; i++) {
        TsrTensor *t;
        Numbers *v = &l->columns[i].numbers;
        v->sizes[0] = l->rows;
        TSR_TRY(new_from_numbers(&t, j, v, ndim_of(v), wanted));
        TSR_TRY(objects ? tsr_items_add_move(out, l->columns[i].name, strlen(l->columns[i].name), t) : tsr_items_single_move(out, t));
    }
    return TSR_OK;
}

TsrStatus tsr_jsonl_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrJson j = text_of(in);
    Lines lines = {0};
    TSR_TRY(check_dtype(in, options->dtype));
    tsr_json_skip_space(&j);
    bool objects = j.p < j.end && *j.p == '{';
    TsrStatus status = objects ? choose_columns(&lines, options->columns) : add_column(&lines, "", 0);
    if (status == TSR_OK) status = read_lines(&j, &lines, objects);
    if (status == TSR_OK) status = take_columns(out, &j, &lines, objects, options->dtype);
    free_lines(&lines);
    return status;
}

/* ---- writing ---- */

typedef struct Writer {
    TsrSink *sink;
    const TsrTensor *t;
    const TsrSaveOptions *options;
} Writer;

static TsrStatus write_number(const Writer *w, int64_t offset) {
    char text[48];
    const TsrTensor *t = w->t;
    TsrScalar s = tsr_scalar_load(t->dtype, (const char *)t->storage->ptr.data + offset * (int64_t)tsr_itemsize(t));
    const char *policy = w->options->json_nan != NULL ? w->options->json_nan : "null";
    if (s.kind == TSR_SCALAR_FLOAT && !isfinite(s.f)) {
        if (strcmp(policy, "error") == 0) return tsr_error(TSR_VALUE_ERROR, "JSON has no number for %s", isnan(s.f) ? "nan" : "inf");
        tsr_sink_puts(w->sink, strcmp(policy, "token") != 0 ? "null" : isnan(s.f) ? "NaN" : s.f > 0 ? "Infinity" : "-Infinity");
        return w->sink->status;
    }
    size_t n = tsr_format_element(text, s, t->dtype, w->options->precision, true);
    tsr_sink_write(w->sink, text, n);
    return w->sink->status;
}

static TsrStatus write_dims(const Writer *w, int dim, int64_t offset) {
    if (dim == tsr_ndim(w->t)) return write_number(w, offset);
    tsr_sink_puts(w->sink, "[");
    for (int64_t i = 0; i < w->t->sizes[dim]; i++) {
        if ((i & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        if (i > 0) tsr_sink_puts(w->sink, ", ");
        TSR_TRY(write_dims(w, dim + 1, offset + i * w->t->strides[dim]));
    }
    tsr_sink_puts(w->sink, "]");
    return w->sink->status;
}

static TsrStatus write_tensor(TsrSink *sink, const TsrTensor *t, const TsrSaveOptions *options) {
    if (tsr_is_sparse(t) || tsr_is_meta(t) || !tsr_dtype_is_pod(t->dtype) || tsr_dtype_is_complex(t->dtype))
        return tsr_error(TSR_VALUE_ERROR, "JSON holds dense real numbers, not this tensor of torch.%s", tsr_dtype_name(t->dtype));
    TSR_TRY(tsr_tensor_check(t, false));
    TsrTensor *resolved;
    TSR_TRY(tsr_tensor_new_resolved(&resolved, t));
    Writer w = {sink, resolved, options};
    TsrStatus status = write_dims(&w, 0, resolved->offset);
    tsr_tensor_free(resolved);
    return status;
}

static void write_key(TsrSink *sink, const char *name) {
    tsr_json_put_string(sink, name);
    tsr_sink_puts(sink, ": ");
}

TsrStatus tsr_json_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    if (!items->single) tsr_sink_puts(sink, "{");
    for (int i = 0; i < items->n; i++) {
        if (i > 0) tsr_sink_puts(sink, ", ");
        if (!items->single) write_key(sink, items->items[i].name);
        TSR_TRY(write_tensor(sink, items->items[i].tensor, options));
    }
    tsr_sink_puts(sink, items->single ? "\n" : "}\n");
    return sink->status;
}

/* ---- writing a value on each line ---- */

static TsrStatus write_line(TsrSink *sink, const TsrItems *items, int64_t row, const TsrSaveOptions *options) {
    if (!items->single) tsr_sink_puts(sink, "{");
    for (int i = 0; i < items->n; i++) {
        TsrTensor *t;
        if (i > 0) tsr_sink_puts(sink, ", ");
        if (!items->single) write_key(sink, items->items[i].name);
        TSR_TRY(tsr_tensor_new_select(&t, items->items[i].tensor, 0, row));
        TsrStatus status = write_tensor(sink, t, options);
        tsr_tensor_free(t);
        TSR_TRY(status);
    }
    tsr_sink_puts(sink, items->single ? "\n" : "}\n");
    return sink->status;
}

TsrStatus tsr_jsonl_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    int64_t rows = 0;
    for (int i = 0; i < items->n; i++) {
        const TsrTensor *t = items->items[i].tensor;
        if (tsr_is_sparse(t)) return tsr_error(TSR_VALUE_ERROR, "JSON lines hold dense tensors; convert with to_dense()");
        if (tsr_ndim(t) == 0) return items->single ? tsr_json_write(sink, items, options) : tsr_error(TSR_VALUE_ERROR, "'%s' has no dimension that could be lines", items->items[i].name);
        if (i > 0 && t->sizes[0] != rows) return tsr_error(TSR_VALUE_ERROR, "'%s' has %lld rows, those before it %lld", items->items[i].name, (long long)t->sizes[0], (long long)rows);
        rows = t->sizes[0];
    }
    for (int64_t row = 0; row < rows; row++) {
        if ((row & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        TSR_TRY(write_line(sink, items, row, options));
    }
    return sink->status;
}
