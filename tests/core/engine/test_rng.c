/* rng.h: a seed gives the words of mt19937, and of these PyTorch's numbers; a state taken is a state given back. */
#include "suite.h"

#include <string.h>

#include "core/mem.h"
#include "core/kernels/random/philox.h"
#include "core/rng.h"
#include "core/some_tensors.h"

static TsrGenerator *new_generator(uint64_t seed) {
    TsrGenerator *g = NULL;
    ck_assert_int_eq(tsr_rng_new(&g), TSR_OK);
    tsr_rng_seed(g, seed);
    return g;
}

static void draw(TsrGenerator *g, int64_t n) {
    while (n-- > 0) (void)tsr_rng_u32(g);
}

typedef struct Words {
    uint64_t seed;
    int drawn;
    uint32_t next[4];
} Words;

#define WORDS(...)
#define UNIFORM(...)
#define DOUBLE(...)
#define NORMAL(...)
#define STATE(...)

START_TEST(words_are_those_of_mt19937) {
    static const Words cases[] = {
#undef WORDS
#define WORDS(...) {__VA_ARGS__},
#include "rng_cases.def"
#undef WORDS
#define WORDS(...)
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        TsrGenerator *g = new_generator(cases[i].seed);
        draw(g, cases[i].drawn);
        for (int k = 0; k < 4; k++) ck_assert_uint_eq(tsr_rng_u32(g), cases[i].next[k]);
        tsr_rng_free(g);
    }
}
END_TEST

START_TEST(words_in_bulk_are_the_same_words) {
    static uint32_t bulk[3000];
    for (int round = 0; round < 200; round++) {
        TsrGenerator *g = new_generator(7), *h = new_generator(7);
        for (int part = 0; part < 4; part++) {
            int64_t skip = below(700), n = below(4) == 0 ? 624 * (1 + below(3)) : below(1300);
            draw(g, skip), draw(h, skip);
            bulk[n] = 77;
            tsr_rng_words(g, bulk, n);
            for (int64_t i = 0; i < n; i++) ck_assert(bulk[i] == tsr_rng_u32(h));
            ck_assert_uint_eq(bulk[n], 77);
        }
        ck_assert_uint_eq(tsr_rng_u32(g), tsr_rng_u32(h));
        tsr_rng_free(g), tsr_rng_free(h);
    }
}
END_TEST

typedef struct Numbers {
    uint64_t seed;
    double values[5];
} Numbers;

START_TEST(numbers_are_pytorch_s) {
#undef UNIFORM
#define UNIFORM(...) {__VA_ARGS__},
    static const Numbers floats[] = {
#include "rng_cases.def"
    };
#undef UNIFORM
#define UNIFORM(...)
#undef DOUBLE
#define DOUBLE(...) {__VA_ARGS__},
    static const Numbers doubles[] = {
#include "rng_cases.def"
    };
#undef DOUBLE
#define DOUBLE(...)
#undef NORMAL
#define NORMAL(...) {__VA_ARGS__},
    static const Numbers normals[] = {
#include "rng_cases.def"
    };
#undef NORMAL
#define NORMAL(...)
    for (size_t i = 0; i < TSR_COUNTOF(floats); i++) {
        TsrGenerator *f = new_generator(floats[i].seed), *d = new_generator(doubles[i].seed),
                     *n = new_generator(normals[i].seed);
        for (int k = 0; k < 4; k++) {
            ck_assert_double_eq((double)tsr_rng_uniform_float(f), floats[i].values[k]);
            ck_assert_double_eq(tsr_rng_uniform_double(d), doubles[i].values[k]);
        }
        for (int k = 0; k < 5; k++) ck_assert_double_eq_tol(tsr_rng_normal_double(n), normals[i].values[k], 1e-14);
        tsr_rng_free(f), tsr_rng_free(d), tsr_rng_free(n);
    }
}
END_TEST

START_TEST(a_long_word_is_two_the_upper_half_first) {
    TsrGenerator *g = new_generator(3), *h = new_generator(3);
    uint64_t high = tsr_rng_u32(g), low = tsr_rng_u32(g);
    ck_assert_uint_eq(tsr_rng_u64(h), high << 32 | low);
    tsr_rng_free(g), tsr_rng_free(h);
}
END_TEST

typedef struct StateCase {
    uint64_t seed;
    int drawn;
    uint64_t digest;
} StateCase;

START_TEST(states_are_pytorch_s_bytes) {
    static const StateCase cases[] = {
#undef STATE
#define STATE(...) {__VA_ARGS__},
#include "rng_cases.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        uint8_t bytes[TSR_RNG_STATE_BYTES];
        TsrGenerator *g = new_generator(cases[i].seed), *h = new_generator(99);
        for (int k = 0; k < cases[i].drawn; k++) (void)tsr_rng_normal_double(g);
        ck_assert_uint_eq(tsr_rng_state_bytes(g), TSR_RNG_STATE_BYTES);
        tsr_rng_get_state(g, bytes);
        if (cases[i].drawn % 2 == 0) /* the last place of a kept normal is not PyTorch's */
            ck_assert_msg(digest_of(bytes, sizeof bytes) == cases[i].digest, "seed %d, %d drawn", (int)cases[i].seed,
                          cases[i].drawn);
        (void)tsr_rng_normal_double(h);
        ck_assert_int_eq(tsr_rng_set_state(h, bytes, sizeof bytes), TSR_OK);
        ck_assert_uint_eq(tsr_rng_initial_seed(h), cases[i].seed);
        for (int k = 0; k < 1300; k++) ck_assert(tsr_rng_normal_double(g) == tsr_rng_normal_double(h));
        tsr_rng_free(g), tsr_rng_free(h);
    }
}
END_TEST

/* Whether a state with four bytes changed is refused; what the generator gives next does not change by that. */
static void check_bad_state(size_t at, uint32_t value) {
    uint8_t bytes[TSR_RNG_STATE_BYTES];
    TsrGenerator *g = new_generator(4), *same = new_generator(4);
    draw(g, 10), draw(same, 10);
    tsr_rng_get_state(g, bytes);
    memcpy(bytes + at, &value, 4);
    ck_assert_int_eq(tsr_rng_set_state(g, bytes, sizeof bytes), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "Invalid mt19937 state");
    ck_assert_uint_eq(tsr_rng_u32(g), tsr_rng_u32(same));
    tsr_rng_free(g), tsr_rng_free(same);
}

START_TEST(damaged_states_are_refused) {
    uint8_t bytes[TSR_RNG_STATE_BYTES];
    check_bad_state(8, 0);    /* left */
    check_bad_state(8, 625);  /* left */
    check_bad_state(12, 0);   /* seeded */
    check_bad_state(16, 625); /* next */
    TsrGenerator *g = new_generator(4);
    tsr_rng_get_state(g, bytes);
    ck_assert_int_eq(tsr_rng_set_state(g, bytes, 100), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "found the input RNG state size to be 100"));
    ck_assert_int_eq(tsr_rng_set_state(g, bytes, TSR_RNG_STATE_BYTES - 8), TSR_OK); /* the older layout */
    tsr_rng_free(g);
}
END_TEST

START_TEST(a_seed_drops_a_kept_normal) {
    TsrGenerator *g = new_generator(8);
    double first = tsr_rng_normal_double(g), second = tsr_rng_normal_double(g);
    tsr_rng_seed(g, 8);
    ck_assert(tsr_rng_normal_double(g) == first);
    tsr_rng_seed(g, 8);
    ck_assert(tsr_rng_normal_double(g) == first);
    ck_assert(tsr_rng_normal_double(g) == second);
    ck_assert_uint_eq(tsr_rng_initial_seed(g), 8);
    uint64_t seed = tsr_rng_seed_from_system(g);
    ck_assert_uint_eq(tsr_rng_initial_seed(g), seed);
    ck_assert_uint_lt(seed, UINT64_C(1) << 53);
    uint32_t word = tsr_rng_u32(g);
    TsrGenerator *h = new_generator(seed);
    ck_assert_uint_eq(tsr_rng_u32(h), word);
    tsr_rng_free(g), tsr_rng_free(h);
}
END_TEST

START_TEST(a_generator_lives_until_its_last_holder) {
    int64_t blocks = tsr_mem_live_blocks();
    TsrGenerator *g = NULL;
    ck_assert_int_eq(tsr_rng_new(&g), TSR_OK);
    ck_assert_uint_eq(tsr_rng_initial_seed(g), 67280421310721u); /* torch.Generator().initial_seed() */
    ck_assert_int_eq(tsr_rng_device(g), -1);
    ck_assert_ptr_eq(tsr_rng_retain(g), g);
    tsr_rng_free(g);
    ck_assert_int_eq(tsr_mem_live_blocks(), blocks + 1);
    tsr_rng_free(g);
    ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
    ck_assert_ptr_null(tsr_rng_retain(NULL));
    tsr_rng_free(NULL);
    (void)tsr_mem_fail_at(1);
    ck_assert_int_eq(tsr_rng_new(&g), TSR_RUNTIME_ERROR);
    TsrGenerator *own = tsr_rng_default(); /* nobody's to free */
    for (int i = 0; i < 5; i++) tsr_rng_free(own);
    tsr_rng_seed(own, 0);
    ck_assert_uint_eq(tsr_rng_u32(own), 2357136044u);
}
END_TEST

START_TEST(the_default_generator_is_lent_another) {
    TsrGenerator *g = new_generator(1), *own = tsr_rng_default();
    ck_assert_ptr_null(tsr_rng_use(g));
    ck_assert_ptr_eq(tsr_rng_default(), g);
    ck_assert_ptr_eq(tsr_rng_use(NULL), g);
    ck_assert_ptr_eq(tsr_rng_default(), own);
    tsr_rng_free(g);
}
END_TEST

/* --- generators of devices --- */

/* Philox4x32-10 of counter 0 and key 0, as published with Random123 (Salmon et al., 2011, kat_vectors). */
static const uint32_t PHILOX_ZERO[] = {0x6627E8D5u, 0xE169C58Du, 0xBC57AC4Cu, 0x9B00DBD8u};

START_TEST(devices_draw_by_philox) {
    TsrGenerator *g = NULL;
    ck_assert_int_eq(tsr_rng_new_philox(&g, 3), TSR_OK);
    ck_assert_int_eq(tsr_rng_device(g), 3);
    uint32_t words[4];
    tsr_philox(words, 0, 0, 0);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(words[i], PHILOX_ZERO[i]);
    tsr_rng_seed(g, 7);
    tsr_philox(words, 0, UINT64_C(1) << 63, 7); /* the stream that is no thread's */
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(tsr_rng_u32(g), words[i]);
    tsr_rng_free(g);
    ck_assert_int_eq(tsr_rng_new_philox(&g, -1), TSR_VALUE_ERROR);
    ck_assert_int_eq(tsr_rng_new_philox(&g, 16), TSR_VALUE_ERROR);
    ck_assert_str_eq(tsr_error_message(), "there is no device 16");
    ck_assert_ptr_eq(tsr_rng_of_device(2), tsr_rng_of_device(2));
    ck_assert_ptr_ne(tsr_rng_of_device(2), tsr_rng_of_device(1));
    ck_assert_int_eq(tsr_rng_device(tsr_rng_of_device(15)), 15);
    tsr_rng_free(tsr_rng_of_device(2)); /* nobody's to free */
    ck_assert_int_eq(tsr_rng_device(tsr_rng_of_device(2)), 2);
}
END_TEST

/* Words that an operator draws do not depend on how many are asked for at a time; after it the offset is a multiple of
 * 4, and what comes then is another stream. */
START_TEST(a_device_s_state_is_seed_and_offset) {
    static uint32_t bulk[4000];
    TsrGenerator *g = NULL, *h = NULL;
    ck_assert_int_eq(tsr_rng_new_philox(&g, 0), TSR_OK);
    ck_assert_int_eq(tsr_rng_new_philox(&h, 0), TSR_OK);
    tsr_rng_seed(g, 11);
    tsr_rng_words(g, bulk, 4000);
    ck_assert_uint_eq(tsr_rng_state_bytes(g), TSR_RNG_PHILOX_STATE_BYTES);
    for (int drawn = 0; drawn < 3990; drawn += 1 + drawn % 13) {
        uint8_t bytes[TSR_RNG_PHILOX_STATE_BYTES];
        uint64_t state[2];
        tsr_rng_seed(g, 11);
        for (int k = 0; k < drawn; k++) ck_assert(tsr_rng_u32(g) == bulk[k]);
        tsr_rng_get_state(g, bytes);
        memcpy(state, bytes, sizeof state);
        ck_assert_uint_eq(state[0], 11);
        ck_assert_uint_eq(state[1], (uint64_t)(drawn + 3) / 4 * 4);
        ck_assert_int_eq(tsr_rng_set_state(h, bytes, sizeof bytes), TSR_OK);
        tsr_rng_begin(g, 0);
        for (int k = 0; k < 10; k++) {
            uint32_t word = tsr_rng_u32(h);
            ck_assert(tsr_rng_u32(g) == word);
            ck_assert(drawn == 0 || word != bulk[drawn + k]);
        }
    }
    ck_assert_int_eq(tsr_rng_set_state(h, (const uint8_t *)bulk, 15), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "RNG state is wrong size");
    double first = tsr_rng_normal_double(h);
    ck_assert(tsr_rng_normal_double(h) != first);
    tsr_rng_free(g), tsr_rng_free(h);
}
END_TEST

START_TEST(an_offset_moves_by_what_is_taken) {
    TsrGenerator *g = NULL;
    uint64_t seed, offset;
    ck_assert_int_eq(tsr_rng_new_philox(&g, 0), TSR_OK);
    tsr_rng_seed(g, 5);
    tsr_rng_take(g, 10);
    tsr_rng_position(g, &seed, &offset);
    ck_assert_uint_eq(seed, 5);
    ck_assert_uint_eq(offset, 12);
    tsr_rng_begin(g, 20); /* however many words it draws */
    for (int i = 0; i < 50; i++) (void)tsr_rng_u32(g);
    tsr_rng_take(g, 4);
    ck_assert_int_eq(tsr_rng_get_offset(&offset, g), TSR_OK);
    ck_assert_uint_eq(offset, 36);
    ck_assert_int_eq(tsr_rng_set_offset(g, 6), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "offset must be a multiple of 4");
    ck_assert_int_eq(tsr_rng_set_offset(g, 8), TSR_OK);
    ck_assert_int_eq(tsr_rng_get_offset(&offset, g), TSR_OK);
    ck_assert_uint_eq(offset, 8);
    ck_assert_int_eq(tsr_rng_get_offset(&offset, tsr_rng_default()), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "CPU Generator does not use offset");
    tsr_rng_free(g);
}
END_TEST

TEST_SUITE(rng, words_are_those_of_mt19937, words_in_bulk_are_the_same_words, numbers_are_pytorch_s,
           a_long_word_is_two_the_upper_half_first, states_are_pytorch_s_bytes, damaged_states_are_refused,
           a_seed_drops_a_kept_normal, a_generator_lives_until_its_last_holder, the_default_generator_is_lent_another,
           devices_draw_by_philox, a_device_s_state_is_seed_and_offset, an_offset_moves_by_what_is_taken)
