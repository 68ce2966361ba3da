/// A positional value on the command line.
///
/// An array takes all remaining values, so it comes last.
///
///     @Argument(help: "the file to write", completion: .file())
///     var file: String?
@propertyWrapper
public struct Argument<Value: Sendable>: Sendable, Decodable {
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
    DeclarationRecorder.record(ArgumentDefinition(.positional, name, help, completion, reader()))
  }
}

extension Argument where Value: ExpressibleByArgument {
  /// A required value.
  public init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) {
    self.init(nil, [], help, completion, .single(default: nil))
  }

  /// A value with the default `wrappedValue`.
  public init(
    wrappedValue: Value, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) {
    self.init(wrappedValue, [], help, completion, .single(default: wrappedValue))
  }
}

extension Argument {
  /// An optional value.
  public init<T: ExpressibleByArgument>(
    help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == T? {
    self.init(.some(nil), [], help, completion, .optional(default: nil))
  }

  /// An optional value with the default `wrappedValue`, usually `nil`.
  public init<T: ExpressibleByArgument>(
    wrappedValue: T?, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == T? {
    self.init(.some(wrappedValue), [], help, completion, .optional(default: wrappedValue))
  }

  /// One or more values.
  public init<T: ExpressibleByArgument>(
    help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(nil, [], help, completion, .list(default: nil))
  }

  /// Any number of values, with the default `wrappedValue`.
  public init<T: ExpressibleByArgument>(
    wrappedValue: [T], help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(wrappedValue, [], help, completion, .list(default: wrappedValue))
  }
}
