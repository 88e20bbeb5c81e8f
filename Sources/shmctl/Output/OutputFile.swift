import Glibc

/// A file that gets its new contents all at once, or keeps the old: written beside it without a name, then named and renamed. Where
/// that cannot be, it has another name from the start, which a kill leaves behind.
///
/// A device, a pipe and `/dev/stdout` are written to as it comes: there is nothing to replace. What the name of a descriptor
/// leads to is written from where it stands. A symbolic link goes on leading to the file.
final class OutputFile {
  let descriptor: Int32
  private let path: RawArgument
  /// The file's name behind symbolic links.
  private let target: [CChar]
  /// The name to rename; nil where there is none, or none yet.
  private var draft: [CChar]?
  /// Whether it is replaced all at once.
  let isRegular: Bool

  /// - Parameter mode: the permission bits that a new file may have, before the umask. One that is there keeps its own, and as
  ///   far as this user may give files away its owner and group.
  init(_ path: RawArgument, mode: mode_t = 0o666) throws {
    self.path = path
    let given = path.bytes.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    let exists = unsafe stat(given, &status) == 0
    let reason = exists ? 0 : errno
    target = exists ? Self.resolved(given) : Self.linked(given)
    if let number = Self.descriptor(named: path) {
      // Not opened by that name: a file would be written from its beginning, over what the shell's `>>` keeps.
      isRegular = false
      descriptor = fcntl(number, F_DUPFD_CLOEXEC, 0)
      guard descriptor >= 0 else { throw Self.failure("open", path) }
      return
    }
    // A link that the kernel does not follow, as a stranger's in /tmp, is not followed by hand either.
    guard exists || reason == ENOENT else {
      errno = reason
      throw Self.failure("open", path)
    }
    // What lies there is the system's, though some of it calls itself a regular file.
    if exists, path.bytes.starts(with: "/proc/".utf8) || status.st_mode & S_IFMT != S_IFREG {
      isRegular = false
      descriptor = unsafe open(given, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { throw Self.failure("open", path) }
      return
    }
    isRegular = true
    if exists, Self.isLaid(by: status.st_uid, target) {
      throw Complaint(
        .failure,
        "'\(path.shown)' belongs to user \(status.st_uid), in a directory where others may make files; name another file, or remove it first"
      )
    }
    // A kernel before 6.0 may forget the umask when this process makes a file without a name. And once the file is another user's, this
    // process may not link it.
    let mayBeNameless = exists ? status.st_uid == geteuid() : mode & 0o077 == 0
    let nameless = mayBeNameless ? Self.nameless(beside: target, mode) : -1
    let made = nameless >= 0 ? (descriptor: nameless, name: nil) : Self.draft(of: target, mode)
    descriptor = made.descriptor
    guard descriptor >= 0 else { throw Self.failure("create a file beside", path) }
    draft = made.name
    // Before the mode, of which it takes bits away.
    if exists, fchown(descriptor, status.st_uid, status.st_gid) != 0 {
      _ = fchown(descriptor, uid_t.max, status.st_gid)
    }
    if exists, fchmod(descriptor, status.st_mode & 0o777) != 0 { throw Self.failure("keep the mode of", path) }
  }

  /// May another user have put this file there for us to fill? It would keep that user's owner and mode. As fs.protected_regular has it for
  /// open(2) (proc(5)): in a sticky directory that others may write, a file that is neither ours nor the directory's owner's.
  private static func isLaid(by owner: uid_t, _ target: [CChar]) -> Bool {
    var status = stat()
    guard owner != geteuid(), unsafe stat(folder(of: target), &status) == 0 else { return false }
    return owner != status.st_uid && status.st_mode & S_ISVTX != 0 && status.st_mode & 0o022 != 0
  }

  /// Puts the file under its name, after the disk has it, and returns when the disk has the name too.
  func finish() throws {
    guard isRegular else { return }
    guard fsync(descriptor) == 0, name(), let draft, unsafe rename(draft, target) == 0 else {
      throw Self.failure("write", path)
    }
    self.draft = nil
    let folder = unsafe open(Self.folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // The command's user may have the right to write to the directory and not to read it. Then the command cannot sync it.
    guard folder >= 0 else { return }
    defer { close(folder) }
    // Some file systems sync no directory, and say so in one way or another.
    guard fsync(folder) == 0 || errno != EIO else {
      throw Self.failure("sync the directory of", path)
    }
  }

  /// Gives a file without a name one, since linkat(2) replaces none.
  private func name() -> Bool {
    if draft != nil { return true }
    let own = Self.link(to: descriptor)
    let (result, name) = Self.unused(beside: target) { name in
      unsafe linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW)
    }
    if result == 0 { draft = name }
    return result == 0
  }

  /// A file without a name in the target's folder, gone with this process; negative where there can be none: some file systems have
  /// none, and without /proc it could not be named.
  private static func nameless(beside target: [CChar], _ mode: mode_t) -> Int32 {
    let descriptor = unsafe open(folder(of: target), openNameless | O_WRONLY | O_CLOEXEC, mode)
    guard descriptor >= 0 else { return -1 }
    if unsafe access(link(to: descriptor), F_OK) == 0 { return descriptor }
    close(descriptor)
    return -1
  }

  private static func folder(of target: [CChar]) -> [CChar] {
    let slash = target.lastIndex(of: CChar(bitPattern: UInt8(ascii: "/")))
    return (slash.map { $0 == 0 ? [target[0]] : Array(target[..<$0]) } ?? [CChar(bitPattern: UInt8(ascii: "."))]) + [0]
  }

  /// O_TMPFILE, a macro that the importer does not show.
  private static let openNameless = 0o20000000 | O_DIRECTORY

  private static func link(to descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

  /// Makes a file beside the target that has a name.
  private static func draft(of target: [CChar], _ mode: mode_t) -> (descriptor: Int32, name: [CChar]?) {
    let (descriptor, name) = unused(beside: target) { name in
      unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }
    return (descriptor, name)
  }

  /// Makes something under a name that is free. A process of this number that was killed may have left one, as in a container each is
  /// number 1: then under another.
  private static func unused(beside target: [CChar], _ make: ([CChar]) -> Int32) -> (result: Int32, name: [CChar]) {
    var attempt = 0
    while true {
      let end = attempt == 0 ? ".tmp" : ".\(attempt).tmp"
      let name = Array(target.dropLast() + ".\(getpid())\(end)".utf8CString)
      let result = make(name)
      if result >= 0 || errno != EEXIST || attempt == 1000 { return (result, name) }
      attempt += 1
    }
  }

  /// The number of a descriptor of this process whose name the path is.
  private static func descriptor(named path: RawArgument) -> Int32? {
    switch path.text {
    case "/dev/stdout": return 1
    case "/dev/stderr": return 2
    case let text:
      let folder = ["/dev/fd/", "/proc/self/fd/"].first { text.hasPrefix($0) }
      return folder.flatMap { Int32(text.dropFirst($0.count)) }
    }
  }

  private static func resolved(_ path: [CChar]) -> [CChar] {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe Array(UnsafeBufferPointer(start: resolved, count: strlen(resolved) + 1))
  }

  /// Where symbolic links lead whose end is not there.
  private static func linked(_ path: [CChar]) -> [CChar] {
    var path = path
    // As many as the kernel follows.
    for _ in 0..<40 {
      var link = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink(path, &link, link.count)
      guard count > 0, count < link.count else { break }
      let isAbsolute = link[0] == CChar(bitPattern: UInt8(ascii: "/"))
      path =
        (isAbsolute ? [] : folder(of: path).dropLast() + [CChar(bitPattern: UInt8(ascii: "/"))]) + link[..<count] + [0]
    }
    return path
  }

  private static func failure(_ what: String, _ path: RawArgument) -> Complaint {
    Complaint(
      .failure, "cannot \(what) '\(path.shown)': \(SystemReason.last); name a file in a directory that you may write")
  }

  deinit {
    if let draft { _ = unsafe unlink(draft) }
    close(descriptor)
  }
}
