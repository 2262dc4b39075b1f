/* The evaluator from C: results, balanced counts after errors, interrupts, roots, and memory that runs out. */
#include "lang/object/native.h"
#include "lang/object/gc.h"
#include "lang/syntax/parser.h"
#include "lang/types/sequences.h"
#include "repl/startup.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "program.h"
#include "suite.h"

#include <string.h>

static bool started;

static void start(void) {
    if (!started) ck_assert_int_eq(startup_all(), TSR_OK);
    started = true;
}

static void stop(void) {
    if (started) startup_undo();
    started = false;
}

/* The repr of the value of the last expression, or "Type: message". Static buffer. */
static const char *answer(const char *text) {
    static char buffer[512];
    Value v;
    start();
    TsrStatus status = program_run(&v, text);
    TsrText out = {0};
    if (status == TSR_OK) {
        ck_assert_int_eq(value_repr(&out, v), TSR_OK);
    } else {
        ck_assert(vm_take_error(&v, status));
        ck_assert_int_eq(exc_write_line(&out, v), TSR_OK);
    }
    value_release(v);
    snprintf(buffer, sizeof buffer, "%s", out.data);
    tsr_text_free(&out);
    ck_assert_int_eq(recursion_depth, 0);
    return buffer;
}

#define ANSWER(text, wanted) ck_assert_str_eq(answer(text), wanted)

START_TEST(values_of_programs) {
    ANSWER("1 + 2", "3");
    ANSWER("x = 5\nx * x", "25");
    ANSWER("def f(n):\n  return n if n < 2 else f(n - 1) + f(n - 2)\nf(15)", "610");
    ANSWER("[x * y for x in range(3) for y in range(x)]", "[0, 0, 2]");
    ANSWER("x", "5");
    ANSWER("nosuchname", "NameError: name 'nosuchname' is not defined");
    ANSWER("def f(): return f()\nf()", "RecursionError: maximum recursion depth exceeded");
    stop();
}
END_TEST

/* Each fails in the middle of something that holds a reference to the list. */
static const char *const failing[] = {
    "f(big, 1 / 0)",
    "[big, 1 / 0]",
    "{1: big, 2: 1 / 0}",
    "[(big, 1 / x) for x in [1, 0]]",
    "def f(a, b=big):\n  c = [a, b]\n  for d in [a, b]:\n    e = d, 1 / 0\nf(big)",
    "def g(a):\n  try:\n    yield a\n    1 / 0\n  finally:\n    b = a\nfor x in g(big): pass",
    "def g(a):\n  yield a\nh = g(big)\nnext(h)\nnext(h)",
    "k = lambda q, w: (lambda: q + w)\nk(big, 1)()",
    "try:\n  raise ValueError(big)\nfinally:\n  y = big\n  1 / 0",
    "def f(*a, **k): raise KeyError(a)\nf(*[big, big], **{'z': big})",
    "a, b = big, 1, 2",
    "x = big\nx += 1 / 0",
    "with 5 as x: pass",
    "f'{big} {1 / 0}'",
    "def f(n, a): return f(n + 1, a)\nf(0, big)",
    "sorted([3, 1, 2], key=lambda v: [big, v, 1 / 0])",
};

START_TEST(counts_are_balanced_after_errors) {
    ck_assert_str_eq(answer("big = [7]\nlen(big)"), "1");
    uint32_t before = globals_get("big").o->refcount;
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++) {
        const char *text = answer(failing[i]);
        ck_assert_msg(strstr(text, "Error") != NULL || strstr(text, "StopIteration") != NULL, "%s: %s", failing[i],
                      text);
        answer("a = b = c = x = y = f = g = h = k = None");
        gc_collect();
        ck_assert_msg(globals_get("big").o->refcount == before, "%s: %u references, not %u", failing[i],
                      globals_get("big").o->refcount, before);
    }
    stop();
}
END_TEST

START_TEST(interrupts_stop_loops) {
    start();
    static const char *const loops[] = {"while True: pass", "for i in range(10 ** 12): pass",
                                        "def f():\n  while 1 < 2: x = 1\nf()", "[i for i in range(10 ** 12) if i < 0]"};
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        tsr_interrupt_request();
        ck_assert_str_eq(answer(loops[i]), "KeyboardInterrupt");
    }
    stop();
}
END_TEST

/* `not ask` interrupts in the midst of a program. */
static TsrStatus ask_truth(bool *out, Value self) {
    (void)self;
    tsr_interrupt_request();
    *out = true;
    return TSR_OK;
}
static Type ask_type = {.obj = TYPE_HEADER, .name = "ask", .truth = ask_truth};
static Obj asking = {.refcount = 1 << 20, .type = &ask_type};

/* The first attribute of a type fills its tables, which may be what the interrupt ends: told, or still pending. */
START_TEST(no_interrupt_is_lost_at_a_first_attribute) {
    static const char *const programs[] = {"x = {1}\nnot ask\nx.union", "x = b'x'\nnot ask\nx.decode()",
                                           "x = torch.ones(2)\nnot ask\nx.shape", "x = range(3)\nnot ask\nx.start"};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        start();
        ck_assert_int_eq(globals_set("ask", value_lent(&asking)), TSR_OK);
        const bool told = strcmp(answer(programs[i]), "KeyboardInterrupt") == 0;
        ck_assert_msg(told || tsr_interrupt_check() == TSR_KEYBOARD_INTERRUPT, "%s", programs[i]);
        stop();
    }
}
END_TEST

static TsrStatus seen_call(Value *out, const CallArgs *args);
static const Method seen_method = {"seen", seen_call, ARGS_ANY, 0, -1, NULL, NULL};
static char seen_text[512];
static const void *seen_cell;

static bool note_root(const Root *root, void *context) {
    const Value *wanted = context;
    if (!value_is_same(*root->value, *wanted)) return true;
    if (root->cell != NULL && root->cell == seen_cell)
        return true; /* a closure's cell is reached from several frames and holds one reference */
    if (root->cell != NULL) seen_cell = root->cell;
    static const char *const kinds[] = {"global", "local", "iterator", "temporary", "argument"};
    size_t used = strlen(seen_text);
    snprintf(seen_text + used, sizeof seen_text - used, "%s %s %s;", kinds[root->kind],
             root->kind == ROOT_LOCAL ? root->function : "-", root->name != NULL ? root->name : "-");
    return true;
}

static TsrStatus seen_call(Value *out, const CallArgs *args) {
    Value wanted = args->values[0];
    seen_text[0] = '\0';
    seen_cell = NULL;
    scope_visit_roots(note_root, &wanted);
    *out = VALUE_NONE;
    return TSR_OK;
}

START_TEST(roots_name_who_holds_a_value) {
    start();
    Value seen;
    ck_assert_int_eq(native_new(&seen, &seen_method, NULL), TSR_OK);
    ck_assert_int_eq(globals_set("seen", seen), TSR_OK);
    value_release(seen);
    answer("v = [1]\nseen(v)");
    ck_assert_str_eq(seen_text, "global - v;argument - -;");
    answer("def f(x):\n  y = x\n  for z in x: seen(x)\nf(v)");
    ck_assert_str_eq(seen_text, "global - v;local f x;local f y;iterator - -;argument - -;");
    answer("def g(k):\n  def h(): seen(k)\n  h()\ng(v)");
    ck_assert_str_eq(seen_text, "global - v;local g k;argument - -;");
    answer("[v, seen(v)]");
    ck_assert_str_eq(seen_text, "global - v;temporary - -;argument - -;");
    stop();
}
END_TEST

static TsrStatus here_call(Value *out, const CallArgs *args) {
    const Str *s = value_as_str(args->values[0]);
    return vm_run_text_here(out, s->data, (size_t)s->size, "<here>");
}
static const Method here_method = {"here", here_call, ARGS_ONE, 1, 1, NULL, NULL};

START_TEST(text_runs_in_the_callers_scope) {
    start();
    Value here;
    ck_assert_int_eq(native_new(&here, &here_method, NULL), TSR_OK);
    ck_assert_int_eq(globals_set("here", here), TSR_OK);
    value_release(here);
    ANSWER("w = 4\nhere('w + 1')", "5");
    ANSWER("def f(a):\n  b = 3\n  return here('a * b + w')\nf(5)", "19");
    ANSWER("def f(a):\n  here('a = 7')\n  return a\nf(5)", "7");
    ANSWER("def f(a):\n  g = lambda: a\n  return here('[a + i for i in range(2)]'), g()\nf(5)", "([5, 6], 5)");
    ANSWER("def f(a):\n  def g(): return here('a'), a\n  return g()\nf(5)", "(5, 5)");
    ANSWER("def g(a):\n  b = 2\n  yield here('a + b')\n  yield here('new = 3; new * b')\nlist(g(5))", "[7, 6]");
    ANSWER("def f(a): return here('(lambda: a)()')\nf(5)", "5");
    ANSWER("here('1 +')", "SyntaxError: invalid syntax");
    ANSWER("def f(a): return here('a / 0')\nf(5)", "ZeroDivisionError: division by zero");
    ANSWER("def f(a): return here('nosuch')\nf(5)", "NameError: name 'nosuch' is not defined");
    stop();
}
END_TEST

static const char swept[] = "def outer(k, *a, m=3, **kw):\n"
                            "  c = [k]\n"
                            "  def inner(x):\n"
                            "    nonlocal c\n"
                            "    c = c + [x]\n"
                            "    return lambda: (c, k)\n"
                            "  return inner\n"
                            "f = outer(1, 2, 3, m=4, z=5)\n"
                            "g = f(10)()\n"
                            "def gen(n):\n"
                            "  try:\n"
                            "    for i in range(n):\n"
                            "      x = yield (i, [i])\n"
                            "  finally:\n"
                            "    y = [n]\n"
                            "l = [v for v in gen(3)]\n"
                            "d = {k: [k] for k in 'ab'}\n"
                            "e = [(lambda: q)() for q in range(3)]\n"
                            "try:\n"
                            "  try:\n"
                            "    raise ValueError([1])\n"
                            "  except ValueError as ex:\n"
                            "    raise KeyError('x') from ex\n"
                            "except KeyError as ex:\n"
                            "  t = [ex.args]\n"
                            "h = f'{l}{1}' + 'abc'\n"
                            "a, *b = [1, 2, 3]\n"
                            "m = (lambda *args, **kw: (args, kw))(*l, **d)\n"
                            "u = list(x for x in (y for y in [1, 2]))\n"
                            "w = ones(2, 3) * 2 + 1\n"
                            "w[0] = w[1].sum()\n"
                            "import re, types\n"
                            "o = types.SimpleNamespace(a=[1])\n"
                            "o.b = re.sub('(?P<x>a|b)+?[c-e]{1,2}', lambda m: m['x'], 'abcabd')\n";

START_TEST(memory_that_runs_out_is_an_error_and_no_more) {
    start();
    Value v;
    for (int warm = 0; warm < 3; warm++) {
        ck_assert_int_eq(program_run(&v, swept), TSR_OK);
        value_release(v);
    }
    program_forget_names();
    int64_t containers = gc_live();
    for (int64_t n = 1;; n++) {
        tsr_mem_fail_at(n);
        TsrStatus status = program_run(&v, swept);
        int64_t made = tsr_mem_fail_at(0);
        if (status != TSR_OK) exc_fetch(&v, status, VALUE_UNBOUND);
        if (status != TSR_OK)
            ck_assert(value_exc(v)->kind == TSR_MEMORY_ERROR || value_exc(v)->kind == TSR_RUNTIME_ERROR);
        value_release(v);
        ck_assert_int_eq(exc_pending().tag, V_UNBOUND);
        ck_assert_int_eq(recursion_depth, 0);
        program_forget_names();
        ck_assert_msg(gc_live() <= containers + 2, "failure %lld leaves %lld containers", (long long)n,
                      (long long)(gc_live() - containers));
        if (made < n) break;
    }
    stop();
}
END_TEST

TEST_SUITE(vm, values_of_programs, counts_are_balanced_after_errors, interrupts_stop_loops,
           no_interrupt_is_lost_at_a_first_attribute, roots_name_who_holds_a_value, text_runs_in_the_callers_scope,
           memory_that_runs_out_is_an_error_and_no_more)
