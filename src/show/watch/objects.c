/* A growing array of objects, found by address through a hash table. An address may be taken again: by a storage, told
 * by its serial number, or by a storage where a tensor was. */
#include "objects.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/storage.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

enum { TEXT_ROOM = 48, MOST_ALIKE = 64, FIRST_SLOTS = 64 };

static int64_t slot_of(const Objects *o, const void *at) {
    uint64_t hash = (uint64_t)(uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15);
    int64_t i = (int64_t)(hash >> 20) & (o->slots - 1);
    while (o->table[i] != 0 && o->items[o->table[i] - 1].at != at) i = (i + 1) & (o->slots - 1);
    return i;
}

static int64_t find(const Objects *o, const void *at) { return o->slots > 0 ? o->table[slot_of(o, at)] - 1 : -1; }

/* Twice the slots. */
static bool rehash(Objects *o) {
    int64_t slots = o->slots > 0 ? 2 * o->slots : FIRST_SLOTS;
    int64_t *table = tsr_calloc((size_t)slots, sizeof *table);
    if (table == NULL) return false;
    tsr_free(o->table);
    o->table = table;
    o->slots = slots;
    for (int64_t i = 0; i < o->count; i++) o->table[slot_of(o, o->items[i].at)] = i + 1;
    return true;
}

static bool make_room(Objects *o) {
    if (mem_grow(&o->items, &o->capacity, o->count + 1, sizeof *o->items) != TSR_OK) return false;
    return 2 * (o->count + 1) < o->slots || rehash(o);
}

static int64_t add(Objects *o, Object object) {
    if (o->short_of_memory || !make_room(o)) {
        o->short_of_memory = true;
        return -1;
    }
    o->items[o->count] = object;
    o->table[slot_of(o, object.at)] = o->count + 1;
    return o->count++;
}

static int64_t add_tensor(Objects *o, TsrTensor *t, const char *name, const char *text) {
    int64_t i = add(o, (Object){.at = t});
    if (i < 0) return -1;
    o->items[i].t = tsr_tensor_weak_new(t);
    o->items[i].name = name != NULL ? tsr_mem_text(name, strlen(name)) : NULL;
    o->items[i].text = text != NULL ? tsr_mem_text(text, strlen(text)) : NULL;
    return i;
}

int64_t objects_tensor(Objects *o, TsrTensor *t) {
    char text[TEXT_ROOM];
    if (t == NULL) return -1;
    int64_t i = find(o, t);
    if (i >= 0 && o->items[i].t == t) return i;
    return add_tensor(o, t, NULL, vm_current_text(text, sizeof text));
}

int64_t objects_storage(Objects *o, TsrStorage *s) {
    if (s == NULL) return -1;
    int64_t i = find(o, s), id = tsr_storage_id(s);
    if (i >= 0 && o->items[i].t == NULL && o->items[i].id == id) {
        o->items[i].serial = s->serial;
        return i;
    }
    return add(o, (Object){.at = s, .serial = s->serial, .id = id});
}

/* ---- names ---- */

/* A name of a tensor; "_" only while there is no better one. */
static bool take_name(const char *path, TsrTensor *t, bool argument, void *context) {
    Objects *o = context;
    if (argument || path[0] == '<') return true;
    int64_t i = find(o, t);
    if (i < 0 || o->items[i].t != t) {
        (void)add_tensor(o, t, path, NULL);
        return true;
    }
    Object *object = &o->items[i];
    if (object->name != NULL && strcmp(object->name, "_") != 0) return true;
    tsr_free(object->name);
    object->name = tsr_mem_text(path, strlen(path));
    return true;
}

void objects_begin(Objects *o) {
    *o = (Objects){0};
    if (holders_each(take_name, o) != TSR_OK) tsr_error_clear();
}

/* How many of the objects before it, not long ago, would be called the same. */
static int same_before(const Objects *o, int64_t i, const char *name) {
    int same = 0;
    for (int64_t k = TSR_MAX(0, i - MOST_ALIKE); k < i; k++) {
        const Object *other = &o->items[k];
        same += other->text != NULL && strcmp(other->text, name) == 0;
    }
    return same;
}

/* Of a tensor that no name held: by its expression, with a number where that made several. */
static void name_by_text(Objects *o, int64_t i) {
    Object *object = &o->items[i];
    char name[TEXT_ROOM + 16];
    bool number = (object->t->flags & TSR_FLAG_WRAPPED_NUMBER) != 0;
    const char *text = number                                            ? "a number"
                       : object->text != NULL && object->text[0] != '\0' ? object->text
                                                                         : "a tensor";
    int same = number ? 0 : same_before(o, i, text);
    if (number) tsr_free(object->text), object->text = NULL;
    if (same > 0) snprintf(name, sizeof name, "%s #%d", text, same + 1);
    else snprintf(name, sizeof name, "%s", text);
    object->name = tsr_mem_text(name, strlen(name));
}

static void name_storage(Object *object) {
    char name[32];
    snprintf(name, sizeof name, "storage #%lld", (long long)object->id);
    object->name = tsr_mem_text(name, strlen(name));
}

void objects_end(Objects *o) {
    if (holders_each(take_name, o) != TSR_OK) tsr_error_clear();
    for (int64_t i = 0; i < o->count; i++) {
        Object *object = &o->items[i];
        if (object->t == NULL) name_storage(object);
        else if (object->name == NULL) name_by_text(o, i);
        else {
            tsr_free(object->text); /* counts no longer among those called by their expression */
            object->text = NULL;
        }
    }
}

const char *objects_name(const Objects *o, int64_t i) { return i >= 0 ? o->items[i].name : NULL; }

void objects_free(Objects *o) {
    for (int64_t i = 0; i < o->count; i++) {
        tsr_tensor_weak_free(o->items[i].t);
        tsr_free(o->items[i].name);
        tsr_free(o->items[i].text);
    }
    tsr_free(o->items);
    tsr_free(o->table);
    *o = (Objects){0};
}
