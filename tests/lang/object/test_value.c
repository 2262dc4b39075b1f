/* The values from C: counts, cycles, deep nests, exceptions, order of dict and set, and memory that runs out. */
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "lang/object/gc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "repl/startup.h"
#include "lang/types/str.h"
#include "suite.h"

#include <string.h>

static void start(void) {
    static bool started;
    if (!started) ck_assert_int_eq(startup_all(), TSR_OK);
    started = true;
}

/* repr(v) in a static buffer; v is consumed. */
static const char *shown_move(Value v) {
    static char buffer[512];
    TsrText text = {0};
    ck_assert_int_eq(value_repr(&text, v), TSR_OK);
    snprintf(buffer, sizeof buffer, "%s", text.data);
    tsr_text_free(&text);
    value_release(v);
    return buffer;
}

static Value text(const char *s) {
    Value v;
    ck_assert_int_eq(str_new_c(&v, s), TSR_OK);
    return v;
}

START_TEST(strings_are_shared_when_interned) {
    start();
    Str *a = str_intern_c("a name of some length"), *b = str_intern_c("a name of some length");
    ck_assert_ptr_eq(a, b);
    Value v = text("a name of some length");
    ck_assert_ptr_eq(str_interned(value_as_str(v)), a);
    value_release(v);
}
END_TEST

START_TEST(text_is_indexed_by_code_point) {
    start();
    Value v = text("h\xc3\xa9llo \xe6\x97\xa5\xe6\x9c\xac");
    Str *s = value_as_str(v);
    ck_assert_int_eq(s->length, 8);
    ck_assert_int_eq(str_byte_of(s, 7), 10);
    ck_assert_int_eq(str_byte_of(s, 2), 3);
    ck_assert_int_eq(str_byte_of(s, 6), 7);
    ck_assert_int_eq(str_index_of_byte(s, 7), 6);
    value_release(v);
}
END_TEST

START_TEST(dict_keeps_the_order_of_insertion) {
    start();
    Value d;
    ck_assert_int_eq(dict_new(&d), TSR_OK);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(dict_set(value_as_dict(d), value_int(i * 7919 % 101), value_int(i)), TSR_OK);
    for (int i = 0; i < 97; i++) {
        bool found;
        ck_assert_int_eq(dict_remove(&found, value_as_dict(d), value_int(i * 7919 % 101)), TSR_OK);
        ck_assert(found);
    }
    ck_assert_str_eq(shown_move(d), "{38: 97, 79: 98, 19: 99}");
}
END_TEST

START_TEST(equal_numbers_are_one_key) {
    start();
    Value s;
    ck_assert_int_eq(set_new(&s, &set_type), TSR_OK);
    ck_assert_int_eq(set_add(value_as_set(s), value_int(1)), TSR_OK);
    ck_assert_int_eq(set_add(value_as_set(s), value_float(1.0)), TSR_OK);
    ck_assert_int_eq(set_add(value_as_set(s), VALUE_TRUE), TSR_OK);
    ck_assert_str_eq(shown_move(s), "{1}");
}
END_TEST

START_TEST(cycles_are_collected) {
    start();
    gc_collect();
    int64_t before = gc_live();
    for (int i = 0; i < 100; i++) {
        Value list, dict;
        ck_assert_int_eq(list_new(&list, 0), TSR_OK);
        ck_assert_int_eq(dict_new(&dict), TSR_OK);
        ck_assert_int_eq(list_append(value_as_list(list), dict), TSR_OK);
        ck_assert_int_eq(dict_set_c(value_as_dict(dict), "list", list), TSR_OK);
        value_release(list);
        value_release(dict);
    }
    ck_assert_int_eq(gc_live(), before + 200);
    ck_assert_int_eq(gc_collect(), 200);
    ck_assert_int_eq(gc_live(), before);
}
END_TEST

START_TEST(what_is_held_from_outside_is_kept) {
    start();
    Value outer, inner;
    ck_assert_int_eq(list_new(&outer, 0), TSR_OK);
    ck_assert_int_eq(list_new(&inner, 0), TSR_OK);
    ck_assert_int_eq(list_append(value_as_list(inner), inner), TSR_OK);
    ck_assert_int_eq(list_append_move(value_as_list(outer), inner), TSR_OK);
    gc_collect();
    ck_assert_str_eq(shown_move(outer), "[[[...]]]");
    ck_assert_int_eq(gc_collect(), 1);
}
END_TEST

START_TEST(a_deep_nest_is_freed_and_printed_within_bounds) {
    start();
    Value v = VALUE_NONE;
    for (int i = 0; i < 300000; i++) {
        Value list;
        ck_assert_int_eq(list_new_move(&list, &v, 1), TSR_OK);
        v = list;
    }
    TsrText out = {0};
    ck_assert_int_eq(value_repr(&out, v), TSR_RECURSION_ERROR);
    tsr_text_free(&out);
    ck_assert_int_eq(recursion_depth, 0);
    value_release(v);
}
END_TEST

START_TEST(an_error_becomes_an_object_when_it_is_caught) {
    start();
    Value e;
    TsrStatus status = tsr_error_errno(2, "x.npy");
    exc_fetch(&e, status, VALUE_UNBOUND);
    ck_assert_ptr_eq(value_type(e), EXC_TYPE(TSR_FILE_NOT_FOUND_ERROR));
    ck_assert_str_eq(shown_move(value_retain(e)), "FileNotFoundError(2, 'No such file or directory')");
    TsrText line = {0};
    ck_assert_int_eq(exc_write_line(&line, e), TSR_OK);
    ck_assert_str_eq(line.data, "FileNotFoundError: [Errno 2] No such file or directory: 'x.npy'");
    tsr_text_free(&line);
    value_release(e);
    ck_assert_int_eq(tsr_error_kind(), TSR_OK);
}
END_TEST

START_TEST(ints_cross_64_bits_and_come_back) {
    start();
    Value big, back;
    int64_t hash;
    ck_assert_int_eq(int_binary(&big, OP_ADD, value_int(INT64_MAX), value_int(1)), TSR_OK);
    ck_assert(value_is_bigint(big));
    ck_assert_int_eq(int_binary(&back, OP_SUB, big, value_int(1)), TSR_OK);
    ck_assert_int_eq(back.tag, V_INT);
    ck_assert_int_eq(back.i, INT64_MAX);
    ck_assert_int_eq(value_hash(&hash, big), TSR_OK);
    ck_assert_int_eq(hash, 4);
    ck_assert_str_eq(shown_move(big), "9223372036854775808");
}
END_TEST

START_TEST(sorting_is_stable_and_survives_errors) {
    start();
    Value list;
    Value items[5] = {value_int(3), value_float(1), value_int(1), VALUE_TRUE, value_int(2)};
    ck_assert_int_eq(list_new_from(&list, items, 5), TSR_OK);
    ck_assert_int_eq(list_sort(value_as_list(list), VALUE_NONE, false), TSR_OK);
    ck_assert_str_eq(shown_move(value_retain(list)), "[1.0, 1, True, 2, 3]");
    ck_assert_int_eq(list_append(value_as_list(list), VALUE_NONE), TSR_OK);
    ck_assert_int_eq(list_sort(value_as_list(list), VALUE_NONE, false), TSR_TYPE_ERROR);
    ck_assert_int_eq(value_as_list(list)->count, 6);
    value_release(list);
}
END_TEST

/* Builds one of most kinds; whatever fails, nothing is lost. */
static TsrStatus build(void) {
    Value list = VALUE_UNBOUND, dict = VALUE_UNBOUND, v = VALUE_UNBOUND;
    TsrStatus status = list_new(&list, 3);
    for (int i = 0; i < 40 && status == TSR_OK; i++) status = list_append(value_as_list(list), value_int(i));
    if (status == TSR_OK) status = dict_new(&dict);
    for (int i = 0; i < 40 && status == TSR_OK; i++) status = dict_set(value_as_dict(dict), value_int(i), list);
    if (status == TSR_OK) status = set_new_iterable(&v, &frozenset_type, list);
    value_clear(&v);
    if (status == TSR_OK) status = tuple_new_iterable(&v, list);
    value_clear(&v);
    if (status == TSR_OK) status = value_new_repr(&v, dict);
    value_clear(&v);
    if (status == TSR_OK) status = bytearray_new(&v, "abc", 3);
    value_clear(&v);
    if (status == TSR_OK) status = list_sort(value_as_list(list), VALUE_NONE, true);
    value_release(list);
    value_release(dict);
    return status;
}

START_TEST(every_allocation_may_fail) {
    start();
    ck_assert_int_eq(build(), TSR_OK);
    int64_t containers = gc_live();
    for (int n = 1; n < 2000; n++) {
        tsr_mem_fail_at(n);
        TsrStatus status = build();
        int64_t made = tsr_mem_fail_at(0);
        ck_assert_int_eq(gc_live(), containers);
        if (status == TSR_OK && made < n) return;
        ck_assert(status == TSR_OK || status == TSR_MEMORY_ERROR);
    }
    ck_abort_msg("the sweep did not end");
}
END_TEST

TEST_SUITE(value, strings_are_shared_when_interned, text_is_indexed_by_code_point, dict_keeps_the_order_of_insertion,
           equal_numbers_are_one_key, cycles_are_collected, what_is_held_from_outside_is_kept,
           a_deep_nest_is_freed_and_printed_within_bounds, an_error_becomes_an_object_when_it_is_caught,
           ints_cross_64_bits_and_come_back, sorting_is_stable_and_survives_errors, every_allocation_may_fail)
