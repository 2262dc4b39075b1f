/* How it works: while the code runs it keeps a log of events (events.h), and is told of each operator and each indexing
 * by hooks. A step is one of those, or what one call of another kind (TH.newContiguous, caffe2.Tensor) did. When a step
 * ends, the events since the one before it are summed up (tally.h), and the sentences say what they show; what an
 * operator's own sentence does not name follows in lines of its own, so that no allocation and no copy goes untold. The
 * words of a rule (broadcasting, promotion, strides) come from the arguments. */
#include "explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "core/op.h"
#include "lang/object/exc.h"
#include "card.h"
#include "events.h"
#include "inspect.h"
#include "shapes.h"
#include "tally.h"
#include "lang/modules/namespace.h"
#include "lang/syntax/parser.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/subscript.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

enum {
    NAME_ROOM = 72,
    TEXT_ROOM = 512,
    MAX_KNOWN = 64,
    MAX_STEPS = 40,
    MAX_TARGETS = 8,
    MAX_TEXTS = 32,
    MOST_ALIKE = 4,
    MAX_COPIES = 8,
    MOST_COUNTED = 1 << 16
};

/* A tensor that the code has made: what to call it while no name holds it. */
typedef struct Known {
    TsrTensor *t; /* a weak link */
    char text[NAME_ROOM];
    char copied_from[NAME_ROOM]; /* "" when it is no copy of another tensor */
} Known;

/* What a tensor was before an operator changed it in place. */
typedef struct Before {
    TsrTensor *t;        /* compared only */
    TsrStorage *storage; /* compared only */
    int64_t storage_serial;
    int ndim;
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], offset, version;
} Before;

/* A copy of elements from one tensor to another, weak links. */
typedef struct Copied {
    TsrTensor *to, *from;
    const TsrStorage *storage;
} Copied;

/* What a call that is neither an operator nor an index has done so far. */
typedef struct NativeStep {
    bool open;
    char text[NAME_ROOM];
    TsrTensor *wrapped, *written, *kept; /* weak links; NULL: none */
    const char *wrapper, *holds;         /* its type, and "owned" or "borrowed" */
    int64_t count, kept_bytes;           /* references when it was wrapped; bytes that the new sizes use */
    TsrText freed;                       /* "#1 (24 bytes)" of storages from before */
} NativeStep;

typedef struct Story {
    TsrText text;
    EventLog log;
    int64_t last_serial, first_serial; /* of storages, when the step began and when the code did */
    int64_t said_allocated, said_copied, unsaid_allocated, unsaid_copied; /* bytes */
    Copied copies[MAX_COPIES];
    int copy_count;
    Before before;
    NativeStep native;
    bool wrote; /* into memory from before the code ran */
    int depth;  /* of operators inside operators */
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

static bool has_name(char *buffer, TsrTensor *t) { return holders_name(buffer, NAME_ROOM, t)[0] != '\0'; }

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
    for (int i = 0; i < n && at < room; i++)
        at += (size_t)snprintf(buffer + at, room - at, i > 0 ? ", %lld" : "%lld", (long long)items[i]);
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

/* ---- what a step did ---- */

static Tally tally(const Story *s) { return tally_of(s->log.events, s->log.count, s->last_serial); }

static bool is_new(const Story *s, const TsrStorage *storage) {
    return storage != NULL && storage->serial > s->last_serial;
}

/* A step begins after all that was told. */
static void start_step(Story *s) {
    s->log.count = 0;
    s->last_serial = tsr_storage_last_serial();
    s->said_allocated = s->said_copied = 0;
    for (int i = 0; i < s->copy_count; i++) {
        tsr_tensor_weak_free(s->copies[i].to);
        tsr_tensor_weak_free(s->copies[i].from);
    }
    s->copy_count = 0;
}

static void link_to(TsrTensor **slot, const void *tensor) {
    TsrTensor *t = tsr_tensor_weak_new((TsrTensor *)(uintptr_t)tensor);
    tsr_tensor_weak_free(*slot);
    *slot = t;
}

static void clear_native(Story *s) {
    tsr_tensor_weak_free(s->native.wrapped);
    tsr_tensor_weak_free(s->native.written);
    tsr_tensor_weak_free(s->native.kept);
    tsr_text_free(&s->native.freed);
    s->native = (NativeStep){0};
}

/* The copy that filled this storage in this step; NULL: none. */
static const Copied *copy_into(const Story *s, const TsrStorage *storage) {
    for (int i = 0; i < s->copy_count; i++)
        if (s->copies[i].storage == storage) return &s->copies[i];
    return NULL;
}

/* What the sentences before have not named. */
static void say_rest(Story *s) {
    Tally t = tally(s);
    long long more = (long long)(t.allocated - s->said_allocated), copied = (long long)(t.copied - s->said_copied);
    if (more > 0)
        say(s, "  %lld bytes more were allocated on the way%s", more, more <= t.given_back ? ", and freed again" : "");
    if (copied > 0) say(s, "  %lld bytes were copied on the way", copied);
}

static void end_step(Story *s) {
    say_rest(s);
    clear_native(s);
    start_step(s);
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
    say(s,
        "  dimensions %d and %d can't merge: that needs stride[%d] == size[%d] * stride[%d], but %lld != %lld * %lld "
        "(strides %s)",
        d, d + 1, d, d + 1, d + 1, (long long)t->strides[d], (long long)t->sizes[d + 1], (long long)t->strides[d + 1],
        tuple_text(strides, sizeof strides, tsr_ndim(t), t->strides));
}

/* Why a copy had to be made by an operator that gives a view where it can. */
static void say_copy_reason(Story *s, const TsrOpCall *c, const TsrTensor *t, const TsrTensor *r) {
    static const char *const merging[] = {"reshape", "flatten", "ravel", "reshape_as", "view", NULL};
    const char *op = c->schema->base;
    char a[TEXT_ROOM];
    if (t->dtype != r->dtype)
        say(s, "  the dtype changes: %s to %s", tsr_dtype_name(t->dtype), tsr_dtype_name(r->dtype));
    else if (is_one_of(op, merging)) say_unmergeable(s, t, tsr_ndim(r), r->sizes);
    else if (strcmp(op, "contiguous") == 0)
        say(s, "  strides %s are not %s", tuple_text(a, sizeof a, tsr_ndim(t), t->strides),
            tsr_is_contiguous(r, TSR_CONTIGUOUS) ? "row-major" : "in the format asked for");
    else if (strcmp(op, "clone") == 0) say(s, "  clone always copies: what is written to one is not seen by the other");
    else if (strcmp(op, "to") == 0 && t->device.type == r->device.type)
        say(s, "  copy=True, or another memory format, was asked for");
}

/* A dimension of size 1 whose stride is not the one that rows would have. */
static void say_idle_strides(Story *s, const TsrTensor *r) {
    int64_t dense = 1;
    for (int d = tsr_ndim(r) - 1; d >= 0 && r->numel > 0; d--) {
        if (r->sizes[d] == 1 && r->strides[d] != dense) {
            say(s, "  dimension %d has one index: its stride, %lld, is never stepped by, and any other would do", d,
                (long long)r->strides[d]);
            return;
        }
        dense *= r->sizes[d];
    }
}

static bool has_stride_zero(const TsrTensor *r) {
    for (int d = 0; d < tsr_ndim(r); d++)
        if (r->strides[d] == 0 && r->sizes[d] > 1) return true;
    return false;
}

/* Elements of the storage that a view reaches, each counted once; 0 where there are too many to look. */
static int64_t distinct_elements(const TsrTensor *r) {
    int64_t last = 0, n = 0, index[TSR_MAX_DIMS] = {0};
    for (int d = 0; d < tsr_ndim(r); d++) last += (r->sizes[d] - 1) * r->strides[d];
    if (r->numel > MOST_COUNTED || last >= 8 * MOST_COUNTED) return 0;
    bool *seen = tsr_calloc((size_t)last + 1, sizeof *seen);
    for (int64_t k = 0; seen != NULL && k < r->numel; k++) {
        int64_t at = 0;
        for (int d = 0; d < tsr_ndim(r); d++) at += index[d] * r->strides[d];
        n += !seen[at];
        seen[at] = true;
        for (int d = tsr_ndim(r) - 1; d >= 0 && ++index[d] == r->sizes[d]; d--) index[d] = 0;
    }
    tsr_free(seen);
    return n;
}

/* Windows and the like, which overlap themselves with other strides than 0. */
static void say_repeats(Story *s, const TsrTensor *r) {
    TsrGeometry g = tsr_tensor_geometry(r);
    if (r->numel == 0 || has_stride_zero(r) || !tsr_layout_has_internal_overlap(&g)) return;
    long long distinct = (long long)distinct_elements(r);
    if (distinct > 0)
        say(s, "  it overlaps itself: its %lld indices reach %lld elements, and a write at one index is seen at others",
            (long long)r->numel, distinct);
    else
        say(s,
            "  it overlaps itself: several of its indices reach one element, and a write at one is seen at the others");
}

/* What a view's geometry means for memory: repeated elements, a large storage kept. */
static void say_consequences(Story *s, const TsrTensor *t, const TsrTensor *r) {
    for (int d = 0; d < tsr_ndim(r); d++)
        if (r->strides[d] == 0 && r->sizes[d] > 1)
            say(s,
                "  stride 0 in dimension %d: its %lld indices are one element; %lld bytes would be needed for "
                "elements of their own",
                d, (long long)r->sizes[d], bytes_of(r));
    say_idle_strides(s, r);
    say_repeats(s, r);
    long long kept = (long long)t->storage->nbytes, used = bytes_of(r);
    if (kept >= 1024 && used * 4 < kept)
        say(s,
            "  it keeps all %lld bytes of the storage alive for the %lld it reaches; clone() would cost %lld bytes "
            "and let the rest go",
            kept, used, used);
}

static void say_view(Story *s, const char *head, TsrTensor *t, TsrTensor *r, const char *why) {
    char name[NAME_ROOM], a[TEXT_ROOM], b[TEXT_ROOM], shape[TEXT_ROOM];
    say(s, "%s: a view of %s%s: the same storage #%lld, no bytes copied", head, name_of(s, name, t), why,
        (long long)tsr_storage_id(t->storage));
    say(s, "  strides %s became %s, shape %s, offset %lld", tuple_text(a, sizeof a, tsr_ndim(t), t->strides),
        tuple_text(b, sizeof b, tsr_ndim(r), r->strides), tuple_text(shape, sizeof shape, tsr_ndim(r), r->sizes),
        (long long)r->offset);
    if (r->version != t->version)
        say(s, "  its version counter is its own: writes through it are not counted for the other");
    say_consequences(s, t, r);
}

static void say_alias(Story *s, const TsrOpCall *c, const char *head, TsrTensor *t, TsrTensor *r) {
    char name[NAME_ROOM];
    if (r == t) {
        say(s, "%s: the same tensor as %s: nothing to do, nothing copied", head, name_of(s, name, t));
        if (strcmp(c->schema->base, "contiguous") == 0) say_idle_strides(s, t);
    } else if (r->storage != NULL && r->storage == t->storage) {
        say_view(s, head, t, r, "");
    } else {
        say(s, "%s: a copy of %s: %lld bytes", head, name_of(s, name, t), bytes_of(r));
        say_copy_reason(s, c, t, r);
        s->said_allocated += is_new(s, r->storage) ? bytes_of(r) : 0;
        s->said_copied += bytes_of(r);
    }
}

/* Whether r holds the elements of t, copied in this step. */
static bool is_copy_of(const Story *s, const TsrTensor *r, const TsrTensor *t) {
    const Copied *c = r->storage != NULL && t != NULL && t->storage != NULL ? copy_into(s, r->storage) : NULL;
    return c != NULL && r != t && r->numel == t->numel && c->to->numel == t->numel &&
           (c->from == t || (tsr_tensor_weak_alive(c->from) && c->from->storage == t->storage));
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
        else
            at +=
                (size_t)snprintf(row + at, sizeof row - at, "%6lld%s", (long long)t->sizes[own], stretched ? "*" : " ");
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
    say(s, "  both are stretched: the result has %lld elements, %lld times its larger operand", (long long)r->numel,
        (long long)(r->numel / largest));
    if (a == NULL || b == NULL) return;
    if (is_row_and_column(b, a)) a = b, b = tensor_at(c, 0);
    if (is_row_and_column(a, b))
        say(s, "  a row against a column gives every pair; to go element by element, drop the 1: %s.squeeze(1)",
            name_of(s, name, b));
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
    say(s,
        "  broadcast: shapes are aligned at the right; where a size is 1 or missing (*) its elements are used again, "
        "not copied");
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
    bool higher =
        (tsr_dtype_is_float(weak->dtype) || tsr_dtype_is_complex(weak->dtype)) && b != a && common != strong->dtype;
    if (number && higher) return "a Python number of a higher kind brings the default dtype of its kind";
    if (number && common == strong->dtype)
        return "a Python number takes the tensor's dtype unless its kind (bool < integer < floating < complex) is higher";
    if (number) return "a Python number of a higher kind decides";
    if (scalar && common == strong->dtype)
        return "a 0-d tensor counts only when its kind (bool < integer < floating < complex) is higher";
    if (scalar) return "a 0-d tensor counts because its kind is higher";
    if (a != b && !(tsr_dtype_is_integral(strong->dtype) && tsr_dtype_is_integral(weak->dtype)))
        return "the higher kind wins (bool < integer < floating < complex), whatever the sizes";
    if (common == strong->dtype || common == weak->dtype) return "of one kind, the wider one";
    return "neither holds all values of the other: the next that does";
}

static const char *dtype_words(char *buffer, const Story *s, TsrTensor *t) {
    char name[NAME_ROOM];
    if (is_number(t))
        snprintf(buffer, 2 * NAME_ROOM, "a Python %s",
                 tsr_dtype_is_complex(t->dtype) ? "complex"
                 : tsr_dtype_is_float(t->dtype) ? "float"
                 : t->dtype == TSR_BOOL         ? "bool"
                                                : "int");
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
        say(s, "  dtype: %s with %s gives %s: %s", dtype_words(a, s, strong), dtype_words(b, s, weak),
            tsr_dtype_name(common), rule_of(strong, weak, common));
    if (!tsr_dtype_is_float(common) && !tsr_dtype_is_complex(common) && tsr_dtype_is_float(r->dtype))
        say(s, "  dtype: its results have fractions, so %s becomes the default dtype, %s", tsr_dtype_name(common),
            tsr_dtype_name(r->dtype));
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
    else if (a->storage == b->storage)
        say(s, "  %s and %s look at one storage, #%lld: a write to an element that both reach is seen by both", na, nb,
            (long long)tsr_storage_id(a->storage));
    else
        say(s, "  %s and %s share nothing: storages #%lld and #%lld; a write to one is not seen by the other", na, nb,
            (long long)tsr_storage_id(a->storage), (long long)tsr_storage_id(b->storage));
}

/* ---- writes ---- */

typedef struct Others {
    const TsrTensor *written, *through; /* the place, and the tensor that was indexed to get there */
    TsrText text;
    int count;
} Others;

static bool add_other(const char *path, TsrTensor *t, bool argument, void *context) {
    Others *o = context;
    if (argument || path[0] == '<' || t == o->written || t == o->through || t->storage != o->written->storage ||
        strcmp(path, "_") == 0)
        return true;
    if (!inspect_overlaps(t, o->written)) return true;
    return tsr_text_printf(&o->text, "%s%s", o->count++ > 0 ? ", " : "", path) == TSR_OK;
}

/* Who else reaches the elements that were written through t. */
static void say_seen_by(Story *s, const TsrTensor *t, const TsrTensor *through) {
    Others o = {.written = t, .through = through};
    if (t->storage == NULL) return;
    s->status = s->status == TSR_OK ? holders_each(add_other, &o) : s->status;
    if (o.count > 0)
        say(s, "  seen by %s %s: storage #%lld", o.text.data, o.count == 1 ? "too" : "as well",
            (long long)tsr_storage_id(t->storage));
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

/* Whether writing took memory, all but that of Python numbers. */
static const char *memory_words(Story *s, char *buffer, size_t room) {
    Tally t = tally(s);
    long long bytes = (long long)(t.allocated - s->said_allocated);
    if (bytes == 0) snprintf(buffer, room, "no new memory");
    else if (bytes <= t.given_back) snprintf(buffer, room, "%lld bytes on the way, freed again", bytes);
    else snprintf(buffer, room, "%lld bytes on the way", bytes);
    s->said_allocated += bytes;
    return buffer;
}

/* Elements that one copy wrote. */
static void say_copied_into(Story *s, const TsrTensor *t) {
    char name[NAME_ROOM];
    Tally sum = tally(s);
    const Copied *c = t->storage != NULL ? copy_into(s, t->storage) : NULL;
    if (c == NULL || sum.copies != 1) return;
    say(s, "  %lld bytes copied from %s", (long long)sum.copied,
        tsr_tensor_weak_alive(c->from) ? name_of(s, name, c->from) : "a temporary");
    s->said_copied += sum.copied;
}

/* What the write took, and what a write into a mapping does to the file. */
static void say_source(Story *s, const TsrTensor *t) {
    const TsrStorage *storage = t->storage;
    s->wrote = s->wrote || (storage != NULL && storage->serial <= s->first_serial);
    say_copied_into(s, t);
    if (storage == NULL || storage->origin == NULL || storage->path == NULL || strcmp(storage->origin, "mmap") != 0)
        return;
    if (storage->shared) say(s, "  its memory is a shared mapping: the write goes to the file %s", storage->path);
    else say(s, "  its memory is a private mapping (copy-on-write): the file %s stays as it is", storage->path);
}

static void say_write(Story *s, const char *head, TsrTensor *t) {
    char name[NAME_ROOM], words[NAME_ROOM];
    const Known *copy = lost_copy(s, t);
    if (copy != NULL) {
        say(s, "%s: writes into a copy, %s: %s does not see it", head, copy->text, copy->copied_from);
        say(s, "  to write into %s, assign: %s = ..., or %s += ...", copy->copied_from, copy->text, copy->text);
        return;
    }
    say(s, "%s: writes into %s, in place: %s; its version is now %lld", head, name_of(s, name, t),
        memory_words(s, words, sizeof words), (long long)tsr_tensor_version(t));
    say_source(s, t);
    say_seen_by(s, t, t);
}

/* What became of the memory of storages that were there before. */
static void say_moved(Story *s, const TsrTensor *t) {
    Tally sum = tally(s);
    if (t->storage == NULL) return;
    if (sum.moved > 0)
        say(s, "  its storage #%lld had to grow: %lld bytes allocated, %lld copied, %lld freed",
            (long long)tsr_storage_id(t->storage), (long long)sum.moved, (long long)sum.copied, (long long)sum.freed);
    else if (sum.adopted > 0)
        say(s,
            "  its storage #%lld moved to memory shared between processes: %lld bytes taken, %lld copied, %lld "
            "freed; its views follow",
            (long long)tsr_storage_id(t->storage), (long long)sum.adopted, (long long)sum.copied, (long long)sum.freed);
    else return;
    s->said_allocated += sum.moved;
    s->said_copied += sum.copied;
}

/* Sizes, strides or the storage changed, and no element. */
static void say_changed(Story *s, const char *head, TsrTensor *t) {
    char name[NAME_ROOM], a[TEXT_ROOM], b[TEXT_ROOM], shape[TEXT_ROOM];
    const Before *was = &s->before;
    s->wrote = s->wrote || (was->storage != NULL && was->storage_serial <= s->first_serial);
    name_of(s, name, t);
    bool same = was->ndim == tsr_ndim(t) && was->offset == t->offset &&
                memcmp(was->sizes, t->sizes, sizeof(int64_t) * (size_t)was->ndim) == 0 &&
                memcmp(was->strides, t->strides, sizeof(int64_t) * (size_t)was->ndim) == 0;
    say(s, "%s: changes %s itself, and writes no element; its version is %s %lld", head, name,
        was->version == tsr_tensor_version(t) ? "still" : "now", (long long)tsr_tensor_version(t));
    if (!same)
        say(s, "  strides %s became %s, shape %s, offset %lld", tuple_text(a, sizeof a, was->ndim, was->strides),
            tuple_text(b, sizeof b, tsr_ndim(t), t->strides), tuple_text(shape, sizeof shape, tsr_ndim(t), t->sizes),
            (long long)t->offset);
    if (was->storage != t->storage && t->storage != NULL)
        say(s, "  it is over storage #%lld now, and no longer over the one it had: no bytes copied",
            (long long)tsr_storage_id(t->storage));
    say_moved(s, t);
    if (!same && t->storage == was->storage && t->numel > 0 && (int64_t)t->storage->nbytes > bytes_of(t) &&
        tally(s).moved == 0)
        say(s, "  memory kept: %lld of %zu bytes used", bytes_of(t), t->storage->nbytes);
    else if (same && was->storage == t->storage && tally(s).adopted == 0) say(s, "  its geometry is what it was");
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
    if (!overflows)
        say(s, "  that shape needs %s%lld element%s; %s has %lld", how, (long long)wanted, wanted == 1 ? "" : "s", name,
            (long long)t->numel);
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

/* `op`: its name out of place; NULL: an assignment. */
static void say_refused_write(Story *s, const char *op, TsrTensor *t) {
    char name[NAME_ROOM], shape[TEXT_ROOM];
    name_of(s, name, t);
    if (says("more than one element of the written-to tensor")) {
        for (int d = 0; d < tsr_ndim(t); d++)
            if (t->strides[d] == 0 && t->sizes[d] > 1)
                say(s,
                    "  dimension %d of %s has stride 0: %lld indices are one element, which would be written more "
                    "than once",
                    d, name, (long long)t->sizes[d]);
        say(s, "  %s.clone() gives each index an element of its own: %lld bytes", name, bytes_of(t));
    } else if (says("refer to a single memory location")) {
        say(s,
            "  what is read and what is written overlap: an element would be read after it was written; clone() what "
            "is read");
    } else if (says("doesn't match the broadcast shape")) {
        say(s, "  in place, %s keeps its shape %s: only the other operand may be stretched", name,
            tuple_text(shape, sizeof shape, tsr_ndim(t), t->sizes));
    } else if (says("can't be cast to")) {
        say(s, "  in place, %s keeps its dtype %s, and the result is of a higher kind%s%s%s%s", name,
            tsr_dtype_name(t->dtype), op != NULL ? "; " : "", op != NULL ? name : "", op != NULL ? "." : "",
            op != NULL ? op : "");
        if (op != NULL)
            s->status = s->status == TSR_OK ? tsr_text_puts(&s->text, "(...) makes a new tensor") : s->status;
    } else if (t->storage != NULL && t->storage->readonly) {
        say(s, "  the memory of %s is read-only (%s); %s.clone() may be written: %lld bytes", name,
            t->storage->origin != NULL ? t->storage->origin : "borrowed", name, bytes_of(t));
    }
}

static void say_refused(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *t = c->out[0] != NULL ? c->out[0] : first_tensor(c);
    char product[200];
    const char *shapes = tsr_error_shapes_text(tsr_error_message()),
               *factors = shapes_of_product(tsr_error_message(), product, sizeof product);
    say(s, "%s: refused", head);
    if (shapes != NULL) {
        say(s, "  the shapes, aligned at the right, must agree or be 1:");
        say_lines(s, shapes);
    }
    if (factors != NULL) {
        say(s, "  the columns of the first must be as many as the rows of the second:");
        say_lines(s, factors);
        if (shapes_hint(tsr_error_message()) != NULL) say(s, "  %s", shapes_hint(tsr_error_message()));
    }
    if (t == NULL) return;
    if (strcmp(c->schema->base, "view") == 0 || strcmp(c->schema->base, "reshape") == 0) say_refused_view(s, c, t);
    else say_refused_write(s, c->schema->base, t);
}

/* ---- one operator ---- */

/* Memory that results were given, each storage once. */
static int64_t new_memory(const Story *s, TsrTensor *const *results, int n) {
    int64_t bytes = 0;
    for (int i = 0; i < n; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++) seen = seen || results[k]->storage == results[i]->storage;
        if (!seen && is_new(s, results[i]->storage) && results[i]->device.type != TSR_META)
            bytes += (int64_t)results[i]->storage->nbytes;
    }
    return bytes;
}

/* How the results of an operator that gives several lie to its argument. */
static void say_several(Story *s, const char *head, TsrTensor *t, TsrTensor *const *results, int n) {
    char name[NAME_ROOM];
    bool views = t != NULL && t->storage != NULL && n > 0, fresh = true;
    for (int i = 0; i < n; i++) {
        views = views && results[i]->storage == t->storage;
        fresh = fresh && is_new(s, results[i]->storage);
    }
    long long bytes = (long long)new_memory(s, results, n);
    s->said_allocated += bytes;
    if (views)
        say(s, "%s: %d views of %s: the same storage #%lld, no bytes copied", head, n, name_of(s, name, t),
            (long long)tsr_storage_id(t->storage));
    else if (fresh) say(s, "%s: %d new tensors, %lld bytes", head, n, bytes);
    else say(s, "%s: %d tensors, %lld bytes of them new", head, n, bytes);
}

/* The argument whose storage a result lies in; NULL: none. */
static TsrTensor *argument_under(const TsrOpCall *c, const TsrTensor *r) {
    for (int i = 0; i < c->nargs; i++) {
        TsrTensor *t = tensor_at(c, i);
        if (t != NULL && (t == r || (t->storage != NULL && t->storage == r->storage))) return t;
        for (int k = 0; c->arg[i].kind == TSR_ARG_TENSORS && k < c->arg[i].n; k++)
            if (c->arg[i].tensors[k] != NULL && c->arg[i].tensors[k]->storage != NULL &&
                c->arg[i].tensors[k]->storage == r->storage)
                return c->arg[i].tensors[k];
    }
    return NULL;
}

static void say_sparse(Story *s, const char *head, const TsrTensor *r) {
    TsrTensor *parts[3] = {r->sparse->values, r->sparse->indices, r->sparse->plain_indices};
    int n = parts[2] != NULL ? 3 : 2;
    long long values = bytes_of(parts[0]), indices = bytes_of(parts[1]) + (n == 3 ? bytes_of(parts[2]) : 0),
              bytes = (long long)new_memory(s, parts, n);
    say(s, "%s: a sparse tensor: %lld bytes of values, %lld of indices; %lld of them new", head, values, indices,
        bytes);
    s->said_allocated += bytes;
}

/* A result that no storage of an argument holds. */
static void say_made(Story *s, const TsrOpCall *c, const char *head, TsrTensor *r) {
    Tally t = tally(s);
    const char *origin = r->storage != NULL ? r->storage->origin : NULL;
    if (r->sparse != NULL) {
        say_sparse(s, head, r);
    } else if (r->storage == NULL) {
        say(s, "%s: a tensor without memory", head);
    } else if (r->device.type == TSR_META) {
        say(s, "%s: a new tensor on meta: it has no memory, nothing is copied", head);
    } else if (c->out[0] != NULL) {
        s->wrote = s->wrote || r->storage->serial <= s->first_serial;
        if (t.moved > 0)
            say(s, "%s: %lld bytes written into out, whose storage grew: %lld bytes allocated", head, bytes_of(r),
                (long long)t.moved);
        else say(s, "%s: %lld bytes written into out: no new memory for them", head, bytes_of(r));
        s->said_allocated += t.moved;
    } else if (origin != NULL) {
        say(s, "%s: a new tensor of %lld bytes, over memory that is not its own: nothing copied", head, bytes_of(r));
    } else if (is_new(s, r->storage)) {
        say(s, "%s: a new tensor of %lld bytes", head, bytes_of(r));
        s->said_allocated += bytes_of(r);
    } else {
        say(s, "%s: a tensor over memory that was there before, storage #%lld: no new memory", head,
            (long long)tsr_storage_id(r->storage));
    }
    say_promotion(s, c, r);
    say_broadcast(s, c, r);
}

static void say_results(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *t = first_tensor(c), *r = c->ret[0].kind == TSR_ARG_TENSOR ? c->ret[0].t : NULL, *pair[TSR_MAX_RETS];
    TsrTensor *under = r != NULL && c->out[0] == NULL ? argument_under(c, r) : NULL;
    if (c->nret > 0 && c->ret[0].kind == TSR_ARG_TENSORS) {
        say_several(s, head, t, c->ret[0].tensors, c->ret[0].n);
    } else if (r != NULL && c->nret > 1) {
        for (int i = 0; i < c->nret; i++) pair[i] = c->ret[i].t;
        say_several(s, head, t, pair, c->nret);
    } else if (r == NULL) {
        say(s, "%s: gives no tensor", head);
    } else if (under != NULL) {
        say_alias(s, c, head, under, r);
    } else if (c->out[0] == NULL && is_copy_of(s, r, t)) {
        say_alias(s, c, head, t, r);
    } else {
        say_made(s, c, head, r);
    }
    say_sharing(s, c);
}

/* Bytes of the Python numbers among the arguments, which are tensors of one element while an operator runs; counted as
 * said. */
static long long take_numbers(Story *s, const TsrOpCall *c) {
    int64_t bytes = 0;
    for (int i = 0; i < c->nargs; i++) {
        TsrTensor *t = tensor_at(c, i);
        if (t != NULL && is_number(t) && is_new(s, t->storage)) bytes += (int64_t)t->storage->nbytes;
    }
    Tally t = tally(s);
    bytes = TSR_MAX(0, TSR_MIN(bytes, t.allocated - s->said_allocated));
    s->said_allocated += bytes;
    return (long long)bytes;
}

static void say_numbers(Story *s, long long bytes) {
    if (bytes > 0) say(s, "  the Python number took %lld bytes for the while", bytes);
}

static void remember_results(Story *s, const TsrOpCall *c) {
    char text[NAME_ROOM], from[NAME_ROOM] = "";
    TsrTensor *t = first_tensor(c), *r = c->nret > 0 && c->ret[0].kind == TSR_ARG_TENSOR ? c->ret[0].t : NULL;
    if (r == NULL || c->out[0] != NULL) return;
    bool copies = t != NULL && (is_copy_of(s, r, t) ||
                                (r != t && r->storage != t->storage && strcmp(c->op->category, "index") == 0));
    if (copies) name_of(s, from, t);
    remember(s, r, vm_current_text(text, sizeof text), from);
}

/* Whether an operator that works in place changed its tensor's sizes, strides or storage, not its elements. */
static bool is_change(const Story *s, const TsrOpCall *c, const TsrTensor *t) {
    const Before *was = &s->before;
    if (was->t != t) return false;
    if (was->storage != t->storage || was->ndim != tsr_ndim(t)) return true;
    size_t n = sizeof(int64_t) * (size_t)was->ndim;
    return memcmp(was->sizes, t->sizes, n) != 0 || memcmp(was->strides, t->strides, n) != 0 ||
           (c->op->alias == TSR_IN_PLACE && (c->op->flags & TSR_OP_UNCHECKED) != 0 &&
            was->version <= tsr_tensor_version(t) && copy_into(s, t->storage) == NULL);
}

static void say_in_place(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *target = c->out[0] != NULL ? c->out[0] : first_tensor(c);
    if (target == NULL) say(s, "%s: writes, in place", head);
    else if (is_change(s, c, target)) say_changed(s, head, target);
    else say_write(s, head, target);
}

static void say_op(Story *s, const TsrOpCall *c, TsrStatus status) {
    char head[2 * NAME_ROOM];
    head_of(head, sizeof head, c->inplace ? c->schema->inplace : c->schema->base);
    long long numbers = take_numbers(s, c);
    if (status != TSR_OK) say_refused(s, c, head);
    else if (c->inplace || c->op->alias == TSR_IN_PLACE) say_in_place(s, c, head);
    else say_results(s, c, head);
    say_numbers(s, numbers);
    if (status == TSR_OK && !c->inplace && c->op->alias != TSR_IN_PLACE) remember_results(s, c);
}

/* ---- indexing ---- */

static void say_read(Story *s, const SubscriptEvent *e) {
    char text[NAME_ROOM], name[NAME_ROOM];
    head_of(text, sizeof text, "");
    if (!e->advanced) {
        if (e->place->storage != NULL)
            say_view(s, text, e->self, e->place, " (integers, slices, None and ... only choose)");
        else say(s, "%s: a part of %s, which is sparse", text, name_of(s, name, e->self));
        remember(s, e->place, text, "");
        return;
    }
    name_of(s, name, e->self);
    say(s, "%s: a copy of %s: %lld bytes", text, name, bytes_of(e->place));
    s->said_allocated += is_new(s, e->place->storage) ? bytes_of(e->place) : 0;
    say(s, "  masks, lists and tensors of positions pick elements that no offset and strides describe, so reading with "
           "them always copies");
    remember(s, e->place, text, name);
}

static void say_refused_assignment(Story *s, const SubscriptEvent *e, const char *text) {
    char name[NAME_ROOM];
    say(s, "%s = ...: refused", text);
    if (e->place == NULL) return;
    if (says("some elements of the input tensor and the written-to tensor"))
        say(s,
            "  what is written lies in the storage of %s, and overlaps the place without being it: which element is "
            "read after its write? .clone() of it first takes %lld bytes",
            name_of(s, name, e->self), bytes_of(e->place));
    else say_refused_write(s, NULL, e->place);
}

static void say_assigned(Story *s, const SubscriptEvent *e) {
    char text[NAME_ROOM], name[NAME_ROOM], words[NAME_ROOM];
    const Known *copy = lost_copy(s, e->self);
    head_of(text, sizeof text, "");
    if (e->status != TSR_OK) {
        say_refused_assignment(s, e, text);
        return;
    }
    if (copy != NULL) {
        say(s, "%s = ...: writes into a copy, %s: %s does not see it", text, copy->text, copy->copied_from);
        if (copy->text[strlen(copy->text) - 1] == ']')
            say(s, "  one pair of brackets writes into %s; the first of two pairs reads, and this one copied",
                copy->copied_from);
        else say(s, "  write to %s itself, or to a view of it", copy->copied_from);
        return;
    }
    say(s, "%s = ...: writes into %s, in place: %s; its version is now %lld", text, name_of(s, name, e->self),
        memory_words(s, words, sizeof words), (long long)tsr_tensor_version(e->self));
    say_source(s, e->self);
    if (e->advanced) say(s, "  assigning through masks and positions writes where they point: nothing is copied out");
    say_seen_by(s, e->place, e->self);
}

static bool step_of(Story *s, const char *head);

/* ---- calls that are no operator ---- */

static long long storage_bytes(const TsrTensor *t) { return t->storage != NULL ? (long long)t->storage->nbytes : 0; }

/* "2 references now", or what a borrow leaves alone. */
static void say_wrapped(Story *s, const char *text, const Tally *sum) {
    const NativeStep *n = &s->native;
    TsrTensor *t = tsr_tensor_weak_retain(n->wrapped);
    const Copied *copy = t != NULL ? copy_into(s, t->storage) : NULL;
    char name[NAME_ROOM], a[TEXT_ROOM];
    bool fresh = t != NULL && is_new(s, t->storage);
    if (t == NULL) {
        say(s, "%s: a %s of a tensor that is gone already", text, n->wrapper);
    } else if (fresh && copy != NULL) {
        say(s, "%s: an owned copy of %s: %lld bytes%s%s%s", text,
            tsr_tensor_weak_alive(copy->from) ? name_of(s, name, copy->from) : "a temporary", storage_bytes(t),
            sum->copy_reason != NULL ? ", as strides " : "",
            sum->copy_reason != NULL ? tuple_text(a, sizeof a, tsr_ndim(copy->from), copy->from->strides) : "",
            sum->copy_reason == NULL                         ? ""
            : strcmp(sum->copy_reason, "not row-major") == 0 ? " are not row-major"
                                                             : " are not in the format asked for");
        s->said_allocated += storage_bytes(t);
        s->said_copied += bytes_of(t);
    } else if (fresh) {
        say(s, "%s: a %s of its own: %lld bytes", text, n->wrapper, storage_bytes(t));
        s->said_allocated += storage_bytes(t);
    } else if (strcmp(n->holds, "borrowed") == 0) {
        say(s, "%s: a borrow of %s: no reference more, %lld now; nothing copied", text, name_of(s, name, t),
            (long long)n->count);
    } else if (n->count <= 1) {
        say(s, "%s: a %s holds it: 1 reference, nothing copied", text, n->wrapper);
    } else {
        say(s, "%s: a wrapper: one reference more, %lld now: %s of %s, nothing copied", text, (long long)n->count,
            n->wrapper, name_of(s, name, t));
    }
    tsr_tensor_free(t);
}

/* The storages that this step made and that live, each with its bytes. */
static void list_made(Story *s, TsrText *out) {
    for (TsrStorage *m = tsr_storage_first(); m != NULL; m = m->next)
        if (is_new(s, m) && m->ptr.device.type != TSR_META && m->origin == NULL && s->status == TSR_OK)
            s->status = tsr_text_printf(out, "%s#%lld (%zu bytes)", out->length > 0 ? ", " : "",
                                        (long long)tsr_storage_id(m), m->nbytes);
}

static void say_blocks(Story *s, const char *text, const Tally *sum) {
    const NativeStep *n = &s->native;
    TsrText made = {0};
    long long stays = (long long)(sum->allocated - sum->given_back);
    if (sum->made > 0) list_made(s, &made);
    bool retyped = sum->made_reason != NULL && strcmp(sum->made_reason, "retyped") == 0;
    bool outgrown = sum->made_reason != NULL && strcmp(sum->made_reason, "outgrown") == 0;
    if (made.length > 0 && n->freed.length > 0)
        say(s, "%s: %s: storage %s freed, %s made", text,
            retyped    ? "retyped"
            : outgrown ? "outgrown"
                       : "other memory",
            n->freed.data, made.data);
    else if (made.length > 0) say(s, "%s: %lld bytes allocated: storage %s made", text, stays, made.data);
    else if (n->freed.length > 0) say(s, "freed: storage %s", n->freed.data);
    else if (sum->allocated > 0)
        say(s, "%s: %lld bytes allocated%s", text, (long long)sum->allocated, stays <= 0 ? ", and freed again" : "");
    if (made.length > 0) s->said_allocated += stays;
    else if (n->freed.length == 0) s->said_allocated += sum->allocated;
    tsr_text_free(&made);
}

static void say_kept(Story *s, const char *text) {
    char name[NAME_ROOM];
    TsrTensor *t = tsr_tensor_weak_retain(s->native.kept);
    if (t != NULL)
        say(s, "%s: memory kept: %lld of %lld bytes used, by %s", text, (long long)s->native.kept_bytes,
            storage_bytes(t), name_of(s, name, t));
    tsr_tensor_free(t);
}

static void say_written(Story *s, const char *text) {
    TsrTensor *t = tsr_tensor_weak_retain(s->native.written);
    if (t != NULL) say_write(s, text, t);
    tsr_tensor_free(t);
}

static void say_native(Story *s) {
    NativeStep *n = &s->native;
    Tally sum = tally(s);
    const char *text = n->text[0] != '\0' ? n->text : "a call";
    size_t before = s->text.length;
    if (n->wrapped != NULL) say_wrapped(s, text, &sum);
    bool fresh = s->said_allocated > 0;
    if (!fresh && (sum.made > sum.given_back || n->freed.length > 0)) say_blocks(s, text, &sum);
    if (n->kept != NULL && sum.allocated == 0) say_kept(s, text);
    if (n->written != NULL) say_written(s, text);
    if (sum.adopted > 0)
        say(s, "%s: %lld bytes of memory that is not its own (%s): nothing copied", text, (long long)sum.adopted,
            sum.adopted_as != NULL ? sum.adopted_as : "foreign");
    if (s->text.length == before && (sum.allocated > 0 || sum.copied > 0)) say_blocks(s, text, &sum);
    if (s->text.length == before && sum.copied > 0) {
        say(s, "%s: %lld bytes copied", text, (long long)sum.copied);
        s->said_copied += sum.copied;
    }
}

/* What was done outside of operators since the last step is told. */
static void end_native(Story *s) {
    if (!s->native.open) return;
    s->busy = true;
    events_hush();
    s->native.open = false;
    if (step_of(s, s->native.text)) say_native(s);
    end_step(s);
    events_listen();
    s->busy = false;
}

/* As end_native, when the last event of the log is the first of another call. */
static void end_native_before_last(Story *s) {
    if (!s->native.open || s->log.count == 0) return;
    Event last = s->log.events[--s->log.count];
    end_native(s);
    s->log.events[s->log.count++] = last;
}

/* An event belongs to the call whose text stands in the code; that of another one is told first. */
static void open_native(Story *s) {
    char text[NAME_ROOM];
    vm_current_text(text, sizeof text);
    if (s->native.open && strcmp(text, s->native.text) == 0) return;
    end_native_before_last(s);
    s->native.open = true;
    snprintf(s->native.text, sizeof s->native.text, "%s", text);
}

/* Memory from before the code ran. */
static void note_freed(Story *s, const TsrTraceEvent *e) {
    TsrStorage *storage = (TsrStorage *)(uintptr_t)e->object2;
    if (storage == NULL || storage->serial > s->first_serial || e->bytes == 0) return;
    open_native(s);
    if (s->status == TSR_OK)
        s->status = tsr_text_printf(&s->native.freed, "%s#%lld (%lld bytes)", s->native.freed.length > 0 ? ", " : "",
                                    (long long)tsr_storage_id(storage), (long long)e->bytes);
}

static void note_wrapped(Story *s, const TsrTraceEvent *e) {
    open_native(s);
    link_to(&s->native.wrapped, e->object);
    s->native.wrapper = e->what;
    s->native.holds = e->reason;
    events_hush();
    s->native.count = holders_refcount((TsrTensor *)(uintptr_t)e->object);
    events_listen();
}

static void note_copy(Story *s, const TsrTraceEvent *e) {
    if (s->copy_count == MAX_COPIES || e->object2 == NULL) return;
    TsrTensor *to = (TsrTensor *)(uintptr_t)e->object, *from = (TsrTensor *)(uintptr_t)e->object2;
    s->copies[s->copy_count++] = (Copied){tsr_tensor_weak_new(to), tsr_tensor_weak_new(from), to->storage};
}

/* What was wrapped may go with this reference: it is told while it is there. */
static void tell_before_release(Story *s, const TsrTraceEvent *e) {
    char text[NAME_ROOM];
    if (!s->native.open || s->native.wrapped == NULL || e->object != s->native.wrapped) return;
    if (strcmp(vm_current_text(text, sizeof text), s->native.text) != 0) end_native_before_last(s);
}

/* Outside of operators and indexing. */
static void see_native(Story *s, const TsrTraceEvent *e) {
    switch (e->kind) {
    case TSR_TRACE_ALLOC:
    case TSR_TRACE_ADOPT:
    case TSR_TRACE_COPY: open_native(s); break;
    case TSR_TRACE_FREE: note_freed(s, e); break;
    case TSR_TRACE_RELEASE: tell_before_release(s, e); break;
    case TSR_TRACE_WRAP: note_wrapped(s, e); break;
    case TSR_TRACE_WRITE:
        open_native(s);
        link_to(&s->native.written, e->object);
        break;
    case TSR_TRACE_KEEP:
        open_native(s);
        link_to(&s->native.kept, e->object);
        s->native.kept_bytes = e->bytes;
        break;
    default: break;
    }
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

/* Whether the step is told: not for ever, nor over and over. Of the others the sums are. */
static bool step_of(Story *s, const char *head) {
    bool told = times_seen(s, head) <= MOST_ALIKE && s->steps < MAX_STEPS;
    if (told) {
        s->steps++;
        return true;
    }
    Tally t = tally(s);
    s->unsaid++;
    s->unsaid_allocated += s->said_allocated = t.allocated;
    s->unsaid_copied += s->said_copied = t.copied;
    return false;
}

static bool step(Story *s, const char *op) {
    char head[NAME_ROOM];
    return step_of(s, head_of(head, sizeof head, op));
}

/* An operator or an indexing begins: what its arguments took is its own, and anything else is told first. */
static void begin_inner(Story *s) {
    char text[NAME_ROOM];
    if (s->depth++ > 0) return;
    vm_current_text(text, sizeof text);
    bool own = s->native.open && strcmp(text, s->native.text) == 0 && s->native.wrapped == NULL &&
               s->native.written == NULL && s->native.freed.length == 0;
    if (s->native.open && !own) end_native(s);
    if (own) s->native.open = false;
    else start_step(s);
}

/* It has ended. Whether it was the outermost. */
static bool end_inner(Story *s) {
    if (s->depth > 0) s->depth--;
    return s->depth == 0;
}

static void note_before(Story *s, const TsrOpCall *c) {
    TsrTensor *t = c->out[0] != NULL ? c->out[0] : first_tensor(c);
    Before *b = &s->before;
    b->t = NULL;
    if (t == NULL || t->storage == NULL || (!c->inplace && c->op->alias != TSR_IN_PLACE)) return;
    *b = (Before){.t = t,
                  .storage = t->storage,
                  .storage_serial = t->storage->serial,
                  .ndim = tsr_ndim(t),
                  .offset = t->offset,
                  .version = tsr_tensor_version(t)};
    memcpy(b->sizes, t->sizes, sizeof(int64_t) * (size_t)b->ndim);
    memcpy(b->strides, t->strides, sizeof(int64_t) * (size_t)b->ndim);
}

/* A view that no operator made: x.data of a wrapper, a row of a loop. */
static void see_view(Story *s, const TsrTraceEvent *e) {
    char head[2 * NAME_ROOM];
    TsrTensor *view = (TsrTensor *)(uintptr_t)e->object, *base = (TsrTensor *)(uintptr_t)e->object2;
    end_native(s);
    if (e->what == NULL || base->storage == NULL || !step(s, e->what)) return;
    s->busy = true;
    events_hush();
    say_view(s, head_of(head, sizeof head, e->what), base, view, "");
    events_listen();
    s->busy = false;
}

static void explain_event(void *user, const TsrTraceEvent *e) {
    Story *s = user;
    if (s->busy) return;
    if (e->kind == TSR_TRACE_OP) {
        begin_inner(s);
        if (s->depth == 1) note_before(s, e->object);
    } else if (s->depth == 0 && e->kind == TSR_TRACE_VIEW) {
        see_view(s, e);
    } else if (s->depth == 0) {
        see_native(s, e);
    }
    if (e->kind == TSR_TRACE_COPY) note_copy(s, e);
}

static void explain_op(const TsrOpCall *call, TsrStatus status) {
    Story *s = story;
    if (s == NULL || s->busy || !end_inner(s)) return;
    s->busy = true;
    events_hush();
    if (step(s, call->schema->base)) say_op(s, call, status);
    end_step(s);
    events_listen();
    s->busy = false;
}

static void explain_subscript(const SubscriptEvent *e) {
    Story *s = story;
    if (s == NULL || s->busy) return;
    if (e == NULL) {
        begin_inner(s);
        return;
    }
    if (!end_inner(s)) return;
    s->busy = true;
    events_hush();
    bool told = (e->place != NULL && e->status == TSR_OK) || e->written;
    if (told && step(s, "")) {
        if (e->written) say_assigned(s, e);
        else say_read(s, e);
    }
    end_step(s);
    events_listen();
    s->busy = false;
}

/* ---- assignments to names ---- */

typedef struct Target {
    char name[NAME_ROOM], source[NAME_ROOM]; /* source: "" when the value is no bare name */
    TsrTensor *before;                       /* a weak link to what the name held; NULL: no tensor */
    int64_t storage;                         /* the serial of its storage; -1: none */
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
    if (argument || path[0] == '<' || t->storage == NULL || t->storage->serial != k->serial || strcmp(path, "_") == 0)
        return true;
    k->id = tsr_storage_id(t->storage);
    return tsr_text_printf(&k->text, "%s%s", k->count++ > 0 ? ", " : "", path) == TSR_OK;
}

/* The tensor that a name held is gone; views of it keep the storage. */
static void say_freed(Story *s, const Target *target) {
    Keepers k = {.serial = target->storage};
    s->status = s->status == TSR_OK && k.serial >= 0 ? holders_each(add_keeper, &k) : s->status;
    say(s, "%s names another tensor now; the one it named had no other holder and is freed", target->name);
    if (k.count > 0) say(s, "  its storage #%lld is not: it stays with %s", (long long)k.id, k.text.data);
    tsr_text_free(&k.text);
}

static void say_target(Story *s, const Target *target) {
    char holder[NAME_ROOM];
    TsrTensor *now = retain_named(target->name);
    if (now != NULL && target->source[0] != '\0') {
        say(s, "%s = %s: one more name for the same tensor: no bytes copied, it has %lld references now", target->name,
            target->source, (long long)holders_refcount(now) - 1);
        say(s, "  a write through either is seen through both; %s.clone() would be a tensor of its own, for %lld bytes",
            target->source, bytes_of(now));
    }
    if (target->before != NULL && target->before != now) {
        TsrTensor *old = tsr_tensor_weak_retain(target->before);
        if (old == NULL) say_freed(s, target);
        else
            say(s, "%s names another tensor now; the one it named is unchanged and stays with %s", target->name,
                has_name(holder, old) ? holder : "a temporary");
        tsr_tensor_free(old);
    }
    tsr_tensor_free(now);
}

/* ---- explain ---- */

static TsrStatus run_watched(Value *result, Story *s, const Str *code) {
    Story *outer = story;
    story = s;
    tsr_op_hook = explain_op;
    subscript_hook = explain_subscript;
    s->first_serial = tsr_storage_last_serial();
    start_step(s);
    events_begin(&s->log, explain_event, s);
    TsrStatus status = vm_run_text_here(result, code->data, (size_t)code->size, "<explain>");
    s->depth = 0;
    end_native(s);
    events_end(&s->log);
    story = outer;
    tsr_op_hook = outer != NULL ? explain_op : NULL;
    subscript_hook = outer != NULL ? explain_subscript : NULL;
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

static void say_end(Story *s, Value result, bool bound) {
    char name[NAME_ROOM];
    if (s->unsaid > 0)
        say(s, "... and %d step%s more: %lld bytes allocated, %lld copied", s->unsaid, s->unsaid == 1 ? "" : "s",
            (long long)s->unsaid_allocated, (long long)s->unsaid_copied);
    if (s->wrote || bound)
        say(s, "this ran: what it %s stays", s->wrote && bound ? "changed and bound" : s->wrote ? "changed" : "bound");
    if (s->text.length > 0) return;
    if (result.tag == V_TENSOR && has_name(name, result.t))
        say(s, "%s itself: a name is a pointer, nothing was copied", name);
    else if (result.tag == V_TENSOR)
        say(s, "a tensor made by other means than an operator: %lld bytes", bytes_of(result.t));
    else say(s, "nothing: no tensor was made, viewed or written, no memory taken, copied or freed");
}

static TsrStatus explain_code(Value *out, const CallArgs *args) {
    Value result = VALUE_UNBOUND;
    Target targets[MAX_TARGETS];
    if (!value_is_str(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "explain(): argument 'code' must be str, not %s",
                         value_type_name(args->values[0]));
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
        say_end(s, result, count > 0 && status == TSR_OK);
        status = s->status;
    }
    value_release(result);
    start_step(s);
    clear_native(s);
    events_free(&s->log);
    forget_all(s);
    if (status == TSR_OK) status = str_new_text_move(out, &s->text);
    tsr_text_free(&s->text);
    tsr_free(s);
    if (status == TSR_OK) note_mark(*out);
    return status;
}

static const Method functions[] = {
    {"explain", explain_code, ARGS_ONE, 1, 1, "(code)",
     "Runs code, whose effects stay, and tells why: view, copy or the same tensor, memory taken and freed, "
     "broadcasting, promotion, who sees a write.\n\n"
     "    >>> x = ones(2, 3)\n    >>> explain(\"x.contiguous()\")\n    x.contiguous(): the same tensor as x: nothing "
     "to do, nothing copied"},
    {0},
};

TsrStatus explain_startup(void) { return namespace_add_functions("tsr", functions, true); }
