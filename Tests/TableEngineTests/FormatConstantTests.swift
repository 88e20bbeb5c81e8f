import Testing

@testable import TableEngine

/// Swift's enumerations need literals for their raw values: these are the constants of `shm_format_constants.h`.
@Suite struct FormatConstantTests {
  @Test func recordKindsAreWhatTheFormatSays() {
    expectSame(Journal.Kind.allCases.map { ("\($0)", $0.rawValue) }, prefix: "SHM_JOURNAL_")
  }

  @Test func logOperationsAreWhatTheFormatSays() {
    expectSame(ChangeLog.Operation.allCases.map { ("\($0)", $0.rawValue) }, prefix: "SHM_LOG_")
  }

  @Test func variantsAreWhatTheFormatSays() {
    expectSame(Variant.allCases.map { ("\($0)", UInt64($0.rawValue)) }, prefix: "SHM_VARIANT_")
  }

  @Test func keepingStatesAreWhatTheFormatSays() {
    expectSame(DurabilityState.allCases.map { ("\($0)", $0.rawValue) }, prefix: "SHM_KEEPING_")
  }

  @Test func policiesAreWhatTheFormatSays() {
    expectSame(StalledReaderPolicy.allCases.map { ("\($0)", $0.rawValue) }, prefix: "SHM_POLICY_")
  }

  /// - Parameter cases: names in Swift's manner, and values.
  private func expectSame(_ cases: [(String, UInt64)], prefix: String) {
    let constants = LayoutHash.formatItems.map { FormatItem($0) }.filter { item in
      item.owner == "constant" && item.name.hasPrefix(prefix) && !item.name.hasSuffix("_SHIFT")
    }
    let inSwift = cases.map { name, value in
      let words = name.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
      return "\(prefix)\(words) = \(value)"
    }
    #expect(inSwift.sorted() == constants.map { "\($0.name) = \($0.value)" }.sorted())
  }
}
