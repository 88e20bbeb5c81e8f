import Glibc

/// Standard input or a file, read from where it stands.
final class InputFile {
  let descriptor: Int32
  /// For messages.
  let name: String
  private let isOwned: Bool

  /// A descriptor that somebody else closes.
  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
    isOwned = false
  }

  static var standardInput: InputFile { InputFile(descriptor: 0, name: "standard input") }

  /// - Parameter path: nil and `-` are standard input.
  convenience init(_ path: RawArgument?) throws {
    if let path, !path.isStandardInput {
      try self.init(path: path)
    } else {
      self.init(descriptor: 0, name: "standard input")
    }
  }

  /// - Parameter path: a file's, also if it is `-`.
  init(path: RawArgument) throws {
    name = "'\(path.shown)'"
    isOwned = true
    descriptor = unsafe open(path.bytes.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else {
      throw Complaint(.failure, "cannot read \(name): \(SystemReason.last); name a file that you may read")
    }
  }

  /// Whether it can be read twice.
  var isRegular: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  var position: off_t {
    get { lseek(descriptor, 0, SEEK_CUR) }
    set { lseek(descriptor, newValue, SEEK_SET) }
  }

  /// Fills what it can, waiting for at least a byte; 0 at the end.
  func read(into bytes: inout [UInt8]) throws -> Int { try Descriptor.read(descriptor, into: &bytes, name) }

  /// Everything up to the end, or more than `limit` bytes if there are more: an endless input ends there.
  func readAll(limit: Int) throws -> [UInt8] {
    var chunks = InputChunks(self)
    var bytes: [UInt8] = []
    while bytes.count <= limit, let chunk = try chunks.next() { bytes += chunk }
    return bytes
  }

  /// What is left of it, as it comes.
  func copy(to output: inout OutputBuffer) throws {
    var chunks = InputChunks(self)
    while let chunk = try chunks.next() { try output.append(chunk) }
  }

  /// Whether reading would not wait.
  var isReady: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waiting, 1, 0) > 0
  }

  deinit { if isOwned { close(descriptor) } }
}
