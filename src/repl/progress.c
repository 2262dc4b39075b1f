/* progress.c: the line on standard error that tells how far reading got (pieces.h): bytes, their rate, and where the
 * length is known the time that is left. */
#include <stdio.h>

#include "core/io_stream.h"
#include "clock.h"
#include "pieces.h"

static double began, told;

static void tell(uint64_t bytes, uint64_t total) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double t = clock_seconds(), shown = (double)bytes;
    int unit = 0;
    if (began == 0) began = t;
    if (t - began < 1 || t - told < 0.1) return;
    double rate = (double)bytes / (t - began);
    for (; shown >= 1000 && unit < 4; unit++) shown /= 1000;
    fprintf(stderr, "\r\033[K%.*f %s read, %.0f MB/s", shown < 10 && unit > 0 ? 2 : 1, shown, units[unit], rate / 1e6);
    if (total > bytes && rate > 0) {
        double left = (double)(total - bytes) / rate;
        fprintf(stderr, left < 90 ? ", %.0f s left" : ", %.0f min left", left < 90 ? left : left / 60);
    }
    fflush(stderr);
    told = t;
}

void progress_start(void) { tsr_io_progress = tell; }

void progress_clear(void) {
    if (told != 0) fprintf(stderr, "\r\033[K");
    fflush(stderr);
    told = began = 0;
}
