/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_LOG_H
#define DPARTUI_ENGINE_SERVER_LOG_H

/*
 * One dated line on standard error, which main() has pointed at the log. Any thread; a log that
 * cannot be written is no reason to fail.
 */
void engine_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
