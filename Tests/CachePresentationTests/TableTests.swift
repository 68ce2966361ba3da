import CachePresentation
import SeededNumbers
import Testing

struct TableTests {
  private static let table = Table(
    [.init("#", .right, priority: -1), .init("City", isShrinkable: true), .init("Revenue", .right), .init("Note")],
    rows: [
      ["1", "New York", "$54,298,476,501", ""], ["10", "東京都", "$7", .init("dim", .dim)],
      ["11", "Llanfairpwllgwyngyll", .init(nil as String?), "\u{1B}[31m"],
    ])

  @Test func cutsNothingInAFile() {
    #expect(
      Self.table.text(on: .file) == """
         #  City                          Revenue  Note
         1  New York              $54,298,476,501
        10  東京都                             $7  dim
        11  Llanfairpwllgwyngyll                -  \\u{1B}[31m

        """)
  }

  @Test func fitsATerminal() {
    #expect(
      Self.table.text(on: .terminal(width: 42, hasColor: false)) == """
         #  City               Revenue  Note
         1  New York   $54,298,476,501
        10  東京都                  $7  dim
        11  Llanfair…                -  \\u{1B}[31m

        """)
  }

  private static let numbers = Table(
    [
      .init("#", .right, priority: -2), .init("City", isShrinkable: true), .init("State", priority: -1),
      .init("Revenue", .right), .init("Organizations", .right),
    ],
    rows: [
      ["1", "New York", "NY", "$54,298,476,501", "5,939"], ["10", "Los Angeles", "CA", "$7", "61"],
    ])

  @Test(
    arguments: [
      (
        52,
        """
         #  City       State          Revenue  Organizations
         1  New York   NY     $54,298,476,501          5,939
        10  Los Ange…  CA                  $7             61

        """
      ),
      (
        50,
        """
        City         State          Revenue  Organizations
        New York     NY     $54,298,476,501          5,939
        Los Angeles  CA                  $7             61
        Too narrow to show: #

        """
      ),
      (
        40,
        """
        City              Revenue  Organizations
        New York  $54,298,476,501          5,939
        Los Ang…               $7             61
        Too narrow to show: #, State

        """
      ),
      (
        29,
        """
        City                 Revenue
        New York     $54,298,476,501
        Los Angeles               $7
        Too narrow to show: #, State,
        Organizations

        """
      ),
      (
        6,
        """
        City
        New Y…
        Los A…
        Too
        narrow
        to
        show:
        #,
        State,
        Reven…
        Organ…

        """
      ),
    ])
  func columnsAreOmittedByPriorityAndNumbersAreNotCut(width: Int, text: String) {
    #expect(Self.numbers.text(on: .terminal(width: width, hasColor: false)) == text)
  }

  @Test func aContinuationDoesNotRepeatTheNamesOfOmittedColumns() {
    let text = Self.numbers.text(on: .terminal(width: 40, hasColor: false), hasHeader: false)
    #expect(text.split(separator: "\n").count == 2)
  }

  @Test func aSingleNumberIsNotCut() {
    let table = Table([.init("Entries", .right), .init("Bytes", .right)], rows: [["1,234", "5"]])
    #expect(table.text(on: .terminal(width: 3, hasColor: false), hasHeader: false) == "1,234\n")
  }

  @Test(arguments: [(31, "Llanfairpwllgwyngy…  2001  Dra…"), (20, "Llanfai…  2001  Dra…"), (17, "Llanfairpw…  2001")])
  func theLeastImportantColumnShrinksFirst(width: Int, row: String) {
    let table = Table(
      [
        .init("Title", isShrinkable: true), .init("Year"),
        .init("Genres", priority: -1, isShrinkable: true, minimum: 4),
      ], rows: [["Llanfairpwllgwyngyll", "2001", "Drama, Comedy"]])
    let screen = Screen.terminal(width: width, hasColor: false)
    #expect(table.text(on: screen, hasHeader: false) == row + "\n")
  }

  @Test func styles() {
    #expect(
      Table([.init("A"), .init("B")], rows: [[.init("x", .dim), "y"]])
        .text(on: .terminal(width: nil, hasColor: true))
        == "\u{1B}[1mA\u{1B}[0m  \u{1B}[1mB\u{1B}[0m\n\u{1B}[2mx\u{1B}[0m  y\n")
  }

  @Test func withoutRowsNothing() {
    #expect(Table([.init("A")], rows: []).text(on: .file) == "")
  }

  @Test func withoutHeader() {
    #expect(Table([.init("Long title")], rows: [["x"]]).text(on: .file, hasHeader: false) == "x\n")
  }

  @Test(arguments: 1...80)
  func neverExceedsTheWidth(width: Int) {
    let lines = Self.table.text(on: .terminal(width: width, hasColor: false)).split(separator: "\n")
    #expect(lines.allSatisfy { DisplayWidth.width(String($0)) <= width && $0.last != " " })
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func neverExceedsTheWidthWhateverTheText(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let rows = (0..<5).map { _ in (0..<3).map { _ in Table.Cell(generator.text(), .plain) } }
    let columns: [Table.Column] = [.init("A", isShrinkable: true), .init("B", .right), .init("C", isShrinkable: true)]
    let width = Int.random(in: 1...40, using: &generator)
    let text = Table(columns, rows: rows).text(on: .terminal(width: width, hasColor: false), hasHeader: false)
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 6, "seed \(seed)")
    #expect(lines.allSatisfy { DisplayWidth.width(String($0)) <= width }, "seed \(seed)")
  }
}

struct ProgressLineTests {
  @Test(
    arguments: [
      (50, 200, 5, 80, "Copying  [=========>                            ]   25% 50/200, 10/s, 0:15 left"),
      (200, 200, 20, 60, "Copying  [=============================]  100% 200/200, 10/s"),
      (0, 200, 0, 40, "Copying  [>                ]    0% 0/200"),
      (1_234, nil, 2, 60, "Copying  1,234, 617/s"),
      (50, 200, 5, 20, "Copying   25% 50/20…"),
      (0, 0, 1, 60, "Copying  [======================================]  100% 0/0"),
      (1, Int.max, 100_000, 60, "Copying  [>       ]    0% 1/9,223,372,036,854,775,807, 0.0/s"),
    ] as [(Int, Int?, Int, Int, String)])
  func text(_ done: Int, _ total: Int?, _ seconds: Int, _ width: Int, _ text: String) {
    let line = ProgressLine("Copying", done: done, total: total, elapsed: .seconds(seconds)).text(width: width)
    #expect(line == text)
    #expect(DisplayWidth.width(line) <= width)
  }

  @Test(
    arguments: [
      (1 << 20, 4 << 20, .bytes, "a.b  [====>            ]   25% 1.0 MiB/4.0 MiB, 512.0 KiB/s, 0:06 left"),
      (1 << 20, nil, .bytes, "a.b  1.0 MiB, 512.0 KiB/s"), (0, nil, .seconds, "a.b  0:02"),
    ] as [(Int, Int?, ProgressLine.Unit, String)])
  func units(_ done: Int, _ total: Int?, _ unit: ProgressLine.Unit, _ text: String) {
    #expect(ProgressLine("a.b", done: done, total: total, elapsed: .seconds(2), unit: unit).text(width: 70) == text)
  }
}

extension SeededGenerator {
  /// A text of up to `count` scalars, every kind of trouble among them.
  mutating func text(upTo count: Int = 12) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...count, using: &self) { text.unicodeScalars.append(scalar()) }
    return text
  }

  private mutating func scalar() -> Unicode.Scalar {
    let range: ClosedRange<UInt32> =
      switch Int.random(in: 0..<8, using: &self) {
      case 0: 0...0x1F
      case 1: 0x7F...0x9F
      case 2: 0x2000...0x206F
      case 3: 0x4E00...0x4EFF
      case 4: 0x300...0x36F
      case 5: 0x1F300...0x1F9FF
      case 6: 0...0x10FFFF
      default: 0x20...0x7E
      }
    return Unicode.Scalar(UInt32.random(in: range, using: &self)) ?? "\u{FFFD}"
  }
}
