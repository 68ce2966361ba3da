import Foundation
import Glibc
import Testing

@testable import LMDBStorage

/// Files with holes, as a compaction leaves them.
@Suite struct HoleTests {
  /// A file of `count` pieces of 8,192 bytes, half of each a hole; between some of them lies more data.
  @Test(arguments: [0, 1, 300]) func closeHolesShareAMapping(count: Int) throws {
    let folder = NSTemporaryDirectory() + "lmdb-holes-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = open(LMDBFile.data(in: folder), O_RDWR | O_CREAT, 0o600)
    defer { close(file) }
    var expected: [UInt8] = []
    func write(_ bytes: [UInt8]) {
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
    data.coverHoles()
    #expect(data.bytes.elementsEqual(expected))
    #expect(try Self.mappings(of: data.bytes) <= 9)
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
