/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "engine/device/cpu/core/mapping.h"
#include "engine/device/plan/memory_pool.h"
#include "tests/suites.h"

/* The memory of a plan: where its buffers lie, and the pages below them. */

static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
}

START_TEST(buffers_that_live_together_lie_apart)
{
    enum { COUNT = 200 };
    struct pool pool = {0};
    struct rng_stream stream = rng_stream(9, RNG_RANDOM_DATA, 0, 0, 0);
    size_t planned, scratch, total, sum = 0, live[64] = {0}, most = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        enum buffer_region region = i % 5 == 0 ? BUFFER_SCRATCH : BUFFER_PLANNED;
        struct buffer *b = pool_add(&pool, region, rng_word(&stream, 3 * i) % 10000);
        ck_assert_ptr_nonnull(b);
        int first = (int)(rng_word(&stream, 3 * i + 1) % 60);
        if (region == BUFFER_PLANNED)
            buffer_use(b, first + (int)(rng_word(&stream, 3 * i + 2) % 4));
        buffer_use(b, first);
        sum += b->size;
        for (int t = b->first; t <= b->last; t++)
            live[t] += b->size;
    }
    ck_assert(pool_layout(&pool, &planned, &scratch, &err));
    total = planned + scratch;
    for (int t = 0; t < 64; t++)
        most = live[t] > most ? live[t] : most;
    ck_assert_uint_ge(total, most);
    ck_assert_uint_lt(total, sum / 4);
    for (int i = 0; i < COUNT; i++) {
        const struct buffer *a = pool.list[i];
        ck_assert_uint_eq(a->offset % MEMORY_ALIGN, 0);
        ck_assert_uint_le(a->offset + a->size, total);
        for (int k = 0; k < i; k++) {
            const struct buffer *b = pool.list[k];
            bool meet = a->first <= b->last && b->first <= a->last;
            ck_assert(!meet || a->offset + a->size <= b->offset ||
                      b->offset + b->size <= a->offset);
        }
    }
    pool_free(&pool);
}
END_TEST

/* With the largest first the region would end at 10 units, the last buffer above all others. */
START_TEST(the_longest_lived_go_first_where_that_takes_less)
{
    static const struct {
        int units, first, last;
    } buffers[] = {{4, 1, 3}, {4, 1, 5}, {3, 4, 5}, {2, 4, 4}};
    struct pool pool = {0};
    size_t planned, scratch;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        struct buffer *b = pool_add(&pool, BUFFER_PLANNED, (size_t)buffers[i].units * MEMORY_ALIGN);
        ck_assert_ptr_nonnull(b);
        buffer_use(b, buffers[i].first);
        buffer_use(b, buffers[i].last);
    }
    ck_assert(pool_layout(&pool, &planned, &scratch, &err));
    ck_assert_uint_eq(planned + scratch, 9 * MEMORY_ALIGN); /* what step 4 needs */
    ck_assert_uint_eq(pool.list[1]->offset, 0);
    pool_free(&pool);
}
END_TEST

START_TEST(mappings_are_zero_and_fail_politely)
{
    struct mapping mapping;
    ck_assert(mapping_create(&mapping, 0, "nothing", &err));
    mapping_free(&mapping);
    ck_assert(mapping_create(&mapping, 5000001, "a little", &err));
    const char *bytes = mapping.data;
    size_t set = 0;
    for (size_t i = 0; i < mapping.size; i++)
        set += bytes[i] != 0;
    ck_assert_uint_eq(set, 0);
    mapping_free(&mapping);
    ck_assert_ptr_null(mapping.data);
    ck_assert(!mapping_create(&mapping, SIZE_MAX / 4, "too much", &err));
    ck_assert_ptr_nonnull(strstr(err.text, "(too much)"));
    ck_assert(!mapping_create(&mapping, SIZE_MAX, "too much", &err));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory of plans");
    TCase *tc = tcase_create("memory");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, buffers_that_live_together_lie_apart);
    tcase_add_test(tc, the_longest_lived_go_first_where_that_takes_less);
    tcase_add_test(tc, mappings_are_zero_and_fail_politely);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
