import Foundation
import EngineAPI
import Testing

/// Entries are listed in the order of their keys, or backwards.
@Suite struct ScanTests {
  @Test(
    arguments: [
      (ScanRequest(), ["a/1", "b/1", "b/10", "b/2", "c/1"]),
      (ScanRequest(isDescending: true), ["c/1", "b/2", "b/10", "b/1", "a/1"]),
      (ScanRequest(limit: 2, isDescending: true), ["c/1", "b/2"]),
      (ScanRequest(prefix: "b/", isDescending: true), ["b/2", "b/10", "b/1"]),
      (ScanRequest(prefix: "b/1", isDescending: true), ["b/10", "b/1"]),
      (ScanRequest(after: "b/10", isDescending: true), ["b/1", "a/1"]),
      (ScanRequest(prefix: "b/", after: "b/2", isDescending: true), ["b/10", "b/1"]),
      (ScanRequest(prefix: "b/", after: "c/1", limit: 1, isDescending: true), ["b/2"]),
      (ScanRequest(prefix: "b/", after: "a/1", isDescending: true), []),
      (ScanRequest(prefix: "b/", after: "b/1"), ["b/10", "b/2"]),
      (ScanRequest(after: "b/3"), ["c/1"]),
    ] as [(ScanRequest, [String])], [false, true])
  func aScanRunsInEitherDirection(scan: (ScanRequest, [String]), includesPayloads: Bool) async throws {
    let folder = try TestFolder()
    var (request, expected) = scan
    request.includesPayloads = includesPayloads
    let engine = try await folder.open()
    for key in ["b/2", "a/1", "c/1", "b/10", "b/1"] { try await engine.put(key, Array(key.utf8)) }
    // With few entries through the writer, with many through a reading connection.
    for limit in [request.limit, min(request.limit, 64)] {
      request.limit = limit
      let page = try await engine.scan(request)
      #expect(page.entries.map(\.key.text) == expected)
      #expect(page.entries.map(\.payload) == expected.map { includesPayloads ? Array($0.utf8) : nil })
      #expect((page.next == nil) == (expected.count != limit))
    }
    try await engine.close()
  }

  /// The pages, from the first on: the number of entries of each.
  private func pages(_ engine: any StorageEngine, limit: Int) async throws -> [Int] {
    var pages: [Int] = []
    var request = ScanRequest(limit: limit, includesPayloads: true)
    repeat {
      let page = try await engine.scan(request)
      pages.append(page.entries.count)
      request.position = page.next
    } while request.position != nil
    return pages
  }

  @Test func aPageEndsAfterItsLimitOrFourMebibytes() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open(durability: .relaxed)
    for (number, size) in [1, 2, 3, 1, 5, 1].enumerated() {
      try await engine.put("cities/\(number)", [UInt8](repeating: 7, count: size << 20))
    }
    #expect(try await pages(engine, limit: 100) == [2, 2, 1, 1])
    #expect(try await pages(engine, limit: 1) == [1, 1, 1, 1, 1, 1])
    #expect(try await pages(engine, limit: .max) == [2, 2, 1, 1])
    #expect(try await engine.keys(limit: 6).count == 6, "without payloads their sizes do not matter")
    try await engine.close()
  }

  /// A mapped file of 30 MB is read without keeping more of it in memory than a page.
  @Test func aScanGivesMappedPagesBack() async throws {
    let folder = try TestFolder()
    let writer = try await folder.open(durability: .relaxed)
    for number in 0..<30 { try await writer.put("cities/\(number)", [UInt8](repeating: 7, count: 1 << 20)) }
    try await writer.close()
    let engine = try await folder.open()
    #expect(try await pages(engine, limit: 100).reduce(0, +) == 30)
    #expect(try mappedKilobytes(of: folder.store) < 8_000)
    for number in 0..<30 { #expect(try await engine.payload("cities/\(number)")?.count == 1 << 20) }
    #expect(try mappedKilobytes(of: folder.store) > 20_000, "reads keep them")
    try await engine.close()
  }

  /// How much of the file at `path` is resident in this process through its mappings.
  private func mappedKilobytes(of path: String) throws -> Int {
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
    let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    var sum = 0
    var isOfFile = false
    for line in text.split(separator: "\n") {
      if !line.prefix(20).contains(":") || line.contains("/") { isOfFile = line.hasSuffix(path) }
      if isOfFile, line.hasPrefix("Rss:") { sum += Int(line.split(separator: " ")[1]) ?? 0 }
    }
    return sum
  }
}
