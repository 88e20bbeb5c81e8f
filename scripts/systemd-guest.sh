# Sourced by tests that need a systemd of their own: boots one in a container, on a throw-away overlay of a root.
#
#   guest_possible             says in one line why not and exits with 77, where it cannot run
#   boot_guest ROOT PREPARE    PREPARE, an exported function, runs in the overlay's directory before the boot
#   in_guest COMMAND...        as root inside
#   fail, ok, until_true       what a test says, and how it waits
#
# Needs root and systemd-nspawn. Whatever happens, the container ends with the script.
cannot() { echo "$(basename "$0" .sh): cannot run: $1"; exit 77; }
guest_possible() {
  [ "$(id -u)" = 0 ] || cannot "needs root"
  command -v systemd-nspawn >/dev/null || cannot "needs systemd-nspawn (apt-get install systemd-container)"
  unshare --mount true 2>/dev/null || cannot "this container may not mount"
}

NSPAWN= INIT= WORK= NAME= CGROUPS=

finish() {
  status=$?
  trap - EXIT
  if [ $status != 0 ] && [ -n "$WORK" ]; then
    echo "--- journal"; in_guest journalctl -u shmd -o cat --no-pager 2>/dev/null | tail -40 || tail -20 "$WORK.console" || :
  fi
  # PID 1 of the container first: it outlives its nspawn.
  [ -z "$INIT" ] || kill -9 "$INIT" 2>/dev/null || :
  [ -z "$NSPAWN" ] || { kill -9 "$NSPAWN" 2>/dev/null || :; wait "$NSPAWN" 2>/dev/null || :; }
  for c in $CGROUPS; do find "$c" -depth -type d -exec rmdir {} \; 2>/dev/null || :; done
  [ -z "$WORK" ] || rm -rf "$WORK" "$WORK.console"
  exit $status
}
trap finish EXIT
trap 'exit 1' INT TERM

in_guest() { [ -n "$INIT" ] && nsenter --target "$INIT" --all -- "$@"; }
fail() { echo "FAILED: $1"; exit 1; }
ok() { echo "ok: $1"; }

# Waits for a condition, given as a command; what is waited for here takes a second or two.
until_true() {
  what=$1; shift
  for _ in $(seq 300); do "$@" && return; sleep 0.1; done
  fail "$what"
}

boot_in_namespace() {
  mount --make-rprivate /
  mount -t tmpfs -o mode=755 tmpfs "$WORK"
  mkdir "$WORK"/{upper,work,root}
  mount -t overlay overlay -o "lowerdir=$ROOT,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
  mount -t tmpfs -o mode=755 tmpfs /run
  "$PREPARE"
  cd "$WORK/root"
  rm -rf usr/sbin/policy-rc.d etc/systemd/system/{multi-user,timers,getty,graphical}.target.wants
  : > etc/machine-id
  : > etc/fstab
  ln -sf multi-user.target etc/systemd/system/default.target
  for unit in console-getty systemd-timesyncd systemd-networkd systemd-firstboot; do
    ln -sf /dev/null etc/systemd/system/$unit.service
  done
  exec systemd-nspawn --quiet --directory=. --boot --machine="$NAME" --register=no --keep-unit --link-journal=no \
    --timezone=off --private-network --resolv-conf=off
}

has_init() { INIT=$(pgrep -P "$NSPAWN" | head -1); [ -n "$INIT" ]; }
is_up() {
  kill -0 "$NSPAWN" 2>/dev/null || fail "systemd did not boot"
  has_init || return
  case $(in_guest systemctl is-system-running 2>/dev/null) in running | degraded) ;; *) return 1 ;; esac
}

boot_guest() {
  ROOT=$1 PREPARE=$2
  WORK=$(mktemp -d /var/tmp/shmd-systemd-XXXXXX)
  NAME=$(basename "$WORK")
  CGROUPS=$(for c in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
    [ ! -e $c/cgroup.procs ] || echo "$c/$NAME"; done)
  for c in $CGROUPS; do mkdir -p "$c"; done
  export ROOT PREPARE WORK NAME UNIFIED_CGROUP_HIERARCHY=1
  export -f boot_in_namespace
  setsid unshare --mount bash -euc \
    "$(for c in $CGROUPS; do echo "echo \$\$ > $c/cgroup.procs;"; done) boot_in_namespace" \
    </dev/null >"$WORK.console" 2>&1 &
  NSPAWN=$!
  until_true "systemd is up" is_up
  ok "systemd $(in_guest systemctl --version | sed -n '1s/[^0-9]*\([0-9]*\).*/\1/p') is up"
}
