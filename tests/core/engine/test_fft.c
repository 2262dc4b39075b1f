/* fft.h: transforms of every kind of length are the sums that define them, one line or several side by side. */
#include "suite.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/fft.h"
#include "core/mem.h"
#include "core/some_tensors.h"

/* The term of the definition: exp(-+ 2 pi i j k / n). */
static double complex turn(int64_t j, int64_t k, int64_t n, bool forward) {
    double x = 2 * M_PI * (double)(j * k % n) / (double)n;
    return CMPLX(cos(x), forward ? -sin(x) : sin(x));
}

static TsrFftWish wish(int64_t n, bool wide, TsrFftKind kind, bool mean, int64_t lines) {
    return (TsrFftWish){n, tsr_fft_least_split(lines), kind, wide, mean};
}

static double complex value_at(const void *line, bool wide, int64_t k) {
    if (wide) return CMPLX(((const double *)line)[2 * k], ((const double *)line)[2 * k + 1]);
    return CMPLX((double)((const float *)line)[2 * k], (double)((const float *)line)[2 * k + 1]);
}

static void put_value(void *line, bool wide, int64_t k, double complex z) {
    if (wide) ((double *)line)[2 * k] = creal(z), ((double *)line)[2 * k + 1] = cimag(z);
    else ((float *)line)[2 * k] = (float)creal(z), ((float *)line)[2 * k + 1] = (float)cimag(z);
}

static double real_at(const void *line, bool wide, int64_t i) {
    return wide ? ((const double *)line)[i] : (double)((const float *)line)[i];
}

static void put_real(void *line, bool wide, int64_t i, double x) {
    if (wide) ((double *)line)[i] = x;
    else ((float *)line)[i] = (float)x;
}

static void *new_bytes(size_t n) {
    void *p = NULL;
    ck_assert_int_eq(posix_memalign(&p, 64, n + 64), 0);
    memset(p, 0xAB, n + 64);
    return p;
}

static bool are_untouched(const void *bytes, size_t from) {
    for (size_t i = from; i < from + 64; i++)
        if (((const unsigned char *)bytes)[i] != 0xAB) return false;
    return true;
}

typedef struct Signal {
    int64_t n;
    bool wide, packed, forward;
    TsrFftKind kind;
    double complex *full; /* n values: what is transformed */
} Signal;

static double noise(void) { return (double)below(2001) / 1000 - 1; }

/* A random signal, or the spectrum of a real one. */
static Signal new_signal(int64_t n, bool wide, TsrFftKind kind, bool forward) {
    Signal s = {n, wide, false, forward, kind, malloc((size_t)n * sizeof *s.full)};
    for (int64_t i = 0; i < n; i++) s.full[i] = CMPLX(noise(), kind == TSR_FFT_FROM_REAL ? 0 : noise());
    for (int64_t i = 0; kind == TSR_FFT_TO_REAL && i < n; i++) {
        int64_t mirror = (n - i) % n;
        if (i == mirror) s.full[i] = creal(s.full[i]);
        else if (i > mirror) s.full[i] = conj(s.full[mirror]);
    }
    return s;
}

/* The line as the plan reads it. */
static void write_input(const Signal *s, void *line) {
    if (s->packed && s->kind == TSR_FFT_FROM_REAL)
        for (int64_t i = 0; i < s->n; i++) put_real(line, s->wide, i, creal(s->full[i]));
    else
        for (int64_t i = 0; i < (s->packed ? s->n / 2 + 1 : s->n); i++) put_value(line, s->wide, i, s->full[i]);
    if (s->packed && s->kind == TSR_FFT_TO_REAL) { /* parts that have to be zero are not read */
        put_value(line, s->wide, 0, CMPLX(creal(s->full[0]), NAN));
        put_value(line, s->wide, s->n / 2, CMPLX(creal(s->full[s->n / 2]), NAN));
    }
}

static double complex result_at(const Signal *s, const void *line, int64_t k) {
    if (s->packed && s->kind == TSR_FFT_TO_REAL) return real_at(line, s->wide, k);
    return value_at(line, s->wide, k);
}

/* How many results a line has, and bytes of room for it and its input. */
static int64_t results(const Signal *s) { return s->packed && s->kind == TSR_FFT_FROM_REAL ? s->n / 2 + 1 : s->n; }
static size_t line_bytes(const Signal *s) { return (size_t)(s->n + 2) * (s->wide ? 16 : 8); }

static void check_results(const Signal *s, const void *line, double scale, const char *what) {
    double bound = (s->wide ? 4e-15 : 6e-7) * sqrt((double)s->n) * (2 + log2((double)s->n)) * fmax(fabs(scale), 1e-30);
    int64_t step = s->n > 3000 ? s->n / 97 : 1; /* of long lines, some */
    for (int64_t k = 0; k < results(s); k += step) {
        double complex want = 0;
        for (int64_t j = 0; j < s->n; j++) want += s->full[j] * turn(j, k, s->n, s->forward);
        double off = cabs(result_at(s, line, k) - scale * want);
        ck_assert_msg(off <= bound, "%s of %d, kind %d, %s, %s: value %d is %g off, %g allowed", what, (int)s->n,
                      (int)s->kind, s->wide ? "double" : "float", s->forward ? "forward" : "backward", (int)k, off,
                      bound);
    }
}

static void check_one(int64_t n, bool wide, TsrFftKind kind, bool forward, double scale, int64_t lines) {
    TsrFft *plan = NULL;
    Signal s = new_signal(n, wide, kind, forward);
    ck_assert_int_eq(tsr_fft_new(&plan, wish(n, wide, kind, scale != 1, lines)), TSR_OK);
    s.packed = tsr_fft_is_packed(plan);
    size_t bytes = line_bytes(&s), need = tsr_fft_scratch(plan);
    void *in = new_bytes(bytes), *out = new_bytes(bytes), *scratch = new_bytes(need);
    write_input(&s, in);
    tsr_fft_run(plan, out, in, forward, scale, scratch);
    check_results(&s, out, scale, "a line");
    ck_assert(are_untouched(scratch, need));
    if (s.packed) ck_assert(are_untouched(out, (size_t)(n + 2) * (wide ? 8 : 4)));
    free(in), free(out), free(scratch), free(s.full);
    tsr_fft_free(plan);
}

static const int64_t lengths[] = {33,  34,  36,  37,  45,  48,  49,  60,  62,  63,  64,  66,  70,   74,   81,  94,
                                  96,  97,  100, 101, 121, 125, 127, 128, 143, 169, 202, 210, 211,  243,  256, 289,
                                  343, 360, 500, 512, 514, 525, 576, 625, 729, 841, 961, 997, 1000, 1024, 2048};

START_TEST(lines_are_the_sums_that_define_them) {
    for (int wide = 0; wide < 2; wide++) {
        for (int64_t n = 1; n <= 32; n++)
            for (int kind = TSR_FFT_COMPLEX; kind <= TSR_FFT_TO_REAL; kind++) {
                if (kind != TSR_FFT_TO_REAL) check_one(n, wide, (TsrFftKind)kind, true, 1, 1);
                if (kind != TSR_FFT_FROM_REAL) check_one(n, wide, (TsrFftKind)kind, false, 1, 1);
                if (kind != TSR_FFT_FROM_REAL) check_one(n, wide, (TsrFftKind)kind, false, 1.0 / (double)n, 8);
                if (kind != TSR_FFT_TO_REAL) check_one(n, wide, (TsrFftKind)kind, true, 1.0 / (double)n, 8);
            }
        for (size_t i = 0; i < TSR_COUNTOF(lengths); i++)
            for (int64_t lines = 1; lines <= 8; lines += i % 4 == 0 ? 2 : 7) {
                check_one(lengths[i], wide, TSR_FFT_COMPLEX, lines == 1, 1, lines);
                check_one(lengths[i], wide, TSR_FFT_FROM_REAL, true, 0.5, lines);
                check_one(lengths[i], wide, TSR_FFT_TO_REAL, false, 1.0 / (double)lengths[i], lines);
            }
    }
}
END_TEST

START_TEST(long_lines_are_the_sums_that_define_them) {
    static const int64_t sizes[] = {4096, 5000, 6561, 8191, 10007, 16384, 20000, 30030, 65536, 65538, 70000};
    for (size_t i = 0; i < TSR_COUNTOF(sizes); i++)
        for (int64_t lines = 1; lines <= 8; lines += 7) {
            check_one(sizes[i], false, TSR_FFT_COMPLEX, i % 2 == 0, 1, lines);
            check_one(sizes[i], true, TSR_FFT_FROM_REAL, true, 1, lines);
            check_one(sizes[i], true, TSR_FFT_TO_REAL, false, 1.0 / (double)sizes[i], lines);
        }
}
END_TEST

/* Value k of line l, of complex numbers side by side. */
static char *lane(void *lines, int lanes, bool wide, bool imaginary, int64_t k, int64_t l) {
    return (char *)lines + ((2 * k + imaginary) * lanes + l) * (wide ? 8 : 4);
}

static void check_lanes(int64_t n, bool wide, TsrFftKind kind, bool forward) {
    TsrFft *plan = NULL;
    ck_assert_int_eq(tsr_fft_new(&plan, wish(n, wide, kind, false, TSR_FFT_LANES)), TSR_OK);
    int lanes = tsr_fft_lanes(plan);
    if (lanes == 1) {
        ck_assert_int_ge(n, 4096);
        tsr_fft_free(plan);
        return;
    }
    Signal s[TSR_FFT_LANES];
    bool packed = tsr_fft_is_packed(plan);
    size_t item = wide ? 8 : 4, bytes = (size_t)(n + 2) * 2 * item * (size_t)lanes,
           need = tsr_fft_scratch(plan) * (size_t)lanes;
    char *in = new_bytes(bytes), *out = new_bytes(bytes), *scratch = new_bytes(need), *line = new_bytes(bytes);
    for (int l = 0; l < lanes; l++) {
        s[l] = new_signal(n, wide, kind, forward);
        s[l].packed = packed;
        write_input(&s[l], line);
        for (int64_t k = 0; k < 2 * n + 2; k++)
            memcpy(lane(in, lanes, wide, k % 2, k / 2, l), line + (size_t)k * item, item);
    }
    tsr_fft_run_lanes(plan, out, in, forward, 1, scratch);
    for (int l = 0; l < lanes; l++) {
        for (int64_t k = 0; k < 2 * n + 2; k++)
            memcpy(line + (size_t)k * item, lane(out, lanes, wide, k % 2, k / 2, l), item);
        check_results(&s[l], line, 1, "side by side");
        free(s[l].full);
    }
    ck_assert(are_untouched(scratch, need));
    free(in), free(out), free(scratch), free(line);
    tsr_fft_free(plan);
}

START_TEST(lines_side_by_side_are_the_same) {
    for (int wide = 0; wide < 2; wide++)
        for (int kind = TSR_FFT_COMPLEX; kind <= TSR_FFT_TO_REAL; kind++) {
            for (int64_t n = 1; n <= 32; n++) check_lanes(n, wide, (TsrFftKind)kind, kind != TSR_FFT_TO_REAL);
            for (size_t i = 0; i < TSR_COUNTOF(lengths); i += 3)
                check_lanes(lengths[i], wide, (TsrFftKind)kind, kind == TSR_FFT_FROM_REAL || (kind == 0 && i % 2));
        }
}
END_TEST

/* What is packed, and what goes side by side, is part of the contract with ops/fft. */
START_TEST(real_lines_of_even_lengths_are_packed) {
    static const struct {
        int64_t n;
        TsrFftKind kind;
        bool packed;
    } cases[] = {{62, TSR_FFT_FROM_REAL, false}, {64, TSR_FFT_FROM_REAL, true},  {64, TSR_FFT_TO_REAL, true},
                 {64, TSR_FFT_COMPLEX, false},   {65, TSR_FFT_FROM_REAL, false}, {66, TSR_FFT_FROM_REAL, true},
                 {1000, TSR_FFT_TO_REAL, true},  {2, TSR_FFT_FROM_REAL, false},  {97, TSR_FFT_TO_REAL, false}};
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        TsrFft *plan = NULL;
        ck_assert_int_eq(tsr_fft_new(&plan, wish(cases[i].n, false, cases[i].kind, false, 8)), TSR_OK);
        ck_assert_msg(tsr_fft_is_packed(plan) == cases[i].packed, "length %d", (int)cases[i].n);
        tsr_fft_free(plan);
    }
}
END_TEST

/* A forward transform and one back give the signal again: in units of the last place hardly more than the length's
 * logarithm. */
START_TEST(there_and_back_is_the_signal) {
    for (int64_t n = 1; n < 3000; n = n * 3 / 2 + 1) {
        TsrFft *plan = NULL;
        ck_assert_int_eq(tsr_fft_new(&plan, wish(n, true, TSR_FFT_COMPLEX, false, 1)), TSR_OK);
        size_t bytes = (size_t)n * 16;
        double *in = new_bytes(bytes), *out = new_bytes(bytes), *back = new_bytes(bytes);
        void *scratch = new_bytes(tsr_fft_scratch(plan));
        for (int64_t i = 0; i < 2 * n; i++) in[i] = noise();
        tsr_fft_run(plan, out, in, true, 1, scratch);
        tsr_fft_run(plan, back, out, false, 1.0 / (double)n, scratch);
        for (int64_t i = 0; i < 2 * n; i++) ck_assert(fabs(back[i] - in[i]) < 1e-14);
        free(in), free(out), free(back), free(scratch);
        tsr_fft_free(plan);
    }
}
END_TEST

START_TEST(a_plan_that_finds_no_memory_leaves_nothing) {
    static const int64_t sizes[] = {8, 97, 1000, 4096, 10007};
    for (size_t i = 0; i < TSR_COUNTOF(sizes); i++) {
        int failures = 0;
        for (int64_t n = 1; n < 40; n++) {
            TsrFft *plan = NULL;
            int64_t blocks = tsr_mem_live_blocks();
            (void)tsr_mem_fail_at(n);
            TsrStatus status = tsr_fft_new(&plan, wish(sizes[i], false, TSR_FFT_FROM_REAL, false, 1));
            (void)tsr_mem_fail_at(0);
            ck_assert((status == TSR_OK) == (plan != NULL));
            tsr_fft_free(plan);
            ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
            if (status == TSR_OK) break;
            failures++;
        }
        ck_assert_int_gt(failures, 0);
    }
    TsrFft *plan = NULL;
    ck_assert_int_eq(tsr_fft_new(&plan, wish(INT64_MAX / 8, true, TSR_FFT_COMPLEX, false, 1)), TSR_RUNTIME_ERROR);
    tsr_fft_free(NULL);
}
END_TEST

START_TEST(plans_are_kept_for_the_next_call) {
    int64_t blocks = tsr_mem_live_blocks();
    TsrFft *plan = NULL, *again = NULL, *other = NULL;
    TsrFftWish asked = wish(100, true, TSR_FFT_COMPLEX, false, 1), mean = wish(100, true, TSR_FFT_COMPLEX, true, 1);
    ck_assert_int_eq(tsr_fft_take_new(&plan, asked), TSR_OK);
    ck_assert_int_eq(tsr_fft_take_new(&other, asked), TSR_OK); /* in use, a plan is not lent again */
    ck_assert_ptr_ne(plan, other);
    tsr_fft_keep_move(other);
    tsr_fft_keep_move(plan);
    ck_assert_int_eq(tsr_fft_take_new(&other, mean), TSR_OK);
    ck_assert_ptr_ne(plan, other);
    ck_assert_int_eq(tsr_fft_take_new(&again, asked), TSR_OK);
    ck_assert_ptr_eq(plan, again);
    tsr_fft_keep_move(again);
    tsr_fft_keep_move(other);
    for (int64_t n = 1; n < 50; n++) { /* the older ones go */
        ck_assert_int_eq(tsr_fft_take_new(&plan, wish(n, true, TSR_FFT_COMPLEX, false, 1)), TSR_OK);
        tsr_fft_keep_move(plan);
    }
    ck_assert_int_lt(tsr_mem_live_blocks(), blocks + 40);
    ck_assert_int_eq(tsr_fft_take_new(&plan, wish(1 << 20, true, TSR_FFT_FROM_REAL, false, 8)), TSR_OK);
    ck_assert_uint_gt(plan->bytes, 4 << 20);
    blocks = tsr_mem_live_blocks();
    tsr_fft_keep_move(plan); /* too large */
    ck_assert_int_lt(tsr_mem_live_blocks(), blocks);
}
END_TEST

TEST_SUITE(fft, lines_are_the_sums_that_define_them, long_lines_are_the_sums_that_define_them,
           lines_side_by_side_are_the_same, real_lines_of_even_lengths_are_packed, there_and_back_is_the_signal,
           a_plan_that_finds_no_memory_leaves_nothing, plans_are_kept_for_the_next_call)
