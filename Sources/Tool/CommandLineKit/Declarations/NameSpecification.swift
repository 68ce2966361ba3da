/// The names of an option or a flag on the command line.
public struct NameSpecification: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// One of the names.
  public enum Element: Sendable, Hashable {
    /// The property's name in kebab case after two dashes: `noColor` is `--no-color`.
    case long
    /// The first letter of the property's name after one dash.
    case short
    /// This name after two dashes.
    case customLong(String)
    /// This character after one dash.
    case customShort(Character)

    /// The name for a property called `property`.
    func name(of property: String) -> ArgumentName {
      switch self {
      case .long: .long(property.kebabCased)
      case .short: .short(property.first ?? "?")
      case .customLong(let name): .long(name)
      case .customShort(let character): .short(character)
      }
    }
  }

  /// The names in the order of help.
  let elements: [Element]

  /// The given names.
  public init(arrayLiteral elements: Element...) { self.elements = elements }

  /// The property's name in kebab case after two dashes.
  public static let long: NameSpecification = [.long]

  /// The first letter of the property's name after one dash.
  public static let short: NameSpecification = [.short]

  /// Both the short and the long name.
  public static let shortAndLong: NameSpecification = [.short, .long]

  /// `name` after two dashes.
  public static func customLong(_ name: String) -> NameSpecification { [.customLong(name)] }

  /// `character` after one dash.
  public static func customShort(_ character: Character) -> NameSpecification { [.customShort(character)] }
}

/// A name on the command line.
enum ArgumentName: Sendable, Hashable {
  case long(String)
  case short(Character)

  /// The name with its dashes.
  var text: String {
    switch self {
    case .long(let name): "--" + name
    case .short(let character): "-\(character)"
    }
  }

  /// Whether the name is a single letter.
  var isShort: Bool {
    if case .short = self { true } else { false }
  }
}

extension String {
  /// A camel-case name in kebab case: `maxAge` becomes `max-age`, `baseURL` becomes `base-url`. Letters outside ASCII
  /// stay unchanged: handling characters is slow, and every start derives the names of its command.
  var kebabCased: String {
    guard utf8.contains(where: \.isCapital) else { return self }
    let bytes = Array(utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 4)
    for (index, byte) in bytes.enumerated() {
      if byte.isCapital, index > 0, startsWord(at: index, in: bytes) { result.append(UInt8(ascii: "-")) }
      result.append(byte.isCapital ? byte | 0x20 : byte)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether the capital at `index`, above 0, begins a word: it follows a small letter, or precedes one.
  private func startsWord(at index: Int, in bytes: [UInt8]) -> Bool {
    if !bytes[index - 1].isCapital { return true }
    return index + 1 < bytes.count && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[index + 1])
  }
}

extension UInt8 {
  /// Whether this is a capital letter of ASCII.
  fileprivate var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
}
