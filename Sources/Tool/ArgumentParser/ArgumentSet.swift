/// The declarations of one command with their names, in order.
struct ArgumentSet {
  /// The declarations.
  private(set) var definitions: [ArgumentDefinition]
  /// The declaring type.
  let type: any ParsableArguments.Type

  /// The declarations of `type`.
  init(_ type: any ParsableArguments.Type) {
    self.type = type
    definitions = DeclarationRecorder.definitions(of: type)
    let decoder = ArgumentDecoder()
    // Without values, decoding stops early only at an undeclared property: `defect` reports it.
    _ = try? type.init(from: decoder)
    for (index, property) in decoder.properties.enumerated().prefix(definitions.count) {
      definitions[index].name(after: property)
    }
    isComplete = decoder.properties.count == definitions.count
  }

  /// Whether every declaration has a name.
  private let isComplete: Bool

  /// The programming error that makes the declarations unreadable, if there is one.
  var defect: String? {
    isComplete ? nil : "'\(type)' has a property that is neither an option, a flag, an argument nor an option group"
  }

  /// The options and flags, in order.
  var named: [ArgumentDefinition] { definitions.filter { $0.kind != .positional } }

  /// The positional arguments, in order.
  var positionals: [ArgumentDefinition] { definitions.filter { $0.kind == .positional } }

  /// The option or flag called `name`.
  subscript(name: ArgumentName) -> ArgumentDefinition? { index(of: name).map { definitions[$0] } }

  /// The place of the option or flag called `name`.
  func index(of name: ArgumentName) -> Int? { definitions.firstIndex { $0.names.contains(name) } }
}
