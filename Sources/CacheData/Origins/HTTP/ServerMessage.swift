internal import FoundationEssentials

/// What servers say of a failure in its body.
enum ServerMessage {
  private static let maximumLength = 200
  /// Larger bodies are no messages.
  private static let maximumBytes = 1 << 16

  /// The message in the JSON object that `response` has for a body; `nil` where there is none, as in a page of HTML.
  ///
  /// Read are TMDB's `status_message` and `errors`, the `detail` and `title` of RFC 9457, the `error_description` of
  /// RFC 6749, and `error` and `message`, which many have, ProPublica among them.
  static func text(in response: HTTPResponse) -> String? {
    guard response.body.count <= maximumBytes else { return nil }
    return try? JSONDecoder().decode(Body.self, from: Data(response.body)).text
  }

  /// `text` as part of a line: no control characters, no full stop at the end, not too long.
  static func line(_ text: String) -> String? {
    let words = text.split {
      $0.isWhitespace || $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
    var line = words.joined(separator: " ")
    if line.count > maximumLength { line = line.prefix(maximumLength) + "…" }
    while let last = line.last, ". ".contains(last) { line.removeLast() }
    return line.isEmpty ? nil : line
  }

  private struct Body: Decodable {
    let text: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
      case statusMessage = "status_message"
      case errors, detail
      case errorDescription = "error_description"
      case message, error, title
    }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      text = CodingKeys.allCases.lazy.compactMap { key in
        if let text = try? members.decode(String.self, forKey: key) { return text }
        if let texts = try? members.decode([String].self, forKey: key) { return texts.joined(separator: "; ") }
        return try? members.decode(Body.self, forKey: key).text
      }.first { !$0.isEmpty }
    }
  }
}
