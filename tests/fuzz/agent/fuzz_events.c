/* Lines of an event log: read, applied to a trajectory, and what was applied is written and read back. */
#include <stdint.h>
#include <string.h>

#include "agent/trajectory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply_line(struct trajectory *trajectory, struct arena *arena, const char *text, size_t length)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct event event;
    struct error error;

    if (!json_parse(text, length, "fuzz", 1, &document, &error) ||
        !event_from_json(json_root(document), arena, &event, &error) || !trajectory_apply(trajectory, &event, &error))
        return;
    if (event.kind == EVENT_VERDICT && event.verdict.has_verdict)
        event.verdict.verdict = event.verdict.verdict_at.value;
    AUTO_JSON_OBJECT *again = event_to_json(&event);
    AUTO_JSON_DOCUMENT *copy = NULL;
    AUTO_FREE char *line = NULL;
    struct event same;
    if (!json_to_text(again, false, &line, &error) || !json_parse(line, strlen(line), "again", 1, &copy, &error) ||
        !event_from_json(json_root(copy), arena, &same, &error) || same.kind != event.kind || same.turn != event.turn)
        abort();
    if (trajectory->step != STEP_START && trajectory->turn > trajectory->plan.planned_turns)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    struct trajectory trajectory;
    const char *text = (const char *)data;

    trajectory_init(&trajectory, arena, &(struct trajectory_limits){.retry_limit = 2});
    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t length = newline ? (size_t)(newline - text) : size;
        apply_line(&trajectory, arena, text, length);
        length += newline != NULL;
        text += length;
        size -= length;
    }
    return 0;
}
