/* Parts of the extractor: blocks of an answer (extract_blocks.c), what is in a block (extract_syntax.c, extract_wrapped.c). */
#ifndef PTXBENCH_AGENT_EXTRACT_INTERNAL_H
#define PTXBENCH_AGENT_EXTRACT_INTERNAL_H

#include "agent/extract.h"
#include "base/record.h"

/* What the word behind a fence says. */
enum tag_class {
    TAG_NONE,   /* no word */
    TAG_CUDA,   /* cpp, cuda, c++, cu, c, ... */
    TAG_PYTHON, /* python, py, triton */
    TAG_PROSE,  /* markdown, text: may wrap other blocks */
    TAG_OTHER,  /* bash, json, ptx, diff, ...: known, but no kernel source */
    TAG_UNKNOWN
};

enum tag_class extract_tag_class(const char *tag);

/* A block as found: fenced, or a stretch of code without fences. */
struct scan_block {
    struct text_span code; /* arena; without indentation of the fence */
    const char *tag;
    const char *file;       /* file name given for it in the info string or the lines before; NULL: none */
    struct text_span intro; /* up to 240 bytes of the text before it */
    bool fenced;
    bool closed;
    bool thinking;
};

struct scan {
    struct arena *arena;
    enum extract_language language;
    RECORD_LIST(struct scan_block) blocks;
    int fenced;           /* of blocks */
    bool ends_in_thought; /* a thinking part is not closed */
};

/* Finds the blocks of a normalised answer. */
void extract_scan_answer(struct scan *scan, struct text_span answer);

/* Where a C++ lexer stands. Zero: at the start of a file. */
enum lex_state {
    LEX_CODE,
    LEX_LINE_COMMENT,
    LEX_BLOCK_COMMENT,
    LEX_STRING,
    LEX_CHARACTER,
    LEX_RAW_STRING,
    LEX_DISABLED /* behind #if 0 */
};

struct lexer {
    enum lex_state state;
    int depth;        /* open brackets of all kinds; below 0: more closed than opened */
    int lowest;       /* smallest depth so far */
    char raw_end[20]; /* ")delimiter\"" of the raw string */
    bool entry;       /* markers seen outside comments and strings */
    bool kernel;
    bool launch;
    bool elided;         /* a comment says that something is left out */
    int branch_depth[8]; /* at the #if of each open conditional: the other branch starts there again */
    int branches;
    int disabled; /* conditionals open inside an #if 0, itself included */
    bool line_begin;
    char previous; /* last character of code that is no blank */
};

/* Reads whole lines (or the last piece of a text). */
void lexer_read(struct lexer *lexer, const char *text, size_t length);

/* Facts of a whole block. */
struct syntax {
    bool entry;
    bool kernel;
    bool launch;
    bool whole;  /* brackets, comments and strings closed */
    bool elided; /* "... as before" */
    bool codelike;
};

struct syntax extract_syntax(struct text_span code, enum extract_language language);

/* Bytes of `text` up to the end of its last line of code, when what follows is prose; else all of it. */
size_t extract_code_extent(const char *text, size_t length);

/* Offset of the first line of code, or `length`. */
size_t extract_code_begin(const char *text, size_t length);

/* Code in another wrapping: a shell here-document, a string of a JSON object, a Python string. False: not wrapped so. */
bool extract_heredoc(struct arena *arena, struct text_span block, struct text_span *code);
bool extract_json_string(struct arena *arena, struct text_span text, struct text_span *code);
bool extract_python_string(struct arena *arena, struct text_span block, struct text_span *code);

/* Code without HTML entities or line numbers; the text itself when there are none. */
struct text_span extract_without_entities(struct arena *arena, struct text_span code);
struct text_span extract_without_numbers(struct arena *arena, struct text_span code);

/* With the escapes of C and JSON strings resolved. */
struct text_span extract_unescape(struct arena *arena, struct text_span text);

/* Substring search in a span; NULL when absent. */
const char *span_find(struct text_span span, const char *needle);
bool span_starts(struct text_span span, const char *prefix);

/* The line at `*offset` without its newline; moves behind it. False at the end. */
bool span_next_line(struct text_span text, size_t *offset, struct text_span *line);
struct text_span span_trim(struct text_span span);

#endif
