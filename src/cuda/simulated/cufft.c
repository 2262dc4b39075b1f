/* cufft.c: NVIDIA's library for Fourier transforms, for the simulated device: what cufft.def lists, by plain sums in
 * double precision, put into the stream as a kernel is. It refuses what the real one would: lengths and steps that are
 * not positive, several dimensions, types that do not belong together, a direction that real numbers do not have, and
 * addresses at which two reals can't be read at once. As the real one may, it writes over the input of a transform to
 * reals. */
#include "cuda/kernels/fft/cufft.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "numbers.h"

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID_PLAN = 1, NO_MEMORY = 2, INVALID_VALUE = 4, NOT_SUPPORTED = 16 };

typedef struct Plan {
    bool used, own_memory, ready;
    long long n, in_step, in_apart, out_step, out_apart, batch;
    int in_type, out_type;
    CuStream stream;
    void *work;
} Plan;
enum { PLANS = 128, WORK_BYTES = 256 /* some, so that it is made and freed */ };
static Plan plans[PLANS];

static Plan *plan_of(FftHandle handle) {
    return handle >= 0 && handle < PLANS && plans[handle].used ? &plans[handle] : NULL;
}

EXPORT int cufftCreate(FftHandle *handle) {
    for (int i = 0; i < PLANS; i++)
        if (!plans[i].used) {
            plans[i] = (Plan){.used = true};
            *handle = i;
            return SUCCESS;
        }
    return NO_MEMORY;
}

EXPORT int cufftSetAutoAllocation(FftHandle handle, int automatic) {
    Plan *p = plan_of(handle);
    if (p == NULL) return INVALID_PLAN;
    p->own_memory = automatic == 0;
    return SUCCESS;
}

static bool is_real(int type) { return type == FFT_R32 || type == FFT_R64; }
static bool is_wide(int type) { return type == FFT_R64 || type == FFT_C64; }

static bool belong(int in, int out, int type) {
    return !is_real(type) && is_wide(in) == is_wide(type) && is_wide(out) == is_wide(type) &&
           !(is_real(in) && is_real(out));
}

EXPORT int cufftXtMakePlanMany(FftHandle handle, int rank, long long *n, long long *in_embedded, long long in_step,
                               long long in_apart, int in_type, long long *out_embedded, long long out_step,
                               long long out_apart, int out_type, long long batch, size_t *work_size, int type) {
    Plan *p = plan_of(handle);
    if (p == NULL || p->ready) return INVALID_PLAN;
    if (rank != 1 || !p->own_memory) return NOT_SUPPORTED;
    if (in_embedded == NULL || out_embedded == NULL || n[0] < 1 || batch < 1 || in_step < 1 || out_step < 1 ||
        in_apart < 0 || out_apart < 0 || !belong(in_type, out_type, type))
        return INVALID_VALUE;
    p->n = n[0], p->batch = batch;
    p->in_step = in_step, p->in_apart = in_apart, p->out_step = out_step, p->out_apart = out_apart;
    p->in_type = in_type, p->out_type = out_type;
    p->ready = true;
    *work_size = WORK_BYTES;
    return SUCCESS;
}

EXPORT int cufftSetStream(FftHandle handle, CuStream stream) {
    Plan *p = plan_of(handle);
    if (p == NULL) return INVALID_PLAN;
    p->stream = stream;
    return SUCCESS;
}

EXPORT int cufftSetWorkArea(FftHandle handle, void *work) {
    Plan *p = plan_of(handle);
    if (p == NULL) return INVALID_PLAN;
    p->work = work;
    return SUCCESS;
}

EXPORT int cufftDestroy(FftHandle handle) {
    Plan *p = plan_of(handle);
    if (p == NULL) return INVALID_PLAN;
    p->used = false;
    return SUCCESS;
}

/* ---- one transform ---- */

typedef struct Args {
    Plan plan;
    uint64_t in, out;
    int direction;
} Args;

/* Of half a spectrum the other half is the conjugate of the first one backwards. */
static double complex signal_at(const Plan *p, const char *in, long long k) {
    const bool half = is_real(p->out_type), other = half && 2 * k > p->n;
    double complex x = read_number(p->in_type, in, (other ? p->n - k : k) * p->in_step);
    if (half && (k == 0 || 2 * k == p->n)) x = creal(x);
    return other ? conj(x) : x;
}

static void transform_line(const Args *a, char *in, char *out, double complex *line) {
    const Plan *p = &a->plan;
    const long long count = is_real(p->in_type) ? p->n / 2 + 1 : p->n;
    for (long long k = 0; k < p->n; k++) line[k] = signal_at(p, in, k);
    for (long long k = 0; k < count; k++) {
        double complex sum = 0;
        for (long long j = 0; j < p->n; j++)
            sum += line[j] * cexp(I * (a->direction * 2 * acos(-1) * (double)(j * k % p->n) / (double)p->n));
        write_number(p->out_type, out, k * p->out_step, sum);
    }
    for (long long k = 0; is_real(p->out_type) && 2 * k <= p->n; k++) write_number(p->in_type, in, k * p->in_step, NAN);
}

static size_t bytes_of(int type) { return type == FFT_R32 ? 4 : type == FFT_C64 ? 16 : 8; }

static void transform(Simulated *simulated, const void *args) {
    const Args *a = args;
    const Plan *p = &a->plan;
    double complex *line = malloc((size_t)p->n * sizeof *line);
    (void)simulated;
    for (long long b = 0; b < p->batch && line != NULL; b++)
        transform_line(
            a, (char *)here((const void *)(uintptr_t)a->in) + b * p->in_apart * (long long)bytes_of(p->in_type),
            (char *)here((const void *)(uintptr_t)a->out) + b * p->out_apart * (long long)bytes_of(p->out_type), line);
    free(line);
}

EXPORT int cufftXtExec(FftHandle handle, void *in, void *out, int direction) {
    static struct CuFunctionBody function = {transform, sizeof(Args), 1};
    Plan *p = plan_of(handle);
    if (p == NULL || !p->ready || p->work == NULL) return INVALID_PLAN;
    const uint64_t pair = is_wide(p->in_type) ? 16 : 8;
    if ((direction != FFT_FORWARD && direction != FFT_INVERSE) || (is_real(p->in_type) && direction != FFT_FORWARD) ||
        (is_real(p->out_type) && direction != FFT_INVERSE) || (uint64_t)(uintptr_t)in % pair != 0 ||
        (uint64_t)(uintptr_t)out % pair != 0)
        return INVALID_VALUE;
    Args args = {*p, (uint64_t)(uintptr_t)in, (uint64_t)(uintptr_t)out, direction};
    return cuLaunchKernel(&function, 1, 1, 1, 1, 1, 1, 0, p->stream, (void *[]){&args}, NULL);
}
