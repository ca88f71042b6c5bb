/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * First of all in a program that trains: the environment as its libraries have to find it.
 * `program` is its name in messages. It may start the program once more, with the same arguments.
 */
void startup_environment(const char *program, char **argv);
