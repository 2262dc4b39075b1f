/* c10.ArrayRef: a non-owning, read-only view of some ints: a pointer and a length. It points at the sizes or strides of
 * a tensor, of a caffe2 tensor without memory, or at the items of a list, and shows what is written there. All of them
 * are listed, so that the death of what one points at, or a change of its rank or length, is noted with its line.
 *
 * A temporary list lives until its statement ends, as in C++, where a call may use it. The reference keeps it until
 * then: the statement is over when a name, or a container, of where it was made holds the ArrayRef, or when the call
 * that made it has returned. */
#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "lang/types/dict.h"
#include "caffe2.h"
#include "core/borrow.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/frame.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

typedef enum RefSource { FROM_NOTHING, FROM_TENSOR, FROM_BLOCK, FROM_ITEMS } RefSource;

typedef struct ArrayRef {
    Obj obj;
    RefSource source;
    TsrTensor *t;         /* FROM_TENSOR: a weak link */
    bool strides;         /* its strides, not its sizes */
    const void *owner;    /* FROM_BLOCK: whose they are; FROM_ITEMS: the list, lent, held while `temporary` */
    const int64_t *block; /* FROM_BLOCK */
    bool temporary;       /* the list had no owner but the call that made this */
    int64_t count;        /* as it was: a pointer and a length know nothing of changes */
    int line;             /* where it was made */
    const void *frame;    /* the call that made it; told from others by its code */
    const void *code;
    const char *kind; /* FROM_ITEMS: "list" */
    const char *gone; /* what happened to what it points at; NULL: nothing, as far as is known */
    int gone_line;    /* where; 0: nobody saw it */
    struct ArrayRef *next, *prev;
} ArrayRef;

static ArrayRef *all_refs;
static void (*next_gone_hook)(TsrTensor *t);

static ArrayRef *as_ref(Value v) { return (ArrayRef *)v.o; }

/* ---- what ends it ---- */

static void dangle(ArrayRef *r, const char *why) {
    if (r->gone != NULL) return;
    r->gone = why;
    r->gone_line = vm_current_line();
}

static void note_tensor_gone(TsrTensor *t) {
    for (ArrayRef *r = all_refs; r != NULL; r = r->next)
        if (r->t == t) dangle(r, "went");
    if (next_gone_hook != NULL) next_gone_hook(t);
}

static void note_rank(const TsrTensor *t) {
    for (ArrayRef *r = all_refs; r != NULL; r = r->next)
        if (r->t == t) dangle(r, "changed its rank");
}

void array_ref_owner_changed(const void *owner, const char *how) {
    for (ArrayRef *r = all_refs; r != NULL; r = r->next)
        if (r->source == FROM_BLOCK && r->owner == owner) dangle(r, how);
}

/* Types whose objects are pointed at, with the functions that destroy them: watched from the first ArrayRef of one on.
 */
enum { MAX_WATCHED = 8 };
static struct {
    Type *type;
    void (*destroy)(Obj *self);
} watched[MAX_WATCHED];
static int watched_count;

static void destroy_watched(Obj *self) {
    for (ArrayRef *r = all_refs; r != NULL; r = r->next)
        if (r->source == FROM_ITEMS && r->owner == self) dangle(r, "went");
    /* A named tuple's type copies the function of tuple, so that a base of the object's type may be the watched one. */
    for (const Type *type = self->type; type != NULL; type = type->base)
        for (int i = 0; i < watched_count; i++)
            if (watched[i].type == type) {
                watched[i].destroy(self);
                return;
            }
}

static void note_length(const List *l) {
    for (ArrayRef *r = all_refs; r != NULL; r = r->next)
        if (r->source == FROM_ITEMS && r->owner == l && l->count != r->count) dangle(r, "changed its length");
}

static bool watch(Type *type) {
    list_length_hook = note_length;
    if (type->destroy == destroy_watched) return true;
    if (watched_count == MAX_WATCHED) return false;
    watched[watched_count].type = type;
    watched[watched_count++].destroy = type->destroy;
    type->destroy = destroy_watched;
    return true;
}

/* ---- making one ---- */

static void unlink_ref(ArrayRef *r) {
    if (r->prev != NULL) r->prev->next = r->next;
    else if (all_refs == r) all_refs = r->next;
    if (r->next != NULL) r->next->prev = r->prev;
}

static void let_go(ArrayRef *r) {
    if (r->temporary && r->owner != NULL) obj_release((Obj *)r->owner);
    r->owner = NULL;
}

static void ref_destroy(Obj *self) {
    ArrayRef *r = (ArrayRef *)self;
    unlink_ref(r);
    tsr_tensor_weak_free(r->t);
    let_go(r);
    obj_free(r, sizeof *r);
}

static const Frame *current_frame(void) {
    const Frame *f = vm.frame;
    while (f != NULL && source_is_prelude(f->code->source)) f = f->prev;
    return f;
}

static TsrStatus new_ref(ArrayRef **out, RefSource source) {
    ArrayRef *r = obj_new(&array_ref_type, sizeof *r);
    if (r == NULL) return mem_error();
    const Frame *f = current_frame();
    *r = (ArrayRef){.obj = r->obj,
                    .source = source,
                    .line = vm_current_line(),
                    .frame = f,
                    .code = f != NULL ? f->code : NULL,
                    .next = all_refs};
    if (all_refs != NULL) all_refs->prev = r;
    all_refs = r;
    *out = r;
    return TSR_OK;
}

TsrStatus array_ref_new(Value *out, TsrTensor *t, bool strides) {
    ArrayRef *r;
    TSR_TRY(new_ref(&r, FROM_TENSOR));
    r->t = tsr_tensor_weak_new(t);
    r->strides = strides;
    r->count = tsr_ndim(t);
    *out = value_obj_move(r);
    return TSR_OK;
}

TsrStatus array_ref_new_block(Value *out, const void *owner, const int64_t *block, int count) {
    ArrayRef *r;
    TSR_TRY(new_ref(&r, FROM_BLOCK));
    r->owner = owner;
    r->block = block;
    r->count = count;
    *out = value_obj_move(r);
    return TSR_OK;
}

/* Of the items of a list or tuple, which have to be ints. */
static TsrStatus point_at_items(ArrayRef *r, Value v) {
    const Value *items;
    int64_t item;
    if (!value_as_array(v, &items, &r->count))
        return tsr_error(TSR_TYPE_ERROR, "ArrayRef(): expected a list or tuple of ints, not %s", value_type_name(v));
    for (int64_t i = 0; i < r->count; i++) TSR_TRY(value_to_index(&item, items[i]));
    r->temporary = v.o->refcount == 1;
    if (!r->temporary && !watch(v.o->type))
        return tsr_error(TSR_TYPE_ERROR, "ArrayRef(): a %s can't be pointed at", value_type_name(v));
    r->owner = r->temporary ? obj_retain(v.o) : v.o;
    r->kind = value_type(v)->name;
    r->source = FROM_ITEMS;
    return TSR_OK;
}

/* The copy of an ArrayRef is one more pointer to the same numbers. */
static TsrStatus point_as(ArrayRef *r, const ArrayRef *other) {
    r->source = other->source;
    r->t = other->t != NULL ? tsr_tensor_weak_new(other->t) : NULL;
    r->strides = other->strides;
    r->temporary = other->temporary;
    r->owner = other->temporary && other->owner != NULL ? obj_retain((Obj *)other->owner) : other->owner;
    r->block = other->block;
    r->kind = other->kind;
    r->count = other->count;
    r->line = other->line;
    r->frame = other->frame;
    r->code = other->code;
    r->gone = other->gone;
    r->gone_line = other->gone_line;
    return TSR_OK;
}

static TsrStatus ref_construct(Value *out, Type *type, const CallArgs *args) {
    ArrayRef *r;
    (void)type;
    TSR_TRY(args_count(args, 0, 0, 1, "ArrayRef"));
    TSR_TRY(args_no_keywords(args, "ArrayRef"));
    TSR_TRY(new_ref(&r, FROM_NOTHING));
    *out = value_obj_move(r);
    if (args->count == 0) return TSR_OK;
    bool copy = value_is_obj(args->values[0], &array_ref_type);
    TsrStatus status = copy ? point_as(r, as_ref(args->values[0])) : point_at_items(r, args->values[0]);
    if (status != TSR_OK) value_clear(out);
    return status;
}

/* ---- reading one ---- */

/* A place that holds an ArrayRef: where it was made, or further out, its statement is over; in a call within that, it
 * is not. */
typedef struct Holding {
    const ArrayRef *r;
    char path[128]; /* "": none */
} Holding;

static bool note_place(const WhoPath *path, void *context) {
    Holding *p = context;
    if (path->shell != p->r || path->path[0] == '<') return true;
    snprintf(p->path, sizeof p->path, "%s", path->path);
    for (const Frame *f = current_frame(); f != NULL && path->function != NULL; f = f->prev) {
        if (f == p->r->frame && f->code == p->r->code) break;
        if (strcmp(f->code->name, path->function) == 0) p->path[0] = '\0'; /* a parameter of a call in the statement */
    }
    return p->path[0] == '\0';
}

/* Where it is held, "" where only the statement that made it does. */
static void find_place(Holding *p, const ArrayRef *r) {
    *p = (Holding){.r = r};
    if (holders_each_path(note_place, p) != TSR_OK) tsr_error_clear();
}

/* Whether the call that made it is still running: a statement of a function ends with the call at the latest. */
static bool is_being_made(const ArrayRef *r) {
    const Frame *f = current_frame();
    while (f != NULL && (f != r->frame || f->code != r->code)) f = f->prev;
    return f != NULL;
}

/* Looks whether what it points at is there, and as long as it was. */
static void check(ArrayRef *r) {
    const Value *items;
    int64_t count;
    Holding place;
    if (r->gone != NULL || r->source != FROM_ITEMS) return;
    if (r->temporary) {
        find_place(&place, r);
        if (place.path[0] == '\0' && is_being_made(r)) return;
        dangle(r, "temporary");
        r->gone_line = r->line;
        let_go(r);
    } else if (value_as_array(value_lent((void *)r->owner), &items, &count) && count != r->count) {
        dangle(r, "changed its length"); /* in a way that was interrupted */
        r->gone_line = 0;
    }
}

/* "the sizes of a tensor that went at line 4" */
static TsrStatus append_fate(TsrText *out, const ArrayRef *r) {
    if (strcmp(r->gone, "temporary") == 0) return tsr_text_puts(out, "a temporary, which went with its statement");
    if (r->source == FROM_ITEMS) TSR_TRY(tsr_text_printf(out, "%lld numbers of a %s", (long long)r->count, r->kind));
    else TSR_TRY(tsr_text_printf(out, "the %s of a tensor", r->strides ? "strides" : "sizes"));
    TSR_TRY(tsr_text_printf(out, " that %s", r->gone));
    return r->gone_line > 0 ? tsr_text_printf(out, " at line %d", r->gone_line) : TSR_OK;
}

static TsrStatus dangling_error(const ArrayRef *r) {
    TsrText fate = {0};
    TSR_TRY(append_fate(&fate, r));
    tsr_error(TSR_BORROW_ERROR, "this ArrayRef of line %d points at %s: an ArrayRef owns nothing", r->line, fate.data);
    tsr_error_hint("vec() copies the numbers into a list");
    tsr_text_free(&fate);
    return TSR_BORROW_ERROR;
}

/* BorrowError where it dangles. */
static TsrStatus look(int64_t *count, Value v) {
    ArrayRef *r = as_ref(v);
    check(r);
    *count = r->count;
    return r->gone == NULL ? TSR_OK : dangling_error(r);
}

/* Number i, after look(). What stands in a list may have become something else. */
static TsrStatus number_at(int64_t *out, Value v, int64_t i) {
    const ArrayRef *r = as_ref(v);
    const Value *items;
    int64_t count;
    if (r->source == FROM_TENSOR) *out = r->strides ? r->t->strides[i] : r->t->sizes[i];
    else if (r->source == FROM_BLOCK) *out = r->block[i];
    else if (value_as_array(value_lent((void *)r->owner), &items, &count)) return value_to_index(out, items[i]);
    return TSR_OK;
}

static TsrStatus ref_repr(TsrText *out, Value self) {
    int64_t count, item;
    if (look(&count, self) != TSR_OK) {
        tsr_error_clear();
        return tsr_text_puts(out, "ArrayRef(dangling)");
    }
    TSR_TRY(tsr_text_putc(out, '['));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(number_at(&item, self, i));
        TSR_TRY(tsr_text_printf(out, i > 0 ? ", %lld" : "%lld", (long long)item));
    }
    return tsr_text_putc(out, ']');
}

static TsrStatus ref_length(int64_t *out, Value self) { return look(out, self); }

static TsrStatus ref_get_item(Value *out, Value self, Value index) {
    int64_t count, i, item;
    TSR_TRY(look(&count, self));
    TSR_TRY(value_to_index(&i, index));
    if (i < 0 || i >= count)
        return tsr_error(TSR_INDEX_ERROR, "ArrayRef: invalid index Index = %lld; Length = %lld", (long long)i,
                         (long long)count);
    TSR_TRY(number_at(&item, self, i));
    *out = value_int(item);
    return TSR_OK;
}

static TsrStatus ref_set_item(Value self, Value index, Value value) {
    (void)self, (void)index, (void)value;
    return tsr_error(TSR_TYPE_ERROR, "an ArrayRef is read-only; vec() gives a list of your own");
}

static TsrStatus ref_vec(Value *out, const CallArgs *args) {
    int64_t count, item;
    Value list;
    TSR_TRY(look(&count, args->values[0]));
    TSR_TRY(list_new(&list, count));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) {
        status = number_at(&item, args->values[0], i);
        if (status == TSR_OK) status = list_append(value_as_list(list), value_int(item));
    }
    return value_end_move(out, status, list);
}

static TsrStatus ref_size(Value *out, const CallArgs *args) {
    int64_t count;
    TSR_TRY(ref_length(&count, args->values[0]));
    *out = value_int(count);
    return TSR_OK;
}

static TsrStatus ref_empty(Value *out, const CallArgs *args) {
    int64_t count;
    TSR_TRY(ref_length(&count, args->values[0]));
    *out = value_bool(count == 0);
    return TSR_OK;
}

/* The numbers of an ArrayRef, or of a list, whose other items make it different. */
static TsrStatus item_of(bool *is_number, int64_t *out, Value v, int64_t i) {
    const Value *items;
    int64_t count;
    *is_number = true;
    if (value_is_obj(v, &array_ref_type)) return number_at(out, v, i);
    *is_number = value_as_array(v, &items, &count) && value_small_int(items[i], out);
    return TSR_OK;
}

static TsrStatus same_items(bool *out, Value a, Value b) {
    const Value *values;
    int64_t n, m, x, y;
    TSR_TRY(look(&n, a));
    *out = false;
    if (value_is_obj(b, &array_ref_type)) TSR_TRY(look(&m, b));
    else if (!value_as_array(b, &values, &m)) return TSR_OK;
    *out = n == m;
    for (int64_t i = 0; i < n && *out; i++) {
        TSR_TRY(number_at(&x, a, i));
        TSR_TRY(item_of(out, &y, b, i));
        *out = *out && x == y;
    }
    return TSR_OK;
}

static TsrStatus ref_equals(Value *out, const CallArgs *args) {
    bool same;
    TSR_TRY(same_items(&same, args->values[0], args->values[1]));
    *out = value_bool(same);
    return TSR_OK;
}

static TsrStatus ref_compare(Value *out, CompareOp op, Value a, Value b) {
    bool same;
    *out = VALUE_UNBOUND;
    if (op != CMP_EQ && op != CMP_NE) return TSR_OK;
    if (!value_is_obj(a, &array_ref_type)) {
        Value t = a;
        a = b;
        b = t;
    }
    TSR_TRY(same_items(&same, a, b));
    *out = value_bool(same == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus ref_iter(Value *out, Value self) {
    Value list;
    TSR_TRY(ref_vec(&list, &(CallArgs){.values = &self, .count = 1}));
    TsrStatus status = value_iter(out, list);
    value_release(list);
    return status;
}

static const Method methods[] = {
    {"vec", ref_vec, ARGS_NONE, 0, 0, "()", "A copy of the numbers as a list."},
    {"size", ref_size, ARGS_NONE, 0, 0, "()", "How many."},
    {"empty", ref_empty, ARGS_NONE, 0, 0, "()", "Whether there are none."},
    {"equals", ref_equals, ARGS_ONE, 1, 1, "(other)", "Whether the numbers are the same."},
    {0},
};

Type array_ref_type = {.obj = TYPE_HEADER,
                       .name = "ArrayRef",
                       .module = "c10",
                       .construct = ref_construct,
                       .destroy = ref_destroy,
                       .repr = ref_repr,
                       .length = ref_length,
                       .get_item = ref_get_item,
                       .set_item = ref_set_item,
                       .iter = ref_iter,
                       .compare = ref_compare,
                       .hash = hash_refused,
                       .methods = methods};

/* ---- what is shown of it ---- */

static const void *ref_shell(Value v) { return v.o; }

static TsrStatus ref_members(Value dict, Value v) {
    static const char *const sources[] = {"nothing", "the sizes of a tensor",
                                          "the sizes of a caffe2 tensor without memory", "the items of a list"};
    ArrayRef *r = as_ref(v);
    Dict *d = value_as_dict(dict);
    check(r);
    TSR_TRY(holders_put_text(d, "Data",
                             r->gone != NULL ? "dangling"
                             : r->strides    ? "the strides of a tensor"
                                             : sources[r->source]));
    TSR_TRY(dict_set_c(d, "Length", value_int(r->count)));
    return dict_set_c(d, "owns", VALUE_FALSE);
}

/* Those that something still holds, beside what was shown last. */
static TsrStatus list_dangling(List *out) {
    for (ArrayRef *r = all_refs; r != NULL; r = r->next) {
        Holding at;
        TsrText fate = {0};
        Value text;
        check(r);
        if (r->gone == NULL) continue;
        find_place(&at, r);
        if (at.path[0] == '\0' || strcmp(at.path, "_") == 0) continue;
        TsrStatus status = append_fate(&fate, r);
        if (status == TSR_OK)
            status = str_new_format(&text, "ArrayRef of line %d in %s dangles: it points at %s", r->line, at.path,
                                    fate.data);
        tsr_text_free(&fate);
        TSR_TRY(status);
        TSR_TRY(list_append_move(out, text));
    }
    return TSR_OK;
}

void array_ref_startup(void) {
    static const WhoWrapper row = {
        .type = &array_ref_type, .name = "ArrayRef<int64_t>", .shell = ref_shell, .members = ref_members};
    holders_register_anatomy(&row);
    holders_register_leaks(list_dangling);
    tsr_rank_hook = note_rank;
    static bool chained; /* a process may start more than once */
    if (chained) return;
    chained = true;
    next_gone_hook = tsr_tensor_gone_hook;
    tsr_tensor_gone_hook = note_tensor_gone;
}
