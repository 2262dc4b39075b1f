/* Errors leave nothing behind: statements that fail in the transcripts, and a program whose every
 * allocation fails once. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mem.h"
#include "core/tensor.h"
#include "lang/object/exc.h"
#include "lang/object/gc.h"
#include "lang/syntax/parser.h"
#include "repl/startup.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "program.h"
#include "suite.h"

/* Whether the statement went through. What it gave is shown, as at the prompt, and dropped. */
static bool runs(const char *text) {
    Value v;
    TsrText shown = {0};
    TsrStatus status = program_run(&v, text);
    if (status != TSR_OK) {
        exc_fetch(&v, status, VALUE_UNBOUND);
        if (exc_write_line(&shown, v) != TSR_OK) tsr_error_clear();
    } else if ((status = value_repr(&shown, v)) != TSR_OK) {
        Value e;
        value_release(v);
        exc_fetch(&e, status, VALUE_UNBOUND);
        v = e;
    }
    value_release(v);
    tsr_text_free(&shown);
    return status == TSR_OK;
}

/* ---- statements that fail ---- */

static char *next_line(char **rest) {
    char *line = *rest, *end = strchr(line, '\n');
    if (*line == '\0') return NULL;
    *rest = end != NULL ? end + 1 : line + strlen(line);
    if (end != NULL) *end = '\0';
    return line;
}

static int failing; /* statements that did */

static void run_transcript(const char *path) {
    static char text[1 << 18], statement[1 << 14];
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *rest = text, *line = next_line(&rest);
    while (line != NULL) {
        if (strncmp(line, ">>> ", 4) != 0) {
            line = next_line(&rest);
            continue;
        }
        size_t length = (size_t)snprintf(statement, sizeof statement, "%s\n", line + 4);
        while ((line = next_line(&rest)) != NULL && strncmp(line, "...", 3) == 0)
            length += (size_t)snprintf(statement + length, sizeof statement - length, "%s\n",
                                       line[3] != '\0' ? line + 4 : "");
        if (statement[0] != '%' && strchr(statement, '?') == NULL) failing += !runs(statement);
    }
    program_forget_names();
}

/* The first times may fill caches: one of the later ones leaves nothing. */
static void check_transcript(const char *path) {
    int64_t blocks = 0, tensors = 0;
    for (int i = 0; i < 7; i++) {
        const int64_t room = obj_room_left();
        blocks = tsr_mem_live_blocks();
        tensors = tsr_tensor_live();
        run_transcript(path);
        if (i > 0 && tsr_tensor_live() == tensors && tsr_mem_live_blocks() <= blocks && obj_room_left() == room) return;
    }
    ck_abort_msg("%s leaves %lld tensors, %lld blocks", path, (long long)(tsr_tensor_live() - tensors),
                 (long long)(tsr_mem_live_blocks() - blocks));
}

/* Raw handles are forgotten, and a second thread's frames stay in the pool. */
static bool leaks_on_purpose(const char *path) {
    return strstr(path, "systems/th") != NULL || strcmp(path, "tests/show/parallel.txt") == 0;
}

START_TEST(statements_that_fail_leave_nothing) {
    static const char *const patterns[] = {"tests/lang/*/*.txt",  "tests/torch/*/*.txt", "tests/torch/*.txt",
                                           "tests/systems/*.txt", "tests/show/*.txt",    "tests/programs/*.txt"};
    ck_assert_int_eq(startup_all(), TSR_OK);
    tsr_write_hook = NULL; /* the log of writes keeps what names its tensors */
    for (size_t k = 0; k < sizeof patterns / sizeof patterns[0]; k++) {
        glob_t found;
        if (glob(patterns[k], 0, NULL, &found) != 0) continue;
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (test_is_sampled((int64_t)i) && !leaks_on_purpose(found.gl_pathv[i]))
                check_transcript(found.gl_pathv[i]);
        globfree(&found);
    }
    ck_assert_int_gt(failing, test_sample() == 1 ? 1000 : 20);
    startup_undo();
}
END_TEST

/* ---- memory that runs out ---- */

static const char program[] =
    "import torch, json, math\n"
    "x = torch.arange(6.).view(2, 3)\n"
    "y = x.t().contiguous() @ x + 1\n"
    "z = (y * 2).sum(0, keepdim=True)\n"
    "z[0, 1:] = y[1, :2]\n"
    "m = z[z > 3]\n"
    "q = torch.cat([x, x * 0.5]).sort(dim=1, descending=True)\n"
    "text = repr(q) + f'{z.tolist()} {x.mean():.3f}' + str(torch.linspace(0, 1, 1001))\n"
    "s = torch.eye(3).to_sparse() + torch.eye(3).to_sparse()\n"
    "text += repr(s.coalesce().to_dense())\n"
    "h = TH.newContiguous(x.t())\n"
    "TH.free(h)\n"
    "c = caffe2.Tensor(x)\n"
    "b = owned(c.to_torch())\n"
    "n = torch.tensor([x, y], dtype=torch.nested)\n"
    "w = torch.tensor(['a', 'bc'], dtype=torch.string)\n"
    "save(x, path + '.npy'); save(x, path + '.csv'); save(x, path + '.json')\n"
    "assert load(path + '.npy').equal(x) and load(path + '.csv').equal(x.double()) and load(path + '.json').shape == "
    "x.shape\n"
    "d = json.loads(json.dumps({'k': [1, 2.5, None, 'text']}))\n"
    "def walk(v, depth=0, *rest, **named):\n"
    "  for k in sorted(v, key=lambda k: str(k)):\n"
    "    yield depth, k\n"
    "l = [v for v in walk(d)] + list(zip('ab', {1, 2})) + [10 ** 40 // 7, math.pi, 2j ** 2]\n"
    "try:\n"
    "  x + torch.ones(4)\n"
    "except RuntimeError as e:\n"
    "  text += str(e)\n"
    "report = [inspect(x), whos(), sharing(x), memory(), why(x), versions(z)]\n"
    "text += str(report)\n";

static void set_path(const char *folder) {
    char text[200];
    snprintf(text, sizeof text, "path = '%s/x'", folder);
    ck_assert(runs(text));
}

START_TEST(any_allocation_of_a_program_may_fail) {
    char folder[] = "/tmp/tsr-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(startup_all(), TSR_OK);
    for (int warm = 0; warm < 3; warm++) {
        set_path(folder);
        ck_assert(runs(program));
        program_forget_names();
    }
    int64_t tensors = tsr_tensor_live(), containers = gc_live(), made = 0;
    bool reached = true;
    for (int64_t n = 1; reached;
         n += test_sample() * (1 + n / 400)) { /* each of the first, a sample of the many after */
        set_path(folder);
        tsr_mem_fail_at(n);
        Value v;
        TsrStatus status = program_run(&v, program);
        made = tsr_mem_fail_at(0);
        reached = made >= n;
        if (status != TSR_OK) exc_fetch(&v, status, VALUE_UNBOUND);
        if (status != TSR_OK)
            ck_assert_msg(value_exc(v)->kind == TSR_MEMORY_ERROR || value_exc(v)->kind == TSR_RUNTIME_ERROR,
                          "failure %lld is a %s", (long long)n, value_type_name(v));
        value_release(v);
        runs("TH.free(h)"); /* raw references are the program's own business */
        program_forget_names();
        ck_assert_msg(tsr_tensor_live() <= tensors, "failure %lld leaves %lld tensors", (long long)n,
                      (long long)(tsr_tensor_live() - tensors));
        if (n == 1) containers = gc_live(); /* the first makes what all later ones use again */
        ck_assert_msg(gc_live() <= containers, "failure %lld leaves %lld containers", (long long)n,
                      (long long)(gc_live() - containers));
    }
    ck_assert_int_gt(made, 300);
    startup_undo();
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(a_write_that_was_made_is_in_the_log) {
    ck_assert_int_eq(startup_all(), TSR_OK);
    for (int64_t n = 1, made = n; made >= n; n++) {
        ck_assert(runs("x = ones(2)\nx.add_(1); x.add_(1); x.add_(1); x.add_(1)"));
        tsr_mem_fail_at(n);
        runs("x.add_(1)"); /* the log is full and grows, if it can */
        made = tsr_mem_fail_at(0);
        ck_assert_msg(runs("x.add_(1)\nassert x._version == versions(x)[-1]['version'], versions(x)"), "failure %lld",
                      (long long)n);
    }
    startup_undo();
}
END_TEST

TEST_SUITE(errors, statements_that_fail_leave_nothing, any_allocation_of_a_program_may_fail,
           a_write_that_was_made_is_in_the_log)
