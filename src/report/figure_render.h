/* Figures as files: SVG, PDF and PNG, painted by gnuplot. */
#ifndef PTXBENCH_REPORT_FIGURE_RENDER_H
#define PTXBENCH_REPORT_FIGURE_RENDER_H

#include "report/figure.h"

#define FIGURE_FORMATS(X)                                                                                              \
    X(FIGURE_AS_SVG, "svg")                                                                                            \
    X(FIGURE_AS_PDF, "pdf")                                                                                            \
    X(FIGURE_AS_PNG, "png")

enum figure_format {
#define X(name, text) name,
    FIGURE_FORMATS(X)
#undef X
        FIGURE_FORMAT_COUNT
};

const char *figure_format_text(enum figure_format format);

/* Writes ID.svg, ID.pdf and ID.png for each figure into `folder`, which is made when it is missing; `formats` is a set
 * of 1 << enum figure_format. Each file is complete or absent. ERROR_TOOL with a remedy when gnuplot is missing, cannot
 * write a format, or fails. */
MUST_CHECK bool figures_render(const struct figures *figures, const char *folder, unsigned formats,
                               struct error *error);

#endif
