/// Why stored bytes are no value of the type asked for.
@usableFromInline
struct ValueMismatch: Error {
  @usableFromInline let stored: UInt8
  @usableFromInline let wanted: ValueType
  @usableFromInline let layout: Bool

  @usableFromInline
  init(stored: UInt8, wanted: ValueType, layout: Bool) {
    self.stored = stored
    self.wanted = wanted
    self.layout = layout
  }

  var reason: String {
    if layout { return "has another layout than this program's \(wanted.name); migrate it in one barrier" }
    let stored = ValueType(rawValue: self.stored)?.name ?? "unknown type \(self.stored)"
    if stored == wanted.name { return "is of type \(stored), but its bytes are not valid as such; store it anew" }
    return "is of type \(stored), not \(wanted.name); read it as that type, or store it anew"
  }
}
