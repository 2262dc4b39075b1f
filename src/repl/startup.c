#include "startup.h"

#include "alloc.h"
#include "builtin.h"
#include "files.h"
#include "inspect.h"
#include "namespace.h"
#include "prelude.h"
#include "vm.h"

TsrStatus startup_all(void) {
    TSR_TRY(value_startup());
    TSR_TRY(builtin_register_modules());
    TSR_TRY(vm_startup());
    TSR_TRY(namespace_startup());
    TSR_TRY(files_startup());
    return inspect_startup();
}

void startup_undo(void) {
    vm_shutdown();
    prelude_shutdown();
    namespace_shutdown();
    value_shutdown();
    tsr_error_clear();
}

void startup_limit_memory(size_t bytes) { tsr_set_memory_limit(bytes); }
