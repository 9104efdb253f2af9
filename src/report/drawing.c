#include "report/drawing.h"

#include <math.h>
#include <string.h>

struct drawing *drawing_new(struct arena *arena, const char *id, const char *title, double width, double height)
{
    struct drawing *drawing = arena_alloc(arena, sizeof *drawing);

    drawing->arena = arena;
    drawing->id = arena_strdup(arena, id);
    drawing->title = arena_strdup(arena, title);
    drawing->width = width;
    drawing->height = height;
    return drawing;
}

void drawing_rect(struct drawing *drawing, struct point from, struct point to, color fill)
{
    *LIST_APPEND(drawing->arena, &drawing->rects) = (struct drawing_rect){from, to, fill, false};
}

void drawing_raised_rect(struct drawing *drawing, struct point from, struct point to, color fill)
{
    *LIST_APPEND(drawing->arena, &drawing->rects) = (struct drawing_rect){from, to, fill, true};
}

void drawing_path(struct drawing *drawing, struct drawing_style style)
{
    *LIST_APPEND(drawing->arena, &drawing->paths) = (struct drawing_path){style, drawing->points.count, 0};
}

void drawing_point(struct drawing *drawing, double x, double y)
{
    *LIST_APPEND(drawing->arena, &drawing->points) = (struct point){x, y};
    drawing->paths.items[drawing->paths.count - 1].count++;
}

void drawing_line(struct drawing *drawing, struct point from, struct point to, color ink, double width)
{
    drawing_path(drawing, (struct drawing_style){ink, width, false});
    drawing_point(drawing, from.x, from.y);
    drawing_point(drawing, to.x, to.y);
}

void drawing_dot(struct drawing *drawing, struct point at, double radius, color fill)
{
    *LIST_APPEND(drawing->arena, &drawing->dots) = (struct drawing_dot){at, radius, fill};
}

/* First bytes of a text that hold at most `most` characters. */
static size_t cut_text(const char *text, size_t most)
{
    size_t length = 0;

    for (; text[length]; length++)
        if (((unsigned char)text[length] & 0xc0) != 0x80 && most-- == 0)
            break;
    return length;
}

/* Whether DejaVu Sans has the character. gnuplot paints a box over the whole page for one that no font has. */
static bool is_painted(uint32_t c)
{
    static const struct {
        uint32_t first;
        uint32_t last;
    } ranges[] = {{0x20, 0x7e},     {0xa1, 0x24f},    {0x370, 0x377},   {0x386, 0x3ff},  {0x400, 0x481},
                  {0x2010, 0x2027}, {0x2030, 0x205e}, {0x2190, 0x21ff}, {0x2200, 0x22ff}};

    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last && c != 0xad)
            return true;
    return false;
}

/* The character at `*at`, which is valid UTF-8; moves behind it. */
static uint32_t next_character(const char **at)
{
    unsigned char lead = (unsigned char)*(*at)++;
    uint32_t c = lead < 0xc0 ? lead : lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0x0f : lead & 0x07;

    while (((unsigned char)**at & 0xc0) == 0x80)
        c = c << 6 | ((unsigned char)*(*at)++ & 0x3f);
    return c;
}

/* Printable, on one line, of bounded length; what cannot be painted becomes an empty square. */
static const char *clean_text(struct arena *arena, const char *text)
{
    AUTO_BUFFER valid = buffer_new(4096);
    AUTO_BUFFER clean = buffer_new(4096);
    size_t kept = cut_text(text, DRAWING_TEXT_MAX);
    const char *at;

    (void)buffer_append_sanitized(&valid, text, kept);
    for (at = valid.data; *at;) {
        const char *from = at;
        uint32_t c = next_character(&at);
        if (c == '\n' || c == '\t')
            (void)buffer_append_text(&clean, " ");
        else if (is_painted(c))
            (void)buffer_append(&clean, from, (size_t)(at - from));
        else
            (void)buffer_append_text(&clean, "\xe2\x96\xa1");
    }
    return arena_printf(arena, "%s%s", clean.data, text[kept] ? "\xe2\x80\xa6" : "");
}

static void add_text(struct drawing *drawing, struct drawing_text text)
{
    text.text = clean_text(drawing->arena, text.text);
    if (*text.text)
        *LIST_APPEND(drawing->arena, &drawing->texts) = text;
}

void drawing_text(struct drawing *drawing, struct point at, const char *text, double size, color ink,
                  enum text_align align)
{
    add_text(drawing, (struct drawing_text){at, text, size, ink, align, 0});
}

void drawing_text_upwards(struct drawing *drawing, struct point at, const char *text, double size, color ink,
                          enum text_align align)
{
    add_text(drawing, (struct drawing_text){at, text, size, ink, align, 90});
}

/* Widths in em, rounded up. */
static double character_width(unsigned char c)
{
    static const struct {
        const char *characters;
        double width;
    } rows[] = {{"ijlI", 0.30}, {" .,:;'|!()[]-", 0.40}, {"ftr/", 0.42}, {"acegkosuvxyz", 0.65}, {"mwMW%@", 0.99}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strchr(rows[i].characters, c))
            return rows[i].width;
    if ((c >= 'A' && c <= 'Z') || c >= 0xc0)
        return 0.74;
    return c >= 0x80 ? 0 : 0.67; /* a continuation byte adds nothing */
}

double drawing_text_width(const char *text, double size)
{
    double width = 0;

    for (; *text; text++)
        width += character_width((unsigned char)*text);
    return width * size;
}

struct box {
    double left;
    double right;
    double top;
    double bottom;
};

static struct box box_of(const struct drawing_text *text)
{
    double width = drawing_text_width(text->text, text->size);
    double before = text->align == ALIGN_LEFT ? 0 : text->align == ALIGN_RIGHT ? width : width / 2;
    double half = text->size * 0.55;

    if (text->degrees)
        return (struct box){text->at.x - half, text->at.x + half, text->at.y - width + before, text->at.y + before};
    return (struct box){text->at.x - before, text->at.x - before + width, text->at.y - half, text->at.y + half};
}

const char *drawing_overlap(const struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->texts.count; i++) {
        const struct drawing_text *text = &drawing->texts.items[i];
        struct box a = box_of(text);
        if (a.left < 0 || a.top < 0 || a.right > drawing->width || a.bottom > drawing->height)
            return arena_printf(drawing->arena, "%s: \"%s\" leaves the page", drawing->id, text->text);
        for (size_t j = 0; j < i; j++) {
            struct box b = box_of(&drawing->texts.items[j]);
            if (fmax(a.left, b.left) < fmin(a.right, b.right) && fmax(a.top, b.top) < fmin(a.bottom, b.bottom))
                return arena_printf(drawing->arena, "%s: \"%s\" overlaps \"%s\"", drawing->id, text->text,
                                    drawing->texts.items[j].text);
        }
    }
    return NULL;
}
