#!/usr/bin/env bash
# The layout probes of tests/gpu, run as a CUDA program on the emulator, against what an H200 answered.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build=$(dirname "$PTXBENCH")
golden=$PTXBENCH_SOURCE/tests/data/layout/sm_90a.json
if ldd "$build/emu/libptxemu.so" 2>/dev/null | grep -q libasan; then
    t_skip_all 'programs without the sanitizers cannot load libraries with them'
fi

t_run "$PTXBENCH" emu -- "$build/tests/layout_fingerprints" "$T_DIR/emulated.json"
if [ -s "$T_DIR/emulated.json" ]; then
    t_ok 'the probes run to the end'
else
    t_not_ok 'the probes run to the end' "$(tail -n 3 "$T_DIR/.stderr")"
fi
differences=$(python3 - "$golden" "$T_DIR/emulated.json" <<'END'
import json
import sys

golden, emulated = ({c["name"]: c for c in json.load(open(path))["cases"]} for path in sys.argv[1:])
names = [n for n in golden if n not in emulated or emulated[n].get("digest") != golden[n].get("digest")]
print(f"{len(names)} of {len(golden)}", *names[:5])
END
)
case $differences in
'0 of '[1-9]*) t_ok "layouts that differ from the H200's: $differences" ;;
*) t_not_ok "no layout differs from the H200's" "$differences" ;;
esac
t_done
