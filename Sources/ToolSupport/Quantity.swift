/// Digits and what follows them; nil without digits.
func splitQuantity(_ text: String) -> (Int, Substring)? {
  let digits = text.prefix { ("0"..."9").contains($0) }
  guard let number = Int(digits) else { return nil }
  return (number, text[digits.endIndex...])
}
