#include "agent/context.h"

#include <string.h>

static const char *const texts[] = {
#define X(name, text) text,
    CONTEXT_POLICIES(X)
#undef X
};

const char *context_policy_text(enum context_policy policy)
{
    return texts[policy];
}

bool context_policy_parse(const char *text, enum context_policy *out)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!strcmp(texts[i], text)) {
            *out = (enum context_policy)i;
            return true;
        }
    return false;
}

/* An answer without a word is no message that providers accept. */
static const char *answer_of(const struct trajectory_turn *turn)
{
    return turn->reply && *turn->reply ? turn->reply : "(empty answer)";
}

static const char *join(const struct trajectory *trajectory, const char *task, struct arena *arena)
{
    size_t length = strlen(task) + 1;

    for (int i = 0; i < trajectory->turn; i++)
        length += strlen(answer_of(&trajectory->turns[i])) + strlen(trajectory->turns[i].feedback) + 4;
    char *text = arena_alloc(arena, length);
    char *at = stpcpy(text, task);
    for (int i = 0; i < trajectory->turn; i++) {
        at = stpcpy(stpcpy(at, "\n\n"), answer_of(&trajectory->turns[i]));
        at = stpcpy(stpcpy(at, "\n\n"), trajectory->turns[i].feedback);
    }
    return text;
}

void context_build(const struct trajectory *trajectory, const char *system, const char *task,
                   enum context_policy policy, struct arena *arena, struct context *out)
{
    int turns = trajectory->turn;
    struct chat_message *messages = arena_calloc(arena, 2 * (size_t)turns + 4, sizeof *messages);
    size_t count = 0;

    messages[count++] = (struct chat_message){CHAT_SYSTEM, system};
    if (policy == CONTEXT_SINGLE_USER) {
        messages[count++] = (struct chat_message){CHAT_USER, join(trajectory, task, arena)};
        turns = 0;
    } else {
        messages[count++] = (struct chat_message){CHAT_USER, task};
    }
    for (int i = policy == CONTEXT_LATEST_PAIR && turns ? turns - 1 : 0; i < turns; i++) {
        messages[count++] = (struct chat_message){CHAT_ASSISTANT, answer_of(&trajectory->turns[i])};
        messages[count++] = (struct chat_message){CHAT_USER, trajectory->turns[i].feedback};
    }
    *out = (struct context){messages, count};
}

void context_build_choice(const struct trajectory *trajectory, const char *system, const char *task,
                          enum context_policy policy, const char *question, struct arena *arena, struct context *out)
{
    context_build(trajectory, system, task, policy, arena, out);
    struct chat_message *messages = (struct chat_message *)out->messages; /* ours, with room for two more */
    messages[out->count++] = (struct chat_message){CHAT_ASSISTANT, answer_of(trajectory_current(trajectory))};
    messages[out->count++] = (struct chat_message){CHAT_USER, question};
}
