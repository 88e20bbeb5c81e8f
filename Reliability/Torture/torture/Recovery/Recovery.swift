extension Group {
  static let recovery = Group(
    number: 3, title: "Recovery time, check and repair",
    columns: ["what", "variant", "keys", "in flight", "work", "pages", "µs"], items: RecoveryTime.items + Repair.items)
}
