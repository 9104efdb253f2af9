/* Keys and kinds of ptxbench.verdict.v1: the table behind verdict_to_json and verdict_from_json. */
#ifndef PTXBENCH_JUDGE_VERDICT_SCHEMA_H
#define PTXBENCH_JUDGE_VERDICT_SCHEMA_H

#include "base/record.h"

extern const struct record_type verdict_record; /* struct verdict */

#endif
