import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct MirrorAddressTests {
  @Test(arguments: [
    ("etcd://db:2379/app/", "app/"), ("etcd://db:2379//registry/", "/registry/"), ("etcd://db:2379/", ""),
    ("etcd://a:1,b:2,[::1]:3/x%2fy%00", "x/y\0"),
  ])
  func addressIsReadAndWritten(text: String, prefix: String) throws {
    let address = try MirrorAddress(text)
    #expect(String(decoding: address.prefix, as: UTF8.self) == prefix)
    #expect(try MirrorAddress(address.description) == address)
    #expect(!address.isSecure)
  }

  @Test func endpointsKeepTheirOrder() throws {
    let address = try MirrorAddress("etcds://a:1,[fe80::1]:2/p")
    #expect(address.isSecure)
    #expect(address.endpoints.map(\.description) == ["a:1", "[fe80::1]:2"])
  }

  @Test(arguments: [
    "http://a:1/p", "etcd://a:1", "etcd:///p", "etcd://a/p", "etcd://a:0/p", "etcd://a:65536/p", "etcd://a:x/p",
    "etcd://a:1,/p", "etcd://a:1,a:1/p", "etcd://u@a:1/p", "etcd://::1:2/p", "etcd://a:1/p%2", "etcd://a:1/p%zz", "",
  ])
  func whatIsNoAddressIsSaid(text: String) {
    #expect(throws: MirrorAddress.Mistake.self) { try MirrorAddress(text) }
  }
}
