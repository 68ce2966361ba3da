public import CommandLineKit
internal import CacheCore
public import EngineAPI

/// The options that select entries.
struct EntryFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Only entries of the namespace NS", valueName: "ns"), completion: .namespaces)
  var namespace: String?

  @Option(help: "Only entries whose key begins with PREFIX")
  var prefix: String?

  @Option(
    help: ArgumentHelp("Only entries whose key matches GLOB, in which * stands for any text", valueName: "glob"))
  var match: String?

  @Option(help: "Only entries in this state")
  var state: EntryState?

  /// The conditions as they were given.
  var conditions: [String] {
    let texts = [("namespace", namespace), ("prefix", prefix), ("match", match), ("state", state?.rawValue)]
    return texts.compactMap { name, text in text.map { "--\(name) '\($0)'" } }
  }

  /// The selection, including the condition of `--older-than` if the command has it. An empty prefix or pattern, as an unset
  /// variable of a script leaves it, counts as none: every key begins with an empty prefix, and `rm` would remove
  /// everything unasked.
  func selection(minimumAge: DurationText? = nil) -> EntrySelection {
    EntrySelection(
      namespace: namespace, prefix: prefix == "" ? nil : prefix,
      pattern: match == "" ? nil : match.map { GlobPattern($0) }, state: state, minimumAge: minimumAge?.duration)
  }
}

extension EntryState: ExpressibleByArgument {}
