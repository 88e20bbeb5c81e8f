#!/usr/bin/env python3
"""Forwards TCP connections as a slow link does, for etcd-cluster-test.sh: many kernels have no netem.

  slow-link.py LISTEN-PORT=HOST:PORT... [--delay SECONDS] [--rate BYTES-PER-SECOND] [--stall-every SECONDS]

Each byte comes DELAY later, each way; all connections together get RATE bytes a second, each way; and every so often nothing
passes for a second. "ready" is printed when it listens.
"""
import argparse, asyncio

CHUNK = 4096


class Direction:
    """One way of the link: the moment until which it is taken by bytes that are under way."""

    def __init__(self, rate):
        self.rate = rate
        self.free = 0.0

    async def take(self, count):
        now = asyncio.get_running_loop().time()
        self.free = max(self.free, now) + count / self.rate
        if self.free > now:
            await asyncio.sleep(self.free - now)


class Link:
    def __init__(self, options):
        self.options = options
        self.directions = Direction(options.rate), Direction(options.rate)
        self.open = asyncio.Event()
        self.open.set()

    async def stall(self):
        while self.options.stall_every:
            await asyncio.sleep(self.options.stall_every)
            self.open.clear()
            await asyncio.sleep(1)
            self.open.set()

    async def serve(self, target, reader, writer):
        host, port = target.rsplit(":", 1)
        try:
            await asyncio.sleep(self.options.delay)
            other_reader, other_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        ways = ((reader, other_writer, self.directions[0]), (other_reader, writer, self.directions[1]))
        await asyncio.gather(*(self.forward(*way) for way in ways), return_exceptions=True)

    async def forward(self, reader, writer, direction):
        # What is under way is bounded: who sends is held up, as by a window of TCP.
        under_way = asyncio.Queue(64)
        sending = asyncio.create_task(self.deliver(under_way, writer))
        try:
            while data := await reader.read(CHUNK):
                await direction.take(len(data))
                await self.open.wait()
                await under_way.put((asyncio.get_running_loop().time() + self.options.delay, data))
        except OSError:
            pass
        await under_way.put((0, b""))
        await sending

    async def deliver(self, under_way, writer):
        while True:
            due, data = await under_way.get()
            if not data:
                break
            await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))
            # Where nobody takes it any more it is thrown away, until the other way has told who sends.
            if writer.is_closing():
                continue
            try:
                writer.write(data)
                await writer.drain()
            except OSError:
                pass
        writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ports", nargs="+")
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--rate", type=float, default=256_000)
    parser.add_argument("--stall-every", type=float, default=0)
    options = parser.parse_args()
    link = Link(options)
    servers = []
    for entry in options.ports:
        port, target = entry.split("=")
        serve = lambda reader, writer, target=target: link.serve(target, reader, writer)
        servers.append(await asyncio.start_server(serve, "127.0.0.1", int(port), limit=CHUNK))
    print("ready", flush=True)
    await asyncio.gather(link.stall(), *(server.serve_forever() for server in servers))


asyncio.run(main())
