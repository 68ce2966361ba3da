internal import HTTPCaching

/// A text with variables, which `fetch URL -w FORMAT` prints after the content, as in curl.
struct WriteOutFormat: ExpressibleByArgument {
  /// The variables, by their names in the text.
  private enum Variable: String, CaseIterable {
    case httpCode = "http_code"
    case responseCode = "response_code"
    case contentType = "content_type"
    case address = "url_effective"
    case time = "time_total"
  }

  private enum Part {
    case text([UInt8])
    case variable(Variable)
    /// The field with this name.
    case field(String)
  }

  private var parts: [Part] = []

  init?(argument: String) {
    // curl reads the format from a file then.
    if argument.hasPrefix("@") { return nil }
    var rest = Array(argument.utf8)[...]
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      switch (byte, rest.first) {
      case (UInt8(ascii: "\\"), let letter?):
        let escapes = [UInt8(ascii: "n"): UInt8(0x0A), UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09]
        text += escapes[letter].map { [$0] } ?? [byte, letter]
        rest.removeFirst()
      case (UInt8(ascii: "%"), UInt8(ascii: "%")): text.append(rest.removeFirst())
      case (UInt8(ascii: "%"), UInt8(ascii: "{")), (UInt8(ascii: "%"), UInt8(ascii: "h")):
        guard let part = Self.variable(&rest) else { return nil }
        parts += [.text(text), part]
        text = []
      default: text.append(byte)
      }
    }
    parts.append(.text(text))
  }

  static var argumentExpectation: String? {
    let names = Variable.allCases.map { "%{\($0.rawValue)}" } + ["%header{NAME}"]
    return "a text with \(names.joined(separator: ", ")); --output json prints more"
  }

  /// Reads a variable after its percent sign; `nil` if there is no such one.
  private static func variable(_ rest: inout ArraySlice<UInt8>) -> Part? {
    guard let brace = rest.firstIndex(of: UInt8(ascii: "{")), let end = rest.firstIndex(of: UInt8(ascii: "}")),
      brace < end
    else { return nil }
    let kind = String(decoding: rest[..<brace], as: UTF8.self)
    let name = String(decoding: rest[(brace + 1)..<end], as: UTF8.self)
    rest = rest[(end + 1)...]
    return kind == "header" ? .field(name) : kind.isEmpty ? Variable(rawValue: name).map { .variable($0) } : nil
  }

  /// The text for `response`, which took `duration`.
  func text(_ response: LocatedResponse, after duration: Duration) -> [UInt8] {
    let head = response.response.head
    return parts.flatMap { part in
      switch part {
      case .text(let bytes): bytes
      case .field(let name): FieldText.encode(head.fields.values(of: name).first ?? "")
      case .variable(.httpCode), .variable(.responseCode): Array(String(head.status).utf8)
      case .variable(.contentType): FieldText.encode(head.fields.values(of: "content-type").first ?? "")
      case .variable(.address): Array(response.url.utf8)
      case .variable(.time): Array(Self.seconds(duration).utf8)
      }
    }
  }

  /// `duration` in seconds, with six digits after the point.
  private static func seconds(_ duration: Duration) -> String {
    let microseconds = Int(duration / .microseconds(1))
    let fraction = String(microseconds % 1_000_000)
    return "\(microseconds / 1_000_000).\(String(repeating: "0", count: 6 - fraction.utf8.count))\(fraction)"
  }
}
