/* pt: archives that are cut off or changed, and what is left of them. Those of PyTorch are in tests/cli/pt.sh. */
#include "io_attempt.h"

/* {"a": x, "b": [x's first row, "text"]}, in memory; the caller's to free. */
static TsrText archive(void) {
    static const int64_t sizes[] = {2, 3}, strides[] = {3, 1};
    TsrItems items = {0};
    TsrTree *tree = &items.tree;
    TsrNode *key, *value, *row, *text;
    TsrSink sink = {.fd = -1, .name = "test"};
    ck_assert_int_eq(tsr_tree_add(&tree->root, tree, TSR_NODE_DICT), TSR_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(tsr_tree_add_text(&key, tree, TSR_NODE_STR, i == 0 ? "a" : "b", 1), TSR_OK);
        ck_assert_int_eq(tsr_tree_add(&value, tree, i == 0 ? TSR_NODE_TENSOR : TSR_NODE_LIST), TSR_OK);
        ck_assert_int_eq(tsr_node_append(tree->root, key), TSR_OK);
        ck_assert_int_eq(tsr_node_append(tree->root, value), TSR_OK);
    }
    TsrTensor **x = &tree->root->children[1]->tensor;
    ck_assert_int_eq(tsr_tensor_new(x, 2, sizes, TSR_FLOAT32, TSR_DEVICE_CPU), TSR_OK);
    memset(tsr_data(*x), 1, 24);
    ck_assert_int_eq(tsr_tree_add(&row, tree, TSR_NODE_TENSOR), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_over(&row->tensor, (*x)->storage, (TsrGeometry){1, sizes + 1, strides + 1, 0}, TSR_FLOAT32), TSR_OK);
    ck_assert_int_eq(tsr_tree_add_text(&text, tree, TSR_NODE_STR, "text", 4), TSR_OK);
    ck_assert_int_eq(tsr_node_append(value, row), TSR_OK);
    ck_assert_int_eq(tsr_node_append(value, text), TSR_OK);
    ck_assert_int_eq(tsr_write(&sink, &items, &(TsrSaveOptions){.format = "pt"}), TSR_OK);
    tsr_items_free(&items);
    return sink.text;
}

START_TEST(a_tree_comes_back) {
    TsrItems items;
    TsrText text = archive();
    ck_assert_int_eq(read_bytes(&items, "pt", text.data, text.length), TSR_OK);
    ck_assert_int_eq(items.n, 1);
    ck_assert_str_eq(items.items[0].name, "a");
    const TsrNode *list = items.tree.root->children[3];
    ck_assert_int_eq(list->kind, TSR_NODE_LIST);
    ck_assert_ptr_eq(list->children[0]->tensor->storage, items.items[0].tensor->storage);
    ck_assert_str_eq(list->children[1]->text, "text");
    tsr_items_free(&items);
    tsr_text_free(&text);
}
END_TEST

START_TEST(any_end_cut_off) {
    TsrText text = archive();
    for (size_t n = 0; n < text.length; n++) ck_assert(!attempt("pt", text.data, n));
    tsr_text_free(&text);
}
END_TEST

START_TEST(any_byte_changed) {
    static const unsigned char changes[] = {1, 0x80, 0xff, 0x42};
    TsrText text = archive();
    for (size_t at = 0; at < text.length; at++)
        for (size_t i = 0; i < TSR_COUNTOF(changes); i++) {
            text.data[at] = (char)(text.data[at] ^ changes[i]);
            attempt("pt", text.data, text.length);
            text.data[at] = (char)(text.data[at] ^ changes[i]);
        }
    tsr_text_free(&text);
}
END_TEST

START_TEST(allocations_that_fail) {
    TsrText text = archive();
    attempt_without_memory("pt", text.data, text.length);
    attempt_write_without_memory("pt", text.data, text.length);
    tsr_text_free(&text);
}
END_TEST

TEST_SUITE(pt, a_tree_comes_back, any_end_cut_off, any_byte_changed, allocations_that_fail)
