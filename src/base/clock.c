#include "base/clock.h"

#include <time.h>

int64_t clock_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void clock_sleep_ns(int64_t duration_ns)
{
    struct timespec left = {.tv_sec = duration_ns / 1000000000, .tv_nsec = duration_ns % 1000000000};

    while (duration_ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left))
        continue;
}

void clock_utc_text(char out[32])
{
    time_t now = time(NULL);
    struct tm parts;

    (void)gmtime_r(&now, &parts);
    (void)strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
