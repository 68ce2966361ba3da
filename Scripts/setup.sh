# shellcheck shell=bash disable=SC2034,SC2086
# Sourced from the top level by the scripts that build, test and install: finds the toolchain, installs missing packages of
# the system, and copies programs.
# Everything it says goes to stderr.

# The packages for building the program. If a line has several names, any of them will do, and the first is installed.
build_packages=(
  libsqlite3-dev  # the SQLite engine
  liblmdb-dev     # the LMDB engine
  libxxhash-dev   # the checksum of each entry
  zlib1g-dev      # the sample's movies, and answers that servers have compressed
  libzstd-dev     # answers that servers have compressed by Zstandard, and the transform zstd
  "libcurl4-openssl-dev|libcurl4-gnutls-dev|libcurl4-nss-dev" # the header of libcurl: installing one removes another
  "libcurl4|libcurl4t64" # what is sent over the network; the program loads the library itself when it first needs it
  libidn2-0       # the names of servers that are not ASCII; loaded in the same way
  libhiredis-dev  # the headers of hiredis, for the Redis engine, which loads the library itself
  libssl-dev      # those of OpenSSL, for its encrypted connections; loaded in the same way
)

# Further packages for the tests: the tools that look into stores, and the shells that complete.
test_packages=(
  libsodium23 # the transform sealed, which loads it itself
  sqlite3     # reads the SQLite engine's stores
  lmdb-utils  # mdb_stat and mdb_dump read the LMDB engine's stores
  jq          # reads the plist engine's files
  file        # recognises posters
  nginx       # a server whose answers are compared with what curl gets, and the one of the README's tour
  python3     # runs the tour (Scripts/tour)
  zsh fish    # run the completion scripts
  curl        # a client that the server for tests is tried with
  redis-server    # the servers that the Redis engine is tested with, and redis-cli
  openssl     # makes a certificate that no client trusts, and serves with it
  "chromium|google-chrome-stable"  # shows the report of a benchmark
  mount util-linux  # small disks that run full, and programs without privileges
  make  # builds the example of an engine in C, with the compiler of the toolchain
  binutils  # nm lists the names that a library exports
  bsdutils  # script gives a program a terminal
  groff man-db  # check and show the manual pages
)

# The libraries that the Redis engine loads when it opens its first connection: the library of hiredis that the headers are for, and that
# of OpenSSL.
redis_packages=("libhiredis0.14|libhiredis1.1.0" "libssl3|libssl3t64")

# What the files of a release are made with besides, and what they are tried with.
release_packages=(
  dpkg-dev  # finds the packages that a program depends on
  binutils  # strip
)
trial_packages=(
  lintian     # checks packages
  mmdebstrap  # makes the system in which they are tried
)

# Further packages for building the examples.
example_packages=(
  make  # the Makefile of the engine in C
  redis-server curl  # the servers that share a cache on Redis
)

# How ./test builds, and every script that shares its build: an import that Package.swift does not declare is an error, and so
# is a warning. The facts for debuggers, and an index of all that the system declares, would take two fifths of the time.
# Several packages share the scratch folder: each is planned again, because SwiftPM does not always see that the last plan
# there is another package's.
strict_flags=(
  --explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors
  -Xswiftc -index-ignore-system-modules -Xswiftc -gnone --disable-build-manifest-caching
)

# At most this many tests run at once. By default all of them do, and hundreds that share two cores hold each other up
# until a timeout passes that no test is about.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=64

say() { echo "cachectl: $*" >&2; }

# Ends with the status of a defect in the setup.
give_up() {
  say "$*"
  exit 70
}

need_toolchain() {
  command -v swift >/dev/null 2>&1 ||
    give_up "there is no Swift toolchain: install Swift 6.3 from https://swift.org/install and put it on PATH"
  local version
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
  read -r major minor <<<"${version:-0 0}"
  ((major > 6 || (major == 6 && minor >= 3))) ||
    give_up "Swift ${major}.${minor} is too old: install Swift 6.3 from https://swift.org/install"
}

# Makes the folder $1 with archives alone: if the linker sees both, it prefers the shared library. A library without
# an archive is linked as a shared library after all.
gather_archives() {
  local archives=$1 compiler library archive
  rm -rf "$archives"
  mkdir -p "$archives"
  compiler=$(command -v clang || command -v cc) || return 0
  for library in sqlite3 lmdb stdc++; do
    archive=$("$compiler" -print-file-name="lib$library.a")
    if [ -e "$archive" ]; then ln -s "$(readlink -f "$archive")" "$archives/lib$library.a"; fi
  done
}

# Installs those of the named packages that are missing.
need_packages() {
  local missing privileged=()
  command -v dpkg-query >/dev/null 2>&1 || {
    need_headers
    return
  }
  missing=$(missing_packages "$@")
  if [ -z "$missing" ]; then return; fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || give_up "run this as root, then try again: apt-get install" $missing
    privileged=(sudo)
  fi
  say "installing" $missing
  mkdir -p .build
  (
    flock 8 # One installation at a time: apt-get does not wait for another that looks for updates.
    "${privileged[@]}" apt-get update -qq || true # An old list of packages may still do.
    "${privileged[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq -o DPkg::Lock::Timeout=300 $missing </dev/null
  ) 8>.build/packages.lock >&2 ||
    give_up "the packages could not be installed: see above, then try again: apt-get install" $missing
}

# Those of the named packages that are not installed, one a line.
missing_packages() {
  local package states
  for package in "$@"; do
    # It fails if it does not know one of the names.
    states=$(dpkg-query -W -f '${db:Status-Status}\n' ${package//|/ } 2>/dev/null) || true
    grep -qx installed <<<"$states" || echo "${package%%|*}"
  done
}

# Elsewhere the packages go by other names: the script uses the installed ones, and the message names the missing ones.
need_headers() {
  local header
  for header in sqlite3.h lmdb.h xxhash.h zlib.h zstd.h curl/curl.h hiredis/hiredis.h openssl/ssl.h; do
    echo "#include <$header>" | "${CC:-clang}" -E - >/dev/null 2>&1 || give_up "$header is missing: install it, on Fedora" \
      "with: sudo dnf install sqlite-devel lmdb-devel xxhash-devel zlib-devel zlib-static libzstd-devel libzstd-static" \
      "libcurl-devel hiredis-devel openssl-devel"
  done
}

# Copies the program or library $1 to $2, without its symbols if there is a tool that removes them.
copy_stripped() {
  strip -s --remove-section=.comment --remove-section=.note -o "$2" "$1" 2>/dev/null || cp "$1" "$2"
}

# Copies the file $1 to $2 in one go: that, Linux keeps in one piece as far as it can, and shows to a process in large
# ones, so that a program starts faster.
copy_whole() { dd if="$1" of="$2" bs=256M iflag=fullblock status=none; }
