extension UInt8 {
  /// What stands between the words of a line and at its ends: a space, a tab, or the carriage return of a line that ends in two bytes.
  public var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0d }
}

extension BidirectionalCollection {
  /// Without the blanks at both ends.
  public func trimmed(of isBlank: (Element) -> Bool) -> SubSequence {
    guard let last = lastIndex(where: { !isBlank($0) }) else { return self[endIndex...] }
    return self[...last].drop(while: isBlank)
  }
}
