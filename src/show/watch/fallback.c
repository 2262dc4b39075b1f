/* fallback.c: notes of operators that ran on the host by loan, one an operator and session, and what decides of them;
 * and the device without a GPU. */
#include "fallback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "core/op.h"
#include "lang/modules/namespace.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "show/help/screen.h"

enum { MOST_NOTED = 2048 };
static const char *noted[MOST_NOTED];
static int noted_count;

static bool is_news(const char *name) {
    for (int i = 0; i < noted_count; i++)
        if (strcmp(noted[i], name) == 0) return false;
    if (noted_count < MOST_NOTED) noted[noted_count++] = name;
    return true;
}

static const char *size_text(char *buffer, size_t room, int64_t bytes) {
    if (bytes < 1 << 20) snprintf(buffer, room, "%lld bytes", (long long)bytes);
    else snprintf(buffer, room, "%.1f MiB", (double)bytes / (1 << 20));
    return buffer;
}

/* Once: what the device lacks. */
static void note_missing(void) {
    static bool told;
    char text[512] = "";
    const TsrBackend *b;
    if (told || tsr_backend_get(&b, TSR_CUDA) != TSR_OK) return;
    b->missing(text, sizeof text);
    told = text[0] != '\0';
    bool dim = screen_colours();
    if (told) fprintf(stderr, "%snote: %s%s\n", dim ? "\033[2m" : "", text, dim ? "\033[0m" : "");
}

static void note(const char *name, int64_t over, int64_t back) {
    char came[32], went[32];
    bool dim = screen_colours();
    if (!is_news(name)) return;
    fprintf(stderr, "%snote: %s ran on the host: %s came over, %s went back%s\n", dim ? "\033[2m" : "", name,
            size_text(came, sizeof came, over), size_text(went, sizeof went, back), dim ? "\033[0m" : "");
    note_missing();
}

/* For what a device finds wrong later. */
static void tell_where(char *text, size_t room) {
    const char *name = tsr_device_work_of != NULL ? tsr_device_work_of : "a copy";
    int line = vm_current_line();
    if (line > 0) snprintf(text, room, "%s, line %d", name, line);
    else snprintf(text, room, "%s", name);
}

static const char *const modes[] = {
    [TSR_FALLBACK_NOTE] = "note", [TSR_FALLBACK_SILENT] = "silent", [TSR_FALLBACK_ERROR] = "error"};

static TsrStatus cuda_fallback(Value *out, const CallArgs *args) {
    if (args->count == 0) return str_new_c(out, modes[tsr_op_fallback]);
    for (size_t i = 0; i < TSR_COUNTOF(modes) && value_is_str(args->values[0]); i++) {
        if (strcmp(value_as_str(args->values[0])->data, modes[i]) != 0) continue;
        tsr_op_fallback = (TsrFallback)i;
        *out = VALUE_NONE;
        return TSR_OK;
    }
    return tsr_error(TSR_VALUE_ERROR, "cuda_fallback() takes 'note', 'silent' or 'error'");
}

/* The driver is chosen when the first device is asked for: too late once there is one. */
static TsrStatus simulate_cuda(Value *out, const CallArgs *args) {
    const TsrBackend *b;
    TsrDeviceFacts facts;
    (void)args;
    if (setenv("TSR_CUDA_DRIVER", "simulated", 0) != 0) return tsr_error(TSR_RUNTIME_ERROR, "no room for a variable");
    TSR_TRY(tsr_backend_get(&b, TSR_CUDA));
    TSR_TRY(b->facts(&facts, b->current()));
    return str_new_c(out, facts.name);
}

static const Method functions[] = {
    {"simulate_cuda", simulate_cuda, ARGS_NONE, 0, 0, "()",
     "A CUDA device without a GPU, in the host's memory, unless one is in use already, as --simulate-cuda gives. Its "
     "name."},
    {"cuda_fallback", cuda_fallback, ARGS_RANGE, 0, 1, "(mode)",
     "What happens to an operator that has tensors on a GPU and no code for it: it runs on the host and a note says so "
     "once ('note'), or nothing does ('silent'), or it is an error ('error'). Without mode: which of these it is."},
    {NULL, NULL, 0, 0, 0, NULL, NULL}};

TsrStatus fallback_startup(void) {
    tsr_op_fallback_hook = note;
    tsr_where_hook = tell_where;
    return namespace_add_functions("tsr", functions, false);
}
