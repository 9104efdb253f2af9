/* Log lines on standard error: "ptxbench: warning: text". The level is the only global state. Thread-safe. */
#ifndef PTXBENCH_BASE_LOG_H
#define PTXBENCH_BASE_LOG_H

#include "base/attributes.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level); /* default LOG_WARNING; $PTXBENCH_LOG overrides at first use */
void log_message(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
