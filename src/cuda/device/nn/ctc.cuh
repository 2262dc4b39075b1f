/* ctc.cuh: losses of connectionist temporal classification (A. Graves and others, 2006, section 4.1), in the order of
 * core/ops/nn/ctc.inc: a block has a sample, and goes through the steps; its threads share the letters, with blanks
 * around each. Before this text stands, made by ctc.c, the type E: float or double. */

/* The logarithm of the sum of three numbers' exponentials. */
static inline E log_sum(E a, E b, E c) {
    E most = a > b ? a : b;
    most = most > c ? most : c;
    if (most == -(E)INFINITY) most = 0;
    return log(exp(a - most) + exp(b - most) + exp(c - most)) + most;
}

/* What step `now` says of letter s; one that is no class has no probability. */
static inline E log_prob(const CtcArgs &a, const E *now, const int64_t *spelled, int64_t s) {
    const int64_t letter = spelled[s];
    if (letter >= 0 && letter < a.classes) return now[letter];
    report(a.errors, a.launch, (int)a.found, letter, 2, a.classes);
    return -(E)INFINITY;
}

/* The probability of all ways that have come to letter s, from those of the step before: a letter may follow the one
 * two before it, without the blank between, where it is another one. */
static inline E ways_to(const E *before, const int64_t *spelled, int64_t s) {
    const E none = -(E)INFINITY;
    const bool jumps = s > 1 && s % 2 == 1 && spelled[s] != spelled[s - 2];
    return log_sum(before[s], s > 0 ? before[s - 1] : none, jumps ? before[s - 2] : none);
}

static inline int64_t between(int64_t x, int64_t most) { return x < 0 ? 0 : x < most ? x : most; }

KERNEL_TOGETHER(tsr_ctc, CtcArgs) {
    for (int64_t b = block(); b < a.batch; b += blocks()) {
        const int64_t *spelled = at<int64_t>(a.spelled) + b * a.width;
        const int64_t steps = between(at<int64_t>(a.steps)[b], a.most_steps),
                      letters = 2 * between(at<int64_t>(a.letters)[b], (a.width - 1) / 2) + 1;
        const E *now = at<E>(a.log_probs) + b * a.classes;
        E *after = at<E>(a.rows) + 2 * b * a.width, *before = after + a.width;
        for (int64_t s = thread(); s < letters && steps > 0; s += threads())
            after[s] = s < 2 ? log_prob(a, now, spelled, s) : -(E)INFINITY;
        barrier();
        for (int64_t t = 1; t < steps; t++) {
            E *const kept = before;
            before = after, after = kept;
            now += a.batch * a.classes;
            for (int64_t s = thread(); s < letters; s += threads())
                after[s] = ways_to(before, spelled, s) + log_prob(a, now, spelled, s);
            barrier();
        }
        if (thread() == 0) {
            const E none = -(E)INFINITY, last = letters > 1 && steps > 0 ? after[letters - 2] : none;
            at<E>(a.out)[b] = steps > 0 ? -log_sum(after[letters - 1], last, none) : letters == 1 ? -(E)0 : (E)INFINITY;
        }
        barrier();
    }
}
