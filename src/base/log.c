#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

static enum log_level current_level = LOG_WARNING;
static const char *const level_names[] = {"error", "warning", "info", "debug"};

void log_set_level(enum log_level level)
{
    current_level = level;
}

static void read_environment(void)
{
    static bool done;
    const char *wish = done ? NULL : getenv("PTXBENCH_LOG");

    done = true;
    for (size_t i = 0; wish && i < ARRAY_LEN(level_names); i++)
        if (!strcmp(wish, level_names[i]))
            current_level = (enum log_level)i;
}

void log_message(enum log_level level, const char *format, ...)
{
    char line[2048];
    va_list args;

    read_environment();
    if (level > current_level)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    (void)fprintf(stderr, "ptxbench: %s: %s\n", level_names[level], line);
}
