# Shared by scripts that compile the library, which source it from the project's top folder.
# shellcheck shell=sh

# sources_changed_since FILE: whether a source or header of the library is newer, or was added or removed.
sources_changed_since() { [ -n "$(find src include \( -type d -o -name '*.h' -o -name '*.cpp' \) -newer "$1")" ]; }

# all_in_one FILE [TOP]: writes a file that includes every source of the library below TOP, and prints its name. It compiles in a fraction of
# the time that the sources take one by one.
all_in_one() { ls "$(cd "${2:-.}" && pwd)"/src/*/*.cpp | sed 's/.*/#include "&"/' >"$1" && echo "$1"; }
