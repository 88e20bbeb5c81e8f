import SharedTable
import Synchronization

// What the page of this name shows. scripts/tidy.sh looks that it does.

// MARK: - With locks

final class Account: Sendable {
  private let cents: Mutex<Int>

  init(_ cents: Int) { self.cents = Mutex(cents) }

  func read<R: Sendable>(_ body: (Int) throws -> R) rethrows -> R { try cents.withLock { try body($0) } }

  func write<R: Sendable>(_ body: (inout Int) throws -> R) rethrows -> R { try cents.withLock { try body(&$0) } }
}

struct TooLittle: Error {}

func transfer(_ amount: Int, from: Account, to: Account) throws {
  try from.write { cents in
    guard cents >= amount else { throw TooLittle() }
    cents -= amount
  }
  to.write { cents in cents += amount }
}

// MARK: - With a table

struct HostAccount: Sendable {
  let cents: Guarded<Int>

  init(_ name: String, in table: Table) { cents = Guarded(name, in: table, default: 0) }

  var balance: ReadAccessor<Int> { cents.accessor { $0 } }

  func deposit(_ amount: Int) -> Accessor<Void> { cents.accessor { $0 += amount } }

  func withdraw(_ amount: Int) -> Accessor<Void> {
    cents.accessor { cents in
      guard cents >= amount else { throw TooLittle() }
      cents -= amount
    }
  }
}

func transfer(_ amount: Int, from: HostAccount, to: HostAccount) throws {
  _ = try from.withdraw(amount).zip(to.deposit(amount)).accessSync()
}

func sum(_ first: HostAccount, _ second: HostAccount) throws -> Int {
  try first.balance.zip(second.balance).map { $0 + $1 }.accessSync()
}
