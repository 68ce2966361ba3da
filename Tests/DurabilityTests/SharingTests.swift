import Foundation
import Testing

/// Several processes use one store at once.
@Suite struct SharingTests {
  /// How long a single call may take, in milliseconds: as long as the processes themselves wait.
  private static let longestWait = 300_000

  @Test(arguments: TestEnvironment.engines) func noUpdateIsLost(engine: String) async throws {
    try await onThread {
      let (processes, times) = (4, 40)
      let folder = try TestFolder()
      let store = TestedStore(engine, path: folder.path("store"), seed: 1, in: folder)
      let counters = try (0..<processes).map { _ in try store.start("count", ["times": times]) }
      for counter in counters { Self.expectSuccess(counter) }
      let values = counters.compactMap { Self.number("VALUE", $0) }
      #expect(values.max() == processes * times, "\(engine): \(values)")
      let tries = counters.compactMap { Self.number("TRIES", $0) }.reduce(0, +)
      #expect(tries >= processes * times)
    }
  }

  @Test(arguments: TestEnvironment.engines) func noReadIsTorn(engine: String) async throws {
    try await onThread {
      let (writers, readers, times) = (3, 3, 60)
      let folder = try TestFolder()
      let store = TestedStore(engine, path: folder.path("store"), seed: 1, in: folder)
      let watchers = try (0..<readers).map { _ in try store.start("watch", ["lanes": writers, "times": times]) }
      // On a busy machine the writers could be done before a watcher has begun.
      for watcher in watchers {
        #expect(watcher.read(for: .seconds(1_800)) { $0.contains("LOOKED") }, "\(watcher.lines)")
      }
      let groups = try (0..<writers).map { try store.start("group", ["lane": $0, "times": times]) }
      for program in groups + watchers { Self.expectSuccess(program) }
      let looks = watchers.compactMap { Self.number("LOOKS", $0) }
      #expect(looks.count == readers && looks.allSatisfy { $0 > 1 }, "\(engine): \(looks)")
    }
  }

  /// A fifth process counts while four write: no sample shows more than the limits allow.
  @Test(arguments: TestEnvironment.engines) func limitsHoldAtEachSampleFromOutside(engine: String) async throws {
    try await onThread {
      let (writers, times) = (4, 150)
      let folder = try TestFolder()
      let store = TestedStore(engine, path: folder.path("store"), seed: 1, in: folder)
      let sampler = try store.start("sample", ["lanes": writers])
      #expect(sampler.read(for: .seconds(1_800)) { $0.contains("LOOKED") }, "\(sampler.lines)")
      let programs = try (0..<writers).map { try store.start("writeBounded", ["lane": $0, "times": times]) }
      for program in programs + [sampler] {
        #expect(program.end() == 0, "\(program.lines.last ?? "nothing") \(program.errors)")
      }
      let samples = Self.number("SAMPLES", sampler) ?? 0
      let largest = Self.number("LARGEST", sampler) ?? 0
      let bytes = Self.number("BYTES", sampler) ?? 0
      #expect(samples > 20 && largest > 6 && bytes > 3_000, "\(engine): \(samples), \(largest), \(bytes)")
    }
  }

  /// Checks that a process has ended well, and never waited for long.
  private static func expectSuccess(_ program: Program, sourceLocation: SourceLocation = #_sourceLocation) {
    let status = program.end()
    #expect(
      status == 0, "\(program.lines.last ?? "nothing") \(program.errors)", sourceLocation: sourceLocation)
    let longest = number("LONGEST", program) ?? .max
    #expect(longest < longestWait, "a call took \(longest) ms", sourceLocation: sourceLocation)
  }

  private static func number(_ name: String, _ program: Program) -> Int? {
    program.lines.last { $0.hasPrefix(name + " ") }.flatMap { Int($0.dropFirst(name.count + 1)) }
  }
}
