/// Questions and removals by a condition, as Swift's own collections have them. Each looks at the elements of one section, one after
/// the other; its work grows with the collection, not with the table.
extension SharedDictionary {
  /// An element for which `predicate` holds, in one snapshot; nil if there is none. Which one of several is not defined.
  /// - Parameters:
  ///   - timeout: for the wait for the section; nil = the table's.
  ///   - predicate: called in the section until it returns true.
  /// - Throws: what `predicate` and ``forEach(timeout:_:)`` throw.
  @inlinable
  public func first(
    timeout: Duration? = nil, where predicate: (Key, Value) throws -> Bool
  ) throws -> (key: Key, value: Value)? {
    try table.read(timeout: timeout) { view in try first(in: view, where: predicate) }
  }

  /// An element for which `predicate` holds, as a section sees them; nil if there is none. In a barrier, `predicate` must not write.
  @inlinable
  public func first(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), where predicate: (Key, Value) throws -> Bool
  ) throws -> (key: Key, value: Value)? {
    var first: (key: Key, value: Value)?
    try visit(in: section) { key, value in
      if try predicate(key, value) { first = (key, value) }
      return first == nil
    }
    return first
  }

  /// At most so many elements of one snapshot: which, and in what order, is not defined. Looks no further then.
  @inlinable
  public func prefix(_ maxLength: Int) throws -> [(key: Key, value: Value)] {
    guard maxLength > 0 else { return [] }
    return try table.withSection { view in
      var elements: [(key: Key, value: Value)] = []
      try visit(in: view) { key, value in
        elements.append((key, value))
        return elements.count < maxLength
      }
      return elements
    }
  }

  /// Whether `predicate` holds for an element, in one snapshot.
  @inlinable
  public func contains(timeout: Duration? = nil, where predicate: (Key, Value) throws -> Bool) throws -> Bool {
    try first(timeout: timeout, where: predicate) != nil
  }

  /// Removes the elements for which `predicate` holds, in one barrier; if it throws, none.
  /// - Parameters:
  ///   - timeout: for the wait; nil = the table's.
  ///   - predicate: called for each element, alone on the host: keep it short.
  /// - Returns: how many they were.
  /// - Throws: what `predicate` and `remove(_:timeout:)` throw.
  @discardableResult
  @inlinable
  public func removeAll(timeout: Duration? = nil, where predicate: (Key, Value) throws -> Bool) throws -> Int {
    try store.place.barrier(timeout) { tx in try removeAll(in: &tx, where: predicate) }
  }

  /// Removes the elements for which `predicate` holds, as part of a barrier; `predicate` must not write.
  @discardableResult
  @inlinable
  public func removeAll(in tx: inout Transaction, where predicate: (Key, Value) throws -> Bool) throws -> Int {
    var keys: [Key] = []
    try forEach(in: tx) { key, value in
      if try predicate(key, value) { keys.append(key) }
    }
    return try store.remove(keys, in: &tx)
  }
}

extension SharedSet {
  /// An element for which `predicate` holds, in one snapshot; nil if there is none. Which one of several is not defined.
  /// - Parameters:
  ///   - timeout: for the wait for the section; nil = the table's.
  ///   - predicate: called in the section until it returns true.
  /// - Throws: what `predicate` and ``forEach(timeout:_:)`` throw.
  @inlinable
  public func first(timeout: Duration? = nil, where predicate: (Element) throws -> Bool) throws -> Element? {
    try table.read(timeout: timeout) { view in try first(in: view, where: predicate) }
  }

  /// An element for which `predicate` holds, as a section sees them; nil if there is none. In a barrier, `predicate` must not write.
  @inlinable
  public func first(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), where predicate: (Element) throws -> Bool
  ) throws -> Element? {
    var first: Element?
    try visit(in: section) { element in
      if try predicate(element) { first = element }
      return first == nil
    }
    return first
  }

  /// At most so many elements of one snapshot: which, and in what order, is not defined. Looks no further then.
  @inlinable
  public func prefix(_ maxLength: Int) throws -> [Element] {
    guard maxLength > 0 else { return [] }
    return try table.withSection { view in
      var elements: [Element] = []
      try visit(in: view) { element in
        elements.append(element)
        return elements.count < maxLength
      }
      return elements
    }
  }

  /// Whether `predicate` holds for an element, in one snapshot.
  @inlinable
  public func contains(timeout: Duration? = nil, where predicate: (Element) throws -> Bool) throws -> Bool {
    try first(timeout: timeout, where: predicate) != nil
  }

  /// Removes the elements for which `predicate` holds, in one barrier; if it throws, none.
  /// - Parameters:
  ///   - timeout: for the wait; nil = the table's.
  ///   - predicate: called for each element, alone on the host: keep it short.
  /// - Returns: how many they were.
  /// - Throws: what `predicate` and `subtract(_:timeout:)` throw.
  @discardableResult
  @inlinable
  public func removeAll(timeout: Duration? = nil, where predicate: (Element) throws -> Bool) throws -> Int {
    try store.place.barrier(timeout) { tx in try removeAll(in: &tx, where: predicate) }
  }

  /// Removes the elements for which `predicate` holds, as part of a barrier; `predicate` must not write.
  @discardableResult
  @inlinable
  public func removeAll(in tx: inout Transaction, where predicate: (Element) throws -> Bool) throws -> Int {
    var elements: [Element] = []
    try forEach(in: tx) { element in
      if try predicate(element) { elements.append(element) }
    }
    return try store.remove(elements, in: &tx)
  }
}

extension SharedArray {
  /// The first element for which `predicate` holds, in one snapshot; nil if there is none.
  /// - Parameters:
  ///   - timeout: for the wait for the section; nil = the table's.
  ///   - predicate: called in the section, in order, until it returns true.
  /// - Throws: what `predicate` and ``forEach(timeout:_:)`` throw.
  @inlinable
  public func first(timeout: Duration? = nil, where predicate: (Element) throws -> Bool) throws -> Element? {
    var first: Element?
    try table.read(timeout: timeout) { view in
      try visit(in: view) { _, element in
        if try predicate(element) { first = element }
        return first == nil
      }
    }
    return first
  }

  /// The index of the first element for which `predicate` holds, in one snapshot; nil if there is none. Another barrier may move the
  /// element at once: to change it, find it and change it in one barrier, by the form with `in:`.
  @inlinable
  public func firstIndex(timeout: Duration? = nil, where predicate: (Element) throws -> Bool) throws -> Int? {
    try table.read(timeout: timeout) { view in try firstIndex(in: view, where: predicate) }
  }

  /// The index of the first element for which `predicate` holds, as a section sees them; nil if there is none. In a barrier, `predicate` must
  /// not write.
  @inlinable
  public func firstIndex(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), where predicate: (Element) throws -> Bool
  ) throws -> Int? {
    var first: Int?
    try visit(in: section) { index, element in
      if try predicate(element) { first = index }
      return first == nil
    }
    return first
  }

  /// Whether `predicate` holds for an element, in one snapshot.
  @inlinable
  public func contains(timeout: Duration? = nil, where predicate: (Element) throws -> Bool) throws -> Bool {
    try firstIndex(timeout: timeout, where: predicate) != nil
  }

  /// Removes the elements for which `predicate` holds, in one barrier; if it throws, none. The others keep their order.
  /// - Parameters:
  ///   - timeout: for the wait; nil = the table's.
  ///   - predicate: called for each element in order, alone on the host: keep it short.
  /// - Returns: how many they were.
  /// - Throws: what `predicate` and `remove(at:timeout:)` throw.
  @discardableResult
  @inlinable
  public func removeAll(timeout: Duration? = nil, where predicate: (Element) throws -> Bool) throws -> Int {
    try tree.place.barrier(timeout) { tx in try removeAll(in: &tx, where: predicate) }
  }

  /// Removes the elements for which `predicate` holds, as part of a barrier; `predicate` must not write. The others keep their order.
  @discardableResult
  @inlinable
  public func removeAll(in tx: inout Transaction, where predicate: (Element) throws -> Bool) throws -> Int {
    var indices: [Int] = []
    try forEach(in: tx) { index, element in
      if try predicate(element) { indices.append(index) }
    }
    try tree.remove(indices[...], in: &tx)
    return indices.count
  }
}
