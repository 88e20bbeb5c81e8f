import SharedTable
import SharedTableTesting
import Testing

// What the page of this name shows. scripts/tidy.sh looks that it does.

struct Greeter {
  let table: Table

  func greet(_ name: String) throws -> String { "\(try table.get("greeting") ?? "Hello"), \(name)" }
}

@Test func greetsByDefault() throws {
  #expect(try Greeter(table: .temporary()).greet("Ann") == "Hello, Ann")
}

@Test(.temporaryTable()) func everyProcessSeesTheGreeting() async throws {
  let table = try Table.ofTest
  try await table.set("greeting", "Welcome")
  let other = try Table.open(table.name)  // as another process does, which is given the name
  #expect(try Greeter(table: other).greet("Ann") == "Welcome, Ann")
}

@Suite(.temporaryTable("stock", .init(variant: .rwlock))) struct StockTests {
  @Test func startsEmpty() throws { #expect(try Table.ofTest("stock").count == 0) }
}
