/* Shared by the sass*.c files. */
#ifndef PTXBENCH_TOOLCHAIN_SASS_INTERNAL_H
#define PTXBENCH_TOOLCHAIN_SASS_INTERNAL_H

#include "toolchain/sass.h"

/* Counts the families of every function and of the report, for report->arch. */
void sass_count_families(struct sass_report *report);

/* Reads sass.json of a cache folder; false when it is missing, damaged, or made by another nvdisasm or object. */
bool sass_cache_read(struct arena *arena, const char *folder, const char *object_hash, struct sass_report *report);

/* Writes sass.json; best effort (the cache only saves time). */
void sass_cache_write(const char *folder, const char *object_hash, const struct sass_report *report);

#endif
