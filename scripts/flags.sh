# Sourced by scripts that build in a directory of their own below the scratch path.
#
# split_flags FLAG...    takes --scratch-path DIRECTORY out of flags of swift build: $scratch, and the others in $rest
split_flags() {
  scratch=.build
  rest=
  while [ $# -gt 0 ]; do
    case $1 in
      --scratch-path) scratch=$2 && shift ;;
      *) rest="$rest $1" ;;
    esac
    shift
  done
}
