/* hash.h: the hash of a text, for tables of names: FNV-1a with 32 bits (Fowler, Noll, Vo). */
#ifndef CORE_BASE_HASH_H
#define CORE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t tsr_hash_text(const char *text, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

#endif
