# The most stack that functions take, with everything that they call:
#
#   awk -v roots="FUNCTION..." [-v known="FUNCTION=BYTES..."] [-v indirect=BYTES] -f tests/support/stack.awk FILE.ci... [DISASSEMBLY]
#
# FILE.ci is what GCC writes with -fcallgraph-info=su: frames, and who calls whom. DISASSEMBLY is objdump -d --no-show-raw-insn of
# a linked image for Cortex-M or RISC-V, which knows better who calls whom: run-time helpers too, and nothing that was optimised away or not
# linked. So where it is given, calls come from it and frames from the compiler. Functions without a frame there, the helpers
# of the compiler's run-time and of the C library, count with all that their instructions push, on any path.
#
# Prints "stack FUNCTION BYTES CHAIN" for each root, or for the deepest function of all where none is named, and
# "helper FUNCTION BYTES" for each function whose frame is not the compiler's word. Says why no bound holds, and fails then:
# recursion, frames of no fixed size, calls through a pointer (-v indirect= says what those take at most), unknown functions.
# known= are functions whose depth was found elsewhere.
BEGIN {
  FS = "\""
  branch = "^((b(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?|blx?|cbn?z)(\\.[nw])?|b(eq|ne|le|ge|lt|gt)[zu]|j|jal)$"
}

function complain(text) {
  if (!(text in complaints)) print "stack.awk: " text >"/dev/stderr"
  complaints[text]
  failed = 1
}

function add_call(from, to) {
  if (!((from, to) in seen)) calls[from] = calls[from] " " to
  seen[from, to]
}

# GCC puts the file before the name of a function that is local to it.
function name_of(title) {
  sub(/^.*:/, "", title)
  return title
}

/^node: / && match($4, /[0-9]+ bytes \([a-z,]*\)/) {
  name = name_of($2)
  split(substr($4, RSTART, RLENGTH), words, " ")
  if (!(name in frame) || words[1] + 0 > frame[name]) frame[name] = words[1] + 0
  if (words[3] == "(dynamic)") dynamic[name]
  next
}

/^edge: / {
  if (image) complain("the disassembly must come after every .ci")
  add_call(name_of($2), name_of($4))
  next
}

# The disassembly: a label begins a function. When the one before does not end in a jump, it runs on into this one.
/^[0-9a-f]+ <.*>:$/ {
  if (!image) {  # forget what the compiler thought
    split("", calls)
    split("", seen)
  }
  image = 1
  name = $0
  gsub(/^[0-9a-f]+ <|>:$/, "", name)
  if (runs_on) add_call(at, name)
  at = name
  pushed[at] += 0
  runs_on = 0
  next
}

image && /^ *[0-9a-f]+:\t/ {
  split($0, part, "\t")
  operation = part[2]
  operands = part[3]
  if (operation ~ /^(\.word|\.short|\.byte|nop)/ || part[2] part[3] == "movsr0, r0") next  # tables, padding, also by zeros
  runs_on = operation !~ /^(b|b\.n|b\.w|bx|udf.*|j|jr|ret|unimp)$/ && !(operation ~ /^(pop|ldmia\.w|ldm.*|ldr|ldr\.w|mov)$/ && operands ~ /pc/)
  # Armv6-M returns from functions that take a struct half in registers by the register that it has popped alone.
  if (operation == "pop" && operands ~ /^{r[0-9]}$/) popped = substr(operands, 2, 2)
  if (operation ~ /^bl?x/ && operands ~ /^(r[0-9]|ip|sl|fp)/ && !(operation == "bx" && operands == popped)) {
    add_call(at, "__indirect_call")
  }
  if (operation ~ /^(jr|jalr)$/) add_call(at, "__indirect_call")
  if (operation != "pop" && operands !~ /^sp, #/) popped = ""
  if (operation ~ branch && match(operands, /<[^>]*>/)) {
    target = substr(operands, RSTART + 1, RLENGTH - 2)
    inside = sub(/\+0x[0-9a-f]+$/, "", target)
    if (target != at || (operation ~ /^(blx?|jal)$/ && !inside)) add_call(at, target)
    if (target == at && inside && operation == "bl") runs_on = 0  # how Armv6-M jumps far within a function
  }
  if (operation ~ /^v?(push|stmdb|stmfd)/ && (operation ~ /push/ || operands ~ /^sp!/)) {
    pushed[at] += register_bytes(operands)
  } else if (operands ~ /\[sp, #-[0-9]+\]!/) {
    match(operands, /#-[0-9]+\]!/)
    pushed[at] += substr(operands, RSTART + 2, RLENGTH - 4)
  } else if (operands ~ /^sp,sp,-?[0-9]+$/) {  # RISC-V: down, or up again
    match(operands, /,-?[0-9]+$/)
    if (substr(operands, RSTART + 1) < 0) pushed[at] -= substr(operands, RSTART + 1)
  } else if (operands ~ /^sp,/ && operation !~ /^f?s[bhwd]$/ && operands !~ /^sp, /) {
    odd[at]
  } else if (operation ~ /^sub/ && operands ~ /^sp, (sp, )?#[0-9]+/) {
    match(operands, /#[0-9]+/)
    pushed[at] += substr(operands, RSTART + 1, RLENGTH - 1)
  } else if ((operation ~ /^(sub|mov|msr)/ && operands ~ /^(sp|msp|psp),/) || (operation ~ /^add/ && operands ~ /^sp, [^#]*$/)) {
    odd[at]  # the stack pointer moves in a way that is not understood here
  }
}

# {r4, r5, lr} and {d8-d11}
function register_bytes(list,    i, n, items, ends, count, bytes) {
  gsub(/^.*{|}.*$/, "", list)
  n = split(list, items, ", *")
  bytes = 0
  for (i = 1; i <= n; ++i) {
    count = 1
    if (split(items[i], ends, "-") == 2) count = substr(ends[2], 2) - substr(ends[1], 2) + 1
    bytes += count * (items[i] ~ /^d/ ? 8 : 4)
  }
  return bytes
}

function own_frame(f) {
  if (f in frame) {
    if (f in dynamic) complain(f " has a stack frame of no fixed size")
    return frame[f]
  }
  if (f in pushed) {
    if (f in odd) complain(f " has no frame information, and its instructions move the stack pointer by an unknown amount")
    return pushed[f]
  }
  complain("nothing is known about the stack of " f)
  return 0
}

# The chain is remembered as text, so that a limit that is passed can be explained.
function depth(f,    callees, i, n, deepest, below) {
  if (f in depths) return depths[f]
  if (f in walking) {
    complain(f " calls itself, directly or by way of others")
    return 0
  }
  walking[f]
  n = split(calls[f], callees, " ")
  deepest = 0
  below = ""
  for (i = 1; i <= n; ++i) {
    if (callees[i] == "__indirect_call" && indirect == "") complain(f " calls through a pointer")
    if (depth(callees[i]) > deepest) {
      deepest = depth(callees[i])
      below = " > " chain[callees[i]]
    }
  }
  delete walking[f]
  depths[f] = own_frame(f) + deepest
  chain[f] = f ":" own_frame(f) below
  if (!(f in frame)) helper[f]
  return depths[f]
}

END {
  all = roots
  if (roots == "") for (f in frame) all = all " " f
  depths["__indirect_call"] = indirect + 0
  chain["__indirect_call"] = "(pointer):" (indirect + 0)
  n = split(known, items, " ")
  for (i = 1; i <= n; ++i) {
    split(items[i], pair, "=")
    depths[pair[1]] = pair[2] + 0
    chain[pair[1]] = pair[1] ":" pair[2]
  }
  n = split(all, items, " ")
  if (n == 0) complain("no function has a stack frame: are these files of -fcallgraph-info=su?")
  for (i = 1; i <= n; ++i) {
    depth(items[i])
    if (roots != "") {
      print "stack", items[i], depths[items[i]], chain[items[i]]
    } else if (depths[items[i]] > depths[deepest_of_all]) {
      deepest_of_all = items[i]
    }
  }
  if (roots == "" && n > 0) print "stack", deepest_of_all, depths[deepest_of_all], chain[deepest_of_all]
  for (f in helper) print "helper", f, depths[f]
  exit failed + 0
}
