/* What json.c and json_read.c share. */
#ifndef PTXBENCH_BASE_JSON_INTERNAL_H
#define PTXBENCH_BASE_JSON_INTERNAL_H

#include "base/json.h"

struct json_document {
    struct arena *arena; /* owns the document itself, the name and the paths of its cursors */
    const char *name;
    const char *text; /* owned copy: messages look up lines in it */
    size_t length;
    int first_line;
    json_object *root;
    struct json_walk *walk;
};

/* Where json_entry stood last, so that walking a big object member by member stays linear. */
struct json_walk {
    json_object *object;
    size_t index;
    struct lh_entry *entry;
};

/* Paths of a member and of an element, in the arena. Long keys are cut: a path is for messages. */
const char *json_path_member(struct arena *arena, const char *parent, const char *key);
const char *json_path_element(struct arena *arena, const char *parent, size_t index);

/* Checks that a text of ours would be read back; the reason, or NULL when it is fine. */
const char *json_check_text(const char *text, size_t length);

#endif
