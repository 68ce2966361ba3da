public import EngineAPI

/// The storage contract as a list of named checks.
///
/// The author of an engine runs them all in one test:
///
///     let subject = try ConformanceSubject(plugin: MyPlugin(), scratchFolder: folder)
///     let report = await ConformanceSuite.run(subject)
///     #expect(report.failures.isEmpty)
public enum ConformanceSuite {
  /// All checks, the simplest first.
  public static let checks: [ConformanceCheck] = [
    DeclarationChecks.all, CallChecks.all, ValueChecks.all, ScanChecks.all, ConcurrencyChecks.all, ClosingChecks.all,
    StoreChecks.all, ChangeChecks.all, RandomChecks.all,
  ].flatMap { $0 }

  /// The check called `name`; `nil` if there is none.
  public static func check(named name: String) -> ConformanceCheck? { checks.first { $0.name == name } }

  /// Runs checks over an engine, one after the other, each on its own store.
  ///
  /// The whole suite takes some seconds with an engine that syncs to disk, and up to 200 MB of memory and of disk
  /// space.
  ///
  /// - Parameters:
  ///   - subject: the engine, and the folder for its stores.
  ///   - checks: the checks to run; all by default.
  ///   - seed: the seed of all random choices.
  ///   - rounds: the amount of work in random and concurrent checks, 1 or more: twice the rounds, twice the work.
  ///   - progress: called with the outcome of each check.
  /// - Returns: the result of each check. A check that cannot be made counts as failed. If the task is cancelled, the
  ///   remaining checks are missing.
  public static func run(
    _ subject: ConformanceSubject, only checks: [ConformanceCheck] = Self.checks, seed: UInt64 = 1, rounds: Int = 1,
    progress: (ConformanceOutcome) -> Void = { _ in }
  ) async -> ConformanceReport {
    var outcomes: [ConformanceOutcome] = []
    let run = UInt64.random(in: 1 ... .max)
    for check in checks {
      if Task.isCancelled { break }
      let context = ConformanceContext(
        subject: subject, check: check.name, seed: seed, run: run, rounds: rounds)
      let outcome = ConformanceOutcome(check: check, result: await result(of: check, in: context))
      progress(outcome)
      outcomes.append(outcome)
    }
    return ConformanceReport(backend: subject.plugin.declaration.name, seed: seed, outcomes: outcomes)
  }

  private static func result(of check: ConformanceCheck, in context: ConformanceContext) async -> ConformanceResult {
    let missing = check.requiredCapabilities.first { !context.subject.capabilities.contains($0) }
    if let missing { return .skipped(missing: missing) }
    var problem = await failure { try await check.body(context) }
    for engine in context.handles.all {
      let closing = await failure { try await engine.close() }
      problem = problem ?? closing
    }
    let leftover = await failure { try await context.removeLeftovers() }
    problem = problem ?? leftover.map { "the store cannot be emptied afterwards: \($0)" }
    return problem.map { .failed($0) } ?? .passed
  }

  private static func failure(of body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch let failure as ConformanceFailure {
      return failure.description
    } catch let error as CacheError {
      return "unexpected error \(error.description)"
    } catch {
      return "unexpected error \(error)"
    }
  }
}

/// One sentence of the storage contract, and the code that checks whether an engine keeps it.
public struct ConformanceCheck: Sendable {
  /// The check's name in kebab case, unique in the suite.
  public let name: String

  /// The expectation of an engine, in one line without a final full stop.
  public let summary: String

  /// The capabilities that an engine needs for the check to apply, in the order in which they are examined.
  public let requiredCapabilities: [EngineCapability]

  let body: @Sendable (ConformanceContext) async throws -> Void

  init(
    _ name: String, _ summary: String, requires: [EngineCapability] = [],
    _ body: @escaping @Sendable (ConformanceContext) async throws -> Void
  ) {
    self.name = name
    self.summary = summary
    self.requiredCapabilities = requires
    self.body = body
  }
}

extension ConformanceCheck: CustomStringConvertible {
  /// The check's name.
  public var description: String { name }
}

/// A breach of the contract: the expected and the actual behavior, in one line without a final full stop.
struct ConformanceFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// How a check ended.
public enum ConformanceResult: Sendable, Hashable {
  /// The engine does what the check expects.
  case passed
  /// It does not; the message says what it does, in one line without a final full stop.
  case failed(String)
  /// The engine does not claim the capability that the check is about.
  case skipped(missing: EngineCapability)
}

/// A check and its result.
public struct ConformanceOutcome: Sendable {
  /// The check.
  public let check: ConformanceCheck
  /// The result.
  public let result: ConformanceResult

  /// The result's name: "passed", "failed" or "skipped".
  public var name: String {
    switch result {
    case .passed: "passed"
    case .failed: "failed"
    case .skipped: "skipped"
    }
  }

  /// The result's explanation in one line; empty if the check passed.
  public var message: String {
    switch result {
    case .passed: ""
    case .failed(let message): message
    case .skipped(let capability): "the engine does not declare \(capability.rawValue)"
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

  /// The number of checks that passed.
  public var passed: Int { outcomes.count { $0.result == .passed } }

  /// The number of checks that were skipped.
  public var skipped: Int { outcomes.count - passed - failures.count }

  /// The checks that failed.
  public var failures: [ConformanceOutcome] {
    outcomes.filter { if case .failed = $0.result { true } else { false } }
  }
}
