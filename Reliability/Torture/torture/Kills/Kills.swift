import SharedTable
import TestSupport

extension Group {
  static let kills = Group(
    number: 2, title: "Killed beside living peers",
    columns: ["window", "variant", "instructions", "kill points", "longest wait, ms", "failures"],
    items: KillWindow.allCases.flatMap { window in
      Table.Variant.allCases.filter { KillWindow.isOf(window, $0) }.map { item(window, $0) }
    } + [StopMatrix.item])

  private static func item(_ window: KillWindow, _ variant: Table.Variant) -> Item {
    Item("kills.\(window.rawValue)-\(variant)", "a kill at each instruction of: \(window.rawValue)") { run in
      try withTableName { name in
        let table = try Table.create(name, .init(variant: variant, capacityBytes: 8 << 20), timeout: .seconds(30))
        try KillMatrix(run, window, table).perform()
      }
    }
  }
}
