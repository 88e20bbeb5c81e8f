import Glibc

/// 127.0.0.1.
let loopback: UInt32 = 0x7F00_0001

/// A Unix socket that is listened to at a path; the caller's to close and to remove.
func listener(atPath path: String) throws -> Int32 {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
  return try listener(AF_UNIX, &address, MemoryLayout<sockaddr_un>.size)
}

/// A TCP socket that is listened to at a port that was free; the caller's to close.
func listenerOnTCP(_ host: UInt32) throws -> (descriptor: Int32, port: UInt16) {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = host.bigEndian
  let descriptor = try listener(AF_INET, &address, MemoryLayout<sockaddr_in>.size)
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutablePointer(to: &address) { pointer in
    _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
  }
  return (descriptor, UInt16(bigEndian: address.sin_port))
}

/// Inherited by what is started, as a manager's are.
private func listener<Address>(_ family: Int32, _ address: inout Address, _ size: Int) throws -> Int32 {
  let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
  let failed = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(size)) }
  }
  guard failed == 0, listen(descriptor, 16) == 0 else { throw Failure("no listener: error \(errno)") }
  return descriptor
}
