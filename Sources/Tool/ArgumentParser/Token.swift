/// The kind of a word on the command line, by its spelling.
enum Token: Equatable {
  /// A subcommand, an argument or the value of an option; also `-` alone and negative numbers.
  case word(String)
  /// `--`: everything after it is an argument.
  case terminator
  /// `--name` or `--name=value`.
  case long(String, value: String?)
  /// `-abc`: one-letter flags; the last may be an option, followed by its value.
  case cluster(String)

  /// Classifies `text`.
  init(_ text: String) {
    if text == "--" {
      self = .terminator
    } else if text.hasPrefix("--") {
      let parts = text.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      self = .long(String(parts[0]), value: parts.count > 1 ? String(parts[1]) : nil)
    } else if text.hasPrefix("-"), text.count > 1, !Token.isNegativeNumber(text) {
      self = .cluster(String(text.dropFirst()))
    } else {
      self = .word(text)
    }
  }

  /// Whether this is `--help` or `-h`.
  var asksForHelp: Bool { self == .long("help", value: nil) || self == .cluster("h") }

  /// Whether this is `--version`.
  var asksForVersion: Bool { self == .long("version", value: nil) }

  /// Whether `text` is a dash followed by a digit, or by a point and a digit.
  private static func isNegativeNumber(_ text: String) -> Bool {
    let rest = text.dropFirst()
    let digits = rest.first == "." ? rest.dropFirst() : rest
    return digits.first?.isNumber == true
  }
}
