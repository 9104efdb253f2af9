/* Writes the tables of a report in the format that was asked for. */
#ifndef PTXBENCH_CLI_REPORT_OUTPUT_H
#define PTXBENCH_CLI_REPORT_OUTPUT_H

#include "report/report.h"

/* `tables` ends with NULL. To `path`, complete or not at all; NULL: standard output. CSV holds one table: several are
 * ERROR_USAGE. JSON is a ptxbench.report.v1 object, with options and warnings. */
MUST_CHECK bool report_output(struct table *const *tables, const struct turn_set *set,
                              const struct report_options *options, enum table_format format, const char *path,
                              struct error *error);

#endif
