# shellcheck shell=bash
# Sourced by .ci/run and .ci/nightly: runs one step after another, whatever became of those before, and says at the end
# how each went. What both do is here, too.
steps=()
failures=()

step() {
  local name=$1 start=$SECONDS result=passed
  shift
  echo "== $name"
  "$@" || result=FAILED
  note "$name" "$result" $((SECONDS - start))
}

# Starts a step that goes on beside the next ones: what builds one module after another leaves a core idle.
begin() {
  begun=$1 begun_at=$SECONDS
  shift
  { "$@" || exit 1; } >"$scratch/begun.log" 2>&1 &
  begun_id=$!
}

# Waits for the step that was begun, and prints what it has printed.
await() {
  local result=passed
  wait "$begun_id" || result=FAILED
  echo "== $begun"
  cat "$scratch/begun.log"
  note "$begun" "$result" $((SECONDS - begun_at))
}

# Notes how the step $1 went ($2), and how many seconds it took ($3).
note() {
  if [ "$2" = FAILED ]; then failures+=("$1"); fi
  steps+=("$(printf '%5d s  %s  %s' "$3" "$2" "$1")")
  echo "== $2 after $3 s: $1"
}

# Runs tests under the thread sanitizer, in $scratch: those of the test targets that $1 names (all of them where it is
# empty), and of these what the other arguments, for `swift test`, choose.
sanitize() {
  local options=(--sanitize=thread --scratch-path "$scratch/tsan" -Xswiftc -index-ignore-system-modules) targets=$1
  shift
  (
    if [ -n "$targets" ]; then export CACHECTL_TEST_TARGETS=$targets; fi
    swift build "${options[@]}" --product cachectlPackageTests &&
      TSAN_OPTIONS="suppressions=$PWD/.ci/tsan.supp halt_on_error=0 exitcode=66" \
        swift test "${options[@]}" --skip-build "$@"
  )
}

# Ends with a failure where a step failed.
finish() {
  printf '%s\n' "== steps" "${steps[@]}"
  if [ ${#failures[@]} != 0 ]; then
    printf '== FAILED: %s\n' "${failures[@]}"
    exit 1
  fi
  echo "== all passed"
}
