/* backend.h: the seam for devices that live in plugins (libtsr_cuda.so): what a plugin implements, and how it is found.
 *
 * A plugin is a shared object that exports one function, `tsr_backend_init` (TsrBackendInit). The core loads it when a
 * device of its type is first asked for, checks the interface's version, and lets it register its allocators (alloc.h).
 * A plugin sees addresses and bytes, never a tensor; it reaches the core only through the functions in TsrHost and
 * must not be unloaded. Work comes to it as addresses, strides, dtypes and the number of a kernel: a pointwise pass, a
 * reduction, a product of matrices, or one of primitives.def. What it has no code for runs on the
 * host, its storages lent for the call (tensor/loan.h). Where there is no plugin the error says which names were tried
 * and why each was refused. */
#ifndef TSR_BACKEND_H
#define TSR_BACKEND_H

#include "storage.h"

TSR_PUBLIC_BEGIN

enum { TSR_BACKEND_VERSION = 13 }; /* changes whenever a struct below does */

typedef uint64_t TsrAddress; /* of device or host memory; no pointer, so that nobody reads it by accident */

/* Two pieces of work on the same bytes, at least one of which writes, that nothing puts in an order. */
typedef struct TsrRace {
    TsrAddress address;     /* of a byte of the later one */
    int index;              /* the device */
    int64_t earlier, later; /* ids of their streams */
    bool earlier_writes, later_writes;
} TsrRace;

/* What the core offers to a plugin; all lent, valid for ever. */
typedef struct TsrHost {
    uint32_t version;
    void (*register_allocator)(TsrAllocator *allocator); /* static lifetime */
    TsrStatus (*error)(TsrStatus kind, const char *format, ...);
    void (*hint)(const char *format, ...); /* of the error that was just raised */
    void *(*malloc)(size_t bytes);         /* counted; NULL when memory is short */
    void (*free)(void *block);
    void (*trace)(TsrTraceKind kind, const char *what, const char *reason, int64_t bytes, const void *object);
    bool (*traced)(void); /* whether anybody looks at the trace */
    void (*race)(const TsrRace *race);
    TsrStatus (*interrupt_check)(void);     /* waits are polled: Ctrl-C ends them */
    void (*where)(char *text, size_t room); /* "add", or "add, line 3": what runs now, for errors that come later */
} TsrHost;

/* ONE ROW A NUMBER that a device says of itself: ROW(field, torch's name for it). Sizes in bytes, rates in kHz, widths
 * in bits; 0 for what a driver does not say. */
#define TSR_DEVICE_FACTS(ROW) \
    ROW(major, "major") /* compute capability */ \
    ROW(minor, "minor") \
    ROW(multiprocessors, "multi_processor_count") \
    ROW(bus, "pci_bus_id") \
    ROW(slot, "pci_device_id") \
    ROW(domain, "pci_domain_id") \
    ROW(cache, "L2_cache_size") \
    ROW(warp, "warp_size") \
    ROW(block_threads, "max_threads_per_block") \
    ROW(multiprocessor_threads, "max_threads_per_multi_processor") \
    ROW(registers, "regs_per_multiprocessor") \
    ROW(shared, "shared_memory_per_block") \
    ROW(shared_most, "shared_memory_per_block_optin") \
    ROW(shared_all, "shared_memory_per_multiprocessor") \
    ROW(clock, "clock_rate") \
    ROW(memory_clock, "memory_clock_rate") \
    ROW(memory_width, "memory_bus_width") \
    ROW(integrated, "is_integrated") \
    ROW(several, "is_multi_gpu_board")
/* What a device says of itself. */
typedef struct TsrDeviceFacts {
    char name[256];  /* "NVIDIA H100 80GB HBM3" */
    uint64_t memory; /* bytes in all */
    uint8_t uuid[16];
#define TSR_ROW(field, name) int field;
    TSR_DEVICE_FACTS(TSR_ROW)
#undef TSR_ROW
} TsrDeviceFacts;

/* One number of a device's memory: now, the most at a time, and the sums of what came and what went. */
typedef struct TsrStat {
    int64_t current, peak, allocated, freed;
} TsrStat;
/* Which blocks a number is of, in the order of torch.cuda.memory_stats()'s keys. */
enum { TSR_STAT_ALL, TSR_STAT_LARGE, TSR_STAT_SMALL, TSR_STAT_POOLS };
/* ONE ROW A NUMBER that is kept for each pool, by torch.cuda.memory_stats()'s names. */
#define TSR_DEVICE_STATS(ROW) \
    ROW(active) \
    ROW(active_bytes) \
    ROW(allocated_bytes) \
    ROW(allocation) \
    ROW(inactive_split) \
    ROW(inactive_split_bytes) \
    ROW(requested_bytes) \
    ROW(reserved_bytes) \
    ROW(segment)
/* What a device's allocators have given to tensors and taken from the driver. */
typedef struct TsrDeviceMemory {
#define TSR_ROW(name) TsrStat name[TSR_STAT_POOLS];
    TSR_DEVICE_STATS(TSR_ROW)
#undef TSR_ROW
    int64_t num_alloc_retries, num_device_alloc, num_device_free, num_ooms, num_sync_all_streams;
} TsrDeviceMemory;
/* What the cache of pinned memory has given and taken. */
typedef struct TsrPinnedMemory {
    TsrStat active_bytes, active_requests; /* what tensors have */
    TsrStat allocated_bytes, allocations;  /* what the driver gave */
    int64_t num_host_alloc, num_host_free;
    struct {
        int64_t count, total, most, least; /* microseconds */
    } alloc_time, free_time;               /* of calls of the driver */
} TsrPinnedMemory;

/* A block of a device's memory, in use or kept. Segments are what the driver gave, blocks what they are cut into. */
typedef struct TsrDeviceBlock {
    TsrAddress segment, address;
    size_t segment_size, size, requested;
    int64_t stream;
    bool small;
    enum { TSR_BLOCK_IDLE, TSR_BLOCK_USED, TSR_BLOCK_WAITS /* for other streams */ } state;
} TsrDeviceBlock;

/* How bytes go from one place to another. */
typedef enum TsrCopyMode {
    TSR_COPY_WAIT,  /* the host waits until they are there */
    TSR_COPY_LATER, /* in the order of the current stream; memory of the host at an end of it has to be pinned */
    TSR_COPY_LOAN   /* for work on the host: after all work on the device, and what it is for is told by `uses` */
} TsrCopyMode;

/* Queues of work of a device, by PyTorch's numbers: 0 is the default one. All entries are required. */
typedef struct TsrStreamTable {
    TsrStatus (*pick)(int64_t *id, int index, int priority); /* one of the pool's, the next of 32 */
    int64_t (*current)(int index);                           /* of this thread */
    TsrStatus (*set_current)(int index, int64_t id);
    uint64_t (*handle)(int index, int64_t id);     /* the driver's; 0 for the default one */
    int64_t (*number)(int index, uint64_t handle); /* the other way; -1: none of this process */
    TsrStatus (*done)(bool *done, int index, int64_t id);
    TsrStatus (*synchronize)(int index, int64_t id);
    TsrStatus (*event_new)(void **event, int index, bool timing); /* to be given to event_free */
    void (*event_free)(void *event);
    TsrStatus (*event_record)(void *event, int64_t id);          /* on a stream of the event's device */
    TsrStatus (*event_wait)(void *event, int index, int64_t id); /* what comes in the stream waits for the event */
    TsrStatus (*event_done)(bool *done, void *event);
    TsrStatus (*event_synchronize)(void *event);
    TsrStatus (*event_elapsed)(double *milliseconds, void *from, void *to);
} TsrStreamTable;

/* ---- work ----
 *
 * All strides are in bytes, all sizes in elements. Operands lie on the device whose index the work names, and belong to
 * the storages of tensors that are retained until the call returns: what the device does later it does in the order of
 * its current stream, in which their memory is given back too. Elements of results do not overlap one another. Whoever
 * has no code for a piece of work answers TSR_NOT_IMPLEMENTED_ERROR, with nothing touched and no message: the caller
 * goes over the host. */

/* Operands and dimensions of a piece of work at most, and bytes of its numbers. */
enum { TSR_DEVICE_OPERANDS = 8, TSR_DEVICE_DIMS = 12, TSR_DEVICE_PARAMS = 64 };

typedef struct TsrDeviceOperand {
    TsrAddress data;  /* of the first element */
    TsrDtype dtype;   /* as it lies in memory */
    TsrDtype compute; /* what the kernel reads or writes; converted on the way when it is another */
    bool via;         /* rounded to the work's `common` between the two */
    bool number;      /* no memory: one element for all, of `compute`, in `value` */
    __attribute__((aligned(16))) char value[16];
    int64_t strides[TSR_DEVICE_DIMS]; /* dimension 0 is the innermost */
} TsrDeviceOperand;

/* The kernel of a map that only converts its one input: a copy, or, of a number, a fill. */
enum { TSR_MAP_COPY = 0xFFFF };

/* One pointwise pass: what tsr_iter_run does on the host. */
typedef struct TsrDeviceMap {
    int index;
    uint16_t kernel;        /* TsrKernel (kernels/pointwise/table.h), or TSR_MAP_COPY. A divisor of zero of the kernels
                               that divide integers is found when the device is waited for */
    TsrDtype dtype, common; /* what the kernel computes in, and the same before small floats are widened (iter.h) */
    int nout, noperands, ndim; /* outputs first; at least one dimension */
    int64_t numel, sizes[TSR_DEVICE_DIMS];
    TsrDeviceOperand operand[TSR_DEVICE_OPERANDS];
    const void *params; /* the kernel's numbers, as the host's kernel reads them; copied */
    size_t nparams;     /* at most TSR_DEVICE_PARAMS bytes */
} TsrDeviceMap;

/* A reduction: the kept dimensions are those of the results, the reduced ones those that an element of a result is made
 * from, both merged and with the innermost first. */
typedef struct TsrDeviceReduce {
    int index;
    uint8_t kind;   /* TsrReduceKind (kernels/reduce/reduce.h) */
    TsrDtype dtype; /* in which the reduction reads its input */
    int nkept, nreduced, nout;
    int64_t kept[TSR_DEVICE_DIMS], reduced[TSR_DEVICE_DIMS];                                     /* sizes */
    int64_t in_kept[TSR_DEVICE_DIMS], in_reduced[TSR_DEVICE_DIMS], out_kept[2][TSR_DEVICE_DIMS]; /* strides */
    int64_t index_reduced[TSR_DEVICE_DIMS]; /* steps of the row-major index of a reduced element */
    int64_t count, results;                 /* elements that one result is made from; results */
    TsrDeviceOperand in, out[2];
    const void *params;
    size_t nparams;
} TsrDeviceReduce;

/* out[i] = beta out[i] + alpha a[i] b[i], of rows x depth and depth x columns matrices: `batch` of them. With beta 0
 * `out` is not read. `out` overlaps neither a nor b. */
typedef struct TsrDeviceMatrix {
    TsrAddress data;
    int64_t row, column, batch; /* strides, in bytes; any, 0 and negative ones included */
    bool conj;                  /* read as its conjugate */
} TsrDeviceMatrix;
typedef struct TsrDeviceMatmul {
    int index;
    TsrDtype dtype, sums; /* the matrices'; the one of sums, alpha and beta */
    int64_t rows, columns, depth, batch;
    TsrDeviceMatrix out, a, b;
    char alpha[16], beta[16];
    bool adds; /* beta is not 0 */
} TsrDeviceMatmul;

/* The primitives: everything else has one form. What each reads and writes, and its params, is its row. */
typedef enum TsrPrimitive {
#define PRIMITIVE(name, ...) TSR_P_##name,
#include "primitives.def"
#undef PRIMITIVE
    TSR_PRIMITIVES
} TsrPrimitive;

typedef struct TsrDeviceTensor {
    TsrDeviceOperand at;
    int ndim;
    int64_t sizes[TSR_DEVICE_DIMS]; /* as at.strides: dimension 0 is the tensor's last */
} TsrDeviceTensor;

typedef struct TsrDeviceWork {
    int index;
    TsrPrimitive what;
    int nout, nin, dim; /* outputs first; dim counts as the sizes do */
    TsrDeviceTensor t[TSR_DEVICE_OPERANDS];
    const void *params;
    size_t nparams;
} TsrDeviceWork;

/* ---- params of primitives: each struct is what TsrDeviceWork.params points to for the primitives it names ---- */

/* What RANDOM draws. U is uniform in (0, 1], N normal of mean 0 and variance 1. */
typedef enum TsrDraw {
    TSR_DRAW_WORDS,       /* base + a word of `bits` bits modulo range; a range of 0: the word itself */
    TSR_DRAW_UNIFORM,     /* uniform in [a, b) */
    TSR_DRAW_NORMAL,      /* a + b N */
    TSR_DRAW_LOG_NORMAL,  /* exp(a + b N) */
    TSR_DRAW_EXPONENTIAL, /* -log(U) / a */
    TSR_DRAW_CAUCHY,      /* a + b tan(pi (U - 1/2)) */
    TSR_DRAW_GEOMETRIC,   /* ceil(log(U) / log(1 - a)) */
    TSR_DRAW_BERNOULLI,   /* whether U < a */
    TSR_DRAW_CHANCES,     /* whether U <= the input, a probability */
    TSR_DRAW_DROPOUT,     /* the input / a where U < a, else 0; the second output says where */
    TSR_DRAW_SLOPES,      /* the input, times a + (b - a) U where it is not above 0 */
    TSR_DRAW_POISSON,     /* the input holds the rates; one below 0 is found when the device is waited for */
    TSR_DRAW_GAMMA,       /* the input holds the shapes; results are at least the smallest normal number */
    TSR_DRAW_BINOMIAL,    /* successes in as many trials as the first input says, each with the second's probability */
    TSR_DRAWS
} TsrDraw;
/* RANDOM; CHOOSE reads seed, offset and used alone. Words come from Philox4x32-10: each thread of the device has the
 * stream of its own number, and begins at `offset`. */
typedef struct TsrDeviceRandom {
    TsrDraw draw;
    int bits; /* of a word: 32 or 64 */
    double a, b;
    uint64_t range;
    int64_t base;
    uint64_t seed, offset;
    uint64_t *used; /* receives by how much the offset moves */
} TsrDeviceRandom;

/* What a position is called that there is no element at, when the device is waited for. */
typedef enum TsrDeviceWrong {
    TSR_WRONG_INDEX,   /* TSR_INDEX_ERROR "index 5 is out of bounds for dimension 0 with size 3" */
    TSR_WRONG_PLACE,   /* TSR_RUNTIME_ERROR with the same words */
    TSR_WRONG_ROW,     /* TSR_INDEX_ERROR "index out of range in self" */
    TSR_WRONG_ELEMENT, /* TSR_INDEX_ERROR "out of range: tried to access index 9 on a tensor of 6 elements." */
    TSR_WRONGS
} TsrDeviceWrong;

/* Index tensors of one piece of work at most: the operands without the two that elements are read from and written to.
 */
enum { TSR_DEVICE_PLACES = TSR_DEVICE_OPERANDS - 2 };
/* PICK and PLACE: how the index tensors, the last n inputs, point into the tensor that is indexed. */
typedef struct TsrDevicePlaces {
    int n;
    struct {
        int64_t size, step; /* the indexed dimension: its elements, and bytes from one to the next, >= 0 */
        int64_t dim;        /* its name in the error */
    } of[TSR_DEVICE_PLACES];
    bool wraps; /* negative positions count from the end */
    TsrDeviceWrong wrong;
    uint8_t combine; /* PLACE: a TsrCombine (kernels/move/combine.h) */
} TsrDevicePlaces;

/* BAG: what is made of the rows of a bag. */
typedef enum TsrDeviceFold { TSR_FOLD_SUM, TSR_FOLD_MEAN, TSR_FOLD_MAX } TsrDeviceFold;
typedef struct TsrDeviceBag {
    TsrDeviceFold fold;
    int64_t padding; /* the position that is left out, -1: none */
} TsrDeviceBag;

/* SCAN: a TsrScan (kernels/reduce/scan.h). */
typedef struct TsrDeviceScan {
    uint8_t how;
} TsrDeviceScan;

/* SORT: nan counts as greater than all numbers, -0 as 0. */
typedef struct TsrDeviceSort {
    bool descending;
} TsrDeviceSort;

/* SEARCH: whether a value goes behind those that equal it. */
typedef struct TsrDeviceSearch {
    bool right;
} TsrDeviceSearch;

/* RAMP's element i: start + i step; the same, counted from the nearer end; base to the power of that. */
typedef enum TsrRamp { TSR_RAMP_ARANGE, TSR_RAMP_LINSPACE, TSR_RAMP_LOGSPACE } TsrRamp;
/* RAMP: arange makes integers of start_i and step_i; linspace makes floats other than float64 with step_f. */
typedef struct TsrDeviceRamp {
    TsrRamp kind;
    float step_f;
    double start, step, end, base;
    int64_t start_i, step_i;
} TsrDeviceRamp;

/* TRIANGLE: which triangle stays, and how many columns its diagonal lies to the right of the main one. */
typedef struct TsrDeviceTriangle {
    int64_t diagonal;
    bool upper;
} TsrDeviceTriangle;

/* Elements of a mask that TRUE_COUNTS counts together. */
enum { TSR_DEVICE_MASK_CHUNK = 4096 };
/* TRUE_PLACES and FLAT: sizes, the innermost first. */
typedef struct TsrDeviceShape {
    int ndim;
    int64_t sizes[TSR_DEVICE_DIMS];
} TsrDeviceShape;

/* SOFTMAX. */
typedef struct TsrDeviceSoftmax {
    bool log; /* its logarithm */
} TsrDeviceSoftmax;

/* NORM: weight and bias, if they are there, are the next inputs in this order: dense, and of the statistics' dtype,
 * which is float64 for float64 and float32 for all others. */
typedef struct TsrDeviceNorm {
    int64_t rows, columns;
    int64_t groups, span; /* an element's weight is number (row % groups) * (columns / span) + column / span */
    double eps;           /* added to the variance */
    bool statistics, weight, bias;
} TsrDeviceNorm;

/* Windows over the three spatial dimensions of images, the innermost first. */
typedef struct TsrDeviceWindow {
    int64_t kernel[3], stride[3], pad[3], dilation[3];
} TsrDeviceWindow;

/* CONV: element i of the output is made of the input's elements i * stride - pad + k * dilation, for k below kernel;
 * where it is transposed, element i of the input is added to those elements of the output. */
typedef struct TsrDeviceConv {
    TsrDeviceWindow window;
    int64_t groups;
    bool transposed;
} TsrDeviceConv;

/* POOL: means add up each window in row-major order, in the dtype, or in float32 for half floats. */
typedef struct TsrDevicePool {
    TsrDeviceWindow window;
    bool maximum;
    bool adaptive;   /* the windows share the input evenly; `window` does not count */
    bool count_pad;  /* means: elements in the padding count, as 0 */
    bool rounds;     /* means: each sum, and each dimension's quotient, is rounded to the dtype */
    int64_t divisor; /* means: what sums are divided by; 0: the number of elements */
    int64_t least;   /* maxima of integers: that of an empty window */
} TsrDevicePool;

/* GRID: a TsrGridMode and a TsrGridPadding (kernels/nn/grid.h). */
typedef struct TsrDeviceGrid {
    uint8_t mode, padding;
    bool align_corners;
} TsrDeviceGrid;

/* From complex to complex, from real ones to the first half of the spectrum, and from half a spectrum to real ones. */
typedef enum TsrFftLine { TSR_FFT_C2C, TSR_FFT_R2C, TSR_FFT_C2R } TsrFftLine;

/* FFT. */
typedef struct TsrDeviceFft {
    TsrFftLine kind;
    bool forward;
    int64_t n;    /* the transform's length: that of the real lines, where there are some */
    double scale; /* the results are multiplied with */
} TsrDeviceFft;

/* LU and the other primitives of linear algebra; each reads what it is named at. */
typedef struct TsrDeviceMatrixWork {
    bool upper;                 /* TRIANGULAR, CHOLESKY: the triangle that is read and written */
    bool unit;                  /* TRIANGULAR: the diagonal counts as 1 */
    bool transposed, conjugate; /* TRIANGULAR; REFLECT: transposed means the conjugate transpose */
    bool right;                 /* t0 stands on the left of it */
    bool vectors;               /* SVD, EIGH: vectors are wanted */
    uint8_t pivoted; /* TRIANGULAR: 1: t0's rows change places by the pivots before; 2: back, after; 0: not */
} TsrDeviceMatrixWork;

/* SPMM: each product and each sum is rounded, or, where it is fused, both at once; half floats are added up in
 * float32. */
typedef struct TsrDeviceSpmm {
    bool fused;
} TsrDeviceSpmm;

/* DISTANCE: the p-norm of differences; 0: how many are not 0. In a maximum nan is not larger than a number. */
typedef struct TsrDeviceDistance {
    double p; /* 0 to infinity */
} TsrDeviceDistance;

/* One device type that a plugin serves. All entries are required. `index` is one of 0 to device_count() - 1. */
typedef struct TsrBackend {
    uint32_t version;    /* TSR_BACKEND_VERSION the plugin was built with */
    const char *name;    /* "cuda" */
    uint8_t device_type; /* TsrDeviceType */
    int (*device_count)(void);
    int (*current)(void); /* where a tensor goes when no index is given */
    TsrStatus (*set_current)(int index);
    /* Contiguous bytes between two devices or a device and the host, on the current stream. */
    TsrStatus (*copy)(TsrAddress dst, TsrDevice to, TsrAddress src, TsrDevice from, size_t bytes, TsrCopyMode mode);
    /* The current stream reads or writes these bytes: for notes of races. */
    void (*uses)(TsrAddress address, size_t bytes, int index, bool writes);
    /* A block that this stream uses too: freed, it is not given again before the stream has come so far. */
    TsrStatus (*record_stream)(TsrAddress block, int index, int64_t id);
    /* Work: put into the current stream of the device. TSR_NOT_IMPLEMENTED_ERROR: no code for it, nothing was touched.
     */
    TsrStatus (*map)(const TsrDeviceMap *map);
    TsrStatus (*reduce)(const TsrDeviceReduce *reduce);
    TsrStatus (*matmul)(const TsrDeviceMatmul *product);
    TsrStatus (*work)(const TsrDeviceWork *work);
    /* What is not there that work needs, and how to get it: "kernels need ..."; nothing is written when all is. */
    void (*missing)(char *text, size_t room);
    TsrStatus (*synchronize)(int index); /* waits for all work; raises what the device found wrong since */
    TsrStatus (*facts)(TsrDeviceFacts *out, int index);
    TsrStatus (*free_memory)(size_t *out, int index); /* bytes that the driver has left */
    TsrStatus (*can_access_peer)(bool *out, int index, int peer);
    bool (*used)(void); /* whether memory of a device was ever asked for */
    void (*memory)(TsrDeviceMemory *out, int index);
    void (*pinned)(TsrPinnedMemory *out);
    /* Peaks, or the sums of what came and went, are counted from now on. */
    void (*reset_stats)(int index, bool sums);
    void (*reset_pinned_stats)(bool sums);
    /* Part of the device's memory that its allocators may take, 0 to 1. */
    double (*fraction)(int index);
    void (*set_fraction)(int index, double part);
    /* Every block of a device, segment by segment. The allocators are locked meanwhile. */
    void (*each_block)(int index, void (*visit)(void *context, const TsrDeviceBlock *block), void *context);
    const TsrStreamTable *streams;
} TsrBackend;

/* The exported symbol. Fills *out; TSR_RUNTIME_ERROR with the reason when the machine lacks the device. */
/* TSR_ACCELERATOR_ERROR: there is a driver, which can't be used; its message is what whoever asks for the device is
 * told. */
typedef TsrStatus (*TsrBackendInit)(const TsrHost *host, TsrBackend *out);
#define TSR_BACKEND_SYMBOL "tsr_backend_init"

/* The backend of a device type, loaded on first use: looks for libtsr_NAME.so in the folders of $TSR_BACKEND_PATH,
 * beside the program, in
 * ../lib/tsr beside it, then by the system's search path. TSR_RUNTIME_ERROR, whose hint lists what was tried and why it
 * was refused. */
TsrStatus tsr_backend_get(const TsrBackend **lent, uint8_t device_type);
/* Loads one file. TSR_RUNTIME_ERROR "PATH: not a tsr backend: ...". */
TsrStatus tsr_backend_load(const TsrBackend **lent, const char *path);
/* The device that is meant: "cuda" is the current one of its type, for which the backend is loaded. TSR_RUNTIME_ERROR
 * for an index that there is no device of; PyTorch's error where there is no backend. Other types are left alone. */
TsrStatus tsr_device_resolve(TsrDevice *device);
/* Contiguous bytes from one place to another, each on a device or the host. They must not overlap. Between two devices
 * the host does not wait: what comes on their current streams finds them done. */
TsrStatus tsr_device_copy(void *dst, TsrDevice to, const void *src, TsrDevice from, size_t bytes);
/* As tsr_device_copy, with the mode given. */
TsrStatus tsr_device_copy_as(void *dst, TsrDevice to, const void *src, TsrDevice from, size_t bytes, TsrCopyMode mode);
/* Bytes of a device are read or written by what runs on the host in the place of the current stream. */
void tsr_device_uses(const void *data, TsrDevice device, size_t bytes, bool writes);

/* The operator whose work a device is given, for errors that are found later; static. NULL: none. */
extern TSR_THREAD_LOCAL const char *tsr_device_work_of;
/* Writes where the program is, such as "line 3 (add)"; NULL (the default): the operator's name. */
extern void (*tsr_where_hook)(char *text, size_t room);

/* torch.cuda.set_sync_debug_mode(): what becomes of calls in which the host waits for a device's copy or stream. */
enum { TSR_SYNC_SILENT, TSR_SYNC_WARNS, TSR_SYNC_FAILS };
extern int tsr_sync_debug_mode;
extern void (*tsr_sync_hook)(void); /* told of each such call in TSR_SYNC_WARNS */
/* Before such a call: TSR_RUNTIME_ERROR in TSR_SYNC_FAILS. */
TsrStatus tsr_device_will_wait(void);

/* Told of each race; NULL (the default): nobody. */
extern void (*tsr_race_hook)(const TsrRace *race);

TSR_PUBLIC_END

#endif
