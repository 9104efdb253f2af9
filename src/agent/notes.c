#include "agent/notes.h"

#include <sqlite3.h>
#include <string.h>

#include "agent/notes_tokens.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "base/jsonl.h"

/* sources: one row a record. words: its tokens, for BM25 (FTS5: k1 1.2, b 0.75). Row ids are the same. */
static const char schema[] =
    "CREATE TABLE sources(id TEXT, definition TEXT, op_type TEXT, arch TEXT, source TEXT, fixed TEXT, error TEXT, "
    "note TEXT, source_hash TEXT, fixed_hash TEXT);"
    "CREATE INDEX by_hash ON sources(source_hash);"
    "CREATE INDEX by_fixed ON sources(fixed_hash);"
    "CREATE INDEX by_definition ON sources(definition);"
    "CREATE VIRTUAL TABLE words USING fts5(kernel, error, content='', tokenize=\"unicode61 tokenchars '_'\");";

/* Held out are the definition and every kernel, wrong or fixed, that one of its records holds under another name. */
static const char search[] =
    "SELECT s.id, s.definition, s.op_type, s.source, s.fixed, s.error, s.note, -bm25(words, 1.0, 0.5) AS score "
    "FROM words JOIN sources s ON s.rowid = words.rowid "
    "WHERE words MATCH ?1 AND (?2 IS NULL OR s.op_type = ?2) AND (?3 IS NULL OR s.definition = ?3) "
    "AND (?4 IS NULL OR s.arch IS NULL OR s.arch = ?4) "
    "AND (?5 IS NULL OR (s.definition <> ?5 "
    "AND NOT EXISTS (SELECT 1 FROM sources h WHERE h.definition = ?5 AND (h.source_hash IN (s.source_hash, "
    "s.fixed_hash) "
    "OR h.fixed_hash IN (s.source_hash, s.fixed_hash))))) "
    "ORDER BY score DESC, s.rowid LIMIT ?6";

enum { QUERY_WORDS = 400, ERROR_BYTES = 8 << 10 };

struct notes {
    sqlite3 *database;
    sqlite3_stmt *add_source;
    sqlite3_stmt *add_words;
    sqlite3_stmt *search;
    size_t count;
};

static bool sql_error(struct notes *notes, struct error *error)
{
    return error_set(error, ERROR_INTERNAL, "notes: SQLite: %s", sqlite3_errmsg(notes->database));
}

static void bind(sqlite3_stmt *statement, int index, const char *text)
{
    if (text)
        (void)sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
    else
        (void)sqlite3_bind_null(statement, index);
}

static bool prepare(struct notes *notes, const char *text, sqlite3_stmt **out, struct error *error)
{
    return sqlite3_prepare_v2(notes->database, text, -1, out, NULL) == SQLITE_OK || sql_error(notes, error);
}

static bool execute(struct notes *notes, const char *text, struct error *error)
{
    return sqlite3_exec(notes->database, text, NULL, NULL, NULL) == SQLITE_OK || sql_error(notes, error);
}

/* SHA-256 of the tokens: a copy with other comments or line breaks is the same kernel. */
static const char *kernel_hash(struct arena *arena, const char *source)
{
    char *out = arena_alloc(arena, HASH_TEXT_BYTES);
    const char *tokens = notes_tokens(arena, source);

    hash_bytes(tokens, strlen(tokens), out);
    return out;
}

static bool optional_text(struct json at, const char *key, const char **out, struct error *error)
{
    struct json member;

    *out = NULL;
    return !json_optional(at, key, &member) || json_string(member, out, error);
}

static bool step(struct notes *notes, sqlite3_stmt *statement, struct error *error)
{
    int result = sqlite3_step(statement);

    (void)sqlite3_reset(statement);
    return result == SQLITE_DONE || sql_error(notes, error);
}

static bool add_record(struct json_document *line, void *context, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = line;
    AUTO_ARENA *arena = arena_new();
    struct notes *notes = context;
    struct json at = json_root(document);
    static const char *const required[] = {"id", "definition", "op_type", "source"};
    static const char *const optional[] = {"arch", "fixed", "error", "note"};
    const char *need[4];
    const char *may[4];

    if (!json_expect(at, JSON_OBJECT, error))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(required); i++)
        if (!json_member_string(at, required[i], &need[i], error))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(optional); i++)
        if (!optional_text(at, optional[i], &may[i], error))
            return false;
    if (notes->count == NOTES_RECORDS_MAX)
        return error_set(error, ERROR_LIMIT, "notes: more than %d records", NOTES_RECORDS_MAX);
    const char *row[] = {need[0],
                         need[1],
                         need[2],
                         may[0],
                         need[3],
                         may[1],
                         may[2],
                         may[3],
                         kernel_hash(arena, need[3]),
                         may[1] ? kernel_hash(arena, may[1]) : NULL};
    for (size_t i = 0; i < ARRAY_LEN(row); i++)
        bind(notes->add_source, (int)i + 1, row[i]);
    if (!step(notes, notes->add_source, error))
        return false;
    (void)sqlite3_bind_int64(notes->add_words, 1, sqlite3_last_insert_rowid(notes->database));
    bind(notes->add_words, 2, notes_tokens(arena, need[3]));
    bind(notes->add_words, 3, may[2] ? notes_tokens(arena, may[2]) : "");
    notes->count++;
    return step(notes, notes->add_words, error);
}

static bool fill(struct notes *notes, const char *path, struct error *error)
{
    if (sqlite3_open(":memory:", &notes->database) != SQLITE_OK)
        return error_set(error, ERROR_MEMORY, "notes: SQLite cannot open a database in memory");
    if (!execute(notes, schema, error)) {
        return error_hint(error, "SQLite needs FTS5");
    }
    return prepare(notes, "INSERT INTO sources VALUES(?,?,?,?,?,?,?,?,?,?)", &notes->add_source, error) &&
           prepare(notes, "INSERT INTO words(rowid, kernel, error) VALUES(?,?,?)", &notes->add_words, error) &&
           prepare(notes, search, &notes->search, error) && execute(notes, "BEGIN", error) &&
           jsonl_each(path, NOTES_LINE_BYTES, JSONL_REFUSE, add_record, notes, error) &&
           execute(notes, "COMMIT", error);
}

bool notes_open(const char *path, struct notes **out, struct error *error)
{
    struct notes *notes = calloc(1, sizeof *notes);

    *out = NULL;
    if (!notes)
        return error_set(error, ERROR_MEMORY, "notes: out of memory");
    if (!fill(notes, path, error)) {
        notes_free(notes);
        return false;
    }
    *out = notes;
    return true;
}

void notes_free(struct notes *notes)
{
    if (!notes)
        return;
    (void)sqlite3_finalize(notes->add_source);
    (void)sqlite3_finalize(notes->add_words);
    (void)sqlite3_finalize(notes->search);
    (void)sqlite3_close(notes->database);
    free(notes);
}

size_t notes_count(const struct notes *notes)
{
    return notes->count;
}

static const char *match_text(struct arena *arena, const struct notes_query *query)
{
    const char *kernel = notes_match_query(arena, notes_tokens(arena, query->source), QUERY_WORDS);
    const char *words = "";

    if (query->feedback) {
        const char *feedback = arena_strndup(arena, query->feedback, strnlen(query->feedback, ERROR_BYTES));
        words = notes_match_query(arena, notes_tokens(arena, feedback), QUERY_WORDS / 4);
    }
    if (*kernel && *words)
        return arena_printf(arena, "{kernel} : (%s) OR {error} : (%s)", kernel, words);
    if (*kernel)
        return arena_printf(arena, "{kernel} : (%s)", kernel);
    return *words ? arena_printf(arena, "{error} : (%s)", words) : "";
}

static const char *column(struct arena *arena, sqlite3_stmt *statement, int index)
{
    return arena_strdup(arena, (const char *)sqlite3_column_text(statement, index));
}

bool notes_find(struct notes *notes, struct arena *arena, const struct notes_query *query, struct notes_hit **hits,
                size_t *count, struct error *error)
{
    size_t most = query->most ? query->most : NOTES_DEFAULT_MOST;
    const char *match = match_text(arena, query);
    sqlite3_stmt *at = notes->search;
    int result;

    *count = 0;
    *hits = arena_calloc(arena, most, sizeof **hits);
    if (!*match)
        return true;
    bind(at, 1, match);
    bind(at, 2, query->op_type);
    bind(at, 3, query->definition);
    bind(at, 4, query->arch);
    bind(at, 5, query->hold_out);
    (void)sqlite3_bind_int64(at, 6, (sqlite3_int64)most);
    while ((result = sqlite3_step(at)) == SQLITE_ROW && *count < most)
        (*hits)[(*count)++] = (struct notes_hit){.id = column(arena, at, 0),
                                                 .definition = column(arena, at, 1),
                                                 .op_type = column(arena, at, 2),
                                                 .source = column(arena, at, 3),
                                                 .fixed = column(arena, at, 4),
                                                 .error = column(arena, at, 5),
                                                 .note = column(arena, at, 6),
                                                 .score = sqlite3_column_double(at, 7)};
    (void)sqlite3_reset(at);
    return result == SQLITE_DONE || result == SQLITE_ROW || sql_error(notes, error);
}
