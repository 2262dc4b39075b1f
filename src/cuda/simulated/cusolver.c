/* cusolver.c: NVIDIA's library for factorizations, for the simulated device: what cusolver.def lists, by the plainest
 * methods in double precision, put into the stream as a kernel is. It refuses what the real one would: sizes below 0, a
 * leading dimension that is too small, matrices wider than high where it takes none, types that do not belong together,
 * work of another size than it asked for. */
#include "cuda/kernels/linalg/cusolver.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "numbers.h"

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, NO_MEMORY = 2, INVALID = 3 };

struct SolverHandleBody {
    CuStream stream;
};
struct SolverParamsBody {
    int none;
};

EXPORT int cusolverDnCreate(SolverHandle *handle) {
    static struct SolverHandleBody handles[8];
    static int n;
    if (n == 8) return NO_MEMORY;
    *handle = &handles[n++];
    return SUCCESS;
}

EXPORT int cusolverDnSetStream(SolverHandle handle, CuStream stream) { return handle->stream = stream, SUCCESS; }

EXPORT int cusolverDnCreateParams(SolverParams *params) {
    static struct SolverParamsBody one;
    *params = &one;
    return SUCCESS;
}

/* ---- one matrix on the host, column-major, in double precision ---- */

typedef double complex Number;

/* What a launch does, with what it needs of: the matrix, tau or values, further matrices, pivots, info. */
typedef struct Args {
    void (*factor)(const struct Args *a, Number *x);
    int type, real_type, flag, side, reads; /* flag: the triangle, or whether vectors are wanted */
    int64_t m, n, k;                        /* of the matrix; reflectors */
    void *a, *numbers, *u, *v;              /* addresses of the device */
    int64_t u_rows, u_columns;
    int64_t *pivots;
    int *info;
} Args;

static void set_info(const Args *a, int info) { *(int *)here(a->info) = info; }

static void load(Number *to, int type, const void *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = read_number(type, here(from), i);
}
static void save(const Number *from, int type, void *to, int64_t n) {
    for (int64_t i = 0; i < n; i++) write_number(type, here(to), i, from[i]);
}

static void factor_cholesky(const Args *a, Number *x) {
    const int64_t n = a->n, down = a->flag == SOLVER_LOWER ? 1 : n, across = a->flag == SOLVER_LOWER ? n : 1;
    set_info(a, 0);
    for (int64_t j = 0; j < n; j++) {
        if (!(creal(x[j * (n + 1)]) > 0)) return set_info(a, (int)j + 1);
        const double root = sqrt(creal(x[j * (n + 1)]));
        x[j * (n + 1)] = root;
        for (int64_t i = j + 1; i < n; i++) x[i * down + j * across] /= root;
        for (int64_t c = j + 1; c < n; c++)
            for (int64_t i = c; i < n; i++)
                x[i * down + c * across] -= x[i * down + j * across] * conj(x[c * down + j * across]);
    }
}

static double size_of(Number x) { return fabs(creal(x)) + fabs(cimag(x)); }

static void factor_lu(const Args *a, Number *x) {
    const int64_t m = a->m, n = a->n, most = m < n ? m : n;
    int64_t *pivots = here(a->pivots);
    set_info(a, 0);
    for (int64_t j = 0; j < most; j++) {
        int64_t best = j;
        for (int64_t i = j; i < m; i++)
            if (size_of(x[j * m + i]) > size_of(x[j * m + best])) best = i;
        pivots[j] = best + 1;
        for (int64_t c = 0; c < n; c++) {
            const Number upper = x[c * m + j];
            x[c * m + j] = x[c * m + best];
            x[c * m + best] = upper;
        }
        if (x[j * m + j] == 0 && *(int *)here(a->info) == 0) set_info(a, (int)j + 1);
        if (x[j * m + j] == 0) continue;
        for (int64_t i = j + 1; i < m; i++) x[j * m + i] /= x[j * m + j];
        for (int64_t c = j + 1; c < n; c++)
            for (int64_t i = j + 1; i < m; i++) x[c * m + i] -= x[j * m + i] * x[c * m + j];
    }
}

/* x (m by n, `down` and `across` apart), less tau v (v's adjoint x), where v begins at row `first` with a 1. */
static void apply(Number *x, int64_t m, int64_t n, int64_t down, int64_t across, const Number *v, int64_t first,
                  Number tau, bool turned) {
    for (int64_t c = 0; c < n; c++) {
        Number sum = x[first * down + c * across];
        for (int64_t i = first + 1; i < m; i++) sum += (turned ? v[i] : conj(v[i])) * x[i * down + c * across];
        sum *= tau;
        x[first * down + c * across] -= sum;
        for (int64_t i = first + 1; i < m; i++) x[i * down + c * across] -= (turned ? conj(v[i]) : v[i]) * sum;
    }
}

static void factor_qr(const Args *a, Number *x) {
    const int64_t m = a->m, n = a->n, most = m < n ? m : n;
    for (int64_t j = 0; j < most; j++) {
        Number *v = x + j * m, tau = 0;
        double rest = 0;
        for (int64_t i = j + 1; i < m; i++) rest += creal(v[i] * conj(v[i]));
        if (rest != 0 || cimag(v[j]) != 0) {
            const double norm = sqrt(creal(v[j] * conj(v[j])) + rest), beta = creal(v[j]) > 0 ? -norm : norm;
            const Number scale = v[j] - beta;
            tau = (beta - v[j]) / beta;
            for (int64_t i = j + 1; i < m; i++) v[i] /= scale;
            v[j] = beta;
        }
        apply(x + (j + 1) * m, m, n - j - 1, 1, m, v, j, conj(tau), false);
        write_number(a->type, here(a->numbers), j, tau);
    }
    set_info(a, 0);
}

static void make_q(const Args *a, Number *x) {
    const int64_t m = a->m, n = a->n;
    Number *q = calloc((size_t)(m * n) + 1, sizeof *q);
    for (int64_t j = 0; q != NULL && j < n; j++) q[j * m + j] = 1;
    for (int64_t j = a->k - 1; q != NULL && j >= 0; j--)
        apply(q, m, n, 1, m, x + j * m, j, read_number(a->type, here(a->numbers), j), false);
    for (int64_t i = 0; q != NULL && i < m * n; i++) x[i] = q[i];
    free(q);
    set_info(a, 0);
}

/* x Q is the product of the reflectors from the first one on, from the right; Q x from the last one on. */
static void multiply_q(const Args *a, Number *reflectors) {
    const int64_t m = a->u_rows, n = a->u_columns;
    const bool right = a->side == SOLVER_RIGHT, adjoint = a->reads != SOLVER_AS_IS, forwards = right != adjoint;
    Number *x = malloc((size_t)(m * n + 1) * sizeof *x);
    if (x != NULL) load(x, a->type, a->u, m * n);
    for (int64_t step = 0; x != NULL && step < a->k; step++) {
        const int64_t j = forwards ? step : a->k - 1 - step;
        Number tau = read_number(a->type, here(a->numbers), j);
        if (adjoint) tau = conj(tau);
        if (right) apply(x, n, m, m, 1, reflectors + j * a->m, j, tau, true);
        else apply(x, m, n, 1, m, reflectors + j * a->m, j, tau, false);
    }
    if (x != NULL) save(x, a->type, a->u, m * n);
    free(x);
    set_info(a, 0);
}

/* Columns p and q of x, rotated so that the products of theirs that `alpha`, `beta` and `gamma` are vanish. */
static void rotate(Number *x, int64_t rows, int64_t p, int64_t q, double alpha, double beta, Number gamma) {
    const double size = cabs(gamma), zeta = (beta - alpha) / (2 * size),
                 t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta)), c = 1 / sqrt(1 + t * t), s = c * t;
    const Number phase = gamma / size;
    for (int64_t i = 0; i < rows; i++) {
        const Number a = x[p * rows + i], b = x[q * rows + i] * conj(phase);
        x[p * rows + i] = c * a - s * b;
        x[q * rows + i] = s * a + c * b;
    }
}

static Number product(const Number *x, int64_t rows, int64_t p, int64_t q) {
    Number sum = 0;
    for (int64_t i = 0; i < rows; i++) sum += conj(x[p * rows + i]) * x[q * rows + i];
    return sum;
}

/* Rotates columns of x, and those of v along, until all are orthogonal. */
static void make_orthogonal(Number *x, int64_t m, int64_t n, Number *v) {
    bool again = true;
    for (int sweep = 0; again && sweep < 60; sweep++) {
        again = false;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                const double alpha = creal(product(x, m, p, p)), beta = creal(product(x, m, q, q));
                const Number gamma = product(x, m, p, q);
                if (cabs(gamma) <= 1e-15 * sqrt(alpha * beta) || cabs(gamma) < 1e-300) continue;
                again = true;
                rotate(x, m, p, q, alpha, beta, gamma);
                rotate(v, n, p, q, alpha, beta, gamma);
            }
    }
}

static void swap_columns(Number *x, int64_t rows, int64_t p, int64_t q) {
    for (int64_t i = 0; i < rows; i++) {
        const Number a = x[p * rows + i];
        x[p * rows + i] = x[q * rows + i];
        x[q * rows + i] = a;
    }
}

static Number *identity_new(int64_t n) {
    Number *v = calloc((size_t)(n * n), sizeof *v);
    for (int64_t i = 0; v != NULL && i < n; i++) v[i * (n + 1)] = 1;
    return v;
}

static void factor_svd(const Args *a, Number *x) {
    const int64_t m = a->m, n = a->n;
    Number *v = identity_new(n);
    if (v == NULL) return set_info(a, 1);
    make_orthogonal(x, m, n, v);
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++)
            if (creal(product(x, m, q, q)) > creal(product(x, m, p, p)))
                swap_columns(x, m, p, q), swap_columns(v, n, p, q);
    for (int64_t p = 0; p < n; p++) {
        const double value = sqrt(creal(product(x, m, p, p)));
        write_number(a->real_type, here(a->numbers), p, value);
        for (int64_t i = 0; i < m && value > 0; i++) x[p * m + i] /= value;
    }
    if (a->flag) save(x, a->type, a->u, m * n);
    for (int64_t i = 0; a->flag && i < n; i++)
        for (int64_t p = 0; p < n; p++) write_number(a->type, here(a->v), i * n + p, conj(v[p * n + i]));
    free(v);
    set_info(a, 0);
}

/* Eigenvalues of A + shift, which is positive, are its singular values. */
static void factor_eigh(const Args *a, Number *x) {
    const int64_t n = a->n;
    const bool upper = a->side == SOLVER_UPPER;
    Number *v = identity_new(n);
    double shift = 0;
    if (v == NULL) return set_info(a, 1);
    for (int64_t c = 0; c < n; c++)
        for (int64_t i = c + 1; i < n; i++) {
            Number *low = &x[c * n + i], *high = &x[i * n + c];
            if (upper) *low = conj(*high);
            else *high = conj(*low);
        }
    for (int64_t c = 0; c < n; c++) {
        double sum = 0;
        x[c * (n + 1)] = creal(x[c * (n + 1)]);
        for (int64_t i = 0; i < n; i++) sum += cabs(x[c * n + i]);
        shift = fmax(shift, 2 * sum);
    }
    for (int64_t c = 0; c < n; c++) x[c * (n + 1)] += shift;
    make_orthogonal(x, n, n, v);
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++)
            if (creal(product(x, n, q, q)) < creal(product(x, n, p, p)))
                swap_columns(x, n, p, q), swap_columns(v, n, p, q);
    for (int64_t p = 0; p < n; p++)
        write_number(a->real_type, here(a->numbers), p, sqrt(creal(product(x, n, p, p))) - shift);
    for (int64_t i = 0; i < n * n; i++) x[i] = v[i];
    free(v);
    set_info(a, 0);
}

static void run(Simulated *simulated, const void *args) {
    const Args *a = args;
    const int64_t columns = a->factor == multiply_q ? a->k : a->n;
    Number *x = malloc((size_t)(a->m * columns + 1) * sizeof *x);
    (void)simulated;
    if (x == NULL) return;
    load(x, a->type, a->a, a->m * columns);
    a->factor(a, x);
    if (a->factor != multiply_q && a->factor != factor_svd) save(x, a->type, a->a, a->m * columns);
    free(x);
}

static int launch(SolverHandle handle, Args args) {
    static struct CuFunctionBody function = {run, sizeof(Args), 1};
    return cuLaunchKernel(&function, 1, 1, 1, 1, 1, 1, 0, handle->stream, (void *[]){&args}, NULL);
}

/* ---- the interface ---- */

enum { BYTES = 512, HOST_BYTES = 64, ELEMENTS = 32 }; /* some, so that they are made and freed */

static bool is_known(int type) {
    return type == SOLVER_F32 || type == SOLVER_F64 || type == SOLVER_C32 || type == SOLVER_C64;
}
static int real_of(int type) { return type == SOLVER_C32 ? SOLVER_F32 : type == SOLVER_C64 ? SOLVER_F64 : type; }
static bool is_matrix(int64_t m, int64_t n, int64_t lda) { return m >= 0 && n >= 0 && lda >= (m > 1 ? m : 1); }

static int room(bool good, size_t *bytes, size_t *host_bytes) {
    *bytes = BYTES;
    *host_bytes = HOST_BYTES;
    return good ? SUCCESS : INVALID;
}
static bool has_room(const void *work, size_t bytes, const void *host_work, size_t host_bytes) {
    return work != NULL && bytes == BYTES && host_work != NULL && host_bytes == HOST_BYTES;
}

#define X_ROOM size_t *bytes, size_t *host_bytes
#define X_WORK void *work, size_t bytes, void *host_work, size_t host_bytes, int *info

EXPORT int cusolverDnXpotrf_bufferSize(SolverHandle handle, SolverParams params, int triangle, int64_t n, int type,
                                       const void *a, int64_t lda, int compute, X_ROOM) {
    return room(handle != NULL && params != NULL && a != NULL && triangle <= SOLVER_UPPER && is_matrix(n, n, lda) &&
                    is_known(type) && compute == type,
                bytes, host_bytes);
}
EXPORT int cusolverDnXpotrf(SolverHandle handle, SolverParams params, int triangle, int64_t n, int type, void *a,
                            int64_t lda, int compute, X_WORK) {
    if (params == NULL || lda != n || compute != type || !has_room(work, bytes, host_work, host_bytes)) return INVALID;
    return launch(handle,
                  (Args){factor_cholesky, .type = type, .flag = triangle, .m = n, .n = n, .a = a, .info = info});
}

EXPORT int cusolverDnXgetrf_bufferSize(SolverHandle handle, SolverParams params, int64_t m, int64_t n, int type,
                                       const void *a, int64_t lda, int compute, X_ROOM) {
    return room(handle != NULL && params != NULL && a != NULL && is_matrix(m, n, lda) && is_known(type) &&
                    compute == type,
                bytes, host_bytes);
}
EXPORT int cusolverDnXgetrf(SolverHandle handle, SolverParams params, int64_t m, int64_t n, int type, void *a,
                            int64_t lda, int64_t *pivots, int compute, X_WORK) {
    if (params == NULL || lda != m || compute != type || pivots == NULL ||
        !has_room(work, bytes, host_work, host_bytes))
        return INVALID;
    return launch(handle, (Args){factor_lu, .type = type, .m = m, .n = n, .a = a, .pivots = pivots, .info = info});
}

EXPORT int cusolverDnXgeqrf_bufferSize(SolverHandle handle, SolverParams params, int64_t m, int64_t n, int type,
                                       const void *a, int64_t lda, int tau_type, const void *tau, int compute, X_ROOM) {
    return room(handle != NULL && params != NULL && a != NULL && tau != NULL && is_matrix(m, n, lda) &&
                    is_known(type) && tau_type == type && compute == type,
                bytes, host_bytes);
}
EXPORT int cusolverDnXgeqrf(SolverHandle handle, SolverParams params, int64_t m, int64_t n, int type, void *a,
                            int64_t lda, int tau_type, void *tau, int compute, X_WORK) {
    if (params == NULL || lda != m || tau_type != type || compute != type ||
        !has_room(work, bytes, host_work, host_bytes))
        return INVALID;
    return launch(handle, (Args){factor_qr, .type = type, .m = m, .n = n, .a = a, .numbers = tau, .info = info});
}

EXPORT int cusolverDnXsyevd_bufferSize(SolverHandle handle, SolverParams params, int vectors, int triangle, int64_t n,
                                       int type, const void *a, int64_t lda, int values_type, const void *values,
                                       int compute, X_ROOM) {
    return room(handle != NULL && params != NULL && a != NULL && values != NULL && vectors <= SOLVER_VECTORS &&
                    triangle <= SOLVER_UPPER && is_matrix(n, n, lda) && is_known(type) &&
                    values_type == real_of(type) && compute == type,
                bytes, host_bytes);
}
EXPORT int cusolverDnXsyevd(SolverHandle handle, SolverParams params, int vectors, int triangle, int64_t n, int type,
                            void *a, int64_t lda, int values_type, void *values, int compute, X_WORK) {
    if (params == NULL || lda != n || compute != type || !has_room(work, bytes, host_work, host_bytes)) return INVALID;
    return launch(handle, (Args){factor_eigh, .type = type, .real_type = values_type, .flag = vectors, .side = triangle,
                                 .m = n, .n = n, .a = a, .numbers = values, .info = info});
}

static bool is_svd(SolverHandle handle, SolverParams params, char u_job, char v_job, int64_t m, int64_t n, int64_t lda,
                   int type, int values_type, int u_type, int v_type, int compute) {
    return handle != NULL && params != NULL && u_job == v_job && (u_job == 'S' || u_job == 'N') && m >= n &&
           is_matrix(m, n, lda) && is_known(type) && values_type == real_of(type) && u_type == type && v_type == type &&
           compute == type;
}
EXPORT int cusolverDnXgesvd_bufferSize(SolverHandle handle, SolverParams params, signed char u_job, signed char v_job,
                                       int64_t m, int64_t n, int type, const void *a, int64_t lda, int values_type,
                                       const void *values, int u_type, const void *u, int64_t ldu, int v_type,
                                       const void *v, int64_t ldv, int compute, X_ROOM) {
    const bool good = a != NULL && values != NULL && u != NULL && v != NULL && ldu >= m && ldv >= n;
    return room(good && is_svd(handle, params, u_job, v_job, m, n, lda, type, values_type, u_type, v_type, compute),
                bytes, host_bytes);
}
EXPORT int cusolverDnXgesvd(SolverHandle handle, SolverParams params, signed char u_job, signed char v_job, int64_t m,
                            int64_t n, int type, void *a, int64_t lda, int values_type, void *values, int u_type,
                            void *u, int64_t ldu, int v_type, void *v, int64_t ldv, int compute, X_WORK) {
    if (!is_svd(handle, params, u_job, v_job, m, n, lda, type, values_type, u_type, v_type, compute) || lda != m ||
        ldu != m || ldv != n || !has_room(work, bytes, host_work, host_bytes))
        return INVALID;
    return launch(handle, (Args){factor_svd, .type = type, .real_type = values_type, .flag = u_job == 'S', .m = m,
                                 .n = n, .a = a, .numbers = values, .u = u, .v = v, .info = info});
}

static int q_room(SolverHandle handle, int m, int n, int k, int lda, int *elements) {
    *elements = ELEMENTS;
    return handle != NULL && is_matrix(m, n, lda) && m >= n && n >= k && k >= 0 ? SUCCESS : INVALID;
}

static int reflect_room(SolverHandle handle, int side, int reads, int adjoint, int m, int n, int k, int lda, int ldx,
                        int *elements) {
    const int long_side = side == SOLVER_LEFT ? m : n;
    *elements = ELEMENTS;
    bool good = handle != NULL && is_matrix(m, n, ldx) && is_matrix(long_side, k, lda) && k <= long_side;
    return good && (reads == SOLVER_AS_IS || reads == adjoint) ? SUCCESS : INVALID;
}

/* The functions that have one name a type. */
#define BY_TYPE(q, reflect, number, adjoint) \
    EXPORT int cusolverDn##q##_bufferSize(SolverHandle handle, int m, int n, int k, const void *a, int lda, \
                                          const void *tau, int *elements) { \
        return a == NULL || tau == NULL ? INVALID : q_room(handle, m, n, k, lda, elements); \
    } \
    EXPORT int cusolverDn##q(SolverHandle handle, int m, int n, int k, void *a, int lda, const void *tau, void *work, \
                             int elements, int *info) { \
        if (work == NULL || elements != ELEMENTS || lda != m) return INVALID; \
        return launch(handle, (Args){make_q, .type = number, .m = m, .n = n, .k = k, .a = a, \
                                     .numbers = (void *)(uintptr_t)tau, .info = info}); \
    } \
    EXPORT int cusolverDn##reflect##_bufferSize(SolverHandle handle, int side, int reads, int m, int n, int k, \
                                                const void *a, int lda, const void *tau, const void *x, int ldx, \
                                                int *elements) { \
        if (a == NULL || tau == NULL || x == NULL) return INVALID; \
        return reflect_room(handle, side, reads, adjoint, m, n, k, lda, ldx, elements); \
    } \
    EXPORT int cusolverDn##reflect(SolverHandle handle, int side, int reads, int m, int n, int k, const void *a, \
                                   int lda, const void *tau, void *x, int ldx, void *work, int elements, int *info) { \
        if (work == NULL || elements != ELEMENTS || ldx != m) return INVALID; \
        return launch(handle, (Args){multiply_q, .type = number, .side = side, .reads = reads, .m = lda, .k = k, \
                                     .a = (void *)(uintptr_t)a, .numbers = (void *)(uintptr_t)tau, .u = x, \
                                     .u_rows = m, .u_columns = n, .info = info}); \
    }
BY_TYPE(Sorgqr, Sormqr, SOLVER_F32, SOLVER_TRANSPOSED)
BY_TYPE(Dorgqr, Dormqr, SOLVER_F64, SOLVER_TRANSPOSED)
BY_TYPE(Cungqr, Cunmqr, SOLVER_C32, SOLVER_CONJUGATE)
BY_TYPE(Zungqr, Zunmqr, SOLVER_C64, SOLVER_CONJUGATE)
