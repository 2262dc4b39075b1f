/* memory.c: the memory of CUDA devices: the allocator's numbers, its blocks, limits. Without a driver there are none.
 */
#include "cuda_impl.h"

#include "lang/types/dict.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

/* ---- numbers ---- */

static TsrStatus set_move(TsrStatus status, Value dict, const char *name, Value v) {
    if (status == TSR_OK) status = dict_set_c(value_as_dict(dict), name, v);
    value_release(v);
    return status;
}

static TsrStatus stat_new(Value *out, const TsrStat *s) {
    const struct {
        const char *name;
        int64_t value;
    } parts[] = {{"current", s->current}, {"peak", s->peak}, {"allocated", s->allocated}, {"freed", s->freed}};
    Value d;
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
    for (size_t i = 0; i < TSR_COUNTOF(parts); i++)
        status = set_move(status, d, parts[i].name, value_int(parts[i].value));
    return value_end_move(out, status, d);
}

static TsrStatus pools_new(Value *out, const TsrStat *stat) {
    static const char *const pools[] = {"all", "large_pool", "small_pool"};
    Value d, one;
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < TSR_STAT_POOLS && status == TSR_OK; i++) {
        status = stat_new(&one, &stat[i]);
        if (status == TSR_OK) status = set_move(status, d, pools[i], one);
    }
    return value_end_move(out, status, d);
}

static TsrStatus add_stat(TsrStatus status, Value d, const char *name, const TsrStat *stat, bool pools) {
    Value v;
    if (status != TSR_OK) return status;
    TSR_TRY(pools ? pools_new(&v, stat) : stat_new(&v, stat));
    return set_move(TSR_OK, d, name, v);
}

/* Blocks are split whatever their size, and never refused beforehand: what counts other policies stays 0. */
FN(memory_stats_as_nested_dict) {
    PARSE(v, "memory_stats_as_nested_dict", 1, 0, "device");
    static const TsrStat none;
    const TsrBackend *b = cuda_find_backend();
    TsrDeviceMemory m;
    Value d;
    int index;
    if (!cuda_is_begun()) return dict_new(out);
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    b->memory(&m, index);
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
#define COUNT(name) status = set_move(status, d, #name, value_int(m.name));
    COUNT(num_alloc_retries)
    COUNT(num_ooms)
    status = set_move(status, d, "max_split_size", value_int(-1));
    COUNT(num_sync_all_streams)
    COUNT(num_device_alloc)
    COUNT(num_device_free)
    status = set_move(status, d, "num_oom_rejections", value_int(0));
#undef COUNT
#define ROW(name) status = add_stat(status, d, #name, m.name, true);
    TSR_DEVICE_STATS(ROW)
#undef ROW
    status = add_stat(status, d, "oversize_allocations", &none, false);
    status = add_stat(status, d, "oversize_segments", &none, false);
    return value_end_move(out, status, d);
}

static TsrStatus add_times(TsrStatus status, Value dict, const char *name, int64_t count, int64_t total, int64_t most,
                           int64_t least) {
    Value d;
    TSR_TRY(status);
    TSR_TRY(dict_new(&d));
    status = set_move(TSR_OK, d, "total", value_int(total));
    status = set_move(status, d, "max", value_int(most));
    status = set_move(status, d, "min", value_int(least));
    status = set_move(status, d, "count", value_int(count));
    status = set_move(status, d, "avg", value_int(count > 0 ? total / count : 0));
    return set_move(status, dict, name, d);
}

FN(host_memory_stats_as_nested_dict) {
    (void)args;
    const TsrBackend *b = cuda_find_backend();
    TsrPinnedMemory m;
    Value d;
    if (b == NULL) return dict_new(out);
    b->pinned(&m);
    TSR_TRY(dict_new(&d));
    TsrStatus status = set_move(TSR_OK, d, "num_host_alloc", value_int(m.num_host_alloc));
    status = set_move(status, d, "num_host_free", value_int(m.num_host_free));
    status = add_stat(status, d, "active_bytes", &m.active_bytes, false);
    status = add_stat(status, d, "active_requests", &m.active_requests, false);
    status = add_stat(status, d, "allocated_bytes", &m.allocated_bytes, false);
    status = add_stat(status, d, "allocations", &m.allocations, false);
    status = add_times(status, d, "host_alloc_time", m.alloc_time.count, m.alloc_time.total, m.alloc_time.most,
                       m.alloc_time.least);
    status = add_times(status, d, "host_free_time", m.free_time.count, m.free_time.total, m.free_time.most,
                       m.free_time.least);
    return value_end_move(out, status, d);
}

static TsrStatus reset(Value *out, Value device, bool sums, const char *name) {
    const TsrBackend *b = cuda_find_backend();
    int index;
    *out = VALUE_NONE;
    if (b == NULL) return tsr_error(TSR_RUNTIME_ERROR, "invalid argument to %s", name);
    cuda_begin();
    TSR_TRY(cuda_index_of(&index, b, device));
    b->reset_stats(index, sums);
    return TSR_OK;
}

FN(reset_peak_memory_stats) {
    PARSE(v, "reset_peak_memory_stats", 1, 0, "device");
    return reset(out, v[0], false, "reset_peak_memory_stats");
}

FN(reset_accumulated_memory_stats) {
    PARSE(v, "reset_accumulated_memory_stats", 1, 0, "device");
    return reset(out, v[0], true, "reset_accumulated_memory_stats");
}

static TsrStatus reset_host(Value *out, bool sums) {
    const TsrBackend *b = cuda_find_backend();
    *out = VALUE_NONE;
    if (b != NULL) b->reset_pinned_stats(sums);
    return TSR_OK;
}
FN(reset_peak_host_memory_stats) {
    (void)args;
    return reset_host(out, false);
}
FN(reset_accumulated_host_memory_stats) {
    (void)args;
    return reset_host(out, true);
}

/* ---- memory ---- */

TsrStatus cuda_empty_cache(Value *out, const CallArgs *args) {
    (void)args;
    *out = VALUE_NONE;
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL; a = a->next)
        if (a->device == TSR_CUDA && a->empty_cache != NULL) a->empty_cache(a);
    return TSR_OK;
}

TsrStatus cuda_mem_get_info(Value *out, const CallArgs *args) {
    PARSE(v, "mem_get_info", 1, 0, "device");
    const TsrBackend *b;
    TsrDeviceFacts facts;
    TsrDevice named;
    size_t unused;
    int index;
    TSR_TRY(cuda_device_argument(&named, v[0])); /* a wrong one is told before there is no driver */
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    TSR_TRY(b->facts(&facts, index));
    TSR_TRY(b->free_memory(&unused, index));
    Value pair[] = {value_int((int64_t)unused), value_int((int64_t)facts.memory)};
    return tuple_new(out, pair, 2);
}

FN(set_per_process_memory_fraction) {
    PARSE(v, "set_per_process_memory_fraction", 2, 1, "fraction", "device");
    const TsrBackend *b;
    int index;
    *out = VALUE_NONE;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_index_of(&index, b, v[1]));
    if (v[0].tag != V_FLOAT) return tsr_error(TSR_TYPE_ERROR, "Invalid type for fraction argument, must be `float`");
    if (!(v[0].f >= 0 && v[0].f <= 1)) {
        Value shown;
        TSR_TRY(value_new_str(&shown, v[0]));
        TsrStatus status =
            tsr_error(TSR_VALUE_ERROR, "Invalid fraction value: %s. Allowed range: 0~1", value_as_str(shown)->data);
        value_release(shown);
        return status;
    }
    b->set_fraction(index, v[0].f);
    return TSR_OK;
}

FN(get_per_process_memory_fraction) {
    PARSE(v, "get_per_process_memory_fraction", 1, 0, "device");
    const TsrBackend *b;
    int index;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    *out = value_float(b->fraction(index));
    return TSR_OK;
}

/* ---- blocks ---- */

/* The snapshot in the making: segments, and the last one's blocks. */
typedef struct Snapshot {
    TsrStatus status;
    int index;
    List *segments;
    Value segment;
    TsrAddress at;
} Snapshot;

static void add_number(Snapshot *s, Value d, const char *name, int64_t n) {
    s->status = set_move(s->status, d, name, value_int(n));
}

static void add_text(Snapshot *s, Value d, const char *name, const char *text) {
    Value v;
    if (s->status == TSR_OK && (s->status = str_new_c(&v, text)) == TSR_OK) s->status = set_move(TSR_OK, d, name, v);
}

static void add_list(Snapshot *s, Value d, const char *name) {
    Value v;
    if (s->status == TSR_OK && (s->status = list_new(&v, 0)) == TSR_OK) s->status = set_move(TSR_OK, d, name, v);
}

static int64_t number_in(Value d, const char *name) {
    const Value *v = dict_find_c(value_as_dict(d), name);
    return v != NULL && v->tag == V_INT ? v->i : 0;
}

static void begin_segment(Snapshot *s, const TsrDeviceBlock *b) {
    Value pair[] = {value_int(0), value_int(0)}, id;
    if (s->status == TSR_OK) s->status = dict_new(&s->segment);
    if (s->status != TSR_OK) return;
    Value d = s->segment;
    add_number(s, d, "device", s->index);
    add_number(s, d, "address", (int64_t)b->segment);
    add_number(s, d, "total_size", (int64_t)b->segment_size);
    add_number(s, d, "allocated_size", 0);
    add_number(s, d, "active_size", 0);
    add_number(s, d, "requested_size", 0);
    add_number(s, d, "stream", b->stream);
    add_text(s, d, "segment_type", b->small ? "small" : "large");
    if (s->status == TSR_OK && (s->status = tuple_new(&id, pair, 2)) == TSR_OK)
        s->status = set_move(TSR_OK, d, "segment_pool_id", id);
    if (s->status == TSR_OK) s->status = dict_set_c(value_as_dict(d), "is_expandable", VALUE_FALSE);
    add_list(s, d, "frames");
    add_list(s, d, "blocks");
    if (s->status == TSR_OK) s->status = list_append_move(s->segments, value_retain(d));
    value_release(d); /* the list holds it */
    s->at = b->segment;
}

static void add_block(void *context, const TsrDeviceBlock *b) {
    static const char *const states[] = {[TSR_BLOCK_IDLE] = "inactive",
                                         [TSR_BLOCK_USED] = "active_allocated",
                                         [TSR_BLOCK_WAITS] = "active_pending_free"};
    Snapshot *s = context;
    Value d;
    if (b->segment != s->at) begin_segment(s, b);
    if (s->status != TSR_OK || (s->status = dict_new(&d)) != TSR_OK) return;
    Value segment = s->segment;
    if (b->state == TSR_BLOCK_USED)
        add_number(s, segment, "allocated_size", number_in(segment, "allocated_size") + (int64_t)b->size);
    if (b->state != TSR_BLOCK_IDLE) {
        add_number(s, segment, "active_size", number_in(segment, "active_size") + (int64_t)b->size);
        add_number(s, segment, "requested_size", number_in(segment, "requested_size") + (int64_t)b->requested);
    }
    add_number(s, d, "address", (int64_t)b->address);
    add_number(s, d, "size", (int64_t)b->size);
    add_number(s, d, "requested_size", (int64_t)b->requested);
    add_text(s, d, "state", states[b->state]);
    add_list(s, d, "frames");
    Value *blocks = dict_find_c(value_as_dict(segment), "blocks");
    if (s->status == TSR_OK && blocks != NULL) s->status = list_append_move(value_as_list(*blocks), value_retain(d));
    value_release(d);
}

FN(memory_snapshot) {
    PARSE(v, "memory_snapshot", 2, 0, "mempool_id", "include_traces");
    const TsrBackend *b = cuda_find_backend();
    Value list;
    TSR_TRY(list_new(&list, 0));
    Snapshot s = {.segments = value_as_list(list)};
    for (int i = 0; b != NULL && i < b->device_count(); i++) {
        s.index = i;
        s.at = 0;
        b->each_block(i, add_block, &s);
    }
    return value_end_move(out, s.status, list);
}

const Method cuda_memory_functions[] = {
    {"memory_stats_as_nested_dict", fn_memory_stats_as_nested_dict, ARGS_ANY, 0, 0, "(device=None)",
     "What the allocator has given and taken, as dicts of dicts."},
    {"reset_peak_memory_stats", fn_reset_peak_memory_stats, ARGS_ANY, 0, 0, "(device=None)",
     "The most at a time is counted from now on."},
    {"reset_accumulated_memory_stats", fn_reset_accumulated_memory_stats, ARGS_ANY, 0, 0, "(device=None)",
     "The sums of what came and went are counted from now on."},
    {"_host_memory_stats_as_nested_dict", fn_host_memory_stats_as_nested_dict, ARGS_NONE, 0, 0, "()", NULL},
    {"reset_peak_host_memory_stats", fn_reset_peak_host_memory_stats, ARGS_NONE, 0, 0, "()",
     "The same as reset_peak_memory_stats for pinned memory."},
    {"reset_accumulated_host_memory_stats", fn_reset_accumulated_host_memory_stats, ARGS_NONE, 0, 0, "()",
     "The same as reset_accumulated_memory_stats for pinned memory."},
    {"memory_snapshot", fn_memory_snapshot, ARGS_ANY, 0, 0, "(mempool_id=None, include_traces=True)",
     "Every segment that came from the driver, with its blocks."},
    {"mem_get_info", cuda_mem_get_info, ARGS_ANY, 0, 0, "(device=None)",
     "Bytes that the GPU has left, and has in all."},
    {"set_per_process_memory_fraction", fn_set_per_process_memory_fraction, ARGS_ANY, 0, 0, "(fraction, device=None)",
     "Part of the GPU's memory that may be taken."},
    {"get_per_process_memory_fraction", fn_get_per_process_memory_fraction, ARGS_ANY, 0, 0, "(device=None)",
     "What was set so; 1.0 from the start."},
    {"empty_cache", cuda_empty_cache, ARGS_NONE, 0, 0, "()", "Gives kept memory back to the GPU."},
    END,
};
