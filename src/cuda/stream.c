/* stream.c: streams by PyTorch's rules (c10/cuda/CUDAStream.cpp): 32 a device and priority, made when first asked for
 * and then handed out in turns; a number of 64 bits says which. They are not ordered with the default stream. Events
 * are made when they are first recorded. */
#include "stream.h"

#include <pthread.h>
#include <time.h>

#include "cuda/kernels/chain.h"
#include "errors.h"
#include "memory.h"
#include "races.h"

/* The number of a pool's stream: its place, which pool it is of, and a last bit that says it is PyTorch's own. */
enum { POOL = 32, PRIORITIES = 4, PLACE_SHIFT = 5, POOL_SHIFT = 1, POOL_MASK = 15 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    CuStream stream[PRIORITIES][POOL];
    unsigned next[PRIORITIES];
} pools[CUDA_MAX_DEVICES];
static _Thread_local int64_t current[CUDA_MAX_DEVICES];

int64_t cuda_current_stream(int index) { return current[index]; }

static TsrStatus make_stream(CuStream *out, int index, int pool, int place) {
    CuStream *slot = &pools[index].stream[pool][place];
    TsrStatus status = TSR_OK;
    pthread_mutex_lock(&lock);
    *out = *slot;
    if (*out == NULL) status = cuda_check(cuda.stream_new(out, CU_STREAM_NON_BLOCKING, -pool));
    if (status == TSR_OK) __atomic_store_n(slot, *out, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return status;
}

TsrStatus cuda_stream(CuStream *out, int index, int64_t id) {
    TSR_TRY(cuda_chain_flush());
    return cuda_stream_handle(out, index, id);
}

TsrStatus cuda_stream_handle(CuStream *out, int index, int64_t id) {
    TSR_TRY(cuda_enter(index));
    *out = NULL;
    if (id == 0) return TSR_OK;
    int64_t pool = ((id >> POOL_SHIFT) & POOL_MASK) - 1, place = id >> PLACE_SHIFT;
    if ((id & 1) == 0 || pool < 0 || pool >= PRIORITIES || place < 0 || place >= POOL)
        return cuda_host->error(TSR_RUNTIME_ERROR, "there is no stream with the number %lld", (long long)id);
    return make_stream(out, index, (int)pool, (int)place);
}

static int64_t number_of(int pool, int place) {
    return ((int64_t)place << PLACE_SHIFT) | ((pool + 1) << POOL_SHIFT) | 1;
}

static TsrStatus pick(int64_t *id, int index, int priority) {
    CuStream stream;
    int pool = priority >= 0 ? 0 : TSR_MIN(-priority, PRIORITIES - 1);
    TSR_TRY(cuda_enter(index));
    pthread_mutex_lock(&lock);
    int place = (int)(pools[index].next[pool]++ % POOL);
    pthread_mutex_unlock(&lock);
    *id = number_of(pool, place);
    return cuda_stream(&stream, index, *id);
}

static TsrStatus set_current(int index, int64_t id) {
    CuStream stream;
    TSR_TRY(cuda_stream(&stream, index, id));
    current[index] = id;
    return TSR_OK;
}

static uint64_t handle(int index, int64_t id) {
    CuStream stream;
    return cuda_stream(&stream, index, id) == TSR_OK ? (uint64_t)(uintptr_t)stream : 0;
}

static int64_t number(int index, uint64_t handle) {
    int64_t found = handle == 0 ? 0 : -1;
    pthread_mutex_lock(&lock);
    for (int pool = 0; pool < PRIORITIES && found < 0; pool++)
        for (int place = 0; place < POOL && found < 0; place++)
            if ((uint64_t)(uintptr_t)pools[index].stream[pool][place] == handle) found = number_of(pool, place);
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- waiting ---- */

static TsrStatus is_ready(bool *done, CuResult result) {
    *done = result == CU_SUCCESS;
    return result == CU_NOT_READY ? TSR_OK : cuda_check(result);
}

static TsrStatus stream_done(bool *done, int index, int64_t id) {
    CuStream stream;
    TSR_TRY(cuda_stream(&stream, index, id));
    TSR_TRY(is_ready(done, cuda.stream_query(stream)));
    if (*done) races_host_waits(index, id);
    return TSR_OK;
}

/* Whoever waits may leave when the user interrupts; not who lent memory of the host to a copy, which would write to it
 * when it is somebody else's. */
typedef enum Patience { UNTIL_INTERRUPT, TO_THE_END } Patience;

/* Asks again and again: at once for a while, then at intervals of a part of what was waited so far, by which it is late
 * at most. What was put into the stream goes on. */
static TsrStatus wait_until(CuResult (*query)(void *what), void *what, Patience patience) {
    enum { AT_ONCE = 2000, ASKING = 500, PART = 64, SHORTEST = 10000, LONGEST = 1000000 /* ns */ };
    int64_t waited = (int64_t)AT_ONCE * ASKING;
    for (int asked = 0;; asked++) {
        CuResult result = query(what);
        if (result != CU_NOT_READY) return cuda_check(result);
        if (patience == UNTIL_INTERRUPT) TSR_TRY(cuda_host->interrupt_check());
        if (asked < AT_ONCE) continue;
        struct timespec pause = {.tv_nsec = (long)TSR_MIN(TSR_MAX(waited / PART, SHORTEST), LONGEST)};
        nanosleep(&pause, NULL);
        waited += pause.tv_nsec;
    }
}

static CuResult query_stream(void *stream) { return cuda.stream_query(stream); }
static CuResult query_event(void *event) { return cuda.event_query(event); }

static TsrStatus wait_for(CuStream stream) { return wait_until(query_stream, stream, UNTIL_INTERRUPT); }

static TsrStatus stream_synchronize(int index, int64_t id) {
    CuStream stream;
    TSR_TRY(cuda_stream(&stream, index, id));
    TSR_TRY(wait_for(stream));
    races_host_waits(index, id);
    return cuda_errors_check(index);
}

/* All streams of a device that there are. */
static TsrStatus wait_for_all(int index) {
    TSR_TRY(cuda_chain_flush());
    TSR_TRY(cuda_enter(index));
    TSR_TRY(wait_for(NULL));
    for (int i = 0; i < PRIORITIES * POOL; i++) {
        CuStream stream = __atomic_load_n(&pools[index].stream[i / POOL][i % POOL], __ATOMIC_ACQUIRE);
        if (stream != NULL) TSR_TRY(wait_for(stream));
    }
    return TSR_OK;
}

TsrStatus cuda_synchronize(int index) {
    TSR_TRY(wait_for_all(index));
    races_host_waits_all(index);
    return cuda_errors_check(index);
}

/* ---- events ---- */

typedef struct Event {
    CuEvent event;
    int index;
    bool timing, recorded;
    RaceClock clock;
} Event;

static TsrStatus event_new(void **out, int index, bool timing) {
    TSR_TRY(cuda_enter(index));
    Event *e = cuda_host->malloc(sizeof *e);
    if (e == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of an event");
    *e = (Event){.index = index, .timing = timing};
    TsrStatus status = cuda_check(cuda.event_new(&e->event, timing ? 0 : CU_EVENT_DISABLE_TIMING));
    if (status == TSR_OK) *out = e;
    else cuda_host->free(e);
    return status;
}

static void event_free(void *event) {
    Event *e = event;
    if (e == NULL) return;
    if (cuda_enter(e->index) == TSR_OK) (void)cuda.event_free(e->event);
    cuda_host->free(e);
}

static TsrStatus event_record(void *event, int64_t id) {
    Event *e = event;
    CuStream stream;
    TSR_TRY(cuda_stream(&stream, e->index, id));
    TSR_TRY(cuda_check(cuda.event_record(e->event, stream)));
    e->recorded = true;
    races_record(&e->clock, e->index, id);
    return TSR_OK;
}

static TsrStatus event_wait(void *event, int index, int64_t id) {
    Event *e = event;
    CuStream stream;
    TSR_TRY(cuda_stream(&stream, index, id));
    TSR_TRY(cuda_check(cuda.stream_wait(stream, e->event, 0)));
    if (e->recorded) races_wait(&e->clock, index, id);
    return TSR_OK;
}

static TsrStatus event_done(bool *done, void *event) {
    Event *e = event;
    TSR_TRY(is_ready(done, cuda.event_query(e->event)));
    if (*done && e->recorded) races_host_waits_for(&e->clock);
    return TSR_OK;
}

static TsrStatus event_synchronize(void *event) {
    Event *e = event;
    TSR_TRY(wait_until(query_event, e->event, UNTIL_INTERRUPT));
    if (e->recorded) races_host_waits_for(&e->clock);
    return cuda_errors_check(e->index);
}

static TsrStatus event_elapsed(double *milliseconds, void *from, void *to) {
    float passed = 0;
    TSR_TRY(cuda_check(cuda.event_elapsed(&passed, ((Event *)from)->event, ((Event *)to)->event)));
    *milliseconds = passed;
    return TSR_OK;
}

TsrStatus cuda_mark_new(CuEvent *out, int index, int64_t id) {
    CuStream stream;
    TSR_TRY(cuda_stream(&stream, index, id));
    TSR_TRY(cuda_check(cuda.event_new(out, CU_EVENT_DISABLE_TIMING)));
    TsrStatus status = cuda_check(cuda.event_record(*out, stream));
    if (status != TSR_OK) cuda_mark_free(*out);
    return status;
}

bool cuda_mark_passed(CuEvent mark) { return cuda.event_query(mark) != CU_NOT_READY; }

void cuda_mark_free(CuEvent mark) { (void)cuda.event_free(mark); }

TsrStatus cuda_stream_follow(int index, int64_t before, int64_t after) {
    void *event;
    TSR_TRY(event_new(&event, index, false));
    TsrStatus status = event_record(event, before);
    if (status == TSR_OK) status = event_wait(event, index, after);
    event_free(event);
    return status;
}

/* ---- copies ---- */

void cuda_uses(TsrAddress address, size_t bytes, int index, bool writes) {
    races_use(index, cuda_current_stream(index), address, bytes, writes);
}

/* Between two devices: on the current stream of the one that the bytes come from, which first waits for the other's,
 * and which the other's then waits for. */
static TsrStatus copy_peer(TsrAddress dst, int to, TsrAddress src, int from, size_t bytes) {
    void *ready = NULL, *copied = NULL;
    CuStream stream;
    TSR_TRY(cuda_enter(to));
    TsrStatus status = event_new(&ready, to, false);
    if (status == TSR_OK) status = event_new(&copied, from, false);
    if (status == TSR_OK) status = event_record(ready, current[to]);
    if (status == TSR_OK) status = event_wait(ready, from, current[from]);
    if (status == TSR_OK) status = cuda_stream(&stream, from, current[from]);
    if (status == TSR_OK)
        status = cuda_check(cuda.copy_peer(dst, cuda_context(to), src, cuda_context(from), bytes, stream));
    if (status == TSR_OK) {
        cuda_uses(src, bytes, from, false);
        races_use(to, current[to], dst, bytes, true);
        status = event_record(copied, current[from]);
    }
    if (status == TSR_OK) status = event_wait(copied, to, current[to]);
    event_free(ready);
    event_free(copied);
    return status;
}

static TsrStatus start_copy(TsrAddress dst, TsrDevice to, TsrAddress src, TsrDevice from, size_t bytes,
                            CuStream stream) {
    if (to.type != TSR_CUDA) return cuda_check(cuda.copy_to_host((void *)(uintptr_t)dst, src, bytes, stream));
    if (from.type != TSR_CUDA) return cuda_check(cuda.copy_to_device(dst, (const void *)(uintptr_t)src, bytes, stream));
    return cuda_check(cuda.copy_on_device(dst, src, bytes, stream));
}

TsrStatus cuda_copy(TsrAddress dst, TsrDevice to, TsrAddress src, TsrDevice from, size_t bytes, TsrCopyMode mode) {
    bool into = to.type == TSR_CUDA, out_of = from.type == TSR_CUDA;
    int index = into ? to.index : from.index;
    CuStream stream;
    if (mode == TSR_COPY_LOAN) {
        TSR_TRY(wait_for_all(index));
        TSR_TRY(cuda_errors_check(index));
    }
    if (into && out_of && to.index != from.index) {
        TSR_TRY(copy_peer(dst, to.index, src, from.index, bytes));
        return mode == TSR_COPY_LATER ? TSR_OK : stream_synchronize(from.index, current[from.index]);
    }
    TSR_TRY(cuda_stream(&stream, index, current[index]));
    if (mode == TSR_COPY_WAIT) TSR_TRY(wait_for(stream)); /* the driver itself can't be interrupted */
    TSR_TRY(start_copy(dst, to, src, from, bytes, stream));
    if (mode != TSR_COPY_LATER) TSR_TRY(wait_until(query_stream, stream, TO_THE_END));
    if (mode == TSR_COPY_LOAN) return TSR_OK;
    if (out_of) cuda_uses(src, bytes, index, false);
    if (into) cuda_uses(dst, bytes, index, true);
    if (mode == TSR_COPY_WAIT) return stream_synchronize(index, current[index]);
    cuda_pinned_uses((void *)(uintptr_t)(into ? src : dst), index, current[index]);
    return TSR_OK;
}

const TsrStreamTable cuda_streams = {.pick = pick,
                                     .current = cuda_current_stream,
                                     .set_current = set_current,
                                     .handle = handle,
                                     .number = number,
                                     .done = stream_done,
                                     .synchronize = stream_synchronize,
                                     .event_new = event_new,
                                     .event_free = event_free,
                                     .event_record = event_record,
                                     .event_wait = event_wait,
                                     .event_done = event_done,
                                     .event_synchronize = event_synchronize,
                                     .event_elapsed = event_elapsed};
