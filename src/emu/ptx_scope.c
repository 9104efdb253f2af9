#include "emu/ptx_scope.h"

#include <string.h>

struct ptx_scopes {
    struct arena *arena;
    struct ptx_symbol **buckets; /* each chain: innermost first */
    size_t bucket_count;         /* a power of two */
    size_t symbol_count;
    uint32_t depth;
    struct ptx_symbol *members[PTX_SCOPE_DEPTH_MAX];
};

enum { RANGE_DIGITS_MAX = 10 };

static size_t hash_name(const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

struct ptx_scopes *ptx_scopes_new(struct arena *arena)
{
    struct ptx_scopes *scopes = arena_alloc(arena, sizeof *scopes);

    scopes->arena = arena;
    scopes->bucket_count = 64;
    scopes->buckets = arena_calloc(arena, scopes->bucket_count, sizeof(struct ptx_symbol *));
    return scopes;
}

bool ptx_scope_open(struct ptx_scopes *scopes)
{
    if (scopes->depth + 1 >= PTX_SCOPE_DEPTH_MAX)
        return false;
    scopes->members[++scopes->depth] = NULL;
    return true;
}

static struct ptx_symbol **bucket_of(struct ptx_scopes *scopes, const char *name, size_t length)
{
    return &scopes->buckets[hash_name(name, length) & (scopes->bucket_count - 1)];
}

void ptx_scope_close(struct ptx_scopes *scopes)
{
    if (!scopes->depth)
        return;
    for (struct ptx_symbol *symbol = scopes->members[scopes->depth]; symbol; symbol = symbol->next_in_scope) {
        struct ptx_symbol **link = bucket_of(scopes, symbol->name, strlen(symbol->name));
        while (*link != symbol)
            link = &(*link)->next_in_bucket;
        *link = symbol->next_in_bucket;
        scopes->symbol_count--;
    }
    scopes->depth--;
}

uint32_t ptx_scope_depth(const struct ptx_scopes *scopes)
{
    return scopes->depth;
}

static void link_symbol(struct ptx_scopes *scopes, struct ptx_symbol *symbol)
{
    struct ptx_symbol **link = bucket_of(scopes, symbol->name, strlen(symbol->name));

    while (*link && (*link)->depth > symbol->depth)
        link = &(*link)->next_in_bucket;
    symbol->next_in_bucket = *link;
    *link = symbol;
}

static void grow(struct ptx_scopes *scopes)
{
    struct ptx_symbol **old = scopes->buckets;
    size_t old_count = scopes->bucket_count;

    scopes->bucket_count *= 4;
    scopes->buckets = arena_calloc(scopes->arena, scopes->bucket_count, sizeof(struct ptx_symbol *));
    for (size_t i = 0; i < old_count; i++)
        for (struct ptx_symbol *symbol = old[i], *next; symbol; symbol = next) {
            next = symbol->next_in_bucket;
            link_symbol(scopes, symbol);
        }
}

static struct ptx_symbol *add(struct ptx_scopes *scopes, uint32_t depth, const char *name, size_t length,
                              enum ptx_symbol_kind kind, uint32_t value)
{
    struct ptx_symbol *symbol = arena_alloc(scopes->arena, sizeof *symbol);

    if (++scopes->symbol_count > scopes->bucket_count)
        grow(scopes);
    symbol->name = arena_strndup(scopes->arena, name, length);
    symbol->kind = kind;
    symbol->value = value;
    symbol->depth = depth;
    symbol->next_in_scope = scopes->members[depth];
    scopes->members[depth] = symbol;
    link_symbol(scopes, symbol);
    return symbol;
}

/* The first of a chain with exactly that name: ranges only, or all others. A range and a plain name may be alike. */
static struct ptx_symbol *first_of(struct ptx_symbol *chain, const char *name, size_t length, bool range)
{
    for (; chain; chain = chain->next_in_bucket)
        if ((chain->kind == PTX_SYMBOL_RANGE) == range && !strncmp(chain->name, name, length) && !chain->name[length])
            return chain;
    return NULL;
}

/* The innermost one of that name, and the next outer one. */
static struct ptx_symbol *find_exact(struct ptx_scopes *scopes, const char *name, size_t length, bool range)
{
    return first_of(*bucket_of(scopes, name, length), name, length, range);
}

static struct ptx_symbol *find_next(const struct ptx_symbol *symbol)
{
    return first_of(symbol->next_in_bucket, symbol->name, strlen(symbol->name), symbol->kind == PTX_SYMBOL_RANGE);
}

static struct ptx_symbol *define(struct ptx_scopes *scopes, uint32_t depth, const char *name, size_t length,
                                 enum ptx_symbol_kind kind, uint32_t value)
{
    const struct ptx_symbol *known = find_exact(scopes, name, length, kind == PTX_SYMBOL_RANGE);

    while (known && known->depth > depth)
        known = find_next(known);
    return known && known->depth == depth ? NULL : add(scopes, depth, name, length, kind, value);
}

struct ptx_symbol *ptx_scope_define(struct ptx_scopes *scopes, const char *name, size_t length,
                                    enum ptx_symbol_kind kind, uint32_t value)
{
    return define(scopes, scopes->depth, name, length, kind, value);
}

struct ptx_symbol *ptx_scope_define_outermost(struct ptx_scopes *scopes, const char *name, size_t length,
                                              enum ptx_symbol_kind kind, uint32_t value)
{
    return define(scopes, 0, name, length, kind, value);
}

struct ptx_symbol *ptx_scope_find_here(struct ptx_scopes *scopes, const char *name, size_t length)
{
    struct ptx_symbol *symbol = find_exact(scopes, name, length, false);

    return symbol && symbol->depth == scopes->depth ? symbol : NULL;
}

/* The innermost range that has that name as a member: "a15" may be in a<20> or a1<6>. */
static struct ptx_symbol *find_range(struct ptx_scopes *scopes, const char *name, size_t length)
{
    struct ptx_symbol *best = NULL;
    uint64_t number = 0, weight = 1;

    for (size_t digits = 1; digits < length && digits <= RANGE_DIGITS_MAX; digits++, weight *= 10) {
        char c = name[length - digits];
        if (c < '0' || c > '9')
            break;
        number += (uint64_t)(c - '0') * weight;
        if (c == '0' && digits > 1)
            continue;
        struct ptx_symbol *range = find_exact(scopes, name, length - digits, true);
        if (range && number < range->value && (!best || range->depth > best->depth))
            best = range;
    }
    return best;
}

struct ptx_symbol *ptx_scope_find(struct ptx_scopes *scopes, const char *name, size_t length)
{
    struct ptx_symbol *exact = find_exact(scopes, name, length, false);
    struct ptx_symbol *range = find_range(scopes, name, length);

    if (!range || (exact && exact->depth >= range->depth))
        return exact;
    struct ptx_symbol *member = add(scopes, range->depth, name, length, PTX_SYMBOL_REGISTER, UINT32_MAX);
    member->type = range->type;
    member->elements = range->elements;
    return member;
}
