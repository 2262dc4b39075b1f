/* The exported functions called with what C's types let through and no caller may mean: counts below zero and beyond
 * all bounds, dtypes, devices and formats that are none, options without a size. Each is refused, with an error set and
 * nothing allocated, or gives the harmless answer that its header names; pointers that must not be NULL (tsr.h) are not
 * tried. The names come from the headers: one that has neither a case here nor an excuse fails. */
#include "suite.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "core/io_chunks.h"
#include "core/io_table.h"
#include "core/tsr.h"

/* A test program is run in the root of the tree, or one folder of the build below it. */
static const char HEADERS[] = "src/core";
static const int ABSURD[] = {-1, -1000, INT32_MIN, TSR_MAX_DIMS + 1, 1000, INT32_MAX};
enum { UNKNOWN = 200, HUGE_COUNT = 3000 };

static TsrTensor *x;             /* float32, 2 by 3 */
static int64_t many[HUGE_COUNT]; /* ones: enough for what reads before it counts */
static TsrTensor *t;

#define REFUSED(call) \
    do { \
        tsr_error_clear(); \
        t = NULL; \
        ck_assert_msg((call) != TSR_OK, "succeeded: %s", #call); \
        ck_assert_msg(tsr_error_kind() != TSR_OK && tsr_error_message()[0] != '\0', "no error: %s", #call); \
        ck_assert_msg(t == NULL, "a result beside the error: %s", #call); \
    } while (0)
/* With each number of dimensions that there can't be, called `n`. */
#define ABSURDLY(statement) \
    for (size_t absurd_ = 0; absurd_ < TSR_COUNTOF(ABSURD); absurd_++) { \
        int n = ABSURD[absurd_]; \
        statement; \
    }
#define CPU TSR_DEVICE_CPU
#define F32 TSR_FLOAT32
#define GEOMETRY(n) ((TsrGeometry){n, many, many, 0})
#define FOOTPRINT(n) (&(TsrFootprint){GEOMETRY(n), 4})

/* The undefined tensor, lent: it lives for ever. */
static TsrTensor *undefined(void) {
    TsrTensor *u = tsr_tensor_new_undefined();
    tsr_tensor_free(u);
    return u;
}
static void nothing(int64_t begin, int64_t end, void *user) { (void)begin, (void)end, (void)user; }
static void no_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    (void)data, (void)stride, (void)n, (void)params;
}
static TsrStatus begin(TsrIterSpec spec) {
    TsrIter it;
    return tsr_iter_begin(&it, &spec);
}

/* CASE(exported name, what to do with it) */
#define CASES(CASE) \
    CASE(tsr_tensor_new, { \
        ABSURDLY(REFUSED(tsr_tensor_new(&t, n, many, F32, CPU))); \
        REFUSED(tsr_tensor_new(&t, 1, many, UNKNOWN, CPU)); \
        REFUSED(tsr_tensor_new(&t, 1, many, TSR_DTYPE_NONE, CPU)); \
        REFUSED(tsr_tensor_new(&t, 1, many, F32, ((TsrDevice){UNKNOWN, 0}))); \
        REFUSED(tsr_tensor_new(&t, 1, (int64_t[]){-5}, F32, CPU)); \
        REFUSED(tsr_tensor_new(&t, 2, ((int64_t[]){INT64_MAX, INT64_MAX}), F32, CPU)); \
        REFUSED(tsr_tensor_new(&t, 1, (int64_t[]){INT64_MAX / 4}, F32, CPU)); \
    }) \
    CASE(tsr_tensor_new_strided, { \
        ABSURDLY(REFUSED(tsr_tensor_new_strided(&t, n, many, many, F32, CPU))); \
        REFUSED(tsr_tensor_new_strided(&t, 1, many, many, UNKNOWN, CPU)); \
        REFUSED(tsr_tensor_new_strided(&t, 1, many, (int64_t[]){-1}, F32, CPU)); \
        REFUSED(tsr_tensor_new_strided(&t, 1, (int64_t[]){3}, (int64_t[]){INT64_MAX}, F32, CPU)); \
    }) \
    CASE(tsr_tensor_new_like, { \
        REFUSED(tsr_tensor_new_like(&t, x, UNKNOWN, TSR_PRESERVE)); \
        REFUSED(tsr_tensor_new_like(&t, x, F32, (TsrMemoryFormat)77)); \
        REFUSED(tsr_tensor_new_like(&t, x, F32, TSR_CHANNELS_LAST)); \
    }) \
    CASE(tsr_tensor_new_over, { \
        ABSURDLY(REFUSED(tsr_tensor_new_over(&t, x->storage, GEOMETRY(n), F32))); \
        REFUSED(tsr_tensor_new_over(&t, x->storage, GEOMETRY(1), UNKNOWN)); \
        REFUSED(tsr_tensor_new_over(&t, x->storage, ((TsrGeometry){1, many, many, -1}), F32)); \
        REFUSED(tsr_tensor_new_over(&t, x->storage, ((TsrGeometry){1, many, many, INT64_MAX}), F32)); \
    }) \
    CASE(tsr_storage_holds, { \
        ABSURDLY(ck_assert(!tsr_storage_holds(x->storage, GEOMETRY(n), F32))); \
        ck_assert(!tsr_storage_holds(x->storage, GEOMETRY(1), UNKNOWN)); \
    }) \
    CASE(tsr_tensor_new_view, { \
        TsrGeometry g; \
        ABSURDLY(g = GEOMETRY(n); REFUSED(tsr_tensor_new_view(&t, x, &g, "test"))); \
    }) \
    CASE(tsr_tensor_new_as_strided, { ABSURDLY(REFUSED(tsr_tensor_new_as_strided(&t, x, GEOMETRY(n)))); }) \
    CASE(tsr_tensor_new_scalar, { REFUSED(tsr_tensor_new_scalar(&t, tsr_scalar_int(1), UNKNOWN)); }) \
    CASE(tsr_tensor_new_cast, { REFUSED(tsr_tensor_new_cast(&t, x, UNKNOWN)); }) \
    CASE(tsr_tensor_new_view_dtype, { \
        REFUSED(tsr_tensor_new_view_dtype(&t, x, UNKNOWN)); \
        REFUSED(tsr_tensor_new_view_dtype(&t, x, TSR_DTYPE_NONE)); \
    }) \
    CASE(tsr_tensor_new_contiguous, { REFUSED(tsr_tensor_new_contiguous(&t, x, (TsrMemoryFormat)77)); }) \
    CASE(tsr_tensor_new_clone, { REFUSED(tsr_tensor_new_clone(&t, x, (TsrMemoryFormat)77)); }) \
    CASE(tsr_tensor_new_reshape, { ABSURDLY(REFUSED(tsr_tensor_new_reshape(&t, x, n, many))); }) \
    CASE(tsr_tensor_new_reshaped_view, { ABSURDLY(REFUSED(tsr_tensor_new_reshaped_view(&t, x, n, many))); }) \
    CASE(tsr_tensor_new_expand, { ABSURDLY(REFUSED(tsr_tensor_new_expand(&t, x, n, many))); }) \
    CASE(tsr_tensor_new_permute, { \
        ABSURDLY(REFUSED(tsr_tensor_new_permute(&t, x, n, many))); \
        REFUSED(tsr_tensor_new_permute(&t, x, 2, many)); \
    }) \
    CASE(tsr_tensor_new_squeeze, { \
        REFUSED(tsr_tensor_new_squeeze(&t, x, -2, many)); \
        REFUSED(tsr_tensor_new_squeeze(&t, x, INT32_MAX, many)); \
        REFUSED(tsr_tensor_new_squeeze(&t, x, 1, (int64_t[]){INT64_MIN})); \
    }) \
    CASE(tsr_tensor_new_select, { \
        REFUSED(tsr_tensor_new_select(&t, x, INT64_MIN, 0)); \
        REFUSED(tsr_tensor_new_select(&t, x, 0, INT64_MIN)); \
    }) \
    CASE(tsr_tensor_new_narrow, { \
        REFUSED(tsr_tensor_new_narrow(&t, x, INT64_MAX, 0, 1)); \
        REFUSED(tsr_tensor_new_narrow(&t, x, 0, INT64_MIN, 1)); \
        REFUSED(tsr_tensor_new_narrow(&t, x, 0, 0, INT64_MAX)); \
        REFUSED(tsr_tensor_new_narrow(&t, x, 0, 0, -1)); \
    }) \
    CASE(tsr_tensor_new_slice, { \
        REFUSED(tsr_tensor_new_slice(&t, x, 5, 0, 1, 1)); \
        REFUSED(tsr_tensor_new_slice(&t, x, 0, 0, 1, 0)); \
        REFUSED(tsr_tensor_new_slice(&t, x, 0, 0, 1, INT64_MIN)); \
    }) \
    CASE(tsr_tensor_new_transpose, { \
        REFUSED(tsr_tensor_new_transpose(&t, x, INT64_MIN, 0)); \
        REFUSED(tsr_tensor_new_transpose(&t, x, 0, INT64_MAX)); \
    }) \
    CASE(tsr_tensor_new_unsqueeze, { \
        REFUSED(tsr_tensor_new_unsqueeze(&t, x, INT64_MAX)); \
        REFUSED(tsr_tensor_new_unsqueeze(&t, x, INT64_MIN)); \
    }) \
    CASE(tsr_tensor_new_diagonal, { \
        REFUSED(tsr_tensor_new_diagonal(&t, x, 0, 0, 0)); \
        REFUSED(tsr_tensor_new_diagonal(&t, x, 0, INT64_MIN, 1)); \
    }) \
    CASE(tsr_tensor_new_unfold, { \
        REFUSED(tsr_tensor_new_unfold(&t, x, 9, 1, 1)); \
        REFUSED(tsr_tensor_new_unfold(&t, x, 0, -1, 1)); \
        REFUSED(tsr_tensor_new_unfold(&t, x, 0, 1, 0)); \
    }) \
    CASE(tsr_tensor_new_imag, { REFUSED(tsr_tensor_new_imag(&t, x)); }) \
    CASE(tsr_tensor_set_geometry, { \
        ABSURDLY(REFUSED(tsr_tensor_set_geometry(x, GEOMETRY(n)))); \
        ck_assert_int_eq(tsr_ndim(x), 2); \
        REFUSED(tsr_tensor_set_geometry(undefined(), GEOMETRY(1))); \
    }) \
    CASE(tsr_tensor_set_storage, { \
        ABSURDLY(REFUSED(tsr_tensor_set_storage(x, x->storage, GEOMETRY(n)))); \
        REFUSED(tsr_tensor_set_storage(undefined(), x->storage, GEOMETRY(1))); \
    }) \
    CASE(tsr_tensor_move_to_storage, { \
        ABSURDLY(REFUSED(tsr_tensor_move_to_storage(x, x->storage, GEOMETRY(n)))); \
        REFUSED(tsr_tensor_move_to_storage(undefined(), x->storage, GEOMETRY(1))); \
    }) \
    CASE(tsr_tensor_resize, { \
        ABSURDLY(REFUSED(tsr_tensor_resize(x, n, many, TSR_CONTIGUOUS))); \
        REFUSED(tsr_tensor_resize(x, 1, many, (TsrMemoryFormat)77)); \
        REFUSED(tsr_tensor_resize(undefined(), 1, many, TSR_CONTIGUOUS)); \
    }) \
    CASE(tsr_tensor_get, { \
        ck_assert_int_eq(tsr_scalar_to_int(tsr_tensor_get(x, -1)), 0); \
        ck_assert_int_eq(tsr_scalar_to_int(tsr_tensor_get(x, INT64_MAX)), 0); \
    }) \
    CASE(tsr_tensor_item, { \
        TsrScalar s; \
        REFUSED(tsr_tensor_item(&s, x)); \
    }) \
    CASE(tsr_wrap_dim, { \
        int64_t d = INT64_MIN; \
        REFUSED(tsr_wrap_dim(&d, 2)); \
        d = 1; \
        REFUSED(tsr_wrap_dim(&d, -7)); \
    }) \
    CASE(tsr_wrap_own_dim, { \
        int64_t d = 0; \
        REFUSED(tsr_wrap_own_dim(&d, 0)); \
        d = INT64_MAX; \
        REFUSED(tsr_wrap_own_dim(&d, 2)); \
    }) \
    CASE(tsr_layout_name, { ck_assert_str_eq(tsr_layout_name(UNKNOWN), "Unknown"); }) \
    CASE(tsr_is_contiguous, { \
        ck_assert(tsr_is_contiguous(x, TSR_CONTIGUOUS)); \
        ck_assert(!tsr_is_contiguous(x, TSR_CHANNELS_LAST)); \
    }) \
    CASE(tsr_layout_check_ndim, { ABSURDLY(REFUSED(tsr_layout_check_ndim(n))); }) \
    CASE(tsr_layout_check_symbolic, { \
        ABSURDLY(if (n < 0) ck_assert_int_eq(tsr_layout_check_symbolic(n, many), TSR_OK)); \
        REFUSED(tsr_layout_check_symbolic(1, &(int64_t){INT64_MIN})); \
    }) \
    CASE(tsr_layout_numel, { \
        int64_t numel; \
        ABSURDLY(REFUSED(tsr_layout_numel(&numel, n, many))); \
    }) \
    CASE(tsr_layout_numel_there, { \
        int64_t numel; \
        ABSURDLY(REFUSED(tsr_layout_numel_there(&numel, n, many))); \
    }) \
    CASE(tsr_layout_contiguous_strides, { \
        int64_t out[1] = {7}; \
        ABSURDLY(tsr_layout_contiguous_strides(out, n, many)); \
        ck_assert_int_eq(out[0], 7); \
    }) \
    CASE(tsr_layout_channels_last_strides, { \
        int64_t out[1] = {7}; \
        ABSURDLY(tsr_layout_channels_last_strides(out, n, many)); \
        ck_assert_int_eq(out[0], 7); \
    }) \
    CASE(tsr_layout_dense_strides_like, { \
        int64_t out[1] = {7}; \
        ABSURDLY(tsr_layout_dense_strides_like(out, n, many, many)); \
        ck_assert_int_eq(out[0], 7); \
    }) \
    CASE(tsr_layout_is_contiguous, { ABSURDLY(ck_assert(!tsr_layout_is_contiguous(n, many, many))); }) \
    CASE(tsr_layout_is_channels_last, { ABSURDLY(ck_assert(!tsr_layout_is_channels_last(n, many, many))); }) \
    CASE(tsr_layout_is_channels_last_strides, \
         { ABSURDLY(ck_assert(!tsr_layout_is_channels_last_strides(n, many, many))); }) \
    CASE(tsr_layout_is_non_overlapping_and_dense, \
         { ABSURDLY(ck_assert(!tsr_layout_is_non_overlapping_and_dense(n, many, many))); }) \
    CASE(tsr_layout_broadcast, { \
        int64_t out[TSR_MAX_DIMS] = {0}; \
        int k = 0; \
        ABSURDLY(REFUSED(tsr_layout_broadcast(out, &k, many, n))); \
        ABSURDLY(k = n; REFUSED(tsr_layout_broadcast(out, &k, many, 1))); \
    }) \
    CASE(tsr_layout_expand, { \
        int64_t a[TSR_MAX_DIMS], b[TSR_MAX_DIMS]; \
        ABSURDLY(REFUSED(tsr_layout_expand(a, b, n, many, GEOMETRY(0)))); \
        ABSURDLY(REFUSED(tsr_layout_expand(a, b, 1, many, GEOMETRY(n)))); \
        REFUSED(tsr_layout_expand(a, b, 1, many, GEOMETRY(2))); \
    }) \
    CASE(tsr_layout_infer_size, { \
        int64_t out[TSR_MAX_DIMS]; \
        ABSURDLY(REFUSED(tsr_layout_infer_size(out, n, many, 1))); \
    }) \
    CASE(tsr_layout_view_strides, { \
        int64_t out[TSR_MAX_DIMS]; \
        ABSURDLY(ck_assert(!tsr_layout_view_strides(out, n, many, GEOMETRY(1)))); \
        ABSURDLY(ck_assert(!tsr_layout_view_strides(out, 1, many, GEOMETRY(n)))); \
    }) \
    CASE(tsr_layout_unmergeable_dim, { \
        ABSURDLY(ck_assert_int_eq(tsr_layout_unmergeable_dim(n, many, GEOMETRY(1)), -1)); \
        ABSURDLY(ck_assert_int_eq(tsr_layout_unmergeable_dim(1, many, GEOMETRY(n)), -1)); \
    }) \
    CASE(tsr_layout_has_internal_overlap, { \
        TsrGeometry g; \
        ABSURDLY(g = GEOMETRY(n); ck_assert(tsr_layout_has_internal_overlap(&g))); \
    }) \
    CASE(tsr_layout_overlap, { \
        bool known = true; \
        ABSURDLY(ck_assert(tsr_layout_overlap(FOOTPRINT(n), FOOTPRINT(1), NULL, NULL, &known) && !known)); \
    }) \
    CASE(tsr_layout_overlap_status, \
         { ABSURDLY(ck_assert_int_eq(tsr_layout_overlap_status(FOOTPRINT(n), FOOTPRINT(1)), TSR_OVERLAP_TOO_HARD)); }) \
    CASE(tsr_layout_internal_status, \
         { ABSURDLY(ck_assert_int_eq(tsr_layout_internal_status(n, many, many), TSR_OVERLAP_TOO_HARD)); }) \
    CASE(tsr_layout_text, { ABSURDLY(ck_assert(tsr_layout_text(n > HUGE_COUNT ? HUGE_COUNT : n, many)[0] == '[')); }) \
    CASE(tsr_dtype_check, { \
        for (int d = TSR_DTYPE_COUNT; d < TSR_DTYPE_VALUES; d++) REFUSED(tsr_dtype_check((TsrDtype)d)); \
    }) \
    CASE(tsr_dtype_from_name, { \
        ck_assert_int_eq(tsr_dtype_from_name("unknown"), TSR_DTYPE_NONE); \
        ck_assert_int_eq(tsr_dtype_from_name(""), TSR_DTYPE_NONE); \
    }) \
    CASE(tsr_dtype_real_of, { ck_assert_int_eq(tsr_dtype_real_of(UNKNOWN), UNKNOWN); }) \
    CASE(tsr_dtype_complex_of, { ck_assert(tsr_dtype_is_known(tsr_dtype_complex_of(UNKNOWN))); }) \
    CASE(tsr_set_default_dtype, { \
        REFUSED(tsr_set_default_dtype(UNKNOWN)); \
        REFUSED(tsr_set_default_dtype(TSR_INT32)); \
    }) \
    CASE(tsr_scalar_store, { \
        int64_t to = 7; \
        tsr_scalar_store(tsr_scalar_int(1), UNKNOWN, &to); \
        ck_assert_int_eq(to, 7); \
    }) \
    CASE(tsr_scalar_store_checked, { \
        int64_t to = 7; \
        REFUSED(tsr_scalar_store_checked(tsr_scalar_int(1), UNKNOWN, &to)); \
        ck_assert_int_eq(to, 7); \
    }) \
    CASE(tsr_scalar_store_only, { \
        int64_t to = 7; \
        REFUSED(tsr_scalar_store_only(tsr_scalar_int(1), UNKNOWN, &to)); \
        ck_assert_int_eq(to, 7); \
    }) \
    CASE(tsr_scalar_load, { \
        int64_t from = 7; \
        ck_assert_int_eq(tsr_scalar_to_int(tsr_scalar_load(UNKNOWN, &from)), 0); \
    }) \
    CASE(tsr_convert, { \
        int64_t a = 1, b = 7; \
        tsr_convert(UNKNOWN, (char *)&b, 8, F32, (char *)&a, 8, 1); \
        tsr_convert(F32, (char *)&b, 8, UNKNOWN, (char *)&a, 8, 1); \
        tsr_convert(TSR_INT64, (char *)&b, 8, TSR_INT64, (char *)&a, 8, -1); \
        ck_assert_int_eq(b, 7); \
    }) \
    CASE(tsr_promote_types, { \
        ck_assert_int_eq(tsr_promote_types(UNKNOWN, F32), TSR_DTYPE_NONE); \
        ck_assert_int_eq(tsr_promote_types(UNKNOWN, UNKNOWN), TSR_DTYPE_NONE); \
    }) \
    CASE(tsr_promote, { \
        TsrDtype d; \
        REFUSED(tsr_promote(&d, UNKNOWN, F32)); \
        REFUSED(tsr_promote(&d, F32, UNKNOWN)); \
        REFUSED(tsr_promote(&d, UNKNOWN, UNKNOWN)); \
    }) \
    CASE(tsr_result_type, { \
        TsrDtype d; \
        REFUSED(tsr_result_type(&d, &x, -1)); \
    }) \
    CASE(tsr_can_cast, { \
        ck_assert(!tsr_can_cast(UNKNOWN, F32) && !tsr_can_cast(F32, UNKNOWN) && !tsr_can_cast(UNKNOWN, UNKNOWN)); \
    }) \
    CASE(tsr_device_type_name, { ck_assert_str_eq(tsr_device_type_name(UNKNOWN), "unknown"); }) \
    CASE(tsr_device_format, { \
        char text[16]; \
        ck_assert_str_eq(tsr_device_format((TsrDevice){UNKNOWN, -128}, text), "unknown"); \
    }) \
    CASE(tsr_device_missing, { REFUSED(tsr_device_missing((TsrDevice){UNKNOWN, -1})); }) \
    CASE(tsr_device_resolve, { \
        TsrDevice d = {TSR_CPU, -1}; \
        ck_assert_int_eq(tsr_device_resolve(&d), TSR_OK); \
    }) \
    CASE(tsr_device_copy, { \
        char a = 1, b = 2; \
        ck_assert_int_eq(tsr_device_copy(&a, (TsrDevice){TSR_CPU, -1}, &b, (TsrDevice){TSR_CPU, -1}, 0), TSR_OK); \
        ck_assert_int_eq(a, 1); \
    }) \
    CASE(tsr_device_parse, { \
        TsrDevice d; \
        REFUSED(tsr_device_parse(&d, "")); \
        REFUSED(tsr_device_parse(&d, "cpu:")); \
        REFUSED(tsr_device_parse(&d, "cpu:99999999999")); \
    }) \
    CASE(tsr_allocator_active, { ck_assert_ptr_null(tsr_allocator_active(UNKNOWN)); }) \
    CASE(tsr_allocator_find, { ck_assert_ptr_null(tsr_allocator_find(UNKNOWN, "malloc")); }) \
    CASE(tsr_allocator_set, { \
        bool taken; \
        REFUSED(tsr_allocator_set(&taken, UNKNOWN, "malloc", 1)); \
        REFUSED(tsr_allocator_set(&taken, TSR_CPU, "none", 1)); \
    }) \
    CASE(tsr_allocator_register, { \
        static TsrAllocator row = {.name = "wrong", .device = UNKNOWN}; \
        tsr_allocator_register(&row); \
        ck_assert_ptr_null(tsr_allocator_find(UNKNOWN, "wrong")); \
    }) \
    CASE(tsr_allocate, { \
        TsrDataPtr p; \
        REFUSED(tsr_allocate(&p, ((TsrDevice){UNKNOWN, 0}), 8)); \
        REFUSED(tsr_allocate(&p, CPU, SIZE_MAX)); \
    }) \
    CASE(tsr_allocate_from, { \
        TsrDataPtr p; \
        REFUSED(tsr_allocate_from(&p, tsr_allocator_active(TSR_CPU), CPU, SIZE_MAX)); \
    }) \
    CASE(tsr_map_file, { \
        TsrDataPtr p; \
        size_t n; \
        REFUSED(tsr_map_file(&p, &n, "/none/such", 'r', 0, 0)); \
        REFUSED(tsr_map_file(&p, &n, ".", 'r', 0, 0)); \
    }) \
    CASE(tsr_map_descriptor, { \
        TsrDataPtr p; \
        size_t n; \
        REFUSED(tsr_map_descriptor(&p, &n, -1, "none", 'r', 0, 0)); \
    }) \
    CASE(tsr_map_shared, { \
        TsrDataPtr p; \
        REFUSED(tsr_map_shared(&p, SIZE_MAX)); \
    }) \
    CASE(tsr_backend_get, { \
        const TsrBackend *b; \
        REFUSED(tsr_backend_get(&b, UNKNOWN)); \
    }) \
    CASE(tsr_device_copy_as, { \
        char a = 1, b = 2; \
        TsrDevice cpu = {TSR_CPU, -1}; \
        ck_assert_int_eq(tsr_device_copy_as(&a, cpu, &b, cpu, 0, TSR_COPY_WAIT), TSR_OK); \
    }) \
    CASE(tsr_storage_pin, { \
        TsrStorage *s; \
        const TsrBackend *b; \
        ck_assert_int_eq(tsr_storage_new(&s, CPU, 8, F32), TSR_OK); \
        if (tsr_backend_get(&b, TSR_CUDA) != TSR_OK) REFUSED(tsr_storage_pin(s)); \
        tsr_storage_free(s); \
    }) \
    CASE(tsr_rng_new_philox, { \
        TsrGenerator *g; \
        REFUSED(tsr_rng_new_philox(&g, -1)); \
    }) \
    CASE(tsr_rng_get_offset, { \
        uint64_t offset; \
        REFUSED(tsr_rng_get_offset(&offset, tsr_rng_default())); \
    }) \
    CASE(tsr_rng_set_offset, { \
        TsrGenerator *g; \
        REFUSED(tsr_rng_set_offset(tsr_rng_default(), 4)); \
        ck_assert_int_eq(tsr_rng_new_philox(&g, 0), TSR_OK); \
        REFUSED(tsr_rng_set_offset(g, 3)); \
        tsr_rng_free(g); \
    }) \
    CASE(tsr_backend_load, { \
        const TsrBackend *b; \
        REFUSED(tsr_backend_load(&b, "/none/such")); \
    }) \
    CASE(tsr_storage_new, { \
        TsrStorage *s; \
        REFUSED(tsr_storage_new(&s, CPU, 8, UNKNOWN)); \
        REFUSED(tsr_storage_new(&s, ((TsrDevice){UNKNOWN, 0}), 8, F32)); \
        REFUSED(tsr_storage_new(&s, CPU, SIZE_MAX, F32)); \
    }) \
    CASE(tsr_storage_new_with_allocator, { \
        TsrStorage *s; \
        REFUSED(tsr_storage_new_with_allocator(&s, tsr_allocator_active(TSR_CPU), 8, UNKNOWN)); \
    }) \
    CASE(tsr_storage_new_from_file, { \
        TsrStorage *s; \
        REFUSED(tsr_storage_new_from_file(&s, "/none/such", false, 8)); \
    }) \
    CASE(tsr_storage_resize, { REFUSED(tsr_storage_resize(x->storage, SIZE_MAX)); }) \
    CASE(tsr_iter_begin, { \
        REFUSED(begin((TsrIterSpec){.nout = -1, .nin = 1, .in = {x}})); \
        REFUSED(begin((TsrIterSpec){.nout = 5, .nin = 1, .in = {x}})); \
        REFUSED(begin((TsrIterSpec){.nout = 1, .nin = -1})); \
        REFUSED(begin((TsrIterSpec){.nout = 1, .nin = 8, .in = {x}})); \
        REFUSED(begin((TsrIterSpec){.nout = 0, .nin = 0})); \
        REFUSED(begin((TsrIterSpec){.nout = 1, .nin = 1})); \
        REFUSED(begin((TsrIterSpec){.nout = 1, .nin = 1, .in = {x}, .has_dtype = true, .dtype = UNKNOWN})); \
    }) \
    CASE(tsr_iter_check, { \
        REFUSED(tsr_iter_check(&(TsrIterSpec){.nout = -1, .nin = 1, .in = {x}})); \
        REFUSED(tsr_iter_check(&(TsrIterSpec){.nout = 0, .nin = 0})); \
        REFUSED(tsr_iter_check(&(TsrIterSpec){.nout = 1, .nin = 1})); \
    }) \
    CASE(tsr_lines_run, { \
        REFUSED(tsr_lines_run(&x, 0, 0, no_line, NULL, true)); \
        REFUSED(tsr_lines_run(&x, -1, 0, no_line, NULL, true)); \
        REFUSED(tsr_lines_run(&x, 1000, 0, no_line, NULL, true)); \
        REFUSED(tsr_lines_run(&x, 1, -1, no_line, NULL, true)); \
        REFUSED(tsr_lines_run(&x, 1, 2, no_line, NULL, true)); \
    }) \
    CASE(tsr_index_new, { \
        REFUSED(tsr_index_new(&t, x, -1, &x)); \
        REFUSED(tsr_index_new(&t, x, 3, ((TsrTensor *[]){NULL, NULL, NULL}))); \
        REFUSED(tsr_index_new(&t, x, 1, &x)); \
    }) \
    CASE(tsr_index_put, { \
        REFUSED(tsr_index_put(x, -1, &x, x, false)); \
        REFUSED(tsr_index_put(x, 3, ((TsrTensor *[]){NULL, NULL, NULL}), x, false)); \
    }) \
    CASE(tsr_index_get_new, { \
        TsrIndexEntry at = {.kind = (TsrIndexKind)UNKNOWN}; \
        ABSURDLY(REFUSED(tsr_index_get_new(&t, x, &at, n))); \
        REFUSED(tsr_index_get_new(&t, x, &at, 1)); \
    }) \
    CASE(tsr_index_set, { \
        TsrIndexEntry at = {.kind = (TsrIndexKind)UNKNOWN}; \
        ABSURDLY(REFUSED(tsr_index_set(x, &at, n, x, NULL))); \
        REFUSED(tsr_index_set(x, &at, 1, x, NULL)); \
    }) \
    CASE(tsr_index_place_new, { \
        TsrIndexEntry at = {.kind = (TsrIndexKind)UNKNOWN}; \
        bool picks; \
        ABSURDLY(REFUSED(tsr_index_place_new(&t, &picks, x, &at, n))); \
    }) \
    CASE(tsr_index_check_apart, { REFUSED(tsr_index_check_apart(x, -1, &x, x)); }) \
    CASE(tsr_op_find, { \
        ck_assert_ptr_null(tsr_op_find("")); \
        ck_assert_ptr_null(tsr_op_find("add_")); \
    }) \
    CASE(tsr_op_at, { \
        ck_assert_ptr_null(tsr_op_at(-1)); \
        ck_assert_ptr_null(tsr_op_at(INT32_MAX)); \
    }) \
    CASE(tsr_op_run, { \
        const TsrOpSet *set = tsr_op_find("neg"); \
        const TsrSchema *schema; \
        ck_assert_int_eq(tsr_op_schema(&schema, set->ops[0]), TSR_OK); \
        TsrArg arg[TSR_MAX_ARGS + 1] = {{.kind = TSR_ARG_TENSOR, .t = x}}; \
        TsrOpCall call = {.op = set->ops[0], .schema = schema, .arg = arg, .nargs = 0}; \
        REFUSED(tsr_op_run(&call)); \
        call.nargs = -1; \
        REFUSED(tsr_op_run(&call)); \
        call.nargs = TSR_MAX_ARGS + 1; \
        REFUSED(tsr_op_run(&call)); \
        call.nargs = 1; \
        arg[0].kind = (TsrArgKind)77; \
        REFUSED(tsr_op_run(&call)); \
        arg[0] = (TsrArg){.kind = TSR_ARG_INT, .i = 1}; \
        REFUSED(tsr_op_run(&call)); \
        arg[0] = (TsrArg){.kind = TSR_ARG_TENSOR}; \
        REFUSED(tsr_op_run(&call)); \
    }) \
    CASE(tsr_op_register, { \
        static const TsrOp bad = {.schema = "no schema at all"}; \
        REFUSED(tsr_op_register(&bad, 1)); \
        REFUSED(tsr_op_register(&bad, -1)); \
    }) \
    CASE(tsr_invoke_new, { \
        TsrTensor *two[2]; \
        REFUSED(tsr_invoke_new(&t, 1, "none", "t", x)); \
        REFUSED(tsr_invoke_new(&t, 1, "neg", "?", x)); \
        REFUSED(tsr_invoke_new(&t, 1, "neg", "", x)); \
        REFUSED(tsr_invoke_new(&t, -1, "neg", "t", x)); \
        REFUSED(tsr_invoke_new(two, 2, "neg", "t", x)); \
        REFUSED(tsr_invoke_new(&t, INT32_MAX, "neg", "t", x)); \
        REFUSED(tsr_invoke_new(&t, 1, "reshape", "tI", x, -3, many)); \
        REFUSED(tsr_invoke_new(&t, 1, "reshape", "tI", x, HUGE_COUNT, many)); \
        REFUSED(tsr_invoke_new(&t, 1, "zeros", "I", HUGE_COUNT, many)); \
        REFUSED(tsr_invoke_new(&t, 1, "cat", "T", -1, &x)); \
        REFUSED(tsr_invoke_new(&t, 1, "sum", "td", x, UNKNOWN)); \
        REFUSED(tsr_invoke_new(&t, 1, "numel", "t", x)); \
    }) \
    CASE(tsr_parallel_for, { \
        ck_assert_int_eq(tsr_parallel_for(-5, -5, nothing, NULL), TSR_OK); \
        ck_assert_int_eq(tsr_parallel_for(3, INT64_MIN, nothing, NULL), TSR_OK); \
    }) \
    CASE(tsr_set_num_threads, { \
        tsr_set_num_threads(-1); \
        ck_assert_int_eq(tsr_num_threads(), 1); \
        tsr_set_num_threads(INT32_MAX); \
        ck_assert_int_le(tsr_num_threads(), 4096); \
    }) \
    CASE(tsr_load, { \
        TsrItems items; \
        TsrLoadOptions o = tsr_load_options(); \
        REFUSED(tsr_load(&items, "/none/such", NULL)); \
        REFUSED(tsr_load(&items, "/none/such", &(TsrLoadOptions){0})); \
        o.mode = 'x'; \
        REFUSED(tsr_load(&items, "/dev/null", &o)); \
    }) \
    CASE(tsr_load_bytes, { \
        TsrItems items; \
        TsrLoadOptions o = tsr_load_options(); \
        REFUSED(tsr_load_bytes(&items, "x", "", 0, NULL)); \
        REFUSED(tsr_load_bytes(&items, "x.csv", "1,2\n", 4, &(TsrLoadOptions){0})); \
        o.dtype = UNKNOWN; \
        REFUSED(tsr_load_bytes(&items, "x.csv", "1,2\n", 4, &o)); \
        o = tsr_load_options(), o.format = "raw", o.dtype = F32, o.shape = many; \
        ABSURDLY(o.ndim = n; if (n != -1) REFUSED(tsr_load_bytes(&items, "x", "abcd", 4, &o))); \
        o = tsr_load_options(), o.size++; \
        REFUSED(tsr_load_bytes(&items, "x.csv", "1,2\n", 4, &o)); \
        ck_assert_int_eq(tsr_load_bytes(&items, "x.csv", "1,2\n", 4, NULL), TSR_OK); \
        tsr_items_free(&items); \
    }) \
    CASE(tsr_save, { \
        TsrItems none = {0}; \
        REFUSED(tsr_save(&none, "/none/such", NULL)); \
        REFUSED(tsr_save(&none, "/none/such.npy", &(TsrSaveOptions){0})); \
    }) \
    CASE(tsr_write, { \
        TsrSink sink = {.fd = -1, .name = "test"}; \
        TsrItem item = {NULL, x}; \
        TsrSaveOptions o = tsr_save_options(); \
        REFUSED(tsr_write(&sink, &(TsrItems){.items = &item, .n = 1, .single = true}, NULL)); \
        REFUSED(tsr_write(&sink, &(TsrItems){.items = &item, .n = 1, .single = true}, &(TsrSaveOptions){0})); \
        o.format = "none"; \
        REFUSED(tsr_write(&sink, &(TsrItems){.items = &item, .n = 1, .single = true}, &o)); \
        o.format = "npz"; \
        REFUSED(tsr_write(&sink, &(TsrItems){.items = &item, .n = -1}, &o)); \
        REFUSED(tsr_write(&sink, &(TsrItems){.items = &item, .n = 1}, &o)); \
        tsr_text_free(&sink.text); \
    }) \
    CASE(tsr_load_records, { \
        TsrRecords records; \
        TsrLoadOptions o = tsr_load_options(); \
        REFUSED(tsr_load_records(&records, "/none/such", NULL)); \
        REFUSED(tsr_load_records(&records, "/dev/null", &(TsrLoadOptions){0})); \
        o.mode = 'x'; \
        REFUSED(tsr_load_records(&records, "/dev/null", &o)); \
        o = tsr_load_options(), o.dtype = UNKNOWN; \
        REFUSED(tsr_load_records(&records, "/dev/null", &o)); \
        o = tsr_load_options(), o.size++; \
        REFUSED(tsr_load_records(&records, "/dev/null", &o)); \
    }) \
    CASE(tsr_chunks_new, { \
        TsrChunks *chunks; \
        TsrLoadOptions o = tsr_load_options(); \
        REFUSED(tsr_chunks_new(&chunks, "/none/such", NULL, NULL)); \
        REFUSED(tsr_chunks_new(&chunks, "/dev/null", &(TsrLoadOptions){0}, NULL)); \
        REFUSED(tsr_chunks_new(&chunks, "/dev/null", &o, NULL)); \
        tsr_chunks_free(NULL); \
    }) \
    CASE(tsr_chunks_next, { \
        TsrChunks *chunks; \
        TsrItems items; \
        bool more; \
        TsrLoadOptions o = tsr_load_options(); \
        o.format = "raw"; \
        ck_assert_int_eq(tsr_chunks_new(&chunks, "/dev/null", &o, NULL), TSR_OK); \
        REFUSED(tsr_chunks_next(&items, &more, chunks, 0)); \
        REFUSED(tsr_chunks_next(&items, &more, chunks, -1)); \
        tsr_chunks_free(chunks); \
    }) \
    CASE(tsr_chunks_check, { \
        TsrChunks *chunks; \
        TsrLoadOptions o = tsr_load_options(); \
        o.format = "raw"; \
        ck_assert_int_eq(tsr_chunks_new(&chunks, "/dev/null", &o, NULL), TSR_OK); \
        REFUSED(tsr_chunks_check(chunks)); \
        tsr_chunks_free(chunks); \
    }) \
    CASE(tsr_chunks_go_on, { \
        TsrChunks *chunks; \
        TsrLoadOptions o = tsr_load_options(); \
        o.format = "raw"; \
        ck_assert_int_eq(tsr_chunks_new(&chunks, "/dev/null", &o, NULL), TSR_OK); \
        ck_assert(!tsr_chunks_go_on(chunks)); \
        tsr_chunks_free(chunks); \
    }) \
    CASE(tsr_chunks_rest, { \
        TsrChunks *chunks; \
        TsrRecords records; \
        TsrLoadOptions o = tsr_load_options(); \
        o.format = "raw"; \
        ck_assert_int_eq(tsr_chunks_new(&chunks, "/dev/null", &o, NULL), TSR_OK); \
        REFUSED(tsr_chunks_rest(&records, chunks)); \
        tsr_chunks_free(chunks); \
    }) \
    CASE(tsr_edit, { \
        bool fits; \
        TsrItem item = {NULL, x}; \
        const TsrItems items = {.items = &item, .n = 1, .single = true}; \
        TsrLoadOptions o = tsr_load_options(); \
        const TsrSaveOptions w = tsr_save_options(); \
        REFUSED(tsr_edit(&fits, &items, "/none/such", NULL, NULL)); \
        REFUSED(tsr_edit(&fits, &items, "/dev/null", &(TsrLoadOptions){0}, &w)); \
        REFUSED(tsr_edit(&fits, &items, "/dev/null", &o, &(TsrSaveOptions){0})); \
        REFUSED(tsr_edit(&fits, &items, "/dev/null", &o, &(TsrSaveOptions){.size = sizeof w + 1})); \
        ABSURDLY(o.ndim = n; if (n != -1) REFUSED(tsr_edit(&fits, &items, "/dev/null", &o, &w))); \
        ck_assert(!fits); \
    }) \
    CASE(tsr_format_of, { \
        const TsrFormat *format = NULL; \
        TsrInput in = {.name = "x", .data = "", .size = 0}; \
        REFUSED(tsr_format_of(&format, &in, "none")); \
        REFUSED(tsr_format_of(&format, &in, NULL)); \
    }) \
    CASE(tsr_storage_new_pinned, { \
        TsrStorage *s; \
        REFUSED(tsr_storage_new_pinned(&s, SIZE_MAX)); \
    }) \
    CASE(tsr_table_new, { \
        TsrTable *table; \
        REFUSED(tsr_table_new(&table, -1)); \
    }) \
    CASE(tsr_time_unit_name, { ck_assert_str_eq(tsr_time_unit_name((TsrTimeUnit)UNKNOWN), "?"); }) \
    CASE(tsr_device_will_wait, { \
        tsr_sync_debug_mode = TSR_SYNC_FAILS; \
        REFUSED(tsr_device_will_wait()); \
        tsr_sync_debug_mode = TSR_SYNC_WARNS; /* without anybody to be told */ \
        ck_assert_int_eq(tsr_device_will_wait(), TSR_OK); \
        tsr_sync_debug_mode = TSR_SYNC_SILENT; \
    }) \
    CASE(tsr_device_uses, { \
        char a = 1; \
        tsr_device_uses(&a, (TsrDevice){UNKNOWN, 99}, 1, true); \
        tsr_device_uses(&a, CPU, 1, true); \
        ck_assert_int_eq(a, 1); \
    }) \
    CASE(tsr_text_reserve, { \
        TsrText text = {0}; \
        ck_assert_int_eq(tsr_text_reserve(&text, SIZE_MAX), TSR_MEMORY_ERROR); \
    }) \
    CASE(tsr_error_errno, { \
        REFUSED(tsr_error_errno(-1, NULL)); \
        REFUSED(tsr_error_errno(INT32_MAX, "x")); \
    }) \
    CASE(tsr_print_tensor, { \
        TsrText text = {0}; \
        ABSURDLY(if (n < 1000)(void) tsr_print_tensor(&text, x, n)); \
        tsr_text_free(&text); \
        ck_assert_int_eq(tsr_print_tensor(&text, x, 0), TSR_OK); \
        tsr_text_free(&text); \
    }) \
    CASE(tsr_index_check_rows, { \
        REFUSED(tsr_index_check_rows(x, 2, 1)); \
        REFUSED(tsr_index_check_rows(x, INT64_MIN, 1)); \
        REFUSED(tsr_index_check_rows(x, 0, -1)); \
    }) \
    CASE(tsr_index_check_mask, { \
        TsrTensor *mask; \
        ck_assert_int_eq(tsr_invoke_new(&mask, 1, "gt", "tt", x, x), TSR_OK); \
        ABSURDLY(if (n != 0) REFUSED(tsr_index_check_mask(x, mask, n))); \
        tsr_tensor_free(mask); \
    }) \
    CASE(tsr_maybe_expect_contiguous, { \
        TsrMaybeOwned m; \
        REFUSED(tsr_maybe_expect_contiguous(&m, x, (TsrMemoryFormat)UNKNOWN)); \
    }) \
    CASE(tsr_tree_add, { \
        TsrTree tree = {0}; \
        TsrNode *node; \
        REFUSED(tsr_tree_add(&node, &tree, (TsrNodeKind)UNKNOWN)); \
        tsr_tree_free(&tree); \
    }) \
    CASE(tsr_rng_words, { \
        uint32_t word = 7; \
        tsr_rng_words(tsr_rng_default(), &word, INT64_MIN); \
        ck_assert_uint_eq(word, 7); \
    }) \
    CASE(tsr_format_unnamed, { REFUSED(tsr_format_unnamed("x.odd", "x.odd")); }) \
    CASE(tsr_format_names, { \
        char names[4]; \
        ck_assert_int_lt((int)strlen(tsr_format_names(names, sizeof names, "nothing", ", ", " or ")), 4); \
    }) \
    CASE(tsr_items_remark_raw, { \
        TsrItems items = {0}; \
        REFUSED(tsr_items_remark_raw(&items, "key", "value", "", SIZE_MAX)); \
        ck_assert_int_eq(items.nremarks, 0); \
        ck_assert_int_eq(tsr_items_remark_raw(&items, "key", "value", NULL, SIZE_MAX), TSR_OK); \
        ck_assert_uint_eq(items.remarks[0].raw_length, 0); \
        tsr_items_free(&items); \
    }) \
    CASE(tsr_format_find, { ck_assert_ptr_null(tsr_format_find("")); }) \
    CASE(tsr_format_for_path, { \
        ck_assert_ptr_null(tsr_format_for_path("")); \
        ck_assert_ptr_null(tsr_format_for_path("a/.b/c")); \
    }) \
    CASE(tsr_input_open, { \
        TsrInput in; \
        REFUSED(tsr_input_open(&in, "/none/such", 'c', NULL)); \
    }) \
    CASE(tsr_rng_set_state, { \
        uint8_t bytes[8] = {0}; \
        REFUSED(tsr_rng_set_state(tsr_rng_default(), bytes, sizeof bytes)); \
    }) \
    CASE(tsr_malloc, { ck_assert_ptr_null(tsr_malloc(SIZE_MAX)); }) \
    CASE(tsr_malloc_array, { ck_assert_ptr_null(tsr_malloc_array(SIZE_MAX, SIZE_MAX)); }) \
    CASE(tsr_calloc, { ck_assert_ptr_null(tsr_calloc(SIZE_MAX, SIZE_MAX)); }) \
    CASE(tsr_realloc, { ck_assert_ptr_null(tsr_realloc(NULL, SIZE_MAX)); }) \
    CASE(tsr_text_pad, { \
        TsrText text = {0}; \
        ck_assert_int_eq(tsr_text_pad(&text, 'x', SIZE_MAX), TSR_MEMORY_ERROR); \
        ck_assert_ptr_null(text.data); \
    }) \
    CASE(tsr_text_append, { \
        TsrText text = {0}; \
        ck_assert_int_eq(tsr_text_append(&text, "", SIZE_MAX), TSR_MEMORY_ERROR); \
        ck_assert_ptr_null(text.data); \
    }) \
    CASE(tsr_status_name, { \
        ck_assert_str_eq(tsr_status_name((TsrStatus)-1), "Exception"); \
        ck_assert_str_eq(tsr_status_name((TsrStatus)9999), "Exception"); \
    }) \
    CASE(tsr_status_base, { ck_assert_int_ne((int)tsr_status_base((TsrStatus)9999), TSR_OK); }) \
    CASE(tsr_status_is_a, { ck_assert(!tsr_status_is_a((TsrStatus)9999, TSR_VALUE_ERROR)); }) \
    CASE(tsr_error, { \
        REFUSED(tsr_error(TSR_OK, "an error of no kind")); \
        REFUSED(tsr_error((TsrStatus)9999, "an error of no kind")); \
    }) \
    CASE(tsr_error_shapes, { \
        ABSURDLY(tsr_error_shapes(n, many, 1, many, 0)); \
        tsr_error_shapes(1, many, 1, many, 50); \
        tsr_error_shapes(1, many, 1, many, -50); \
    }) \
    CASE(tsr_columns_new, { \
        TsrColumns *c; \
        REFUSED(tsr_columns_new(&c, NULL, -1, ',')); \
    }) \
    CASE(tsr_column_name, { \
        ck_assert_ptr_null(tsr_column_name(x, -1)); \
        ck_assert_ptr_null(tsr_column_name(x, INT64_MAX)); \
    }) \
    CASE(tsr_backend_name, { ck_assert_str_eq(tsr_backend_name(x), "CPU"); })

/* What no case is needed of, by its full name, and why. A pointer is the caller's to get right (tsr.h). */
static const struct {
    const char *why, *names[80];
} excused[] = {
    {"takes nothing", {"tsr_allocator_first",   "tsr_calls_left",
                       "tsr_catch_faults",      "tsr_columns_were_moved",
                       "tsr_default_complex",   "tsr_default_dtype",
                       "tsr_empty_cache",       "tsr_error_clear",
                       "tsr_error_hint_text",   "tsr_error_kind",
                       "tsr_error_message",     "tsr_interrupt_raise",
                       "tsr_interrupt_request", "tsr_interrupt_request_timeout",
                       "tsr_io_in_sandbox",     "tsr_mem_inject_failure",
                       "tsr_mem_live_blocks",   "tsr_mem_live_bytes",
                       "tsr_memory_limit",      "tsr_memory_live",
                       "tsr_memory_mapped",     "tsr_memory_peak",
                       "tsr_num_threads",       "tsr_op_count",
                       "tsr_parallel_width",    "tsr_print_options",
                       "tsr_rng_default",       "tsr_save_abandon",
                       "tsr_storage_first",     "tsr_storage_last_serial",
                       "tsr_tensor_live",       "tsr_tensor_new_undefined"}},
    {"takes one object that has to be alive, and no number",
     {"tsr_column_type",
      "tsr_nonzero_check",
      "tsr_words_retain",
      "tsr_words_free",
      "tsr_word_set_free",
      "tsr_time_unit",
      "tsr_table_free",
      "tsr_table_column_clear",
      "tsr_rng_device",
      "tsr_rng_position",
      "tsr_rng_use",
      "tsr_rng_state_bytes",
      "tsr_column_count",
      "tsr_columns_free",
      "tsr_columns_known",
      "tsr_dataptr_release",
      "tsr_error_shapes_text",
      "tsr_free",
      "tsr_io_check_readable",
      "tsr_io_check_writable",
      "tsr_io_may_read",
      "tsr_io_part",
      "tsr_io_permit",
      "tsr_is_dense",
      "tsr_items_free",
      "tsr_maybe_borrowed",
      "tsr_maybe_end",
      "tsr_op_release_returns",
      "tsr_records_free",
      "tsr_chunks_free",
      "tsr_rng_free",
      "tsr_rng_initial_seed",
      "tsr_rng_new",
      "tsr_rng_normal_double",
      "tsr_rng_retain",
      "tsr_rng_seed_from_system",
      "tsr_rng_u32",
      "tsr_rng_u64",
      "tsr_rng_uniform_double",
      "tsr_rng_uniform_float",
      "tsr_sink_flush",
      "tsr_storage_free",
      "tsr_storage_id",
      "tsr_storage_is_pinned",
      "tsr_storage_retain",
      "tsr_storage_share_memory",
      "tsr_tensor_free",
      "tsr_tensor_reset",
      "tsr_tensor_retain",
      "tsr_tensor_retain_base",
      "tsr_tensor_retain_source",
      "tsr_tensor_weak_free",
      "tsr_tensor_weak_new",
      "tsr_tensor_weak_retain",
      "tsr_text_free",
      "tsr_text_move",
      "tsr_tree_free",
      "tsr_version_free"}},
    {"takes a value of a type of which every bit pattern is one",
     {"tsr_bfloat16_from_float",
      "tsr_bfloat16_to_float",
      "tsr_float8_e4m3fn_from_float",
      "tsr_float8_e4m3fn_to_float",
      "tsr_float8_e4m3fnuz_from_float",
      "tsr_float8_e4m3fnuz_to_float",
      "tsr_float8_e5m2_from_float",
      "tsr_float8_e5m2_to_float",
      "tsr_float8_e5m2fnuz_from_float",
      "tsr_float8_e5m2fnuz_to_float",
      "tsr_float8_e8m0fnu_from_float",
      "tsr_float8_e8m0fnu_to_float",
      "tsr_format_double",
      "tsr_format_float",
      "tsr_half_from_float",
      "tsr_half_to_float",
      "tsr_io_set_sandbox",
      "tsr_mem_when_short",
      "tsr_scalar_dtype",
      "tsr_scalar_to_bool",
      "tsr_scalar_to_double",
      "tsr_scalar_to_int",
      "tsr_tensor_check",
      "tsr_tensor_fill",
      "tsr_tensor_new_wrapped",
      "tsr_text_putc"}},
    {"takes pointers that have to be what their types say, and bytes that have to be there",
     {"tsr_words_rank",
      "tsr_words_find",
      "tsr_word_hash",
      "tsr_word_set_add",
      "tsr_word_set_find",
      "tsr_word_set_new_words",
      "tsr_time_unit_find",
      "tsr_time_parse",
      "tsr_table_add_move",
      "tsr_time_format",
      "tsr_columns_follow",
      "tsr_columns_set_move",
      "tsr_copy_long",
      "tsr_deallocate",
      "tsr_fill_long",
      "tsr_guard_label",
      "tsr_input_new_storage",
      "tsr_input_part",
      "tsr_io_quote",
      "tsr_is_same_view",
      "tsr_items_add_move",
      "tsr_items_only",
      "tsr_items_remark",
      "tsr_items_single_move",
      "tsr_iter_check_partial_overlap",
      "tsr_iter_run",
      "tsr_iter_run_kernel",
      "tsr_memory_check",
      "tsr_node_append",
      "tsr_nonzero_new",
      "tsr_old_type_text",
      "tsr_op_schema",
      "tsr_overlaps_elsewhere",
      "tsr_parse_double",
      "tsr_parse_int64",
      "tsr_refuse_backend",
      "tsr_rng_get_state",
      "tsr_sink_puts",
      "tsr_sink_write",
      "tsr_storage_new_adopt_move",
      "tsr_tensor_bump",
      "tsr_tensor_copy",
      "tsr_tensor_copy_flipped",
      "tsr_tensor_copy_later",
      "tsr_tensor_new_alias",
      "tsr_tensor_new_base",
      "tsr_tensor_new_conj",
      "tsr_tensor_new_data",
      "tsr_tensor_new_real",
      "tsr_tensor_new_resolved",
      "tsr_text_puts",
      "tsr_tree_add_text",
      "tsr_utf8_invalid",
      "tsr_utf8_sequence"}},
    {"takes printf's arguments, which the compiler checks",
     {"tsr_error_hint", "tsr_input_error", "tsr_items_note", "tsr_text_printf"}},
    {"takes a number that may be any: a limit, a count, a seed, a number to print",
     {"tsr_rng_of_device", "tsr_error_no_memory", "tsr_format_integer", "tsr_mem_fail_at", "tsr_mem_fits",
      "tsr_mem_reserve", "tsr_mem_set_limit", "tsr_rng_begin", "tsr_rng_seed", "tsr_rng_take", "tsr_set_memory_limit"}},
    {"takes the status of an error that is set, or TSR_OK", {"tsr_iter_end_move", "tsr_parallel_fail"}},
};

#define CASE(name, ...) static void misuse_##name(void) __VA_ARGS__
CASES(CASE)
#undef CASE
static const struct {
    const char *name;
    void (*fn)(void);
} cases[] = {
#define CASE(name, ...) {#name, misuse_##name},
    CASES(CASE)
#undef CASE
};

static bool has_case(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++)
        if (strcmp(cases[i].name, name) == 0) return true;
    return false;
}

static bool used[TSR_COUNTOF(excused)][TSR_COUNTOF(excused[0].names)];

static bool is_excused(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(excused); i++)
        for (size_t k = 0; k < TSR_COUNTOF(excused[i].names) && excused[i].names[k] != NULL; k++) {
            if (strcmp(excused[i].names[k], name) != 0) continue;
            used[i][k] = true;
            return true;
        }
    return false;
}

/* An excuse of a function that is gone, or has a case. */
static void check_excuses(void) {
    for (size_t i = 0; i < TSR_COUNTOF(excused); i++)
        for (size_t k = 0; k < TSR_COUNTOF(excused[i].names) && excused[i].names[k] != NULL; k++)
            ck_assert_msg(used[i][k], "%s is excused for nothing", excused[i].names[k]);
}

/* The function that a line of a header declares: a name before a bracket, at the line's outermost level, of a line that
 * begins with a type. */
static bool declared(char *name, const char *line) {
    if (!isalpha((unsigned char)line[0]) || strncmp(line, "static", 6) == 0 || strncmp(line, "typedef", 7) == 0 ||
        strncmp(line, "extern", 6) == 0)
        return false;
    const char *bracket = strchr(line, '('), *p = bracket;
    if (bracket == NULL) return false;
    while (p > line && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) p--;
    if (p == line || strncmp(p, "tsr_", 4) != 0) return false;
    memcpy(name, p, (size_t)(bracket - p));
    name[bracket - p] = '\0';
    return true;
}

static int check_header(const char *path) {
    char line[4096], name[sizeof line];
    int found = 0;
    bool exported = false;
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "TSR_PUBLIC_", 11) == 0) exported = line[11] == 'B';
        if (!exported || !declared(name, line)) continue;
        ck_assert_msg(has_case(name) != is_excused(name),
                      "%s: %s has to have a case in test_api_misuse.c, or an excuse", path, name);
        found++;
    }
    fclose(file);
    return found;
}

START_TEST(every_exported_function_has_a_case) {
    DIR *folder = opendir(HEADERS);
    int found = 0;
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        char path[600];
        size_t n = strlen(e->d_name);
        if (n < 3 || strcmp(e->d_name + n - 2, ".h") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", HEADERS, e->d_name);
        found += check_header(path);
    }
    closedir(folder);
    check_excuses();
    ck_assert_int_gt(found, 200);
}
END_TEST

START_TEST(what_no_caller_may_mean_is_refused) {
    for (int i = 0; i < HUGE_COUNT; i++) many[i] = 1;
    ck_assert_int_eq(tsr_tensor_new(&x, 2, (int64_t[]){2, 3}, F32, CPU), TSR_OK);
    ck_assert_int_eq(tsr_tensor_fill(x, tsr_scalar_int(1)), TSR_OK);
    const char *only = getenv("TSR_TEST_CASE");
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        if (only != NULL && strcmp(only, cases[i].name) != 0) continue;
        mark_point();
        int64_t live = tsr_tensor_live(), bytes = tsr_memory_live();
        if (only != NULL) fprintf(stderr, "%s\n", cases[i].name);
        cases[i].fn();
        ck_assert_msg(tsr_tensor_live() == live && tsr_memory_live() == bytes, "%s left something behind",
                      cases[i].name);
        ck_assert_msg(tsr_ndim(x) == 2 && x->numel == 6 && tsr_tensor_refcount(x) == 1, "%s changed its argument",
                      cases[i].name);
    }
    tsr_tensor_free(x);
}
END_TEST

TEST_SUITE(api_misuse, every_exported_function_has_a_case, what_no_caller_may_mean_is_refused)
