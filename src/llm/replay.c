#include "llm/replay.h"

#include <string.h>

#include "base/jsonl.h"

enum { LINE_LIMIT = 32 << 20 };
static const size_t total_limit = (size_t)1 << 30;

struct answer {
    const char *trajectory; /* "": any */
    int64_t turn;
    size_t order; /* of the line in its file: the later one wins */
    const char *text, *reasoning, *finish_reason, *raw_finish_reason, *served_model, *fingerprint, *message;
    struct chat_usage usage;
    double cost_usd;
    enum chat_status status;
    int64_t delay_ns;
};

struct replay_book {
    struct replay_book *next;
    struct arena *arena;
    const char *path;
    RECORD_LIST(struct answer) answers; /* sorted by trajectory, turn, order */
    size_t bytes;
    bool usable;
    struct error error;
};

static int compare_answers(const void *left_pointer, const void *right_pointer)
{
    const struct answer *left = left_pointer, *right = right_pointer;
    int by_name = strcmp(left->trajectory, right->trajectory);

    if (by_name)
        return by_name;
    if (left->turn != right->turn)
        return left->turn < right->turn ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* Optional members: absent and null leave the value as it is. */
static bool take_text(struct replay_book *book, struct json line, const char *key, const char **to, struct error *error)
{
    struct json value;
    const char *text;

    if (!json_optional(line, key, &value))
        return true;
    if (!json_string(value, &text, error))
        return false;
    *to = arena_strdup(book->arena, text);
    book->bytes += strlen(text);
    return true;
}

static bool take_count(struct json object, const char *key, int64_t *to, struct error *error)
{
    struct json value;

    if (!json_optional(object, key, &value))
        return true;
    if (!json_i64(value, to, error))
        return false;
    return *to >= 0 || json_error(value, error, "expected a non-negative integer");
}

static bool take_usage(struct json line, struct chat_usage *to, struct error *error)
{
    struct json usage;

    if (!json_optional(line, "usage", &usage))
        return true;
    return json_expect(usage, JSON_OBJECT, error) && take_count(usage, "input_tokens", &to->input_tokens, error) &&
           take_count(usage, "cached_tokens", &to->cached_tokens, error) &&
           take_count(usage, "cache_write_tokens", &to->cache_write_tokens, error) &&
           take_count(usage, "output_tokens", &to->output_tokens, error) &&
           take_count(usage, "reasoning_tokens", &to->reasoning_tokens, error);
}

static bool take_status(struct json line, enum chat_status *to, struct error *error)
{
    struct json value;
    const char *text;

    if (!json_optional(line, "status", &value))
        return true;
    if (!json_string(value, &text, error))
        return false;
    return chat_status_from_text(text, to) || json_error(value, error, "unknown status \"%s\"", text);
}

static bool take_line(struct json_document *document, void *context, struct error *error)
{
    AUTO_JSON_DOCUMENT *line = document;
    struct replay_book *book = context;
    struct json root = json_root(line), value;
    int64_t delay_ms = 0;

    if (!json_expect(root, JSON_OBJECT, error))
        return false;
    struct answer *answer = LIST_APPEND(book->arena, &book->answers);
    *answer = (struct answer){.trajectory = "",
                              .order = book->answers.count,
                              .text = "",
                              .reasoning = "",
                              .finish_reason = "stop",
                              .message = "recorded",
                              .usage = {-1, -1, -1, -1, -1},
                              .cost_usd = -1};
    bool ok = json_member(root, "turn", &value, error) && take_count(root, "turn", &answer->turn, error) &&
              take_text(book, root, "trajectory", &answer->trajectory, error) &&
              take_text(book, root, "text", &answer->text, error) &&
              take_text(book, root, "reasoning", &answer->reasoning, error) &&
              take_text(book, root, "finish_reason", &answer->finish_reason, error) &&
              take_text(book, root, "served_model", &answer->served_model, error) &&
              take_text(book, root, "fingerprint", &answer->fingerprint, error) &&
              take_text(book, root, "message", &answer->message, error) && take_usage(root, &answer->usage, error) &&
              take_status(root, &answer->status, error) && take_count(root, "delay_ms", &delay_ms, error);
    if (ok && json_optional(root, "cost_usd", &value))
        ok = json_double(value, &answer->cost_usd, error);
    answer->delay_ns = (delay_ms < 86400000 ? delay_ms : 86400000) * 1000000;
    if (ok && book->bytes > total_limit)
        return json_error(root, error, "more than %zu MiB of answers", total_limit >> 20);
    return ok;
}

static struct replay_book *open_book(struct chat_client *client, const char *path)
{
    for (struct replay_book *book = client->books; book; book = book->next)
        if (!strcmp(book->path, path))
            return book;
    struct arena *arena = arena_new();
    struct replay_book *book = arena_alloc(arena, sizeof *book);
    book->arena = arena;
    book->path = arena_strdup(arena, path);
    book->usable = jsonl_each(path, LINE_LIMIT, JSONL_REFUSE, take_line, book, &book->error);
    if (book->usable && book->answers.count)
        qsort(book->answers.items, book->answers.count, sizeof *book->answers.items, compare_answers);
    book->next = client->books;
    client->books = book;
    return book;
}

void replay_free(struct replay_book *books)
{
    while (books) {
        struct replay_book *next = books->next;
        arena_free(books->arena);
        books = next;
    }
}

/* The last line of this trajectory and turn, or NULL. */
static const struct answer *find_answer(const struct replay_book *book, const char *trajectory, int turn)
{
    struct answer wanted = {.trajectory = trajectory, .turn = turn, .order = SIZE_MAX};
    size_t low = 0, high = book->answers.count;

    while (low < high) { /* the first answer behind all that are wanted */
        size_t middle = low + (high - low) / 2;
        if (compare_answers(&book->answers.items[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct answer *found = &book->answers.items[low - 1];
    return found->turn == turn && !strcmp(found->trajectory, trajectory) ? found : NULL;
}

static enum failure_kind failure_of(enum chat_status status)
{
    static const enum failure_kind kinds[] = {
        [CHAT_OK] = FAILURE_NONE,
        [CHAT_RETRYABLE_EXHAUSTED] = FAILURE_RETRYABLE,
        [CHAT_AUTHENTICATION] = FAILURE_AUTHENTICATION,
        [CHAT_QUOTA] = FAILURE_QUOTA,
        [CHAT_CONTEXT_OVERFLOW] = FAILURE_CONTEXT_OVERFLOW,
        [CHAT_REFUSED] = FAILURE_REFUSED,
        [CHAT_BAD_REQUEST] = FAILURE_BAD_REQUEST,
        [CHAT_PROTOCOL] = FAILURE_PROTOCOL,
        [CHAT_CANCELLED] = FAILURE_BAD_REQUEST,
    };

    return kinds[status];
}

static void take_answer(struct chat_call *call, const struct answer *answer)
{
    static const char *const reasons[] = {"stop", "length", "refusal", "overflow"};
    struct chat_stream *stream = &call->stream;

    (void)buffer_append_sanitized(&stream->text, answer->text, strlen(answer->text));
    (void)buffer_append_sanitized(&stream->reasoning, answer->reasoning, strlen(answer->reasoning));
    stream->usage = answer->usage;
    stream->cost_usd = answer->cost_usd;
    stream->finish_reason = "other";
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (!strcmp(reasons[i], answer->finish_reason))
            stream->finish_reason = reasons[i];
    (void)snprintf(stream->served_model, sizeof stream->served_model, "%s",
                   answer->served_model ? answer->served_model : "");
    (void)snprintf(stream->fingerprint, sizeof stream->fingerprint, "%s",
                   answer->fingerprint ? answer->fingerprint : "");
    if (answer->status != CHAT_OK)
        failure_set(&stream->failure, failure_of(answer->status), "%s", answer->message);
}

void replay_start(struct chat_call *call)
{
    struct replay_book *book = open_book(call->client, call->model->replay);
    const struct answer *answer = NULL;

    if (book->usable) {
        answer = find_answer(book, call->trajectory, call->turn);
        if (!answer)
            answer = find_answer(book, "", call->turn);
    }
    if (!book->usable)
        failure_set(&call->stream.failure, FAILURE_BAD_REQUEST, "%s", book->error.message);
    else if (!answer)
        failure_set(&call->stream.failure, FAILURE_BAD_REQUEST, "%s: no answer for trajectory \"%s\", turn %d",
                    call->model->replay, call->trajectory, call->turn);
    else
        take_answer(call, answer);
    if (answer && answer->delay_ns)
        call_limit_attempt(call, answer->delay_ns);
    else
        call_attempt_ended(call);
}
