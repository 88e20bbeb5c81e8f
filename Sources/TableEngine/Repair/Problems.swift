/// What a check found to be wrong, one sentence each. A class, so that a message may be made from what else a check
/// counts while it is noted.
public final class Problems {
  public static let maximum = 50

  private(set) var list: [String] = []

  func note(_ problem: String) { expect(false, problem) }

  func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
    if !condition, list.count < Self.maximum { list.append(problem()) }
  }
}
