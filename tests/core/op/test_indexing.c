/* x[...] and x[...] = v through the entries of indexing.h: answers, PyTorch's errors, and what failing allocations
 * leave behind. */
#include "suite.h"

#include "core/indexing.h"
#include "core/mem.h"
#include "core/view.h"

static TsrTensor *counted_new(int ndim, const int64_t *sizes) {
    TsrTensor *t = NULL;
    ck_assert_int_eq(tsr_tensor_new(&t, ndim, sizes, TSR_FLOAT32, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < t->numel; i++) ((float *)tsr_data(t))[i] = (float)i;
    return t;
}

static TsrTensor *positions_new(int64_t n, const int64_t *values) {
    TsrTensor *t = NULL;
    ck_assert_int_eq(tsr_tensor_new(&t, 1, &n, TSR_INT64, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < n; i++) ((int64_t *)tsr_data(t))[i] = values[i];
    return t;
}

static const int64_t TWO_THREE[] = {2, 3};
static const TsrIndexEntry ELLIPSIS = {.kind = TSR_ENTRY_ELLIPSIS}, NEW_AXIS = {.kind = TSR_ENTRY_NEW_AXIS};

START_TEST(integers_slices_and_new_axes_make_views) {
    TsrTensor *x = counted_new(2, TWO_THREE), *r;
    TsrIndexEntry at[] = {NEW_AXIS, ELLIPSIS, tsr_entry_slice(1, INT64_MAX, 1)};
    ck_assert_int_eq(tsr_index_get_new(&r, x, at, 3), TSR_OK);
    ck_assert(r->storage == x->storage);
    ck_assert_int_eq(tsr_ndim(r), 3);
    ck_assert_int_eq(r->sizes[2], 2);
    ck_assert_int_eq(r->offset, 1);
    tsr_tensor_free(r);
    tsr_tensor_free(x);
}
END_TEST

START_TEST(positions_make_copies) {
    TsrTensor *x = counted_new(2, TWO_THREE), *p = positions_new(2, (int64_t[]){1, -2}), *r;
    TsrIndexEntry at[] = {tsr_entry_tensor(p), tsr_entry_int(2)};
    ck_assert_int_eq(tsr_index_get_new(&r, x, at, 2), TSR_OK);
    ck_assert(r->storage != x->storage);
    ck_assert_int_eq((int64_t)((float *)tsr_data(r))[0], 5);
    ck_assert_int_eq((int64_t)((float *)tsr_data(r))[1], 2);
    tsr_tensor_free(r);
    tsr_tensor_free(p);
    tsr_tensor_free(x);
}
END_TEST

START_TEST(one_element_is_written_and_counted) {
    TsrTensor *x = counted_new(2, TWO_THREE);
    TsrIndexEntry at[] = {tsr_entry_int(1), tsr_entry_int(-3)};
    TsrScalar seven = tsr_scalar_int(7);
    int64_t version = tsr_tensor_version(x);
    ck_assert_int_eq(tsr_index_set(x, at, 2, NULL, &seven), TSR_OK);
    ck_assert_int_eq((int64_t)((float *)tsr_data(x))[3], 7);
    ck_assert_int_eq(tsr_tensor_version(x), version + 1);
    tsr_tensor_free(x);
}
END_TEST

START_TEST(the_first_entry_that_does_not_fit_is_the_error) {
    TsrTensor *x = counted_new(2, TWO_THREE), *r;
    TsrIndexEntry bounds[] = {tsr_entry_int(5), tsr_entry_slice(0, 1, -1)};
    ck_assert_int_eq(tsr_index_get_new(&r, x, bounds, 2), TSR_INDEX_ERROR);
    ck_assert_str_eq(tsr_error_message(), "index 5 is out of bounds for dimension 0 with size 2");
    TsrStatus made = tsr_error(TSR_TYPE_ERROR, "no index");
    TsrIndexEntry failed[] = {tsr_entry_int(1), tsr_entry_failed(made)};
    ck_assert_int_eq(tsr_index_get_new(&r, x, failed, 2), TSR_TYPE_ERROR);
    ck_assert_str_eq(tsr_error_message(), "no index");
    TsrIndexEntry many[] = {tsr_entry_int(0), tsr_entry_int(0), tsr_entry_int(0)};
    ck_assert_int_eq(tsr_index_get_new(&r, x, many, 3), TSR_INDEX_ERROR);
    ck_assert_str_eq(tsr_error_message(), "too many indices for tensor of dimension 2");
    tsr_tensor_free(x);
}
END_TEST

/* x[1:, [0, 2], None] = y and the same read, each allocation failing in turn. */
START_TEST(failing_allocations_leave_nothing_behind) {
    TsrTensor *x = counted_new(2, TWO_THREE), *p = positions_new(2, (int64_t[]){0, 2});
    TsrTensor *y = counted_new(1, (int64_t[]){1});
    TsrIndexEntry at[] = {tsr_entry_slice(1, INT64_MAX, 1), tsr_entry_tensor(p), NEW_AXIS};
    int64_t live = tsr_memory_live();
    for (int n = 1; n <= 3; n++)
        for (int64_t k = 1, tried = INT64_MAX; k <= tried; k++) {
            TsrTensor *r = NULL;
            tsr_mem_fail_at(k);
            TsrStatus read = tsr_index_get_new(&r, x, at, n);
            TsrStatus wrote = read == TSR_OK ? tsr_index_set(x, at, n, y, NULL) : read;
            int64_t made = tsr_mem_fail_at(0);
            if (wrote == TSR_OK) tried = made;
            tsr_tensor_free(r);
            ck_assert_msg(tsr_memory_live() == live, "%d entries, allocation %lld", n, (long long)k);
            ck_assert_int_eq(x->refcount, 1);
            ck_assert_int_eq(p->refcount, 1);
            ck_assert_int_eq(y->refcount, 1);
        }
    tsr_tensor_free(y);
    tsr_tensor_free(p);
    tsr_tensor_free(x);
}
END_TEST

TEST_SUITE(indexing, integers_slices_and_new_axes_make_views, positions_make_copies, one_element_is_written_and_counted,
           the_first_entry_that_does_not_fit_is_the_error, failing_allocations_leave_nothing_behind)
