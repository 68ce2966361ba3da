import Foundation
import CacheBase
import Testing

@testable import EngineBenchmark

struct BenchmarkReportTests {
  /// An environment with other values for some members.
  static func environment(_ changes: [String: JSONValue] = [:]) -> JSONValue {
    let members: [(String, JSONValue)] = [
      ("date", "2026-01-01T00:00:00Z"), ("program", "cachectl 1"), ("build", "release"), ("kernel", "Linux 6"),
      ("engines", ["a": "1"]), ("durability", "normal"), ("seed", "18446744073709551615"), ("threads", 2),
      ("processes", 1), ("operations", .null), ("valueSize", .null), ("policy", .null),
    ]
    return .object(members.map { .init($0.0, changes[$0.0] ?? $0.1) })
  }

  /// A result of the workload "w" whose rounds had so many operations a second.
  static func result(
    _ backend: String, _ throughputs: [Double], phase: String = "run", reference: [Double] = [5]
  ) -> BenchmarkResult {
    let rounds = throughputs.enumerated().map { index, throughput in
      BenchmarkMeasurement.Round(
        operations: throughput > 0 ? 1_000 : 0, seconds: throughput > 0 ? 1_000 / throughput : 1,
        processorSeconds: 0.25,
        peakMemoryBytes: nil, storageBytes: 77,
        referenceSeconds: reference[index % reference.count] / 1_000)
    }
    var latencies = LatencyHistogram()
    for value in [1, 1, 300, 70_000, 9_000_000_000] as [UInt64] { latencies.record(value) }
    return BenchmarkResult(
      row: row(backend, phase), outcome: .measured(BenchmarkMeasurement(rounds: rounds, latencies: latencies)))
  }

  static func row(_ backend: String, _ phase: String = "run") -> BenchmarkResult.Row {
    BenchmarkResult.Row(backend: backend, workload: "w", phase: phase, entries: 10)
  }

  static func report(_ results: [BenchmarkResult]) -> BenchmarkReport {
    BenchmarkReport(environment: environment(), results: results, isComplete: true)
  }

  static let everyOutcome: [BenchmarkResult] = [
    result("a", [100, 200, 400]), BenchmarkResult(row: row("b"), outcome: .wrong("lost \"it\"\n")),
    BenchmarkResult(row: row("c"), outcome: .failed("gone")), BenchmarkResult(row: row("d"), outcome: .skipped("no")),
  ]

  @Test func aReportReadsBackAsItself() throws {
    var report = Self.report(Self.everyOutcome)
    #expect(try BenchmarkReport(json: report.json, file: "r") == report)
    report.isComplete = false
    report.environment = Self.environment(["operations": 5, "rate": .double(0.5), "list": [true, "x", .null]])
    #expect(try BenchmarkReport(json: report.json, file: "r") == report)
  }

  @Test func theJSONFollowsTheContract() throws {
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(Self.report(Self.everyOutcome).json)) as? [String: Any])
    #expect(json["environment"] is [String: Any])
    let results = try #require(json["results"] as? [[String: Any]])
    let first = results[0]
    #expect(first["backend"] as? String == "a" && first["workload"] as? String == "w")
    #expect(first["phase"] as? String == "run" && first["operations"] as? Int == 3_000)
    #expect(first["seconds"] as? Double == 17.5 && first["operationsPerSecond"] as? Double == 200)
    let latency = try #require(first["latencyMicroseconds"] as? [String: Double])
    #expect(latency["p50"] == 0.301 && latency["max"] == 9_000_000)
    #expect(Set(latency.keys) == ["p50", "p90", "p99", "p999", "max"])
    #expect(first["storageBytes"] as? Int == 77 && first["peakMemoryBytes"] is NSNull)
    #expect(first["outcome"] as? String == "measured" && first["processorSeconds"] as? Double == 0.75)
    let wrong = results[1]
    #expect(wrong["outcome"] as? String == "wrong" && wrong["reason"] as? String == "lost \"it\"\n")
    #expect(wrong["operationsPerSecond"] is NSNull && wrong["latencyMicroseconds"] is NSNull)
  }

  @Test func anotherProgramsMembersArePassedOver() throws {
    let text = String(decoding: Self.report([]).json, as: UTF8.self)
    let more = text.replacing("\"version\":1,", with: "\"version\":1, \"more\": [1, {}],")
    #expect(try BenchmarkReport(json: Array(more.utf8), file: "r") == Self.report([]))
  }

  @Test(arguments: [
    ("\"version\":1", "\"version\":2", "newer version"), ("\"partial\":false", "\"partial\":1", "true or false"),
    ("\"results\"", "\"result\"", "has no \"results\""),
    ("\"outcome\":\"wrong\"", "\"outcome\":\"bad\"", "measured, wrong, failed or skipped"),
    ("\"entries\":10", "\"entries\":-1", "whole number"), ("\"seconds\":10.0", "\"seconds\":-1", "a number from 0"),
    ("\"operations\":1000", "\"operations\":9223372036854775807", "whole number"),
    ("\"seconds\":10.0", "\"seconds\":1e-320", "too short"),
    ("\"seconds\":10.0", "\"seconds\":1e300", "a number from 0"),
    ("\"buckets\":[1,2", "\"buckets\":[9000,2", "contradict"), ("\"buckets\":[1,2", "\"buckets\":[1", "contradict"),
  ])
  func mistakesNameTheirPlace(part: String, replacement: String, message: String) {
    let text = String(decoding: Self.report(Self.everyOutcome).json, as: UTF8.self)
    #expect(text.contains(part))
    let error = #expect(throws: CacheError.self) {
      try BenchmarkReport(json: Array(text.replacing(part, with: replacement).utf8), file: "old.json")
    }
    #expect(
      error?.message.hasPrefix("old.json:") == true && error?.description.contains(message) == true, "\(error as Any)")
  }

  @Test func aReportCutShortIsAnError() {
    let bytes = Self.report(Self.everyOutcome).json
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
  func theIntervalOfTheMedianFollowsTheSignTest(count: Int, interval: ClosedRange<Double>?) {
    #expect(Spread((1...count).map(Double.init).shuffled())?.interval == interval)
  }
}
