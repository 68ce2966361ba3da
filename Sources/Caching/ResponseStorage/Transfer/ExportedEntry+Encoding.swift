internal import StorageSPI

/// The names of the members of an entry's line, in the order in which they are written.
enum ExportMember {
  static let format = "format"
  static let key = "key"
  static let storedAt = "storedAt"
  static let freshUntil = "freshUntil"
  static let retainUntil = "retainUntil"
  static let contentType = "contentType"
  static let attributes = "attributes"
  static let checksum = "checksum"
  static let uses = "uses"
  static let lastUsedAt = "lastUsedAt"
  static let payload = "payload"
  static let payloadBase64 = "payloadBase64"
}

extension ExportedEntry {
  /// The version of the line format. Each line carries it, so that lines can be sorted, filtered and joined.
  public static let format = 1

  /// Appends the entry as one line of JSON with its line feed, and the payload last.
  ///
  /// A payload in UTF-8 is written as text, which JSON preserves exactly; any other in base64 (RFC 4648, section 4).
  /// Cost: linear.
  public func encode(to line: inout [UInt8]) {
    line.reserveCapacity(line.count + payload.count + payload.count / 3 + 512)
    line.append(text: "{\"\(ExportMember.format)\":\(Self.format)")
    line.append(member: ExportMember.key, key.text)
    line.append(member: ExportMember.storedAt, metadata.storedAt.text)
    line.append(member: ExportMember.freshUntil, metadata.freshUntil.text)
    line.append(member: ExportMember.retainUntil, metadata.retainUntil.text)
    line.append(member: ExportMember.contentType, metadata.contentType)
    appendAttributes(to: &line)
    // As a number it would not survive programs that take every number for a double.
    line.append(member: ExportMember.checksum, Hexadecimal.text(metadata.checksum))
    if let history {
      line.append(text: ",\"\(ExportMember.uses)\":\(history.count)")
      line.append(member: ExportMember.lastUsedAt, history.lastUsedAt.text)
    }
    appendPayload(to: &line)
    line.append(text: "}\n")
  }

  private func appendAttributes(to line: inout [UInt8]) {
    line.append(name: ExportMember.attributes)
    var separator = "{"
    for (name, value) in metadata.attributes.sorted(by: { $0.key < $1.key }) {
      line.append(text: separator)
      JSONString.append(name, to: &line)
      line.append(text: ":")
      JSONString.append(value, to: &line)
      separator = ","
    }
    line.append(text: metadata.attributes.isEmpty ? "{}" : "}")
  }

  private func appendPayload(to line: inout [UInt8]) {
    if (try? UTF8Span(validating: payload.span)) != nil {
      line.append(name: ExportMember.payload)
      JSONString.append(payload.span, to: &line)
    } else {
      line.append(name: ExportMember.payloadBase64)
      line.append(text: "\"")
      line.append(contentsOf: Base64.encoded(payload))
      line.append(text: "\"")
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(text: String) { append(contentsOf: text.utf8) }

  fileprivate mutating func append(name: String) { append(text: ",\"\(name)\":") }

  fileprivate mutating func append(member name: String, _ value: String) {
    append(name: name)
    JSONString.append(value, to: &self)
  }
}
