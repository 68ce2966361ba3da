extension WorkloadPhase {
  /// The operations with their cumulative shares, for a draw from 0 to 1; empty if the phase does other work.
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

  /// Whether the phase changes the store.
  var writes: Bool {
    switch kind {
    case .load, .expire: true
    case .open: false
    case .operations: share(of: .read) + share(of: .scan) < 1
    }
  }
}

extension Workload {
  /// The number of operations of a phase. For a load and for `expire` that is a number of entries, which for `expire`
  /// is an estimate.
  public func operations(of phase: WorkloadPhase) -> Int {
    switch phase.kind {
    case .load: entries
    case .expire: Int(Double(entries) * expiringShare)
    case .operations, .open: max(1, Int((Double(operations) * phase.operationsFactor).rounded()))
    }
  }

  /// The maximum number of entries after all phases.
  var capacity: Int {
    entries + phases.filter { $0.share(of: .insert) > 0 }.reduce(0) { $0 + operations(of: $1) }
  }

  /// Whether the workload reopens its store and expects it unchanged.
  var needsPersistence: Bool { phases.contains { $0.kind == .open } }
}
