/* SPDX-License-Identifier: MIT */
#include "completion/zsh.h"

#include <stdio.h>

#include "completion/argument.h"
#include "completion/quote.h"

static const char head[] =
    "#compdef dpartui\n"
    "# SPDX-License-Identifier: MIT\n"
    "#\n"
    "# zsh completion for dpartui.\n"
    "# Made by 'dpartui completion zsh' from the program's own tables: change those.\n"
    "\n"
    "# Offer an argument: SOURCE (words that only the machine knows), FILES ('*': any, '/': "
    "folders,\n"
    "# else their ending), LIST (not empty: with commas), and fixed words.\n"
    "_dpartui_offer() {\n"
    "    local source=$1 files=$2 list=$3 line word ret=1\n"
    "    local -a asked whole open\n"
    "    shift 3\n"
    "    for word; do\n"
    "        [[ $word == *: ]] && open+=(\"$word\") || whole+=(\"$word\")\n"
    "    done\n"
    "    (( ! $#whole )) || { compadd -a whole && ret=0 }\n"
    "    (( ! $#open )) || { compadd -S '' -a open && ret=0 }\n"
    "    [[ -z $list ]] || compset -P '*,'\n"
    "    # Words of this machine are none of another host.\n"
    "    if [[ -n $source && (-z $far || $source == (hosts|models)) ]]; then\n"
    "        for line in ${(f)\"$($dpartui completion words $source 2>/dev/null)\"}; do\n"
    "            asked+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "        done\n"
    "    fi\n"
    "    (( ! $#asked )) || { _describe -V -t words word asked && ret=0 }\n"
    "    case $files in\n"
    "        '') ;;\n"
    "        '*') _files && ret=0 ;;\n"
    "        /) _files -/ && ret=0 ;;\n"
    "        *) _files -g \"*$files\" && ret=0 ;;\n"
    "    esac\n"
    "    return ret\n"
    "}\n"
    "\n"
    "_dpartui() {\n"
    "    local curcontext=$curcontext dpartui=${(Q)words[1]} command=\n"
    "    local far=${words[(r)--host*]}\n"
    "    dpartui=${dpartui/#\\~\\//$HOME/}\n"
    "    # Before the command it is as good as after it.\n"
    "    if [[ $words[2] == --host ]] && (( CURRENT > 3 )); then\n"
    "        words[2,3]=()\n"
    "        (( CURRENT -= 2 ))\n"
    "    elif [[ $words[2] == --host=* ]] && (( CURRENT > 2 )); then\n"
    "        words[2]=()\n"
    "        (( CURRENT-- ))\n"
    "    fi\n"
    "    if [[ $words[2] != -* ]]; then\n"
    "        if (( CURRENT == 2 )); then\n"
    "            local -a commands=(\n";

static const char middle[] = "            )\n"
                             "            _describe -t commands command commands\n"
                             "            return\n"
                             "        fi\n"
                             "        command=$words[2]\n"
                             "        curcontext=${curcontext%:*:*}:dpartui-$command:\n"
                             "        shift words\n"
                             "        (( CURRENT-- ))\n"
                             "    fi\n"
                             "    case $command in\n";

static const char tail[] = "        *) _message \"there is no command $command\" ;;\n"
                           "    esac\n"
                           "}\n"
                           "\n"
                           "_dpartui \"$@\"\n";

/* ":NAME:ACTION" within a specification of _arguments. Colons and backslashes of the action mean
 * something to _arguments, and its words are a command of the shell. */
static void print_argument(const struct argument *argument)
{
    putchar(':');
    quote_part(argument->name, ":\\");
    putchar(':');
    if (argument_is_free(argument)) {
        putchar(' ');
        return;
    }
    /* Quotes within quotes: each is '\'' there. */
    printf(" _dpartui_offer '\\''%s'\\'' '\\''%s'\\'' '\\''%s'\\''",
           argument->source ? argument->source : "", argument->files ? argument->files : "",
           argument->list ? "," : "");
    for (size_t i = 0; i < argument->count; i++) {
        putchar(' ');
        quote_part(argument->words[i], ":\\");
    }
}

static void print_option(const struct option *option)
{
    struct argument argument;
    bool takes = argument_of_option(option, &argument);
    printf("                '--%s%s[", option->name,
           !takes                        ? ""
           : option_stands_alone(option) ? "=-"
                                         : "=");
    quote_part(option->help, "[]\\:");
    putchar(']');
    if (option_stands_alone(option))
        putchar(':');
    if (takes)
        print_argument(&argument);
    printf("' \\\n");
}

static void print_command(const struct command *command)
{
    struct argument argument;
    printf("        '%s')\n            _arguments -S : \\\n", command->name ? command->name : "");
    for (const struct option *option = command->options; option->name; option++)
        print_option(option);
    print_option(&option_host);
    for (size_t i = 0; argument_of_command(command, i, &argument); i++) {
        printf("                '%zu", i + 1);
        print_argument(&argument);
        printf("' \\\n");
    }
    printf("                '(- *)'{-h,--help}'[show this help]' \\\n"
           "                '(- *)--version[show the version]'\n"
           "            ;;\n");
}

void complete_zsh(const struct command *const *commands)
{
    fputs(head, stdout);
    for (size_t i = 1; commands[i]; i++) {
        printf("                '%s:", commands[i]->name);
        quote_part(commands[i]->summary, "\\");
        printf("'\n");
    }
    fputs(middle, stdout);
    for (size_t i = 0; commands[i]; i++)
        print_command(commands[i]);
    fputs(tail, stdout);
}
