#!/bin/sh
# Writes files that include several tests each, and prints their names: tests/support/groups.sh SIZE FOLDER TEST…
# A file changes only with what it says. A group of one is that test itself.
size=$1 folder=$2
shift 2
mkdir -p "$folder" || exit 1
groups=$(awk -v size="$size" -f tests/support/groups.awk "$@") || exit 1
echo "$groups" | while read -r group; do
  case $group in *' '*) ;; *) echo "$group" && continue ;; esac
  # Named after its first test.
  file=$folder/$(echo "${group%% *}" | sed 's,^tests/,,; s,/,_,g')
  for test in $group; do echo "#include \"$(pwd)/$test\""; done >"$file.new"
  if cmp -s "$file.new" "$file"; then rm "$file.new"; else mv "$file.new" "$file"; fi
  echo "$file"
done
