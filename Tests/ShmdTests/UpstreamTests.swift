#if !Etcd
  import Testing

  @testable import ShmdCore

  /// A daemon that was built without the trait `Etcd`.
  @Suite struct UpstreamTests {
    @Test func anUpstreamIsRefusedWithItsLine() throws {
      let refusal = #expect(throws: Refusal.self) {
        _ = try ConfigurationReader.parse("tables:\n  - name: a\n    upstream: etcd://db:2379/app/", file: "f")
      }
      #expect(
        refusal?.problems.map(\.description) == [
          "f:3: upstream: this shmd was built without etcd; build it with '--traits Etcd', or remove the key"
        ])
    }
  }
#endif
