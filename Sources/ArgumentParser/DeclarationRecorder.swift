internal import Synchronization

/// Gathers what property wrappers declare while a command is made by `init()`.
///
/// Reflection would do the same, at about 350 microseconds for the first command of a process, because each wrapper's
/// conformance has to be looked up in the whole program. A whole process has less than 2.5 milliseconds to start.
final class DeclarationRecorder: Sendable {
  /// What has been gathered so far.
  private struct State {
    var section = ""
    var definitions: [ArgumentDefinition] = []
  }

  /// The recorder of the command that is being made by the current task, if its declarations are wanted.
  @TaskLocal static var current: DeclarationRecorder?

  private let state = Mutex(State())

  /// The declarations of `type`, in order, and still without names.
  static func definitions(of type: any ParsableArguments.Type) -> [ArgumentDefinition] {
    let recorder = DeclarationRecorder()
    $current.withValue(recorder) { _ = type.init() }
    return recorder.state.withLock { $0.definitions }
  }

  /// Adds a declaration to the current recorder. Without one, `definition` is not even made.
  static func record(_ definition: @autoclosure () -> ArgumentDefinition) {
    guard let recorder = current else { return }
    let made = definition()
    recorder.state.withLock { state in
      state.definitions.append(made)
      state.definitions[state.definitions.count - 1].section = state.section
    }
  }

  /// Makes `body`'s declarations belong to the section `title`.
  static func inSection<Value>(_ title: String, _ body: () -> Value) -> Value {
    guard let recorder = current, !title.isEmpty else { return body() }
    let outer = recorder.enter(title)
    defer { _ = recorder.enter(outer) }
    return body()
  }

  /// Changes the section, and returns the one before.
  private func enter(_ title: String) -> String {
    state.withLock { state in
      defer { state.section = title }
      return state.section
    }
  }
}
