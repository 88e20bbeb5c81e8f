import Glibc
@testable import SharedTable
import TestSupport

@testable import SharedMemory
@testable import TableEngine

/// Takes part in a table whose control object, or data header, was changed: a typed error, or success.
final class AttachTarget {
  private let name: String
  private let control: Words
  private let data: Words
  private let controlPlaces: Places
  private let dataPlaces: Places

  init() throws {
    name = uniqueTableName()
    let table = try Table.create(name, .init(variant: .rcu, capacityBytes: 1 << 20))
    try table.set("key", "value")
    control = try Words(SharedObject.open(name: "shmtable.\(name).ctl", writable: true))
    data = try Words(SharedObject.open(name: "shmtable.\(name).data", writable: true))
    let geometry = table.segment.geometry
    controlPlaces = Self.places(
      control,
      [
        Array(stride(from: 0, to: 136, by: 8)), Array(stride(from: ControlLayout.writerMutex, to: 4616, by: 8)),
        Array(stride(from: ControlLayout.rwlocks, to: ControlLayout.rwState + 192, by: 8)),
        Array(stride(from: ControlLayout.slots, to: ControlLayout.slots + 4 * ControlLayout.slotBytes, by: 8)),
        Array(stride(from: 0, to: geometry.fixedControlBytes, by: 8)),
      ])
    dataPlaces = Self.places(data, [Array(stride(from: 0, to: 512, by: 8))])
    atexit { leave() }
    leaving = name
  }

  private static func places(_ words: Words, _ groups: [[Int]]) -> Places {
    Places(groups: groups, targets: [0, 1, words.byteCount, Geometry.minimumCapacity, Geometry.maximumCapacity])
  }

  /// The first byte says whether an object is cut short or grown, and how the table is opened.
  func execute(_ input: UnsafeRawBufferPointer) {
    guard input.count >= 2 else { return }
    for edit in Edit.all(in: input.dropFirst(2)) {
      if edit.kind & 0x80 == 0 { edit.apply(control, controlPlaces) } else { edit.apply(data, dataPlaces) }
    }
    let access: Table.Access = input[0] & 8 == 0 ? .participant : .automatic
    let resized: Words? = [control, data, nil, nil, nil, nil, nil, nil][Int(input[0] & 7)]
    if let resized {
      resized.withSize(resized.byteCount / 4096 * Int(input[1]) / 200 * 4096) { open(access) }
    } else {
      open(access)
    }
    control.restore()
    data.restore()
  }

  private func open(_ access: Table.Access) {
    do {
      let table = try Table.open(name, access: access, timeout: .nanoseconds(1))
      _ = table.version
      _ = table.capacityBytes
    } catch {
      precondition(!"\(error)".isEmpty)
    }
  }
}

nonisolated(unsafe) private var leaving = ""
private func leave() { removeObjects(ofTable: leaving) }
