import CShims
import Glibc
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// How a test reads: as one who takes part, or as one who only observes.
enum WayIn: CaseIterable { case participant, observer }

/// One table of a suite that runs on both variants and, for reads, on both ways in.
struct Setting: Sendable, CustomTestStringConvertible {
  let variant: Table.Variant
  let way: WayIn

  static let all: [Setting] = Table.Variant.allCases.flatMap { variant in
    WayIn.allCases.map { Setting(variant: variant, way: $0) }
  }

  var testDescription: String { "\(variant), \(way)" }

  /// Runs `body` with a new table and a handle to read it by; checks the invariants afterwards.
  func with(
    capacityBytes: Int = 16 << 20, limboBudgetBytes: Int? = nil, policy: StalledReaderPolicy = .evict,
    clock: TestClock? = nil, _ body: (_ table: Table, _ reader: Table) throws -> Void
  ) throws {
    let options = Table.Options(
      variant: variant, capacityBytes: capacityBytes, limboBudgetBytes: limboBudgetBytes, stalledReaderPolicy: policy)
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, options, timeout: .seconds(30), clock: clock?.read)
      let reader =
        way == .participant
        ? table : try Table.open(name, access: .observer, timeout: .seconds(30), clock: clock?.read)
      try onFreshThread {
        try body(table, reader)
        #expect(try table.check() == [])
      }
    }
  }
}

/// Runs `body` in a thread that has used no table before: its first one is read at full speed, and only its first.
func onFreshThread(_ body: () throws -> Void) throws {
  final class Box {
    let body: () throws -> Void
    var failure: (any Error)?
    init(_ body: @escaping () throws -> Void) { self.body = body }
  }
  try withoutActuallyEscaping(body) { body in
    let box = Box(body)
    var thread = pthread_t()
    let started = pthread_create(
      &thread, nil,
      { argument in
        let box = Unmanaged<Box>.fromOpaque(argument!).takeUnretainedValue()
        do { try box.body() } catch { box.failure = error }
        return nil
      }, Unmanaged.passUnretained(box).toOpaque())
    precondition(started == 0, "no thread: \(started)")
    pthread_join(thread, nil)
    if let failure = box.failure { throw failure }
  }
}

func withTable(
  _ variant: Table.Variant, capacityBytes: Int = 16 << 20, limboBudgetBytes: Int? = nil,
  policy: StalledReaderPolicy = .evict, _ body: (Table) throws -> Void
) throws {
  try Setting(variant: variant, way: .participant).with(
    capacityBytes: capacityBytes, limboBudgetBytes: limboBudgetBytes, policy: policy
  ) { table, _ in try body(table) }
}

extension Table {
  /// Reads through the same engine segment as this handle.
  var forge: KeyForge { get throws { KeyForge(seed: try Segment.open(name, .participant).hashSeed) } }
  func hash(_ key: [UInt8]) throws -> UInt64 {
    try key.withUnsafeBytes { try Segment.open(name, .participant).hash($0) }
  }
}
