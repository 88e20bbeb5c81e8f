import NIOCore
import SharedTable

/// One connection: its settings, and what it has sent and is to be sent.
///
/// `@unchecked Sendable` because one thread uses it at a time: the event loop, or the lane to which the loop hands it
/// until the lane hands it back; meanwhile the loop reads nothing from the socket.
final class Session: @unchecked Sendable {
  /// Why ``run(patience:)`` came back.
  enum Outcome {
    /// All that has arrived is dealt with.
    case needsInput
    /// Enough to be sent was made; call again when it is.
    case outputFull
    /// It has taken long enough; call again when others have had their turn.
    case turnIsOver
    /// The next command would have to wait: hand it to this lane.
    case wait(Lane)
    /// WAITAOF is to be carried out anew when its first target is on the disk, or its time is over.
    case waitForDisk(DiskWait)
    /// Send what there is, and end the connection.
    case close
  }

  /// From this on the reply is sent before the next command is looked at.
  static let replyLimit = 1 << 20

  let server: ServerState
  let client: ClientRecord
  let commands = CommandTable.shared
  var reply = Reply()
  private(set) var database: Database
  /// What the client may do to the table that is selected; nil for everything.
  private(set) var tableAccess: TableAccess?
  /// The table that the last command used, and the database's generation then; nil: none yet. Weakly: a client that is idle does not keep the
  /// memory of a table whose name was taken away, which the database lets go.
  private weak var lastTable: Table?
  private var lastGeneration: UInt64?

  private(set) var input = ByteBuffer()
  private var parser: FrameParser
  /// Of the frame behind the one that ``parser`` has found: takes its place when that is passed over, as far as it has come.
  private var ahead: FrameParser
  /// How many bytes of `input` are dealt with.
  private var served = 0
  /// Where the answer to the running command begins.
  var replyStart = 0

  /// Commands since MULTI; nil outside.
  var queue: CommandQueue? {
    didSet { client.noteQueued(queue?.entries.count) }
  }
  var watched: [WatchedKey] = []
  /// How many bytes the keys of ``watched`` have.
  var watchedBytes = 0
  /// The keys of ``watched`` and their databases: a key that is watched twice counts once.
  var watchedNames: Set<WatchedName> = []
  /// The watched keys that were absent, for each table.
  var watchedAbsent: [AbsentWatch] = []
  /// What PUBLISH has to send in the transaction that runs: whoever gets it earlier would look at the table and not find what the
  /// transaction has stored. Nil outside of one that writes. Not who gets it: there may be 10,000 for each of a million messages.
  var unsent: [(channel: [UInt8], message: [UInt8])]?
  var subscriptions = Subscriptions()
  private(set) var tracking: Tracking?
  /// How much memory the prefixes of ``tracking`` take.
  private var trackedBytes = 0
  var suppression = ReplySuppression.none
  /// Answers that count as messages: they are sent whatever ``suppression`` says.
  var messages = Reply()
  var endsConnection = false
  /// What the running command, WAITAOF, waits for.
  var diskWait: DiskWait?
  /// By place: into which tables it has stored something.
  private var hasWritten: [Bool]
  /// How many tables the running FLUSHALL has emptied.
  var flushedTables = 0
  /// A command that may take long has been carried out, or a transaction, which may have many. The clock is looked at.
  var hasTakenLong = false
  /// A command that found the table full, or its name gone, is tried a second time.
  var isSecondAttempt = false

  init(server: ServerState, client: ClientRecord) {
    self.server = server
    self.client = client
    database = server.databases[0]
    tableAccess = client.access?.tables[0]
    parser = FrameParser(server.options.frames)
    ahead = FrameParser(server.options.frames)
    hasWritten = server.databases.map { _ in false }
    reply.limit = server.options.largestReply
  }

  func track(_ tracking: Tracking?) {
    self.tracking = tracking
    trackedBytes = tracking?.heldBytes ?? 0
  }

  // MARK: - Bytes

  func receive(_ bytes: inout ByteBuffer) {
    if input.readableBytes == 0 {
      input = bytes
    } else {
      input.discardReadBytes()
      input.writeBuffer(&bytes)
    }
  }

  /// About how much memory is taken by what the client has sent: commands that have not arrived whole or are not carried out yet, and what it
  /// has had the server remember. Of a long buffer the part that nothing was written to takes none.
  var heldBytes: Int {
    let waiting = input.readableBytes == 0 ? 0 : min(input.storageCapacity, max(input.readableBytes, 256 << 10))
    return waiting + (queue?.bytes ?? 0) + watchedBytes + watched.count * WatchedKey.bytesBesideName
      + subscriptions.heldBytes
      + trackedBytes
  }

  /// What was to be sent is on its way.
  func forgetReply() {
    reply.clear()
    replyStart = 0
  }

  /// Carries out what has arrived, as far as it can without waiting.
  func run() -> Outcome {
    // By a second reference, so that commands may use the session meanwhile.
    let bytes = input
    served = 0
    let outcome = unsafe bytes.withUnsafeReadableBytes { unsafe serve(Bytes($0)) }
    input.moveReaderIndex(forwardBy: served)
    if input.readableBytes == 0 { input = ByteBuffer() }
    return outcome
  }

  /// Carries out the one command that has to wait, with what shares its barrier. For the lane.
  func runOne(patience: Duration) {
    let bytes = input
    served = 0
    unsafe bytes.withUnsafeReadableBytes { unsafe serveOne(Bytes($0), patience) }
    input.moveReaderIndex(forwardBy: served)
    if input.readableBytes == 0 { input = ByteBuffer() }
  }

  private func serveOne(_ bytes: Bytes, _ patience: Duration) {
    guard case .frame = parse(bytes) else { return }
    replyStart = reply.position
    // With no time left it fails by the table's own words.
    let patience = max(patience, .nanoseconds(1))
    // What is tried again, as the table was full or replaced, is not left to the loop.
    repeat {
      if let inline = parser.inline {
        inline.withRequest { _ = carryOut($0, in: nil, patience) }
      } else {
        _ = carryOut(request(in: bytes), in: bytes, patience)
      }
    } while isSecondAttempt && findsFrame(in: bytes) && reply.count < Self.replyLimit
  }

  private func findsFrame(in bytes: Bytes) -> Bool {
    if case .frame = parse(bytes) { true } else { false }
  }

  /// How long the commands of one client may take before others have their turn. What a client sends at once mostly takes a tenth of it.
  private static let longestTurn = Duration.milliseconds(20)

  private func serve(_ bytes: Bytes) -> Outcome {
    let begin = ContinuousClock.now
    var untimed = 0
    while true {
      if endsConnection { return .close }
      if reply.count >= Self.replyLimit { return .outputFull }
      if untimed >= 32 || hasTakenLong {
        if ContinuousClock.now - begin > Self.longestTurn { return .turnIsOver }
        (untimed, hasTakenLong) = (0, false)
      }
      untimed += 1
      switch parse(bytes) {
      case .needsMore: return .needsInput
      case .nothing: passOver()
      case .failed(let error):
        reply.error(error.reply)
        return .close
      case .frame:
        replyStart = reply.position
        let blocked: Lane? =
          if let inline = parser.inline {
            inline.withRequest { carryOut($0, in: nil, .zero) }
          } else {
            carryOut(request(in: bytes), in: bytes, .zero)
          }
        if let blocked { return .wait(blocked) }
        if let diskWait { return .waitForDisk(diskWait) }
      }
    }
  }

  // MARK: - Frames

  /// The frame that follows in the input; the same one until it is passed over.
  func parse(_ bytes: Bytes) -> FrameParser.Step { parser.step(bytes.suffix(from: served)) }

  /// Whether what follows is a frame whose request lies in `bytes`.
  func findsRequest(in bytes: Bytes) -> Bool { parser.findsRequest(bytes.suffix(from: served)) }

  /// The request behind the one that was found, if it has arrived. It may be asked for again.
  func requestAhead(in bytes: Bytes) -> Request? {
    let rest = bytes.suffix(from: served &+ parser.consumed)
    return ahead.findsRequest(rest) ? unsafe Request(rest.raw, ahead.arguments.ranges) : nil
  }

  func request(in bytes: Bytes) -> Request {
    unsafe Request(bytes.suffix(from: served).raw, parser.arguments.ranges)
  }

  private func passOver() {
    served += parser.consumed
    parser.reset()
    swap(&parser, &ahead)
  }

  /// The running command was answered.
  func finish() {
    passOver()
    isSecondAttempt = false
    flushedTables = 0
    if diskWait != nil { diskWait = nil }
    client.count()
    suppression.apply(to: &reply, from: replyStart)
    if messages.count > 0 {
      reply.append(messages)
      messages = Reply()
    }
    replyStart = reply.position
  }

  // MARK: - The table

  /// The table that is selected.
  func table() throws(TableError) -> Table {
    let generation = database.generation
    if lastGeneration == generation, let lastTable { return lastTable }
    let table = try database.table()
    (lastTable, lastGeneration) = (table, generation)
    return table
  }

  /// Lets go of the table that the running command has used, if its name leads to another one by now, or to none.
  /// - Returns: whether it is let go of, by this session or by another one. Then the command is tried once more.
  func letGoOfMovedTable() -> Bool {
    database.refresh() || lastGeneration.map { $0 != database.generation } ?? false
  }

  /// Before a barrier that stores: whether it did is known to who waits for the disk alone.
  func noteWrite(_ database: Database) { hasWritten[database.index] = true }

  var writtenDatabases: [Database] { server.databases.filter { hasWritten[$0.index] } }

  /// By which keys are shown; nil if all may be.
  var visibleKeys: TableAccess? {
    guard let tableAccess, !tableAccess.everywhere.contains(.read) else { return nil }
    return tableAccess
  }

  func select(_ other: Database) {
    database = other
    tableAccess = client.access?.tables[other.index]
    (lastTable, lastGeneration) = (nil, nil)
    client.update { $0.database = other.index }
  }

  /// Takes back what the running command has begun to answer.
  func fail(_ error: any Error) {
    reply.rollBack(to: replyStart)
    switch error {
    case let error as CommandError: reply.error(error.bytes)
    case let error as TableError: reply.error(CommandError(error).bytes)
    default: reply.error("ERR \(error)")
    }
  }
}

extension Bytes {
  func suffix(from start: Int) -> Bytes {
    precondition(start >= 0 && start <= count)
    return unsafe Bytes(UnsafeRawBufferPointer(start: raw.baseAddress.map { unsafe $0 + start }, count: count - start))
  }
}
