import CShims
import Glibc

/// An open POSIX shared memory object: a file descriptor that closes when the last reference goes.
///
/// A name is that of `shm_open`, with or without its leading slash: one component, no further slash.
///
/// A class and not a `~Copyable` struct, because a table's handle, its mapping and whoever waits for its lock share
/// the one open file description, on which `flock` stands.
public final class SharedObject: Sendable {
  /// The descriptor, close-on-exec, valid as long as this object lives.
  public let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { shmos_close(descriptor) }

  /// Makes a new, empty object and opens it for reading and writing.
  ///
  /// `O_CREAT|O_EXCL|O_NOFOLLOW`: a name that exists, whoever made it, is `EEXIST`. As always, the umask takes
  /// bits away from `mode`; `setMode` sets them exactly.
  public static func create(name: String, mode: UInt32) throws(SystemError) -> SharedObject {
    let path = try path(name, for: "shm_open")
    return SharedObject(descriptor: try unsafe check("shm_open", shmos_create(path, mode)))
  }

  /// Makes a new, empty object that has no name, and opens it for reading and writing. It lies in /dev/shm as others do, and
  /// its memory goes with the last mapping and descriptor, however their processes end.
  ///
  /// Throws `EOPNOTSUPP` where something else than tmpfs is mounted there that knows no such files (`O_TMPFILE`).
  public static func createNameless() throws(SystemError) -> SharedObject {
    SharedObject(descriptor: try check("open", shmos_create_nameless()))
  }

  /// Opens an existing object.
  ///
  /// Never `O_CREAT`, which `fs.protected_regular` refuses on another user's object, root included. The name may be
  /// someone else's trap: check `status()` for owner and kind before you trust the contents.
  public static func open(name: String, writable: Bool) throws(SystemError) -> SharedObject {
    let path = try path(name, for: "shm_open")
    return SharedObject(descriptor: try unsafe check("shm_open", shmos_open(path, writable)))
  }

  /// Whether the kernel takes this process for the owner of what has the name, whichever number it shows for that owner: it grants
  /// `O_NOATIME` to the owner alone, and to a process that may act as the owner (open(2)).
  /// - Parameter status: of the object that is meant; false if the name leads to another by now.
  public static func isOwn(name: String, _ status: Status) -> Bool {
    guard let path = try? path(name, for: "shm_open"),
      let descriptor = try? unsafe check("shm_open", shmos_open_owned(path))
    else { return false }
    return (try? SharedObject(descriptor: descriptor).status().isSameObject(as: status)) ?? false
  }

  /// Opens the same object once more, for reading and writing: an open file description of its own, with locks of its own. Also
  /// of an object that has no name, or has lost it.
  public func reopened() throws(SystemError) -> SharedObject {
    SharedObject(descriptor: try check("open /proc/self/fd", shmos_reopen(descriptor)))
  }

  /// Removes the name. The memory stays until the last mapping and descriptor are gone.
  public static func unlink(name: String) throws(SystemError) {
    let path = try path(name, for: "shm_unlink")
    try unsafe check("shm_unlink", shmos_unlink(path))
  }

  /// The names in `/dev/shm` that begin with `prefix`, sorted, without their slash.
  public static func list(prefix: String) throws(SystemError) -> [String] {
    guard let directory = unsafe opendir("/dev/shm") else { throw SystemError(call: "opendir", errno: errno) }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let name = unsafe try DirectoryEntry.nextName(directory) {
      if name.hasPrefix(prefix) && name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func path(_ name: String, for call: StaticString) throws(SystemError) -> String {
    let bare = name.hasPrefix("/") ? String(name.dropFirst()) : name
    // A zero byte would end the name early for C and open another object than the one asked for.
    guard bare != "", bare != ".", bare != "..", !bare.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
    else { throw SystemError(call: call, errno: EINVAL) }
    // A concatenation of strings: appending a substring is generic, and looks conformances up.
    return "/" + bare
  }
}

// MARK: - Status and rights

extension SharedObject {
  /// What `fstat` says of an object.
  public struct Status: Sendable, Equatable {
    public let device: UInt64
    public let inode: UInt64
    /// 0: unlinked; under its name there is nothing, or another object.
    public let links: UInt64
    public let size: Int
    /// Bytes that have memory behind them; less than `size` means holes.
    public let allocated: Int
    public let owner: UInt32
    public let group: UInt32
    /// Permission bits only.
    public let mode: UInt32
    public let kind: Kind

    /// False for a squatted name: a FIFO, a directory, a device.
    public var isRegular: Bool { kind == .memoryObject }

    init(_ s: shmos_status) {
      device = s.device
      inode = s.inode
      links = s.links
      size = Int(clamping: s.size)
      allocated = Int(clamping: s.allocated)
      owner = s.owner
      group = s.group
      mode = s.mode
      kind = Kind(fileType: s.kind)
    }

    /// Whether both are of one object, whatever else has changed.
    public func isSameObject(as other: Status) -> Bool { device == other.device && inode == other.inode }
  }

  /// What can have a name in `/dev/shm`; raw values are for people.
  public enum Kind: String, Sendable {
    case memoryObject = "memory object"
    case directory
    case symbolicLink = "symbolic link"
    case fifo = "FIFO"
    case socket
    case device

    init(fileType: UInt32) {
      switch fileType {
      case S_IFREG: self = .memoryObject
      case S_IFDIR: self = .directory
      case S_IFLNK: self = .symbolicLink
      case S_IFIFO: self = .fifo
      case S_IFSOCK: self = .socket
      default: self = .device
      }
    }
  }

  public func status() throws(SystemError) -> Status {
    var s = shmos_status()
    try check("fstat", unsafe shmos_fstat(descriptor, &s))
    return Status(s)
  }

  /// What has a name, without opening it; nil if nothing has. Needs no right to it and no descriptor, follows no link.
  ///
  /// The next moment something else may have the name. Whether to use what was opened is asked of its own `status()`.
  public static func look(at name: String) throws(SystemError) -> Status? {
    let path = try path(name, for: "lstat")
    var s = shmos_status()
    let result = unsafe shmos_look(path, &s)
    if result == -ENOENT { return nil }
    try check("lstat", result)
    return Status(s)
  }

  /// Sets the permission bits exactly. On an object with an access list this resets its mask.
  public func setMode(_ mode: UInt32) throws(SystemError) { try check("fchmod", shmos_fchmod(descriptor, mode)) }

  /// Changes owner, group or both; nil leaves one as it is.
  public func setOwner(_ owner: UInt32? = nil, group: UInt32? = nil) throws(SystemError) {
    try check("fchown", shmos_fchown(descriptor, owner ?? .max, group ?? .max))
  }
}

// MARK: - Size

extension SharedObject {
  /// Sets the size without claiming memory: on tmpfs any size succeeds, and the lack of memory shows later, as
  /// SIGBUS at an access. Call `allocate` before you touch the pages.
  public func truncate(to size: Int) throws(SystemError) {
    guard size >= 0 else { throw SystemError(call: "ftruncate", errno: EINVAL) }
    try check("ftruncate", shmos_truncate(descriptor, UInt64(size)))
  }

  /// Claims memory for a range and extends the size if needed; what was there stays.
  ///
  /// Throws `ENOSPC` when memory is short (`isOutOfSpace`). Signals are held back from the thread meanwhile, since each would undo the call.
  public func allocate(offset: Int, count: Int) throws(SystemError) {
    guard offset >= 0, count > 0 else { throw SystemError(call: "fallocate", errno: EINVAL) }
    try check("fallocate", shmos_allocate(descriptor, UInt64(offset), UInt64(count)))
  }
}

extension SharedObject {
  /// Gives the memory of a range back to the system. The size stays and the range reads as zeros; whoever touches it without
  /// having claimed it anew by `allocate` claims it silently, or gets SIGBUS where memory is short.
  public func giveBack(offset: Int, count: Int) throws(SystemError) {
    guard offset >= 0, count > 0 else { throw SystemError(call: "fallocate", errno: EINVAL) }
    try check("fallocate", shmos_punch(descriptor, UInt64(offset), UInt64(count)))
  }

  /// Whether something in a range was written and not given back.
  /// - Returns: false where the system does not tell, as in some sandboxes.
  public func hasMemory(in range: Range<Int>) throws(SystemError) -> Bool {
    guard case .at(let offset) = try firstMemory(from: range.lowerBound) else { return false }
    return offset < range.upperBound
  }

  /// Whether the system says of a range within the object that nothing in it was written, or all was given back: it reads as zeros. False
  /// where the system does not tell.
  public func isHole(_ range: Range<Int>) -> Bool {
    switch try? firstMemory(from: range.lowerBound) {
    case .at(let offset): offset >= range.upperBound
    case .nowhere: true
    case .untold, nil: false
    }
  }

  /// Where its memory ends, looked for from an offset on: what lies behind was never written, or given back.
  /// - Returns: `offset` if nothing behind it was written; the size where the system does not tell, as in some sandboxes.
  public func endOfMemory(from offset: Int) throws(SystemError) -> Int {
    var end = offset
    while true {
      switch try firstMemory(from: end) {
      case .nowhere: return end
      case .untold: return try status().size
      case .at(let written):
        // No further than `written` if another process has given that memory back since.
        let hole = lseek(descriptor, off_t(written), SEEK_HOLE)
        guard hole >= 0 else { throw SystemError(call: "lseek", errno: errno) }
        end = Int(hole)
      }
    }
  }

  private enum FirstMemory {
    case at(Int), nowhere
    /// The system does not say.
    case untold
  }

  /// Where the first memory lies at an offset or behind it. By SEEK_DATA of lseek(2).
  private func firstMemory(from offset: Int) throws(SystemError) -> FirstMemory {
    let written = lseek(descriptor, off_t(offset), SEEK_DATA)
    if written >= 0 { return .at(Int(written)) }
    switch errno {
    case ENXIO: return .nowhere
    case EINVAL, EOPNOTSUPP: return .untold
    default: throw SystemError(call: "lseek", errno: errno)
    }
  }
}

// MARK: - Mapping

extension SharedObject {
  /// Maps the first `count` bytes, shared. `count` may exceed the size, to grow later without moving.
  ///
  /// Throws `ENOMEM` when the address space is limited (RLIMIT_AS), `EACCES` for a writable mapping of an object
  /// opened read-only. The mapping outlives this object.
  public func map(count: Int, writable: Bool) throws(SystemError) -> Mapping {
    // Foreign code may hand us sizes read from a damaged header: an error, never a trap.
    guard count > 0 else { throw SystemError(call: "mmap", errno: EINVAL) }
    var base: UnsafeMutableRawPointer?
    try check("mmap", unsafe shmos_map(descriptor, count, writable, &base))
    guard let base = unsafe base else { throw SystemError(call: "mmap", errno: ENOMEM) }
    return unsafe Mapping(base: base, count: count, writable: writable)
  }
}

// Of lseek(2): GNU's names, which Swift does not see.
private let SEEK_DATA: Int32 = 3
private let SEEK_HOLE: Int32 = 4
