/* tensor.h, storage.h, view.h: geometry, sharing, counts, versions, copies; and that failures leave nothing behind. */
#include <pthread.h>

#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/borrow.h"
#include "core/mem.h"

static TsrTensor *arange(int ndim, const int64_t *sizes, TsrDtype dtype) {
    TsrTensor *t;
    ck_assert_int_eq(tsr_tensor_new(&t, ndim, sizes, dtype, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < t->numel; i++)
        tsr_scalar_store(tsr_scalar_int(i), dtype, (char *)tsr_data(t) + i * (int64_t)tsr_itemsize(t));
    return t;
}
#define ARANGE(dtype, ...) arange((int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__}, dtype)
static double at(const TsrTensor *t, int64_t i) { return tsr_scalar_to_double(tsr_tensor_get(t, i)); }

static void check_ints(const int64_t *got, int n, const int64_t *want) {
    for (int i = 0; i < n; i++) ck_assert_int_eq(got[i], want[i]);
}
#define CHECK_INTS(got, n, ...) check_ints(got, n, (int64_t[]){__VA_ARGS__})

START_TEST(a_view_holds_the_storage_and_not_its_base) {
    TsrTensor *x = ARANGE(TSR_FLOAT32, 2, 3), *v, *w, *base;
    ck_assert_int_eq(tsr_tensor_new_transpose(&v, x, 0, 1), TSR_OK);
    ck_assert_int_eq(tsr_tensor_refcount(x), 1);
    ck_assert_int_eq(tsr_storage_refcount(x->storage), 2);
    ck_assert_int_eq(tsr_tensor_new_select(&w, v, 0, 1), TSR_OK);
    base = tsr_tensor_retain_base(w);
    ck_assert_ptr_eq(base, x);
    tsr_tensor_free(base);
    tsr_tensor_bump(w, "fill_");
    ck_assert_int_eq(tsr_tensor_version(x), 1);
    tsr_tensor_free(x);
    ck_assert_ptr_null(tsr_tensor_retain_base(w));
    ck_assert_int_eq(tsr_tensor_new_base(&base, w), TSR_OK);
    ck_assert_int_eq(tsr_ndim(base), 2);
    CHECK_INTS(base->sizes, 2, 2, 3);
    ck_assert_ptr_null(base->base);
    tsr_tensor_free(base);
    ck_assert(at(w, 0) == 1 && at(w, 1) == 4);
    tsr_tensor_free(v);
    tsr_tensor_free(w);
}
END_TEST

START_TEST(data_has_a_version_of_its_own) {
    TsrTensor *x = ARANGE(TSR_INT64, 4), *d, *v;
    tsr_tensor_bump(x, "add_");
    ck_assert_int_eq(tsr_tensor_new_data(&d, x), TSR_OK);
    ck_assert_int_eq(tsr_tensor_version(d), 0);
    ck_assert_int_eq(tsr_tensor_new_alias(&v, d), TSR_OK);
    tsr_tensor_bump(v, "add_");
    ck_assert_int_eq(tsr_tensor_version(d), 1);
    ck_assert_int_eq(tsr_tensor_version(x), 1);
    tsr_tensor_free(d);
    tsr_tensor_free(x);
    ck_assert_int_eq(tsr_tensor_version(v), 1);
    tsr_tensor_free(v);
}
END_TEST

START_TEST(many_dimensions_live_outside_the_struct) {
    TsrTensor *x = ARANGE(TSR_INT8, 1, 2, 1, 2, 1, 2, 1), *s, *u;
    ck_assert_int_eq(tsr_ndim(x), 7);
    ck_assert_int_eq(tsr_tensor_new_squeeze(&s, x, -1, NULL), TSR_OK);
    CHECK_INTS(s->sizes, 3, 2, 2, 2);
    CHECK_INTS(s->strides, 3, 4, 2, 1);
    ck_assert_int_eq(tsr_tensor_new_unsqueeze(&u, x, -1), TSR_OK);
    ck_assert_int_eq(tsr_ndim(u), 8);
    ck_assert_int_eq(tsr_tensor_set_geometry(x, (TsrGeometry){1, (int64_t[]){3}, (int64_t[]){2}, 1}), TSR_OK);
    ck_assert(at(x, 2) == 5);
    ck_assert_int_eq(
        tsr_tensor_set_geometry(x, (TsrGeometry){6, (int64_t[]){1, 1, 1, 1, 2, 2}, (int64_t[]){4, 4, 4, 4, 2, 1}, 0}),
        TSR_OK);
    ck_assert_int_eq(x->numel, 4);
    tsr_tensor_free(x);
    tsr_tensor_free(s);
    tsr_tensor_free(u);
}
END_TEST

START_TEST(geometry_is_checked_against_the_storage) {
    TsrTensor *x = ARANGE(TSR_FLOAT32, 6), *v;
    ck_assert_int_eq(
        tsr_tensor_new_over(&v, x->storage, (TsrGeometry){2, (int64_t[]){2, 3}, (int64_t[]){10, 1}, 0}, TSR_FLOAT32),
        TSR_RUNTIME_ERROR);
    ck_assert_str_eq(
        tsr_error_message(),
        "setStorage: sizes [2, 3], strides [10, 1], storage offset 0, and itemsize 4 requiring a storage size of 52 "
        "are out of "
        "bounds for storage of size 24");
    ck_assert_int_eq(
        tsr_tensor_new_over(&v, x->storage, (TsrGeometry){1, (int64_t[]){2}, (int64_t[]){INT64_MAX}, 0}, TSR_FLOAT32),
        TSR_RUNTIME_ERROR);
    ck_assert_int_eq(
        tsr_tensor_new_over(&v, x->storage, (TsrGeometry){1, (int64_t[]){2}, (int64_t[]){-1}, 3}, TSR_FLOAT32),
        TSR_RUNTIME_ERROR);
    ck_assert_int_eq(
        tsr_tensor_new_over(&v, x->storage, (TsrGeometry){1, (int64_t[]){2}, (int64_t[]){1}, -1}, TSR_FLOAT32),
        TSR_RUNTIME_ERROR);
    ck_assert_int_eq(
        tsr_tensor_new_over(&v, x->storage, (TsrGeometry){1, (int64_t[]){0}, (int64_t[]){1}, 500}, TSR_FLOAT32),
        TSR_OK);
    tsr_tensor_free(v);
    tsr_tensor_free(x);
}
END_TEST

START_TEST(a_shrunk_storage_is_reported_on_use) {
    TsrTensor *x = ARANGE(TSR_FLOAT32, 6), *v;
    ck_assert_int_eq(tsr_tensor_new_narrow(&v, x, 0, 0, 2), TSR_OK);
    ck_assert_int_eq(tsr_storage_resize(x->storage, 8), TSR_OK);
    ck_assert_int_eq(tsr_tensor_check(v, true), TSR_OK);
    ck_assert_int_eq(tsr_tensor_check(x, false), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "it needs 24 bytes, and 8 are there"));
    ck_assert_int_eq(tsr_storage_resize(x->storage, 40), TSR_OK);
    ck_assert_int_eq(tsr_tensor_check(x, false), TSR_OK);
    ck_assert(at(x, 1) == 1);
    tsr_tensor_free(x);
    tsr_tensor_free(v);
}
END_TEST

START_TEST(strings_are_constructed_and_destroyed) {
    TsrTensor *x, *y, *v;
    int64_t blocks = tsr_mem_live_blocks();
    ck_assert_int_eq(tsr_tensor_new(&x, 1, (int64_t[]){3}, TSR_STRING, TSR_DEVICE_CPU), TSR_OK);
    TsrString *s = tsr_data(x);
    for (int i = 0; i < 3; i++) {
        s[i].data = tsr_malloc(4);
        memcpy(s[i].data, "abc", 4);
        s[i].length = 3;
    }
    ck_assert_int_eq(tsr_tensor_new_slice(&v, x, 0, 0, 3, 2), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_clone(&y, v, TSR_CONTIGUOUS), TSR_OK);
    ck_assert_int_eq(y->numel, 2);
    ck_assert_str_eq(((TsrString *)tsr_data(y))[1].data, "abc");
    ck_assert_ptr_ne(((TsrString *)tsr_data(y))[1].data, s[2].data);
    ck_assert_int_eq(tsr_storage_resize(x->storage, sizeof(TsrString)), TSR_OK);
    tsr_tensor_free(v);
    tsr_tensor_free(x);
    tsr_tensor_free(y);
    tsr_empty_cache();
    ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
}
END_TEST

START_TEST(expect_contiguous_borrows_or_owns) {
    TsrTensor *x = ARANGE(TSR_FLOAT32, 2, 3), *v;
    TsrMaybeOwned m;
    ck_assert_int_eq(tsr_maybe_expect_contiguous(&m, x, TSR_CONTIGUOUS), TSR_OK);
    ck_assert(!m.owned && m.tensor == x && tsr_tensor_refcount(x) == 1);
    tsr_maybe_end(&m);
    ck_assert_int_eq(tsr_tensor_new_transpose(&v, x, 0, 1), TSR_OK);
    ck_assert_int_eq(tsr_maybe_expect_contiguous(&m, v, TSR_CONTIGUOUS), TSR_OK);
    ck_assert(m.owned && m.tensor != v);
    tsr_maybe_end(&m);
    tsr_tensor_free(x);
    tsr_tensor_free(v);
}
END_TEST

/* --- threads --- */

enum { THREAD_ROUNDS = 20000 };

/* What two threads may do at once with one tensor: hold it, view it, let go, and write to elements of their own. */
static void *share(void *half) {
    TsrTensor *mine = half, *view;
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        TsrTensor *held = tsr_tensor_retain(mine), *weak = tsr_tensor_weak_new(held);
        TsrStorage *storage = tsr_storage_retain(held->storage);
        if (tsr_tensor_new_narrow(&view, held, 0, 0, 2) == TSR_OK) {
            (void)tsr_tensor_fill(view, tsr_scalar_int(i));
            tsr_tensor_bump(view, "fill_");
            tsr_tensor_free(view);
        }
        tsr_storage_free(storage);
        tsr_tensor_free(held);
        tsr_tensor_weak_free(weak);
    }
    return NULL;
}

START_TEST(counts_stay_right_on_two_threads) {
    TsrTensor *x = ARANGE(TSR_FLOAT32, 4), *low, *high;
    pthread_t other;
    ck_assert_int_eq(tsr_tensor_new_narrow(&low, x, 0, 0, 2), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_narrow(&high, x, 0, 2, 2), TSR_OK);
    int32_t storages = tsr_storage_refcount(x->storage);
    ck_assert_int_eq(pthread_create(&other, NULL, share, low), 0);
    share(high);
    pthread_join(other, NULL);
    ck_assert_int_eq(tsr_tensor_refcount(low), 1);
    ck_assert_int_eq(tsr_tensor_refcount(high), 1);
    ck_assert_int_eq(tsr_storage_refcount(x->storage), storages);
    ck_assert_int_eq(tsr_tensor_version(x), 2 * THREAD_ROUNDS);
    ck_assert(at(x, 0) == THREAD_ROUNDS - 1 && at(x, 3) == THREAD_ROUNDS - 1);
    tsr_tensor_free(low);
    tsr_tensor_free(high);
    tsr_tensor_free(x);
}
END_TEST

/* --- every allocation may fail --- */

static TsrStatus work(void) {
    TsrTensor *x = NULL, *v = NULL, *c = NULL, *d = NULL, *s = NULL;
    TsrStatus status = tsr_tensor_new(&x, 6, (int64_t[]){1, 2, 1, 3, 1, 40}, TSR_FLOAT32, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = tsr_tensor_fill(x, tsr_scalar_int(1));
    if (status == TSR_OK) status = tsr_tensor_new_transpose(&v, x, 1, 3);
    if (status == TSR_OK) status = tsr_tensor_new_reshape(&c, v, 1, (int64_t[]){-1});
    if (status == TSR_OK) status = tsr_tensor_new_data(&d, c);
    if (status == TSR_OK) status = tsr_tensor_resize(c, 7, (int64_t[]){2, 2, 2, 2, 2, 2, 20}, TSR_CONTIGUOUS);
    if (status == TSR_OK)
        status = tsr_tensor_set_storage(d, x->storage, (TsrGeometry){1, (int64_t[]){5}, (int64_t[]){2}, 0});
    if (status == TSR_OK) status = tsr_tensor_new(&s, 1, (int64_t[]){4}, TSR_STRING, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = tsr_storage_share_memory(x->storage);
    tsr_tensor_free(x);
    tsr_tensor_free(v);
    tsr_tensor_free(c);
    tsr_tensor_free(d);
    tsr_tensor_free(s);
    return status;
}

START_TEST(every_failing_allocation_leaves_nothing_behind) {
    tsr_empty_cache();
    int64_t blocks = tsr_mem_live_blocks(), live = tsr_memory_live(), mapped = tsr_memory_mapped();
    for (int64_t n = 1;; n++) {
        tsr_empty_cache();
        tsr_mem_fail_at(n);
        TsrStatus status = work();
        int64_t made = tsr_mem_fail_at(0);
        tsr_empty_cache();
        ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
        ck_assert_int_eq(tsr_memory_live(), live);
        ck_assert_int_eq(tsr_memory_mapped(), mapped);
        ck_assert_ptr_null(tsr_storage_first());
        if (made < n) {
            ck_assert_int_eq(status, TSR_OK);
            ck_assert_int_gt(n, 10);
            return;
        }
        ck_assert_int_ne(status, TSR_OK);
    }
}
END_TEST

/* --- structs are used again --- */

/* Structs of tensors come back from the free list: a view asks for no memory once one has been made. */
START_TEST(views_ask_for_no_memory) {
    TsrTensor *view, *x = ARANGE(TSR_FLOAT32, 3);
    for (int i = 0; i < 1000; i++) {
        if (i == 1) (void)tsr_mem_fail_at(0);
        ck_assert_int_eq(tsr_tensor_new_alias(&view, x), TSR_OK);
        tsr_tensor_free(view);
    }
    ck_assert_int_eq(tsr_mem_fail_at(0), 0);
    tsr_tensor_free(x);
}
END_TEST

TEST_SUITE(tensor, a_view_holds_the_storage_and_not_its_base, data_has_a_version_of_its_own,
           many_dimensions_live_outside_the_struct, geometry_is_checked_against_the_storage,
           a_shrunk_storage_is_reported_on_use, strings_are_constructed_and_destroyed,
           expect_contiguous_borrows_or_owns, counts_stay_right_on_two_threads,
           every_failing_allocation_leaves_nothing_behind, views_ask_for_no_memory)
