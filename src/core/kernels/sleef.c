/* sleef.c: opens SLEEF when a kernel first calls one of its functions (sleef.h). */
#include "sleef.h"

#include <dlfcn.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;

static void open_library(void) { library = dlopen("libsleef.so.3", RTLD_LAZY | RTLD_LOCAL); }

TsrSleefFn tsr_sleef_find(const char *name) {
    TsrSleefFn found = NULL;
    pthread_once(&once, open_library);
    if (library != NULL) *(void **)&found = dlsym(library, name);
    return found;
}
