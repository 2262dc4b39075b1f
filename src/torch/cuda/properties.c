/* properties.c: what a CUDA device says of itself: torch.cuda.get_device_properties() and what is taken from it. */
#include "cuda_impl.h"

#include <string.h>

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

typedef struct PropertiesObj {
    Obj obj;
    TsrDeviceFacts facts;
} PropertiesObj;

static inline const TsrDeviceFacts *facts_in(Value v) { return &((const PropertiesObj *)v.o)->facts; }

TsrStatus cuda_checked_index(int *out, const TsrBackend *b, Value device, const char *words) {
    TsrDevice d;
    TSR_TRY(cuda_device_argument(&d, device));
    *out = d.index;
    if (d.index < 0 && device.tag != V_INT) *out = b->current();
    return *out >= 0 && *out < b->device_count() ? TSR_OK : tsr_error(TSR_ASSERTION_ERROR, "%s", words);
}

static TsrStatus facts_of(TsrDeviceFacts *out, Value device) {
    const TsrBackend *b;
    int index;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_checked_index(&index, b, device, "Invalid device id"));
    return b->facts(out, index);
}

static Type properties_type;

FN(get_device_properties) {
    PARSE(v, "get_device_properties", 1, 0, "device");
    TsrDeviceFacts facts;
    TSR_TRY(facts_of(&facts, v[0]));
    PropertiesObj *o = obj_new(&properties_type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->facts = facts;
    *out = value_obj_move(o);
    return TSR_OK;
}

FN(get_device_name) {
    PARSE(v, "get_device_name", 1, 0, "device");
    TsrDeviceFacts facts;
    TSR_TRY(facts_of(&facts, v[0]));
    return str_new_c(out, facts.name);
}

FN(get_device_capability) {
    PARSE(v, "get_device_capability", 1, 0, "device");
    TsrDeviceFacts facts;
    TSR_TRY(facts_of(&facts, v[0]));
    Value pair[] = {value_int(facts.major), value_int(facts.minor)};
    return tuple_new(out, pair, 2);
}

const Method cuda_property_functions[] = {
    {"get_device_properties", fn_get_device_properties, ARGS_ANY, 0, 0, "(device=None)",
     "What it says of itself: name, memory, multiprocessors and more."},
    {"get_device_name", fn_get_device_name, ARGS_ANY, 0, 0, "(device=None)", "Its maker's name for it."},
    {"get_device_capability", fn_get_device_capability, ARGS_ANY, 0, 0, "(device=None)",
     "Its compute capability, two numbers."},
    END,
};

static void properties_destroy(Obj *self) { obj_free(self, sizeof(PropertiesObj)); }

static void uuid_text(char out[37], const uint8_t uuid[16]) {
    static const char digits[] = "0123456789abcdef";
    char *at = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        *at++ = digits[uuid[i] >> 4];
        *at++ = digits[uuid[i] & 15];
    }
    *at = '\0';
}

static TsrStatus properties_repr(TsrText *out, Value self) {
    const TsrDeviceFacts *f = facts_in(self);
    char uuid[37];
    uuid_text(uuid, f->uuid);
    return tsr_text_printf(out,
                           "_CudaDeviceProperties(name='%s', major=%d, minor=%d, total_memory=%lluMB, "
                           "multi_processor_count=%d, uuid=%s, pci_bus_id=%d, pci_device_id=%d, pci_domain_id=%d, "
                           "L2_cache_size=%dMB)",
                           f->name, f->major, f->minor, (unsigned long long)(f->memory >> 20), f->multiprocessors, uuid,
                           f->bus, f->slot, f->domain, f->cache >> 20);
}

static TsrStatus properties_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || !value_is_obj(b, &properties_type)) return TSR_OK;
    const TsrDeviceFacts *x = facts_in(a), *y = facts_in(b);
    bool same = x->bus == y->bus && x->slot == y->slot && x->domain == y->domain && strcmp(x->name, y->name) == 0 &&
                memcmp(x->uuid, y->uuid, sizeof x->uuid) == 0;
    *out = value_bool(same == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus get_name(Value *out, Value self) { return str_new_c(out, facts_in(self)->name); }
static TsrStatus get_memory(Value *out, Value self) { return int_new_uint64(out, facts_in(self)->memory); }
static TsrStatus get_uuid(Value *out, Value self) {
    char text[37];
    uuid_text(text, facts_in(self)->uuid);
    return str_new_c(out, text);
}
#define ROW(field, name) \
    static TsrStatus get_##field(Value *out, Value self) { \
        *out = value_int(facts_in(self)->field); \
        return TSR_OK; \
    }
TSR_DEVICE_FACTS(ROW)
#undef ROW

static const Getter getters[] = {{"name", get_name, NULL, "its maker's name for it"},
                                 {"gcnArchName", get_name, NULL, "the same"},
                                 {"total_memory", get_memory, NULL, "bytes in all"},
                                 {"uuid", get_uuid, NULL, "a number that no other device has"},
#define ROW(field, name) {name, get_##field, NULL, "as the driver says"},
                                 TSR_DEVICE_FACTS(ROW)
#undef ROW
                                     {NULL, NULL, NULL, NULL}};
static Type properties_type = {.obj = TYPE_HEADER,
                               .name = "_CudaDeviceProperties",
                               .module = "torch._C",
                               .destroy = properties_destroy,
                               .repr = properties_repr,
                               .compare = properties_compare,
                               .getters = getters};
