/* promote.h, against what torch.promote_types, torch.result_type and torch.can_cast of PyTorch 2.15 answer for every
 * pair of dtypes. A letter a dtype; -: refused. */
#include "suite.h"

#include <string.h>

#include "core/promote.h"

static const char letters[] = "bBcsilUVWeEfdKFD54";
static const TsrDtype of[] = {TSR_BOOL,       TSR_UINT8,       TSR_INT8,         TSR_INT16,     TSR_INT32,
                              TSR_INT64,      TSR_UINT16,      TSR_UINT32,       TSR_UINT64,    TSR_FLOAT16,
                              TSR_BFLOAT16,   TSR_FLOAT32,     TSR_FLOAT64,      TSR_COMPLEX32, TSR_COMPLEX64,
                              TSR_COMPLEX128, TSR_FLOAT8_E5M2, TSR_FLOAT8_E4M3FN};
enum { DTYPES = TSR_COUNTOF(of) };

static const char types[DTYPES][DTYPES + 1] = {
    "bBcsil---eEfdKFD--", /* bool */
    "BBssil---eEfdKFD--", /* uint8 */
    "cscsil---eEfdKFD--", /* int8 */
    "ssssil---eEfdKFD--", /* int16 */
    "iiiiil---eEfdKFD--", /* int32 */
    "llllll---eEfdKFD--", /* int64 */
    "------U--eEfd-----", /* uint16 */
    "-------V-eEfd-----", /* uint32 */
    "--------WeEfd-----", /* uint64 */
    "eeeeeeeeeeffdKFD--", /* float16 */
    "EEEEEEEEEfEfdFFD--", /* bfloat16 */
    "ffffffffffffdFFD--", /* float32 */
    "dddddddddddddDDD--", /* float64 */
    "KKKKKK---KFFDKFD--", /* complex32 */
    "FFFFFF---FFFDFFD--", /* complex64 */
    "DDDDDD---DDDDDDD--", /* complex128 */
    "----------------5-", /* float8_e5m2 */
    "-----------------4", /* float8_e4m3fn */
};

/* A tensor with dimensions (the row) and a 0-d one (the column). */
static const char with_a_number[DTYPES][DTYPES + 1] = {
    "bBcsil---eEfdKFD--", /* bool */
    "BBBBBBBBBeEfdKFD--", /* uint8 */
    "ccccccccceEfdKFD--", /* int8 */
    "ssssssssseEfdKFD--", /* int16 */
    "iiiiiiiiieEfdKFD--", /* int32 */
    "llllllllleEfdKFD--", /* int64 */
    "UUUUUUUUUeEfdKFD--", /* uint16 */
    "VVVVVVVVVeEfdKFD--", /* uint32 */
    "WWWWWWWWWeEfdKFD--", /* uint64 */
    "eeeeeeeeeeeeeKKKee", /* float16 */
    "EEEEEEEEEEEEEQQQEE", /* bfloat16; Q: bcomplex32 */
    "fffffffffffffFFFff", /* float32 */
    "dddddddddddddDDDdd", /* float64 */
    "KKKKKKKKKKKKKKKKKK", /* complex32 */
    "FFFFFFFFFFFFFFFFFF", /* complex64 */
    "DDDDDDDDDDDDDDDDDD", /* complex128 */
    "5555555555555---55", /* float8_e5m2 */
    "4444444444444---44", /* float8_e4m3fn */
};

static char letter(TsrDtype d) {
    for (int i = 0; i < DTYPES; i++)
        if (of[i] == d) return letters[i];
    return d == TSR_DTYPE_NONE ? '-' : d == TSR_BCOMPLEX32 ? 'Q' : '?';
}

START_TEST(two_dtypes_give_pytorch_s) {
    for (int a = 0; a < DTYPES; a++)
        for (int b = 0; b < DTYPES; b++) {
            TsrDtype d = TSR_DTYPE_NONE;
            char want = types[a][b];
            ck_assert_msg(letter(tsr_promote_types(of[a], of[b])) == want, "%c with %c is not %c", letters[a],
                          letters[b], want);
            ck_assert_int_eq(tsr_promote(&d, of[a], of[b]), want == '-' ? TSR_RUNTIME_ERROR : TSR_OK);
            ck_assert_int_eq(letter(d), want);
        }
}
END_TEST

START_TEST(a_refusal_says_which_kind_it_is_of) {
    TsrDtype d;
    ck_assert_int_eq(tsr_promote(&d, TSR_UINT16, TSR_INT32), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(
        tsr_error_message(),
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Int");
    ck_assert_int_eq(tsr_promote(&d, TSR_FLOAT32, TSR_FLOAT8_E5M2), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(),
                     "Promotion for Float8 Types is not supported, attempted to promote Float and Float8_e5m2");
}
END_TEST

/* 0-d, or of two elements. */
static TsrTensor *tensor(TsrDtype d, int ndim) {
    TsrTensor *t;
    int64_t two = 2;
    ck_assert_int_eq(tsr_tensor_new(&t, ndim, &two, d, TSR_DEVICE_CPU), TSR_OK);
    return t;
}

START_TEST(a_number_gives_way_within_its_kind) {
    for (int a = 0; a < DTYPES; a++)
        for (int b = 0; b < DTYPES; b++) {
            TsrTensor *x = tensor(of[a], 1), *y = tensor(of[b], 0);
            TsrDtype d = TSR_DTYPE_NONE, turned = TSR_DTYPE_NONE;
            char want = with_a_number[a][b];
            TsrStatus status = tsr_result_type(&d, (TsrTensor *[]){x, y}, 2);
            ck_assert_msg(letter(d) == want, "%c[2] with %c[] is %c, not %c", letters[a], letters[b], letter(d), want);
            ck_assert_int_eq(status, want == '-' ? TSR_RUNTIME_ERROR : TSR_OK);
            ck_assert_int_eq(tsr_result_type(&turned, (TsrTensor *[]){y, NULL, x}, 3), status);
            ck_assert_int_eq(turned, d);
            tsr_tensor_free(x), tsr_tensor_free(y);
        }
}
END_TEST

START_TEST(numbers_of_python_come_last) {
    TsrTensor *number, *zero = tensor(TSR_INT8, 0), *x = tensor(TSR_FLOAT16, 1), *i = tensor(TSR_INT16, 1);
    TsrDtype d;
    ck_assert_int_eq(tsr_tensor_new_wrapped(&number, tsr_scalar_float(1.5)), TSR_OK);
    ck_assert_int_eq(tsr_result_type(&d, (TsrTensor *[]){zero, number}, 2), TSR_OK);
    ck_assert_int_eq(d, TSR_FLOAT32); /* the default dtype: an integer has nothing of its kind */
    ck_assert_int_eq(tsr_result_type(&d, (TsrTensor *[]){x, number}, 2), TSR_OK);
    ck_assert_int_eq(d, TSR_FLOAT16);
    ck_assert_int_eq(tsr_result_type(&d, (TsrTensor *[]){i, number, zero}, 3), TSR_OK);
    ck_assert_int_eq(d, TSR_FLOAT32);
    ck_assert_int_eq(tsr_result_type(&d, (TsrTensor *[]){number, i, x}, 3), TSR_OK);
    ck_assert_int_eq(d, TSR_FLOAT16);
    tsr_tensor_free(number);
    ck_assert_int_eq(tsr_tensor_new_wrapped(&number, tsr_scalar_int(300)), TSR_OK);
    ck_assert_int_eq(tsr_result_type(&d, (TsrTensor *[]){zero, number}, 2), TSR_OK);
    ck_assert_int_eq(d, TSR_INT8);
    tsr_tensor_free(number), tsr_tensor_free(zero), tsr_tensor_free(x), tsr_tensor_free(i);
}
END_TEST

static int rank(char kind) { return kind == 'b' ? 0 : kind == 'i' ? 1 : kind == 'f' ? 2 : 3; }

START_TEST(a_cast_keeps_the_kind_or_widens_it) {
    static const char kinds[] = "biiiiiiiiffffcccff"; /* in the order of `of` */
    for (int a = 0; a < DTYPES; a++)
        for (int b = 0; b < DTYPES; b++) ck_assert_int_eq(tsr_can_cast(of[a], of[b]), rank(kinds[a]) <= rank(kinds[b]));
    ck_assert(tsr_can_cast(TSR_STRING, TSR_STRING)); /* elements with constructors: to themselves */
    ck_assert(!tsr_can_cast(TSR_STRING, TSR_FLOAT32) && !tsr_can_cast(TSR_FLOAT32, TSR_STRING));
    ck_assert(!tsr_can_cast(TSR_STRING, TSR_BOOL) && !tsr_can_cast((TsrDtype)200, (TsrDtype)200));
}
END_TEST

START_TEST(of_nothing_there_is_no_dtype) {
    TsrDtype d = TSR_INT8;
    ck_assert_int_eq(tsr_result_type(&d, NULL, 0), TSR_OK);
    ck_assert_int_eq(d, TSR_DTYPE_NONE);
    ck_assert_int_eq(tsr_result_type(&d, NULL, -1), TSR_VALUE_ERROR);
}
END_TEST

TEST_SUITE(promote, a_refusal_says_which_kind_it_is_of, two_dtypes_give_pytorch_s, a_number_gives_way_within_its_kind,
           numbers_of_python_come_last, a_cast_keeps_the_kind_or_widens_it, of_nothing_there_is_no_dtype)
