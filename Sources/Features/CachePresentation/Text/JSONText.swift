public import Base

/// Writes JSON (RFC 8259) in UTF-8.
///
/// Besides what JSON requires, it escapes characters that could act on a terminal (see `TerminalText.isHarmful`), so
/// that its output can be shown there unchanged. Cost: linear.
public enum JSONText {
  /// The text of `value`, without a final line end.
  public static func text(_ value: JSONValue, _ layout: JSONWriter.Layout = .compact) -> String {
    String(decoding: bytes(of: value, layout), as: UTF8.self)
  }

  /// Appends the text of `value`, without a final line end, to `bytes`.
  public static func append(_ value: JSONValue, _ layout: JSONWriter.Layout = .compact, to bytes: inout [UInt8]) {
    bytes += Self.bytes(of: value, layout)
  }

  private static func bytes(of value: JSONValue, _ layout: JSONWriter.Layout) -> [UInt8] {
    var json = JSONWriter(layout: layout)
    value.write(to: &json)
    return JSONLines.safe(json.bytes)
  }
}

extension JSONValue {
  fileprivate func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .boolean(let value): json.boolean(value)
    case .integer(let number): json.integer(number)
    case .double(let number): json.number(number)
    case .string(let text): json.text(text)
    case .array(let elements): json.array(elements) { json, element in element.write(to: &json) }
    case .object(let members):
      json.object { json in
        for member in members {
          json.name(member.name)
          member.value.write(to: &json)
        }
      }
    }
  }
}
