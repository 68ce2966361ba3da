internal import StorageSPI
internal import Synchronization

/// Where the next search for index lines without an entry begins, by part.
final class RedisTidying: Sendable {
  fileprivate let positions = Mutex<[Int: String]>([:])
}

extension RedisStore {
  /// How many index lines to check in one step, during which the server answers no other client.
  private static let linesPerStep = 1_000
  /// How many steps a write takes if the server has no room.
  private static let stepsPerWrite = 4

  /// Forgets index lines of `parts` whose entries the server has evicted, and returns whether there were any. Cost: up
  /// to four round trips for each part; the next call continues where this one ends.
  func tidy(_ parts: Set<Int>) throws(CacheError) -> Bool {
    var count = 0
    for part in parts {
      var position = tidying.positions.withLock { $0[part] ?? "-" }
      for _ in 0..<Self.stepsPerWrite {
        let step = try tidy(part, from: position)
        count += step.forgotten
        position = step.next ?? "-"
        if step.next == nil { break }
      }
      let reached = position
      tidying.positions.withLock { $0[part] = reached }
    }
    return count > 0
  }

  /// Forgets all index lines of `part` whose entries the server has evicted. Cost: a round trip for each 1,000 lines.
  func tidy(_ part: Int) throws(CacheError) {
    var position: String? = "-"
    while let from = position { position = try tidy(part, from: from).next }
  }

  private func tidy(_ part: Int, from: String) throws(CacheError) -> (forgotten: Int, next: String?) {
    let arguments = [from, String(Self.linesPerStep)].map { Array($0.utf8) }
    let answer = try router.perform(
      RedisRequest(part, .tidy, keys: layout.tables(of: part), arguments: arguments, isChange: true))
    guard let values = answer.elements, values.count == 2, let forgotten = values[0].integer, let next = values[1].text
    else { throw router.undecodable("tidying gives no count") }
    return (Int(forgotten), next.isEmpty ? nil : next)
  }
}
