/// What is answered to a request.
public struct Page: Sendable {
  public var status: Int
  public var contentType: String
  public var body: [UInt8]
  /// What a browser may do with it; the strictest where nothing is said.
  public var securityPolicy = "default-src 'none'"

  public init(status: Int = 200, contentType: String, _ body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// Lines of plain text.
  public init(status: Int, _ text: String) {
    self.init(status: status, contentType: "text/plain; charset=utf-8", Array("\(text)\n".utf8))
  }
}
