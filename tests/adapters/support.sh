# Shared by the check.sh scripts of adapters, which source it after tests/support/check.sh: what they compile with and run on.
# shellcheck shell=sh disable=SC2154

# fetched PEER FOLDER WHAT: the package lies in FOLDER, fetched if need be; otherwise it is said to be missing, which is a failure in CI.
fetched() {
  [ -d "$2" ] || sh bench/peers/fetch.sh "$1" >"$build/fetch.log" 2>&1
  [ -d "$2" ] && return
  missing "$3" "npm could not fetch $1: $(head -n 1 "$build/fetch.log")"
  return 1
}

# missing WHAT WHY: a failure in CI, and otherwise said.
missing() {
  if [ "${CI:-}" = true ]; then fail "$1" "$2"; else skip "$1" "$2"; fi
}

# needs_python MODULES PACKAGES: sets $python to an interpreter that has the modules, or says what is missing, and is false then.
needs_python() {
  python=${PYTHON:-}
  for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || { "$candidate" -c "import $1" 2>/dev/null && python=$candidate; }
  done
  [ -n "$python" ] && return
  missing "python3 with $1" "apt-get install $2"
  return 1
}

# The library for AArch64, which scripts that run side by side share: the first makes it. Sets $arm, the compiler, and $arm_library.
arm64_library() {
  arm=aarch64-linux-gnu-g++ arm_library=build/aarch64-linux-gnu-g++-O2/libattend.a
  command -v $arm >/dev/null && command -v qemu-aarch64 >/dev/null || return 1
  mkdir -p build
  flock build/arm64.lock make lib CXX=$arm BUILD="${arm_library%/*}" >"$build/arm64.log" 2>&1
}

# A root for programs of AArch64 under qemu-aarch64: this machine's files, but for libraries and the processor's description, which runtimes
# read to learn what it can do. Sets $arm_root.
arm64_root() {
  arm_root=$build/arm64
  mkdir -p "$arm_root/proc"
  ln -sfn /usr/aarch64-linux-gnu/lib "$arm_root/lib"
  printf 'processor\t: 0\nBogoMIPS\t: 100.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc dcpop asimddp\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n' >"$arm_root/proc/cpuinfo"
}
