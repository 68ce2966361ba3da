public import ArgumentParser
internal import CacheComposition
public import CachePresentation

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
  var state: EntryRow.State?

  /// The conditions, including the one of `--older-than` if the command has it. An empty prefix or pattern, as an unset
  /// variable of a script leaves it, counts as none: every key begins with an empty prefix, and `rm` would remove
  /// everything unasked.
  func conditions(minimumAge: DurationText? = nil) -> EntryConditions {
    EntryConditions(
      namespace: namespace, prefix: prefix == "" ? nil : prefix, pattern: match == "" ? nil : match, state: state,
      minimumAge: minimumAge?.duration)
  }
}

extension EntryRow.State: ExpressibleByArgument {}
