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
t_run "$PTXBENCH" report "$T_DIR/a.csv" --format html
t_status 64 'a format that does not exist'
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

{ cat "$T_DIR/a.csv" && printf 'base,hopper,ge'; } >"$T_DIR/torn.csv"
t_run "$PTXBENCH" report "$T_DIR/torn.csv"
t_status 0 'a cut last line'
t_err_like 'torn.csv:98: the last line is cut; left out' 'is a warning with file and line'
sed '5s/0\.4/nan/;5s/Runtime error,0/Correct,nan/' "$T_DIR/a.csv" >"$T_DIR/nan.csv"
t_run "$PTXBENCH" report "$T_DIR/nan.csv"
t_status 64 'NaN'
t_err_like 'nan.csv:5: speed-up nan is not a number' 'is an error with file and line'
t_is "$stdout" '' 'and nothing is printed'

t_done
