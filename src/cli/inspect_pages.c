#include "cli/inspect_pages.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/interrupt.h"
#include "cli/inspect_text.h"

enum { TEXT_MAX = 16 << 20, ROWS_DEFAULT = 24, COLUMNS_DEFAULT = 80 };
enum key { KEY_NONE, KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_LEFT, KEY_RIGHT };

struct pages {
    const struct run_view *view;
    struct arena *list_arena;
    struct run_view_trajectory *list; /* summaries */
    struct arena *arena;              /* of the open trajectory */
    struct run_view_trajectory open;
    size_t chosen; /* trajectory */
    bool in_list;
    int turn;
    enum inspect_part part;
    struct buffer text;
    int line_count;
    int top; /* first line on the screen */
    int rows;
    int columns;
};

static bool load_list(struct pages *pages, struct error *error)
{
    arena_free(pages->list_arena);
    pages->list_arena = arena_new();
    pages->list = arena_calloc(pages->list_arena, pages->view->count + 1, sizeof *pages->list);
    for (size_t i = 0; i < pages->view->count; i++)
        if (!run_view_load(pages->view, i, false, pages->list_arena, &pages->list[i], error))
            return false;
    return true;
}

static bool open_chosen(struct pages *pages, struct error *error)
{
    arena_free(pages->arena);
    pages->arena = arena_new();
    if (!run_view_load(pages->view, pages->chosen, true, pages->arena, &pages->open, error))
        return false;
    pages->in_list = false;
    pages->turn = 0;
    pages->top = 0;
    return true;
}

static void measure(struct pages *pages)
{
    struct winsize window = {0};

    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
    pages->rows = window.ws_row > 4 ? window.ws_row : ROWS_DEFAULT;
    pages->columns = window.ws_col > 20 ? window.ws_col : COLUMNS_DEFAULT;
}

static void make_text(struct pages *pages)
{
    buffer_reset(&pages->text);
    if (pages->in_list) {
        inspect_write_list(&pages->text, pages->view, pages->list);
    } else {
        inspect_write_head(&pages->text, &pages->open);
        (void)buffer_append_text(&pages->text, "\n");
        if (pages->turn < pages->open.state.turn) {
            inspect_write_turn(&pages->text, &pages->open, pages->turn);
            (void)buffer_append_text(&pages->text, "\n");
            inspect_write_part(&pages->text, &pages->open, pages->turn, pages->part, pages->columns, true);
        }
    }
    pages->line_count = 0;
    for (const char *at = pages->text.data; *at; at++)
        pages->line_count += *at == '\n';
}

/* Bytes of a line that fit, colour sequences not counted. */
static size_t fitting(const char *line, size_t length, int columns)
{
    size_t at = 0;
    int used = 0;

    while (at < length && used < columns) {
        if (line[at] == '\033') {
            while (at < length && line[at] != 'm')
                at++;
        } else if (((unsigned char)line[at] & 0xc0) != 0x80) {
            used++;
        }
        at++;
    }
    while (at < length && ((unsigned char)line[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static void draw(struct pages *pages)
{
    enum { LIST_HEAD = 3 };
    int height = pages->rows - 1;
    int number = 0;
    AUTO_BUFFER screen = buffer_new(TEXT_MAX);

    if (pages->in_list) {
        int row = (int)pages->chosen + LIST_HEAD;
        if (row < pages->top)
            pages->top = row;
        if (row >= pages->top + height)
            pages->top = row - height + 1;
    }
    if (pages->top > pages->line_count - height)
        pages->top = pages->line_count - height;
    if (pages->top < 0)
        pages->top = 0;
    (void)buffer_append_text(&screen, "\033[H\033[J");
    for (const char *at = pages->text.data; *at && number < pages->top + height; number++) {
        size_t length = strcspn(at, "\n");
        bool chosen = pages->in_list && number == (int)pages->chosen + LIST_HEAD;
        if (number >= pages->top)
            (void)buffer_printf(&screen, "%s%.*s\033[0m\r\n", chosen ? "\033[7m" : "",
                                (int)fitting(at, length, pages->columns - 1), at);
        at += length + (at[length] == '\n');
    }
    (void)buffer_printf(&screen, "\033[%d;1H\033[7m%s\033[0m", pages->rows,
                        pages->in_list ? " up/down choose, enter open, r read again, q leave "
                                       : " n/p turn, d diff, c code, v verdict, f feedback, a answer, arrows scroll, "
                                         "l list, q leave ");
    (void)fwrite(screen.data, 1, screen.length, stdout);
    (void)fflush(stdout);
}

/* Escape sequences of arrow and page keys come as one read. */
static int read_key(void)
{
    static const struct {
        const char *sequence;
        enum key key;
    } table[] = {{"\033[A", KEY_UP},   {"\033[B", KEY_DOWN}, {"\033[5~", KEY_PAGE_UP}, {"\033[6~", KEY_PAGE_DOWN},
                 {"\033[H", KEY_HOME}, {"\033[F", KEY_END},  {"\033[C", KEY_RIGHT},    {"\033[D", KEY_LEFT}};
    struct pollfd waiting[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = interrupt_fd(), .events = POLLIN}};
    char bytes[16] = "";

    if (poll(waiting, ARRAY_LEN(waiting), -1) < 0)
        return errno == EINTR ? KEY_NONE : 'q';
    if (interrupt_requested())
        return 'q';
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes - 1);
    if (got <= 0)
        return 'q';
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!strcmp(bytes, table[i].sequence))
            return (int)table[i].key;
    return (unsigned char)bytes[0];
}

static bool list_key(struct pages *pages, int key, bool *leave, struct error *error)
{
    size_t count = pages->view->count;

    if (key == 'q')
        *leave = true;
    if ((key == KEY_UP || key == 'k') && pages->chosen)
        pages->chosen--;
    if ((key == KEY_DOWN || key == 'j') && pages->chosen + 1 < count)
        pages->chosen++;
    if (key == KEY_HOME)
        pages->chosen = 0;
    if (key == KEY_END && count)
        pages->chosen = count - 1;
    if (key == KEY_PAGE_UP)
        pages->chosen -= pages->chosen < (size_t)pages->rows ? pages->chosen : (size_t)pages->rows;
    if (key == KEY_PAGE_DOWN)
        pages->chosen = pages->chosen + (size_t)pages->rows < count ? pages->chosen + (size_t)pages->rows : count - 1;
    if (key == 'r')
        return load_list(pages, error);
    return (key != '\r' && key != '\n' && key != KEY_RIGHT) || !count || open_chosen(pages, error);
}

static void turn_key(struct pages *pages, int key, bool *leave)
{
    static const char part_keys[INSPECT_PARTS + 1] = "dcvfa";
    const char *part = key < 256 && key ? strchr(part_keys, key) : NULL;
    int turn = pages->turn;

    if (key == 'q')
        *leave = true;
    if (key == 'l' || key == KEY_LEFT || key == 27) {
        pages->in_list = true;
        pages->top = 0;
    }
    if (part)
        pages->part = (enum inspect_part)(part - part_keys);
    turn += (key == 'n') - (key == 'p');
    if (turn >= 0 && turn < pages->open.state.turn && turn != pages->turn)
        pages->turn = turn;
    if (part || key == 'n' || key == 'p')
        pages->top = 0;
    pages->top += (key == KEY_DOWN || key == 'j') - (key == KEY_UP || key == 'k');
    pages->top += (pages->rows - 2) * ((key == KEY_PAGE_DOWN || key == ' ') - (key == KEY_PAGE_UP || key == 'b'));
    if (key == KEY_HOME)
        pages->top = 0;
    if (key == KEY_END)
        pages->top = pages->line_count;
}

static bool work(struct pages *pages, struct error *error)
{
    bool leave = false;

    while (!leave) {
        measure(pages);
        make_text(pages);
        draw(pages);
        int key = read_key();
        if (!pages->in_list)
            turn_key(pages, key, &leave);
        else if (!list_key(pages, key, &leave, error))
            return false;
    }
    return true;
}

bool inspect_pages(const struct run_view *view, size_t start, struct error *error)
{
    struct pages pages = {.view = view, .in_list = true, .text = buffer_new(TEXT_MAX)};
    struct termios before, raw;
    bool ok;

    if (tcgetattr(STDIN_FILENO, &before))
        return error_system(error, errno, "the terminal cannot be read");
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    interrupt_catch();
    ok = load_list(&pages, error);
    if (ok && start != SIZE_MAX) {
        pages.chosen = start;
        ok = open_chosen(&pages, error);
    }
    if (ok) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        (void)fputs("\033[?1049h", stdout); /* the other screen */
        ok = work(&pages, error);
        (void)fputs("\033[?1049l", stdout);
        (void)fflush(stdout);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
    buffer_free(&pages.text);
    arena_free(pages.arena);
    arena_free(pages.list_arena);
    return ok;
}
