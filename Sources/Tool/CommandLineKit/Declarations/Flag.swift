/// A switch that its name on the command line turns on: `--quiet` or, with a short name, `-q`.
///
///     @Flag(name: .shortAndLong, help: "say nothing but errors")
///     var quiet = false
@propertyWrapper
public struct Flag<Value: Sendable>: Sendable, Decodable {
  private var argument: ArgumentValue<Value>

  /// Whether the switch is on.
  public var wrappedValue: Value {
    get { argument.value }
    set { argument.value = newValue }
  }

  /// Takes the value from the parser.
  public init(from decoder: any Decoder) throws { argument = try ArgumentValue(from: decoder) }
}

extension Flag where Value == Bool {
  /// A switch that is `wrappedValue` by default, and the opposite if its name is given.
  public init(wrappedValue: Bool, name: NameSpecification = .long, help: ArgumentHelp? = nil) {
    argument = ArgumentValue(default: wrappedValue)
    DeclarationRecorder.record(
      ArgumentDefinition(
        .flag, name, help, nil,
        ValueReader<Bool>(
          isRequired: false, describe: { ValueDescription() }, read: { $0.isEmpty ? wrappedValue : !wrappedValue })))
  }
}
