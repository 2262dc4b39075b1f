/* streams.c: torch.Stream and its kinds in torch.cuda, and the current stream of a `with`. A stream is the number by
 * which the backend knows it; a device without streams of its own has one, whose work is done when it is given. */
#include "cuda_impl.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

static inline StreamObj *stream_of(Value v) { return (StreamObj *)v.o; }

StreamObj *torch_stream_of(Value v) {
    return v.tag == V_OBJ && type_is_subtype(v.o->type, &torch_stream_type) ? stream_of(v) : NULL;
}

static TsrStatus stream_new(Value *out, Type *type, TsrDevice device, int64_t id) {
    StreamObj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->device = device;
    o->id = o->shown = id;
    o->entered = 0;
    *out = value_obj_move(o);
    return TSR_OK;
}

static TsrStatus cuda_stream_new(Value *out, int index, int64_t id) {
    return stream_new(out, &cuda_stream_type, (TsrDevice){TSR_CUDA, (int8_t)index}, id);
}

bool cuda_stream_from_value(int *index, int64_t *id, Value v) {
    const StreamObj *s = torch_stream_of(v);
    if (s == NULL || s->device.type != TSR_CUDA) return false;
    *index = s->device.index;
    *id = s->id;
    return true;
}

/* The backend that a stream's work goes to; NULL for a device whose work is done at once. */
static TsrStatus backend_of(const TsrBackend **out, const StreamObj *s) {
    *out = NULL;
    return s->device.type == TSR_CUDA ? cuda_need_backend(out) : TSR_OK;
}

/* ---- the current stream ---- */

/* Makes a stream and its device the current ones. */
static TsrStatus make_current(const TsrBackend *b, int index, int64_t id) {
    if (b->current() != index) TSR_TRY(b->set_current(index));
    return b->streams->set_current(index, id);
}

static TsrStatus device_index(const TsrBackend **b, int *index, Value device) {
    TSR_TRY(cuda_need_backend(b));
    return cuda_index_of(index, *b, device);
}

static TsrStatus cuda_current_stream(Value *out, const CallArgs *args) {
    PARSE(v, "current_stream", 1, 0, "device");
    const TsrBackend *b;
    int index;
    TSR_TRY(device_index(&b, &index, v[0]));
    return cuda_stream_new(out, index, b->streams->current(index));
}

TsrStatus accelerator_current_stream(Value *out, const CallArgs *args) {
    PARSE(v, "current_stream", 1, 0, "device");
    const TsrBackend *b;
    int index;
    TSR_TRY(device_index(&b, &index, v[0]));
    return stream_new(out, &torch_stream_type, (TsrDevice){TSR_CUDA, (int8_t)index}, b->streams->current(index));
}

FN(default_stream) {
    PARSE(v, "default_stream", 1, 0, "device");
    const TsrBackend *b;
    int index;
    TSR_TRY(device_index(&b, &index, v[0]));
    return cuda_stream_new(out, index, 0);
}

TsrStatus cuda_set_stream(Value *out, const CallArgs *args) {
    PARSE(v, "set_stream", 1, 1, "stream");
    const TsrBackend *b;
    int index;
    int64_t id;
    *out = VALUE_NONE;
    if (v[0].tag == V_NONE) return TSR_OK;
    TSR_TRY(cuda_need_backend(&b));
    if (!cuda_stream_from_value(&index, &id, v[0]))
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'stream_id'", value_type_name(v[0]));
    return make_current(b, index, id);
}

FN(get_stream_from_external) {
    PARSE(v, "get_stream_from_external", 2, 1, "data_ptr", "device");
    CallArgs same = {.values = v, .count = 2};
    const TsrBackend *b;
    TSR_TRY(cuda_need_backend(&b));
    return cuda_external_stream_type.construct(out, &cuda_stream_type, &same);
}

const Method cuda_stream_functions[] = {
    {"current_stream", cuda_current_stream, ARGS_ANY, 0, 0, "(device=None)", "The stream that work goes into now."},
    {"default_stream", fn_default_stream, ARGS_ANY, 0, 0, "(device=None)", "The stream that work goes into at first."},
    {"set_stream", cuda_set_stream, ARGS_ANY, 0, 0, "(stream)", "Makes a stream and its device the current ones."},
    {"get_stream_from_external", fn_get_stream_from_external, ARGS_ANY, 0, 0, "(data_ptr, device=None)",
     "The stream with this handle of the driver."},
    END,
};

/* ---- making one ---- */

/* By number one gets the very stream; all three parts are needed. */
static bool is_by_number(const Value *number) {
    return number[0].tag != V_UNBOUND && number[1].tag != V_UNBOUND && number[2].tag != V_UNBOUND;
}

static TsrStatus new_by_number(Value *out, Type *type, const Value *number) {
    int64_t id, index, kind;
    TSR_TRY(value_to_index(&id, number[0]));
    TSR_TRY(value_to_index(&index, number[1]));
    TSR_TRY(value_to_index(&kind, number[2]));
    if (kind != TSR_CPU && kind != TSR_CUDA)
        return tsr_error(TSR_RUNTIME_ERROR, "there are no streams of device type %lld", (long long)kind);
    if (index < -1 || index > INT8_MAX)
        return tsr_error(TSR_RUNTIME_ERROR, "Device index must not be negative or above %d", INT8_MAX);
    return stream_new(out, type, (TsrDevice){(uint8_t)kind, (int8_t)index}, id);
}

/* The streams of a pool take turns. */
static TsrStatus new_from_pool(Value *out, Type *type, const TsrBackend *b, int index, Value priority) {
    int64_t id, p = 0;
    if (priority.tag != V_UNBOUND) TSR_TRY(value_to_index(&p, priority));
    TSR_TRY(b->streams->pick(&id, index, (int)TSR_MIN(TSR_MAX(p, -100), 100)));
    return stream_new(out, type, (TsrDevice){TSR_CUDA, (int8_t)index}, id);
}

TsrStatus torch_device_argument(TsrDevice *out, Value v, const char *function) {
    bool ok = true;
    *out = (TsrDevice){TSR_CUDA, -1};
    if (v.tag == V_UNBOUND || v.tag == V_NONE) return TSR_OK;
    TSR_TRY(device_from_value(out, &ok, v));
    return ok ? TSR_OK
              : tsr_error(TSR_TYPE_ERROR, "%s(): argument 'device' (position 1) must be torch.device, not %s", function,
                          value_type_name(v));
}

static TsrStatus torch_stream_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "Stream", 1, 0, "device", "priority", "stream_id", "device_index", "device_type");
    const TsrBackend *b = cuda_find_backend();
    TsrDevice d;
    if (is_by_number(v + 2)) return new_by_number(out, type, v + 2);
    for (int i = 2; i < 5; i++)
        if (v[i].tag != V_UNBOUND)
            return tsr_error(TSR_TYPE_ERROR, "Stream() got an unexpected keyword argument '%s'", names_[i]);
    TSR_TRY(torch_device_argument(&d, v[0], "Stream"));
    if (d.type != TSR_CUDA) return stream_new(out, type, (TsrDevice){d.type, -1}, 0);
    if (b == NULL) return torch_cuda_no_driver();
    TSR_TRY(tsr_device_resolve(&d));
    return new_from_pool(out, type, b, d.index, v[1]);
}

static TsrStatus cuda_stream_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "Stream.__new__", 2, 0, "device", "priority", "stream_id", "device_index", "device_type");
    const TsrBackend *b = cuda_find_backend();
    int index;
    if (b == NULL) return v[0].tag == V_UNBOUND || v[0].tag == V_NONE ? torch_cuda_no_driver() : cuda_need_backend(&b);
    if (is_by_number(v + 2)) return new_by_number(out, type, v + 2);
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    return new_from_pool(out, type, b, index, v[1]);
}

/* A handle of the driver. Streams that other libraries made are not this process's to wait for. */
static TsrStatus external_stream_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "ExternalStream.__new__", 2, 1, "stream_ptr", "device");
    const TsrBackend *b = cuda_find_backend();
    uint64_t handle = 0;
    int index;
    if (b == NULL && (v[1].tag == V_UNBOUND || v[1].tag == V_NONE))
        return tsr_error(TSR_RUNTIME_ERROR, "invalid argument to exchangeDevice");
    TSR_TRY(device_index(&b, &index, v[1]));
    if (v[0].tag == V_INT) handle = (uint64_t)v[0].i;
    else if (v[0].tag != V_NONE && !int_fits_uint64(v[0], &handle))
        return tsr_error(TSR_RUNTIME_ERROR, "stream_ptr must be an int or None, got %s", value_type_name(v[0]));
    int64_t id = b->streams->number(index, handle);
    if (id < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "0x%llx is no stream of cuda:%d that this process made",
                         (unsigned long long)handle, index);
    TSR_TRY(stream_new(out, type, (TsrDevice){TSR_CUDA, (int8_t)index}, id));
    stream_of(*out)->shown = (int64_t)handle;
    return TSR_OK;
}

static void stream_destroy(Obj *self) { obj_free(self, sizeof(StreamObj)); }

/* ---- what it is ---- */

static uint64_t handle_of(const StreamObj *s) {
    const TsrBackend *b = s->device.type == TSR_CUDA ? cuda_find_backend() : NULL;
    return b != NULL ? b->streams->handle(s->device.index, s->id) : 0;
}

static TsrStatus torch_stream_repr(TsrText *out, Value self) {
    const StreamObj *s = stream_of(self);
    return tsr_text_printf(out, "torch.Stream device_type=%s, device_index=%d, stream_id=%lld",
                           tsr_device_type_name(s->device.type), s->device.index, (long long)s->shown);
}

static TsrStatus cuda_stream_repr(TsrText *out, Value self) {
    const StreamObj *s = stream_of(self);
    return tsr_text_printf(out, "<torch.cuda.Stream device=cuda:%d cuda_stream=0x%llx>", s->device.index,
                           (unsigned long long)handle_of(s));
}

static TsrStatus stream_hash(int64_t *out, Value self) {
    *out = stream_of(self)->shown * 31 + stream_of(self)->device.index;
    return TSR_OK;
}

static TsrStatus stream_compare(Value *out, CompareOp op, Value a, Value b) {
    const StreamObj *x = torch_stream_of(a), *y = torch_stream_of(b);
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || x == NULL || y == NULL) return TSR_OK;
    bool same = a.o->type == b.o->type && x->shown == y->shown && tsr_device_equal(x->device, y->device);
    *out = value_bool(same == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus stream_device(Value *out, Value self) { return device_new(out, stream_of(self)->device); }
static TsrStatus stream_id(Value *out, Value self) {
    *out = value_int(stream_of(self)->shown);
    return TSR_OK;
}
static TsrStatus stream_index(Value *out, Value self) {
    *out = value_int(stream_of(self)->device.index);
    return TSR_OK;
}
/* PyTorch's number of the device type: that of meta is another than the core's. */
static TsrStatus stream_type_number(Value *out, Value self) {
    enum { META = 14 };
    int type = stream_of(self)->device.type;
    *out = value_int(type == TSR_META ? META : type);
    return TSR_OK;
}
static TsrStatus stream_handle(Value *out, Value self) { return int_new_uint64(out, handle_of(stream_of(self))); }
static TsrStatus native_handle(Value *out, Value self) {
    if (stream_of(self)->device.type != TSR_CUDA)
        return tsr_error(TSR_RUNTIME_ERROR, "Backend doesn't support getting stream native handle.");
    return stream_handle(out, self);
}
/* The number of a pool's stream says its priority. */
static TsrStatus stream_priority(Value *out, Value self) {
    int64_t id = stream_of(self)->id;
    *out = value_int(id == 0 ? 0 : 1 - ((id >> 1) & 15));
    return TSR_OK;
}

/* ---- work ---- */

FN(stream_query) {
    const StreamObj *s = stream_of(args->values[0]);
    const TsrBackend *b;
    bool done = true;
    TSR_TRY(backend_of(&b, s));
    if (b != NULL) TSR_TRY(b->streams->done(&done, s->device.index, s->id));
    *out = value_bool(done);
    return TSR_OK;
}

FN(stream_synchronize) {
    const StreamObj *s = stream_of(args->values[0]);
    const TsrBackend *b;
    *out = VALUE_NONE;
    TSR_TRY(backend_of(&b, s));
    if (b == NULL) return TSR_OK;
    TSR_TRY(tsr_device_will_wait());
    return b->streams->synchronize(s->device.index, s->id);
}

FN(stream_wait_event) {
    PARSE(v, "Stream.wait_event", 2, 2, "self", "event");
    const StreamObj *s = stream_of(v[0]);
    const EventObj *e = torch_event_of(v[1]);
    const TsrBackend *b;
    if (e == NULL) return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'wait'", value_type_name(v[1]));
    *out = VALUE_NONE;
    TSR_TRY(backend_of(&b, s));
    return e->event != NULL && b != NULL ? b->streams->event_wait(e->event, s->device.index, s->id) : TSR_OK;
}

/* A stream's events are of its own kind. */
FN(stream_record_event) {
    PARSE(v, "Stream.record_event", 2, 1, "self", "event");
    const StreamObj *s = stream_of(v[0]);
    bool cuda_kind = type_is_subtype(v[0].o->type, &cuda_stream_type);
    bool given = v[1].tag != V_UNBOUND && v[1].tag != V_NONE;
    if (given && cuda_kind && torch_event_of(v[1]) == NULL)
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'record'", value_type_name(v[1]));
    if (given && !cuda_kind && !value_is_obj(v[1], &torch_event_type))
        return tsr_error(TSR_RUNTIME_ERROR, "expected event to be a torch.Event object");
    if (given) *out = value_retain(v[1]);
    else TSR_TRY(torch_event_new(out, cuda_kind ? &cuda_event_type : &torch_event_type, s->device.type, false));
    TsrStatus status = torch_event_record(torch_event_of(*out), s);
    if (status != TSR_OK) value_clear(out);
    return status;
}

FN(stream_wait_stream) {
    PARSE(v, "Stream.wait_stream", 2, 2, "self", "stream");
    const StreamObj *s = stream_of(v[0]), *other = torch_stream_of(v[1]);
    const TsrBackend *b;
    void *event;
    if (other == NULL)
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'record_event'", value_type_name(v[1]));
    *out = VALUE_NONE;
    TSR_TRY(torch_has_events(other->device.type));
    TSR_TRY(torch_has_events(s->device.type));
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(b->streams->event_new(&event, other->device.index, false));
    TsrStatus status = b->streams->event_record(event, other->id);
    if (status == TSR_OK) status = b->streams->event_wait(event, s->device.index, s->id);
    b->streams->event_free(event);
    return status;
}

FN(stream_enter) {
    StreamObj *s = stream_of(args->values[0]);
    const TsrBackend *b;
    TSR_TRY(backend_of(&b, s));
    if (s->entered == (int)TSR_COUNTOF(s->before))
        return tsr_error(TSR_RUNTIME_ERROR, "the stream was entered %d times", s->entered);
    if (b != NULL) {
        s->before_index[s->entered] = b->current();
        s->before[s->entered] = b->streams->current(s->device.index);
        TSR_TRY(make_current(b, s->device.index, s->id));
        s->entered++;
    }
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

FN(stream_exit) {
    StreamObj *s = stream_of(args->values[0]);
    const TsrBackend *b;
    *out = VALUE_NONE;
    if (s->entered == 0) return TSR_OK;
    TSR_TRY(backend_of(&b, s));
    s->entered--;
    TSR_TRY(b->streams->set_current(s->device.index, s->before[s->entered]));
    return b->set_current(s->before_index[s->entered]);
}

FN(stream_priority_range) {
    (void)args;
    if (cuda_find_backend() == NULL) return torch_cuda_no_driver();
    Value pair[] = {value_int(0), value_int(-3)};
    return tuple_new(out, pair, 2);
}

static const Method stream_methods[] = {
    {"query", fn_stream_query, ARGS_NONE, 0, 0, "()", "Whether all of its work is done."},
    {"synchronize", fn_stream_synchronize, ARGS_NONE, 0, 0, "()", "Waits for all of its work."},
    {"wait_event", fn_stream_wait_event, ARGS_ANY, 0, 0, "(event)", "What comes in it waits for the event."},
    {"wait_stream", fn_stream_wait_stream, ARGS_ANY, 0, 0, "(stream)",
     "What comes in it waits for what is in another."},
    {"record_event", fn_stream_record_event, ARGS_ANY, 0, 0, "(event=None)",
     "An event that is there when the stream has come so far."},
    {"__enter__", fn_stream_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Makes it the current stream."},
    {"__exit__", fn_stream_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)",
     "Gives the one before back."},
    END,
};
static const Getter stream_getters[] = {{"device", stream_device, NULL, "whose work it takes"},
                                        {"device_index", stream_index, NULL, "the device's index"},
                                        {"device_type", stream_type_number, NULL, "the number of the device's type"},
                                        {"stream_id", stream_id, NULL, "its number; 0 for the default one"},
                                        {"native_handle", native_handle, NULL, "the driver's handle; 0 likewise"},
                                        {NULL, NULL, NULL, NULL}};
Type torch_stream_type = {.obj = TYPE_HEADER,
                          .name = "Stream",
                          .module = "torch",
                          .construct = torch_stream_construct,
                          .destroy = stream_destroy,
                          .repr = torch_stream_repr,
                          .hash = stream_hash,
                          .compare = stream_compare,
                          .methods = stream_methods,
                          .getters = stream_getters};

static const Method cuda_only_methods[] = {
    {"priority_range", fn_stream_priority_range, ARGS_NONE | METHOD_STATIC, 0, 0, "()",
     "The lowest and the highest priority."},
    END,
};
static const Getter cuda_only_getters[] = {
    {"cuda_stream", stream_handle, NULL, "the driver's handle; 0 for the default"},
    {"priority", stream_priority, NULL, "0, or less for what goes first"},
    {NULL, NULL, NULL, NULL}};
Type cuda_stream_type = {.obj = TYPE_HEADER,
                         .name = "Stream",
                         .module = "torch.cuda.streams",
                         .base = &torch_stream_type,
                         .construct = cuda_stream_construct,
                         .destroy = stream_destroy,
                         .repr = cuda_stream_repr,
                         .methods = cuda_only_methods,
                         .getters = cuda_only_getters};
Type cuda_external_stream_type = {.obj = TYPE_HEADER,
                                  .name = "ExternalStream",
                                  .module = "torch.cuda.streams",
                                  .base = &cuda_stream_type,
                                  .construct = external_stream_construct,
                                  .destroy = stream_destroy};

/* ---- with torch.cuda.stream(s) ---- */

typedef struct StreamContextObj {
    Obj obj;
    Value stream; /* a Stream, or None: nothing changes */
} StreamContextObj;

static TsrStatus stream_context_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "StreamContext.__init__", 1, 1, "stream");
    if (v[0].tag != V_NONE && torch_stream_of(v[0]) == NULL)
        return tsr_error(TSR_TYPE_ERROR, "stream(): argument 'stream' must be a torch.cuda.Stream or None, not %s",
                         value_type_name(v[0]));
    StreamContextObj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->stream = value_retain(v[0]);
    *out = value_obj_move(o);
    cuda_begin();
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
