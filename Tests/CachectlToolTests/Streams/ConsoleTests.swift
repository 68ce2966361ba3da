import Foundation
import Testing

@testable import CachectlTool

struct ConsoleTests {
  /// A large answer in small pieces takes as many calls as all else.
  @Test(.enabled(if: Self.calls != nil), arguments: [0, 5_000])
  func aPipeTakesWhatItHasRoomFor(unread: Int) throws {
    var pipe: [Int32] = [-1, -1]
    try #require(Foundation.pipe(&pipe) == 0)
    defer { for descriptor in pipe { close(descriptor) } }
    let console = Console(descriptor: pipe[1], name: "pipe")
    try console.write([UInt8](repeating: 1, count: unread))
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let before = try #require(Self.calls)
    try console.write(bytes)
    #expect(try #require(Self.calls) - before == 1)
    var read = [UInt8](repeating: 0, count: 65_536)
    #expect(Foundation.read(pipe[0], &read, read.count) == unread + bytes.count)
    #expect(Array(read[unread..<unread + bytes.count]) == bytes)
  }

  /// The number of writing calls of this thread, see proc(5); `nil` if the system does not count them.
  private static var calls: Int? {
    let text = try? String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("syscw: ") }
    return line.flatMap { Int($0.dropFirst(7)) }
  }
}
