import Foundation
import SharedTable
import SharedTableFoundation
import Testing

/// What Foundation shows of an error of a table.
@Suite struct LocalizedErrorTests {
  @Test func theLocalizedDescriptionIsTheSentenceForPeople() {
    let error: any Error = TableError(.noSuchTable, table: "settings", "no such table; create it")
    #expect(error.localizedDescription == "table 'settings': no such table; create it")
  }
}
