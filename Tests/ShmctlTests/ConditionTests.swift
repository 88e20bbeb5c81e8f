import TestSupport
import Testing

@Suite struct ConditionTests {
  @Test func aKeyWithATimeToLiveEndsByItself() throws {
    let table = try TestTable()
    #expect(try table.run("set", "long", "v", "--ttl", "1h").status == 0)
    #expect(try table.run("set", "short", "v", "--ttl", "50ms").status == 0)
    #expect(try eventually { try table.run("get", "-q", "short").status == 1 })
    #expect(try table.run("get", "long").text == "v")
    #expect(try table.run("count").text == "1\n")
    #expect(try table.run("ls").text == "long\n")
    let expiry = try table.open().entry(forKey: "long")?.expiry ?? 0
    #expect(
      try table.run("get", "long", "--json").objects.first??["expiryMilliseconds"] as? UInt64 == expiry / 1_000_000)
  }

  @Test func ifAbsentStoresOnlyOnce() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "first", "--if-absent").status == 0)
    let run = try table.run("set", "k", "second", "--if-absent")
    #expect(run.status == 1)
    #expect(run.errors == "shmctl: table '\(table.name)': key 'k' exists already; nothing was stored\n")
    #expect(try table.run("get", "k").text == "first")
  }

  @Test func ifPresentStoresOnlyOverSomething() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "v", "--if-present").status == 1)
    try table.open().set("k", "old")
    #expect(try table.run("set", "k", "v", "--if-present").status == 0)
    #expect(try table.run("get", "k").text == "v")
  }

  @Test func ifVersionStoresOnlyOverTheVersionThatWasRead() throws {
    let table = try TestTable()
    try table.open().set("k", "old")
    let version = try #require(try table.run("get", "k", "--json").objects.first??["version"] as? Int)
    #expect(try table.run("set", "k", "new", "--if-version", "\(version)").status == 0)
    let run = try table.run("set", "k", "newer", "--if-version", "\(version)")
    #expect(run.status == 1)
    #expect(run.errors.contains("is not of version \(version)"))
    #expect(try table.run("get", "k").text == "new")
  }

  @Test func conditionsExcludeEachOther() throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "v", "--if-absent", "--if-version", "3").status == 2)
    #expect(try table.run("set", "k", "v", "--if-absent", "--if-present").status == 2)
    #expect(try table.open().count == 0)
  }

  @Test(arguments: ["0", "0s", "-5s", "5x", "s", "", "99999999999999999999s", "9999999999999999d"])
  func aTimeThatIsNoneIsAUsageError(time: String) throws {
    let table = try TestTable()
    #expect(try table.run("set", "k", "v", "--ttl", time).status == 2)
    #expect(try table.open().count == 0)
  }
}
