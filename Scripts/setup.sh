# shellcheck shell=bash disable=SC2034
# Sourced by ./cachectl, ./test and .ci/run: finds the toolchain and installs what is missing of the system's packages.
# Everything it says goes to the standard error.

# What the program is built with.
build_packages=(
  libsqlite3-dev  # the SQLite engine
  liblmdb-dev     # the LMDB engine
  libxxhash-dev   # the checksum of each entry
  zlib1g-dev      # the images of the sample origin's posters
  pkg-config      # tells where the libraries are
)

# What the tests and benchmarks use besides: the tools that look into stores, and the shells that complete.
test_packages=(
  sqlite3     # reads the SQLite engine's stores
  lmdb-utils  # mdb_stat and mdb_dump read the LMDB engine's stores
  jq          # reads the plist engine's files
  file        # recognises posters
  zsh fish    # run the completion scripts
)

say() { echo "cachectl: $*" >&2; }

# Ends with the status of a defect in the set-up.
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
  ((major > 6 || (major == 6 && minor >= 2))) ||
    give_up "Swift ${major}.${minor} is too old: install Swift 6.3 from https://swift.org/install"
}

# Installs those of the named packages that are missing.
need_packages() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null 2>&1; then
    give_up_without_apt "$@"
    return
  fi
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return
  local privileged=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || give_up "run this as root, then try again: apt-get install ${missing[*]}"
    privileged=(sudo)
  fi
  say "installing ${missing[*]}"
  "${privileged[@]}" apt-get update -qq >&2 || true  # An old list of packages may still do.
  "${privileged[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" </dev/null >&2 ||
    give_up "the packages could not be installed: see above, then try again: apt-get install ${missing[*]}"
}

# Elsewhere the libraries go by other names: what is there is used, and the build says what is not.
give_up_without_apt() {
  local header
  for header in sqlite3.h lmdb.h xxhash.h zlib.h; do
    echo "#include <$header>" | cc -E - >/dev/null 2>&1 ||
      give_up "$header is missing: install it, on Fedora with: dnf install sqlite-devel lmdb-devel xxhash-devel zlib-devel zlib-static"
  done
}

# How a release is built: the Swift runtime is linked in, and the program is loaded at a fixed address, so that a process
# starts without looking for libraries and without adjusting addresses. It can still load shared libraries.
release_flags=(-c release --product cachectl -Xswiftc -static-stdlib -Xlinker -no-pie)

# Has the linker take SQLite, LMDB and the C++ runtime out of their archives, where there are archives: that saves a
# third of the time that a warm fetch takes (see Benchmarks/README.md). The folder $1 holds links to them.
prefer_archives() {
  local folder=$1 library archive
  rm -rf "$folder"
  mkdir -p "$folder/pkgconfig"
  for library in sqlite3 lmdb stdc++; do
    archive=$(cc -print-file-name="lib$library.a")
    [ -e "$archive" ] || continue
    ln -s "$(readlink -f "$archive")" "$folder/lib$library.a"
    # SwiftPM gives the linker the folders of pkg-config first.
    pkg-config --exists "$library" 2>/dev/null || continue
    sed "s|^libdir=.*|libdir=$folder|" "$(pkg-config --variable=pcfiledir "$library")/$library.pc" \
      >"$folder/pkgconfig/$library.pc"
  done
  export PKG_CONFIG_PATH=$folder/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
}
