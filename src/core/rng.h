/* rng.h: generators: PyTorch's CPU generator (mt19937) and its ways of turning words into numbers, so that a seed gives
 * PyTorch's stream. */
#ifndef TSR_RNG_H
#define TSR_RNG_H

#include "error.h"

TSR_PUBLIC_BEGIN

/* A generator: the state of mt19937 and a cached normal. Counted. Operators that draw from one take turns,
 * whatever thread they run in; who calls a function of this header must see that no other thread uses the generator. */
typedef struct TsrGenerator TsrGenerator;
TsrGenerator *tsr_rng_default(void);       /* lent; torch.default_generator: its first seed is the system's */
TsrStatus tsr_rng_new(TsrGenerator **out); /* torch.Generator(), seeded with 67280421310721 */
/* A generator of a CUDA device: Philox4x32-10, whose state is the seed and an offset, a multiple of 4: thread t of a
 * kernel has stream t of the seed, and the words from the offset on in it. */
TsrStatus tsr_rng_new_philox(TsrGenerator **out, int index); /* TSR_VALUE_ERROR unless index is 0 to 15 */
TsrGenerator *tsr_rng_of_device(int index); /* lent; a device's default generator, its first seed is the system's */
int tsr_rng_device(const TsrGenerator *g);  /* the device's index, or -1 for one of the host */
/* Makes g what tsr_rng_default gives on this thread, NULL: the host's again. Returns what was set before. */
TsrGenerator *tsr_rng_use(TsrGenerator *g);
/* One reference more, which is returned, and one less. */
TsrGenerator *tsr_rng_retain(TsrGenerator *g);
void tsr_rng_free(TsrGenerator *g);
void tsr_rng_seed(TsrGenerator *g, uint64_t seed);    /* manual_seed: also drops the cached normals */
uint64_t tsr_rng_seed_from_system(TsrGenerator *g);   /* seed(): seeds from the system's entropy, returns the seed */
uint64_t tsr_rng_initial_seed(const TsrGenerator *g); /* the seed that it was last given */
uint32_t tsr_rng_u32(TsrGenerator *g);                /* the next word of the stream */
uint64_t tsr_rng_u64(TsrGenerator *g);                /* the first word drawn is the upper half */
float tsr_rng_uniform_float(TsrGenerator *g);         /* [0, 1) from 24 bits */
double tsr_rng_uniform_double(TsrGenerator *g);       /* [0, 1) from 53 bits */
/* Box-Muller, the second value cached for the next call, as at::normal_distribution<double>. */
double tsr_rng_normal_double(TsrGenerator *g);
void tsr_rng_words(TsrGenerator *g, uint32_t *out, int64_t n); /* n draws of tsr_rng_u32, in bulk */

/* The rest of this block concerns generators of devices; of the host's, tsr_rng_begin does nothing.
 * An operator begins: what the one before drew is behind the offset. If it draws words it moves the offset by `takes`,
 * or, with 0, by their number. */
void tsr_rng_begin(TsrGenerator *g, uint64_t takes);
/* The seed and the offset where the next kernel begins. */
void tsr_rng_position(const TsrGenerator *g, uint64_t *seed, uint64_t *offset);
void tsr_rng_take(TsrGenerator *g, uint64_t count); /* moves the offset by count, rounded up to a multiple of 4 */
/* Generator.get_offset and set_offset: TSR_RUNTIME_ERROR for one of the host, or an offset that is no multiple of 4. */
TsrStatus tsr_rng_get_offset(uint64_t *out, const TsrGenerator *g);
TsrStatus tsr_rng_set_offset(TsrGenerator *g, uint64_t offset);

/* get_rng_state and set_rng_state: PyTorch's layout of TSR_RNG_STATE_BYTES bytes. Setting checks it: TSR_RUNTIME_ERROR.
 */
enum { TSR_RNG_STATE_BYTES = 5056, TSR_RNG_PHILOX_STATE_BYTES = 16 };
size_t tsr_rng_state_bytes(const TsrGenerator *g); /* which of the two it is */
void tsr_rng_get_state(const TsrGenerator *g, uint8_t *bytes);
TsrStatus tsr_rng_set_state(TsrGenerator *g, const uint8_t *bytes, size_t n);

TSR_PUBLIC_END

#endif
