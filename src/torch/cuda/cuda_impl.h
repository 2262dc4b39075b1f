/* cuda_impl.h: what the files of torch.cuda share: the backend that they ask, indices of devices, how functions are
 * written down. */
#ifndef TORCH_CUDA_IMPL_H
#define TORCH_CUDA_IMPL_H

#include "core/backend.h"
#include "cuda.h"
#include "lang/object/args.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"

/* Parses into v[] by names given as a list of literals; the first `needed` are required, `positional` may be given by
 * position. */
#define PARSE(v, function_name, positional, needed, ...) \
    static const char *const names_[] = {__VA_ARGS__}; \
    Value v[TSR_COUNTOF(names_)]; \
    TSR_TRY(args_parse_python(v, args, \
                              &(ArgSpec){function_name, names_, (int)TSR_COUNTOF(names_), 0, positional, needed}))
#define END \
    { NULL, NULL, 0, 0, 0, NULL, NULL }

/* NULL where there is no device; no error is left then. */
const TsrBackend *cuda_find_backend(void);
/* PyTorch's error where there is none. */
TsrStatus cuda_need_backend(const TsrBackend **out);
/* Whether a device is in use: memory of it, or something that there is only with one, was asked for. */
bool cuda_is_begun(void);
void cuda_begin(void); /* from now on it is, where there is one */
/* The index that an argument means: None and nothing are the current device, -1 is no device. */
TsrStatus cuda_index_of(int *out, const TsrBackend *b, Value v);
/* The same; an AssertionError with these words for an index that there is no device of. */
TsrStatus cuda_checked_index(int *out, const TsrBackend *b, Value device, const char *words);
/* What a device is by type and index; an index of -1 or None, and "cuda", are the current one: index -1. */
TsrStatus cuda_device_argument(TsrDevice *out, Value v);

extern const Method cuda_device_functions[], cuda_property_functions[], cuda_memory_functions[],
    cuda_stream_functions[], cuda_random_functions[], cuda_nvtx_functions[];
extern Type cuda_device_context_type, cuda_device_of_type, cuda_stream_type, cuda_external_stream_type, cuda_event_type,
    cuda_stream_context_type, accelerator_device_index_type;

/* A torch.Stream or a kind of it. `id` is the number by which the backend knows it, `shown` what stream_id says. */
typedef struct StreamObj {
    Obj obj;
    TsrDevice device;
    int64_t id, shown;
    int entered; /* how deep `with stream:` is in itself */
    int before_index[4];
    int64_t before[4];
} StreamObj;
/* A torch.Event or a torch.cuda.Event. */
typedef struct EventObj {
    Obj obj;
    void *event;      /* the backend's; NULL until it is recorded */
    TsrDevice device; /* with an index from then on */
    bool timing;
} EventObj;
StreamObj *torch_stream_of(Value v); /* NULL for what is no stream */
EventObj *torch_event_of(Value v);   /* NULL for what is no event */
TsrStatus torch_event_new(Value *out, Type *type, uint8_t device_type, bool timing);
TsrStatus torch_event_record(EventObj *event, const StreamObj *stream);
/* PyTorch's error for devices whose streams have no events. */
TsrStatus torch_has_events(uint8_t device_type);
/* The device that an argument names; None and nothing are the current GPU, index -1. */
TsrStatus torch_device_argument(TsrDevice *out, Value v, const char *function);

/* The functions that torch.accelerator has too. */
TsrStatus cuda_generators(Value *out, const CallArgs *args); /* a tuple, empty without a device */
TsrStatus cuda_is_available(Value *out, const CallArgs *args);
TsrStatus cuda_device_count(Value *out, const CallArgs *args);
TsrStatus cuda_current_device(Value *out, const CallArgs *args);
TsrStatus cuda_synchronize(Value *out, const CallArgs *args);
TsrStatus accelerator_current_stream(Value *out, const CallArgs *args);
TsrStatus cuda_set_stream(Value *out, const CallArgs *args);
TsrStatus cuda_empty_cache(Value *out, const CallArgs *args);
TsrStatus cuda_mem_get_info(Value *out, const CallArgs *args);

#endif
