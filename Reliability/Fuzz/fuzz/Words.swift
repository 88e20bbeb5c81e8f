import Glibc
@testable import SharedMemory

/// A shared object whose words are changed for one execution and put back after it.
final class Words {
  let object: SharedObject
  let original: [UInt64]
  private let mapping: Mapping
  private var changed: [Int] = []
  /// Those that are not all zeros.
  private let pages: [Int]

  var byteCount: Int { original.count * 8 }

  /// - Parameter object: open for writing; as it is now it will be again after each execution.
  init(_ object: SharedObject) throws {
    self.object = object
    let size = try object.status().size
    mapping = try object.map(count: size, writable: true)
    let words = [UInt64](UnsafeRawBufferPointer(start: mapping.base, count: size).bindMemory(to: UInt64.self))
    original = words
    pages = stride(from: 0, to: size, by: Self.pageBytes).filter { page in
      words[(page / 8)..<((page + Self.pageBytes) / 8)].contains { $0 != 0 }
    }
  }

  private static let pageBytes = 4096

  subscript(offset: Int) -> UInt64 {
    get { mapping.base.load(fromByteOffset: offset, as: UInt64.self) }
    set {
      changed.append(offset)
      mapping.base.storeBytes(of: newValue, toByteOffset: offset, as: UInt64.self)
    }
  }

  func restore() {
    for offset in changed { mapping.base.storeBytes(of: original[offset / 8], toByteOffset: offset, as: UInt64.self) }
    changed.removeAll(keepingCapacity: true)
  }

  /// Cuts the object short, or makes it longer, while `body` runs.
  func withSize(_ size: Int, _ body: () -> Void) {
    resize(size)
    body()
    resize(byteCount)
    original.withUnsafeBytes { bytes in
      for page in pages where page + Self.pageBytes > size {
        memcpy(mapping.base + page, bytes.baseAddress! + page, Self.pageBytes)
      }
    }
  }

  private func resize(_ size: Int) {
    do { try object.truncate(to: size) } catch { fatalError("\(error)") }
  }
}

extension Mapping {
  /// The object's first bytes, read-only, with nothing accessible around them: a read out of bounds is a crash.
  static func guarded(_ object: SharedObject, count: Int) -> Mapping {
    let margin = 1 << 40
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    let all = mmap(nil, count + 2 * margin, PROT_NONE, flags, -1, 0)!
    precondition(all != MAP_FAILED, "no address space")
    let base = mmap(all + margin, count, PROT_READ, MAP_SHARED | MAP_FIXED, object.descriptor, 0)!
    precondition(base != MAP_FAILED, "cannot map: \(errno)")
    return Mapping(base: base, count: count, writable: false)
  }
}
