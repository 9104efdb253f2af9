/* Writes the tables of a report in the format that was asked for. */
#ifndef PTXBENCH_CLI_REPORT_OUTPUT_H
#define PTXBENCH_CLI_REPORT_OUTPUT_H

#include "report/report.h"

struct report_output {
    struct table *const *tables; /* NULL behind the last */
    const struct turn_set *set;
    const struct report *report; /* NULL: the tables are not of one */
    const struct report_options *options;
    enum table_format format;
    const char *title; /* of a page */
    const char *path;  /* NULL: standard output */
};

/* Writes completely or not at all. CSV holds one table: several are ERROR_USAGE. JSON is a ptxbench.report.v1 object,
 * with options and warnings. */
MUST_CHECK bool report_output(const struct report_output *output, struct error *error);

#endif
