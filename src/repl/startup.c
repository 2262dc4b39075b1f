/* Starts and stops the parts of the language in their order: signals and limits first, then memory, types, modules and
 * namespaces. What was started is stopped in the opposite order, also when a later part fails to start. */
#include "startup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "show/facts/allocators.h"
#include "lang/modules/builtin.h"
#include "show/facts/card.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "commands.h"
#include "show/draw/draw.h"
#include "show/explain/explain.h"
#include "show/watch/fallback.h"
#include "show/watch/races.h"
#include "torch/files/files.h"
#include "torch/files/stream.h"
#include "torch/tables/tables.h"
#include "show/golden/golden.h"
#include "show/plot/browse.h"
#include "show/plot/plot.h"
#include "show/help/help.h"
#include "show/facts/anatomy.h"
#include "show/facts/inspect.h"
#include "core/io_stream.h"
#include "repl/lesson/lesson.h"
#include "repl/lesson/process.h"
#include "torch/tensor/maybe_owned.h"
#include "core/mem.h"
#include "lang/modules/namespace.h"
#include "systems/caffe2.h"
#include "systems/tensorflow.h"
#include "systems/th.h"
#include "repl/prompt/notes.h"
#include "core/parallel.h"
#include "lang/vm/prelude.h"
#include "show/two_threads.h"
#include "core/rng.h"
#include "show/help/screen.h"
#include "show/watch/trace.h"
#include "show/watch/versions.h"
#include "shell.h"
#include "signals.h"
#include "lang/types/str.h"
#include "torch/namespace.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"
#include "show/why.h"

/* exit(status), quit(status): as sys.exit */
static TsrStatus leave(Value *out, const CallArgs *args) {
    (void)out;
    Value exception;
    TSR_TRY(exc_new(&exception, TSR_SYSTEM_EXIT, args->count, args->values));
    return exc_raise_move(exception);
}

static const Method leaving[] = {
    {"exit", leave, ARGS_RANGE, 0, 1, "(code=None)", "Ends the program; code is its exit status."},
    {"quit", leave, ARGS_RANGE, 0, 1, "(code=None)", "Ends the program; code is its exit status."},
    {0}};

TsrStatus startup_all(void) {
    TSR_TRY(value_startup());
    TSR_TRY(builtin_register_modules());
    TSR_TRY(vm_startup(builtin_fill));
    TSR_TRY(module_add_functions(vm_builtins(), leaving));
    TSR_TRY(namespace_startup());
    TSR_TRY(torch_ns_startup());
    TSR_TRY(namespace_add(&(Namespace){
        .name = "tsr", .doc = "What tsr shows of tensors: who holds them, what they share, what was copied and why."}));
    help_startup();
    TSR_TRY(commands_startup());
    TSR_TRY(files_startup());
    TSR_TRY(stream_startup());
    TSR_TRY(tables_startup());
    card_startup();
    TSR_TRY(plot_startup());
    TSR_TRY(browse_startup());
    TSR_TRY(inspect_startup());
    TSR_TRY(anatomy_startup());
    TSR_TRY(why_startup());
    TSR_TRY(allocators_startup());
    TSR_TRY(maybe_owned_startup());
    TSR_TRY(ns_th_startup());
    TSR_TRY(golden_startup());
    TSR_TRY(trace_startup());
    TSR_TRY(versions_startup());
    TSR_TRY(explain_startup());
    races_startup();
    TSR_TRY(fallback_startup());
    TSR_TRY(notes_startup());
    TSR_TRY(parallel_calls_startup());
    TSR_TRY(draw_startup());
    TSR_TRY(lesson_startup());
    TSR_TRY(process_startup());
    TSR_TRY(ns_caffe2_startup());
    TSR_TRY(ns_c10_startup());
    TSR_TRY(ns_tensorflow_startup());
    holders_name_for_core();
    return TSR_OK;
}

void startup_undo(void) {
    notes_shutdown();
    versions_shutdown();
    vm_shutdown();
    ns_th_shutdown();
    ns_caffe2_shutdown();
    prelude_shutdown();
    namespace_shutdown();
    value_shutdown();
    tsr_error_clear();
}

/* ---- the process ---- */

/* A closed descriptor 0, 1 or 2 would otherwise go to the next file that is opened. */
static void open_standard_descriptors(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        int opened = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
        if (opened >= 0 && opened != fd) {
            dup2(opened, fd);
            close(opened);
        }
    }
}

static bool fail_start(TsrStatus status) {
    fprintf(stderr, "tsr: can't start: %s\n", status == TSR_RAISED ? "an error while starting" : tsr_error_message());
    return false;
}

static TsrStatus enter_sandbox(const FilterOptions *options) {
    tsr_io_set_sandbox(true);
    for (int i = 0; i < options->file_count; i++) TSR_TRY(tsr_io_permit(options->files[i]));
    for (int i = 0; i < options->binding_count; i++)
        if (options->bindings[i].is_file) TSR_TRY(tsr_io_permit(options->bindings[i].value));
    return TSR_OK;
}

/* --device: new tensors are made there. */
static TsrStatus use_device(const char *device) {
    Value text, result;
    TSR_TRY(str_new_c(&text, device));
    TsrStatus status = value_call_method(&result, globals_resolve("torch"), "set_default_device", 1, &text);
    value_release(text);
    if (status == TSR_OK) value_release(result);
    return status;
}

/* Four fifths of the machine's memory are the ceiling by default. How much that is, is asked when so many bytes are
 * taken: a start that never needs them saves reading what the control groups allow. */
enum { TAKEN_UNASKED = 16 << 20 };
static void ask_for_ceiling(void) { (void)tsr_memory_limit(); }
static void default_ceiling(void) {
    tsr_mem_set_limit(TAKEN_UNASKED);
    tsr_mem_when_short(ask_for_ceiling);
}

bool startup_begin(const ShellOptions *options) {
    shell_options = options;
    screen_colour = options->colour;
    screen_colour_always = options->colour_always;
    open_standard_descriptors();
    signals_start(options->max_time);
    TsrStatus status = startup_all();
    if (status != TSR_OK) return fail_start(status);
    vm_display = shell_display;
    if (options->seeded) tsr_rng_seed(tsr_rng_default(), options->seed);
    if (options->threads > 0) tsr_set_num_threads(options->threads);
    if (options->max_memory > 0) tsr_set_memory_limit(options->max_memory);
    else default_ceiling();
    status = options->sandbox ? enter_sandbox(&options->filter) : TSR_OK;
    if (status == TSR_OK) status = builtin_set_argv(options->argc, options->argv);
    if (status == TSR_OK && options->device != NULL) status = use_device(options->device);
    if (status != TSR_OK) shell_report(status, NULL);
    return status == TSR_OK;
}

int startup_finish(int status) {
    bool lost = fflush(builtin_stdout()) != 0 || ferror(builtin_stdout());
    int why = errno;
    /* Nobody is to wait, after Ctrl-C, until millions of values are given back one by one: the system takes their
     * memory at once. */
    if (!signals_came()) startup_undo();
    if (!lost) lost = fclose(stdout) != 0, why = errno;
    if (!lost || why == EPIPE) return lost ? 141 : status;
    if (shell_options->filters && !shell_options->json) fprintf(stderr, "tsr: <stdout>: %s\n", strerror(why));
    fprintf(stderr, "OSError: [Errno %d] %s: '<stdout>'\n", why, strerror(why));
    return status == EXIT_FINE ? EXIT_FAILED : status;
}
