/* memory.h: the allocators of device memory and of pinned memory, and what they count together. */
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include <pthread.h>

#include "driver.h"

extern TsrAllocator cuda_caching, cuda_direct, cuda_bfc; /* rows "cuda_caching", "cuda" and "cuda_bfc" */
extern TsrAllocator cuda_pinned;                         /* row "pinned", of the host */

/* Held by an allocator of the device while it looks at its blocks, and by whoever counts. */
extern pthread_mutex_t cuda_memory_lock;

/* The numbers of a device. The lock is held. */
TsrDeviceMemory *cuda_numbers(int index);
/* A change of one number by `amount`, which may be negative. */
void cuda_stat_change(TsrStat *s, int64_t amount);
/* The same of the number of all blocks and of those of one pool. */
void cuda_stat(TsrStat stat[TSR_STAT_POOLS], bool small, int64_t amount);
/* A block of `size` bytes, of which `requested` were asked for, goes to a tensor (sign 1) or comes back (-1). */
void cuda_stat_given(int index, bool small, size_t size, size_t requested, int sign);
/* The same of those that nothing on the device uses any more; a block may be given back before it is idle. */
void cuda_stat_active(int index, bool small, size_t size, size_t requested, int sign);

void cuda_memory(TsrDeviceMemory *out, int index); /* a copy of the numbers of a device */
bool cuda_memory_used(void);                       /* memory of some device was asked for */
void cuda_reset_stats(int index, bool sums);       /* the sums become 0, or each peak what there is now */
void cuda_stat_reset(TsrStat *stat, bool sums);    /* the same of one number; the lock is held */
void cuda_pinned_memory(TsrPinnedMemory *out);     /* as cuda_memory, of pinned memory */
void cuda_pinned_reset(bool sums);                 /* as cuda_reset_stats */
double cuda_fraction(int index);                   /* the part of the memory that may be taken, 1 at first */
void cuda_set_fraction(int index, double part);

/* `bytes` of a device from the driver; CU_OUT_OF_MEMORY, and more than the fraction that was set, is no error yet: *out
 * is 0 then. The lock is held. `caller`: who asks, for the trace. */
TsrStatus cuda_take(TsrAddress *out, int index, size_t bytes, bool small, const char *caller);
void cuda_give(int index, TsrAddress address, size_t bytes, bool small, const char *caller);
/* TSR_OUT_OF_MEMORY_ERROR in PyTorch's words. `bytes` is what was tried to be taken from the driver. The lock is held.
 */
TsrStatus cuda_out_of_memory(int index, size_t bytes);

/* Memory for the length of some launches, from the caching allocator and for the current stream: freed right after
 * they were put into it. TSR_OUT_OF_MEMORY_ERROR. */
TsrStatus cuda_scratch(TsrDataPtr *out, int index, size_t bytes);
void cuda_scratch_free(TsrDataPtr *scratch);

/* TsrBackend's entries of the same names, for blocks of the caching allocator: others have none of other streams. */
TsrStatus cuda_record_stream(TsrAddress block, int index, int64_t id);
void cuda_each_block(int index, void (*visit)(void *context, const TsrDeviceBlock *block), void *context);
/* Gives whole segments of a device, or of all (-1), back to the driver. The lock is held. */
void cuda_caching_empty(int index);

/* A stream copies from or to this pinned memory: it is not given again before the stream has come so far. */
void cuda_pinned_uses(void *address, int index, int64_t id);

#endif
