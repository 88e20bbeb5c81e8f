import NIOCore
import NIOHTTP1

/// Answers the one request of a connection, and ends it.
final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let options: StatusServerOptions
  private let pages: @Sendable (String) -> Page?
  private let isTCP: Bool
  private let isRefused: Bool
  private var head: HTTPRequestHead?
  private var isAnswered = false
  private var isInputOver = false
  private var isOutputOver = false

  init(
    _ options: StatusServerOptions, pages: @escaping @Sendable (String) -> Page?, isTCP: Bool, isRefused: Bool
  ) {
    self.options = options
    self.pages = pages
    self.isTCP = isTCP
    self.isRefused = isRefused
  }

  func channelActive(context: ChannelHandlerContext) {
    if isRefused {
      answer(context, Page(status: 503, "\(options.connectionLimit) connections are served already; try again"))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard self.head == nil else { return }
      self.head = head
      if let refusal = refusal(of: head) { answer(context, refusal) }
    case .body: break
    case .end:
      guard let head else { return }
      let path = head.uri.prefix { $0 != "?" && $0 != "#" }
      answer(context, pages(String(path)) ?? Page(status: 404, "there is no such page"))
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case is OversizedRequest:
      answer(context, Page(status: 431, "the request is larger than \(options.requestByteLimit) bytes"))
    // The second: more of what could not be parsed. It is thrown away while the answer is on its way.
    case is HTTPParserError, is ByteToMessageDecoderError:
      answer(context, Page(status: 400, "this is no HTTP request"))
    // The connection is broken.
    default: context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
    isInputOver = true
    // Half a request, or none: there will be no more of it.
    if !isAnswered || isOutputOver { context.close(promise: nil) }
  }

  private func refusal(of head: HTTPRequestHead) -> Page? {
    guard head.method == .GET || head.method == .HEAD else {
      return Page(status: 405, "only GET and HEAD are served here")
    }
    let hosts = head.headers["host"]
    guard !isTCP || hosts.allSatisfy(Self.isThisHost) else {
      return Page(
        status: 421, "this server is called localhost; another name may be a web site's that asks by your browser")
    }
    return nil
  }

  /// Whether a `Host` header names loopback. A web site can have its own name lead to 127.0.0.1, and its script read what is
  /// served there: then the browser sends that name.
  static func isThisHost(_ header: String) -> Bool {
    if header.hasPrefix("[") { return header.hasPrefix("[::1]") }
    let host = header.prefix { $0 != ":" }.lowercased()
    return host == "localhost"
      || host.hasPrefix("127.") && host.split(separator: ".").count == 4
        && host.split(separator: ".").allSatisfy { UInt8($0) != nil }
  }

  private func answer(_ context: ChannelHandlerContext, _ page: Page) {
    guard !isAnswered else { return }
    isAnswered = true
    var headers: HTTPHeaders = [
      "content-type": page.contentType, "content-length": "\(page.body.count)", "connection": "close",
      "cache-control": "no-store", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
      "content-security-policy": page.securityPolicy,
    ]
    if page.status == 405 { headers.add(name: "allow", value: "GET, HEAD") }
    let status = HTTPResponseStatus(statusCode: page.status)
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
    if head?.method != .HEAD {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: page.body)))), promise: nil)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
      let (handler, context) = bound.value
      handler.endOutput(context)
    }
  }

  /// All is written. The client ends the connection when it has read it, or the connection's time does.
  private func endOutput(_ context: ChannelHandlerContext) {
    isOutputOver = true
    context.close(mode: isInputOver ? .all : .output, promise: nil)
  }
}
