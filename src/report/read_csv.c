#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "report/read.h"

/* Columns by meaning; -1 where the file has none. */
enum column {
    COLUMN_MODEL,
    COLUMN_ARCH,
    COLUMN_DEFINITION,
    COLUMN_WORKLOAD,
    COLUMN_RUN,
    COLUMN_TRAJECTORY,
    COLUMN_TURN,
    COLUMN_REASONING,
    COLUMN_LABEL,
    COLUMN_SPEEDUP,
    COLUMN_WITH_ARCH,
    COLUMN_VARIANT,
    COLUMN_TOKENS,
    COLUMN_COST,
    COLUMN_LIMIT,
    COLUMN_DATE,
    COLUMN_TRAJECTORIES,
    COLUMN_CORRECT_TURNS,
    COLUMN_UNKNOWN_TURNS,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    [COLUMN_MODEL] = "model",
    [COLUMN_ARCH] = "arch",
    [COLUMN_DEFINITION] = "definition",
    [COLUMN_WORKLOAD] = "workload",
    [COLUMN_RUN] = "run",
    [COLUMN_TRAJECTORY] = "trajectory_id",
    [COLUMN_TURN] = "turn",
    [COLUMN_REASONING] = "reasoning_tokens",
    [COLUMN_LABEL] = "correctness",
    [COLUMN_SPEEDUP] = "speedup",
    [COLUMN_WITH_ARCH] = "correct_with_arch",
    [COLUMN_VARIANT] = "prompt_variant",
    [COLUMN_TOKENS] = "tokens",
    [COLUMN_COST] = "cost_usd",
    [COLUMN_LIMIT] = "turn_limit",
    [COLUMN_DATE] = "date",
    [COLUMN_TRAJECTORIES] = "n_trajectories",
    [COLUMN_CORRECT_TURNS] = "n_correct_turns",
    [COLUMN_UNKNOWN_TURNS] = "n_unknown_correct_turns",
};

enum layout { LAYOUT_TURNS, LAYOUT_SASS, LAYOUT_RUNS, LAYOUTS };

static const enum column turn_columns[] = {COLUMN_TURN, COLUMN_LABEL,      COLUMN_MODEL,  COLUMN_DEFINITION,
                                           COLUMN_RUN,  COLUMN_TRAJECTORY, COLUMN_SPEEDUP};
static const enum column sass_columns[] = {COLUMN_LIMIT,         COLUMN_MODEL,        COLUMN_DEFINITION,
                                           COLUMN_RUN,           COLUMN_TRAJECTORIES, COLUMN_WITH_ARCH,
                                           COLUMN_CORRECT_TURNS, COLUMN_UNKNOWN_TURNS};
static const enum column run_columns[] = {COLUMN_RUN, COLUMN_MODEL, COLUMN_DEFINITION};

/* The columns that a layout needs; the first one tells layouts apart. */
static const struct {
    const enum column *needed;
    size_t count;
} layouts[LAYOUTS] = {
    [LAYOUT_TURNS] = {turn_columns, ARRAY_LEN(turn_columns)},
    [LAYOUT_SASS] = {sass_columns, ARRAY_LEN(sass_columns)},
    [LAYOUT_RUNS] = {run_columns, ARRAY_LEN(run_columns)},
};

struct csv_file {
    struct turn_set *set;
    const char *name;
    enum layout layout;
    int at[COLUMNS];
    size_t width;
    size_t iso_dates;     /* "2026-01-31" */
    size_t compact_dates; /* "2026-0131" */
    bool warned_dates;
    bool warned_speedup;
};

static const char *cell(const struct csv_file *file, const struct csv_row *row, enum column column)
{
    return file->at[column] < 0 ? "" : row->cells[file->at[column]];
}

static bool bad_cell(const struct csv_file *file, const struct csv_row *row, enum column column, const char *wanted,
                     struct error *error)
{
    return error_set(error, ERROR_INPUT, "%s:%zu: %s: expected %s, found \"%.80s\"", file->name, row->line,
                     names[column], wanted, cell(file, row, column));
}

/* A whole number; an empty cell is unknown. */
static bool read_count(const struct csv_file *file, const struct csv_row *row, enum column column, struct count *out,
                       struct error *error)
{
    const char *text = cell(file, row, column);
    char *end;

    *out = (struct count){0};
    if (!*text)
        return true;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9')
        return bad_cell(file, row, column, "a whole number that is 0 or more", error);
    *out = count_of(value);
    return true;
}

static bool need_count(const struct csv_file *file, const struct csv_row *row, enum column column, int64_t *out,
                       struct error *error)
{
    struct count count;

    if (!read_count(file, row, column, &count, error))
        return false;
    if (!count.known)
        return bad_cell(file, row, column, "a whole number", error);
    *out = count.value;
    return true;
}

static bool read_number(const struct csv_file *file, const struct csv_row *row, enum column column, struct number *out,
                        struct error *error)
{
    const char *text = cell(file, row, column);
    char *end;

    *out = (struct number){0};
    if (!*text)
        return true;
    double value = strtod(text, &end);
    if (*end || end == text)
        return bad_cell(file, row, column, "a number", error);
    *out = number_of(value);
    return true;
}

/* "2026-01-31" or "2026-0131"; the published files mix both, and hold dates that do not exist. */
static const char *read_date(struct csv_file *file, const struct csv_row *row, char out[16])
{
    static const unsigned days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char *text = cell(file, row, COLUMN_DATE);
    unsigned year;
    unsigned month;
    unsigned day;
    int end = 0;
    bool iso = strlen(text) == 10 && sscanf(text, "%4u-%2u-%2u%n", &year, &month, &day, &end) == 3 && end == 10;
    bool compact =
        !iso && strlen(text) == 9 && sscanf(text, "%4u-%2u%2u%n", &year, &month, &day, &end) == 3 && end == 9;

    if (!*text)
        return NULL;
    if ((!iso && !compact) || month < 1 || month > 12 || day < 1 || day > days[month - 1]) {
        turn_set_warn(file->set, file->name, row->line, "date \"%.40s\" does not exist; left out", text);
        return NULL;
    }
    file->iso_dates += iso;
    file->compact_dates += compact;
    if (file->iso_dates && file->compact_dates && !file->warned_dates) {
        file->warned_dates = true;
        turn_set_warn(file->set, file->name, row->line,
                      "dates are written in two ways from here on: YYYY-MM-DD, YYYY-MMDD");
    }
    (void)snprintf(out, 16, "%04u-%02u-%02u", year % 10000, month % 100, day % 100);
    return out;
}

static struct turn_row series_of(const struct csv_file *file, const struct csv_row *row)
{
    return (struct turn_row){.model = cell(file, row, COLUMN_MODEL),
                             .arch = cell(file, row, COLUMN_ARCH),
                             .definition = cell(file, row, COLUMN_DEFINITION),
                             .workload = cell(file, row, COLUMN_WORKLOAD),
                             .run = cell(file, row, COLUMN_RUN),
                             .variant = -1};
}

static bool read_outcome(const struct csv_file *file, const struct csv_row *row, enum turn_outcome *out,
                         struct error *error)
{
    const char *flag = cell(file, row, COLUMN_WITH_ARCH);
    const char *label = cell(file, row, COLUMN_LABEL);
    enum tristate target = TRISTATE_UNKNOWN;

    if (*flag && strcmp(flag, "0") != 0 && strcmp(flag, "1") != 0)
        return bad_cell(file, row, COLUMN_WITH_ARCH, "0, 1 or nothing", error);
    if (*flag)
        target = tristate_of(*flag == '1');
    if (!outcome_of_label(label, target, out) && !outcome_parse(label, out)) {
        (void)bad_cell(file, row, COLUMN_LABEL, "a known label", error);
        return error_hint(error,
                          "docs/formats/turns.md lists the labels; a new one needs a row in src/report/taxonomy.c");
    }
    if (target == TRISTATE_YES && !outcome_is_correct(*out))
        return error_set(error, ERROR_INPUT, "%s:%zu: correct_with_arch is 1 although the turn is \"%s\"", file->name,
                         row->line, label);
    return true;
}

static bool read_turn(struct csv_file *file, const struct csv_row *row, struct error *error)
{
    struct turn_row turn = series_of(file, row);
    struct count variant;

    turn.trajectory = cell(file, row, COLUMN_TRAJECTORY);
    if (!*turn.trajectory)
        return bad_cell(file, row, COLUMN_TRAJECTORY, "a name", error);
    if (!need_count(file, row, COLUMN_TURN, &turn.index, error) || !read_outcome(file, row, &turn.outcome, error) ||
        !read_number(file, row, COLUMN_SPEEDUP, &turn.speedup, error) ||
        !read_count(file, row, COLUMN_REASONING, &turn.reasoning_tokens, error) ||
        !read_count(file, row, COLUMN_TOKENS, &turn.tokens, error) ||
        !read_number(file, row, COLUMN_COST, &turn.cost_usd, error) ||
        !read_count(file, row, COLUMN_VARIANT, &variant, error))
        return false;
    if (variant.known)
        turn.variant = variant.value;
    if (outcome_is_correct(turn.outcome) && !(turn.speedup.known && !(turn.speedup.value <= 0)) &&
        !file->warned_speedup) {
        file->warned_speedup = true;
        turn_set_warn(file->set, file->name, row->line,
                      "a correct turn without a speed-up: it counts as correct, and is faster than nothing");
    }
    return turn_set_add(file->set, &turn, file->name, row->line, error);
}

static bool read_sass(struct csv_file *file, const struct csv_row *row, struct error *error)
{
    struct turn_row series = series_of(file, row);
    struct series_sass sass = {.line = row->line};
    int64_t limit;
    char date[16];

    if (!need_count(file, row, COLUMN_LIMIT, &limit, error) ||
        !need_count(file, row, COLUMN_TRAJECTORIES, &sass.trajectories, error) ||
        !need_count(file, row, COLUMN_WITH_ARCH, &sass.trajectories_with_target, error) ||
        !need_count(file, row, COLUMN_CORRECT_TURNS, &sass.correct_turns, error) ||
        !need_count(file, row, COLUMN_UNKNOWN_TURNS, &sass.unknown_turns, error))
        return false;
    if (limit < 1 || limit > TURN_INDEX_MAX + 1)
        return bad_cell(file, row, COLUMN_LIMIT, "a number of turns", error);
    if (sass.trajectories_with_target > sass.trajectories || sass.unknown_turns > sass.correct_turns)
        return error_set(error, ERROR_INPUT, "%s:%zu: a part is larger than its whole", file->name, row->line);
    sass.limit = (int)limit;
    turn_set_add_sass(file->set, &series, &sass, read_date(file, row, date), file->name);
    return true;
}

static bool read_row(struct csv_file *file, const struct csv_row *row, struct error *error)
{
    if (file->layout == LAYOUT_TURNS)
        return read_turn(file, row, error);
    if (file->layout == LAYOUT_SASS)
        return read_sass(file, row, error);
    struct turn_row series = series_of(file, row);
    turn_set_expect(file->set, &series, file->name, row->line);
    return true;
}

static bool read_header(struct csv_file *file, const struct csv_row *row, struct error *error)
{
    for (size_t i = 0; i < COLUMNS; i++)
        file->at[i] = csv_find(row, names[i]);
    file->width = row->count;
    for (file->layout = 0; file->layout < LAYOUTS; file->layout++)
        if (file->at[layouts[file->layout].needed[0]] >= 0)
            break;
    if (file->layout == LAYOUTS) {
        (void)error_set(error, ERROR_INPUT,
                        "%s:%zu: not a table of turns: the header has none of turn, turn_limit, run", file->name,
                        row->line);
        return error_hint(error, "docs/formats/turns.md describes the columns");
    }
    for (size_t i = 0; i < layouts[file->layout].count; i++) {
        enum column needed = layouts[file->layout].needed[i];
        if (file->at[needed] < 0)
            return error_set(error, ERROR_INPUT, "%s:%zu: the header has no column %s", file->name, row->line,
                             names[needed]);
    }
    return true;
}

/* A row that is the last of a text without final newline may be cut. */
static bool read_checked(struct csv_file *file, const struct csv_reader *reader, const struct csv_row *row,
                         struct error *error)
{
    bool cut = reader->offset == reader->length && reader->text[reader->length - 1] != '\n';

    if (row->count == 1 && !*row->cells[0])
        return true;
    if (reader->line > row->line + 1)
        return error_set(error, ERROR_INPUT, "%s:%zu: a quoted cell runs over several lines", file->name, row->line);
    if (!cut && row->count != file->width)
        return error_set(error, ERROR_INPUT, "%s:%zu: %zu cells where the header has %zu", file->name, row->line,
                         row->count, file->width);
    if (row->count != file->width) {
        turn_set_warn(file->set, file->name, row->line, "the last line is cut; left out");
        return true;
    }
    if (cut)
        turn_set_warn(file->set, file->name, row->line, "the last line has no newline; it may be cut");
    return read_row(file, row, error);
}

bool read_csv_text(struct turn_set *set, const char *text, size_t length, const char *file, struct error *error)
{
    enum { ROWS_AN_ARENA = 2048 };
    struct csv_file into = {.set = set, .name = file};
    size_t mark = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0; /* as spreadsheets write it */
    struct csv_reader reader = csv_reader_new(text + mark, length - mark);
    struct csv_row row;
    bool more;

    {
        AUTO_ARENA *arena = arena_new();
        if (!csv_next(&reader, arena, &row))
            return error_set(error, ERROR_INPUT, "%s: the file is empty", file);
        if (!read_header(&into, &row, error))
            return false;
    }
    do {
        AUTO_ARENA *arena = arena_new();
        more = false;
        for (int i = 0; i < ROWS_AN_ARENA && (more = csv_next(&reader, arena, &row)); i++)
            if (!read_checked(&into, &reader, &row, error))
                return false;
    } while (more);
    return true;
}
