#!/usr/bin/env bash
# ptxbench report: formats, errors with file and line, diff.
. "$(dirname "$0")/lib.sh"

header=model,arch,definition,workload,run,trajectory_id,turn,reasoning_tokens,correctness,speedup,correct_with_arch
run_of() { # FILE MODEL CORRECT: 12 trajectories of 8 turns, of which the first CORRECT are right
    echo "$header" >"$1"
    local trajectory turn
    for trajectory in {0..11}; do
        for turn in {0..7}; do
            if [ "$turn" -lt "$3" ]; then
                echo "$2,hopper,gemm,w,run,exp_$trajectory,$turn,100,Correct,0.$((turn + 1)),1"
            else
                echo "$2,hopper,gemm,w,run,exp_$trajectory,$turn,100,Runtime error,0,0"
            fi
        done
    done >>"$1"
}
run_of "$T_DIR/a.csv" base 2
run_of "$T_DIR/b.csv" tuned 6

t_run "$PTXBENCH" report
t_status 64 'a run is needed'
t_run "$PTXBENCH" report "$T_DIR/absent.csv"
t_status 64 'a missing file'
t_err_like 'absent.csv: no such file or folder' 'is named'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --format xml
t_status 64 'a format that does not exist'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --figures "$T_DIR/figures" --figure-formats svg,gif
t_status 64 'a figure format that does not exist'
t_err_like '"gif" is none of svg, pdf, png' 'is named'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --metric nonsense
t_status 64 'a table that does not exist'
t_err_like 'is none of correctness, speedup' 'the message lists them'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --turns 4,1
t_status 64 'limits must rise'

t_run "$PTXBENCH" report "$T_DIR/a.csv"
t_status 0 'text'
t_out_like '^Hopper +base +100.0 / 50.0 / 25.0' 'rates at 1, 4 and 8 turns'
t_out_like '0.100 / 0.200 / 0.200' 'best speed-ups'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --turns 2,16
t_out_like '^Hopper +base +100.0 / \?' 'a limit beyond the plan has no value'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --format csv
t_status 0 'csv'
t_is "$(wc -l <<<"$stdout")" 4 'a heading and three limits'
t_out_like '^Hopper,base,gemm,run,4,12,48,0,0,24,24,0,50,50,50,' 'counts, rates and interval'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --format csv --metric metrics,cost
t_status 64 'csv holds one table'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --format csv --metric fastp_variants
t_out_like '^Hopper,base,gemm,run,all,pooled,0.1,12.5,0.2$' 'Fast_p of all turns'
t_out_like '^Hopper,base,gemm,run,target,2,0.2,0,0.2$' 'and of a prompt variant'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --format json
t_status 0 'json'
t_json '[t["id"] for t in v["tables"]][:3]' "['correctness', 'speedup', 'outcomes']" 'has the tables'
t_json 'v["tables"][0]["rows"][0]["gemm"]["all"]' '[100.0, 50.0, 25.0]' 'with every value'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --format latex --metric speedup
t_out_like 'begin\{tabular\}' 'latex'
t_run "$PTXBENCH" report "$T_DIR/a.csv" --out "$T_DIR/out.md" --format markdown
t_status 0 'to a file'
t_is "$(head -n 1 "$T_DIR/out.md")" '## Turn correctness rate (%)' 'which holds the tables'

t_run "$PTXBENCH" report diff "$T_DIR/a.csv" "$T_DIR/b.csv"
t_status 0 'diff'
t_out_like 'turn_correctness +25.000 +75.000 +50.000 \[50.000, 50.000\] +BETTER' 'better'
t_run "$PTXBENCH" report diff "$T_DIR/b.csv@tuned" "$T_DIR/a.csv@base"
t_out_like 'turn_correctness +75.000 +25.000 +-50.000 \[-50.000, -50.000\] +WORSE' 'worse, chosen by model'
t_run "$PTXBENCH" report diff "$T_DIR/a.csv" "$T_DIR/a.csv"
t_out_like 'turn_correctness .* SAME' 'the same'
t_run "$PTXBENCH" report diff "$T_DIR/a.csv@nobody" "$T_DIR/b.csv"
t_status 64 'nobody of that name'
t_err_like 'no model and no run is named "nobody"' 'is told'
t_run "$PTXBENCH" report diff "$T_DIR/a.csv"
t_status 64 'diff needs two'
t_run "$PTXBENCH" report diff "$T_DIR/a.csv" "$T_DIR/b.csv" --figures "$T_DIR/figures"
t_status 64 'diff draws no figures'

t_run "$PTXBENCH" report "$T_DIR/a.csv" "$T_DIR/b.csv" --format html --out "$T_DIR/page.html"
t_status 0 'a page'
t_true 'that ends' grep -q '</html>' "$T_DIR/page.html"
t_is "$(grep -c '<script' "$T_DIR/page.html")" 2 'with its own two scripts'
t_is "$(grep -Eo '(href|src)="[^"]*"' "$T_DIR/page.html" | sort -u)" 'href="data:,"' 'and nothing to load'
t_run "$PTXBENCH" report diff "$T_DIR/a.csv" "$T_DIR/b.csv" --format html
t_out_like '<td class="t">BETTER</td>' 'a page of a comparison'

t_run env PATH=/nowhere "$PTXBENCH" report "$T_DIR/a.csv" --figures "$T_DIR/figures"
t_status 2 'figures without gnuplot'
t_err_like 'figures need gnuplot, and there is none' 'say so'
t_err_like 'hint: install it \(Debian: apt-get install gnuplot-nox\)' 'and what to do'
t_is "$stdout" '' 'and nothing is printed'
printf '#!/bin/sh\necho "\"p.gp\" line 3: unknown or ambiguous terminal name" >&2\nexit 1\n' >"$T_DIR/gnuplot"
chmod +x "$T_DIR/gnuplot"
t_run env PATH="$T_DIR:$PATH" "$PTXBENCH" report "$T_DIR/a.csv" --figures "$T_DIR/figures"
t_status 2 'a gnuplot that cannot'
t_err_like 'gnuplot exited with status 1: line 3: unknown or ambiguous terminal name' 'is quoted'
if command -v gnuplot >/dev/null; then
    sed "s/base/\`touch owned\`/" "$T_DIR/a.csv" >"$T_DIR/odd.csv"
    t_run env -C "$T_DIR" "$PTXBENCH" report "$T_DIR/odd.csv" --figures "$T_DIR/figures"
    t_status 0 'figures'
    t_is "$(cd "$T_DIR/figures" && echo fastp*)" 'fastp_hopper.pdf fastp_hopper.png fastp_hopper.svg' 'in three formats'
    t_is "$(head -c 5 "$T_DIR/figures/fastp_hopper.pdf")" '%PDF-' 'PDF'
    t_true 'SVG that is XML' python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' \
        "$T_DIR/figures/heatmap_hopper.svg"
    # shellcheck disable=SC2016 # a name, no command
    t_true 'with the name as text' grep -q '`touch owned`' "$T_DIR/figures/heatmap_hopper.svg"
    t_is "$(cd "$T_DIR" && echo owned*)" 'owned*' 'that nobody ran'
fi

# A run as `ptxbench run` leaves it: only turns.jsonl holds turns.
mkdir -p "$T_DIR/run/trajectories/t/turn_0"
echo '{"schema": "ptxbench.run.v1"}' >"$T_DIR/run/run.json"
echo '{"event": "started"}' >"$T_DIR/run/trajectories/t/events.jsonl"
t_run "$PTXBENCH" report "$T_DIR/run"
t_status 64 'a run without turns'
t_err_like 'run: a run without turns.jsonl' 'is told'
echo '{"schema": "ptxbench.turn.v1", "model": "m", "run": "r", "trajectory": "t", "turn": 0, "outcome": "extraction",
 "definition": "gemm", "arch": "sm_90a"}' | tr -d '\n' >"$T_DIR/run/turns.jsonl"
echo >>"$T_DIR/run/turns.jsonl"
sed 's/extraction/exploded/' "$T_DIR/run/turns.jsonl" >"$T_DIR/exploded.jsonl"
t_run "$PTXBENCH" report "$T_DIR/exploded.jsonl"
t_err_like 'exploded.jsonl:1: .*"exploded" is no outcome' 'an unknown outcome'
echo code >"$T_DIR/run/trajectories/t/turn_0/kernel.cu"
t_run "$PTXBENCH" report "$T_DIR/run" --turns 1 --format csv
t_out_like '^sm_90a,m,gemm,r,1,1,1,' 'a run is read, its logs are not'
t_run "$PTXBENCH" report "$T_DIR/run" --turns 1 --format html --out "$T_DIR/run.html"
t_true 'a page links to the code' grep -q '"./run/trajectories/t/turn_0/kernel.cu"' "$T_DIR/run.html"

{ cat "$T_DIR/a.csv" && printf 'base,hopper,ge'; } >"$T_DIR/torn.csv"
t_run "$PTXBENCH" report "$T_DIR/torn.csv"
t_status 0 'a cut last line'
t_err_like 'torn.csv:98: the last line is cut; left out' 'is a warning with file and line'
sed '5s/0\.4/nan/;5s/Runtime error,0/Correct,nan/' "$T_DIR/a.csv" >"$T_DIR/nan.csv"
t_run "$PTXBENCH" report "$T_DIR/nan.csv"
t_status 64 'NaN'
t_err_like 'nan.csv:5: speed-up nan is not a number' 'is an error with file and line'
t_is "$stdout" '' 'and nothing is printed'

sed '2s/,0\.1,/,-0.1,/' "$T_DIR/a.csv" >"$T_DIR/negative.csv"
t_run "$PTXBENCH" report "$T_DIR/negative.csv"
t_err_like 'negative.csv:2: speed-up -0.1 is not a number that is 0 or more' 'a negative speed-up'
sed '3s/Correct/Corect/' "$T_DIR/a.csv" >"$T_DIR/label.csv"
t_run "$PTXBENCH" report "$T_DIR/label.csv"
t_err_like 'label.csv:3: correctness: expected a known label, found "Corect"' 'an unknown label'
{ printf '\xef\xbb\xbf' && cat "$T_DIR/a.csv"; } >"$T_DIR/marked.csv"
t_run "$PTXBENCH" report "$T_DIR/marked.csv"
t_status 0 'a byte order mark is no part of the header'
sed '2s/,0\.1,/,,/;3s/,0\.2,/,0,/' "$T_DIR/a.csv" >"$T_DIR/untimed.csv"
t_run "$PTXBENCH" report "$T_DIR/untimed.csv"
t_err_like 'untimed.csv:2: a correct turn without a speed-up' 'a correct turn without a speed-up is a warning'
t_is "$(grep -c 'without a speed-up' <<<"$stderr")" 1 'once'
{ cat "$T_DIR/a.csv" && sed -n 2p "$T_DIR/a.csv"; } >"$T_DIR/twice.csv"
t_run "$PTXBENCH" report "$T_DIR/twice.csv"
t_status 0 'an equal turn twice'
t_err_like 'twice.csv:98: turn 0 of trajectory "exp_0" repeats .*twice.csv:2; counted once' 'is a warning with both lines'
{ cat "$T_DIR/a.csv" && sed -n '2s/0\.1/0.2/p' "$T_DIR/a.csv"; } >"$T_DIR/other.csv"
t_run "$PTXBENCH" report "$T_DIR/other.csv"
t_status 64 'a different turn twice'
t_err_like 'other.csv:98: turn 0 .* already read from .*other.csv:2, with other content' 'is an error with both lines'
{
    echo model,arch,definition,run,date,turn_limit,n_trajectories,correct_with_arch,n_correct_turns,n_unknown_correct_turns
    echo base,hopper,gemm,run,2026-01-31,1,12,12,12,0
    echo base,hopper,gemm,run,2026-0131,4,12,12,24,0
    echo base,hopper,gemm,run,2026-0631,8,12,12,24,0
} >"$T_DIR/dates.csv"
t_run "$PTXBENCH" report "$T_DIR/a.csv" "$T_DIR/dates.csv"
t_status 0 'dates in two ways'
t_err_like 'dates.csv:3: dates are written in two ways' 'are a warning with file and line'
t_err_like 'dates.csv:4: .*2026-0631' 'and one that does not exist'

t_done
