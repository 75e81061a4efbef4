# Shared by the check.sh scripts of adapters, which source it after tests/support/check.sh: what they compile with and run on.
# shellcheck shell=sh disable=SC2154

# fetched PEER FOLDER WHAT: the package lies in FOLDER, fetched if need be; otherwise it is said to be missing, which is a failure in CI.
fetched() {
  [ -d "$2" ] || sh bench/speed/peers/fetch.sh "$1" >"$build/fetch.log" 2>&1
  [ -d "$2" ] && return
  missing "$3" "npm could not fetch $1: $(head -n 1 "$build/fetch.log")"
  return 1
}

# one_unit SOURCE…: a translation unit of all of them, for a compiler's -x c++ -, which takes a third of the time that they take one by one.
# With ALL=1 each_alone reads each of them by itself.
one_unit() { printf '#include "%s"\n' "$@"; }

# each_alone WHAT "SOURCE…" COMMAND…: each source compiles by itself, with all warnings: nothing that it needs comes from the one before.
each_alone() {
  what=$1 each=$2
  shift 2
  # shellcheck disable=SC2016,SC2086
  succeeds "$what: each source compiles by itself" sh -c 'printf "%s\n" $0 | xargs -n 1 -P 2 "$@" -fsyntax-only' "$each" "$@"
}

# The library for AArch64, of the objects that targets.sh has too: the first of all scripts that run side by side makes them. Sets $arm, the
# compiler, and $arm_library.
arm64_library() {
  arm=aarch64-linux-gnu-g++
  of_target=${build%/adapters/*}/targets/aarch64-linux-gnu
  arm_library=$of_target/libattend.a
  command -v $arm >/dev/null && command -v qemu-aarch64 >/dev/null || return 1
  mkdir -p "$of_target"
  (
    cxx=$arm
    library_at -O2 "$of_target" || exit 1
    exec 9>"$of_target/archive.lock"
    flock 9
    [ "$arm_library" -nt "$objects.made" ] || { rm -f "$arm_library" && aarch64-linux-gnu-ar rcs "$arm_library" "$objects"/*.o; }
  ) >"$build/arm64.log" 2>&1
}

# A root for programs of AArch64 under qemu-aarch64: this machine's files, but for libraries and the processor's description, which runtimes
# read to learn what it can do. Sets $arm_root.
arm64_root() {
  arm_root=$build/arm64
  mkdir -p "$arm_root/proc"
  ln -sfn /usr/aarch64-linux-gnu/lib "$arm_root/lib"
  printf 'processor\t: 0\nBogoMIPS\t: 100.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc dcpop asimddp\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n' >"$arm_root/proc/cpuinfo"
}
