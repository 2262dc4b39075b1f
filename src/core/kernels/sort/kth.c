/* kth.c: selection among keys (kth.h). Of many, a sample says between which two keys the k-th one probably is; those
 * are counted, and copied together where it is (R. W. Floyd and R. L. Rivest, "Expected time bounds for selection",
 * 1975). Where a sample says nothing, because many keys are equal, the bits of the k-th one are found by counting the
 * keys below. Fewer keys are parted by one of them, time and again. */
#include "kth.h"

#include <string.h>

#include "core/error.h"

/* Keys whose ranks are counted, and of a sample; more keys than these are many (median of lines of 1000 floats, Zen 5:
 * by parting 1.5 us, by a sample 1.3); keys among which a place is looked for at a time. */
enum { FEW = 8, SAMPLE = 64, MANY = 512, PIECE = 256 };

#define K uint32_t
#define NAME(x) x##32
#include "kth.inc"
#define K uint64_t
#define NAME(x) x##64
#include "kth.inc"
