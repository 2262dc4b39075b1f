/* source.c: grows the text of a kernel from the files of device/, which lie in this library, and formatted pieces. */
#include "source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PART(name, path) \
    extern const char cuda_text_##name[], cuda_text_##name##_end[]; \
    __asm__(".section .rodata\ncuda_text_" #name ":\n.incbin \"" path "\"\ncuda_text_" #name "_end:\n.previous\n");
#include "parts.def"
#undef PART

static const struct {
    const char *path, *begin, *end;
} parts[CUDA_PART_COUNT] = {
#define PART(name, path) {path, cuda_text_##name, cuda_text_##name##_end},
#include "parts.def"
#undef PART
};

static bool reserve(CudaSource *s, size_t more) {
    if (s->failed || more > SIZE_MAX / 4 - s->size) s->failed = true;
    if (s->failed || s->size + more + 1 <= s->room) return !s->failed;
    size_t room = 2 * (s->size + more) + 4096;
    char *text = cuda_host->malloc(room);
    if (text == NULL) return s->failed = true, false;
    if (s->size > 0) memcpy(text, s->text, s->size);
    text[s->size] = '\0';
    cuda_host->free(s->text);
    s->text = text;
    s->room = room;
    return true;
}

static void add_bytes(CudaSource *s, const char *bytes, size_t n) {
    if (!reserve(s, n)) return;
    memcpy(s->text + s->size, bytes, n);
    s->size += n;
    s->text[s->size] = '\0';
}

void cuda_source_add(CudaSource *s, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0) s->failed = true;
    else if (reserve(s, (size_t)n)) s->size += (size_t)vsnprintf(s->text + s->size, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
}

/* The part that a line of another one includes, by its place beside that one or from src on; -1: a header, or none. */
static int included_by(CudaPart part, const char *line, const char *end) {
    const char *name = memchr(line, '"', (size_t)(end - line)), *folder = strrchr(parts[part].path, '/') + 1;
    const char *last = name != NULL ? memchr(name + 1, '"', (size_t)(end - name - 1)) : NULL;
    char beside[256], below[256];
    if (last == NULL || last[-1] == 'h') return -1;
    snprintf(beside, sizeof beside, "%.*s%.*s", (int)(folder - parts[part].path), parts[part].path,
             (int)(last - name - 1), name + 1);
    snprintf(below, sizeof below, "src/%.*s", (int)(last - name - 1), name + 1);
    for (int i = 0; i < CUDA_PART_COUNT; i++)
        if (strcmp(parts[i].path, beside) == 0 || strcmp(parts[i].path, below) == 0) return i;
    return -1;
}

void cuda_source_part(CudaSource *s, CudaPart part) {
    const char *line = parts[part].begin, *end = parts[part].end;
    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next != NULL ? next + 1 : end;
        bool includes = next - line >= 8 && memcmp(line, "#include", 8) == 0;
        int other = includes ? included_by(part, line, next) : -1;
        if (other >= 0) cuda_source_part(s, (CudaPart)other);
        else if (!includes) add_bytes(s, line, (size_t)(next - line));
        line = next;
    }
}

void cuda_source_begin(CudaSource *s, int threads) {
    cuda_source_add(s, "#define KERNEL_THREADS %d\n", threads);
    cuda_source_part(s, CUDA_PART_prelude);
    cuda_source_part(s, CUDA_PART_types);
    cuda_source_add(s, "enum { TSR_FLOAT16 = %d, TSR_BFLOAT16 = %d };\n", TSR_FLOAT16, TSR_BFLOAT16);
    cuda_source_part(s, CUDA_PART_halffloat);
    cuda_source_part(s, CUDA_PART_convert);
    cuda_source_part(s, CUDA_PART_errors);
}

void cuda_source_free(CudaSource *s) {
    cuda_host->free(s->text);
    *s = (CudaSource){0};
}

static const struct {
    const char *name;
    size_t size;
} types[TSR_DTYPE_COUNT] = {
    [TSR_UINT8] = {"uint8_t", 1},
    [TSR_INT8] = {"int8_t", 1},
    [TSR_INT16] = {"int16_t", 2},
    [TSR_INT32] = {"int32_t", 4},
    [TSR_INT64] = {"int64_t", 8},
    [TSR_UINT16] = {"uint16_t", 2},
    [TSR_UINT32] = {"uint32_t", 4},
    [TSR_UINT64] = {"uint64_t", 8},
    [TSR_FLOAT16] = {"TsrHalf", 2},
    [TSR_BFLOAT16] = {"TsrBfloat16", 2},
    [TSR_FLOAT8_E5M2] = {"TsrFloat8E5m2", 1},
    [TSR_FLOAT8_E4M3FN] = {"TsrFloat8E4m3fn", 1},
    [TSR_FLOAT8_E5M2FNUZ] = {"TsrFloat8E5m2fnuz", 1},
    [TSR_FLOAT8_E4M3FNUZ] = {"TsrFloat8E4m3fnuz", 1},
    [TSR_FLOAT8_E8M0FNU] = {"TsrFloat8E8m0fnu", 1},
    [TSR_FLOAT32] = {"float", 4},
    [TSR_FLOAT64] = {"double", 8},
    [TSR_COMPLEX32] = {"Complex<TsrHalf>", 4},
    [TSR_BCOMPLEX32] = {"Complex<TsrBfloat16>", 4},
    [TSR_COMPLEX64] = {"Complex<float>", 8},
    [TSR_COMPLEX128] = {"Complex<double>", 16},
    [TSR_BOOL] = {"Bool", 1},
};

const char *cuda_memory_type(TsrDtype dtype) { return dtype < TSR_DTYPE_COUNT ? types[dtype].name : NULL; }

const char *cuda_compute_type(TsrDtype dtype) { return dtype == TSR_BOOL ? "uint8_t" : cuda_memory_type(dtype); }

bool cuda_is_float8(TsrDtype d) {
    return d == TSR_FLOAT8_E5M2 || d == TSR_FLOAT8_E4M3FN || d == TSR_FLOAT8_E5M2FNUZ || d == TSR_FLOAT8_E4M3FNUZ ||
           d == TSR_FLOAT8_E8M0FNU;
}

bool cuda_is_complex(TsrDtype d) {
    return d == TSR_COMPLEX32 || d == TSR_BCOMPLEX32 || d == TSR_COMPLEX64 || d == TSR_COMPLEX128;
}

size_t cuda_itemsize(TsrDtype dtype) { return dtype < TSR_DTYPE_COUNT ? types[dtype].size : 0; }
