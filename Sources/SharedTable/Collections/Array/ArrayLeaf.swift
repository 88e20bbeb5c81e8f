import TableEngine

/// A run of encoded elements: a leaf that is being changed, or what is to be inserted into one.
@usableFromInline
struct ArrayLeaf: Sendable {
  /// Where each element ends in `data`.
  private(set) var ends: [Int] = []
  /// The elements, each followed by zeros up to where the next one may begin.
  private(set) var data: [UInt8] = []
  let alignment: Int

  @usableFromInline var count: Int { ends.count }

  @usableFromInline
  init(alignment: Int) { self.alignment = alignment }

  /// Elements for an array.
  /// - Throws: what an element throws that cannot be written; `tooLarge`.
  @inlinable
  init<Element: TableValue>(_ elements: some Sequence<Element>, for tree: ArrayTree) throws(TableError) {
    self.init(alignment: tree.alignment)
    for element in elements {
      try unsafe element.withTableBytes { bytes throws(TableError) in try unsafe append(bytes, for: tree) }
    }
  }

  /// A leaf of one element.
  init(bytes: UnsafeRawBufferPointer, alignment: Int) {
    self.alignment = alignment
    unsafe append(bytes)
  }

  static func alignment<Element: TableValue>(of type: Element.Type) -> Int {
    1 << StoredForm(of: Element.self).alignmentShift
  }

  /// Nil if the node is no leaf, or its ends contradict each other.
  init?(_ node: borrowing ArrayNodeSpan, alignment: Int) {
    self.alignment = alignment
    guard node.level == 0 else { return nil }
    let data = node.dataStart..<max(node.dataStart, node.span.byteCount)
    ends.reserveCapacity(node.count)
    for index in 0..<node.count {
      guard let range = node.range(index, alignment: alignment) else { return nil }
      ends.append(range.upperBound - data.lowerBound)
    }
    guard data.count == roundUp(ends.last ?? 0, to: alignment) else { return nil }
    unsafe node.span.withUnsafeBytes { bytes in self.data = unsafe [UInt8](bytes[data]) }
  }

  var bytes: [UInt8] {
    let start = ArrayNodeSpan.dataStart(count)
    var bytes = [UInt8](repeating: 0, count: start)
    bytes.reserveCapacity(start + data.count)
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: UInt32(count), toByteOffset: 4, as: UInt32.self)
      for (index, end) in ends.enumerated() {
        unsafe bytes.storeBytes(of: UInt32(end), toByteOffset: 8 + 4 * index, as: UInt32.self)
      }
    }
    bytes.append(contentsOf: data)
    return bytes
  }

  // MARK: - Changes

  @usableFromInline
  mutating func append(_ bytes: UnsafeRawBufferPointer, for tree: ArrayTree) throws(TableError) {
    try tree.checkLength(bytes.count)
    unsafe append(bytes)
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    unsafe data.append(contentsOf: bytes)
    ends.append(data.count)
    pad()
  }

  /// Puts the elements of `run` in place of `range`.
  mutating func replace(_ range: Range<Int>, with run: ArrayLeaf) {
    let old = start(range.lowerBound)..<start(range.upperBound)
    data.replaceSubrange(old, with: run.data)
    let shift = run.data.count - old.count
    for index in range.upperBound..<count { ends[index] += shift }
    ends.replaceSubrange(range, with: run.ends.lazy.map { $0 + old.lowerBound })
  }

  mutating func append(_ run: ArrayLeaf) { replace(count..<count, with: run) }

  /// Removes the elements at some places, which ascend and are there.
  /// - Parameter first: what the first place is called.
  mutating func remove(_ places: some Collection<Int>, first: Int) {
    var kept = ArrayLeaf(alignment: alignment)
    var next = 0
    for place in places {
      if next < place - first { kept.append(slice(next..<place - first)) }
      next = place - first + 1
    }
    if next < count { kept.append(slice(next..<count)) }
    self = kept
  }

  /// The elements of `range` as a run of their own.
  func slice(_ range: Range<Int>) -> ArrayLeaf {
    var slice = ArrayLeaf(alignment: alignment)
    let first = start(range.lowerBound)
    slice.data = Array(data[first..<start(range.upperBound)])
    slice.ends = ends[range].map { $0 - first }
    return slice
  }

  /// Itself, or, if it holds more than a leaf may, the leaves that take its place.
  ///
  /// - Parameter filling: whether leaves are filled to the brim: for elements that came in at the end, where more will
  ///   follow, and for many at once. Otherwise it is cut in the middle.
  func leaves(_ limits: ArrayLimits, filling: Bool) -> [ArrayLeaf] {
    if limits.admitLeaf(count, data.count) { return count == 0 ? [] : [self] }
    let halves = !filling && count <= 2 * limits.leafElements && data.count <= 2 * limits.leafBytes
    let most = halves && count > limits.leafElements ? (count + 1) / 2 : limits.leafElements
    let mostBytes = halves && data.count > limits.leafBytes ? (data.count + 1) / 2 : limits.leafBytes
    var leaves: [ArrayLeaf] = []
    var first = 0
    for index in 1...count {
      let isFull = index - first == most || index == count || start(index + 1) - start(first) > mostBytes
      guard isFull else { continue }
      leaves.append(slice(first..<index))
      first = index
    }
    return leaves
  }

  private func start(_ index: Int) -> Int { index == 0 ? 0 : roundUp(ends[index - 1], to: alignment) }

  private mutating func pad() {
    while data.count % alignment != 0 { data.append(0) }
  }
}
