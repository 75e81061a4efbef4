# Adds up what parts of the tests print. doctest says "test cases: 3 | 3 passed | 0 failed", the scripts say "3 passed, 0 failed", and
# a part that died is named by a line "part failed: …", which counts where nothing else failed. What failed is said once more at the end.
/^\[doctest\] test cases:/ { gsub(/[^0-9|]/, ""); split($0, n, "|"); passed += n[2]; failed += n[3] }
/^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3 }
/^part failed:/ { ++broken }
/^== / { part = $2; sub(/:/, "", part) }
/^FAIL|^part failed|: ERROR: |^make.*\*\*\*/ && ++lines <= 40 { shown = shown "\n" part ": " substr($0, 1, 300) }
END {
  if (failed == 0) failed = broken + 0
  if (shown != "") print shown
  printf "\ntotal: %d passed, %d failed\n", passed, failed
  exit failed > 0 || passed == 0
}
