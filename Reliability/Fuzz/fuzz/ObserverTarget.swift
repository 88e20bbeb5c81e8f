import Glibc
@testable import SharedTable
import TestSupport

@testable import SharedMemory
@testable import TableEngine

/// Observes a table whose data object was changed: errors or values, and nothing else.
final class ObserverTarget {
  private let images: [Image]
  private var sum: UInt64 = 0
  /// Shorter than some of the values.
  private let target = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)

  init() throws { images = try Template.allCases.map { try Image($0) } }

  func execute(_ input: UnsafeRawBufferPointer) {
    guard input.count >= 2 else { return }
    let image = images[Int(input[0]) % images.count]
    let edits = Edit.all(in: input.dropFirst(2))
    observe(image, Int(input[1]), edits)
    image.words.restore()
  }

  /// Everything an observer can do. Which of it, the input says: a whole scan is not needed each time.
  /// The words change before the opening, which would refuse some of it, or after.
  private func observe(_ image: Image, _ choice: Int, _ edits: [Edit]) {
    let changesOpened = choice & 16 != 0
    if !changesOpened { for edit in edits { edit.apply(image.words, image.places) } }
    guard
      let segment = try? Segment.observe(
        "fuzz", image.words.object,
        { count throws(SystemError) in
          count == image.mapping.count ? image.mapping : try image.words.object.map(count: count, writable: false)
        })
    else { return }
    if changesOpened { for edit in edits { edit.apply(image.words, image.places) } }
    let table = Table(segment, timeout: .nanoseconds(1), clock: ExpiryClock { 2_000_000_000 })
    sum &+= UInt64(truncatingIfNeeded: table.count) &+ table.version
    sum &+= UInt64(table.statistics.claimedBytes)
    if choice & 1 == 0 { get(table, image) }
    if choice & 14 == 0 { scan(table) }
    if choice & 14 == 2 { readSection(table, image) }
  }

  private func get(_ table: Table, _ image: Image) {
    for key in image.keys {
      do {
        switch key.count % 4 {
        case 0: take(try table.bytes(forKey: key))
        case 1:
          take(try table.entry(forKey: key)?.bytes)
          let length = try key.withUnsafeBufferPointer { key throws(TableError) in
            try table.get(UnsafeRawBufferPointer(key), into: target)
          }
          if let length { take(UnsafeRawBufferPointer(rebasing: target.prefix(length))) }
        case 2: sum &+= UInt64(bitPattern: Int64(try table.get(key, as: Int.self) ?? 0))
        default: sum &+= UInt64(try table.get(key, as: String.self)?.utf8.count ?? 0)
        }
      } catch let error {
        if error.code == .busy { return }
        sum &+= UInt64("\(error)".utf8.count)
      }
    }
  }

  private func readSection(_ table: Table, _ image: Image) {
    _ = try? table.read { view in
      for key in image.keys.prefix(4) {
        if let bytes = try view.bytes(forKey: key) { bytes.withUnsafeBytes { take($0) } }
        take(try table.bytes(forKey: key))
        _ = try view.get(key, as: Double.self)
      }
      sum &+= UInt64(try view.keys(prefix: "k").count)
    }
  }

  private func scan(_ table: Table) {
    _ = try? table.read { view in
      try view.forEach { key, entry in
        key.withUnsafeBytes { take($0) }
        entry.bytes.withUnsafeBytes { take($0) }
        sum &+= entry.version &+ (entry.expiry ?? 0) &+ UInt64(entry.type?.rawValue ?? 0)
        _ = entry.value(as: Int.self)
      }
    }
  }

  private func take(_ bytes: [UInt8]?) { bytes?.withUnsafeBytes { take($0) } }

  /// Touches every byte: the sanitizer judges.
  private func take(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes { sum &+= UInt64(byte) }
  }
}
