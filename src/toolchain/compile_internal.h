/* Shared by the compile_*.c files: the command, and the files of a cache entry. */
#ifndef PTXBENCH_TOOLCHAIN_COMPILE_INTERNAL_H
#define PTXBENCH_TOOLCHAIN_COMPILE_INTERNAL_H

#include "base/process.h"
#include "toolchain/compile.h"

/* Names inside a cache entry. */
#define ENTRY_RESULT "result.json"
#define ENTRY_OBJECT "object.so"
#define ENTRY_LOG "log.txt"
#define ENTRY_DEPENDENCIES "dependencies.txt"
#define ENTRY_PTX "module.ptx"
#define ENTRY_EXPANDED "expanded.cu"

/* One compilation: its folders and what came out. Everything is absolute and in the arena. */
struct compile_job {
    struct arena *arena;
    const struct toolchain *toolchain;
    const struct compile_request *request; /* defaults filled in, binding resolved */
    const char *cache_root;
    char key[HASH_TEXT_BYTES];

    const char *workspace; /* holds the folders below; removed at the end */
    const char *source;    /* the candidate's files; working directory */
    const char *temporary; /* TMPDIR and nvcc's intermediate files */
    const char *entry;     /* becomes the cache entry */

    struct compile_output {
        enum compile_status status;
        bool cacheable;
        int64_t wall_ns;
        const char *limit; /* which one, for COMPILE_LIMIT */
        const char *log;
        size_t log_dropped_bytes;
        const char *const *dependencies;
        size_t dependency_count;
        const char *ptx;
        size_t ptx_length;
        const char *expanded;
        size_t expanded_length;
        char object_hash[HASH_TEXT_BYTES]; /* empty without object */
    } output;
};

/* compile_command.c */

/* Hashes what decides the result into job->key. */
MUST_CHECK bool compile_make_key(struct compile_job *job, struct error *error);

/* Creates the workspace, runs nvcc in it, and fills job->output. */
MUST_CHECK bool compile_build(struct compile_job *job, struct error *error);

/* compile_capture.c: pure text work on what the tools leave behind */

/* Printable text with every `from` (a folder with slash) removed; in the arena. */
char *compile_clean_text(struct arena *arena, const char *text, size_t length, const char *const *from);

/* Files named by a make rule "target : a b \" ... */
void compile_parse_dependencies(struct arena *arena, const char *text, size_t length, const char *const **out,
                                size_t *count);

/* Lines of preprocessed text that come from the candidate's files (relative, or below `folder`); `#line` hides none. */
char *compile_own_lines(struct arena *arena, const char *text, size_t length, const char *folder, size_t *out_length);

/* compile_entry.c */

/* Writes the files of the entry into job->entry. */
MUST_CHECK bool compile_entry_write(const struct compile_job *job, struct error *error);

/* Reads an entry into job->output. False when it is missing or damaged. */
bool compile_entry_read(struct compile_job *job, const char *folder);

#endif
