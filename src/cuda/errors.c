/* errors.c: a record a device in pinned memory, which its kernels write: the first one to find something wrong puts its
 * launch's number there, then what it was, and last of which kind (errors.h). */
#include "errors.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* As device/errors.cuh has it. */
typedef struct Record {
    uint64_t launch; /* 0: nothing was found */
    int64_t found;   /* 0: another stream's kernel is still writing */
    int64_t value, dimension, size;
} Record;

enum { REMEMBERED = 256, NAME = 96 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    Record *record; /* NULL until the first kernel that may report; then for ever */
    TsrAddress address;
} devices[CUDA_MAX_DEVICES];
static char names[REMEMBERED][NAME]; /* of the launches, by number */
static uint64_t launches;

static TsrStatus make_record(int index) {
    void *block;
    TsrAddress address;
    TSR_TRY(cuda_check(cuda.pinned_new(&block, sizeof(Record), CU_HOST_PORTABLE | CU_HOST_MAPPED)));
    TsrStatus status = cuda_check(cuda.pinned_address(&address, block, 0));
    if (status != TSR_OK) return (void)cuda.pinned_free(block), status;
    memset(block, 0, sizeof(Record));
    devices[index].address = address;
    __atomic_store_n(&devices[index].record, (Record *)block, __ATOMIC_RELEASE);
    return TSR_OK;
}

TsrStatus cuda_errors_begin(uint64_t *address, uint64_t *launch, int index) {
    TsrStatus status = TSR_OK;
    pthread_mutex_lock(&lock);
    if (devices[index].record == NULL) status = make_record(index);
    if (status == TSR_OK) {
        *launch = ++launches;
        *address = devices[index].address;
        cuda_host->where(names[*launch % REMEMBERED], NAME);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static TsrStatus raise_wrong(const Record *r, TsrDeviceWrong wrong) {
    if (wrong == TSR_WRONG_ROW) return cuda_host->error(TSR_INDEX_ERROR, "index out of range in self");
    if (wrong == TSR_WRONG_ELEMENT)
        return cuda_host->error(TSR_INDEX_ERROR,
                                "out of range: tried to access index %lld on a tensor of %lld elements.",
                                (long long)r->value, (long long)r->size);
    return cuda_host->error(wrong == TSR_WRONG_PLACE ? TSR_RUNTIME_ERROR : TSR_INDEX_ERROR,
                            "index %lld is out of bounds for dimension %lld with size %lld", (long long)r->value,
                            (long long)r->dimension, (long long)r->size);
}

static TsrStatus raise_found(const Record *r) {
    if (r->found == CUDA_FOUND_ZERO_DIVISOR) return cuda_host->error(TSR_RUNTIME_ERROR, "ZeroDivisionError");
    if (r->found == CUDA_FOUND_CHANCE)
        return cuda_host->error(TSR_RUNTIME_ERROR,
                                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
                                "be improved?  If so, please report an enhancement request to PyTorch.)");
    if (r->found == CUDA_FOUND_RATE)
        return cuda_host->error(TSR_RUNTIME_ERROR, "invalid Poisson rate, expected rate to be non-negative");
    if (r->found == CUDA_FOUND_WEIGHT)
        return cuda_host->error(TSR_RUNTIME_ERROR,
                                "invalid multinomial distribution (encountering probability entry < 0)");
    if (r->found == CUDA_FOUND_NO_WEIGHT)
        return cuda_host->error(TSR_RUNTIME_ERROR, "invalid multinomial distribution (sum of probabilities <= 0)");
    if (r->found >= CUDA_FOUND_INDEX && r->found < CUDA_FOUND_KINDS)
        return raise_wrong(r, (TsrDeviceWrong)(r->found - CUDA_FOUND_INDEX));
    return cuda_host->error(TSR_SYSTEM_ERROR, "a kernel found something wrong that has no name: %lld",
                            (long long)r->found);
}

/* The lock is held: another thread may have raised it meanwhile. */
static TsrStatus take_found(Record *record) {
    Record found = *record;
    if (found.found == 0) return TSR_OK;
    bool known = found.launch + REMEMBERED > launches;
    record->found = 0;
    __atomic_store_n(&record->launch, 0, __ATOMIC_RELEASE); /* from here on the next one counts */
    TsrStatus status = raise_found(&found);
    cuda_host->hint("found when the device was waited for; it was %s",
                    known ? names[found.launch % REMEMBERED] : "an operator long before");
    return status;
}

TsrStatus cuda_errors_check(int index) {
    Record *record = __atomic_load_n(&devices[index].record, __ATOMIC_ACQUIRE);
    if (record == NULL || __atomic_load_n(&record->found, __ATOMIC_ACQUIRE) == 0) return TSR_OK;
    pthread_mutex_lock(&lock);
    TsrStatus status = take_found(record);
    pthread_mutex_unlock(&lock);
    return status;
}
