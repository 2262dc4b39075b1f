/* kth.c: selection among keys (kth.h). A radix selection: the keys are counted by their highest digit, those of the
 * digit that the k-th one has are copied together, and so on with the next digit until few are left. */
#include "kth.h"

#include <string.h>

#include "core/error.h"

/* A digit; how many counters of it take turns, so that equal digits do not wait for one another; keys that are left to
 * insertion. */
enum { BITS = 10, DIGITS = 1 << BITS, TURNS = 4, FEW = 32 };

#define K uint32_t
#define NAME(x) x##32
#include "kth.inc"
#define K uint64_t
#define NAME(x) x##64
#include "kth.inc"
