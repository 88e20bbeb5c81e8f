import Glibc
import SharedMemory

/// A table's two objects under another name, made equal to what a traced writer has left at some instant, as if it had
/// been killed there.
final class ImagePair {
  let table: String
  private let control: ImageObject
  private let data: ImageObject

  init(_ table: String) {
    self.table = table
    control = ImageObject("shmtable.\(table).ctl")
    data = ImageObject("shmtable.\(table).data")
  }

  /// - Parameter marks: the futex words that the kernel would mark.
  func write(_ state: WatchedTable, dead marks: [StoreTrace.Mark]) throws {
    try control.write(state.control)
    try data.write(state.data)
    for mark in marks {
      let object = mark.isControl ? control : data
      let word = object.base! + mark.offset
      let value = word.load(as: UInt32.self)
      word.storeBytes(of: value & StoreTrace.waiters | StoreTrace.ownerDied, as: UInt32.self)
    }
  }

  /// Whether both hold the same bytes as the objects watched. For seeing a real death beside an image of it.
  func isEqual(to state: WatchedTable) -> Bool {
    control.firstDifference(state.control) == nil && data.firstDifference(state.data) == nil
  }

  func difference(to state: WatchedTable) -> String {
    "ctl \(String(describing: control.firstDifference(state.control))), "
      + "data \(String(describing: data.firstDifference(state.data)))"
  }
}

/// One object of an image, which its checkers change, remove and make anew as they like.
private final class ImageObject {
  let name: String
  private(set) var base: UnsafeMutableRawPointer?
  private var descriptor: Int32 = -1
  private var inode: ino_t = 0

  init(_ name: String) { self.name = name }

  deinit { forget() }

  private func forget() {
    if let base { munmap(base, WatchedObject.capacity) }
    if descriptor >= 0 { close(descriptor) }
    (base, descriptor, inode) = (nil, -1, 0)
  }

  func write(_ wanted: WatchedObject) throws {
    guard wanted.exists else {
      forget()
      try? SharedObject.unlink(name: name)
      return
    }
    let size = try attach()
    if size != wanted.size {
      guard ftruncate(descriptor, wanted.size) == 0 else { throw Unavailable("ftruncate: errno \(errno)") }
    }
    fchmod(descriptor, wanted.mode)
    // What the image has and what it should have: both may have pages where the other has a hole.
    for range in dataRanges(descriptor, wanted.size) + wanted.ranges {
      for page in stride(from: range.lowerBound, to: range.upperBound, by: WatchedObject.pageBytes)
      where memcmp(base! + page, wanted.copy + page, WatchedObject.pageBytes) != 0 {
        memcpy(base! + page, wanted.copy + page, WatchedObject.pageBytes)
      }
    }
  }

  func firstDifference(_ other: WatchedObject) -> Int? {
    guard other.exists, let base else { return other.exists == (base != nil) ? nil : 0 }
    for range in dataRanges(descriptor, other.size) + other.ranges {
      for position in range where (base + position).load(as: UInt8.self) != (other.copy + position).load(as: UInt8.self)
      {
        return position
      }
    }
    return nil
  }

  /// Follows the name, making the object if there is none.
  /// - Returns: its size.
  private func attach() throws -> Int {
    var status = stat()
    if stat("/dev/shm/" + name, &status) == 0, status.st_ino == inode { return Int(status.st_size) }
    forget()
    descriptor = open("/dev/shm/" + name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Unavailable("no image: errno \(errno)") }
    base = mmap(nil, WatchedObject.capacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    inode = status.st_ino
    return Int(status.st_size)
  }
}
