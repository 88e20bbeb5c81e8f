/// What is wrong in a file of another program's form, and where.
struct PlainProblem: Error {
  let place: String
  let message: String

  init(line: Int, _ message: String) {
    place = "line \(line)"
    self.message = message
  }

  init(byte: Int, _ message: String) {
    place = "at byte \(byte)"
    self.message = message
  }
}
