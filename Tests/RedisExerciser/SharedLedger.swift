import CacheBase
import Synchronization

/// The changes that processes have made to the entries of a store, in a file that all of them map. Readers compare what
/// they get with it.
///
/// Each entry has one writer, which counts its changes from 1. Change 0 is the absence at the beginning.
///
/// `@unchecked Sendable`: everything in the file is atomic.
final class SharedLedger: @unchecked Sendable {
  /// Counts that concern all entries.
  enum Total: Int, CaseIterable {
    /// Even: one server has the entries. Odd: it is being replaced by a replica.
    case epoch
    case seed, maxBytes
    /// How often something was found that cannot be.
    case objections
    /// How often a read found an older change than one that was confirmed, which a failover may lose.
    case outdated
    case changes, found, absent
  }

  /// The facts about each entry. `confirmed` and `seen` are stamps: see `Stamp`.
  enum Column: Int, CaseIterable {
    /// The last change that was tried.
    case tried
    /// The last change that the store has confirmed.
    case confirmed
    /// The highest change that a read has found.
    case seen
    /// A change that every failover keeps.
    case replicated
    /// No change up to this one can be found any more.
    case gone
    /// 1 if the server can drop the entry.
    case vanishes
    /// How many changes and reads have succeeded, and how many of both have failed.
    case changes, reads, failures
  }

  /// The number of a change, and the epoch in which it was tried or the read of it began.
  struct Stamp {
    let epoch: Int
    let change: Int

    init(epoch: Int, change: Int) {
      self.epoch = epoch
      self.change = change
    }

    fileprivate init(_ word: Int) { self.init(epoch: word >> 40, change: word & (1 << 40 - 1)) }
    fileprivate var word: Int { epoch << 40 | change }
  }

  let entries: Int
  private let words: UnsafeMutablePointer<Atomic<Int>>

  /// Maps the file at `path`, and creates it if `entries` are given.
  init(_ path: String, entries: Int? = nil) throws(CacheError) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    if let entries { ftruncate(file, Self.size(entries)) }
    let size = lseek(file, 0, SEEK_END)
    self.entries = (size / 8 - Total.allCases.count) / Column.allCases.count
    guard size > 0, let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), start != MAP_FAILED else {
      throw CacheError(.failed, "\(path): no ledger: errno \(errno)")
    }
    words = start.bindMemory(to: Atomic<Int>.self, capacity: size / 8)
  }

  deinit { munmap(words, Self.size(entries)) }

  private static func size(_ entries: Int) -> Int { 8 * (Total.allCases.count + entries * Column.allCases.count) }

  private func place(_ column: Column, _ entry: Int) -> Int {
    Total.allCases.count + entry * Column.allCases.count + column.rawValue
  }

  subscript(_ total: Total) -> Int {
    get { words[total.rawValue].load(ordering: .sequentiallyConsistent) }
    set { words[total.rawValue].store(newValue, ordering: .sequentiallyConsistent) }
  }

  subscript(_ column: Column, _ entry: Int) -> Int {
    get { words[place(column, entry)].load(ordering: .sequentiallyConsistent) }
    set { words[place(column, entry)].store(newValue, ordering: .sequentiallyConsistent) }
  }

  func add(_ total: Total) { words[total.rawValue].add(1, ordering: .sequentiallyConsistent) }

  func add(_ column: Column, _ entry: Int) { words[place(column, entry)].add(1, ordering: .sequentiallyConsistent) }

  func stamp(_ column: Column, _ entry: Int) -> Stamp { Stamp(self[column, entry]) }

  /// Raises a stamp. One of a later epoch is the higher one.
  func raise(_ column: Column, _ entry: Int, _ stamp: Stamp) {
    words[place(column, entry)].max(stamp.word, ordering: .sequentiallyConsistent)
  }
}

/// The part for changes.
extension SharedLedger {
  private func number(_ entry: Int, _ change: Int) -> UInt64 {
    SeededGenerator.mixed(UInt64(self[.seed]) ^ UInt64(entry) << 40 ^ UInt64(change))
  }

  /// Whether a change removes the entry.
  func isRemoval(_ entry: Int, _ change: Int) -> Bool { change == 0 || number(entry, change) % 10 == 0 }

  /// The payload that a change stores: other bytes and another length than before.
  func payload(_ entry: Int, _ change: Int) -> [UInt8] {
    let number = number(entry, change)
    let head = Array("\(entry) \(change) ".utf8)
    return head + [UInt8](repeating: UInt8(number >> 32 & 0xFF), count: Int(number >> 40) % self[.maxBytes])
  }
}

/// The part for reads.
extension SharedLedger {
  /// The facts about an entry when a read begins.
  struct Moment {
    fileprivate let epoch: Int
    fileprivate let confirmed: Stamp
    fileprivate let seen: Stamp
    fileprivate let gone: Int
  }

  func moment(of entry: Int) -> Moment {
    Moment(
      epoch: self[.epoch], confirmed: stamp(.confirmed, entry), seen: stamp(.seen, entry), gone: self[.gone, entry])
  }

  /// Records what a read has found that began at `before`: the change that made the entry, or `nil`.
  ///
  /// - Returns: why that is impossible; `nil` if the entry had this state at some moment of the read, or if a failover
  ///   explains it.
  func objection(_ entry: Int, _ found: Int?, since before: Moment) -> String? {
    add(.reads, entry)
    add(found == nil ? .absent : .found)
    let (tried, isSteady) = (self[.tried, entry], isSteady(since: before.epoch))
    var least = self[.replicated, entry]
    if isSteady, before.confirmed.epoch == before.epoch {
      least = max(least, before.confirmed.change)
    }
    if isSteady, before.seen.epoch == before.epoch { least = max(least, before.seen.change) }
    guard let found else {
      let isRemoved = self[.vanishes, entry] == 1 || (least...tried).contains { isRemoval(entry, $0) }
      return isRemoved ? nil : "entry \(entry) is not there, although it has change \(least)"
    }
    if found < before.confirmed.change { add(.outdated) }
    if isSteady { raise(.seen, entry, Stamp(epoch: before.epoch, change: found)) }
    if found <= before.gone {
      return "entry \(entry) has change \(found), which was removed with all up to \(before.gone)"
    }
    return (least...tried).contains(found)
      ? nil : "entry \(entry) has change \(found), and not one of \(least)...\(tried)"
  }

  /// Whether one server has had the entries since `epoch`.
  func isSteady(since epoch: Int) -> Bool { epoch % 2 == 0 && epoch == self[.epoch] }
}
