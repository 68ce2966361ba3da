import StorageSPI

/// Bugs in how an engine applies batches, and judges what they require.
enum BatchDefects {
  static let batches = [
    batching("removes nothing", ["remove", "random-calls"]) {
      [$0.filter { !$0.isRemoval }]
    },
    batching("removes first", ["batch-put-remove"]) { [$0.filter(\.isRemoval) + $0.filter { !$0.isRemoval }] },
    batching("removes last", ["batch-remove-put"]) { [$0.filter { !$0.isRemoval } + $0.filter(\.isRemoval)] },
    batching("works backwards", ["batch-put-twice"]) { [$0.reversed()] },
    batching("one namespace a batch", ["batch-mixed-namespaces"]) { all in
      [all.filter { $0.key.namespace == all.first?.key.namespace }]
    },
    batching("500 operations a batch", ["batch-of-a-thousand"]) { [Array($0.prefix(500))] },
    batching(
      "one operation at a time",
      [
        "failed-batch-one-namespace", "failed-batch-many-namespaces", "failed-batch-persistent", "failed-batch-large",
        "engine-works-after-failure", "concurrent-batches-whole", "shared-batches-whole", "shared-failed-batch",
        "random-calls",
      ]
    ) { $0.map { [$0] } },
    batching("half when cancelled", ["cancelled-call"]) { [Task.isCancelled ? Array($0.prefix($0.count / 2)) : $0] },
  ]

  private static func batching(
    _ name: String, _ caughtBy: [String],
    _ change: @escaping @Sendable ([WriteBatch.Operation]) -> [[WriteBatch.Operation]]
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      batches: { batch in
        batch.operations.isEmpty ? [batch] : change(batch.operations).map { WriteBatch($0, within: batch.bounds) }
      })
  }

  static var requirements: [Defect] {
    var ignoring = batching(
      "ignores requirements",
      [
        "require-absent-unmet", "require-checksum-unmet", "require-checksum-of-absent", "require-alone",
        "concurrent-counter", "shared-counter", "random-calls",
      ]
    ) { [$0.filter { !$0.isRequirement }] }
    ignoring.onRead = { _, _ throws(CacheError) in for _ in 0..<3 { await Task.yield() } }
    let first = batching("requirements first", ["require-sees-own-batch", "random-calls"]) {
      [$0.filter(\.isRequirement) + $0.filter { !$0.isRequirement }]
    }
    let never = batching("no requirement holds", ["require-met", "concurrent-counter", "shared-counter"]) {
      [$0.flatMap { $0.isRequirement ? [$0, .require($0.key, .absent), .require($0.key, .checksum(0))] : [$0] }]
    }
    let silent = Defect(
      name: "says nothing of a conflict",
      caughtBy: ["require-absent-unmet", "require-alone", "random-calls", "eviction-conflict"],
      batchError: { $0.code == .conflict ? nil : $0 })
    let vague = Defect(
      name: "a conflict is just a failure", caughtBy: ["require-checksum-unmet"],
      batchError: { _ in CacheError(.failed, "something went wrong") })
    return [ignoring, first, never, silent, vague]
  }
}

extension WriteBatch {
  /// A batch of `operations` with the given bounds.
  init(_ operations: [Operation], within bounds: StoreBounds?) {
    self.init()
    self.bounds = bounds
    for operation in operations {
      switch operation {
      case .put(let key, let payload, let metadata): put(key, payload: payload, metadata: metadata)
      case .remove(let key): remove(key)
      case .require(let key, let expectation): require(key, expectation)
      }
    }
  }
}

extension WriteBatch.Operation {
  fileprivate var key: CacheKey {
    switch self {
    case .put(let key, _, _), .remove(let key), .require(let key, _): key
    }
  }

  fileprivate var isRemoval: Bool { if case .remove = self { true } else { false } }
  fileprivate var isRequirement: Bool { if case .require = self { true } else { false } }
}
