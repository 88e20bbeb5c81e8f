#!/usr/bin/env python3
"""What mirroring etcd costs, by mirror-probe and an etcd of one member of its own.

    bench.py speed MIRROR-PROBE [KEYS RATE SECONDS INITIAL-KEYS]
    bench.py crowd MIRROR-PROBE [HOSTS SECONDS]

`speed`: how long after its issue a change shows in a mirrored table, beside the same for a client of etcd; and how fast a prefix is mirrored
for the first time, beside reading it alone. Ratios of one run, as the machine's other work falls on both sides. Exit status 1 if a
ratio misses its bar.

`crowd`: what 1, 10 and 100 mirrors on this machine cost etcd, what so many HOSTS would by that, and how they come back after an outage.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# How many times as long as to a client of etcd a change may take into a table, and how much of etcd's speed a first mirror has at least.
AGE_BAR, INITIAL_BAR = 1.3, 0.5
PROBE = sys.argv[2] if len(sys.argv) > 2 else sys.exit(__doc__)
DIRECTORY = tempfile.mkdtemp(prefix="mirror-bench-", dir="/var/tmp")
running = []


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


PORT, PEER = free_port(), free_port()
ADDRESS = "etcd://127.0.0.1:%d/app/" % PORT


def start_etcd():
    client, peer = "http://127.0.0.1:%d" % PORT, "http://127.0.0.1:%d" % PEER
    options = ["--data-dir", DIRECTORY + "/data", "--listen-client-urls", client, "--advertise-client-urls", client,
               "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
               "--log-level", "error", "--quota-backend-bytes", str(4 << 30)]
    with open(DIRECTORY + "/etcd.log", "ab") as log:
        etcd = subprocess.Popen(["etcd"] + options, stdout=log, stderr=log)
    running.append(etcd)
    for _ in range(300):
        try:
            metrics()
            return etcd
        except OSError:
            time.sleep(0.1)
    sys.exit("mirror-bench: etcd does not answer; its log is %s/etcd.log" % DIRECTORY)


class Role:
    """A process of mirror-probe; its lines are read as they come."""

    def __init__(self, *words):
        self.process = subprocess.Popen([PROBE] + [str(word) for word in words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        running.append(self.process)

    def line(self, *begins):
        """The words of the next line that begins with one of these."""
        for line in self.process.stdout:
            if line.split()[0] in begins:
                return line.split()
            if line.startswith("mirror-probe:"):
                sys.exit(line.strip())
        sys.exit("mirror-bench: %s ended without saying one of %s" % (self.process.args, begins))

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        if self.process.wait():
            sys.exit("mirror-bench: %s failed: %s" % (self.process.args, rest))
        return rest

    def ages(self):
        return [int(word) for word in re.search(r"ages (\d+) (\d+) (\d+)", self.end()).groups()]


def metrics():
    """etcd's counters: bytes, calls by method, watchers, processor seconds."""
    with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % PORT, timeout=10) as answer:
        text = answer.read().decode()

    def sum_of(pattern):
        return sum(float(value) for value in re.findall(r"^%s ([0-9.e+]+)$" % pattern, text, re.M))

    return {
        "watchers": sum_of("etcd_debugging_mvcc_watcher_total"),
        "streams": sum_of("etcd_debugging_mvcc_watch_stream_total"),
        "ranges": sum_of(r'grpc_server_started_total\{.*grpc_method="Range".*\}'),
        "sent": sum_of("etcd_network_client_grpc_sent_bytes_total"),
        "received": sum_of("etcd_network_client_grpc_received_bytes_total"),
        "cpu": sum_of("process_cpu_seconds_total"),
        "memory": sum_of("process_resident_memory_bytes"),
        "files": sum_of("process_open_fds"),
    }


def number(index, default):
    return int(sys.argv[index]) if len(sys.argv) > index else default


# --- speed -----------------------------------------------------------------------------------------------------------


def speed():
    keys, rate, seconds, initial = number(3, 100_000), number(4, 1000), number(5, 20), number(6, 1_000_000)
    start_etcd()
    missed = measure_ages(keys, rate, seconds) + measure_initial(initial)
    for text in missed:
        print("mirror-bench: " + text)
    return 1 if missed else 0


def measure_ages(keys, rate, seconds):
    Role("fill", ADDRESS, keys).end()
    mirror = Role("mirror", ADDRESS, 1, 256 << 20)
    table = mirror.line("table")[1]
    mirror.line("following")
    watch, follow = Role("watch", ADDRESS), Role("follow", table)
    for role in (watch, follow):
        role.line("ready")
    wrote = Role("write", ADDRESS, keys, rate, seconds).line("wrote")
    # The last ones are under way.
    time.sleep(1)
    watched, followed = watch.ages(), follow.ages()
    mirror.end()
    print("%d keys, %s changes in %.1f s; from the issue of a change until it is seen:" % (keys, wrote[1], float(wrote[2])))
    print("  %-28s %8d changes, median %6d us, 99 %% %6d us" % ("by a client of etcd", *watched))
    print("  %-28s %8d changes, median %6d us, 99 %% %6d us" % ("in a mirrored table", *followed))
    ratio = followed[1] / watched[1]
    print("  ratio of the medians %.2f, at most %.1f" % (ratio, AGE_BAR))
    return ["a change takes %.2f times as long into a table as to a client of etcd" % ratio] if ratio > AGE_BAR else []


def measure_initial(count):
    Role("fill", ADDRESS, count).end()
    rates = {"read": [], "mirror": []}
    for _ in range(3):
        read = Role("read", ADDRESS).line("read")
        rates["read"].append(int(read[1]) / float(read[2]))
        mirror = Role("mirror", ADDRESS, 1, 1 << 30)
        rates["mirror"].append(int(read[1]) / float(mirror.line("following")[2]))
        mirror.end()
    # Of each the best of three: what disturbs only makes it slower.
    read, mirrored = max(rates["read"]), max(rates["mirror"])
    print("%d keys for the first time: read alone %d keys a second, mirrored %d" % (count, read, mirrored))
    print("  ratio %.2f, at least %.1f" % (mirrored / read, INITIAL_BAR))
    short = mirrored / read < INITIAL_BAR
    return ["a first mirror is %.2f times as fast as reading alone" % (mirrored / read)] if short else []


# --- crowd -----------------------------------------------------------------------------------------------------------


def crowd():
    hosts, seconds = number(3, 10_000), number(4, 20)
    start_etcd()
    Role("fill", ADDRESS, 100).end()
    print("etcd with so many mirrors, a second (cpu: of one processor's seconds):")
    print("mirrors | watchers | streams | files | Range | sent, quiet | cpu, quiet | sent, 10 changes | cpu, 10 changes")
    rows = [measure_crowd(count, seconds) for count in (1, 10, 100)]
    tell_estimate(rows, hosts)
    tell_return()
    print("%d hosts that lose etcd at one moment, by the waits of BackOff (simulated):" % hosts)
    print(Role("simulate", hosts).end(), end="")
    return 0


def measure_crowd(count, seconds):
    mirrors = Role("mirror", ADDRESS, count, 1 << 20)
    mirrors.line("following")
    quiet = sample(seconds)
    writer = Role("write", ADDRESS, 100, 10, seconds + 2)
    busy = sample(seconds)
    writer.line("wrote")
    now = metrics()
    row = {"count": count, "ranges": quiet["ranges"], "quiet": quiet["sent"], "quiet_cpu": quiet["cpu"],
           "busy": busy["sent"], "busy_cpu": busy["cpu"]}
    print("%d | %d | %d | %d | %.1f | %d B | %.3f | %d B | %.3f" % (
        count, now["watchers"], now["streams"], now["files"], row["ranges"], row["quiet"], row["quiet_cpu"], row["busy"],
        row["busy_cpu"]), flush=True)
    mirrors.end()
    return row


def sample(seconds):
    """By how much etcd's counters grow a second."""
    before, begin = metrics(), time.monotonic()
    time.sleep(seconds)
    after, took = metrics(), time.monotonic() - begin
    return {name: (after[name] - before[name]) / took for name in before}


def tell_estimate(rows, hosts):
    """A line through what few and what most mirrors cost."""
    few, most = rows[0], rows[-1]

    def each(name):
        return (most[name] - few[name]) / (most["count"] - few["count"])

    print("each mirror more: %.2f Range a second, %d B a second, %.5f cpu; and with a change of 16 bytes %d B, %.6f cpu" % (
        each("ranges"), each("quiet"), each("quiet_cpu"), (each("busy") - each("quiet")) / 10,
        (each("busy_cpu") - each("quiet_cpu")) / 10))
    print("%d hosts by that: %d Range a second, %.1f MB a second, %.1f cpu; 10 changes a second %.1f MB, %.1f cpu more" % (
        hosts, each("ranges") * hosts, each("quiet") * hosts / 1e6, each("quiet_cpu") * hosts,
        (each("busy") - each("quiet")) * hosts / 1e6, (each("busy_cpu") - each("quiet_cpu")) * hosts))


def tell_return():
    """A hundred mirrors of this machine after ten seconds without etcd."""
    mirrors = Role("mirror", ADDRESS, 100, 1 << 20)
    mirrors.line("following")
    etcd, begin = running.pop(0), time.monotonic()
    etcd.kill()
    etcd.wait()
    time.sleep(10)
    started = time.monotonic()
    start_etcd()
    away, starting = time.monotonic() - begin, time.monotonic() - started
    moments = []
    while True:
        line = mirrors.line("began", "following")
        if line[0] == "following":
            break
        # Their seconds begin when the first of them noticed; and etcd may have been there before it was asked.
        moments.append(max(0, float(line[1]) - away))
    counts = [sum(1 for moment in moments if second <= moment < second + 1) for second in range(int(max(moments)) + 1)]
    mirrors.end()
    print("100 mirrors after %.1f s without etcd, in the last %.1f s of which it starts: back in each second %s" % (
        away, starting, counts))
    print("  simulated:", Role("simulate", 100, int(1000 * away), max(1, int(1000 * starting))).end().strip())


def finish():
    for process in running:
        if process.poll() is None:
            # Whoever has made tables removes them when its input ends.
            if process.stdin:
                process.stdin.close()
            else:
                process.send_signal(signal.SIGKILL)
            process.wait(timeout=60)
    shutil.rmtree(DIRECTORY, ignore_errors=True)


try:
    status = {"speed": speed, "crowd": crowd}[sys.argv[1]]()
finally:
    finish()
sys.exit(status)
