/// The declaration of one property wrapper, for any type of value.
struct ArgumentDefinition: Sendable {
  /// How the command line gives the value.
  enum Kind: Sendable {
    /// After a name.
    case option
    /// By its name alone.
    case flag
    /// By its position.
    case positional
  }

  /// How the command line gives the value.
  let kind: Kind
  /// How names derive from the property; irrelevant for a positional argument.
  let specification: NameSpecification
  /// The texts for help.
  let help: ArgumentHelp
  let isRequired: Bool
  /// Whether every occurrence counts, instead of only the last.
  let isRepeating: Bool
  /// Describes the values; this is slow.
  private let describe: @Sendable () -> ValueDescription
  /// Makes the value from all given texts, in order.
  let read: @Sendable ([String]) throws(ReadingFailure) -> ValueBox

  /// The title of its group; empty for the command's own declarations.
  var section = ""
  /// The names on the command line; none for a positional argument.
  private(set) var names: [ArgumentName] = []
  /// The noun for the value, as it was declared.
  private var valueName = ""

  /// The placeholder for the value, such as FILE.
  var placeholder: String { valueName.uppercased() }

  /// The declaration of a value that `reader` reads.
  init(
    _ kind: Kind, _ specification: NameSpecification, _ help: ArgumentHelp?, _ completion: CompletionKind?,
    _ reader: ValueReader
  ) {
    self.kind = kind
    self.specification = specification
    self.help = help ?? ArgumentHelp()
    isRequired = reader.isRequired
    isRepeating = reader.isRepeating
    describe = {
      var description = reader.describe()
      if let completion { description.completion = completion }
      return description
    }
    read = reader.read
  }

  /// Derives the names from the name of the property.
  mutating func name(after property: String) {
    valueName = help.valueName ?? property.kebabCased
    if kind != .positional { names = specification.elements.map { $0.name(of: property) } }
  }

  /// The description of the value for people and shells.
  var valueDescription: ValueDescription { describe() }

  /// The name in messages: the long name if there is one, or the placeholder of a positional argument.
  var displayName: String {
    (names.first { !$0.isShort } ?? names.first)?.text ?? placeholder
  }

  /// The name with its placeholder, as in `--limit N`.
  var synopsis: String {
    switch kind {
    case .option: "\(displayName) \(placeholder)"
    case .flag: displayName
    case .positional: placeholder + (isRepeating ? "..." : "")
    }
  }
}

/// A value of any type, on its way from the parser into a property wrapper.
class ValueBox {}

/// A value of a known type.
final class TypedValueBox<Value>: ValueBox {
  /// The value.
  let value: Value

  init(value: Value) { self.value = value }
}

/// The help for an option, a flag or an argument.
public struct ArgumentHelp: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// Its purpose, in one line.
  public let abstract: String
  /// The placeholder for the value, such as `file`, which help shows in capitals; `nil` for the name of the property.
  public let valueName: String?

  /// Help with the text `abstract` and the placeholder `valueName`.
  public init(_ abstract: String = "", valueName: String? = nil) {
    self.abstract = abstract
    self.valueName = valueName
  }

  /// Help with the text `value`.
  public init(stringLiteral value: String) { self.init(value) }
}

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

  /// The programming error of a name that two declarations have, so that one of them never gets its value; `nil` if
  /// each has its own.
  var repetition: String? {
    for (place, definition) in definitions.enumerated() {
      guard let name = definition.names.first(where: { index(of: $0) != place }) else { continue }
      let both = definitions.filter { $0.names.contains(name) }.map { definition in
        definition.help.abstract.isEmpty ? definition.synopsis : "\"\(definition.help.abstract)\""
      }
      return "'\(name.text)' is declared twice: for \(both.joined(separator: " and for "))"
    }
    return nil
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
