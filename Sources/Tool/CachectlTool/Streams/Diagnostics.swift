internal import CachePresentation
internal import Synchronization

/// Writes to the standard error: lines for people, or with `--output json` one JSON object per line and nothing else.
struct Diagnostics: Sendable {
  /// The writer of this process.
  ///
  /// It looks for the option itself, because a malformed command line needs it too. If this process is part of a
  /// benchmark, the process that started it shows what it writes as part of a line.
  static let standard = Diagnostics(
    isJSON: wantsJSON(CommandLine.arguments.dropFirst()) && ProcessEnvironment.benchmarkShare == nil)

  private static let warnings = Mutex<[ErrorView]>([])

  /// Writes the part of `warning` that is new, and remembers it. JSON objects are always complete.
  func warn(_ warning: ErrorView) {
    let news = Self.warnings.withLock { warnings in
      let news = warning.news(after: warnings)
      if news != nil { warnings.append(warning) }
      return news
    }
    if let news { write(.warning(isJSON ? warning : news)) }
  }

  /// Whether JSON is written.
  let isJSON: Bool

  /// Writes `diagnostic`, and ignores a failure: there is no other place to report it.
  func write(_ diagnostic: Diagnostic) {
    Console.error.writeIfPossible(text(diagnostic))
  }

  /// The text to write for `diagnostic`.
  func text(_ diagnostic: Diagnostic) -> String {
    isJSON ? JSONText.text(diagnostic.json) + "\n" : diagnostic.text(on: Console.error.screen)
  }

  /// Whether `arguments` ask for JSON: the last `--output` counts, as it does for the parser.
  private static func wantsJSON(_ arguments: ArraySlice<String>) -> Bool {
    let words = Array(arguments.prefix { $0 != "--" })
    let format = words.indices.last { $0 > 0 && words[$0 - 1] == "--output" || words[$0].hasPrefix("--output=") }
    guard let format else { return false }
    return words[format] == "json" || words[format] == "--output=json"
  }
}
