#!/usr/bin/env python3
"""A daemon under clients of all kinds, for as long as told: memory, descriptors and threads stay what they were.

    soak.py SHMD SHMCTL [SECONDS [SEED]]

Clients of Redis' protocol and of monitoring come and go, in the middle of a word, too; participants are killed in barriers; the
configuration is reloaded, good and bad; the disk of a durable table's store is filled and emptied (as root: a small file system
of its own). In the end all clients leave, the daemon is killed, its tables are removed, and the durable one comes back as it was. Exit
status 1 if a client sees what it must not, or if a figure of the second half is above that of the first.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SHMD, SHMCTL = sys.argv[1], sys.argv[2]
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 600
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
PATIENCE = 60
# What a heap may differ by between two moments with the same to hold.
SLACK_KIB = 8192
DIRECTORY = tempfile.mkdtemp(prefix="soak-", dir="/tmp")
TABLES = ["soak-%d-%s" % (os.getpid(), kind) for kind in ("rcu", "rwlock", "durable")]
FILE = DIRECTORY + "/shmd.yaml"
failures = []
done = threading.Event()
counts = {}


def fail(text):
    failures.append(text)
    done.set()


def count(what):
    counts[what] = counts.get(what, 0) + 1


def configure(interval="50ms", wrong=""):
    with open(FILE + ".new", "w") as out:
        out.write("interval: %s\nlog-level: warning\nstore-directory: %s/stores\n" % (interval, DIRECTORY))
        out.write("resp: {socket: %s/resp.sock}\nmonitoring: {socket: %s/http.sock}\ntables:\n" % (DIRECTORY, DIRECTORY))
        for table, more in zip(TABLES, ("variant: rcu", "variant: rwlock", "durability: every-barrier")):
            out.write("- {name: %s, capacity: 8MiB, %s}\n" % (table, more))
        out.write(wrong)
    os.replace(FILE + ".new", FILE)


def start():
    log = open(DIRECTORY + "/log", "ab")
    daemon = subprocess.Popen([SHMD, "--config", FILE, "--runtime-directory", DIRECTORY + "/run"], stdout=log, stderr=log)
    for _ in range(600):
        try:
            if b"200" in ask("/ready")[:16]:
                return daemon
        except OSError:
            pass
        if daemon.poll() is not None:
            break
        time.sleep(0.1)
    daemon.kill()
    daemon.wait()
    raise SystemExit("soak: the daemon is not ready; " + open(DIRECTORY + "/log").read()[-2000:])


def connect(name):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(PATIENCE)
    s.connect("%s/%s.sock" % (DIRECTORY, name))
    return s


def ask(path):
    with connect("http") as s:
        s.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
        answer = b""
        while part := s.recv(65536):
            answer += part
        return answer


def encode(*words):
    words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


class Redis:
    def __init__(self):
        self.socket = connect("resp")
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def answer(self):
        line = self.file.readline()
        if not line:
            raise EOFError
        if line[:1] in b"*>~" and line[1:3] != b"-1":
            return [self.answer() for _ in range(int(line[1:]))]
        if line[:1] == b"$" and line[1:3] != b"-1":
            return self.file.read(int(line[1:]) + 2)[:-2]
        return line.strip()

    def call(self, *words):
        self.send(encode(*words))
        return self.answer()

    def close(self):
        self.file.close()
        self.socket.close()


def commands(r):
    key = b"k%d" % r.randrange(500)
    return r.choice([
        ("SET", key, b"v" * r.randrange(2000)), ("SET", key, 1, "PX", r.randrange(1, 2000)), ("GET", key), ("DEL", key),
        ("MGET", key, b"k1", b"k2"), ("APPEND", key, b"x"), ("EXPIRE", key, 1), ("SCAN", 0), ("PUBLISH", "c", key)])


def redis_client(seed):
    r = random.Random(seed)
    while not done.is_set():
        client = Redis()
        client.call("SELECT", r.randrange(3))
        for _ in range(r.randrange(1, 30)):
            burst = [commands(r) for _ in range(r.choice([1, 1, 1, 50]))]
            client.send(b"".join(encode(*words) for words in burst))
            for words in burst:
                answer = client.answer()
                # A value grows without end by APPEND, a table may be full, a lane may have waited for a stopped holder.
                if isinstance(answer, bytes) and answer[:1] == b"-" and answer[:5] not in (b"-OOM ", b"-BUSY"):
                    fail("%r: %r" % (words, answer[:200]))
                count("commands")
        r.choice([
            lambda: None, lambda: client.send(b"*2\r\n$3\r\nGET\r\n$100\r\nhalf"), lambda: client.call("SUBSCRIBE", "c"),
            lambda: client.send(encode("KEYS", "*") * 100), lambda: client.call("MULTI"),
            lambda: client.call("CLIENT", "NO-EVICT", "ON")])()
        client.close()
        count("connections")


def http_client(seed):
    r = random.Random(seed)
    while not done.is_set():
        if r.random() < 0.3:
            with connect("http") as s:
                s.sendall(b"GET / HT")
        else:
            path = r.choice(["/", "/metrics", "/status.json", "/ready", "/health"])
            answer = ask(path)
            if b" 200 " not in answer[:16] and path != "/health":
                fail("%s: %r" % (path, answer[:100]))
        count("requests")
        done.wait(0.01)


def participants(seed):
    """Dies in a barrier, and in the middle of whatever else."""
    r = random.Random(seed)
    while not done.is_set():
        table = r.choice(TABLES)
        if r.random() < 0.5:
            words = [SHMCTL, "barrier", "-t", table, "--", "sleep", "5"]
        else:
            words = [SHMCTL, "watch", "-t", table, "--prefix", "k"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        done.wait(r.random())
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        count("killed participants")
        done.wait(0.2)


def reloads(seed):
    r = random.Random(seed)
    while not done.wait(0.5):
        wrong = "colour: red\n" if r.random() < 0.3 else ""
        configure(r.choice(["20ms", "50ms", "100ms"]), wrong)
        run = subprocess.run([SHMD, "--config", FILE, "--runtime-directory", DIRECTORY + "/run", "--reload"], capture_output=True)
        if run.returncode != (78 if wrong else 0):
            fail("reload: exit status %d, %r" % (run.returncode, run.stderr[:300]))
        count("reloads")
    configure()


def disk(seed):
    r = random.Random(seed)
    while not done.wait(r.random() * 3):
        try:
            with open(DIRECTORY + "/stores/filler", "wb", buffering=0) as out:
                while not done.is_set():
                    out.write(b"x" * 65536)
        except OSError:
            pass
        done.wait(r.random() * 3)
        os.unlink(DIRECTORY + "/stores/filler")
        count("full disks")


def guarded(body):
    def run(*arguments):
        try:
            body(*arguments)
        except Exception as error:
            if not done.is_set():
                fail("%s: %s: %s" % (body.__name__, type(error).__name__, error))
    return run


def figures(pid):
    with open("/proc/%d/status" % pid) as status:
        fields = dict(line.split(":", 1) for line in status)
    return int(fields["RssAnon"].split()[0]), len(os.listdir("/proc/%d/fd" % pid)), int(fields["Threads"])


def settled(pid, descriptors):
    """Until those who have left are gone: that takes the daemon a moment."""
    for _ in range(600):
        if figures(pid)[1] <= descriptors:
            return figures(pid)
        time.sleep(0.1)
    return figures(pid)


def contents(table):
    return subprocess.run([SHMCTL, "ls", "-t", table, "--sort"], capture_output=True, check=True).stdout


def store_durably():
    """After a full disk the store tries again within half a minute; until then who waits for it is refused."""
    deadline = time.monotonic() + 60
    while True:
        run = subprocess.run([SHMCTL, "set", "-t", TABLES[2], "--sync", "last", "word"], capture_output=True)
        if run.returncode == 0:
            return
        if run.returncode != 11 or time.monotonic() > deadline:
            raise RuntimeError("set --sync: exit status %d, %r" % (run.returncode, run.stderr[:300]))
        time.sleep(0.2)


def come_back(daemon):
    """Kills the daemon, takes its tables away as a reboot does, and looks whether the durable one is as it was."""
    store_durably()
    # What has expired and is not swept yet comes back to nobody.
    time.sleep(3)
    store_durably()
    before = contents(TABLES[2])
    daemon.kill()
    daemon.wait()
    for table in TABLES:
        for part in ("ctl", "data"):
            os.unlink("/dev/shm/shmtable.%s.%s" % (table, part))
    daemon = start()
    if contents(TABLES[2]) != before or b"last" not in before:
        fail("the durable table came back as another")
    return daemon


def report(samples):
    samples = samples[len(samples) // 10:]
    half = len(samples) // 2
    for index, (name, slack) in enumerate((("anonymous KiB", SLACK_KIB), ("descriptors", 8), ("threads", 2))):
        first, second = (max(s[index] for s in part) for part in (samples[:half], samples[half:]))
        print("soak: %-14s at most %d in the first half, %d in the second" % (name, first, second))
        if second > first + slack:
            failures.append("%s grew from %d to %d" % (name, first, second))


def main():
    print("soak: %d s, seed %d" % (SECONDS, SEED), flush=True)
    os.mkdir(DIRECTORY + "/stores")
    has_disk = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "soak", DIRECTORY + "/stores"], capture_output=True).returncode == 0
    if not has_disk:
        print("soak: cannot fill a disk: needs root, to mount a small one")
    configure()
    daemon = None
    try:
        daemon = start()
        ask("/")
        work = [(redis_client, SEED + n) for n in range(6)] + [(http_client, SEED), (participants, SEED)]
        threads = [threading.Thread(target=guarded(body), args=(seed,)) for body, seed in work]
        threads.append(threading.Thread(target=guarded(reloads), args=(SEED,)))
        if has_disk:
            threads.append(threading.Thread(target=guarded(disk), args=(SEED,)))
        quiet = figures(daemon.pid)[1]
        for thread in threads:
            thread.start()
        samples, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end and not done.wait(0.25):
            if daemon.poll() is not None:
                fail("the daemon has ended")
                break
            samples.append(figures(daemon.pid))
        done.set()
        for thread in threads:
            thread.join()
        print("soak: " + ", ".join("%d %s" % (number, what) for what, number in sorted(counts.items())))
        if not failures:
            report(samples)
            left = settled(daemon.pid, quiet + 2)
            print("soak: %d descriptors before, %d when all had left" % (quiet, left[1]))
            # What a table opens for itself once stays open: a wake-up, and the lane's.
            if left[1] > quiet + 8:
                failures.append("descriptors stay open")
            daemon = come_back(daemon)
    finally:
        if daemon:
            daemon.kill()
            daemon.wait()
        if has_disk:
            subprocess.run(["umount", DIRECTORY + "/stores"])
        for table in TABLES:
            for part in ("ctl", "data"):
                try:
                    os.unlink("/dev/shm/shmtable.%s.%s" % (table, part))
                except OSError:
                    pass
        if failures:
            print(open(DIRECTORY + "/log", errors="replace").read()[-2000:])
        shutil.rmtree(DIRECTORY, ignore_errors=True)
    for failure in failures:
        print("soak: " + failure)
    sys.exit(1 if failures else 0)


main()
