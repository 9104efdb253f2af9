#!/usr/bin/env bash
# The checks of tools/ find what they are for: each is run on a small tree with one offence.
. "$(dirname "$0")/lib.sh"

tree=$T_DIR/tree
mkdir -p "$tree"/{tools,tests} "$tree"/src/{base,trace,cli}
cp "$PTXBENCH_SOURCE"/tools/check-* "$tree/tools/"

# put FILE LINE...: replaces a source file of the tree.
put() {
    local file=$tree/src/$1
    shift
    printf '%s\n' "$@" >"$file"
}

put base/a.h '#include <stdio.h>'
put base/a.c '#include "base/a.h"' 'int snprintf_like(void);' '/* strcpy(a, b) is not used here */'
put cli/b.c '#include "base/a.h"' '#include "trace/c.h"'
put trace/c.h '#include "base/a.h"'

t_run "$tree/tools/check-layers"
t_status 0 'layers: lower ones may be included'
t_run "$tree/tools/check-banned"
t_status 0 'banned: comments and longer names do not count'

put trace/c.h '' '#include "cli/b.h"'
t_run "$tree/tools/check-layers"
t_status 1 'layers: an include of a higher layer fails'
t_out_like '^src/trace/c.h:2: trace must not include cli' 'layers: and names file, line and both'
put trace/c.h '#include "a.h"'
t_run "$tree/tools/check-layers"
t_out_like '^src/trace/c.h:1: include "a.h" must name its layer' 'layers: a bare include fails'
put trace/c.h '#include "base/a.h"'
mkdir "$tree/src/extra" && put extra/d.c ''
t_run "$tree/tools/check-layers"
t_out_like '^src/extra/d.c:1: folder src/extra is no layer' 'layers: an unknown folder fails'
rm -r "$tree/src/extra"

put base/a.c '    strcpy(out, in);'
t_run "$tree/tools/check-banned"
t_status 1 'banned: a banned function fails'
t_out_like '^src/base/a.c:1:' 'banned: and is shown'
t_err_like '^banned: strcpy; use arena_strdup' 'banned: with what to take instead'
put base/a.c '    pid_t child = fork();'
t_run "$tree/tools/check-banned"
t_status 1 'banned: fork outside src/base/process.c fails'
mv "$tree/src/base/a.c" "$tree/src/base/process.c"
t_run "$tree/tools/check-banned"
t_status 0 'banned: and inside does not'

t_done
