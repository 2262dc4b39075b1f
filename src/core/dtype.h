/* dtype.h: element types: the TypeMeta table, and conversion of the small float formats.
 *
 * A dtype is a small integer that indexes `tsr_dtypes`, one row each from dtype.def. Elements of `string` and `nested`
 * are constructed, copied and destroyed one by one; those of all others (tsr_dtype_is_pod) are bytes. */
#ifndef TSR_DTYPE_H
#define TSR_DTYPE_H

#include "error.h"

TSR_PUBLIC_BEGIN

struct TsrTensor;

/* The elements of the small float formats as they are stored; arithmetic on them is done in float32. */
typedef struct TsrHalf {
    uint16_t bits;
} TsrHalf;
typedef struct TsrBfloat16 {
    uint16_t bits;
} TsrBfloat16;
typedef struct TsrFloat8E5m2 {
    uint8_t bits;
} TsrFloat8E5m2;
typedef struct TsrFloat8E4m3fn {
    uint8_t bits;
} TsrFloat8E4m3fn;
typedef struct TsrFloat8E5m2fnuz {
    uint8_t bits;
} TsrFloat8E5m2fnuz;
typedef struct TsrFloat8E4m3fnuz {
    uint8_t bits;
} TsrFloat8E4m3fnuz;
typedef struct TsrFloat8E8m0fnu {
    uint8_t bits;
} TsrFloat8E8m0fnu;
typedef struct TsrComplexHalf {
    TsrHalf re, im;
} TsrComplexHalf;
typedef struct TsrComplexBfloat16 {
    TsrBfloat16 re, im;
} TsrComplexBfloat16;
__extension__ typedef float _Complex TsrComplexFloat;
__extension__ typedef double _Complex TsrComplexDouble;
/* An owned, immutable byte string (UTF-8 by convention); data is NULL when length is 0. */
typedef struct TsrString {
    char *data;
    size_t length;
} TsrString;

/* One constant for each row of dtype.def, in its order. */
typedef enum TsrDtypeId {
#define DTYPE(suffix, ...) TSR_##suffix,
#include "dtype.def"
#undef DTYPE
    TSR_DTYPE_COUNT,
    TSR_DTYPE_NONE = 255 /* "not given", TypeMeta's uninitialized row */
} TsrDtypeId;
/* A TsrDtypeId in one byte: what tensors and functions carry. */
typedef uint8_t TsrDtype;

/* What a dtype's elements are. Promotion compares kinds: bool, then both kinds of integer, float, complex. */
typedef enum TsrDtypeKind {
    TSR_KIND_BOOL,
    TSR_KIND_UINT,
    TSR_KIND_INT,
    TSR_KIND_FLOAT,
    TSR_KIND_COMPLEX,
    TSR_KIND_OBJECT
} TsrDtypeKind;

/* What a dtype is promoted with, and which of the sets of dtypes it is of. */
typedef enum TsrDtypeGroup {
    TSR_GROUP_BOOL,
    TSR_GROUP_INTEGER, /* uint8 and the signed ones */
    TSR_GROUP_BARE,    /* uint16, uint32, uint64: promoted with floats alone */
    TSR_GROUP_HALF,    /* arithmetic on them is done in float */
    TSR_GROUP_FLOAT,
    TSR_GROUP_FLOAT8, /* never promoted */
    TSR_GROUP_COMPLEX,
    TSR_GROUP_SMALL_COMPLEX, /* pairs of halves */
    TSR_GROUP_OBJECT
} TsrDtypeGroup;

/* The numbers that fit into an element, and how exact a FLOAT is. */
typedef struct TsrLimits {
    const char *name;  /* what the message about overflow calls the type; NULL: nothing overflows */
    double low, high;  /* the ends; where one is no double, the largest double below it. Of unsigned dtypes `low` is the
                          least negative number that still wraps */
    double resolution; /* decimal */
    double eps, tiny;  /* from 1 to the next number; the smallest normal one. 0 unless a FLOAT */
} TsrLimits;

/* One row of TypeMeta (caffe2/c10's TypeMetaData). Pointers address `n` consecutive elements. */
typedef struct TsrTypeMeta {
    TsrDtype id;
    uint8_t kind;                  /* TsrDtypeKind */
    uint8_t group;                 /* TsrDtypeGroup */
    uint8_t number;                /* c10::ScalarType's */
    uint16_t itemsize;             /* bytes */
    const char *name;              /* torch's: "float32" */
    const char *type_name;         /* the C type's: "float" */
    const char *th_name;           /* "Float", as in THFloatTensor and torch.FloatTensor */
    TsrStatus (*new_)(void **out); /* one element on the heap; all but the uninitialized row have it */
    TsrStatus (*placement_new)(void *data, size_t n);        /* constructs; on failure nothing is left constructed */
    TsrStatus (*copy)(void *dst, const void *src, size_t n); /* assigns over constructed elements */
    void (*placement_delete)(void *data, size_t n);          /* destroys, memory stays */
    void (*delete_)(void *element);                          /* destroys and frees what new_ gave */
    TsrLimits limits;
} TsrTypeMeta;

/* The table has a row for every value of a TsrDtype. A value that is no dtype has a row of size 0 named "unknown", so
 * that no lookup leaves the table. */
enum { TSR_DTYPE_VALUES = 256 };
extern const TsrTypeMeta tsr_dtypes[TSR_DTYPE_VALUES];
/* The row of a TypeMeta that was never set: size 0, TSR_DTYPE_NONE. */
extern const TsrTypeMeta tsr_dtype_uninitialized;

/* Properties of a dtype, read from its row; any value of TsrDtype may be asked. Sizes in bytes, names static. float8
 * and the halves are floats; bool is not integral; signed are integers with a sign, floats and complex, but for
 * float8_e8m0fnu. */
static inline size_t tsr_dtype_size(TsrDtype d) { return tsr_dtypes[d].itemsize; }
static inline const char *tsr_dtype_name(TsrDtype d) { return tsr_dtypes[d].name; }
static inline TsrDtypeKind tsr_dtype_kind(TsrDtype d) { return (TsrDtypeKind)tsr_dtypes[d].kind; }
static inline bool tsr_dtype_is_complex(TsrDtype d) { return tsr_dtypes[d].kind == TSR_KIND_COMPLEX; }
static inline bool tsr_dtype_is_float(TsrDtype d) { return tsr_dtypes[d].kind == TSR_KIND_FLOAT; }
static inline TsrDtypeGroup tsr_dtype_group(TsrDtype d) { return (TsrDtypeGroup)tsr_dtypes[d].group; }
static inline bool tsr_dtype_is_float8(TsrDtype d) { return tsr_dtypes[d].group == TSR_GROUP_FLOAT8; }
static inline bool tsr_dtype_is_integral(TsrDtype d) {
    return tsr_dtypes[d].kind == TSR_KIND_INT || tsr_dtypes[d].kind == TSR_KIND_UINT;
}
static inline bool tsr_dtype_is_pod(TsrDtype d) { return tsr_dtypes[d].kind != TSR_KIND_OBJECT; }
static inline bool tsr_dtype_is_signed(TsrDtype d) {
    return tsr_dtypes[d].kind >= TSR_KIND_INT && tsr_dtypes[d].kind <= TSR_KIND_COMPLEX && d != TSR_FLOAT8_E8M0FNU;
}

/* Whether the id has a row in dtype.def. */
static inline bool tsr_dtype_is_known(TsrDtype d) { return d < TSR_DTYPE_COUNT; }
/* TSR_TYPE_ERROR "200 is no dtype" unless it is known. */
TsrStatus tsr_dtype_check(TsrDtype d);

/* "float32", "float", "torch.float32", "half", "long", ...; TSR_DTYPE_NONE if unknown. */
TsrDtype tsr_dtype_from_name(const char *name);
/* "Float", "Long", "ComplexDouble", ...: the names in PyTorch's messages ('Half', 'BFloat16', 'Bool', 'Byte'). */
static inline const char *tsr_dtype_scalar_name(TsrDtype d) { return tsr_dtypes[d].th_name; }
/* "float", "long int", "c10::Half": the names in others of its messages. */
static inline const char *tsr_dtype_c_name(TsrDtype d) { return tsr_dtypes[d].type_name; }
/* complex64 -> float32, complex32 -> float16, bcomplex32 -> bfloat16, others themselves. */
TsrDtype tsr_dtype_real_of(TsrDtype d);
/* float32 -> complex64, float16 -> complex32, bfloat16 -> bcomplex32, complex themselves; others tsr_default_complex().
 */
TsrDtype tsr_dtype_complex_of(TsrDtype d);

/* The default dtype of float literals and factories: float32 until set. */
TsrDtype tsr_default_dtype(void);
/* The dtype of a complex number among tensors of lower kinds: complex64 when the default dtype is float32 or bfloat16,
 * complex32 for float16 and complex128 for float64. */
TsrDtype tsr_default_complex(void);
TsrStatus tsr_set_default_dtype(TsrDtype d); /* TSR_TYPE_ERROR unless floating point */

/* Conversions of the small formats: round to nearest even; nan stays nan; overflow as IEEE says
 * (e4m3fn has no infinity: it saturates at 448; what is too large for the formats of fnuz, whose one nan has the bits
 * of -0, becomes nan; e8m0fnu has powers of 2 alone and no sign). Inline in halffloat.h for kernels. */
float tsr_half_to_float(TsrHalf x);
TsrHalf tsr_half_from_float(float x);
float tsr_bfloat16_to_float(TsrBfloat16 x);
TsrBfloat16 tsr_bfloat16_from_float(float x);
float tsr_float8_e5m2_to_float(TsrFloat8E5m2 x);
TsrFloat8E5m2 tsr_float8_e5m2_from_float(float x);
float tsr_float8_e4m3fn_to_float(TsrFloat8E4m3fn x);
TsrFloat8E4m3fn tsr_float8_e4m3fn_from_float(float x);
float tsr_float8_e5m2fnuz_to_float(TsrFloat8E5m2fnuz x);
TsrFloat8E5m2fnuz tsr_float8_e5m2fnuz_from_float(float x);
float tsr_float8_e4m3fnuz_to_float(TsrFloat8E4m3fnuz x);
TsrFloat8E4m3fnuz tsr_float8_e4m3fnuz_from_float(float x);
float tsr_float8_e8m0fnu_to_float(TsrFloat8E8m0fnu x);
TsrFloat8E8m0fnu tsr_float8_e8m0fnu_from_float(float x);

TSR_PUBLIC_END

#endif
