import Foundation
import MemoryStorage
import EngineConformance
import EngineAPI
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

  @Test func skipsChecksOfUnclaimedCapabilities() async throws {
    let check = try #require(ConformanceSuite.check(named: "durability-modes"))
    let report = try await run(MemoryPlugin(), only: [check])
    #expect(report.outcomes.map(\.result) == [.skipped(missing: .persistent)])
    #expect(report.outcomes.map(\.message) == ["the engine does not declare persistent"])
    #expect((report.passed, report.failures.count, report.skipped) == (0, 0, 1))
  }

  @Test("An engine that is not bounded may ignore the bounds of a batch")
  func skipsBounds() async throws {
    let defect = Defect(
      name: "unbounded", caughtBy: [], declaration: { $0.with($0.capabilities.subtracting([.bounded])) },
      batches: { batch, _ in [WriteBatch(batch.operations, within: nil)] })
    let checks = ConformanceSuite.checks.filter { $0.name.contains("bounds") || $0.name.hasPrefix("random") }
    let report = try await run(DefectivePlugin(defect), only: checks)
    #expect(report.failures.map(\.check.name) == [])
    #expect(report.skipped == 1)
  }

  @Test(
    "An engine without a bug passes every check, and so does one that gives entries in no order, some of them twice")
  func passesWithoutBugs() async throws {
    let none = Defect(name: "none", caughtBy: [])
    #expect(try await run(DefectivePlugin(none), only: ConformanceSuite.checks).problems == [])
    let unordered = Defect(
      name: "unordered", caughtBy: [], declaration: { $0.with($0.capabilities.subtracting([.ordered])) },
      page: { request, base throws(CacheError) in
        if request.isDescending { throw CacheError(.unsupported, "it has no order") }
        var request = request
        request.isDescending = true
        var page = try await base.scan(request)
        if let first = page.entries.first, request.limit > page.entries.count, !request.includesPayloads {
          page.entries.append(first)
        }
        return page
      })
    #expect(try await run(DefectivePlugin(unordered), only: ConformanceSuite.checks).problems == [])
  }

  @Test("The engine on the page about writing one passes every check")
  func theDocumentedEnginePasses() async throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let code = try String(contentsOf: tests.appending(path: "ListEngine.swift"), encoding: .utf8)
    let page = try String(contentsOf: tests.appending(path: "../../docs/writing-an-engine.md"), encoding: .utf8)
    #expect(page.contains("```swift\n\(code)```"), "copy ListEngine.swift into the page")
    #expect(try await run(ListPlugin(), only: ConformanceSuite.checks).problems == [])
  }

  @Test func reportsProgressInOrder() async throws {
    let checks = Array(ConformanceSuite.checks.prefix(3))
    let subject = try ConformanceSubject(plugin: MemoryPlugin(), scratchFolder: "/unused")
    var seen: [String] = []
    let report = await ConformanceSuite.run(subject, only: checks) { seen.append($0.check.name) }
    #expect(seen == checks.map(\.name))
    #expect((report.backend, report.passed, report.skipped) == ("memory", 2, 1))
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
    let check = try #require(ConformanceSuite.check(named: "read-calls-body-once"))
    let report = await ConformanceSuite.run(subject, only: [check])
    #expect(report.passed == 1)
    #expect(paths.all == ["/scratch/read-calls-body-once/store/path"])
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

extension ConformanceReport {
  /// The failed checks with their messages.
  fileprivate var problems: [String] { failures.map { "\($0.check.name): \($0.message)" } }
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
