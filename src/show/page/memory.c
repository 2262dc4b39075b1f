/* The snapshot: every way to a tensor that the program has (holders.h), then the storages behind those tensors, then
 * the plain values of the globals. What differs from the snapshot before is marked. */
#include "memory.h"

#include <stdio.h>
#include <string.h>

#include "core/layout.h"
#include "core/mem.h"
#include "lang/object/exc.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

enum { WIDEST_ROW = 12, EQUAL_ROW = 16 };

/* ---- finding ---- */

static StorageBox *find_storage(const Memory *m, int64_t serial) {
    for (int i = 0; m != NULL && i < m->storage_count; i++)
        if (m->storages[i].serial == serial) return &m->storages[i];
    return NULL;
}

/* A storage at the same address may be another one: its serial says so. */
static const TensorBox *find_before(const Memory *before, const TensorBox *t, int64_t serial) {
    for (int i = 0; before != NULL && i < before->tensor_count; i++) {
        const TensorBox *b = &before->tensors[i];
        if (b->identity == t->identity && b->storage >= 0 && before->storages[b->storage].serial == serial) return b;
    }
    return NULL;
}

static int storage_index(Memory *m, const TsrTensor *t) {
    if (t->storage == NULL) return -1;
    StorageBox *found = find_storage(m, t->storage->serial);
    if (found != NULL) return (int)(found - m->storages);
    if (m->storage_count == MEMORY_STORAGES) return -1;
    StorageBox *s = &m->storages[m->storage_count];
    int64_t size = (int64_t)tsr_dtype_size(t->dtype);
    *s = (StorageBox){.serial = t->storage->serial,
                      .id = tsr_storage_id(t->storage),
                      .bytes = (int64_t)t->storage->nbytes,
                      .refcount = tsr_storage_refcount(t->storage),
                      .before = -1};
    s->picture = (Picture){.storage = t->storage,
                           .dtype = t->dtype,
                           .elements = size > 0 ? (int64_t)t->storage->nbytes / size : 0,
                           .unicode = true};
    snprintf(s->head, sizeof s->head, "storage #%lld: %lld \303\227 %s, %lld bytes", (long long)s->id,
             (long long)s->picture.elements, tsr_dtype_name(t->dtype), (long long)s->bytes);
    return m->storage_count++;
}

static int tensor_index(Memory *m, TsrTensor *t) {
    for (int i = 0; i < m->tensor_count; i++)
        if (m->tensors[i].identity == t) return i;
    if (m->tensor_count == MEMORY_TENSORS) {
        m->more_tensors++;
        return -1;
    }
    TensorBox *box = &m->tensors[m->tensor_count];
    *box = (TensorBox){.identity = t, .storage = storage_index(m, t), .before = -1, .view = -1};
    box->refcount = holders_refcount(t);
    snprintf(box->type, sizeof box->type, "%s %s", tsr_dtype_name(t->dtype), tsr_layout_text(tsr_ndim(t), t->sizes));
    snprintf(box->geometry, sizeof box->geometry, "strides %s, offset %lld", tsr_layout_text(tsr_ndim(t), t->strides),
             (long long)t->offset);
    if (t->storage == NULL) snprintf(box->geometry, sizeof box->geometry, "no storage of its own");
    StorageBox *s = box->storage >= 0 ? &m->storages[box->storage] : NULL;
    if (s != NULL && s->picture.view_count < MAX_VIEWS &&
        tsr_dtype_size(t->dtype) == tsr_dtype_size(s->picture.dtype)) {
        box->view = box->colour = s->picture.view_count;
        s->picture.views[s->picture.view_count++] = (View){.t = t};
    }
    return m->tensor_count++;
}

static NameBox *add_name(Memory *m, const char *text) {
    if (m->name_count == MEMORY_NAMES) {
        m->more_names++;
        return NULL;
    }
    NameBox *n = &m->names[m->name_count++];
    *n = (NameBox){.tensor = -1};
    snprintf(n->text, sizeof n->text, "%s", text);
    return n;
}

static bool see_path(const WhoPath *path, void *context) {
    Memory *m = context;
    char text[MEMORY_TEXT];
    if (path->argument || path->t == NULL) return true;
    if (m->more_tensors == MEMORY_COUNTED) return false;
    int tensor = tensor_index(m, (TsrTensor *)(uintptr_t)path->t);
    if (tensor < 0) return true;
    snprintf(text, sizeof text, "%s", path->path);
    NameBox *n = add_name(m, text);
    if (n != NULL) n->tensor = tensor;
    return true;
}

/* ---- plain values ---- */

static bool is_plain(Value v) {
    return v.tag == V_BOOL || v.tag == V_INT || v.tag == V_FLOAT || v.tag == V_NONE || value_is_str(v);
}

/* The repr, of a long str that of its beginning. */
static TsrStatus begin_of_repr(TsrText *text, Value v) {
    if (v.tag != V_OBJ || v.o->type != &str_type) return value_repr(text, v);
    const Str *s = value_as_str(v);
    int64_t size = TSR_MIN(s->size, (int64_t)MEMORY_TEXT);
    while (size < s->size && size > 0 && ((unsigned char)s->data[size] & 0xc0) == 0x80) size--;
    return str_repr(text, s->data, size);
}

static TsrStatus add_value(Memory *m, const char *name, Value v) {
    TsrText text = {0};
    NameBox *n = add_name(m, name);
    if (n == NULL) return TSR_OK;
    TsrStatus status = begin_of_repr(&text, v);
    size_t shown = text.length;
    if (shown >= 40) {
        shown = 36;
        while (shown > 0 && ((unsigned char)text.data[shown] & 0xc0) == 0x80) shown--;
    }
    if (status == TSR_OK)
        snprintf(n->value, sizeof n->value, "%.*s%s", (int)shown, text.data, shown < text.length ? "..." : "");
    tsr_text_free(&text);
    return status;
}

static TsrStatus add_values(Memory *m) {
    Str *name;
    for (int i = 0; i < globals_count(); i++) {
        Value v = globals_at(i, &name);
        if (v.tag != V_UNBOUND && is_plain(v)) TSR_TRY(add_value(m, name->data, v));
    }
    return TSR_OK;
}

/* ---- what has changed ---- */

static void compare_cells(StorageBox *s, const StorageBox *old) {
    for (int k = 0; k < s->picture.cell_count; k++) {
        int j = 0;
        while (j < old->picture.cell_count && old->picture.cells[j] != s->picture.cells[k]) j++;
        bool shown_before = s->picture.cells[k] != GAP && j < old->picture.cell_count;
        s->changed[k] = shown_before && strcmp(s->grid.labels[1][k], old->grid.labels[1][j]) != 0;
    }
}

static void compare_name(NameBox *n, const Memory *m, const Memory *before) {
    n->is_new = true;
    for (int i = 0; i < before->name_count && n->is_new; i++) {
        const NameBox *b = &before->names[i];
        bool same_value = strcmp(b->text, n->text) == 0 && strcmp(b->value, n->value) == 0;
        const void *was = b->tensor >= 0 ? before->tensors[b->tensor].identity : NULL;
        n->is_new = !same_value || was != (n->tensor >= 0 ? m->tensors[n->tensor].identity : NULL);
    }
}

static TsrStatus note_freed(Memory *m, const Memory *before) {
    for (int i = 0; i < before->storage_count; i++) {
        const StorageBox *old = &before->storages[i];
        if (find_storage(m, old->serial) != NULL) continue;
        TSR_TRY(tsr_text_printf(&m->freed, "%sstorage #%lld (%lld bytes)", m->freed.length > 0 ? ", " : "",
                                (long long)old->id, (long long)old->bytes));
    }
    return TSR_OK;
}

static TsrStatus compare(Memory *m, const Memory *before) {
    for (int i = 0; i < m->storage_count; i++) {
        StorageBox *s = &m->storages[i];
        const StorageBox *old = find_storage(before, s->serial);
        if (old == NULL) continue;
        s->before = old->refcount;
        compare_cells(s, old);
    }
    for (int i = 0; i < m->tensor_count; i++) {
        TensorBox *t = &m->tensors[i];
        const TensorBox *old = t->storage >= 0 ? find_before(before, t, m->storages[t->storage].serial) : NULL;
        if (old != NULL) t->before = old->refcount;
    }
    for (int i = 0; i < m->name_count; i++) compare_name(&m->names[i], m, before);
    return note_freed(m, before);
}

/* ---- cells ---- */

/* Lines of the picture break where the rows of a tensor do that lies whole and in order in the storage. */
static int row_of(const StorageBox *s) {
    if (s->picture.cell_count != s->picture.elements) return WIDEST_ROW;
    for (int v = 0; v < s->picture.view_count; v++) {
        const TsrTensor *t = s->picture.views[v].t;
        int n = tsr_ndim(t);
        bool whole = n > 1 && t->numel > 0 && t->numel == s->picture.elements && t->strides[n - 1] == 1;
        if (whole && t->sizes[n - 1] <= EQUAL_ROW && t->strides[n - 2] == t->sizes[n - 1]) return (int)t->sizes[n - 1];
    }
    return WIDEST_ROW;
}

/* The cells of a device's memory can't be read here. */
static void fill_storage(StorageBox *s) {
    const TsrStorage *storage = s->picture.storage;
    bool readable = storage->ptr.device.type == TSR_CPU && storage->ptr.data != NULL;
    if (readable) draw_choose_cells(&s->picture);
    draw_fill_grid(&s->grid, &s->picture);
    s->row = row_of(s);
    s->picture.storage = NULL;
}

TsrStatus memory_new(Memory **out, const Memory *before) {
    Memory *m = tsr_calloc(1, sizeof *m);
    if (m == NULL) return mem_error();
    m->storages = tsr_calloc(MEMORY_STORAGES, sizeof *m->storages);
    TsrStatus status = m->storages == NULL ? mem_error() : holders_each_path(see_path, m);
    if (status == TSR_OK) status = add_values(m);
    for (int i = 0; status == TSR_OK && i < m->storage_count; i++) fill_storage(&m->storages[i]);
    if (status == TSR_OK && before != NULL) status = compare(m, before);
    if (status == TSR_OK) *out = m;
    else memory_free(m);
    return status;
}

void memory_free(Memory *m) {
    if (m == NULL) return;
    tsr_text_free(&m->freed);
    tsr_free(m->storages);
    tsr_free(m);
}
