/* A call and its outcome as a line of JSON, for tests/oracle/replay.py to ask PyTorch the same. */
#include "core/op/op_calls.h"

#include <math.h>
#include <stdio.h>

static void dump_number(FILE *f, double x) {
    if (isfinite(x)) fprintf(f, "%.17g", x);
    else fprintf(f, "%s", isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
}

static void dump_scalar(FILE *f, TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: fprintf(f, "%s", s.b ? "true" : "false"); break;
    case TSR_SCALAR_INT: fprintf(f, "%lld", (long long)s.i); break;
    case TSR_SCALAR_UINT: fprintf(f, "%llu", (unsigned long long)s.u); break;
    case TSR_SCALAR_FLOAT:
        fprintf(f, "{\"float\": ");
        dump_number(f, s.f);
        fprintf(f, "}");
        break;
    case TSR_SCALAR_COMPLEX:
        fprintf(f, "{\"complex\": [");
        dump_number(f, s.c.re);
        fprintf(f, ", ");
        dump_number(f, s.c.im);
        fprintf(f, "]}");
        break;
    }
}

static void dump_ints(FILE *f, int n, const int64_t *ints) {
    fprintf(f, "[");
    for (int i = 0; i < n; i++) fprintf(f, i == 0 ? "%lld" : ", %lld", (long long)ints[i]);
    fprintf(f, "]");
}

/* The storage's bytes, and the geometry over them. */
static void dump_tensor(FILE *f, const TsrTensor *t) {
    if (t == NULL || !tsr_is_defined(t) || tsr_is_sparse(t) || !tsr_dtype_is_pod(t->dtype)) {
        fprintf(f, "null");
        return;
    }
    fprintf(f, "{\"dtype\": \"%s\", \"sizes\": ", tsr_dtype_name(t->dtype));
    dump_ints(f, tsr_ndim(t), t->sizes);
    fprintf(f, ", \"strides\": ");
    dump_ints(f, tsr_ndim(t), t->strides);
    fprintf(f, ", \"offset\": %lld, \"conj\": %d, \"neg\": %d, \"bytes\": \"", (long long)t->offset,
            (t->flags & TSR_FLAG_CONJ) != 0, (t->flags & TSR_FLAG_NEG) != 0);
    const unsigned char *bytes = t->storage->ptr.data;
    for (size_t i = 0; bytes != NULL && i < t->storage->nbytes; i++) fprintf(f, "%02x", bytes[i]);
    fprintf(f, "\"}");
}

static void dump_tensors(FILE *f, int n, TsrTensor *const *tensors) {
    fprintf(f, "{\"list\": [");
    for (int i = 0; i < n; i++) {
        if (i > 0) fprintf(f, ", ");
        dump_tensor(f, tensors[i]);
    }
    fprintf(f, "]}");
}

static void dump_value(FILE *f, const TsrArg *a) {
    switch (a->kind) {
    case TSR_ARG_TENSOR: dump_tensor(f, a->t); break;
    case TSR_ARG_TENSORS: dump_tensors(f, a->n, a->tensors); break;
    case TSR_ARG_SCALAR: dump_scalar(f, a->s); break;
    case TSR_ARG_SCALARS:
        fprintf(f, "[");
        for (int i = 0; i < a->n; i++) {
            if (i > 0) fprintf(f, ", ");
            dump_scalar(f, a->scalars[i]);
        }
        fprintf(f, "]");
        break;
    case TSR_ARG_INT: fprintf(f, "%lld", (long long)a->i); break;
    case TSR_ARG_INTS: dump_ints(f, a->n, a->ints); break;
    case TSR_ARG_FLOAT: dump_scalar(f, tsr_scalar_float(a->f)); break;
    case TSR_ARG_FLOATS:
        fprintf(f, "[");
        for (int i = 0; i < a->n; i++) {
            if (i > 0) fprintf(f, ", ");
            dump_scalar(f, tsr_scalar_float(a->floats[i]));
        }
        fprintf(f, "]");
        break;
    case TSR_ARG_BOOL: fprintf(f, "%s", a->b ? "true" : "false"); break;
    case TSR_ARG_STR: fprintf(f, "{\"str\": \"%s\"}", a->str); break;
    case TSR_ARG_DTYPE:
        if (a->dtype == TSR_DTYPE_NONE) fprintf(f, "null");
        else fprintf(f, "{\"torch\": \"%s\"}", tsr_dtype_name(a->dtype));
        break;
    case TSR_ARG_MEMORY_FORMAT:
        fprintf(
            f, "{\"torch\": \"%s\"}",
            (const char *[]){"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"}[a->format]);
        break;
    default: fprintf(f, "null"); break;
    }
}

void call_dump(FILE *f, const OpCall *call, const OpCall *before, const TsrOpCall *run, TsrStatus status) {
    fprintf(f, "{\"schema\": ");
    fprintf(f, "\"");
    for (const char *p = call->op->schema; *p != '\0'; p++) fprintf(f, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    fprintf(f, "\", \"forms\": %u, \"random\": %d, \"args\": {", call->op->forms,
            (call->op->flags & TSR_OP_RANDOM) != 0);
    for (int i = 0; i < call->schema->nparams; i++) {
        fprintf(f, i == 0 ? "\"%s\": " : ", \"%s\": ", call->schema->params[i].name);
        dump_value(f, &before->arg[i]);
    }
    fprintf(f, "}");
    if (status != TSR_OK) {
        fprintf(f, ", \"error\": \"%s\", \"message\": \"", tsr_status_name(status));
        for (const char *p = tsr_error_message(); *p != '\0'; p++)
            *p == '\n' ? fprintf(f, "\\n") : fprintf(f, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
        fprintf(f, "\"");
    } else {
        fprintf(f, ", \"results\": [");
        for (int k = 0; k < run->nret; k++) {
            if (k > 0) fprintf(f, ", ");
            dump_value(f, &run->ret[k]);
        }
        fprintf(f, "]");
    }
    fprintf(f, "}\n");
}
