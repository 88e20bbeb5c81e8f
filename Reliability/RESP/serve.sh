# For the scripts that run other clients' tests: sourced, not run.

# serve SHMD DIRECTORY: starts the daemon with DIRECTORY/shmd.yaml and waits until it answers at DIRECTORY/shmd.sock. The daemon's log is
# DIRECTORY/log, and $daemon its process, which the caller ends.
serve() {
  "$1" --config "$2/shmd.yaml" --runtime-directory "$2" >"$2/log" 2>&1 &
  daemon=$!
  for _ in $(seq 300); do
    redis-cli -s "$2/shmd.sock" ping >/dev/null 2>&1 && break
    sleep 0.1
  done
  redis-cli -s "$2/shmd.sock" ping >/dev/null || { cat "$2/log" >&2; exit 1; }
}
