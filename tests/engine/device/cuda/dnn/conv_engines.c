/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/dnn/conv_engines.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* A request's text is "conv SHAPES, ROWS rows, TYPE, PATTERN": the two ends of it. */
static void print_request(const struct conv_request *request)
{
    char text[256];
    conv_request_text(request, text, sizeof text);
    char *shapes_end = strchr(text, ',');
    char *type = strstr(text, ", bf16, ");
    ck_assert(shapes_end && type);
    *shapes_end = '\0';
    printf("engine\t%s\t%s\t", type + strlen(", bf16, "), text + strlen("conv "));
}

static void print_engine(struct conv_maker *maker, const struct conv_request *request)
{
    struct error err = ERROR_INIT;
    struct conv_plan *plan;
    print_request(request);
    if (conv_plan_create(maker, request, &plan, &err)) {
        printf("%s\t%zu\n", conv_plan_name(plan), conv_plan_workspace(plan));
        conv_plan_destroy(plan);
    } else {
        ck_assert_int_eq(err.kind, ERROR_FAILED);
        puts("none\t0");
    }
}

void conv_engines_print(struct conv_maker *maker, const struct conv_cases *cases)
{
    for (int pattern = 0; pattern < CONV_PATTERNS; pattern++)
        for (int i = 0; i < cases->count; i++) {
            const struct conv_case *one = &cases->list[i];
            if (strcmp(one->model, "resnet18") != 0 || one->h != 28 ||
                (pattern == CONV_DATA && one->first))
                continue;
            struct conv_request request = one->request;
            request.pattern = (enum conv_pattern)pattern;
            request.type = TYPE_BF16;
            request.rows = 1024;
            print_engine(maker, &request);
        }
}
