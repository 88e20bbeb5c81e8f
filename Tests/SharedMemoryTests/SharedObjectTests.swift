import Glibc
import TestSupport
import Testing

@testable import SharedMemory

@Suite struct SharedObjectTests {
  @Test func aCreatedObjectIsEmptyAndSaysWhoseItIs() throws {
    try withObjectName { name in
      let object = try SharedObject.create(name: name, mode: 0o600)
      let status = try object.status()
      #expect(status.size == 0)
      #expect(status.mode == 0o600)
      #expect(status.owner == geteuid())
      #expect(status.links == 1)
      #expect(status.isRegular)
      #expect(try SharedObject.list(prefix: name) == [name])
    }
  }

  @Test func aNameIsReadUpToItsEndAndNoFurther() async {
    await #expect(processExitsWith: .success) {
      let name = withEntryAtPageEnd(named: "shmtable.x.data") { DirectoryEntry.name(of: $0) }
      #expect(name == "shmtable.x.data")
    }
  }

  @Test func creatingWhatExistsIsEEXIST() throws {
    try withObjectName { name in
      let first = try SharedObject.create(name: name, mode: 0o600)
      #expect(throws: SystemError(call: "shm_open", errno: EEXIST)) { try SharedObject.create(name: name, mode: 0o600) }
      #expect(try first.status().links == 1)
    }
  }

  @Test func openingOrUnlinkingWhatDoesNotExistIsENOENT() {
    withObjectName { name in
      #expect(throws: SystemError(call: "shm_open", errno: ENOENT)) {
        try SharedObject.open(name: name, writable: true)
      }
      #expect(throws: SystemError(call: "shm_unlink", errno: ENOENT)) { try SharedObject.unlink(name: name) }
    }
  }

  @Test func openingWithoutTheRightIsEACCES() throws {
    try withObjectName { name in
      let object = try SharedObject.create(name: name, mode: 0o600)
      try object.setMode(0)
      let worker = try WorkerProcess("shm-test-worker")
      try worker.ask("open-as-nobody \(name)", expecting: "shm_open: Permission denied (EACCES)")
      try worker.finish()
    }
  }

  @Test func whatHasANameIsSeenWithoutOpeningIt() throws {
    try withObjectName { name in
      #expect(try SharedObject.look(at: name) == nil)
      let object = try SharedObject.create(name: name, mode: 0o600)
      try object.setMode(0)
      #expect(try SharedObject.look(at: name) == object.status())
      try SharedObject.unlink(name: name)
      let traps: [(SharedObject.Kind, (String) -> Int32)] = [
        (.directory, { mkdir($0, 0) }), (.fifo, { mkfifo($0, 0) }), (.symbolicLink, { symlink("/etc/passwd", $0) }),
      ]
      for (kind, make) in traps {
        let path = "/dev/shm/\(name)"
        #expect(make(path) == 0)
        #expect(try SharedObject.look(at: name)?.kind == kind)
        #expect(remove(path) == 0)
      }
      #expect(throws: SystemError(call: "lstat", errno: ENAMETOOLONG)) {
        try SharedObject.look(at: String(repeating: "x", count: 300))
      }
    }
  }

  @Test func aNameThatIsNoneIsRefused() {
    for name in ["", "/", "a/b", "/a/b", "..//x", "a\0b", ".", "/.."] {
      #expect(throws: SystemError(call: "shm_open", errno: EINVAL)) {
        try SharedObject.create(name: name, mode: 0o600)
      }
      #expect(throws: SystemError(call: "shm_unlink", errno: EINVAL)) { try SharedObject.unlink(name: name) }
      #expect(throws: SystemError(call: "lstat", errno: EINVAL)) { try SharedObject.look(at: name) }
    }
    #expect(throws: SystemError(call: "shm_open", errno: EINVAL)) {
      try SharedObject.open(name: String(repeating: "x", count: 300), writable: false)
    }
  }

  @Test func aSymbolicLinkInTheNamesPlaceIsNotFollowed() throws {
    withObjectName { name in
      #expect(symlink("/etc/passwd", "/dev/shm/\(name)") == 0)
      #expect(throws: SystemError(call: "shm_open", errno: ELOOP)) {
        try SharedObject.open(name: name, writable: false)
      }
      #expect(throws: SystemError(call: "shm_open", errno: EEXIST)) { try SharedObject.create(name: name, mode: 0o600) }
    }
  }

  @Test func aFifoInTheNamesPlaceDoesNotHangTheOpenerAndIsSeen() throws {
    try withObjectName { name in
      #expect(mkfifo("/dev/shm/\(name)", 0o600) == 0)
      let worker = try WorkerProcess("shm-test-worker")
      try worker.ask("is-regular \(name)", expecting: "false")
      try worker.finish()
    }
  }

  /// What /dev/shm may take in all; 0: as much as there is.
  private static let total: Int = {
    var fileSystem = statvfs()
    return statvfs("/dev/shm", &fileSystem) == 0 ? Int(fileSystem.f_blocks) * Int(fileSystem.f_frsize) : 0
  }()

  @Test(.enabled(if: total > 0, "cannot run: /dev/shm has no limit, and asking for too much would take it all"))
  func outOfMemoryIsENOSPCAndNotSIGBUS() throws {
    let total = Self.total
    try withObjectName { name in
      let object = try SharedObject.create(name: name, mode: 0o600)
      let error = #expect(throws: SystemError.self) { try object.allocate(offset: 0, count: total + 4096) }
      #expect(error?.errno == ENOSPC)
      #expect(error?.isOutOfSpace == true)
      #expect(try object.status().allocated == 0)
      // The size alone is no claim: this succeeds, and its pages would be SIGBUS.
      try object.truncate(to: total + 4096)
    }
  }

  @Test func allocationClaimsMemoryAndKeepsWhatIsThere() throws {
    try withObjectName { name in
      let object = try SharedObject.create(name: name, mode: 0o600)
      try object.allocate(offset: 0, count: 8192)
      let mapping = try object.map(count: 1 << 20, writable: true)
      mapping.withBase { $0.storeBytes(of: 42, as: UInt64.self) }
      try object.allocate(offset: 0, count: 65536)
      #expect(mapping.withBase { $0.load(as: UInt64.self) } == 42)
      mapping.withBase { ($0 + 65528).storeBytes(of: 43, as: UInt64.self) }
      let status = try object.status()
      #expect(status.size == 65536)
      #expect(status.allocated == 65536)
      #expect(throws: SystemError(call: "fallocate", errno: EINVAL)) { try object.allocate(offset: -1, count: 1) }
    }
  }

  @Test func aMappingOutlivesItsObjectAndItsName() throws {
    try withObjectName { name in
      let mapping: Mapping
      do {
        let object = try SharedObject.create(name: name, mode: 0o600)
        try object.allocate(offset: 0, count: 4096)
        mapping = try object.map(count: 4096, writable: true)
        try SharedObject.unlink(name: name)
        #expect(try object.status().links == 0)
      }
      mapping.withBase { $0.storeBytes(of: 7, as: UInt64.self) }
      #expect(mapping.withBase { $0.load(as: UInt64.self) } == 7)
    }
  }

  @Test func onlyALeakedMappingStaysAfterItsLastReference() throws {
    try withObjectName { name in
      // By its file: another thread may map something else at the address that has become free.
      func isMapped() throws -> Bool {
        let maps = String(decoding: try HostFile.bytes("/proc/self/maps", atMost: .max), as: UTF8.self)
        return maps.contains("/dev/shm/\(name)")
      }
      let object = try SharedObject.create(name: name, mode: 0o600)
      try object.allocate(offset: 0, count: 4096)
      func address(leaking: Bool) throws -> UInt {
        let mapping = try object.map(count: 4096, writable: true)
        if leaking { mapping.leak() }
        return UInt(bitPattern: mapping.base)
      }
      _ = try address(leaking: false)
      #expect(try !isMapped())
      let leaked = try address(leaking: true)
      #expect(try isMapped())
      munmap(UnsafeMutableRawPointer(bitPattern: leaked), 4096)
    }
  }

  @Test func whatWasOpenedReadOnlyCannotBeMappedWritable() throws {
    try withObjectName { name in
      let writer = try SharedObject.create(name: name, mode: 0o600)
      try writer.allocate(offset: 0, count: 4096)
      let reader = try SharedObject.open(name: name, writable: false)
      #expect(throws: SystemError(call: "mmap", errno: EACCES)) { try reader.map(count: 4096, writable: true) }
      #expect(throws: SystemError(call: "mmap", errno: EINVAL)) { try reader.map(count: 0, writable: false) }
      let mapping = try reader.map(count: 4096, writable: false)
      #expect(mapping.withBase { $0.load(as: UInt64.self) } == 0)
    }
  }

  @Test(.disabled(if: isSanitized, "a sanitizer's own mappings are larger than the limit"))
  func aLimitOnTheAddressSpaceIsENOMEM() throws {
    try withObjectName { name in
      _ = try SharedObject.create(name: name, mode: 0o600)
      let worker = try WorkerProcess("shm-test-worker")
      try worker.ask("map-with-limited-address-space \(name)", expecting: "mmap: Cannot allocate memory (ENOMEM)")
      try worker.finish()
    }
  }

  @Test func aFileLockBelongsToAnOpenFileDescription() throws {
    try withObjectName { name in
      let a = try SharedObject.create(name: name, mode: 0o600)
      let b = try SharedObject.open(name: name, writable: false)
      #expect(try a.tryLock(.shared))
      #expect(try b.tryLock(.shared))
      #expect(try !b.tryLock(.exclusive))
      try a.unlock()
      #expect(try b.tryLock(.exclusive))
      #expect(try !a.lock(.shared, timeoutNanoseconds: 5_000_000))
      try b.unlock()
      #expect(try a.lock(.exclusive, timeoutNanoseconds: 5_000_000))
    }
  }

  /// Also one that has lost its name.
  @Test func aReopenedObjectHasLocksOfItsOwn() throws {
    try withObjectName { name in
      let first = try SharedObject.create(name: name, mode: 0o600)
      try SharedObject.unlink(name: name)
      let again = try first.reopened()
      #expect(try again.status().isSameObject(as: first.status()))
      #expect(try first.tryLockMemory(.exclusive))
      #expect(try !again.tryLockMemory(.exclusive))
      #expect(try again.tryLock(.exclusive))
    }
  }

  @Test func anErrorReadsAsASentence() {
    #expect("\(SystemError(call: "fallocate", errno: ENOSPC))" == "fallocate: No space left on device (ENOSPC)")
    #expect("\(SystemError(call: "mmap", errno: 9999))" == "mmap: error 9999")
    #expect(SystemError(call: "mmap", errno: ENOMEM) != SystemError(call: "munmap", errno: ENOMEM))
  }
}
