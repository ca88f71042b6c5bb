/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/*
 * The part of NVML's binary interface that is used, after the "NVML API Reference Guide", so that
 * neither a CUDA toolkit nor a driver is needed to build. NVML keeps it stable: what changes gets a
 * new symbol (..._v2) or a new version number inside its structure.
 */

struct nvml_handle;     /* nvmlDevice_t points to one */
struct nvml_gpm_sample; /* nvmlGpmSample_t points to one */

enum nvml_code {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_INSUFFICIENT_POWER = 8,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_IRQ_ISSUE = 11,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17,
    NVML_VERSION_MISMATCH = 18,
    NVML_MEMORY = 20,
    NVML_NO_DATA = 21,
    NVML_UNKNOWN = 999
};

#define NVML_UUID_SIZE 96
#define NVML_NAME_SIZE 96

/* Versioned structures begin with their size and version. */
#define NVML_VERSION_OF(type, number) ((unsigned)sizeof(type) | (unsigned)(number) << 24)

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct nvml_utilization {
    unsigned gpu, memory; /* percent of the time */
};

/* From the second version of the calls on. */
struct nvml_process {
    unsigned pid;
    unsigned long long memory; /* bytes; NVML_NO_VALUE: not known */
    unsigned gpu_instance, compute_instance;
};

#define NVML_NO_VALUE (~0ULL)

struct nvml_process_use {
    unsigned pid;
    unsigned long long timestamp;           /* microseconds */
    unsigned gpu, memory, encoder, decoder; /* percent of the time */
};

enum { NVML_TEMPERATURE_GPU = 0 };

struct nvml_temperature_v1 {
    unsigned version;
    unsigned sensor;
    int celsius;
};

enum { NVML_CLOCK_SM = 1 };
enum { NVML_PCIE_TX = 0, NVML_PCIE_RX = 1 };
enum { NVML_FIELD_PCIE_TX_BYTES = 197, NVML_FIELD_PCIE_RX_BYTES = 198 };
enum { NVML_VALUE_UNSIGNED_INT = 1, NVML_VALUE_UNSIGNED_LONG_LONG = 3 };

struct nvml_field {
    unsigned id, scope;
    long long timestamp, latency; /* microseconds */
    int type;                     /* of `value` */
    int code;
    union {
        double number;
        unsigned narrow;
        unsigned long long wide;
    } value;
};

/* Bits of the reasons that hold clocks back. */
#define NVML_THROTTLE_IDLE               0x1ULL
#define NVML_THROTTLE_APPLICATION_CLOCKS 0x2ULL
#define NVML_THROTTLE_POWER_CAP          0x4ULL
#define NVML_THROTTLE_HARDWARE           0x8ULL
#define NVML_THROTTLE_SYNC_BOOST         0x10ULL
#define NVML_THROTTLE_THERMAL            0x20ULL
#define NVML_THROTTLE_HARDWARE_THERMAL   0x40ULL
#define NVML_THROTTLE_POWER_BRAKE        0x80ULL
#define NVML_THROTTLE_DISPLAY_CLOCKS     0x100ULL
#define NVML_THROTTLE_BOARD_LIMIT        0x200ULL
#define NVML_THROTTLE_RELIABILITY        0x400ULL

struct nvml_attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
    unsigned gpu_slices, compute_slices;
    unsigned long long memory_mib;
};

enum { NVML_GPM_SM_UTIL = 2, NVML_GPM_ANY_TENSOR = 5, NVML_GPM_DRAM_BW = 10 };

struct nvml_gpm_support {
    unsigned version; /* 1 */
    unsigned supported;
};

struct nvml_gpm_metric {
    unsigned id;
    int code;
    double value; /* percent, for the metrics used here */
    struct {
        char *short_name, *long_name, *unit;
    } info;
};

/* Only the first `count` metrics are read; no header ever had room for fewer than 98. */
struct nvml_gpm_metrics {
    unsigned version; /* 1 */
    unsigned count;
    struct nvml_gpm_sample *older, *newer;
    struct nvml_gpm_metric metric[98];
};

/*
 * Every function used: member, parameters, symbol, and the symbol of an older driver that does the
 * same, or NULL. Each may be missing from a library.
 */
#define NVML_FUNCTIONS(X)                                                                          \
    X(init, (void), "nvmlInit_v2", "nvmlInit")                                                     \
    X(shutdown, (void), "nvmlShutdown", NULL)                                                      \
    X(count, (unsigned *), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount")                          \
    X(handle, (unsigned, struct nvml_handle **), "nvmlDeviceGetHandleByIndex_v2",                  \
      "nvmlDeviceGetHandleByIndex")                                                                \
    X(uuid, (struct nvml_handle *, char *, unsigned), "nvmlDeviceGetUUID", NULL)                   \
    X(name, (struct nvml_handle *, char *, unsigned), "nvmlDeviceGetName", NULL)                   \
    X(mig_mode, (struct nvml_handle *, unsigned *, unsigned *), "nvmlDeviceGetMigMode", NULL)      \
    X(mig_count, (struct nvml_handle *, unsigned *), "nvmlDeviceGetMaxMigDeviceCount", NULL)       \
    X(mig_handle, (struct nvml_handle *, unsigned, struct nvml_handle **),                         \
      "nvmlDeviceGetMigDeviceHandleByIndex", NULL)                                                 \
    X(gpu_instance, (struct nvml_handle *, unsigned *), "nvmlDeviceGetGpuInstanceId", NULL)        \
    X(attributes, (struct nvml_handle *, struct nvml_attributes *), "nvmlDeviceGetAttributes_v2",  \
      NULL)                                                                                        \
    X(memory, (struct nvml_handle *, struct nvml_memory *), "nvmlDeviceGetMemoryInfo", NULL)       \
    X(memory_v2, (struct nvml_handle *, struct nvml_memory_v2 *), "nvmlDeviceGetMemoryInfo_v2",    \
      NULL)                                                                                        \
    X(utilization, (struct nvml_handle *, struct nvml_utilization *),                              \
      "nvmlDeviceGetUtilizationRates", NULL)                                                       \
    X(compute_processes, (struct nvml_handle *, unsigned *, struct nvml_process *),                \
      "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")        \
    X(graphics_processes, (struct nvml_handle *, unsigned *, struct nvml_process *),               \
      "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2")      \
    X(process_use,                                                                                 \
      (struct nvml_handle *, struct nvml_process_use *, unsigned *, unsigned long long),           \
      "nvmlDeviceGetProcessUtilization", NULL)                                                     \
    X(temperature, (struct nvml_handle *, int, unsigned *), "nvmlDeviceGetTemperature", NULL)      \
    X(temperature_v, (struct nvml_handle *, struct nvml_temperature_v1 *),                         \
      "nvmlDeviceGetTemperatureV", NULL)                                                           \
    X(power, (struct nvml_handle *, unsigned *), "nvmlDeviceGetPowerUsage", NULL)                  \
    X(power_limit, (struct nvml_handle *, unsigned *), "nvmlDeviceGetEnforcedPowerLimit",          \
      "nvmlDeviceGetPowerManagementLimit")                                                         \
    X(energy, (struct nvml_handle *, unsigned long long *), "nvmlDeviceGetTotalEnergyConsumption", \
      NULL)                                                                                        \
    X(clock, (struct nvml_handle *, int, unsigned *), "nvmlDeviceGetClockInfo", NULL)              \
    X(clock_max, (struct nvml_handle *, int, unsigned *), "nvmlDeviceGetMaxClockInfo", NULL)       \
    X(throttle, (struct nvml_handle *, unsigned long long *),                                      \
      "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")       \
    X(fields, (struct nvml_handle *, int, struct nvml_field *), "nvmlDeviceGetFieldValues", NULL)  \
    X(pcie, (struct nvml_handle *, int, unsigned *), "nvmlDeviceGetPcieThroughput", NULL)          \
    X(gpm_support, (struct nvml_handle *, struct nvml_gpm_support *), "nvmlGpmQueryDeviceSupport", \
      NULL)                                                                                        \
    X(gpm_alloc, (struct nvml_gpm_sample **), "nvmlGpmSampleAlloc", NULL)                          \
    X(gpm_free, (struct nvml_gpm_sample *), "nvmlGpmSampleFree", NULL)                             \
    X(gpm_get, (struct nvml_handle *, struct nvml_gpm_sample *), "nvmlGpmSampleGet", NULL)         \
    X(gpm_mig_get, (struct nvml_handle *, unsigned, struct nvml_gpm_sample *),                     \
      "nvmlGpmMigSampleGet", NULL)                                                                 \
    X(gpm_metrics, (struct nvml_gpm_metrics *), "nvmlGpmMetricsGet", NULL)

/* A function that the library lacks is NULL; NVML_CALL then answers as the library would. */
struct nvml_api {
    void *library;
#define NVML_MEMBER(member, parameters, symbol, older) int(*member) parameters;
    NVML_FUNCTIONS(NVML_MEMBER)
#undef NVML_MEMBER
};

#define NVML_CALL(api, function, ...)                                                              \
    ((api)->function ? (api)->function(__VA_ARGS__) : NVML_FUNCTION_NOT_FOUND)
