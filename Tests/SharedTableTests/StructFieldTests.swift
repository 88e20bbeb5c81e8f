import Glibc
import TableTestSupport
import Testing

@testable import SharedTable

/// Which fields a SharedStruct may have, and that bits which are no value of a field are never loaded.
@Suite struct StructFieldTests {
  enum Light: CaseIterable { case red, amber, green }
  /// The same name and size, one case more: a newer program's.
  enum Newer { enum Light: CaseIterable { case red, amber, green, flashing } }
  enum Renamed { enum Light: CaseIterable { case red, yellow, green } }
  enum Lonely: CaseIterable { case only }

  struct Crossing: SharedStruct, Equatable {
    static let schemaName = "example.crossing"
    var id: UInt32 = 7
    var light = Light.amber
    var isBusy = true
    var next: Light? = .green
    var wait: Int32? = 30
    var isOpen: Bool?
    var letter: Unicode.Scalar = "ß"
    var lanes: [3 of Bool] = [true, false, true]
    var only = Lonely.only
    var pair: (Int8, Bool) = (1, true)

    static func == (a: Self, b: Self) -> Bool {
      a.id == b.id && a.light == b.light && a.isBusy == b.isBusy && a.next == b.next && a.wait == b.wait
        && a.isOpen == b.isOpen && a.letter == b.letter && a.lanes[0] == b.lanes[0] && a.lanes[1] == b.lanes[1]
        && a.lanes[2] == b.lanes[2] && a.pair == b.pair
    }
  }

  @Test func everyKindOfFieldComesBackAsItWent() throws {
    let table = try Table.temporary()
    var crossing = Crossing()
    for (next, wait, isOpen) in [(Light?.none, Int32?.none, Bool?.none), (.red, -1, true), (.green, 0, false)] {
      (crossing.next, crossing.wait, crossing.isOpen) = (next, wait, isOpen)
      for light in Light.allCases {
        crossing.light = light
        try table.set("c", crossing)
        #expect(try table.get("c") == crossing)
      }
    }
  }

  struct Nothing: SharedStruct { static let schemaName = "example.nothing" }
  struct Choiceless: SharedStruct {
    static let schemaName = "example.choiceless"
    var only = Lonely.only
    var none: Void = ()
    var inner = Nothing()
  }

  /// In an optimised program too: `around.empty-struct` of the torture program.
  @Test func aStructOfNoBytesIsAValue() throws {
    let table = try Table.temporary()
    try table.set("n", Nothing())
    try SharedArray<Choiceless>("a", in: table).append(contentsOf: [Choiceless(), Choiceless()])
    #expect(try table.bytes(forKey: "n") == [])
    #expect(try table.get("n", as: Nothing.self) != nil)
    #expect(try SharedArray<Choiceless>("a", in: table).allElements().count == 2)
    #expect(code { _ = try table.get("n", as: Choiceless.self) } == .typeMismatch)
  }

  struct Padded: SharedStruct {
    static let schemaName = "example.padded"
    struct Inner {
      var byte: UInt8
      var pair: UInt16
    }
    var byte: UInt8
    var number: UInt64
    var delay: UInt16?
    var isOn: Bool
    var inner: [2 of Inner]
    var last: UInt32
  }

  /// Memory that another variable has left full of ones.
  @Test func whatLiesBetweenFieldsIsStoredAsZeros() throws {
    let size = MemoryLayout<Padded>.size
    let memory = UnsafeMutableRawPointer.allocate(byteCount: MemoryLayout<Padded>.stride, alignment: 8)
    defer { unsafe memory.deallocate() }
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0xff, count: size)
    let padded = unsafe memory.assumingMemoryBound(to: Padded.self)
    unsafe padded.pointee.delay = nil
    unsafe padded.pointee.isOn = true
    var expected = [UInt8](repeating: 0, count: size)
    func expect(_ path: PartialKeyPath<Padded>, _ bytes: [UInt8]) {
      let offset = MemoryLayout<Padded>.offset(of: path)!
      expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
    expect(\.byte, [0xff])
    expect(\.number, [UInt8](repeating: 0xff, count: 8))
    expect(\.isOn, [1])
    expect(\.delay, [0, 0, 1])
    expect(\.inner, [0xff, 0, 0xff, 0xff, 0xff, 0, 0xff, 0xff])
    expect(\.last, [0xff, 0xff, 0xff, 0xff])
    let bytes = unsafe padded.pointee.withTableBytes { unsafe [UInt8]($0) }
    #expect(bytes == expected)
    let table = try Table.temporary()
    try table.set("p", unsafe padded.pointee)
    #expect(try table.get("p").map { (value: Padded) in value.number } == .max)
  }

  /// Two of its fields are bit-fields, which are none that Swift knows.
  @Test func ofAStructOfCNothingIsTakenForPadding() throws {
    let ones = [UInt8](repeating: 0xff, count: MemoryLayout<tcp_info>.size)
    var bytes = ones
    let layout = try layout(of: tcp_info.self).get()
    unsafe bytes.withUnsafeMutableBytes { unsafe layout.clearPadding($0) }
    #expect(bytes == ones)
  }

  /// Of a generic struct, whose name says what it holds.
  struct Pair<Element: SharedStruct>: SharedStruct {
    static var schemaName: String { "example.pair of \(Element.tableFingerprint)" }
    var first: Element
    var second: Element
  }

  struct Point: SharedStruct {
    static let schemaName = "example.point"
    var x = 1
    var y = 2
  }

  /// Neither has been used before.
  @Test func aNameMayDependOnAnotherStruct() throws {
    let table = try Table.temporary()
    try table.set("p", Pair(first: Point(), second: Point(x: 3, y: 4)))
    #expect(try table.get("p", as: Pair<Point>.self)?.second.x == 3)
  }

  /// Every byte of the struct in turn is made each of 256 values. What the table then gives is a value, or nothing.
  @Test func bitsThatAreNoValueAreATypeMismatch() throws {
    let table = try Table.temporary()
    let good = unsafe Crossing().withTableBytes { unsafe [UInt8]($0) }
    var refused: [Int: Int] = [:]
    for index in good.indices {
      for byte in UInt8.min...UInt8.max {
        var bytes = good
        bytes[index] = byte
        try table.set("c", Forged(bytes: bytes))
        do {
          let read = try #require(try table.get("c", as: Crossing.self))
          #expect(Light.allCases.contains(read.light))
        } catch let error as TableError {
          #expect(error.code == .typeMismatch)
          refused[index, default: 0] += 1
        }
      }
    }
    let offset = { (path: PartialKeyPath<Crossing>) in MemoryLayout<Crossing>.offset(of: path)! }
    #expect(refused[offset(\.light)] == 253)
    #expect(refused[offset(\.isBusy)] == 254)
    #expect(refused[offset(\.next)] == 252)
    #expect(refused[offset(\.wait) + 4] == 254, "what tells nil from a number")
    #expect(refused[offset(\.isOpen)] == 253)
    #expect(refused[offset(\.lanes) + 2] == 254, "the last element")
    #expect(refused[offset(\.pair) + 1] == 254)
    #expect(refused[offset(\.letter) + 3] == 255, "no scalar is as large")
    #expect(refused[offset(\.letter) + 1] == 8, "surrogates")
    #expect(refused[offset(\.id)] == nil, "of a number every pattern is a value")
  }

  /// Bytes under the fingerprint of `Crossing`: what a program could store that means harm, or has a defect.
  struct Forged: TableValue {
    var bytes: [UInt8]
    static var tableType: ValueType { .structure }
    static var tableFingerprint: UInt64 { Crossing.tableFingerprint }
    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try unsafe bytes.withTableBytes(body)
    }
    init(bytes: [UInt8]) { self.bytes = bytes }
    init?(tableBytes: UnsafeRawBufferPointer) { unsafe self.init(bytes: [UInt8](tableBytes)) }
  }

  func layout<T>(of type: T.Type) -> Result<StructLayout, LayoutRefusal> {
    Result { () throws(LayoutRefusal) in try StructLayout(type, schemaName: "example") }
  }

  func fingerprint<T>(_ type: T.Type) throws -> UInt64 { try layout(of: type).get().fingerprint }

  @Test func theCasesOfAnEnumBelongToTheLayout() throws {
    struct Now { var light: Light }
    let now = try fingerprint(Now.self)
    struct WithAnother { var light: Newer.Light }
    #expect(try fingerprint(WithAnother.self) != now)
    struct WithARenamed { var light: Renamed.Light }
    #expect(try fingerprint(WithARenamed.self) != now)
    struct Again { var light: Light }
    #expect(try fingerprint(Again.self) == now)
    struct Four { var lanes: [4 of Bool] }
    struct Three { var lanes: [3 of Bool] }
    #expect(try fingerprint(Four.self) != fingerprint(Three.self))
  }

  struct Of<Field> { var field: Field }

  /// As bits they are the same.
  @Test func numbersOfTwoTypesAreTwoLayouts() throws {
    let numbers: [Any.Type] = [
      Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self, UInt8.self, UInt16.self,
      UInt32.self, UInt64.self, UInt128.self, Float.self, Double.self, Unicode.Scalar.self, Bool.self,
      SIMD2<Int32>.self, SIMD2<UInt32>.self, SIMD2<Float>.self, [2 of Int8].self, [2 of UInt8].self,
      (Int8, Int8).self, (Int8, UInt8).self,
    ]
    func ofField<Field>(_ type: Field.Type) throws -> UInt64 { try fingerprint(Of<Field>.self) }
    var known: [UInt64: Any.Type] = [:]
    for type in numbers {
      let fingerprint = try ofField(type)
      #expect(known[fingerprint] == nil, "\(type)")
      known[fingerprint] = type
      #expect(try ofField(type) == fingerprint)
    }
    struct Signed { var delta: Int32? }
    struct Unsigned { var delta: UInt32? }
    #expect(try fingerprint(Signed.self) != fingerprint(Unsigned.self))
  }

  enum Earlier {
    struct Change: SharedStruct {
      static let schemaName = "example.change"
      var delta: Int32
    }
  }
  enum Later {
    struct Change: SharedStruct {
      static let schemaName = "example.change"
      var delta: UInt32
    }
  }

  @Test func aNumberIsNotReadAsOneWithoutSign() throws {
    let table = try Table.temporary()
    try table.set("c", Earlier.Change(delta: -1))
    #expect(code { try table.get("c", as: Later.Change.self) } == .typeMismatch)
    #expect(try table.get("c", as: Earlier.Change.self)?.delta == -1)
  }

  /// What was stored before integers' names belonged to the layout can be read where there was nothing to tell apart.
  @Test func layoutsWithoutIntegersKeepTheirFingerprint() throws {
    struct Mixed {
      var x: Double
      var y: Float?
      var isOn: Bool
      var light: Light
      var next: Light?
      var lanes: [3 of Bool]
      var numbers: SIMD4<Float>
    }
    #expect(try fingerprint(Mixed.self) == 7_583_632_086_369_390_721)
  }

  /// Its text is a language's, and the same for two cases.
  enum Described: CaseIterable, CustomStringConvertible, CustomReflectable {
    case red, amber, green
    var description: String { "rot" }
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
  }
  enum Swapped {
    enum Described: CaseIterable, CustomStringConvertible {
      case red, green, amber
      var description: String { "rot" }
    }
  }

  @Test func aCaseIsKnownByItsNameWhateverItsDescription() throws {
    #expect(try fingerprint(Of<Described>.self) == fingerprint(Of<Light>.self))
    #expect(try fingerprint(Of<Swapped.Described>.self) != fingerprint(Of<Light>.self))
  }

  // MARK: - Refused

  enum Unlisted { case a, b }
  enum Loaded: CaseIterable {
    case none, some(Int)
    static var allCases: [Loaded] { [.none, .some(1)] }
  }
  enum Nameless: CaseIterable {
    case a, b
    static var allCases: [Nameless] { [] }
  }
  struct Inner { var flag: Bool }

  @Test func aFieldThatCannotBeCheckedIsRefusedByItsName() {
    func refusal<T>(_ type: T.Type) -> String? {
      if case .failure(let refusal) = layout(of: type) { return refusal.description }
      return nil
    }
    let start = "the SharedStruct 'example' cannot be shared: its field"
    struct A { var state: Unlisted }
    #expect(
      refusal(A.self)
        == "\(start) 'state' is the enum Unlisted, whose bits cannot be checked; make it CaseIterable, or store its raw value"
    )
    struct B { var inner: (Int, Loaded) }
    #expect(
      refusal(B.self)
        == "\(start) 'inner..1' is the enum Loaded with associated values, whose bits cannot be checked")
    struct N { var state: Nameless }
    #expect(
      refusal(N.self)
        == "\(start) 'state' is the enum Nameless, whose allCases is empty; name all of its cases there")
    struct C { var inner: Inner? }
    #expect(
      refusal(C.self)
        == "\(start) 'inner' is a Optional<Inner>, whose nil cannot be told from other bits; use a field of its own for that"
    )
    struct D { var lanes: [2 of Unlisted?] }
    #expect(refusal(D.self)?.hasPrefix("\(start) 'lanes[0]' is the enum Unlisted") == true)
    for type in [
      unsafe HasPointer.self, unsafe HasOptionalPointer.self, HasType.self, HasFunction.self, unsafe HasUnmanaged.self,
      HasText.self,
    ] as [Any.Type] {
      func refusalOf<T>(_ type: T.Type) -> String? { refusal(type) }
      #expect(refusalOf(type)?.contains("in another process") == true, "\(type)")
    }
  }

  /// Of what it is called nothing follows.
  @Test func aTypeIsNoPointerByItsName() throws {
    struct PointerPosition { var x: Double }
    enum PointerTag {}
    struct Tagged<Tag, Value> { var value: Value }
    struct PointerState { var position: PointerPosition, id: Tagged<PointerTag, Double> }
    struct State { var position: Plain.Position, id: Tagged<Never, Double> }
    enum Plain { struct Position { var x: Double } }
    #expect(try fingerprint(PointerState.self) == fingerprint(State.self))
  }

  @Test func everyPointerIsRefused() {
    func refusal<Field>(_ type: Field.Type) -> String? {
      if case .failure(let refusal) = layout(of: Of<Field>.self) { return refusal.description }
      return nil
    }
    for type in [
      unsafe UnsafeRawPointer.self, unsafe UnsafeMutableRawPointer.self, unsafe UnsafePointer<Int>.self,
      unsafe OpaquePointer.self, unsafe UnsafeMutablePointer<Int>?.self, unsafe UnsafeBufferPointer<Int>.self,
      unsafe UnsafeMutableRawBufferPointer.self, ObjectIdentifier.self, ObjectIdentifier?.self, StaticString.self,
      unsafe [2 of UnsafeRawPointer].self, unsafe (Int, UnsafeRawPointer).self, unsafe Unmanaged<AnyObject>?.self,
    ] as [Any.Type] {
      #expect(refusal(type)?.contains("in another process") == true, "\(type)")
    }
    #expect(
      refusal(ObjectIdentifier.self)
        == "the SharedStruct 'example' cannot be shared: its field 'field' is a ObjectIdentifier, and pointers mean nothing in another process"
    )
  }

  @unsafe struct HasPointer { var field: UnsafeRawPointer }
  @unsafe struct HasOptionalPointer { var field: UnsafeMutablePointer<Int>? }
  struct HasType { var field: Any.Type }
  struct HasFunction { var field: @convention(c) (Int) -> Int }
  @unsafe struct HasUnmanaged { var field: Unmanaged<AnyObject> }
  struct HasText { var field: StaticString }

  @Test func theProcessEndsAtTheFirstUseOfARefusedType() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let table = try Table.temporary()
      try table.set("a", Unshareable(state: .a))
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("its field 'state' is the enum Unlisted"))
  }

  struct Unshareable: SharedStruct {
    static let schemaName = "example.unshareable"
    var state: Unlisted
  }
}
