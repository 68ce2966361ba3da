import MemoryStorage
import StorageConformance
import StorageSPI
import Synchronization
import TestStorage
import Testing

@Suite("The suite itself")
struct SuiteTests {
  @Test func namesAreDistinctAndInKebabCase() {
    let names = ConformanceSuite.checks.map(\.name)
    #expect(Set(names).count == names.count)
    for name in names { #expect(name.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(name)") }
  }

  @Test func summariesAreOneLine() {
    for check in ConformanceSuite.checks {
      #expect(!check.summary.isEmpty && !check.summary.hasSuffix("."), "\(check.name)")
      #expect(check.summary.utf8.count <= 100, "\(check.name)")
    }
  }

  @Test func skipsWhatAnEngineDoesNotClaim() async throws {
    let check = try #require(ConformanceSuite.check(named: "reopen-keeps-all"))
    let report = try await run(MemoryPlugin(), only: [check])
    #expect(report.outcomes.map(\.result) == [.skipped(missing: .persistent)])
    #expect(report.outcomes.map(\.message) == ["the engine does not declare persistent"])
    #expect((report.passed, report.failures.count, report.skipped) == (0, 0, 1))
  }

  @Test("Of an engine with bounds of its own nothing is expected of those of a batch")
  func exemptsFromBounds() async throws {
    let defect = Defect(
      name: "own bounds", caughtBy: [],
      declaration: { $0.with($0.capabilities.union([.ownBounds]).subtracting([.eviction])) }, bounds: { _ in nil })
    let report = try await run(DefectivePlugin(defect), only: ConformanceSuite.checks)
    #expect(report.failures.map(\.check.name) == [])
    let exempt = report.outcomes.filter { $0.result == .exempt(by: .ownBounds) }
    #expect(exempt.count == 13 && exempt.allSatisfy { $0.check.name.contains("bounds") && $0.name == "skipped" })
    #expect(exempt.first?.message == "the engine declares own-bounds")
  }

  @Test func reportsProgressInOrder() async throws {
    let checks = Array(ConformanceSuite.checks.prefix(3))
    let subject = try ConformanceSubject(plugin: MemoryPlugin(), scratchFolder: "/unused")
    var seen: [String] = []
    let report = await ConformanceSuite.run(subject, only: checks) { seen.append($0.check.name) }
    #expect(seen == checks.map(\.name))
    #expect((report.backend, report.passed) == ("memory", 3))
  }

  @Test func rejectsOptionsThatDoNotFit() throws {
    for values: [String: OptionValue] in [["unknown": .boolean(true)], ["durability": .text("eternal")]] {
      let error = #expect(throws: CacheError.self) {
        try ConformanceSubject(plugin: RegistryPlugin(), values: values, scratchFolder: "/unused")
      }
      #expect(error?.code == .invalidOption)
    }
  }

  @Test func neverOpensTheCallersPath() async throws {
    let paths = Recorder()
    var defect = Defect(name: "records paths", caughtBy: [])
    defect.path = { paths.add($0) }
    let values = ["path": OptionValue.text("/precious")]
    let subject = try ConformanceSubject(plugin: DefectivePlugin(defect), values: values, scratchFolder: "/scratch")
    let check = try #require(ConformanceSuite.check(named: "remove"))
    let report = await ConformanceSuite.run(subject, only: [check])
    #expect(report.passed == 1)
    #expect(paths.all == ["/scratch/remove/store/path"])
  }

  @Test("The generator gives the numbers of SplitMix64's reference implementation")
  func generator() {
    var generator = SeededGenerator(seed: 1_234_567)
    let expected: [UInt64] = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
    #expect((0..<3).map { _ in generator.next() } == expected)
  }

  @Test func clockMovesOnlyWhenAdvanced() {
    let clock = ManualClock(Timestamp(milliseconds: 5))
    #expect(clock.now.milliseconds == 5)
    clock.advance(by: .milliseconds(7))
    #expect(clock.now.milliseconds == 12)
    clock.set(.distantFuture)
    clock.advance(by: .seconds(1))
    #expect(clock.now == .distantFuture)
  }
}

/// Remembers texts.
private final class Recorder: Sendable {
  private let texts = Mutex<[String]>([])

  var all: [String] { texts.withLock { $0 } }

  func add(_ text: String) -> String {
    texts.withLock { $0.append(text) }
    return text
  }
}
