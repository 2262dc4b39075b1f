/* pt: archives that are cut off or changed, and what is left of them. Those of PyTorch are in tests/repl/pt.sh. */
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
    ck_assert_int_eq(
        tsr_tensor_new_over(&row->tensor, (*x)->storage, (TsrGeometry){1, sizes + 1, strides + 1, 0}, TSR_FLOAT32),
        TSR_OK);
    ck_assert_int_eq(tsr_tree_add_text(&text, tree, TSR_NODE_STR, "text", 4), TSR_OK);
    ck_assert_int_eq(tsr_node_append(value, row), TSR_OK);
    ck_assert_int_eq(tsr_node_append(value, text), TSR_OK);
    ck_assert_int_eq(tsr_write(&sink, &items, &(TsrSaveOptions){.size = sizeof(TsrSaveOptions), .format = "pt"}),
                     TSR_OK);
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

/* ---- the format before 1.6, with what is odd in it ---- */

static void put(TsrText *out, const char *bytes, size_t n) { ck_assert_int_eq(tsr_text_append(out, bytes, n), TSR_OK); }
#define PUT(text, literal) put(text, literal, sizeof(literal) - 1)

static void put_str(TsrText *out, const char *s) {
    char size[5] = {'X', (char)strlen(s), 0, 0, 0};
    put(out, size, 5);
    put(out, s, strlen(s));
}

/* A tensor of all six elements of the storage. */
static void put_tensor(TsrText *out, const char *function) {
    put(out, function, strlen(function));
    PUT(out, "((");
    put_str(out, "storage");
    PUT(out, "ctorch\nFloatStorage\n");
    put_str(out, "0");
    put_str(out, "cpu");
    PUT(out, "K\6NtQK\0K\2K\3\x86K\3K\1\x86\x89"
             "ccollections\nOrderedDict\n)RtR");
}

static void put_encoded(TsrText *out, const char *s) {
    PUT(out, "c_codecs\nencode\n");
    put_str(out, s);
    put_str(out, "latin1");
    PUT(out, "\x86R");
}

static void put_dtype(TsrText *out, const char *code) {
    PUT(out, "cnumpy\ndtype\n");
    put_str(out, code);
    PUT(out, "\x89\x88\x87R(K\3");
    put_str(out, "<");
    PUT(out, "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb");
}

/* [tensor, an unknown object with a state that holds itself, a NumPy array, a NumPy number, a sparse tensor, a class]
 */
static TsrText old_file(void) {
    TsrText text = {0};
    float data[6] = {1, 2, 3, 4, 5, 6};
    PUT(&text, "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\2M\xe9\3.\x80\2}");
    put_str(&text, "little_endian");
    PUT(&text, "\x88s.\x80\2](");
    put_tensor(&text, "ctorch._utils\n_rebuild_tensor_v2\n");
    PUT(&text, "cmodels\nNet\nK\1\x85\x81q\0}(");
    put_str(&text, "me");
    PUT(&text, "h\0");
    put_str(&text, "w");
    put_tensor(&text, "ctorch._utils\n_rebuild_tensor_v2\n");
    PUT(&text, "ubcnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85");
    put_encoded(&text, "b");
    PUT(&text, "\x87R(K\1K\2\x85");
    put_dtype(&text, "i2");
    PUT(&text, "\x89");
    put_encoded(&text, "abcd");
    PUT(&text, "tbcnumpy.core.multiarray\nscalar\n");
    put_dtype(&text, "u1");
    put_encoded(&text, "A");
    PUT(&text, "\x86R");
    PUT(&text, "ctorch._utils\n_rebuild_sparse_tensor\nctorch.serialization\n_get_layout\n");
    put_str(&text, "torch.sparse_coo");
    PUT(&text, "\x85R(");
    put_tensor(&text, "ctorch._utils\n_rebuild_tensor_v2\n");
    put_tensor(&text, "ctorch._utils\n_rebuild_tensor_v2\n");
    PUT(&text, "K\2\x85t\x86Rcmodels\nNet\ne.\x80\2](");
    put_str(&text, "0");
    PUT(&text, "e.\6\0\0\0\0\0\0\0");
    put(&text, (const char *)data, sizeof data);
    return text;
}

START_TEST(what_is_odd_is_opaque) {
    TsrItems items;
    TsrText text = old_file();
    ck_assert_int_eq(read_bytes(&items, "pt", text.data, text.length), TSR_VALUE_ERROR);
    read_opaque = true;
    ck_assert_msg(read_bytes(&items, "pt", text.data, text.length) == TSR_OK, "%s", tsr_error_message());
    TsrNode *const *list = items.tree.root->children;
    ck_assert_uint_eq(items.tree.root->n, 6);
    ck_assert_int_eq(list[1]->kind, TSR_NODE_OPAQUE);
    ck_assert_str_eq(list[1]->text, "models.Net");
    ck_assert(list[1]->n == 6 && list[1]->children[0]->i == 0 && list[1]->children[1]->i == 1 &&
              list[1]->children[3] == list[1]);
    ck_assert_ptr_eq(list[1]->children[5]->tensor->storage, list[0]->tensor->storage);
    ck_assert(list[0]->tensor->storage->nbytes == 24 && ((float *)tsr_data(list[0]->tensor))[5] == 6);
    ck_assert(list[2]->kind == TSR_NODE_TENSOR && list[2]->tensor->dtype == TSR_INT16 &&
              ((int16_t *)tsr_data(list[2]->tensor))[0] == 0x6261);
    ck_assert(list[3]->kind == TSR_NODE_INT && list[3]->i == 'A');
    ck_assert(list[4]->kind == TSR_NODE_SPARSE && list[4]->n == 4 && list[5]->kind == TSR_NODE_OPAQUE);
    tsr_items_free(&items);
    tsr_text_free(&text);
    read_opaque = false;
}
END_TEST

START_TEST(old_files_damaged) {
    static const unsigned char changes[] = {1, 2, 0x80, 0xff, 0x42};
    TsrText text = old_file();
    read_opaque = true;
    for (size_t n = 0; n < text.length; n++) ck_assert(!attempt("pt", text.data, n));
    for (size_t at = 0; at < text.length; at++)
        for (size_t i = 0; i < TSR_COUNTOF(changes); i++) {
            text.data[at] = (char)(text.data[at] ^ changes[i]);
            attempt("pt", text.data, text.length);
            text.data[at] = (char)(text.data[at] ^ changes[i]);
        }
    attempt_without_memory("pt", text.data, text.length);
    tsr_text_free(&text);
    read_opaque = false;
}
END_TEST

TEST_SUITE(pt, a_tree_comes_back, any_end_cut_off, any_byte_changed, allocations_that_fail, what_is_odd_is_opaque,
           old_files_damaged)
