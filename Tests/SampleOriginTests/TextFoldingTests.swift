import CSampleData
import Foundation
import Testing

@testable import SampleOrigin

struct TextFoldingTests {
  @Test(arguments: [
    ("Amélie", "amelie"), ("Łódź", "lodz"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("ẞ", "ss"),
    ("Ørsted Đorđe Þór Ðað", "orsted dorde thor dad"), ("Œuvre Æon", "oeuvre aeon"), ("İstanbul ı", "istanbul i"),
    ("Ёлка Йод", "елка иод"), ("ΑΘΉΝΑ ς", "αθηνα σ"), ("Cafe\u{301}", "cafe"), ("ﬁlm Ⅻ ²", "film xii 2"),
    ("½", " 1\u{2044}2"), ("千と千尋", "千と千尋"), ("한국", "한국"), ("हिन्दी", "हिन्दी"), ("🎬", "🎬"), ("", ""),
  ])
  func folds(text: String, folded: String) {
    #expect(TextFolding.fold(text).unicodeScalars.elementsEqual(folded.unicodeScalars), "\(TextFolding.fold(text))")
  }

  @Test(arguments: [
    ("star wars: episode v", ["star", "wars", "episode", "v"]), ("l'avventura", ["l", "avventura"]),
    ("$9.99", ["9", "99"]), ("$", ["$"]), ("", []), ("हिन्दी", ["हिन्दी"]), ("千と・千尋", ["千と", "千尋"]),
  ])
  func splitsIntoWords(text: String, words: [String]) {
    #expect(TextFolding.words(ofFolded: text) == words)
  }

  /// Letters with diacritics of the Latin blocks fold as the platform's own folding has it.
  @Test func agreesWithThePlatform() throws {
    for code in UInt32(0xC0)..<0x180 {
      let scalar = try #require(Unicode.Scalar(code))
      let text = String(scalar)
      let expected = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      if expected.unicodeScalars.allSatisfy(\.isASCII) { #expect(TextFolding.fold(text) == expected, "\(text)") }
    }
  }

  /// Every row of the table is found, and folding what is folded changes nothing.
  @Test func everyRowOfTheTableIsFound() throws {
    let table = EmbeddedText(csample_folding())
    let rows = table.string(0..<table.count).unicodeScalars.split(separator: "\n")
    #expect(rows.count > 7_000)
    for row in rows {
      let folded = String(row.dropFirst(2))
      #expect(TextFolding.fold(String(row.prefix(1))).unicodeScalars.elementsEqual(folded.unicodeScalars), "\(row)")
      #expect(TextFolding.fold(folded).unicodeScalars.elementsEqual(folded.unicodeScalars), "\(row)")
    }
  }
}
