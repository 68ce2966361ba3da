internal import Synchronization

/// Collects what property wrappers declare while `init()` creates a command.
///
/// Reflection could do that, but takes about 350 microseconds for the first command of a process, because it looks up
/// each wrapper's conformance in the whole program. A process has less than 2.5 milliseconds to start.
final class DeclarationRecorder: Sendable {
  /// The declarations so far.
  private struct State {
    var section = ""
    var definitions: [ArgumentDefinition] = []
  }

  /// The recorder for the command that the current task is creating, if its declarations are wanted.
  @TaskLocal static var current: DeclarationRecorder?

  private let state = Mutex(State())

  /// The declarations of `type`, in order, without names yet.
  static func definitions(of type: any ParsableArguments.Type) -> [ArgumentDefinition] {
    let recorder = DeclarationRecorder()
    $current.withValue(recorder) { _ = type.init() }
    return recorder.state.withLock { $0.definitions }
  }

  /// Adds a declaration to the current recorder. Without a recorder, `definition` is not evaluated.
  static func record(_ definition: @autoclosure () -> ArgumentDefinition) {
    guard let recorder = current else { return }
    let made = definition()
    recorder.state.withLock { state in
      state.definitions.append(made)
      state.definitions[state.definitions.count - 1].section = state.section
    }
  }

  /// Puts the declarations made by `body` into the section `title`.
  static func inSection<Value>(_ title: String, _ body: () -> Value) -> Value {
    guard let recorder = current, !title.isEmpty else { return body() }
    let outer = recorder.enter(title)
    defer { _ = recorder.enter(outer) }
    return body()
  }

  /// Changes the section, and returns the previous one.
  private func enter(_ title: String) -> String {
    state.withLock { state in
      defer { state.section = title }
      return state.section
    }
  }
}

extension ParsableCommand {
  /// The mistakes in the declarations of this command and of all commands under it, each in one line. A program's tests
  /// check that there are none: looking for them at every start would take time.
  ///
  /// The mistakes are: a stored property without a declaration, a name declared twice in one command, two subcommands with
  /// one name, an argument that can never be reached or left out, and a name that takes a value in one command but not in
  /// another. Before the name of the command, such a name would be ambiguous.
  public static var declarationDefects: [String] {
    var takesValue: [ArgumentName: Bool] = [:]
    var defects = CommandPath(root: self).repeatedNames
    _ = CommandPath(root: self).visitArguments { set in
      defects += set.defects
      for definition in set.named {
        for name in definition.names {
          let isOption = definition.kind == .option
          if takesValue.updateValue(isOption, forKey: name) == !isOption {
            defects.append("'\(name.text)' takes a value in one command and none in another")
          }
        }
      }
      return false
    }
    return defects
  }
}

extension CommandPath {
  /// The mistakes of a name that two subcommands have, or a subcommand and a page of help: only the first is ever found.
  fileprivate var repeatedNames: [String] {
    let names = childNames + (isRoot && isGroup ? topics.map(\.name) + ["help"] : [])
    let repeated = names.indices.filter { names[..<$0].contains(names[$0]) }
    return repeated.map { "two commands are called '\(text) \(names[$0])'" } + children.flatMap(\.repeatedNames)
  }
}

extension ArgumentSet {
  /// The mistakes in the declarations of this command alone.
  fileprivate var defects: [String] {
    [defect, repetition].compactMap(\.self) + misplacedArguments
  }

  /// Arguments after one that takes all the rest, and required arguments after an optional one.
  private var misplacedArguments: [String] {
    zip(positionals, positionals.dropFirst()).compactMap { previous, next in
      let isReachable = !previous.isRepeating && (previous.isRequired || !next.isRequired)
      return isReachable ? nil : "'\(next.synopsis)' cannot stand after '\(previous.synopsis)'"
    }
  }
}
