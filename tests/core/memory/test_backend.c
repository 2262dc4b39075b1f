/* backend.h: plugins are loaded when they fit and refused, with the reason, when they do not. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "core/backend.h"

static const char *plugin(const char *kind) {
    static char path[4096];
    const char *build = getenv("TSR_TEST_BUILD");
    snprintf(path, sizeof path, "%s/tests/plugins/%s/libtsr_cuda.so", build != NULL ? build : "build/release", kind);
    return path;
}

static void expect_refusal(const char *path, const char *reason) {
    const TsrBackend *backend = NULL;
    ck_assert_int_eq(tsr_backend_load(&backend, path), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), reason));
    ck_assert_ptr_null(backend);
}

START_TEST(a_plugin_of_this_version_is_loaded) {
    const TsrBackend *backend = NULL;
    char byte = 1, copy = 0;
    ck_assert_int_eq(tsr_backend_load(&backend, plugin("good")), TSR_OK);
    ck_assert_str_eq(backend->name, "cuda");
    ck_assert_int_eq(backend->device_count(), 1);
    ck_assert_int_eq(backend->copy((TsrAddress)(uintptr_t)&copy, TSR_DEVICE_CPU, (TsrAddress)(uintptr_t)&byte,
                                   TSR_DEVICE_CPU, 1, TSR_COPY_WAIT),
                     TSR_OK);
    ck_assert_int_eq(copy, 1);
}
END_TEST

START_TEST(a_plugin_of_another_version_is_refused) { expect_refusal(plugin("old"), "interface version 999"); }
END_TEST

START_TEST(a_plugin_without_a_device_is_refused) { expect_refusal(plugin("none"), "it found no device"); }
END_TEST

START_TEST(a_file_that_is_no_library_is_refused) { expect_refusal("/dev/null", "not a usable tsr backend"); }
END_TEST

START_TEST(a_missing_backend_names_what_was_tried) {
    const TsrBackend *backend;
    setenv("TSR_BACKEND_PATH", "/nonexistent", 1);
    ck_assert_int_eq(tsr_backend_get(&backend, TSR_CUDA), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_hint_text(), "libtsr_cuda.so"));
}
END_TEST

TEST_SUITE(backend, a_plugin_of_this_version_is_loaded, a_plugin_of_another_version_is_refused,
           a_plugin_without_a_device_is_refused, a_file_that_is_no_library_is_refused,
           a_missing_backend_names_what_was_tried)
