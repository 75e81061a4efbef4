#!/bin/sh
# The lines of each room beside its budget, tests/support/budget.txt; false where a room has more: sh tests/support/budget.sh
lines() { # of .h and .cpp in a room, and in the folders of instruction sets
  for place; do
    case $place in
      *.h) echo "$place" ;;
      include/attend) ls "$place"/*.h | grep -v /attend_c.h ;;
      *) find "$place" -name '*.h' -o -name '*.cpp' ;;
    esac
  done | xargs cat | wc -l
}
printf '%-26s %7s %7s %7s\n' room lines budget before
grep -v '^#' tests/support/budget.txt | sed 's/  */ /g; s/ \([0-9]\)/|\1/; s/\([0-9]\) \([a-z]\)/\1|\2/' | {
  sum=0 budgets=0 attention=0 over=''
  while IFS='|' read -r room numbers places; do
    budget=${numbers% *} before=${numbers#* }
    # shellcheck disable=SC2086
    now=$(lines $places)
    note=''
    [ "$now" -le "$budget" ] || note=' <- more than its budget' over="$over $room"
    printf '%-26s %7d %7d %7d%s\n' "$room" "$now" "$budget" "$before" "$note"
    sum=$((sum + now)) budgets=$((budgets + budget))
    case $room in layers | linear*) ;; *) attention=$((attention + now)) ;; esac
  done
  printf '%-26s %7d\n%-26s %7d %7d %7d\n' 'attention without layers' "$attention" all "$sum" "$budgets" 36291
  [ "$sum" -eq "$(lines include src)" ] || { echo "rooms of tests/support/budget.txt have $sum of $(lines include src) lines" && over=some; }
  [ -z "$over" ]
}
