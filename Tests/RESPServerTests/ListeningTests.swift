import SharedTable
import TestSupport
import Testing

@testable import RESPServer

/// Who is sent messages, and who is not.
@Suite struct ListeningTests {
  /// It would take them for the answers to its commands.
  @Test func aClientThatListensToNothingGetsNoInvalidations() async throws {
    try await withServer { server, client throws in
      let number = try client.call("CLIENT", "ID").dropFirst()
      let tracker = try server.client()
      #expect(try tracker.call("CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", String(number)) == "+OK")
      let witness = try server.client()
      _ = try witness.call("HELLO", "3")
      #expect(try witness.call("CLIENT", "TRACKING", "ON", "BCAST") == "+OK")
      for round in 0..<20 {
        try server.table.set("k", round)
        #expect(try witness.answer().hasPrefix(">[\"invalidate\""))
        #expect(try client.call("PING") == "+PONG")
      }
      // Once it listens it gets them.
      _ = try client.call("SUBSCRIBE", "__redis__:invalidate")
      try server.table.set("k", -1)
      #expect(try client.answer() == "[\"message\" \"__redis__:invalidate\" [\"k\"]]")
    }
  }

  @Test func aMessageIsExpectedAsLongAsItsSubscriptionLasts() {
    let client = ClientRecord(
      id: 1, address: "", localAddress: "", peer: nil, access: nil, send: { _ in }, disconnect: { _ in })
    let broker = Broker([])
    let message = ClientRecord.Push.message(channel: [1], [2])
    let patternMessage = ClientRecord.Push.patternMessage(pattern: [1], channel: [1], [2])
    for isPattern in [false, true] {
      #expect(!broker.isExpected(message, by: client) && !broker.isExpected(patternMessage, by: client))
      broker.subscribe(client, to: [1], isPattern: isPattern)
      #expect(broker.isExpected(message, by: client) == !isPattern)
      #expect(broker.isExpected(patternMessage, by: client) == isPattern)
      broker.unsubscribe(client, from: [1], isPattern: isPattern)
    }
    #expect(!broker.isExpected(.invalidateMessage([]), by: client))
    client.update { $0.subscriptions.channels = 1 }
    #expect(broker.isExpected(.invalidateMessage([]), by: client))
    #expect(broker.isExpected(.invalidate([]), by: client))
  }

  /// To look at those of all would take long, and who publishes waits meanwhile.
  @Test func ofAClientThatEndsTheBrokerLooksAtItsOwnNamesAlone() {
    let client = ClientRecord(
      id: 1, address: "", localAddress: "", peer: nil, access: nil, send: { _ in }, disconnect: { _ in })
    let broker = Broker([])
    var names = Subscriptions()
    for isPattern in [false, true] {
      names.add([1], isPattern: isPattern)
      for name: [UInt8] in [[1], [2]] { broker.subscribe(client, to: name, isPattern: isPattern) }
    }
    client.update { $0.subscriptions = (2, 2) }
    broker.forget(client, names)
    #expect(broker.channels(matching: nil) == [[2]] && broker.patternCount == 1)
  }

  @Test func aClientThatIsGoneListensToNothing() async throws {
    try await withServer { server, client throws in
      do {
        let listener = try server.client()
        _ = try listener.call("SUBSCRIBE", "news")
        _ = try listener.call("PSUBSCRIBE", "n*")
        #expect(try client.call("PUBSUB", "NUMSUB", "news") == "[\"news\" :1]")
      }
      let isForgotten = try eventually {
        try client.call("PUBSUB", "NUMSUB", "news") == "[\"news\" :0]" && client.call("PUBSUB", "NUMPAT") == ":0"
      }
      #expect(isForgotten)
    }
  }

  /// What it had cached of the one before it has forgotten; what it has cached of the new one it is told of.
  @Test func aTableThatComesBackIsFollowed() async throws {
    try await withServer { server, client throws in
      _ = try client.call("HELLO", "3")
      #expect(try client.call("CLIENT", "TRACKING", "ON", "BCAST") == "+OK")
      let name = server.table.name
      try Table.drop(name)
      #expect(try client.answer() == ">[\"invalidate\" nil]")
      // Long enough that the server has looked for it in vain.
      var refused = ""
      while !refused.hasPrefix("-") { refused = try client.call("GET", "k") }
      let table = try Table.create(name, Table.Options(capacityBytes: 4 << 20))
      #expect(try client.answer() == ">[\"invalidate\" nil]")
      try table.set("k", 1)
      #expect(try client.answer() == ">[\"invalidate\" [\"k\"]]")
    }
  }

  /// A client may have read of the new table before its changes are followed. So it is told twice to forget: that the old one is gone, and when
  /// the new one is followed.
  @Test func aTableThatIsReplacedAtOnceIsToldOfTwice() async throws {
    try await withServer { server, client throws in
      _ = try client.call("HELLO", "3")
      #expect(try client.call("CLIENT", "TRACKING", "ON", "BCAST") == "+OK")
      let name = server.table.name
      try Table.drop(name)
      let table = try Table.create(name, Table.Options(capacityBytes: 4 << 20))
      for _ in 0..<2 { #expect(try client.answer() == ">[\"invalidate\" nil]") }
      try table.set("k", 1)
      #expect(try client.answer() == ">[\"invalidate\" [\"k\"]]")
    }
  }
}
