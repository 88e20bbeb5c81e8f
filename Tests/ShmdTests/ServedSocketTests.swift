import Glibc
import TestSupport
import Testing

@testable import ShmdCore

/// The sockets on which the daemon serves: passed by the service manager, taken by others, and opened and closed without end.
@Suite struct ServedSocketTests {
  /// Both listeners are the manager's: one is a Unix socket, the other loopback TCP, which the daemon need not be able to make.
  @Test func socketsThatTheManagerPassesAreServed() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let path = fixture.directory + "/passed.sock"
    defer { unlink(path) }
    let unix = try listener(atPath: path)
    let (tcp, port) = try listenerOnTCP(loopback)
    try fixture.write(
      """
      interval: 20ms
      tables: [{name: \(name), capacity: 2MiB}]
      resp: {socket: systemd}
      """)
    let daemon = try fixture.start(
      environment: ["LISTEN_FDS": "2", "LISTEN_FDNAMES": "resp:resp"],
      prelude: "exec 3<&\(unix) 4<&\(tcp); export LISTEN_PID=$$")
    try daemon.waitForLine("ready tables=")
    close(unix)
    close(tcp)
    #expect(try RedisClient(path).call("SET", "k", "v") == "+OK")
    #expect(try RedisClient(loopbackPort: port).call("GET", "k") == "\"v\"")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
    // The file is the manager's.
    #expect(access(path, F_OK) == 0)
  }

  @Test(arguments: ["resp", "monitoring"])
  func withoutASocketThatWasPassedTheTablesAreKept(_ key: String) throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.write("interval: 20ms\ntables: [{name: \(name), capacity: 2MiB}]\n\(key): {socket: systemd}\n")
    let daemon = try fixture.start()
    try daemon.waitForLine("no socket named '\(key)' was passed")
    try daemon.waitUntilSaid("ready tables=")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  /// Whoever connects to what the daemon does not serve is refused, and does not wait for an answer that nobody gives.
  @Test(arguments: [
    ("monitoring: {socket: systemd}", "sockets were passed that no 'socket: systemd' asks for"),
    ("resp: {socket: systemd}", "bound to more than this host"),
  ])
  func socketsThatAreNotServedAreClosed(_ key: String, _ line: String) throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let path = fixture.directory + "/passed.sock"
    defer { unlink(path) }
    let world = try listenerOnTCP(0).descriptor
    let unix = try listener(atPath: path)
    try fixture.write("interval: 20ms\ntables: [{name: \(name), capacity: 2MiB}]\n\(key)\n")
    let daemon = try fixture.start(
      environment: ["LISTEN_FDS": "2", "LISTEN_FDNAMES": "resp:resp"],
      prelude: "exec 3<&\(world) 4<&\(unix); export LISTEN_PID=$$")
    try daemon.waitForLine(line)
    try daemon.waitUntilSaid("ready tables=")
    for (number, passed) in [(3, world), (4, unix)] as [(Int32, Int32)] {
      #expect(eventually { identity(of: daemon.pid, number) != identity(of: getpid(), passed) })
    }
    close(world)
    close(unix)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  @Test func aListenerBesideSocketsThatWereNotPassedIsServedAndTheyAreMissed() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let (descriptor, port) = try listenerOnTCP(loopback)
    close(descriptor)
    try fixture.write(
      "interval: 20ms\ntables: [{name: \(name), capacity: 2MiB}]\nresp: {socket: systemd, listen: 127.0.0.1:\(port)}\n")
    let daemon = try fixture.start()
    try daemon.waitForLine("no socket named 'resp' was passed")
    try daemon.waitForLine("ready tables=")
    #expect(try RedisClient(loopbackPort: port).call("SET", "k", "v") == "+OK")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  /// Who may not connect is told so at once; who may do nothing, when it asks for something.
  @Test(arguments: [
    ("users: [0]", "'resp: users' refuses all who come by the TCP socket", nil),
    ("access: [{users: [0], rights: [read]}]", "'resp: access' has no rule with 'anyone: true'", "GET k\r\n"),
  ])
  func thatUsersAreToldByNoPassedTCPSocketIsSaid(_ key: String, _ warning: String, _ request: String?) throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let (tcp, port) = try listenerOnTCP(loopback)
    try fixture.write("interval: 20ms\ntables: [{name: \(name), capacity: 2MiB}]\nresp: {socket: systemd, \(key)}\n")
    let daemon = try fixture.start(
      environment: ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "resp"],
      prelude: "exec 3<&\(tcp); export LISTEN_PID=$$")
    try daemon.waitForLine(warning)
    try daemon.waitForLine("ready tables=")
    close(tcp)
    let client = try RedisClient(loopbackPort: port)
    if let request { try client.send(request) }
    #expect(try client.answer().hasPrefix("-NOPERM"))
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  @Test func aSocketThatAnotherHasDoesNotEndTheDaemon() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let path = fixture.directory + "/taken.sock"
    defer { unlink(path) }
    let other = try listener(atPath: path)
    defer { close(other) }
    try fixture.write("interval: 20ms\ntables: [{name: \(name), capacity: 2MiB}]\nresp: {socket: \(path)}\n")
    let daemon = try fixture.start()
    try daemon.waitForLine("another process listens there")
    try daemon.waitUntilSaid("ready tables=")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  @Test func theModeOfAPassedSocketIsItsUnits() throws {
    let refusal = #expect(throws: Refusal.self) {
      _ = try ConfigurationReader.parse("tables: []\nmonitoring: {socket: systemd, mode: \"0660\"}\n", file: "f")
    }
    #expect(refusal?.problems.first?.description.contains("write SocketMode= in the socket unit") == true)
  }

  /// Descriptors and memory are what they were.
  @Test func tenThousandConnectionsLeaveNothing() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let (resp, http) = (fixture.directory + "/resp.sock", fixture.directory + "/run/http.sock")
    defer { unlink(resp) }
    try fixture.write(
      """
      interval: 20ms
      tables: [{name: \(name), capacity: 2MiB}]
      resp: {socket: \(resp)}
      monitoring: {socket: \(http)}
      """)
    let daemon = try fixture.startReady()
    func open(_ count: Int) throws {
      for number in 0..<count {
        let client = try RedisClient(resp)
        // Some say nothing, some half a word, some subscribe.
        if number % 4 == 1 { try client.send("*1\r\n$4\r\nPI") }
        if number % 4 == 2 { #expect(try client.call("SUBSCRIBE", "c\(number)").hasPrefix("[\"subscribe\"")) }
        if number % 4 == 3 { #expect(try client.call("SET", "k", "v") == "+OK") }
        if number % 2 == 0 {
          _ = try HTTPClient(http)
        } else {
          #expect(try HTTPClient.get("/ready", at: http).status == 200)
        }
      }
    }
    try open(1000)
    let before = try (descriptors(of: daemon.pid), residentBytes(of: daemon.pid))
    try open(10_000)
    // The last of them may still be on their way out.
    #expect(try eventually { try descriptors(of: daemon.pid) <= before.0 })
    // A connection that left 400 bytes would be seen.
    let grown = try residentBytes(of: daemon.pid) - before.1
    #expect(grown < 4 << 20, "\(grown) bytes more")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }

  // MARK: -

  /// What a process's descriptor leads to; nil if it is closed.
  private func identity(of process: Int32, _ descriptor: Int32) -> String? {
    var target = [CChar](repeating: 0, count: 256)
    guard readlink("/proc/\(process)/fd/\(descriptor)", &target, 255) > 0 else { return nil }
    return String(decoding: target.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private func descriptors(of process: Int32) throws -> Int {
    guard let directory = opendir("/proc/\(process)/fd") else { throw Failure("/proc/\(process)/fd: error \(errno)") }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
  }

  private func residentBytes(of process: Int32) throws -> Int {
    guard let file = fopen("/proc/\(process)/statm", "r") else { throw Failure("statm: error \(errno)") }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, 256, file) != nil else { throw Failure("statm is empty") }
    let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
      separator: " ")
    return Int(words[1])! * Int(getpagesize())
  }
}
