internal import CacheBase
internal import CacheCore
internal import CachePresentation
internal import CommandLineKit
internal import EngineAPI
internal import Synchronization

/// Writes to stderr: lines for people, or with `--output json` one JSON object per line and nothing else.
struct Diagnostics: Sendable {
  /// The writer of this process.
  ///
  /// It looks for the option itself, because a malformed command line needs it too. If this process is part of a
  /// benchmark, the process that started it shows what it writes as part of a line.
  static let standard = Diagnostics(
    isJSON: GivenOptions.ofProcess.values(of: "--output").last == "json" && ProcessEnvironment.benchmarkShare == nil)

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
    Console.error.writeIfPossible(TransientLine.takeErasure() + text(diagnostic))
  }

  /// The text to write for `diagnostic`.
  func text(_ diagnostic: Diagnostic) -> String {
    let options = GivenOptions.ofProcess
    let diagnostic: Diagnostic =
      switch diagnostic {
      case .error(let view): .error(options.repeated(in: view))
      case .warning(let view): .warning(options.repeated(in: view))
      case .status(let line): .status(StatusLine([options.repeated(in: line.text)], style: line.style))
      case .detail, .question: diagnostic
      }
    return isJSON ? JSONText.text(diagnostic.json) + "\n" : diagnostic.text(on: Console.error.screen)
  }
}

/// The options of this command line, which might be malformed. A command in a hint repeats those that select the
/// configuration and the store: without them it would act on another store.
struct GivenOptions: Sendable {
  static let ofProcess = GivenOptions(Array(CommandLine.arguments.dropFirst()))

  private let words: [String]

  init(_ arguments: [String]) { words = Array(arguments.prefix { $0 != "--" }) }

  /// The values of the option `name`, in order.
  func values(of name: String) -> [String] {
    words.indices.compactMap { index in
      if words[index].hasPrefix("\(name)=") { return String(words[index].dropFirst(name.count + 1)) }
      return index > 0 && words[index - 1] == name ? words[index] : nil
    }
  }

  /// `view` with the options in the commands of its hint.
  func repeated(in view: ErrorView) -> ErrorView {
    ErrorView(code: view.code, message: view.message, hint: repeated(in: view.hint))
  }

  /// `text` with the options, spelled for a shell, in each command in it. A command is at the beginning, or follows a
  /// colon, a semicolon or a pipe: a path can also have its words.
  func repeated(in text: String) -> String {
    guard text.holds("cachectl ") else { return text }
    var words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    for index in words.indices.dropLast().reversed() {
      let next = words[index + 1]
      if ["--backend", "show"].contains(words[index]) { words[index + 1] = reference(next) }
      let isFirst = index == 0 || words[index - 1].utf8.last.map(":;|".utf8.contains) == true
      guard isFirst, words[index] == "cachectl", next == "--backend" || Self.isCommand(next) else { continue }
      let backend = ["--backend", "backends"].contains(next) ? [] : given("--backend").suffix(2)
      words.insert(contentsOf: ["--config", "--home", "--set"].flatMap(given) + backend, at: index + 1)
    }
    return words.joined(separator: " ")
  }

  /// The option `name` each time it was given.
  private func given(_ name: String) -> [String] {
    values(of: name).flatMap { [name, $0.shellWord] }
  }

  /// The name by which the user finds the engine called `name` again: its path, if it is in a library that was not
  /// found by its name.
  private func reference(_ name: String) -> String {
    let references = ["--backend", "--from", "--to"].flatMap(values)
    if references.contains(name) { return name }
    let path = references.first { EngineName.isPath($0) && EngineName.name(of: $0) == name }
    return (path ?? CrashNotice.path(ofLibrary: name))?.shellWord ?? name
  }

  /// Whether `word`, perhaps before a comma, names a command: "cachectl" can also be followed by the rest of a sentence.
  private static func isCommand(_ word: String) -> Bool {
    let name = String(word.prefix { $0.isLetter })
    return Cachectl.current.commands.contains { $0.subcommands.contains { $0.commandName == name } }
  }
}
