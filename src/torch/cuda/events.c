/* events.c: torch.Event and torch.cuda.Event. An event is made in the driver when it is first recorded, as in PyTorch.
 */
#include "cuda_impl.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

static inline EventObj *event_of(Value v) { return (EventObj *)v.o; }

EventObj *torch_event_of(Value v) {
    return v.tag == V_OBJ && type_is_subtype(v.o->type, &torch_event_type) ? event_of(v) : NULL;
}

/* An event that was recorded was recorded with a backend. */
static const TsrStreamTable *streams(void) { return cuda_find_backend()->streams; }

TsrStatus torch_has_events(uint8_t device_type) {
    if (device_type == TSR_CUDA) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s backend doesn't support events.", tsr_device_type_name(device_type));
}

TsrStatus torch_event_new(Value *out, Type *type, uint8_t device_type, bool timing) {
    EventObj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->event = NULL;
    o->device = (TsrDevice){device_type, -1};
    o->timing = timing;
    *out = value_obj_move(o);
    return TSR_OK;
}

static TsrStatus cuda_event_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "Event.__new__", 4, 0, "enable_timing", "blocking", "interprocess", "external");
    bool timing = false;
    if (v[0].tag != V_UNBOUND) TSR_TRY(value_truth(&timing, v[0]));
    return torch_event_new(out, type, TSR_CUDA, timing);
}

static TsrStatus torch_event_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "Event", 1, 0, "device", "enable_timing", "blocking", "interprocess");
    bool timing = false;
    TsrDevice d;
    TSR_TRY(torch_device_argument(&d, v[0], "Event"));
    if (v[1].tag != V_UNBOUND) TSR_TRY(value_truth(&timing, v[1]));
    return torch_event_new(out, type, d.type, timing);
}

static void event_destroy(Obj *self) {
    EventObj *o = (EventObj *)self;
    if (o->event != NULL && cuda_find_backend() != NULL) streams()->event_free(o->event);
    obj_free(self, sizeof *o);
}

static TsrStatus torch_event_repr(TsrText *out, Value self) {
    const EventObj *o = event_of(self);
    return tsr_text_printf(out, "torch.Event device_type=%s, device_index=%d, event_flag=%d, event_id=%lld",
                           tsr_device_type_name(o->device.type), o->device.index, o->timing,
                           (long long)(intptr_t)o->event);
}

static TsrStatus cuda_event_repr(TsrText *out, Value self) {
    const EventObj *o = event_of(self);
    if (o->event == NULL) return tsr_text_puts(out, "<torch.cuda.Event uninitialized>");
    return tsr_text_printf(out, "<torch.cuda.Event %p>", o->event);
}

static const char *type_word(uint8_t device_type) {
    return device_type == TSR_CPU    ? "CPU"
           : device_type == TSR_CUDA ? "CUDA"
           : device_type == TSR_META ? "META"
                                     : "OTHER";
}

TsrStatus torch_event_record(EventObj *o, const StreamObj *s) {
    const TsrBackend *b;
    if (o->device.type != s->device.type)
        return tsr_error(TSR_RUNTIME_ERROR, "Event device type %s does not match recording stream's device type %s.",
                         type_word(o->device.type), type_word(s->device.type));
    TSR_TRY(torch_has_events(s->device.type));
    TSR_TRY(cuda_need_backend(&b));
    if (o->event == NULL) {
        TSR_TRY(b->streams->event_new(&o->event, s->device.index, o->timing));
        o->device.index = s->device.index;
    }
    if (o->device.index != s->device.index)
        return tsr_error(TSR_RUNTIME_ERROR, "Event device %d does not match recording stream's device %d.",
                         o->device.index, s->device.index);
    return b->streams->event_record(o->event, s->id);
}

/* The stream that an argument of an event's method means; None and nothing are the current one. */
static TsrStatus stream_argument(StreamObj *out, Value event, Value v) {
    const EventObj *e = event_of(event);
    const TsrBackend *b;
    bool given = v.tag != V_UNBOUND && v.tag != V_NONE;
    if (given && torch_stream_of(v) == NULL)
        return tsr_error(TSR_RUNTIME_ERROR, "expected stream to be a torch.Stream or torch.cuda.Stream object");
    *out = given ? *torch_stream_of(v) : (StreamObj){.device = e->device};
    if (out->device.type != TSR_CUDA) return TSR_OK;
    if (cuda_find_backend() == NULL && value_is_obj(event, &torch_event_type)) return torch_cuda_no_driver();
    TSR_TRY(cuda_need_backend(&b));
    if (given) return TSR_OK;
    out->device.index = (int8_t)b->current();
    out->id = b->streams->current(out->device.index);
    return TSR_OK;
}

FN(event_record) {
    PARSE(v, "Event.record", 2, 1, "self", "stream");
    StreamObj s;
    *out = VALUE_NONE;
    TSR_TRY(stream_argument(&s, v[0], v[1]));
    return torch_event_record(event_of(v[0]), &s);
}

FN(event_wait) {
    PARSE(v, "Event.wait", 2, 1, "self", "stream");
    const EventObj *o = event_of(v[0]);
    StreamObj s;
    *out = VALUE_NONE;
    TSR_TRY(stream_argument(&s, v[0], v[1]));
    return o->event != NULL && s.device.type == TSR_CUDA ? streams()->event_wait(o->event, s.device.index, s.id)
                                                         : TSR_OK;
}

FN(event_query) {
    const EventObj *o = event_of(args->values[0]);
    bool done = true;
    if (o->event != NULL) TSR_TRY(streams()->event_done(&done, o->event));
    *out = value_bool(done);
    return TSR_OK;
}

FN(event_synchronize) {
    const EventObj *o = event_of(args->values[0]);
    *out = VALUE_NONE;
    return o->event != NULL ? streams()->event_synchronize(o->event) : TSR_OK;
}

FN(event_elapsed_time) {
    PARSE(v, "Event.elapsed_time", 2, 2, "self", "end_event");
    bool done = true, also = true;
    double milliseconds;
    if (v[1].tag != V_OBJ || v[1].o->type != v[0].o->type)
        return tsr_error(TSR_RUNTIME_ERROR, "expected other to be a %s object",
                         value_is_obj(v[0], &torch_event_type) ? "torch.Event" : "torch.cuda.Event");
    const EventObj *from = event_of(v[0]), *to = event_of(v[1]);
    if (!from->timing || !to->timing)
        return tsr_error(TSR_VALUE_ERROR, "Both events must be created with argument 'enable_timing=True'.");
    if (from->event == NULL || to->event == NULL)
        return tsr_error(TSR_VALUE_ERROR, "Both events must be recorded before calculating elapsed time.");
    TSR_TRY(streams()->event_done(&done, from->event));
    TSR_TRY(streams()->event_done(&also, to->event));
    if (!done || !also)
        return tsr_error(TSR_VALUE_ERROR, "Both events must be completed before calculating elapsed time.");
    TSR_TRY(streams()->event_elapsed(&milliseconds, from->event, to->event));
    *out = value_float(milliseconds);
    return TSR_OK;
}

static TsrStatus torch_event_device(Value *out, Value self) { return device_new(out, event_of(self)->device); }
static TsrStatus cuda_event_device(Value *out, Value self) {
    *out = VALUE_NONE;
    return event_of(self)->event != NULL ? torch_event_device(out, self) : TSR_OK;
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
static const Getter torch_event_getters[] = {
    {"device", torch_event_device, NULL, "whose streams it is for; with an index once it was recorded"},
    {"event_id", event_handle, NULL, "its address; 0 before it is recorded"},
    {NULL, NULL, NULL, NULL}};
Type torch_event_type = {.obj = TYPE_HEADER,
                         .name = "Event",
                         .module = "torch",
                         .construct = torch_event_construct,
                         .destroy = event_destroy,
                         .repr = torch_event_repr,
                         .methods = event_methods,
                         .getters = torch_event_getters};

static const Getter cuda_event_getters[] = {{"device", cuda_event_device, NULL, "where it was recorded, or None"},
                                            {"cuda_event", event_handle, NULL, "its address; 0 before it is recorded"},
                                            {NULL, NULL, NULL, NULL}};
Type cuda_event_type = {.obj = TYPE_HEADER,
                        .name = "Event",
                        .module = "torch.cuda.streams",
                        .base = &torch_event_type,
                        .construct = cuda_event_construct,
                        .destroy = event_destroy,
                        .repr = cuda_event_repr,
                        .getters = cuda_event_getters};
