# Shared by scripts that keep what they have compiled, which source it from the project's top folder.
# shellcheck shell=sh

# sources_changed_since FILE: whether a source or header of the library is newer, or was added or removed.
sources_changed_since() { [ -n "$(find src include \( -type d -o -name '*.h' -o -name '*.cpp' \) -newer "$1")" ]; }
