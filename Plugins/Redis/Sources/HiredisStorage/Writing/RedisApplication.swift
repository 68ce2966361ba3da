internal import StorageSPI

/// Applies a batch to one part of a store: the request, and the meaning of its answer.
struct RedisApplication: Sendable {
  enum Mode: Sendable {
    /// Reports how applying would end, and changes nothing.
    case check(exempt: String?)
    /// Makes the changes, unless the bounds would be exceeded.
    case apply(RedisBounds?)
  }

  enum Outcome {
    case done
    case conflict(CacheKey)
    case over
  }

  /// The outcome.
  struct Verdict {
    let outcome: Outcome
    /// By how much the part has grown, or would grow, outside the exempt namespace; negative if it shrinks.
    let growth: SlotTally.Count
    /// Whether entries may still be counted that the server has dropped.
    let isStale: Bool
  }

  let part: Int
  let batch: RedisBatch
  let mode: Mode
  /// The name under which the server remembers the batch: if it is sent again, it must not undo what others have done
  /// since. `nil` if it changes nothing.
  let name: RedisBatchName?
  /// The name under which the changes are published; empty if they are not.
  let publisher: String
  /// Whether it takes samples of the index: one put in so many, and each batch of several.
  private let takesSample: Bool

  init(_ batch: RedisBatch, part: Int, _ mode: Mode, name: RedisBatchName?, publisher: String = "") {
    (self.part, self.batch, self.mode, self.name, self.publisher) = (part, batch, mode, name, publisher)
    let puts = batch.changes.values.count { if case .put = $0 { true } else { false } }
    takesSample = puts > 1 || puts == 1 && Int.random(in: 0..<RedisScript.putsPerSample) == 0
  }

  /// The request to the server, the same for each attempt.
  ///
  /// - Throws: `CacheError`: `tooLarge`.
  func request(_ options: RedisOptions) throws(CacheError) -> RedisRequest {
    let layout = options.layout
    guard layout.isIndexed else { return try unindexedRequest(options) }
    var (checksums, values) = ([[UInt8]](), [[UInt8]]())
    var (required, put, removed) = ([String](), [String](), [String]())
    for (key, expectation) in batch.requirements {
      required.append(layout.name(of: key, in: part))
      checksums.append(expectation.bytes)
    }
    for (key, change) in batch.changes {
      switch change {
      case .remove: removed.append(layout.name(of: key, in: part))
      case .put(let payload, let metadata):
        put.append(layout.name(of: key, in: part))
        values.append(try RedisEntry.encode(key, payload, metadata))
        values += [
          Self.slots(of: metadata), String(payload.count, radix: 16),
          String(metadata.retainUntil.milliseconds),
        ].map { Array($0.utf8) }
      }
    }
    let counts = [required.count, put.count, removed.count].map { String($0) }
    let head = header(options) + counts + [publisher]
    return RedisRequest(
      part, .apply, keys: layout.tables(of: part) + required + put + removed,
      arguments: head.map { Array($0.utf8) } + checksums + values, isChange: name != nil)
  }

  /// The largest payload, in bytes, that it is worth sending twice in the worst case.
  private static let largestPlainPayload = 16_384
  /// A store with bounds for fewer entries has room for few after it has evicted some.
  private static let fewestBounds = 256

  /// The request to make first. The answer is nil if `request(_:)` must be made after all.
  ///
  /// - Throws: `CacheError`: `tooLarge`.
  func firstRequest(_ options: RedisOptions) throws(CacheError) -> RedisRequest {
    if let put = try putRequest(options) { return put }
    return try request(options)
  }

  /// The request to store one entry, if that is likely to be all there is to do; else `nil`.
  private func putRequest(_ options: RedisOptions) throws(CacheError) -> RedisRequest? {
    guard case .apply(let bounds) = mode, options.layout.isIndexed, !takesSample,
      batch.changes.count == 1, let (key, change) = batch.changes.first, case .put(let payload, let metadata) = change,
      batch.requirements.allSatisfy({ $0.key == key }), batch.requirements.count <= 1,
      payload.count <= Self.largestPlainPayload, metadata.retainUntil < .distantFuture
    else { return nil }
    var limits = ["", ""]
    if let bounds {
      let (limit, held) = (bounds.bounds, bounds.held ?? SlotTally.Count())
      guard key.namespace != limit.exemptNamespace,
        !limit.areExceeded(by: held + SlotTally.Count(entries: 1, payloadBytes: payload.count)),
        limit.maxEntries >= Self.fewestBounds, limit.maxPayloadBytes / Self.fewestBounds >= payload.count
      else { return nil }
      if bounds.held == nil { limits = [String(limit.maxEntries), String(limit.maxPayloadBytes)] }
    }
    let (namespace, slots) = (key.namespace, Self.slots(of: metadata))
    let (writer, number, remembered) = (name?.writer ?? "", name?.number ?? 0, Self.remembered(options) / 1_000)
    let texts = [
      "\(key.text) \(slots) \(String(payload.count, radix: 16))", "\(namespace) \(slots)", "\(namespace)/",
      String(payload.count), String(metadata.retainUntil.milliseconds), "@\(writer)", String(number),
      String(remembered), publisher,
    ]
    let expected = batch.requirements.first.map(\.expectation.bytes) ?? Array("any".utf8)
    let arguments = [try RedisEntry.encode(key, payload, metadata)] + texts.map { Array($0.utf8) } + [expected]
    return RedisRequest(
      part, .put, keys: options.layout.tables(of: part) + [options.layout.name(of: key, in: part)],
      arguments: arguments + limits.map { Array($0.utf8) }, isChange: true)
  }

  /// The slots of an entry's times, as in its line.
  private static func slots(of metadata: EntryMetadata) -> String {
    let slot = SlotTally.Slot(namespace: "", metadata)
    return "\(String(slot.freshSlot, radix: 16)) \(String(slot.retainSlot, radix: 16))"
  }

  /// The request to a store without tables, which has no bounds either.
  private func unindexedRequest(_ options: RedisOptions) throws(CacheError) -> RedisRequest {
    let layout = options.layout
    var (put, removed, values) = ([String](), [String](), [[UInt8]]())
    for (key, change) in batch.changes {
      switch change {
      case .remove: removed.append(layout.name(of: key))
      case .put(let payload, let metadata):
        put.append(layout.name(of: key))
        values.append(try RedisEntry.encode(key, payload, metadata))
        values.append(Array(String(metadata.retainUntil.milliseconds).utf8))
      }
    }
    let required = batch.requirements.map { layout.name(of: $0.key) }
    let counts = [required.count, put.count, removed.count].map { String($0) }
    let head = ["\(layout.prefix):"] + names(options) + counts + [publisher]
    return RedisRequest(
      part, .store, keys: [layout.record(of: name?.writer ?? "")] + required + put + removed,
      arguments: head.map { Array($0.utf8) } + batch.requirements.map(\.expectation.bytes) + values, isChange: true)
  }

  /// The writer and the number of its batch, and for how many milliseconds the server remembers them.
  private func names(_ options: RedisOptions) -> [String] {
    return [name?.writer ?? "", name.map { String($0.number) } ?? "", String(Self.remembered(options))]
  }

  /// For how many milliseconds a server remembers a batch: for longer than it is tried again.
  private static func remembered(_ options: RedisOptions) -> Int64 {
    max(60_000, 2 * options.timeout.components.seconds * 1_000)
  }

  private func header(_ options: RedisOptions) -> [String] {
    let (names, apply) = (names(options), takesSample ? "sample" : "apply")
    switch mode {
    case .check(let exempt): return ["check"] + names + ["", "", exempt ?? "", "", ""]
    case .apply(nil): return [apply] + names + ["", "", "", "", ""]
    case .apply(let bounds?):
      let held = bounds.held.map { [String($0.entries), String($0.payloadBytes)] } ?? ["", ""]
      return [apply] + names + [
        String(bounds.bounds.maxEntries), String(bounds.bounds.maxPayloadBytes), bounds.bounds.exemptNamespace ?? "",
      ] + held
    }
  }

  /// The meaning of `answer`; `nil` if it is not one of the scripts' answers.
  func verdict(_ answer: RedisValue) -> Verdict? {
    if let change = answer.elements, change.count == 2, let entries = change[0].integer, let bytes = change[1].integer {
      let growth = SlotTally.Count(entries: Int(entries), payloadBytes: Int(bytes))
      return Verdict(outcome: .done, growth: growth, isStale: false)
    }
    guard let values = answer.elements, values.count == 4, let first = values[1].number.map({ Int($0) }),
      let second = values[2].number, let isStale = values[3].number
    else { return nil }
    let growth = SlotTally.Count(entries: first, payloadBytes: Int(second))
    switch values[0].text {
    case "done": return Verdict(outcome: .done, growth: growth, isStale: false)
    case "over": return Verdict(outcome: .over, growth: growth, isStale: isStale == 1)
    case "conflict" where batch.requirements.indices.contains(first - 1):
      return Verdict(
        outcome: .conflict(batch.requirements[first - 1].key), growth: SlotTally.Count(), isStale: false)
    default: return nil
    }
  }
}

/// The bounds of a batch, and what all parts hold; `nil` if there is only one.
struct RedisBounds: Sendable {
  let bounds: StoreBounds
  var held: SlotTally.Count?
}

extension WriteBatch.Expectation {
  /// The bytes of the checksum that the script expects; empty if it expects no entry.
  var bytes: [UInt8] {
    switch self {
    case .absent: []
    case .checksum(let checksum): (0..<8).reversed().map { UInt8(truncatingIfNeeded: checksum >> ($0 * 8)) }
    }
  }
}
