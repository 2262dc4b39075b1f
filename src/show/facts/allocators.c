/* memory(), allocators(), set_allocator(), empty_cache() and typemeta(): the core's counters and registries put into
 * cards and tables. */
#include "allocators.h"

#include "lang/object/args.h"
#include "card.h"
#include "device_memory.h"
#include "core/alloc.h"
#include "core/tensor.h"
#include "lang/types/dict.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"

static TsrStatus allocator_row(Value *out, TsrAllocator *a) {
    Value row;
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    card_put_str(&status, row, "device", tsr_device_type_name(a->device));
    card_put_str(&status, row, "name", a->name);
    card_put_int(&status, row, "priority", a->priority);
    card_put_bool(&status, row, "active", tsr_allocator_active(a->device) == a);
    card_put_int(&status, row, "live", a->live);
    card_put_int(&status, row, "peak", a->peak);
    card_put_int(&status, row, "calls", a->calls);
    return value_end_move(out, status, row);
}

static TsrStatus tsr_allocators_fn(Value *out, const CallArgs *args) {
    Value list, row;
    (void)args;
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL && status == TSR_OK; a = a->next) {
        status = allocator_row(&row, a);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

static TsrStatus tsr_set_allocator_fn(Value *out, const CallArgs *args) {
    static const char *const names[] = {"device", "name", "priority"};
    static const ArgSpec spec = {"set_allocator", names, 3, 0, 3, 2};
    Value v[3];
    const char *name;
    int64_t priority = 0;
    TsrDevice device;
    bool ok, taken;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(device_from_value(&device, &ok, v[0]));
    if (!ok)
        return tsr_error(TSR_TYPE_ERROR, "set_allocator(): argument 'device' must be a device or its name, not %s",
                         value_type_name(v[0]));
    TSR_TRY(value_to_cstring(&name, v[1], "set_allocator(): argument 'name'"));
    if (v[2].tag != V_UNBOUND) TSR_TRY(value_to_index(&priority, v[2]));
    if (priority < 0 || priority > 255)
        return tsr_error(TSR_VALUE_ERROR, "a priority is 0 to 255, not %lld", (long long)priority);
    TSR_TRY(tsr_allocator_set(&taken, device.type, name, (uint8_t)priority));
    *out = value_bool(taken);
    return TSR_OK;
}

static TsrStatus all_memory(Value *out) {
    Value d, each, row;
    int64_t cached = 0, calls = 0;
    TSR_TRY(dict_new(&d));
    TsrStatus status = dict_new(&each);
    if (status != TSR_OK) return value_end_move(out, status, d);
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL && status == TSR_OK; a = a->next) {
        cached += a->cached;
        calls += a->calls;
        if ((status = dict_new(&row)) != TSR_OK) break;
        card_put_int(&status, row, "live", a->live);
        card_put_int(&status, row, "cached", a->cached);
        card_put_int(&status, row, "peak", a->peak);
        card_put_int(&status, row, "allocations", a->calls);
        if (status == TSR_OK) card_put_move(&status, each, a->name, row);
        else value_release(row);
    }
    card_put_int(&status, d, "live", tsr_memory_live());
    card_put_int(&status, d, "cached", cached);
    card_put_int(&status, d, "peak", tsr_memory_peak());
    card_put_int(&status, d, "mapped", tsr_memory_mapped());
    card_put_int(&status, d, "allocations", calls);
    card_put_int(&status, d, "tensors", tsr_tensor_live());
    card_put_move(&status, d, "allocators", each);
    if (status == TSR_OK) card_mark(d);
    return value_end_move(out, status, d);
}

static TsrStatus tsr_memory_fn(Value *out, const CallArgs *args) {
    static const char *const names[] = {"device"};
    static const ArgSpec spec = {"memory", names, 1, 0, 1, 0};
    Value v;
    TsrDevice device;
    bool ok;
    TSR_TRY(args_parse(&v, args, 0, &spec));
    if (v.tag <= V_NONE) return all_memory(out);
    TSR_TRY(device_from_value(&device, &ok, v));
    if (!ok)
        return tsr_error(TSR_TYPE_ERROR, "memory(): argument 'device' must be a device or its name, not %s",
                         value_type_name(v));
    return tsr_device_has_backend(device) || device.type == TSR_CUDA ? device_memory_table(out, device)
                                                                     : all_memory(out);
}

static TsrStatus tsr_empty_cache_fn(Value *out, const CallArgs *args) {
    (void)args;
    tsr_empty_cache();
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus typemeta_row(Value *out, const TsrTypeMeta *m, int number) {
    Value d;
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
    card_put_int(&status, d, "id", number);
    card_put_str(&status, d, "name", m->type_name);
    card_put_int(&status, d, "itemsize", m->itemsize);
    card_put_bool(&status, d, "new", m->new_ != NULL);
    card_put_bool(&status, d, "placementNew", m->placement_new != NULL);
    card_put_bool(&status, d, "copy", m->copy != NULL);
    card_put_bool(&status, d, "placementDelete", m->placement_delete != NULL);
    card_put_bool(&status, d, "delete", m->delete_ != NULL);
    return value_end_move(out, status, d);
}

/* A number of c10's whose dtype tsr does not have is a blank row, and so is Undefined, as in c10. */
static const TsrTypeMeta *row_of_number(int number) {
    static const TsrTypeMeta blank = {.type_name = ""};
    for (int d = 0; d < TSR_DTYPE_COUNT; d++)
        if (tsr_dtypes[d].number == number) return &tsr_dtypes[d];
    return number == tsr_dtype_uninitialized.number ? &tsr_dtype_uninitialized : &blank;
}

static TsrStatus typemeta_table(Value *out) {
    Value list, row;
    int last = 0;
    for (int d = 0; d < TSR_DTYPE_COUNT; d++) last = TSR_MAX(last, tsr_dtypes[d].number);
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (int number = 0; number <= last && status == TSR_OK; number++) {
        status = typemeta_row(&row, row_of_number(number), number);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

static TsrStatus tsr_typemeta_fn(Value *out, const CallArgs *args) {
    static const char *const names[] = {"dtype"};
    static const ArgSpec spec = {"typemeta", names, 1, 0, 1, 0};
    TsrDtype dtype = TSR_DTYPE_NONE;
    Value v;
    TSR_TRY(args_parse(&v, args, 0, &spec));
    if (v.tag == V_UNBOUND) return typemeta_table(out);
    if (v.tag != V_NONE && !dtype_from_value(&dtype, v))
        return tsr_error(TSR_TYPE_ERROR, "typemeta(): argument 'dtype' must be a dtype or None, not %s",
                         value_type_name(v));
    const TsrTypeMeta *m = dtype == TSR_DTYPE_NONE ? &tsr_dtype_uninitialized : &tsr_dtypes[dtype];
    TSR_TRY(typemeta_row(out, m, m->number));
    card_mark(*out);
    return TSR_OK;
}

static const Method functions[] = {
    {"memory", tsr_memory_fn, ARGS_ANY, 0, 1, "(device=None)",
     "Bytes live, kept and at most, by allocator, and how many tensors there are. Of a GPU: the blocks that its "
     "allocator "
     "has cut its segments into, and the tensors in them."},
    {"empty_cache", tsr_empty_cache_fn, ARGS_NONE, 0, 0, "()", "Gives kept blocks back to the system."},
    {"typemeta", tsr_typemeta_fn, ARGS_ANY, 0, 1, "(dtype=None)",
     "The TypeMeta row of a dtype; without one the whole table, by c10's numbers.\n\n"
     "    >>> typemeta(torch.string)[\"placementNew\"]\n    True"},
    {"allocators", tsr_allocators_fn, ARGS_NONE, 0, 0, "()", "The registry of allocators."},
    {"set_allocator", tsr_set_allocator_fn, ARGS_ANY, 2, 3, "(device, name, priority=0)",
     "Makes an allocator the active one, unless a higher priority is."},
    {0},
};

TsrStatus allocators_startup(void) { return namespace_add_functions("tsr", functions, true); }
