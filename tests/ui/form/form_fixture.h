/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>

#include "tests/ui/replay.h"

/* The form of a workbench whose engine is played by the test. */
extern struct replay replay;

void form_begin(void);
void form_end(void);

/* The form's value of a field is this. */
void check_field(enum form_field field, const char *expected);
/* The style of the value that a screen of 60x120 shows of the field of this label. */
int style_of_value(const char *label);

/* An idle engine, which from now on answers nothing: *checks counts what it is asked about the
 * form. Set replay.ui.requester.send to NULL before *checks goes. */
void count_checks(int *checks);
/* Its answer to that, as JSON. */
void answer_check(const char *text);

Suite *suggestion_suite(void);
Suite *form_check_suite(void);
