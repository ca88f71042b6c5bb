/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/onednn.h"

static const char *status_text(dnnl_status_t status)
{
    switch ((int)status) {
    case dnnl_success:
        return "success";
    case dnnl_out_of_memory:
        return "out of memory";
    case dnnl_invalid_arguments:
        return "invalid arguments";
    case dnnl_unimplemented:
        return "no implementation for this shape";
    case dnnl_runtime_error:
        return "runtime error";
    default:
        return "unknown error";
    }
}

bool dnnl_check(dnnl_status_t status, const char *what, struct error *err)
{
    return status == dnnl_success ||
           error_set(err, ERROR_FAILED, "oneDNN: %s: %s", what, status_text(status));
}
