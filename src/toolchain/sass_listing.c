/* The text of `nvdisasm -c`: sections, labels, and one instruction a line behind its offset. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "toolchain/sass_internal.h"

enum { OPCODE_BYTES_MAX = 128, NAME_BYTES_MAX = 16 * 1024, INSTRUCTIONS_MAX = 1 << 24, FUNCTIONS_MAX = 65536 };

/* Opcodes repeat: each text is stored once. */
struct opcode_pool {
    struct arena *arena;
    const char **slots;
    size_t capacity; /* power of two */
    size_t count;
};

struct listing {
    struct arena *arena;
    struct sass_report *report;
    struct opcode_pool pool;
    struct sass_function *function; /* whose section we are in, or NULL */
    size_t function_capacity;
    size_t instruction_capacity;
    size_t symbol_capacity;
    uint32_t cubin;
    uint32_t next_offset;
};

static size_t hash_text(const char *text, size_t length)
{
    size_t hash = 1469598103934665603ull;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
    return hash;
}

static void *grow(struct arena *arena, void *old, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return old;
    *capacity = *capacity ? 2 * *capacity : 64;
    void *grown = arena_calloc(arena, *capacity, size);
    if (count)
        memcpy(grown, old, count * size);
    return grown;
}

static void rehash(struct opcode_pool *pool)
{
    size_t capacity = pool->capacity ? 2 * pool->capacity : 256;
    const char **slots = arena_calloc(pool->arena, capacity, sizeof *slots);

    for (size_t i = 0; i < pool->capacity; i++) {
        if (!pool->slots[i])
            continue;
        size_t at = hash_text(pool->slots[i], strlen(pool->slots[i])) & (capacity - 1);
        while (slots[at])
            at = (at + 1) & (capacity - 1);
        slots[at] = pool->slots[i];
    }
    pool->slots = slots;
    pool->capacity = capacity;
}

static const char *intern(struct opcode_pool *pool, const char *text, size_t length)
{
    if (2 * pool->count >= pool->capacity)
        rehash(pool);
    size_t at = hash_text(text, length) & (pool->capacity - 1);
    for (; pool->slots[at]; at = (at + 1) & (pool->capacity - 1))
        if (strlen(pool->slots[at]) == length && memcmp(pool->slots[at], text, length) == 0)
            return pool->slots[at];
    pool->count++;
    return pool->slots[at] = arena_strndup(pool->arena, text, length);
}

static bool start_function(struct listing *listing, const char *name, size_t length, struct error *error)
{
    struct sass_report *report = listing->report;

    if (report->count >= FUNCTIONS_MAX)
        return error_set(error, ERROR_LIMIT, "disassembly: more than %d functions", FUNCTIONS_MAX);
    report->functions =
        grow(listing->arena, report->functions, report->count, &listing->function_capacity, sizeof *report->functions);
    listing->function = &report->functions[report->count++];
    *listing->function =
        (struct sass_function){.name = arena_strndup(listing->arena, name, length), .cubin = listing->cubin};
    listing->instruction_capacity = 0;
    listing->next_offset = 0;
    return true;
}

/* A label that names a function inside the current section. */
static void add_symbol(struct listing *listing, const char *name, size_t length)
{
    struct sass_report *report = listing->report;
    struct sass_function *function = listing->function;

    if (strlen(function->name) == length && memcmp(function->name, name, length) == 0)
        return;
    /* nvcc writes "$KERNEL$FUNCTION" for a function that it placed into a kernel's section. */
    size_t prefix = strlen(function->name) + 2;
    if (length > prefix && name[0] == '$' && name[prefix - 1] == '$' &&
        memcmp(name + 1, function->name, prefix - 2) == 0) {
        name += prefix;
        length -= prefix;
    }
    report->symbols =
        grow(listing->arena, report->symbols, report->symbol_count, &listing->symbol_capacity, sizeof *report->symbols);
    report->symbols[report->symbol_count++] = (struct sass_symbol){
        .name = arena_strndup(listing->arena, name, length),
        .function = (size_t)(function - report->functions),
        .offset = listing->next_offset,
    };
}

/* Skips "@!UP0 " and "{"; returns the opcode's start and length, length 0 when there is none. */
static const char *find_opcode(const char *text, const char *end, size_t *length)
{
    const char *at = text;

    *length = 0;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '{'))
        at++;
    if (at < end && *at == '@') {
        while (at < end && *at != ' ')
            at++;
        while (at < end && *at == ' ')
            at++;
    }
    const char *stop = at;
    while (stop < end && stop - at < OPCODE_BYTES_MAX &&
           ((*stop >= 'A' && *stop <= 'Z') || (*stop >= 'a' && *stop <= 'z') || (*stop >= '0' && *stop <= '9') ||
            *stop == '.' || *stop == '_'))
        stop++;
    if (stop > at && *at >= 'A' && *at <= 'Z')
        *length = (size_t)(stop - at);
    return at;
}

static bool take_instruction(struct listing *listing, const char *line, const char *end, struct error *error)
{
    struct sass_function *function = listing->function;
    const char *close = memmem(line + 2, (size_t)(end - line) - 2, "*/", 2);
    char digits[17] = {0}, *digits_end;
    size_t length;

    if (!function || !close || close - (line + 2) > 16)
        return true;
    memcpy(digits, line + 2, (size_t)(close - line - 2));
    unsigned long long offset = strtoull(digits, &digits_end, 16);
    if (*digits_end || digits_end == digits || offset > UINT32_MAX - 16)
        return true;
    const char *opcode = find_opcode(close + 2, end, &length);
    if (!length || (function->count && offset <= function->instructions[function->count - 1].offset))
        return true; /* the second half of an encoding, or no listing of ours */
    if (function->count >= INSTRUCTIONS_MAX)
        return error_set(error, ERROR_LIMIT, "disassembly: more than %d instructions in %s", INSTRUCTIONS_MAX,
                         function->name);
    function->instructions = grow(listing->arena, function->instructions, function->count,
                                  &listing->instruction_capacity, sizeof *function->instructions);
    function->instructions[function->count++] =
        (struct sass_instruction){.offset = (uint32_t)offset, .opcode = intern(&listing->pool, opcode, length)};
    listing->next_offset = (uint32_t)offset + 16;
    return true;
}

/* "\t.section\t.text.NAME,..." opens a function, any other section closes it. */
static bool take_section(struct listing *listing, const char *at, const char *end, struct error *error)
{
    static const char mark[] = ".text.";
    size_t length = sizeof mark - 1;

    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    const char *comma = memchr(at, ',', (size_t)(end - at));
    listing->function = NULL;
    if (!comma || comma - at <= (ptrdiff_t)length || comma - at > NAME_BYTES_MAX || memcmp(at, mark, length) != 0)
        return true;
    return start_function(listing, at + length, (size_t)(comma - at) - length, error);
}

static bool take_line(struct listing *listing, const char *line, const char *end, struct error *error)
{
    static const char section[] = ".section";
    const char *at = line;

    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (end - at >= 4 && at[0] == '/' && at[1] == '*')
        return take_instruction(listing, at, end, error);
    if (end - at > (ptrdiff_t)sizeof section && memcmp(at, section, sizeof section - 1) == 0)
        return take_section(listing, at + sizeof section - 1, end, error);
    if (at != line || end - at < 2 || end[-1] != ':' || end - at > NAME_BYTES_MAX || *at == '.')
        return true;
    if (listing->function)
        add_symbol(listing, at, (size_t)(end - at) - 1);
    return true;
}

bool sass_parse_listing(struct arena *arena, const char *text, size_t length, uint32_t cubin, struct sass_report *out,
                        struct error *error)
{
    struct listing listing = {
        .arena = arena,
        .report = out,
        .pool = {.arena = arena},
        .cubin = cubin,
        .function_capacity = out->count,
        .symbol_capacity = out->symbol_count,
    };

    for (const char *at = text, *end = text + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (!take_line(&listing, at, stop, error))
            return false;
        at = stop + 1;
    }
    return true;
}
