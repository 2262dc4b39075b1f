/* random.c: Python's random: its own Mersenne Twister (M. Matsumoto, T. Nishimura, 1998), seeded by an array as CPython
 * does, and the same ways from words to numbers, so that a seed gives CPython's stream. Not torch's generator. The
 * distributions over it are in prelude/random.tsr; what draws many numbers a call, or one in many calls, is here. */
#include "modules.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lang/object/args.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "random_stream.h"
#include "sha512.h"
#include "lang/types/str.h"

enum { N = RANDOM_WORDS, M = 397 };
static RandomStream module_stream = {.position = N + 1};
static _Thread_local RandomStream *stream; /* what the functions draw from; NULL: the module's */

static RandomStream *drawn(void) { return stream != NULL ? stream : &module_stream; }

RandomStream *random_draw_from(RandomStream *s) {
    RandomStream *before = stream;
    stream = s;
    return before;
}

static void init_genrand(uint32_t s) {
    uint32_t *state = drawn()->state;
    state[0] = s;
    for (uint32_t i = 1; i < N; i++) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    drawn()->position = N;
}

static void init_by_array(const uint32_t *key, size_t length) {
    uint32_t i = 1;
    size_t j = 0;
    init_genrand(19650218u);
    uint32_t *state = drawn()->state;
    for (size_t k = TSR_MAX((size_t)N, length); k > 0; k--) {
        state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525u)) + key[j] + (uint32_t)j;
        if (++i >= N) {
            state[0] = state[N - 1];
            i = 1;
        }
        if (++j >= length) j = 0;
    }
    for (size_t k = N - 1; k > 0; k--) {
        state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941u)) - i;
        if (++i >= N) {
            state[0] = state[N - 1];
            i = 1;
        }
    }
    state[0] = 0x80000000u;
}

static void refill(RandomStream *s) {
    uint32_t *state = s->state;
    for (int i = 0; i < N; i++) {
        uint32_t y = (state[i] & 0x80000000u) | (state[(i + 1) % N] & 0x7fffffffu);
        state[i] = state[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    s->position = 0;
}

static uint32_t next_word(void) {
    RandomStream *s = drawn();
    if (s->position == N + 1) {
        uint32_t key[8] = {(uint32_t)time(NULL), (uint32_t)getpid()};
        (void)!getentropy(key, sizeof key); /* without it: the time */
        init_by_array(key, TSR_COUNTOF(key));
    }
    if (s->position >= N) refill(s);
    uint32_t y = s->state[s->position++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static double next_double(void) {
    uint32_t a = next_word() >> 5, b = next_word() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

/* random.getrandbits(k), k <= 64 */
static uint64_t next_bits(int k) {
    if (k <= 32) return next_word() >> (32 - k);
    uint64_t low = next_word();
    return low | (uint64_t)(next_word() >> (64 - k)) << 32;
}

/* A number below n > 0, each alike: CPython's _randbelow_with_getrandbits. */
static int64_t next_below(int64_t n) {
    int k = 64 - __builtin_clzll((unsigned long long)n);
    uint64_t r;
    do { r = next_bits(k); } while (r >= (uint64_t)n);
    return (int64_t)r;
}

/* k bits of any number, as an int: whole words, the lowest first, then what is left of one. */
static TsrStatus new_bits(Value *out, int64_t k) {
    if (k <= 64) return k == 0 ? (*out = value_int(0), TSR_OK) : int_new_uint64(out, next_bits((int)k));
    int64_t words = (k - 1) / 32 + 1;
    unsigned char *bytes = tsr_malloc((size_t)words * 4);
    if (bytes == NULL) return mem_error();
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < words && status == TSR_OK; i++, k -= 32) {
        status = tsr_interrupt_check_at(i);
        uint32_t w = next_word() >> (k < 32 ? 32 - k : 0);
        unsigned char *p = bytes + 4 * (words - 1 - i);
        for (int j = 0; j < 4; j++) p[j] = (unsigned char)(w >> (24 - 8 * j));
    }
    mp_int mp;
    if (status == TSR_OK && mp_init(&mp) != MP_OKAY) status = mem_error();
    if (status == TSR_OK) {
        status = bigint_from_bytes(&mp, bytes, words * 4);
        if (status == TSR_OK) status = int_new_mp_move(out, &mp);
        else mp_clear(&mp);
    }
    tsr_free(bytes);
    return status;
}

/* The same below any int n > 0. */
static TsrStatus new_below(Value *out, Value n) {
    if (n.tag != V_OBJ) {
        *out = value_int(next_below(n.i));
        return TSR_OK;
    }
    for (;;) {
        TSR_TRY(new_bits(out, int_bit_length(n)));
        if (int_compare(*out, n) < 0) return TSR_OK;
        value_release(*out);
        TSR_TRY(tsr_interrupt_check());
    }
}

/* ---- seeding ---- */

static TsrStatus seed_with_int(Value v) {
    mp_int n;
    uint32_t key[1024];
    size_t words = 0;
    TSR_TRY(int_to_mp(&n, v));
    mp_err err = mp_abs(&n, &n);
    size_t bytes = err == MP_OKAY ? mp_ubin_size(&n) : 0, written = 0;
    unsigned char buffer[sizeof key];
    if (bytes > sizeof buffer) {
        mp_clear(&n);
        return tsr_error(TSR_OVERFLOW_ERROR, "a seed has at most %zu bytes", sizeof buffer);
    }
    if (err == MP_OKAY && bytes > 0) err = mp_to_ubin(&n, buffer, sizeof buffer, &written);
    mp_clear(&n);
    if (err != MP_OKAY) return mem_error();
    memset(key, 0, sizeof key);
    for (size_t i = 0; i < written; i++) key[i / 4] |= (uint32_t)buffer[written - 1 - i] << (8 * (i % 4));
    words = TSR_MAX((written + 3) / 4, (size_t)1);
    init_by_array(key, words);
    return TSR_OK;
}

/* As CPython's version 2 of seeding: the bytes and their SHA-512 as one big-endian number. */
static TsrStatus seed_with_bytes(const char *data, int64_t size) {
    Value text, n;
    TSR_TRY(bytes_new(&text, NULL, size + SHA512_BYTES));
    char *all;
    int64_t total;
    value_as_buffer(text, &all, &total);
    memcpy(all, data, (size_t)size);
    sha512((unsigned char *)all + size, data, (size_t)size);
    TsrStatus status = value_call_method(&n, value_lent(&int_type), "from_bytes", 1, &text);
    value_release(text);
    TSR_TRY(status);
    status = seed_with_int(n);
    value_release(n);
    return status;
}

static TsrStatus random_seed(Value *out, const CallArgs *args) {
    static const char *const names[] = {"a", "version"};
    static const ArgSpec spec = {"Random.seed", names, 2, 0, 2, 0};
    Value given[2];
    TSR_TRY(args_parse_python(given, args, &spec));
    Value v = given[0].tag != V_UNBOUND ? given[0] : VALUE_NONE;
    if (given[1].tag != V_UNBOUND && !(value_is_int(given[1]) && int_compare(given[1], value_int(2)) == 0))
        return tsr_error(TSR_VALUE_ERROR, "seeds are of version 2 only");
    drawn()->has_gauss = false;
    *out = VALUE_NONE;
    if (v.tag == V_NONE) {
        drawn()->position = N + 1;
        return TSR_OK;
    }
    if (value_is_int(v)) return seed_with_int(v);
    if (v.tag == V_FLOAT) return seed_with_int(value_int(float_hash(v.f)));
    if (value_is_str(v)) return seed_with_bytes(value_as_str(v)->data, value_as_str(v)->size);
    char *data;
    int64_t size;
    if (value_as_buffer(v, &data, &size)) return seed_with_bytes(data, size);
    return tsr_error(TSR_TYPE_ERROR,
                     "The only supported seed types are: None,\nint, float, str, bytes, and bytearray.");
}

/* ---- functions ---- */

static TsrStatus random_random(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_float(next_double());
    return TSR_OK;
}

static TsrStatus random_getrandbits(Value *out, const CallArgs *args) {
    int k;
    TSR_TRY(value_to_c_int(&k, args->values[0]));
    if (k < 0) return tsr_error(TSR_VALUE_ERROR, "number of bits must be non-negative");
    return new_bits(out, k);
}

static TsrStatus random_randbytes(Value *out, const CallArgs *args) {
    int64_t n;
    Value bits;
    TSR_TRY(value_to_index(&n, args->values[0]));
    if (n > INT32_MAX / 8) return tsr_error(TSR_OVERFLOW_ERROR, "Python int too large to convert to C int");
    if (n < 0) return tsr_error(TSR_VALUE_ERROR, "number of bits must be non-negative");
    TSR_TRY(new_bits(&bits, n * 8));
    Value form[2] = {value_int(n), VALUE_NONE};
    TsrStatus status = str_new_c(&form[1], "little");
    if (status == TSR_OK) {
        status = value_call_method(out, bits, "to_bytes", 2, form);
        value_release(form[1]);
    }
    value_release(bits);
    return status;
}

static TsrStatus random_uniform(Value *out, const CallArgs *args) {
    double a, b;
    TSR_TRY(value_to_double(&a, args->values[0]));
    TSR_TRY(value_to_double(&b, args->values[1]));
    *out = value_float(a + (b - a) * next_double());
    return TSR_OK;
}

/* start + step * a number below n > 0; all ints. */
static TsrStatus random_item(Value *out, Value start, Value step, Value n) {
    Value r, offset;
    TSR_TRY(new_below(&r, n));
    TsrStatus status = int_binary(&offset, OP_MUL, step, r);
    value_release(r);
    TSR_TRY(status);
    status = int_binary(out, OP_ADD, start, offset);
    value_release(offset);
    return status;
}

static TsrStatus empty_range(Value start, Value stop, Value width) {
    TsrText text = {0};
    TsrStatus status = int_digits(&text, start, 10);
    if (status == TSR_OK) status = tsr_text_puts(&text, ", ");
    if (status == TSR_OK) status = int_digits(&text, stop, 10);
    if (status == TSR_OK) status = tsr_text_puts(&text, ", ");
    if (status == TSR_OK) status = int_digits(&text, width, 10);
    if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "empty range for randrange() (%s)", text.data);
    tsr_text_free(&text);
    return status;
}

/* How many items range(0, width, step) has, 0 or less for none. */
static TsrStatus count_steps(Value *out, Value width, Value step) {
    Value last, whole;
    TSR_TRY(int_binary(&last, OP_ADD, width, step));
    TsrStatus status = int_binary(&whole, int_sign(step) > 0 ? OP_SUB : OP_ADD, last, value_int(1));
    value_release(last);
    TSR_TRY(status);
    status = int_binary(out, OP_FLOORDIV, whole, step);
    value_release(whole);
    return status;
}

static TsrStatus random_range(Value *out, Value start, Value stop, Value step) {
    Value width, n;
    bool single = step.tag != V_OBJ && step.i == 1;
    TSR_TRY(int_binary(&width, OP_SUB, stop, start));
    TsrStatus status;
    if (single && int_sign(width) <= 0) {
        status = empty_range(start, stop, width);
    } else if (int_sign(step) == 0) {
        status = tsr_error(TSR_VALUE_ERROR, "zero step for randrange()");
    } else if ((status = count_steps(&n, width, step)) == TSR_OK) {
        status = int_sign(n) <= 0 ? tsr_error(TSR_VALUE_ERROR, "empty range for randrange()")
                                  : random_item(out, start, step, n);
        value_release(n);
    }
    value_release(width);
    return status;
}

/* v[0..n) = given's as ints. */
static TsrStatus new_indices(Value *v, const Value *given, int n) {
    for (int i = 0; i < n; i++) {
        TsrStatus status = value_new_index(&v[i], given[i]);
        if (status == TSR_OK) continue;
        while (i > 0) value_release(v[--i]);
        return status;
    }
    return TSR_OK;
}

static TsrStatus random_randrange(Value *out, const CallArgs *args) {
    enum { START, STOP, STEP };
    static const char *const names[] = {"start", "stop", "step"};
    static const ArgSpec spec = {"Random.randrange", names, 3, 0, 3, 1};
    Value given[3], v[3];
    TSR_TRY(args_parse_python(given, args, &spec));
    if (given[STOP].tag <= V_NONE) { /* from 0 */
        if (given[STEP].tag != V_UNBOUND) return tsr_error(TSR_TYPE_ERROR, "Missing a non-None stop argument");
        TSR_TRY(value_new_index(&v[0], given[0]));
        TsrStatus status =
            int_sign(v[0]) > 0 ? new_below(out, v[0]) : tsr_error(TSR_VALUE_ERROR, "empty range for randrange()");
        value_release(v[0]);
        return status;
    }
    if (given[STEP].tag == V_UNBOUND) given[STEP] = value_int(1);
    TSR_TRY(new_indices(v, given, 3));
    TsrStatus status = random_range(out, v[START], v[STOP], v[STEP]);
    for (int i = 0; i < 3; i++) value_release(v[i]);
    return status;
}

static TsrStatus random_randint(Value *out, const CallArgs *args) {
    static const char *const names[] = {"a", "b"};
    static const ArgSpec spec = {"Random.randint", names, 2, 0, 2, 2};
    Value given[2], v[2], stop;
    TSR_TRY(args_parse_python(given, args, &spec));
    TSR_TRY(new_indices(v, given, 2));
    TsrStatus status = int_binary(&stop, OP_ADD, v[1], value_int(1));
    if (status == TSR_OK) {
        status = random_range(out, v[0], stop, value_int(1));
        value_release(stop);
    }
    value_release(v[0]);
    value_release(v[1]);
    return status;
}

static TsrStatus random_choice(Value *out, const CallArgs *args) {
    int64_t n;
    TSR_TRY(value_length(&n, args->values[0]));
    if (n == 0) return tsr_error(TSR_INDEX_ERROR, "Cannot choose from an empty sequence");
    return value_getitem(out, args->values[0], value_int(next_below(n)));
}

/* Running sums of n weights, which are sums already when `cumulative`: tsr_malloc'ed, the caller's. */
static TsrStatus weight_sums_new(double **out, Value weights, bool cumulative, int64_t n) {
    Value list;
    double total = 0;
    RandomStream *before = random_draw_from(NULL); /* a generator may draw numbers itself */
    TsrStatus status = list_new_iterable(&list, weights);
    random_draw_from(before);
    TSR_TRY(status);
    const List *items = value_as_list(list);
    status =
        items->count != n ? tsr_error(TSR_VALUE_ERROR, "The number of weights does not match the population") : TSR_OK;
    double *sums = status == TSR_OK ? tsr_malloc(sizeof *sums * (size_t)n) : NULL;
    if (status == TSR_OK && sums == NULL) status = mem_error();
    for (int64_t i = 0; i < n && status == TSR_OK; i++) {
        double w;
        status = value_to_double(&w, items->items[i]);
        total = cumulative ? w : total + w;
        if (status == TSR_OK) sums[i] = total;
    }
    value_release(list);
    if (status == TSR_OK && n == 0) status = tsr_error(TSR_INDEX_ERROR, "list index out of range");
    if (status == TSR_OK && total <= 0)
        status = tsr_error(TSR_VALUE_ERROR, "Total of weights must be greater than zero");
    if (status == TSR_OK && !isfinite(total)) status = tsr_error(TSR_VALUE_ERROR, "Total of weights must be finite");
    if (status == TSR_OK) *out = sums;
    else tsr_free(sums);
    return status;
}

/* The first i whose sum is above x, the last one at the most: bisect.bisect(sums, x, 0, n - 1). */
static int64_t bisect(const double *sums, int64_t n, double x) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (x < sums[middle]) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* Appends k items of the population of n; sums NULL: all weigh the same. */
static TsrStatus choose(List *out, Value population, int64_t n, const double *sums, int64_t k) {
    for (int64_t i = 0; i < k; i++) {
        Value item;
        double r = next_double();
        TSR_TRY(value_getitem(&item, population,
                              value_int(sums == NULL ? (int64_t)(r * (double)n) : bisect(sums, n, r * sums[n - 1]))));
        TSR_TRY(list_append_move(out, item));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus random_choices(Value *out, const CallArgs *args) {
    enum { POPULATION, WEIGHTS, SUMS, K };
    static const char *const names[] = {"population", "weights", "cum_weights", "k"};
    static const ArgSpec spec = {"choices", names, 4, 0, 2, 1};
    Value v[4], list;
    int64_t n, k = 1;
    double *sums = NULL;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(value_length(&n, v[POPULATION]));
    if (v[K].tag != V_UNBOUND) TSR_TRY(value_to_index(&k, v[K]));
    bool cumulative = v[WEIGHTS].tag <= V_NONE;
    if (!cumulative && v[SUMS].tag > V_NONE)
        return tsr_error(TSR_TYPE_ERROR, "Cannot specify both weights and cumulative weights");
    Value weights = cumulative ? v[SUMS] : v[WEIGHTS];
    if (weights.tag > V_NONE) TSR_TRY(weight_sums_new(&sums, weights, cumulative, n));
    TsrStatus status = list_new(&list, k > 0 ? k : 0);
    if (status == TSR_OK) {
        status = choose(value_as_list(list), v[POPULATION], n, sums, k);
        if (status == TSR_OK) *out = list;
        else value_release(list);
    }
    tsr_free(sums);
    return status;
}

static TsrStatus random_shuffle(Value *out, const CallArgs *args) {
    if (!value_is_list(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "'%s' object does not support item assignment",
                         value_type_name(args->values[0]));
    List *list = value_as_list(args->values[0]);
    for (int64_t i = list->count - 1; i > 0; i--) {
        if (tsr_interrupted_at(i)) return tsr_interrupt_check();
        int64_t j = next_below(i + 1);
        Value item = list->items[i];
        list->items[i] = list->items[j];
        list->items[j] = item;
    }
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus append_item(List *result, Value population, int64_t index) {
    Value item;
    TSR_TRY(value_getitem(&item, population, value_int(index)));
    TSR_TRY(list_append_move(result, item));
    return tsr_interrupt_check();
}

/* k of n indices out of a pool that shrinks. */
static TsrStatus sample_pool(List *result, Value population, int64_t n, int64_t k) {
    int64_t *pool = tsr_malloc(sizeof *pool * (size_t)n);
    if (pool == NULL) return mem_error();
    for (int64_t i = 0; i < n; i++) pool[i] = i;
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < k && status == TSR_OK; i++) {
        int64_t j = next_below(n - i), index = pool[j];
        pool[j] = pool[n - i - 1];
        status = append_item(result, population, index);
    }
    tsr_free(pool);
    return status;
}

/* An index below n that was not taken yet. */
static TsrStatus next_untaken(int64_t *out, Set *taken, int64_t n) {
    for (int64_t before = taken->count; taken->count == before;) {
        *out = next_below(n);
        TSR_TRY(set_add(taken, value_int(*out)));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus sample_sparse(List *result, Value population, int64_t n, int64_t k) {
    Value taken;
    TSR_TRY(set_new(&taken, &set_type));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0, index; i < k && status == TSR_OK; i++) {
        status = next_untaken(&index, value_as_set(taken), n);
        if (status == TSR_OK) status = append_item(result, population, index);
    }
    value_release(taken);
    return status;
}

/* CPython's two ways, and its choice between them: a pool for large samples, rejection for small ones. */
static TsrStatus draw_sample(List *result, Value population, int64_t n, int64_t k) {
    int64_t set_size = 21;
    if (k > 5) set_size += (int64_t)pow(4, ceil(log((double)k * 3) / log(4)));
    return n <= set_size ? sample_pool(result, population, n, k) : sample_sparse(result, population, n, k);
}

static TsrStatus random_sample(Value *out, const CallArgs *args) {
    static const char *const names[] = {"population", "k"};
    static const ArgSpec spec = {"sample", names, 2, 0, 2, 2};
    Value v[2], list;
    int64_t n, k;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(value_length(&n, v[0]));
    TSR_TRY(value_to_index(&k, v[1]));
    if (k < 0 || k > n) return tsr_error(TSR_VALUE_ERROR, "Sample larger than population or is negative");
    TSR_TRY(list_new(&list, k));
    TsrStatus status = draw_sample(value_as_list(list), v[0], n, k);
    return value_end_move(out, status, list);
}

static TsrStatus mean_and_deviation(const CallArgs *args, double *mu, double *sigma) {
    static const char *const names[] = {"mu", "sigma"};
    static const ArgSpec spec = {"gauss", names, 2, 0, 2, 0};
    Value v[2];
    *mu = 0;
    *sigma = 1;
    TSR_TRY(args_parse(v, args, 0, &spec));
    if (v[0].tag != V_UNBOUND) TSR_TRY(value_to_double(mu, v[0]));
    return v[1].tag != V_UNBOUND ? value_to_double(sigma, v[1]) : TSR_OK;
}

static TsrStatus random_gauss(Value *out, const CallArgs *args) {
    RandomStream *s = drawn();
    double mu, sigma, z = s->next_gauss;
    TSR_TRY(mean_and_deviation(args, &mu, &sigma));
    if (!s->has_gauss) { /* Box and Muller: two at a time */
        double angle = next_double() * 2 * M_PI, radius = sqrt(-2.0 * log(1.0 - next_double()));
        z = cos(angle) * radius;
        s->next_gauss = sin(angle) * radius;
    }
    s->has_gauss = !s->has_gauss;
    *out = value_float(mu + z * sigma);
    return TSR_OK;
}

#ifndef __wasm__
/* ---- the state: (3, the words and the place among them, gauss()'s other number or None) ---- */

enum { STATE_VERSION = 3 };

static TsrStatus random_getstate(Value *out, const CallArgs *args) {
    RandomStream *s = drawn();
    Value words[N + 1], parts[3] = {value_int(STATE_VERSION), VALUE_NONE, VALUE_NONE};
    (void)args;
    if (s->position == N + 1) { /* a state is of a stream that has begun */
        next_word();
        s->position--;
    }
    for (int i = 0; i < N; i++) words[i] = value_int(s->state[i]);
    words[N] = value_int(s->position);
    if (s->has_gauss) parts[2] = value_float(s->next_gauss);
    TSR_TRY(tuple_new(&parts[1], words, N + 1));
    TsrStatus status = tuple_new(out, parts, 3);
    value_release(parts[1]);
    return status;
}

static TsrStatus read_words(RandomStream *s, Value words) {
    if (!value_is_tuple(words)) return tsr_error(TSR_TYPE_ERROR, "state vector must be a tuple");
    if (value_as_tuple(words)->count != N + 1) return tsr_error(TSR_VALUE_ERROR, "state vector is the wrong size");
    int64_t w;
    for (int i = 0; i < N; i++) {
        TSR_TRY(value_to_index(&w, value_as_tuple(words)->items[i]));
        s->state[i] = (uint32_t)w;
    }
    TSR_TRY(value_to_index(&w, value_as_tuple(words)->items[N]));
    if (w < 0 || w > N) return tsr_error(TSR_VALUE_ERROR, "invalid state");
    s->position = (int)w;
    return TSR_OK;
}

static TsrStatus random_setstate(Value *out, const CallArgs *args) {
    Value given = args->values[0];
    RandomStream s = {0};
    if (!value_is_tuple(given) || value_as_tuple(given)->count != 3)
        return tsr_error(TSR_TYPE_ERROR, "a state is a tuple of three, as getstate() gives it");
    const Value *parts = value_as_tuple(given)->items;
    if (!value_is_int(parts[0]) || int_compare(parts[0], value_int(STATE_VERSION)) != 0)
        return tsr_error(TSR_VALUE_ERROR, "a state of another version than %d", STATE_VERSION);
    TSR_TRY(read_words(&s, parts[1]));
    s.has_gauss = !value_is_none(parts[2]);
    if (s.has_gauss) TSR_TRY(value_to_double(&s.next_gauss, parts[2]));
    *drawn() = s;
    *out = VALUE_NONE;
    return TSR_OK;
}
#endif

static const Method functions[] = {
    {"seed", random_seed, ARGS_ANY, 0, 2, "(a=None, version=2)", "Starts the stream of a seed."},
#ifndef __wasm__
    {"getstate", random_getstate, ARGS_NONE, 0, 0, "()", "Where the stream is, for setstate()."},
    {"setstate", random_setstate, ARGS_ONE, 1, 1, "(state)", "Goes on from a state that getstate() gave."},
#endif
    {"random", random_random, ARGS_NONE, 0, 0, "()", "A float in [0, 1)."},
    {"getrandbits", random_getrandbits, ARGS_ONE, 1, 1, "(k, /)", "An int of k random bits."},
    {"randbytes", random_randbytes, ARGS_ONE, 1, 1, "(n)", "n random bytes."},
    {"uniform", random_uniform, ARGS_RANGE, 2, 2, "(a, b)", "A float between a and b."},
    {"randrange", random_randrange, ARGS_ANY, 0, 3, "(start, stop=None, step=1)",
     "An item of range(start, stop, step)."},
    {"randint", random_randint, ARGS_ANY, 0, 2, "(a, b)", "An int in [a, b]."},
    {"choice", random_choice, ARGS_ONE, 1, 1, "(seq)", "An item of a sequence."},
    {"choices", random_choices, ARGS_ANY, 1, 4, "(population, weights=None, *, cum_weights=None, k=1)",
     "k items, with replacement."},
    {"shuffle", random_shuffle, ARGS_ONE, 1, 1, "(x)", "Shuffles a list in place."},
    {"sample", random_sample, ARGS_ANY, 2, 2, "(population, k)", "k different items."},
    {"gauss", random_gauss, ARGS_ANY, 0, 2, "(mu=0.0, sigma=1.0)", "A normally distributed float."},
    {0},
};

#ifndef __wasm__
static TsrStatus fill(Module *module) { return module_add(module, "Random", value_lent(&random_object_type)); }
#else /* the page goes without */
#define fill NULL
#endif

const NsModule ns_random = {"random", "Python's random numbers; torch.manual_seed is for tensors.", functions, fill,
                            NULL};
