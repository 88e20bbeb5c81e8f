/// Digits and the unit that follows them, behind a space or not; nil without digits.
func splitQuantity(_ text: String) -> (Int, Substring)? {
  let digits = text.prefix { ("0"..."9").contains($0) }
  guard let number = Int(digits) else { return nil }
  let unit = text[digits.endIndex...]
  return (number, unit.count > 1 && unit.first == " " ? unit.dropFirst() : unit)
}
