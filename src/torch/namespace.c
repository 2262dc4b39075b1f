/* The module torch and its submodules. Names are resolved lazily: the tables of functions first, then the operators,
 * then the prelude. Parts of PyTorch that are known and absent answer with why they are. */
#include "namespace.h"

#include <math.h>
#include <string.h>

#include "torch/bind/bind.h"
#include "lang/types/collections.h"
#include "lang/object/exc.h"
#include "lang/vm/lazy.h"
#include "lang/modules/namespace.h"
#include "lang/vm/prelude.h"
#include "lang/types/sequences.h"
#include "torch/tensor/storage.h"
#include "lang/types/str.h"
#include "torch/tensor/tensor_methods.h"
#include "torch/tensor/tensor.h"
#include "autocast.h"
#include "torch/cuda/cuda.h"
#include "functions.h"
#include "grad_mode.h"
#include "kinds.h"
#include "types.h"
#include "lang/vm/vm.h"

/* ---- torch and its submodules ---- */

static const struct {
    const char *name;
    double value;
} constants[] = {{"pi", M_PI}, {"e", M_E}, {"inf", INFINITY}, {"nan", NAN}};

/* All types and constants of torch that are there from the start. Of two of one name the last counts. */
static void each_type(TorchTypeVisit visit, void *context) {
    static const struct {
        const char *name;
        Type *type;
    } types[] = {
        {"Tensor", &torch_tensor_type},
        {"UntypedStorage", &untyped_storage_type},
        {"TypedStorage", &typed_storage_type},
        {"Stream", &torch_stream_type},
        {"Event", &torch_event_type},
        {"no_grad", &no_grad_type},
        {"autocast", &autocast_type},
        {"enable_grad", &enable_grad_type},
        {"inference_mode", &inference_mode_type},
        {"set_grad_enabled", &set_grad_enabled_type},
    };
    torch_types_each(visit, context);
    for (size_t i = 0; i < TSR_COUNTOF(types); i++) visit(types[i].name, value_lent(types[i].type), context);
    for (int d = 0; d < TSR_DTYPE_COUNT; d++)
        if (float_tensor_types[d].name != NULL)
            visit(float_tensor_types[d].name, value_lent(&float_tensor_types[d]), context);
    for (int d = 0; d < TSR_DTYPE_COUNT; d++)
        if (legacy_storage_types[d].name != NULL)
            visit(legacy_storage_types[d].name, value_lent(&legacy_storage_types[d]), context);
    visit("AcceleratorError", value_lent(EXC_TYPE(TSR_ACCELERATOR_ERROR)), context);
    visit("OutOfMemoryError", value_lent(EXC_TYPE(TSR_OUT_OF_MEMORY_ERROR)), context);
}

typedef struct Wanted {
    const char *name;
    Value found; /* lent; V_UNBOUND: not seen yet */
} Wanted;

static void compare_name(const char *name, Value v, void *context) {
    Wanted *wanted = context;
    if (name[0] == wanted->name[0] && strcmp(name, wanted->name) == 0) wanted->found = v;
}

static Value find_type(const char *module, const char *name) {
    Wanted wanted = {name, VALUE_UNBOUND};
    if (strcmp(module, "torch") == 0) each_type(compare_name, &wanted);
    return wanted.found;
}

static TsrStatus fill_torch(Module *m) {
    for (size_t i = 0; i < TSR_COUNTOF(constants); i++)
        TSR_TRY(module_add(m, constants[i].name, value_float(constants[i].value)));
    TSR_TRY(module_add(m, "newaxis", VALUE_NONE));
    static const char *const libraries[] = {"has_lapack", "has_mkl", "has_openmp", "has_spectral"};
    for (size_t i = 0; i < TSR_COUNTOF(libraries); i++) TSR_TRY(module_add(m, libraries[i], VALUE_TRUE));
    Value v;
    TSR_TRY(str_new_c(&v, TSR_TORCH_VERSION));
    TSR_TRY(module_add_move(m, "__version__", v));
    TSR_TRY(module_add_functions(m, torch_functions));
    TSR_TRY(module_add_functions(m, torch_grad_mode_functions));
    TSR_TRY(module_add_functions(m, torch_autocast_functions));
    return module_add_functions(m, torch_random_functions);
}

/* Of an attribute that is looked for, and of all before it. */
enum { NAME_BYTES = 100, FULL_BYTES = NAME_BYTES + 64 };

static TsrStatus find_operator(Value *out, const char *prefix, const char *name) {
    char full[FULL_BYTES];
    strcpy(stpcpy(full, prefix), name);
    return bind_new_function(out, full);
}

/* A function of the prelude by this name in the module. */
static TsrStatus find_written(Value *out, const char *prefix, const char *name) {
    char space[FULL_BYTES];
    const char *end = stpcpy(space, prefix);
    space[end > space ? end - space - 1 : 0] = '\0'; /* the prefix without its dot */
    return prelude_get(out, space, name);
}

static TsrStatus fill_linalg(Module *m) { return module_add(m, "LinAlgError", value_lent(EXC_TYPE(TSR_LINALG_ERROR))); }
static TsrStatus fill_random(Module *m) {
    TSR_TRY(module_add_functions(m, torch_random_functions));
    return module_add_functions(m, torch_fork_functions);
}
static TsrStatus fill_func(Module *m) {
    Value v;
    TSR_TRY(find_written(&v, "", "vmap"));
    return module_add_move(m, "vmap", v);
}

static TsrStatus fill_c(Module *m) {
    TSR_TRY(module_add_functions(m, torch_state_functions));
    return module_add_functions(m, torch_dtype_names);
}

/* Functions of torch.nn.functional that are those of torch._C._nn and nothing around them. */
typedef struct Same {
    const char *inner, *function;
} Same;
static const Same inner_functions[] = {{"avg_pool2d", "avg_pool2d"},
                                       {"avg_pool3d", "avg_pool3d"},
                                       {"gelu", "gelu"},
                                       {"linear", "linear"},
                                       {"log_sigmoid", "logsigmoid"},
                                       {"one_hot", "one_hot"},
                                       {"softplus", "softplus"},
                                       {"softshrink", "softshrink"},
                                       {"scaled_dot_product_attention", "scaled_dot_product_attention"},
                                       {NULL, NULL}};

static TsrStatus functional_attr(Value *out, const char *name) {
    Value functional, text;
    TSR_TRY(namespace_module(&functional, "torch.nn.functional"));
    TsrStatus status = str_new_c(&text, name);
    if (status == TSR_OK) {
        status = value_getattr(out, functional, value_as_str(text));
        value_release(text);
    }
    value_release(functional);
    return status;
}

/* NULL: the module has none. */
static const Same *same_in(const char *module) { return strcmp(module, "torch._C._nn") == 0 ? inner_functions : NULL; }

static TsrStatus find_same(Value *out, const char *module, const char *name) {
    *out = VALUE_UNBOUND;
    for (const Same *same = same_in(module); same != NULL && same->inner != NULL; same++)
        if (strcmp(same->inner, name) == 0) return functional_attr(out, same->function);
    return TSR_OK;
}

static TsrStatus fill_absent(Module *m) { return module_add_functions(m, torch_absent_functions); }

#ifndef __wasm__
static TsrStatus add_written(Module *m, const char *prefix, const char *name) {
    Value v;
    TSR_TRY(find_written(&v, prefix, name));
    return module_add_move(m, name, v);
}
static TsrStatus fill_kl(Module *m) {
    TSR_TRY(add_written(m, "distributions.", "register_kl"));
    return add_written(m, "distributions.", "kl_divergence");
}
static TsrStatus fill_registry(Module *m) {
    TSR_TRY(add_written(m, "distributions.", "biject_to"));
    return add_written(m, "distributions.", "transform_to");
}
static TsrStatus fill_transforms(Module *m) {
    TSR_TRY(torch_kind_fill(m));
    return add_written(m, "distributions.", "identity_transform");
}
#endif
#ifndef __wasm__
static TsrStatus fill_modules_utils(Module *m) {
    static const char *const names[] = {"_ntuple", "_pair",  "_quadruple", "_reverse_repeat_tuple",
                                        "_single", "_triple"};
    for (size_t i = 0; i < TSR_COUNTOF(names); i++) {
        Value v;
        TSR_TRY(prelude_get(&v, "nn modules utils", names[i] + 1));
        TSR_TRY(module_add_move(m, names[i], v));
    }
    return TSR_OK;
}
#endif
static TsrStatus fill_onnx(Module *m) { return module_add_functions(m, torch_onnx_functions); }

typedef struct Switch {
    const char *name;
    bool value;
} Switch;

static TsrStatus add_switches(Module *m, const Switch *switches, size_t count) {
    for (size_t i = 0; i < count; i++) TSR_TRY(module_add(m, switches[i].name, value_bool(switches[i].value)));
    return TSR_OK;
}
static TsrStatus fill_cudnn(Module *m) {
    static const Switch switches[] = {
        {"enabled", true}, {"benchmark", false}, {"deterministic", false}, {"allow_tf32", true}};
    TSR_TRY(add_switches(m, switches, TSR_COUNTOF(switches)));
    TSR_TRY(module_add(m, "benchmark_limit", value_int(10)));
    return fill_absent(m);
}
static TsrStatus fill_backends_cuda(Module *m) { return module_add_functions(m, torch_built_functions); }
static TsrStatus fill_cuda_matmul(Module *m) {
    static const Switch switches[] = {{"allow_tf32", false},
                                      {"allow_fp16_reduced_precision_reduction", true},
                                      {"allow_bf16_reduced_precision_reduction", true},
                                      {"allow_fp16_accumulation", false}};
    return add_switches(m, switches, TSR_COUNTOF(switches));
}
static TsrStatus fill_version(Module *m) {
    TSR_TRY(module_add_text(m, "__version__", TSR_TORCH_VERSION));
    TSR_TRY(module_add_text(m, "cuda", TSR_TORCH_CUDA_VERSION));
    TSR_TRY(module_add(m, "hip", VALUE_NONE));
    TSR_TRY(module_add(m, "xpu", VALUE_NONE));
    return module_add(m, "debug", VALUE_FALSE);
}

static TsrStatus fill_rnn(Module *module) {
    Value type;
    TSR_TRY(namedtuple_new_type(&type, "PackedSequence", "data batch_sizes sorted_indices unsorted_indices",
                                "torch.nn.utils.rnn", 3));
    return module_add_move(module, "PackedSequence", type);
}

/* One row a module: where operators of the table go by their prefix, and its children as attributes. */
static const struct Space {
    const char *module, *prefix; /* prefix NULL: no operators */
    TsrStatus (*fill)(Module *module);
    const char *doc;
} spaces[] = {
    {"torch", "", fill_torch, "Tensors and the operators on them, under PyTorch's names."},
    {"torch._C", NULL, fill_c, "torch._C._nn, and what errors call a dtype."},
    {"torch._VF", "_VF.", NULL, "What functions of torch that PyTorch writes in Python call."},
    {"torch._C._nn", "_C._nn.", NULL, "What functions of torch.nn.functional call."},
    {"torch.nn", NULL, NULL, "torch.nn.functional, and the layers that have no parameters."},
    {"torch.nn.functional", "nn.functional.", NULL, "The functions of neural networks, without modules and gradients."},
    {"torch.nn.utils", NULL, NULL, "torch.nn.utils.rnn."},
    {"torch.nn.utils.rnn", "nn.utils.rnn.", fill_rnn, "Sequences of different lengths side by side."},
    {"torch.functional", "", NULL, "Functions of torch under their module's name."},
    {"torch.return_types", NULL, bind_fill_return_types, "The types of results with named parts."},
    {"torch.linalg", "linalg.", fill_linalg, "Linear algebra."},
    {"torch.fft", "fft.", NULL, "Discrete Fourier transforms."},
    {"torch.special", "special.", NULL, "Special functions."},
    {"torch.masked", "masked.", NULL, "Reductions over part of a tensor."},
    {"torch.masked._ops", "masked.", NULL, "torch.masked, as PyTorch's own examples call it."},
    {"torch.sparse", "sparse.", torch_sparse_fill, "Operators on sparse tensors."},
#ifndef __wasm__ /* for the size of the page */
    {"torch.testing", "testing.", NULL, "Comparing tensors in tests."},
    {"torch.nn.init", "nn.init.", NULL, "First values of weights."},
    {"torch.distributions", "distributions.", NULL, "Distributions to draw from, and their densities."},
    {"torch.distributions.constraints", "distributions.constraints.", NULL, "What values may be."},
    {"torch.distributions.constraint_registry", NULL, fill_registry, "Transforms to what values may be."},
    {"torch.distributions.kl", NULL, fill_kl, "torch.distributions.kl_divergence."},
    {"torch.distributions.transforms", NULL, fill_transforms, "Functions of numbers that know how much they stretch."},
#define PART(module) {"torch.distributions." module, NULL, torch_kind_fill, "Part of torch.distributions."},
#define ROOT(name, module) PART(module)
#define DISTRIBUTION(name, base, module) PART(module)
#define ALSO(name, base, module)
#define CONSTRAINT_ROOT(name)
#define CONSTRAINT(name, base)
#define TRANSFORM_ROOT(name)
#define TRANSFORM(name)
#define LAYER_ROOT(name, module)
#define LAYER(name, base, module)
#define DATA(name, module)
#include "kinds.def"
    {"torch.nn.modules", NULL, NULL, "torch.nn.modules.utils."},
    {"torch.nn.modules.utils", NULL, fill_modules_utils, "Numbers that stand for several."},
    {"einops", "einops.", NULL, "Axes of tensors by names, as in the package of that name."},
    {"torch.distributed", "distributed.", NULL, "Questions about a group of processes: this one is alone."},
    {"torch.utils", NULL, NULL, "torch.utils.data."},
    {"torch.utils.data", "utils.data.", NULL, "Batches of what has a length and elements by number."},
#endif
    {"torch.signal", NULL, NULL, "torch.signal.windows."},
    {"torch.signal.windows", "signal.windows.", NULL, "Window functions."},
    {"torch.func", "func.", fill_func, "torch.vmap and rearrange."},
    {"torch.random", NULL, fill_random, "Seeds and states of the random stream."},
    {"torch.cuda", "cuda.", torch_cuda_fill, "GPUs: which there are, their memory, their streams."},
    {"torch.amp", NULL, torch_amp_fill, "autocast."},
    {"torch.cuda.amp", NULL, torch_cuda_amp_fill, "autocast under its old name."},
    {"torch.cuda.amp.common", NULL, torch_amp_common_fill, "A question about GPUs."},
    {"torch.cpu", "cpu.", NULL, "The host under the names that devices have, and torch.cpu.amp."},
    {"torch.cpu.amp", NULL, torch_cpu_amp_fill, "autocast under its old name."},
    {"torch.cuda.memory", "cuda.", torch_cuda_memory_fill, "GPUs' memory."},
    {"torch.cuda.random", "cuda.", torch_cuda_random_fill, "GPUs' random streams."},
    {"torch.cuda.streams", NULL, torch_cuda_streams_fill, "Streams and events of GPUs."},
    {"torch.cuda.nvtx", "cuda.nvtx.", NULL, "Named ranges for a profiler; none listens."},
    {"torch.accelerator", "accelerator.", torch_accelerator_fill, "The device beside the CPU."},
    {"torch.jit", "jit.", NULL, "Questions that a program which may be compiled asks; nothing is compiled."},
    {"torch.compiler", "compiler.", NULL, "The same of torch.compile."},
    {"torch.onnx", NULL, fill_onnx, "Whether a program is being exported: it is not."},
    {"torch.mps", NULL, fill_absent, "Questions about Apple's GPUs: there is none."},
    {"torch.xpu", NULL, fill_absent, "Questions about Intel's GPUs: there is none."},
    {"torch.backends", NULL, NULL, "Questions about libraries."},
    {"torch.backends.mps", NULL, fill_absent, "Apple's GPUs: absent."},
    {"torch.backends.cuda", "backends.cuda.", fill_backends_cuda, "CUDA's libraries; the switches change nothing."},
    {"torch.backends.cuda.matmul", NULL, fill_cuda_matmul, "Switches of cuBLAS, which can be set and have no effect."},
    {"torch.backends.cudnn", NULL, fill_cudnn, "cuDNN: absent; its switches can be set and have no effect."},
    {"torch.version", NULL, fill_version, "The version of PyTorch that is matched."},
};

static const struct Space *find_space(const char *module) {
    for (size_t i = 0; i < TSR_COUNTOF(spaces); i++)
        if (strcmp(spaces[i].module, module) == 0) return &spaces[i];
    return NULL;
}

/* torch.linalg as an attribute of torch: a child module. */
static TsrStatus find_child(Value *out, const char *module, const char *name) {
    char full[FULL_BYTES];
    strcpy(stpcpy(stpcpy(full, module), "."), name);
    *out = VALUE_UNBOUND;
    return find_space(full) != NULL ? namespace_module(out, full) : TSR_OK;
}

/* torch.default_generator, which is seeded when it is first asked for. */
static bool has_generator(const char *module) {
    return strcmp(module, "torch") == 0 || strcmp(module, "torch.random") == 0;
}

static TsrStatus find_generator(Value *out, const char *module, const char *name) {
    const bool wanted = strcmp(name, "default_generator") == 0 && has_generator(module);
    return wanted ? generator_default(out) : TSR_OK;
}

/* What a module lacks, which keeps what is found. Operators first: they are asked for most, and found by a hash. */
static TsrStatus missing_attribute(Value *out, Module *m, Str *name) {
    const struct Space *space = find_space(m->name->data);
    *out = VALUE_UNBOUND;
    if (space == NULL || name->size > NAME_BYTES) return TSR_OK;
    const bool holds_functions = space->prefix != NULL && strstr(name->data, "__") == NULL;
    if (holds_functions) TSR_TRY(find_operator(out, space->prefix, name->data));
    if (out->tag == V_UNBOUND) *out = value_retain(find_type(space->module, name->data));
    if (out->tag == V_UNBOUND) TSR_TRY(find_child(out, space->module, name->data));
    if (out->tag == V_UNBOUND) TSR_TRY(find_generator(out, space->module, name->data));
    if (out->tag == V_UNBOUND) TSR_TRY(find_same(out, space->module, name->data));
    if (out->tag == V_UNBOUND) *out = value_retain(torch_kind(space->module, name->data));
    if (out->tag == V_UNBOUND && holds_functions) TSR_TRY(find_written(out, space->prefix, name->data));
    return TSR_OK;
}

static bool has_functions(const TsrOpSet *set, unsigned *forms) {
    *forms = 0;
    for (int i = 0; set != NULL && i < set->n; i++)
        if ((set->ops[i]->flags & TSR_OP_HIDDEN) == 0) *forms |= set->ops[i]->forms;
    return (*forms & TSR_FN) != 0;
}

typedef struct Listing {
    List *names;
    TsrStatus status;
} Listing;

static void list_name(const char *name, Value v, void *context) {
    Listing *listing = context;
    (void)v;
    if (listing->status == TSR_OK) listing->status = list_append_c(listing->names, name);
}

static TsrStatus attribute_names(List *names, Module *m) {
    const struct Space *space = find_space(m->name->data);
    size_t n = strlen(m->name->data);
    for (size_t i = 0; i < TSR_COUNTOF(spaces); i++)
        if (strncmp(spaces[i].module, m->name->data, n) == 0 && spaces[i].module[n] == '.' &&
            strchr(spaces[i].module + n + 1, '.') == NULL)
            TSR_TRY(list_append_c(names, spaces[i].module + n + 1));
    TSR_TRY(torch_kind_names(names, m->name->data));
    if (has_generator(m->name->data)) TSR_TRY(list_append_c(names, "default_generator"));
    if (space == NULL || space->prefix == NULL) return TSR_OK;
    Listing listing = {names, TSR_OK};
    if (strcmp(space->module, "torch") == 0) each_type(list_name, &listing);
    TSR_TRY(listing.status);
    for (const Same *same = same_in(space->module); same != NULL && same->inner != NULL; same++)
        TSR_TRY(list_append_c(names, same->inner));
    n = strlen(space->prefix);
    for (int i = 0; i < tsr_op_count(); i++) {
        unsigned forms;
        const TsrOpSet *set = tsr_op_at(i);
        if (!has_functions(set, &forms) || strncmp(set->name, space->prefix, n) != 0 ||
            strchr(set->name + n, '.') != NULL)
            continue;
        TSR_TRY(list_append_c(names, set->name + n));
    }
    char inner[64];
    snprintf(inner, sizeof inner, "%.*s", n > 0 ? (int)n - 1 : 0, space->prefix);
    return prelude_append_names(names, inner);
}

/* ---- bare names ---- */

/* Every bare name beyond Python's builtins: operators, added ones. */
static void each_bare_name(void (*visit)(const char *name, void *context), void *context) {
    namespace_each_bare(visit, context);
    for (int i = 0; i < tsr_op_count(); i++) {
        unsigned forms;
        const TsrOpSet *set = tsr_op_at(i);
        if (has_functions(set, &forms) && strchr(set->name, '.') == NULL) visit(set->name, context);
    }
    prelude_each("", visit, context);
    for (const Method *m = torch_functions; m->name != NULL; m++) visit(m->name, context);
    for (const Method *m = torch_grad_mode_functions; m->name != NULL; m++) visit(m->name, context);
    for (const Method *m = torch_random_functions; m->name != NULL; m++) visit(m->name, context);
    for (int d = 0; d < TSR_DTYPE_COUNT; d++) visit(tsr_dtype_name((TsrDtype)d), context);
}

static TsrStatus refusal(Value *out, const char *name) { return prelude_get(out, "refused", name); }

/* lazy.h: only the function form, torch.exp(x), may have its result held back. */
static const char *operator_name(Value f) {
    if (f.o->type != &op_function_type) return NULL;
    const OpFunction *function = (const OpFunction *)f.o;
    return function->form == BIND_FUNCTION ? function->name : "";
}

TsrStatus torch_ns_startup(void) {
    bind_refusal = refusal;
    torch_sources_add();
    TSR_TRY(torch_rows_register());
    tensor_methods_startup();
    TSR_TRY(tensor_type_startup());
    for (size_t i = 0; i < TSR_COUNTOF(spaces); i++) {
        const struct Space *s = &spaces[i];
        TSR_TRY(namespace_add(&(Namespace){s->module, s->doc, s->fill, missing_attribute, attribute_names}));
    }
    lazy_operator_name = operator_name;
    vm_bare_names = each_bare_name;
    return TSR_OK;
}
