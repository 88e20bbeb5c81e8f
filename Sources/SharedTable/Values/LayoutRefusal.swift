@_spi(Reflection) import Swift

/// A struct has a field that cannot be shared.
struct LayoutRefusal: Error, CustomStringConvertible {
  let description: String
}
