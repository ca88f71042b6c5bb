/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>

/* test_free_gpus.c, in the program of test_gpu_survey.c */
Suite *free_gpus_suite(void);
