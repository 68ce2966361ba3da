import Foundation
import EngineAPI
import Testing

/// Entries are listed in the order of their keys, or backwards.
@Suite struct ScanTests {
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
