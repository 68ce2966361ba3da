public import ArgumentParser
internal import CacheComposition
public import CachePresentation

/// The options that say which entries are meant.
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

  /// The conditions, with that of `--older-than` where a command has it. An empty prefix or
  /// pattern, as a variable of a script that is not set leaves it, is none: every key begins so, and `rm` would remove
  /// everything without being asked to.
  func conditions(minimumAge: DurationText? = nil) -> EntryConditions {
    EntryConditions(
      namespace: namespace, prefix: prefix == "" ? nil : prefix, pattern: match == "" ? nil : match, state: state,
      minimumAge: minimumAge?.duration)
  }
}

extension EntryRow.State: ExpressibleByArgument {}
