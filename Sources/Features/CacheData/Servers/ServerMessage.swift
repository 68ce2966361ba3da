internal import Base

/// Reads the messages that servers put into the body of a failure.
enum ServerMessage {
  private static let maximumLength = 200
  /// The largest body to search for a message.
  private static let maximumBytes = 1 << 16

  /// The message in the JSON object in the body of `response`; `nil` if there is none, as in an HTML page.
  ///
  /// Recognises TMDB's `status_message` and `errors`, the `detail` and `title` of RFC 9457, the `error_description` of
  /// RFC 6749, and `error` and `message`, which many servers use, ProPublica among them.
  static func text(in response: HTTPResponse) -> String? {
    guard response.body.count <= maximumBytes else { return nil }
    return (try? JSONDocument(parsing: response.body, allowsRepeatedKeys: true)).flatMap { text($0.root.value) }
  }

  /// Makes `text` fit for one line: no control characters, no final full stop, and not too long. `nil` if nothing is
  /// left.
  static func line(_ text: String) -> String? {
    let words = text.split {
      $0.isWhitespace || $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
    var line = words.joined(separator: " ")
    if line.count > maximumLength { line = line.prefix(maximumLength) + "…" }
    while let last = line.last, ". ".contains(last) { line.removeLast() }
    return line.isEmpty ? nil : line
  }

  private static let names = [
    "status_message", "errors", "detail", "error_description", "message", "error", "title",
  ]

  /// The first text in the members of the object `value` that may hold a message, or in objects among those members.
  private static func text(_ value: JSONDocument.Value) -> String? {
    guard case .object(let members) = value else { return nil }
    return names.lazy.compactMap { name in
      switch members.last(where: { $0.key == name })?.node.value {
      case .text(let text): text
      case .array(let nodes): texts(nodes)?.joined(separator: "; ")
      case .some(let value): text(value)
      case nil: nil
      }
    }.first { !$0.isEmpty }
  }

  private static func texts(_ nodes: [JSONDocument.Node]) -> [String]? {
    var texts: [String] = []
    for node in nodes {
      guard case .text(let text) = node.value else { return nil }
      texts.append(text)
    }
    return texts
  }
}
