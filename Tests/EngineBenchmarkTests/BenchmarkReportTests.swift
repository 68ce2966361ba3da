import Foundation
import EngineAPI
import Testing

@testable import EngineBenchmark

struct BenchmarkReportTests {
  static let environment = BenchmarkEnvironment(
    date: Fixtures.date, machine: BenchmarkMachine(),
    engines: [BenchmarkEnvironment.Engine(name: "a", version: "1", hasDurability: true)], durability: .normal,
    seed: .max, threads: 2, processes: 1, rounds: 5, warmUpRounds: 1, targetRate: 1_000.5, facts: ["cachectl": "1.0"])

  /// A result of the workload "w" whose rounds had so many operations a second.
  static func result(
    _ backend: String, _ throughputs: [Double], phase: String = "run", histogram: LatencyHistogram? = nil,
    reference: [Double] = [5]
  ) -> BenchmarkResult {
    let rounds = throughputs.enumerated().map { index, throughput in
      BenchmarkMeasurement.Round(
        operations: throughput > 0 ? 1_000 : 0, seconds: throughput > 0 ? 1_000 / throughput : 1,
        processorSeconds: 0.25,
        peakMemoryBytes: nil, storageBytes: 77,
        referenceSeconds: reference.isEmpty ? nil : reference[index % reference.count] / 1_000)
    }
    let latency = LatencySummary(count: 3, mean: 1_501, p50: 1_001, p90: 2_000, p99: 3_000, p999: 4_000, max: 5_000)
    return BenchmarkResult(
      row: row(backend, phase),
      outcome: .measured(BenchmarkMeasurement(rounds: rounds, latency: latency, histogram: histogram)))
  }

  static func row(_ backend: String, _ phase: String = "run") -> BenchmarkResult.Row {
    BenchmarkResult.Row(backend: backend, workload: "w", phase: phase, entries: 10)
  }

  static func report(_ results: [BenchmarkResult]) -> BenchmarkReport {
    BenchmarkReport(environment: environment, results: results, isComplete: true)
  }

  static let everyOutcome: [BenchmarkResult] = [
    result("a", [100, 200, 400]), BenchmarkResult(row: row("b"), outcome: .wrong("lost \"it\"\n")),
    BenchmarkResult(row: row("c"), outcome: .failed("gone")), BenchmarkResult(row: row("d"), outcome: .skipped("no")),
  ]

  @Test func aReportReadsBackAsItself() throws {
    var histogram = LatencyHistogram()
    for value in [1, 1, 300, 70_000, 9_000_000_000] as [UInt64] { histogram.record(value) }
    var report = Self.report(Self.everyOutcome + [Self.result("e", [3], histogram: histogram)])
    #expect(try BenchmarkReport(json: report.json(includingHistograms: true), file: "r") == report)
    report.results[4] = Self.result("e", [3])
    #expect(try BenchmarkReport(json: report.json(), file: "r") == report)
    report.isComplete = false
    report.environment.targetRate = nil
    #expect(try BenchmarkReport(json: report.json(), file: "r") == report)
  }

  @Test func theJSONIsThatOfTheContract() throws {
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(Self.report(Self.everyOutcome).json())) as? [String: Any])
    #expect(json["environment"] is [String: Any])
    let results = try #require(json["results"] as? [[String: Any]])
    let first = results[0]
    #expect(first["backend"] as? String == "a" && first["workload"] as? String == "w")
    #expect(first["phase"] as? String == "run" && first["operations"] as? Int == 3_000)
    #expect(first["seconds"] as? Double == 17.5 && first["operationsPerSecond"] as? Double == 200)
    let latency = try #require(first["latencyMicroseconds"] as? [String: Double])
    #expect(latency["p50"] == 1.001 && latency["p90"] == 2 && latency["p99"] == 3)
    #expect(latency["p999"] == 4 && latency["max"] == 5)
    #expect(first["storageBytes"] as? Int == 77 && first["peakMemoryBytes"] is NSNull)
    #expect(first["correct"] as? Bool == true && first["processorSeconds"] as? Double == 0.75)
    let wrong = results[1]
    #expect(wrong["correct"] as? Bool == false && wrong["reason"] as? String == "lost \"it\"\n")
    #expect(wrong["operationsPerSecond"] is NSNull && wrong["latencyMicroseconds"] is NSNull)
  }

  @Test func anotherProgramsMembersArePassedOver() throws {
    let text = String(decoding: Self.report([]).json(), as: UTF8.self)
    let more = text.replacing("\"version\": 1,", with: "\"version\": 1, \"more\": [1, {}],")
    #expect(try BenchmarkReport(json: Array(more.utf8), file: "r") == Self.report([]))
  }

  @Test(arguments: [
    ("\"version\": 1", "\"version\": 2", "newer version"), ("\"normal\"", "\"norma\"", "full, normal, relaxed"),
    ("\"complete\": true", "\"complete\": 1", "true or false"), ("\"results\"", "\"result\"", "has no \"results\""),
    ("\"outcome\": \"wrong\"", "\"outcome\": \"bad\"", "measured, wrong, failed or skipped"),
    ("\"p50\": 1.001", "\"p50\": -1", "number"), ("2026-01-01", "2026-13-01", "RFC 3339"),
    ("\"18446744073709551615\"", "\"x\"", "64 bits"),
  ])
  func mistakesNameTheirPlace(part: String, replacement: String, message: String) {
    let text = String(decoding: Self.report(Self.everyOutcome).json(), as: UTF8.self)
    #expect(text.contains(part))
    let error = #expect(throws: CacheError.self) {
      try BenchmarkReport(json: Array(text.replacing(part, with: replacement).utf8), file: "old.json")
    }
    #expect(
      error?.message.hasPrefix("old.json:") == true && error?.description.contains(message) == true, "\(error as Any)")
  }

  @Test func aReportCutShortIsAnError() {
    let bytes = Self.report(Self.everyOutcome).json()
    for count in stride(from: 0, to: bytes.count - 2, by: 7) {
      #expect(throws: CacheError.self, "cut after \(count) bytes") {
        try BenchmarkReport(json: Array(bytes.prefix(count)), file: "r")
      }
    }
  }

  @Test(arguments: [([3.0], 3.0), ([1, 3], 2), ([5, 1, 3], 3), ([10, 10, 11, 12, 90], 11)] as [([Double], Double)])
  func theSpreadIsAroundTheMedian(figures: [Double], median: Double) throws {
    let spread = try #require(Spread(figures))
    #expect(spread.median == median)
    #expect(spread.minimum == figures.min() && spread.maximum == figures.max())
    #expect(Spread([]) == nil)
  }

  /// The numbers of the figures at the ends, counted from 1, from the tables of the binomial distribution for one half.
  @Test(
    arguments: [
      (1, nil), (4, nil), (5, 1...5), (8, 1...8), (9, 2...8), (10, 2...9), (12, 3...10), (20, 6...15), (100, 41...60),
      (1_000, 471...530),
    ] as [(Int, ClosedRange<Double>?)])
  func theIntervalOfTheMedianIsThatOfTheSignTest(count: Int, interval: ClosedRange<Double>?) {
    #expect(Spread((1...count).map(Double.init).shuffled())?.interval == interval)
  }
}
