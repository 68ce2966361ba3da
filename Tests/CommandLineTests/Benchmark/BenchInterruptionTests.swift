import Foundation
import Testing

/// Signals in the middle of a benchmark.
@Suite(.timeLimit(.minutes(30))) struct BenchInterruptionTests {
  /// So many rounds that only a signal ends them.
  private static let arguments = [
    "bench", "--backends", "sqlite,lmdb", "--workload", "ycsb-b", "--entries", "10", "--operations", "20", "--rounds",
    "1000", "--output", "json",
  ]

  @Test(
    arguments: [(SIGINT, 130, 1), (SIGTERM, 143, 1), (SIGHUP, 129, 1), (SIGINT, 130, 2), (SIGTERM, 143, 3)]
      as [(Int32, Int32, Int)])
  func measurementsArePrintedAndMarked(signal: Int32, status: Int32, processes: Int) async throws {
    let scratch = try Scratch()
    let arguments = Self.arguments + ["--processes", "\(processes)", "--save", "s.json", "--report", "r.html"]
    let program = try RunningProgram(Binary.path, arguments, in: scratch)
    // By then several rounds are over, whichever store it is in.
    await program.signal(signal, when: { scratch.storeNumber >= 20 })
    let run = try await program.end()
    #expect(run.status == status, "\(run.errors)")
    let document = try run.document()
    #expect(document["partial"] == true)
    let results = document["results"]?.elements ?? []
    #expect(!results.isEmpty && results.allSatisfy { $0["outcome"] == "measured" }, "\(run.text)")
    scratch.expectNothingLeft()
    #expect(!scratch.exists("work/s.json"), "An incomplete run cannot be compared")
    let page = String(decoding: try scratch.read("work/r.html"), as: UTF8.self)
    #expect(page.contains("interrupted"))
    #expect(scratch.names(below: "work") == ["r.html"])
  }

  @Test func peopleSeeItToo() async throws {
    let scratch = try Scratch()
    let program = try RunningProgram(Binary.path, Self.arguments.dropLast(2) + [], in: scratch)
    await program.signal(SIGINT, when: { scratch.storeNumber >= 20 })
    let run = try await program.end()
    #expect(run.status == 130)
    #expect(run.errors.contains("interrupted: the results cover the rounds completed so far"), "\(run.errors)")
    #expect(run.text.contains("ycsb-b run"))
  }
}

extension Scratch {
  /// The number of the store that a benchmark is using; 0 before the first.
  fileprivate var storeNumber: Int {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: path("temporary"))) ?? []
    let stores = folders.flatMap { folder in
      (try? FileManager.default.contentsOfDirectory(atPath: path("temporary/\(folder)"))) ?? []
    }
    return stores.compactMap { $0.hasPrefix("bench-") ? $0.split(separator: "-").last.flatMap { Int($0) } : nil }.max()
      ?? 0
  }
}
