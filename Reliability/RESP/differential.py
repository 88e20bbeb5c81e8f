#!/usr/bin/env python3
"""Random commands, good and bad, beside a redis-server: the answers are equal, byte for byte, or one of the differences
that differences.md lists.

    differential.py SHMD [COMMANDS [SEED]]

Starts `SHMD` (the daemon's binary) and redis-server, each with a Unix socket in a directory of its own, and asks both the
same in RESP2 and in RESP3. Exit status 1 if an answer differs; the seed and the command are shown.
"""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE = 60
WORDS = [b"", b"0", b"1", b"-1", b"10", b"3.0e3", b"0.1", b"abc", b"ABC", b" 1", b"01", b"1x", b"9223372036854775807",
         b"-9223372036854775808", b"9223372036854775808", b"nan", b"inf", b"caf\xc3\xa9", b"\xff\x00\r\n", b"x" * 300]
KEYS = [b"a", b"b", b"c", b"key:%d" % 1, b"key:2", b"\x00\xff"]
NUMBERS = [b"0", b"1", b"-1", b"5", b"-5", b"100000", b"x", b"", b"1.5", b"9223372036854775807", b"-9223372036854775808"]
TIMES = [b"1000000", b"2000000", b"100000000", b"-1", b"0", b"x", b"9223372036854775807", b"9999999999999999"]
SET_OPTIONS = [[b"NX"], [b"XX"], [b"GET"], [b"KEEPTTL"], [b"EX"], [b"PX"], [b"EXAT"], [b"PXAT"], [b"PERSIST"], [b"foo"]]


class Client:
    def __init__(self, path):
        self.socket = self.connected(path)
        self.rest = b""

    @staticmethod
    def connected(path):
        """A server's socket is there before it listens."""
        end = time.monotonic() + PATIENCE
        while True:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(PATIENCE)
            try:
                connection.connect(path)
                return connection
            except ConnectionRefusedError:
                connection.close()
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def more(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise EOFError
        self.rest += part

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def answer(self):
        """The raw bytes of one answer, in parts: aggregates are tuples."""
        line = self.line()
        kind = line[:1]
        if kind in b"$=" and line[1:] != b"-1":
            count = int(line[1:]) + 2
            while len(self.rest) < count:
                self.more()
            text, self.rest = self.rest[:count], self.rest[count:]
            return (line, text)
        if kind in b"*~>%" and line[1:] != b"-1":
            return (line,) + tuple(self.answer() for _ in range(int(line[1:]) * (2 if kind == b"%" else 1)))
        return (line,)


def encode(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def key(r):
    return r.choice(KEYS)


def compared(r):
    """A time for GT and LT, which compare it with the one a key has: it differs from all others by more than the servers' clocks do.
    A time that two commands share is the later one only where a clock went on between them."""
    return r.choice([b"-1", b"0", b"x", b"9223372036854775807", b"%d" % r.randint(1_000_000, 100_000_000)])


def options(r):
    words = []
    for _ in range(r.choice([0, 0, 1, 1, 2, 3])):
        option = r.choice(SET_OPTIONS)[0]
        words.append(option)
        if option in (b"EX", b"PX", b"EXAT", b"PXAT") and r.random() < 0.9:
            # What lies in the future does so by far.
            words.append(r.choice([b"4000000000"] if option == b"EXAT" else [b"4000000000000"] if option == b"PXAT" else TIMES))
    return words


def command(r):
    """One command with its name; sometimes with an argument too many or too few."""
    k, v, n = key(r), r.choice(WORDS), r.choice(NUMBERS)
    words = r.choice([
        lambda: [b"GET", k], lambda: [b"SET", k, v] + options(r), lambda: [b"SETNX", k, v],
        lambda: [b"SETEX", k, r.choice(TIMES), v], lambda: [b"PSETEX", k, r.choice(TIMES) + b"000", v],
        lambda: [b"GETSET", k, v], lambda: [b"GETDEL", k], lambda: [b"GETEX", k] + options(r),
        lambda: [b"MGET"] + [key(r) for _ in range(3)], lambda: [b"MSET", k, v, key(r), r.choice(WORDS)],
        lambda: [b"MSETNX", k, v, key(r), r.choice(WORDS)], lambda: [b"STRLEN", k], lambda: [b"APPEND", k, v],
        lambda: [b"GETRANGE", k, n, r.choice(NUMBERS)], lambda: [b"SUBSTR", k, n, r.choice(NUMBERS)],
        lambda: [b"SETRANGE", k, r.choice([b"0", b"3", b"-1", b"x", b"9999999999"]), v],
        lambda: [b"INCR", k], lambda: [b"DECR", k], lambda: [b"INCRBY", k, n], lambda: [b"DECRBY", k, n],
        lambda: [b"INCRBYFLOAT", k, r.choice(WORDS[:12])],
        lambda: [b"LCS", k, key(r)] + r.choice([[], [b"LEN"], [b"IDX"], [b"IDX", b"WITHMATCHLEN", b"MINMATCHLEN", b"2"],
                                                [b"IDX", b"LEN"], [b"foo"]]),
        lambda: [b"DEL", k, key(r)], lambda: [b"UNLINK", k], lambda: [b"EXISTS", k, key(r)], lambda: [b"TOUCH", k],
        lambda: [b"COPY", k, key(r)] + r.choice([[], [b"REPLACE"], [b"foo"]]), lambda: [b"RENAME", k, key(r)],
        lambda: [b"RENAMENX", k, key(r)], lambda: [b"KEYS", r.choice([b"*", b"k*", b"[ab]", b"key:?", b"\\a", b"[^a]", b"zz"])],
        lambda: [b"TYPE", k], lambda: [b"TTL", k], lambda: [b"PTTL", k], lambda: [b"EXPIRETIME", k],
        lambda: [b"PEXPIRETIME", k], lambda: [b"PERSIST", k], lambda: [b"DBSIZE"],
        lambda: [r.choice([b"EXPIRE", b"PEXPIRE"]), k, r.choice(TIMES)] + r.choice([[], [b"NX"], [b"XX"], [b"NX", b"XX"], [b"foo"]]),
        lambda: [r.choice([b"EXPIRE", b"PEXPIRE"]), k, compared(r)] + r.choice([[b"GT"], [b"LT"], [b"GT", b"LT"]]),
        lambda: [b"EXPIREAT", k, r.choice([b"4000000000", b"1", b"x"])], lambda: [b"MULTI"], lambda: [b"EXEC"],
        lambda: [b"DISCARD"], lambda: [b"WATCH", k], lambda: [b"UNWATCH"], lambda: [b"PING"], lambda: [b"PING", v],
        lambda: [b"ECHO", v], lambda: [b"SELECT", r.choice([b"0", b"99", b"x"])], lambda: [b"PUBLISH", k, v],
        lambda: [b"PUBSUB", b"NUMPAT"], lambda: [b"CLIENT", b"GETNAME"], lambda: [b"CLIENT", b"SETNAME", r.choice([b"me", b"a b"])],
        lambda: [b"SCAN", r.choice([b"0", b"0", b"x"])] + r.choice([[], [b"COUNT", b"100"], [b"COUNT", b"0"], [b"MATCH", b"k*"],
                                                                    [b"TYPE", b"string"], [b"foo", b"bar"]]),
        lambda: [r.choice([b"nosuch", b"NO\r\nSUCH"]), v, k], lambda: [b"FLUSHDB"] if r.random() < 0.05 else [b"GET", k],
        lambda: [b"CLIENT", b"KILL", r.choice([b"TYPE", b"USER"]), v], lambda: [b"CONFIG", b"SET", v, b"x"],
        lambda: [r.choice([b"CLIENT", b"PUBSUB", b"CONFIG"]), r.choice([v, b"\xc5\xbfETNAME"]), b"x"], lambda: [b"HELLO", b"3", v],
        lambda: [b"HELLO", r.choice([b"1", b"x"])], lambda: [b"AUTH", b"default", b"x"], lambda: [b"AUTH", b"x"],
        lambda: [b"AUTH", b"nobody", b"x"],
    ])()
    chance = r.random()
    if chance < 0.03:
        words = words + [r.choice(WORDS)]
    elif chance < 0.06 and len(words) > 1:
        words = words[:-1]
    elif chance < 0.10:
        words = [words[0].lower()] + words[1:]
    # D22: a value whose time is soon over, or was, is counted here until it is swept; what an argument too many has made.
    soon = any(option in (b"EX", b"PX", b"EXAT", b"PXAT") and time in (b"1", b"10") for option, time in zip(words, words[1:]))
    return [b"PING"] if soon else words


def near(left, right, tolerance):
    numbers = [re.fullmatch(rb":(-?\d+)", part[0]) for part in (left, right)]
    return all(numbers) and abs(int(numbers[0][1]) - int(numbers[1][1])) <= tolerance


def same(words, ours, theirs, queued):
    """Whether two answers are equal, or differ as differences.md says."""
    if ours == theirs:
        return True
    name = words[0].upper()
    if name == b"EXEC" and len(ours) == len(theirs) and ours[0] == theirs[0] and len(queued) == len(ours) - 1:
        return all(same(q, a, b, []) for q, a, b in zip(queued, ours[1:], theirs[1:]))
    if ours[0][:1] != theirs[0][:1]:
        # D1: an EXPIRE beyond the year 2554 is one at its end.
        return False
    if name == b"HELLO" and len(ours) == len(theirs) == 15:
        # The connection's number.
        return ours[:8] + ours[9:] == theirs[:8] + theirs[9:]
    if name in (b"TTL", b"EXPIRETIME"):
        return near(ours, theirs, 1) or far(ours, theirs)
    if name in (b"PTTL", b"PEXPIRETIME"):
        return near(ours, theirs, 2000) or far(ours, theirs)
    if name == b"KEYS":
        return sorted(ours[1:]) == sorted(theirs[1:])
    if name == b"SCAN" and len(ours) == 3 and len(theirs) == 3:
        return ours[1] == theirs[1] and sorted(ours[2][1:]) == sorted(theirs[2][1:])
    return False


def far(ours, theirs):
    """D1: both are beyond the year 2500, where the table's clock ends."""
    return all(part[0][:1] == b":" and int(part[0][1:]) > 16_000_000_000 for part in (ours, theirs))


def damaged(r):
    words = command(r)
    while words[0].upper() in (b"SCAN", b"KEYS", b"HELLO", b"DBSIZE"):
        # Whose answers are equal by parts only.
        words = command(r)
    frame = bytearray(encode(words))
    for _ in range(r.randint(1, 3)):
        frame[r.randrange(len(frame))] = r.choice(b"*$\r\n0123-x:\0\xc3\xff")
    return bytes(frame) + r.choice([b"", b"\r\n", b"*1\r\n$4\r\nPING\r\n"])


def until_closed(path, frame):
    """What is answered to a frame and a PING behind it, until the other end has nothing more to say."""
    client = Client(path)
    client.socket.sendall(frame)
    client.socket.shutdown(socket.SHUT_WR)
    answer = b""
    try:
        while part := client.socket.recv(1 << 16):
            answer += part
    except ConnectionError:
        pass
    return answer


def beginning(r):
    """What both hold before a damaged frame. It is made anew for each: a frame may give a key a time that is soon over, and the two
    servers need not agree when."""
    words = [[b"FLUSHALL"]]
    for k in KEYS:
        if r.random() < 0.7:
            words.append([b"SET", k, r.choice(WORDS)] + ([b"EX", b"1000000"] if r.random() < 0.3 else []))
    return b"".join(map(encode, words))


def coming_and_going(r):
    """A transaction that depends on a key which comes and goes, or goes and comes: chance hardly ever draws one."""
    k, v = key(r), r.choice(WORDS)
    change = [[b"SET", k, v], [b"DEL", k]]
    before = [b"DEL", k]
    if r.random() < 0.5:
        change, before = change[::-1], [b"SET", k, v]
    return [[b"DISCARD"], [b"UNWATCH"], before, [b"WATCH", k]] + change + [[b"MULTI"], [b"GET", k], [b"EXEC"]]


def compare(r, paths, version, commands):
    clients = [Client(path) for path in paths]
    for client in clients:
        client.socket.sendall(encode([b"FLUSHALL"]) + encode([b"HELLO", b"%d" % version]))
        client.answer(), client.answer()
    queued, bad = [], 0
    for _ in range(0, commands, 20):
        burst = [command(r) for _ in range(20)] + (coming_and_going(r) if r.random() < 0.02 else [])
        for client in clients:
            client.socket.sendall(b"".join(map(encode, burst)))
        for words in burst:
            answers = [client.answer() for client in clients]
            if not same(words, *answers, queued):
                print(f"RESP{version} {words}\n  ours   {answers[0]}\n  theirs {answers[1]}")
                bad += 1
            name = words[0].upper()
            if answers[1] == (b"+QUEUED",):
                queued.append(words)
            if name in (b"EXEC", b"DISCARD"):
                queued = []
        if bad > 20:
            break
    for client in clients:
        client.socket.close()
    return bad


def main():
    shmd, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"differential: {count} commands, seed {seed}", flush=True)
    r = random.Random(seed)
    directory = tempfile.mkdtemp(prefix="resp-differential-")
    table = f"resp-differential-{os.getpid()}"
    paths = [directory + "/shmd.sock", directory + "/redis.sock"]
    with open(directory + "/shmd.yaml", "w") as file:
        file.write(f"tables:\n- name: {table}\nresp: {{socket: {paths[0]}}}\n")
    processes = [
        subprocess.Popen([shmd, "--config", directory + "/shmd.yaml", "--runtime-directory", directory],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
        subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", paths[1], "--save", "", "--databases", "1",
                          "--dir", directory], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    bad = 0
    try:
        end = time.monotonic() + PATIENCE
        while not all(map(os.path.exists, paths)):
            if time.monotonic() > end or any(process.poll() is not None for process in processes):
                sys.exit("differential: a server did not start")
            time.sleep(0.05)
        client = Client(paths[1])
        client.socket.sendall(encode([b"COMMAND", b"LIST"]))
        served_there = {name[1].rstrip().lower() for name in client.answer()[1:]}
        for version in (2, 3):
            bad += compare(r, paths, version, count // 2)
        for _ in range(min(2000, count // 50)):
            frame = damaged(r)
            if b"$0\r" in frame or b"\r$0" in frame:
                # D4: an empty key that the damage has made is one to Redis.
                continue
            before = beginning(r)
            for path in paths:
                until_closed(path, before)
            answers = [until_closed(path, frame) for path in paths]
            if any(name.lower() in served_there for name in re.findall(rb"-ERR unknown command '(\w+)'", answers[0])):
                # D11: damage makes SCARD of DISCARD, and XDEL of DEL.
                continue
            if answers[0] != answers[1] and not same_damage(answers):
                print(f"damaged {frame}\n  ours   {answers[0]}\n  theirs {answers[1]}")
                bad += 1
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        for suffix in ("ctl", "data"):
            try:
                os.unlink(f"/dev/shm/shmtable.{table}.{suffix}")
            except FileNotFoundError:
                pass
        shutil.rmtree(directory, ignore_errors=True)
    if bad:
        sys.exit(f"differential: {bad} answers differ (seed {seed})")
    print("differential: all answers are equal, but for the differences that are documented")


def same_damage(answers):
    """Times, and lists of keys in another order, that a damaged frame happened to ask for."""
    answers = [re.sub(rb"\*2\r\n\$10\r\n\d{10}\r\n\$\d\r\n\d{1,6}\r\n", b"TIME", answer) for answer in answers]
    if sorted(answers[0].split(b"\r\n")) == sorted(answers[1].split(b"\r\n")):
        return True
    return all(re.fullmatch(rb":\d{2,}\r\n.*", answer, re.S) for answer in answers)


main()
