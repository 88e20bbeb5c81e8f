extension FoundEntry {
  /// What is stored beside the value's bytes, for tools that carry values from one table to another.
  ///
  /// The alignment is what the entry provides, which may be more than what its type asked for: an entry whose value is
  /// aligned by itself does not keep what was asked.
  package var carriedAttributes: ValueAttributes {
    let provided = meta.valueOffset.trailingZeroBitCount
    let shift = meta.alignmentShift > 0 ? meta.alignmentShift : fingerprint != 0 ? min(4, provided) : 0
    return ValueAttributes(type: meta.type, expiry: expiry, fingerprint: fingerprint, alignmentShift: shift)
  }
}
