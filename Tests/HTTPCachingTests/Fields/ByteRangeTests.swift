import Testing

@testable import HTTPCaching

struct ByteRangeTests {
  @Test(arguments: [
    ("bytes=0-499", ByteRange.from(0, through: 499)), ("bytes=500-999", .from(500, through: 999)),
    ("bytes=9500-", .from(9_500, through: nil)), ("bytes=-500", .suffix(500)), ("bytes=0-0", .from(0, through: 0)),
    ("Bytes=1-2", .from(1, through: 2)), ("bytes= 1-2 ", .from(1, through: 2)), ("bytes=,1-2,", .from(1, through: 2)),
    ("bytes=1-99999999999999999999", .from(1, through: .max)),
    ("bytes=99999999999999999999-", .from(.max, through: nil)),
    ("bytes=-99999999999999999999", .suffix(.max)),
  ])
  func understands(_ value: String, _ range: ByteRange) {
    #expect(ByteRange(value) == range)
  }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=2-1", "items=0-1", "items=0-1,4-5",
    "bytes 0-1",
    "bytes=+1-2", "bytes=1-+2", "bytes=--2", "bytes=1-2-3", "bytes=-0", "bytes=٠-١", "=0-1", "bytes =0-1", "bytes=1 -2",
  ])
  func doesNotUnderstand(_ value: String) {
    #expect(ByteRange(value) == nil)
  }

  @Test(arguments: [
    ("bytes=0-1,4-5", true), ("bytes=0-1, -1", true), ("BYTES=0-1, -1", true), ("bytes=a,b", true),
    ("bytes=0-1,", false), ("bytes=,0-1", false), ("bytes=0-1", false), ("items=0,1", false),
  ])
  func tellsSeveralFromOne(_ value: String, isForSeveral: Bool) {
    #expect((ByteRange(value) == .several) == isForSeveral)
    if isForSeveral { #expect(ByteRange(value)?.offsets(in: 10) == nil) }
  }

  @Test(
    arguments: [
      (ByteRange.from(0, through: 499), 10_000, 0..<500), (.from(9_500, through: nil), 10_000, 9_500..<10_000),
      (.suffix(500), 10_000, 9_500..<10_000), (.suffix(500), 100, 0..<100), (.from(0, through: 499), 100, 0..<100),
      (.from(99, through: 99), 100, 99..<100), (.from(100, through: nil), 100, nil), (.from(0, through: nil), 0, nil),
      (.suffix(1), 0, nil), (.from(0, through: .max), 5, 0..<5), (.from(.max, through: nil), 5, nil),
      (.suffix(.max), 5, 0..<5),
      (.from(4, through: .max), .max, 4..<Int.max),
    ] as [(ByteRange, Int, Range<Int>?)])
  func meansBytes(_ range: ByteRange, of length: Int, _ offsets: Range<Int>?) {
    #expect(range.offsets(in: length) == offsets)
  }
}

struct ContentRangeTests {
  @Test(arguments: [
    ("bytes 0-499/1234", ContentRange(0..<500, of: 1_234)),
    ("bytes 734-1233/1234", ContentRange(734..<1_234, of: 1_234)),
    ("Bytes 0-0/1", ContentRange(0..<1, of: 1)),
    ("bytes 0-9223372036854775806/9223372036854775807", ContentRange(0..<Int.max, of: .max)),
  ])
  func understands(_ value: String, _ range: ContentRange) {
    #expect(ContentRange(value) == range)
  }

  @Test(arguments: [
    "", "bytes", "bytes */1234", "bytes 0-499/*", "bytes 499-0/1234", "bytes 0-1234/1234", "bytes 0-499",
    "items 0-499/1234",
    "bytes=0-499/1234", "bytes -499/1234", "bytes 0-/1234", "bytes +0-4/10", "bytes 0-4/+10", "bytes 0-4/10/10",
    "bytes 0-9223372036854775807/9223372036854775808", "bytes 0-4/10 11", "bytes a-b/c", "bytes 0--4/10",
  ])
  func doesNotUnderstand(_ value: String) {
    #expect(ContentRange(value) == nil)
  }

  @Test(arguments: [0..<1, 5..<10, 0..<10]) func aWrittenRangeIsReadBack(_ offsets: Range<Int>) {
    let range = ContentRange(offsets, of: 10)
    #expect(ContentRange(range.text) == range)
  }
}
