#!/usr/bin/env python3
"""Measures shmctl beside mdb_dump and redis-cli, in one run.

    Benchmarks/command.py SHMCTL [ROUNDS] [CONTEST...]

SHMCTL is the installed form of the command (`make .build/programs/shmctl`). Needs lmdb-utils, redis-tools and redis-server. Each contest is
run by turns, ROUNDS times each; dump and load half as often. A line has, of both sides, the median of processor time in user mode, of all
processor time, and of the time from start to end; and the median of their ratios. At dump and load all processor time of redis-cli has
that of its server; at get-one it is redis-cli's alone. A ratio is to be judged by the column that its bar names, if it has one; exit
status 1 if one is beyond its bar.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

CONTESTS = {
    "get-keys": ("100,000 keys: ls -0 | get -0 - / mdb_dump", "cpu", 3.0),
    "get-one": ("get of one key / redis-cli get", "cpu", 0.5),
    "dump": ("dump of a million keys / redis-cli --rdb", "wall", 1.0),
    "load": ("load of a million keys / redis-cli --pipe", "wall", 1.0),
    "arguments": ("get of 8,000 keys as arguments / the same of one", "wall", None),
}


def key(number):
    return b"key:%08d" % number


def value(number):
    return b"value %08d " % number * 4


class Run:
    """What a run took: seconds in user mode, of the processor, by the clock."""

    def __init__(self, user, cpu, wall):
        self.user, self.cpu, self.wall = user, cpu, wall


def run(command, server=None, stdin=os.devnull, times=1):
    """Runs a command of the shell, or a list of words, and takes what it took, its children and a server included."""
    words = command if isinstance(command, list) else ["/bin/sh", "-c", command]
    before = ticks(server)
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    for _ in range(times):
        # Without a shell between: of a run of a millisecond it would be a third.
        actions = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0)]
        if isinstance(command, list):
            actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        child = os.posix_spawnp(words[0], words, os.environ, file_actions=actions)
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"command.py: {command} ended with {status}")
    wall = time.perf_counter() - begin
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    user = end.ru_utime - start.ru_utime
    cpu = user + end.ru_stime - start.ru_stime + ticks(server) - before
    return Run(user / times, cpu / times, wall / times)


def ticks(process):
    """Seconds of the processor that a process and its ended children have taken."""
    if not process:
        return 0
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def contest(name, rounds, ours, theirs):
    title, measure, bar = CONTESTS[name]
    runs = [(ours(), theirs()) for _ in range(rounds + 1)][1:]
    line, ratios = [], {}
    for kind in ("user", "cpu", "wall"):
        mine, other = (statistics.median(getattr(pair[side], kind) for pair in runs) for side in (0, 1))
        ratios[kind] = statistics.median(getattr(a, kind) / max(getattr(b, kind), 1e-9) for a, b in runs)
        line.append(f"{kind} {mine * 1000:.1f} / {other * 1000:.1f} ms = {ratios[kind]:.2f}")
    held = bar is None or ratios[measure] <= bar
    print(f"{title}\n  {'; '.join(line)}")
    if bar is not None:
        print(f"  {measure}: {ratios[measure]:.2f}, bar {bar}: {'held' if held else 'NOT HELD'}")
    sys.stdout.flush()
    return held


class Bench:
    def __init__(self, shmctl, directory):
        self.shmctl, self.directory = shmctl, directory
        self.table = f"command-bench-{os.getpid()}"
        self.socket = f"{directory}/redis.sock"
        self.server = None

    def path(self, name):
        return f"{self.directory}/{name}"

    def shm(self, *words, stdin=os.devnull):
        with open(stdin, "rb") as file:
            subprocess.run([self.shmctl, "-q", *words], stdin=file, stdout=subprocess.DEVNULL, check=True)

    def fill(self, table, count):
        self.shm("create", table, "--capacity", "1GiB" if count > 200_000 else "256MiB")
        with open(self.path("lines"), "wb") as file:
            for number in range(count):
                file.write(key(number) + b"\t" + value(number) + b"\n")
        self.shm("-t", table, "mset", "-", stdin=self.path("lines"))

    def start_redis(self):
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.directory,
             "--repl-diskless-sync-delay", "0"],
            stdout=subprocess.DEVNULL)
        for _ in range(300):
            if subprocess.run(["redis-cli", "-s", self.socket, "ping"], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        sys.exit("command.py: redis-server does not answer")

    def write_commands(self, count):
        """So many SETs as redis-cli --pipe takes them."""
        with open(self.path("commands"), "wb") as file:
            for number in range(count):
                words = [b"SET", key(number), value(number)]
                file.write(b"*3\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))

    def lmdb(self, count):
        """The same keys in LMDB, by mdb_load."""
        os.mkdir(self.path("lmdb"))
        with open(self.path("text"), "wb") as file:
            file.write(b"VERSION=3\nformat=print\ntype=btree\nmapsize=268435456\nHEADER=END\n")
            for number in range(count):
                file.write(b" " + key(number) + b"\n " + value(number) + b"\n")
            file.write(b"DATA=END\n")
        subprocess.run(["mdb_load", "-f", self.path("text"), self.path("lmdb")], check=True)

    def end(self):
        if self.server:
            self.server.terminate()
            self.server.wait()
        for suffix in ("", ".many", ".empty"):
            subprocess.run([self.shmctl, "-q", "drop", self.table + suffix], capture_output=True)


def main():
    shmctl = os.path.realpath(sys.argv[1])
    rest = sys.argv[2:]
    rounds = int(rest.pop(0)) if rest and rest[0].isdigit() else 7
    chosen = rest or list(CONTESTS)
    held = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        bench = Bench(shmctl, directory)
        try:
            bench.start_redis()
            if "get-keys" in chosen or "get-one" in chosen or "arguments" in chosen:
                small(bench, chosen, rounds, held)
            if "dump" in chosen or "load" in chosen:
                large(bench, chosen, max(1, rounds // 2), held)
        finally:
            bench.end()
    sys.exit(0 if all(held) else 1)


def small(bench, chosen, rounds, held):
    count, table, ctl = 100_000, bench.table, bench.shmctl
    bench.fill(table, count)
    if "get-keys" in chosen:
        bench.lmdb(count)
        ours = f"{ctl} -t {table} ls -0 | {ctl} -t {table} get -0 - > /dev/null"
        held.append(contest(
            "get-keys", rounds, lambda: run(ours), lambda: run(f"mdb_dump {bench.path('lmdb')} > /dev/null")))
    one = [ctl, "-t", table, "get", "key:00000007"]
    if "get-one" in chosen:
        theirs = ["redis-cli", "-s", bench.socket, "get", "key:00000007"]
        subprocess.run(["redis-cli", "-s", bench.socket, "set", "key:00000007", value(7)], capture_output=True)
        held.append(contest("get-one", rounds, lambda: run(one, times=100), lambda: run(theirs, times=100)))
    if "arguments" in chosen:
        many = [ctl, "-t", table, "get"] + [key(number).decode() for number in range(8000)]
        held.append(contest("arguments", rounds, lambda: run(many), lambda: run(one)))


def large(bench, chosen, rounds, held):
    count, table, ctl = 1_000_000, bench.table + ".many", bench.shmctl
    dump, rdb, redis = bench.path("dump"), bench.path("rdb"), ["redis-cli", "-s", bench.socket]
    bench.fill(table, count)
    bench.write_commands(count)

    def pipe():
        subprocess.run([*redis, "flushall"], stdout=subprocess.DEVNULL, check=True)
        return run([*redis, "--pipe"], bench.server, stdin=bench.path("commands"))

    def load():
        bench.shm("create", bench.table + ".empty", "--capacity", "1GiB")
        took = run([ctl, "-q", "-t", bench.table + ".empty", "load", dump])
        bench.shm("drop", bench.table + ".empty")
        return took

    pipe()
    run([ctl, "-t", table, "dump", "-o", dump])
    if "dump" in chosen:
        held.append(contest(
            "dump", rounds, lambda: run([ctl, "-t", table, "dump", "-o", dump]),
            lambda: run([*redis, "--rdb", rdb], bench.server)))
    if "load" in chosen:
        held.append(contest("load", rounds, load, pipe))


if __name__ == "__main__":
    main()
