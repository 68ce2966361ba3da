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
    _ reader: @autoclosure () -> ValueReader
  ) {
    argument = ArgumentValue(default: value)
    DeclarationRecorder.record(ArgumentDefinition(.option, name, help, completion, reader()))
  }
}

extension Option where Value: ExpressibleByArgument {
  /// A required value.
  public init(name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil) {
    self.init(nil, name, help, completion, .single(default: nil as Value?))
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
    self.init(.some(nil), name, help, completion, .optional(default: nil as T?))
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
    self.init(nil, name, help, completion, .list(default: nil as [T]?))
  }

  /// Any number of values, with the default `wrappedValue`.
  public init<T: ExpressibleByArgument>(
    wrappedValue: [T], name: NameSpecification = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(wrappedValue, name, help, completion, .list(default: wrappedValue))
  }
}

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
        ValueReader(
          isRequired: false, describe: { ValueDescription() },
          read: { texts in TypedValueBox(value: texts.isEmpty ? wrappedValue : !wrappedValue) })))
  }
}

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
    _ reader: @autoclosure () -> ValueReader
  ) {
    argument = ArgumentValue(default: value)
    DeclarationRecorder.record(ArgumentDefinition(.positional, name, help, completion, reader()))
  }
}

extension Argument where Value: ExpressibleByArgument {
  /// A required value.
  public init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) {
    self.init(nil, [], help, completion, .single(default: nil as Value?))
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
    self.init(.some(nil), [], help, completion, .optional(default: nil as T?))
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
    self.init(nil, [], help, completion, .list(default: nil as [T]?))
  }

  /// Any number of values, with the default `wrappedValue`.
  public init<T: ExpressibleByArgument>(
    wrappedValue: [T], help: ArgumentHelp? = nil, completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(wrappedValue, [], help, completion, .list(default: wrappedValue))
  }
}

/// Options, flags and arguments that several commands share, declared once.
///
///     @OptionGroup(title: "Global options")
///     var globals: GlobalOptions
@propertyWrapper
public struct OptionGroup<Value> {
  // The initializers constrain the value, and the type does not: the runtime would look up the conformance for the type
  // at each start of the program.

  /// The values of the group.
  public var wrappedValue: Value

  /// A group that help shows in a section called `title`, or with the command's own options if `title` is empty.
  public init(title: String = "") where Value: ParsableArguments {
    wrappedValue = DeclarationRecorder.inSection(title) { Value() }
  }

  private init(holding value: Value) {
    wrappedValue = value
  }
}

extension OptionGroup: Decodable where Value: ParsableArguments {
  /// Takes the values from the parser, and validates them.
  public init(from decoder: any Decoder) throws {
    self.init(holding: try Value(from: decoder))
    if let decoder = decoder as? ArgumentDecoder, decoder.suppliesValues { try wrappedValue.validate() }
  }
}

extension OptionGroup: Sendable where Value: Sendable {}
