/// What a mirror's table holds, and in which form, as far as its settings say: the text of `UpstreamStatus.contents`.
package struct MirrorContents: Sendable, Equatable, CustomStringConvertible {
  package let valueForm: MirrorSettings.ValueForm
  /// What the keys over there begin with, and the table's do not.
  package let prefix: [UInt8]
  package let leases: MirrorSettings.Leases

  package init(_ settings: MirrorSettings) {
    valueForm = settings.valueForm
    prefix = settings.address.prefix
    leases = settings.leases
  }

  /// - Returns: nil for a text that says something else.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let leases = words.count > 2 ? MirrorSettings.Leases(rawValue: String(words[2])) : .keep
    guard (2...3).contains(words.count), let leases,
      let valueForm = MirrorSettings.ValueForm(rawValue: String(words[0])),
      let prefix = MirrorAddress.decode(words[1])
    else { return nil }
    (self.valueForm, self.prefix, self.leases) = (valueForm, prefix, leases)
  }

  package var description: String {
    // As it was before there were leases: such a table need not be read anew.
    "\(valueForm.rawValue) \(MirrorAddress.text(of: prefix))\(leases == .keep ? "" : " \(leases.rawValue)")"
  }
}
