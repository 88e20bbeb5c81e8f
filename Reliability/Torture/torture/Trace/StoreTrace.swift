import CTrace
import Glibc

/// Stops a traced worker at every store to a table's two objects, and at every system call.
///
/// The tracee's mappings of the objects are made read-only (mprotect, injected), so that each store to them traps. At
/// the trap the store's page is opened, the one instruction stepped, the page closed again, and compared with what it
/// held before. New mappings are closed when mmap returns. That no store was missed is seen at each system call and at
/// the end, where all bytes are compared and none may be new; with `stepping`, after each instruction.
final class StoreTrace {
  enum Cause {
    case begin
    /// A store, to this place.
    case store(object: String, offset: Int)
    /// The system call of this number.
    case call(UInt64)
    /// The memory is the same, but what the kernel would mark at a death is not.
    case marks
  }

  let tracee: Tracee
  let table: WatchedTable
  /// Instructions that tried to store to the objects, whether or not that changed anything.
  private(set) var stores = 0
  /// Counted when stepping.
  private(set) var instructions = 0

  private struct Area {
    let range: Range<UInt64>
    let object: WatchedObject
    let offset: Int
  }
  private var areas: [Area] = []
  private let stepping: Bool
  private let changed: (Cause, [Mark]) throws -> Void
  private var lastMarks: [Mark] = []

  /// - Parameter changed: called in the tracee's stop after each change; `table` holds the new bytes, and the marks are what
  ///   the kernel would add to them.
  init(
    _ tracee: Tracee, _ table: WatchedTable, stepping: Bool = false, _ changed: @escaping (Cause, [Mark]) throws -> Void
  ) {
    self.tracee = tracee
    self.table = table
    self.stepping = stepping
    self.changed = changed
  }

  /// Traces from where the tracee stands, behind a marker, to the marker `end`. It runs freely again then.
  func run(to end: UInt32) throws {
    _ = table.refresh()
    try closeAreas()
    try note(.begin)
    var call: UInt64 = 0
    while true {
      switch try stepping ? tracee.step() : tracee.next(.toSyscall) {
      case .signal(SIGSEGV, let address):
        try noteMarks()
        try store(at: address)
      case .stepped:
        instructions += 1
        try expectNothingNew("between two instructions")
        try noteMarks()
      case .syscallEntry(let number, let arguments):
        try expectNothingNew("before a system call")
        try noteMarks()
        call = number
        if Tracee.markerCode(number, arguments) == end {
          _ = try tracee.next(.toSyscall)
          return try openAreas()
        }
      case .syscallExit:
        if call == UInt64(SYS_mmap) || call == UInt64(SYS_mremap) || call == UInt64(SYS_munmap) { try closeAreas() }
        if table.refresh() { try note(.call(call)) } else { try noteMarks() }
      case let stop: throw tracee.failure("unexpected, while its stores were traced: \(stop)")
      }
    }
  }

  private func note(_ cause: Cause) throws {
    lastMarks = marks()
    try changed(cause, lastMarks)
  }

  private func noteMarks() throws {
    if marks() != lastMarks { try note(.marks) }
  }

  private func expectNothingNew(_ when: String) throws {
    if table.refresh() { throw tracee.failure("a store was missed \(when)") }
  }

  // MARK: - Stores

  private func store(at address: UInt64) throws {
    guard areas.contains(where: { $0.range.contains(address) }) else {
      throw tracee.failure("a fault at \(String(address, radix: 16)), outside the table")
    }
    var opened = [page(address)]
    try protect(opened[0], PROT_READ | PROT_WRITE)
    stores += 1
    while true {
      let before = try instructionPointer()
      switch try tracee.next(.step) {
      case .stepped: break
      case .signal(SIGSEGV, let next) where !opened.contains(page(next)):
        // The store's other end lies in the next page.
        opened.append(page(next))
        try protect(page(next), PROT_READ | PROT_WRITE)
        continue
      case let stop: throw tracee.failure("unexpected, at a store: \(stop)")
      }
      if stepping { instructions += 1 }
      try compare(opened, address)
      // A repeated string instruction steps once a repetition.
      if try instructionPointer() != before { break }
    }
    for page in opened { try protect(page, PROT_READ) }
    if stepping { try expectNothingNew("beside a store") }
  }

  private func compare(_ pages: [UInt64], _ address: UInt64) throws {
    var isNew = false
    for page in pages {
      guard let area = areas.first(where: { $0.range.contains(page) }) else { continue }
      isNew = area.object.refresh(page: area.offset + Int(page - area.range.lowerBound)) || isNew
    }
    guard isNew, let area = areas.first(where: { $0.range.contains(address) }) else { return try noteMarks() }
    try note(
      .store(
        object: area.object === table.control ? "ctl" : "data",
        offset: area.offset + Int(address - area.range.lowerBound)))
  }

  private func page(_ address: UInt64) -> UInt64 { address & ~UInt64(WatchedObject.pageBytes - 1) }

  private func instructionPointer() throws -> UInt64 {
    var registers = try tracee.registers()
    return ct_instruction_pointer(&registers)
  }

  private func protect(_ address: UInt64, _ protection: Int32, count: UInt64 = UInt64(WatchedObject.pageBytes)) throws {
    let result = try tracee.inject(SYS_mprotect, address, count, UInt64(protection))
    if result != 0 { throw tracee.failure("mprotect came to \(result)") }
  }

  // MARK: - Mappings

  /// Finds the tracee's mappings of the two objects anew, and closes those that are open.
  private func closeAreas() throws {
    areas = []
    for line in ProcessFile.lines(of: "/proc/\(tracee.pid)/maps") {
      let fields = line.split(separator: " ")
      // A seventh field says that the object has been deleted: the tracee may still store to it.
      guard fields.count >= 6, let object = object(at: fields[5]) else { continue }
      let ends = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard ends.count == 2, fields[1].hasSuffix("s") else { continue }
      areas.append(Area(range: ends[0]..<ends[1], object: object, offset: Int(fields[2], radix: 16) ?? 0))
      if fields[1].dropFirst().hasPrefix("w") { try protect(ends[0], PROT_READ, count: ends[1] - ends[0]) }
    }
  }

  /// Lets the tracee store freely again, and lets the kernel mark its mutexes should it be killed now.
  func openAreas() throws {
    for area in areas {
      let count = area.range.upperBound - area.range.lowerBound
      // One that was mapped read-only stays so: nothing stores there.
      _ = try tracee.inject(SYS_mprotect, area.range.lowerBound, count, UInt64(PROT_READ | PROT_WRITE))
    }
  }

  private func object(at path: Substring) -> WatchedObject? {
    let name = path.dropFirst("/dev/shm/".count)
    return name == table.control.name ? table.control : name == table.data.name ? table.data : nil
  }

  // MARK: - Death

  /// A futex word that the kernel would mark if the tracee were killed now.
  struct Mark: Equatable {
    let isControl: Bool
    let offset: Int
  }

  /// Of all threads.
  func marks() -> [Mark] { ([tracee.pid] + tracee.freeThreads).flatMap(marks) }

  /// What the kernel walks when a thread ends: its list of robust mutexes, and the one it was about to take or give
  /// back. It marks those whose word names the thread.
  private func marks(of thread: Int32) -> [Mark] {
    var head: UInt64 = 0
    guard ct_robust_list(thread, &head) == 0, head != 0, let words = tracee.readWords(head, 3) else { return [] }
    let (first, offset, pending) = (words[0], words[1], words[2])
    var marks: [Mark] = []
    func note(_ entry: UInt64) {
      let word = (entry & ~1) &+ offset
      guard let area = areas.first(where: { $0.range.contains(word) }) else { return }
      let place = area.offset + Int(word - area.range.lowerBound)
      let held = area.object.copy.load(fromByteOffset: place, as: UInt32.self)
      let mark = Mark(isControl: area.object === table.control, offset: place)
      if held & UInt32(FUTEX_TID_MASK) == UInt32(thread), !marks.contains(mark) { marks.append(mark) }
    }
    var entry = first
    var limit = 2048
    while entry & ~1 != head, limit > 0 {
      note(entry)
      guard let next = tracee.readWord(entry & ~1) else { break }
      entry = next
      limit -= 1
    }
    if pending != 0 { note(pending) }
    return marks
  }

  static let ownerDied: UInt32 = 0x4000_0000
  static let waiters: UInt32 = 0x8000_0000
}

private let FUTEX_TID_MASK: UInt32 = 0x3fff_ffff
