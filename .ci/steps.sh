# shellcheck shell=bash
# Sourced by .ci/run and .ci/nightly: runs one step after another, whatever became of those before, and says at the end
# how each went. The steps of both are here, too. The folder $scratch is theirs.
steps=()
failures=()
begun=()
queue= # The process that runs the steps that were begun.

step() {
  local start=$SECONDS status=0
  echo "== $1"
  "${@:2}" 2>&1 | tee "$scratch/step.log" || status=$?
  note "$1" $status $((SECONDS - start)) "$scratch/step.log"
}

# Keeps how the step $1 ended: its status, how many seconds it took, and what it printed.
note() {
  local result=passed
  if [ "$2" != 0 ]; then
    result=FAILED
    failures+=("$1")
    mv "$4" "$scratch/failure${#failures[@]}.log"
  fi
  steps+=("$(printf '%5d s  %s  %s' "$3" $result "$1")")
  echo "== $result after $3 s: $1"
}

# Runs a step in parallel with those that follow, after the others that were begun.
begin() {
  local number=${#begun[@]} before=$queue
  begun+=("$1")
  shift
  (
    while [ -n "$before" ] && kill -0 "$before" 2>/dev/null; do sleep 1; done
    start=$SECONDS status=0
    "$@" >"$scratch/begun$number.log" 2>&1 || status=$?
    echo "$status $((SECONDS - start))" >"$scratch/begun$number.result"
  ) &
  queue=$!
}

# Waits for the steps that were begun, and shows what they have printed.
collect() {
  local number status seconds
  wait
  for number in "${!begun[@]}"; do
    echo "== ${begun[number]}"
    cat "$scratch/begun$number.log"
    read -r status seconds <"$scratch/begun$number.result"
    note "${begun[number]}" "$status" "$seconds" "$scratch/begun$number.log"
  done
}

# Runs tests under the thread sanitizer, in $scratch: those of the test targets that $1 names (all of them if it is
# empty), and of these what the other arguments, for `swift test`, choose.
sanitize() {
  local targets=$1 options=(
    --sanitize=thread --scratch-path "$scratch/tsan" -Xswiftc -index-ignore-system-modules -Xswiftc -gline-tables-only
  )
  shift
  (
    if [ -n "$targets" ]; then export CACHECTL_TEST_TARGETS=$targets; fi
    swift build "${options[@]}" --product cachectlPackageTests &&
      TSAN_OPTIONS="suppressions=$PWD/.ci/tsan.supp halt_on_error=0 exitcode=66" \
        swift test "${options[@]}" --skip-build "$@"
  )
}

# Ends with a failure if a step failed, and repeats the end of what it printed: thousands of lines lie between.
finish() {
  local number
  for number in $(seq ${#failures[@]}); do
    echo "== the end of what failed: ${failures[number - 1]}"
    tail -n 60 "$scratch/failure$number.log"
  done
  printf '%s\n' "== steps" "${steps[@]}"
  if [ ${#failures[@]} != 0 ]; then
    printf '== FAILED: %s\n' "${failures[@]}"
    exit 1
  fi
  echo "== all passed"
}
