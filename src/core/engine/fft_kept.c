/* Plans that a thread keeps: the last KEPT that it has used, latest first, as long as they hold no more than KEPT_BYTES
 * together. Making a plan costs about as much as running it once. */
#include <string.h>

#include "core/base/thread.h"
#include "fft.h"

enum { KEPT = 8, KEPT_BYTES = 4 << 20 };

static _Thread_local TsrFft *kept[KEPT];

static bool fits(const TsrFft *plan, const TsrFftWish *wish) {
    return plan != NULL && plan->wish.n == wish->n && plan->wish.wide == wish->wide && plan->wish.kind == wish->kind &&
           plan->wish.mean == wish->mean && plan->wish.least == wish->least;
}

TsrStatus tsr_fft_take_new(TsrFft **out, TsrFftWish wish) {
    for (int i = 0; i < KEPT; i++)
        if (fits(kept[i], &wish)) {
            *out = kept[i];
            kept[i] = NULL;
            return TSR_OK;
        }
    return tsr_fft_new(out, wish);
}

/* Room at the front. */
static void make_room(void) {
    int gap = 0;
    while (gap < KEPT - 1 && kept[gap] != NULL) gap++;
    tsr_fft_free(kept[gap]);
    memmove(kept + 1, kept, (size_t)gap * sizeof *kept);
}

static void drop_excess(void) {
    size_t bytes = 0;
    for (int i = 0; i < KEPT; i++) {
        bytes += kept[i] != NULL ? kept[i]->bytes : 0;
        if (bytes <= KEPT_BYTES) continue;
        tsr_fft_free(kept[i]);
        kept[i] = NULL;
    }
}

static void drop_all(void) {
    for (int i = 0; i < KEPT; i++) {
        tsr_fft_free(kept[i]);
        kept[i] = NULL;
    }
}

void tsr_fft_keep_move(TsrFft *plan) {
    if (plan == NULL) return;
    tsr_thread_at_end(drop_all);
    tsr_thread_watch();
    make_room();
    kept[0] = plan;
    drop_excess();
}
