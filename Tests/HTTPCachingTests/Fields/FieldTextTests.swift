import HTTPCaching
import Testing

struct FieldTextTests {
  @Test(arguments: [
    ([], ""), (Array("plain".utf8), "plain"), (Array("größe €😀".utf8), "größe €😀"),
    ([0x22, 0xE9, 0x22], "\"\u{F7E9}\""),
    // Cut off, too long, a surrogate, beyond the end.
    ([0xE2, 0x82], "\u{F7E2}\u{F782}"), ([0xC0, 0x80], "\u{F7C0}\u{F780}"),
    ([0xED, 0xA0, 0x80], "\u{F7ED}\u{F7A0}\u{F780}"),
    ([0xF5, 0x80, 0x61], "\u{F7F5}\u{F780}a"),
    // A character that stands for a byte, sent as UTF-8.
    (Array("\u{F7E9}".utf8), "\u{F7EF}\u{F79F}\u{F7A9}"),
  ])
  func bytesSurvive(_ bytes: [UInt8], _ text: String) {
    let decoded = FieldText.decode(bytes[...])
    #expect(Array(decoded.unicodeScalars) == Array(text.unicodeScalars))
    #expect(FieldText.encode(decoded) == bytes)
  }

  @Test func everyPairOfBytesSurvives() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let bytes = [first, second, 0x41]
        if FieldText.encode(FieldText.decode(bytes[...])) != bytes { Issue.record("\(bytes)") }
      }
    }
  }
}
