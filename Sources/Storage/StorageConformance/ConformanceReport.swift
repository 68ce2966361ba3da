public import StorageSPI

/// How a check ended.
public enum ConformanceResult: Sendable, Hashable {
  /// The engine does what the check expects.
  case passed
  /// It does not; the message says what it does, in one line without a final full stop.
  case failed(String)
  /// The engine does not claim the capability that the check is about.
  case skipped(missing: EngineCapability)
  /// The engine declares that it does not do what the check is about.
  case exempt(by: EngineCapability)
}

/// A check and its result.
public struct ConformanceOutcome: Sendable {
  /// The check.
  public let check: ConformanceCheck
  /// The result.
  public let result: ConformanceResult

  /// The result of `check`.
  public init(check: ConformanceCheck, result: ConformanceResult) {
    self.check = check
    self.result = result
  }

  /// The result's name: "passed", "failed" or "skipped".
  public var name: String {
    switch result {
    case .passed: "passed"
    case .failed: "failed"
    case .skipped, .exempt: "skipped"
    }
  }

  /// The result's explanation in one line; empty if the check passed.
  public var message: String {
    switch result {
    case .passed: ""
    case .failed(let message): message
    case .skipped(let capability): "the engine does not declare \(capability.rawValue)"
    case .exempt(let capability): "the engine declares \(capability.rawValue)"
    }
  }
}

/// The results of all checks over one engine.
public struct ConformanceReport: Sendable {
  /// The name of the engine.
  public let backend: String
  /// The seed of all random choices; the same seed repeats the run.
  public let seed: UInt64
  /// The checks in the order of the suite, each with its result.
  public let outcomes: [ConformanceOutcome]

  /// A report of these outcomes.
  public init(backend: String, seed: UInt64, outcomes: [ConformanceOutcome]) {
    self.backend = backend
    self.seed = seed
    self.outcomes = outcomes
  }

  /// The number of checks that passed.
  public var passed: Int { outcomes.count { $0.result == .passed } }

  /// The number of checks that were skipped.
  public var skipped: Int { outcomes.count - passed - failures.count }

  /// The checks that failed.
  public var failures: [ConformanceOutcome] {
    outcomes.filter { if case .failed = $0.result { true } else { false } }
  }
}
