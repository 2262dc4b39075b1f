/* The Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), a block of 624 words at a time; and for generators of
 * devices Philox4x32-10 (kernels/random/philox.h), whose state is the seed and an offset.
 *
 * A kernel of the device takes a part of the offsets and draws by itself (tsr_rng_take). An operator that the host runs
 * in its place draws words one after the other: those of a stream that belongs to the offset where it began, which no
 * thread of a device has the number of, and the offset then goes on as PyTorch's kernel would have moved it. */
#include "core/rng.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "turn.h"
#include "core/kernels/random/philox.h"
#include "core/kernels/random/random.h"
#include "core/mem.h"

enum { WORDS = TSR_MT_WORDS };

struct TsrGenerator {
    _Atomic int refcount;
    uint64_t seed;
    uint32_t state[WORDS]; /* of the block that `words` came from */
    uint32_t words[WORDS]; /* tempered */
    int next;              /* in words; WORDS: the block is used up */
    bool fresh;            /* seeded, no block drawn yet */
    /* For Philox: */
    bool philox;
    int8_t index;    /* of its device */
    uint64_t offset; /* where the operator that draws began */
    uint64_t drawn;  /* words that it drew before the block */
    uint64_t taken;  /* by how much it moves the offset; 0: by the words that it drew */
    bool has_normal;
    double normal; /* the second of a Box-Muller pair, not yet used */
};

static TsrGenerator default_generator = {.refcount = 1};
enum { DEVICES = 16 };
static TsrGenerator of_devices[DEVICES];
static _Thread_local TsrGenerator *instead;

static bool is_static(const TsrGenerator *g) {
    return g == &default_generator || (g >= of_devices && g < of_devices + DEVICES);
}

/* The next WORDS words; `drawn` is where they begin. */
static void make_block(TsrGenerator *g, uint32_t *out) {
    if (TSR_LIKELY(!g->philox)) {
        tsr_kernel_mt_block(g->state, out);
        return;
    }
    if (!g->fresh) g->drawn += WORDS;
    const uint64_t stream = UINT64_C(1) << 63 | g->offset;
    for (uint32_t i = 0; i < WORDS; i += 4) tsr_philox(out + i, (g->drawn + i) / 4, stream, g->seed);
}

static uint64_t in_fours(uint64_t n) { return (n + 3) / 4 * 4; }

/* The offset after the operator that draws. */
static uint64_t next_offset(const TsrGenerator *g) {
    uint64_t drawn = g->fresh ? 0 : g->drawn + (uint64_t)g->next;
    return g->offset + in_fours(g->taken > 0 ? g->taken : drawn);
}

static void begin_at(TsrGenerator *g, uint64_t offset) {
    g->offset = offset;
    g->drawn = 0;
    g->taken = 0;
    g->next = WORDS;
    g->fresh = true;
}

void tsr_rng_begin(TsrGenerator *g, uint64_t takes) {
    if (!g->philox) return;
    begin_at(g, next_offset(g));
    g->taken = takes;
}

void tsr_rng_position(const TsrGenerator *g, uint64_t *seed, uint64_t *offset) {
    *seed = g->seed;
    *offset = next_offset(g);
}

void tsr_rng_take(TsrGenerator *g, uint64_t count) { begin_at(g, next_offset(g) + in_fours(count)); }

TsrStatus tsr_rng_get_offset(uint64_t *out, const TsrGenerator *g) {
    if (!g->philox) return tsr_error(TSR_RUNTIME_ERROR, "CPU Generator does not use offset");
    *out = next_offset(g);
    return TSR_OK;
}

TsrStatus tsr_rng_set_offset(TsrGenerator *g, uint64_t offset) {
    if (!g->philox) return tsr_error(TSR_RUNTIME_ERROR, "CPU Generator does not use offset");
    if (offset % 4 != 0) return tsr_error(TSR_RUNTIME_ERROR, "offset must be a multiple of 4");
    begin_at(g, offset);
    return TSR_OK;
}

static void seed_state(TsrGenerator *g, uint64_t seed) {
    g->seed = seed;
    g->offset = g->drawn = g->taken = 0;
    g->state[0] = (uint32_t)seed;
    for (uint32_t j = 1; j < WORDS; j++) g->state[j] = 1812433253u * (g->state[j - 1] ^ (g->state[j - 1] >> 30)) + j;
    g->next = WORDS;
    g->fresh = true;
    g->has_normal = false;
}

void tsr_rng_seed(TsrGenerator *g, uint64_t seed) { seed_state(g, seed); }

static void seed_default(void) { tsr_rng_seed_from_system(&default_generator); }

TsrGenerator *tsr_rng_default(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (TSR_UNLIKELY(instead != NULL)) return instead;
    pthread_once(&once, seed_default);
    return &default_generator;
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
_Thread_local bool tsr_turn_taken;

void tsr_turn_take(void) {
    if (tsr_turn_taken || tsr_interrupt_own.since == 0) return;
    pthread_mutex_lock(&turn);
    tsr_turn_taken = true;
}

void tsr_turn_give_back(void) {
    tsr_turn_taken = false;
    pthread_mutex_unlock(&turn);
}

TsrGenerator *tsr_rng_of_device(int index) {
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    TsrGenerator *g = &of_devices[index >= 0 && index < DEVICES ? index : 0];
    pthread_mutex_lock(&making);
    if (!g->philox) {
        g->refcount = 1;
        g->philox = true;
        g->index = (int8_t)(g - of_devices);
        tsr_rng_seed_from_system(g);
    }
    pthread_mutex_unlock(&making);
    return g;
}

int tsr_rng_device(const TsrGenerator *g) { return g->philox ? g->index : -1; }

TsrGenerator *tsr_rng_use(TsrGenerator *g) {
    TsrGenerator *before = instead;
    instead = g;
    return before;
}

TsrStatus tsr_rng_new_philox(TsrGenerator **out, int index) {
    if (index < 0 || index >= DEVICES) return tsr_error(TSR_VALUE_ERROR, "there is no device %d", index);
    TSR_TRY(tsr_rng_new(out));
    (*out)->philox = true;
    (*out)->index = (int8_t)index;
    return TSR_OK;
}

TsrStatus tsr_rng_new(TsrGenerator **out) {
    TsrGenerator *g = tsr_malloc(sizeof *g);
    if (g == NULL) return tsr_error_no_memory(sizeof *g);
    g->refcount = 1;
    g->philox = false;
    g->index = -1;
    seed_state(g, 67280421310721u);
    *out = g;
    return TSR_OK;
}

TsrGenerator *tsr_rng_retain(TsrGenerator *g) {
    if (g != NULL && !is_static(g)) g->refcount++;
    return g;
}

void tsr_rng_free(TsrGenerator *g) {
    if (g == NULL || is_static(g)) return;
    if (atomic_fetch_sub(&g->refcount, 1) == 1) tsr_free(g);
}

uint64_t tsr_rng_seed_from_system(TsrGenerator *g) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint64_t)time(NULL) * 6364136223846793005u + 1442695040888963407u;
    seed &= 0x1FFFFFFFFFFFFFu; /* 53 bits: the seed survives a trip through a float */
    seed_state(g, seed);
    return seed;
}

uint64_t tsr_rng_initial_seed(const TsrGenerator *g) { return g->seed; }

static void refill(TsrGenerator *g) {
    make_block(g, g->words);
    g->next = 0;
    g->fresh = false;
}

uint32_t tsr_rng_u32(TsrGenerator *g) {
    if (TSR_UNLIKELY(g->next == WORDS)) refill(g);
    return g->words[g->next++];
}

uint64_t tsr_rng_u64(TsrGenerator *g) {
    uint64_t high = tsr_rng_u32(g);
    return high << 32 | tsr_rng_u32(g);
}

void tsr_rng_words(TsrGenerator *g, uint32_t *out, int64_t n) {
    while (n > 0) {
        if (g->next == WORDS) {
            if (n >= WORDS) { /* straight into the caller's memory */
                make_block(g, out);
                memcpy(g->words, out, sizeof g->words);
                g->fresh = false;
                out += WORDS;
                n -= WORDS;
                continue;
            }
            refill(g);
        }
        int64_t part = TSR_MIN(n, WORDS - g->next);
        memcpy(out, g->words + g->next, sizeof *out * (size_t)part);
        g->next += (int)part;
        out += part;
        n -= part;
    }
}

float tsr_rng_uniform_float(TsrGenerator *g) { return (float)(tsr_rng_u32(g) & 0xFFFFFFu) * 0x1.0p-24f; }

double tsr_rng_uniform_double(TsrGenerator *g) { return (double)(tsr_rng_u64(g) & 0x1FFFFFFFFFFFFFu) * 0x1.0p-53; }

double tsr_rng_normal_double(TsrGenerator *g) {
    if (g->has_normal) {
        g->has_normal = false;
        return g->normal;
    }
    double u1 = tsr_rng_uniform_double(g), u2 = tsr_rng_uniform_double(g);
    double r = sqrt(-2.0 * log1p(-u2)), theta = 2.0 * 3.14159265358979323846 * u1;
    g->normal = r * sin(theta);
    g->has_normal = !g->philox; /* its state has no place for one */
    return r * cos(theta);
}

/* ---- state as bytes ----
 * Offsets in PyTorch's CPUGeneratorImplState: seed, left, seeded, next, 624 words of 8 bytes, normal_x, normal_y, rho,
 * valid, then a float normal and its flag. A cached double normal is stored as (rho = value, x = 0) there: y carries
 * it. */
enum { AT_SEED = 0, AT_LEFT = 8, AT_SEEDED = 12, AT_NEXT = 16, AT_STATE = 24, AT_NORMAL = AT_STATE + WORDS * 8 };

static void put32(uint8_t *p, uint32_t v) { memcpy(p, &v, 4); }
static void put64(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }

size_t tsr_rng_state_bytes(const TsrGenerator *g) {
    return g->philox ? TSR_RNG_PHILOX_STATE_BYTES : TSR_RNG_STATE_BYTES;
}

static TsrStatus set_philox_state(TsrGenerator *g, const uint8_t *bytes, size_t n) {
    uint64_t offset = 0; /* a seed alone is a fresh stream */
    if (n != TSR_RNG_PHILOX_STATE_BYTES && n != 8) return tsr_error(TSR_RUNTIME_ERROR, "RNG state is wrong size");
    memcpy(&offset, bytes + 8, n - 8);
    uint64_t seed;
    memcpy(&seed, bytes, 8);
    seed_state(g, seed);
    return tsr_rng_set_offset(g, offset);
}

void tsr_rng_get_state(const TsrGenerator *g, uint8_t *bytes) {
    if (g->philox) {
        put64(bytes, g->seed);
        put64(bytes + 8, next_offset(g));
        return;
    }
    memset(bytes, 0, TSR_RNG_STATE_BYTES);
    put64(bytes + AT_SEED, g->seed);
    put32(bytes + AT_LEFT, g->fresh ? 1 : (uint32_t)(WORDS - g->next + 1));
    put32(bytes + AT_SEEDED, 1);
    put64(bytes + AT_NEXT, g->fresh ? 0 : (uint64_t)g->next);
    for (int i = 0; i < WORDS; i++) put64(bytes + AT_STATE + i * 8, g->state[i]);
    if (!g->has_normal) return;
    memcpy(bytes + AT_NORMAL + 8, &g->normal, 8);
    put32(bytes + AT_NORMAL + 24, 1);
}

TsrStatus tsr_rng_set_state(TsrGenerator *g, const uint8_t *bytes, size_t n) {
    uint32_t left, seeded;
    uint64_t next;
    if (g->philox) return set_philox_state(g, bytes, n);
    if (n != TSR_RNG_STATE_BYTES && n != TSR_RNG_STATE_BYTES - 8)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected either a CPUGeneratorImplStateLegacy of size %d or a CPUGeneratorImplState of size %d but "
            "found the input RNG state size to be %zu",
            TSR_RNG_STATE_BYTES - 8, TSR_RNG_STATE_BYTES, n);
    memcpy(&left, bytes + AT_LEFT, 4);
    memcpy(&seeded, bytes + AT_SEEDED, 4);
    memcpy(&next, bytes + AT_NEXT, 8);
    if (seeded != 1 || left == 0 || left > WORDS || next > WORDS)
        return tsr_error(TSR_RUNTIME_ERROR, "Invalid mt19937 state");
    memcpy(&g->seed, bytes + AT_SEED, 8);
    for (int i = 0; i < WORDS; i++) memcpy(&g->state[i], bytes + AT_STATE + i * 8, 4);
    g->fresh = left == 1 && next == 0;
    g->next = g->fresh ? WORDS : (int)next;
    tsr_kernel_mt_temper(g->state, g->words);
    uint32_t valid;
    memcpy(&valid, bytes + AT_NORMAL + 24, 4);
    g->has_normal = valid != 0;
    memcpy(&g->normal, bytes + AT_NORMAL + 8, 8);
    return TSR_OK;
}
