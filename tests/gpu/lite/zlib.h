/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stand-in for zlib in tests on machines without it (tests/gpu/run): unpacks nothing, so that data
 * have to be plain files there. Checksums are right, if slow.
 */
typedef struct {
    unsigned char *next_in, *next_out;
    unsigned avail_in, avail_out;
    const char *msg;
} z_stream;

enum { Z_OK = 0, Z_STREAM_END = 1, Z_MEM_ERROR = -4, Z_BUF_ERROR = -5, Z_VERSION_ERROR = -6 };
enum { Z_NO_FLUSH };

static inline unsigned long crc32(unsigned long crc, const unsigned char *data, unsigned size)
{
    crc = ~crc & 0xffffffffUL;
    while (size-- > 0) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320UL : 0);
    }
    return ~crc & 0xffffffffUL;
}

static inline int inflateInit2(z_stream *stream, int bits)
{
    (void)bits;
    stream->msg = "built without zlib";
    return Z_OK;
}

static inline int inflateReset(z_stream *stream)
{
    (void)stream;
    return Z_OK;
}

static inline int inflate(z_stream *stream, int flush)
{
    (void)stream;
    (void)flush;
    return Z_VERSION_ERROR;
}

static inline int inflateEnd(z_stream *stream)
{
    (void)stream;
    return Z_OK;
}
