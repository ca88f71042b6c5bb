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
 *     picture_tool pace SIDE SECONDS FILE...            pictures a second on one thread: as whole
 *                                                       pictures by libjpeg alone, and as rows
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

/* What a file costs with libjpeg and nothing else: all its pixels, thrown away. */
static void decode_alone(const unsigned char *bytes, size_t size)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg_start_decompress(&jpeg);
    unsigned char *row = malloc((size_t)jpeg.output_width * (size_t)jpeg.output_components);
    while (jpeg.output_scanline < jpeg.output_height)
        jpeg_read_scanlines(&jpeg, &row, 1);
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(row);
}

static int measure(char **arguments)
{
    const int side = atoi(arguments[0]);
    const double limit = atof(arguments[1]);
    struct picture_reader reader = {0};
    struct error err = ERROR_INIT;
    uint8_t *row = malloc((size_t)3 * (size_t)side * (size_t)side);
    double rates[2] = {0, 0};
    for (int ours = 0; row && ours < 2; ours++) {
        double begin = clock_thread_seconds();
        long count = 0;
        while (clock_thread_seconds() - begin < limit)
            for (char **file = arguments + 2; *file; file++, count++) {
                char *bytes;
                size_t size;
                if (ours && !picture_read(&reader, *file, 3, side, side, row, &err))
                    return fprintf(stderr, "%s\n", err.text);
                if (!ours && file_read(*file, 1 << 28, &bytes, &size, &err)) {
                    decode_alone((unsigned char *)bytes, size);
                    free(bytes);
                }
            }
        rates[ours] = (double)count / (clock_thread_seconds() - begin);
    }
    printf("libjpeg %.0f/s, rows of %dx%d %.0f/s, %.2f\n", rates[0], side, side, rates[1],
           rates[1] / rates[0]);
    picture_reader_free(&reader);
    free(row);
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
