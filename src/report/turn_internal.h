/* The growing half of a turn set: turn.c adds rows, turn_join.c makes turns of them. */
#ifndef PTXBENCH_REPORT_TURN_INTERNAL_H
#define PTXBENCH_REPORT_TURN_INTERNAL_H

#include "report/intern.h"
#include "report/turn.h"

struct source_plan {
    uint32_t source;
    int turns;
};

/* A row as it is kept until the set is closed. */
struct built_row {
    struct turn turn;
    uint32_t trajectory; /* number in `trajectories` */
    uint32_t workload;
    uint32_t file;
    uint32_t line;
    bool repeatable;
};

struct built_trajectory {
    uint32_t series;
    uint32_t name;
    int64_t variant;
};

struct built_series {
    uint32_t model;
    uint32_t arch;
    uint32_t definition;
    uint32_t run;
    uint32_t source;
};

/* What else was said of a series, until the series are known. */
struct built_note {
    struct built_series series;
    struct series_sass sass; /* limit 0: none, only expected */
    const char *date;
    const char *file;
    size_t line;
};

struct turn_builder {
    struct arena *arena;
    struct intern texts;
    struct intern series_keys;
    struct intern trajectory_keys;
    struct built_row *rows;
    size_t row_count;
    size_t row_capacity;
    struct built_series *series;
    size_t series_capacity;
    struct built_trajectory *trajectories;
    size_t trajectory_capacity;
    RECORD_LIST(struct source_plan) plans;
    RECORD_LIST(struct built_note) notes;
    uint32_t source; /* text number of the current one */
    bool has_source;
};

#endif
