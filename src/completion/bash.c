/* SPDX-License-Identifier: MIT */
#include "completion/bash.h"

#include <stdio.h>

#include "completion/argument.h"
#include "completion/quote.h"
#include "completion/words.h"

/* Nothing but what bash itself has since version 4.3. */
static const char head[] =
    "# SPDX-License-Identifier: MIT\n"
    "# shellcheck shell=bash\n"
    "#\n"
    "# bash completion for dpartui.\n"
    "# Made by 'dpartui completion bash' from the program's own tables: change those.\n"
    "\n"
    "# $1 without its quotes, of which the last may still be open, in `plain`.\n"
    "_dpartui_plain()\n"
    "{\n"
    "    local text=$1 quote='' char i\n"
    "    plain=\n"
    "    for ((i = 0; i < ${#text}; i++)); do\n"
    "        char=${text:i:1}\n"
    "        if [[ -n $quote && $char == \"$quote\" ]]; then\n"
    "            quote=\n"
    "        elif [[ -z $quote && $char == [\\\"\\'] ]]; then\n"
    "            quote=$char\n"
    "        elif [[ $char == \\\\ && $quote != \\' ]]; then\n"
    "            ((++i))\n"
    "            plain+=${text:i:1}\n"
    "        else\n"
    "            plain+=$char\n"
    "        fi\n"
    "    done\n"
    "}\n"
    "\n"
    "# The command line up to the cursor in `words`, put together again where bash broke a word "
    "at\n"
    "# ':' or '='. `kept` is what of the last one stays as it is.\n"
    "_dpartui_split()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} piece i\n"
    "    words=() kept=\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        piece=${COMP_WORDS[i]}\n"
    "        if ((i == 0)) || [[ $line == [[:space:]]* ]]; then\n"
    "            words+=('')\n"
    "            line=${line#\"${line%%[![:space:]]*}\"}\n"
    "        fi\n"
    "        ((i < COMP_CWORD)) || piece=$line\n"
    "        kept=${words[-1]}\n"
    "        words[-1]+=$piece\n"
    "        line=${line#\"$piece\"}\n"
    "    done\n"
    "    [[ $piece == *[!:=]* ]] || kept=${words[-1]}\n"
    "}\n"
    "\n"
    "_dpartui_words()\n"
    "{\n"
    "    local word\n"
    "    for word; do\n"
    "        [[ $word != \"$value\"* ]] || COMPREPLY+=(\"$before$word\")\n"
    "    done\n"
    "}\n"
    "\n"
    "# Words that only the machine knows, if it is the one that is asked. Where bash only lists "
    "them, with what they are.\n"
    "_dpartui_ask()\n"
    "{\n"
    "    local line program\n"
    "    [[ -z $far || $1 == @(hosts|models) ]] || return 0\n"
    "    _dpartui_plain \"${words[0]}\"\n"
    "    program=${plain/#'~/'/\"$HOME/\"}\n"
    "    compopt -o nosort 2>/dev/null\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $1 == *runs && ${COMP_TYPE:-9} == @(33|63|64) ]]; then\n"
    "            _dpartui_words \"${line/$'\\t'/  }\"\n"
    "        else\n"
    "            _dpartui_words \"${line%%$'\\t'*}\"\n"
    "        fi\n"
    "    done < <(\"$program\" completion words \"$1\" 2>/dev/null)\n"
    "}\n"
    "\n"
    "# Of a list with commas, the item after the last of them.\n"
    "_dpartui_list()\n"
    "{\n"
    "    [[ $value != *,* ]] || before+=${value%,*},\n"
    "    value=${value##*,}\n"
    "}\n"
    "\n"
    "# Folders, and files whose names end in $1; '*': any, '/': none.\n"
    "_dpartui_files()\n"
    "{\n"
    "    local name\n"
    "    compopt -o filenames\n"
    "    while IFS= read -r name; do\n"
    "        if [[ $1 == '*' || -d ${name/#'~/'/\"$HOME/\"} || ($1 != / && $name == *\"$1\") ]]; "
    "then\n"
    "            COMPREPLY+=(\"$before$name\")\n"
    "        fi\n"
    "    done < <(compgen -f -- \"$value\")\n"
    "}\n"
    "\n";

static const char tail[] =
    "_dpartui()\n"
    "{\n"
    "    local words kept plain word value takes i count=0\n"
    "    local before='' command='' option='' ended='' far='' options=()\n"
    "    COMPREPLY=()\n"
    "    _dpartui_split\n"
    "    _dpartui_plain \"$kept\"\n"
    "    kept=$plain\n"
    "    [[ ${words[*]} != *' --host'[\\ =]* ]] || far=yes\n"
    "    # Before the command it is as good as after it.\n"
    "    if [[ ${words[1]} == --host && ${#words[@]} -gt 3 ]]; then\n"
    "        words=(\"${words[0]}\" \"${words[@]:3}\")\n"
    "    elif [[ ${words[1]} == --host=* && ${#words[@]} -gt 2 ]]; then\n"
    "        words=(\"${words[0]}\" \"${words[@]:2}\")\n"
    "    fi\n"
    "    [[ ${#words[@]} -le 2 || ${words[1]} == -* ]] || command=${words[1]}\n"
    "    _dpartui_options \"$command\" || return\n"
    "    for ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
    "        word=${words[i]}\n"
    "        if [[ -n $option ]]; then\n"
    "            option=\n"
    "        elif [[ -n $ended || $word != -?* ]]; then\n"
    "            ((++count))\n"
    "        elif [[ $word == -- ]]; then\n"
    "            ended=yes\n"
    "        elif [[ \" $takes \" == *\" $word \"* ]]; then\n"
    "            option=$word\n"
    "        fi\n"
    "    done\n"
    "    _dpartui_plain \"${words[-1]}\"\n"
    "    value=$plain\n"
    "    if [[ -n $option ]]; then\n"
    "        _dpartui_argument \"$command $option\"\n"
    "    elif [[ -z $ended && $value == --*=* ]]; then\n"
    "        before=${value%%=*}=\n"
    "        value=${value#*=}\n"
    "        _dpartui_argument \"$command ${before%=}\"\n"
    "    elif [[ -z $ended && $value == -* ]]; then\n"
    "        _dpartui_words \"${options[@]}\"\n"
    "    elif [[ -n $command ]]; then\n"
    "        _dpartui_argument \"$command $count\"\n"
    "    elif ((${#words[@]} == 2)); then\n"
    "        _dpartui_words \"${_dpartui_commands[@]}\"\n"
    "    fi\n"
    "    for i in \"${!COMPREPLY[@]}\"; do\n"
    "        [[ ${COMPREPLY[i]} != *: ]] || compopt -o nospace\n"
    "        COMPREPLY[i]=${COMPREPLY[i]#\"$kept\"}\n"
    "    done\n"
    "}\n"
    "\n"
    "complete -F _dpartui dpartui\n";

static const char *command_name(const struct command *command)
{
    return command->name ? command->name : "";
}

static void print_options(const struct command *command)
{
    struct argument argument;
    printf("    '%s')\n        options=(", command_name(command));
    for (const struct option *option = command->options; option->name; option++)
        printf("--%s ", option->name);
    printf("--host --help --version)\n        takes='");
    for (const struct option *option = command->options; option->name; option++)
        if (!option_stands_alone(option) && argument_of_option(option, &argument))
            printf("--%s ", option->name);
    printf("--host'\n        ;;\n");
}

static void print_argument(const struct argument *argument)
{
    putchar('\n');
    if (argument->count) {
        printf("        _dpartui_words");
        for (size_t i = 0; i < argument->count; i++) {
            putchar(' ');
            quote(argument->words[i], "");
        }
        putchar('\n');
    }
    if (argument->list)
        printf("        _dpartui_list\n");
    if (argument->source)
        printf("        _dpartui_ask %s\n", argument->source);
    if (argument->files) {
        printf("        _dpartui_files ");
        quote(argument->files, "");
        putchar('\n');
    }
    printf("        ;;\n");
}

static void print_arguments(const struct command *command)
{
    struct argument argument;
    for (const struct option *option = command->options; option->name; option++)
        if (argument_of_option(option, &argument) && !argument_is_free(&argument)) {
            printf("    '%s --%s')", command_name(command), option->name);
            print_argument(&argument);
        }
    for (size_t i = 0; argument_of_command(command, i, &argument); i++)
        if (!argument_is_free(&argument)) {
            /* The command itself is the first word that is no option. */
            printf("    '%s %zu')", command_name(command), i + 1);
            print_argument(&argument);
        }
}

void complete_bash(const struct command *const *commands)
{
    fputs(head, stdout);
    printf("# The options of command $1, and those that take an argument.\n"
           "_dpartui_options()\n{\n    case $1 in\n");
    for (size_t i = 0; commands[i]; i++)
        print_options(commands[i]);
    printf("    *)\n        return 1\n        ;;\n    esac\n}\n\n"
           "# Offer the argument of an option, or a command's own: $1 is 'COMMAND --OPTION' or\n"
           "# 'COMMAND NUMBER'.\n"
           "_dpartui_argument()\n{\n    case $1 in\n");
    for (size_t i = 0; commands[i]; i++)
        print_arguments(commands[i]);
    printf("    *' --host')\n        _dpartui_ask " WORDS_HOSTS "\n        ;;\n"
           "    esac\n}\n\n_dpartui_commands=(");
    for (size_t i = 1; commands[i]; i++)
        printf("%s%s", i > 1 ? " " : "", commands[i]->name);
    printf(")\n\n");
    fputs(tail, stdout);
}
