/* language_alone.c: the language without tensors, a terminal or files of torch: src/lang and src/core are all that is
 * linked here. A link that points upwards from src/lang breaks this build. */
#include <stdio.h>
#include <string.h>

#include "lang/modules/builtin.h"
#include "lang/vm/vm.h"

static const char program[] =
    "import itertools, math\n"
    "def squares(n, *rest, scale=1):\n"
    "    return [scale * k ** 2 for k in range(n)] + list(rest)\n"
    "words = {w: len(w) for w in 'a bc def'.split()}\n"
    "try:\n"
    "    words['missing']\n"
    "except KeyError as e:\n"
    "    missing = e\n"
    "f\"{squares(3, 7, scale=2)} {words} {missing} {math.gcd(12, 18)} {list(itertools.accumulate([1, 2, 3]))} {2 ** "
    "100:,}\"\n";

static const char expected[] =
    "[0, 2, 8, 7] {'a': 1, 'bc': 2, 'def': 3} 'missing' 6 [1, 3, 6] 1,267,650,600,228,229,401,496,703,205,376";

static int compare(Value v) {
    TsrText text = {0};
    int failed = value_str(&text, v) != TSR_OK || strcmp(text.data, expected) != 0;
    printf("%s: the language runs on the core alone%s%s\n", failed ? "FAIL" : "ok", failed ? ": " : "",
           failed ? text.data : "");
    tsr_text_free(&text);
    return failed;
}

int main(void) {
    Value result = VALUE_UNBOUND;
    TsrStatus status = value_startup();
    if (status == TSR_OK) status = builtin_register_modules();
    if (status == TSR_OK) status = vm_startup(builtin_fill);
    if (status == TSR_OK) status = vm_run_text_here(&result, program, sizeof program - 1, "<program>");
    if (status != TSR_OK) return printf("FAIL: %s\n", tsr_error_message()), 1;
    int failed = compare(result);
    value_release(result);
    vm_shutdown();
    value_shutdown();
    return failed;
}
