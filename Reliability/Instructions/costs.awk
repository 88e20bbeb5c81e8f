# The documentation's table of what operations cost, out of bars.txt and costs.txt.
#
#   awk -f costs.awk bars.txt costs.txt
#
# In the order of costs.txt. Exit status 1 if an operation is in one of the two only.
BEGIN { print "| call | instructions, at most | ÷ |"; print "|---|---:|---:|" }
/^#/ || NF == 0 { next }
FNR == NR { bar[$1] = $2; next }
{
  split($0, field, / *\| */)
  if (!(field[1] in bar)) { complain(field[1] " is not in bars.txt"); next }
  told[field[1]]
  ratio = field[2] == "" ? "" : sprintf("%.1f", bar[field[1]] / bar[field[2]])
  printf "| %s | %s | %s |\n", field[3], grouped(bar[field[1]]), ratio
}
END {
  for (name in bar) if (!(name in told)) complain(name " is not in costs.txt")
  exit failed
}
function complain(text) { print "costs: " text >"/dev/stderr"; failed = 1 }
function grouped(number) { return number < 1000 ? number : grouped(int(number / 1000)) sprintf(",%03d", number % 1000) }
