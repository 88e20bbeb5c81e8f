// What SwiftNIO itself costs a lone GET, beside what the server costs: each serves a Unix socket in the same way, for redis-benchmark
// and for callgrind, until its standard input ends.
//
//   resp-floor table SOCKET    the server, with a table of its own
//   resp-floor echo SOCKET     no server: whatever a read of the socket brings is answered by `+OK`

import Dispatch
import NIOCore
import NIOPosix
import RESPServer
import SharedTable
import TestSupport

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("resp-floor table|echo SOCKET") }
if arguments[1] == "table" { serveTable(arguments[2]) } else { try serveEcho(arguments[2]) }

/// Not in an asynchronous `main`: that ends the main thread, which valgrind does not survive.
func serveTable(_ path: String) {
  let ended = DispatchSemaphore(value: 0)
  Task {
    let name = uniqueTableName()
    _ = try Table.create(name, Table.Options(capacityBytes: 256 << 20))
    let server = RESPServer(ServerOptions(socket: path, tables: [.init(name: name)]))
    try await server.start()
    waitForTheEnd()
    await server.stop()
    try Table.drop(name)
    ended.signal()
  }
  ended.wait()
}

func serveEcho(_ path: String) throws {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  _ = try ServerBootstrap(group: group)
    .childChannelOption(.autoRead, value: false)
    .childChannelOption(.allowRemoteHalfClosure, value: true)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(EchoHandler()) }
    }
    .bind(unixDomainSocketPath: path).wait()
  waitForTheEnd()
  try group.syncShutdownGracefully()
}

nonisolated func waitForTheEnd() { while readLine() != nil {} }

final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let answer = ByteBuffer(staticString: "+OK\r\n")

  func channelActive(context: ChannelHandlerContext) { context.read() }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    context.read()
  }
}
