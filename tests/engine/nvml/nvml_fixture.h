/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <stdbool.h>

#include "tests/fakes/fake_nvml.h"

/* Load the made-up library, or the one of an old driver, and keep it; release with fake_unload. */
void fake_load(bool old);
void fake_unload(void);

extern struct fake_nvml *fake; /* of the library that is loaded */
extern char fake_path[4096];

/* Was it built? Says why not. */
bool fake_is_there(void);

Suite *nvml_thread_suite(void);
Suite *nvml_processes_suite(void);
