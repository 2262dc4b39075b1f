/* mem.h: every small allocation of the program goes through here: counted, limited, and made to fail by tests.
 *
 * Tensor data has its own registry (alloc.h). Thread safe. NULL means memory is short or the limit or an
 * injected failure was hit; the caller reports it (tsr_error_no_memory, or MemoryError in the language). */
#ifndef TSR_MEM_H
#define TSR_MEM_H

#include "error.h"

TSR_PUBLIC_BEGIN

void *tsr_malloc(size_t bytes);                    /* never NULL for 0 bytes unless it fails */
void *tsr_malloc_array(size_t count, size_t size); /* NULL when count * size overflows */
void *tsr_calloc(size_t count, size_t size);       /* zeroed; NULL when count * size overflows */
/* Grows or shrinks; on failure NULL and the old block is untouched. tsr_realloc(NULL, n) allocates. */
void *tsr_realloc(void *block, size_t bytes);
void tsr_free(void *block); /* NULL is fine */

/* What was allocated here and not yet freed, over all threads. The bytes are what malloc took for it: what
 * malloc_usable_size says of each block, and the header before it. */
int64_t tsr_mem_live_blocks(void);
int64_t tsr_mem_live_bytes(void);
/* Ceiling for live bytes and what tsr_mem_reserve took of it; 0: none. */
void tsr_mem_set_limit(size_t bytes);
/* Others hold `bytes` more (fewer when negative) under the same ceiling: the data of tensors and the kept blocks. */
void tsr_mem_reserve(int64_t bytes);
/* Whether `bytes` more stay within the ceiling, if need be once what tsr_mem_when_short was given has run. */
bool tsr_mem_fits(size_t bytes);
/* Called in the thread that meets the ceiling, with no lock held, to give back kept memory; must not allocate here.
 * NULL: nothing is kept. */
typedef void (*TsrMemRelease)(void);
void tsr_mem_when_short(TsrMemRelease release);
/* For tests. The n-th allocation from now on fails (1: the next one), and only that one; 0 switches injection off.
 * Returns how many allocations were made since the last call, so that a sweep knows when it has passed them all. */
int64_t tsr_mem_fail_at(int64_t n);
/* Asked by allocators of tensor data, so that a sweep reaches them too: true when this allocation must fail. */
bool tsr_mem_inject_failure(void);

TSR_PUBLIC_END

/* Grows the array *items (a pointer to a pointer), by half at least, so that `wanted` elements of `size` bytes fit.
 * *room is how many fit now. An error (tsr_error_no_memory) leaves both as they were. */
TsrStatus tsr_mem_grow(void *items, size_t *room, size_t wanted, size_t size);
/* The n bytes at `bytes` (NULL where n is 0) and a NUL, the caller's to tsr_free; NULL when memory is short. */
char *tsr_mem_text(const void *bytes, size_t n);

#endif
