import ToolSupport

/// What a mirror mirrors: `etcd://HOST:PORT,HOST:PORT/PREFIX`.
///
/// All that follows the slash behind the endpoints is the prefix, byte by byte: `etcd://db:2379/app/` is all below `app/`, and
/// `etcd://db:2379//registry/` all below `/registry/`. A byte that does not belong into an address is written `%` and two
/// hexadecimal digits. `etcds://` asks for TLS.
public struct MirrorAddress: Sendable, Equatable {
  /// A process of the other store to talk to.
  public struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
      self.host = host
      self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  }

  /// Why a text is no address, and what one looks like.
  public struct Mistake: Error, CustomStringConvertible {
    public let description: String
  }

  public let isSecure: Bool
  /// In the order in which they are tried first. Never empty.
  public let endpoints: [Endpoint]
  /// What the keys over there begin with, and the table's do not.
  public let prefix: [UInt8]

  private static let mostEndpoints = 64
  private static let longestPrefix = 1024

  public init(isSecure: Bool = false, endpoints: [Endpoint], prefix: [UInt8]) {
    self.isSecure = isSecure
    self.endpoints = endpoints
    self.prefix = prefix
  }

  public init(_ text: String) throws(Mistake) {
    func mistake(_ what: String) -> Mistake {
      Mistake(
        description: "\(text.quotedExcerpt) \(what); write etcd://HOST:PORT,HOST:PORT/PREFIX, or etcds:// for TLS")
    }
    let rest: Substring
    if text.hasPrefix("etcd://") {
      (isSecure, rest) = (false, text.dropFirst(7))
    } else if text.hasPrefix("etcds://") {
      (isSecure, rest) = (true, text.dropFirst(8))
    } else {
      throw mistake("is no address of an etcd")
    }
    guard let slash = rest.firstIndex(of: "/") else { throw mistake("has no slash behind its endpoints") }
    var endpoints: [Endpoint] = []
    for part in rest[..<slash].split(separator: ",", omittingEmptySubsequences: false) {
      guard let endpoint = Endpoint(part) else {
        throw mistake("has an endpoint that is not HOST:PORT: \(String(part).quotedExcerpt)")
      }
      guard !endpoints.contains(endpoint) else { throw mistake("names \(endpoint) twice") }
      endpoints.append(endpoint)
    }
    guard endpoints.count <= Self.mostEndpoints else { throw mistake("has more than \(Self.mostEndpoints) endpoints") }
    guard let prefix = Self.decode(rest[rest.index(after: slash)...]) else {
      throw mistake("has a '%' without two hexadecimal digits behind it")
    }
    guard prefix.count <= Self.longestPrefix else {
      throw mistake("has a prefix of more than \(Self.longestPrefix) bytes")
    }
    self.endpoints = endpoints
    self.prefix = prefix
  }

  /// The bytes of a prefix that stands in an address; nil if it cannot.
  static func decode(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}

extension MirrorAddress: CustomStringConvertible {
  /// Reads as the same address.
  public var description: String {
    "etcd\(isSecure ? "s" : "")://\(endpoints.map(\.description).joined(separator: ","))/\(prefixText)"
  }

  private var prefixText: String { Self.text(of: prefix) }

  /// A prefix as it stands in an address: without spaces.
  static func text(of prefix: [UInt8]) -> String {
    prefix.reduce(into: "") { text, byte in
      let isPlain = byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "%")
      text += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
}

extension MirrorAddress.Endpoint {
  /// `HOST:PORT`; an IPv6 address stands in brackets.
  fileprivate init?(_ text: Substring) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      return nil
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: "/") }
    guard !host.isEmpty, host.utf8.count <= 253, isPlain else { return nil }
    self.init(host: String(host), port: Int(port))
  }
}
