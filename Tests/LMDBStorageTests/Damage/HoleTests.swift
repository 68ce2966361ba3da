import Foundation
import Platform
import Testing

@testable import LMDBStorage

/// Files with holes, as a compaction leaves them.
@Suite struct HoleTests {
  /// A file of `count` pieces of 8,192 bytes, half of each a hole; between some of them lies more data. Holes share a cover
  /// only where there are too many of them, and only as long as there is room for the data between them.
  @Test(arguments: [
    (0, 4, 1 << 20, 0), (1, 4, 1 << 20, 0), (300, 300, 1 << 20, 0), (300, 4, 2 << 20, 296), (300, 4, 40_000, 9),
    (300, 200, 4_096 * 290, 290), (300, 1, 0, 0), (300, 1, 4 << 20, 299),
  ])
  func holesShareACoverWhereThereAreTooMany(count: Int, covers: Int, copy: Int, copied: Int) throws {
    let folder = NSTemporaryDirectory() + "lmdb-holes-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = open(LMDBFile.data(in: folder), O_RDWR | O_CREAT, 0o600)
    defer { close(file) }
    var (expected, pieces) = ([UInt8](), [Int]())
    func write(_ bytes: [UInt8]) {
      pieces.append(expected.count)
      #expect(bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(expected.count)) } == bytes.count)
      expected += bytes
    }
    for piece in 0..<count {
      write([UInt8](repeating: UInt8(1 + piece % 250), count: piece % 100 == 99 ? 499_712 : 4_096))
      // What is not written is a hole.
      expected += [UInt8](repeating: 0, count: 4_096)
    }
    write([7, 8, 9])
    let data = try #require(try LMDBDataFile(readingIfPresentIn: folder))
    data.coverHoles(maximumCovers: covers, maximumCopy: copy)
    #expect(expected.withUnsafeBytes { byteOrder(data.bytes, $0) } == 0)
    // After each cover comes data, and before the first one, too.
    let mappings = try Self.mappings(of: data.bytes)
    #expect(mappings <= 2 * covers + 1)
    // A copy does not follow the file.
    for piece in pieces { #expect(pwrite(file, [UInt8(255)], 1, off_t(piece)) == 1) }
    #expect(pieces.count { data.bytes[$0] != 255 } == copied)
  }

  /// The number of mappings that have some of `bytes`.
  private static func mappings(of bytes: UnsafeRawBufferPointer) throws -> Int {
    guard let base = bytes.baseAddress.map({ UInt(bitPattern: $0) }) else { return 0 }
    return try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").count { line in
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
      return ends.count == 2 && ends[0] < base + UInt(bytes.count) && ends[1] > base
    }
  }
}
