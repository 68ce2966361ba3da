/// Options, flags and arguments that several commands share, declared once.
///
///     @OptionGroup(title: "Global options")
///     var globals: GlobalOptions
@propertyWrapper
public struct OptionGroup<Value> {
  // The initialisers constrain the value, and the type does not: the runtime would look up the conformance for the type
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
