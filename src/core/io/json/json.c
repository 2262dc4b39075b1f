/* json.c: nested arrays of numbers or booleans are tensors; objects and all else that JSON has, values that hold such
 * (RFC 8259, strictly, with NaN and Infinity as --json-nan token writes them); and JSON lines, a value on each. A pull
 * parser of our own: an array is tried as numbers first, which fill a flat vector and tell the shape on the way; where
 * it turns out to be something else, it is read again as a list. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/io/elements.h"
#include "core/io/formats.h"
#include "json_table.h"
#include "json_text.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/table.h"
#include "core/number.h"
#include "core/view.h"

/* Lists within each other at most: the bound of the recursion. */
enum { MAX_DEPTH = 64 };

/* A byte order mark, which some programs write, says nothing. */
static size_t mark_size(const char *data, size_t size) {
    return size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* The first byte that is no space; NUL when there is none. */
static char first_byte(const char *data, size_t size) {
    size_t i = mark_size(data, size);
    while (i < size && data[i] != '\0' && strchr(" \t\r\n", data[i]) != NULL) i++;
    return i < size ? data[i] : '\0';
}

bool tsr_json_probe(const char *data, size_t size) {
    char c = first_byte(data, size);
    return c == '[' || c == '{';
}

/* Behind the object that begins at p; NULL where it holds a list or an object, or does not end on its line. */
static const char *skip_flat_object(const char *p, const char *end) {
    bool quoted = false;
    for (p++; p < end && *p != '\n'; p++) {
        if (quoted && *p == '\\') p++;
        else if (*p == '"') quoted = !quoted;
        else if (!quoted && (*p == '{' || *p == '[')) return NULL;
        else if (!quoted && *p == '}') return p + 1;
    }
    return NULL;
}

bool tsr_jsonl_probe(const char *data, size_t size) {
    const char *p = data + mark_size(data, size), *end = data + size;
    if (p == end || *p != '{' || (p = skip_flat_object(p, end)) == NULL) return false;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    return end - p > 1 && p[0] == '\n' && p[1] == '{';
}

bool tsr_json_agrees(const char *data, size_t size) {
    char c = first_byte(data, size);
    return c != '\0' && strchr("[{\"-0123456789tfnNI", c) != NULL;
}

/* What of a number is in `ints`. */
typedef enum Whole { NOT_WHOLE, WHOLE, WHOLE_UNSIGNED /* as uint64 */ } Whole;

/* The numbers of one array: as integers while they are whole, as double too, so that one of them is right in the end.
 */
typedef struct Numbers {
    double *floats;
    int64_t *ints;
    uint8_t *whole;   /* a Whole each */
    TsrPlace *places; /* where each stands, when `placed`; else NULL */
    size_t n, room;
    bool placed;
    bool all_int, all_bool, any_bool; /* all_int: all are written as integers, and 64 bits hold each */
    bool any_negative, any_unsigned;
    const char *rounded;      /* the first integer that float64 has not; NULL */
    int leaf;                 /* depth of the numbers, -1 unknown */
    int64_t sizes[MAX_DEPTH]; /* -1 unknown */
    char odd[96];             /* why these are no tensor, when the text is JSON all the same; "" */
    const char *odd_at;
    bool ragged; /* there were numbers only */
} Numbers;

static TsrJson text_of(const TsrInput *in) {
    const char *start = in->data + mark_size(in->data, in->size);
    return (TsrJson){.in = in, .start = start, .end = in->data + in->size, .p = start, .where = ""};
}

static TsrStatus make_room(Numbers *v) {
    if (v->n < v->room) return TSR_OK;
    const size_t before = v->room; /* of all four arrays */
    size_t room = before, same = before, places = before;
    TSR_TRY(tsr_mem_grow(&v->floats, &room, v->n + 1, sizeof *v->floats));
    TSR_TRY(tsr_mem_grow(&v->whole, &same, v->n + 1, sizeof *v->whole));
    if (v->placed) TSR_TRY(tsr_mem_grow(&v->places, &places, v->n + 1, sizeof *v->places));
    return tsr_mem_grow(&v->ints, &v->room, v->n + 1, sizeof *v->ints);
}

bool tsr_json_number_shape(const char *p, const char *end, const char **stop, bool *whole) {
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

/* The values that have a word: *value and, of true and false, that they are such. */
static bool accept_word(TsrJson *j, double *value, bool *boolean) {
    static const struct {
        const char *word;
        double value;
        bool boolean;
    } words[] = {{"true", 1, true},
                 {"false", 0, true},
                 {"null", NAN, false},
                 {"NaN", NAN, false},
                 {"Infinity", INFINITY, false},
                 {"-Infinity", -INFINITY, false}};
    bool digit = j->p < j->end && *j->p >= '0' && *j->p <= '9';
    for (size_t i = 0; i < TSR_COUNTOF(words) && !digit; i++) {
        if (!tsr_json_accept(j, words[i].word)) continue;
        *value = words[i].value;
        *boolean = words[i].boolean;
        return true;
    }
    return false;
}

/* What is written as a fraction or with an exponent may be whole, too. */
static Whole whole_value(int64_t *out, double d) {
    if (d != floor(d) || !(d >= -0x1p63 && d < 0x1p64)) return NOT_WHOLE;
    if (d >= 0x1p63) *out = (int64_t)(uint64_t)d;
    else *out = (int64_t)d;
    return d >= 0x1p63 ? WHOLE_UNSIGNED : WHOLE;
}

static Whole whole_text(int64_t *out, const char *p, const char *end) {
    uint64_t large;
    if (tsr_parse_int64(out, p, end) == end) return WHOLE;
    if (!tsr_parse_uint64(&large, p, end)) return NOT_WHOLE;
    *out = (int64_t)large;
    return WHOLE_UNSIGNED;
}

enum { EXACT_DIGITS = 15 }; /* that every double keeps */

static TsrStatus parse_number(TsrJson *j, Numbers *v) {
    const char *stop;
    bool integer, fits;
    double *d = &v->floats[v->n];
    if (!tsr_json_number_shape(j->p, j->end, &stop, &integer))
        return tsr_json_error(j, "a number or an array was expected");
    tsr_parse_double(d, j->p, stop);
    Whole whole = integer ? whole_text(&v->ints[v->n], j->p, stop) : whole_value(&v->ints[v->n], *d);
    v->whole[v->n] = (uint8_t)whole;
    v->all_int &= integer && whole != NOT_WHOLE;
    v->any_negative |= *d < 0;
    v->any_unsigned |= whole == WHOLE_UNSIGNED;
    if (integer && v->rounded == NULL && stop - j->p > EXACT_DIGITS && tsr_whole_is_rounded(j->p, stop, *d, &fits))
        v->rounded = j->p;
    j->p = stop;
    return TSR_OK;
}

TsrStatus tsr_json_scalar(TsrJson *j, TsrJsonScalar *out) {
    const char *stop;
    bool integer, boolean;
    if (tsr_json_accept(j, "null")) out->kind = TSR_JSON_NULL;
    else if (accept_word(j, &out->d, &boolean)) {
        out->kind = boolean ? TSR_JSON_BOOL : TSR_JSON_FLOAT;
        out->i = boolean && out->d != 0;
    } else {
        if (!tsr_json_number_shape(j->p, j->end, &stop, &integer)) return tsr_json_error(j, "a number was expected");
        Whole whole = integer ? whole_text(&out->i, j->p, stop) : NOT_WHOLE;
        out->kind = whole == WHOLE ? TSR_JSON_INT : whole == WHOLE_UNSIGNED ? TSR_JSON_UINT : TSR_JSON_FLOAT;
        if (whole == NOT_WHOLE) tsr_parse_double(&out->d, j->p, stop);
        j->p = stop;
    }
    return TSR_OK;
}

static TsrStatus read_number(TsrJson *j, Numbers *v) {
    bool boolean = false;
    TSR_TRY(make_room(v));
    const char *begin = j->p;
    if (!accept_word(j, &v->floats[v->n], &boolean)) TSR_TRY(parse_number(j, v));
    else {
        v->ints[v->n] = boolean && v->floats[v->n] != 0;
        v->whole[v->n] = boolean ? WHOLE : NOT_WHOLE;
        v->all_int &= boolean;
    }
    if (v->placed) v->places[v->n] = (TsrPlace){(size_t)(begin - j->in->data), (size_t)(j->p - j->in->data)};
    v->any_bool |= boolean;
    v->all_bool &= boolean;
    v->n++;
    return TSR_OK;
}

/* These are no tensor. The error has no words yet: its place is only looked for when it is shown. */
static TsrStatus be_odd(const TsrJson *j, Numbers *v, bool ragged, const char *why) {
    snprintf(v->odd, sizeof v->odd, "%s", why);
    v->odd_at = j->p;
    v->ragged = ragged;
    return TSR_VALUE_ERROR;
}

/* The error of numbers that had to be a tensor. */
static TsrStatus end_numbers(TsrStatus status, const TsrJson *j, const Numbers *v) {
    TsrJson at = *j;
    if (status == TSR_OK || v->odd[0] == '\0') return status;
    at.p = v->odd_at;
    return tsr_json_error(&at, v->odd);
}

static TsrStatus read_array(TsrJson *j, Numbers *v, int depth);

static TsrStatus read_element(TsrJson *j, Numbers *v, int depth) {
    tsr_json_skip_space(j);
    if (j->p < j->end && *j->p == '[') return read_array(j, v, depth);
    if (j->p < j->end && *j->p == '"') return be_odd(j, v, false, "a string where a number was expected");
    if (j->p < j->end && *j->p == '{') return be_odd(j, v, false, "an object where a number was expected");
    if (v->leaf < 0 && depth < MAX_DEPTH && v->sizes[depth] >= 0)
        return be_odd(j, v, true, "a number beside arrays does not make a tensor");
    if (v->leaf < 0) v->leaf = depth;
    if (v->leaf != depth) return be_odd(j, v, true, "numbers at different depths do not make a tensor");
    return read_number(j, v);
}

/* From behind an item up to the next, or to the bracket that ends them. */
static TsrStatus pass_comma(TsrJson *j) {
    tsr_json_skip_space(j);
    if (j->p < j->end && *j->p == ',') {
        j->p++;
        tsr_json_skip_space(j);
        if (j->p < j->end && *j->p == ']') return tsr_json_error(j, "a value was expected after ,");
    } else if (j->p < j->end && *j->p != ']') {
        return tsr_json_error(j, ", or ] was expected");
    }
    return j->p < j->end ? TSR_OK : tsr_json_error(j, "the text ends inside an array");
}

/* The bracket and what space is behind it. */
static TsrStatus open_array(TsrJson *j) {
    j->p++;
    tsr_json_skip_space(j);
    return j->p < j->end ? TSR_OK : tsr_json_error(j, "the text ends inside an array");
}

static TsrStatus read_array(TsrJson *j, Numbers *v, int depth) {
    char text[96];
    int64_t n = 0;
    if (depth == MAX_DEPTH) return be_odd(j, v, true, "arrays nested deeper than 64");
    if (v->leaf >= 0 && depth >= v->leaf) return be_odd(j, v, true, "numbers at different depths do not make a tensor");
    TSR_TRY(open_array(j));
    for (; *j->p != ']'; n++) {
        TSR_TRY(tsr_interrupt_check_at(n));
        TSR_TRY(read_element(j, v, depth + 1));
        TSR_TRY(pass_comma(j));
    }
    j->p++;
    if (v->sizes[depth] < 0) v->sizes[depth] = n;
    if (v->sizes[depth] == n) return TSR_OK;
    snprintf(text, sizeof text, "this array has %lld element%s, those before it %lld", (long long)n, n == 1 ? "" : "s",
             (long long)v->sizes[depth]);
    return be_odd(j, v, true, text);
}

/* ---- from numbers to tensors ---- */

static bool number_fits(const Numbers *v, size_t i, TsrDtype wanted) {
    if (v->whole[i] == WHOLE_UNSIGNED) return wanted == TSR_UINT64;
    return tsr_integer_fits(wanted, v->ints[i]);
}

static bool all_fit(const Numbers *v, TsrDtype wanted) {
    for (size_t i = 0; i < v->n; i++)
        if (v->whole[i] == NOT_WHOLE || !number_fits(v, i, wanted)) return false;
    return true;
}

/* The dtype that keeps each of these; TSR_DTYPE_NONE. */
static TsrDtype keeper_of(const Numbers *v) {
    return all_fit(v, TSR_INT64) ? TSR_INT64 : all_fit(v, TSR_UINT64) ? TSR_UINT64 : TSR_DTYPE_NONE;
}

/* Numbers that are to be integers are such, and fit: nothing is cut off or wraps around. */
static TsrStatus check_integers(const TsrJson *j, const Numbers *v, TsrDtype wanted) {
    bool integral = wanted != TSR_DTYPE_NONE && tsr_dtype_is_integral(wanted);
    for (size_t i = 0; i < v->n && integral; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        double d = v->floats[i];
        bool whole = v->whole[i] != NOT_WHOLE || (d == floor(d) && isfinite(d));
        if (v->whole[i] != NOT_WHOLE && number_fits(v, i, wanted)) continue;
        return tsr_input_error(j->in,
                               whole ? "number %zu, %.17g, does not fit torch.%s"
                                     : "number %zu, %.17g, is not an integer (torch.%s)",
                               i + 1, d, tsr_dtype_name(wanted));
    }
    return TSR_OK;
}

/* What the numbers are when nothing else is asked for. */
static TsrDtype own_dtype(const Numbers *v) {
    if (v->n > 0 && v->all_bool) return TSR_BOOL;
    if (v->n == 0 || !v->all_int || v->any_bool || (v->any_unsigned && v->any_negative)) return TSR_FLOAT64;
    return v->any_unsigned ? TSR_UINT64 : TSR_INT64;
}

/* The dtype that the numbers are put in first, before that which is asked for. */
static TsrDtype first_dtype(const Numbers *v, TsrDtype wanted) {
    bool integral = wanted != TSR_DTYPE_NONE && tsr_dtype_is_integral(wanted);
    return !integral ? own_dtype(v) : wanted == TSR_UINT64 ? TSR_UINT64 : TSR_INT64;
}

TsrStatus tsr_json_note_rounding(TsrItems *out, const TsrJson *j, const char *at, TsrDtype keeper) {
    int64_t line = j->in->lines_before + 1;
    const char *start = j->start;
    for (const char *p = j->start; (p = memchr(p, '\n', (size_t)(at - p))) != NULL; start = ++p) line++;
    return tsr_note_rounding(out, j->in, line, at - start + 1, keeper);
}

static TsrStatus new_from_numbers(TsrTensor **out, TsrItems *notes, const TsrJson *j, const Numbers *v, int ndim,
                                  TsrDtype wanted) {
    TsrTensor *t, *converted;
    TSR_TRY(check_integers(j, v, wanted));
    TsrDtype dtype = first_dtype(v, wanted), last = wanted == TSR_DTYPE_NONE ? dtype : wanted;
    if (v->rounded != NULL && dtype == TSR_FLOAT64 && last == TSR_FLOAT64 && !notes->rounded)
        TSR_TRY(tsr_json_note_rounding(notes, j, v->rounded, keeper_of(v)));
    TSR_TRY(tsr_tensor_new(&t, ndim, v->sizes, dtype, TSR_DEVICE_CPU));
    if (dtype == TSR_BOOL)
        for (size_t i = 0; i < v->n; i++) ((bool *)tsr_data(t))[i] = v->ints[i] != 0;
    else if (v->n > 0)
        memcpy(tsr_data(t), dtype != TSR_FLOAT64 ? (const void *)v->ints : (const void *)v->floats, v->n * 8);
    *out = t;
    if (last == dtype) return TSR_OK;
    TsrStatus status = tsr_tensor_new_cast(&converted, t, last);
    tsr_tensor_free(t);
    *out = status == TSR_OK ? converted : NULL;
    return status;
}

static Numbers no_numbers(bool placed) {
    Numbers v = {.placed = placed, .all_int = true, .all_bool = true, .leaf = -1};
    for (int d = 0; d < MAX_DEPTH; d++) v.sizes[d] = -1;
    return v;
}

static void free_numbers(Numbers *v) {
    tsr_free(v->floats);
    tsr_free(v->ints);
    tsr_free(v->whole);
    tsr_free(v->places);
}

static int ndim_of(const Numbers *v) {
    int ndim = v->leaf;
    if (ndim < 0)
        for (ndim = 0; ndim < MAX_DEPTH && v->sizes[ndim] >= 0;) ndim++;
    return ndim;
}

static TsrStatus add_places(TsrPlaces *out, const Numbers *v) {
    if (out == NULL || v->n == 0) return TSR_OK;
    TSR_TRY(tsr_mem_grow(&out->of, &out->room, out->n + v->n, sizeof *out->of));
    memcpy(out->of + out->n, v->places, v->n * sizeof *out->of);
    out->n += v->n;
    return TSR_OK;
}

/* ---- any value ---- */

typedef struct Reader {
    TsrJson *j;
    TsrItems *out;
    const TsrLoadOptions *options;
    int depth;
    TsrNode *dict; /* whose members are read */
} Reader;

static TsrStatus read_value(TsrNode **lent, Reader *r);

static TsrStatus read_string(TsrNode **lent, Reader *r) {
    TsrText text = {0};
    TsrStatus status = tsr_json_string(r->j, &text, "a string");
    if (status == TSR_OK)
        status = tsr_tree_add_text(lent, &r->out->tree, TSR_NODE_STR, text.data != NULL ? text.data : "", text.length);
    tsr_text_free(&text);
    return status;
}

static TsrStatus enter(Reader *r) {
    TSR_TRY(tsr_interrupt_check());
    return ++r->depth < TSR_TREE_DEPTH ? TSR_OK : tsr_json_error(r->j, "values nested too deep");
}

static TsrStatus read_list(TsrNode **lent, Reader *r) {
    TsrNode *item;
    TSR_TRY(enter(r));
    TSR_TRY(tsr_tree_add(lent, &r->out->tree, TSR_NODE_LIST));
    TSR_TRY(open_array(r->j));
    while (*r->j->p != ']') {
        TSR_TRY(read_value(&item, r));
        TSR_TRY(tsr_node_append(*lent, item));
        TSR_TRY(pass_comma(r->j));
    }
    r->j->p++;
    r->depth--;
    return TSR_OK;
}

/* The key's node keeps where it stands, for the error about one that is there twice. */
static TsrStatus read_member(TsrJson *j, const char *key, size_t length, void *context) {
    Reader *r = context;
    TsrNode *name, *value, *dict = r->dict;
    TSR_TRY(tsr_tree_add_text(&name, &r->out->tree, TSR_NODE_STR, key, length));
    name->i = j->p - j->start;
    TSR_TRY(read_value(&value, r));
    r->dict = dict;
    TSR_TRY(tsr_node_append(dict, name));
    return tsr_node_append(dict, value);
}

static int by_key(const void *a, const void *b) {
    const TsrNode *x = *(TsrNode *const *)a, *y = *(TsrNode *const *)b;
    int order = memcmp(x->text, y->text, TSR_MIN(x->length, y->length));
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static TsrStatus check_keys(const TsrJson *j, const TsrNode *dict) {
    const void **sorted;
    TsrJson at = *j;
    size_t n = dict->n / 2, i = 1;
    TSR_TRY(tsr_new_sorted(&sorted, dict->children, n, 2 * sizeof *dict->children, by_key));
    while (i < n && by_key(sorted[i - 1], sorted[i]) != 0) i++;
    if (i < n) at.p = j->start + (*(TsrNode *const *)sorted[i])->i;
    tsr_free(sorted);
    return i < n ? tsr_json_error(&at, "the key is there twice") : TSR_OK;
}

static TsrStatus read_dict(TsrNode **lent, Reader *r) {
    TSR_TRY(enter(r));
    TSR_TRY(tsr_tree_add(lent, &r->out->tree, TSR_NODE_DICT));
    r->dict = *lent;
    TSR_TRY(tsr_json_object(r->j, read_member, r));
    r->depth--;
    return check_keys(r->j, *lent);
}

static TsrStatus add_tensor(TsrNode **lent, Reader *r, const Numbers *v) {
    TsrTensor *t;
    TSR_TRY(new_from_numbers(&t, r->out, r->j, v, ndim_of(v), r->options->dtype));
    TsrStatus status = tsr_tree_add(lent, &r->out->tree, TSR_NODE_TENSOR);
    if (status != TSR_OK) tsr_tensor_free(t);
    else (*lent)->tensor = t;
    return status == TSR_OK ? add_places(r->options->places, v) : status;
}

/* That numbers alone are a list is told, with the reason. */
static TsrStatus note_ragged(Reader *r, const Numbers *v) {
    TsrJson at = *r->j;
    if (!v->ragged || r->out->notes.length > 0) return TSR_OK;
    at.p = v->odd_at;
    tsr_json_error(&at, v->odd);
    TsrStatus status = tsr_text_printf(&r->out->notes, "%s: a list, not a tensor\n", tsr_error_message());
    tsr_error_clear();
    return status;
}

/* Inside of something else what has no number in it, [] or [[]], is a list, unless numbers of some dtype are wanted: it
 * may have been one of anything. */
static TsrStatus read_numbers(TsrNode **lent, Reader *r) {
    Numbers v = no_numbers(r->options->places != NULL);
    TsrJson begin = *r->j;
    TsrStatus status = read_element(r->j, &v, 0);
    bool empty = status == TSR_OK && v.n == 0 && r->depth > 0 && r->options->dtype == TSR_DTYPE_NONE;
    bool list = empty || (status != TSR_OK && v.odd[0] != '\0');
    if (status == TSR_OK && !empty) status = add_tensor(lent, r, &v);
    if (list) {
        *r->j = begin;
        status = note_ragged(r, &v);
    }
    free_numbers(&v);
    return list && status == TSR_OK ? read_list(lent, r) : status;
}

static TsrStatus read_value(TsrNode **lent, Reader *r) {
    tsr_json_skip_space(r->j);
    char c = r->j->p < r->j->end ? *r->j->p : '\0';
    if (c == '{') return read_dict(lent, r);
    if (c == '"') return read_string(lent, r);
    if (tsr_json_accept(r->j, "null")) return tsr_tree_add(lent, &r->out->tree, TSR_NODE_NONE);
    return read_numbers(lent, r);
}

/* ---- a whole file ---- */

/* Whether a dict has tensors alone, under names that a file of tensors may have. */
static bool has_tensors_only(const TsrNode *dict) {
    for (size_t i = 0; i < dict->n; i += 2)
        if (dict->children[i + 1]->kind != TSR_NODE_TENSOR ||
            strlen(dict->children[i]->text) != dict->children[i]->length)
            return false;
    return true;
}

/* A tensor and a dict of tensors are items, and no tree. What is more is both, as far as it goes. */
static TsrStatus give_items(TsrItems *out) {
    TsrNode *root = out->tree.root;
    if (root->kind == TSR_NODE_TENSOR) TSR_TRY(tsr_items_single_move(out, tsr_tensor_retain(root->tensor)));
    for (size_t i = 0; root->kind == TSR_NODE_DICT && i < root->n; i += 2) {
        const TsrNode *key = root->children[i], *value = root->children[i + 1];
        TSR_TRY(tsr_interrupt_check_at(i));
        if (value->kind == TSR_NODE_TENSOR)
            TSR_TRY(tsr_items_add_move(out, key->text, key->length, tsr_tensor_retain(value->tensor)));
    }
    if (root->kind == TSR_NODE_TENSOR || (root->kind == TSR_NODE_DICT && has_tensors_only(root)))
        tsr_tree_free(&out->tree);
    return TSR_OK;
}

static TsrStatus check_dtype(const TsrInput *in, TsrDtype wanted) {
    if (wanted == TSR_DTYPE_NONE || tsr_dtype_is_pod(wanted)) return TSR_OK;
    return tsr_input_error(in, "numbers can't be torch.%s", tsr_dtype_name(wanted));
}

/* A list of objects that is a table; j stays where it is when it is none. */
static TsrStatus read_table(TsrItems *out, TsrJson *j, TsrInput *in, const TsrLoadOptions *options) {
    TsrJson at = *j;
    bool fits = false;
    tsr_json_skip_space(&at);
    if ((options->places != NULL && !options->places->tables) || at.p == at.end || *at.p != '[') return TSR_OK;
    TsrJson inside = at;
    inside.p++;
    tsr_json_skip_space(&inside);
    if (inside.p == inside.end || *inside.p != '{') return TSR_OK;
    TSR_TRY(tsr_json_table(out, &fits, &at, in, options, false));
    if (fits) *j = at;
    return TSR_OK;
}

TsrStatus tsr_json_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrJson j = text_of(in);
    Reader r = {.j = &j, .out = out, .options = options};
    TSR_TRY(check_dtype(in, options->dtype));
    j.loose = true;
    TSR_TRY(read_table(out, &j, in, options));
    if (out->table == NULL) TSR_TRY(read_value(&out->tree.root, &r));
    tsr_json_skip_space(&j);
    if (j.p < j.end && *j.p != '[' && *j.p != '{') return tsr_json_error(&j, "more text after the value");
    in->end = (size_t)(j.p - in->data);
    return out->table != NULL ? TSR_OK : give_items(out);
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
    size_t room;    /* columns there is memory for */
    int32_t *index; /* hash table of the columns by name, -1 empty; `slots` of them, a power of two, at least twice n */
    uint32_t slots;
    int64_t rows;
    bool placed; /* where the elements stand is asked for */
    bool chosen; /* by --columns: other keys are passed over */
} Lines;

static void free_lines(Lines *l) {
    for (int i = 0; i < l->n; i++) {
        tsr_free(l->columns[i].name);
        free_numbers(&l->columns[i].numbers);
    }
    tsr_free(l->columns);
    tsr_free(l->index);
}

static bool same_name(const char *name, const char *key, size_t length) {
    return strlen(name) == length && memcmp(name, key, length) == 0;
}

/* The place of the column of that name in the index, or the empty one where it belongs. */
static int32_t *column_place(const Lines *l, const char *name, size_t length) {
    uint32_t at = tsr_hash_text(name, length) & (l->slots - 1);
    while (l->index[at] >= 0 && !same_name(l->columns[l->index[at]].name, name, length)) at = (at + 1) & (l->slots - 1);
    return &l->index[at];
}

static int find_column(const Lines *l, const char *name, size_t length) {
    int found = l->slots > 0 ? *column_place(l, name, length) : -1;
    return found >= 0 ? found : l->n;
}

/* The index has places for n columns. */
static TsrStatus index_columns(Lines *l, int n) {
    if ((uint32_t)n * 2 <= l->slots) return TSR_OK;
    uint32_t slots = l->slots > 0 ? l->slots * 2 : 16;
    int32_t *index = tsr_malloc_array(slots, sizeof *index);
    if (index == NULL) return tsr_error_no_memory(slots * sizeof *index);
    tsr_free(l->index);
    memset(index, 0xff, slots * sizeof *index);
    l->index = index;
    l->slots = slots;
    for (int i = 0; i < l->n; i++) *column_place(l, l->columns[i].name, strlen(l->columns[i].name)) = i;
    return TSR_OK;
}

static TsrStatus add_column(Lines *l, const char *name, size_t length) {
    TSR_TRY(tsr_mem_grow(&l->columns, &l->room, (size_t)l->n + 1, sizeof *l->columns));
    TSR_TRY(index_columns(l, l->n + 1));
    char *copy = tsr_mem_text(name, length);
    if (copy == NULL) return tsr_error_no_memory(length + 1);
    int32_t *place = column_place(l, copy, strlen(copy));
    if (*place < 0) *place = l->n;
    l->columns[l->n++] = (Column){copy, 0, no_numbers(l->placed)};
    return TSR_OK;
}

TsrStatus tsr_json_next_name(TsrText *name, const char **list) {
    const char *p = *list;
    bool quoted = *p == '"';
    for (p += quoted; *p != '\0' && (quoted || *p != ','); p++) {
        if (quoted && *p == '"' && *++p != '"') break;
        TSR_TRY(tsr_text_putc(name, *p));
    }
    p += strcspn(p, ",");
    *list = p + (*p == ',');
    return TSR_OK;
}

/* A key that is named twice is one all the same. */
static TsrStatus choose_columns(Lines *l, const char *list) {
    TsrStatus status = TSR_OK;
    for (l->chosen = list != NULL; list != NULL && *list != '\0' && status == TSR_OK;) {
        TsrText name = {0};
        status = tsr_json_next_name(&name, &list);
        if (status == TSR_OK && find_column(l, name.data != NULL ? name.data : "", name.length) == l->n)
            status = add_column(l, name.data != NULL ? name.data : "", name.length);
        tsr_text_free(&name);
    }
    return status;
}

TsrStatus tsr_json_skip(TsrJson *j) {
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
    int i = find_column(l, key, length);
    if (i == l->n && l->chosen) return tsr_json_skip(j);
    if (i == l->n && l->rows > 0) return tsr_json_error(j, "a key that the lines before have not");
    if (i == l->n) TSR_TRY(add_column(l, key, length));
    if (l->columns[i].rows > l->rows) return tsr_json_error(j, "the key is there twice");
    l->columns[i].rows++;
    TsrStatus status = read_element(j, &l->columns[i].numbers, 1);
    return end_numbers(status, j, &l->columns[i].numbers);
}

static TsrStatus read_row(TsrJson *j, Lines *l) {
    TSR_TRY(tsr_json_object(j, read_cell, l));
    for (int i = 0; i < l->n; i++) {
        if (l->columns[i].rows > l->rows) continue;
        char text[96];
        snprintf(text, sizeof text, "the key '%.40s' is missing", l->columns[i].name);
        return tsr_json_error(j, text);
    }
    return TSR_OK;
}

static TsrStatus read_lines(TsrJson *j, Lines *l, bool objects) {
    for (tsr_json_skip_space(j); j->p < j->end; tsr_json_skip_space(j)) {
        TSR_TRY(tsr_interrupt_check_at(l->rows));
        if (objects && *j->p != '{') return tsr_json_error(j, "an object was expected, as on the lines before");
        TSR_TRY(objects ? read_row(j, l)
                        : end_numbers(read_element(j, &l->columns[0].numbers, 1), j, &l->columns[0].numbers));
        l->rows++;
        while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\r')) j->p++;
        if (j->p < j->end && *j->p != '\n') return tsr_json_error(j, "more text behind the value of this line");
    }
    return TSR_OK;
}

static TsrStatus take_columns(TsrItems *out, const TsrJson *j, Lines *l, bool objects, const TsrLoadOptions *options) {
    for (int i = 0; i < l->n; i++) {
        TsrTensor *t;
        Numbers *v = &l->columns[i].numbers;
        v->sizes[0] = l->rows;
        TSR_TRY(new_from_numbers(&t, out, j, v, ndim_of(v), options->dtype));
        TSR_TRY(objects ? tsr_items_add_move(out, l->columns[i].name, strlen(l->columns[i].name), t)
                        : tsr_items_single_move(out, t));
        TSR_TRY(add_places(options->places, v));
    }
    return TSR_OK;
}

static void drop_tensors(TsrItems *items) {
    for (int i = 0; i < items->n; i++) {
        tsr_free(items->items[i].name);
        tsr_tensor_free(items->items[i].tensor);
    }
    tsr_free(items->items);
    items->items = NULL;
    items->n = 0;
}

/* Numbers under keys, one on each line, are the columns of a table, as they are beside texts. */
static TsrStatus become_table(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrSource *source;
    for (int i = 0; i < out->n; i++)
        if (tsr_ndim(out->items[i].tensor) != 1) return TSR_OK;
    if (out->n == 0 || options->places != NULL) return TSR_OK;
    TSR_TRY(tsr_json_keep_text(&source, in, in->data + mark_size(in->data, in->size),
                               options->columns != NULL ? -1 : out->n));
    TsrStatus status = tsr_table_new(&out->table, out->items[0].tensor->sizes[0]);
    for (int i = 0; i < out->n && status == TSR_OK; i++) {
        TsrItem *item = &out->items[i];
        TsrTableColumn column = {.kind = TSR_COLUMN_NUMBERS, .data = tsr_tensor_retain(item->tensor)};
        status = tsr_json_tell_origin(item->tensor, source, item->name, i);
        if (status == TSR_OK) status = tsr_table_add_move(out->table, item->name, strlen(item->name), column);
        else tsr_table_column_clear(&column);
    }
    tsr_source_free(source);
    if (status == TSR_OK) drop_tensors(out);
    return status;
}

static bool are_ragged(const Lines *l) {
    for (int i = 0; i < l->n; i++)
        if (l->columns[i].numbers.ragged) return true;
    return false;
}

/* *ragged: the lines are numbers, but do not make a tensor. */
static TsrStatus read_line_tensors(TsrItems *out, TsrInput *in, const TsrLoadOptions *options, bool *objects,
                                   bool *ragged) {
    TsrJson j = text_of(in);
    Lines lines = {.placed = options->places != NULL};
    tsr_json_skip_space(&j);
    *objects = j.p < j.end && *j.p == '{';
    TsrStatus status = *objects ? choose_columns(&lines, options->columns) : add_column(&lines, "", 0);
    if (status == TSR_OK) status = read_lines(&j, &lines, *objects);
    if (status == TSR_OK) status = take_columns(out, &j, &lines, *objects, options);
    if (status == TSR_OK && *objects) status = become_table(out, in, options);
    *ragged = are_ragged(&lines);
    free_lines(&lines);
    return status;
}

/* Any values, one a line, as a list. */
static TsrStatus read_line_values(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrJson j = text_of(in);
    TsrNode *item;
    Reader r = {.j = &j, .out = out, .options = options};
    j.loose = true;
    TSR_TRY(tsr_tree_add(&out->tree.root, &out->tree, TSR_NODE_LIST));
    for (tsr_json_skip_space(&j); j.p < j.end; tsr_json_skip_space(&j)) {
        TSR_TRY(read_value(&item, &r));
        TSR_TRY(tsr_node_append(out->tree.root, item));
        while (j.p < j.end && (*j.p == ' ' || *j.p == '\t' || *j.p == '\r')) j.p++;
        if (j.p < j.end && *j.p != '\n') return tsr_json_error(&j, "more text behind the value of this line");
    }
    return TSR_OK;
}

/* Lines are tensors where they can be; else, and where those have not got a whole number, objects are a table, of which
 * some columns are words and some cells missing. What is neither is a list of what the lines hold, when there are texts
 * or objects in it or numbers that make no tensor, which is noted; else it is read again for the error. */
TsrStatus tsr_jsonl_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrJson j = text_of(in);
    bool objects, ragged, fits = false;
    char reason[600];
    TSR_TRY(check_dtype(in, options->dtype));
    TsrStatus status = read_line_tensors(out, in, options, &objects, &ragged);
    bool rounded = status == TSR_OK && out->rounded;
    bool placed = options->places != NULL;
    if ((status != TSR_VALUE_ERROR && !(rounded && objects)) || (placed && !options->places->tables)) return status;
    snprintf(reason, sizeof reason, "%s", status != TSR_OK ? tsr_error_message() : "");
    if (placed) options->places->n = 0;
    tsr_items_free(out);
    if (objects) TSR_TRY(tsr_json_table(out, &fits, &j, in, options, true));
    if (fits) return TSR_OK;
    bool list = ragged || objects || memchr(in->data, '"', in->size) != NULL;
    if (rounded || options->columns != NULL || !list) return read_line_tensors(out, in, options, &objects, &ragged);
    if (ragged && !objects) TSR_TRY(tsr_text_printf(&out->notes, "%s: a list, not a tensor\n", reason));
    return read_line_values(out, in, options);
}
