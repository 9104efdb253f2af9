/* What became of the turns: shares turn by turn (the paper's figure 7), and from turn to turn (figure 9). */
#include <math.h>

#include "report/figure.h"
#include "report/figure_chart.h"
#include "report/flow.h"

enum { PANELS_MAX = 24, COLUMNS_MAX = 4, TURNS_MAX = 16, BARS_WIDTH = 250, BARS_HEIGHT = 150, GAP_LEFT = 44, GAP = 44 };

static size_t panels_of(const struct figure_view *view)
{
    return view->row_count < PANELS_MAX ? view->row_count : PANELS_MAX;
}

static int turns_of(const struct figure_view *view)
{
    return view->limit < TURNS_MAX ? view->limit : TURNS_MAX;
}

static struct flow_shares shares_of(const struct figure_view *view, size_t row, struct arena *arena)
{
    struct flow_shares shares = flow_shares_new(arena, turns_of(view));

    for (size_t d = 0; d < view->definition_count; d++)
        if (figure_scope(view, row, d))
            flow_shares_add(&shares, figure_scope(view, row, d));
    return shares;
}

static int64_t total_of(const struct flow_shares *shares, int turn)
{
    int64_t total = 0;

    for (int state = 0; state < FLOW_STATES; state++)
        total += flow_shares_at(shares, turn, state);
    return total;
}

static void mark_used(const struct flow_shares *shares, bool used[FLOW_STATES])
{
    for (int turn = 0; turn < shares->limit; turn++)
        for (int state = 0; state < FLOW_STATES; state++)
            used[state] |= flow_shares_at(shares, turn, state) > 0;
}

static double draw_states(struct drawing *drawing, const bool used[FLOW_STATES], double top)
{
    struct legend_item items[FLOW_STATES];
    size_t count = 0;

    for (int state = 0; state < FLOW_STATES; state++)
        if (used[state])
            items[count++] = (struct legend_item){flow_state_words(state), figure_outcome_ink(state)};
    return chart_legend(drawing, items, count, top);
}

static void note_left_out(struct drawing *drawing, const struct figure_view *view, const char *what, double y)
{
    const char *rest = view->row_count > PANELS_MAX
                           ? arena_printf(drawing->arena, "; the first %d of %zu rows", PANELS_MAX, view->row_count)
                           : "";

    drawing_text(drawing, (struct point){CHART_MARGIN, y}, what, TEXT_SMALL, INK_SOFT, ALIGN_LEFT);
    if (*rest)
        drawing_text(drawing, (struct point){CHART_MARGIN, y + 14}, rest + 2, TEXT_SMALL, INK_SOFT, ALIGN_LEFT);
    drawing->height = y + (*rest ? 28 : 14);
}

static void draw_bars(struct drawing *drawing, const struct flow_shares *shares, struct point at, const char *heading)
{
    struct chart chart = {drawing, at.x, at.x + BARS_WIDTH, at.y, at.y + BARS_HEIGHT, -0.5, shares->limit - 0.5,
                          0,       100};

    chart_heading(&chart, heading);
    chart_axes(&chart, 5, 0);
    for (int turn = 0; turn < shares->limit; turn++) {
        int64_t total = total_of(shares, turn);
        double share = 0;
        for (int state = 0; state < FLOW_STATES && total; state++) {
            double next = share + 100 * (double)flow_shares_at(shares, turn, state) / (double)total;
            if (next > share)
                drawing_raised_rect(drawing, (struct point){chart_x(&chart, turn - 0.42), chart_y(&chart, next)},
                                    (struct point){chart_x(&chart, turn + 0.42), chart_y(&chart, share)},
                                    figure_outcome_ink(state));
            share = next;
        }
        drawing_text(drawing, (struct point){chart_x(&chart, turn), chart.bottom + 11},
                     arena_printf(drawing->arena, "%d", turn), TEXT_SMALL, INK_SOFT, ALIGN_CENTER);
    }
}

struct drawing *figure_outcomes(struct arena *arena, const char *id, const char *title, const struct figure_view *view)
{
    size_t panels = panels_of(view);
    size_t columns = panels < COLUMNS_MAX ? panels : COLUMNS_MAX;
    size_t lines = (panels + COLUMNS_MAX - 1) / COLUMNS_MAX;
    double width = fmax(2 * CHART_MARGIN + (double)columns * (BARS_WIDTH + GAP_LEFT) + 10, 480);
    struct drawing *drawing = drawing_new(arena, id, title, width, 0);
    bool used[FLOW_STATES] = {false};
    double y;

    for (size_t row = 0; row < panels; row++) {
        struct flow_shares shares = shares_of(view, row, arena);
        mark_used(&shares, used);
    }
    y = draw_states(drawing, used, chart_title(drawing, title));
    for (size_t row = 0; row < panels; row++) {
        struct flow_shares shares = shares_of(view, row, arena);
        struct point at = {CHART_MARGIN + chart_offset(row % columns, BARS_WIDTH + GAP_LEFT) + GAP_LEFT,
                           y + 24 + chart_offset(row / columns, BARS_HEIGHT + GAP)};
        draw_bars(drawing, &shares, at, view->rows[row].label);
    }
    note_left_out(drawing, view, "x: turn; y: % of the turns that were planned",
                  y + 16 + (double)lines * (BARS_HEIGHT + GAP));
    return drawing;
}

/* Transitions: a column for each turn, a line for each state that occurs. */
enum { STATE_LINE = 25, TURN_STEP = 58, BOX_WIDTH = 32, BOX_HEIGHT = 16, STATE_NAME = 200, RIBBON_MAX = 16 };

struct flow_panel {
    struct drawing *drawing;
    struct flow_shares shares;
    struct flow_steps steps;
    int line[FLOW_STATES]; /* -1: the state does not occur */
    struct point at;       /* middle of the first box of the first line */
};

static struct point box_at(const struct flow_panel *panel, int turn, int state)
{
    return (struct point){panel->at.x + turn * TURN_STEP, panel->at.y + panel->line[state] * STATE_LINE};
}

/* An S from the right of one box to the left of the next. */
static void draw_ribbon(const struct flow_panel *panel, int turn, int from, int to, double share)
{
    enum { PIECES = 16 };
    struct point a = box_at(panel, turn, from);
    struct point b = box_at(panel, turn + 1, to);
    double width = fmax(round(share * RIBBON_MAX * 2) / 2, 0.8);

    drawing_path(panel->drawing, (struct drawing_style){0x70000000u | figure_outcome_ink(from), width, false});
    a.x += BOX_WIDTH / 2.0 - 1;
    b.x -= BOX_WIDTH / 2.0 - 1;
    for (int i = 0; i <= PIECES; i++) {
        double t = (double)i / PIECES;
        double s = t * t * (3 - 2 * t);
        drawing_point(panel->drawing, a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * s);
    }
}

static void draw_box(const struct flow_panel *panel, int turn, int state)
{
    int64_t count = flow_shares_at(&panel->shares, turn, state);
    struct point at = box_at(panel, turn, state);
    struct point half = {BOX_WIDTH / 2.0, BOX_HEIGHT / 2.0};

    if (!count)
        return;
    drawing_raised_rect(panel->drawing, (struct point){at.x - half.x, at.y - half.y},
                        (struct point){at.x + half.x, at.y + half.y}, figure_outcome_ink(state));
    drawing_text(panel->drawing, at, arena_printf(panel->drawing->arena, "%lld", (long long)count), TEXT_NORMAL,
                 chart_contrast(figure_outcome_ink(state)), ALIGN_CENTER);
}

static void draw_flow(const struct flow_panel *panel)
{
    for (int turn = 0; turn + 1 < panel->shares.limit; turn++) {
        int64_t total = total_of(&panel->shares, turn);
        for (int from = 0; from < FLOW_STATES; from++)
            for (int to = 0; to < FLOW_STATES; to++)
                if (flow_steps_at(&panel->steps, turn, from, to))
                    draw_ribbon(panel, turn, from, to,
                                (double)flow_steps_at(&panel->steps, turn, from, to) / (double)total);
    }
    for (int turn = 0; turn < panel->shares.limit; turn++)
        for (int state = 0; state < FLOW_STATES; state++)
            draw_box(panel, turn, state);
}

/* One row of the view, from its upper left corner on; returns the y below it. */
static double draw_flow_panel(struct drawing *drawing, const struct figure_view *view, size_t row, double left,
                              double top)
{
    struct arena *arena = drawing->arena;
    struct flow_panel panel = {drawing, shares_of(view, row, arena), flow_steps_new(arena, turns_of(view)), {0}, {0}};
    bool used[FLOW_STATES] = {false};
    int lines = 0;

    for (size_t d = 0; d < view->definition_count; d++)
        if (figure_scope(view, row, d))
            flow_steps_add(&panel.steps, figure_scope(view, row, d));
    mark_used(&panel.shares, used);
    panel.at = (struct point){left + STATE_NAME + BOX_WIDTH, top + 44};
    drawing_text(drawing, (struct point){left, top + 8}, chart_fit(arena, view->rows[row].label, TEXT_HEADING, 400),
                 TEXT_HEADING, INK_TEXT, ALIGN_LEFT);
    for (int turn = 0; turn < panel.shares.limit; turn++)
        drawing_text(drawing, (struct point){panel.at.x + turn * TURN_STEP, top + 26},
                     arena_printf(arena, "%s%d", turn ? "" : "turn ", turn), TEXT_SMALL, INK_SOFT, ALIGN_CENTER);
    for (int state = 0; state < FLOW_STATES; state++) {
        panel.line[state] = used[state] ? lines++ : -1;
        if (used[state])
            drawing_text(drawing, (struct point){left + STATE_NAME, panel.at.y + panel.line[state] * STATE_LINE},
                         chart_fit(arena, flow_state_words(state), TEXT_NORMAL, STATE_NAME), TEXT_NORMAL, INK_TEXT,
                         ALIGN_RIGHT);
    }
    draw_flow(&panel);
    return panel.at.y + (lines ? lines - 1 : 0) * STATE_LINE + 34;
}

struct drawing *figure_transitions(struct arena *arena, const char *id, const char *title,
                                   const struct figure_view *view)
{
    double width = STATE_NAME + BOX_WIDTH + turns_of(view) * TURN_STEP;
    size_t columns = panels_of(view) > 2 ? 2 : 1;
    struct drawing *drawing = drawing_new(arena, id, title, fmax(2 * CHART_MARGIN + (double)columns * width, 480), 0);
    double y = chart_title(drawing, title) + 4;

    for (size_t row = 0; row < panels_of(view);) {
        double next = y;
        for (size_t column = 0; column < columns && row < panels_of(view); column++, row++)
            next = fmax(next, draw_flow_panel(drawing, view, row, CHART_MARGIN + (double)column * width, y));
        y = next;
    }
    note_left_out(drawing, view, "numbers: trajectories; width: share of the trajectories at that turn", y);
    return drawing;
}
