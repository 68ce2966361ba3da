import EngineAPI
import Testing

@testable import PlistStorage

/// Whatever a file holds, reading it costs time and memory in proportion to its size.
@Suite struct HostileContentTests {
  /// Content that would cost a careless reader its stack, its precision, or a time that grows with the square.
  private static let contents: [String: String] = {
    let (count, entry) = (100_000, "\"a/1\": {\"attributes\": {")
    let head = "{\"format\": 1, \"namespace\": \"a\", \"entries\": {"
    return [
      "braces": String(repeating: "{", count: count), "brackets": String(repeating: "[", count: count),
      "objects": String(repeating: "{\"entries\":", count: count),
      "brackets in an attribute": head + entry + "\"x\":" + String(repeating: "[", count: count),
      "a huge number": "{\"format\": " + String(repeating: "9", count: count),
      "a huge number of zeros": "{\"format\": " + String(repeating: "0", count: count) + "1}",
      "an exponent": "{\"format\": 1e999999999}", "quotes": String(repeating: "\"", count: count),
      "a huge unknown name": "{\"" + String(repeating: "x\\n", count: count) + "\": 1}",
      "a huge key": head + "\"a/" + String(repeating: "k", count: count) + "\": {}}}",
      "a string of escapes": "{\"namespace\": \"" + String(repeating: "\\u0061", count: count),
      "spaces": String(repeating: " \n", count: count),
      "many attributes": head + entry + (0..<count / 10).map { "\"\($0)\": \"\"" }.joined(separator: ","),
      "beginnings of entries": head + String(repeating: "\"a/1\": {", count: count / 10),
      "beginnings of keys": head + String(repeating: "\"a/\\", count: count / 10),
      "half entries": head + String(repeating: "\"a/1\": {\"payload\": \"x\"},", count: count / 10),
      "no end": head + "\"a/1\": {\"payload\": \"" + String(repeating: "\\\"a/1\\\":", count: count / 10),
    ]
  }()

  @Test(.timeLimit(.minutes(30)), arguments: contents.keys.sorted())
  func isRefusedInLinearTime(what: String) throws {
    let bytes = Array(try #require(Self.contents[what]).utf8)
    let error = #expect(throws: CacheError.self) {
      try PlistFormat.decode(bytes, namespace: "a", path: "a.json")
    }
    let message = try #require(error?.message)
    #expect(message.utf8.count < CacheKey.maximumLength + 300 && !message.contains("\n"), "\(what)")
  }
}
