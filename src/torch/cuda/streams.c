/* streams.c: torch.cuda's streams and events: Stream, Event, and the current stream of a `with`. A Stream is the number
 * by which the backend knows it; an Event is made in the driver when it is first recorded, as in PyTorch. */
#include "cuda_impl.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

typedef struct StreamObj {
    Obj obj;
    int index;
    int64_t id;
    int entered; /* how deep `with stream:` is in itself */
    int before_index[4];
    int64_t before[4];
} StreamObj;

static inline StreamObj *stream_of(Value v) { return (StreamObj *)v.o; }

TsrStatus cuda_stream_new(Value *out, int index, int64_t id) {
    StreamObj *o = obj_new(&cuda_stream_type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->index = index;
    o->id = id;
    o->entered = 0;
    *out = value_obj_move(o);
    return TSR_OK;
}

bool cuda_stream_from_value(int *index, int64_t *id, Value v) {
    if (!value_is_obj(v, &cuda_stream_type)) return false;
    *index = stream_of(v)->index;
    *id = stream_of(v)->id;
    return true;
}

/* A stream that was made was made with a backend. */
static const TsrBackend *backend(void) { return cuda_find_backend(); }

/* The stream that an argument means; None and nothing are the current one. */
static TsrStatus stream_argument(int *index, int64_t *id, Value v, const char *function) {
    const TsrBackend *b;
    TSR_TRY(cuda_need_backend(&b));
    if (cuda_stream_from_value(index, id, v)) return TSR_OK;
    if (v.tag != V_UNBOUND && v.tag != V_NONE)
        return tsr_error(TSR_TYPE_ERROR, "%s: the stream is a torch.cuda.Stream, not %s", function,
                         value_shown_type(v));
    *index = b->current();
    *id = b->streams->current(*index);
    return TSR_OK;
}

/* ---- the current stream ---- */

/* Makes a stream and its device the current ones. */
static TsrStatus make_current(const TsrBackend *b, int index, int64_t id) {
    if (b->current() != index) TSR_TRY(b->set_current(index));
    return b->streams->set_current(index, id);
}

TsrStatus cuda_current_stream(Value *out, const CallArgs *args) {
    PARSE(v, "current_stream", 1, 0, "device");
    const TsrBackend *b;
    int index;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    return cuda_stream_new(out, index, b->streams->current(index));
}

FN(default_stream) {
    PARSE(v, "default_stream", 1, 0, "device");
    const TsrBackend *b;
    int index;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    return cuda_stream_new(out, index, 0);
}

TsrStatus cuda_set_stream(Value *out, const CallArgs *args) {
    PARSE(v, "set_stream", 1, 1, "stream");
    int index;
    int64_t id;
    *out = VALUE_NONE;
    if (v[0].tag == V_NONE) return TSR_OK;
    TSR_TRY(stream_argument(&index, &id, v[0], "set_stream()"));
    return make_current(backend(), index, id);
}

const Method cuda_stream_functions[] = {
    {"current_stream", cuda_current_stream, ARGS_ANY, 0, 0, "(device=None)", "The stream that work goes into now."},
    {"default_stream", fn_default_stream, ARGS_ANY, 0, 0, "(device=None)", "The stream that work goes into at first."},
    {"set_stream", cuda_set_stream, ARGS_ANY, 0, 0, "(stream)", "Makes a stream and its device the current ones."},
    END,
};

/* ---- Event ---- */

typedef struct EventObj {
    Obj obj;
    void *event; /* the backend's; NULL until it is recorded */
    int index;   /* of its device, then */
    bool timing;
} EventObj;

static inline EventObj *event_of(Value v) { return (EventObj *)v.o; }

static TsrStatus event_new(Value *out, bool timing) {
    EventObj *o = obj_new(&cuda_event_type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->event = NULL;
    o->index = -1;
    o->timing = timing;
    *out = value_obj_move(o);
    return TSR_OK;
}

static TsrStatus event_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    PARSE(v, "Event.__new__", 4, 0, "enable_timing", "blocking", "interprocess", "external");
    bool timing = false;
    if (v[0].tag != V_UNBOUND) TSR_TRY(value_truth(&timing, v[0]));
    return event_new(out, timing);
}

static void event_destroy(Obj *self) {
    EventObj *o = (EventObj *)self;
    if (o->event != NULL && backend() != NULL) backend()->streams->event_free(o->event);
    obj_free(self, sizeof *o);
}

static TsrStatus event_repr(TsrText *out, Value self) {
    const EventObj *o = event_of(self);
    if (o->event == NULL) return tsr_text_puts(out, "<torch.cuda.Event uninitialized>");
    return tsr_text_printf(out, "<torch.cuda.Event %p>", o->event);
}

static TsrStatus record(EventObj *o, int index, int64_t id) {
    const TsrStreamTable *streams = backend()->streams;
    if (o->event == NULL) {
        TSR_TRY(streams->event_new(&o->event, index, o->timing));
        o->index = index;
    }
    if (o->index != index)
        return tsr_error(TSR_RUNTIME_ERROR, "Event device %d does not match recording stream's device %d.", o->index,
                         index);
    return streams->event_record(o->event, id);
}

FN(event_record) {
    PARSE(v, "Event.record", 2, 1, "self", "stream");
    int index;
    int64_t id;
    *out = VALUE_NONE;
    TSR_TRY(stream_argument(&index, &id, v[1], "record()"));
    return record(event_of(v[0]), index, id);
}

FN(event_wait) {
    PARSE(v, "Event.wait", 2, 1, "self", "stream");
    int index;
    int64_t id;
    *out = VALUE_NONE;
    TSR_TRY(stream_argument(&index, &id, v[1], "wait()"));
    EventObj *o = event_of(v[0]);
    return o->event != NULL ? backend()->streams->event_wait(o->event, index, id) : TSR_OK;
}

FN(event_query) {
    const EventObj *o = event_of(args->values[0]);
    bool done = true;
    if (o->event != NULL) TSR_TRY(backend()->streams->event_done(&done, o->event));
    *out = value_bool(done);
    return TSR_OK;
}

FN(event_synchronize) {
    const EventObj *o = event_of(args->values[0]);
    *out = VALUE_NONE;
    return o->event != NULL ? backend()->streams->event_synchronize(o->event) : TSR_OK;
}

FN(event_elapsed_time) {
    PARSE(v, "Event.elapsed_time", 2, 2, "self", "end_event");
    bool done = true, also = true;
    double milliseconds;
    if (!value_is_obj(v[1], &cuda_event_type))
        return tsr_error(TSR_TYPE_ERROR, "elapsed_time(): argument 'end_event' must be a torch.cuda.Event, not %s",
                         value_shown_type(v[1]));
    const EventObj *from = event_of(v[0]), *to = event_of(v[1]);
    if (!from->timing || !to->timing)
        return tsr_error(TSR_VALUE_ERROR, "Both events must be created with argument 'enable_timing=True'.");
    if (from->event == NULL || to->event == NULL)
        return tsr_error(TSR_VALUE_ERROR, "Both events must be recorded before calculating elapsed time.");
    TSR_TRY(backend()->streams->event_done(&done, from->event));
    TSR_TRY(backend()->streams->event_done(&also, to->event));
    if (!done || !also)
        return tsr_error(TSR_VALUE_ERROR, "Both events must be completed before calculating elapsed time.");
    TSR_TRY(backend()->streams->event_elapsed(&milliseconds, from->event, to->event));
    *out = value_float(milliseconds);
    return TSR_OK;
}

static TsrStatus event_device(Value *out, Value self) {
    const EventObj *o = event_of(self);
    *out = VALUE_NONE;
    return o->event != NULL ? device_new(out, (TsrDevice){TSR_CUDA, (int8_t)o->index}) : TSR_OK;
}
static TsrStatus event_handle(Value *out, Value self) {
    *out = value_int((int64_t)(intptr_t)event_of(self)->event);
    return TSR_OK;
}

static const Method event_methods[] = {
    {"record", fn_event_record, ARGS_ANY, 0, 0, "(stream=None)", "It is there when the stream has come so far."},
    {"wait", fn_event_wait, ARGS_ANY, 0, 0, "(stream=None)", "What comes in the stream waits for it."},
    {"query", fn_event_query, ARGS_NONE, 0, 0, "()", "Whether it is there; True for one that was never recorded."},
    {"synchronize", fn_event_synchronize, ARGS_NONE, 0, 0, "()", "Waits for it."},
    {"elapsed_time", fn_event_elapsed_time, ARGS_ANY, 0, 0, "(end_event)", "Milliseconds from it to another one."},
    END,
};
static const Getter event_getters[] = {{"device", event_device, NULL, "where it was recorded, or None"},
                                       {"cuda_event", event_handle, NULL, "its address; 0 before it is recorded"},
                                       {NULL, NULL, NULL, NULL}};
Type cuda_event_type = {.obj = TYPE_HEADER,
                        .name = "Event",
                        .module = "torch.cuda.streams",
                        .construct = event_construct,
                        .destroy = event_destroy,
                        .repr = event_repr,
                        .methods = event_methods,
                        .getters = event_getters};

/* ---- Stream ---- */

/* The streams of a pool take turns; by number one gets the very one. */
static TsrStatus stream_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    PARSE(v, "Stream.__new__", 2, 0, "device", "priority", "stream_id", "device_index", "device_type");
    const TsrBackend *b = cuda_find_backend();
    int index;
    int64_t id, priority = 0;
    if (b == NULL) return v[0].tag == V_UNBOUND || v[0].tag == V_NONE ? torch_cuda_no_driver() : cuda_need_backend(&b);
    if (v[1].tag != V_UNBOUND) TSR_TRY(value_to_index(&priority, v[1]));
    TSR_TRY(cuda_index_of(&index, b, v[3].tag == V_UNBOUND ? v[0] : v[3]));
    if (v[2].tag == V_UNBOUND) TSR_TRY(b->streams->pick(&id, index, (int)TSR_MIN(TSR_MAX(priority, -100), 100)));
    else TSR_TRY(value_to_index(&id, v[2]));
    return cuda_stream_new(out, index, id);
}

static void stream_destroy(Obj *self) { obj_free(self, sizeof(StreamObj)); }

static uint64_t handle_of(const StreamObj *s) { return backend()->streams->handle(s->index, s->id); }

static TsrStatus stream_repr(TsrText *out, Value self) {
    const StreamObj *s = stream_of(self);
    return tsr_text_printf(out, "<torch.cuda.Stream device=cuda:%d cuda_stream=0x%llx>", s->index,
                           (unsigned long long)handle_of(s));
}

static TsrStatus stream_hash(int64_t *out, Value self) {
    *out = stream_of(self)->id * 31 + stream_of(self)->index;
    return TSR_OK;
}

static TsrStatus stream_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || !value_is_obj(a, &cuda_stream_type) || !value_is_obj(b, &cuda_stream_type))
        return TSR_OK;
    bool same = stream_of(a)->id == stream_of(b)->id && stream_of(a)->index == stream_of(b)->index;
    *out = value_bool(same == (op == CMP_EQ));
    return TSR_OK;
}

FN(stream_query) {
    const StreamObj *s = stream_of(args->values[0]);
    bool done;
    TSR_TRY(backend()->streams->done(&done, s->index, s->id));
    *out = value_bool(done);
    return TSR_OK;
}

FN(stream_synchronize) {
    const StreamObj *s = stream_of(args->values[0]);
    *out = VALUE_NONE;
    return backend()->streams->synchronize(s->index, s->id);
}

FN(stream_wait_event) {
    PARSE(v, "Stream.wait_event", 2, 2, "self", "event");
    const StreamObj *s = stream_of(v[0]);
    if (!value_is_obj(v[1], &cuda_event_type))
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'wait'", value_type_name(v[1]));
    const EventObj *e = event_of(v[1]);
    *out = VALUE_NONE;
    return e->event != NULL ? backend()->streams->event_wait(e->event, s->index, s->id) : TSR_OK;
}

FN(stream_record_event) {
    PARSE(v, "Stream.record_event", 2, 1, "self", "event");
    const StreamObj *s = stream_of(v[0]);
    if (v[1].tag == V_UNBOUND || v[1].tag == V_NONE) TSR_TRY(event_new(out, false));
    else if (!value_is_obj(v[1], &cuda_event_type))
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'record'", value_type_name(v[1]));
    else *out = value_retain(v[1]);
    TsrStatus status = record(event_of(*out), s->index, s->id);
    if (status != TSR_OK) value_clear(out);
    return status;
}

FN(stream_wait_stream) {
    PARSE(v, "Stream.wait_stream", 2, 2, "self", "stream");
    const StreamObj *s = stream_of(v[0]), *other;
    void *event;
    if (!value_is_obj(v[1], &cuda_stream_type))
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'record_event'", value_type_name(v[1]));
    other = stream_of(v[1]);
    const TsrStreamTable *streams = backend()->streams;
    *out = VALUE_NONE;
    TSR_TRY(streams->event_new(&event, other->index, false));
    TsrStatus status = streams->event_record(event, other->id);
    if (status == TSR_OK) status = streams->event_wait(event, s->index, s->id);
    streams->event_free(event);
    return status;
}

FN(stream_enter) {
    StreamObj *s = stream_of(args->values[0]);
    const TsrBackend *b = backend();
    if (s->entered == (int)TSR_COUNTOF(s->before))
        return tsr_error(TSR_RUNTIME_ERROR, "the stream was entered %d times", s->entered);
    s->before_index[s->entered] = b->current();
    s->before[s->entered] = b->streams->current(s->index);
    TSR_TRY(make_current(b, s->index, s->id));
    s->entered++;
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

FN(stream_exit) {
    StreamObj *s = stream_of(args->values[0]);
    const TsrBackend *b = backend();
    *out = VALUE_NONE;
    if (s->entered == 0) return TSR_OK;
    s->entered--;
    TSR_TRY(b->streams->set_current(s->index, s->before[s->entered]));
    return b->set_current(s->before_index[s->entered]);
}

FN(stream_priority_range) {
    (void)args;
    if (backend() == NULL) return torch_cuda_no_driver();
    Value pair[] = {value_int(0), value_int(-3)};
    return tuple_new(out, pair, 2);
}

static TsrStatus stream_device(Value *out, Value self) {
    return device_new(out, (TsrDevice){TSR_CUDA, (int8_t)stream_of(self)->index});
}
static TsrStatus stream_id(Value *out, Value self) {
    *out = value_int(stream_of(self)->id);
    return TSR_OK;
}
static TsrStatus stream_index(Value *out, Value self) {
    *out = value_int(stream_of(self)->index);
    return TSR_OK;
}
static TsrStatus stream_handle(Value *out, Value self) { return int_new_uint64(out, handle_of(stream_of(self))); }
/* The number of a pool's stream says its priority. */
static TsrStatus stream_priority(Value *out, Value self) {
    int64_t id = stream_of(self)->id;
    *out = value_int(id == 0 ? 0 : 1 - ((id >> 1) & 15));
    return TSR_OK;
}

static const Method stream_methods[] = {
    {"query", fn_stream_query, ARGS_NONE, 0, 0, "()", "Whether all of its work is done."},
    {"synchronize", fn_stream_synchronize, ARGS_NONE, 0, 0, "()", "Waits for all of its work."},
    {"wait_event", fn_stream_wait_event, ARGS_ANY, 0, 0, "(event)", "What comes in it waits for the event."},
    {"wait_stream", fn_stream_wait_stream, ARGS_ANY, 0, 0, "(stream)",
     "What comes in it waits for what is in another."},
    {"record_event", fn_stream_record_event, ARGS_ANY, 0, 0, "(event=None)",
     "An event that is there when the stream has come so far."},
    {"priority_range", fn_stream_priority_range, ARGS_NONE | METHOD_STATIC, 0, 0, "()",
     "The lowest and the highest priority."},
    {"__enter__", fn_stream_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Makes it the current stream."},
    {"__exit__", fn_stream_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)",
     "Gives the one before back."},
    END,
};
static const Getter stream_getters[] = {{"device", stream_device, NULL, "whose work it takes"},
                                        {"device_index", stream_index, NULL, "the device's index"},
                                        {"stream_id", stream_id, NULL, "its number; 0 for the default one"},
                                        {"cuda_stream", stream_handle, NULL, "the driver's handle; 0 likewise"},
                                        {"priority", stream_priority, NULL, "0, or less for what goes first"},
                                        {NULL, NULL, NULL, NULL}};
Type cuda_stream_type = {.obj = TYPE_HEADER,
                         .name = "Stream",
                         .module = "torch.cuda.streams",
                         .construct = stream_construct,
                         .destroy = stream_destroy,
                         .repr = stream_repr,
                         .hash = stream_hash,
                         .compare = stream_compare,
                         .methods = stream_methods,
                         .getters = stream_getters};

/* ---- with torch.cuda.stream(s) ---- */

typedef struct StreamContextObj {
    Obj obj;
    Value stream; /* a Stream, or None: nothing changes */
} StreamContextObj;

static TsrStatus stream_context_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "StreamContext.__init__", 1, 1, "stream");
    if (v[0].tag != V_NONE && !value_is_obj(v[0], &cuda_stream_type))
        return tsr_error(TSR_TYPE_ERROR, "stream(): argument 'stream' must be a torch.cuda.Stream or None, not %s",
                         value_type_name(v[0]));
    StreamContextObj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->stream = value_retain(v[0]);
    *out = value_obj_move(o);
    return TSR_OK;
}

static void stream_context_destroy(Obj *self) {
    value_release(((StreamContextObj *)self)->stream);
    obj_free(self, sizeof(StreamContextObj));
}

FN(stream_context_enter) {
    const StreamContextObj *o = (StreamContextObj *)args->values[0].o;
    Value stream;
    *out = VALUE_NONE;
    if (o->stream.tag == V_NONE) return TSR_OK;
    TSR_TRY(fn_stream_enter(&stream, &(CallArgs){.values = &o->stream, .count = 1}));
    value_release(stream);
    return TSR_OK;
}

FN(stream_context_exit) {
    const StreamContextObj *o = (StreamContextObj *)args->values[0].o;
    *out = VALUE_NONE;
    return o->stream.tag == V_NONE ? TSR_OK : fn_stream_exit(out, &(CallArgs){.values = &o->stream, .count = 1});
}

static const Method stream_context_methods[] = {
    {"__enter__", fn_stream_context_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Makes it the current stream."},
    {"__exit__", fn_stream_context_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)",
     "Gives the one before back."},
    END,
};
Type cuda_stream_context_type = {.obj = TYPE_HEADER,
                                 .name = "StreamContext",
                                 .module = "torch.cuda",
                                 .construct = stream_context_construct,
                                 .destroy = stream_context_destroy,
                                 .methods = stream_context_methods};
