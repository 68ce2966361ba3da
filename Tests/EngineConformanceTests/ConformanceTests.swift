import Foundation
import EngineConformance
import EngineAPI
import Testing

/// An engine and a check, as a test's argument.
struct Case: Sendable, CustomTestStringConvertible {
  let plugin: any StoragePlugin
  let check: ConformanceCheck

  var testDescription: String { "\(plugin.declaration.name): \(check.name)" }

  /// Every check over every engine, without the checks that an engine does not claim to pass.
  static let all: [Case] = TestedEngines.all.flatMap { plugin in
    ConformanceSuite.checks
      .filter { plugin.declaration.capabilities.isSuperset(of: $0.requiredCapabilities) }
      .map { Case(plugin: plugin, check: $0) }
  }
}

/// How the suite is run: `CONFORMANCE_ROUNDS` times the work, with the seed `CONFORMANCE_SEED`.
enum Effort {
  static let rounds = number("CONFORMANCE_ROUNDS")
  static let seed = UInt64(number("CONFORMANCE_SEED"))

  private static func number(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.map { max($0, 1) } ?? 1
  }
}

/// Runs checks over `plugin` in a folder that exists for the length of the call.
func run(_ plugin: any StoragePlugin, only checks: [ConformanceCheck]) async throws -> ConformanceReport {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let subject = try ConformanceSubject(plugin: plugin, scratchFolder: folder.path)
  return await ConformanceSuite.run(subject, only: checks, seed: Effort.seed, rounds: Effort.rounds)
}

@Suite("Every engine keeps the storage contract")
struct EngineConformanceTests {
  @Test(arguments: Case.all)
  func keepsContract(_ testCase: Case) async throws {
    let report = try await run(testCase.plugin, only: [testCase.check])
    let outcome = try #require(report.outcomes.first)
    #expect(outcome.result == .passed, "\(testCase.check.summary); seed \(report.seed): \(outcome.message)")
  }
}
