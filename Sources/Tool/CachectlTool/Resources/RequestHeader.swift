internal import HTTPCaching

/// The header fields that the options of `fetch url` describe, as in curl.
struct RequestHeader {
  /// The largest file with header fields, in bytes.
  private static let maxFileSize = 1 << 20

  /// The fields to send, in order.
  private(set) var fields: [HTTP.Fields.Field] = []
  /// The names of the fields whose values are secrets.
  private(set) var secretNames: Set<String> = []
  /// The names, in lower case, of the fields that are not to be sent.
  private(set) var unwantedNames: Set<String> = []

  /// Reads the options.
  ///
  /// - Throws: `CacheError`: `ioFailed` if a file cannot be read; `invalidRequest` if one of its lines is not a header
  ///   field, or an environment variable is not set. No message contains a value.
  init(_ options: URLOptions) throws(CacheError) {
    for header in options.headers {
      if header.hasPrefix("@") {
        try addFile(String(header.dropFirst()))
      } else {
        try add(header, isSecret: false)
      }
    }
    if let user = options.user {
      let login = try SecretValue.revealed(user, option: "--user")
      let text = login.utf8.contains(UInt8(ascii: ":")) ? login : "\(login):"
      addDefault("Authorization", "Basic \(String(decoding: Base64.encoded(Array(text.utf8)), as: UTF8.self))")
    }
    var texts: [String] = []
    for cookie in options.cookies { texts.append(try SecretValue.revealed(cookie, option: "--cookie")) }
    if !texts.isEmpty { addDefault("Cookie", texts.joined(separator: "; ")) }
    if let referer = options.referer, !referer.isEmpty { addDefault("Referer", referer) }
    if let agent = options.userAgent {
      if agent.isEmpty { unwantedNames.insert("user-agent") } else { addDefault("User-Agent", agent) }
    }
    // Even if the content is empty.
    if options.content.isContent, options.content.json.isEmpty {
      addDefault("Content-Type", "application/x-www-form-urlencoded")
    }
    if !options.content.json.isEmpty {
      addDefault("Content-Type", "application/json")
      addDefault("Accept", "application/json")
    }
  }

  /// Whether `text` is a line of a header: "Name: value", "Name:" or "Name;".
  static func isLine(_ text: String) -> Bool { parts(text) != nil }

  /// The name and the value; `nil` as the value for "Name:", which means to send no such field.
  private static func parts(_ line: String) -> (name: String, value: String?)? {
    let bytes = line.utf8
    if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      let value = trimmed(line[bytes.index(after: colon)...])
      return colon == bytes.startIndex ? nil : (String(line[..<colon]), value.isEmpty ? nil : value)
    }
    let text = trimmed(line[...])
    return text.utf8.count > 1 && text.utf8.last == UInt8(ascii: ";") ? (String(text.dropLast()), "") : nil
  }

  private static func trimmed(_ text: Substring) -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let bytes = text.utf8.drop(while: isBlank)
    return String(decoding: bytes.prefix(bytes.count - bytes.reversed().prefix(while: isBlank).count), as: UTF8.self)
  }

  /// Adds the field in `line`, which `isLine`.
  private mutating func add(_ line: String, isSecret: Bool) throws(CacheError) {
    guard let (name, text) = Self.parts(line) else { return }
    guard let text else {
      unwantedNames.insert(name.lowercased())
      return
    }
    let isReference = SecretValue.variable(in: text) != nil
    fields.append(HTTP.Fields.Field(name, try SecretValue.revealed(text, option: "--header \(name)")))
    // Host says whose resource is requested, and is in the key.
    if isSecret || isReference, !HTTP.Fields.isSame(name, "host") { secretNames.insert(name.lowercased()) }
  }

  private mutating func addDefault(_ name: String, _ value: String) {
    let isGiven = fields.contains { HTTP.Fields.isSame($0.name, name) }
    if !isGiven, !unwantedNames.contains(name.lowercased()) { fields.append(HTTP.Fields.Field(name, value)) }
  }

  private mutating func addFile(_ path: String) throws(CacheError) {
    let bytes = try InputFile.bytes(of: path, limit: Self.maxFileSize, code: .invalidRequest)
    let text = bytes[...].droppingByteOrderMark()
    for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let line = FieldText.decode(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
      if Self.trimmed(line[...]).isEmpty { continue }
      guard let parts = Self.parts(line), HTTPSyntax.isToken(parts.name), HTTPSyntax.isFieldValue(parts.value ?? "")
      else {
        // Do not repeat the line: it might hold a secret.
        throw CacheError(
          .invalidRequest, "\(path == "-" ? "stdin" : path), line \(index + 1), is not a header field",
          hint: "write each field on a line of its own, as Name: value")
      }
      try add(line, isSecret: true)
    }
  }
}

/// A value of an option that can be in an environment variable, which other users of the machine do not see.
enum SecretValue {
  /// The name of the variable in `text`, which is written `{"env": "NAME"}`; the quotation marks can be left out. `nil`
  /// if `text` is anything else.
  static func variable(in text: String) -> String? {
    guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
    let parts = text.dropFirst().dropLast()
      .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(unquoted)
    guard parts.count == 2, parts[0] == "env", let first = parts[1].utf8.first, !first.isASCIIDigit,
      parts[1].utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") })
    else { return nil }
    return parts[1]
  }

  /// The value that `text` means: that of the variable that it names, otherwise `text` itself.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the variable is not set, or empty.
  static func revealed(_ text: String, option: String) throws(CacheError) -> String {
    guard let name = variable(in: text) else { return text }
    guard let value = ProcessEnvironment.value(of: name), !value.isEmpty else {
      throw CacheError(
        .invalidRequest, "the environment variable \(name), which \(option) names, is not set", hint: "set \(name)")
    }
    return value
  }

  private static func unquoted(_ text: Substring) -> String {
    let text = text.drop { $0 == " " }
    let trimmed = text.prefix(text.count - text.reversed().prefix { $0 == " " }.count)
    guard trimmed.count > 1, trimmed.first == "\"", trimmed.last == "\"" else { return String(trimmed) }
    return String(trimmed.dropFirst().dropLast())
  }
}
