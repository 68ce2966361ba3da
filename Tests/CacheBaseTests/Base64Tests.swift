import CacheBase
import Foundation
import SeededNumbers
import Testing

struct Base64Tests {
  /// RFC 4648, section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func vectorsOfTheStandard(text: String, encoded: String) {
    #expect(Base64.encoded(Array(text.utf8)) == Array(encoded.utf8))
    #expect(Base64.decoded(Array(encoded.utf8)) == Array(text.utf8))
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm-_", "Zm9vZm8",
    "é===",
  ])
  func anythingElseIsRefused(text: String) {
    #expect(Base64.decoded(Array(text.utf8)) == nil)
  }

  /// The same as Foundation's, whatever the bytes are.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func foundationSaysTheSame(seed: UInt64) {
    var numbers = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0...300, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
    let encoded = Base64.encoded(bytes)
    #expect(encoded == Array(Data(bytes).base64EncodedData()))
    #expect(Base64.decoded(encoded) == bytes)
    var damaged = encoded
    guard !damaged.isEmpty else { return }
    damaged[Int.random(in: damaged.indices, using: &numbers)] = UInt8.random(in: 0x20...0x7E, using: &numbers)
    #expect(Base64.decoded(damaged) == nil || Base64.encoded(Base64.decoded(damaged) ?? []) == damaged)
  }
}
