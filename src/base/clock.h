/* Time: monotonic nanoseconds for durations, UTC text for records. */
#ifndef PTXBENCH_BASE_CLOCK_H
#define PTXBENCH_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);

/* Sleeps; returns at once for 0 or less. */
void clock_sleep_ns(int64_t duration_ns);

/* "2026-08-01T12:00:00Z" into `out` (at least 21 bytes). */
void clock_utc_text(char out[32]);

#endif
