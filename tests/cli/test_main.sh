#!/usr/bin/env bash
# The dispatcher: help, version, typos, exit statuses.
. "$(dirname "$0")/lib.sh"

t_run "$PTXBENCH"
t_status 64 'no command is a usage error'
t_is "$stdout" '' 'which prints nothing on standard output'
t_err_like '^usage: ptxbench COMMAND' 'but the usage on standard error'

for form in --help -h help; do
    t_run "$PTXBENCH" "$form"
    t_status 0 "$form succeeds"
    for command in eval compile task emu run inspect worker report model prompt doctor; do
        t_out_like "^  $command +[a-z]" "$form lists $command with a line of help"
    done
    t_is "$stderr" '' "$form prints nothing on standard error"
done

t_run "$PTXBENCH" --version
t_status 0 '--version succeeds'
t_out_like '^ptxbench [0-9]+\.[0-9]+\.[0-9]+$' 'and prints name and number'

t_run "$PTXBENCH" evl
t_status 64 'an unknown command is a usage error'
t_err_like "^ptxbench: 'evl' is not a command; did you mean 'eval'\?$" 'a near miss is suggested'
t_err_like "^hint: see 'ptxbench --help'$" 'with a hint'

t_run "$PTXBENCH" dcotor
t_err_like "did you mean 'doctor'" 'swapped letters too'

t_run "$PTXBENCH" zzzzzzzz
t_status 64 'a word like no command is a usage error'
t_err_unlike 'did you mean' 'and suggests nothing'

t_run "$PTXBENCH" "$(printf 'x%.0s' {1..5000})"
t_status 64 'a very long word is a usage error'

t_run "$PTXBENCH" ''
t_status 64 'an empty word is a usage error'

t_run "$PTXBENCH" --nonsense
t_status 64 'an unknown option is a usage error'
t_err_like "unknown option '--nonsense'" 'and is named'

for command in eval compile task emu run inspect worker report model prompt doctor; do
    t_run "$PTXBENCH" help "$command"
    t_status 0 "help $command succeeds"
    t_out_like "^Usage: ptxbench $command" "help $command shows its usage"
    t_run "$PTXBENCH" "$command" --no-such-option
    t_status 64 "$command with an unknown option is a usage error"
done

t_run "$PTXBENCH" help evl
t_status 64 'help on an unknown command is a usage error'
t_err_like "did you mean 'eval'" 'with the same suggestion'

# shellcheck disable=SC2016 # the inner shell expands $0
t_run bash -c '"$0" --help >/dev/full' "$PTXBENCH"
t_status 2 'output that cannot be written is trouble'
t_err_like '^ptxbench: standard output: cannot write' 'and is told'

# shellcheck disable=SC2016
t_run bash -c '"$0" --help | true' "$PTXBENCH"
t_is "$stderr" '' 'a reader that leaves early is not told'

t_done
