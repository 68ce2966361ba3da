extension WorkloadPhase {
  /// Which operations there are and the share up to each one, for a draw from 0 to 1; empty if the phase does
  /// something else.
  var cumulativeShares: [(operation: WorkloadOperation, share: Double)] {
    guard case .operations(let shares) = kind else { return [] }
    var sum = 0.0
    return WorkloadOperation.allCases.compactMap { operation in
      guard let share = shares[operation], share > 0 else { return nil }
      sum += share
      return (operation, sum)
    }
  }

  /// The share of an operation, from 0 to 1.
  func share(of operation: WorkloadOperation) -> Double {
    guard case .operations(let shares) = kind else { return 0 }
    return shares[operation] ?? 0
  }

  /// Whether the phase changes what is stored.
  var writes: Bool {
    switch kind {
    case .load, .expire: true
    case .open: false
    case .operations: share(of: .read) + share(of: .scan) < 1
    }
  }
}

extension Workload {
  /// The number of operations of a phase: of entries for a load and for `expire`, which is an estimate there.
  public func operations(of phase: WorkloadPhase) -> Int {
    switch phase.kind {
    case .load: entries
    case .expire: Int(Double(entries) * expiringShare)
    case .operations, .open: max(1, Int((Double(operations) * phase.operationsFactor).rounded()))
    }
  }

  /// The greatest number of entries that there may be after all phases.
  var capacity: Int {
    entries + phases.filter { $0.share(of: .insert) > 0 }.reduce(0) { $0 + operations(of: $1) }
  }

  /// Whether the workload opens its store again and expects it to be as it was left.
  var needsPersistence: Bool { phases.contains { $0.kind == .open } }
}
