/* SPDX-License-Identifier: MIT */
/*
 * The reader of pictures by itself, for pictures.py.
 *
 *     picture_tool read CHANNELS HEIGHT WIDTH FILE...   a line for each: its bytes as hex digits,
 *                                                       or "error: " and what is wrong
 *     picture_tool look FILE...                         a line for each: WIDTHxHEIGHT, "grey" or
 *                                                       "colour"; or "error: ..."
 *     picture_tool jpeg KIND PROGRESSIVE WIDTH HEIGHT   pixels from standard input as JPEG
 *     picture_tool data NAME...                         a line of JSON for each data set, or
 *                                                       "error: ..."
 *     picture_tool pace CHANNELS SIDE FILE...           processor time of a JPEG file: decoded by
 *                                                       libjpeg alone, read as a row of a data set
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "base/clock.h"
#include "base/file.h"
#include "engine/data/data.h"
#include "engine/data/picture/picture.h"
#include "tests/engine/data/pictures/write_jpeg.h"

static int read_files(char **arguments)
{
    const int channels = atoi(arguments[0]), height = atoi(arguments[1]),
              width = atoi(arguments[2]);
    const size_t bytes = (size_t)channels * (size_t)height * (size_t)width;
    struct picture_reader reader = {0};
    uint8_t *row = malloc(bytes);
    for (char **file = arguments + 3; row && *file; file++) {
        struct error err = ERROR_INIT;
        if (picture_read(&reader, *file, channels, height, width, row, &err)) {
            for (size_t i = 0; i < bytes; i++)
                printf("%02x", row[i]);
            putchar('\n');
        } else {
            printf("error: %s\n", err.text);
        }
    }
    picture_reader_free(&reader);
    free(row);
    return !row;
}

static int look_at_files(char **files)
{
    struct picture_reader reader = {0};
    for (; *files; files++) {
        struct error err = ERROR_INIT;
        struct picture_shape shape;
        if (picture_look(&reader, *files, &shape, &err))
            printf("%dx%d %s\n", shape.width, shape.height, shape.coloured ? "colour" : "grey");
        else
            printf("error: %s\n", err.text);
    }
    picture_reader_free(&reader);
    return 0;
}

static int compress(char **arguments)
{
    const enum jpeg_kind kind = (enum jpeg_kind)atoi(arguments[0]);
    const int width = atoi(arguments[2]), height = atoi(arguments[3]);
    size_t size = (size_t)width * (size_t)height * (size_t)jpeg_channels(kind);
    uint8_t *pixels = malloc(size), *bytes = NULL;
    bool ok = pixels && fread(pixels, 1, size, stdin) == size &&
              (bytes = write_jpeg(pixels, width, height, kind, atoi(arguments[1]), &size)) &&
              fwrite(bytes, 1, size, stdout) == size;
    free(pixels);
    free(bytes);
    return !ok;
}

static void print_part(const char *name, const struct dataset *set)
{
    const int row = set->channels * set->height * set->width;
    printf("\"%s\": {\"shape\": [%d, %d, %d, %d], \"x\": [", name, set->rows, set->channels,
           set->height, set->width);
    for (int i = 0; i < set->rows * row; i++)
        printf("%s%.9g", i ? ", " : "", set->pixels ? set->pixels[i] : (double)set->numbers[i]);
    printf("], \"y\": [");
    for (int i = 0; i < set->rows; i++)
        printf("%s%d", i ? ", " : "", set->labels[i]);
    printf("]}");
}

static int print_data(char **names)
{
    for (; *names; names++) {
        const struct data_request request = {.name = *names, .pictures = {.test_share = 0.2}};
        struct error err = ERROR_INIT;
        struct dataset shape;
        struct data data;
        char *resolved = NULL;
        bool described = data_describe(&request, &shape, NULL, &resolved, &err);
        free(resolved);
        if (!data_open(&request, &data, &err)) {
            printf("error: %s\n", err.text);
            continue;
        }
        if (!described || shape.rows != data.train.rows || shape.classes != data.train.classes)
            return 1;
        printf("{\"classes\": %d, \"bytes\": %s, ", data.train.classes,
               data.train.pixels ? "true" : "false");
        print_part("train", &data.train);
        printf(", ");
        print_part("test", &data.test);
        printf("}\n");
        data_close(&data);
    }
    return 0;
}

enum { TURNS = 9 };

struct pace {
    int channels, side;
    char **files; /* names, to NULL */
    struct picture_reader reader;
    struct jpeg_decompress_struct jpeg;
    uint8_t *row, *pixels;
    size_t capacity; /* of pixels */
};

/* What libjpeg-turbo's own benchmark measures: bytes in memory to all pixels in memory, with one
 * decompressor for all. */
static bool decode_alone(struct pace *pace, const uint8_t *bytes, size_t size)
{
    struct jpeg_decompress_struct *jpeg = &pace->jpeg;
    jpeg_mem_src(jpeg, bytes, size);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = pace->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(jpeg);
    const size_t step = (size_t)jpeg->output_width * (size_t)jpeg->output_components;
    if (step * jpeg->output_height > pace->capacity) {
        free(pace->pixels);
        pace->capacity = step * jpeg->output_height;
        pace->pixels = malloc(pace->capacity);
    }
    while (pace->pixels && jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW rows[4];
        for (size_t i = 0; i < 4; i++)
            rows[i] = pace->pixels + (jpeg->output_scanline + i) * step;
        jpeg_read_scanlines(jpeg, rows, 4);
    }
    return pace->pixels && jpeg_finish_decompress(jpeg);
}

/* Seconds of a file; negative: a failure. What is read before the clock starts is not counted. */
static double take_turn(struct pace *pace, bool ours, struct error *err)
{
    double seconds = 0;
    long count = 0;
    while (seconds < 0.05)
        for (char **file = pace->files; *file; file++, count++) {
            char *bytes = NULL;
            size_t size;
            if (!ours && !file_read(*file, 1 << 28, &bytes, &size, err))
                return -1;
            const double begin = clock_thread_seconds();
            const bool ok = ours ? picture_read(&pace->reader, *file, pace->channels, pace->side,
                                                pace->side, pace->row, err)
                                 : decode_alone(pace, (uint8_t *)bytes, size);
            seconds += clock_thread_seconds() - begin;
            free(bytes);
            if (!ok)
                return -1;
        }
    return seconds / (double)count;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(char **arguments)
{
    struct pace pace = {
        .channels = atoi(arguments[0]), .side = atoi(arguments[1]), .files = arguments + 2};
    struct jpeg_error_mgr errors;
    struct error err = ERROR_INIT;
    double alone[TURNS], ours[TURNS], ratio[TURNS];
    int turns = 0;
    pace.row = malloc((size_t)pace.channels * (size_t)pace.side * (size_t)pace.side);
    pace.jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&pace.jpeg);
    for (; pace.row && turns < TURNS; turns++) {
        alone[turns] = take_turn(&pace, false, &err);
        ours[turns] = take_turn(&pace, true, &err);
        ratio[turns] = alone[turns] / ours[turns];
        if (alone[turns] < 0 || ours[turns] < 0)
            break;
    }
    jpeg_destroy_decompress(&pace.jpeg);
    picture_reader_free(&pace.reader);
    free(pace.pixels);
    free(pace.row);
    if (turns < TURNS)
        return fprintf(stderr, "%s\n", err.text);
    qsort(alone, TURNS, sizeof *alone, compare);
    qsort(ours, TURNS, sizeof *ours, compare);
    qsort(ratio, TURNS, sizeof *ratio, compare);
    printf("libjpeg %.1f us, row of %dx%d %.1f us; rate %.2f of libjpeg's (%.2f to %.2f)\n",
           alone[TURNS / 2] * 1e6, pace.side, pace.side, ours[TURNS / 2] * 1e6, ratio[TURNS / 2],
           ratio[0], ratio[TURNS - 1]);
    return 0;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int least;
        int (*run)(char **arguments);
    } modes[] = {{"read", 4, read_files},
                 {"look", 1, look_at_files},
                 {"jpeg", 4, compress},
                 {"data", 1, print_data},
                 {"pace", 3, measure}};
    for (size_t i = 0; count > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(arguments[1], modes[i].name) == 0 && count - 2 >= modes[i].least)
            return modes[i].run(arguments + 2);
    fputs("usage: picture_tool read|look|jpeg|pace ...\n", stderr);
    return 2;
}
