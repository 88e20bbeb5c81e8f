import Glibc

/// Prometheus' own judge of its text format, where it is installed (Debian package prometheus).
public enum Promtool {
  private static let path = "/usr/bin/promtool"

  /// What it says against a text; nil if nothing, or if it is not installed, which is said.
  public static func complaint(about text: String) throws -> String? {
    guard access(path, X_OK) == 0 else {
      print("promtool is not installed: figures are judged by the tests' own parser alone")
      return nil
    }
    let tool = try WorkerProcess(path, ["check", "metrics"], timeoutSeconds: 60)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { try tool.send(String(line)) }
    tool.closeInput()
    let exit = try tool.wait()
    let said = tool.standardError
    return exit == .code(0) && said.isEmpty ? nil : "\(exit): \(said)"
  }
}
