import SharedTable

/// Keys and values of the other store, side by side in one buffer, in the order of the keys. For one task at a time.
@safe
public final class ContentPage {
  /// Where an entry lies.
  struct Place {
    let start: Int
    let keyLength: Int
    let valueLength: Int
    let lease: Int64
  }

  private(set) var bytes: [UInt8] = []
  private(set) var places: [Place] = []
  public var count: Int { places.count }
  var byteCount: Int { bytes.count }

  public init() {}

  /// Adds an entry behind the others.
  /// - Parameters:
  ///   - key: whole, with the prefix.
  ///   - lease: 0: none.
  public func append(key: some Collection<UInt8>, value: some Collection<UInt8>, lease: Int64 = 0) {
    places.append(Place(start: bytes.count, keyLength: key.count, valueLength: value.count, lease: lease))
    bytes.append(contentsOf: key)
    bytes.append(contentsOf: value)
  }

  func key(_ index: Int) -> ArraySlice<UInt8> {
    let place = places[index]
    return bytes[place.start..<place.start + place.keyLength]
  }

  func lease(_ index: Int) -> Int64 { places[index].lease }

  package var lastKey: [UInt8]? { places.isEmpty ? nil : Array(key(places.count - 1)) }

  /// Calls `body` with an entry, in place.
  func withEntry<E: Error>(
    _ index: Int, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(E) -> Void
  ) throws(E) {
    let place = places[index]
    let middle = place.start + place.keyLength
    try unsafe bytes.withKeyBytes { bytes throws(E) in
      try unsafe body(
        UnsafeRawBufferPointer(rebasing: bytes[place.start..<middle]),
        UnsafeRawBufferPointer(rebasing: bytes[middle..<middle + place.valueLength]))
    }
  }
}
