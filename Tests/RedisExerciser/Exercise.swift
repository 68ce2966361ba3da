import CacheBase
import CacheCore
import EngineAPI

/// Changes and reads entries of a store, and compares the results with the ledger.
struct Exercise: Sendable {
  let engine: any StorageEngine
  let ledger: SharedLedger

  /// An entry as a read found it.
  struct Found: Sendable {
    var metadata: EntryMetadata
    /// The change that made the entry, and the one that stored its payload: an update keeps the payload.
    var change: Int
    var payload: Int
  }

  /// The state that the writer of an entry expects.
  enum Belief {
    case unknown
    case known(Found?, epoch: Int)
  }

  /// A few entries share a group, and with it a slot of a cluster.
  static func key(_ entry: Int) throws(CacheError) -> CacheKey { try CacheKey("cities/\(entry / 8),\(entry % 8)") }

  /// Prints a line at once, even if the output is not a terminal.
  static func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }

  private func object(_ text: String) {
    ledger.add(.objections)
    Self.say("WRONG \(text)")
  }

  /// Reads an entry. An impossible result is printed, and counted in the ledger.
  @discardableResult
  func read(_ entry: Int) async throws(CacheError) -> Found? {
    let (key, before) = (try Self.key(entry), ledger.moment(of: entry))
    let found = try await engine.read(key) { bytes, metadata throws(CacheError) in
      guard let change = metadata.attributes["change"].flatMap({ Int($0) }),
        let payload = metadata.attributes["payload"].flatMap({ Int($0) }), !ledger.isRemoval(entry, change),
        metadata.isIntact(key: key, payload: bytes),
        bytes.withUnsafeBufferPointer({ $0.elementsEqual(ledger.payload(entry, payload)) })
      else {
        object("entry \(entry) has bytes that were not written together: \(metadata)")
        return Found(metadata: metadata, change: 0, payload: 0)
      }
      return Found(metadata: metadata, change: change, payload: payload)
    }
    if let objection = ledger.objection(entry, found?.change, since: before) { object(objection) }
    return found
  }

  /// Makes the next change to an entry, which nobody else changes: stores it, replaces or updates it, or removes it.
  ///
  /// - Returns: the entry after the change.
  func change(
    _ entry: Int, _ belief: Belief, _ random: inout SeededGenerator
  ) async throws(CacheError) -> Belief {
    var held: Found?
    var since = ledger[.epoch]
    switch belief {
    case .unknown: held = try await read(entry)
    case .known(let found, let epoch):
      held = found
      since = epoch
    }
    let key = try Self.key(entry)
    let (number, epoch) = (ledger[.tried, entry] + 1, ledger[.epoch])
    let isConditional = Bool.random(using: &random)
    var (batch, next) = (WriteBatch(), Found?.none)
    if isConditional { batch.require(key, held.map { .checksum($0.metadata.checksum) } ?? .absent) }
    if ledger.isRemoval(entry, number) {
      batch.remove(key)
    } else if let held, Int.random(in: 0..<4, using: &random) == 0 {
      let update = found(entry, number, payload: held.payload)
      batch.update(key, metadata: update.metadata, from: held.metadata.checksum)
      next = update
    } else {
      let new = found(entry, number, payload: number)
      batch.put(key, payload: ledger.payload(entry, number), metadata: new.metadata)
      next = new
    }
    ledger[.tried, entry] = number
    do throws(CacheError) {
      try await engine.apply(batch)
    } catch {
      guard error.code == .conflict else { throw error }
      // The server has dropped the entry, or a failover has undone a change.
      if ledger[.vanishes, entry] == 0, since == epoch, ledger.isSteady(since: epoch) {
        object("entry \(entry): change \(number) met a conflict, and nobody else changes it")
      }
      return .unknown
    }
    ledger.raise(.confirmed, entry, SharedLedger.Stamp(epoch: epoch, change: number))
    ledger.add(.changes, entry)
    ledger.add(.changes)
    return .known(next, epoch: epoch)
  }

  /// The entry as `change` makes it.
  private func found(_ entry: Int, _ change: Int, payload: Int) -> Found {
    let now = SystemClock().now
    let end = now.advanced(by: .seconds(7 * 86_400))
    // The attributes differ in length, so that some updates move the bytes after the payload.
    var metadata = EntryMetadata(
      storedAt: now, freshUntil: end, retainUntil: end, contentType: "text/plain",
      attributes: ["change": "\(change)", "payload": "\(payload)", "note": String(repeating: "x", count: change % 3)])
    if let key = try? Self.key(entry) { metadata.setChecksums(key: key, payload: ledger.payload(entry, payload).span) }
    return Found(metadata: metadata, change: change, payload: payload)
  }
}

/// The time of day.
struct SystemClock: WallClock {
  var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
