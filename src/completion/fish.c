/* SPDX-License-Identifier: MIT */
#include "completion/fish.h"

#include <stdio.h>

#include "completion/argument.h"
#include "completion/quote.h"

/* What a backslash protects between fish's single quotes. */
#define FISH_ESCAPED "\\'"

static const char head[] =
    "# SPDX-License-Identifier: MIT\n"
    "#\n"
    "# fish completion for dpartui.\n"
    "# Made by 'dpartui completion fish' from the program's own tables: change those.\n"
    "\n"
    "# The words before the cursor. Before the command --host is as good as after it.\n"
    "function __dpartui_words\n"
    "    set -l words (commandline -opc)\n"
    "    if test \"$words[2]\" = --host; and test (count $words) -gt 2\n"
    "        set -e words[2..3]\n"
    "    else if string match -q -- '--host=*' \"$words[2]\"\n"
    "        set -e words[2]\n"
    "    end\n"
    "    printf '%s\\n' $words\n"
    "end\n"
    "\n"
    "# The command that was given; fails when it is another one than $argv.\n"
    "function __dpartui_command --argument-names wanted\n"
    "    set -l words (__dpartui_words)\n"
    "    set -l command \"$words[2]\"\n"
    "    if string match -q -- '-*' \"$command\"\n"
    "        set command ''\n"
    "    end\n"
    "    test \"$command\" = \"$wanted\"\n"
    "end\n"
    "\n"
    "function __dpartui_first\n"
    "    test (count (__dpartui_words)) -eq 1\n"
    "end\n"
    "\n"
    "# Is this the argument NUMBER of COMMAND, some of whose options take arguments?\n"
    "function __dpartui_argument --argument-names command number\n"
    "    __dpartui_command $command; or return\n"
    "    set -l words (__dpartui_words)\n"
    "    set -l takes $argv[3..-1]\n"
    "    set -l place 0\n"
    "    set -l option ''\n"
    "    set -l ended ''\n"
    "    for word in $words[3..-1]\n"
    "        if test -n \"$option\"\n"
    "            set option ''\n"
    "        else if test -n \"$ended\"; or not string match -q -- '-?*' $word\n"
    "            set place (math $place + 1)\n"
    "        else if test \"$word\" = --\n"
    "            set ended yes\n"
    "        else if contains -- $word $takes\n"
    "            set option $word\n"
    "        end\n"
    "    end\n"
    "    test -z \"$option\"; and test $place -eq (math $number - 1)\n"
    "end\n"
    "\n"
    "# Offer an argument: SOURCE (words that only the machine knows), FILES ('*': any, '/': "
    "folders,\n"
    "# else their ending), LIST (not empty: with commas), and fixed words.\n"
    "function __dpartui_offer --argument-names source files list\n"
    "    set -l program (string replace -r '^~/' \"$HOME/\" -- (commandline -opc)[1])\n"
    "    set -l token (commandline -ct | string replace -r '^--[^=]*=' '')\n"
    "    set -l before ''\n"
    "    if test -n \"$list\"\n"
    "        set before (string replace -r '[^,]*$' '' -- \"$token\")\n"
    "    end\n"
    "    printf '%s\\n' $argv[4..-1]\n"
    "    # Words of this machine are none of another host.\n"
    "    if not contains -- \"$source\" hosts models; and string match -q -- '--host*' "
    "(commandline -opc)\n"
    "        set source ''\n"
    "    end\n"
    "    if test -n \"$source\"\n"
    "        for word in ($program completion words $source 2>/dev/null)\n"
    "            printf '%s\\n' \"$before$word\"\n"
    "        end\n"
    "    end\n"
    "    if test -n \"$files\"\n"
    "        set -l ending (string replace -r '^[*/]$' '' -- $files | string escape "
    "--style=regex)\n"
    "        if test $files = /\n"
    "            set ending /\n"
    "        end\n"
    "        # A command that has no completions of its own is offered all files.\n"
    "        complete -C \"__dpartui_nothing $token\" | string match -r '.*(?:/|'$ending')$'\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c dpartui -e\n"
    "complete -c dpartui -f\n";

/* The offer is a command between double quotes, whose words stand between single ones. */
static void print_offer(const struct argument *argument)
{
    if (argument_is_free(argument))
        return;
    printf(" -a \"(__dpartui_offer '%s' '%s' '%s'", argument->source ? argument->source : "",
           argument->files ? argument->files : "", argument->list ? "," : "");
    for (size_t i = 0; i < argument->count; i++)
        printf(" '%s'", argument->words[i]);
    printf(")\"");
}

static void print_option(const struct command *command, const struct option *option)
{
    struct argument argument;
    bool takes = argument_of_option(option, &argument);
    printf("complete -c dpartui -n \"__dpartui_command '%s'\" -l %s",
           command->name ? command->name : "", option->name);
    if (takes) {
        printf(option_stands_alone(option) ? " -f" : " -x");
        print_offer(&argument);
    }
    printf(" -d ");
    quote(option->help, FISH_ESCAPED);
    putchar('\n');
}

static void print_command(const struct command *command)
{
    struct argument argument;
    const char *name = command->name ? command->name : "";
    for (const struct option *option = command->options; option->name; option++)
        print_option(command, option);
    print_option(command, &option_host);
    printf("complete -c dpartui -n \"__dpartui_command '%s'\" -s h -l help -d 'show this help'\n",
           name);
    printf("complete -c dpartui -n \"__dpartui_command '%s'\" -l version -d 'show the version'\n",
           name);
    for (size_t i = 0; argument_of_command(command, i, &argument); i++) {
        struct argument other;
        printf("complete -c dpartui -n \"__dpartui_argument '%s' %zu", name, i + 1);
        for (const struct option *option = command->options; option->name; option++)
            if (!option_stands_alone(option) && argument_of_option(option, &other))
                printf(" --%s", option->name);
        printf(" --%s\" -f -k", option_host.name);
        print_offer(&argument);
        putchar('\n');
    }
}

void complete_fish(const struct command *const *commands)
{
    fputs(head, stdout);
    for (size_t i = 1; commands[i]; i++) {
        printf("complete -c dpartui -n __dpartui_first -a %s -d ", commands[i]->name);
        quote(commands[i]->summary, FISH_ESCAPED);
        putchar('\n');
    }
    for (size_t i = 0; commands[i]; i++)
        print_command(commands[i]);
}
