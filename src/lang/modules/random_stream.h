/* random_stream.h: the stream of numbers that Python's random draws from. The module has one of its own, and so has
 * every random.Random(seed): its methods are the module's functions, which draw from its stream meanwhile. */
#ifndef LANG_MODULES_RANDOM_STREAM_H
#define LANG_MODULES_RANDOM_STREAM_H

#include "lang/object/value.h"

enum { RANDOM_WORDS = 624 };

typedef struct RandomStream {
    uint32_t state[RANDOM_WORDS];
    int position; /* of the next word; RANDOM_WORDS + 1: not seeded yet */
    bool has_gauss;
    double next_gauss; /* gauss() makes two at a time */
} RandomStream;

/* What this thread's functions of random draw from now on, lent; NULL: the module's stream. Returns what they drew from
 * before. */
RandomStream *random_draw_from(RandomStream *s);

extern Type random_object_type;

#endif
