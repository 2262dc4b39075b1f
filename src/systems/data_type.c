/* tensorflow.DataType: the enum of types.proto. Its values print as they are named there, are equal to their numbers,
 * and are taken wherever a dtype is. */
#include "tensorflow.h"

#include <string.h>

#include "core/io/proto.h"
#include "lang/object/args.h"
#include "lang/types/numbers.h"
#include "torch/types.h"

typedef struct DataType {
    Obj obj;
    const char *name;
    TsrDtype dtype;
} DataType;

static Type data_type_type;

#define DATA_TYPE(name, dtype) \
    { {{{0x40000000u, 0}}, &data_type_type}, "DT_" name, TSR_##dtype } /* static: never freed */
static DataType data_types[] = {DATA_TYPE("FLOAT", FLOAT32),         DATA_TYPE("DOUBLE", FLOAT64),
                                DATA_TYPE("INT32", INT32),           DATA_TYPE("UINT8", UINT8),
                                DATA_TYPE("INT16", INT16),           DATA_TYPE("INT8", INT8),
                                DATA_TYPE("STRING", STRING),         DATA_TYPE("COMPLEX64", COMPLEX64),
                                DATA_TYPE("INT64", INT64),           DATA_TYPE("BOOL", BOOL),
                                DATA_TYPE("BFLOAT16", BFLOAT16),     DATA_TYPE("UINT16", UINT16),
                                DATA_TYPE("COMPLEX128", COMPLEX128), DATA_TYPE("HALF", FLOAT16),
                                DATA_TYPE("UINT32", UINT32),         DATA_TYPE("UINT64", UINT64)};

static const DataType *of(Value v) { return (const DataType *)v.o; }
static int64_t number_of(Value v) { return tsr_proto_type_of(of(v)->dtype); }

Value data_type_value(TsrDtype dtype) {
    for (size_t i = 0; i < TSR_COUNTOF(data_types); i++)
        if (data_types[i].dtype == dtype) return value_retain(value_lent(&data_types[i]));
    return value_int(0); /* DT_INVALID */
}

const char *data_type_name(TsrDtype dtype) {
    for (size_t i = 0; i < TSR_COUNTOF(data_types); i++)
        if (data_types[i].dtype == dtype) return data_types[i].name;
    return "DT_INVALID";
}

TsrStatus data_types_fill(Module *m) {
    for (size_t i = 0; i < TSR_COUNTOF(data_types); i++)
        TSR_TRY(module_add(m, data_types[i].name, value_lent(&data_types[i])));
    return module_add(m, "DataType", value_lent(&data_type_type));
}

bool data_type_dtype(TsrDtype *out, Value v) {
    if (!value_is_obj(v, &data_type_type)) return false;
    *out = of(v)->dtype;
    return true;
}

/* DataType(1): the value of a number. */
static TsrStatus construct(Value *out, Type *type, const CallArgs *args) {
    int64_t number;
    TsrDtype dtype;
    (void)type;
    TSR_TRY(args_count(args, 0, 1, 1, "DataType"));
    TSR_TRY(args_no_keywords(args, "DataType"));
    if (value_is_obj(args->values[0], &data_type_type)) return *out = value_retain(args->values[0]), TSR_OK;
    TSR_TRY(value_to_index(&number, args->values[0]));
    dtype = tsr_proto_dtype(number);
    if (dtype == TSR_DTYPE_NONE) return tsr_error(TSR_VALUE_ERROR, "there is no DataType %lld", (long long)number);
    *out = data_type_value(dtype);
    return TSR_OK;
}

static TsrStatus repr(TsrText *out, Value self) { return tsr_text_puts(out, of(self)->name); }
static TsrStatus number(Value *out, Value self) { return *out = value_int(number_of(self)), TSR_OK; }
static TsrStatus hash(int64_t *out, Value self) { return value_hash(out, value_int(number_of(self))); }

static Value plain(Value v) { return value_is_obj(v, &data_type_type) ? value_int(number_of(v)) : v; }

/* As its number, an enum's value in C++, and equal to the dtype that it stands for. */
static TsrStatus compare(Value *out, CompareOp op, Value a, Value b) {
    bool dtypes = value_is_obj(a, &dtype_type) || value_is_obj(b, &dtype_type);
    if (dtypes && (op == CMP_EQ || op == CMP_NE)) {
        *out = value_bool(value_is_same(dtype_object(a), dtype_object(b)) == (op == CMP_EQ));
        return TSR_OK;
    }
    a = plain(a);
    b = plain(b);
    *out = VALUE_UNBOUND;
    if (a.tag != V_INT || b.tag != V_INT) return TSR_OK;
    bool is = op == CMP_EQ   ? a.i == b.i
              : op == CMP_NE ? a.i != b.i
              : op == CMP_LT ? a.i < b.i
              : op == CMP_LE ? a.i <= b.i
              : op == CMP_GT ? a.i > b.i
                             : a.i >= b.i;
    *out = value_bool(is);
    return TSR_OK;
}

static Type data_type_type = {.obj = TYPE_HEADER,
                              .name = "DataType",
                              .module = "tensorflow",
                              .flags = TYPE_ATOMIC,
                              .construct = construct,
                              .repr = repr,
                              .number = number,
                              .hash = hash,
                              .compare = compare};
