/* web.c: the prompt without a terminal. */
#include "web.h"

#include <emscripten.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "core/text.h"
#include "lang/modules/builtin.h"
#include "lang/syntax/parser.h"
#include "lang/vm/frame.h"
#include "repl/prompt/complete.h"
#include "repl/prompt/magic.h"
#include "repl/prompt/session.h"
#include "repl/prompt/typing.h"
#include "repl/shell.h"
#include "repl/startup.h"
#include "show/page/memory.h"

static const ShellOptions options = {.filter = {.header = -1}};
static Memory *before; /* of the picture shown last; NULL: none yet */

/* What the page has put into the number that it shares with its worker, which is 0 afterwards. */
EM_JS(int, take_stop, (void), { return Atomics.exchange(self.tsrStop, 0, 0); });

/* A look costs some 100 ns, a jump of the evaluator 10 to 20 or, with a long operation before it, any time: as many
 * jumps pass from one look to the next as took about a frame of the screen last time, and no more than make a look
 * cheap. */
enum { MOST_JUMPS = 256, FRAME_MS = 16 };

static void look_for_stop(void) {
    static double looked;
    static unsigned jumps = 1;
    double now = emscripten_get_now();
    if (now - looked > FRAME_MS) jumps = TSR_MAX(jumps / 16, 1u);
    else jumps = TSR_MIN(jumps * 2, (unsigned)MOST_JUMPS);
    looked = now;
    vm.until_look = jumps;
    if (take_stop() != 0) tsr_interrupt_request();
}

EMSCRIPTEN_KEEPALIVE void web_listen(void) {
    vm_look = look_for_stop;
    vm.until_look = 1;
}

EMSCRIPTEN_KEEPALIVE int web_start(void) { return startup_begin(&options) ? EXIT_FINE : EXIT_FAILED; }

EMSCRIPTEN_KEEPALIVE int web_goes_on(const char *text) {
    size_t length = strlen(text);
    return magic_is(text, length) ? magic_goes_on(text) : parser_need(text, length) == PARSER_MORE;
}

EMSCRIPTEN_KEEPALIVE int web_indent(const char *text) { return typing_indent(text, strlen(text)); }

EMSCRIPTEN_KEEPALIVE int web_run(const char *text, int line) {
    size_t length = strlen(text);
    int status = shell_run_typed("<stdin>", text, length, line), asked;
    session_add(text, length, line, status == EXIT_FINE && !magic_is(text, length));
    fflush(builtin_stdout());
    fflush(stdout);
    fflush(stderr);
    return shell_wants_exit(&asked) ? asked : -1;
}

/* The text as malloc's, which the page frees. */
static char *give(TsrText *text, TsrStatus status) {
    char *copy = status == TSR_OK ? strdup(text->data != NULL ? text->data : "") : NULL;
    if (status != TSR_OK) tsr_error_clear();
    tsr_text_free(text);
    return copy;
}

EMSCRIPTEN_KEEPALIVE char *web_complete(const char *word) {
    TsrText out = {0};
    TsrStatus status = TSR_OK;
    char *name;
    for (int i = 0; status == TSR_OK && (name = complete_word(word, i)) != NULL; i++) {
        status = tsr_text_printf(&out, "%s\n", name);
        free(name);
    }
    return give(&out, status);
}

EMSCRIPTEN_KEEPALIVE char *web_picture(void) {
    static int number;
    TsrText out = {0};
    Memory *now;
    TsrStatus status = memory_new(&now, before);
    if (status == TSR_OK) {
        memory_free(before);
        before = now;
        status = memory_svg(&out, now, ++number);
    }
    return give(&out, status);
}
