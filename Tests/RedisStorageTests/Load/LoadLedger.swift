import StorageSPI
import Synchronization

/// What writers have stored, for readers to compare with what they get. Each entry has one writer, which counts its
/// changes from 1.
final class LoadLedger: Sendable {
  /// What is known of an entry before or after a read.
  struct Account {
    /// The last change that the store has confirmed.
    var confirmed = 0
    /// The last change that was tried.
    var tried = 0
    /// The changes that removed the entry. It was not there in the beginning.
    fileprivate var removals: Set<Int> = [0]
  }

  let entries: Int
  private let seed: UInt64
  private let accounts: Mutex<[Account]>

  init(entries: Int, seed: UInt64) {
    (self.entries, self.seed) = (entries, seed)
    accounts = Mutex(Array(repeating: Account(), count: entries))
  }

  /// Notes that a change is tried, and returns its number.
  func tries(_ entry: Int, isRemoval: Bool) -> Int {
    accounts.withLock { accounts in
      accounts[entry].tried += 1
      if isRemoval { accounts[entry].removals.insert(accounts[entry].tried) }
      return accounts[entry].tried
    }
  }

  /// Notes that the store has confirmed the change.
  func confirms(_ entry: Int, _ change: Int) { accounts.withLock { $0[entry].confirmed = change } }

  func account(of entry: Int) -> Account { accounts.withLock { $0[entry] } }

  /// The payload that `change` stores: other bytes and another length than before.
  func payload(_ entry: Int, _ change: Int) -> [UInt8] {
    let number = SeededGenerator.mixed(seed ^ UInt64(entry) << 32 ^ UInt64(change))
    let head = Array("\(entry) \(change) ".utf8)
    return head + [UInt8](repeating: UInt8(truncatingIfNeeded: number) | 0x80, count: 1_000 + Int(number >> 8 % 14_000))
  }

  /// What is wrong with `found`, which a read of `entry` got; `nil` if it is what the entry was at some moment of the read.
  ///
  /// - Parameters:
  ///   - before: the account when the read began.
  ///   - mayVanish: whether the server may drop entries.
  func objection(_ entry: Int, _ found: [UInt8]?, since before: Account, mayVanish: Bool) -> String? {
    let after = account(of: entry)
    let possible = before.confirmed...after.tried
    guard let found else {
      let isRemoved = mayVanish || after.removals.contains { possible.contains($0) }
      return isRemoved ? nil : "entry \(entry) is not there, although it has change \(before.confirmed)"
    }
    let words = found.prefix(24).split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count > 2, let change = Int(words[1]), found == payload(entry, change), !after.removals.contains(change)
    else { return "entry \(entry) has bytes that were not written" }
    return possible.contains(change) ? nil : "entry \(entry) has change \(change), and not one of \(possible)"
  }
}
