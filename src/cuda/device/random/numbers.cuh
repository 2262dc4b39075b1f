/* numbers.cuh: from Philox's words to numbers, as cuRAND has it. */

/* (0, 1]: the middle of one of 2^32 or 2^53 parts. */
static inline float uniform_of_word(uint32_t x) {
    return __builtin_fmaf((float)x, 2.3283064365386963e-10f, 1.1641532182693481e-10f);
}
static inline double uniform_of_words(uint32_t low, uint32_t high) {
    const uint64_t bits = low ^ (uint64_t)high << 21;
    return __builtin_fma((double)bits, 1.1102230246251565e-16, 5.5511151231257827e-17);
}

/* Box and Muller's: a pair of normal numbers is the sine and the cosine of one angle. */
typedef struct Normals {
    float sine, cosine;
} Normals;
typedef struct WideNormals {
    double sine, cosine;
} WideNormals;

static inline Normals normals_of_words(uint32_t x, uint32_t y) {
    const float length = sqrt(-2.0f * log(uniform_of_word(x)));
    const float angle = __builtin_fmaf((float)y, 1.4629180792671596e-9f, 7.3145903963357981e-10f);
    Normals n;
    quick_sincos(angle, &n.sine, &n.cosine);
    n.sine *= length, n.cosine *= length;
    return n;
}
static inline WideNormals normals_of_words(const uint32_t *words) {
    const uint64_t y = words[2] ^ (uint64_t)words[3] << 21;
    const double length = sqrt(-2.0 * log(uniform_of_words(words[0], words[1])));
    WideNormals n;
    sincospi(__builtin_fma((double)y, 2.2204460492503131e-16, 1.1102230246251565e-16), &n.sine, &n.cosine);
    n.sine *= length, n.cosine *= length;
    return n;
}
