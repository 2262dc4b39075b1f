/* races.c: a vector clock a stream. Each piece of work is stamped with its stream's own count; it comes before other
 * work if the other stream's clock has seen that count: through an event, or through the host that waited. The last
 * uses of bytes are kept until every stream has seen them; a use that overlaps one of them which it has not seen, where
 * one of the two writes, is a race. While a program uses one stream only, nothing can race, and a use is only put where
 * the last one of the same bytes is. */
#include "races.h"

#include <pthread.h>
#include <string.h>

enum { USES = 512 };
typedef struct Use {
    TsrAddress address;
    size_t bytes;
    int index, place;
    uint32_t at;
    bool writes;
} Use;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int index;
    int64_t id;
    RaceClock seen;
} streams[RACE_STREAMS];
static RaceClock host;
static int stream_count, use_count;
static Use uses[USES];
static uint16_t last_uses[2 * USES]; /* by a hash of the bytes: where in `uses` the last use of them may be */

/* The place of a stream in clocks; -1: there are too many streams, and nothing is told of this one. */
static int place_of(int index, int64_t id) {
    for (int i = 0; i < stream_count; i++)
        if (streams[i].index == index && streams[i].id == id) return i;
    if (stream_count == RACE_STREAMS) return -1;
    streams[stream_count].index = index;
    streams[stream_count].id = id;
    return stream_count++;
}

static void merge(RaceClock *into, const RaceClock *from) {
    for (int i = 0; i < stream_count; i++) into->at[i] = TSR_MAX(into->at[i], from->at[i]);
}

static bool is_before(const Use *u, const RaceClock *clock) { return clock->at[u->place] >= u->at; }

/* Nothing that comes can race with it: what streams do from now on comes after what the host has seen. */
static bool is_settled(const Use *u) { return is_before(u, &host); }

static bool meets(const Use *a, const Use *b) {
    return a->index == b->index && a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

static bool covers(const Use *a, const Use *b) {
    return a->index == b->index && a->address <= b->address && a->address + a->bytes >= b->address + b->bytes;
}

/* Leaves out what the new use stands for from now on, and of what meets it what is settled. True: some use is not in
 * order with it. */
static bool sweep(const Use *now, const RaceClock *clock, Use *other) {
    bool found = false;
    int kept = 0;
    for (int i = 0; i < use_count; i++) {
        const Use *u = &uses[i];
        if (meets(u, now)) {
            bool before = is_before(u, clock);
            if (is_settled(u) || (before && covers(now, u) && (now->writes || !u->writes))) continue;
            if (!before && (u->writes || now->writes)) {
                if (!found || u->place != other->place || u->at > other->at) *other = *u;
                found = true;
                continue; /* it is told once */
            }
        }
        if (kept != i) uses[kept] = *u;
        kept++;
    }
    use_count = kept;
    return found;
}

static void forget_settled(void) {
    int kept = 0;
    for (int i = 0; i < use_count; i++)
        if (!is_settled(&uses[i])) uses[kept++] = uses[i];
    use_count = kept;
}

/* Where there is no more room, what is settled goes, and then the older half. */
static void keep(const Use *now) {
    if (use_count == USES) forget_settled();
    if (use_count == USES) {
        use_count = USES / 2;
        memmove(uses, uses + USES - use_count, (size_t)use_count * sizeof *uses);
    }
    uses[use_count++] = *now;
}

static void keep_alone(const Use *now) {
    uint64_t h = (now->address ^ now->bytes << 1 ^ now->writes) * 0x9E3779B97F4A7C15u;
    uint16_t *slot = &last_uses[h >> 32 & (2 * USES - 1)];
    Use *u = &uses[*slot];
    bool same = *slot < use_count && u->address == now->address && u->bytes == now->bytes && u->index == now->index &&
                u->writes == now->writes;
    if (same) *u = *now;
    else keep(now), *slot = (uint16_t)(use_count - 1);
}

void races_use(int index, int64_t id, TsrAddress address, size_t bytes, bool writes) {
    pthread_mutex_lock(&lock);
    int place = place_of(index, id);
    TsrRace race;
    bool found = false;
    if (place >= 0) {
        RaceClock *clock = &streams[place].seen;
        Use other, now = {address, bytes, index, place, ++clock->at[place], writes};
        merge(clock, &host);
        if (stream_count > 1) found = sweep(&now, clock, &other), keep(&now);
        else keep_alone(&now);
        if (found)
            race = (TsrRace){TSR_MAX(address, other.address), index, streams[other.place].id, id, other.writes, writes};
    }
    pthread_mutex_unlock(&lock);
    if (found) cuda_host->race(&race);
}

void races_record(RaceClock *clock, int index, int64_t id) {
    pthread_mutex_lock(&lock);
    int place = place_of(index, id);
    *clock = host;
    if (place >= 0) merge(clock, &streams[place].seen);
    pthread_mutex_unlock(&lock);
}

void races_wait(const RaceClock *clock, int index, int64_t id) {
    pthread_mutex_lock(&lock);
    int place = place_of(index, id);
    if (place >= 0) merge(&streams[place].seen, clock);
    pthread_mutex_unlock(&lock);
}

void races_host_waits_for(const RaceClock *clock) {
    pthread_mutex_lock(&lock);
    merge(&host, clock);
    pthread_mutex_unlock(&lock);
}

void races_host_waits(int index, int64_t id) {
    RaceClock clock;
    races_record(&clock, index, id);
    races_host_waits_for(&clock);
}

void races_host_waits_all(int index) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < stream_count; i++)
        if (streams[i].index == index) merge(&host, &streams[i].seen);
    pthread_mutex_unlock(&lock);
}

void races_forget(TsrAddress address, size_t bytes) {
    int kept = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < use_count; i++)
        if (uses[i].address < address || uses[i].address >= address + bytes) uses[kept++] = uses[i];
    use_count = kept;
    pthread_mutex_unlock(&lock);
}
