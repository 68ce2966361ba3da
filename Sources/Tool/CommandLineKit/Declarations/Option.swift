/// A value that follows a name on the command line: `--limit 10`, `--limit=10` or, with a short name, `-l 10` or
/// `-l10`.
///
/// If an option is repeated, the last value counts, unless the property is an array.
///
///     @Option(name: .shortAndLong, help: "how many entries to show")
///     var limit = 20
@propertyWrapper
public struct Option<Value: Sendable>: Sendable, Decodable {
  private var argument: ArgumentValue<Value>

  /// The value from the command line, or the default.
  public var wrappedValue: Value {
    get { argument.value }
    set { argument.value = newValue }
  }

  /// Takes the value from the parser.
  public init(from decoder: any Decoder) throws { argument = try ArgumentValue(from: decoder) }

  private init(
    _ value: Value?, _ name: NameSpecification, _ help: ArgumentHelp?, _ completion: CompletionKind?,
    _ reader: @autoclosure () -> ValueReader<Value>
  ) {
    argument = ArgumentValue(default: value)
    DeclarationRecorder.record(ArgumentDefinition(.option, name, help, completion, reader()))
  }
}

extension Option where Value: ExpressibleByArgument {
  /// A required value.
  public init(name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil) {
    self.init(nil, name, help, completion, .single(default: nil))
  }

  /// A value with the default `wrappedValue`.
  public init(
    wrappedValue: Value, name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) {
    self.init(wrappedValue, name, help, completion, .single(default: wrappedValue))
  }
}

extension Option {
  /// An optional value.
  public init<T: ExpressibleByArgument>(
    name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == T? {
    self.init(.some(nil), name, help, completion, .optional(default: nil))
  }

  /// An optional value with the default `wrappedValue`, usually `nil`.
  public init<T: ExpressibleByArgument>(
    wrappedValue: T?, name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == T? {
    self.init(.some(wrappedValue), name, help, completion, .optional(default: wrappedValue))
  }

  /// One or more values.
  public init<T: ExpressibleByArgument>(
    name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(nil, name, help, completion, .list(default: nil))
  }

  /// Any number of values, with the default `wrappedValue`.
  public init<T: ExpressibleByArgument>(
    wrappedValue: [T], name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(wrappedValue, name, help, completion, .list(default: wrappedValue))
  }
}
