#!/usr/bin/awk -f
# The section EXAMPLES of one command's manual page, from docs/shmctl-examples.txt: below a line "# COMMAND" a line is a
# command with its output, an empty line ends a group, and a line that begins with "- " says what the group shows.
$0 == "# " command { inside = 1; next }
/^# / { inside = 0 }
!inside { next }
function head() { if (!begun) { print ".Sh EXAMPLES"; begun = 1 } }
function close_block() { if (block) { print ".Ed"; block = 0 } }
/^- / { head(); close_block(); print ".Pp"; print substr($0, 3); next }
/^$/ { close_block(); next }
{
  head()
  if (!block) { print ".Bd -literal -offset indent"; block = 1 }
  gsub(/\\/, "\\e")
  # A line that begins with a dot or an apostrophe would be a request.
  print (/^[.']/ ? "\\&" : "") $0
}
END { close_block() }
