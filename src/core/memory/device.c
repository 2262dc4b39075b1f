/* device.c: names of devices and their parsing (device.h), with PyTorch's rules and error texts. The types after
 * TSR_META are names that PyTorch accepts in a device string; nothing stands behind them, and an allocation on them
 * fails. */
#include "core/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
    [TSR_CPU] = "cpu",
    [TSR_CUDA] = "cuda",
    [TSR_META] = "meta",
    [TSR_DEVICE_TYPE_COUNT] = "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "hpu",
    "mtia",
    "privateuseone",
};

const char *tsr_device_type_name(uint8_t type) { return type < TSR_COUNTOF(type_names) ? type_names[type] : "unknown"; }

char *tsr_device_format(TsrDevice d, char *buffer) {
    if (d.index < 0) snprintf(buffer, 16, "%s", tsr_device_type_name(d.type));
    else snprintf(buffer, 16, "%s:%d", tsr_device_type_name(d.type), d.index);
    return buffer;
}

static TsrStatus invalid(const char *text) { return tsr_error(TSR_RUNTIME_ERROR, "Invalid device string: '%s'", text); }

/* The index after the colon: digits without a leading zero. It is kept in 8 bits, as PyTorch does. */
static TsrStatus parse_index(int8_t *out, const char *digits, const char *text) {
    size_t n = strlen(digits);
    if (n == 0 || strspn(digits, "0123456789") != n || (n > 1 && digits[0] == '0')) return invalid(text);
    if (n > 10 || strtoll(digits, NULL, 10) > INT32_MAX)
        return tsr_error(TSR_RUNTIME_ERROR, "Could not parse device index '%s' in device string '%s'", digits, text);
    *out = (int8_t)(uint8_t)strtoll(digits, NULL, 10);
    return TSR_OK;
}

TsrStatus tsr_device_parse(TsrDevice *out, const char *text) {
    if (text[0] == '\0') return tsr_error(TSR_RUNTIME_ERROR, "Device string must not be empty");
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    if (n == 0 || (text[n] != ':' && text[n] != '\0')) return invalid(text);
    TsrDevice d = {TSR_COUNTOF(type_names), -1};
    if (text[n] == ':') TSR_TRY(parse_index(&d.index, text + n + 1, text));
    for (uint8_t type = 0; type < TSR_COUNTOF(type_names); type++)
        if (strlen(type_names[type]) == n && memcmp(type_names[type], text, n) == 0) d.type = type;
    if (d.type == TSR_COUNTOF(type_names))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, "
            "vulkan, "
            "mps, meta, hpu, mtia, privateuseone device type at start of device string: %.*s",
            (int)TSR_MIN(n, 100), text);
    *out = d;
    return TSR_OK;
}
