/// What a mirror's table holds, and in which form, as far as its settings say: the text of `UpstreamStatus.contents`.
package struct MirrorContents: Sendable, Equatable, CustomStringConvertible {
  package let valueForm: MirrorSettings.ValueForm
  /// What the keys over there begin with, and the table's do not.
  package let prefix: [UInt8]

  package init(_ settings: MirrorSettings) {
    valueForm = settings.valueForm
    prefix = settings.address.prefix
  }

  /// - Returns: nil for a text that says something else.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let valueForm = MirrorSettings.ValueForm(rawValue: String(words[0])),
      let prefix = MirrorAddress.decode(words[1])
    else { return nil }
    (self.valueForm, self.prefix) = (valueForm, prefix)
  }

  package var description: String { "\(valueForm.rawValue) \(MirrorAddress.text(of: prefix))" }
}
