public import FetchVocabulary

/// The secret part of a token. It is shown masked wherever a value is turned into text; to see it, code must say
/// so.
public struct TokenValue: Sendable, Hashable {
  /// The text shown instead of any value, of the same length for all.
  public static let mask = "********"

  private let text: String

  /// The value `text`: one or more characters, none of them white space or a control character.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest`, which does not repeat the text.
  public init(_ text: String) throws(CacheError) {
    guard !text.isEmpty, text.unicodeScalars.allSatisfy(\.isVisible) else {
      throw CacheError(.invalidRequest, "the value of a token is one word", hint: "give it without white space")
    }
    self.text = text
  }

  /// The secret itself.
  public func reveal() -> String { text }
}

extension TokenValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The mask.
  public var description: String { Self.mask }
  /// The mask.
  public var debugDescription: String { Self.mask }
  /// A mirror that sees nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Unicode.Scalar {
  /// Whether the character is neither white space nor a control or format character.
  var isVisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}
