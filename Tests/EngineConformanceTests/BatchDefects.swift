import EngineAPI

/// Bugs in how an engine applies batches and updates, and judges their requirements.
enum BatchDefects {
  static let batches = [
    batching("removes nothing", ["random-calls"]) { [$0.filter { !$0.isRemoval }] },
    batching("removes first", ["random-calls"]) { [$0.filter(\.isRemoval) + $0.filter { !$0.isRemoval }] },
    batching("removes last", ["random-calls"]) { [$0.filter { !$0.isRemoval } + $0.filter(\.isRemoval)] },
    batching("works backwards", ["random-calls"]) { [$0.reversed()] },
    batching("one namespace a batch", ["random-calls"]) { all in
      [all.filter { $0.key.namespace == all.first?.key.namespace }]
    },
    batching("500 operations a batch", ["large-batch"]) { [Array($0.prefix(500))] },
    batching(
      "one operation at a time",
      ["random-calls", "concurrent-batches-whole"]
    ) { $0.map { [$0] } },
    batching("half when cancelled", ["cancelled-call"]) { [Task.isCancelled ? Array($0.prefix($0.count / 2)) : $0] },
  ]

  private static func batching(
    _ name: String, _ caughtBy: [String],
    _ change: @escaping @Sendable ([WriteBatch.Operation]) -> [[WriteBatch.Operation]]
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      batches: { batch, _ in
        batch.operations.isEmpty ? [batch] : change(batch.operations).map { WriteBatch($0, within: batch.bounds) }
      })
  }

  /// Replaces each update; `nil` leaves it out.
  private static func updating(
    _ name: String, _ caughtBy: [String],
    _ change:
      @escaping @Sendable (CacheKey, EntryMetadata, UInt64, _ there: EntryMetadata?) -> WriteBatch.Operation?
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      batches: { batch, base throws(CacheError) in
        var operations: [WriteBatch.Operation] = []
        for operation in batch.operations {
          guard case .update(let key, let metadata, let checksum) = operation else {
            operations.append(operation)
            continue
          }
          let there = try await base.read(key) { _, metadata in metadata }
          if let changed = change(key, metadata, checksum, there) { operations.append(changed) }
        }
        return [WriteBatch(operations, within: batch.bounds)]
      })
  }

  /// Keeps a part of the metadata that an update should replace.
  private static func keeping(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (inout EntryMetadata, EntryMetadata) -> Void
  ) -> Defect {
    updating(name, caughtBy) { key, metadata, checksum, there in
      var metadata = metadata
      if let there { change(&metadata, there) }
      return .update(key, metadata, from: checksum)
    }
  }

  static let updates = [
    updating("an update empties the payload", ["random-calls"]) {
      key, metadata, _, _ in .put(key, payload: [], metadata)
    },
    updating("an update does nothing", ["random-calls"]) { _, _, _, _ in nil },
    updating("an update takes any version", ["versions", "random-calls"]) { key, metadata, checksum, there in
      .update(key, metadata, from: there?.checksum ?? checksum)
    },
    updating("an update of nothing succeeds", ["versions"]) { key, metadata, checksum, there in
      there == nil ? nil : .update(key, metadata, from: checksum)
    },
    updating("an update compares 63 bits", ["versions"]) { key, metadata, checksum, there in
      .update(key, metadata, from: there.map { $0.checksum ^ checksum == 1 << 63 ? $0.checksum : checksum } ?? checksum)
    },
    keeping("an update keeps attributes", ["random-calls"]) {
      $0.attributes.merge($1.attributes) { new, _ in new }
    },
    keeping("an update keeps the content type", ["random-calls"]) { $0.contentType = $1.contentType },
    keeping("an update keeps the payload's checksum", ["random-calls"]) {
      $0.payloadChecksum = $1.payloadChecksum
    },
    keeping("an update keeps the end", ["random-calls"]) {
      $0.retainUntil = $1.retainUntil
    },
    Defect(
      name: "updates last", caughtBy: ["random-calls"],
      batches: { batch, _ in
        let operations = batch.operations.filter { !$0.isUpdate } + batch.operations.filter(\.isUpdate)
        return [WriteBatch(operations, within: batch.bounds)]
      }),
    Defect(
      name: "an update counts as one more entry", caughtBy: ["random-calls"],
      batches: { batch, _ in
        var changed = batch
        changed.bounds = batch.bounds.map {
          let entries = max(0, $0.maxEntries - batch.operations.count { $0.isUpdate })
          return StoreBounds(
            maxEntries: entries, maxPayloadBytes: $0.maxPayloadBytes, exemptNamespace: $0.exemptNamespace)
        }
        return [changed]
      }),
  ]

  static var requirements: [Defect] {
    var ignoring = batching(
      "ignores requirements",
      ["random-calls", "versions", "concurrent-counter"]
    ) { [$0.filter { !$0.isRequirement }] }
    ignoring.onRead = { _, _ throws(CacheError) in for _ in 0..<3 { await Task.yield() } }
    let first = batching("requirements first", ["random-calls"]) {
      [$0.filter(\.isRequirement) + $0.filter { !$0.isRequirement }]
    }
    let zero = Defect(
      name: "an entry with the checksum 0 is absent", caughtBy: ["versions"],
      batches: { batch, base throws(CacheError) in
        var operations: [WriteBatch.Operation] = []
        for operation in batch.operations {
          var isHidden = false
          if case .require(let key, .absent) = operation {
            isHidden = try await base.read(key) { _, metadata in metadata.checksum == 0 } ?? false
          }
          if !isHidden { operations.append(operation) }
        }
        return [WriteBatch(operations, within: batch.bounds)]
      })
    let never = batching("no requirement holds", ["random-calls", "concurrent-counter"]) {
      [$0.flatMap { $0.isRequirement ? [$0, .require($0.key, .absent), .require($0.key, .checksum(0))] : [$0] }]
    }
    let silent = Defect(
      name: "says nothing of a conflict", caughtBy: ["random-calls"],
      batchError: { $0.code == .conflict ? nil : $0 })
    let vague = Defect(
      name: "a conflict is just a failure", caughtBy: ["versions"],
      batchError: { _ in CacheError(.failed, "something went wrong") })
    return [ignoring, first, zero, never, silent, vague]
  }
}
