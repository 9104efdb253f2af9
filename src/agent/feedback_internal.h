/* Parts of a feedback: quoting (feedback_quote.c), compiler (feedback_compile.c), findings and outputs (feedback_run.c), speed
 * and target instructions (feedback_speed.c). Each part appends whole lines. */
#ifndef PTXBENCH_AGENT_FEEDBACK_INTERNAL_H
#define PTXBENCH_AGENT_FEEDBACK_INTERNAL_H

#include "agent/feedback.h"
#include "base/buffer.h"

struct report {
    const struct verdict *verdict;
    const struct feedback_options *options;
    const char *source; /* NULL: unknown */
    char tag[FEEDBACK_TAG_BYTES];
    struct buffer *out;    /* of the part that is written */
    int shown_line;        /* of the last excerpt; it is not repeated at once */
    const char *last_hint; /* likewise */
};

/* "TAG| line" for each line of a text that the candidate may have decided; at most `lines` of them. */
void quote_text(struct report *report, const char *text, size_t length, size_t lines);

/* One line; its line ends become blanks. */
void quote_line(struct report *report, const char *text);

/* The source around `line`, with a caret under `column` (0: none); nothing when the file is not the source. */
void quote_source(struct report *report, const char *file, int line, int column);

/* "   Try: ..." unless it is NULL or was the last one. */
void put_hint(struct report *report, const char *hint);

/* A name in our own text: only characters of identifiers, paths and C++ names, at most 120 bytes. */
const char *safe_name(struct report *report, char text[128], const char *name);

void feedback_compile_errors(struct report *report);
void feedback_compile_remarks(struct report *report); /* advisories, warnings, spills */
void feedback_findings(struct report *report);
void feedback_outputs(struct report *report);
void feedback_speed(struct report *report);
void feedback_target(struct report *report);
void feedback_program_output(struct report *report);

/* Whether the messages of the compiler say it better than this finding. */
bool feedback_is_compiler_finding(const struct verdict *verdict, const struct finding *finding);

#endif
