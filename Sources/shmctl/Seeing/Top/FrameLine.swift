import ToolSupport

/// A line on the screen.
struct FrameLine: Equatable {
  enum Style: Equatable {
    case plain, title, heading, alarm, faint
  }

  var text: String
  var style = Style.plain

  /// For a terminal; without colour and other attributes for pipes and where `NO_COLOR` is set.
  func rendered(isStyled: Bool) -> String {
    guard isStyled, !text.isEmpty else { return text }
    switch style {
    case .plain: return text
    case .title: return "\u{1b}[1m\(text)\u{1b}[m"
    case .heading: return "\u{1b}[7m\(text)\u{1b}[m"
    case .alarm: return "\u{1b}[31m\(text)\u{1b}[m"
    case .faint: return "\u{1b}[2m\(text)\u{1b}[m"
    }
  }
}
