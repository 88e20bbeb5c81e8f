#!/bin/bash
# The daemon under a real systemd: install, start, kill -9, watchdog, reload good and bad, a thousand tables, stop; the deaths and
# the reloads while clients write and read, of which none may see an error; clients that connect when the start is over; sockets
# that systemd passes.
#
#   scripts/systemd-test.sh [DIRECTORY WITH THE RELEASE PROGRAMS]      default: .build/release
#
# Boots systemd in a container on a throw-away overlay of this machine's root (scripts/systemd-guest.sh), so nothing of it stays.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/systemd-guest.sh

guest_possible
command -v redis-cli >/dev/null || cannot "needs redis-cli (apt-get install redis-tools)"
PROGRAMS=$(realpath -m "${1:-.build/release}")
for program in shmd shmctl shmd-test-worker; do
  [ -x "$PROGRAMS/$program" ] || cannot "$PROGRAMS/$program is missing (make systemd-test builds it)"
done
property() { in_guest systemctl show shmd --property "$1" --value; }

# From outside and into a directory, as a package is built; what it needs lies under /tmp, which is another inside.
install_programs() {
  make --no-print-directory -f systemd/install.mk install DESTDIR="$WORK/root" PREFIX=/usr RELEASE_DIR="$PROGRAMS" \
    BIN_PROGRAMS="shmctl shmd-test-worker"
}
export PROGRAMS
export -f install_programs
boot_guest / install_programs

# ---- install

# Booting has made user and directory already; a second time must do no harm.
in_guest systemd-sysusers
in_guest systemd-tmpfiles --create shmd.conf
# Without its manual pages, which are not installed here.
in_guest systemd-analyze verify --man=no /usr/lib/systemd/system/shmd.service
# In tenths: an exposure of 0.6 at most.
in_guest systemd-analyze security --offline=true --threshold=6 --no-pager /usr/lib/systemd/system/shmd.service >/dev/null ||
  fail "the unit is not hardened"
ok "installed; the unit verifies and is hardened"

in_guest mkdir -p /etc/systemd/system/shmd.service.d
# A test starts it more often in a minute than the unit allows.
in_guest sh -c 'printf "[Unit]\nStartLimitIntervalSec=0\n[Service]\nWatchdogSec=2s\n" > /etc/systemd/system/shmd.service.d/quick.conf'
in_guest systemctl daemon-reload
in_guest systemctl start shmd
[ "$(in_guest systemctl is-active shmd)" = active ] || fail "not active"
rights=$(in_guest stat -c '%U:%G %a' /dev/shm/shmtable.default.data)
[ "$rights" = "shmd:shmd 660" ] || fail "default belongs to $rights"
inode=$(in_guest stat -c %i /dev/shm/shmtable.default.data)
is_same_table() { [ "$(in_guest stat -c %i /dev/shm/shmtable.default.data)" = "$inode" ]; }
ok "active, default is there"

# ---- clients

in_guest useradd --groups shmd member
in_guest useradd stranger
in_guest runuser -u member -- shmctl set greeting hello || fail "a member of the group cannot write"
[ "$(in_guest runuser -u member -- shmctl get greeting)" = hello ] || fail "a member of the group cannot read"
! in_guest runuser -u stranger -- shmctl get greeting >/dev/null 2>&1 || fail "a stranger can read"
ok "members of the group read and write, strangers do neither"

in_guest groupadd web
in_guest usermod --append --groups web shmd
in_guest systemctl restart shmd
in_guest sh -c 'printf "  - {name: pages, capacity: 2MiB, group: web}\n" >> /etc/shmd.yaml'
in_guest systemctl reload shmd
rights=$(in_guest stat -c '%U:%G %a' /dev/shm/shmtable.pages.data)
[ "$rights" = "shmd:web 660" ] || fail "a table of another group belongs to $rights"
in_guest sed -i '/name: pages/s/group: web/group: shmd/' /etc/shmd.yaml
in_guest systemctl reload shmd
rights=$(in_guest stat -c '%U:%G %a' /dev/shm/shmtable.pages.data)
[ "$rights" = "shmd:shmd 660" ] || fail "a table that was given back belongs to $rights"
in_guest sed -i '/name: pages/d' /etc/shmd.yaml
in_guest systemctl reload shmd
in_guest runuser -u member -- shmctl drop pages 2>/dev/null || in_guest shmctl drop pages
ok "a table is given to a group of which shmd is a member, and back"

said() { in_guest journalctl -u "$1" -o cat --no-pager | grep "$2" >/dev/null; }
# A client of the library, which knows nothing of the daemon.
in_guest systemd-run --quiet --unit=writer --uid=member /usr/bin/shmd-test-worker default
until_true "a member opens a barrier" said writer '^inside$'
in_guest systemctl kill --signal=KILL writer
until_true "a dead writer's work is undone" said shmd '^a writer died in its barrier'
ok "the barrier of a member that was killed in it is undone"

# ---- deaths, while clients of the library and of the command write and read

for client in 1 2; do
  in_guest systemd-run --quiet --unit=load$client --uid=member --property=RemainAfterExit=yes \
    /usr/bin/shmd-test-worker default /run/enough
  until_true "client $client works" said load$client '^working$'
done
in_guest systemd-run --quiet --unit=load3 --uid=member --property=RemainAfterExit=yes /bin/bash -c '
  while [ ! -e /run/enough ]; do
    shmctl set by-command $((++count)) && [ "$(shmctl get by-command)" = $count ] || exit 1
    [ $count != 1 ] || echo working
  done
  echo "wrote $count times without an error"'
until_true "client 3 works" said load3 '^working$'

before=$(property MainPID)
is_back() {
  [ "$(property ActiveState)" = active ] && [ "$(property MainPID)" != "$before" ] && [ "$(property MainPID)" != 0 ]
}
in_guest systemctl kill --signal=KILL shmd
until_true "it comes back after kill -9" is_back
is_same_table || fail "kill -9 cost the table"
ok "back after kill -9, with its table"

before=$(property MainPID)
in_guest systemctl kill --signal=STOP shmd
until_true "the watchdog starts it anew" is_back
is_same_table || fail "the watchdog cost the table"
[ "$(in_guest runuser -u member -- shmctl get greeting)" = hello ] || fail "data are lost"
in_guest journalctl -u shmd --no-pager | grep -i 'watchdog timeout' >/dev/null || fail "the journal knows of no watchdog timeout"
ok "back after the watchdog's time, with its table"

# ---- reload

before=$(property MainPID)
in_guest sh -c 'printf "  - name: second\n    capacity: 2MiB\n" >> /etc/shmd.yaml'
in_guest systemctl reload shmd
until_true "the second table is made" in_guest test -e /dev/shm/shmtable.second.data
ok "a reload makes a table"
in_guest sh -c 'printf "  - name: third\n    colour: red\n" >> /etc/shmd.yaml'
! in_guest systemctl reload shmd 2>/dev/null || fail "a bad reload succeeds"
# No `grep -q`: it ends early, and the writer's SIGPIPE would count as failure.
in_guest journalctl -u shmd -o cat --no-pager | grep "^/etc/shmd.yaml:[0-9]*: unknown key 'colour'" >/dev/null ||
  fail "no complaint"
[ "$(property ActiveState) $(property MainPID)" = "active $before" ] || fail "a bad reload ended it"
! in_guest test -e /dev/shm/shmtable.third.data || fail "a bad reload made a table"
ok "a bad reload fails, and changes nothing"
in_guest sh -c 'sed -i "/name: third/,\$d" /etc/shmd.yaml; chmod o+w /etc/shmd.yaml'
! in_guest systemctl reload shmd 2>/dev/null || fail "a configuration that every user may write to is taken"
in_guest chmod o-w /etc/shmd.yaml
in_guest systemctl reload shmd || fail "it is refused when only root may write to it"
ok "a configuration that every user may write to is refused, also where systemd shows it as read-only"

# ---- a thousand tables, and the end of the load

in_guest sed -i '/name: third/,$d' /etc/shmd.yaml
in_guest mkdir -p /etc/shmd.d
in_guest sh -c '{ echo tables:; for i in $(seq 1000); do echo "- {name: many.$i, capacity: 1M}"; done; } > /etc/shmd.d/many.yaml'
in_guest systemctl reload shmd || fail "a thousand tables are refused"
made=$(in_guest sh -c 'ls /dev/shm | grep -c "^shmtable.many.*data$"')
[ "$made" = 1000 ] || fail "$made tables of a thousand are there when the reload is over"
[ "$(property StatusText)" = "1002 tables" ] || fail "the status is: $(property StatusText)"
before=$(property MainPID)
in_guest systemctl kill --signal=KILL shmd
until_true "it comes back with a thousand tables" is_back
[ "$(property StatusText)" = "1002 tables" ] || fail "the status is: $(property StatusText)"
in_guest rm /etc/shmd.d/many.yaml
in_guest systemctl reload shmd
[ "$(property StatusText)" = "2 tables" ] || fail "the status is: $(property StatusText)"
ok "a thousand tables are made by a reload, kept over kill -9, and let go"

in_guest touch /run/enough
for client in 1 2 3; do
  until_true "client $client has ended without an error" said load$client 'times without an error$'
  [ "$(in_guest systemctl show load$client --property Result --value)" = success ] || fail "client $client saw an error"
  echo "    client $client $(in_guest journalctl -u load$client -o cat --no-pager | grep 'without an error')"
done
ok "no client saw an error"

# ---- served when `systemctl start` returns, and started all the same where it cannot listen

in_guest sh -c 'printf "resp: {socket: /run/shmd/redis.socket, tables: [default]}\n" > /etc/shmd.d/served.yaml'
for round in $(seq 20); do
  in_guest systemctl stop shmd
  answer=$(in_guest sh -c 'systemctl start shmd && redis-cli -s /run/shmd/redis.socket ping 2>&1') || :
  [ "$answer" = PONG ] || fail "a client that connects when the start is over is not served in round $round: $answer"
done
in_guest sh -c 'printf "resp: {socket: /run/nowhere/redis.socket}\n" > /etc/shmd.d/served.yaml'
in_guest systemctl restart shmd || fail "a socket that cannot be made keeps shmd from starting"
property StatusText | grep "^2 tables; 'resp' is not served: cannot listen on /run/nowhere/redis.socket: " >/dev/null ||
  fail "the status is: $(property StatusText)"
ok "clients are served when the start is over, and a socket that cannot be made holds up nothing"

# ---- sockets of the manager: TCP although the service has no network, and nobody is refused while it restarts

for unit in shmd-resp.socket shmd-monitoring.socket; do
  sed 's/^#ListenStream/ListenStream/' "systemd/$unit" | in_guest sh -c "cat >/etc/systemd/system/$unit"
done
in_guest sh -c 'printf "resp: {socket: systemd, tables: [default]}\nmonitoring: {socket: systemd}\n" > /etc/shmd.d/served.yaml'
in_guest systemctl daemon-reload
in_guest systemctl stop shmd
in_guest systemctl start shmd-resp.socket shmd-monitoring.socket
in_guest systemctl start shmd
# One command over a connection of its own: 0 if it is answered, 1 if nobody listens, 2 if the connection ended before the answer.
in_guest sh -c 'cat >/run/ask; chmod 755 /run/ask' <<'END'
#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/6379 || exit 1
printf 'GET greeting\r\n' >&3 && read -r -t 20 length <&3 && read -r -t 20 value <&3 && [ "$value" = $'hello\r' ] || exit 2
END
in_guest /run/ask || fail "a Redis client on TCP is not served"
in_guest bash -c 'exec 3<>/dev/tcp/127.0.0.1/9464; printf "GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n" >&3; read -r line <&3
  [[ $line == "HTTP/1.1 200 OK"* ]]' || fail "monitoring on TCP is not served"
# A file: systemd would expand what looks like its variables in a command line.
in_guest sh -c 'cat >/run/asking; chmod 755 /run/asking' <<'END'
#!/bin/bash
worst=0 count=0 again=0
while [ ! -e /run/asked ]; do
  begin=${EPOCHREALTIME/./}
  until /run/ask; do [ $? = 2 ] && ((++again <= 4)) || exit 1; done
  took=$((${EPOCHREALTIME/./} - begin))
  [ $took -le $worst ] || worst=$took
  [ $((++count)) != 1 ] || echo working
done
echo "$count answers, the last to come after $((worst / 1000)) ms, $again asked for twice, none refused"
END
in_guest systemd-run --quiet --unit=asking --property=RemainAfterExit=yes /run/asking
until_true "a client asks" said asking '^working$'
in_guest systemctl restart shmd
before=$(property MainPID)
in_guest systemctl kill --signal=KILL shmd
until_true "it comes back after kill -9 with its sockets" is_back
in_guest touch /run/asked
until_true "no client was refused" said asking 'none refused$'
ok "served on TCP by the manager's sockets: $(in_guest journalctl -u asking -o cat --no-pager | grep 'none refused')"
in_guest systemctl stop shmd-resp.socket shmd-monitoring.socket
in_guest rm /etc/shmd.d/served.yaml

# ---- one table that cannot be had

in_guest sh -c 'echo squatted > /dev/shm/shmtable.taken.ctl; chown stranger /dev/shm/shmtable.taken.ctl
  { echo tables:; for name in taken free; do echo "- {name: $name, capacity: 1M}"; done; } > /etc/shmd.d/some.yaml'
in_guest systemctl restart shmd
property StatusText | grep "^3 tables; 'taken' cannot be had: foreign" >/dev/null || fail "the status is: $(property StatusText)"
in_guest rm /dev/shm/shmtable.taken.ctl
is_complete() { [ "$(property StatusText)" = "4 tables" ]; }
until_true "the table is made once its name is free" is_complete
ok "a stranger's name keeps no other table from being made"
in_guest sh -c 'rm /etc/shmd.d/some.yaml; printf "  - name: third\n    colour: red\n" >> /etc/shmd.yaml'

# The journal has the daemon's lines and nothing that a library mutters.
! in_guest journalctl _SYSTEMD_UNIT=shmd.service -o cat --no-pager |
  grep -vE '^(table|serving|Redis. clients not served|monitoring served|participant|a writer died|ready|reloading|configuration|stopped|/etc/shmd.yaml)' || fail "stray lines in the journal"
in_guest journalctl -u shmd -p err -o cat --no-pager | grep "unknown key" >/dev/null || fail "no priorities in the journal"
ok "the journal is tidy"

# ---- stop

in_guest systemctl stop shmd
[ "$(property Result)" = success ] || fail "stopped with $(property Result)"
is_same_table || fail "stopping cost the table"
in_guest test -e /dev/shm/shmtable.second.ctl || fail "stopping cost the second table"
ok "stopped, the tables stay in place"
! in_guest systemctl start shmd 2>/dev/null || fail "starts with a bad configuration"
[ "$(property ExecMainStatus) $(property NRestarts)" = "78 0" ] || fail "$(property ExecMainStatus) $(property NRestarts)"
ok "a bad configuration: exit status 78, no restarts"
