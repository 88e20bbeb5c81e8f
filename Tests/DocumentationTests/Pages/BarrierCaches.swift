import Dispatch
import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

// MARK: - With GCD

final class ThumbnailCache: @unchecked Sendable {
  // Sendable because `thumbnails` is read on the queue and changed in its barriers.
  private let queue = DispatchQueue(label: "org.example.thumbnails", attributes: .concurrent)
  private var thumbnails: [String: [UInt8]] = [:]

  func thumbnail(_ name: String) -> [UInt8]? { queue.sync { thumbnails[name] } }

  func store(_ thumbnail: [UInt8], as name: String) {
    queue.async(flags: .barrier) { self.thumbnails[name] = thumbnail }
  }

  func thumbnail(_ name: String, orMake make: () throws -> [UInt8]) rethrows -> [UInt8] {
    if let thumbnail = thumbnail(name) { return thumbnail }
    let thumbnail = try make()  // in every thread that asks meanwhile
    store(thumbnail, as: name)
    return thumbnail
  }
}

// MARK: - With a table

final class HostThumbnailCache: Sendable {
  private let thumbnails: SharedCache<String, [UInt8]>

  init(_ table: Table) throws {
    thumbnails = try SharedCache("thumbnails", in: table, limit: .bytes(32 << 20))
  }

  func thumbnail(_ name: String) throws -> [UInt8]? { try thumbnails[name] }

  func store(_ thumbnail: [UInt8], as name: String) throws {
    try thumbnails.set(name, thumbnail, waitUntilDone: false)
  }

  func thumbnail(_ name: String, orMake make: () throws -> [UInt8]) throws -> [UInt8] {
    try thumbnails.value(forKey: name, orInsert: make)  // once on the host; other callers wait meanwhile
  }
}

// MARK: - With GCD

final class EventList: @unchecked Sendable {
  // Sendable because `events` is read on the queue and changed in its barriers.
  private let queue = DispatchQueue(label: "org.example.events", attributes: .concurrent)
  private var events: [String] = []

  func append(_ event: String) { queue.async(flags: .barrier) { self.events.append(event) } }

  var last: String? { queue.sync { events.last } }

  /// Removes the oldest until at most `count` are left.
  func keep(_ count: Int) {
    queue.async(flags: .barrier) { self.events.removeFirst(max(0, self.events.count - count)) }
  }
}

// MARK: - With a table

final class HostEventList: Sendable {
  private let queue: BarrierQueue
  private let events: SharedArray<String>

  init(_ table: Table) throws {
    queue = try BarrierQueue(in: table, label: "org.example.events")
    events = try SharedArray("events", in: table)
  }

  func append(_ event: String) throws {
    try queue.async(flags: .barrier) { [events] tx in try events.append(event, in: &tx) }
  }

  var last: String? {
    get throws {
      try queue.sync { view in
        let count = try events.count(in: view)
        return count == 0 ? nil : try events.get(at: count - 1, in: view)
      }
    }
  }

  /// Removes the oldest until at most `count` are left.
  func keep(_ count: Int) throws {
    try queue.async(flags: .barrier) { [events] tx in
      try events.removeFirst(max(0, events.count(in: tx) - count), in: &tx)
    }
  }
}
