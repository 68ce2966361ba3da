/// Options, flags and arguments that several commands have in common, declared once.
///
///     @OptionGroup(title: "Global options")
///     var globals: GlobalOptions
@propertyWrapper
public struct OptionGroup<Value: ParsableArguments>: Decodable {
  /// The values of the group.
  public var wrappedValue: Value

  /// A group that help shows in a section called `title`, or among the command's own where that is empty.
  public init(title: String = "") {
    wrappedValue = DeclarationRecorder.inSection(title) { Value() }
  }

  /// Takes the values from the parser, and validates them.
  public init(from decoder: any Decoder) throws {
    wrappedValue = try Value(from: decoder)
    if let decoder = decoder as? ArgumentDecoder, decoder.suppliesValues { try wrappedValue.validate() }
  }
}

extension OptionGroup: Sendable where Value: Sendable {}
