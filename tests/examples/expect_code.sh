#!/usr/bin/env bash
# expect_code.sh CODE COMMAND...: the command must end with CODE, and with one error on stderr.
set -uo pipefail
expected=$1
shift
errors=$("$@" 2>&1 > /dev/null)
code=$?
echo "$errors"
[[ $code == "$expected" ]] || { echo "exit code $code instead of $expected"; exit 1; }
count=$(grep -c '^concord: error:' <<< "$errors")
[[ $count == 1 ]] || { echo "$count errors on stderr instead of 1"; exit 1; }
