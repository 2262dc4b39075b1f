#include "explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "core/op.h"
#include "lang/object/exc.h"
#include "card.h"
#include "inspect.h"
#include "lang/modules/namespace.h"
#include "lang/syntax/parser.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/subscript.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

enum { NAME_ROOM = 72, TEXT_ROOM = 512, MAX_KNOWN = 64, MAX_STEPS = 40, MAX_TARGETS = 8, MAX_TEXTS = 32, MOST_ALIKE = 4 };

/* A tensor that the code has made: what to call it while no name holds it. */
typedef struct Known {
    TsrTensor *t; /* a weak link */
    char text[NAME_ROOM];
    char copied_from[NAME_ROOM]; /* "" when it is no copy of another tensor */
} Known;

typedef struct Story {
    TsrText text;
    int depth; /* of operators inside operators */
    int steps, unsaid;
    struct {
        char text[NAME_ROOM];
        int count;
    } texts[MAX_TEXTS]; /* of steps seen, so that a loop is not told over and over */
    int text_count;
    TsrStatus status;
    bool busy;
    Known known[MAX_KNOWN];
    int known_count;
} Story;

static Story *story;

static void say(Story *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(Story *s, const char *format, ...) {
    char line[TEXT_ROOM * 3];
    va_list args;
    if (s->status != TSR_OK) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (s->text.length > 0) s->status = tsr_text_putc(&s->text, '\n');
    if (s->status == TSR_OK) s->status = tsr_text_puts(&s->text, line);
}

/* ---- what things are called ---- */

static const Known *find_known(const Story *s, const TsrTensor *t) {
    for (int i = s->known_count - 1; i >= 0; i--)
        if (s->known[i].t == t && tsr_tensor_weak_alive(t)) return &s->known[i];
    return NULL;
}

static void remember(Story *s, TsrTensor *t, const char *text, const char *copied_from) {
    if (t == NULL || text[0] == '\0' || s->known_count == MAX_KNOWN || find_known(s, t) != NULL) return;
    Known *k = &s->known[s->known_count++];
    k->t = tsr_tensor_weak_new(t);
    snprintf(k->text, sizeof k->text, "%s", text);
    snprintf(k->copied_from, sizeof k->copied_from, "%s", copied_from);
}

static void forget_all(Story *s) {
    for (int i = 0; i < s->known_count; i++) tsr_tensor_weak_free(s->known[i].t);
    s->known_count = 0;
}

static bool has_name(char *buffer, TsrTensor *t) { return who_name(buffer, NAME_ROOM, t)[0] != '\0'; }

/* Its name, else the expression that made it. */
static const char *name_of(const Story *s, char *buffer, TsrTensor *t) {
    if (has_name(buffer, t)) return buffer;
    const Known *k = find_known(s, t);
    snprintf(buffer, NAME_ROOM, "%s", k != NULL ? k->text : "a temporary");
    return buffer;
}

/* What a step is called: the text of the expression, with the operator where the text does not say it. */
static const char *head_of(char *buffer, size_t room, const char *op) {
    char text[NAME_ROOM];
    vm_current_text(text, sizeof text);
    if (text[0] == '\0') snprintf(buffer, room, "%s", op);
    else if (op[0] == '\0' || strstr(text, op) != NULL) snprintf(buffer, room, "%s", text);
    else snprintf(buffer, room, "%s (%s)", text, op);
    return buffer;
}

static char *tuple_text(char *buffer, size_t room, int n, const int64_t *items) {
    size_t at = (size_t)snprintf(buffer, room, "(");
    for (int i = 0; i < n && at < room; i++) at += (size_t)snprintf(buffer + at, room - at, i > 0 ? ", %lld" : "%lld", (long long)items[i]);
    if (at < room) snprintf(buffer + at, room - at, n == 1 ? ",)" : ")");
    return buffer;
}

static long long bytes_of(const TsrTensor *t) { return (long long)(t->numel * (int64_t)tsr_itemsize(t)); }

static bool is_number(const TsrTensor *t) { return (t->flags & TSR_FLAG_WRAPPED_NUMBER) != 0; }

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

/* ---- arguments of an operator ---- */

static TsrTensor *tensor_at(const TsrOpCall *c, int i) {
    const TsrArg *a = &c->arg[i];
    const Value *v = a->kind == TSR_ARG_ANY ? a->any : NULL;
    return a->kind == TSR_ARG_TENSOR ? a->t : v != NULL && v->tag == V_TENSOR ? v->t : NULL;
}

static TsrTensor *first_tensor(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++) {
        if (tensor_at(c, i) != NULL) return tensor_at(c, i);
        if (c->arg[i].kind == TSR_ARG_TENSORS && c->arg[i].n > 0) return c->arg[i].tensors[0];
    }
    return NULL;
}

static const TsrArg *sizes_of(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_INTS) return &c->arg[i];
    return NULL;
}

/* ---- views and copies ---- */

/* Which adjacent dimensions could not become one, with the strides that say so. */
static void say_unmergeable(Story *s, const TsrTensor *t, int n, const int64_t *sizes) {
    int64_t resolved[TSR_MAX_DIMS];
    char strides[TEXT_ROOM];
    if (n > TSR_MAX_DIMS || tsr_layout_infer_size(resolved, n, sizes, t->numel) != TSR_OK) {
        tsr_error_clear();
        return;
    }
    int d = tsr_layout_unmergeable_dim(n, resolved, tsr_tensor_geometry(t));
    if (d < 0 || d + 1 >= tsr_ndim(t)) return;
    say(s, "  dimensions %d and %d can't merge: that needs stride[%d] == size[%d] * stride[%d], but %lld != %lld * %lld (strides %s)", d, d + 1, d, d + 1, d + 1, (long long)t->strides[d],
        (long long)t->sizes[d + 1], (long long)t->strides[d + 1], tuple_text(strides, sizeof strides, tsr_ndim(t), t->strides));
}

/* Why a copy had to be made by an operator that gives a view where it can. */
static void say_copy_reason(Story *s, const TsrOpCall *c, const TsrTensor *t, const TsrTensor *r) {
    static const char *const merging[] = {"reshape", "flatten", "ravel", "reshape_as", "view", NULL};
    const char *op = c->schema->base;
    char a[TEXT_ROOM];
    if (t->dtype != r->dtype) say(s, "  the dtype changes: %s to %s", tsr_dtype_name(t->dtype), tsr_dtype_name(r->dtype));
    else if (is_one_of(op, merging)) say_unmergeable(s, t, tsr_ndim(r), r->sizes);
    else if (strcmp(op, "contiguous") == 0)
        say(s, "  strides %s are not %s", tuple_text(a, sizeof a, tsr_ndim(t), t->strides), tsr_is_contiguous(r, TSR_CONTIGUOUS) ? "row-major" : "in the format asked for");
    else if (strcmp(op, "clone") == 0) say(s, "  clone always copies: what is written to one is not seen by the other");
    else if (strcmp(op, "to") == 0 && t->device.type == r->device.type) say(s, "  copy=True, or another memory format, was asked for");
}

/* What a view's geometry means for memory: repeated elements, a large storage kept. */
static void say_consequences(Story *s, const TsrTensor *t, const TsrTensor *r) {
    for (int d = 0; d < tsr_ndim(r); d++)
        if (r->strides[d] == 0 && r->sizes[d] > 1)
            say(s, "  stride 0 in dimension %d: its %lld indices are one element; %lld bytes would be needed for elements of their own", d, (long long)r->sizes[d], bytes_of(r));
    long long kept = (long long)t->storage->nbytes, used = bytes_of(r);
    if (kept >= 1024 && used * 4 < kept)
        say(s, "  it keeps all %lld bytes of the storage alive for the %lld it reaches; clone() would cost %lld bytes and let the rest go", kept, used, used);
}

static void say_view(Story *s, const char *head, TsrTensor *t, TsrTensor *r, const char *why) {
    char name[NAME_ROOM], a[TEXT_ROOM], b[TEXT_ROOM], shape[TEXT_ROOM];
    say(s, "%s: a view of %s%s: the same storage #%lld, no bytes copied", head, name_of(s, name, t), why, (long long)tsr_storage_id(t->storage));
    say(s, "  strides %s became %s, shape %s, offset %lld", tuple_text(a, sizeof a, tsr_ndim(t), t->strides), tuple_text(b, sizeof b, tsr_ndim(r), r->strides),
        tuple_text(shape, sizeof shape, tsr_ndim(r), r->sizes), (long long)r->offset);
    say_consequences(s, t, r);
}

static void say_alias(Story *s, const TsrOpCall *c, const char *head, TsrTensor *t, TsrTensor *r) {
    char name[NAME_ROOM];
    if (r == t) {
        say(s, "%s: the same tensor as %s: nothing to do, nothing copied", head, name_of(s, name, t));
    } else if (r->storage != NULL && r->storage == t->storage) {
        say_view(s, head, t, r, "");
    } else if (r->device.type == TSR_META) {
        say(s, "%s: a new tensor on meta: it has no memory, nothing is copied", head);
    } else {
        say(s, "%s: a copy of %s: %lld bytes", head, name_of(s, name, t), bytes_of(r));
        say_copy_reason(s, c, t, r);
    }
}

/* ---- broadcasting ---- */

/* One operand's row of sizes under the result's; a star where it is stretched. */
static void say_aligned(Story *s, const TsrTensor *t, const TsrTensor *r, const char *name, int width) {
    char row[TEXT_ROOM];
    size_t at = 0;
    for (int d = 0; d < tsr_ndim(r) && at + 24 < sizeof row; d++) {
        int own = d - (tsr_ndim(r) - tsr_ndim(t));
        bool stretched = own < 0 || t->sizes[own] != r->sizes[d];
        if (own < 0) at += (size_t)snprintf(row + at, sizeof row - at, "%6s ", "*");
        else at += (size_t)snprintf(row + at, sizeof row - at, "%6lld%s", (long long)t->sizes[own], stretched ? "*" : " ");
    }
    say(s, "    %-*s%s%s", width, name, row, t == r ? "" : "  ");
    while (s->text.length > 0 && s->text.data[s->text.length - 1] == ' ') s->text.data[--s->text.length] = '\0';
}

static bool is_row_and_column(const TsrTensor *a, const TsrTensor *b) {
    return tsr_ndim(a) == 1 && tsr_ndim(b) == 2 && b->sizes[1] == 1 && b->sizes[0] == a->sizes[0] && a->sizes[0] > 1;
}

static void say_blow_up(Story *s, const TsrOpCall *c, const TsrTensor *r, int64_t largest) {
    char name[NAME_ROOM];
    TsrTensor *a = tensor_at(c, 0), *b = c->nargs > 1 ? tensor_at(c, 1) : NULL;
    if (largest == 0 || r->numel < 2 * largest) return;
    say(s, "  both are stretched: the result has %lld elements, %lld times its larger operand", (long long)r->numel, (long long)(r->numel / largest));
    if (a == NULL || b == NULL) return;
    if (is_row_and_column(b, a)) a = b, b = tensor_at(c, 0);
    if (is_row_and_column(a, b)) say(s, "  a row against a column gives every pair; to go element by element, drop the 1: %s.squeeze(1)", name_of(s, name, b));
}

static void say_broadcast(Story *s, const TsrOpCall *c, TsrTensor *r) {
    char names[TSR_MAX_ARGS][NAME_ROOM];
    int64_t largest = 0;
    int width = 6;
    bool stretched = false;
    if (strcmp(c->op->category, "pointwise") != 0) return;
    for (int i = 0; i < c->nargs; i++) {
        TsrTensor *t = tensor_at(c, i);
        if (t == NULL || is_number(t)) continue;
        largest = TSR_MAX(largest, t->numel);
        stretched |= t->numel != r->numel;
        name_of(s, names[i], t);
        width = TSR_MAX(width, (int)strlen(names[i]));
    }
    if (!stretched) return;
    say(s, "  broadcast: shapes are aligned at the right; where a size is 1 or missing (*) its elements are used again, not copied");
    for (int i = 0; i < c->nargs; i++)
        if (tensor_at(c, i) != NULL && !is_number(tensor_at(c, i))) say_aligned(s, tensor_at(c, i), r, names[i], width);
    say_aligned(s, r, r, "result", width);
    say_blow_up(s, c, r, largest);
}

/* ---- promotion ---- */

/* What is said of two dtypes that differ: which rule gave the common one. */
static const char *rule_of(const TsrTensor *strong, const TsrTensor *weak, TsrDtype common) {
    TsrDtypeKind a = tsr_dtype_kind(strong->dtype), b = tsr_dtype_kind(weak->dtype);
    bool number = is_number(weak), scalar = !number && tsr_ndim(weak) == 0 && tsr_ndim(strong) > 0;
    bool higher = (tsr_dtype_is_float(weak->dtype) || tsr_dtype_is_complex(weak->dtype)) && b != a && common != strong->dtype;
    if (number && higher) return "a Python number of a higher kind brings the default dtype of its kind";
    if (number && common == strong->dtype) return "a Python number takes the tensor's dtype unless its kind (bool < integer < floating < complex) is higher";
    if (number) return "a Python number of a higher kind decides";
    if (scalar && common == strong->dtype) return "a 0-d tensor counts only when its kind (bool < integer < floating < complex) is higher";
    if (scalar) return "a 0-d tensor counts because its kind is higher";
    if (a != b && !(tsr_dtype_is_integral(strong->dtype) && tsr_dtype_is_integral(weak->dtype))) return "the higher kind wins (bool < integer < floating < complex), whatever the sizes";
    if (common == strong->dtype || common == weak->dtype) return "of one kind, the wider one";
    return "neither holds all values of the other: the next that does";
}

static const char *dtype_words(char *buffer, const Story *s, TsrTensor *t) {
    char name[NAME_ROOM];
    if (is_number(t)) snprintf(buffer, 2 * NAME_ROOM, "a Python %s", tsr_dtype_is_complex(t->dtype) ? "complex" : tsr_dtype_is_float(t->dtype) ? "float" : t->dtype == TSR_BOOL ? "bool" : "int");
    else snprintf(buffer, 2 * NAME_ROOM, "%s (%s)", tsr_dtype_name(t->dtype), name_of(s, name, t));
    return buffer;
}

static int weight(const TsrTensor *t) { return tsr_ndim(t) > 0 ? 2 : is_number(t) ? 0 : 1; }

static void say_promotion(Story *s, const TsrOpCall *c, const TsrTensor *r) {
    TsrTensor *given[TSR_MAX_ARGS], *strong = NULL, *weak = NULL;
    char a[2 * NAME_ROOM], b[2 * NAME_ROOM];
    TsrDtype common;
    int n = 0;
    for (int i = strcmp(c->schema->base, "where") == 0; i < c->nargs; i++) /* a condition is no operand */
        if (tensor_at(c, i) != NULL) given[n++] = tensor_at(c, i);
    if (n == 0 || strcmp(c->op->category, "pointwise") != 0) return;
    strong = given[0];
    for (int i = 1; i < n; i++) {
        if (given[i]->dtype == strong->dtype) continue;
        weak = given[i];
        if (weight(weak) > weight(strong)) weak = strong, strong = given[i];
    }
    if (tsr_result_type(&common, given, n) != TSR_OK) {
        tsr_error_clear();
        return;
    }
    if (weak != NULL)
        say(s, "  dtype: %s with %s gives %s: %s", dtype_words(a, s, strong), dtype_words(b, s, weak), tsr_dtype_name(common), rule_of(strong, weak, common));
    if (!tsr_dtype_is_float(common) && !tsr_dtype_is_complex(common) && tsr_dtype_is_float(r->dtype))
        say(s, "  dtype: its results have fractions, so %s becomes the default dtype, %s", tsr_dtype_name(common), tsr_dtype_name(r->dtype));
}

/* ---- sameness ---- */

/* Equal values or one memory: what a comparison of two tensors does not say. */
static void say_sharing(Story *s, const TsrOpCall *c) {
    static const char *const comparing[] = {"eq", "equal", "allclose", "isclose", NULL};
    char na[NAME_ROOM], nb[NAME_ROOM];
    if (!is_one_of(c->schema->base, comparing) || c->nargs < 2) return;
    TsrTensor *a = tensor_at(c, 0), *b = tensor_at(c, 1);
    if (a == NULL || b == NULL || is_number(b) || a->storage == NULL || b->storage == NULL) return;
    name_of(s, na, a);
    name_of(s, nb, b);
    if (a == b) say(s, "  both are one tensor: %s", na);
    else if (a->storage == b->storage) say(s, "  %s and %s look at one storage, #%lld: a write to an element that both reach is seen by both", na, nb, (long long)tsr_storage_id(a->storage));
    else say(s, "  %s and %s share nothing: storages #%lld and #%lld; a write to one is not seen by the other", na, nb, (long long)tsr_storage_id(a->storage), (long long)tsr_storage_id(b->storage));
}

/* ---- writes ---- */

typedef struct Others {
    const TsrTensor *written, *through; /* the place, and the tensor that was indexed to get there */
    TsrText text;
    int count;
} Others;

static bool add_other(const char *path, TsrTensor *t, bool argument, void *context) {
    Others *o = context;
    if (argument || path[0] == '<' || t == o->written || t == o->through || t->storage != o->written->storage || strcmp(path, "_") == 0) return true;
    if (!inspect_overlaps(t, o->written)) return true;
    return tsr_text_printf(&o->text, "%s%s", o->count++ > 0 ? ", " : "", path) == TSR_OK;
}

/* Who else reaches the elements that were written through t. */
static void say_seen_by(Story *s, const TsrTensor *t, const TsrTensor *through) {
    Others o = {.written = t, .through = through};
    if (t->storage == NULL) return;
    s->status = s->status == TSR_OK ? who_each(add_other, &o) : s->status;
    if (o.count > 0) say(s, "  seen by %s %s: storage #%lld", o.text.data, o.count == 1 ? "too" : "as well", (long long)tsr_storage_id(t->storage));
    tsr_text_free(&o.text);
}

/* The copy that a write went into, when no name reaches it: t itself, or the tensor that t is a view of. */
static const Known *lost_copy(const Story *s, TsrTensor *t) {
    char name[NAME_ROOM];
    TsrTensor *root = tsr_tensor_retain_base(t);
    const Known *k = find_known(s, root != NULL ? root : t);
    bool named = has_name(name, root != NULL ? root : t) || has_name(name, t);
    tsr_tensor_free(root);
    return k != NULL && k->copied_from[0] != '\0' && !named ? k : NULL;
}

static void say_write(Story *s, const char *head, TsrTensor *t) {
    char name[NAME_ROOM];
    const Known *copy = lost_copy(s, t);
    if (copy != NULL) {
        say(s, "%s: writes into a copy, %s: %s does not see it", head, copy->text, copy->copied_from);
        say(s, "  to write into %s, assign: %s = ..., or %s += ...", copy->copied_from, copy->text, copy->text);
        return;
    }
    say(s, "%s: writes into %s, in place: no new memory; its version is now %lld", head, name_of(s, name, t), (long long)tsr_tensor_version(t));
    say_seen_by(s, t, t);
}

/* ---- refusals ---- */

static bool says(const char *part) { return strstr(tsr_error_message(), part) != NULL; }

static void say_lines(Story *s, const char *text) {
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        say(s, "    %.*s", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* A shape for another number of elements than t has. */
static void say_other_count(Story *s, const char *name, const TsrTensor *t, const TsrArg *sizes) {
    int64_t wanted = 1;
    bool inferred = false, overflows = false;
    for (int d = 0; d < sizes->n; d++) {
        if (sizes->ints[d] < 0) inferred = true;
        else overflows |= tsr_mul_overflows(wanted, sizes->ints[d], &wanted);
    }
    const char *how = inferred ? "a multiple of " : "";
    if (!overflows) say(s, "  that shape needs %s%lld element%s; %s has %lld", how, (long long)wanted, wanted == 1 ? "" : "s", name, (long long)t->numel);
}

static void say_refused_view(Story *s, const TsrOpCall *c, TsrTensor *t) {
    char name[NAME_ROOM];
    const TsrArg *sizes = sizes_of(c);
    if (sizes == NULL) return;
    name_of(s, name, t);
    if (says("is invalid for input of size")) {
        say_other_count(s, name, t, sizes);
        return;
    }
    if (!says("compatible")) return;
    say_unmergeable(s, t, sizes->n, sizes->ints);
    say(s, "  %s.reshape(...) would copy %lld bytes, and so would %s.contiguous().view(...)", name, bytes_of(t), name);
}

static void say_refused_write(Story *s, const TsrOpCall *c, TsrTensor *t) {
    char name[NAME_ROOM], shape[TEXT_ROOM];
    name_of(s, name, t);
    if (says("more than one element of the written-to tensor")) {
        for (int d = 0; d < tsr_ndim(t); d++)
            if (t->strides[d] == 0 && t->sizes[d] > 1) say(s, "  dimension %d of %s has stride 0: %lld indices are one element, which would be written more than once", d, name, (long long)t->sizes[d]);
        say(s, "  %s.clone() gives each index an element of its own: %lld bytes", name, bytes_of(t));
    } else if (says("refer to a single memory location")) {
        say(s, "  what is read and what is written overlap: an element would be read after it was written; clone() what is read");
    } else if (says("doesn't match the broadcast shape")) {
        say(s, "  in place, %s keeps its shape %s: only the other operand may be stretched", name, tuple_text(shape, sizeof shape, tsr_ndim(t), t->sizes));
    } else if (says("can't be cast to")) {
        say(s, "  in place, %s keeps its dtype %s, and the result is of a higher kind; %s.%s(...) makes a new tensor", name, tsr_dtype_name(t->dtype), name, c->schema->base);
    } else if (t->storage != NULL && t->storage->readonly) {
        say(s, "  the memory of %s is read-only (%s); %s.clone() may be written: %lld bytes", name, t->storage->origin != NULL ? t->storage->origin : "borrowed", name, bytes_of(t));
    }
}

static void say_refused(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *t = c->out[0] != NULL ? c->out[0] : first_tensor(c);
    const char *shapes = tsr_error_shapes_text(tsr_error_message());
    say(s, "%s: refused", head);
    if (shapes != NULL) {
        say(s, "  the shapes, aligned at the right, must agree or be 1:");
        say_lines(s, shapes);
    }
    if (t == NULL) return;
    if (strcmp(c->schema->base, "view") == 0 || strcmp(c->schema->base, "reshape") == 0) say_refused_view(s, c, t);
    else say_refused_write(s, c, t);
}

/* ---- one operator ---- */

/* How the results of an operator that gives several lie to its argument. */
static void say_several(Story *s, const char *head, TsrTensor *t, TsrTensor *const *results, int n) {
    char name[NAME_ROOM];
    long long bytes = 0;
    bool views = t != NULL && t->storage != NULL && n > 0;
    for (int i = 0; i < n; i++) {
        views = views && results[i]->storage == t->storage;
        bytes += bytes_of(results[i]);
    }
    if (views) say(s, "%s: %d views of %s: the same storage #%lld, no bytes copied", head, n, name_of(s, name, t), (long long)tsr_storage_id(t->storage));
    else say(s, "%s: %d new tensors, %lld bytes", head, n, bytes);
}

static void say_results(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *t = first_tensor(c), *r = c->ret[0].kind == TSR_ARG_TENSOR ? c->ret[0].t : NULL, *pair[TSR_MAX_RETS];
    bool aliases = c->op->alias == TSR_VIEW || c->op->alias == TSR_MAYBE_VIEW || strcmp(c->schema->base, "clone") == 0;
    if (c->nret > 0 && c->ret[0].kind == TSR_ARG_TENSORS) {
        say_several(s, head, t, c->ret[0].tensors, c->ret[0].n);
    } else if (r != NULL && c->nret > 1) {
        for (int i = 0; i < c->nret; i++) pair[i] = c->ret[i].t;
        say_several(s, head, t, pair, c->nret);
    } else if (r == NULL) {
        say(s, "%s: gives no tensor", head);
    } else if (t != NULL && (aliases || r == t || (r->storage != NULL && r->storage == t->storage))) {
        say_alias(s, c, head, t, r);
    } else {
        bool foreign = r->storage != NULL && r->storage->origin != NULL;
        say(s, "%s: a new tensor of %lld bytes%s%s", head, bytes_of(r), c->out[0] != NULL ? ", written into out" : "", foreign ? ", over memory that is not its own: nothing copied" : "");
        say_promotion(s, c, r);
        say_broadcast(s, c, r);
    }
    say_sharing(s, c);
}

static void remember_results(Story *s, const TsrOpCall *c) {
    char text[NAME_ROOM], from[NAME_ROOM] = "";
    TsrTensor *t = first_tensor(c), *r = c->nret > 0 && c->ret[0].kind == TSR_ARG_TENSOR ? c->ret[0].t : NULL;
    if (r == NULL || c->out[0] != NULL) return;
    bool copies = t != NULL && r != t && r->storage != t->storage && (c->op->alias == TSR_MAYBE_VIEW || strcmp(c->op->category, "index") == 0);
    if (copies) name_of(s, from, t);
    remember(s, r, vm_current_text(text, sizeof text), from);
}

static void say_op(Story *s, const TsrOpCall *c, TsrStatus status) {
    char head[2 * NAME_ROOM];
    head_of(head, sizeof head, c->inplace ? c->schema->inplace : c->schema->base);
    if (status != TSR_OK) {
        say_refused(s, c, head);
    } else if (c->inplace || c->op->alias == TSR_IN_PLACE) {
        TsrTensor *target = c->out[0] != NULL ? c->out[0] : first_tensor(c);
        if (target != NULL) say_write(s, head, target);
        else say(s, "%s: writes, in place", head);
    } else {
        say_results(s, c, head);
        remember_results(s, c);
    }
}

/* ---- indexing ---- */

static void say_read(Story *s, const SubscriptEvent *e) {
    char text[NAME_ROOM], name[NAME_ROOM];
    head_of(text, sizeof text, "");
    if (!e->advanced) {
        if (e->place->storage != NULL) say_view(s, text, e->self, e->place, " (integers, slices, None and ... only choose)");
        else say(s, "%s: a new tensor", text);
        remember(s, e->place, text, "");
        return;
    }
    name_of(s, name, e->self);
    say(s, "%s: a copy of %s: %lld bytes", text, name, bytes_of(e->place));
    say(s, "  masks, lists and tensors of positions pick elements that no offset and strides describe, so reading with them always copies");
    remember(s, e->place, text, name);
}

static void say_assigned(Story *s, const SubscriptEvent *e) {
    char text[NAME_ROOM], name[NAME_ROOM];
    const Known *copy = lost_copy(s, e->self);
    head_of(text, sizeof text, "");
    if (copy != NULL) {
        say(s, "%s = ...: writes into a copy, %s: %s does not see it", text, copy->text, copy->copied_from);
        if (copy->text[strlen(copy->text) - 1] == ']') say(s, "  one pair of brackets writes into %s; the first of two pairs reads, and this one copied", copy->copied_from);
        else say(s, "  write to %s itself, or to a view of it", copy->copied_from);
        return;
    }
    say(s, "%s = ...: writes into %s, in place: no new memory; its version is now %lld", text, name_of(s, name, e->self), (long long)tsr_tensor_version(e->self));
    if (e->advanced) say(s, "  assigning through masks and positions writes where they point: nothing is copied out");
    say_seen_by(s, e->place, e->self);
}

/* ---- the hooks ---- */

/* How often this step was seen, with this time. */
static int times_seen(Story *s, const char *text) {
    for (int i = 0; i < s->text_count; i++)
        if (strcmp(s->texts[i].text, text) == 0) return ++s->texts[i].count;
    if (s->text_count == MAX_TEXTS) return 1;
    snprintf(s->texts[s->text_count].text, NAME_ROOM, "%s", text);
    return s->texts[s->text_count++].count = 1;
}

/* Whether the step is told: not for ever, nor over and over. */
static bool step(Story *s, const char *op) {
    char head[NAME_ROOM];
    bool told = times_seen(s, head_of(head, sizeof head, op)) <= MOST_ALIKE && s->steps < MAX_STEPS;
    if (told) s->steps++;
    else s->unsaid++;
    return told;
}

static void explain_event(void *user, const TsrTraceEvent *e) {
    Story *s = user;
    if (s->busy) return;
    if (e->kind == TSR_TRACE_OP) s->depth++;
    if (e->kind != TSR_TRACE_VIEW || s->depth > 0 || e->what == NULL || !step(s, e->what)) return;
    s->busy = true; /* a view that no operator made: x.data, a row of a loop */
    char head[2 * NAME_ROOM];
    TsrTensor *view = (TsrTensor *)(uintptr_t)e->object, *base = (TsrTensor *)(uintptr_t)e->object2;
    if (base->storage != NULL) say_view(s, head_of(head, sizeof head, e->what), base, view, "");
    if (strcmp(e->what, "data") == 0) say(s, "  its version counter is its own: writes through it are not counted for the other");
    s->busy = false;
}

static void explain_op(const TsrOpCall *call, TsrStatus status) {
    Story *s = story;
    if (s == NULL || s->busy) return;
    if (s->depth > 0) s->depth--;
    if (s->depth > 0 || !step(s, call->schema->base)) return;
    s->busy = true;
    say_op(s, call, status);
    s->busy = false;
}

static void explain_subscript(const SubscriptEvent *e) {
    Story *s = story;
    if (s == NULL || s->busy) return;
    if (e == NULL) s->depth++;
    if (e == NULL) return;
    if (s->depth > 0) s->depth--;
    if (s->depth > 0 || e->place == NULL || e->status != TSR_OK || !step(s, "")) return;
    s->busy = true;
    if (e->written) say_assigned(s, e);
    else say_read(s, e);
    s->busy = false;
}

/* ---- assignments to names ---- */

typedef struct Target {
    char name[NAME_ROOM], source[NAME_ROOM]; /* source: "" when the value is no bare name */
    TsrTensor *before; /* a weak link to what the name held; NULL: no tensor */
    int64_t storage;   /* the serial of its storage; -1: none */
} Target;

/* The tensor of a name where the code stands, retained; NULL: none. */
static TsrTensor *retain_named(const char *name) {
    Value v = VALUE_UNBOUND, exception;
    TsrStatus status = vm_run_text_here(&v, name, strlen(name), "<explain>");
    if (status != TSR_OK && vm_take_error(&exception, status)) value_release(exception);
    tsr_error_clear();
    if (status == TSR_OK && v.tag == V_TENSOR) return v.t;
    if (status == TSR_OK) value_release(v);
    return NULL;
}

static int add_targets(Target *targets, int count, const Node *n) {
    for (int k = 0; k < n->assign.targets.count && count < MAX_TARGETS; k++) {
        const Node *to = n->assign.targets.items[k], *from = n->assign.value;
        if (to->kind != AST_NAME || strlen(to->name.id) >= NAME_ROOM) continue;
        Target *t = &targets[count++];
        snprintf(t->name, sizeof t->name, "%s", to->name.id);
        snprintf(t->source, sizeof t->source, "%s", from->kind == AST_NAME ? from->name.id : "");
        TsrTensor *held = retain_named(t->name);
        t->before = held != NULL ? tsr_tensor_weak_new(held) : NULL;
        t->storage = held != NULL && held->storage != NULL ? held->storage->serial : -1;
        tsr_tensor_free(held);
    }
    return count;
}

/* The plain names that the code's own statements assign to. */
static int find_targets(Target *targets, const Str *code) {
    Source *source = NULL;
    Ast *ast = NULL;
    SourceRange where;
    int count = 0;
    TsrStatus status = source_new(&source, "<explain>", code->data, (size_t)code->size, 1, NULL);
    if (status == TSR_OK) status = parser_new_module(&ast, source, &where);
    for (int i = 0; status == TSR_OK && i < ast->body.count; i++)
        if (ast->body.items[i]->kind == AST_ASSIGN) count = add_targets(targets, count, ast->body.items[i]);
    if (status != TSR_OK) tsr_error_clear(); /* running it will tell */
    ast_free(ast);
    source_free(source);
    return count;
}

typedef struct Keepers {
    int64_t serial, id; /* of the storage */
    TsrText text;
    int count;
} Keepers;

static bool add_keeper(const char *path, TsrTensor *t, bool argument, void *context) {
    Keepers *k = context;
    if (argument || path[0] == '<' || t->storage == NULL || t->storage->serial != k->serial || strcmp(path, "_") == 0) return true;
    k->id = tsr_storage_id(t->storage);
    return tsr_text_printf(&k->text, "%s%s", k->count++ > 0 ? ", " : "", path) == TSR_OK;
}

/* The tensor that a name held is gone; views of it keep the storage. */
static void say_freed(Story *s, const Target *target) {
    Keepers k = {.serial = target->storage};
    s->status = s->status == TSR_OK && k.serial >= 0 ? who_each(add_keeper, &k) : s->status;
    say(s, "%s names another tensor now; the one it named had no other holder and is freed", target->name);
    if (k.count > 0) say(s, "  its storage #%lld is not: it stays with %s", (long long)k.id, k.text.data);
    tsr_text_free(&k.text);
}

static void say_target(Story *s, const Target *target) {
    char holder[NAME_ROOM];
    TsrTensor *now = retain_named(target->name);
    if (now != NULL && target->source[0] != '\0') {
        say(s, "%s = %s: one more name for the same tensor: no bytes copied, it has %lld references now", target->name, target->source, (long long)who_refcount(now) - 1);
        say(s, "  a write through either is seen through both; %s.clone() would be a tensor of its own, for %lld bytes", target->source, bytes_of(now));
    }
    if (target->before != NULL && target->before != now) {
        TsrTensor *old = tsr_tensor_weak_retain(target->before);
        if (old == NULL) say_freed(s, target);
        else say(s, "%s names another tensor now; the one it named is unchanged and stays with %s", target->name, has_name(holder, old) ? holder : "a temporary");
        tsr_tensor_free(old);
    }
    tsr_tensor_free(now);
}

/* ---- explain ---- */

static TsrStatus run_watched(Value *result, Story *s, const Str *code) {
    Story *outer = story;
    TsrTraceHook hook = tsr_trace_hook;
    void *user = tsr_trace_user;
    story = s;
    tsr_op_hook = explain_op;
    subscript_hook = explain_subscript;
    tsr_trace_user = s;
    tsr_trace_hook = explain_event;
    TsrStatus status = vm_run_text_here(result, code->data, (size_t)code->size, "<explain>");
    story = outer;
    tsr_op_hook = outer != NULL ? explain_op : NULL;
    subscript_hook = outer != NULL ? explain_subscript : NULL;
    tsr_trace_user = user;
    tsr_trace_hook = hook;
    return status;
}

/* The error is part of the explanation. */
static void say_exception(Story *s, TsrStatus status) {
    Value exception;
    TsrText line = {0};
    exc_fetch(&exception, status, VALUE_UNBOUND);
    if (exc_write_line(&line, exception) == TSR_OK) say(s, "%s", line.data);
    tsr_text_free(&line);
    value_release(exception);
}

static void say_end(Story *s, Value result) {
    char name[NAME_ROOM];
    if (s->unsaid > 0) say(s, "... and %d step%s more", s->unsaid, s->unsaid == 1 ? "" : "s");
    if (s->text.length > 0) return;
    if (result.tag == V_TENSOR && has_name(name, result.t)) say(s, "%s itself: a name is a pointer, nothing was copied", name);
    else if (result.tag == V_TENSOR) say(s, "a tensor made by other means than an operator: %lld bytes", bytes_of(result.t));
    else say(s, "no tensor was made, viewed or written");
}

static TsrStatus explain_code(Value *out, const CallArgs *args) {
    Value result = VALUE_UNBOUND;
    Target targets[MAX_TARGETS];
    if (!value_is_str(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "explain(): argument 'code' must be str, not %s", value_type_name(args->values[0]));
    Story *s = tsr_calloc(1, sizeof *s);
    if (s == NULL) return mem_error();
    const Str *code = value_as_str(args->values[0]);
    int count = find_targets(targets, code);
    TsrStatus status = run_watched(&result, s, code);
    bool stopped = status == TSR_KEYBOARD_INTERRUPT || status == TSR_TIMEOUT_ERROR;
    if (status != TSR_OK && !stopped) say_exception(s, status);
    for (int i = 0; i < count; i++) {
        if (status == TSR_OK) say_target(s, &targets[i]);
        tsr_tensor_weak_free(targets[i].before);
    }
    if (!stopped) {
        say_end(s, result);
        status = s->status;
    }
    value_release(result);
    forget_all(s);
    if (status == TSR_OK) status = str_new_text_move(out, &s->text);
    tsr_text_free(&s->text);
    tsr_free(s);
    if (status == TSR_OK) note_mark(*out);
    return status;
}

static const Method functions[] = {
    {"explain", explain_code, ARGS_ONE, 1, 1, "(code)", "Runs code and tells why: view, copy or the same tensor, broadcasting, promotion, who sees a write.\n\n"
     "    >>> x = ones(2, 3)\n    >>> explain(\"x.contiguous()\")\n    x.contiguous(): the same tensor as x: nothing to do, nothing copied"},
    {0},
};

TsrStatus explain_startup(void) { return namespace_add_functions("tsr", functions, true); }
