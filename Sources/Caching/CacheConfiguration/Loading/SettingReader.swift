internal import CacheBase
internal import CacheCore
internal import EngineAPI

/// Turns what the file, a variable or a flag says into the checked value of a key.
package struct SettingReader {
  typealias Node = JSONDocument.Node

  /// A mistake in a value.
  struct Mismatch: Error {
    let code: ConfigurationError.Code
    /// The mistake, to follow the key in a message.
    let message: String
    let hint: String
    /// The part of the value with the mistake, to follow the key's path.
    var part = ""
    /// The place of that part, if the value is in a file.
    var place: SourcePlace?
  }

  let kind: ConfigurationKind
  let environment: EnvironmentVariables

  /// The checked value of `node`.
  func value(_ node: Node) throws(Mismatch) -> ConfigurationValue {
    switch (kind, node.value) {
    case (.secret, _): .secret(try secret(node))
    case (.secrets, .array(let nodes)) where !nodes.isEmpty: .secrets(try secrets(nodes))
    case (.headers, .object(let members)): .headers(try headers(members))
    case (.paths, .array(let nodes)): .list(try texts(nodes, "a path"))
    case (.names, .array(let nodes)): .list(try texts(nodes, "a name"))
    case (.option(.boolean), .boolean(let flag)): .option(.boolean(flag))
    case (.option(.integer), .number(let digits)): try value(digits)
    case (.option(.integer), _), (.option(.boolean), _), (.headers, _), (.paths, _), (.names, _),
      (.secrets, _):
      throw wrongType(node.value.noun)
    case (_, .text(let text)): try value(text)
    default: throw wrongType(node.value.noun)
    }
  }

  /// The checked value of a flag that is written as in the configuration file. The text is not shown: it may be a
  /// secret.
  func value(json text: String) throws(Mismatch) -> ConfigurationValue {
    guard let document = try? JSONDocument(parsing: Array(text.utf8)) else {
      throw Mismatch(code: .malformed, message: "is not \(kind.noun)", hint: "give \(kind.allowed)")
    }
    return try value(document.root)
  }

  /// The checked value of a variable or a flag. Colons separate the paths of a list, and commas its names; a secret is
  /// given as itself; headers and lists of secrets cannot be given this way.
  func value(_ text: String) throws(Mismatch) -> ConfigurationValue {
    switch kind {
    case .option(let option): .option(try value(text, option))
    case .backend(let names): .text(try backend(try withoutNull(text), names))
    case .url: .text(try url(text))
    case .proxy: .text(try proxy(text))
    case .paths: .list(text.split(separator: ":").map(String.init))
    case .names: .list(text.split(separator: ",").map(String.init))
    case .headers, .secret, .secrets: throw wrongType("a text")
    }
  }

  private func value(_ text: String, _ option: EngineOption.Kind) throws(Mismatch) -> OptionValue {
    switch option {
    case .text: .text(try withoutLogin(try withoutNull(text)))
    case .path: .text(try path(text))
    case .choice(let names): .text(try choice(text, names))
    case .storeName: .text(try storeName(text))
    case .integer(let range): .integer(try number(Int64(text), in: range, text))
    case .size(let range): .integer(try number(ByteSizeText(text)?.bytes, in: range, text))
    case .duration(let range): .integer(try number(DurationText(text)?.milliseconds, in: range, text))
    case .boolean:
      if text == "true" || text == "false" { .boolean(text == "true") } else { throw malformed(text) }
    }
  }

  private func number(_ value: Int64?, in range: ClosedRange<Int64>, _ text: String) throws(Mismatch) -> Int64 {
    guard let value else { throw malformed(text) }
    guard range.contains(value) else {
      throw Mismatch(code: .outOfRange, message: "is out of range: \(Self.shown(text))", hint: "give \(kind.allowed)")
    }
    return value
  }

  private func storeName(_ text: String) throws(Mismatch) -> String {
    guard EngineOption.isStoreName(text) else { throw malformed(text) }
    return text
  }

  private func choice(_ text: String, _ names: [String]) throws(Mismatch) -> String {
    guard names.contains(text) else {
      if let short = Spelling.shortName(for: text), names.contains(short) { return short }
      let nearest = Spelling.nearest(to: text, among: names).map { "; the nearest is \($0)" } ?? ""
      throw Mismatch(
        code: .outOfRange, message: "cannot be \(Self.shown(text))", hint: "give \(kind.allowed)\(nearest)")
    }
    return text
  }

  /// The name or path of an engine. Its library is searched for later, when all settings of where to look are known.
  private func backend(_ text: String, _ names: [String]) throws(Mismatch) -> String {
    // The names of known engines come first: that check is fast, which matters at the start of a process.
    names.contains(text) || EngineName.isPath(text) || EngineName.isValid(text) ? text : try choice(text, names)
  }

  /// Refuses an address with a user or a password, without showing it: valid addresses are shown everywhere.
  private func withoutLogin(_ text: String) throws(Mismatch) -> String {
    guard text.holds("://"), text.holds("@") else { return text }
    throw Mismatch(
      code: .malformed, message: "is an address with a user or a password in it",
      hint: "leave them out, and give the options user and password: \"password\": {\"env\": \"NAME\"}")
  }

  /// Refuses what no file can be called, or no system can open.
  private func path(_ text: String) throws(Mismatch) -> String {
    let names = text.utf8.split(separator: UInt8(ascii: "/"))
    guard EngineOption.isPath(text), text.utf8.count <= Self.longestPath,
      names.allSatisfy({ $0.count <= Self.longestName })
    else { throw malformed(text) }
    return text
  }

  /// The longest path and the longest name in it, in bytes, that systems take: `PATH_MAX` without its end, and `NAME_MAX`.
  private static let (longestPath, longestName) = (4_095, 255)

  /// Refuses a null character, at which the system would end the text.
  private func withoutNull(_ text: String) throws(Mismatch) -> String {
    guard !text.utf8.contains(0) else {
      throw Mismatch(
        code: .malformed, message: "has a null character in it: \(Self.shown(text))", hint: "give \(kind.allowed)")
    }
    return text
  }

  /// A malformed address is not shown: it may contain a password.
  private func url(_ text: String) throws(Mismatch) -> String {
    guard (try? BaseURL(text)) != nil else {
      throw Mismatch(code: .malformed, message: "is not an address of a server", hint: "give \(kind.allowed)")
    }
    return text
  }

  /// A malformed address is not shown: it may contain a password.
  private func proxy(_ text: String) throws(Mismatch) -> String {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "@") }) else {
      throw Mismatch(code: .malformed, message: "is not the address of a proxy", hint: "give \(kind.allowed)")
    }
    guard ProxyAddress.hasKnownScheme(text) else {
      throw Mismatch(
        code: .malformed, message: "is not the address of a proxy: \(ProxyAddress.mistake)", hint: ProxyAddress.hint)
    }
    return text
  }

  private func texts(_ nodes: [Node], _ noun: String) throws(Mismatch) -> [String] {
    var texts: [String] = []
    for (position, node) in nodes.enumerated() {
      guard case .text(let text) = node.value, !text.isEmpty else {
        throw wrongType(node.value.noun, not: noun, part: "[\(position)]", node.place)
      }
      if kind == .paths { _ = try path(text) }
      texts.append(text)
    }
    return texts
  }

  private func headers(_ members: [JSONDocument.Member]) throws(Mismatch) -> [HeaderSetting] {
    var names: Set<String> = []
    var headers: [HeaderSetting] = []
    for member in members {
      let part = ".\(ConfigurationSettings.shown(key: member.key))"
      guard HTTPSyntax.isToken(member.key), names.insert(member.key.lowercased()).inserted else {
        throw Mismatch(
          code: .malformed, message: "is not the name of a header, or occurs twice",
          hint: "give each header once, by its name", part: part, place: member.place)
      }
      headers.append(HeaderSetting(name: member.key, value: try header(member, part)))
    }
    return headers
  }

  private func header(
    _ member: JSONDocument.Member, _ part: String
  ) throws(Mismatch) -> HeaderSetting.Value {
    if case .text(let text) = member.node.value, !HeaderSetting.secretNames.contains(member.key.lowercased()) {
      if HTTPSyntax.isFieldValue(text) { return .text(text) }
      throw Mismatch(
        code: .malformed, message: "has a control character in its value", hint: "write it on one line", part: part,
        place: member.node.place)
    }
    return .secret(try secret(member.node, part))
  }

  private func secrets(_ nodes: [Node]) throws(Mismatch) -> [Secret] {
    var secrets: [Secret] = []
    for (position, node) in nodes.enumerated() { secrets.append(try secret(node, "[\(position)]")) }
    return secrets
  }

  private func secret(_ node: Node, _ part: String = "") throws(Mismatch) -> Secret {
    guard case .object(let members) = node.value, members.count == 1, let member = members.first, member.key == "env",
      case .text(let variable) = member.node.value, Secret.isVariableName(variable)
    else {
      throw Mismatch(
        code: .wrongType, message: "is not written as a secret", hint: "give \(ConfigurationKind.secret.allowed)",
        part: part, place: node.place)
    }
    return Secret(variable: variable, value: environment[variable])
  }

  private func wrongType(
    _ found: String, not noun: String? = nil, part: String = "", _ place: SourcePlace? = nil
  ) -> Mismatch {
    Mismatch(
      code: .wrongType, message: "is \(found), not \(noun ?? kind.noun)", hint: "give \(kind.allowed)", part: part,
      place: place)
  }

  private func malformed(_ text: String) -> Mismatch {
    Mismatch(code: .malformed, message: "is not \(kind.noun): \(Self.shown(text))", hint: "give \(kind.allowed)")
  }

  /// `text`, quoted, and shortened if it is long.
  package static func shown(_ text: String) -> String {
    quoted(text.unicodeScalars.count > 60 ? String(text.unicodeScalars.prefix(57)) + "..." : text)
  }
}
