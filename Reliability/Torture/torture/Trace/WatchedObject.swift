import Glibc

/// A shared memory object as someone outside sees it, beside a private copy of what it was seen to hold last.
final class WatchedObject {
  /// As in /dev/shm.
  let name: String
  /// Zero beyond `size`.
  let copy: UnsafeMutableRawPointer
  private(set) var exists = false
  private(set) var size = 0
  private(set) var mode: mode_t = 0
  /// Where it has pages.
  private(set) var ranges: [Range<Int>] = []

  private var inode: ino_t = 0
  private var descriptor: Int32 = -1
  private var view: UnsafeMutableRawPointer?

  /// Of the largest object that can be watched.
  static let capacity = 16 << 20
  static let pageBytes = 4096

  init(_ name: String) {
    self.name = name
    let protection = PROT_READ | PROT_WRITE
    copy = mmap(nil, Self.capacity, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
  }

  deinit {
    munmap(copy, Self.capacity)
    forget()
  }

  private func forget() {
    if let view { munmap(view, Self.capacity) }
    if descriptor >= 0 { close(descriptor) }
    (view, descriptor, inode) = (nil, -1, 0)
  }

  /// A word as it was seen last.
  func word(_ offset: Int) -> UInt64 { copy.load(fromByteOffset: offset, as: UInt64.self) }

  /// Looks at everything: existence, size, mode, every byte.
  /// - Returns: whether anything is new.
  func refresh() -> Bool {
    let before = (exists, size, mode, inode)
    attach()
    var changed = before != (exists, size, mode, inode)
    if size < before.1 { memset(copy + size, 0, before.1 - size) }
    guard let view else {
      ranges = []
      return changed
    }
    ranges = dataRanges(descriptor, size)
    for range in ranges {
      for page in stride(from: range.lowerBound, to: range.upperBound, by: Self.pageBytes) {
        changed = refresh(page: page, view) || changed
      }
    }
    return changed
  }

  /// Looks at one page.
  func refresh(page: Int) -> Bool { view.map { refresh(page: page, $0) } ?? false }

  private func refresh(page: Int, _ view: UnsafeMutableRawPointer) -> Bool {
    guard page < size, memcmp(copy + page, view + page, Self.pageBytes) != 0 else { return false }
    memcpy(copy + page, view + page, Self.pageBytes)
    if !ranges.contains(where: { $0.contains(page) }) { ranges.append(page..<(page + Self.pageBytes)) }
    return true
  }

  /// Follows the name to what it leads to now.
  private func attach() {
    var status = stat()
    exists = stat("/dev/shm/" + name, &status) == 0
    guard exists else {
      (size, mode) = (0, 0)
      return forget()
    }
    (size, mode) = (Int(status.st_size), status.st_mode & 0o777)
    precondition(size <= Self.capacity, "\(name) is larger than expected")
    guard status.st_ino != inode else { return }
    forget()
    descriptor = open("/dev/shm/" + name, O_RDONLY | O_CLOEXEC)
    view = mmap(nil, Self.capacity, PROT_READ, MAP_SHARED, descriptor, 0)
    inode = status.st_ino
  }
}

/// Where a file has pages: reading a hole of a tmpfs file would allocate some.
func dataRanges(_ descriptor: Int32, _ size: Int) -> [Range<Int>] {
  let (data, hole): (Int32, Int32) = (3, 4)  // SEEK_DATA, SEEK_HOLE
  var ranges: [Range<Int>] = []
  var position = 0
  while position < size {
    let start = lseek(descriptor, position, data)
    guard start >= 0, start < size else { break }
    let end = min(lseek(descriptor, start, hole), size)
    ranges.append(start..<end)
    position = end
  }
  return ranges
}

/// A table's two objects.
final class WatchedTable {
  let control: WatchedObject
  let data: WatchedObject

  init(_ table: String) {
    control = WatchedObject("shmtable.\(table).ctl")
    data = WatchedObject("shmtable.\(table).data")
  }

  func refresh() -> Bool {
    let control = control.refresh()
    return data.refresh() || control
  }
}
