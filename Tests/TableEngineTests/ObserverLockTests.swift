import Glibc
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

@Suite struct ObserverLockTests {
  /// A process that another thread starts has copies of all descriptors until it runs its program. If a lock lived on in them, a table
  /// would be left as large as it is, because it seems to be observed.
  @Test func aDescriptorThatAChildStillHasDoesNotObserve() throws {
    try withTableName { name in
      let table = try Table.create(name, Table.Options(capacityBytes: 1 << 20))
      let lock = ObserverLock(data: table.segment.dataObject, name: ObjectName.data(name))
      let path = "/dev/shm/" + ObjectName.data(name)
      let copies = lock.exclude { Self.copiesOfDescriptors(of: path) } ?? []
      #expect(copies.count >= 2, "the table's own, and that of the lock")
      let isObserved = lock.isObserved
      #expect(!isObserved)
      for copy in copies { close(copy) }
    }
  }

  private static func copiesOfDescriptors(of path: String) -> [Int32] {
    (0..<1 << 12).filter { descriptor in
      var target = [UInt8](repeating: 0, count: 512)
      let length = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
      return length > 0 && String(decoding: target[..<length], as: UTF8.self) == path
    }.map { dup(Int32($0)) }
  }
}
