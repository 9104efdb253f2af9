#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(const struct error *error)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "ptxbench: %s\n", error->message);
    if (error->hint[0])
        (void)fprintf(stderr, "hint: %s\n", error->hint);
    return error_exit_status(error->code);
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;

    (void)fflush(stdout);
    (void)fputs("ptxbench: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\nhint: see 'ptxbench %s%s--help'\n", command ? command : "", command ? " " : "");
    return CLI_USAGE;
}

bool cli_use_color(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if ((no_color && *no_color) || !terminal || !strcmp(terminal, "dumb"))
        return false;
    return isatty(fileno(stream));
}

int cli_finish(int status)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    if (errno != EPIPE) /* a reader that has seen enough, such as head, is no trouble */
        (void)fprintf(stderr, "ptxbench: standard output: cannot write: %s\n",
                      errno ? strerror(errno) : "an earlier write failed");
    return CLI_TROUBLE;
}

enum { WORD_MAX = 32 };

/* Levenshtein distance of two words of at most WORD_MAX bytes. */
static size_t edit_distance(const char *left, const char *right)
{
    size_t row[WORD_MAX + 1];
    size_t width = strlen(right);

    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; left[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            size_t best = diagonal + (left[i] != right[j]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[width];
}

long cli_parse_number(struct argp_state *state, const char *option, const char *text, long least, long most)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || !*text || *end || value < least || value > most)
        argp_error(state, "--%s: \"%s\" is not a number from %ld to %ld", option, text, least, most);
    return value;
}

const char *cli_nearest(const char *typed, const char *const *words)
{
    size_t length = strlen(typed);
    size_t best = length < 5 ? 3 : 4; /* at most 2 slips in a short word, 3 in a long one */
    const char *nearest = NULL;

    if (length < 2 || length > WORD_MAX)
        return NULL;
    for (; *words; words++) {
        if (strlen(*words) > WORD_MAX)
            continue;
        size_t distance = edit_distance(typed, *words);
        if (distance < best && distance < length) {
            best = distance;
            nearest = *words;
        }
    }
    return nearest;
}
