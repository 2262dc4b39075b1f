/* io_table.h: words are ranked by their bytes, whatever they have in common with each other. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "core/io_table.h"
#include "core/mem.h"

enum { WORDS = 3000 };

/* Words that begin alike for none, some or all of their first eight bytes, with bytes of all kinds, of any length. */
static TsrWords *some_words(void) {
    static const char *const beginnings[] = {"",         "a",       "abcdefg", "abcdefgh", "abcdefgh-abcdefgh",
                                             "\xc3\xa9", "\xff\xff"};
    static const char bytes[] = {0, 1, ' ', 'a', 'b', 'z', (char)0x7F, (char)0x80, (char)0xFF};
    TsrWordSet set = {0};
    TsrWords *words;
    for (int i = 0; i < WORDS; i++) {
        char word[64];
        const char *beginning = beginnings[rand() % (int)TSR_COUNTOF(beginnings)];
        size_t n = strlen(beginning), more = (size_t)(rand() % 5);
        int64_t number;
        memcpy(word, beginning, n);
        for (size_t k = 0; k < more; k++) word[n++] = bytes[rand() % (int)sizeof bytes];
        ck_assert_int_eq(tsr_word_set_add(&number, &set, word, n, tsr_word_hash(word, n)), TSR_OK);
    }
    ck_assert_int_eq(tsr_word_set_new_words(&words, &set), TSR_OK);
    return words;
}

static bool comes_before(const TsrWords *w, int64_t a, int64_t b) {
    const size_t n = w->begin[a + 1] - w->begin[a], m = w->begin[b + 1] - w->begin[b];
    const int order = memcmp(w->bytes + w->begin[a], w->bytes + w->begin[b], n < m ? n : m);
    return order < 0 || (order == 0 && n < m);
}

START_TEST(words_are_ranked_by_their_bytes) {
    TsrWords *words = some_words();
    int64_t *ranks = malloc((size_t)words->n * sizeof *ranks), *at = malloc((size_t)words->n * sizeof *at);
    ck_assert_int_gt(words->n, 1000);
    ck_assert_int_eq(tsr_words_rank(ranks, words), TSR_OK);
    for (int64_t i = 0; i < words->n; i++) at[i] = -1;
    for (int64_t i = 0; i < words->n; i++) at[ranks[i]] = i;
    for (int64_t i = 0; i < words->n; i++) ck_assert_int_ge(at[i], 0);
    for (int64_t i = 0; i + 1 < words->n; i++) ck_assert(comes_before(words, at[i], at[i + 1]));
    tsr_words_free(words);
    free(ranks);
    free(at);
}
END_TEST

START_TEST(an_interrupt_ends_the_ranking) {
    TsrWords *words = some_words();
    int64_t *ranks = malloc((size_t)words->n * sizeof *ranks), before = tsr_mem_live_blocks();
    tsr_interrupt_request();
    ck_assert_int_eq(tsr_words_rank(ranks, words), TSR_KEYBOARD_INTERRUPT);
    ck_assert_int_eq(tsr_mem_live_blocks(), before);
    tsr_words_free(words);
    free(ranks);
}
END_TEST

TEST_SUITE(words, words_are_ranked_by_their_bytes, an_interrupt_ends_the_ranking)
