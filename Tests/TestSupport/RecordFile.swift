import CShims
import Glibc

/// A file mapped by several processes of a test: what a process wrote into it survives its `kill -9`.
public final class SharedFile: @unchecked Sendable {
  // Sendable because the mapping never moves; who shares words of it uses atomics.
  public let base: UnsafeMutableRawPointer
  public let byteCount: Int

  /// Maps a file, which is made if there is none.
  public init(path: String, byteCount: Int) {
    self.byteCount = byteCount
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    precondition(descriptor >= 0, "cannot open \(path)")
    precondition(ftruncate(descriptor, byteCount) == 0, "cannot size \(path)")
    let mapping = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    close(descriptor)
    precondition(mapping != MAP_FAILED, "cannot map \(path)")
    base = mapping!
  }

  deinit { munmap(base, byteCount) }
}

/// What one process did, record by record, each of the same number of words.
///
/// A record is written before it is counted, so that what is counted is whole.
public final class RecordFile: Sendable {
  public let capacity: Int
  private let file: SharedFile
  private let recordBytes: Int
  private static let headerBytes = 64

  /// Maps the records of a file, which is made if there is none.
  public init(path: String, wordsPerRecord: Int, capacity: Int) {
    self.capacity = capacity
    recordBytes = wordsPerRecord * 8
    file = SharedFile(path: path, byteCount: Self.headerBytes + capacity * recordBytes)
  }

  public var count: Int { Int(shm_load_acquire(file.base)) }

  /// Someone else wants the writer to end: the second word of the header.
  public var isStopRequested: Bool { shm_load_acquire(file.base + 8) != 0 }
  public func requestStop() { shm_store_release(file.base + 8, 1) }

  /// Writes the record by `fill`, then counts it. One thread only.
  @inline(__always)
  public func append(_ fill: (UnsafeMutablePointer<UInt64>) -> Void) {
    let index = count
    precondition(index < capacity, "the record file is full")
    fill((file.base + Self.headerBytes + index * recordBytes).assumingMemoryBound(to: UInt64.self))
    shm_store_release(file.base, UInt64(index + 1))
  }

  /// The words of a record that is counted; valid as long as this object.
  public subscript(index: Int) -> UnsafePointer<UInt64> {
    UnsafePointer((file.base + Self.headerBytes + index * recordBytes).assumingMemoryBound(to: UInt64.self))
  }
}

/// A path for files that are removed afterwards.
public func withTemporaryDirectory<R>(_ body: (String) throws -> R) throws -> R {
  var template = Array("/tmp/table-tests-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else {
    throw WorkerProcess.Failure(description: "mkdtemp: \(String(cString: strerror(errno)))")
  }
  let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer { removeTree(path) }
  return try body(path)
}

/// A directory with all that is in it, or a file. Links are not followed.
private func removeTree(_ path: String) {
  guard unlink(path) != 0, let directory = opendir(path) else { return }
  while let entry = readdir(directory) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != "." && name != ".." { removeTree("\(path)/\(name)") }
  }
  closedir(directory)
  rmdir(path)
}
