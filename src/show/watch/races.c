/* races.c: notes of work on a device that touches the same bytes on two streams, with nothing that puts the two in an
 * order. The backend finds them (core/backend.h); here they get names. */
#include "races.h"

#include <stdio.h>

#include "core/backend.h"
#include "show/help/screen.h"

/* The name of the tensor whose storage holds the address. */
static void name_of(char *buffer, size_t room, TsrAddress address) {
    buffer[0] = '\0';
    for (const TsrStorage *s = tsr_storage_first(); s != NULL; s = s->next) {
        TsrAddress begin = (TsrAddress)(uintptr_t)tsr_storage_data(s);
        if (begin == 0 || address < begin || address - begin >= s->nbytes) continue;
        if (tsr_guard_name_hook != NULL) tsr_guard_name_hook(buffer, room, tsr_storage_data(s));
        break;
    }
    if (buffer[0] == '\0') snprintf(buffer, room, "a tensor without a name");
}

static const char *stream_name(char *buffer, size_t room, int64_t id) {
    if (id == 0) snprintf(buffer, room, "the default stream");
    else snprintf(buffer, room, "stream %lld", (long long)id);
    return buffer;
}

static void note(const TsrRace *race) {
    char name[128], earlier[48], later[48];
    bool dim = screen_colours();
    name_of(name, sizeof name, race->address);
    fprintf(stderr,
            "%snote: %s was %s on %s and is %s on %s of cuda:%d with nothing between: "
            "torch.cuda.current_stream().wait_stream(...) orders them%s\n",
            dim ? "\033[2m" : "", name, race->earlier_writes ? "written" : "read",
            stream_name(earlier, sizeof earlier, race->earlier), race->later_writes ? "written" : "read",
            stream_name(later, sizeof later, race->later), race->index, dim ? "\033[0m" : "");
}

void races_startup(void) { tsr_race_hook = note; }
