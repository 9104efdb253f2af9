#include "agent/line_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct line {
    const char *text;
    size_t length;
};

struct lines {
    struct line *items;
    int count;
};

/* One line of the script: of which side, or of both. */
struct edit {
    char sign;
    const struct line *line;
    int before; /* lines of the old text in front of it */
    int after;
};

struct script {
    struct edit *items;
    int count;
};

static struct lines split(struct arena *arena, const char *text)
{
    size_t count = 0;
    struct lines lines = {0};

    for (const char *at = text; *at; at++)
        count += *at == '\n';
    lines.items = arena_calloc(arena, count + 1, sizeof *lines.items);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        lines.items[lines.count++] = (struct line){at, length};
        at += length + (at[length] == '\n');
    }
    return lines;
}

static bool same(const struct line *left, const struct line *right)
{
    return left->length == right->length && !memcmp(left->text, right->text, left->length);
}

static void add(struct script *script, char sign, const struct line *line, int before, int after)
{
    script->items[script->count++] = (struct edit){sign, line, before, after};
}

/* The furthest points that D changes reach, kept for each D: the way back through them is the script. */
static int find_depth(const struct line *a, int n, const struct line *b, int m, int32_t **trace, struct arena *arena)
{
    int most = n + m < LINE_DIFF_CHANGES_MAX ? n + m : LINE_DIFF_CHANGES_MAX;

    for (int d = 0; d <= most; d++) {
        int32_t *reach = arena_calloc(arena, 2 * (size_t)d + 1, sizeof *reach); /* diagonal k at [k + d] */
        const int32_t *last = d ? trace[d - 1] : NULL;
        trace[d] = reach;
        for (int k = -d; k <= d; k += 2) {
            int x = 0;
            if (d) {
                int down = k < d ? last[k + 1 + d - 1] : -1;   /* from diagonal k + 1: insert */
                int right = k > -d ? last[k - 1 + d - 1] : -1; /* from diagonal k - 1: delete */
                x = k == -d || (k != d && right < down) ? down : right + 1;
            }
            int y = x - k;
            while (x < n && y < m && same(&a[x], &b[y]))
                x++, y++;
            reach[k + d] = x;
            if (x >= n && y >= m)
                return d;
        }
    }
    return -1;
}

/* Walks back from the end; edits come out in reverse. */
static void walk_back(const struct line *a, int n, const struct line *b, int m, int depth, int32_t *const *trace,
                      struct script *script)
{
    int x = n, y = m;

    for (int d = depth; d > 0; d--) {
        const int32_t *last = trace[d - 1];
        int k = x - y;
        int down = k < d ? last[k + d] : -1;
        int right = k > -d ? last[k + d - 2] : -1;
        bool insert = k == -d || (k != d && right < down);
        int from_x = insert ? down : right;
        int from_y = insert ? from_x - (k + 1) : from_x - (k - 1);
        while (x > (insert ? from_x : from_x + 1)) { /* equal lines behind the change */
            x--, y--;
            add(script, ' ', &a[x], x, y);
        }
        if (insert)
            add(script, '+', &b[from_y], from_x, from_y);
        else
            add(script, '-', &a[from_x], from_x, from_y);
        x = from_x;
        y = from_y;
    }
    while (x > 0) {
        x--, y--;
        add(script, ' ', &a[x], x, y);
    }
}

static struct script make_script(const struct lines *a, const struct lines *b, struct arena *arena)
{
    struct script script = {arena_calloc(arena, (size_t)(a->count + b->count) + 1, sizeof(struct edit)), 0};
    int32_t **trace = arena_calloc(arena, LINE_DIFF_CHANGES_MAX + 1, sizeof *trace);
    int head = 0, tail = 0;

    while (head < a->count && head < b->count && same(&a->items[head], &b->items[head]))
        head++;
    while (tail < a->count - head && tail < b->count - head &&
           same(&a->items[a->count - 1 - tail], &b->items[b->count - 1 - tail]))
        tail++;
    int n = a->count - head - tail, m = b->count - head - tail;
    for (int i = 0; i < head; i++)
        add(&script, ' ', &a->items[i], i, i);
    int depth = find_depth(a->items + head, n, b->items + head, m, trace, arena);
    int first = script.count;
    if (depth >= 0)
        walk_back(a->items + head, n, b->items + head, m, depth, trace, &script);
    for (int i = first, j = script.count - 1; i < j; i++, j--) {
        struct edit swapped = script.items[i];
        script.items[i] = script.items[j];
        script.items[j] = swapped;
    }
    for (int i = first; depth >= 0 && i < script.count; i++) {
        script.items[i].before += head;
        script.items[i].after += head;
    }
    for (int i = 0; depth < 0 && i < n; i++)
        add(&script, '-', &a->items[head + i], head + i, head);
    for (int i = 0; depth < 0 && i < m; i++)
        add(&script, '+', &b->items[head + i], head + n, head + i);
    for (int i = 0; i < tail; i++)
        add(&script, ' ', &a->items[head + n + i], head + n + i, head + m + i);
    return script;
}

static void print_hunk(const struct edit *edits, int count, struct buffer *out)
{
    int before = 0, after = 0;

    for (int i = 0; i < count; i++) {
        before += edits[i].sign != '+';
        after += edits[i].sign != '-';
    }
    (void)buffer_printf(out, "@@ -%d,%d +%d,%d @@\n", edits[0].before + (before > 0), before,
                        edits[0].after + (after > 0), after);
    for (int i = 0; i < count; i++)
        (void)buffer_printf(out, "%c%.*s\n", edits[i].sign, (int)edits[i].line->length, edits[i].line->text);
}

void line_diff(const char *before, const char *after, int context, struct buffer *out)
{
    AUTO_ARENA *arena = arena_new();
    struct lines a = split(arena, before), b = split(arena, after);
    struct script script = make_script(&a, &b, arena);

    for (int i = 0; i < script.count;) {
        if (script.items[i].sign == ' ') {
            i++;
            continue;
        }
        int start = i > context ? i - context : 0;
        int end = i, quiet = 0;
        while (end < script.count && quiet <= 2 * context) {
            quiet = script.items[end].sign == ' ' ? quiet + 1 : 0;
            end++;
        }
        while (end > i && quiet > context)
            end--, quiet--;
        print_hunk(&script.items[start], end - start, out);
        i = end;
    }
}
