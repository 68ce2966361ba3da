import CacheBase
import Testing

struct JSONWriterTests {
  @Test func valuesAreSeparatedIfNecessary() throws {
    var json = JSONWriter()
    json.object { json in
      json.member("a", "x\"\n")
      json.member("b", -1)
      json.member("c", String?.none)
      json.name("d")
      json.array([[], [1], [1, 2]]) { json, numbers in
        json.array(numbers) { json, number in json.integer(number) }
      }
      json.name("e")
      json.object { _ in }
      json.member("f", UInt64.max)
    }
    let text = #"{"a":"x\"\n","b":-1,"d":[[],[1],[1,2]],"e":{},"f":18446744073709551615}"#
    #expect(String(decoding: json.bytes, as: UTF8.self) == text)
  }

  @Test(arguments: ["", "é😀", "\u{0}\u{7F}\\/"])
  func textsAreReadBack(text: String) throws {
    var json = JSONWriter()
    json.text(text)
    var reader = JSONReader(json.bytes)
    #expect(try reader.string() == text)
  }
}
