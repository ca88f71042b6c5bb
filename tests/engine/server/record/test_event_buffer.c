/* SPDX-License-Identifier: MIT */
/* Kept events, and what telemetry reads out of /proc. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/server/record/event_buffer.h"
#include "engine/telemetry/telemetry.h"
#include "tests/suites.h"

static void add(struct event_buffer *buffer, int number, bool is_step)
{
    char text[32];
    snprintf(text, sizeof text, "%d", number);
    ck_assert(
        event_buffer_add(buffer, text, is_step ? NULL : &(struct event_mark){.name = "other"}));
}

static int found(const struct event_buffer *buffer, uint64_t from, bool steps)
{
    const struct kept_event *event = event_buffer_find(buffer, from, steps);
    if (!event)
        return -1;
    ck_assert_uint_eq(event->number, (uint64_t)atoi(event->text));
    return (int)event->number;
}

START_TEST(events_come_in_order)
{
    struct event_buffer buffer;
    event_buffer_init(&buffer, 1000, 1000);
    for (int i = 0; i < 500; i++)
        add(&buffer, i, i % 10 != 0);
    for (int i = 0; i < 500; i++) {
        ck_assert_int_eq(found(&buffer, (uint64_t)i, true), i);
        ck_assert_int_eq(found(&buffer, (uint64_t)i, false), i > 490 ? -1 : (i + 9) / 10 * 10);
    }
    ck_assert_int_eq(found(&buffer, 500, true), -1);
    event_buffer_free(&buffer);
}
END_TEST

START_TEST(old_steps_go_and_marks_stay)
{
    struct event_buffer buffer;
    event_buffer_init(&buffer, 100, 1000);
    size_t bytes = 0;
    for (int i = 0; i < 5000; i++) {
        add(&buffer, i, i % 100 != 0);
        bytes = buffer.bytes > bytes ? buffer.bytes : bytes;
    }
    ck_assert_uint_le(bytes, (100 + 50 + 1) * 4);
    ck_assert_int_eq(found(&buffer, 0, true), 0);
    ck_assert_int_eq(found(&buffer, 1, true), 100);
    ck_assert_int_eq(found(&buffer, 4801, true), 4899);
    ck_assert_uint_eq(buffer.marks.count, 49);
    event_buffer_drop_steps(&buffer);
    ck_assert_int_eq(found(&buffer, 4801, true), 4900);
    add(&buffer, 5000, true);
    ck_assert_int_eq(found(&buffer, 4901, true), 5000);
    event_buffer_drop_marks(&buffer);
    ck_assert_int_eq(found(&buffer, 0, true), 0);
    ck_assert_int_eq(found(&buffer, 1, true), 4900);
    event_buffer_free(&buffer);
}
END_TEST

START_TEST(marks_are_bounded_too)
{
    struct event_buffer buffer;
    event_buffer_init(&buffer, 1, 10);
    ck_assert_ptr_null(event_buffer_newest(&buffer, NULL));
    for (int i = 0; i < 100; i++) {
        add(&buffer, i, false);
        ck_assert_int_eq((int)event_buffer_newest(&buffer, NULL)->number, i);
    }
    ck_assert_int_eq(found(&buffer, 0, true), 0);
    ck_assert_int_eq(found(&buffer, 1, true), 90);
    ck_assert_int_eq((int)event_buffer_mark(&buffer, 0)->number, 90);
    ck_assert_ptr_null(event_buffer_mark(&buffer, 10));
    event_buffer_free(&buffer);
}
END_TEST

/* Epochs are thinned, and what is rare among them stays. */
START_TEST(many_epochs_leave_an_even_curve)
{
    struct event_buffer buffer;
    event_buffer_init(&buffer, 1, 100);
    add(&buffer, 0, false);
    for (int i = 1; i <= 5000; i++) {
        struct event_mark epoch = {.name = "epoch", .epoch = i, .score = i == 1234 ? 0.9 : 0.5};
        char text[32];
        snprintf(text, sizeof text, "%d", i);
        if (i == 2500)
            epoch = (struct event_mark){.name = "retune"};
        ck_assert(event_buffer_add(&buffer, text, &epoch));
    }
    ck_assert_uint_le(buffer.marks.count, 100);
    ck_assert_int_eq(found(&buffer, 1, false), 1);
    ck_assert_int_eq(found(&buffer, 1234, false), 1234);
    ck_assert_int_eq(found(&buffer, 2500, false), 2500);
    ck_assert_int_eq(found(&buffer, 5000, false), 5000);
    ck_assert_int_eq((int)event_buffer_newest(&buffer, "epoch")->number, 5000);
    ck_assert_int_eq((int)event_buffer_newest(&buffer, "retune")->number, 2500);
    ck_assert_int_eq((int)event_buffer_newest(&buffer, "other")->number, 0);
    ck_assert_ptr_null(event_buffer_newest(&buffer, "end"));
    size_t bytes = 1;
    for (size_t i = 1; i < buffer.marks.count; i++) {
        uint64_t before = event_buffer_mark(&buffer, i - 1)->number;
        ck_assert_uint_le(event_buffer_mark(&buffer, i)->number - before, 128);
    }
    for (size_t i = 0; i < buffer.marks.count; i++)
        bytes += event_buffer_mark(&buffer, i)->length;
    ck_assert_uint_eq(buffer.bytes, bytes);
    event_buffer_free(&buffer);
}
END_TEST

START_TEST(cpu_ticks_are_read)
{
    struct cpu_ticks ticks[4];
    telemetry_parse_stat("cpu  9 9 9 9 9 9 9 9 0 0\n"
                         "cpu0 100 1 20 300 40 5 6 7 0 0\n"
                         "cpu2 1 1 1 1\n"
                         "cpu9 1 1 1 1 1 1 1 1 0 0\n"
                         "cpux\nintr 1 2 3\n",
                         ticks, 4);
    ck_assert_uint_eq(ticks[0].total, 479);
    ck_assert_uint_eq(ticks[0].busy, 139);
    ck_assert_uint_eq(ticks[1].total, 0);
    ck_assert_uint_eq(ticks[2].total, 4);
    ck_assert_uint_eq(ticks[3].total, 0);
    telemetry_parse_stat("", ticks, 4);
    ck_assert_uint_eq(ticks[0].total, 0);
}
END_TEST

START_TEST(memory_lines_are_read)
{
    static const char text[] = "MemTotalX:   5 kB\nMemTotal:       24 kB\nMemAvailable:  x\n";
    ck_assert_uint_eq(telemetry_parse_memory(text, "MemTotal"), 24 * 1024);
    ck_assert_uint_eq(telemetry_parse_memory(text, "MemAvailable"), 0);
    ck_assert_uint_eq(telemetry_parse_memory(text, "Mem"), 0);
    ck_assert_uint_eq(telemetry_parse_memory("", "MemTotal"), 0);
}
END_TEST

START_TEST(load_is_a_mean_over_known_cpus)
{
    static struct telemetry_sample sample;
    static const int cpus[] = {0, 1, 2, -1, TELEMETRY_MAX_CPUS};
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++)
        sample.load[i] = NAN;
    ck_assert(isnan(telemetry_load(&sample, cpus, 5)));
    sample.load[0] = 1;
    sample.load[2] = 0.5;
    ck_assert_double_eq(telemetry_load(&sample, cpus, 5), 0.75);
    ck_assert(isnan(telemetry_load(&sample, cpus, 0)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("event buffer");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, events_come_in_order);
    tcase_add_test(tests, old_steps_go_and_marks_stay);
    tcase_add_test(tests, marks_are_bounded_too);
    tcase_add_test(tests, many_epochs_leave_an_even_curve);
    tcase_add_test(tests, cpu_ticks_are_read);
    tcase_add_test(tests, memory_lines_are_read);
    tcase_add_test(tests, load_is_a_mean_over_known_cpus);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
