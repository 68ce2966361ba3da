/// A value that stands by itself on the command line and is told by its position.
///
/// An array takes all that are left, so it comes last.
///
///     @Argument(help: "the file to write", completion: .file())
///     var file: String?
@propertyWrapper
public struct Argument<Value: Sendable>: Sendable, Decodable {
  private var argument: ArgumentValue<Value>

  /// The value: what the command line gives, or the default.
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
  /// A value that must be given.
  public init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) {
    self.init(nil, [], help, completion, .single(default: nil))
  }

  /// A value that is `wrappedValue` where none is given.
  public init(
    wrappedValue: Value, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) {
    self.init(wrappedValue, [], help, completion, .single(default: wrappedValue))
  }
}

extension Argument {
  /// A value that is `nil` where none is given.
  public init<T: ExpressibleByArgument>(
    help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == T? {
    self.init(.some(nil), [], help, completion, .optional(default: nil))
  }

  /// A value that is `wrappedValue`, mostly `nil`, where none is given.
  public init<T: ExpressibleByArgument>(
    wrappedValue: T?, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == T? {
    self.init(.some(wrappedValue), [], help, completion, .optional(default: wrappedValue))
  }

  /// One value or more: at least one must be given.
  public init<T: ExpressibleByArgument>(
    help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(nil, [], help, completion, .list(default: nil))
  }

  /// Any number of values, `wrappedValue` where none is given.
  public init<T: ExpressibleByArgument>(
    wrappedValue: [T], help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(wrappedValue, [], help, completion, .list(default: wrappedValue))
  }
}
