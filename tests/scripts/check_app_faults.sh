#!/bin/sh
# The application where files and outputs fail: tests/scripts/check_app_faults.sh CXX BUILD_DIR
#
# Full disks, closed pipes and outputs, files that are cut short, short reads and writes. It ends as it should and says why, in one
# line, and what it was to change is whole: the old file or the new one.
cxx=$1
build=$2/check_app_faults
application=$2/run
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

[ -c /dev/full ] || { skip "the application where disks are full" "there is no /dev/full"; finish; exit; }
succeeds "the application is made" make -j1 CXX="$cxx" BUILD="$2" "$2/run" || { finish; exit; }

# Each line: what is wrong; the status that is expected; what standard error says, or - where the output is to be as ever; the
# command. run is the application, small is a new folder, in which model.bin is one of household commands.
household=bench/app/model/household.bin
sed -n 1,9p bench/app/model/calibration.txt >"$build/lines"
cat >"$build/table" <<'TABLE'
a full disk|1|standard output: cannot be written|run --sentence 'dim the lamp' >/dev/full
a full disk under a list|1|standard output: cannot be written|run --list >/dev/full
a full disk under help|1|standard output: cannot be written|run --help >/dev/full
a full disk under the textbook|1|standard output: cannot be written|run --example textbook >/dev/full
a full disk under a story|1|standard output: cannot be written|run --model tests/fuzz/corpus/gguf/llama_f32 --steps 4 >/dev/full
a closed output|1|standard output: cannot be written|run --sentence 'dim the lamp' >&-
a closed pipe|1|standard output: cannot be written|trap '' PIPE; { (sleep 0.2; run --list); echo $? >$small/status; } | true
a full disk under complaints|0|-|run --sentence 'dim the lamp' 2>/dev/full
closed complaints and input|0|-|run --sentence 'dim the lamp' <&- 2>&-
a disk that is full in a picture|1|cannot be written|trap '' XFSZ; { (ulimit -f 8; run --heatmap $small --sentence 'dim the lamp'); echo $? >$small/status; } | cat
a folder that cannot be made|1|cannot be written|run --heatmap /dev/null/x --sentence 'dim the lamp'
a disk that is full in a model|1|cannot be written|trap '' XFSZ; ulimit -f 100; run --quantise $small/lines --household $small/model.bin; result=$?; cmp $small/model.bin $household || result=9; (exit $result)
no sentences|1|found none|run --quantise /dev/null --household $small/model.bin; result=$?; cmp $small/model.bin $household || result=9; (exit $result)
a folder in the place of sentences|1|cannot be read|run --quantise / --household $small/model.bin
a file that is cut short|1|bytes, as its header says|head -c 200000 $household >$small/cut; run --household $small/cut --sentence 'dim the lamp'
a head that is cut short|1|found something else|head -c 40 $household >$small/cut; run --household $small/cut --sentence 'dim the lamp'
a story's file that is cut short|1|more bytes at byte|head -c 1200 tests/fuzz/corpus/gguf/llama_f32 >$small/cut; run --model $small/cut
a pipe in the place of a model|1|found a pipe|cat $household | { run --household /dev/stdin --list; echo $? >$small/status; }
short reads and writes of a picture|0|-|preloaded --heatmap $small --sentence 'dim the lamp' >$small/out && run --heatmap $small/whole --sentence 'dim the lamp' >$small/expected 2>&1; cmp $small/heatmap-1.svg $small/whole/heatmap-1.svg && cat $small/out
short reads and writes of a model|0|-|run --quantise $small/lines --household $small/model.bin >/dev/null && cp $household $small/other.bin && preloaded --quantise $small/lines --household $small/other.bin >/dev/null && cmp $small/other.bin $small/model.bin && run --sentence 'dim the lamp'
TABLE

run() { "$application" "$@"; }
preloaded() { rm -f "$build/short" && SHORT_READS="$build/short" LD_PRELOAD="$build/short_reads.so" "$application" "$@" && [ -e "$build/short" ]; }
succeeds "short reads compile" "${CC:-cc}" -shared -fPIC -O1 -o "$build/short_reads.so" tests/app/short_reads.c -ldl
run --sentence 'dim the lamp' >"$build/usual" 2>/dev/null
small=$build/small
while IFS='|' read -r what status says command; do
  rm -rf "$small" && mkdir -p "$small" && cp $household "$small/model.bin" && cp "$build/lines" "$small/lines"
  (eval "$command") >"$small.out" 2>"$small.err"
  found=$?
  [ ! -f "$small/status" ] || found=$(cat "$small/status")
  said=$(cat "$small.err")
  if [ "$found" -ne "$status" ]; then
    fail "$what" "exit status $found: $said"
  elif [ "$says" = - ]; then
    nothing_in "$(head -n 1 "$small.out" | cmp - "$build/usual" 2>&1)" "$what: as ever"
  else
    nothing_in "$(case $said in run:*"$says"*) ;; *) echo "says: $said" ;; esac)" "$what: $says"
  fi
done <"$build/table"
finish
