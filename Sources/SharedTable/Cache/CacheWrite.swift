import TableEngine

/// One write: what is stored, and what of a claim has to hold for it.
@usableFromInline @unsafe
struct CacheWrite {
  /// The element's key in the table, prefix included.
  @usableFromInline let key: UnsafeRawBufferPointer
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let form: StoredForm
  @usableFromInline let cost: Int?
  @usableFromInline let expires: Expiration

  @inlinable
  init(
    key: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer, form: StoredForm, cost: Int?, expires: Expiration
  ) {
    unsafe self.key = key
    unsafe self.bytes = bytes
    unsafe self.form = form
    unsafe self.cost = cost
    unsafe self.expires = expires
  }
}
