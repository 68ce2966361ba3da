internal import CCrashNotice
internal import CachePresentation
internal import CacheBase
internal import Synchronization

/// The last line of a process that crashes: it names the damaged store that ended it, or else the loaded libraries, one
/// of which might be the cause. The texts are made in advance, because a signal handler must not allocate, and stay.
enum CrashNotice {
  private static let libraries = Mutex<[EngineLibrary]>([])

  /// From now on, a crash while reading a damaged store ends the process with the status of damage and a mark next to the
  /// store; see `CrashedStore`. Any other crash keeps its signal. The texts are made once an engine maps a file.
  static func install() { ccrash_prepare { CrashNotice.installed } }

  private static let installed: Void = {
    let damage = ErrorView(
      code: "damaged", message: "the store % is damaged",
      hint: "save what can be read with: cachectl --backend % verify --repair")
    let text = Diagnostics.standard.text(.error(damage))
    // The options of the command line, which the hint repeats, are between the two places.
    guard let first = text.firstIndex(of: "%"), let last = text.lastIndex(of: "%"), first < last,
      let before = strdup(String(text[..<first])), let after = strdup(String(text[text.index(after: last)...])),
      let between = strdup(String(text[text.index(after: first)..<last]))
    else { return }
    ccrash_install(ExitCode.dataError.rawValue, before, between, after)
  }()

  /// From now on, a damaged store that ends the process makes it run its command again, once. Only for a command that does
  /// not open a store with a mark, and that has had no effect before the crash that it would not have twice.
  static func runAgainAfterDamage() {
    let arguments = ["cachectl"] + CommandLine.arguments.dropFirst()
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
    for (index, argument) in arguments.enumerated() { (pointers + index).initialize(to: strdup(argument)) }
    (pointers + arguments.count).initialize(to: nil)
    guard let program = strdup(ExecutableFile.path) else { return }
    ccrash_retry(program, pointers)
  }

  /// The path of the loaded library with the engine called `name`; `nil` if there is none.
  static func path(ofLibrary name: String) -> String? {
    libraries.withLock { $0.first { $0.name == name }?.path }
  }

  /// Adds `library` to what a crash from now on will name.
  static func add(_ library: EngineLibrary) {
    let libraries = libraries.withLock { libraries in
      if libraries.contains(library) { return [EngineLibrary]() }
      libraries.append(library)
      return libraries
    }
    guard let newest = libraries.last else { return }
    let names = libraries.map { "\($0.name) (\($0.path))" }.joined(separator: " and ")
    let crash = ErrorView(
      code: "defect", message: "the process crashed with backend \(names) loaded",
      hint: "run: cachectl backends test \(newest.path)")
    guard let line = strdup(Diagnostics.standard.text(.error(crash))) else { return }
    ccrash_write_otherwise(line)
    _ = installed
  }
}
