/// What one property wrapper declares, whatever the type of its value.
struct ArgumentDefinition: Sendable {
  /// How the value stands on the command line.
  enum Kind: Sendable {
    /// After a name.
    case option
    /// As the name alone.
    case flag
    /// By itself, told by its position.
    case positional
  }

  /// How the value stands on the command line.
  let kind: Kind
  /// How the names are made; irrelevant for a positional argument.
  let specification: NameSpecification
  /// What help says.
  let help: ArgumentHelp
  /// Whether a value must be given.
  let isRequired: Bool
  /// Whether every occurrence counts, rather than the last.
  let isRepeating: Bool
  /// Describes the values, at some cost.
  private let describe: @Sendable () -> ValueDescription
  /// Makes the value out of all texts given, in order.
  let read: @Sendable ([String]) throws(ReadingFailure) -> ValueBox

  /// The title of the group it stands in; empty for the command's own.
  var section = ""
  /// The names on the command line; none for a positional argument.
  private(set) var names: [ArgumentName] = []
  /// The word that stands for the value, in angle brackets where shown.
  private(set) var valueName = ""

  /// The declaration of a value that `reader` reads.
  init<Value: Sendable>(
    _ kind: Kind, _ specification: NameSpecification, _ help: ArgumentHelp?, _ completion: CompletionKind?,
    _ reader: ValueReader<Value>
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
    read = { texts throws(ReadingFailure) in TypedValueBox(value: try reader.read(texts)) }
  }

  /// Makes the names out of the name of the property.
  mutating func name(after property: String) {
    valueName = help.valueName ?? property.kebabCased
    if kind != .positional { names = specification.elements.map { $0.name(of: property) } }
  }

  /// What people and shells are told of the value.
  var valueDescription: ValueDescription { describe() }

  /// The name in messages: the long one where there is one, the value's for a positional argument.
  var displayName: String {
    (names.first { !$0.isShort } ?? names.first)?.text ?? "<\(valueName)>"
  }

  /// The name with the value that follows, as in `--limit <limit>`.
  var synopsis: String {
    switch kind {
    case .option: "\(displayName) <\(valueName)>"
    case .flag: displayName
    case .positional: "<\(valueName)>" + (isRepeating ? "..." : "")
    }
  }
}

/// A value of any type, on its way from the parser into a property wrapper.
class ValueBox {}

/// A value of a known type.
final class TypedValueBox<Value>: ValueBox {
  /// The value.
  let value: Value

  /// Boxes `value`.
  init(value: Value) { self.value = value }
}
