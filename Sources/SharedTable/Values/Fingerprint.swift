/// Tells stored forms apart: FNV-1a over what a form is made of (Fowler, Noll and Vo, RFC 9923). Never 0, which stands for
/// a type that has only one form.
struct Fingerprint {
  private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Folds in a text and its end.
  mutating func fold(_ text: String) { fold(text.utf8) }

  mutating func fold(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    hash = (hash ^ 0xff) &* 0x0000_0100_0000_01b3
  }

  var value: UInt64 { hash | 1 }

  /// The fingerprint of a stored form that has a name and no layout to take apart.
  static func named(_ name: String) -> UInt64 {
    var fingerprint = Fingerprint()
    fingerprint.fold(name)
    return fingerprint.value
  }
}
