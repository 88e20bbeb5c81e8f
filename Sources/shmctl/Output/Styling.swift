/// Whether what is printed for people has colours and other attributes.
enum Styling {
  /// `$NO_COLOR` turns them off, as <https://no-color.org> has it, and so does `color = never`.
  static var isWanted: Bool {
    CommonOptions.environment("NO_COLOR") == nil && ((try? Settings.current())?.color ?? true)
  }
}
