# shellcheck shell=bash
# Sourced by .ci/run and .ci/nightly: runs one step after another, whatever became of those before, and says at the end
# how each went. What both do is here, too. The folder $scratch is theirs.
steps=()
failures=()

step() {
  local name=$1 start=$SECONDS result=passed
  shift
  echo "== $name"
  if ! "$@" 2>&1 | tee "$scratch/step.log"; then
    result=FAILED
    failures+=("$name")
    mv "$scratch/step.log" "$scratch/failure${#failures[@]}.log"
  fi
  steps+=("$(printf '%5d s  %s  %s' $((SECONDS - start)) $result "$name")")
  echo "== $result after $((SECONDS - start)) s: $name"
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

# Ends with a failure where a step failed, and repeats the end of what it printed: thousands of lines lie between.
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
