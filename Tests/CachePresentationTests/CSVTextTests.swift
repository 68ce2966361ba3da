import CachePresentation
import SeededNumbers
import Testing

struct CSVTextTests {
  @Test(
    arguments: [
      ([["a", "b"], ["1", ""]], "a,b\r\n1,\r\n"),
      ([["x,y", "say \"hi\"", "two\nlines", "c\rr"]], "\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\",\"c\rr\"\r\n"),
      ([["=1+1", " spaced "]], "=1+1, spaced \r\n"),
      ([[""]], "\"\"\r\n"),
      ([], ""),
    ] as [([[String]], String)])
  func text(_ rows: [[String]], _ text: String) {
    #expect(CSVText.text(rows) == text)
  }

  @Test(
    arguments: [
      (nil, ""), ("x", "x"), (12, "12"), (true, "true"), (.double(0.5), "0.5"), (["Drama", "War"], "Drama; War"),
      ([], ""), ([1, "a"], "[1,\"a\"]"), (["a": 1], "{\"a\":1}"),
    ] as [(JSONValue, String)])
  func field(_ value: JSONValue, _ text: String) {
    #expect(CSVText.field(value) == text)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func readsBackTheSame(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let width = Int.random(in: 1...5, using: &generator)
    let rows = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
      (0..<width).map { _ in generator.text() + (Bool.random(using: &generator) ? "\",\r\n" : "") }
    }
    let read = Self.read(CSVText.text(rows))
    #expect(read.map { $0.map { Array($0.utf8) } } == rows.map { $0.map { Array($0.utf8) } }, "seed \(seed)")
  }

  /// Reads RFC 4180 as simply as can be.
  private static func read(_ text: String) -> [[String]] {
    var rows: [[String]] = []
    var (row, field, isQuoted) = ([String](), String.UnicodeScalarView(), false)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"":
        isQuoted.toggle()
        field.append(scalar)
      case "," where !isQuoted:
        row.append(unquoted(field))
        field = .init()
      case "\n" where !isQuoted:
        field.removeLast()
        rows.append(row + [unquoted(field)])
        (row, field) = ([], .init())
      default: field.append(scalar)
      }
    }
    return rows
  }

  /// The field without the quotes around it, and with half of those inside.
  private static func unquoted(_ field: String.UnicodeScalarView) -> String {
    guard field.first == "\"" else { return String(field) }
    var (output, isSecond) = (String.UnicodeScalarView(), false)
    for scalar in field.dropFirst().dropLast() {
      if scalar != "\"" || isSecond { output.append(scalar) }
      isSecond = scalar == "\"" && !isSecond
    }
    return String(output)
  }
}
